#include "embedded/scale.hpp"

namespace paddock::embedded {

json scale_of(const json& object) {
  json out{{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"}};
  for (const auto* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (auto text = text_at(object, {"metadata", key}); !text.empty())
      out["metadata"][key] = std::move(text);
  const auto replicas = [&](std::string_view part) {
    const auto* x = find(object, {part, "replicas"});
    return x != nullptr && x->is_number_integer() ? *x : json(0);
  };
  out["spec"]["replicas"] = replicas("spec");
  out["status"]["replicas"] = replicas("status");
  if (auto selector = text_at(object, {"status", "selector"}); !selector.empty())
    out["status"]["selector"] = std::move(selector);
  return out;
}

api_result<json> scaled(json object, const json& scale) {
  const auto unreadable = [](const std::string& what) {
    return tl::unexpected{
      bad_request("Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal into Go struct field " + what)};
  };
  if (!scale.is_object() || text_at(scale, {"kind"}) != "Scale" || text_at(scale, {"apiVersion"}) != "autoscaling/v1")
    return tl::unexpected{bad_request("the object provided is unrecognized (must be of type Scale)")};
  const auto* replicas = find(scale, {"spec", "replicas"});
  if (replicas != nullptr && !replicas->is_number_integer())
    return unreadable("ScaleSpec.spec.replicas of type int32");
  object_at(object, "spec")["replicas"] = replicas == nullptr ? json(0) : *replicas;
  for (const auto* key : {"name", "namespace", "uid", "resourceVersion"})
    if (const auto* x = find(scale, {"metadata", key}); x != nullptr && x->is_string())
      object["metadata"][key] = *x;
    else if (key == std::string_view{"resourceVersion"})
      object["metadata"].erase(key);
  return object;
}

} // namespace paddock::embedded
