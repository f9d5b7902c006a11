#define CAF_SUITE holder_epoch

#include "workspace/holder_epoch.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

using namespace paddock::workspace;
using nlohmann::json;

SCENARIO("an epoch is a non-negative safe integer") {
  CHECK_EQ(parse_epoch("0").value(), 0u);
  CHECK_EQ(parse_epoch("9007199254740991").value(), paddock::k8s::highest_epoch);
  CHECK_EQ(parse_epoch_value(json(4)).value(), 4u);
  for (const auto* text : {"", "1.5", "-1", "+1", "01", "1 ", " 1", "1e3", "9007199254740992", "99999999999999999999", "latest"}) {
    auto got = parse_epoch(text);
    REQUIRE(!got);
    CHECK(to_string(got.error()).find("non-negative safe integer") != std::string::npos);
  }
  for (const auto& value : {json(1.5), json(-1), json("4"), json{}, json(9007199254740992u), json(true)})
    CHECK(!parse_epoch_value(value).has_value());
}

SCENARIO("the epoch grows by one after a write of unknown outcome") {
  CHECK_EQ(raised({}, 4), 5u);
  CHECK_EQ(raised({}, std::nullopt), std::nullopt);
  const auto last = paddock::k8s::epochs_per_term - 1;
  CHECK_EQ(raised({}, last), last);
  CHECK_EQ(raised({0, 1}, last + 1), last + 2);
}
