#include "egress/members.hpp"

#include <algorithm>
#include <utility>

namespace paddock::egress {

using nlohmann::json;

const json* member(const json& object, std::string_view name) {
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string_view> text_of(const json* x) {
  return x != nullptr && x->is_string() ? std::optional<std::string_view>{x->get_ref<const std::string&>()} : std::nullopt;
}

const std::string* find_members(const json& object, std::initializer_list<wanted_member> wanted) {
  const std::string* other = nullptr;
  if (!object.is_object())
    return other;
  for (const auto& x : object.get_ref<const json::object_t&>()) {
    if (x.second.is_null())
      continue;
    const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const wanted_member& y) { return y.name == x.first; });
    if (found != wanted.end())
      found->to = &x.second;
    else if (other == nullptr)
      other = &x.first;
  }
  return other;
}

std::optional<std::string> unknown_member(const json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object())
    return std::nullopt;
  for (const auto& [name, value] : object.get_ref<const json::object_t&>())
    if (!value.is_null() && std::find(known.begin(), known.end(), name) == known.end())
      return name;
  return std::nullopt;
}

tl::unexpected<unreadable> not_read(std::string path, std::string detail) {
  return tl::unexpected{unreadable{std::move(path), std::move(detail)}};
}

std::string at_index(std::string_view list, std::size_t index) {
  auto got = std::string{"."};
  return got.append(list).append("[").append(std::to_string(index)).append("]");
}

std::string excerpt(const json& x) {
  constexpr auto longest = std::size_t{160};
  auto text = x.dump(-1, ' ', true, json::error_handler_t::replace); // ASCII: cut anywhere, it stays text
  if (text.size() > longest)
    text.replace(longest, std::string::npos, "...");
  return text;
}

} // namespace paddock::egress
