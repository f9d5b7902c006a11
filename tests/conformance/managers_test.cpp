#define CAF_SUITE managers

#include "embedded/resource_service.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <re2/re2.h>

// The stories of managers_test.py, told to a store: each request of managers.json, and what a real kube-apiserver answered.

using namespace paddock;
using namespace paddock::embedded;

namespace {

const std::string folder = PADDOCK_TEST_CONFORMANCE;

const std::string space = "the-story"; // what the stories call NS

/// Without what no two servers say alike.
json comparable(json value) {
  static const re2::RE2 time{R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)"};
  static const re2::RE2 uid{"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"};
  if (value.is_object()) {
    for (auto& [key, x] : value.items()) {
      x = key == "resourceVersion" && x != "" ? json("<resourceVersion>") : comparable(x);
      if (key == "managedFields" && x.is_array())
        std::sort(x.begin(), x.end()); // they stand in the order of their times
    }
  } else if (value.is_array()) {
    for (auto& x : value)
      x = comparable(x);
  } else if (value.is_string()) {
    auto text = value.get<std::string>();
    re2::RE2::GlobalReplace(&text, time, "<time>");
    re2::RE2::GlobalReplace(&text, uid, "<uid>");
    value = text;
  }
  return value;
}

/// The cases of the table of KNOWN.md that this test is about.
std::vector<std::string> known_differences() {
  std::vector<std::string> out;
  std::ifstream in{folder + "/KNOWN.md"};
  bool ours = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## "))
      ours = line == "## Managers, apply and Events";
    if (ours && line.starts_with("| `"))
      out.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return out;
}

/// A server for one story.
class scene {
public:
  scene() {
    if (!objects_.bootstrap({space}, now_))
      CAF_FAIL("no namespace");
  }
  std::pair<unsigned, json> ask(const json& what) {
    now_ += std::chrono::seconds{1};
    auto body = what.at("body").is_string() ? what.at("body").get<std::string>() : what.at("body").dump();
    re2::RE2::GlobalReplace(&body, "\"NS\"", in_quotes(space));
    auto path = text_at(what, {"path"});
    re2::RE2::GlobalReplace(&path, "/NS/", "/" + space + "/");
    auto got = serve(
      objects_, {text_at(what, {"method"}), path, text_at(what, {"type"}), "application/json", body, {"root"}, text_at(what, {"agent"})},
      nullptr, now_);
    auto& answer = std::get<api_answer>(got);
    re2::RE2::GlobalReplace(&answer.body, space, "NS");
    return {answer.status, comparable(json::parse(answer.body, nullptr, false))};
  }

private:
  store::instant now_{std::chrono::seconds{1'795'972'289}};
  store objects_;
};

} // namespace

SCENARIO("who has set which fields, applies and Events are answered as a real kube-apiserver answered them") {
  std::ifstream in{folder + "/managers.json"};
  const auto all = json::parse(in);
  REQUIRE(all.size() > 100u);
  auto known = known_differences();
  std::optional<scene> there;
  for (const auto& [name, one] : all.items()) {
    if (name.ends_with("-00"))
      there.emplace();
    const auto [status, answer] = there->ask(one.at("request"));
    const auto same = status == one.at("status") && answer == comparable(one.at("answer"));
    const auto expected = std::erase(known, name) > 0;
    if (same == expected)
      CAF_MESSAGE(
        name << ": "
             << (expected ? "no longer differs" : std::to_string(status) + " " + answer.dump() + "\nand not " + one.at("answer").dump()));
    CHECK_EQ(name + (same ? " is the same" : " differs"), name + (expected ? " differs" : " is the same"));
  }
  CHECK_EQ(known.size(), 0u);
}
