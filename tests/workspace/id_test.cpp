#define CAF_SUITE id

#include "workspace/failure.hpp"
#include "workspace/flows/verbs.hpp"
#include "workspace/id.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::workspace;

// [W 1] the Sandbox name of an id
SCENARIO("the name of a Sandbox is the prefix and the id, unchanged") {
  auto got = id::parse("desk");
  REQUIRE(got.has_value());
  CHECK_EQ(got->sandbox_name(), "namzu-ws-desk");
  CHECK_EQ(id::of_sandbox("namzu-ws-desk")->text(), "desk");
}

// [W 2] the longest id
SCENARIO("an id of 54 characters fills the name of a Sandbox and one of 55 is refused") {
  auto longest = id::parse(std::string(54, 'a'));
  REQUIRE(longest.has_value());
  CHECK_EQ(longest->sandbox_name().size(), 63u);
  auto got = id::parse(std::string(55, 'a'));
  REQUIRE(!got.has_value());
  CHECK(to_string(failure{got.error()}).find("cannot name a Sandbox") != std::string::npos);
}

// An id is made by `parse` only, and no verb takes anything else: a refused text cannot lead to a request.
static_assert(!std::is_constructible_v<id, std::string> && !std::is_default_constructible_v<id>);
static_assert(std::is_invocable_v<decltype(&paddock::workspace::remove), world&, id, remove_options, session, paddock::deadline>);
static_assert(!std::is_invocable_v<decltype(&paddock::workspace::remove), world&, std::string, remove_options, session, paddock::deadline>);
static_assert(!std::is_invocable_v<decltype(&paddock::workspace::open), world&, std::string, open_options, session, paddock::deadline>);

// [W 3] illegal ids
// [W 4] also for a delete
SCENARIO("a text that cannot name a Sandbox is refused as it is") {
  for (const auto* text : {"Acme Checkout", "-lead", "trail-", "", "a_b", "\u00c9", "Desk", " desk", "desk ", "a.b", "-"}) {
    auto got = id::parse(text);
    REQUIRE(!got.has_value());
    CHECK_EQ(got.error().text, text);
    CHECK(to_string(failure{got.error()}).find("cannot name a Sandbox") != std::string::npos);
    CHECK(kind_of(failure{got.error()}) == kind::usage);
  }
  for (const auto* text : {"a", "0", "a-b", "a--b", "9z"})
    CHECK(id::parse(text).has_value());
}

SCENARIO("only the name of a workspace's Sandbox gives an id") {
  for (const auto* name : {"desk", "namzu-ws-", "namzu-ws--x", "namzu-w-desk", "xnamzu-ws-desk"})
    CHECK(!id::of_sandbox(name).has_value());
}
