#include "guest/flows/hosts.hpp"

#include "guest/flows/file_transport.hpp"
#include "guest/flows/stream_transport.hpp"
#include "guest/flows/work_transport.hpp"

#include <utility>

namespace paddock::guest {

hosts make_hosts(flow_time& time, std::string walker) {
  auto files = file_options{};
  if (!walker.empty())
    files.walker = std::move(walker);
  auto out = hosts{};
  out.commands = make_host(time);
  out.files = make_file_host(time, *out.commands, {}, std::move(files));
  out.streams = make_stream_host(time);
  out.work = make_work_host(time);
  return out;
}

} // namespace paddock::guest
