#pragma once

#include "guest/flows/file_host.hpp"
#include "guest/flows/host.hpp"
#include "guest/flows/stream_host.hpp"
#include "guest/flows/work_host.hpp"
#include "workspace/flows/call_state.hpp"

namespace paddock::workspace {

/// The four ways into a guest. All outlive the flows that use them.
struct guest_hosts {
  guest::host& commands;
  guest::file_host& files;
  guest::stream_host& streams;
  guest::work_host& work;
};

/// What every job is carried out with: the guest, the call that takes its output and gives its input, the bound.
struct job_place {
  guest_hosts in;
  flow_time& time;
  shared_call call;
  guest::endpoint where;
  deadline until;
};

using job_flow = boost::asio::awaitable<result<job_end>>;

/// Carries out one job. Cancelling it withdraws the job. It never throws: a job that ends without an answer is what nobody knows.
job_flow carry_out_job(job_place at, guest_job what);
/// Puts one question to a guest. It never throws.
boost::asio::awaitable<result<reply>> put(guest_hosts in, guest::endpoint where, question what, deadline until);

// The kinds of job: job_commands.cpp, job_files.cpp, job_streams.cpp. They may throw what a host throws.

job_flow carry_out(job_place at, run_job what);
job_flow carry_out(job_place at, detached_job what);
job_flow carry_out(job_place at, attach_job what);
job_flow carry_out(job_place at, read_job what);
job_flow carry_out(job_place at, write_job what);
job_flow carry_out(job_place at, walk_job what);
job_flow carry_out(job_place at, terminal_job what);
job_flow carry_out(job_place at, rejoin_job what);
job_flow carry_out(job_place at, tcp_job what);

[[nodiscard]] inline tl::unexpected<failure> fail(guest::failure why) {
  return tl::unexpected{failure{std::move(why)}};
}

} // namespace paddock::workspace
