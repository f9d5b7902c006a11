#define CAF_SUITE shard_map

#include "cluster/shard_map.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::cluster;

SCENARIO("the shard of a workspace follows from the SHA-256 of its id") {
  // sha256("abc") starts with ba7816bf8f01cfea.
  CHECK_EQ(shard_of("abc", 64), 0xba7816bf8f01cfeaull % 64);
  CHECK_EQ(shard_of("abc", 1000), 0xba7816bf8f01cfeaull % 1000);
  CHECK_EQ(shard_of("abc", 1), 0u);
}
