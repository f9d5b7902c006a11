#include "egress/union_cache.hpp"

#include <string>

namespace paddock::egress {

label_map union_cache_key(label_map pod_labels, std::string_view per_sandbox_label_key) {
  pod_labels.erase(std::string{per_sandbox_label_key});
  return pod_labels;
}

bool is_fresh(time_source::clock::time_point began, time_source::clock::time_point now) {
  return now - began < union_cache_lifetime;
}

} // namespace paddock::egress
