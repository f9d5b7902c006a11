#include "egress/permitted_hosts.hpp"

#include "egress/members.hpp"
#include "egress/narrowing.hpp"
#include "k8s/paths.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace paddock::egress {

using nlohmann::json;

namespace {

tl::unexpected<egress_error> malformed(const object_reference& which, std::string reason) {
  return tl::unexpected{egress_error{permitted_hosts_unavailable{which, path_of(which), "malformed", std::move(reason), {}}}};
}

std::string_view trimmed(std::string_view text) {
  constexpr auto white = std::string_view{" \t\r\v\f"};
  const auto first = text.find_first_not_of(white);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(white) - first + 1);
}

/// What stands on the lines that are not blank.
std::vector<std::string> entries_of(std::string_view text) {
  auto got = std::vector<std::string>{};
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (const auto line = trimmed(text.substr(0, end)); !line.empty())
      got.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return got;
}

std::optional<std::uint16_t> port_of(const std::string& text) {
  auto value = std::uint16_t{0};
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || value == 0 || text != std::to_string(value) || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

bool covers(const permitted_hosts& permitted, const host_entry& host) {
  return std::ranges::any_of(permitted.hosts, [&](const auto& x) { return x.covers(host); });
}

bool covers(const permitted_hosts& permitted, const port_list& ports) {
  return std::ranges::all_of(ports, [&](auto port) { return std::ranges::find(permitted.ports, port) != permitted.ports.end(); });
}

} // namespace

std::string path_of(const object_reference& config_map) {
  return k8s::config_map_path(config_map.name_space, config_map.name);
}

result<permitted_hosts> read_permitted_hosts(const object_reference& which, const json& config_map) {
  const auto* data = member(config_map, "data");
  auto lists = std::vector<std::vector<std::string>>{};
  for (const auto* name : {"hosts", "ports"}) {
    const auto* text = data != nullptr ? member(*data, name) : nullptr;
    if (text == nullptr || !text->is_string())
      return malformed(which, "data." + std::string{name} + " is not a text");
    lists.push_back(entries_of(text->get_ref<const std::string&>()));
    if (lists.back().empty())
      return malformed(which, "data." + std::string{name} + " has no entry");
  }
  auto got = permitted_hosts{};
  for (const auto& text : lists[0]) {
    auto host = host_entry::parse(text);
    if (!host)
      return malformed(which, "data.hosts: " + to_string(host.error()));
    if (!(host->lowered() == *host))
      return malformed(which, "data.hosts: \"" + text + "\" is not in lower case");
    got.hosts.push_back(std::move(*host));
  }
  for (const auto& text : lists[1]) {
    const auto port = port_of(text);
    if (!port)
      return malformed(which, "data.ports: \"" + text + "\" is not a port");
    got.ports.push_back(*port);
  }
  return got;
}

egress_error unread(const object_reference& which, const k8s::failure& why) {
  if (std::holds_alternative<k8s::already_gone>(why))
    return permitted_hosts_unavailable{which, path_of(which), "missing", k8s::to_string(why), {}};
  if (std::holds_alternative<k8s::credential_failure>(why))
    return permitted_hosts_unavailable{which, path_of(which), "unreadable", k8s::to_string(why), why};
  return why;
}

result<void> check_permitted(const permitted_hosts& permitted, const per_sandbox_egress& how, const std::vector<host_entry>& hosts) {
  for (const auto& host : hosts) {
    const auto ports = how.narrowing ? ports_of(*how.narrowing, host) : std::nullopt;
    const auto* problem = !covers(permitted, host) ? "host" : !ports ? "unrestricted-ports" : !covers(permitted, *ports) ? "port" : nullptr;
    if (problem != nullptr)
      return tl::unexpected{egress_error{permitted_host_refused{host.text(), ports, problem}}};
  }
  return {};
}

} // namespace paddock::egress
