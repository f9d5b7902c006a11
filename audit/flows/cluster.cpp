#include "audit/flows/cluster.hpp"

#include "egress/allowance.hpp"
#include "egress/flows/enumeration.hpp"
#include "egress/flows/fence.hpp"
#include "egress/flows/ingress.hpp"
#include "egress/flows/permitted_hosts.hpp"
#include "egress/flows/policies.hpp"

#include <utility>

namespace paddock::audit {

namespace asio = boost::asio;
using egress::egress_error;

namespace {

/// A union check that takes what is read.
class union_reader final : public egress::policy_reader {
public:
  explicit union_reader(egress::union_check check) : before_(check), now_(std::move(check)) {
  }
  void begin(egress::resource_kind kind) override {
    if (begun_ == kind)
      now_ = before_; // anew
    else
      before_ = now_;
    begun_ = kind;
  }
  void take(egress::resource_kind kind, const nlohmann::json& item) override {
    now_.take(kind, item);
  }
  [[nodiscard]] const egress::union_check& check() const {
    return now_;
  }

private:
  egress::union_check before_; // the list that is read
  egress::union_check now_;
  std::optional<egress::resource_kind> begun_;
};

/// What the check of the named object found; a failure that says nothing about it stays one.
egress::result<egress::named_manifest> named_of(egress::result<void> checked) {
  using state = egress::named_manifest::state;
  if (checked)
    return egress::named_manifest{state::applied, std::nullopt};
  if (std::holds_alternative<egress::policy_not_applied>(checked.error()))
    return egress::named_manifest{state::not_applied, std::nullopt};
  if (auto* drifted = std::get_if<egress::policy_mismatch>(&checked.error()))
    return egress::named_manifest{state::drifted, std::move(drifted->reason)};
  return tl::unexpected{std::move(checked.error())};
}

/// Whether the error is an answer to the question, and not that of a request.
bool is_answer(const egress_error& x) {
  return !std::holds_alternative<k8s::failure>(x);
}

} // namespace

asio::awaitable<egress::result<egress_report>> judge_cluster(egress::cluster& on, egress::policy_engine engine, egress_question asked,
                                                             deadline until) {
  auto checked = co_await egress::verify_named_object(on.api, asked.named, until);
  auto named = named_of(std::move(checked));
  if (!named)
    co_return tl::unexpected{std::move(named.error())};
  auto policies = union_reader{egress::union_check{egress::allowance_of(asked.named), asked.pod}};
  auto unread = co_await egress::read_policies(on.api, asked.pod.name_space, engine, policies, until);
  if (!unread)
    co_return tl::unexpected{egress_error{std::move(unread.error())}};
  auto got = egress_report{};
  got.judged.named = std::move(*named);
  got.judged.refusal = policies.check().refusal();
  got.judged.examined = policies.check().examined();
  for (const auto& x : policies.check().findings())
    got.judged.findings.push_back({{}, x});
  if (*unread) {
    got.judged.refusal = egress::union_refused::cause::not_evaluable;
    got.unread.push_back(std::move(**unread));
  }
  co_return got;
}

asio::awaitable<egress::result<fence_report>> check_fence_of(egress::cluster& on, egress::fence_question asked, deadline until) {
  auto proved = co_await egress::prove_fence(on, asked, until);
  if (proved && asked.how.permitted_hosts_param) {
    auto hosts = co_await egress::read_permitted_hosts(on, *asked.how.permitted_hosts_param, until);
    if (!hosts)
      proved = tl::unexpected{std::move(hosts.error())};
  }
  if (proved)
    co_return fence_report{};
  if (!is_answer(proved.error()))
    co_return tl::unexpected{std::move(proved.error())};
  auto got = fence_report{};
  got.missing = std::move(proved.error());
  co_return got;
}

asio::awaitable<egress::result<ingress_report>> check_ingress_of(egress::cluster& on, egress::policy_engine engine,
                                                                 egress::ingress_question asked, deadline until) {
  auto how = egress::ingress_config{};
  auto ok = co_await egress::verify_ingress(on, how, engine, std::move(asked), until);
  if (ok)
    co_return ingress_report{};
  if (!is_answer(ok.error()))
    co_return tl::unexpected{std::move(ok.error())};
  auto got = ingress_report{};
  got.refused = std::move(ok.error());
  co_return got;
}

} // namespace paddock::audit
