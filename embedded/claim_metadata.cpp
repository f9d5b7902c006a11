#include "embedded/claim_metadata.hpp"

#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace paddock::embedded {

namespace {

using nlohmann::json;

/// The part before the slash; empty where there is none.
std::string domain_of(const std::string& key) {
  auto slash = key.find('/');
  return slash == std::string::npos ? std::string{} : key.substr(0, slash);
}

bool within(const std::string& domain, const std::string& parent) {
  return domain == parent || domain.ends_with("." + parent);
}

bool label_value(const std::string& text) {
  auto plain = [](unsigned char c) { return std::isalnum(c) != 0; };
  return text.empty()
         || (text.size() <= 63 && plain(static_cast<unsigned char>(text.front())) && plain(static_cast<unsigned char>(text.back()))
             && std::all_of(text.begin(), text.end(), [&](unsigned char c) { return plain(c) || c == '-' || c == '_' || c == '.'; }));
}

std::string label_fault(const std::string& key, const json& value, const std::vector<std::string>& domains) {
  auto domain = domain_of(key);
  if (key == "app" && value == json("sandbox-router"))
    return "label \"app=sandbox-router\" is reserved";
  if (domain.empty())
    return "label \"" + key
           + "\" must have a domain prefix (e.g. 'sandbox.users.io/my-label') to prevent opting into unintended policy domains";
  if (std::none_of(domains.begin(), domains.end(), [&](const auto& x) { return within(domain, x); }))
    return "label domain \"" + domain + "\" is not in the allowlist";
  if (!value.is_string() || !label_value(value.get<std::string>()))
    return "the value is not a valid label value";
  return {};
}

std::string annotation_fault(const std::string& key) {
  static constexpr std::array system{"kubernetes.io", "k8s.io", "agents.x-k8s.io"};
  auto domain = domain_of(key);
  if (key != agent_keys::safe_to_evict && std::any_of(system.begin(), system.end(), [&](const auto* x) { return within(domain, x); }))
    return "restricted system domain: \"" + key + "\" is not allowed in AdditionalPodMetadata";
  return {};
}

} // namespace

std::optional<std::string> metadata_fault(const nlohmann::json& claim, const std::vector<std::string>& domains) {
  if (const auto& all = value_in(claim, "/spec/additionalPodMetadata/labels"); all.is_object())
    for (const auto& [key, value] : all.items())
      if (auto why = label_fault(key, value, domains); !why.empty())
        return "failed to validate label \"" + key + "\": " + why;
  if (const auto& all = value_in(claim, "/spec/additionalPodMetadata/annotations"); all.is_object())
    for (const auto& [key, value] : all.items())
      if (auto why = annotation_fault(key); !why.empty())
        return "failed to validate annotation \"" + key + "\": " + why;
  return std::nullopt;
}

} // namespace paddock::embedded
