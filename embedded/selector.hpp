#pragma once

#include "embedded/object.hpp"
#include "embedded/resource.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace paddock::embedded {

/// A label key: an optional DNS subdomain and `/`, then at most 63 of `A-Za-z0-9-_.`, alphanumeric at both ends.
[[nodiscard]] bool is_label_key(std::string_view text);
/// A label value: empty, or at most 63 of `A-Za-z0-9-_.`, alphanumeric at both ends.
[[nodiscard]] bool is_label_value(std::string_view text);
[[nodiscard]] bool is_dns_label(std::string_view text);
[[nodiscard]] bool is_dns_subdomain(std::string_view text);

/// Chooses objects by their labels: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.
/// An object without the key passes `!=` and `notin`. The empty selector chooses everything.
class label_selector {
public:
  /// The failure is a text for people.
  [[nodiscard]] static tl::expected<label_selector, std::string> parse(std::string_view text);
  [[nodiscard]] bool matches(const json& object) const;
  /// The same of an object that is kept as text.
  [[nodiscard]] bool matches_text(std::string_view object) const;
  [[nodiscard]] bool empty() const noexcept {
    return all_.empty();
  }

private:
  enum class operation { in, not_in, exists, absent };
  struct requirement {
    std::string key;
    operation what = operation::exists;
    std::vector<std::string> values;
  };
  template <class Label>
  [[nodiscard]] bool holds(Label label) const;

  std::vector<requirement> all_;
};

/// Chooses objects by `metadata.name` and `metadata.namespace`, and by a few more fields of some kinds (an event's involved object, a
/// pod's node and phase); other fields are refused. Terms `field=value`, `field==value` and `field!=value`, joined by commas.
class field_selector {
public:
  [[nodiscard]] static tl::expected<field_selector, std::string> parse(const resource_kind& kind, std::string_view text);
  [[nodiscard]] bool matches_text(std::string_view object) const;
  [[nodiscard]] bool empty() const noexcept {
    return all_.empty();
  }

private:
  struct term {
    std::string group; // `metadata`; empty: a member of the object itself
    std::string field; // `name`
    std::string value;
    bool equal = true;
  };
  std::vector<term> all_;
};

/// Both at once: what a list or a watch is about.
struct selection {
  label_selector labels;
  field_selector fields;
  [[nodiscard]] bool matches_text(std::string_view object) const {
    return labels.matches_text(object) && fields.matches_text(object);
  }
  [[nodiscard]] bool empty() const noexcept {
    return labels.empty() && fields.empty();
  }
};

} // namespace paddock::embedded
