#define CAF_SUITE guest_words

// What the guest verbs make of words, keys and lists, without a node.

#include "apps/paddock/arguments.hpp"
#include "apps/paddock/terminal.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::cli;
using order = escape_reader::order;

namespace {

/// What of `keys`, given one by one, reaches the program, and the orders in between as `<name>`.
std::string typed(std::string_view keys) {
  auto reader = escape_reader{};
  auto out = std::string{};
  for (const auto key : keys) {
    const auto got = reader.take(std::string_view{&key, 1});
    out += got.input;
    for (const auto x : got.orders)
      out += x == order::leave ? "<leave>" : x == order::stop ? "<stop>" : "<help>";
  }
  return out;
}

} // namespace

SCENARIO("keys reach the program as they are typed") {
  CHECK_EQ(typed("ls -l ~/x\r"), "ls -l ~/x\r");
  CHECK_EQ(typed("a~.b"), "a~.b");
  CHECK_EQ(typed("\x1b[A\x03"), "\x1b[A\x03");
}

SCENARIO("a tilde at the beginning of a line speaks to the client") {
  CHECK_EQ(typed("~."), "<leave>");
  CHECK_EQ(typed("a\r~."), "a\r<leave>");
  CHECK_EQ(typed("a\n~."), "a\n<leave>");
  CHECK_EQ(typed("~?x~."), "<help>x~.");
  CHECK_EQ(typed("~?~."), "<help><leave>");
  CHECK_EQ(typed("~\x1a"), "<stop>");
}

SCENARIO("a doubled tilde is one, and before any other key a tilde stands for itself") {
  CHECK_EQ(typed("~~."), "~.");
  CHECK_EQ(typed("~a"), "~a");
  CHECK_EQ(typed("~\r~."), "~\r<leave>");
  CHECK_EQ(typed("\r~/bin/x\r"), "\r~/bin/x\r");
}

SCENARIO("keys that arrive together are read as those that arrive one by one") {
  auto reader = escape_reader{};
  const auto got = reader.take("ls\r~.~?");
  CHECK_EQ(got.input, "ls\r");
  CHECK(got.orders == (std::vector{order::leave, order::help}));
}

SCENARIO("two ports are forwarded, the local one on loopback") {
  const auto both = parse_forward("8080:80");
  REQUIRE(both);
  CHECK_EQ(both->local, 8080);
  CHECK_EQ(both->remote, 80);
  CHECK_EQ(both->address, "127.0.0.1");
  CHECK_EQ(parse_forward("3000")->local, 3000);
  CHECK_EQ(parse_forward("0:80")->local, 0);
  CHECK_EQ(parse_forward("127.0.0.2:1:2")->address, "127.0.0.2");
  CHECK_EQ(parse_forward("localhost:1:2")->address, "127.0.0.1");
  for (const auto* bad : {"", ":", "0", "a:1", "1:a", "1:0", "65536:1", "1:2:3", "10.0.0.1:1:2", "0.0.0.0:1:2", "1:2:3:4", "-1:2", " 1:2"})
    CHECK(!parse_forward(bad));
}

SCENARIO("what identity prints is a pin") {
  const auto got = parse_pin(R"({"guestBootId":"B","podUid":"P","sandboxUid":"S","volumeClaimUids":{"workspace":"C"}})");
  REQUIRE(got);
  CHECK_EQ(got->sandbox_uid, "S");
  CHECK_EQ(got->pod_uid, "P");
  CHECK_EQ(got->guest_boot_id, "B");
  CHECK_EQ(got->volume_claim_uids.at("workspace"), "C");
  // What is missing is for the node to name.
  CHECK(parse_pin(R"({"podUid":7})")->pod_uid.empty());
  CHECK(!parse_pin("[]"));
  CHECK(!parse_pin("{"));
  CHECK(!parse_pin(R"({"volumeClaimUids":[]})"));
}
