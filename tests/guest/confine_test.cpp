#define CAF_SUITE confine

#include "guest/agent/confine.hpp"
#include "tests/guest/agent_world.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <cerrno>
#include <functional>
#include <sys/stat.h>
#include <utility>

using namespace paddock;
using namespace paddock::test;
using guest::parents;

namespace {

// The kernel's way, and what a kernel without it, or a sandbox that forbids it, makes of it.
const std::vector<std::pair<std::string, guest::open_beneath>> ways{
  {"kernel", guest::open_beneath_by_kernel},
  {"no such call", [](int, const char*) { return errno = ENOSYS, -1; }},
  {"forbidden", [](int, const char*) { return errno = EPERM, -1; }},
};

struct tree {
  temp_directory top;
  fs::path ws = top.path() / "ws";
  guest::open_beneath beneath;

  explicit tree(guest::open_beneath way) : beneath(std::move(way)) {
    fs::create_directories(ws / "d/e");
    fs::create_directories(top.path() / "out/sub");
    put(ws / "f", "f");
    put(ws / "d/g", "g");
    put(top.path() / "out/secret", "secret");
  }

  auto look(const std::string& path, parents how = parents::as_they_are) const {
    return guest::resolve(path, ws.string(), {ws.string()}, how, beneath);
  }

  std::string refusal(const std::string& path, parents how = parents::as_they_are) const {
    auto got = look(path, how);
    return got ? "(resolved)" : got.error().text;
  }

  // Where `path` leads, by the names the kernel knows, or the refusal.
  std::string place(const std::string& path, parents how = parents::as_they_are) const {
    auto got = look(path, how);
    if (!got)
      return got.error().text;
    auto where = fs::read_symlink("/proc/self/fd/" + std::to_string(got->parent.get()));
    return (got->name == "." ? where : where / got->name).string() + (got->seen ? "" : " (absent)");
  }

  void link(const fs::path& to, const std::string& at) const {
    fs::create_symlink(to, ws / at);
  }
};

void each_way(const std::function<void(const tree&)>& f) {
  for (const auto& [name, way] : ways)
    f(tree{way});
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator{"/proc/self/fd"}, fs::directory_iterator{}));
}

} // namespace

SCENARIO("plain paths lead where they say") {
  each_way([](const tree& x) {
    CHECK_EQ(x.place("f"), (x.ws / "f").string());
    CHECK_EQ(x.place("d/../d//e/./../g"), (x.ws / "d/g").string());
    CHECK_EQ(x.place((x.ws / "d/g").string()), (x.ws / "d/g").string());
    CHECK_EQ(x.place("d/new"), (x.ws / "d/new").string() + " (absent)");
    CHECK_EQ(x.place("d"), (x.ws / "d").string());
    CHECK_EQ(x.place("."), x.ws.string());
    CHECK_EQ(x.place(x.ws.string()), x.ws.string());
  });
}

SCENARIO("what is missing or no directory is named by its errno") {
  each_way([](const tree& x) {
    CHECK(x.refusal("no/f").starts_with("ENOENT"));
    CHECK(x.refusal("f/g").starts_with("ENOTDIR"));
    CHECK(x.refusal(std::string(300, 'n')).starts_with("ENAMETOOLONG"));
    CHECK(x.refusal(std::string(300, 'n') + "/f").starts_with("ENAMETOOLONG"));
    auto deep = std::string{"d"};
    while (deep.size() < 5000)
      deep += "/x";
    CHECK(x.refusal(deep).starts_with("ENAMETOOLONG"));
  });
}

SCENARIO("links inside are followed, relative and absolute, in the middle and at the end") {
  each_way([](const tree& x) {
    x.link("d", "to-d");
    x.link("d/g", "to-g");
    x.link(x.ws / "d", "abs-d");
    x.link(x.ws / "d/g", "abs-g");
    x.link("../f", "d/up");
    x.link("../../ws/f", "d/over");
    x.link("to-g", "chain");
    x.link(x.ws, "home");
    x.link(".", "dot");
    CHECK_EQ(x.place("to-d/g"), (x.ws / "d/g").string());
    CHECK_EQ(x.place("to-g"), (x.ws / "d/g").string());
    CHECK_EQ(x.place("abs-d/g"), (x.ws / "d/g").string());
    CHECK_EQ(x.place("abs-g"), (x.ws / "d/g").string());
    CHECK_EQ(x.place("d/up"), (x.ws / "f").string());
    CHECK_EQ(x.place("d/over"), (x.ws / "f").string());
    CHECK_EQ(x.place("chain"), (x.ws / "d/g").string());
    CHECK_EQ(x.place("home/d/new"), (x.ws / "d/new").string() + " (absent)");
    CHECK_EQ(x.place("dot/dot/f"), (x.ws / "f").string());
    CHECK_EQ(x.place("home"), x.ws.string());
  });
}

SCENARIO("links that lead outside are refused, whatever is there") {
  each_way([](const tree& x) {
    x.link("../out", "rel");
    x.link(x.top.path() / "out", "abs");
    x.link("../out/secret", "rel-secret");
    x.link(x.top.path() / "out/secret", "abs-secret");
    x.link("../out/absent", "rel-absent");
    x.link("../wsx", "beside");
    x.link("/", "slash");
    x.link("..", "above");
    x.link("/proc/self/cwd/f", "magic");
    for (auto* path : {"rel", "abs", "rel/secret", "abs/secret", "rel-secret", "abs-secret", "rel-absent", "rel/absent", "abs/sub/x",
                       "beside", "slash", "slash/etc/passwd", "above", "above/out/secret", "magic"}) {
      CHECK_EQ(x.refusal(path), "symlink escapes the workspace");
      CHECK_EQ(x.refusal(path, parents::created), "symlink escapes the workspace");
    }
    CHECK_EQ(x.refusal("../out/secret"), "path escapes the workspace");
    CHECK_EQ(std::distance(fs::directory_iterator{x.top.path() / "out"}, fs::directory_iterator{}), 2);
  });
}

SCENARIO("a path that leaves by a link and comes back is inside") {
  each_way([](const tree& x) {
    x.link("..", "above");
    x.link("/", "slash");
    CHECK_EQ(x.place("above/ws/f"), (x.ws / "f").string());
    CHECK_EQ(x.place("slash" + x.ws.string() + "/d/g"), (x.ws / "d/g").string());
  });
}

SCENARIO("a link to nothing is itself, and no way to anywhere") {
  each_way([](const tree& x) {
    x.link("nothing", "dangling");
    x.link("no/../../out/secret", "crooked");
    x.link("dangling", "twice");
    CHECK_EQ(x.place("dangling"), (x.ws / "dangling").string() + " (absent)");
    CHECK_EQ(x.place("twice"), (x.ws / "twice").string() + " (absent)");
    CHECK_EQ(x.place("crooked"), (x.ws / "crooked").string() + " (absent)");
    CHECK(x.refusal("dangling/f").starts_with("ENOENT"));
    CHECK(x.refusal("dangling/f", parents::created).starts_with("ENOENT"));
    CHECK(!fs::exists(x.ws / "nothing"));
    CHECK(!fs::exists(x.ws / "no"));
  });
}

SCENARIO("links in a circle end") {
  each_way([](const tree& x) {
    x.link("b", "a");
    x.link("a", "b");
    CHECK(x.refusal("a").starts_with("ELOOP"));
    CHECK(x.refusal("a/f").starts_with("ELOOP"));
    // Each goes up and down many times: the steps are bounded, not the links alone.
    auto zigzag = std::string{};
    while (zigzag.size() < 3900)
      zigzag += "d/e/../../";
    x.link(zigzag + "z1", "z0");
    for (auto i = 1; i < 39; ++i)
      x.link(zigzag + "z" + std::to_string(i + 1), "z" + std::to_string(i));
    put(x.ws / "z39", "z");
    CHECK(x.refusal("z0").starts_with("ELOOP"));
    CHECK_EQ(x.place("z38"), (x.ws / "z39").string());
  });
}

SCENARIO("directories are created below the root, and each that grew is known") {
  each_way([](const tree& x) {
    x.link("d", "to-d");
    auto got = x.look("to-d/x/y/f", parents::created);
    REQUIRE(got.has_value());
    CHECK(!got->seen);
    CHECK_EQ(got->grown.size(), 2u);
    CHECK(fs::is_directory(x.ws / "d/x/y"));
    CHECK(!fs::exists(x.ws / "d/x/y/f"));
    auto again = x.look("to-d/x/y/f", parents::created);
    REQUIRE(again.has_value());
    CHECK(again->grown.empty());
    CHECK(x.refusal("q/f").starts_with("ENOENT"));
    CHECK(!fs::exists(x.ws / "q"));
  });
}

SCENARIO("a root that is a link is the root, by either of its names") {
  each_way([](const tree& x) {
    auto alias = x.top.path() / "alias";
    fs::create_directory_symlink(x.ws, alias);
    x.link(alias / "d/g", "named");
    x.link(x.ws / "d/g", "real");
    for (auto* path : {"named", "real", "d/g"}) {
      auto got = guest::resolve(path, alias.string(), {alias.string()}, parents::as_they_are, x.beneath);
      REQUIRE(got.has_value());
      CHECK_EQ(got->name, "g");
      CHECK_EQ(fs::read_symlink("/proc/self/fd/" + std::to_string(got->parent.get())), x.ws / "d");
    }
  });
}

SCENARIO("the file system itself may be the root") {
  each_way([](const tree& x) {
    x.link(x.ws / "d", "abs");
    x.link("../../../../../../../../../../../.." + x.ws.string() + "/f", "far");
    for (auto [path, name] : {std::pair{"abs/g", "g"}, {"far", "f"}}) {
      auto got = guest::resolve((x.ws / path).string(), x.ws.string(), {"/"}, parents::as_they_are, x.beneath);
      REQUIRE(got.has_value());
      CHECK_EQ(got->name, name);
    }
  });
}

SCENARIO("no descriptor is left behind") {
  each_way([](const tree& x) {
    x.link(x.ws / "d/g", "abs");
    x.link("../out", "rel");
    x.link("b", "b");
    auto before = open_descriptors();
    for (auto* path : {"f", "abs", "rel/x", "b", "no/f", "n1/n2/f", "f/x", "d/e"})
      x.refusal(path, parents::created);
    CHECK_EQ(open_descriptors(), before);
  });
}
