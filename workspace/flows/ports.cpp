#include "workspace/flows/ports.hpp"

#include "workspace/flows/carried.hpp"
#include "workspace/flows/inventory.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace paddock::workspace {

namespace {

namespace asio = boost::asio;

template <class T>
using verb = std::function<asio::awaitable<transition<T>>(session)>;

template <class T>
asio::awaitable<void> carry_out(verb<T> act, question_name name, session before, transitions_port::then<T> to) {
  // One turn of the strand, so that a verb withdrawn at once does not begin.
  co_await asio::post(asio::use_awaitable);
  auto end = transition<T>{before, tl::unexpected{unasked(name)}};
  const auto over = co_await withdrawn();
  if (!over) {
    try {
      auto got = co_await act(before);
      end = std::move(got);
    } catch (const std::exception& x) {
      end.answer = tl::unexpected{broken(name, x.what())};
    }
  }
  to(std::move(end));
}

asio::awaitable<void> carry_reread(world& on, id which, session now, deadline until,
                                   std::function<void(result<std::optional<found_pod>>)> to) {
  co_await asio::post(asio::use_awaitable);
  auto end = result<std::optional<found_pod>>{};
  try {
    auto got = co_await workspace::reread(on, std::move(which), std::move(now), until);
    end = std::move(got);
  } catch (const std::exception&) {
    // Nobody can tell.
  }
  to(std::move(end));
}

/// What one verb acts on: the world, and what a WATCH shows meanwhile.
struct verb_world {
  verb_world(const world& of, asio::any_io_executor lane) : seen(std::move(lane)), on(of) {
    on.seen = &seen;
  }
  sightings seen;
  world on;
};
using shared_world = std::shared_ptr<verb_world>;

class transitions final : public transitions_port {
public:
  transitions(world& on, flow_group& flows) : on_(on), flows_(flows) {
  }

  void open(ticket name, id which, open_options how, session before, deadline until, then<opened> to) override {
    begin<opened>(name, {"open", which.sandbox_name()}, std::move(before), std::move(to),
                  [in = world_of(name), which, how, until](session x) { return workspace::open(in->on, which, how, std::move(x), until); });
  }
  void take_up(ticket name, id which, session before, deadline until, then<done> to) override {
    begin<done>(name, {"take_up", which.sandbox_name()}, std::move(before), std::move(to),
                [in = world_of(name), which, until](session x) { return workspace::take_up(in->on, which, std::move(x), until); });
  }
  void suspend(ticket name, id which, suspend_options how, session before, deadline until, then<done> to) override {
    begin<done>(name, {"suspend", which.sandbox_name()}, std::move(before), std::move(to),
                [&on = on_, which, how, until](session x) { return workspace::suspend(on, which, how, std::move(x), until); });
  }
  void resume(ticket name, id which, open_options how, session before, deadline until, then<opened> to) override {
    begin<opened>(
      name, {"resume", which.sandbox_name()}, std::move(before), std::move(to),
      [in = world_of(name), which, how, until](session x) { return workspace::resume(in->on, which, how, std::move(x), until); });
  }
  void remove(ticket name, id which, remove_options how, session before, deadline until, then<done> to) override {
    begin<done>(name, {"remove", which.sandbox_name()}, std::move(before), std::move(to),
                [&on = on_, which, how, until](session x) { return workspace::remove(on, which, how, std::move(x), until); });
  }
  void reset_epoch(ticket name, id which, epoch_reset what, session before, deadline until, then<done> to) override {
    begin<done>(name, {"reset_epoch", which.sandbox_name()}, std::move(before), std::move(to),
                [&on = on_, which, what, until](session x) { return workspace::reset_epoch(on, which, what, std::move(x), until); });
  }
  void stamp(ticket name, id which, session before, deadline until, then<stamped> to) override {
    begin<stamped>(name, {"stamp", which.sandbox_name()}, std::move(before), std::move(to),
                   [&on = on_, which, until](session x) { return workspace::stamp(on, which, std::move(x), until); });
  }
  void refresh(ticket name, id which, session before, deadline until, then<done> to) override {
    begin<done>(name, {"refresh", which.sandbox_name()}, std::move(before), std::move(to),
                [&on = on_, which, until](session x) { return workspace::refresh(on, which, std::move(x), until); });
  }
  /// Withdrawn it knows of no other pod.
  void reread(ticket name, id which, session now, deadline until, std::function<void(result<std::optional<found_pod>>)> to) override {
    if (!flows_.start(name, [&on = on_, which, now, until, to] { return carry_reread(on, which, now, until, to); }))
      asio::post(flows_.executor(), [to = std::move(to)] { to(std::optional<found_pod>{}); });
  }
  /// Withdrawn before it began it answers the original failure: nothing that explains it was read.
  void explain(ticket name, id which, std::string operation, session before, failure original, deadline until, then<done> to) override {
    auto answer = [original, to = std::move(to)](transition<done> x) {
      const auto* why = x.answer ? nullptr : std::get_if<k8s::failure>(&x.answer.error());
      if (why != nullptr && std::holds_alternative<k8s::cancelled>(*why))
        x.answer = tl::unexpected{original};
      to(std::move(x));
    };
    begin<done>(name, {"explain", which.sandbox_name()}, std::move(before), std::move(answer),
                [&on = on_, which, operation, original, until](session x) {
                  return workspace::explain(on, which, operation, std::move(x), original, until);
                });
  }
  void cancel(ticket name) override {
    flows_.cancel(name);
  }
  void saw(ticket name, k8s::sighting x) override {
    auto lock = std::lock_guard{guard_};
    const auto found = watched_.find(name);
    if (auto in = found == watched_.end() ? nullptr : found->second.lock())
      asio::post(flows_.executor(), [in, x = std::move(x)]() mutable { in->seen.put(std::move(x)); });
  }

private:
  /// What the verb of this ticket acts on; it lives as long as the verb.
  shared_world world_of(ticket name) {
    auto made = std::make_shared<verb_world>(on_, flows_.executor());
    auto lock = std::lock_guard{guard_};
    std::erase_if(watched_, [](const auto& x) { return x.second.expired(); });
    watched_[name] = made;
    return made;
  }

  template <class T>
  void begin(ticket name, question_name what, session before, then<T> to, verb<T> act) {
    what.writes = true;
    if (flows_.start(name, [act = std::move(act), what, before, to] { return carry_out<T>(act, what, before, to); }))
      return;
    asio::post(flows_.executor(), [what = std::move(what), before = std::move(before), to = std::move(to)]() mutable {
      to({std::move(before), tl::unexpected{unasked(what)}});
    });
  }

  world& on_;
  flow_group& flows_;
  std::mutex guard_; // of what follows
  std::map<ticket, std::weak_ptr<verb_world>> watched_;
};

class inventory final : public inventory_port {
public:
  inventory(world& on, flow_group& flows) : on_(on), flows_(flows) {
  }
  void list(deadline until, std::function<void(result<std::vector<summary>>)> to) override {
    begin<std::vector<summary>>({"list", "sandboxes"}, std::move(to), [&on = on_, until] { return workspace::list(on, until); });
  }
  void get(id which, deadline until, std::function<void(result<summary>)> to) override {
    begin<summary>({"get", which.sandbox_name()}, std::move(to), [&on = on_, which, until] { return workspace::get(on, which, until); });
  }

private:
  template <class T>
  void begin(question_name what, std::function<void(result<T>)> to, std::function<asio::awaitable<result<T>>()> read) {
    if (flows_.start([read = std::move(read), what, to] { return carry<T>(read, what, to); }) != 0)
      return;
    asio::post(flows_.executor(), [what = std::move(what), to = std::move(to)] { to(tl::unexpected{unasked(what)}); });
  }

  world& on_;
  flow_group& flows_;
};

} // namespace

std::unique_ptr<transitions_port> make_transitions(world& on, flow_group& flows) {
  return std::make_unique<transitions>(on, flows);
}

std::unique_ptr<inventory_port> make_inventory(world& on, flow_group& flows) {
  return std::make_unique<inventory>(on, flows);
}

} // namespace paddock::workspace
