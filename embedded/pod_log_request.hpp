#pragma once

#include "base/time.hpp"
#include "embedded/object.hpp"
#include "embedded/resource.hpp"
#include "embedded/status.hpp"

#include <optional>
#include <string>

namespace paddock::embedded {

/// What of a container's log a client wants to read.
struct log_request {
  std::string name_space;
  std::string pod;
  std::string uid;
  std::string container;
  bool follow = false;
  bool previous = false; // of the run before the present one
  bool timestamps = false;
  std::optional<std::size_t> tail = {};  // the last lines
  std::optional<std::size_t> bytes = {}; // no more than these
  std::optional<time_source::wall_clock::time_point> since = {};
};

/// Reads the query of `GET pods/NAME/log` for a pod. A pod with one container need not say which.
[[nodiscard]] api_result<log_request> read_log_request(const json& pod, const request_target& target,
                                                       time_source::wall_clock::time_point now);

/// Whether the pod, as it is now, can still write to the log: it is the same, and the container has not ended for good.
[[nodiscard]] bool may_write(const json& pod, const log_request& what);

} // namespace paddock::embedded
