#define CAF_SUITE object_text

#include "embedded/object.hpp"
#include "embedded/object_text.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <random>

using namespace paddock::embedded;

namespace {

/// A value with members `a`, `b` and `c` at every depth.
json any_value(std::mt19937& chance, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(chance() % static_cast<unsigned>(n)); };
  static const std::vector<std::string> texts{"", "a", "}", "\"", "\\", "\\\"", "{\"a\":1}", "x,\"b\":2", "[", "<\n>", "\u00e9"};
  switch (pick(depth == 0 ? 4 : 6)) {
    case 0: return texts[static_cast<std::size_t>(pick(static_cast<int>(texts.size())))];
    case 1: return pick(2) == 0 ? json(-3.5) : json(17);
    case 2: return pick(2) == 0;
    case 3: return nullptr;
    case 4: {
      auto out = json::array();
      for (auto i = pick(4); i > 0; --i)
        out.push_back(any_value(chance, depth - 1));
      return out;
    }
    default: {
      auto out = json::object();
      for (const auto* key : {"a", "b", "c"})
        if (pick(3) != 0)
          out[key] = any_value(chance, depth - 1);
      out[texts[static_cast<std::size_t>(pick(static_cast<int>(texts.size())))]] = any_value(chance, depth - 1);
      return out;
    }
  }
}

} // namespace

SCENARIO("a value is found in the text where parsing finds it") {
  const auto seed = std::random_device{}();
  std::mt19937 chance{seed};
  for (int i = 0; i < 2000; ++i) {
    const json object{{"a", any_value(chance, 4)}, {"b", any_value(chance, 4)}};
    const auto text = encode_json(object);
    for (const auto* x : {"a", "b", "c"})
      for (const auto* y : {"a", "b", "c"})
        for (const auto* z : {"a", "b", "c"}) {
          const auto* parsed = find(object, {x, y, z});
          const auto written = written_at(text, {x, y, z});
          if (written != (parsed == nullptr ? std::string{} : encode_json(*parsed))
              || text_in(text, {x, y, z}) != text_at(object, {x, y, z}))
            CAF_FAIL("seed " << seed << ": " << x << "." << y << "." << z << " of " << text << " is " << written);
        }
  }
}

SCENARIO("a text that ends early is read no further than it goes") {
  const std::string whole = R"({"a":{"b":[1,"x\"y",{"c":null}],"d":"\\"},"e":2})";
  CHECK_EQ(written_at(whole, {"e"}), "2");
  CHECK_EQ(text_in(whole, {"a", "d"}), "\\");
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK(written_at(std::string_view{whole}.substr(0, n), {"f"}).empty());
}
