#define CAF_SUITE recordings

#include "embedded/patch.hpp"
#include "embedded/resource_service.hpp"
#include "embedded/store_watch.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>

// Each case of cases.json: what stood on a real kube-apiserver, what it was asked and what it answered. A known difference stands in
// KNOWN.md with its reason, and has to be one.

using namespace paddock;
using namespace paddock::embedded;

namespace {

using ordered = nlohmann::ordered_json;

const std::string folder = PADDOCK_TEST_CONFORMANCE;

json read_cases() {
  std::ifstream in{folder + "/cases.json"};
  return json::parse(in);
}

/// The cases in the first column of the table of the recorded answers, with the status in the second one where that is a number.
std::map<std::string, std::optional<unsigned>> known_differences() {
  std::map<std::string, std::optional<unsigned>> out;
  std::ifstream in{folder + "/KNOWN.md"};
  bool ours = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## "))
      ours = line == "## The recorded answers";
    if (!ours || !line.starts_with("| `"))
      continue;
    const auto name = line.substr(3, line.find('`', 3) - 3);
    const auto from = line.find(" | ") + 3;
    const auto here = line.substr(from, line.find(" | ", from) - from);
    const bool number = !here.empty() && here.find_first_not_of("0123456789") == std::string::npos;
    out[name] = number ? std::optional{static_cast<unsigned>(std::stoul(here))} : std::nullopt;
  }
  return out;
}

/// A server as it was when the case was recorded.
class scene {
public:
  scene(const json& all, const json& one) : now_(std::chrono::seconds{one.at("now").get<std::int64_t>()}), uid_(text_at(one, {"uid"})) {
    journal_image image;
    image.version = one.at("version").get<std::uint64_t>();
    for (const auto& x : all.at("namespaces"))
      image.objects.emplace_back("namespaces//" + text_at(x, {"metadata", "name"}), encode_json(x));
    for (const auto& name : one.at("objects")) {
      const auto& object = all.at("states").at(name.get<std::string>());
      image.objects.emplace_back("sandboxes.agents.x-k8s.io/rec/" + text_at(object, {"metadata", "name"}), encode_json(object));
    }
    if (auto taken = objects_.restore(image); !taken)
      CAF_FAIL(taken.error());
    if (one.value("user", "") != "root" || one.contains("before")
        || one.at("target").get<std::string>().find("/authorization.") != std::string::npos)
      use_gate();
  }

  outcome ask(const json& what, const std::string& user) {
    auto body = text_at(what, {"body"});
    if (body == "<4194526 bytes>")
      body = std::string(4'194'526, ' ');
    const user_info who = user == "root" ? user_info{"root", {"system:masters", "system:authenticated"}} : user_info{user};
    if (gate_)
      gate_->catch_up();
    auto out = serve(
      objects_,
      {text_at(what, {"method"}), text_at(what, {"target"}), text_at(what, {"type"}), text_at(what, {"accept"}), body, who, "recorder/1.0"},
      gate_ ? &*gate_ : nullptr, now_);
    if (gate_)
      gate_->catch_up();
    return out;
  }

  /// The lines of a watch, while the requests are made.
  std::string follow(watch_start start, const json& requests) {
    store_watch watch{objects_, std::move(start.request)};
    auto out = watch.next(1 << 20, now_);
    for (const auto& x : requests)
      ask(x, "root");
    return out + watch.next(1 << 20, now_);
  }

private:
  void use_gate() {
    gate_.emplace(objects_, std::vector<known_token>{}, secret{std::string(32, 'k')});
    if (!gate_->bootstrap(now_))
      CAF_FAIL("no roles");
  }

  store::instant now_;
  std::string uid_;
  store objects_{nullptr, {}, {[this] { return uid_; }, [](std::size_t n) { return std::string(n, 'x'); }}};
  std::optional<request_gate> gate_;
};

/// What of an object cannot be the same: versions, when others were written before.
void strip_versions(json& value) {
  if (value.is_object()) {
    value.erase("resourceVersion");
    for (auto& x : value)
      strip_versions(x);
  } else if (value.is_array()) {
    for (auto& x : value)
      strip_versions(x);
  }
}

json comparable(json value, bool versions) {
  if (!versions)
    strip_versions(value);
  // What a page's token looks like is the server's own affair.
  if (auto* metadata = value.is_object() && value.contains("metadata") ? &value["metadata"] : nullptr)
    if (text_at(*metadata, {"continue"}) != "")
      (*metadata)["continue"] = "there is more";
  return value;
}

json events(const std::string& lines) {
  auto out = json::array();
  std::istringstream in{lines};
  for (std::string line; std::getline(in, line);)
    out.push_back(json::parse(line));
  return out;
}

/// How the answer differs from the recorded one; empty: it does not. `status` gets what it was, unless it is a watch.
std::string difference(const json& all, const json& one, std::optional<unsigned>& status) {
  scene there{all, one};
  for (const auto& name : one.value("after", std::vector<std::string>{}))
    for (const auto& x : all.at("cases"))
      if (text_at(x, {"case"}) == name)
        there.ask(x, "root");
  for (const auto& x : one.value("before", json::array()))
    if (auto got = there.ask(x, "root"); std::get<api_answer>(got).status >= 300)
      return "cannot set up: " + std::get<api_answer>(got).body;
  auto got = there.ask(one, text_at(one, {"user"}));
  const bool versions = !one.contains("before") && !one.contains("while") && !one.contains("after");
  const auto wanted = comparable(one.at("answer"), versions);
  if (auto* start = std::get_if<watch_start>(&got)) {
    const auto told = comparable(events(there.follow(std::move(*start), one.value("while", json::array()))), versions);
    return told == wanted ? "" : "told " + told.dump() + "\nand not " + wanted.dump();
  }
  const auto& answer = std::get<api_answer>(got);
  status = answer.status;
  if (answer.status != one.at("status"))
    return "status " + std::to_string(answer.status) + ": " + answer.body;
  std::vector<std::string> warnings;
  for (const auto& [name, value] : answer.headers)
    if (name == "Warning")
      warnings.push_back(value);
  if (json(warnings) != one.at("warnings"))
    return "warnings " + json(warnings).dump() + "\nand not " + one.at("warnings").dump();
  const auto parsed = json::parse(answer.body, nullptr, false);
  const auto said = wanted.is_string() ? json(answer.body) : comparable(parsed, versions);
  return said == wanted ? "" : said.dump() + "\nand not " + wanted.dump();
}

} // namespace

SCENARIO("every recorded request is answered as a real kube-apiserver answered it, but for the differences that are known") {
  const auto all = read_cases();
  REQUIRE(all.at("cases").size() > 100u);
  auto known = known_differences();
  for (const auto& one : all.at("cases")) {
    const auto name = text_at(one, {"case"});
    std::optional<unsigned> status;
    const auto differs = difference(all, one, status);
    const auto difference_known = known.extract(name);
    const bool expected = !difference_known.empty();
    if (expected && difference_known.mapped())
      CHECK_EQ(name + ": " + std::to_string(status.value_or(0)), name + ": " + std::to_string(*difference_known.mapped()));
    if (differs.empty() == expected)
      CAF_MESSAGE(name << ": " << (expected ? "no longer differs" : differs));
    CHECK_EQ(name + (differs.empty() ? " is the same" : " differs"), name + (expected ? " differs" : " is the same"));
  }
  CHECK_EQ(known.size(), 0u);
}
