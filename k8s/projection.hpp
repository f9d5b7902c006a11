#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::k8s {

/// Which members of an object are read, as data: JSON pointers, where a list on the way means each of its elements
/// (`/status/conditions/type`). What stands at the end of a pointer is kept whole. Name, namespace, uid and
/// resourceVersion always are.
class projection {
public:
  /// @pre each begins with a slash
  projection(std::initializer_list<std::string_view> pointers);
  /// The object without the members that are not read; an absent member stays absent.
  [[nodiscard]] nlohmann::json of(const nlohmann::json& object) const;
  /// The same of each of the `items` of a list, while its text is parsed: what is not read is never made. Nothing: it is no JSON.
  [[nodiscard]] std::optional<nlohmann::json> read_list(std::string_view text) const;

private:
  struct member {
    std::string name;
    std::vector<member> below; // empty: all of it
  };
  class list_reader;
  static void add(std::vector<member>& to, std::string_view pointer);
  static nlohmann::json take(const nlohmann::json& from, const std::vector<member>& what);

  std::vector<member> members_;
};

/// What is read of a Sandbox to know its mode, its readiness and whose it is; its pod template is not.
[[nodiscard]] const projection& sandbox_projection();

} // namespace paddock::k8s
