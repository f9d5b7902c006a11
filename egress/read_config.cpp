#include "egress/read_config.hpp"

#include "egress/config_members.hpp"
#include "egress/host_entry.hpp"
#include "egress/labels.hpp"
#include "egress/read_narrowing.hpp"
#include "egress/read_per_sandbox.hpp"
#include "egress/translate.hpp"

namespace paddock::egress {

namespace {

using json = nlohmann::json;

// -- the policy -------------------------------------------------------------

result<egress_policy> read_internet(const json& policy) {
  if (auto ok = check_members(policy, "policy", {"kind", "exceptCidrs"}); !ok)
    return tl::unexpected{ok.error()};
  auto got = public_internet{};
  const auto* list = configured(policy, "exceptCidrs");
  if (list == nullptr)
    return got;
  if (!list->is_array())
    return illegal("policy.exceptCidrs", "must be a list of blocks of addresses");
  for (const auto& x : *list) {
    if (!x.is_string())
      return illegal("policy.exceptCidrs", "holds " + shown(&x) + ", which is not a string");
    got.except_cidrs.push_back(x.get<std::string>());
  }
  return got;
}

result<egress_policy> read_static(const json& policy) {
  if (auto ok = check_members(policy, "policy", {"kind", "allowedHosts"}); !ok)
    return tl::unexpected{ok.error()};
  const auto* list = configured(policy, "allowedHosts");
  if (list == nullptr)
    return illegal("policy.allowedHosts", "is missing");
  return read_host_list(*list, "policy.allowedHosts").map([](auto hosts) { return egress_policy{static_hosts{std::move(hosts)}}; });
}

result<egress_policy> read_policy(const json& policy) {
  if (!policy.is_object())
    return illegal("policy", "must be an object with a kind");
  const auto* said = configured(policy, "kind");
  if (said == nullptr)
    return illegal("policy.kind", "is missing");
  if (*said == "public-internet")
    return read_internet(policy);
  if (*said == "static")
    return read_static(policy);
  for (const auto& plain :
       {egress_policy{deny_all{}}, egress_policy{allow_all{}}, egress_policy{no_network{}}, egress_policy{resolved_hosts{}}})
    if (*said == to_string(kind_of(plain))) {
      if (auto ok = check_members(policy, "policy", {"kind"}); !ok)
        return tl::unexpected{ok.error()};
      return plain;
    }
  return illegal("policy.kind", "is " + said->dump(-1, ' ', false, json::error_handler_t::replace)
                                  + "; the kinds are deny-all, allow-all, no-network, public-internet, static and resolver");
}

// -- words and names --------------------------------------------------------

/// One of two words; `first` where the member is missing.
template <class Enum>
result<Enum> read_word(const json& object, const char* name, Enum first, Enum second) {
  const auto* value = configured(object, name);
  if (value == nullptr || *value == to_string(first))
    return first;
  if (*value == to_string(second))
    return second;
  return illegal(name, "must be '" + std::string{to_string(first)} + "' or '" + std::string{to_string(second)} + "'");
}

result<void> read_plain_members(const json& object, egress_config& into) {
  auto engine = read_word(object, "engine", policy_engine::core, policy_engine::cilium);
  if (!engine)
    return tl::unexpected{engine.error()};
  into.engine = *engine;
  auto verify = read_word(object, "verify", verification::union_check, verification::named_object_only);
  if (!verify)
    return tl::unexpected{verify.error()};
  into.verify = *verify;
  if (const auto* name = configured(object, "networkPolicyName")) {
    if (!name->is_string() || !is_dns_name(name->get_ref<const std::string&>()))
      return illegal("networkPolicyName", "must be the name of a policy: a DNS name in lower case");
    into.network_policy_name = name->get<std::string>();
  }
  return {};
}

result<void> read_cilium_narrowing(const json& object, egress_config& into) {
  const auto* value = configured(object, "ciliumNarrowing");
  if (value == nullptr)
    return {};
  if (auto ok = check_narrowing_members(*value, "ciliumNarrowing"); !ok || !may_be_active(*value))
    return ok;
  if (auto ok = check_narrowable(into); !ok)
    return ok;
  auto got = read_narrowing(*value, "ciliumNarrowing");
  if (!got)
    return tl::unexpected{got.error()};
  into.cilium_narrowing = *std::move(got);
  return {};
}

// -- the profile ------------------------------------------------------------

result<void> read_profile(const json& object, egress_config& into) {
  if (const auto* value = configured(object, "profile")) {
    into.profile = shown(value);
    if (!value->is_string() || !is_profile(*into.profile))
      return tl::unexpected{illegal_profile{"profile", *into.profile, "must be a DNS label: at most 63 of a-z, 0-9 and dashes between"}};
  }
  if (const auto* value = configured(object, "profileLabelKey")) {
    into.profile_label_key = shown(value);
    if (!value->is_string() || !is_label_key(into.profile_label_key))
      return tl::unexpected{illegal_profile{"profileLabelKey", into.profile_label_key, "is no label key"}};
    if (into.profile_label_key == template_label_key)
      return tl::unexpected{illegal_profile{"profileLabelKey", into.profile_label_key, "is the key that names the template of a pod"}};
  }
  return {};
}

result<void> read_sandbox_part(const json& object, egress_config& into) {
  const auto* value = configured(object, "perSandbox");
  if (value == nullptr)
    return {};
  auto got = read_per_sandbox(*value, into.profile ? std::optional{into.profile_label_key} : std::nullopt);
  if (!got)
    return tl::unexpected{got.error()};
  into.per_sandbox = *std::move(got);
  return {};
}

} // namespace

result<egress_config> read_egress_config(const json& object) {
  if (auto ok = check_members(
        object, "", {"policy", "networkPolicyName", "engine", "verify", "ciliumNarrowing", "profile", "profileLabelKey", "perSandbox"});
      !ok)
    return tl::unexpected{ok.error()};
  const auto* said = configured(object, "policy");
  if (said == nullptr)
    return illegal("policy", "is missing");
  auto policy = read_policy(*said);
  if (!policy)
    return tl::unexpected{policy.error()};
  auto got = egress_config{};
  got.policy = *std::move(policy);
  if (auto ok = read_plain_members(object, got); !ok)
    return tl::unexpected{ok.error()};
  if (auto ok = check_enforceable(got); !ok)
    return tl::unexpected{ok.error()};
  for (auto* read : {read_cilium_narrowing, read_profile, read_sandbox_part})
    if (auto ok = read(object, got); !ok)
      return tl::unexpected{ok.error()};
  return got;
}

} // namespace paddock::egress
