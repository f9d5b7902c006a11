#include "egress/flows/ports.hpp"

#include "base/flows/withdrawal.hpp"
#include "egress/fence.hpp"
#include "egress/flows/enumeration.hpp"
#include "egress/flows/fence.hpp"
#include "egress/flows/granted_union.hpp"
#include "egress/flows/ingress.hpp"
#include "egress/flows/per_sandbox.hpp"
#include "k8s/flows/ask.hpp"
#include "k8s/paths.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <type_traits>
#include <utility>

namespace paddock::egress {

namespace asio = boost::asio;

namespace {

// -- one question as a flow ---------------------------------------------------

/// What a question is called in a failure, and whether it writes.
struct question {
  std::string operation;
  bool writes = false;
};

template <class T>
T failed(egress_error why, landing policy) {
  auto no = tl::unexpected{std::move(why)};
  if constexpr (std::is_same_v<T, write_end>)
    return {policy, std::move(no)};
  else
    return no;
}

/// The question never went out.
template <class T>
T unasked(const question& what) {
  return failed<T>(k8s::failure{k8s::cancelled{what.operation, {}, false}}, landing::none);
}

/// The flow broke its promise not to throw: nobody knows what it has sent.
template <class T>
T broken(const question& what, const char* how) {
  const auto why =
    k8s::failure{k8s::api_failure{k8s::api_failure::transport::connect, what.operation, {}, std::nullopt, std::nullopt, true, how}};
  if (what.writes)
    return failed<T>(policy_write_unknown{what.operation, {}, why}, landing::unknown);
  return failed<T>(why, landing::none);
}

template <class T>
using flow = std::function<asio::awaitable<T>()>;

template <class T>
asio::awaitable<void> carry_out(flow<T> act, question what, std::function<void(T)> to) {
  // One turn of the strand, so that a question withdrawn at once does not begin.
  co_await asio::post(asio::use_awaitable);
  auto end = unasked<T>(what);
  const auto over = co_await withdrawn();
  if (!over) {
    try {
      auto got = co_await act();
      end = std::move(got);
    } catch (const std::exception& x) {
      end = broken<T>(what, x.what());
    }
  }
  to(std::move(end));
}

asio::awaitable<result<void>> holds() {
  co_return result<void>{};
}

/// What the ports have in common.
template <class Port, class Of = backend>
class over_flows : public Port {
public:
  over_flows(cluster& on, const Of& of, flow_group& flows) : on_(on), of_(of), flows_(flows) {
  }
  void cancel(ticket name) override {
    flows_.cancel(name);
  }

protected:
  template <class T>
  void begin(ticket name, question what, flow<T> act, std::function<void(T)> to) {
    if (flows_.start(name, [act = std::move(act), what, to] { return carry_out<T>(act, what, to); }))
      return;
    asio::post(flows_.executor(), [what = std::move(what), to = std::move(to)] { to(unasked<T>(what)); });
  }

  cluster& on_;
  const Of& of_;

private:
  flow_group& flows_;
};

// -- the fence, and what an operator applies ------------------------------------

class fence_over_flows final : public over_flows<fence_port> {
public:
  using over_flows::over_flows;

  void prove(ticket name, deadline until, std::function<void(result<void>)> to) override {
    begin<result<void>>(
      name, {"prove"},
      [this, until] {
        auto asked = fence_question{*of_.how.per_sandbox, of_.baseline.name_space};
        return prove_fence(on_, std::move(asked), until);
      },
      std::move(to));
  }
};

class gate_over_flows final : public over_flows<gate_port> {
public:
  using over_flows::over_flows;

  void verify_named_object(ticket name, deadline until, then to) override {
    begin<result<void>>(
      name, {"verifyNamedObject"}, [this, until] { return egress::verify_named_object(on_.api, of_.baseline, until); }, std::move(to));
  }
  void verify_union(ticket name, checked_pod which, deadline until, then to) override {
    begin<result<void>>(
      name, {"verifyUnion"},
      [this, which = std::move(which), until] {
        if (of_.how.verify == verification::named_object_only)
          return holds();
        return egress::verify_union(on_.api, of_.how.engine, allowance_of(of_.baseline), judged_pod{of_.baseline.name_space, which.labels},
                                    which.subject, until);
      },
      std::move(to));
  }
  void verify_ingress(ticket name, checked_pod which, deadline until, then to) override {
    begin<result<void>>(
      name, {"verifyIngress"},
      [this, which = std::move(which), until] {
        auto asked = ingress_question{which.subject, which.labels, of_.baseline.name_space, of_.agent_port};
        return egress::verify_ingress(on_, of_.ingress, engine_of(of_.ingress, of_.how), std::move(asked), until);
      },
      std::move(to));
  }
};

class ingress_gate_over_flows final : public over_flows<gate_port, ingress_backend> {
public:
  using over_flows::over_flows;

  void verify_named_object(ticket name, deadline, then to) override {
    begin<result<void>>(name, {"verifyNamedObject"}, holds, std::move(to));
  }
  void verify_union(ticket name, checked_pod, deadline, then to) override {
    begin<result<void>>(name, {"verifyUnion"}, holds, std::move(to));
  }
  void verify_ingress(ticket name, checked_pod which, deadline until, then to) override {
    begin<result<void>>(
      name, {"verifyIngress"},
      [this, which = std::move(which), until] {
        auto asked = ingress_question{which.subject, which.labels, of_.name_space, of_.agent_port};
        return egress::verify_ingress(on_, of_.ingress, engine_of(of_.ingress, std::nullopt), std::move(asked), until);
      },
      std::move(to));
  }
};

// -- the policy of one owner ------------------------------------------------------

std::string policy_path(const grant_target& whose) {
  return k8s::cilium_policies_path(whose.name_space, per_sandbox_policy_name(whose.owner.uid));
}

/// Whoever asks has proved the fence.
per_sandbox_checks checks_of(cluster& on, const backend& of, const grant_target& whose, const label_map& pod_labels) {
  return {[](deadline) { return holds(); },
          [&on, &of, whose, pod_labels](policy_object written, deadline until) {
            auto subject = "policy " + written.name + " of " + whose.owner.name + " in namespace " + whose.name_space;
            return verify_granted_union(on, of.how.verify, allowance_of(of.baseline), std::move(written),
                                        judged_pod{whose.name_space, pod_labels}, std::move(subject), until);
          }};
}

landing landing_of(const grant_end& x) {
  if (x.landed)
    return landing::landed;
  return !x.answer && std::holds_alternative<policy_write_unknown>(x.answer.error()) ? landing::unknown : landing::none;
}

asio::awaitable<write_end> write_policy(cluster& on, const backend& of, grant_target whose, label_map pod_labels,
                                        std::vector<std::string> allowed_hosts, deadline until) {
  const auto checks = checks_of(on, of, whose, pod_labels);
  auto got = co_await set_network_policy(on, checks, std::move(whose), std::move(allowed_hosts), until);
  co_return write_end{landing_of(got), std::move(got.answer)};
}

asio::awaitable<result<std::optional<nlohmann::json>>> read_policy(cluster& on, std::string path, deadline until) {
  auto got = co_await k8s::ask(on.api, on.time, k8s::get(std::move(path)), until);
  if (got)
    co_return std::optional{got->value_or(nlohmann::json::object())};
  if (k8s::is_gone(got.error()))
    co_return std::nullopt;
  co_return tl::unexpected{egress_error{got.error()}};
}

asio::awaitable<result<std::optional<grantee>>> read_grantee(cluster& on, const backend& of, std::string sandbox_name, deadline until) {
  auto got = co_await k8s::ask(on.api, on.time, k8s::get(k8s::sandboxes_path(of.baseline.name_space, sandbox_name)), until);
  if (!got)
    co_return tl::unexpected{egress_error{got.error()}};
  if (!*got || !(*got)->is_object())
    co_return std::nullopt;
  co_return grantee_of(*of.how.per_sandbox, of.baseline.name_space, std::move(sandbox_name), **got);
}

asio::awaitable<result<std::vector<std::string>>> drop(cluster& on, const backend& of, grant_target whose, deadline until) {
  const auto checks = checks_of(on, of, whose, {});
  co_return co_await reverify_per_sandbox_egress(on, checks, std::move(whose), until);
}

class policy_over_flows final : public over_flows<policy_port> {
public:
  using over_flows::over_flows;

  void read_sandbox(ticket name, std::string sandbox_name, deadline until,
                    std::function<void(result<std::optional<grantee>>)> to) override {
    begin<result<std::optional<grantee>>>(
      name, {"readSandbox"}, [this, sandbox_name = std::move(sandbox_name), until] { return read_grantee(on_, of_, sandbox_name, until); },
      std::move(to));
  }
  void set(ticket name, grant_target whose, label_map pod_labels, std::vector<std::string> allowed_hosts, deadline until,
           std::function<void(write_end)> to) override {
    begin<write_end>(
      name, {"setNetworkPolicy", true},
      [this, whose = std::move(whose), pod_labels = std::move(pod_labels), allowed_hosts = std::move(allowed_hosts), until] {
        return write_policy(on_, of_, whose, pod_labels, allowed_hosts, until);
      },
      std::move(to));
  }
  void read(ticket name, grant_target whose, deadline until, std::function<void(result<std::optional<nlohmann::json>>)> to) override {
    begin<result<std::optional<nlohmann::json>>>(
      name, {"readNetworkPolicy"}, [this, path = policy_path(whose), until] { return read_policy(on_, path, until); }, std::move(to));
  }
  void drop_predecessors(ticket name, grant_target whose, deadline until,
                         std::function<void(result<std::vector<std::string>>)> to) override {
    begin<result<std::vector<std::string>>>(
      name, {"reverify", true}, [this, whose = std::move(whose), until] { return drop(on_, of_, whose, until); }, std::move(to));
  }
};

} // namespace

std::unique_ptr<fence_port> make_fence_port(cluster& on, const backend& of, flow_group& flows) {
  return std::make_unique<fence_over_flows>(on, of, flows);
}

std::unique_ptr<gate_port> make_gate_port(cluster& on, const backend& of, flow_group& flows) {
  return std::make_unique<gate_over_flows>(on, of, flows);
}

std::unique_ptr<gate_port> make_gate_port(cluster& on, const ingress_backend& of, flow_group& flows) {
  return std::make_unique<ingress_gate_over_flows>(on, of, flows);
}

std::unique_ptr<policy_port> make_policy_port(cluster& on, const backend& of, flow_group& flows) {
  return std::make_unique<policy_over_flows>(on, of, flows);
}

} // namespace paddock::egress
