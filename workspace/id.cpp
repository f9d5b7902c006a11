#include "workspace/id.hpp"

#include <algorithm>

namespace paddock::workspace {

namespace {

constexpr std::string_view prefix = "namzu-ws-";
constexpr std::size_t longest_name = 63;

bool is_alphanumeric(char x) {
  return (x >= 'a' && x <= 'z') || (x >= '0' && x <= '9');
}

bool names_a_sandbox(std::string_view text) {
  return !text.empty() && text.size() <= longest_name - prefix.size() && is_alphanumeric(text.front()) && is_alphanumeric(text.back())
         && std::ranges::all_of(text, [](char x) { return is_alphanumeric(x) || x == '-'; });
}

} // namespace

tl::expected<id, illegal_id> id::parse(std::string_view text) {
  if (!names_a_sandbox(text))
    return tl::unexpected{illegal_id{std::string{text}}};
  return id{std::string{text}};
}

tl::expected<id, illegal_id> id::of_sandbox(std::string_view sandbox_name) {
  if (!sandbox_name.starts_with(prefix))
    return tl::unexpected{illegal_id{std::string{sandbox_name}}};
  return parse(sandbox_name.substr(prefix.size()));
}

std::string id::sandbox_name() const {
  return std::string{prefix} + text_;
}

} // namespace paddock::workspace
