#include "embedded/store_facts.hpp"

namespace paddock::embedded {

std::int64_t number_at(const json& object, std::initializer_list<std::string_view> path, std::int64_t otherwise) {
  const auto* x = find(object, path);
  return x != nullptr && x->is_number_integer() ? x->get<std::int64_t>() : otherwise;
}

bool is_terminating(const json& object) {
  return find(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool is_terminating(const stored_object& object) {
  return object.has({"metadata", "deletionTimestamp"});
}

bool is_held(const resource_kind& kind, const json& object) {
  const auto holds = [](const json* list) { return list != nullptr && !list->empty(); };
  return holds(find(object, {"metadata", "finalizers"})) || (kind.kind == "Namespace" && holds(find(object, {"spec", "finalizers"})));
}

void raise_generation(const resource_kind& kind, json& object) {
  if (kind.has_generation)
    object_at(object, "metadata")["generation"] = number_at(object, {"metadata", "generation"}, 0) + 1;
}

} // namespace paddock::embedded
