#include "embedded/flows/pod_worker.hpp"

#include "base/base64.hpp"
#include "base/random.hpp"
#include "embedded/flows/container_log.hpp"
#include "embedded/flows/fault_of.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/pod_happenings.hpp"
#include "embedded/pod_log.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <map>
#include <system_error>

namespace paddock::embedded {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
using boost::asio::awaitable;
using nlohmann::json;
using pairs = std::vector<std::pair<std::string, std::string>>;

constexpr auto stop_grace = 2500ms; // of every process when the kubelet stops
constexpr auto gone_grace = 2s;     // of a process whose pod was removed by force
constexpr auto most_reports = std::size_t{16};

bool worth_repeating(const call_failure& x) {
  return x.status == 0 || x.status == 429 || x.status >= 500;
}

/// The values of a ConfigMap or Secret.
pairs values_of(const json& object, bool secret) {
  pairs result;
  if (const auto& data = value_in(object, "/data"); data.is_object())
    for (const auto& [key, value] : data.items())
      if (value.is_string())
        result.emplace_back(key, secret ? from_base64(value.get<std::string>()).value_or("") : value.get<std::string>());
  return result;
}

} // namespace

pod_worker::pod_worker(node_context& node, json pod, std::function<bool(const std::string&, const pod_worker&)> disk_held) :
  node_(node), pod_(std::move(pod)), disk_held_(std::move(disk_held)), wake_(node.lane), to_report_(node.lane) {
}

std::string pod_worker::title() const {
  return namespace_of(pod_) + "/" + name_of(pod_);
}

// -- what is wanted -----------------------------------------------------------

bool pod_worker::ending() const {
  return gone_ || stopped_ || terminating(pod_);
}

void pod_worker::saw(json pod, bool gone) {
  pod_ = std::move(pod);
  gone_ = gone_ || gone;
  wake_.raise();
}

void pod_worker::look_again() {
  wake_.raise();
}

void pod_worker::stop() {
  stopped_ = true;
  wake_.raise();
}

/// So long, or until the pod is to be ended.
awaitable<void> pod_worker::rest(time_source::clock::duration how_long) {
  auto until = node_.time().now() + how_long;
  while (!ending() && node_.time().now() < until)
    co_await wake_.wait_until(until);
}

// -- the life of the pod ------------------------------------------------------

awaitable<void> pod_worker::run() {
  auto both = serve_on() || report_all();
  co_await std::move(both);
  release();
  co_await remove_object();
}

awaitable<void> pod_worker::serve_on() {
  auto wait = back_off{1s, 30s};
  for (;;) {
    auto fault = co_await fault_of(serve());
    if (fault.empty())
      co_return;
    node_.options.log("pod " + title() + ": " + fault);
    // That its containers end now says nothing of how they did.
    silent_ = true;
    co_await end_containers();
    runners_.clear();
    release();
    begin_state();
    silent_ = false;
    say_waiting("CreateContainerError", fault);
    co_await rest(wait.next());
    if (ending())
      co_return;
  }
}

void pod_worker::begin_state() {
  state_ = found_state(pod_);
  state_.host_address = "127.0.0.1";
}

awaitable<void> pod_worker::serve() {
  begin_state();
  if (auto why = unfit_name(pod_)) {
    // Before any of them becomes part of a path; nothing but the pod's end changes it.
    say_waiting("CreateContainerConfigError", *why);
    while (!ending())
      co_await wake_.wait();
    co_return;
  }
  say_waiting(state_.init.empty() ? "ContainerCreating" : "PodInitializing", "");
  logs_ = log_folder(node_.options.folder / "logs", namespace_of(pod_), name_of(pod_), uid_of(pod_));
  node_.logs_in_use.insert(logs_);
  auto disk = co_await find_disk();
  if (!disk)
    co_return;
  port_ = guest_port(pod_);
  state_.address = node_.addresses.take(text_in(pod_, "/status/podIP"), port_);
  auto asks = co_await read_request();
  if (!asks)
    co_return;
  auto initialized = co_await run_init(*asks);
  if (initialized && !ending())
    for (std::size_t i = 0; i < asks->containers.size(); ++i)
      start(asks->containers[i], state_.containers[i], i, false);
  while (!ending())
    co_await wake_.wait();
  co_await end_containers();
}

/// The folder of the claim, or one that goes with the pod. False: it is to be ended.
awaitable<bool> pod_worker::find_disk() {
  auto wait = back_off{100ms, 10s};
  auto wanted = workspace_claim(pod_);
  auto name_space = namespace_of(pod_);
  while (!ending()) {
    auto claim = wanted ? node_.claims.objects().find(name_space, *wanted) : nullptr;
    if (wanted && (!claim || terminating(*claim) || disk_held_(uid_of(*claim), *this))) {
      // The claim's arrival raises the wake-up.
      say_waiting("ContainerCreating", "waits for the claim " + *wanted);
      co_await wake_.wait_until(node_.time().now() + wait.next());
      continue;
    }
    // A name of its own: an older pod of the name may not have ended yet.
    if (own_.empty())
      own_ = node_.options.folder / "pods" / (namespace_of(pod_) + "_" + name_of(pod_) + "." + new_name_suffix(8));
    auto error = std::error_code{};
    fs::create_directories(own_ / "home", error);
    if (!error && claim) {
      disk_ = uid_of(*claim);
      workspace_ = node_.disks.take(disk_, error);
    } else if (!error) {
      workspace_ = own_ / "scratch";
      fs::create_directory(workspace_, error);
    }
    if (!error) {
      if (claim && text_in(*claim, "/status/phase") != "Bound")
        node_.flows.start([&node = node_, call = report_bound(*claim)] { return until_cancelled(say_bound(node, call)); });
      co_return true;
    }
    if (!disk_.empty())
      node_.disks.release(std::exchange(disk_, {}));
    node_.options.log("pod " + title() + ": the folder of the workspace: " + error.message());
    say_waiting("FailedMount", "the folder of the workspace: " + error.message());
    co_await rest(wait.next());
  }
  co_return false;
}

/// What the pod asks for, once that can be said. Nothing: it is to be ended.
awaitable<std::optional<pod_request>> pod_worker::read_request() {
  auto wait = back_off{500ms, 10s};
  while (!ending()) {
    auto look = co_await fetch_data();
    auto got = look ? read_pod_request(pod_, {node_.options.node, state_.host_address, state_.address}, *look)
                    : tl::expected<pod_request, std::string>{tl::unexpected{look.error()}};
    if (got)
      co_return std::move(*got);
    say_waiting("CreateContainerConfigError", got.error());
    if (data_needed(pod_).empty())
      co_await wake_.wait(); // nothing but the pod's end changes it
    else
      co_await rest(wait.next());
  }
  co_return std::nullopt;
}

/// The ConfigMaps and Secrets that the pod names, as they are now. One that cannot be read is no missing one: the pod may do
/// without it only where the server says that it is not there.
awaitable<tl::expected<data_lookup, std::string>> pod_worker::fetch_data() {
  auto known = std::make_shared<std::map<data_reference, pairs>>();
  auto wanted = data_needed(pod_);
  for (const auto& x : wanted) {
    auto got =
      co_await node_.client.send(k8s::get("/api/v1/namespaces/" + namespace_of(pod_) + (x.secret ? "/secrets/" : "/configmaps/") + x.name));
    if (got)
      (*known)[x] = values_of(*got, x.secret);
    else if (got.error().status != 404)
      co_return tl::unexpected{std::string{x.secret ? "Secret " : "ConfigMap "} + x.name + " cannot be read: " + got.error().message};
  }
  co_return data_lookup{[known](const data_reference& x) -> std::optional<pairs> {
    auto found = known->find(x);
    return found == known->end() ? std::nullopt : std::optional{found->second};
  }};
}

/// One after another. False: one failed for good, or the pod is to be ended.
awaitable<bool> pod_worker::run_init(const pod_request& asks) {
  for (std::size_t i = 0; i < asks.init.size(); ++i) {
    auto& runner = start(asks.init[i], state_.init[i], i, true);
    while (!ending() && !runner.over() && !init_done(pod_, runner.state()))
      co_await wake_.wait();
    if (ending() || !init_done(pod_, runner.state()))
      co_return false;
  }
  co_return true;
}

container_runner& pod_worker::start(const container_request& what, container_state found, std::size_t index, bool init) {
  auto where = container_place{pod_, state_.address, port_, own_ / "home", workspace_, logs_};
  auto slot = runners_.size();
  auto changed = [this, slot, index, init] {
    (init ? state_.init : state_.containers)[index] = runners_[slot]->state();
    say();
    wake_.raise();
  };
  runners_.push_back(std::make_unique<container_runner>(node_, what, std::move(where), std::move(found), changed));
  auto* runner = runners_.back().get();
  node_.flows.start([runner] { return until_cancelled(runner->run()); });
  return *runner;
}

// -- its end ------------------------------------------------------------------

time_source::clock::time_point pod_worker::end_of_grace() const {
  auto until = ending_since_ + (gone_ ? time_source::clock::duration{gone_grace} : grace_of(pod_));
  return stopped_ ? std::min<time_source::clock::time_point>(until, ending_since_ + stop_grace) : until;
}

/// The containers together, then the init containers that stay, the latest first.
awaitable<void> pod_worker::end_containers() {
  ending_since_ = node_.time().now();
  if (!stopped_ && terminating(pod_))
    for (const auto& x : state_.containers)
      if (x.now == container_state::at::running)
        node_.options.tell(pod_, {false, "Killing", "Stopping container " + x.name, container_field(x.name, false)});
  std::vector<container_runner*> together;
  std::vector<container_runner*> after;
  for (const auto& x : runners_)
    (x->stays() ? after : together).push_back(x.get());
  co_await end_all(together);
  while (!after.empty()) {
    auto last = std::vector{after.back()};
    after.pop_back();
    co_await end_all(last);
  }
}

awaitable<void> pod_worker::end_all(std::vector<container_runner*> which) {
  for (;;) {
    auto left = false;
    for (auto* x : which)
      if (!x->over()) {
        left = true;
        x->end(end_of_grace());
      }
    if (!left)
      co_return;
    // The end of one, or a shorter grace.
    co_await wake_.wait();
  }
}

void pod_worker::release() {
  node_.addresses.release(std::exchange(state_.address, {}));
  if (!own_.empty())
    node_.disks.discard(std::exchange(own_, {}));
  if (auto mine = node_.logs_in_use.find(std::exchange(logs_, {})); mine != node_.logs_in_use.end())
    node_.logs_in_use.erase(mine);
  for (const auto& old : old_logs(node_.options.folder / "logs", node_.logs_in_use))
    node_.disks.discard(old);
  if (!disk_.empty())
    node_.disks.release(std::exchange(disk_, {}));
}

/// The last word on a pod whose processes have ended.
awaitable<void> pod_worker::remove_object() {
  auto wait = back_off{100ms, 5s};
  while (!gone_ && !stopped_ && terminating(pod_)) {
    auto got = co_await node_.client.send(finish_pod(pod_));
    if (got || !worth_repeating(got.error()))
      co_return;
    co_await wake_.wait_until(node_.time().now() + wait.next());
  }
}

// -- what is reported ---------------------------------------------------------

void pod_worker::say_waiting(const std::string& reason, const std::string& message) {
  for (auto* all : {&state_.init, &state_.containers})
    for (auto& x : *all)
      if (x.now == container_state::at::waiting) {
        x.reason = reason;
        x.message = message;
      }
  say();
}

/// A pod that is to be ended is not reported any more.
void pod_worker::say() {
  const auto& latest = reports_.empty() ? reported_ : reports_.back();
  if (silent_ || ending() || state_ == latest)
    return;
  for (auto& x : happenings_between(latest, state_))
    node_.options.tell(pod_, std::move(x));
  if (reports_.size() >= most_reports)
    reports_.back() = state_;
  else
    reports_.push_back(state_);
  to_report_.raise();
}

awaitable<void> pod_worker::report_all() {
  for (;;) {
    while (reports_.empty())
      co_await to_report_.wait();
    reported_ = std::move(reports_.front());
    reports_.pop_front();
    co_await send_report(reported_);
  }
}

awaitable<void> pod_worker::send_report(pod_state state) {
  auto wait = back_off{100ms, 2s};
  // Newer news replace what cannot be said.
  while (!ending() && reports_.size() < most_reports) {
    auto got = co_await node_.client.send(report_pod(pod_, state, node_.time().wall()));
    if (got) {
      node_.pods.took(std::move(*got));
      co_return;
    }
    if (!worth_repeating(got.error())) {
      if (got.error().status != 404 && got.error().status != 409)
        node_.options.log("status of pod " + title() + ": " + got.error().message);
      co_return;
    }
    co_await node_.time().sleep_until(node_.time().now() + wait.next());
  }
}

/// Only for people who look: nothing waits for it.
awaitable<void> pod_worker::say_bound(node_context& node, k8s::call report) {
  auto got = co_await node.client.send(std::move(report));
  if (got)
    node.claims.took(std::move(*got));
}

} // namespace paddock::embedded
