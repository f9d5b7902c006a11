#include "workspace/remembered.hpp"

namespace paddock::workspace {

std::optional<remembered> what_remains(const session& x) {
  if (x.at == state::suspending || x.at == state::resuming)
    return std::nullopt;
  if (x.at == state::deleted)
    return remembered{};
  return remembered{x.epoch, x.stamped, x.sandbox};
}

session session_of(const remembered& x) {
  auto got = session{};
  got.epoch = x.epoch;
  got.stamped = x.stamped;
  got.sandbox = x.sandbox;
  return got;
}

} // namespace paddock::workspace
