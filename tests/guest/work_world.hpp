#pragma once

#include "base/base64.hpp"
#include "guest/flows/work_transport.hpp"
#include "tests/support/fake_agent.hpp"

#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

/// Takes the log of an execution as it comes. `leave` makes its run stop observing.
class collected_log final : public guest::log_sink {
public:
  boost::asio::awaitable<void> take(guest::stream which, std::string bytes, std::uint64_t next_offset) override {
    (which == guest::stream::out ? out : err) += bytes;
    both += bytes;
    offsets.push_back(next_offset);
    co_return;
  }
  boost::asio::awaitable<void> gap(std::uint64_t from_offset, std::uint64_t dropped_bytes) override {
    gaps.emplace_back(from_offset, dropped_bytes);
    co_return;
  }
  boost::asio::awaitable<void> enough() override {
    auto lane = co_await boost::asio::this_coro::executor;
    bell = std::make_shared<boost::asio::steady_timer>(lane, boost::asio::steady_timer::time_point::max());
    [[maybe_unused]] auto [ec] = co_await bell->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!left)
      throw boost::system::system_error{boost::asio::error::operation_aborted};
  }
  void leave() {
    left = true;
    bell->cancel();
  }
  std::string out;
  std::string err;
  std::string both;
  std::vector<std::uint64_t> offsets;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  bool left = false;
  std::shared_ptr<boost::asio::steady_timer> bell;
};

template <class T>
bool failed_with(const auto& got) {
  return !got && std::holds_alternative<T>(got.error());
}

inline nlohmann::json delta(const std::string& data, std::uint64_t offset, const char* type = "stdout_delta") {
  return {{"type", type}, {"data", data}, {"offset", offset}, {"nextOffset", offset + data.size()}};
}
inline nlohmann::json attached(std::uint64_t from, std::uint64_t dropped = 0, const char* state = "running") {
  return {{"type", "attached"}, {"executionId", fake_agent::id}, {"state", state}, {"fromOffset", from}, {"droppedBytes", dropped}};
}
inline nlohmann::json attach_end(const char* outcome, std::uint64_t next, nlohmann::json end) {
  end.erase("type");
  return {{"type", "attach_result"}, {"executionId", fake_agent::id}, {"outcome", outcome},
          {"started", true},         {"result", std::move(end)},      {"nextOffset", next}};
}
inline nlohmann::json refusal_event(const char* error) {
  return {{"type", "error"}, {"error", error}};
}
inline nlohmann::json refusal(const char* error) {
  return {{"ok", false}, {"error", error}};
}

/// A work host against a scripted guest that has every feature of [G] 19.
struct work_world {
  explicit work_world(guest::transport_options with = {}) : host(guest::make_host(time, with)), work(make_work(with)) {
    agent.features({"execution-attach", "sessions", "quiesce", "flush", "quiesce-idle-only", "pinned-guest"});
    agent.on("reserve-execution", [](const nlohmann::json& request) {
      auto x = fake_agent::reservation();
      if (request.contains("body")) {
        x["executionId"] = request["body"]["executionId"];
        x["state"] = "reserved";
      }
      return agent_script{send(x)};
    });
  }

  boost::asio::io_context context;
  manual_time time;
  fake_agent agent{context};
  std::unique_ptr<guest::host> host;
  std::unique_ptr<guest::work_host> work;
  collected_log output;

  using run_end = guest::result<guest::attached_end>;

  [[nodiscard]] deadline in(time_source::clock::duration budget) const {
    return deadline{time, budget};
  }
  template <class T>
  T finish(started<T> it) {
    run_with_sockets(context, time, [&] { return it.done(); });
    return std::move(it.get());
  }
  template <class T>
  T ask(boost::asio::awaitable<T> flow) {
    return finish(start_flow(context, std::move(flow)));
  }
  static guest::detached_run command(bool leave = false) {
    auto x = guest::detached_run{};
    x.what.program = "job";
    x.execution_id = fake_agent::id;
    x.leave = leave;
    return x;
  }
  started<run_end> start(guest::detached_run what = command(), collected_log* to = nullptr) {
    return start_flow(context, work->run_detached(agent.where(), std::move(what), to != nullptr ? *to : output, in(std::chrono::hours{1})));
  }
  run_end run(guest::detached_run what = command()) {
    return finish(start(std::move(what)));
  }
  run_end attach(std::uint64_t from = 0) {
    return ask(work->attach(agent.where(), {fake_agent::id, from}, output, in(std::chrono::hours{1})));
  }
  void until_asked(const std::string& op, std::size_t times = 1) {
    run_until(context, [&] { return agent.count(op) >= times; });
  }
  [[nodiscard]] nlohmann::json request(const std::string& op, std::size_t which = 0) const {
    for (const auto& x : agent.requests())
      if (x.value("op", "") == op && which-- == 0)
        return x;
    return {};
  }

private:
  std::unique_ptr<guest::work_host> make_work(const guest::transport_options& with) {
    return guest::make_work_host(time, with);
  }
};

} // namespace paddock::test
