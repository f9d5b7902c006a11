#include "guest/child_environment.hpp"

namespace paddock::guest {

namespace {

constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

bool configures_agent(std::string_view name) {
  return name.starts_with("NAMZU_AGENT_") || name.starts_with("NAMZU_SANDBOX_") || name.starts_with("PADDOCK_GUEST_");
}

} // namespace

std::vector<std::string> child_environment(const std::vector<std::string>& own, const std::map<std::string, std::string>& wanted) {
  auto result = std::vector<std::string>{};
  for (const auto& line : own) {
    auto name = std::string_view{line}.substr(0, line.find('='));
    if (!configures_agent(name) && !wanted.contains(std::string{name}))
      result.push_back(line);
  }
  for (const auto& [name, value] : wanted)
    if (!name.empty() && name.find_first_of(std::string_view{"=\0", 2}) == std::string::npos)
      result.push_back(name + "=" + value);
  return result;
}

std::vector<std::string> program_candidates(std::string_view program, const std::vector<std::string>& environment) {
  if (program.find('/') != std::string_view::npos)
    return {std::string{program}};
  auto path = default_path;
  for (const auto& line : environment)
    if (line.starts_with("PATH=")) {
      path = std::string_view{line}.substr(5);
      break;
    }
  auto result = std::vector<std::string>{};
  for (;;) {
    auto colon = path.find(':');
    auto entry = path.substr(0, colon);
    result.push_back(std::string{entry.empty() ? "." : entry} + "/" + std::string{program});
    if (colon == std::string_view::npos)
      return result;
    path = path.substr(colon + 1);
  }
}

} // namespace paddock::guest
