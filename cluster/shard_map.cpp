#include "cluster/shard_map.hpp"

#include "base/hash.hpp"

namespace paddock::cluster {

std::uint32_t shard_of(std::string_view workspace, std::uint32_t shards) {
  const auto digest = sha256(workspace);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value = value << 8 | digest[i];
  return static_cast<std::uint32_t>(value % shards);
}

} // namespace paddock::cluster
