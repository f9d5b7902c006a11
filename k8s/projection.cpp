#include "k8s/projection.hpp"

#include <algorithm>

namespace paddock::k8s {

using nlohmann::json;

namespace {

/// One token of a JSON pointer.
std::string unescaped(std::string_view token) {
  auto got = std::string{};
  for (auto at = std::size_t{0}; at < token.size(); ++at)
    if (token[at] == '~' && at + 1 < token.size())
      got += token[++at] == '1' ? '/' : '~';
    else
      got += token[at];
  return got;
}

} // namespace

projection::projection(std::initializer_list<std::string_view> pointers) {
  for (const auto* identity : {"/metadata/name", "/metadata/namespace", "/metadata/uid", "/metadata/resourceVersion"})
    add(members_, identity);
  for (const auto x : pointers)
    add(members_, x);
}

void projection::add(std::vector<member>& to, std::string_view pointer) {
  pointer.remove_prefix(1);
  const auto slash = pointer.find('/');
  auto name = unescaped(pointer.substr(0, slash));
  auto at = std::ranges::find(to, name, &member::name);
  if (at == to.end())
    at = to.insert(to.end(), member{std::move(name), {}});
  if (slash != std::string_view::npos)
    add(at->below, pointer.substr(slash));
}

json projection::take(const json& from, const std::vector<member>& what) {
  if (what.empty())
    return from;
  if (from.is_array()) {
    auto got = json::array();
    for (const auto& x : from)
      got.push_back(take(x, what));
    return got;
  }
  if (!from.is_object())
    return from;
  auto got = json::object();
  for (const auto& x : what)
    if (const auto found = from.find(x.name); found != from.end())
      got.emplace(x.name, take(*found, x.below));
  return got;
}

json projection::of(const json& object) const {
  return take(object, members_);
}

const projection& sandbox_projection() {
  static const auto it = projection{
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/deletionTimestamp",
    "/metadata/annotations/sandbox.namzu.ai~1holder-epoch",
    "/metadata/annotations/sandbox.namzu.ai~1operating-mode-changed-at",
    "/metadata/annotations/sandbox.namzu.ai~1pod-template-hash",
    "/spec/operatingMode",
    "/spec/volumeClaimTemplates/metadata/name",
    "/status/conditions/type",
    "/status/conditions/status",
    "/status/conditions/reason",
    "/status/conditions/message",
    "/status/conditions/observedGeneration",
    "/status/podIPs",
    "/status/selector",
    "/status/serviceFQDN",
  };
  return it;
}

} // namespace paddock::k8s
