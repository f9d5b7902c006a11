#include "embedded/flows/cluster.hpp"

#include "base/bracketed.hpp"
#include "base/flows/io_lane.hpp"
#include "base/flows/sleep.hpp"
#include "base/random.hpp"
#include "embedded/bootstrap.hpp"
#include "embedded/flows/api_server.hpp"
#include "embedded/flows/authentication_key.hpp"
#include "embedded/flows/controllers.hpp"
#include "embedded/flows/data_folder.hpp"
#include "embedded/flows/durable_store.hpp"
#include "embedded/flows/node.hpp"
#include "embedded/flows/process_mark.hpp"
#include "embedded/flows/self_signed.hpp"
#include "embedded/pod_facts.hpp"
#include "guest/flows/transport.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <future>

namespace paddock::embedded {

namespace {

namespace fs = std::filesystem;
namespace asio = boost::asio;
using namespace std::chrono_literals;

class running_cluster final : public cluster {
public:
  explicit running_cluster(cluster_options options) : options_(std::move(options)), http_(make_http_exchange(time_)) {
  }

  /// An empty text: it serves.
  std::string start() {
    if (auto error = check_guest(options_.guest_program); !error.empty())
      return error;
    options_.guest_program = fs::absolute(options_.guest_program);
    auto failed = boost::system::error_code{};
    if (!asio::ip::make_address(options_.address, failed).is_loopback() || failed)
      return "the address " + options_.address + " is not a loopback address: the embedded cluster serves this machine only";
    auto folder = data_folder::open(options_.data_dir);
    if (!folder)
      return folder.error();
    folder_ = std::move(*folder);
    // An owner that was killed takes its guests along, but not what they had started; the disks are ours now.
    end_family(folder_->family());
    auto serving = api_server_options{};
    serving.http.address = options_.address;
    serving.http.port = options_.port;
    auto identity = make_self_signed(options_.address);
    if (!identity)
      return identity.error();
    serving.http.certificate = identity->certificate;
    serving.http.key = identity->key;
    serving.tokens.push_back({token_, {"admin", {"system:masters"}}});
    serving.logs = folder_->path() / "logs";
    serving.cilium = options_.cilium;
    serving.namespaces = {"default", "kube-system", "kube-public", "kube-node-lease"};
    if (std::find(serving.namespaces.begin(), serving.namespaces.end(), options_.name_space) == serving.namespaces.end())
      serving.namespaces.push_back(options_.name_space);
    if (options_.data_dir) {
      if (auto lost = folder_->lost_objects("objects.db"); !lost.empty())
        return lost;
      auto journal = durable_store::open({folder_->path() / "objects.db"});
      if (!journal)
        return journal.error();
      journal_ = std::move(*journal);
      serving.journal = journal_.get();
      auto stored = journal_->load();
      if (!stored)
        return stored.error();
      serving.stored = std::move(*stored);
      auto key = keep_signing_key(folder_->path());
      if (!key)
        return key.error();
      serving.signing_key = std::move(*key);
    }
    auto server = make_api_server(executor(), time_, std::move(serving));
    if (!server)
      return server.error();
    server_ = std::move(*server);
    where_.tls = true;
    where_.ca = identity->certificate;
    where_.host = options_.address;
    where_.port = server_->port();
    client_ = std::make_unique<control_client>(*http_, time_, where_, token_);
    auto sweep = false;
    if (options_.data_dir) {
      auto ours = take_disks();
      if (!ours)
        return ours.error();
      sweep = *ours;
    }
    lane_.run([this, sweep] {
      flows_ = std::make_unique<flow_group>(executor());
      if (!options_.server_only)
        make_controllers(sweep);
    });
    started_ = true;
    auto answer = std::make_shared<std::promise<std::string>>();
    auto ready = answer->get_future();
    flows_->start([this, answer] { return until_cancelled(bootstrap(answer)); });
    if (ready.wait_for(20s) != std::future_status::ready)
      return "the API server does not answer itself";
    return ready.get();
  }

  ~running_cluster() override {
    if (started_) {
      auto over = std::promise<void>{};
      stop([&over] { over.set_value(); });
      over.get_future().wait();
    } else if (server_) {
      auto over = std::promise<void>{};
      server_->close([&over] { over.set_value(); });
      over.get_future().wait();
    }
    // The handler that told us has returned after this.
    lane_.run([] {});
  }

  [[nodiscard]] http_server_address server() const override {
    return where_;
  }

  [[nodiscard]] secret token() const override {
    return token_;
  }

  [[nodiscard]] std::string kubeconfig() const override {
    return write_kubeconfig("https://" + bracketed(options_.address) + ":" + std::to_string(where_.port), where_.ca, token_.reveal(),
                            options_.name_space);
  }

  void stop(std::function<void()> ended) override {
    asio::post(executor(), [this, ended = std::move(ended)] {
      if (stopped_)
        return ended();
      waiting_.push_back(ended);
      if (waiting_.size() > 1)
        return;
      if (options_.server_only)
        return stop_server();
      // Nobody reacts to what comes: controllers first, then the pods, then those who watch, then the server.
      controllers_->close([this] { node_->stop([this] { watched_->close([this] { stop_server(); }); }); });
    });
  }

private:
  asio::any_io_executor executor() {
    return lane_.context().get_executor();
  }

  void stop_server() {
    flows_->close([this] {
      server_->close([this] {
        stopped_ = true;
        for (const auto& x : std::exchange(waiting_, {}))
          x();
      });
    });
  }

  void log(std::string line) {
    if (options_.log)
      options_.log(std::move(line));
  }

  /// Whether disks that are left over may be removed from the folder; the failure: they are another cluster's.
  tl::expected<bool, std::string> take_disks() {
    auto answer = std::make_shared<std::promise<tl::expected<nlohmann::json, call_failure>>>();
    auto named = answer->get_future();
    auto asks = flow_group{executor()};
    asks.start([this, answer] { return until_cancelled(identify(answer)); });
    if (named.wait_for(20s) != std::future_status::ready)
      return tl::unexpected{std::string{"the API server does not answer itself"}};
    auto got = named.get();
    return got ? folder_->keep_for(uid_of(*got)) : tl::unexpected{got.error().message};
  }

  asio::awaitable<void> identify(std::shared_ptr<std::promise<tl::expected<nlohmann::json, call_failure>>> answer) {
    auto got = co_await client_->send(k8s::get(identity_path));
    answer->set_value(std::move(got));
  }

  void make_controllers(bool sweep) {
    auto say = [this](std::string line) { log(std::move(line)); };
    watched_ = std::make_unique<informer_set>(*client_, executor(), say);
    auto wanted = controllers_options{};
    wanted.only_node = embedded_node;
    wanted.log = say;
    controllers_ = std::make_unique<controllers>(*client_, *watched_, executor(), wanted);
    auto kubelet = kubelet_options{};
    kubelet.folder = folder_->path();
    kubelet.guest_program = options_.guest_program;
    kubelet.family = folder_->family();
    kubelet.sweep = sweep;
    kubelet.log = say;
    node_ = std::make_unique<node>(*client_, *watched_, *http_, time_, executor(), std::move(kubelet));
    node_->start();
    controllers_->start();
    watched_->start();
  }

  /// The objects that every cluster has, each made only if it is absent.
  asio::awaitable<void> bootstrap(std::shared_ptr<std::promise<std::string>> answer) {
    auto there = co_await client_->send(read_default_template(options_.name_space));
    if (there || there.error().status != 404) {
      answer->set_value(there ? std::string{} : there.error().message);
      co_return;
    }
    auto made = co_await client_->send(make_default_template(options_.name_space));
    answer->set_value(made || made.error().status == 409 ? std::string{} : "the default template: " + made.error().message);
  }

  cluster_options options_;
  secret token_{new_key()};
  real_flow_time time_;
  std::unique_ptr<data_folder> folder_;
  std::unique_ptr<durable_store> journal_;
  io_lane lane_;
  std::unique_ptr<http_exchange> http_;
  std::unique_ptr<api_server> server_;
  http_server_address where_;
  std::unique_ptr<control_client> client_;
  std::unique_ptr<informer_set> watched_;
  std::unique_ptr<controllers> controllers_;
  std::unique_ptr<node> node_;
  std::unique_ptr<flow_group> flows_;
  std::vector<std::function<void()>> waiting_; // for the end
  bool started_ = false;
  bool stopped_ = false;
};

} // namespace

tl::expected<std::unique_ptr<cluster>, std::string> start_cluster(cluster_options options) {
  auto result = std::make_unique<running_cluster>(std::move(options));
  if (auto error = result->start(); !error.empty())
    return tl::unexpected{error};
  return result;
}

} // namespace paddock::embedded
