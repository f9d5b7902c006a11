#include "embedded/rbac_review.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

tl::unexpected<api_status> refused(status_cause cause) {
  auto out = invalid("authorization.k8s.io", "", "", {std::move(cause)});
  return tl::unexpected{std::move(out)};
}

std::string go_text(const json& path_attributes) {
  return R"({"Path":)" + in_quotes(text_at(path_attributes, {"path"})) + R"(,"Verb":)" + in_quotes(text_at(path_attributes, {"verb"}))
         + "}";
}

/// Whom the review asks about.
user_info subject_of(const json& spec) {
  user_info out{text_at(spec, {"user"})};
  out.uid = text_at(spec, {"uid"});
  out.groups = texts_of(spec, "groups");
  return out;
}

access_attributes attributes_of(const json& resource) {
  access_attributes out;
  out.on_resource = true;
  out.verb = text_at(resource, {"verb"});
  out.group = text_at(resource, {"group"});
  out.version = text_at(resource, {"version"});
  out.resource = text_at(resource, {"resource"});
  out.subresource = text_at(resource, {"subresource"});
  out.name_space = text_at(resource, {"namespace"});
  out.name = text_at(resource, {"name"});
  return out;
}

} // namespace

api_result<json> review_access(const rbac_authorizer& rights, const user_info& who, const resource_kind& kind,
                               const std::string& name_space, json review) {
  const auto& spec = object_at(review, "spec");
  const auto* resource = member(spec, "resourceAttributes");
  const auto* path = member(spec, "nonResourceAttributes");
  if (resource != nullptr && resource->is_null())
    resource = nullptr;
  if (path != nullptr && path->is_null())
    path = nullptr;
  const bool self = kind.kind == "SelfSubjectAccessReview";
  if (resource != nullptr && path != nullptr)
    return refused(
      field_invalid("spec.nonResourceAttributes", go_text(*path), "cannot be specified in combination with resourceAttributes"));
  if (resource == nullptr && path == nullptr)
    return refused(
      field_invalid("spec.resourceAttributes", "null", "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  const auto asked = self ? who : subject_of(spec);
  if (!self && asked.name.empty() && asked.groups.empty())
    return refused(field_invalid("spec.user", R"("")", "at least one of user or group must be specified"));
  if (kind.namespaced) {
    if (path != nullptr)
      return refused(field_invalid("spec.nonResourceAttributes", go_text(*path), "disallowed on this kind of request"));
    if (const auto given = text_at(*resource, {"namespace"}); given != name_space)
      return refused(field_invalid("spec.resourceAttributes.namespace", in_quotes(given), "must match metadata.namespace"));
    object_at(review, "metadata")["namespace"] = name_space;
  }
  access_attributes what;
  if (resource != nullptr) {
    what = attributes_of(*resource);
  } else {
    what.verb = text_at(*path, {"verb"});
    what.path = text_at(*path, {"path"});
  }
  const auto verdict = rights.decide(asked, what);
  auto& status = review["status"] = {{"allowed", verdict.allowed}};
  if (!verdict.reason.empty())
    status["reason"] = verdict.reason;
  return review;
}

api_result<json> review_rules(const rbac_authorizer& rights, const user_info& who, json review) {
  const auto name_space = text_at(review, {"spec", "namespace"});
  if (name_space.empty())
    return tl::unexpected{bad_request("no namespace on request")};
  auto resources = json::array();
  auto paths = json::array();
  auto rules = rights.rules_of(who, name_space);
  for (const auto& x : rules) {
    if (!x.urls.empty())
      paths.push_back(to_json(x));
    if (!x.resources.empty())
      resources.push_back(to_json(x));
  }
  review["spec"] = json::object();
  review["status"] = {{"resourceRules", std::move(resources)}, {"nonResourceRules", std::move(paths)}, {"incomplete", false}};
  return review;
}

} // namespace paddock::embedded
