#pragma once

#include "embedded/object.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::embedded {

/// A set of paths into an object, as FieldsV1 writes it: `f:NAME` is a member, `k:{"name":"a"}` the item of a list with these keys,
/// `v:"a"` the item of that value. A path can be in the set without those below it, and the other way round.
class field_set {
public:
  using branches = std::map<std::string, field_set, std::less<>>;

  /// Nothing: `fields` is not in the form.
  [[nodiscard]] static std::optional<field_set> read(const json& fields);
  [[nodiscard]] json to_json() const;

  /// The path itself is in the set.
  [[nodiscard]] bool here() const noexcept {
    return here_;
  }
  [[nodiscard]] const branches& below() const noexcept {
    return below_;
  }
  [[nodiscard]] const field_set* find(std::string_view step) const;
  [[nodiscard]] bool empty() const noexcept {
    return !here_ && below_.empty();
  }

  void insert() noexcept {
    here_ = true;
  }
  /// Takes out the path itself, and nothing below it.
  void leave() noexcept {
    here_ = false;
  }
  /// What stands below that step, to be filled. One that stays empty is to be taken out again with `tidy`.
  field_set& at(std::string_view step);
  /// Takes out the step and everything below it.
  void erase(std::string_view step);
  void tidy();

  void add(const field_set& other);
  [[nodiscard]] field_set united(const field_set& other) const;
  [[nodiscard]] field_set without(const field_set& other) const;
  [[nodiscard]] field_set common(const field_set& other) const;

  friend bool operator==(const field_set&, const field_set&) = default;

private:
  bool here_ = false;
  branches below_; // none of them empty, once tidy
};

/// The step to a member.
[[nodiscard]] std::string member_step(std::string_view name);

/// A path as messages write it: `.spec.containers[name="main"].image`, from steps.
[[nodiscard]] std::string step_text(std::string_view step);

} // namespace paddock::embedded
