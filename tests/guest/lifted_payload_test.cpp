#define CAF_SUITE lifted_payload

#include "guest/envelope.hpp"
#include "guest/lifted_payload.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::guest;
using nlohmann::json;

namespace {

const auto bulk = std::string(100'000, 'A');

std::string text_of(lifted_payload& x) {
  return {x.bulk().data(), x.bulk().size()};
}

} // namespace

SCENARIO("a long content is lifted, and all else is parsed as before") {
  auto x = lifted_payload{R"({"op":"write-file","body":{"path":"a\"b","content" : ")" + bulk + R"(","encoding":"base64"},"token":"t"})"};
  REQUIRE(x.lifted());
  CHECK(x.text().size() < 200);
  CHECK_EQ(text_of(x), bulk);
  auto message = parse_payload(x.text());
  REQUIRE(message.has_value());
  auto& body = (*message)["body"];
  CHECK(x.stands_for_bulk(body["content"]));
  CHECK(!x.stands_for_bulk(body["encoding"]));
  CHECK_EQ(body["path"].get<std::string>(), "a\"b");
  CHECK_EQ((*message)["token"].get<std::string>(), "t");
  auto first = read_envelope(x.text());
  REQUIRE(first.has_value());
  CHECK_EQ(first->op, "write-file");
}

SCENARIO("what is short, has escapes, or has another name stays where it is") {
  for (const auto& payload : {
         std::string{R"({"body":{"content":"QUJD"}})"},
         R"({"body":{"content":")" + bulk + R"(\n"}})",
         R"({"body":{"contents":")" + bulk + R"("}})",
         R"({"body":{"x":"\"content\":","y":")" + bulk + R"("}})",
         R"({"body":{"content":[")" + bulk + R"("]}})",
         R"({"body":["content",")" + bulk + R"("]})",
         R"({"body":{"content":")" + bulk, // it does not end
         R"({"body":{"content":")" + bulk + R"(\)",
         bulk,
         std::string{},
       }) {
    auto x = lifted_payload{payload};
    CHECK(!x.lifted());
    CHECK_EQ(x.text(), payload);
    CHECK_EQ(x.whole(), payload);
  }
}

SCENARIO("a mark that was there before is never taken for the bulk") {
  auto mark = std::string{};
  {
    auto x = lifted_payload{R"({"content":")" + bulk + R"("})"};
    mark = (*parse_payload(x.text()))["content"].get<std::string>();
  }
  auto x = lifted_payload{R"({"content":")" + bulk + R"(","body":{"content":")" + mark + R"("}})"};
  CHECK(!x.lifted());
  CHECK(!x.stands_for_bulk(json(mark)));
  // The parser spells it out.
  auto escaped = "\\u0070" + mark.substr(1);
  for (const auto& payload : {R"({"content":")" + bulk + R"(","body":{"content":")" + escaped + R"("}})",
                              R"({"body":{"content":")" + escaped + R"("},"content":")" + bulk + R"("})"}) {
    auto y = lifted_payload{payload};
    auto message = parse_payload(y.text());
    REQUIRE(message.has_value());
    CHECK(!y.stands_for_bulk((*message)["body"]["content"]));
  }
}

SCENARIO("the time is linear in escapes and in quotes") {
  // Quadratic code takes minutes for these.
  auto escapes = std::string{R"({"content":")"};
  for (auto i = 0; i < 4'000'000; ++i)
    escapes += R"(\n)";
  CHECK(!lifted_payload{escapes + R"("})"}.lifted());
  CHECK(!lifted_payload{escapes}.lifted());
  CHECK(!lifted_payload{std::string(8'000'000, '"')}.lifted());
}
