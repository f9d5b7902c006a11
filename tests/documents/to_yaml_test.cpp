#define CAF_SUITE to_yaml

#include "documents/documents.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::documents;
using nlohmann::json;

SCENARIO("what is printed is read back as the same, without a doubt") {
  auto value = json::parse(R"({
    "apiVersion": "v1",
    "texts": ["yes", "0065", "53", "1e3", "null", "", "~", "true", "<<", "*.example.com", "a: b", "# no", "- x", " padded ", "two\nlines",
              "'", "\"", "{", "[x]", "&a", "!t", "|", ">", "%", "@", "`", "12:30", "\u0001\u007f", "ü", "\u0085\u2028\ufeff", "=", "?", "-", "---", "..."],
    "on": {"0065": 1, "53": 2, "": 3, "<<": 4, "null": 5},
    "numbers": [0, -1, 65535, 1.5, 18446744073709551615, 1e25, 1.5e-7, -2e300],
    "empty": [[], {}, null, true]
  })");
  value["on"][std::string(3000, 'x')] = {{"long", {1}}};
  const auto text = to_yaml(value);
  const auto got = read_documents(text);
  if (!got)
    CAF_FAIL(got.error().line << ": " << got.error().problem << "\n" << text);
  REQUIRE_EQ(got->size(), 1u);
  CHECK(got->front().value == value);
  CHECK(got->front().doubts.empty());
}

SCENARIO("a policy is printed as one would write it") {
  CHECK_EQ(to_yaml(json::parse(R"({"spec":{"egress":[{"toPorts":[{"ports":[{"port":"53","protocol":"ANY"}]}]},{}],"none":[]}})")),
           "spec:\n  egress:\n    - toPorts:\n        - ports:\n            - port: \"53\"\n              protocol: ANY\n    - {}\n"
           "  none: []\n");
}
