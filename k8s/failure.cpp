#include "k8s/failure.hpp"

#include "base/overloaded.hpp"

#include <nlohmann/json.hpp>

namespace paddock::k8s {

namespace {

std::string of(const std::string& method, const std::string& resource) {
  return method + " " + resource;
}

} // namespace

std::string to_string(const failure& x) {
  return std::visit(
    overloaded{
      [](const credential_failure& e) {
        return of(e.verb, e.resource) + ": the credential was refused (" + std::to_string(e.status) + ")";
      },
      [](const already_gone& e) { return of(e.method, e.resource) + ": not there (" + std::to_string(e.status) + ")"; },
      [](const conflict& e) { return of(e.method, e.resource) + ": conflict (409)"; },
      [](const patch_not_applied& e) {
        return of(e.method, e.resource) + ": the patch was not applied (" + std::to_string(e.status) + ")";
      },
      [](const api_failure& e) {
        if (e.status)
          return of(e.method, e.path) + ": answered " + std::to_string(*e.status) + (e.cause.empty() ? "" : ": " + e.cause);
        return of(e.method, e.path) + ": no answer: " + e.cause;
      },
      [](const api_timeout& e) { return of(e.verb, e.resource) + ": no answer within " + std::to_string(e.bound.count()) + " ms"; },
      [](const cancelled& e) { return of(e.method, e.resource) + ": withdrawn by the caller"; },
    },
    x);
}

std::string_view reason_of(const failure& x) {
  return std::visit(overloaded{
                      [](const credential_failure&) -> std::string_view { return "Credential"; },
                      [](const already_gone&) -> std::string_view { return "AlreadyGone"; },
                      [](const conflict&) -> std::string_view { return "Conflict"; },
                      [](const patch_not_applied&) -> std::string_view { return "PatchNotApplied"; },
                      [](const api_failure&) -> std::string_view { return "Api"; },
                      [](const api_timeout&) -> std::string_view { return "ApiTimeout"; },
                      [](const cancelled&) -> std::string_view { return "Cancelled"; },
                    },
                    x);
}

nlohmann::json details_of(const failure& x) {
  using json = nlohmann::json;
  return std::visit(overloaded{
                      [](const credential_failure& e) -> json {
                        return {{"verb", e.verb}, {"resource", e.resource}, {"status", e.status}};
                      },
                      [](const conflict& e) -> json {
                        return {{"method", e.method}, {"resource", e.resource}};
                      },
                      [](const api_failure& e) -> json {
                        auto got = json{{"method", e.method}, {"resource", e.path}};
                        if (e.status)
                          got["status"] = *e.status;
                        if (e.retry_after)
                          got["retryAfterMs"] = e.retry_after->count();
                        return got;
                      },
                      [](const api_timeout& e) -> json {
                        return {{"verb", e.verb}, {"resource", e.resource}, {"timeoutMs", e.bound.count()}};
                      },
                      [](const cancelled& e) -> json {
                        return {{"method", e.method}, {"resource", e.resource}};
                      },
                      [](const auto& e) -> json {
                        return {{"method", e.method}, {"resource", e.resource}, {"status", e.status}};
                      },
                    },
                    x);
}

bool outcome_unknown(const failure& x) {
  return std::visit(overloaded{
                      [](const api_failure& e) {
                        if (!e.status)
                          return e.sent;
                        // A 2xx whose body could not be read was applied, for all one knows; a 1xx or 3xx says nothing.
                        return *e.status < 400 || *e.status == 429 || *e.status >= 500;
                      },
                      [](const api_timeout& e) { return e.sent; },
                      [](const cancelled& e) { return e.sent; },
                      [](const auto&) { return false; },
                    },
                    x);
}

} // namespace paddock::k8s
