#include "embedded/schema.hpp"
#include "embedded/schema_validation.hpp"

namespace paddock::embedded::schema {

void default_custom(const resource_kind& kind, json& object) {
  if (const auto* form = schema_of(kind))
    fill_defaults(*form, object);
}

std::vector<status_cause> check_custom(const resource_kind& kind, const json* before, const json& after, bool status_only) {
  const auto* form = schema_of(kind);
  if (form == nullptr)
    return {};
  if (!status_only)
    return validate(*form, before, after, "");
  const auto found = form->members.find("status");
  const auto* status = member(after, "status");
  if (found == form->members.end() || status == nullptr)
    return {};
  return validate(*found->second, before == nullptr ? nullptr : member(*before, "status"), *status, "status");
}

} // namespace paddock::embedded::schema
