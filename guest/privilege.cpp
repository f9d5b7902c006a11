#include "guest/privilege.hpp"

#include "base/utf8.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace paddock::guest {

namespace {

std::string_view trimmed(std::string_view x) {
  const auto blank = std::string_view{" \t\r"};
  const auto first = x.find_first_not_of(blank);
  if (first == std::string_view::npos)
    return {};
  return x.substr(first, x.find_last_not_of(blank) - first + 1);
}

std::optional<std::uint64_t> number(std::string_view digits, int base) {
  // More than sixteen hex digits do not fit 64 bits.
  if (digits.empty() || digits.size() > 16)
    return std::nullopt;
  auto value = std::uint64_t{0};
  const auto* end = digits.data() + digits.size();
  const auto [at, problem] = std::from_chars(digits.data(), end, value, base);
  if (problem != std::errc{} || at != end)
    return std::nullopt;
  return value;
}

struct field {
  std::string_view name;
  int base;
  std::uint64_t wanted;
};

constexpr auto fields =
  std::array{field{"CapInh", 16, 0}, field{"CapPrm", 16, 0}, field{"CapEff", 16, 0}, field{"CapBnd", 16, 0}, field{"NoNewPrivs", 10, 1}};

constexpr auto most_shown = std::size_t{40}; // characters of a value

privilege_reading unreadable(const field& of, std::string_view problem) {
  return {privilege::unreadable, std::string{of.name} + " " + std::string{problem}};
}

std::string shown(const field& of, std::uint64_t value) {
  auto digits = std::array<char, 20>{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, of.base).ptr;
  return std::string{of.name} + "=" + std::string{digits.data(), end};
}

} // namespace

privilege_reading read_privileges(std::string_view status) {
  auto seen = std::array<std::vector<std::string_view>, fields.size()>{};
  while (!status.empty()) {
    const auto end = status.find('\n');
    const auto line = status.substr(0, end);
    status.remove_prefix(end == std::string_view::npos ? status.size() : end + 1);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos)
      continue;
    for (auto i = std::size_t{0}; i < fields.size(); ++i)
      if (trimmed(line.substr(0, colon)) == fields[i].name)
        seen[i].push_back(trimmed(line.substr(colon + 1)));
  }
  auto offenders = std::string{};
  for (auto i = std::size_t{0}; i < fields.size(); ++i) {
    if (seen[i].size() != 1)
      return unreadable(fields[i], seen[i].empty() ? "is missing" : "is there more than once");
    const auto value = number(seen[i].front(), fields[i].base);
    if (!value)
      return unreadable(fields[i], "is malformed: \"" + to_utf8_with_replacement(seen[i].front().substr(0, most_shown)) + "\"");
    if (*value != fields[i].wanted)
      offenders += (offenders.empty() ? "" : ", ") + shown(fields[i], *value);
  }
  if (offenders.empty())
    return {privilege::unprivileged, {}};
  return {privilege::privileged, std::move(offenders)};
}

std::string_view to_string(privilege x) {
  switch (x) {
    case privilege::unprivileged: return "unprivileged";
    case privilege::unreadable: return "unreadable-output";
    case privilege::privileged: return "privileged";
  }
  return "unreadable-output";
}

} // namespace paddock::guest
