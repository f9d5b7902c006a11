#include "workspace/reads.hpp"

namespace paddock::workspace {

const nlohmann::json* find(const nlohmann::json& from, std::initializer_list<const char*> path) {
  const auto* at = &from;
  for (const auto* step : path) {
    if (!at->is_object())
      return nullptr;
    auto next = at->find(step);
    if (next == at->end())
      return nullptr;
    at = &*next;
  }
  return at;
}

std::optional<std::string> text_at(const nlohmann::json& from, std::initializer_list<const char*> path) {
  const auto* got = find(from, path);
  if (got == nullptr || !got->is_string() || got->get_ref<const std::string&>().empty())
    return std::nullopt;
  return got->get<std::string>();
}

} // namespace paddock::workspace
