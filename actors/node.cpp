#include "actors/node.hpp"

#include "actors/supervise.hpp"
#include "actors/translate.hpp"
#include "base/random.hpp"
#include "cluster/shard_map.hpp"
#include "messages/error.hpp"

namespace paddock {

namespace {

constexpr std::size_t most_readings = 256;

caf::error no_tasks() {
  return to_error(make_problem(verdict::refused, "NotAllowed", "this node runs no tasks"));
}

} // namespace

node_state::node_state(node_actor::pointer self, actor_world& world, node_info about) :
  self_(self), world_(world), about_(std::move(about)), tasks_(self, world) {
}

node_state::~node_state() {
  for (const auto& shard : shards_)
    if (shard)
      caf::anon_send_exit(shard, caf::exit_reason::kill);
  if (watch_)
    caf::anon_send_exit(watch_, caf::exit_reason::kill);
}

node_actor::behavior_type node_state::make_behavior() {
  report_crashes(self_, world_, "NODE");
  self_->set_down_handler([this](const caf::down_msg& x) { down(x); });
  shards_.resize(about_.shards);
  for (auto& shard : shards_)
    start_shard(shard);
  start_watch();
  return {
    [this](atom::info) { return info(); },
    [this](atom::open, std::string& which, open_spec& what, caf::timespan budget) {
      return pass<opened_view>(std::move(which), atom::open_v, std::move(what), budget);
    },
    [this](atom::suspend, std::string& which, suspend_spec& what, caf::timespan budget) {
      return pass<workspace_view>(std::move(which), atom::suspend_v, std::move(what), budget);
    },
    [this](atom::resume, std::string& which, open_spec& what, caf::timespan budget) {
      return pass<opened_view>(std::move(which), atom::resume_v, std::move(what), budget);
    },
    [this](atom::remove, std::string& which, remove_spec& what, caf::timespan budget) {
      return pass<void>(std::move(which), atom::remove_v, std::move(what), budget);
    },
    [this](atom::reset_epoch, std::string& which, reset_spec& what, caf::timespan budget) {
      return pass<workspace_view>(std::move(which), atom::reset_epoch_v, std::move(what), budget);
    },
    [this](atom::get, const std::string& which, caf::timespan budget) { return get(which, budget); },
    [this](atom::list, caf::timespan budget) { return list(budget); },
    [this](atom::call, std::string& which, call_spec& what, const sink_actor& sink, caf::timespan budget) {
      return pass<call_actor>(std::move(which), atom::call_v, std::move(what), sink, budget);
    },
    [this](atom::ask, std::string& which, guest_question& what, caf::timespan budget) {
      return pass<guest_answer>(std::move(which), atom::ask_v, std::move(what), budget);
    },
    [this](atom::pin, std::string& which, pin_spec& what) {
      return pass<pinned_guest_actor>(std::move(which), atom::pin_v, std::move(what));
    },
    [this](atom::policy, std::string& which, policy_request& what, caf::timespan budget) {
      return pass<policy_view>(std::move(which), atom::policy_v, std::move(what), budget);
    },
    [this](atom::refresh, std::string& which, caf::timespan budget) {
      return pass<workspace_view>(std::move(which), atom::refresh_v, budget);
    },
    [this](atom::events, std::string& which) { return pass<std::vector<workspace_event>>(std::move(which), atom::events_v); },
    [this](atom::subscribe, std::string& which, const event_sink_actor& sink) {
      return pass<std::vector<workspace_event>>(std::move(which), atom::subscribe_v, sink);
    },
    [this](atom::acquire, task_spec& what, const task_holder_actor& holder, caf::timespan budget) {
      return acquire(std::move(what), holder, budget);
    },
    [this](atom::release, std::string& selector, caf::timespan budget) -> caf::result<released_view> {
      if (world_.tasks == nullptr)
        return no_tasks();
      return tasks_.release(std::move(selector), within(budget));
    },
    [this](atom::capacity, const std::string& pool, caf::timespan budget) -> caf::result<capacity_view> {
      if (world_.tasks == nullptr)
        return no_tasks();
      return tasks_.capacity(pool, within(budget));
    },
    [this](atom::stop) -> caf::result<void> {
      // A client of another process has no say in the life of this one.
      if (const auto& from = self_->current_sender(); from && from->node() != self_->node())
        return to_error(make_problem(verdict::refused, "NotAllowed", "a node is stopped by a signal to its process"));
      stop();
      return caf::unit;
    },
    [this](atom::stamp, const std::string& sandbox, bool came_so) { stamp(sandbox, came_so); },
    [this](atom::landed, std::uint64_t ticket, const landed& x) { land(ticket, x); },
    [this](atom::restart) { start_watch(); },
  };
}

tl::expected<shard_actor, caf::error> node_state::shard_of(const std::string& which) const {
  if (stopping_)
    return tl::unexpected{to_error(make_problem(verdict::refused, "NodeStopping", "the node is stopping; nothing was done"))};
  if (auto parsed = workspace::id::parse(which); !parsed)
    return tl::unexpected{to_error(to_problem(workspace::failure{parsed.error()}))};
  return shards_[cluster::shard_of(which, about_.shards)];
}

template <class T, class... Ts>
caf::result<T> node_state::pass(std::string which, Ts... xs) {
  auto shard = shard_of(which);
  if (!shard)
    return shard.error();
  const auto verb = std::get<0>(std::tie(xs...));
  return std::apply(
    [&](auto&, auto&... rest) -> caf::result<T> { return self_->delegate(*shard, verb, std::move(which), std::move(rest)...); },
    std::tie(xs...));
}

caf::result<workspace_view> node_state::get(const std::string& which, caf::timespan budget) {
  auto parsed = workspace::id::parse(which);
  if (!parsed)
    return to_error(to_problem(workspace::failure{parsed.error()}));
  if (reading_.size() >= most_readings)
    return to_error(make_problem(verdict::refused, "TooManyWaiting", "too many inventories are being read; nothing was done"));
  auto waiting = self_->make_response_promise<workspace_view>();
  const auto ticket = world_.next_ticket();
  reading_.emplace(ticket, waiting);
  const mail::weak<node_actor> me{caf::actor_cast<node_actor>(self_)};
  world_.inventory.get(*parsed, within(budget), [me, ticket](seen_one x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const seen_one>(std::move(x))});
  });
  return waiting;
}

caf::result<std::vector<workspace_view>> node_state::list(caf::timespan budget) {
  if (reading_.size() >= most_readings)
    return to_error(make_problem(verdict::refused, "TooManyWaiting", "too many inventories are being read; nothing was done"));
  auto waiting = self_->make_response_promise<std::vector<workspace_view>>();
  const auto ticket = world_.next_ticket();
  reading_.emplace(ticket, waiting);
  const mail::weak<node_actor> me{caf::actor_cast<node_actor>(self_)};
  world_.inventory.list(within(budget), [me, ticket](seen_list x) {
    me.tell(atom::landed_v, std::uint64_t{ticket}, landed{std::make_shared<const seen_list>(std::move(x))});
  });
  return waiting;
}

caf::result<task_actor> node_state::acquire(task_spec what, const task_holder_actor& holder, caf::timespan budget) {
  if (stopping_)
    return to_error(make_problem(verdict::refused, "NodeStopping", "the node is stopping; nothing was done"));
  if (world_.tasks == nullptr)
    return no_tasks();
  auto named = workspace::task_name(new_uuid());
  const auto& shard = shards_[cluster::shard_of(named, about_.shards)];
  return self_->delegate(shard, atom::acquire_v, std::move(named), std::move(what), holder, tasks_.gate(), tasks_.fence(), budget);
}

void node_state::land(std::uint64_t ticket, const landed& x) {
  if (tasks_.land(ticket, x))
    return;
  auto found = reading_.extract(ticket);
  if (!found)
    return;
  if (auto* all = std::get_if<promise<std::vector<workspace_view>>>(&found.mapped())) {
    const auto& seen = *static_cast<const seen_list*>(x.value.get());
    if (!seen) {
      all->deliver(to_error(to_problem(seen.error())));
      return;
    }
    return add_sessions(std::move(*all), *seen);
  }
  auto one = std::get<promise<workspace_view>>(found.mapped());
  const auto& seen = *static_cast<const seen_one*>(x.value.get());
  if (!seen) {
    one.deliver(to_error(to_problem(seen.error())));
    return;
  }
  // What the session of this node adds, where one is alive.
  mail::ask(self_, shards_[cluster::shard_of(seen->workspace, about_.shards)], std::chrono::seconds{10}, atom::view_v, seen->workspace)
    .then([one, summary = *seen](const workspace_view& held) mutable { one.deliver(to_view(summary, held)); },
          [one, summary = *seen](const caf::error&) mutable { one.deliver(to_view(summary, {})); });
}

/// What the sessions of this node add to each row, where they are alive; the others are not woken.
void node_state::add_sessions(promise<std::vector<workspace_view>> to, const std::vector<workspace::summary>& seen) {
  struct gathering {
    promise<std::vector<workspace_view>> waiting;
    std::vector<workspace_view> rows;
    std::size_t left;
  };
  if (seen.empty())
    return to.deliver(std::vector<workspace_view>{});
  auto all = std::make_shared<gathering>(gathering{std::move(to), {}, seen.size()});
  all->rows.reserve(seen.size());
  for (const auto& one : seen)
    all->rows.push_back(to_view(one, {}));
  const auto ended = [all] {
    if (--all->left == 0)
      all->waiting.deliver(std::move(all->rows));
  };
  for (std::size_t i = 0; i < seen.size(); ++i)
    mail::ask(self_, shards_[cluster::shard_of(seen[i].workspace, about_.shards)], std::chrono::seconds{10}, atom::view_v,
              seen[i].workspace)
      .then(
        [all, ended, i, summary = seen[i]](const workspace_view& held) {
          all->rows[i] = to_view(summary, held);
          ended();
        },
        [ended](const caf::error&) { ended(); });
}

caf::result<node_info> node_state::info() {
  struct counting {
    promise<node_info> waiting;
    node_info out;
    std::size_t left;
  };
  auto count = std::make_shared<counting>(counting{self_->make_response_promise<node_info>(), about_, shards_.size()});
  auto one = [count](std::uint64_t alive) {
    count->out.workspaces += alive;
    if (--count->left == 0)
      count->waiting.deliver(count->out);
  };
  for (const auto& shard : shards_)
    mail::ask(self_, shard, std::chrono::seconds{5}, atom::count_v).then(one, [one](const caf::error&) mutable { one(0); });
  return count->waiting;
}

void node_state::start_shard(shard_actor& slot) {
  slot = self_->spawn<shard_impl>(std::ref(world_));
  self_->monitor(slot);
  if (watch_)
    mail::tell(self_, slot, atom::watch_v, watch_);
  ask_for_stamps(); // what the one before was to stamp is told once more
}

void node_state::ask_for_stamps() {
  if (watch_ && world_.stamps)
    mail::tell(self_, watch_, atom::stamp_v, world_.stamps->below, caf::actor_cast<stamper_actor>(self_));
}

void node_state::start_watch() {
  if (world_.watches == nullptr || watch_ || stopping_)
    return;
  watch_ = self_->spawn<watch_impl>(std::ref(world_), k8s::sandboxes_of(about_.name_space));
  watch_started_ = world_.time.now();
  self_->monitor(watch_);
  ask_for_stamps();
  for (const auto& shard : shards_)
    if (shard)
      mail::tell(self_, shard, atom::watch_v, watch_);
}

void node_state::stamp(const std::string& sandbox, bool came_so) {
  const auto which = workspace::id::of_sandbox(sandbox);
  if (!which)
    return;
  if (const auto shard = shard_of(which->text()); shard && *shard)
    mail::tell(self_, *shard, atom::stamp_v, which->text(), came_so);
}

void node_state::watch_down() {
  watch_ = nullptr;
  if (world_.time.now() - watch_started_ >= healthy_life)
    watch_crashes_ = 0;
  mail::tell_after(self_, back_off(++watch_crashes_), caf::actor_cast<node_actor>(self_), atom::restart_v);
}

void node_state::down(const caf::down_msg& x) {
  tasks_.down(x.source);
  if (watch_ && x.source == watch_.address())
    return watch_down();
  auto left = false;
  for (auto& shard : shards_) {
    if (shard && shard.address() == x.source) {
      shard = nullptr;
      if (!stopping_)
        start_shard(shard);
    }
    left = left || shard;
  }
  if (stopping_ && !left)
    self_->quit();
}

void node_state::stop() {
  stopping_ = true;
  for (const auto& shard : shards_)
    if (shard)
      mail::tell(self_, shard, atom::stop_v);
}

deadline node_state::within(caf::timespan budget) const {
  return {world_.time, std::chrono::duration_cast<time_source::clock::duration>(budget)};
}

} // namespace paddock
