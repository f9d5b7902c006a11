#include "egress/config_members.hpp"

#include <algorithm>

namespace paddock::egress {

using json = nlohmann::json;

std::string below(std::string_view path, std::string_view member) {
  return path.empty() ? std::string{member} : std::string{path} + "." + std::string{member};
}

result<void> check_members(const json& object, std::string_view path, std::initializer_list<std::string_view> known) {
  if (!object.is_object())
    return illegal(std::string{path}, "must be an object");
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    auto names = std::string{};
    for (auto x : known)
      names += (names.empty() ? "" : ", ") + std::string{x};
    return illegal(below(path, name), "is not known here; known are " + names);
  }
  return {};
}

const json* configured(const json& object, const char* name) {
  auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string shown(const json* value) {
  if (value == nullptr)
    return "undefined";
  return value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, json::error_handler_t::replace);
}

tl::unexpected<egress_error> illegal(std::string field, std::string problem) {
  return tl::unexpected<egress_error>{illegal_config{std::move(field), std::move(problem)}};
}

} // namespace paddock::egress
