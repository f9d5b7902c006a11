#include "embedded/resource_service.hpp"

#include "embedded/openapi_document.hpp"
#include "embedded/patch.hpp"
#include "embedded/resource_answer.hpp"
#include "embedded/resource_discovery.hpp"
#include "embedded/resource_servant.hpp"
#include "embedded/yaml_json.hpp"

namespace paddock::embedded {

namespace {

outcome refuse() {
  return to_answer(method_not_allowed());
}

outcome yaml_too_large() {
  return to_answer(
    {413, "RequestEntityTooLarge", "Request entity too large: limit is " + std::to_string(max_yaml_bytes) + " for YAML", {}});
}

outcome serve_openapi_v2(const api_call& call) {
  if (call.method != "GET")
    return refuse();
  const auto asked = [&](const char* type) { return call.accept.find(type) != std::string::npos; };
  const bool protobuf = asked(openapi_v2_protobuf) || asked(openapi_v2_protobuf_asked);
  return api_answer{200, {{"Content-Type", protobuf ? openapi_v2_protobuf : "application/json"}}, openapi_v2_document(protobuf)};
}

/// Discovery, or nothing known at all.
outcome serve_other(const store& objects, const api_call& call, const request_target& target) {
  if (target.path == "/openapi/v2")
    return serve_openapi_v2(call);
  auto found = discover(target.segments, objects, wants_aggregated(call.accept));
  if (!found)
    return page_not_found();
  if (call.method != "GET")
    return refuse();
  return make_answer(200, encode_json(found->document), found->content_type);
}

outcome serve_status(servant& work, const std::string& method, store::part which) {
  if (method == "GET" && which == store::part::status)
    return work.get();
  if (method == "PUT")
    return work.replace(which);
  if (method == "PATCH" && which == store::part::status)
    return work.patch(which);
  return refuse();
}

outcome serve_scale(servant& work, const std::string& method) {
  if (method == "GET")
    return work.get_scale();
  if (method == "PUT")
    return work.replace_scale();
  return method == "PATCH" ? work.patch_scale() : refuse();
}

/// What stands below an object. Of a pod, eviction, exec, attach, portforward and proxy are not served.
outcome serve_below(servant& work, const resource_path& where, const std::string& method) {
  const auto& kind = *where.kind;
  const auto& what = where.subresource;
  if (what == "status" && kind.has_status)
    return kind.read_only && method != "GET" ? refuse() : serve_status(work, method, store::part::status);
  if (what == "scale" && kind.has_scale)
    return serve_scale(work, method);
  if (what == "finalize" && kind.kind == "Namespace")
    return serve_status(work, method, store::part::finalizers);
  if (what == "binding" && kind.kind == "Pod")
    return method == "POST" ? work.bind() : refuse();
  if (what == "log" && kind.kind == "Pod")
    return method == "GET" ? work.log() : refuse();
  if (what == "token" && kind.kind == "ServiceAccount")
    return method == "POST" ? work.token() : refuse();
  return to_answer(kind.custom ? not_found(kind, where.name) : not_served());
}

outcome serve_collection(servant& work, const resource_path& where, const std::string& method) {
  const auto& kind = *where.kind;
  // Nothing is made or deleted in all namespaces at once, and namespaces only one by one.
  const bool somewhere = !kind.namespaced || !where.name_space.empty();
  if (!somewhere || kind.read_only)
    return refuse();
  if (method == "POST")
    return work.create();
  return method == "DELETE" && kind.kind != "Namespace" ? work.remove_all() : refuse();
}

outcome serve_object(servant& work, const resource_path& where, const std::string& method) {
  if (where.kind->read_only)
    return refuse();
  // A custom kind takes a POST also under a name, and ignores that name.
  if (method == "POST")
    return where.kind->custom ? work.create() : refuse();
  if (method == "PUT")
    return work.replace(store::part::main);
  return method == "PATCH" ? work.patch(store::part::main) : work.remove();
}

outcome serve_resource(servant& work, const api_call& call, const request_target& target, const resource_path& where) {
  const bool reads = call.method == "GET";
  if (!where.subresource.empty())
    return serve_below(work, where, call.method);
  // Of one object by its path there is no watch: it is read, which is what the right was asked for.
  if (reads && !where.name.empty())
    return work.get();
  if (reads)
    return target.query_flag("watch") ? work.watch() : work.list();
  return where.name.empty() ? serve_collection(work, where, call.method) : serve_object(work, where, call.method);
}

outcome serve_question(servant& work, const api_call& call, const resource_path& where) {
  if (!where.name.empty())
    return to_answer(not_served());
  return call.method == "POST" && (!where.kind->namespaced || !where.name_space.empty()) ? work.review() : refuse();
}

bool is_known_method(const std::string& method) {
  return method == "GET" || method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

} // namespace

api_answer to_answer(const api_status& x) {
  auto out = make_answer(x.code, encode_json(to_json(x)));
  if (x.details && x.details->retry_after)
    out.headers.emplace_back("Retry-After", std::to_string(*x.details->retry_after));
  return out;
}

std::optional<api_answer> serve_public(std::string_view method, std::string_view path) {
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    if (method != "GET")
      return to_answer(method_not_allowed());
    return api_answer{200, {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}}, "ok"};
  }
  if (path == "/version" || path == "/version/") {
    if (method != "GET")
      return to_answer(method_not_allowed());
    nlohmann::ordered_json out;
    out["major"] = "1";
    out["minor"] = "36";
    out["gitVersion"] = server_version;
    // Libraries take these for given.
    for (const auto* name : {"gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler"})
      out[name] = "";
    out["platform"] = "linux/amd64";
    return api_answer{200, {{"Content-Type", "application/json"}}, out.dump(2)};
  }
  return std::nullopt;
}

outcome serve(store& objects, const api_call& call, const request_gate* gate, store::instant now) {
  const auto target = parse_target(call.target);
  if (!target)
    return to_answer(bad_request("the request's path or query is not encoded correctly"));
  // -- whether the user may --
  const auto what = read_attributes(call.method, *target);
  if (gate != nullptr)
    if (auto denied = gate->denies(call.user, what))
      return to_answer(*denied);
  if (call.body.size() > max_object_bytes)
    return to_answer(too_large());
  if (call.body.size() > max_yaml_bytes && media_type(call.content_type) == "application/yaml")
    return yaml_too_large();
  if (auto open = serve_public(call.method, target->path))
    return std::move(*open);
  const auto where = parse_resource_path(target->segments);
  if (!where || !objects.serves(*where->kind))
    return serve_other(objects, call, *target);
  // -- what is wanted --
  if (!is_known_method(call.method))
    return refuse();
  const auto shape = negotiate(call.accept, target->query_text("includeObject"));
  if (!shape)
    return to_answer(not_acceptable());
  servant work{{objects, call, *target, *where, gate, what, now, *shape}};
  return where->kind->asks ? serve_question(work, call, *where) : serve_resource(work, call, *target, *where);
}

} // namespace paddock::embedded
