#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::egress {

// The configuration `config.egress` as values ([E] 1.1). `read_egress_config` makes them out of JSON and checks them;
// `translate` makes policy objects out of them.

/// Key and value of labels, of a pod or of a selector.
using label_map = std::map<std::string, std::string>;

inline constexpr std::string_view template_label_key = "sandbox.namzu.ai/template";
inline constexpr std::string_view default_profile_label_key = "sandbox.namzu.ai/egress-profile";
inline constexpr std::string_view default_per_sandbox_label_key = "sandbox.namzu.ai/per-sandbox-egress";
/// Of every policy that this host writes, and of no other. Not configurable.
inline constexpr std::string_view per_sandbox_name_prefix = "namzu-sbx-";

// -- the six kinds of policy ([E] 1.2) --------------------------------------

/// The cluster's DNS and nothing else.
struct deny_all {
  friend bool operator==(const deny_all&, const deny_all&) = default;
};
struct allow_all {
  friend bool operator==(const allow_all&, const allow_all&) = default;
};
/// Nothing at all, not even DNS.
struct no_network {
  friend bool operator==(const no_network&, const no_network&) = default;
};
/// DNS, and every address that is neither private nor in `except_cidrs`.
struct public_internet {
  std::vector<std::string> except_cidrs{};
  friend bool operator==(const public_internet&, const public_internet&) = default;
};
/// These hosts, as host entries of [E] 1.3.
struct static_hosts {
  std::vector<std::string> allowed_hosts{};
  friend bool operator==(const static_hosts&, const static_hosts&) = default;
};
/// Hosts that the embedding program says. It is asked once per boundary; the answer is an argument of `translate`.
struct resolved_hosts {
  friend bool operator==(const resolved_hosts&, const resolved_hosts&) = default;
};
using egress_policy = std::variant<deny_all, allow_all, no_network, public_internet, static_hosts, resolved_hosts>;

/// In the order of the variant.
enum class policy_kind : std::uint8_t { deny_all, allow_all, no_network, public_internet, static_hosts, resolver };
[[nodiscard]] policy_kind kind_of(const egress_policy& x);
/// As it is configured: `deny-all`, `static`, `resolver`.
[[nodiscard]] std::string_view to_string(policy_kind x);
/// Whether it lists hosts by name: `static` and `resolver`.
[[nodiscard]] bool names_hosts(policy_kind x);

/// Which resource a list of hosts may become, and which collections are listed.
enum class policy_engine : std::uint8_t { core, cilium };
[[nodiscard]] std::string_view to_string(policy_engine x); // `core`, `cilium`

enum class verification : std::uint8_t { union_check, named_object_only };
[[nodiscard]] std::string_view to_string(verification x); // `union`, `named-object-only`

// -- narrowing ([E] 1.5) ----------------------------------------------------

using port_list = std::vector<std::uint16_t>;

/// Which names the resolver may be asked for, instead of all.
struct dns_narrowing {
  std::optional<std::string> name_space{}; // absent: that of the policy
  std::string cluster_domain = "cluster.local";
  std::vector<std::string> search_suffixes{}; // after the three built-in ones
  friend bool operator==(const dns_narrowing&, const dns_narrowing&) = default;
};

struct narrowing {
  std::optional<port_list> ports{};              // TCP, for every entry that `host_ports` does not name
  std::map<std::string, port_list> host_ports{}; // by entry, leading dot included
  std::optional<dns_narrowing> dns_names{};      // absent: off
  bool tls_server_names = false;
  std::optional<port_list> tls_ports{}; // absent: 443

  /// Whether it changes anything. `tls_ports` alone does not.
  [[nodiscard]] bool active() const;
  friend bool operator==(const narrowing&, const narrowing&) = default;
};

// -- per sandbox ([E] 1.6) --------------------------------------------------

/// A namespaced object, by name.
struct object_reference {
  std::string name;
  std::string name_space;
  friend bool operator==(const object_reference&, const object_reference&) = default;
};

/// That this host may write a policy for one live sandbox, and the fence that bounds what it may write. The engine is cilium.
struct per_sandbox_egress {
  std::string admission_policy_name;
  std::optional<std::string> admission_policy_binding_name{};
  std::string label_key{default_per_sandbox_label_key};
  std::optional<egress::narrowing> narrowing{};
  std::optional<std::string> host_identity{}; // the user name that the fence must bound
  std::optional<object_reference> permitted_hosts_param{};

  /// The configured one, or the policy's name and `-binding`.
  [[nodiscard]] std::string binding_name() const;
  friend bool operator==(const per_sandbox_egress&, const per_sandbox_egress&) = default;
};

// -- all of it --------------------------------------------------------------

struct egress_config {
  egress_policy policy{};
  std::optional<std::string> network_policy_name{}; // absent: made of the template's name and the profile
  policy_engine engine = policy_engine::core;
  verification verify = verification::union_check;
  std::optional<narrowing> cilium_narrowing{};
  std::optional<std::string> profile{};
  std::string profile_label_key{default_profile_label_key};
  std::optional<per_sandbox_egress> per_sandbox{};

  /// The label that tells pods of this profile apart; absent without a profile.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> profile_label() const;
  friend bool operator==(const egress_config&, const egress_config&) = default;
};

} // namespace paddock::egress
