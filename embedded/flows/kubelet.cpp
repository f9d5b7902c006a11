#include "embedded/flows/kubelet.hpp"

#include "embedded/flows/informer_set.hpp"
#include "embedded/pod_facts.hpp"

#include <boost/asio/dispatch.hpp>

#include <algorithm>

namespace paddock::embedded {

using namespace std::chrono_literals;
using boost::asio::awaitable;

kubelet::kubelet(control_client& client, informer& pods, informer& claims, http_exchange& exchange, guest::host& guests,
                 boost::asio::any_io_executor lane, kubelet_options options) :
  node_{
    client,          pods, claims, exchange, guests, lane, options, {}, disk_store{options.folder}, cgroup_tree::open(options.family), {},
    flow_group{lane}},
  one_left_(lane) {
  pods.on_change([this](const object_change& x) { pod_changed(x); });
  claims.on_change([this](const object_change& x) { claim_changed(x); });
}

void kubelet::pod_changed(const object_change& change) {
  const auto& pod = change.after ? *change.after : *change.before;
  if (auto known = workers_.find(uid_of(pod)); known != workers_.end()) {
    auto worker = known->second;
    worker->saw(pod, !change.after);
    return;
  }
  if (!change.after || stopping_ || text_in(pod, "/spec/nodeName") != node_.options.node)
    return;
  // A pod that ended stays as it is until it is deleted.
  if (ended(pod) && !terminating(pod))
    return;
  auto held = [this](const std::string& disk, const pod_worker& asker) { return held_by_ending(disk, asker); };
  auto worker = std::make_shared<pod_worker>(node_, pod, held);
  workers_[uid_of(pod)] = worker;
  node_.flows.start([this, worker, uid = uid_of(pod)] { return until_cancelled(work(worker, uid)); });
}

void kubelet::claim_changed(const object_change& change) {
  if (change.after)
    nudge_waiting();
  else if (node_.disks.has(uid_of(*change.before)))
    node_.flows.start([this, claim = *change.before] { return until_cancelled(remove_when_gone(claim)); });
}

/// What the watch no longer knows need not have gone: the server is asked until it says so, or the claim is known again.
awaitable<void> kubelet::remove_when_gone(nlohmann::json claim) {
  auto wait = back_off{100ms, 10s};
  while (!node_.claims.objects().find_uid(uid_of(claim))) {
    auto got = co_await node_.client.send(list_claim(claim));
    auto there = got ? listed_claims(*got) : std::nullopt;
    if (there && !there->contains(uid_of(claim))) {
      node_.disks.doom(uid_of(claim));
      co_return;
    }
    co_await node_.time().sleep_until(node_.time().now() + wait.next());
  }
}

/// Those without a disk may wait for one.
void kubelet::nudge_waiting() {
  for (const auto& [uid, worker] : workers_)
    if (worker->disk().empty())
      worker->look_again();
}

awaitable<void> kubelet::work(worker_ptr worker, std::string uid) {
  co_await worker->run();
  workers_.erase(uid);
  one_left_.raise();
  nudge_waiting();
}

/// Whether a pod that is to be ended still uses the disk.
bool kubelet::held_by_ending(const std::string& disk, const pod_worker& asker) const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [&](const auto& x) { return x.second.get() != &asker && x.second->disk() == disk && x.second->ending(); });
}

awaitable<void> kubelet::run() {
  // The disks before the claims: one that is made meanwhile is none of them.
  auto disks = node_.options.sweep ? node_.disks.all() : std::set<std::string>{};
  auto wait = back_off{100ms, 10s};
  while (!disks.empty()) {
    auto got = co_await node_.client.send(k8s::get(collections::claims));
    if (auto there = got ? listed_claims(*got) : std::nullopt) {
      for (const auto& disk : disks)
        if (!there->contains(disk))
          node_.disks.doom(disk);
      co_return;
    }
    co_await node_.time().sleep_until(node_.time().now() + wait.next());
  }
}

void kubelet::stop(std::function<void()> ended) {
  boost::asio::dispatch(node_.lane, [this, ended = std::move(ended)] {
    stopping_ = true;
    for (const auto& [uid, worker] : workers_)
      worker->stop();
    // The workers end by themselves, with their processes; nothing is cancelled before.
    node_.flows.start([this, ended] { return until_cancelled(close_when_idle(ended)); });
  });
}

awaitable<void> kubelet::close_when_idle(std::function<void()> ended) {
  while (!workers_.empty())
    co_await one_left_.wait();
  node_.flows.close(std::move(ended));
}

} // namespace paddock::embedded
