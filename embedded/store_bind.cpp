#include "embedded/store.hpp"
#include "embedded/store_facts.hpp"

namespace paddock::embedded {

namespace {

const resource_kind& pod_kind() {
  static const auto* kind = find_kind("", "v1", "pods");
  return *kind;
}

} // namespace

api_result<void> store::bind(const std::string& name_space, const std::string& name, const json& binding, instant now, bool dry_run) {
  const auto& kind = pod_kind();
  const auto node = text_at(binding, {"target", "name"});
  if (const auto sent = text_at(binding, {"metadata", "name"}); !sent.empty() && sent != name)
    return tl::unexpected{bad_request("the name of the object (" + sent + ") does not match the name on the URL (" + name + ")")};
  if (node.empty())
    return tl::unexpected{invalid("", "Binding", name, {field_required("target.name")})};
  if (const auto target = text_at(binding, {"target", "kind"}); !target.empty() && target != "Node")
    return tl::unexpected{invalid("", "Binding", name, {field_unsupported("target.kind", in_quotes(target), {"Node", "<empty>"})})};
  auto found = get(kind, name_space, name);
  if (!found)
    return tl::unexpected{found.error()};
  auto pod = (*found)->value();
  if (const auto sent = text_at(binding, {"metadata", "uid"}); !sent.empty() && sent != text_at(pod, {"metadata", "uid"}))
    return tl::unexpected{conflict_uid(kind, name_space, name, sent, text_at(pod, {"metadata", "uid"}))};
  if (is_terminating(pod))
    return tl::unexpected{conflict(kind, "binding", name, "pod " + name + " is being deleted, cannot be assigned to a host")};
  if (const auto other = text_at(pod, {"spec", "nodeName"}); !other.empty())
    return tl::unexpected{conflict(kind, "binding", name, "pod " + name + " is already assigned to node " + in_quotes(other))};
  object_at(pod, "spec")["nodeName"] = node;
  auto& conditions = object_at(pod, "status")["conditions"];
  json scheduled{{"type", "PodScheduled"}, {"status", "True"}, {"lastProbeTime", nullptr}, {"lastTransitionTime", rfc3339_seconds(now)}};
  if (!conditions.is_array())
    conditions = json::array();
  auto same = std::find_if(conditions.begin(), conditions.end(), [](const json& x) { return text_at(x, {"type"}) == "PodScheduled"; });
  if (same == conditions.end())
    conditions.push_back(std::move(scheduled));
  else
    *same = std::move(scheduled);
  auto done = commit({&kind, name_space, name}, std::move(pod), (*found)->managed(), false, dry_run);
  if (!done)
    return tl::unexpected{done.error()};
  return {};
}

} // namespace paddock::embedded
