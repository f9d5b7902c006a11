#include "k8s/sighting.hpp"

#include "k8s/list_request.hpp"
#include "k8s/objects.hpp"

namespace paddock::k8s {

bool may_stand_for_later_read(const nlohmann::json& shown, const nlohmann::json& seen) {
  const auto now = read_sandbox(shown);
  const auto before = read_sandbox(seen);
  if (!before.uid || now.uid != before.uid || !before.resource_version || !now.resource_version)
    return false;
  return older_version(*before.resource_version, *now.resource_version) && now.generation.value_or(0) >= before.generation.value_or(0);
}

bool has_caught_up(const sighting& x, const nlohmann::json& seen) {
  const auto version = text_at(seen, "/metadata/resourceVersion").value_or("");
  return x.live && x.object && x.object->uid() == text_at(seen, "/metadata/uid") && version_number(version)
         && version_number(x.object->version()) && !older_version(x.object->version(), version);
}

} // namespace paddock::k8s
