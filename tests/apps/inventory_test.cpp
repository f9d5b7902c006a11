#define CAF_SUITE inventory

#include "apps/paddock/inventory.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sstream>

using namespace paddock;
using namespace paddock::cli;
using namespace std::literals;

namespace {

const auto noon = time_source::wall_clock::from_time_t(1'767'182'400); // 2025-12-31T12:00:00Z

std::vector<workspace_view> two() {
  workspace_view desk;
  desk.workspace = "desk";
  desk.template_name = "default";
  desk.mode = "Running";
  desk.state = "running";
  desk.created_at = "2025-12-29T11:00:00Z";
  desk.mode_changed_at = "2025-12-31T11:57:00.250Z";
  desk.holder_epoch = 3;
  workspace_view lamp;
  lamp.workspace = "a-long-name";
  lamp.template_name = "other";
  lamp.mode = "Suspended";
  return {desk, lamp};
}

std::string printed(format how) {
  std::ostringstream out;
  print_inventory(out, how, two(), "127.0.0.1:7330", noon);
  return out.str();
}

} // namespace

SCENARIO("an age is a number of its largest unit of which there are two or more") {
  for (const auto& [at, age] :
       {std::pair{"2025-12-31T11:58:01Z", "119s"}, std::pair{"2025-12-31T11:58:00Z", "2m"}, std::pair{"2025-12-31T10:00:01Z", "119m"},
        std::pair{"2025-12-31T10:00:00Z", "2h"}, std::pair{"2025-12-29T12:00:01Z", "47h"}, std::pair{"2025-12-29T12:00:00.5Z", "2d"},
        std::pair{"2026-01-01T00:00:00Z", "0s"}, std::pair{"", "-"}, std::pair{"yesterday", "-"}})
    CHECK_EQ(age_of(at, noon), age);
}

SCENARIO("the list shows age, mode, since when, state, template, epoch and node") {
  CHECK_EQ(printed(format::table), "WORKSPACE    AGE  MODE       SINCE  STATE    TEMPLATE  EPOCH  NODE\n"
                                   "desk         2d   Running    3m     running  default   3      127.0.0.1:7330\n"
                                   "a-long-name  -    Suspended  -      -        other     ?      -\n");
  CHECK_EQ(printed(format::name), "desk\na-long-name\n");
}

SCENARIO("the list as json is an array in which who holds a session is named") {
  const auto got = nlohmann::json::parse(printed(format::json));
  REQUIRE_EQ(got.size(), 2u);
  CHECK_EQ(got[0]["workspace"], "desk");
  CHECK_EQ(got[0]["operatingModeChangedAt"], "2025-12-31T11:57:00.250Z");
  CHECK_EQ(got[0]["node"], "127.0.0.1:7330");
  CHECK(!got[1].contains("node"));
  CHECK(!got[1].contains("state"));
  std::ostringstream none;
  print_inventory(none, format::json, {}, "127.0.0.1:7330", noon);
  CHECK_EQ(none.str(), "[]\n");
}
