#define CAF_SUITE pod_log_reader

#include "base/time.hpp"
#include "embedded/flows/pod_log_reader.hpp"
#include "embedded/pod_log.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cstdlib>
#include <fstream>

using namespace paddock;
using namespace paddock::embedded;

namespace fs = std::filesystem;

namespace {

/// The logs of a pod `p` with one container.
class log_folder_of_a_test {
public:
  log_folder_of_a_test() {
    auto name = (fs::temp_directory_path() / "paddock-logs-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      CAF_FAIL("no folder");
    root = name;
    what.name_space = "n";
    what.pod = "p";
    what.uid = "u";
    what.container = "main";
    fs::create_directories(file(0).parent_path());
  }
  ~log_folder_of_a_test() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  [[nodiscard]] fs::path file(int run) const {
    return log_file(log_folder(root, "n", "p", "u"), "main", run);
  }
  void write(int run, const std::string& lines) const {
    std::ofstream{file(run), std::ios::app} << lines;
  }
  [[nodiscard]] std::string all() const {
    auto reader = pod_log_reader::open(root, what);
    return reader ? reader->next(1 << 20) : "refused: " + reader.error();
  }

  fs::path root;
  log_request what;
};

const std::string one = "2026-01-01T00:00:01.000Z stdout F one\n";
const std::string two = "2026-01-01T00:00:02.000Z stdout P tw\n2026-01-01T00:00:02.000Z stdout F o\n";
const std::string three = "2026-01-01T00:00:03.000Z stdout F three\n";

} // namespace

SCENARIO("a log is told without what the kubelet wrote beside the lines, from the latest run") {
  log_folder_of_a_test t;
  t.write(0, "2026-01-01T00:00:00.000Z stdout F before\n");
  t.write(1, one + two + three);
  CHECK_EQ(t.all(), "one\ntwo\nthree\n");
  t.what.previous = true;
  CHECK_EQ(t.all(), "before\n");
}

SCENARIO("a client says how much it wants") {
  log_folder_of_a_test t;
  t.write(0, one + three);
  t.what.tail = 1;
  CHECK_EQ(t.all(), "three\n");
  t.what.tail = 0;
  CHECK_EQ(t.all(), "");
  t.what.tail.reset();
  t.what.bytes = 5;
  CHECK_EQ(t.all(), "one\nt");
  t.what.bytes.reset();
  t.what.since = read_instant("2026-01-01T00:00:02Z");
  CHECK_EQ(t.all(), "three\n");
  t.what.timestamps = true;
  CHECK_EQ(t.all(), "2026-01-01T00:00:03.000Z three\n");
}

SCENARIO("a log is followed while it grows, is put aside and begins anew") {
  log_folder_of_a_test t;
  t.write(0, one);
  auto reader = pod_log_reader::open(t.root, t.what);
  REQUIRE(reader);
  CHECK_EQ(reader->next(100), "one\n");
  CHECK_EQ(reader->next(100), "");
  t.write(0, "2026-01-01T00:00:02.000Z stdout F ha");
  CHECK_EQ(reader->next(100), "");
  t.write(0, "lf\n");
  CHECK_EQ(reader->next(100), "half\n");
  t.write(0, two);
  fs::rename(t.file(0), t.file(0).string() + ".1");
  t.write(0, three);
  CHECK_EQ(reader->next(100), "two\nthree\n");
  CHECK_EQ(t.all(), "one\nhalf\ntwo\nthree\n");
  CHECK(!reader->ended());
  t.write(1, one);
  CHECK(reader->ended());
}

SCENARIO("a file that is put aside while it is opened is told once") {
  log_folder_of_a_test t;
  t.write(0, one + three);
  fs::create_hard_link(t.file(0), t.file(0).string() + ".1");
  CHECK_EQ(t.all(), "one\nthree\n");
}

SCENARIO("a container that has written nothing, or whose name leads elsewhere, has no log") {
  log_folder_of_a_test t;
  CHECK_EQ(t.all(), "refused: container \"main\" in pod \"p\" is waiting to start: ContainerCreating");
  t.write(0, one);
  t.what.container = "../n_p_u/main";
  REQUIRE(fs::exists(log_file(log_folder(t.root, "n", "p", "u"), t.what.container, 0)));
  CHECK(t.all().starts_with("refused"));
}
