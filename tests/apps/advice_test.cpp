#define CAF_SUITE advice

#include "apps/paddock/advice.hpp"
#include "workspace/failure.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::cli;

namespace {

/// The rows of the table of reasons of docs/errors.md.
std::vector<std::string> written_rows() {
  auto in = std::ifstream{PADDOCK_ERRORS_PAGE};
  auto rows = std::vector<std::string>{};
  auto inside = false;
  for (auto line = std::string{}; std::getline(in, line);) {
    if (line.starts_with("| Reason "))
      inside = true;
    else if (inside && !line.starts_with("|"))
      break;
    else if (inside && !line.starts_with("|---"))
      rows.push_back(line);
  }
  return rows;
}

} // namespace

SCENARIO("the page of errors is the list of what can be done") {
  auto rows = std::vector<std::string>{};
  for (const auto& x : all_advice()) {
    CHECK(!x.what_to_do.empty());
    rows.push_back("| " + std::string{x.reason} + " | " + std::string{x.codes} + " | " + std::string{x.what_to_do} + " |");
  }
  CHECK_EQ(written_rows(), rows);
  CHECK(std::ranges::is_sorted(all_advice(), {}, &advice::reason));
}

SCENARIO("something can be done about every named error of a workspace") {
  for (const auto& reason : workspace::all_reasons())
    if (what_to_do(reason).empty())
      FAIL("no advice for " << reason);
  CHECK(what_to_do("NoSuchReason").empty());
}
