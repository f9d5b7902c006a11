#include "k8s/watch_port.hpp"

#include "k8s/paths.hpp"

namespace paddock::k8s {

watched sandboxes_of(std::string_view name_space) {
  return {std::string{name_space}, {sandboxes_path(name_space), {}, {}}, &sandbox_projection()};
}

} // namespace paddock::k8s
