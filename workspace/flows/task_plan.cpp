#include "k8s/paths.hpp"
#include "workspace/acquire.hpp"
#include "workspace/flows/tasks.hpp"
#include "workspace/flows/verbs_steps.hpp"
#include "workspace/pod_template.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

asio::awaitable<result<task_plan>> plan_steps(task_world& on, task_request what, deadline until) {
  const auto& how = on.on.how;
  auto over = co_await withdrawn();
  if (over)
    co_return tl::unexpected{withdrawal()};
  what = completed(how, on.how, std::move(what));
  auto usable = check_task(how, on.how, what);
  if (!usable)
    co_return tl::unexpected{usable.error()};
  auto requested = requested_labels(how, what.name);
  if (!requested)
    co_return tl::unexpected{requested.error()};
  auto plan = task_plan{what,
                        {what.pool ? owned_object::type::claim : owned_object::type::sandbox, what.name},
                        {},
                        {},
                        std::move(*requested),
                        std::nullopt,
                        how.egress ? how.egress->profile : std::nullopt,
                        until.no_later_than(on.on.time.now() + how.ready_timeout)};
  plan.subject = subject_of(how, plan.what);
  const auto dies_at = rfc3339_millis(on.on.time.wall() + on.how.lease);
  if (what.pool) {
    plan.body = claim_body(how, on.how, what, plan.requested, dies_at);
    co_return plan;
  }
  auto found = co_await read(on.on, k8s::template_path(how.name_space, what.template_name), plan.until);
  if (!found && plan.until.passed(on.on.time))
    co_return tl::unexpected{classify(readiness_timeout{what.name, how.ready_timeout})};
  if (!found)
    co_return tl::unexpected{classify(failure{found.error()})};
  auto body = task_sandbox_body(how, what, plan.requested, *found, dies_at);
  if (!body)
    co_return tl::unexpected{body.error()};
  plan.body = std::move(*body);
  plan.pod_labels = labels_of(plan.body.at("spec").at("podTemplate"));
  co_return plan;
}

} // namespace

asio::awaitable<result<task_plan>> plan_task(task_world& on, task_request what, deadline until) {
  return without_throwing(plan_steps(on, std::move(what), until));
}

} // namespace paddock::workspace
