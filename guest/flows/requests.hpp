#pragma once

#include "guest/flows/family.hpp"
#include "guest/flows/host.hpp"
#include "guest/flows/host_connection.hpp"

#include <nlohmann/json.hpp>

namespace paddock::guest {

/// One request with one reply ([G] 16.4): dials until `until`, writes `frame`, reads exactly one frame of at most `ceiling`
/// bytes, and succeeds once the peer has closed. A reply that announces more is `refused` with the code
/// `reply_too_large`.
boost::asio::awaitable<result<nlohmann::json>> one_reply(flow_time& time, transport_options with, endpoint where, std::string frame,
                                                         std::uint64_t ceiling, deadline until, std::shared_ptr<trace> seen);

/// What one execute stream shares between its reader, its writer and who started them.
struct execute_stream {
  endpoint where;
  std::string frame;
  bool bytes = false;
  output_sink* output = nullptr;
  input_source* input = nullptr; // fed as frames; null: none
  family* kin = nullptr;         // gets the writer as a child
  std::shared_ptr<trace> seen = std::make_shared<trace>();
  std::shared_ptr<child_base> writer; // of the input, once it has been started
};

/// Runs an execute stream to its end ([G] 16.5): the result after a proper terminator and close. It has no bound of its
/// own but that of dialing (`until`): whoever started it stops it.
boost::asio::awaitable<result<command_end>> run_stream(flow_time& time, transport_options with, std::shared_ptr<execute_stream> it,
                                                       deadline until);

} // namespace paddock::guest
