#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "workspace/acquire.hpp"
#include "workspace/flows/bind.hpp"
#include "workspace/flows/tasks.hpp"
#include "workspace/flows/verbs_steps.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

constexpr auto clean_up_bound = std::chrono::milliseconds{1'000};
constexpr auto diagnosis_bound = std::chrono::milliseconds{1'000};

/// What the steps after the POST find out, for those that follow them.
struct making {
  std::string owner_uid;
  std::optional<std::string> pod_name; // absent: not known
};

failure late(const task_world& on, const task_plan& plan, std::optional<k8s::failure> last = std::nullopt) {
  return readiness_timeout{plan.what.name, on.on.how.ready_timeout, std::move(last)};
}

void note_uid(making& known, const std::optional<nlohmann::json>& object) {
  if (known.owner_uid.empty() && object)
    known.owner_uid = k8s::text_at(*object, "/metadata/uid").value_or("");
}

/// Reads the object again and again until it is Ready.
asio::awaitable<result<ready_task>> await_ready(task_world& on, const task_plan& plan, making& known) {
  auto last = std::optional<k8s::failure>{};
  while (!plan.until.passed(on.on.time)) {
    auto wait = on.on.how.ready_poll;
    auto object = co_await read(on.on, path_of(on.on.how, plan.what), plan.until);
    if (object) {
      last.reset();
      note_uid(known, *object);
      auto judged = judge_task(on.on.how, plan, *object);
      if (!judged)
        co_return tl::unexpected{judged.error()};
      if (auto* ready = std::get_if<ready_task>(&*judged)) {
        known.pod_name = ready->sandbox_name;
        co_return std::move(*ready);
      }
      if (auto& name = std::get<unready_task>(*judged).sandbox_name)
        known.pod_name = std::move(name);
    } else {
      if (plan.until.passed(on.on.time))
        break;
      if (!worth_retrying(object.error()))
        co_return tl::unexpected{failure{object.error()}};
      last = object.error();
      wait = pause_after(*last, wait);
    }
    auto goes_on = co_await pause(on.on, plan.until.no_later_than(on.on.time.now() + wait).at());
    if (!goes_on)
      co_return tl::unexpected{withdrawal()};
  }
  auto over = co_await withdrawn();
  co_return tl::unexpected{over ? withdrawal() : late(on, plan, std::move(last))};
}

/// Why a pod in hand is not complete yet.
failure incomplete(const task_plan& plan, const std::string& sandbox_name, const take_pod& pod) {
  if (auto missing = missing_label(plan.requested, pod.labels))
    return of_egress(egress::label_not_observed{std::move(*missing), plan.subject, pod.labels});
  return no_pod{sandbox_name, "its pod has no address (status.podIP)"};
}

bool is_complete(const settings& how, const task_plan& plan, const take_pod& pod) {
  return !missing_label(plan.requested, pod.labels) && (how.agent_address == settings::address::service || pod.ip);
}

/// The live pod of a Ready Sandbox. Only what it lacks is waited for: no pod, or one that cannot be read, ends the acquire.
asio::awaitable<result<take_pod>> read_pod(task_world& on, const task_plan& plan, const ready_task& ready) {
  auto lacking = std::optional<failure>{};
  for (;;) {
    auto seen = co_await look_at_pods(on.on, ready.sandbox_name, ready.facts, ready.facts.uid, plan.until);
    if (!seen && plan.until.passed(on.on.time))
      break;
    if (!seen)
      co_return tl::unexpected{failure{seen.error()}};
    auto choice = choose_pod(ready.sandbox_name, seen->by_name, seen->listed, {}, settings::address::service);
    if (auto* many = std::get_if<ambiguous_pod>(&choice))
      co_return tl::unexpected{failure{*many}};
    auto* pod = std::get_if<take_pod>(&choice);
    if (pod == nullptr)
      co_return tl::unexpected{failure{no_pod{ready.sandbox_name, "it has no live pod: no pod uid could be read"}}};
    if (is_complete(on.on.how, plan, *pod))
      co_return std::move(*pod);
    lacking = incomplete(plan, ready.sandbox_name, *pod);
    auto goes_on = co_await pause(on.on, plan.until.no_later_than(on.on.time.now() + on.on.how.ready_poll).at());
    if (!goes_on)
      co_return tl::unexpected{withdrawal()};
    if (plan.until.passed(on.on.time))
      break;
  }
  auto over = co_await withdrawn();
  co_return tl::unexpected{over ? withdrawal() : lacking.value_or(late(on, plan))};
}

asio::awaitable<result<held_task>> after_post(task_world& on, const task_plan& plan, making& known) {
  auto ready = co_await await_ready(on, plan, known);
  if (!ready)
    co_return tl::unexpected{ready.error()};
  auto pod = co_await read_pod(on, plan, *ready);
  if (!pod)
    co_return tl::unexpected{pod.error()};
  const auto& how = on.on.how;
  if (how.egress && how.egress->per_sandbox && known.owner_uid.empty())
    co_return tl::unexpected{of_egress(egress::owner_uid_missing{plan.what.name, how.name_space})};
  auto where = address_of(ready->facts, *pod, ready->sandbox_name, how);
  if (!where)
    co_return tl::unexpected{where.error()};
  co_return held_task{plan.request,           plan.what,         plan.subject, ready->sandbox_name, known.owner_uid,
                      std::move(pod->labels), std::move(*where), on.how.lease};
}

asio::awaitable<result<held_task>> post_and_await(task_world& on, const task_plan& plan, making& known) {
  auto made = co_await ask(on.on, k8s::post(collection_of(on.on.how, plan.what.kind), plan.body), plan.until);
  if (!made) {
    auto over = co_await withdrawn();
    if (!over && plan.until.passed(on.on.time))
      co_return tl::unexpected{late(on, plan)};
    co_return tl::unexpected{over ? withdrawal() : failure{made.error()}};
  }
  note_uid(known, *made);
  co_return co_await after_post(on, plan, known);
}

/// Why the pod is not Ready, where the cluster says so. A look that fails says nothing.
asio::awaitable<std::optional<acquire_reason>> look_for_reason(task_world& on, std::string pod_name) {
  auto pod = co_await read(on.on, k8s::pods_path(on.on.how.name_space, pod_name), deadline{on.on.time, diagnosis_bound});
  co_return pod ? diagnose(*pod) : std::nullopt;
}

asio::awaitable<result<held_task>> make_steps(task_world& on, task_plan plan) {
  auto over = co_await withdrawn();
  if (over)
    co_return tl::unexpected{withdrawal()};
  auto known = making{};
  if (plan.what.kind == owned_object::type::sandbox)
    known.pod_name = plan.what.name;
  auto got = co_await post_and_await(on, plan, known);
  if (got)
    co_return got;
  auto diagnosis = std::optional<acquire_reason>{};
  if (std::holds_alternative<readiness_timeout>(got.error()) && known.pod_name)
    diagnosis = co_await look_for_reason(on, *known.pod_name);
  co_await keep_going();
  [[maybe_unused]] auto released = co_await ask(on.on, k8s::remove(path_of(on.on.how, plan.what)), deadline{on.on.time, clean_up_bound});
  co_return tl::unexpected{classify(std::move(got.error()), diagnosis)};
}

} // namespace

asio::awaitable<result<held_task>> make_task(task_world& on, task_plan what) {
  return without_throwing(make_steps(on, std::move(what)));
}

} // namespace paddock::workspace
