#pragma once

#include "tests/actors/whole_fixture.hpp"

namespace paddock::test {

using workspace::test::desk;
inline constexpr caf::timespan minute = 1min;

/// The WORKSPACE `desk`, whole. A suspend asks its guest to rest and ends the terminals that are open.
struct desk_fixture : whole_fixture {
  explicit desk_fixture(desk::host how = desk::host::unfenced, desk::api_server says = desk::api_server::without_uids) :
    whole_fixture(how, says) {
    host.on.work = &hosts.work;
    host.on.terminals = &terminals;
    me = keep(sys.spawn<workspace_impl>(std::ref(on), *workspace::id::parse("desk")));
  }
  template <class T, class... Ts>
  std::shared_ptr<answer_of<T>> settled(Ts... xs) {
    auto got = ask<T>(me, xs...);
    settle();
    return got;
  }
  void open() {
    auto got = settled<opened_view>(atom::open_v, open_spec{}, minute);
    REQUIRE(got->value);
    host.forget();
  }
  /// A call that was started, or why it was refused.
  struct started {
    std::shared_ptr<sink_log> log = std::make_shared<sink_log>();
    std::shared_ptr<answer_of<call_actor>> call;
  };
  started start(call_spec what) {
    started out;
    auto sink = keep(sys.spawn(logging_sink, out.log));
    out.call = ask<call_actor>(me, atom::call_v, std::move(what), sink, minute);
    return out;
  }
  static call_spec command(const std::string& program = "true") {
    run_spec what;
    what.program = program;
    return {what};
  }
  /// What `exec` comes to: the end that its sink is told, or why it was refused.
  std::shared_ptr<sink_log> exec(std::optional<problem>* refused = nullptr) {
    auto one = start(command());
    settle();
    if (refused != nullptr)
      *refused = one.call->why;
    return one.log;
  }
  std::size_t writes() {
    return host.sent("PATCH") + host.sent("POST") + host.sent("DELETE");
  }
  static std::optional<workspace::test::desk_cluster::reply> status(unsigned code, const k8s::call& what) {
    return tl::unexpected{
      k8s::failure{k8s::api_failure{k8s::api_failure::transport::status, what.method, what.path, code, std::nullopt, true, "scripted"}}};
  }
  workspace_actor me;
};

} // namespace paddock::test
