#define CAF_SUITE walk_records

#include "guest/file_listing.hpp"
#include "guest/walk_records.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace paddock::guest;
using nlohmann::json;

namespace {

walk_plan plan_of(std::uint64_t max_entries, std::string root = "/r") {
  auto options = walk_options{};
  options.max_entries = max_entries;
  return plan_walk(root, options).value();
}

std::string entry(const std::string& path, const json& size = 1) {
  return json{{"type", "entry"}, {"path", path}, {"size", size}}.dump() + "\n";
}

const std::string done = "{\"type\":\"done\"}\n";

struct end_of_process {
  int exit_code = 0;
  bool truncated = false;
  bool timed_out = false;
};

struct outcome {
  std::string paths;
  std::string fault; // known before the end
  std::string failure;
  std::string code;
};

outcome read(const std::string& bytes, end_of_process end = {}, std::size_t piece = 7, walk_plan plan = plan_of(5)) {
  auto reader = walk_reader{plan};
  auto result = outcome{};
  for (auto at = std::size_t{0}; at < bytes.size(); at += piece)
    for (const auto& x : reader.push(std::string_view{bytes}.substr(at, piece)))
      result.paths += x.path + "=" + std::to_string(x.size) + " ";
  if (reader.fault())
    result.fault = reader.fault()->text;
  if (auto good = reader.finish(end.exit_code, end.truncated, end.timed_out); !good) {
    result.failure = good.error().text;
    result.code = good.error().code.value_or("");
  }
  return result;
}

// The fault that `bytes` are, in one piece and byte by byte, which is the failure at the end as well.
std::string fault_of(const std::string& bytes, walk_plan plan = plan_of(5)) {
  auto whole = read(bytes, {}, bytes.size() + 1, plan);
  auto slow = read(bytes, {}, 1, plan);
  auto prefix = std::string{"the guest's walk broke its form: "};
  if (whole.fault != slow.fault || whole.failure != whole.fault || slow.failure != slow.fault || whole.paths != slow.paths)
    return "(differs)";
  return whole.fault.starts_with(prefix) ? whole.fault.substr(prefix.size()) : whole.fault;
}

} // namespace

SCENARIO("entries come as they are read, however the bytes are cut") {
  auto bytes = entry("/r/a", 0) + entry("/r/b/c d", 9'007'199'254'740'991) + entry("/r/\n\xc3\xa9", 1e3) + done;
  for (auto piece = std::size_t{1}; piece <= bytes.size(); ++piece) {
    auto got = read(bytes, {}, piece);
    CHECK_EQ(got.paths, "/r/a=0 /r/b/c d=9007199254740991 /r/\n\xc3\xa9=1000 ");
    CHECK_EQ(got.failure, "");
  }
  auto reader = walk_reader{plan_of(5)};
  CHECK_EQ(reader.push(entry("/r/a") + "{").size(), 1u);
}

SCENARIO("a walk of nothing is good") {
  CHECK_EQ(read(done).failure, "");
  CHECK_EQ(read("{\"type\":\"done\",\"later\":1}\n").failure, "");
}

// [G 274] no `done`
SCENARIO("output without done is an error, and the entries before it stand") {
  auto got = read(entry("/r/a"));
  CHECK_EQ(got.paths, "/r/a=1 ");
  CHECK_EQ(got.failure, "the walk ended without saying that it is done");
  CHECK_EQ(read("").failure, "the walk ended without saying that it is done");
  CHECK_EQ(read(entry("/r/a") + done.substr(0, done.size() - 1)).failure, "the last line of the walk is unfinished");
  CHECK_EQ(read(entry("/r/a") + "{\"type\"").failure, "the last line of the walk is unfinished");
}

SCENARIO("the end of the process is held to its word") {
  auto bytes = entry("/r/a") + done;
  CHECK_EQ(read(bytes, {1}).failure, "the walk ended with exit code 1");
  CHECK_EQ(read(bytes, {-1}).failure, "the walk ended with exit code -1");
  CHECK_EQ(read(bytes, {0, true}).failure, "the output of the walk is truncated");
  CHECK_EQ(read(bytes, {0, false, true}).failure, "the walk ran out of time");
  CHECK_EQ(read(bytes, {0, false, true}).fault, "");
}

SCENARIO("what the guest reports is the failure, with its code") {
  auto error = [](const json& more) {
    auto record = json{{"type", "error"}};
    record.update(more);
    return entry("/r/a") + record.dump() + "\n";
  };
  auto got = read(error({{"message", "too much"}, {"code", "ERR_FILE_WALK_LIMIT"}}), {1});
  CHECK_EQ(got.paths, "/r/a=1 ");
  CHECK_EQ(got.failure, "too much");
  CHECK_EQ(got.code, walk_limit_code);
  CHECK_EQ(got.fault, ""); // the process ends by itself
  CHECK_EQ(read(error({{"message", "x"}}), {1, true, true}).failure, "x");
  CHECK_EQ(read(error({{"message", "x"}}), {0}).failure, "x");
  CHECK_EQ(fault_of(error({{"text", "x"}})), "an error record has no message");
  CHECK_EQ(fault_of(error({{"message", "x"}}) + done), "something follows the last record");
}

SCENARIO("every record is held to the plan") {
  CHECK_EQ(fault_of("x\n"), "a line is not a JSON object");
  CHECK_EQ(fault_of("\n"), "a line is not a JSON object");
  CHECK_EQ(fault_of("[]\n"), "a line is not a JSON object");
  CHECK_EQ(fault_of(done.substr(0, 9) + "\n"), "a line is not a JSON object");
  CHECK_EQ(fault_of(std::string(60'000, '[') + "\n"), "a line is not a JSON object");
  CHECK_EQ(fault_of("{}\n"), "a record has no known type");
  CHECK_EQ(fault_of("{\"type\":1}\n"), "a record has no known type");
  CHECK_EQ(fault_of("{\"type\":\"other\"}\n"), "a record has no known type");
  CHECK_EQ(fault_of(done + "\n"), "something follows the last record");
  CHECK_EQ(fault_of(done + done), "something follows the last record");
  CHECK_EQ(fault_of(done + entry("/r/a")), "something follows the last record");
  for (const auto& size : {json(-1), json(1.5), json("1"), json(nullptr), json(9'007'199'254'740'992), json(1e300), json(true)})
    CHECK_EQ(fault_of(entry("/r/a", size)), "the size of an entry is not a non-negative safe integer");
  CHECK_EQ(fault_of("{\"type\":\"entry\",\"path\":\"/r/a\"}\n"), "the size of an entry is not a non-negative safe integer");
  for (auto path : {"r/a", "", "/", "/ra", "/x/a", "/r/../x", "/r/a/../../x", "/r/./a", "/r//a", "/r/a/"})
    CHECK_EQ(fault_of(entry(path)), "the path of an entry is not under the root");
  CHECK_EQ(fault_of("{\"type\":\"entry\",\"size\":1}\n"), "the path of an entry is not under the root");
  CHECK_EQ(fault_of(entry("/r") + done), ""); // the root is a file
  CHECK_EQ(fault_of(entry("/a") + done, plan_of(1, "/")), "");
}

SCENARIO("there are no more entries than were asked for, and none after a fault") {
  auto three = entry("/r/a") + entry("/r/b") + entry("/r/c");
  auto got = read(three + done, {}, 1000, plan_of(2));
  CHECK_EQ(got.paths, "/r/a=1 /r/b=1 ");
  CHECK(got.fault.ends_with("there are more entries than were asked for"));
  CHECK_EQ(read(three + done, {}, 1000, plan_of(3)).failure, "");
  CHECK_EQ(read(entry("/r/a") + "x\n" + entry("/r/b"), {}, 1).paths, "/r/a=1 ");
}

SCENARIO("a line is bounded in characters before it has ended") {
  auto line = [](std::size_t units, const std::string& character, std::size_t each) {
    auto frame = entry("/r/").size() - 1;
    auto path = std::string{"/r/"};
    for (auto i = frame; i + each <= units; i += each)
      path += character;
    return entry(path + std::string((units - frame) % each, 'x'));
  };
  for (auto [character, each] : {std::pair{"a", 1}, {"\xe2\x82\xac", 1}, {"\xf0\x9f\x98\x80", 2}}) {
    auto most = line(walk_reader::max_line, character, static_cast<std::size_t>(each));
    CHECK_EQ(fault_of(most + done), "");
    auto more = line(walk_reader::max_line + 1, character, static_cast<std::size_t>(each));
    CHECK_EQ(fault_of(more + done), "a line is longer than 65536 characters");
    CHECK_EQ(fault_of(more.substr(0, more.size() - 1)), "a line is longer than 65536 characters");
  }
  CHECK_EQ(fault_of(std::string(4 * walk_reader::max_line, '\x80')), "a line is longer than 65536 characters");
}

// -- the lines of a listing ------------------------------------------------------------------------------------------------

namespace {

std::string listed(int exit_code, std::string_view output) {
  auto result = std::string{};
  for (const auto& file : listed_files(exit_code, output))
    result += file.path + "=" + std::to_string(file.size) + " ";
  return result;
}

// What the arguments of a listing do with a real find.
std::string really_listed(const std::string& root) {
  auto line = std::string{"find"};
  for (const auto& word : listing_arguments(root))
    line += " '" + word + "'";
  auto* pipe = ::popen((line + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr)
    return "(no pipe)";
  auto output = std::string{};
  char buffer[4096];
  for (auto n = std::fread(buffer, 1, sizeof buffer, pipe); n > 0; n = std::fread(buffer, 1, sizeof buffer, pipe))
    output.append(buffer, n);
  return listed(::pclose(pipe), output);
}

} // namespace

// [G 268] an absent root
SCENARIO("an absent root is listed as empty") {
  CHECK_EQ(listed(1, ""), "");
  CHECK_EQ(listed(1, "/r/a\t1\n"), "");
  CHECK_EQ(listed(-1, "/r/a\t1\n"), "");
  CHECK_EQ(really_listed("/proc/self/no such root"), "");
}

// [G 269] a name with a TAB
SCENARIO("a name with a TAB drops its own line only") {
  CHECK_EQ(listed(0, "/r/a\t1\n/r/b\tc\t2\n/r/d\t3\n"), "/r/a=1 /r/d=3 ");
  CHECK_EQ(listed(0, "/r/b\t7\t2\n/r/d\t3\n"), "/r/d=3 ");
  // The same with a real file and a real find.
  auto root = (std::filesystem::temp_directory_path() / "paddock-listing-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  std::ofstream{root + "/b\tc"} << "x";
  std::ofstream{root + "/d"} << "xyz";
  CHECK_EQ(really_listed(root), root + "/d=3 ");
  std::filesystem::remove_all(root);
}

SCENARIO("a line that is no path and number is skipped") {
  CHECK_EQ(
    listed(0, "/r/a\t0\n\n/r/b\n\t5\n/r/c\t\n/r/d\t-1\n/r/e\t1.5\n/r/f\t 1\n/r/g\t9007199254740991\n/r/h\t9007199254740992\n/r/i\t2"),
    "/r/a=0 /r/g=9007199254740991 /r/i=2 ");
  CHECK_EQ(listed(0, "/r/line\nbreak\t4\n/r/a\t1\n"), "break=4 /r/a=1 "); // misread, without failing
  CHECK_EQ(really_listed("/proc/self/comm"), "/proc/self/comm=0 ");
}
