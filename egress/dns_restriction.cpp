#include "egress/dns_restriction.hpp"

namespace paddock::egress {

using nlohmann::json;

namespace {

/// Of one element of `toPorts`; all where it says nothing.
tl::expected<dns_restriction, unreadable> read_element(const json& x) {
  if (!x.is_object())
    return not_read("", "is not an object");
  const auto* rules = member(x, "rules");
  if (rules == nullptr)
    return std::nullopt;
  if (!rules->is_object())
    return not_read(".rules", "is not an object");
  const auto* dns = member(*rules, "dns");
  if (dns == nullptr)
    return std::nullopt;
  if (!dns->is_array())
    return not_read(".rules.dns", "is not a list");
  auto got = std::vector<std::string_view>{};
  auto every = dns->empty();
  for (auto i = std::size_t{0}; i < dns->size(); ++i) {
    const auto& item = (*dns)[i];
    if (!item.is_object())
      return not_read(".rules" + at_index("dns", i), "is not an object");
    const auto name = text_of(member(item, "matchName"));
    if (!name || member(item, "matchPattern") != nullptr)
      every = true;
    else
      got.push_back(*name);
  }
  return every ? dns_restriction{} : dns_restriction{std::move(got)};
}

} // namespace

tl::expected<dns_restriction, unreadable> read_dns_restriction(const json* to_ports) {
  if (to_ports == nullptr)
    return std::nullopt;
  if (!to_ports->is_array())
    return not_read(".toPorts", "is not a list");
  auto got = dns_restriction{std::in_place};
  for (auto i = std::size_t{0}; i < to_ports->size(); ++i) {
    auto names = read_element((*to_ports)[i]);
    if (!names)
      return not_read(at_index("toPorts", i) + names.error().path, std::move(names.error().detail));
    if (!*names)
      got.reset();
    else if (got)
      got->insert(got->end(), (*names)->begin(), (*names)->end());
  }
  return to_ports->empty() ? dns_restriction{} : got;
}

} // namespace paddock::egress
