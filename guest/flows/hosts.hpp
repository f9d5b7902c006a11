#pragma once

#include "guest/flows/file_host.hpp"
#include "guest/flows/stream_host.hpp"
#include "guest/flows/transport.hpp"
#include "guest/flows/work_host.hpp"

#include <memory>
#include <string>

namespace paddock::guest {

/// All that a program does with guests over real TCP. The members go in the reverse order: `files` uses `commands`.
struct hosts {
  std::unique_ptr<host> commands;
  std::unique_ptr<file_host> files;
  std::unique_ptr<stream_host> streams;
  std::unique_ptr<work_host> work;
};

/// `walker` is the guest's own program in its image, which lists files for a walk; empty: the place of `file_options`. `time`
/// outlives the hosts, and the calls do not.
[[nodiscard]] hosts make_hosts(flow_time& time, std::string walker = {});

} // namespace paddock::guest
