#include "guest/walk_plan.hpp"

#include "base/utf8.hpp"
#include "guest/braces.hpp"
#include "guest/envelope.hpp"
#include "guest/execution_request.hpp"
#include "guest/glob_paths.hpp"
#include "guest/paths.hpp"

#include <algorithm>

namespace paddock::guest {

namespace {

using nlohmann::json;

constexpr std::uint64_t max_safe = 9'007'199'254'740'991;
constexpr std::size_t max_pattern_characters = 4096;
constexpr std::size_t max_branches = 256;
constexpr std::size_t max_argument_bytes = 128 * 1024 - 1; // MAX_ARG_STRLEN of Linux, which counts the NUL

auto refused(std::string text) {
  return tl::unexpected{std::move(text)};
}

std::string_view without_leading_dots(std::string_view pattern) {
  while (pattern.starts_with("./"))
    pattern.remove_prefix(2);
  return pattern;
}

// JavaScript's count: a character beyond the basic plane is two.
std::size_t utf16_units(std::string_view text) {
  auto units = std::size_t{0};
  for (auto x : text) {
    auto byte = static_cast<unsigned char>(x);
    units += byte >= 0xf0 ? 2u : (byte & 0xc0) != 0x80 ? 1u : 0u;
  }
  return units;
}

// The checks that hold on both sides.
tl::expected<walk_plan, std::string> checked(walk_plan plan) {
  if (plan.root.empty() || plan.root.front() != '/')
    return refused("the root of a walk is an absolute path");
  if (plan.root.find('\0') != std::string::npos || !is_utf8(plan.root))
    return refused("the root of a walk is UTF-8 without a NUL");
  plan.root = normalised(plan.root);
  auto positive = [](std::uint64_t x) { return x > 0 && x <= max_safe; };
  if (!positive(plan.max_entries))
    return refused("maxEntries is a positive safe integer");
  if (!positive(plan.max_visited_entries))
    return refused("maxVisitedEntries is a positive safe integer");
  if (plan.max_depth && !positive(*plan.max_depth))
    return refused("maxDepth is a positive safe integer");
  if (plan.branches.size() > max_branches)
    return refused("the pattern has more than " + std::to_string(max_branches) + " brace branches");
  if (auto paths = glob_paths::compile(plan.branches, plan.include_hidden); !paths)
    return refused(paths.error());
  return plan;
}

std::string to_json(const walk_plan& plan) {
  auto result = nlohmann::ordered_json{{"root", plan.root}, {"branches", plan.branches}, {"includeHidden", plan.include_hidden}};
  result["maxDepth"] = plan.max_depth ? nlohmann::ordered_json(*plan.max_depth) : nlohmann::ordered_json(nullptr);
  result["maxEntries"] = plan.max_entries;
  result["maxVisitedEntries"] = plan.max_visited_entries;
  return to_text(result);
}

} // namespace

tl::expected<walk_plan, std::string> plan_walk(std::string_view root, const walk_options& options) {
  auto plan = walk_plan{};
  plan.root = root;
  plan.include_hidden = options.include_hidden;
  plan.max_depth = options.max_depth;
  plan.max_entries = options.max_entries;
  plan.max_visited_entries = options.max_visited_entries;
  if (!is_utf8(options.pattern))
    return refused("the pattern is not UTF-8");
  if (utf16_units(options.pattern) > max_pattern_characters)
    return refused("the pattern has more than " + std::to_string(max_pattern_characters) + " characters");
  auto pattern = without_leading_dots(options.pattern);
  // The pattern as it was given is held to the rules as well as each of its branches.
  if (auto whole = glob_paths::compile({std::string{pattern}}, options.include_hidden); !whole)
    return refused(whole.error());
  auto branches = expand_braces(pattern, max_branches);
  if (!branches)
    return refused("the pattern has more than " + std::to_string(max_branches) + " brace branches");
  for (auto& branch : *branches) {
    auto text = std::string{without_leading_dots(branch)};
    if (std::find(plan.branches.begin(), plan.branches.end(), text) == plan.branches.end())
      plan.branches.push_back(std::move(text));
  }
  auto result = checked(std::move(plan));
  if (result && to_json(*result).size() > max_argument_bytes)
    return refused("the branches of the pattern are longer than one argument may be");
  return result;
}

std::vector<std::string> walk_arguments(const walk_plan& plan) {
  return {"walk", to_json(plan)};
}

tl::expected<walk_plan, std::string> read_walk_plan(std::string_view text) {
  auto value = parse_payload(text);
  if (!value || !value->is_object())
    return refused("the plan is not a JSON object");
  auto plan = walk_plan{};
  auto root = value->find("root");
  if (root == value->end() || !root->is_string())
    return refused("root is a string");
  plan.root = root->get<std::string>();
  auto branches = value->find("branches");
  if (branches == value->end() || !branches->is_array())
    return refused("branches is a list of strings");
  for (const auto& branch : *branches) {
    if (!branch.is_string())
      return refused("branches is a list of strings");
    plan.branches.push_back(branch.get<std::string>());
  }
  if (auto hidden = value->find("includeHidden"); hidden != value->end()) {
    if (!hidden->is_boolean())
      return refused("includeHidden is a boolean");
    plan.include_hidden = hidden->get<bool>();
  }
  // What is no number becomes 0, which the checks refuse by its name.
  auto number = [&](const char* name) {
    auto at = value->find(name);
    return at != value->end() && at->is_number() ? offset_of(*at).value_or(0) : 0;
  };
  plan.max_entries = number("maxEntries");
  plan.max_visited_entries = number("maxVisitedEntries");
  if (auto depth = value->find("maxDepth"); depth != value->end() && !depth->is_null())
    plan.max_depth = number("maxDepth");
  return checked(std::move(plan));
}

} // namespace paddock::guest
