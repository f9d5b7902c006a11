#include "embedded/status.hpp"

#include "embedded/object.hpp"

namespace paddock::embedded {

namespace {

api_status about(unsigned code, std::string reason, std::string message, const resource_kind& kind, std::string_view name) {
  return {code, std::move(reason), std::move(message),
          status_details{std::string{name}, std::string{kind.group}, std::string{kind.plural}, {}, {}, {}}};
}

std::string cannot_be_fulfilled(const std::string& what, std::string_view name, std::string_view why) {
  return "Operation cannot be fulfilled on " + what + " \"" + std::string{name} + "\": " + std::string{why};
}

api_status failed_precondition(const resource_kind& kind, std::string_view name, const std::string& why) {
  return {409, "Conflict", cannot_be_fulfilled(kind.qualified_kind(), name, why),
          status_details{std::string{name}, std::string{kind.group}, std::string{kind.kind}, {}, {}, {}}};
}

} // namespace

nlohmann::ordered_json to_json(const api_status& x) {
  nlohmann::ordered_json out;
  out["kind"] = "Status";
  out["apiVersion"] = "v1";
  out["metadata"] = nlohmann::ordered_json::object();
  if (!x.next.empty())
    out["metadata"]["continue"] = x.next;
  out["status"] = "Failure";
  out["message"] = x.message;
  if (!x.reason.empty())
    out["reason"] = x.reason;
  if (x.details) {
    auto details = nlohmann::ordered_json::object();
    if (!x.details->name.empty())
      details["name"] = x.details->name;
    if (!x.details->group.empty())
      details["group"] = x.details->group;
    if (!x.details->kind.empty())
      details["kind"] = x.details->kind;
    if (!x.details->uid.empty())
      details["uid"] = x.details->uid;
    for (const auto& cause : x.details->causes) {
      auto one = nlohmann::ordered_json::object();
      if (!cause.reason.empty())
        one["reason"] = cause.reason;
      one["message"] = cause.message;
      if (!cause.field.empty())
        one["field"] = cause.field;
      details["causes"].push_back(std::move(one));
    }
    if (x.details->retry_after)
      details["retryAfterSeconds"] = *x.details->retry_after;
    out["details"] = std::move(details);
  }
  out["code"] = x.code;
  return out;
}

// -- causes -------------------------------------------------------------------------------------------------------

status_cause field_required(std::string field, std::string_view detail) {
  return {"FieldValueRequired", detail.empty() ? "Required value" : "Required value: " + std::string{detail}, std::move(field)};
}

status_cause field_invalid(std::string field, std::string_view value, std::string_view detail) {
  return {"FieldValueInvalid", "Invalid value: " + (value.empty() ? std::string{} : std::string{value} + ": ") + std::string{detail},
          std::move(field)};
}

status_cause field_type_invalid(std::string field, std::string_view value, std::string_view detail) {
  return {"FieldValueTypeInvalid", "Invalid value: " + std::string{value} + ": " + std::string{detail}, std::move(field)};
}

status_cause field_unsupported(std::string field, std::string_view value, const std::vector<std::string>& supported) {
  auto text = "Unsupported value: " + std::string{value} + ": supported values: ";
  for (std::size_t i = 0; i < supported.size(); ++i)
    text += (i == 0 ? "" : ", ") + in_quotes(supported[i]);
  return {"FieldValueNotSupported", std::move(text), std::move(field)};
}

status_cause field_forbidden(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", "Forbidden: " + std::string{detail}, std::move(field)};
}

// -- refusals -----------------------------------------------------------------------------------------------------

api_status bad_request(std::string message) {
  return {400, "BadRequest", std::move(message), {}};
}

api_status unauthorized() {
  return {401, "Unauthorized", "Unauthorized", {}};
}

api_status not_found(const resource_kind& kind, std::string_view name) {
  return about(404, "NotFound", kind.qualified_plural() + " \"" + std::string{name} + "\" not found", kind, name);
}

api_status method_not_allowed() {
  return {405, "MethodNotAllowed", "the server does not allow this method on the requested resource", status_details{}};
}

api_status not_served() {
  return {404, "NotFound", "the server could not find the requested resource", status_details{}};
}

api_status not_acceptable() {
  return {406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml", {}};
}

api_status already_exists(const resource_kind& kind, std::string_view name, bool terminating) {
  return about(409, "AlreadyExists",
               (terminating ? "object is being deleted: " : "") + kind.qualified_plural() + " \"" + std::string{name} + "\" already exists",
               kind, name);
}

api_status conflict_modified(const resource_kind& kind, std::string_view name) {
  return conflict(kind, "", name, "the object has been modified; please apply your changes to the latest version and try again");
}

api_status conflict_uid(const resource_kind& kind, std::string_view name_space, std::string_view name, std::string_view wanted,
                        std::string_view recorded) {
  auto key = "/registry/" + (kind.group.empty() ? std::string{} : std::string{kind.group} + "/") + std::string{kind.plural} + "/"
             + (name_space.empty() ? std::string{} : std::string{name_space} + "/") + std::string{name};
  return conflict(kind, "", name,
                  "StorageError: invalid object, Code: 4, Key: " + key
                    + ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: " + std::string{wanted}
                    + ", UID in object meta: " + std::string{recorded});
}

api_status conflict(const resource_kind& kind, std::string_view subresource, std::string_view name, std::string_view why) {
  const auto below = subresource.empty() ? std::string{} : "/" + std::string{subresource};
  const auto what = std::string{kind.plural} + below + (kind.group.empty() ? std::string{} : "." + std::string{kind.group});
  auto out = about(409, "Conflict", cannot_be_fulfilled(what, name, why), kind, name);
  out.details->kind += below;
  return out;
}

api_status failed_uid_precondition(const resource_kind& kind, std::string_view name, std::string_view wanted, std::string_view recorded) {
  return failed_precondition(kind, name,
                             "the UID in the precondition (" + std::string{wanted} + ") does not match the UID in record ("
                               + std::string{recorded} + "). The object might have been deleted and then recreated");
}

api_status failed_version_precondition(const resource_kind& kind, std::string_view name, std::string_view wanted,
                                       std::string_view recorded) {
  return failed_precondition(kind, name,
                             "the ResourceVersion in the precondition (" + std::string{wanted}
                               + ") does not match the ResourceVersion in record (" + std::string{recorded}
                               + "). The object might have been modified");
}

api_status forbidden(const resource_kind& kind, std::string_view name, std::string_view why) {
  return about(403, "Forbidden", kind.qualified_plural() + " " + in_quotes(name) + " is forbidden: " + std::string{why}, kind, name);
}

api_status namespace_ends(const resource_kind& kind, std::string_view name, std::string_view name_space) {
  const auto where = std::string{name_space};
  auto out = forbidden(kind, name, "unable to create new content in namespace " + where + " because it is being terminated");
  out.details->causes.push_back({"NamespaceTerminating", "namespace " + where + " is being terminated", "metadata.namespace"});
  return out;
}

api_status expired_token(std::string token) {
  auto out = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and "
    "now may show up in the list.");
  out.next = std::move(token);
  return out;
}

api_status expired(std::string message) {
  return {410, "Expired", std::move(message), {}};
}

api_status too_large() {
  return {413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", {}};
}

api_status unsupported_body_type() {
  return {415,
          "UnsupportedMediaType",
          "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, "
          "application/vnd.kubernetes.protobuf",
          {}};
}

api_status unsupported_patch_type(bool custom) {
  return {415,
          "UnsupportedMediaType",
          std::string{"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
                      "application/merge-patch+json"}
            + (custom ? "" : ", application/strategic-merge-patch+json") + ", " + apply_patch_type,
          {}};
}

api_status invalid(std::string_view group, std::string_view kind, std::string_view name, std::vector<status_cause> causes) {
  // A fault that is listed twice is told once.
  std::vector<std::string> texts;
  for (const auto& x : causes) {
    auto text = x.field + ": " + x.message;
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  std::string all;
  for (const auto& x : texts)
    all += (all.empty() ? "" : ", ") + x;
  if (texts.size() > 1)
    all = "[" + all + "]";
  auto what = std::string{kind} + (group.empty() ? "" : "." + std::string{group}) + " \"" + std::string{name} + "\" is invalid: " + all;
  return {422, "Invalid", std::move(what),
          status_details{std::string{name}, std::string{group}, std::string{kind}, {}, std::move(causes), {}}};
}

api_status invalid(const resource_kind& kind, std::string_view name, std::vector<status_cause> causes) {
  return invalid(kind.group, kind.kind, name, std::move(causes));
}

api_status failed_patch() {
  return {422, "Invalid", "the server rejected our request due to an error in our request", status_details{}};
}

api_status internal_error(std::string_view what) {
  status_details details;
  details.causes.push_back({"", std::string{what}, ""});
  return {500, "InternalError", "Internal error occurred: " + std::string{what}, std::move(details)};
}

api_status too_many_requests() {
  status_details details;
  details.retry_after = 1;
  return {429, "TooManyRequests", "Too many requests, please try again later.", std::move(details)};
}

api_status version_too_new(std::uint64_t wanted, std::uint64_t current) {
  status_details details;
  details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  details.retry_after = 1;
  return {504, "Timeout", "Timeout: Too large resource version: " + std::to_string(wanted) + ", current: " + std::to_string(current),
          std::move(details)};
}

} // namespace paddock::embedded
