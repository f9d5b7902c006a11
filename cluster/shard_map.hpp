#pragma once

#include <cstdint>
#include <string_view>

namespace paddock::cluster {

/// The shard that a workspace belongs to: the first 8 bytes of SHA-256 of its id, big-endian, modulo `shards` (DESIGN 5).
/// Every node must use the same number, since it decides who may write.
[[nodiscard]] std::uint32_t shard_of(std::string_view workspace, std::uint32_t shards);

} // namespace paddock::cluster
