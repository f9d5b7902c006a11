#include "egress/policy_reader.hpp"

#include "k8s/objects.hpp"

namespace paddock::egress {

std::string name_of_item(const nlohmann::json& item, std::size_t index) {
  return k8s::text_at(item, "/metadata/name").value_or("(unnamed #" + std::to_string(index) + ")");
}

} // namespace paddock::egress
