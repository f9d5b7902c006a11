#include "egress/egress_config.hpp"

namespace paddock::egress {

policy_kind kind_of(const egress_policy& x) {
  return static_cast<policy_kind>(x.index());
}

std::string_view to_string(policy_kind x) {
  switch (x) {
    case policy_kind::deny_all: return "deny-all";
    case policy_kind::allow_all: return "allow-all";
    case policy_kind::no_network: return "no-network";
    case policy_kind::public_internet: return "public-internet";
    case policy_kind::static_hosts: return "static";
    case policy_kind::resolver: return "resolver";
  }
  return "";
}

bool names_hosts(policy_kind x) {
  return x == policy_kind::static_hosts || x == policy_kind::resolver;
}

std::string_view to_string(policy_engine x) {
  return x == policy_engine::cilium ? "cilium" : "core";
}

std::string_view to_string(verification x) {
  return x == verification::named_object_only ? "named-object-only" : "union";
}

bool narrowing::active() const {
  return ports || !host_ports.empty() || dns_names || tls_server_names;
}

std::string per_sandbox_egress::binding_name() const {
  return admission_policy_binding_name.value_or(admission_policy_name + "-binding");
}

std::optional<std::pair<std::string, std::string>> egress_config::profile_label() const {
  if (!profile)
    return std::nullopt;
  return std::pair{profile_label_key, *profile};
}

} // namespace paddock::egress
