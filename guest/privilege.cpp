#include "guest/privilege.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

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

} // namespace

privilege privilege_of(std::string_view status) {
  auto seen = std::array<std::optional<std::uint64_t>, fields.size()>{};
  while (!status.empty()) {
    const auto end = status.find('\n');
    const auto line = status.substr(0, end);
    status.remove_prefix(end == std::string_view::npos ? status.size() : end + 1);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos)
      continue;
    for (auto i = std::size_t{0}; i < fields.size(); ++i) {
      if (line.substr(0, colon) != fields[i].name)
        continue;
      const auto value = number(trimmed(line.substr(colon + 1)), fields[i].base);
      if (!value || seen[i])
        return privilege::unreadable;
      seen[i] = value;
    }
  }
  auto clean = true;
  for (auto i = std::size_t{0}; i < fields.size(); ++i) {
    if (!seen[i])
      return privilege::unreadable;
    clean = clean && *seen[i] == fields[i].wanted;
  }
  return clean ? privilege::unprivileged : privilege::privileged;
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
