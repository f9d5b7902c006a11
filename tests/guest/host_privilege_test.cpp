#define CAF_SUITE host_privilege

#include "guest/privilege.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <string>
#include <vector>

using namespace paddock::guest;

namespace {

std::string status_with(const std::string& name, const std::string& line) {
  const auto lines = std::vector<std::pair<std::string, std::string>>{
    {"Name", "Name:\tcat"},
    {"CapInh", "CapInh:\t0000000000000000"},
    {"CapPrm", "CapPrm:\t0000000000000000"},
    {"CapEff", "CapEff:\t0000000000000000"},
    {"CapBnd", "CapBnd:\t0000000000000000"},
    {"CapAmb", "CapAmb:\t0000000000000000"},
    {"NoNewPrivs", "NoNewPrivs:\t1"},
  };
  auto text = std::string{};
  for (const auto& [key, value] : lines) {
    const auto& shown = key == name ? line : value;
    text += shown.empty() ? "" : shown + "\n";
  }
  return text;
}

} // namespace

SCENARIO("a process without capabilities and with no-new-privileges is unprivileged") {
  CHECK(read_privileges(status_with("", "")).what == privilege::unprivileged);
}

SCENARIO("one capability in any of the four sets is privileged") {
  for (const auto* name : {"CapInh", "CapPrm", "CapEff", "CapBnd"}) {
    MESSAGE(name);
    CHECK(read_privileges(status_with(name, std::string{name} + ":\t0000000000000400")).what == privilege::privileged);
    CHECK(read_privileges(status_with(name, std::string{name} + ":\tffffffffffffffff")).what == privilege::privileged);
  }
}

SCENARIO("the ambient set is not asked for") {
  CHECK(read_privileges(status_with("CapAmb", "")).what == privilege::unprivileged);
}

SCENARIO("a process that may gain privileges is privileged") {
  CHECK(read_privileges(status_with("NoNewPrivs", "NoNewPrivs:\t0")).what == privilege::privileged);
}

SCENARIO("a field that is missing, repeated or malformed makes the text unreadable") {
  for (const auto* name : {"CapInh", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs"}) {
    MESSAGE(name);
    const auto key = std::string{name};
    CHECK(read_privileges(status_with(name, "")).what == privilege::unreadable);
    CHECK(read_privileges(status_with(name, key + ":")).what == privilege::unreadable);
    CHECK(read_privileges(status_with(name, key + ":\t-1")).what == privilege::unreadable);
    CHECK(read_privileges(status_with(name, key + ":\t0x0")).what == privilege::unreadable);
    CHECK(read_privileges(status_with(name, key + ":\t00000000000000000")).what == privilege::unreadable);
    CHECK(read_privileges(status_with(name, key + ":\t0 0")).what == privilege::unreadable);
    CHECK(read_privileges(status_with(name, key + ":\t0\n" + key + ":\t0")).what == privilege::unreadable);
  }
  CHECK(read_privileges("").what == privilege::unreadable);
  CHECK(read_privileges("cat: /proc/self/status: Permission denied\n").what == privilege::unreadable);
}

SCENARIO("an unreadable field hides no privilege, and a privilege no unreadable field") {
  auto text = status_with("CapEff", "CapEff:\t0000000000000001");
  text.erase(text.find("NoNewPrivs"));
  CHECK(read_privileges(text).what == privilege::unreadable);
}

SCENARIO("the names of the reasons are those of the specification") {
  CHECK_EQ(to_string(privilege::privileged), "privileged");
  CHECK_EQ(to_string(privilege::unreadable), "unreadable-output");
}
