#pragma once

#include "embedded/yaml_json.hpp"
#include "tests/support/text_file.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace paddock::test {

/// One YAML document as the API server reads it; a member that stands twice fails the test.
inline nlohmann::json yaml_object(const std::string& document) {
  auto twice = std::vector<std::string>{};
  auto object = embedded::parse_yaml(document, twice);
  if (!object || !twice.empty())
    CAF_FAIL((object ? "a member stands twice" : object.error()) << " in:\n" << document);
  return std::move(*object);
}

/// The objects of a manifest under deploy/egress, in its order.
inline std::vector<nlohmann::json> shipped(const std::string& file) {
  const auto text = text_of(PADDOCK_DEPLOY_EGRESS "/" + file);
  auto got = std::vector<nlohmann::json>{};
  for (auto at = std::size_t{0}; at < text.size();) {
    const auto end = text.find("\n---\n", at);
    got.push_back(yaml_object(text.substr(at, end - at)));
    at = end == std::string::npos ? text.size() : end + 5;
  }
  return got;
}

/// The one of this kind and name among all that are shipped.
inline nlohmann::json shipped(const std::string& kind, const std::string& name) {
  for (const auto* file : {"baseline.yaml", "fence.yaml", "permitted-hosts.yaml", "rbac.yaml", "rbac-per-sandbox-egress.yaml"})
    for (auto& x : shipped(std::string{file}))
      if (x["kind"] == kind && x["metadata"]["name"] == name)
        return x;
  CAF_FAIL("not shipped: " << kind << " " << name);
  return nullptr;
}

} // namespace paddock::test
