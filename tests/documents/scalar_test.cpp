#define CAF_SUITE scalar

#include "documents/scalar.hpp"

#include <caf/test/bdd_dsl.hpp>

using nlohmann::json;
using paddock::documents::meaning_of;

namespace {

/// As JSON, or `?` where it is in doubt.
std::string read(const std::string& plain) {
  const auto got = meaning_of(plain);
  return got.in_doubt ? "?" : got.value.dump();
}

} // namespace

SCENARIO("what every version reads alike is what it looks like") {
  const auto cases = std::vector<std::pair<std::string, std::string>>{
    {"true", "true"},
    {"False", "false"},
    {"null", "null"},
    {"~", "null"},
    {"0", "0"},
    {"53", "53"},
    {"-7", "-7"},
    {"+7", "7"},
    {"0x1F", "31"},
    {"1.5", "1.5"},
    {".5", "0.5"},
    {"-.5", "-0.5"},
    {"1.", "1.0"},
    {"1.5e+3", "1500.0"},
    {"18446744073709551616", "1.8446744073709552e+19"},
    {"api.example.com", R"("api.example.com")"},
    {".example.com", R"(".example.com")"},
    {".", R"(".")"},
    {"-", R"("-")"},
    {"10.0.0.0/8", R"("10.0.0.0/8")"},
    {"10.0.0.1", R"("10.0.0.1")"},
    {"1.2.3", R"("1.2.3")"},
    {"::1/128", R"("::1/128")"},
    {"fe80::1", R"("fe80::1")"},
    {"2001:db8::/32", R"("2001:db8::/32")"},
    {"TCP", R"("TCP")"},
    {"v1", R"("v1")"},
    {"truE", R"("truE")"},
    {"1e", R"("1e")"},
    {"e5", R"("e5")"},
    {"0xg", R"("0xg")"},
    {"12:75", R"("12:75")"},
    {"2026-11-30", R"("2026-11-30")"},
  };
  for (const auto& [plain, means] : cases)
    CHECK_EQ(plain + " is " + read(plain), plain + " is " + means);
}

SCENARIO("what YAML 1.1 and 1.2 read differently is in doubt") {
  for (const auto* plain :
       {"yes",   "No",  "on",    "OFF",  "y",     "N",         "0065",   "0777",  "089",  "-012", "0o17",  "0b101", "1_000",
        "1_0.5", "1e3", "1.5e3", "1E-2", "12:30", "190:20:30", "1:30.5", "+0x1F", "00.5", ".inf", "-.INF", ".nan",  "1.0e+999"})
    CHECK_EQ(std::string{plain} + " is " + read(plain), std::string{plain} + " is ?");
  CHECK(meaning_of("on").value == json("on"));
}
