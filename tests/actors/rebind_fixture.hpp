#pragma once

#include "tests/actors/desk_fixture.hpp"
#include "tests/actors/listener.hpp"

#include <nlohmann/json.hpp>

namespace paddock::test {

/// A WORKSPACE whose guest is that of the pod that stands, and knows no token but that pod's uid.
struct rebind_fixture : desk_fixture {
  explicit rebind_fixture(desk::host how = desk::host::unfenced) : desk_fixture(how, desk::api_server::with_uids) {
    host.guest.boot = guest_boot_id{"B1"};
    well = host.guest.on_execute;
    host.guest.on_execute = [this](const guest_call& x) {
      scripted_execution out;
      if (std::exchange(hold_next, false))
        held = host.guest.calls.size() - 1;
      else if (refused(x.where))
        out.answer = tl::unexpected{guest::failure{guest::unauthorized{}}};
      else
        out = well(x);
      return out;
    };
    check_tokens(hosts.work.on_run);
    check_tokens(hosts.work.on_attach);
    check_tokens(hosts.work.on_cancel);
    check_tokens(hosts.work.on_sessions);
    check_tokens(hosts.work.on_start);
    check_tokens(hosts.work.on_kill);
    check_tokens(hosts.work.on_quiesce);
    check_tokens(hosts.work.on_flush);
    heard = std::make_shared<heard_events>();
    ear = keep(sys.spawn(listener, heard));
  }

  // -- the cluster --------------------------------------------------------------

  [[nodiscard]] std::string pod() const {
    return host.cluster.pod ? host.cluster.pod->at("metadata").at("uid").get<std::string>() : "";
  }
  [[nodiscard]] bool refused(const guest::endpoint& where) const {
    return deny || where.token.reveal() != pod();
  }
  template <class T, class... Ts>
  void check_tokens(std::function<guest::result<T>(const guest::endpoint&, Ts...)>& said) {
    said = [this, said](const guest::endpoint& where, Ts... xs) -> guest::result<T> {
      if (refused(where))
        return tl::unexpected{guest::failure{guest::unauthorized{}}};
      return said(where, xs...);
    };
  }
  /// Somebody deletes the pod, and the controller makes another: its guest has a boot id of its own.
  void replace_pod(const std::string& boot = "B2") {
    host.cluster.pod = host.cluster.make_pod();
    host.guest.boot = guest_boot_id{boot};
  }

  static call_spec walk(std::uint64_t most) {
    walk_spec what;
    what.root = ".";
    what.max_entries = most;
    return {what};
  }

  // -- the workspace --------------------------------------------------------------

  void listen() {
    REQUIRE(settled<std::vector<workspace_event>>(atom::subscribe_v, ear)->value);
  }
  void open_and_listen() {
    open();
    listen();
    host.forget();
    told = writes();
  }
  workspace_view now() {
    return *settled<workspace_view>(atom::view_v)->value;
  }
  /// The tokens that commands were sent with since the open.
  std::vector<std::string> tokens() {
    std::vector<std::string> out;
    for (const auto& x : host.guest.calls)
      if (x.what == guest_call::op::execute && !scripted_guest::is_privilege_probe(x))
        out.push_back(x.where.token.reveal());
    return out;
  }
  bool nothing_written() {
    return writes() == told;
  }
  static std::string reason(const started& x) {
    return x.log->failed.empty() ? std::string{} : x.log->failed.front().reason;
  }
  static nlohmann::json details(const started& x) {
    return nlohmann::json::parse(x.log->failed.at(0).details);
  }
  /// Carries one call to its end; what is written is "abcd".
  started carry(const call_spec& what) {
    hosts.streams.refuses = secret{deny ? "none" : pod()};
    hosts.files.refuses = hosts.streams.refuses;
    hosts.streams.prepared = std::make_shared<scripted_terminal::script>(host.context.get_executor());
    auto one = start(what);
    turn();
    if (std::holds_alternative<write_spec>(what.what)) {
      REQUIRE(one.call->value);
      mail::tell_anonymously(*one.call->value, atom::input_v, workspace::to_bytes("abcd"), true);
      turn();
    }
    hosts.streams.prepared->finish(guest::terminal_end{});
    turn();
    return one;
  }
  void check_tokens_of_files() {
    host.guest.on_read = [this](const guest_call& x) -> std::optional<guest::result<guest::file_content>> {
      if (refused(x.where))
        return guest::result<guest::file_content>{tl::unexpected{guest::failure{guest::unauthorized{}}}};
      return guest::result<guest::file_content>{guest::file_content{host.guest.files[x.path], host.guest.boot}};
    };
    host.guest.on_write = [this](const guest_call& x) -> std::optional<guest::result<guest::file_written>> {
      if (refused(x.where))
        return guest::result<guest::file_written>{tl::unexpected{guest::failure{guest::unauthorized{}}}};
      host.guest.files[x.path] = x.bytes;
      return guest::result<guest::file_written>{guest::file_written{x.bytes.size(), host.guest.boot}};
    };
  }
  void answer_held(guest::result<guest::execution> how) {
    host.guest.answer(held, std::move(how));
    turn();
  }

  std::function<scripted_execution(const guest_call&)> well;
  std::shared_ptr<heard_events> heard;
  event_sink_actor ear;
  std::size_t told = 0;
  bool hold_next = false; // the next command is left without an answer
  std::size_t held = 0;   // that one
  bool deny = false;      // the guest refuses every token
};

} // namespace paddock::test
