#pragma once

#include "base/flows/sleep.hpp"
#include "guest/flows/file_host.hpp"

namespace paddock::guest {

// Both run one command in the guest through `through`, and end only once it is confirmed gone. The running coroutine must
// have `throw_if_cancelled(false)`.

boost::asio::awaitable<result<std::vector<listed_file>>> list_files(flow_time& time, host& through, endpoint where, std::string root,
                                                                    deadline until);

boost::asio::awaitable<result<void>> walk_files(flow_time& time, host& through, file_options files, endpoint where, walk_request what,
                                                entry_sink& to, deadline until);

} // namespace paddock::guest
