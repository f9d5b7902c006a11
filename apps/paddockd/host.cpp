#include "apps/paddockd/host.hpp"

#include "actors/node.hpp"
#include "apps/common/version.hpp"
#include "base/flows/flow_group.hpp"
#include "base/flows/io_lane.hpp"
#include "base/flows/sleep.hpp"
#include "egress/flows/ports.hpp"
#include "egress/translate.hpp"
#include "guest/flows/hosts.hpp"
#include "k8s/flows/api_client.hpp"
#include "k8s/flows/watches.hpp"
#include "messages/error.hpp"
#include "workspace/flows/guest_jobs.hpp"
#include "workspace/flows/ports.hpp"
#include "workspace/flows/task_ports.hpp"
#include "workspace/flows/verbs.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

#include <future>

namespace paddock {

namespace {

/// @pre the configuration of egress, if any, means a policy: `start_host` has looked
std::optional<egress::backend> make_backend(const workspace::settings& how) {
  if (!how.egress)
    return std::nullopt;
  auto baseline = egress::translate(*how.egress, {how.name_space, how.template_name});
  return egress::backend{*how.egress, std::move(baseline.value()), how.ingress, how.agent_port};
}

/// Members are in the order of who uses whom; they go in the reverse order.
class running_host final : public host {
public:
  explicit running_host(host_options how) :
    how_(std::move(how)),
    exchange_(make_http_exchange(time_)),
    api_(make_api()),
    guests_(guest::make_hosts(time_, how_.walker)),
    terminals_(lane_.context().get_executor()),
    world_{*api_,
           *guests_.commands,
           time_,
           how_.how,
           guests_.work.get(),
           [this](const workspace::id& which, const workspace::rest_note& x) {
             how_.warn("workspace " + which.text() + ": " + workspace::to_string(x));
           },
           &terminals_},
    flows_(lane_.context().get_executor()),
    transitions_(workspace::make_transitions(world_, flows_)),
    inventory_(workspace::make_inventory(world_, flows_)),
    tasks_(workspace::make_tasks(makes_tasks_, flows_)),
    calls_(workspace::make_guest_calls({*guests_.commands, *guests_.files, *guests_.streams, *guests_.work}, time_, flows_, &terminals_)),
    watches_(k8s::make_watches(*api_, time_, flows_, k8s::real_chance)),
    backend_(make_backend(how_.how)),
    fences_(backend_ && backend_->how.per_sandbox ? egress::make_fence_port(policies_of_, *backend_, flows_) : nullptr),
    gates_(backend_                  ? egress::make_gate_port(policies_of_, *backend_, flows_)
           : how_.how.ingress.verify ? egress::make_gate_port(policies_of_, of_ingress_, flows_)
                                     : nullptr),
    policies_(fences_ ? egress::make_policy_port(policies_of_, *backend_, flows_) : nullptr),
    asked_{*transitions_,          *inventory_,  *calls_,        time_,
           how_.how.template_name, how_.warn,    watches_.get(), backend_ ? &*backend_ : nullptr,
           fences_.get(),          gates_.get(), policies_.get()},
    config_(how_.tls, 2),
    system_(config_) {
    if (how_.idle_after.count() > 0)
      asked_.idle_after = how_.idle_after;
    asked_.tasks = tasks_.get();
    asked_.chance = k8s::real_chance;
    if (how_.how.fenced)
      asked_.stamps = stamping{how_.how.term == 0 ? 0 : k8s::first_of(how_.how.epochs()), how_.how.term != 0};
  }

  ~running_host() override {
    if (!stop(std::chrono::milliseconds{1000}))
      std::abort(); // flows still use what is about to go; who cannot wait leaves without destroying the host
  }

  /// An error text, or nothing.
  std::string publish() {
    node_info about;
    about.version = version;
    about.protocol = message_protocol;
    about.instance = how_.instance;
    about.name_space = how_.how.name_space;
    about.template_name = how_.how.template_name;
    about.embedded = how_.embedded;
    about.shards = how_.shards;
    node_ = system_.spawn<node_impl>(std::ref(asked_), about);
    const auto* address = how_.address.c_str();
    auto port = how_.tls.wanted() ? caf::openssl::publish(node_, how_.port, address, true)
                                  : system_.middleman().publish(node_, how_.port, address, true);
    if (!port)
      return "PortTaken: cannot listen on " + how_.address + ":" + std::to_string(how_.port) + " (" + to_string(port.error()) + ")";
    port_ = *port;
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override {
    return port_;
  }

  bool stop(std::chrono::milliseconds bound) override {
    if (stopped_)
      return true;
    stopped_ = true;
    auto clean = true;
    const deadline until{time_, bound};
    if (node_) {
      if (port_ != 0)
        system_.middleman().unpublish(node_, port_);
      caf::scoped_actor self{system_};
      self->monitor(node_);
      self->send(node_, atom::stop_v);
      self->receive([](const caf::down_msg&) {}, caf::after(until.left(time_)) >>
                                                   [&] {
                                                     clean = false;
                                                     self->send_exit(node_, caf::exit_reason::kill);
                                                   });
      node_ = nullptr;
    }
    // Waiting for the flows is what keeps their answers from meeting destroyed actors. Their clean-up is bounded, but a guest
    // that does not answer may take longer to be given up than this process has.
    const auto ended = std::make_shared<std::promise<void>>();
    flows_.close([ended] { ended->set_value(); });
    return ended->get_future().wait_for(until.left(time_) + std::chrono::milliseconds{200}) == std::future_status::ready && clean;
  }

private:
  /// @pre the bound is allowed: `start_host` has looked
  std::unique_ptr<k8s::streaming_api> make_api() {
    auto made = k8s::make_api_client(*exchange_, time_,
                                     {how_.access.server, how_.access.base_path, how_.access.credentials, how_.api_bound.count(), {}});
    return std::move(made.value());
  }

  host_options how_;
  real_flow_time time_;
  io_lane lane_; // goes last of all that has connections on it
  std::unique_ptr<http_exchange> exchange_;
  std::unique_ptr<k8s::streaming_api> api_;
  guest::hosts guests_;
  workspace::open_terminals terminals_;
  workspace::world world_;
  flow_group flows_;
  std::unique_ptr<workspace::transitions_port> transitions_;
  std::unique_ptr<workspace::inventory_port> inventory_;
  workspace::task_world makes_tasks_{world_, how_.tasks};
  std::unique_ptr<workspace::task_port> tasks_;
  std::unique_ptr<workspace::guest_port> calls_;
  std::unique_ptr<k8s::watch_port> watches_;
  egress::cluster policies_of_{*api_, time_};
  std::optional<egress::backend> backend_;
  egress::ingress_backend of_ingress_{how_.how.name_space, how_.how.ingress, how_.how.agent_port};
  std::unique_ptr<egress::fence_port> fences_;
  std::unique_ptr<egress::gate_port> gates_;
  std::unique_ptr<egress::policy_port> policies_;
  actor_world asked_;
  actor_config config_;
  caf::actor_system system_;
  node_actor node_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
};

} // namespace

tl::expected<std::unique_ptr<host>, std::string> start_host(host_options how) {
  if (auto good = workspace::check(how.how); !good)
    return tl::unexpected{workspace::reason_of(good.error()) + ": " + workspace::to_string(good.error())};
  if (how.how.egress)
    if (auto meant = egress::translate(*how.how.egress, {how.how.name_space, how.how.template_name}); !meant)
      return tl::unexpected{std::string{egress::reason_of(meant.error())} + ": " + egress::to_string(meant.error())};
  if (how.api_bound < std::chrono::milliseconds{1000})
    return tl::unexpected{std::string{"InvalidConfig: api-request-timeout: at least 1s"}};
  if (auto bad = check(how.tls); !bad.empty())
    return tl::unexpected{"TlsConfig: " + bad};
  auto out = std::make_unique<running_host>(std::move(how));
  if (auto bad = out->publish(); !bad.empty())
    return tl::unexpected{bad};
  return out;
}

} // namespace paddock
