#define CAF_SUITE bracketed

#include "base/bracketed.hpp"

#include <caf/test/bdd_dsl.hpp>

using paddock::bracketed;

SCENARIO("an IPv6 address stands in brackets before a port, and nothing else does") {
  CHECK_EQ(bracketed("::1"), "[::1]");
  CHECK_EQ(bracketed("fe80::1%eth0"), "[fe80::1%eth0]");
  CHECK_EQ(bracketed("127.0.0.1"), "127.0.0.1");
  CHECK_EQ(bracketed("a.example"), "a.example");
  CHECK_EQ(bracketed(""), "");
}
