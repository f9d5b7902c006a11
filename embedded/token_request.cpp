#include "embedded/token_request.hpp"

#include "base/random.hpp"
#include "embedded/type_schema.hpp"

namespace paddock::embedded {

namespace {

constexpr std::int64_t usual_seconds = 3600;
constexpr std::int64_t least_seconds = 600;
constexpr std::int64_t most_seconds = std::int64_t{1} << 32;

api_result<std::int64_t> read_seconds(const json& spec) {
  const auto* x = member(spec, "expirationSeconds");
  if (x == nullptr || x->is_null())
    return usual_seconds;
  const auto seconds = x->get<std::int64_t>();
  const auto refused = [&](std::string_view why) {
    return tl::unexpected{invalid("authentication.k8s.io", "TokenRequest", "", {field_invalid("spec.expirationSeconds", x->dump(), why)})};
  };
  if (seconds < least_seconds)
    return refused("may not specify a duration less than 10 minutes");
  if (seconds > most_seconds)
    return refused("may not specify a duration larger than 2^32 seconds");
  return seconds;
}

/// The object that the token ends with, as it is now.
api_result<std::optional<bound_object>> read_bound(const json& spec, const store& objects, const std::string& name_space,
                                                   const std::string& account) {
  const auto* ref = member(spec, "boundObjectRef");
  if (ref == nullptr || ref->is_null())
    return std::optional<bound_object>{};
  bound_object out{text_at(*ref, {"kind"}), text_at(*ref, {"name"}), text_at(*ref, {"uid"})};
  const auto plural = out.kind == "Pod" ? "pods" : out.kind == "Secret" ? "secrets" : out.kind == "Node" ? "nodes" : "";
  const auto* kind = text_at(*ref, {"apiVersion"}) == "v1" ? find_kind("", "v1", plural) : nullptr;
  if (kind == nullptr)
    return tl::unexpected{bad_request("cannot bind token to object of type " + text_at(*ref, {"apiVersion"}) + ", Kind=" + out.kind)};
  const auto found = objects.get(*kind, kind->namespaced ? name_space : std::string{}, out.name);
  if (!found)
    return tl::unexpected{found.error()};
  if (out.kind == "Pod" && (*found)->text_at({"spec", "serviceAccountName"}) != account)
    return tl::unexpected{
      bad_request("cannot bind token for serviceaccount " + in_quotes(account) + " to pod running with different serviceaccount name.")};
  const auto uid = (*found)->text_at({"metadata", "uid"});
  if (!out.uid.empty() && out.uid != uid)
    return tl::unexpected{conflict(*kind, "", out.name,
                                   "the UID in the bound object reference (" + out.uid + ") does not match the UID in record (" + uid
                                     + "). The object might have been deleted and then recreated")};
  out.uid = uid;
  return std::optional{std::move(out)};
}

} // namespace

api_result<json> answer_token_request(const service_account_tokens& accounts, const store& objects, const std::string& name_space,
                                      const std::string& name, json request, store::instant now) {
  if (auto why = misfit(*builtin_type("TokenRequest"), request, "TokenRequest"))
    return tl::unexpected{bad_request("TokenRequest in version \"v1\" cannot be handled as a TokenRequest: " + *why)};
  const auto account = objects.get(*find_kind("", "v1", "serviceaccounts"), name_space, name);
  if (!account)
    return tl::unexpected{account.error()};
  auto& spec = object_at(request, "spec");
  const auto seconds = read_seconds(spec);
  if (!seconds)
    return tl::unexpected{seconds.error()};
  auto bound = read_bound(spec, objects, name_space, name);
  if (!bound)
    return tl::unexpected{bound.error()};
  auto audiences = texts_of(spec, "audiences");
  if (audiences.empty())
    audiences = {server_audience};
  // The token.
  const auto uid = (*account)->text_at({"metadata", "uid"});
  const auto issued = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const auto token = accounts.mint({name_space, name, uid, *bound, audiences, new_uuid(), issued, issued + *seconds});
  json out{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}};
  out["metadata"] = {{"name", name}, {"namespace", name_space}, {"uid", uid}, {"creationTimestamp", rfc3339_seconds(now)}};
  out["spec"] = {{"audiences", audiences}, {"expirationSeconds", *seconds}, {"boundObjectRef", spec.value("boundObjectRef", json{})}};
  out["status"] = {{"token", token.reveal()}, {"expirationTimestamp", rfc3339_seconds(now + std::chrono::seconds{*seconds})}};
  return out;
}

} // namespace paddock::embedded
