#pragma once

#include "embedded/yaml_json.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace paddock::test {

/// The objects of a manifest under deploy/egress, in its order.
inline std::vector<nlohmann::json> shipped(const std::string& file) {
  std::ifstream in{PADDOCK_DEPLOY_EGRESS "/" + file};
  const auto text = std::string{std::istreambuf_iterator<char>{in}, {}};
  auto got = std::vector<nlohmann::json>{};
  for (auto at = std::size_t{0}; at < text.size();) {
    auto end = text.find("\n---\n", at);
    const auto document = text.substr(at, end - at);
    at = end == std::string::npos ? text.size() : end + 5;
    auto twice = std::vector<std::string>{};
    auto object = embedded::parse_yaml(document, twice);
    if (!object || !twice.empty())
      CAF_FAIL("cannot read " << file << ": " << (object ? "a member stands twice" : object.error()));
    got.push_back(std::move(*object));
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
