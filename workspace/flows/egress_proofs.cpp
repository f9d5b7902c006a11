#include "workspace/flows/egress_proofs.hpp"

#include "egress/allowance.hpp"
#include "egress/flows/enumeration.hpp"
#include "egress/flows/fence.hpp"
#include "egress/flows/ingress.hpp"
#include "egress/flows/per_sandbox.hpp"
#include "egress/labels.hpp"
#include "egress/translate.hpp"

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

result<void> to_result(egress::result<void> x) {
  if (!x)
    return tl::unexpected{of_egress(std::move(x.error()))};
  return {};
}

asio::awaitable<egress::result<void>> prove_fence(egress::cluster& in, egress::per_sandbox_egress how, std::string name_space,
                                                  deadline until) {
  auto asked = egress::fence_question{std::move(how), std::move(name_space)};
  co_return co_await egress::prove_fence(in, std::move(asked), until);
}

asio::awaitable<egress::result<void>> proved_already() {
  co_return egress::result<void>{};
}

} // namespace

asio::awaitable<result<void>> prove_applied(world& on, std::string template_name, deadline until) {
  if (!on.how.egress)
    co_return result<void>{};
  auto meant = egress::translate(*on.how.egress, egress::policy_target{on.how.name_space, std::move(template_name)});
  if (!meant)
    co_return to_result(tl::unexpected{meant.error()});
  auto ok = co_await egress::verify_named_object(on.api, std::move(*meant), until);
  if (!ok || !on.how.egress->per_sandbox)
    co_return to_result(std::move(ok));
  auto in = egress::cluster{on.api, on.time};
  co_return to_result(co_await prove_fence(in, *on.how.egress->per_sandbox, on.how.name_space, until));
}

asio::awaitable<result<void>> prove_selected(world& on, id which, std::string template_name, egress::label_map labels, deadline until) {
  const auto subject = "workspace " + which.text() + " (Sandbox " + which.sandbox_name() + " in namespace " + on.how.name_space + ")";
  auto in = egress::cluster{on.api, on.time};
  auto asked = egress::ingress_question{subject, labels, on.how.name_space, on.how.agent_port};
  auto ok = co_await egress::verify_ingress(in, on.how.ingress, engine_of(on.how.ingress, on.how.egress), std::move(asked), until);
  if (!ok || !on.how.egress || on.how.egress->verify == egress::verification::named_object_only)
    co_return to_result(std::move(ok));
  auto meant = egress::translate(*on.how.egress, egress::policy_target{on.how.name_space, std::move(template_name)});
  if (!meant)
    co_return to_result(tl::unexpected{meant.error()});
  auto pod = egress::judged_pod{on.how.name_space, egress::without_per_sandbox_label(*on.how.egress, std::move(labels))};
  auto allowed = egress::allowance_of(std::move(*meant));
  co_return to_result(co_await egress::verify_union(on.api, on.how.egress->engine, std::move(allowed), std::move(pod), subject, until));
}

asio::awaitable<result<void>> prove_labels(world& on, id which, std::string template_name, egress::label_map labels,
                                           std::optional<egress::label_map>& proved, deadline until) {
  if (labels == proved)
    co_return result<void>{};
  proved = labels;
  co_return co_await prove_selected(on, which, std::move(template_name), std::move(labels), until);
}

asio::awaitable<result<void>> drop_predecessors(world& on, id which, std::optional<sandbox_uid> owner, fence how, deadline until) {
  if (!on.how.egress || !on.how.egress->per_sandbox)
    co_return result<void>{};
  auto in = egress::cluster{on.api, on.time};
  auto checks = egress::per_sandbox_checks{};
  if (how == fence::proved)
    checks.fence = [](deadline) { return proved_already(); };
  else
    checks.fence = [&in, &on](deadline end) { return prove_fence(in, *on.how.egress->per_sandbox, on.how.name_space, end); };
  auto whose = egress::grant_target{};
  whose.how = *on.how.egress->per_sandbox;
  whose.name_space = on.how.name_space;
  whose.owner = {egress::policy_owner::type::sandbox, which.sandbox_name(), owner ? owner->text() : std::string{}};
  whose.selector_value = which.sandbox_name();
  whose.name_may_pass_on = true;
  auto dropped = co_await egress::reverify_per_sandbox_egress(in, checks, std::move(whose), until);
  if (!dropped)
    co_return tl::unexpected{of_egress(std::move(dropped.error()))};
  co_return result<void>{};
}

} // namespace paddock::workspace
