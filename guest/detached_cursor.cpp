#include "guest/detached_cursor.hpp"

#include <limits>
#include <utility>

namespace paddock::guest {

std::optional<detached_cursor::gap> detached_cursor::attached(std::uint64_t from_offset, std::uint64_t dropped_bytes) {
  offset_ = from_offset;
  if (dropped_bytes == 0)
    return std::nullopt;
  const auto room = std::numeric_limits<std::uint64_t>::max() - dropped_;
  dropped_ += dropped_bytes < room ? dropped_bytes : room;
  return gap{from_offset, dropped_bytes};
}

command_end detached_cursor::marked(command_end end) const {
  if (dropped_ != 0) {
    end.out_truncated = true;
    end.err_truncated = true;
  }
  return end;
}

} // namespace paddock::guest
