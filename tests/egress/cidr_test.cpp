#define CAF_SUITE cidr

#include "egress/cidr.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <string>
#include <vector>

using namespace paddock::egress;

namespace {

cidr block(std::string_view text) {
  return read_cidr(text).value().block;
}

address_block without(std::string_view whole, const std::vector<std::string>& except) {
  auto all = std::vector<cidr>{};
  for (const auto& x : except)
    all.push_back(block(x));
  return address_block::make(block(whole), std::move(all)).value();
}

bool contains(std::string_view outer, std::string_view inner) {
  return block(outer).contains(block(inner));
}

} // namespace

SCENARIO("a block is an address and a prefix, of either family, and nothing else") {
  for (const auto* text : {"0.0.0.0/0", "10.1.2.3/32", "010.001.002.003/08", "::/0", "::1/128", "2001:db8::/32", "1:2:3:4:5:6:7:8/128",
                           "::2:3:4:5:6:7:8/16", "1:2:3:4:5:6:7::/16", "64:ff9b::1.2.3.4/96", "1:2:3:4:5:6:1.2.3.4/128", "FE80::/10"})
    CHECK(read_cidr(text));
  for (const auto* text : {"",
                           "/",
                           "10.0.0.0",
                           "10.0.0.0/",
                           "/8",
                           "10.0.0/8",
                           "10.0.0.0.0/8",
                           "10.0.0.256/8",
                           "10.0.0.0/33",
                           "10.0.0.0/-1",
                           "10.0.0.0/+8",
                           "10.0.0.0/ 8",
                           " 10.0.0.0/8",
                           "10.0.0.0/8 ",
                           "10.0.0.0/8/8",
                           "10.0.0.0/0008",
                           "1000.0.0.0/8",
                           "10..0.0/8",
                           "10.0.0./8",
                           ".0.0.0/8",
                           "0x0a.0.0.0/8",
                           "::/129",
                           ":/0",
                           ":::/0",
                           "1::2::3/0",
                           "1:2:3:4:5:6:7/0",
                           "1:2:3:4:5:6:7:8:9/0",
                           "1:2:3:4:5:6:7:8::/0",
                           "12345::/0",
                           "g::/0",
                           ":1:2:3:4:5:6:7:8/0",
                           "1:2:3:4:5:6:7:8:/0",
                           "::1.2.3.4.5/0",
                           "1.2.3.4::/0",
                           "::1.2.3/0",
                           "1:2:3:4:5:6:7:1.2.3.4/0",
                           "fe80::1%eth0/64",
                           "[::]/0",
                           "any",
                           "\xff/8"})
    CHECK(!read_cidr(text));
}

SCENARIO("host bits are masked and reported") {
  CHECK(block("10.0.0.1/8") == block("10.0.0.0/8"));
  CHECK(block("2001:db8::1/32") == block("2001:db8::/32"));
  CHECK(block("1.2.3.4/0") == block("0.0.0.0/0"));
  CHECK(read_cidr("10.0.0.1/8")->host_bits);
  CHECK(read_cidr("::1/0")->host_bits);
  CHECK(!read_cidr("10.0.0.1/32")->host_bits);
  CHECK(!read_cidr("0.0.0.0/0")->host_bits);
}

SCENARIO("a block that data planes read as the other family means nothing certain") {
  for (const auto* text : {"::ffff:10.0.0.0/104", "::ffff:0:0/96", "::ffff:a00:1/128", "::10.0.0.1/128", "::/96", "::2/128"}) {
    CHECK(read_cidr(text)->mapped);
    CHECK(!unambiguous_cidr(text));
  }
  for (const auto* text : {"::/0", "::1/128", "::/128", "::/95", "::fffe:0:0/95", "64:ff9b::1.2.3.4/128", "10.0.0.0/8"}) {
    CHECK(!read_cidr(text)->mapped);
    CHECK(unambiguous_cidr(text));
  }
}

SCENARIO("a block contains those of its family that begin with its prefix") {
  CHECK(contains("0.0.0.0/0", "255.255.255.255/32"));
  CHECK(contains("10.0.0.0/8", "10.0.0.0/8"));
  CHECK(contains("10.0.0.0/9", "10.127.255.0/24"));
  CHECK(!contains("10.0.0.0/9", "10.128.0.0/24"));
  CHECK(!contains("10.0.0.0/9", "10.0.0.0/8"));
  CHECK(contains("2001:db8::/63", "2001:db8:0:1::/64"));
  CHECK(contains("2001:db8::/65", "2001:db8:0:0:7fff::/80"));
  CHECK(!contains("2001:db8::/65", "2001:db8:0:0:8000::/80"));
  CHECK(contains("::1/128", "::1/128"));
  CHECK(!contains("::/0", "10.0.0.0/8"));
  CHECK(!contains("0.0.0.0/0", "::/0"));
  CHECK(block("10.0.0.0/8").overlaps(block("10.1.0.0/16")));
  CHECK(block("10.1.0.0/16").overlaps(block("10.0.0.0/8")));
  CHECK(!block("10.1.0.0/16").overlaps(block("10.2.0.0/16")));
}

SCENARIO("holes are within their block and less than all of it") {
  CHECK(address_block::make(block("10.0.0.0/8"), {block("10.1.0.0/16"), block("10.2.0.0/16")}));
  CHECK(!address_block::make(block("10.0.0.0/8"), {block("10.0.0.0/8")}));
  CHECK(!address_block::make(block("10.0.0.0/8"), {block("11.0.0.0/16")}));
  CHECK(!address_block::make(block("10.0.0.0/8"), {block("0.0.0.0/0")}));
  CHECK(!address_block::make(block("::/0"), {block("10.0.0.0/8")}));
}

SCENARIO("a block is within another one when it leaves out what that leaves out") {
  const auto allowed = without("0.0.0.0/0", {"10.0.0.0/8", "10.1.0.0/16", "192.168.0.0/16"});
  CHECK(allowed.contains(without("203.0.113.0/24", {})));
  CHECK(allowed.contains(allowed));
  CHECK(allowed.contains(without("0.0.0.0/0", {"10.0.0.0/8", "192.168.0.0/16"})));
  CHECK(allowed.contains(without("0.0.0.0/0", {"10.0.0.0/7", "192.0.0.0/8"})));
  CHECK(allowed.contains(without("8.0.0.0/6", {"10.0.0.0/8"})));
  THEN("a hole that is left out in part, in two halves, or not at all is a way out") {
    CHECK(!allowed.contains(without("0.0.0.0/0", {})));
    CHECK(!allowed.contains(without("0.0.0.0/0", {"10.0.0.0/8"})));
    CHECK(!allowed.contains(without("8.0.0.0/6", {"10.0.0.0/9", "10.128.0.0/9"})));
    CHECK(!allowed.contains(without("8.0.0.0/6", {"10.0.0.0/9"})));
  }
  THEN("a block in a hole is not within, whatever it leaves out itself") {
    CHECK(!allowed.contains(without("10.0.0.0/8", {"10.0.0.0/9", "10.128.0.0/9"})));
    CHECK(!allowed.contains(without("10.2.0.0/16", {})));
    CHECK(!allowed.contains(without("10.1.0.0/16", {"10.1.2.0/24"})));
  }
  THEN("no family is within the other") {
    CHECK(!allowed.contains(without("::/0", {})));
  }
}
