#include "workspace/events.hpp"

namespace paddock::workspace {

namespace {

struct teller {
  std::string operator()(const guest_restart& x) const {
    if (x.reason == guest_restart::why::pod_replaced)
      return "the pod of the workspace was replaced";
    return "the guest agent started anew in the same pod";
  }
  std::string operator()(const cancellation_unconfirmed& x) const {
    return "the cancellation of a command is not confirmed; the pod is kept (agent " + std::string{to_string(x.agent)} + ", guest "
           + std::string{to_string(x.guest)} + ")";
  }
  std::string operator()(const suspended_elsewhere&) const {
    return "the workspace was suspended elsewhere";
  }
};

} // namespace

std::string to_string(const event& x) {
  return std::visit(teller{}, x);
}

} // namespace paddock::workspace
