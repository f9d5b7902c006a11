#define CAF_SUITE durable_store

#include "embedded/flows/durable_store.hpp"

#include <caf/test/bdd_dsl.hpp>
#include <sqlite3.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

using namespace paddock::embedded;

namespace {

/// A folder that goes with the test.
class folder {
public:
  folder() {
    auto name = (std::filesystem::temp_directory_path() / "paddock-durable-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      CAF_FAIL("no folder");
    path_ = name;
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const char* name) const {
    return path_ / name;
  }

private:
  std::filesystem::path path_;
};

std::unique_ptr<durable_store> opened(const durable_options& options) {
  auto got = durable_store::open(options);
  if (!got)
    CAF_FAIL(got.error());
  return std::move(*got);
}

using objects = std::vector<std::pair<std::string, std::string>>;

} // namespace

SCENARIO("what was committed is there when the file is opened again") {
  folder dir;
  {
    auto a = opened({dir / "o.sqlite"});
    REQUIRE(a->commit(2, "k1", "one"));
    REQUIRE(a->commit(3, "k2", "two"));
    REQUIRE(a->commit(4, "k1", "more"));
    REQUIRE(a->commit(5, "k2", std::nullopt));
  }
  auto b = opened({dir / "o.sqlite"});
  auto got = b->load();
  REQUIRE(got);
  CHECK_EQ(got->version, 5u);
  CHECK_EQ(got->objects, (objects{{"k1", "more"}}));
}

SCENARIO("a new file is empty and for its owner only") {
  folder dir;
  auto a = opened({dir / "o.sqlite"});
  auto got = a->load();
  REQUIRE(got);
  CHECK_EQ(got->version, 0u);
  CHECK(got->objects.empty());
  REQUIRE(a->commit(1, "k", "v"));
  for (const auto* name : {"o.sqlite", "o.sqlite-wal"}) {
    struct stat s {};
    REQUIRE_EQ(::stat((dir / name).c_str(), &s), 0);
    CHECK_EQ(s.st_mode & 0777, 0600u);
  }
}

SCENARIO("a second process is told that the file is in use") {
  folder dir;
  auto a = opened({dir / "o.sqlite"});
  auto b = durable_store::open({dir / "o.sqlite"});
  REQUIRE(!b);
  CHECK_NE(b.error().find("another process"), std::string::npos);
  CHECK_NE(b.error().find("o.sqlite"), std::string::npos);
}

SCENARIO("a full file refuses the write, keeps what it has and takes smaller ones") {
  folder dir;
  auto a = opened({dir / "o.sqlite", 256 * 1024});
  REQUIRE(a->commit(2, "k", "v"));
  auto big = a->commit(3, "big", std::string(1024 * 1024, 'x'));
  REQUIRE(!big);
  CHECK_NE(big.error().find("full"), std::string::npos);
  auto got = a->load();
  REQUIRE(got);
  CHECK_EQ(got->version, 2u);
  CHECK_EQ(got->objects, (objects{{"k", "v"}}));
  CHECK(a->commit(3, "k2", "v2").has_value());
}

SCENARIO("a group is on disk whole once it has ended") {
  folder dir;
  {
    auto a = opened({dir / "o.sqlite"});
    REQUIRE(a->commit(2, "k1", "one"));
    a->begin_group();
    REQUIRE(a->commit(3, "k2", "two"));
    REQUIRE(a->commit(4, "k1", std::nullopt));
    REQUIRE(a->end_group());
    a->begin_group(); // of nothing
    CHECK(a->end_group().has_value());
    a->begin_group();
    REQUIRE(a->commit(5, "k3", "three"));
  } // before its end
  auto got = opened({dir / "o.sqlite"})->load();
  REQUIRE(got);
  CHECK_EQ(got->version, 4u);
  CHECK_EQ(got->objects, (objects{{"k2", "two"}}));
}

SCENARIO("a group with a write that is refused leaves nothing behind, and what comes next is taken") {
  folder dir;
  auto a = opened({dir / "o.sqlite", 256 * 1024});
  REQUIRE(a->commit(2, "k", "v"));
  a->begin_group();
  CHECK(a->commit(3, "k1", "v1").has_value());
  const auto big = a->commit(4, "big", std::string(1024 * 1024, 'x'));
  CHECK(!big);
  CHECK(!a->commit(5, "k2", "v2")); // of no use
  const auto ended = a->end_group();
  REQUIRE(!ended);
  CHECK_NE(ended.error().find("full"), std::string::npos);
  auto got = a->load();
  REQUIRE(got);
  CHECK_EQ(got->version, 2u);
  CHECK_EQ(got->objects, (objects{{"k", "v"}}));
  CHECK(a->commit(3, "k2", "v2").has_value());
}

SCENARIO("what cannot be opened says why") {
  folder dir;
  auto missing = durable_store::open({dir / "none/o.sqlite"});
  REQUIRE(!missing);
  CHECK_NE(missing.error().find("none/o.sqlite"), std::string::npos);
  {
    auto* f = std::fopen((dir / "text").c_str(), "w");
    for (int i = 0; i < 1000; ++i)
      std::fputs("this is no database\n", f);
    std::fclose(f);
  }
  auto text = durable_store::open({dir / "text"});
  REQUIRE(!text);
}

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  auto from = std::ifstream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{from}, std::istreambuf_iterator<char>{}};
}

void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream{file, std::ios::binary | std::ios::trunc} << bytes;
}

/// Why the file is refused, at opening or at loading; empty: it is not.
std::string refusal(const std::filesystem::path& file) {
  auto a = durable_store::open({file});
  if (!a)
    return a.error();
  auto got = (*a)->load();
  return got ? std::string{} : got.error();
}

} // namespace

SCENARIO("a damaged file is refused with what to do, and stays as it is") {
  folder dir;
  auto file = std::filesystem::path{dir / "o.sqlite"};
  {
    auto a = opened({file});
    REQUIRE(a->load());
    for (std::uint64_t i = 1; i <= 200; ++i)
      REQUIRE(a->commit(i, "k" + std::to_string(i), "text " + std::to_string(i) + std::string(200, '.')));
  }
  const auto whole = bytes_of(file);
  auto letter = whole;
  letter[whole.find("text 77")] = 'T';
  auto page = whole;
  page.replace(8192, 4096, std::string(4096, '\0'));
  for (const auto& damaged : {letter, page, whole.substr(0, whole.size() / 2 / 4096 * 4096), "x" + whole.substr(1)}) {
    put_bytes(file, damaged);
    auto why = refusal(file);
    MESSAGE(why);
    CHECK(why.find("put a copy of it in its place") != std::string::npos);
    CHECK(why.find("o.sqlite") != std::string::npos);
    CHECK(bytes_of(file) == damaged);
  }
  put_bytes(file, whole);
  CHECK_EQ(refusal(file), "");
}

SCENARIO("a file of the first format is taken over with all that it holds") {
  folder dir;
  auto file = std::string{dir / "o.sqlite"};
  sqlite3* old = nullptr;
  REQUIRE_EQ(sqlite3_open(file.c_str(), &old), SQLITE_OK);
  REQUIRE_EQ(sqlite3_exec(old,
                          "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
                          "CREATE TABLE objects(key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
                          "INSERT INTO meta VALUES('format', 1), ('version', 7); INSERT INTO objects VALUES('k', 'v')",
                          nullptr, nullptr, nullptr),
             SQLITE_OK);
  sqlite3_close(old);
  for (auto n = 0; n < 2; ++n) {
    auto a = opened({file});
    auto got = a->load();
    REQUIRE(got);
    CHECK_EQ(got->version, 7u);
    CHECK_EQ(got->objects, (objects{{"k", "v"}}));
  }
}
