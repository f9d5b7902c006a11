#define CAF_SUITE documented

#include "tests/egress/configured.hpp"
#include "tests/egress/shipped.hpp"
#include "tests/support/check_json.hpp"
#include "tests/support/text_file.hpp"

#include <filesystem>
#include <sstream>

using namespace paddock::egress;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  auto got = std::vector<std::string>{};
  auto in = std::istringstream{text};
  for (auto line = std::string{}; std::getline(in, line);)
    got.push_back(line);
  return got;
}

/// The configuration in the comment above a policy: what is indented there.
egress_config config_above(const std::string& text) {
  auto config = std::string{};
  for (const auto& line : lines_of(text))
    if (line.starts_with("#   "))
      config += line.substr(4) + "\n";
  return configured(paddock::test::yaml_object(config).dump());
}

/// What stands in the fenced blocks of a page that begin with ```word.
std::vector<std::string> blocks_of(const std::string& page, const std::string& word) {
  auto got = std::vector<std::string>{};
  auto inside = false;
  for (const auto& line : lines_of(page)) {
    if (line == "```" + word) {
      inside = true;
      got.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      got.back() += line + "\n";
    }
  }
  return got;
}

} // namespace

SCENARIO("the policies that are shipped are what the configurations above them mean") {
  auto seen = 0;
  for (const auto& file : fs::directory_iterator{PADDOCK_ROOT "/deploy/egress/policies"}) {
    auto text = paddock::test::text_of(file.path().string());
    CAF_MESSAGE(file.path().filename().string());
    CHECK_JSON(paddock::test::yaml_object(text), translated(config_above(text)).manifest);
    ++seen;
  }
  CHECK_EQ(seen, 4);
}

SCENARIO("every configuration of the documentation is read, and means a policy") {
  auto blocks = blocks_of(paddock::test::text_of(PADDOCK_ROOT "/docs/egress.md"), "yaml");
  CHECK_EQ(blocks.size(), 5u);
  for (const auto& block : blocks) {
    CAF_MESSAGE(block);
    CHECK(!translated(configured(paddock::test::yaml_object(block).dump()), {"a.example"}).manifest.empty());
  }
}
