#pragma once

#include "guest/calls.hpp"
#include "guest/file_listing.hpp"
#include "guest/flows/host.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::guest {

/// Takes the bytes of a file, in order. The guest is read only as fast as these coroutines return, give or take 4 MiB.
class byte_sink {
public:
  virtual ~byte_sink() = default;
  virtual boost::asio::awaitable<void> take(std::string bytes) = 0;
};

/// Takes the files of a walk, one by one. False: enough, the walk is cancelled in the guest and that is confirmed.
class entry_sink {
public:
  virtual ~entry_sink() = default;
  virtual boost::asio::awaitable<bool> take(listed_file x) = 0;
};

/// Files of a guest, of any size ([G] 17.1-17.3, 22). As `host`: a fresh connection a request, nothing is sent twice, over
/// by `until`; a call that is cancelled ends as `withdrawn` when no connection had been established, as `lost` otherwise.
class file_host {
public:
  virtual ~file_host() = default;

  /// Streams a part of a file to `to` ([G] 17.3). A guest without `read-file-stream` gives whole files only, at most
  /// 64 MiB of them; a part of one is `unsupported`. Success proves that every byte of the part was handed over.
  /// `dial_failed` and `unauthorized` prove that nothing was: only then may the call be made again ([G] 18.2).
  virtual boost::asio::awaitable<result<file_read>> read(endpoint where, std::string path, file_part part, byte_sink& to,
                                                         deadline until) = 0;
  /// Writes all that `from` gives ([G] 17.1): in one request when it fits, otherwise in parts into a temporary beside the
  /// target that replaces it at the end, so that nobody ever sees half of it. `size` is the size when it is known; more
  /// than `maxWriteFileBytes` is `file_too_large`. On a failure the temporary is discarded, and the target is untouched,
  /// unless the failure is `lost`: then the whole file may have been put in place. What `from` gave is gone: a call that
  /// failed may be made again as it was only when `from` was asked for nothing, which holds for a `dial_failed` of the
  /// features alone; whoever wants more keeps what `from` gave. A `dial_failed` or `unauthorized` may be that of a later part:
  /// the target is untouched then too, but something was sent.
  virtual boost::asio::awaitable<result<file_written>> write(endpoint where, std::string path, input_source& from,
                                                             std::optional<std::uint64_t> size, deadline until) = 0;
  /// Every regular file below `root` ([G] 22.1); none when there is no root. More than 64 MiB of lines is `refused` with
  /// the code `listing_too_large`.
  virtual boost::asio::awaitable<result<std::vector<listed_file>>> list(endpoint where, std::string root, deadline until) = 0;
  /// Walks ([G] 22.2). Success: the walk came to its end, or `to` had enough and the process is confirmed gone.
  virtual boost::asio::awaitable<result<void>> walk(endpoint where, walk_request what, entry_sink& to, deadline until) = 0;
};

struct file_options {
  std::uint64_t max_write_bytes = 1024ull * 1024 * 1024; // `maxWriteFileBytes`
  std::optional<std::uint64_t> part_bytes;               // `writeFilePartBytes`: lowers the size of a part, never raises it
  std::uint64_t later_part_bytes = 2 * 1024 * 1024;      // and what is known to go out in parts goes in no larger ones
  std::uint64_t queued_bytes = 4 * 1024 * 1024;          // decoded and not taken yet, before the connection is not read
  std::chrono::milliseconds discard{5'000};              // the bound of the clean-up of a failed write
  std::string walker = "/usr/local/bin/paddock-guest";   // the guest's own binary, which walks ([G] 22.2)
};

} // namespace paddock::guest
