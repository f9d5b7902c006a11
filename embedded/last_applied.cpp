#include "embedded/last_applied.hpp"

#include "embedded/field_walk.hpp"

#include <set>

namespace paddock::embedded {

namespace {

constexpr auto annotation = "kubectl.kubernetes.io/last-applied-configuration";

void list_paths(const field_set& fields, const std::string& path, std::set<std::string>& out) {
  if (fields.here())
    out.insert(path);
  for (const auto& [step, below] : fields.below())
    list_paths(below, path + step_text(step), out);
}

/// What the client applied by itself and nobody has changed since, as messages write paths.
std::set<std::string> still_as_applied(const resource_kind& kind, const json& live, const std::string& text) {
  const auto last = parse_json(text); // of which nobody has said how deep it is
  if (!last || !last->is_object() || text_at(*last, {"apiVersion"}) != kind.api_version())
    return {};
  const auto& schema = field_schema(kind);
  const auto changes = compare_fields(schema, *last, live);
  std::set<std::string> out;
  list_paths(fields_of(schema, *last).without(changes.modified).without(changes.added).without(changes.removed), "", out);
  return out;
}

bool only_about(const api_status& refusal, const std::set<std::string>& paths) {
  return refusal.details && !refusal.details->causes.empty()
         && std::all_of(refusal.details->causes.begin(), refusal.details->causes.end(),
                        [&](const status_cause& x) { return x.reason == "FieldManagerConflict" && paths.contains(x.field); });
}

} // namespace

api_result<applied> apply_as_kubectl(const resource_kind& kind, const json& live, const managed_fields& known, const json& config,
                                     const field_author& who, bool force) {
  auto done = apply_fields(kind, live, known, config, who, force);
  const auto last = text_at(live, {"metadata", "annotations", annotation});
  if (who.manager != "kubectl" || last.empty())
    return done;
  if (!done && only_about(done.error(), still_as_applied(kind, live, last)))
    done = apply_fields(kind, live, known, config, who, true);
  if (!done)
    return done;
  auto told = config;
  if (auto* all = told["metadata"].is_object() && told["metadata"].contains("annotations") ? &told["metadata"]["annotations"] : nullptr)
    all->erase(annotation);
  object_at(object_at(done->object, "metadata"), "annotations")[annotation] = encode_json(told) + "\n";
  return done;
}

} // namespace paddock::embedded
