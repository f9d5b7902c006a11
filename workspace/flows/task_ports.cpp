#include "workspace/flows/task_ports.hpp"

#include "workspace/flows/carried.hpp"

#include <boost/asio/post.hpp>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

class tasks final : public task_port {
public:
  tasks(task_world& on, flow_group& flows) : on_(on), flows_(flows) {
  }

  void plan(ticket name, task_request what, deadline until, then<task_plan> to) override {
    begin<task_plan>(name, {"planTask", what.name}, std::move(to), [&on = on_, what, until] { return plan_task(on, what, until); });
  }
  void make(ticket name, task_plan what, then<held_task> to) override {
    begin<held_task>(name, {"createTask", what.what.name, true}, std::move(to), [&on = on_, what] { return make_task(on, what); });
  }
  void probe(ticket name, held_task which, deadline until, then<done> to) override {
    begin<done>(name, {"probeTask", which.what.name}, std::move(to), [&on = on_, which, until] { return probe_task(on, which, until); });
  }
  void release(ticket name, held_task which, deadline until, then<done> to) override {
    begin<done>(name, {"destroyTask", which.what.name, true}, std::move(to),
                [&on = on_, which, until] { return release_task(on, which, until); });
  }
  void renew(ticket name, held_task which, deadline until, then<done> to) override {
    begin<done>(name, {"renewTask", which.what.name, true}, std::move(to),
                [&on = on_, which, until] { return renew_task(on, which, until); });
  }
  void reread(ticket name, held_task which, deadline until, then<std::optional<found_pod>> to) override {
    begin<std::optional<found_pod>>(name, {"rereadTask", which.what.name}, std::move(to),
                                    [&on = on_, which, until] { return reread_task(on, which, until); });
  }
  void release_selected(ticket name, std::string selector, deadline until, then<released_tasks> to) override {
    begin<released_tasks>(name, {"releaseTasks", selector, true}, std::move(to),
                          [&on = on_, selector, until] { return release_selected_tasks(on, selector, until); });
  }
  void capacity(ticket name, std::optional<std::string> pool, deadline until, then<task_capacity> to) override {
    begin<task_capacity>(name, {"readTaskCapacity", pool.value_or("")}, std::move(to),
                         [&on = on_, pool, until] { return read_task_capacity(on, pool, until); });
  }
  void cancel(ticket name) override {
    flows_.cancel(name);
  }

private:
  template <class T>
  void begin(ticket name, question_name what, then<T> to, std::function<asio::awaitable<result<T>>()> act) {
    if (flows_.start(name, [act = std::move(act), what, to] { return carry<T>(act, what, to); }))
      return;
    asio::post(flows_.executor(), [what = std::move(what), to = std::move(to)] { to(tl::unexpected{unasked(what)}); });
  }

  task_world& on_;
  flow_group& flows_;
};

} // namespace

std::unique_ptr<task_port> make_tasks(task_world& on, flow_group& flows) {
  return std::make_unique<tasks>(on, flows);
}

} // namespace paddock::workspace
