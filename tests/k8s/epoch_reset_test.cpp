#define CAF_SUITE epoch_reset

#include "k8s/epoch_reset.hpp"
#include "tests/support/check_json.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::k8s;
using nlohmann::json;

namespace {

constexpr const char* epoch_at = "/metadata/annotations/sandbox.namzu.ai~1holder-epoch";

reading stored(std::optional<std::string> annotation) {
  auto got = reading{sandbox_uid{"S1"}, "7", annotation.has_value(), std::move(annotation), std::nullopt, operating_mode::running};
  got.epoch = got.annotation ? parse_epoch(*got.annotation) : std::optional<std::uint64_t>{0};
  return got;
}

const named_epoch named{sandbox_uid{"S1"}, "latest"};

} // namespace

SCENARIO("only the named text of the named object may be replaced, and a stranger is told first") {
  CHECK(may_reset(stored("latest"), named, 3).has_value());
  for (const auto& other : {std::optional<std::string>{}, std::optional<std::string>{"latest "}, std::optional<std::string>{"7"}}) {
    const auto got = may_reset(stored(other), named, 3);
    REQUIRE(!got);
    const auto* why = std::get_if<epoch_overtaken>(&got.error());
    REQUIRE(why != nullptr);
    CHECK_EQ(why->ours, 3u);
    CHECK_EQ(why->annotation, other);
    CHECK_EQ(why->stored.has_value(), other == "7"); // a lost one is not epoch 0
  }
  auto stranger = stored("later");
  stranger.uid = sandbox_uid{"S2"};
  const auto got = may_reset(stranger, named, 3);
  REQUIRE(!got);
  CHECK(std::holds_alternative<other_object>(got.error()));
}

SCENARIO("a reset tests uid, version and text, and changes the epoch alone") {
  const auto got = compose_reset("/x", named, 3, stored("latest"));
  REQUIRE(got);
  CHECK_EQ(got->method, "PATCH");
  CHECK(got->type == call::content::json_patch);
  CHECK_JSON(got->body, json::array({json{{"op", "test"}, {"path", "/metadata/uid"}, {"value", "S1"}},
                                     json{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", "7"}},
                                     json{{"op", "test"}, {"path", epoch_at}, {"value", "latest"}},
                                     json{{"op", "add"}, {"path", epoch_at}, {"value", "3"}}}));
  auto without_version = stored("latest");
  without_version.version.reset();
  CHECK(!compose_reset("/x", named, 3, without_version));
}

SCENARIO("a stamp is needed where no epoch stands or a lower one, and never over what nobody can read") {
  CHECK(needs_stamp(stored(std::nullopt), 0));
  CHECK(needs_stamp(stored("3"), 4));
  CHECK(!needs_stamp(stored("4"), 4));
  CHECK(!needs_stamp(stored("5"), 4));
  CHECK(!needs_stamp(stored("latest"), 4));
}
