#pragma once

#include "base/flows/sleep.hpp"
#include "base/io_failure.hpp"
#include "guest/flows/host.hpp"
#include "guest/flows/observer.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace paddock::guest {

/// Makes one attempt to connect: `paddock::dial`, or a test's own.
using connector =
  std::function<boost::asio::awaitable<io_result<boost::asio::ip::tcp::socket>>(std::string host, std::uint16_t port, deadline until)>;

/// The constants of [G] 16, 20 and 27. Tests make them smaller; a program leaves them alone.
struct transport_options {
  using milliseconds = std::chrono::milliseconds;

  // -- dialing -----------------------------------------------------------------
  milliseconds connect_timeout{5'000}; // of one attempt
  milliseconds retry_budget{30'000};
  milliseconds retry_interval{100};
  connector connect{}; // empty: `paddock::dial`

  std::shared_ptr<transport_observer> observer{}; // may be null

  // -- one reply ---------------------------------------------------------------
  milliseconds read_idle{60'000};  // silence while a reply is awaited
  milliseconds close_after{1'000}; // from the reply or terminator to the peer's close
  std::uint64_t reply_ceiling = 256 * 1024 * 1024;

  // -- executions --------------------------------------------------------------
  milliseconds control{2'000};         // reservation, probe, one cancel attempt; dialing included
  milliseconds cancel_window{8'000};   // until a cancellation must be confirmed
  milliseconds cancel_pause{50};       // between two attempts
  milliseconds drain{1'500};           // for the output after a confirmed cancellation
  milliseconds observation_grace{500}; // beyond the command's limit
  milliseconds default_limit{300'000}; // of a command without one
  std::uint64_t event_ceiling = 16 * 1024 * 1024;
  std::string label = "kubernetes pod-network agent"; // in texts about an execution

  std::size_t cached_endpoints = 1'024; // features remembered; the oldest goes first
};

/// The host's side over real TCP: a fresh connection a request, nothing kept between requests but the features of the
/// endpoints it saw. A request that fails is never sent again by itself; only dialing and cancelling are repeated. Any
/// number of calls may run at once, on any executors; each call stays on the executor of its coroutine, which must be a
/// strand or have one thread. `time` must outlive it; the calls do not outlive it.
///
/// Output reaches `output_sink::take` piece by piece, the connection is not read meanwhile, and nothing accumulates here.
/// A guest with the feature `exec-bytes` is asked for raw bytes and fed its input as it reads; any other speaks text: the
/// end is `lossy`, and the input must be UTF-8 and fit one request, or the call is refused before anything is reserved.
///
/// A cancelled `execute` ends with the table of [G] 20.3: before anything was started with the synthetic end (exit code 1,
/// no output), later with the command's truthful end, `result_incomplete` or `cancellation_unknown`. `take` and `next`
/// must end when they are cancelled: a call waits for them. The other calls end as `withdrawn` when no connection had been
/// established, as `lost` otherwise. The cancellation stays visible to the caller, whose next `co_await` throws as usual.
[[nodiscard]] std::unique_ptr<host> make_host(flow_time& time, transport_options options = {});

} // namespace paddock::guest
