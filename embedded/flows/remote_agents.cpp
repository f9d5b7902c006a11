#include "embedded/flows/remote_agents.hpp"

#include "base/bracketed.hpp"
#include "base/flows/io_lane.hpp"
#include "base/flows/sleep.hpp"
#include "embedded/flows/data_folder.hpp"
#include "embedded/flows/node.hpp"
#include "embedded/flows/process_mark.hpp"
#include "embedded/pod_facts.hpp"

#include <boost/asio/post.hpp>

#include <future>

namespace paddock::embedded {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// What both are: a client of the API server, its watches, and what reacts to them.
class agent_base : public remote_agent {
public:
  agent_base(k8s::cluster_access access, std::function<void(std::string)> log) :
    where_(bracketed(access.server.host) + ":" + std::to_string(access.server.port)),
    log_(std::move(log)),
    http_(make_http_exchange(time_)),
    client_(*http_, time_, std::move(access)),
    watched_(client_, executor(), log_),
    flows_(executor()) {
  }

  ~agent_base() override {
    lane_.run([] {}); // the handler that told us of the end has returned after this
  }

  /// Why the API server cannot be used; empty: it can.
  std::string greet() {
    auto answer = std::make_shared<std::promise<std::string>>();
    auto got = answer->get_future();
    flows_.start([this, answer] { return until_cancelled(ask(answer)); });
    return got.get();
  }

  void stop(std::function<void()> ended) override {
    asio::post(executor(), [this, ended = std::move(ended)] {
      if (stopped_)
        return ended();
      waiting_.push_back(ended);
      if (waiting_.size() > 1)
        return;
      end_work([this] {
        watched_.close([this] {
          flows_.close([this] {
            stopped_ = true;
            for (const auto& x : std::exchange(waiting_, {}))
              x();
          });
        });
      });
    });
  }

protected:
  virtual void end_work(std::function<void()> ended) = 0;

  asio::any_io_executor executor() {
    return lane_.context().get_executor();
  }

  void stop_and_wait() {
    auto over = std::promise<void>{};
    stop([&over] { over.set_value(); });
    over.get_future().wait();
  }

  asio::awaitable<void> ask(std::shared_ptr<std::promise<std::string>> answer) {
    auto got = co_await client_.send(k8s::get(std::string{collections::pods} + "?limit=1"));
    auto named = co_await client_.send(k8s::get(identity_path));
    if (named)
      cluster_ = uid_of(*named);
    answer->set_value(got ? std::string{} : "the API server at " + where_ + ": " + got.error().message);
  }

  std::string where_;
  std::string cluster_; // which one it is; empty: this user may not know
  std::function<void(std::string)> log_;
  real_flow_time time_;
  io_lane lane_;
  std::unique_ptr<http_exchange> http_;
  control_client client_;
  informer_set watched_;
  flow_group flows_;
  std::vector<std::function<void()>> waiting_; // for the end
  bool stopped_ = false;
};

class kubelet_agent final : public agent_base {
public:
  kubelet_agent(k8s::cluster_access access, std::unique_ptr<data_folder> folder, remote_kubelet_options options) :
    agent_base(std::move(access), options.log), folder_(std::move(folder)), options_(std::move(options)) {
  }

  ~kubelet_agent() override {
    if (node_)
      stop_and_wait();
  }

  /// Why it cannot run here; empty: it runs.
  std::string start() {
    auto sweep = false;
    if (cluster_.empty()) {
      log_("this user may not read " + std::string{identity_path} + ": disks that are left over stay, as they may be another cluster's");
    } else if (options_.data_dir) {
      auto ours = folder_->keep_for(cluster_);
      if (!ours)
        return ours.error();
      sweep = *ours;
      if (!sweep)
        log_("the folder did not say which cluster its disks are of; it does now, and those that are left over stay this time");
    }
    // What an earlier run left behind.
    end_family(folder_->family());
    lane_.run([this, sweep] {
      auto how = kubelet_options{};
      how.node = options_.node;
      how.folder = folder_->path();
      how.guest_program = std::filesystem::absolute(options_.guest_program);
      how.family = folder_->family();
      how.sweep = sweep;
      how.log = log_;
      node_ = std::make_unique<node>(client_, watched_, *http_, time_, executor(), std::move(how));
      node_->start();
      watched_.start();
    });
    return {};
  }

private:
  void end_work(std::function<void()> ended) override {
    node_->stop(std::move(ended));
  }

  std::unique_ptr<data_folder> folder_;
  remote_kubelet_options options_;
  std::unique_ptr<node> node_;
};

class controllers_agent final : public agent_base {
public:
  controllers_agent(k8s::cluster_access access, controllers_options options) :
    agent_base(std::move(access), options.log), options_(std::move(options)) {
  }

  ~controllers_agent() override {
    if (controllers_)
      stop_and_wait();
  }

  void start() {
    lane_.run([this] {
      controllers_ = std::make_unique<controllers>(client_, watched_, executor(), options_);
      controllers_->start();
      watched_.start();
    });
  }

private:
  void end_work(std::function<void()> ended) override {
    controllers_->close(std::move(ended));
  }

  controllers_options options_;
  std::unique_ptr<controllers> controllers_;
};

} // namespace

tl::expected<std::unique_ptr<remote_agent>, std::string> start_kubelet(k8s::cluster_access access, remote_kubelet_options options) {
  if (auto error = check_guest(options.guest_program); !error.empty())
    return tl::unexpected{error};
  auto folder = data_folder::open(options.data_dir);
  if (!folder)
    return tl::unexpected{folder.error()};
  auto result = std::make_unique<kubelet_agent>(std::move(access), std::move(*folder), std::move(options));
  if (auto error = result->greet(); !error.empty())
    return tl::unexpected{error};
  if (auto error = result->start(); !error.empty())
    return tl::unexpected{error};
  return result;
}

tl::expected<std::unique_ptr<remote_agent>, std::string> start_controllers(k8s::cluster_access access, controllers_options options) {
  auto result = std::make_unique<controllers_agent>(std::move(access), std::move(options));
  if (auto error = result->greet(); !error.empty())
    return tl::unexpected{error};
  result->start();
  return result;
}

} // namespace paddock::embedded
