#include "egress/peers.hpp"

#include <algorithm>

namespace paddock::egress {

using nlohmann::json;

namespace {

constexpr std::string_view namespace_name_key = "kubernetes.io/metadata.name";

std::optional<cidr> read_block(const json* x) {
  const auto text = text_of(x);
  return text ? unambiguous_cidr(*text) : std::nullopt;
}

/// An object with `cidr` and `except`.
tl::expected<peer, unreadable> read_blocks(const json& x) {
  if (!x.is_object())
    return not_read("", "is not an object");
  const json* base = nullptr;
  const json* holes = nullptr;
  if (const auto* other = find_members(x, {{"cidr", base}, {"except", holes}}))
    return not_read("." + *other, "is not understood");
  const auto whole = read_block(base);
  if (!whole)
    return not_read(".cidr", "is not a CIDR");
  if (holes != nullptr && !holes->is_array())
    return not_read(".except", "is not a list");
  auto except = std::vector<cidr>{};
  for (auto i = std::size_t{0}; holes != nullptr && i < holes->size(); ++i) {
    const auto one = read_block(&(*holes)[i]);
    if (!one)
      return not_read(at_index("except", i), "is not a CIDR");
    except.push_back(*one);
  }
  auto got = address_block::make(*whole, std::move(except));
  if (!got)
    return not_read(".except", "has a block that is not within cidr, or is all of it");
  return peer{std::move(*got)};
}

tl::expected<std::optional<label_demands>, unreadable> read_part(const json* selector, std::string_view name) {
  if (selector == nullptr)
    return std::nullopt;
  auto got = read_demands(*selector);
  if (!got)
    return not_read("." + std::string{name} + got.error().path, std::move(got.error().detail));
  return std::move(*got);
}

struct contained {
  bool operator()(const everything&, const auto&) const {
    return true;
  }
  bool operator()(const address_block& allowed, const address_block& wanted) const {
    return allowed.contains(wanted);
  }
  bool operator()(const chosen_pods& allowed, const chosen_pods& wanted) const {
    return (allowed.name_space || !wanted.name_space) && is_narrower(allowed.name_space, wanted.name_space)
           && is_narrower(allowed.pods, wanted.pods);
  }
  bool operator()(const auto&, const auto&) const {
    return false;
  }
};

/// DNS, over either protocol.
bool is_dns(const port_range& x) {
  return (x.protocol.empty() || x.protocol == "UDP" || x.protocol == "TCP") && (x.every || (x.first <= 53 && 53 <= x.last));
}

} // namespace

tl::expected<peer, unreadable> read_core_peer(const json& x) {
  if (!x.is_object())
    return not_read("", "is not an object");
  const json* block = nullptr;
  const json* pods = nullptr;
  const json* name_space = nullptr;
  if (const auto* other = find_members(x, {{"ipBlock", block}, {"podSelector", pods}, {"namespaceSelector", name_space}}))
    return not_read("." + *other, "is not understood");
  if (block != nullptr) {
    if (pods != nullptr || name_space != nullptr)
      return not_read("", "names both a block and pods");
    auto got = read_blocks(*block);
    return got ? std::move(got) : not_read(".ipBlock" + got.error().path, std::move(got.error().detail));
  }
  if (pods == nullptr && name_space == nullptr)
    return not_read("", "names no peer");
  auto where = read_part(name_space, "namespaceSelector");
  if (!where)
    return tl::unexpected{std::move(where.error())};
  auto which = read_part(pods, "podSelector");
  if (!which)
    return tl::unexpected{std::move(which.error())};
  return peer{chosen_pods{std::move(*where), std::move(*which)}};
}

tl::expected<peer, unreadable> read_cidr_peer(const json& x) {
  const auto whole = read_block(&x);
  if (!whole)
    return not_read("", "is not a CIDR");
  return peer{*address_block::make(*whole, {})};
}

tl::expected<peer, unreadable> read_cidr_set_peer(const json& x) {
  return read_blocks(x);
}

tl::expected<peer, unreadable> read_endpoint_peer(const json& x, bool clusterwide) {
  auto read = read_demands(x);
  if (!read)
    return tl::unexpected{std::move(read.error())};
  if (read->expressions != nullptr)
    return not_read(".matchExpressions", "is not understood here");
  if (member(x, "matchLabels") == nullptr)
    return not_read(".matchLabels", "is not there");
  auto got = chosen_pods{std::nullopt, label_demands{}};
  if (clusterwide)
    got.name_space = label_demands{};
  for (const auto& [key, value] : read->labels) {
    const auto bare = cilium_key(key);
    if (!bare || is_derived_key(*bare))
      return not_read(".matchLabels[\"" + std::string{key} + "\"]", "is a key that is not understood here");
    if (*bare != cilium_namespace_key) {
      got.pods->labels.emplace_back(*bare, value);
    } else {
      if (got.name_space && !got.name_space->labels.empty())
        return not_read(".matchLabels", "names a namespace twice");
      got.name_space = label_demands{{{namespace_name_key, value}}};
    }
  }
  std::sort(got.pods->labels.begin(), got.pods->labels.end());
  return peer{std::move(got)};
}

bool contains(const peer& allowed, const peer& wanted) {
  return std::visit(contained{}, allowed, wanted);
}

const peer& cluster_resolver() {
  static const auto it = peer{chosen_pods{label_demands{{{namespace_name_key, "kube-system"}}}, label_demands{{{"k8s-app", "kube-dns"}}}}};
  return it;
}

bool meets_resolver(const peer& x) {
  return contains(x, cluster_resolver()) || contains(cluster_resolver(), x);
}

bool have_dns(const port_ranges& ports) {
  return std::any_of(ports.begin(), ports.end(), is_dns);
}

bool containment::has(const peer& wanted) {
  auto now = known{};
  for (const auto& x : allowed_)
    if (contains(x.to, wanted))
      now.to.push_back(&x);
  for (const auto& x : known_)
    if (x.to == now.to)
      return x.all_ports;
  now.all_ports = std::all_of(wanted_.begin(), wanted_.end(), [&](const port_range& range) {
    return std::any_of(now.to.begin(), now.to.end(), [&](const destination* x) {
      return std::any_of(x->ports.begin(), x->ports.end(), [&](const port_range& y) { return y.has_ports_of(range); });
    });
  });
  known_.push_back(std::move(now));
  return known_.back().all_ports;
}

} // namespace paddock::egress
