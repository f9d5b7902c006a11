#include "egress/port_ranges.hpp"

#include <algorithm>
#include <charconv>

namespace paddock::egress {

using nlohmann::json;

namespace {

constexpr std::uint32_t highest_port = 65'535;

/// What differs between the two kinds of policy.
struct dialect {
  std::string_view default_protocol;
  bool zero_is_every; // port 0 stands for every port
};
constexpr auto core = dialect{"TCP", false};
constexpr auto cilium = dialect{"", true};

std::string upper(std::string text) {
  for (auto& c : text)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::optional<std::uint32_t> integer_port(const json& x) {
  if (!x.is_number_integer() || (!x.is_number_unsigned() && x.get<std::int64_t>() < 0) || x.get<std::uint64_t>() > highest_port)
    return std::nullopt;
  return x.get<std::uint32_t>();
}

/// One entry of a `ports` list.
tl::expected<port_range, unreadable> read_entry(const json& x, const dialect& how) {
  if (!x.is_object())
    return not_read("", "is not an object");
  const json* protocol = nullptr;
  const json* port = nullptr;
  const json* end_port = nullptr;
  if (const auto* other = find_members(x, {{"protocol", protocol}, {"port", port}, {"endPort", end_port}}))
    return not_read("." + *other, "is not understood");
  auto got = port_range{std::string{how.default_protocol}};
  if (protocol != nullptr) {
    if (!protocol->is_string())
      return not_read(".protocol", "is not a string");
    got.protocol = upper(protocol->get<std::string>());
    if (got.protocol == "ANY")
      got.protocol.clear();
  }
  if (port == nullptr)
    return end_port == nullptr ? tl::expected<port_range, unreadable>{std::move(got)} : not_read(".endPort", "has no port to go on from");
  const auto first = port_number(*port);
  if (!first || (*first == 0 && !how.zero_is_every))
    return not_read(".port", excerpt(*port) + " is not a port number");
  got.first = got.last = *first;
  got.every = *first == 0;
  if (end_port != nullptr) {
    const auto last = integer_port(*end_port);
    if (!last || *last < *first)
      return not_read(".endPort", "is not a port number from port on");
    got.last = *last;
  }
  return got;
}

tl::expected<void, unreadable> read_entries(const json& ports, const dialect& how, const server_names& names, port_ranges& into) {
  if (!ports.is_array())
    return not_read("", "is not a list");
  if (into.empty())
    into.reserve(ports.size());
  for (auto i = std::size_t{0}; i < ports.size(); ++i) {
    auto one = read_entry(ports[i], how);
    if (!one)
      return not_read("[" + std::to_string(i) + "]" + one.error().path, std::move(one.error().detail));
    one->names = names;
    into.push_back(std::move(*one));
  }
  return {};
}

tl::expected<server_names, unreadable> read_names(const json& element) {
  auto got = server_names{};
  const auto* names = member(element, "serverNames");
  if (names == nullptr)
    return got;
  if (!names->is_array() || !std::all_of(names->begin(), names->end(), [](const json& x) { return x.is_string(); }))
    return not_read(".serverNames", "is not a list of names");
  for (const auto& x : *names)
    got.push_back(x.get_ref<const std::string&>());
  return got;
}

/// One element of `toPorts`. False: it restricts no port, and so the whole rule does not.
tl::expected<bool, unreadable> read_element(const json& x, port_ranges& into) {
  if (!x.is_object())
    return not_read("", "is not an object");
  if (auto name = unknown_member(x, {"ports", "serverNames", "rules", "listener", "originatingTLS", "terminatingTLS"}))
    return not_read("." + *name, "is not understood");
  auto names = read_names(x);
  if (!names)
    return tl::unexpected{std::move(names.error())};
  const auto* ports = member(x, "ports");
  if (ports == nullptr)
    return false;
  if (auto ok = read_entries(*ports, cilium, *names, into); !ok)
    return not_read(".ports" + ok.error().path, std::move(ok.error().detail));
  return !ports->empty();
}

} // namespace

std::optional<std::uint32_t> port_number(const json& x) {
  if (!x.is_string())
    return integer_port(x);
  const auto& text = x.get_ref<const std::string&>();
  auto got = std::uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data(), end, got);
  if (ec != std::errc{} || stop != end || got > highest_port || (text.size() > 1 && text.front() == '0'))
    return std::nullopt;
  return got;
}

bool port_range::has_ports_of(const port_range& x) const {
  if (!protocol.empty() && protocol != x.protocol)
    return false;
  return every || (!x.every && first <= x.first && x.last <= last);
}

bool port_range::covers(const port_range& x) const {
  if (!has_ports_of(x))
    return false;
  const auto named = [this](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return names.empty() || (!x.names.empty() && std::all_of(x.names.begin(), x.names.end(), named));
}

tl::expected<port_ranges, unreadable> read_core_ports(const json* ports) {
  auto got = port_ranges{};
  if (ports != nullptr)
    if (auto ok = read_entries(*ports, core, {}, got); !ok)
      return not_read(".ports" + ok.error().path, std::move(ok.error().detail));
  if (got.empty())
    got.emplace_back();
  return got;
}

tl::expected<port_ranges, unreadable> read_cilium_ports(const json* to_ports) {
  auto got = port_ranges{};
  auto restricts = to_ports != nullptr;
  if (restricts && !to_ports->is_array())
    return not_read(".toPorts", "is not a list");
  for (auto i = std::size_t{0}; to_ports != nullptr && i < to_ports->size(); ++i) {
    const auto some = read_element((*to_ports)[i], got);
    if (!some)
      return not_read(at_index("toPorts", i) + some.error().path, some.error().detail);
    restricts = restricts && *some;
  }
  if (!restricts || got.empty())
    got = port_ranges{port_range{}};
  return got;
}

} // namespace paddock::egress
