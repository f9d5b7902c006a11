#include "guest/agent/core.hpp"

#include "base/random.hpp"
#include "guest/agent/flusher.hpp"
#include "guest/agent/session_table.hpp"
#include "guest/features.hpp"

#include <unistd.h>
#include <utility>

namespace paddock::guest {

agent_core::agent_core(boost::asio::io_context& context, agent_config x, const time_source& clock, blocking_work& pool_, file_calls calls,
                       std::function<void(std::string_view)> logger, std::function<int(const std::string&)> sync) :
  io(context),
  config(std::move(x)),
  time(clock),
  work(pool_),
  files(std::move(calls)),
  log(std::move(logger)),
  boot(new_uuid()),
  gate(config.bind_token, config.require_token),
  pool(config.max_preauth_connections, config.max_preauth_buffer_bytes),
  registry({config.execution_lease_ttl, config.execution_terminal_ttl, config.max_tracked_executions, config.execution_retained_ttl,
            config.execution_log_bytes, config.max_retained_output_logs}),
  sessions(std::make_shared<session_table>(io, session_registry::limits{config.max_sessions, config.session_terminal_ttl})),
  scope(scope_of(::getpid(), ::getppid(), config.owned_sessions_only)),
  flushing(std::make_unique<flusher>(io, config.workspace, std::move(sync))),
  features{feature::write_file_parts,
           feature::execution_attach,
           feature::stream_heartbeat,
           feature::read_file_stream,
           feature::sessions,
           feature::quiesce,
           feature::flush,
           feature::guest_boot_id,
           feature::pinned_guest,
           feature::quiesce_idle_only,
           feature::exec_bytes,
           feature::stream_bytes} {
  if (!can_flush(*this))
    std::erase(features, feature::flush);
}

agent_core::~agent_core() = default;

void agent_core::fence(std::string_view reason) {
  if (std::exchange(retiring, true))
    return;
  log("retiring: " + std::string{reason});
}

} // namespace paddock::guest
