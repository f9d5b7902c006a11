#pragma once

// A node in this process beside an embedded cluster in it, with every request of the node written down.

#include "actors/node.hpp"
#include "base/flows/io_lane.hpp"
#include "bench/measure.hpp"
#include "embedded/flows/cluster.hpp"
#include "guest/flows/hosts.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/flows/watches.hpp"
#include "messages/error.hpp"
#include "remoting/actor_config.hpp"
#include "workspace/flows/guest_calls.hpp"
#include "workspace/flows/guest_jobs.hpp"
#include "workspace/flows/ports.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <future>
#include <mutex>

namespace paddock::bench {

using boost::asio::awaitable;

/// Passes every request on, and keeps it. A watch is not among them.
class recorded_api final : public k8s::streaming_api {
public:
  explicit recorded_api(k8s::streaming_api& to) : to_(to) {
  }
  awaitable<k8s::result<k8s::answer>> send(k8s::call what, deadline until) override {
    {
      const auto guard = std::lock_guard{lock_};
      calls_.push_back(what);
    }
    return to_.send(std::move(what), until);
  }
  awaitable<k8s::result<void>> stream(k8s::call what, std::function<bool(std::string_view)> on_bytes, time_source::clock::duration silence,
                                      deadline until) override {
    return to_.stream(std::move(what), std::move(on_bytes), silence, until);
  }
  /// What was sent since the last time.
  [[nodiscard]] std::vector<k8s::call> take() {
    const auto guard = std::lock_guard{lock_};
    return std::exchange(calls_, {});
  }

private:
  k8s::streaming_api& to_;
  std::mutex lock_;
  std::vector<k8s::call> calls_;
};

/// The cluster with its guests, and the node. One a process; it ends with the process.
class host_world {
public:
  explicit host_world(std::optional<std::chrono::milliseconds> idle_after = std::nullopt) {
    std::signal(SIGPIPE, SIG_IGN);
    world_.idle_after = idle_after;
    auto about = node_info{};
    about.name_space = "default";
    about.shards = 64;
    node_ = system_.spawn<node_impl>(std::ref(world_), about);
  }

  /// What failed ends the program.
  template <class T, class... Ts>
  T ask(Ts... xs) {
    auto out = std::optional<T>{};
    self_->request(node_, caf::infinite, xs...)
      .receive([&out](T& x) { out = std::move(x); }, [](const caf::error& why) { give_up(to_problem(why).message); });
    return std::move(*out);
  }
  opened_view open(const std::string& which) {
    return ask<opened_view>(atom::open_v, which, open_spec{}, patience);
  }
  workspace_view suspend(const std::string& which) {
    return ask<workspace_view>(atom::suspend_v, which, suspend_spec{}, patience);
  }
  opened_view resume(const std::string& which) {
    return ask<opened_view>(atom::resume_v, which, open_spec{}, patience);
  }
  /// Waits until no WORKSPACE is alive.
  void wait_until_idle() {
    while (ask<node_info>(atom::info_v).workspaces > 0)
      ::usleep(2'000);
  }

  /// Runs `flow` on the lane of the node's own requests.
  template <class T>
  T run(awaitable<T> flow) {
    return boost::asio::co_spawn(lane_.context(), std::move(flow), boost::asio::use_future).get();
  }
  [[nodiscard]] recorded_api& requests() {
    return recorded_;
  }
  /// Without a record.
  [[nodiscard]] k8s::streaming_api& api() {
    return *api_;
  }
  [[nodiscard]] guest::host& guests() {
    return *guests_.commands;
  }
  [[nodiscard]] flow_time& time() {
    return time_;
  }

private:
  static constexpr caf::timespan patience = std::chrono::seconds{60};

  static std::unique_ptr<embedded::cluster> start() {
    register_messages();
    auto wanted = embedded::cluster_options{};
    wanted.guest_program = own_folder() / "paddock-guest";
    wanted.log = [](const std::string&) {};
    auto made = embedded::start_cluster(std::move(wanted));
    if (!made)
      give_up(made.error());
    return std::move(*made);
  }
  static workspace::settings settings() {
    auto how = workspace::settings{};
    how.name_space = "default";
    how.template_name = "default";
    how.agent_address = workspace::settings::address::pod_ip;
    how.ingress.verify = false; // the embedded cluster enforces no policy
    return how;
  }

  std::unique_ptr<embedded::cluster> cluster_ = start();
  real_flow_time time_;
  io_lane lane_;
  std::unique_ptr<http_exchange> exchange_ = make_http_exchange(time_);
  std::unique_ptr<k8s::streaming_api> api_ =
    k8s::make_api_client(*exchange_, time_, {cluster_->server(), {}, k8s::fixed_token(cluster_->token()), 30'000, {}}).value();
  recorded_api recorded_{*api_};
  guest::hosts guests_ = guest::make_hosts(time_);
  workspace::open_terminals terminals_{lane_.context().get_executor()};
  workspace::world on_{recorded_, *guests_.commands, time_, settings(), guests_.work.get(), {}, &terminals_};
  flow_group flows_{lane_.context().get_executor()};
  std::unique_ptr<workspace::transitions_port> transitions_ = workspace::make_transitions(on_, flows_);
  std::unique_ptr<workspace::inventory_port> inventory_ = workspace::make_inventory(on_, flows_);
  std::unique_ptr<workspace::guest_port> calls_ =
    workspace::make_guest_calls({*guests_.commands, *guests_.files, *guests_.streams, *guests_.work}, time_, flows_, &terminals_);
  std::unique_ptr<k8s::watch_port> watches_ = k8s::make_watches(recorded_, time_, flows_, k8s::real_chance);
  actor_world world_{*transitions_, *inventory_, *calls_, time_, "default", [](const std::string& text) { std::cerr << text << '\n'; },
                     watches_.get()};
  actor_config config_{{}, 2};
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_};
  node_actor node_;
};

} // namespace paddock::bench
