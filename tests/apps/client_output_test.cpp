#define CAF_SUITE client_output

#include "apps/paddock/completion.hpp"
#include "apps/paddock/exit_code.hpp"
#include "apps/paddock/print.hpp"
#include "messages/error.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sstream>

using namespace paddock;
using namespace paddock::cli;

namespace {

workspace_view desk() {
  workspace_view out;
  out.workspace = "desk";
  out.sandbox_name = "namzu-ws-desk";
  out.template_name = "default";
  out.mode = "Running";
  out.state = "running";
  out.origin = "created";
  out.holder_epoch = 3;
  out.sandbox_uid = "S1";
  out.pod_uid = "P1";
  out.volume_claim_uids = {{"workspace", "C1"}};
  return out;
}

template <class F>
std::string printed(F print) {
  std::ostringstream out;
  print(out);
  return out.str();
}

} // namespace

SCENARIO("every verdict has its exit code") {
  CHECK_EQ(exit_code(verdict::failed), 1);
  CHECK_EQ(exit_code(verdict::usage), 2);
  CHECK_EQ(exit_code(verdict::refused), 3);
  CHECK_EQ(exit_code(verdict::unknown), 4);
  CHECK_EQ(exit_code(verdict::not_found), 5);
  CHECK_EQ(exit_code(verdict::overtaken), 6);
  CHECK_EQ(exit_code(verdict::unreachable), 7);
}

SCENARIO("exec ends as its command did, or as a shell would") {
  call_end end;
  end.exit_code = 42;
  CHECK_EQ(exit_code(end), 42);
  end.exit_code = -1;
  end.signal = "SIGKILL";
  CHECK_EQ(exit_code(end), 128 + 9);
  CHECK_EQ(signal_number("SIGTERM"), 15);
  CHECK_EQ(signal_number("TERM"), 0);
  CHECK_EQ(signal_number("SIGNONSENSE"), 0);
  CHECK_EQ(exec_exit_code(make_problem(verdict::failed, "RemoteCommand", "spawn nope ENOENT")), 127);
  CHECK_EQ(exec_exit_code(make_problem(verdict::failed, "RemoteCommand", "spawn /etc/passwd EACCES")), 126);
  CHECK_EQ(exec_exit_code(make_problem(verdict::failed, "RemoteLost", "ENOENT")), 125);
  CHECK_EQ(exec_exit_code(make_problem(verdict::unknown, "OutcomeUnknown", "x")), 125);
}

SCENARIO("json is one document with the field names of the specification") {
  const auto got = nlohmann::json::parse(printed([](auto& out) { print(out, format::json, desk()); }));
  CHECK_EQ(got["workspace"], "desk");
  CHECK_EQ(got["operatingMode"], "Running");
  CHECK_EQ(got["sandboxUid"], "S1");
  CHECK_EQ(got["podUid"], "P1");
  CHECK_EQ(got["volumeClaimUids"]["workspace"], "C1");
  CHECK(got["holderEpoch"] == 3);
  CHECK(!got.contains("guestBootId"));
  CHECK(!got.contains("createdAt"));
  const auto opened = nlohmann::json::parse(printed([](auto& out) { print_opened(out, format::json, {"resumed", desk()}); }));
  CHECK_EQ(opened["origin"], "resumed");
}

SCENARIO("name is one id a line, and a table has a header and aligned columns") {
  std::ostringstream table;
  print_table(table, {{"NAME", "TEMPLATE"}, {"a-long-name", "default"}});
  CHECK_EQ(table.str(), "NAME         TEMPLATE\na-long-name  default\n");
  CHECK_EQ(printed([](auto& out) { print_opened(out, format::table, {"created", desk()}); }), "created\n");
}

SCENARIO("an error is one line with its reason, or one JSON object") {
  const problem why{verdict::refused, "WorkspaceSuspended", "two\nlines", R"({"noticedBy":"admission"})"};
  CHECK_EQ(printed([&](auto& out) { print_problem(out, format::table, why); }), "paddock: WorkspaceSuspended: two lines\n");
  const auto got = nlohmann::json::parse(printed([&](auto& out) { print_problem(out, format::json, why); }));
  CHECK_EQ(got["reason"], "WorkspaceSuspended");
  CHECK_EQ(got["message"], "two\nlines");
  CHECK_EQ(got["details"]["noticedBy"], "admission");
}

SCENARIO("completion knows three shells and every verb") {
  const std::vector<verb_words> verbs = {{"open", {"--template"}}, {"ls", {"--node"}}};
  for (auto shell : {"bash", "zsh", "fish"}) {
    const auto script = completion(shell, verbs);
    REQUIRE(script);
    CHECK_NE(script->find("open"), std::string::npos);
    CHECK_NE(script->find("template"), std::string::npos);
  }
  CHECK(!completion("csh", verbs));
}
