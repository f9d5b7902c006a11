// `flush`: from the request to the reply ([G] 13).

#include "guest/agent/flusher.hpp"
#include "guest/agent/ops.hpp"
#include "guest/flush.hpp"

#include <utility>

namespace paddock::guest {

void answer_flush(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto bound = read_flush_request(body, core->config.flush_timeout);
  if (!bound)
    return to->reply(bound.error());
  core->flushing->flush(core, *bound, [to, workspace = core->config.workspace](const flush_end& how) {
    to->reply(how.code.empty() ? flush_reply(how.took, workspace) : flush_refusal(how.code, how.message));
  });
}

} // namespace paddock::guest
