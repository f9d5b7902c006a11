#define CAF_SUITE protobuf_json

#include "embedded/embedded_data.hpp"
#include "embedded/protobuf_json.hpp"
#include "tests/embedded/api_world.hpp"

#include <set>

using namespace paddock;
using namespace paddock::test;

namespace {

// -- writing, as Go's clients write -------------------------------------------------------------------------------

std::string varint(std::uint64_t x) {
  std::string out;
  for (; x >= 0x80; x >>= 7)
    out += static_cast<char>(0x80 | (x & 0x7f));
  return out + static_cast<char>(x);
}
std::string text(std::uint64_t field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string number(std::uint64_t field, std::uint64_t x) {
  return varint(field << 3) + varint(x);
}
std::string object(const std::string& version, const std::string& kind, const std::string& raw) {
  return std::string{"k8s\0", 4} + text(1, text(1, version) + text(2, kind)) + text(2, raw) + text(3, "") + text(4, "");
}
/// The metadata of a new object: Go writes what is empty, too.
std::string metadata(const std::string& name) {
  return text(1, text(1, name) + text(2, "") + text(3, "") + text(4, "") + text(5, "") + text(6, "") + number(7, 0) + text(8, ""));
}

json read(const std::string& body) {
  auto got = parse_protobuf(body);
  if (!got)
    CAF_FAIL(got.error());
  return *got;
}

const std::string secret_object =
  object("v1", "Secret", metadata("s") + text(2, text(1, "key") + text(2, std::string{"\x00\xff", 2})) + text(3, "Opaque"));

} // namespace

SCENARIO("an object in protobuf is read as what it would be in JSON") {
  CHECK_EQ(read(secret_object).dump(),
           R"({"apiVersion":"v1","data":{"key":"AP8="},"kind":"Secret","metadata":{"name":"s"},"type":"Opaque"})");
  // A volume's source, a quantity, a port, an instant, a negative number and a pointer to a zero.
  const auto volume = text(1, "v") + text(2, text(2, text(2, text(1, "1Gi"))));
  const auto probe = text(1, text(2, text(1, "/") + text(2, number(1, 1) + number(2, 0) + text(3, "http")))) + number(3, 0);
  const auto container = text(1, "main") + text(2, "i:1") + text(10, probe);
  const auto spec = text(1, volume) + text(2, container) + number(4, 0) + number(5, static_cast<std::uint64_t>(-5)) + number(11, 0);
  const auto pod = read(object("v1", "Pod", text(1, text(1, "p") + text(9, number(1, 1'767'225'600))) + text(2, spec)));
  CHECK_EQ(pod["spec"]["volumes"].dump(), R"([{"emptyDir":{"sizeLimit":"1Gi"},"name":"v"}])");
  CHECK_EQ(pod["spec"]["containers"][0]["livenessProbe"].dump(), R"({"httpGet":{"path":"/","port":"http"}})");
  CHECK(pod["spec"]["terminationGracePeriodSeconds"] == 0);
  CHECK(pod["spec"]["activeDeadlineSeconds"] == -5);
  CHECK(!pod["spec"].contains("hostNetwork"));
  CHECK_EQ(text_at(pod, {"metadata", "deletionTimestamp"}), "2026-01-01T00:00:00Z");
}

SCENARIO("an object in protobuf is made like any other, and one of a custom kind is not taken") {
  api_world w;
  const auto made = w.ask({"POST", "/api/v1/namespaces/default/secrets", secret_object, protobuf_type});
  CHECK_EQ(made.status, 201u);
  CHECK_EQ(text_at(made.body, {"data", "key"}), "AP8=");
  const auto options = object("v1", "DeleteOptions", text(2, text(1, "00000000-0000-4000-8000-000000000000")));
  CHECK_EQ(w.ask({"DELETE", "/api/v1/namespaces/default/secrets/s", options, protobuf_type}).status, 409u);
  CHECK_EQ(w.ask({"POST", w.boxes, secret_object, protobuf_type}).status, 415u);
  CHECK_EQ(w.ask({"POST", w.configs, secret_object, protobuf_type}).status, 400u);
}

SCENARIO("what is cut, or no protobuf at all, is refused") {
  // Without a length of the whole, what ends where a field does is a message of its own: the last two fields may be missing, or the object.
  const auto all = secret_object.size();
  const auto type_only = 4 + text(1, text(1, "v1") + text(2, "Secret")).size();
  const std::set<std::size_t> whole{type_only, all - 4, all - 2};
  for (std::size_t n = 0; n < all; ++n)
    CHECK_EQ(std::to_string(n) + (parse_protobuf(secret_object.substr(0, n)) ? " is read" : " is refused"),
             std::to_string(n) + (whole.contains(n) ? " is read" : " is refused"));
  CHECK(!parse_protobuf("{}"));
  CHECK(!parse_protobuf(std::string{"k8s\0", 4} + "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
  CHECK(!parse_protobuf(object("v1", "Nonsense", "")));
  CHECK(!parse_protobuf(object("v1", "ConfigMap", text(1, text(1, "\xff")))));
}

SCENARIO("every type that is known may be named as an object, and is one or is refused") {
  const auto types = json::parse(protobuf_text());
  for (const auto& [type, fields] : types.items()) {
    std::string each;
    for (const auto& [at, words] : fields.items()) {
      const auto one = parse_protobuf(object("v1", type, text(std::stoul(at), "")));
      // What a field is made of is known, too.
      CHECK_EQ(type + at + (type == "ExtraValue" ? "" : one ? "" : ": " + one.error()), type + at);
      each += text(std::stoul(at), "");
    }
    for (const auto& raw : {std::string{}, each}) {
      const auto got = parse_protobuf(object("v1", type, raw));
      CHECK_EQ(type + (got ? " is read" : " is refused"), type + (type == "ExtraValue" ? " is refused" : " is read"));
    }
  }
}

SCENARIO("what an object says of its managed fields is not looked into") {
  const auto entry = text(1, "m") + text(7, text(1, "{}"));
  const auto got = read(object("v1", "ConfigMap", text(1, text(1, "c") + text(17, entry))));
  CHECK_EQ(got["metadata"]["managedFields"].dump(), R"([{"manager":"m"}])");
}

SCENARIO("an instant that the clock cannot tell is the nearest that it can") {
  const auto deleted_at = [](std::uint64_t seconds) {
    return text_at(read(object("v1", "Pod", text(1, text(9, number(1, seconds))))), {"metadata", "deletionTimestamp"});
  };
  const auto last = std::chrono::floor<std::chrono::seconds>(store::instant::max());
  CHECK_EQ(deleted_at(253'402'300'799), rfc3339_seconds(last));
  CHECK_EQ(deleted_at(static_cast<std::uint64_t>(last.time_since_epoch().count()) + 1), rfc3339_seconds(last));
  CHECK(!parse_protobuf(object("v1", "Pod", text(1, text(9, number(1, 253'402'300'800))))));
}
