// paddock-cluster: the embedded cluster alone. Starts it, writes the kubeconfig, says that it serves, waits for a signal. Its
// subcommands run the kubelet or the controllers beside another API server.

#include "apps/paddock-cluster/agents.hpp"
#include "apps/paddock-cluster/program.hpp"
#include "base/bracketed.hpp"
#include "base/signals.hpp"
#include "base/stdio.hpp"
#include "embedded/flows/cluster.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <stdlib.h>
#include <system_error>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct listen_address {
  std::string host;
  std::uint16_t port = 0;
};

/// `HOST:PORT`, `[HOST]:PORT`.
std::optional<listen_address> read_listen(const std::string& text) {
  auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    return std::nullopt;
  auto result = listen_address{text.substr(0, colon), 0};
  if (result.host.size() > 2 && result.host.front() == '[' && result.host.back() == ']')
    result.host = result.host.substr(1, result.host.size() - 2);
  if (result.host == "localhost")
    result.host = "127.0.0.1";
  auto* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data() + colon + 1, end, result.port);
  if (error != std::errc{} || rest != end || colon + 1 == text.size())
    return std::nullopt;
  return result;
}

/// Writes `text` for the owner only; whoever reads the name reads the whole text. Empty: done.
std::string write_private(const fs::path& file, const std::string& text) {
  auto next = file.string() + "." + std::to_string(::getpid()) + ".tmp";
  ::unlink(next.c_str());
  auto fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return std::strerror(errno);
  auto done = ::write(fd, text.data(), text.size());
  auto error = done < 0 ? errno : done != static_cast<ssize_t>(text.size()) ? ENOSPC : 0;
  if (::close(fd) != 0 && error == 0)
    error = errno;
  if (error == 0 && ::rename(next.c_str(), file.c_str()) != 0)
    error = errno;
  if (error != 0)
    ::unlink(next.c_str());
  return error == 0 ? std::string{} : std::strerror(error);
}

/// A folder for the kubeconfig when nobody said where; goes with the program.
class temporary_folder {
public:
  temporary_folder() {
    auto error = std::error_code{};
    auto name = (fs::temp_directory_path(error) / "paddock-cluster-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr)
      path_ = name;
  }
  ~temporary_folder() {
    auto ignored = std::error_code{};
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  [[nodiscard]] const fs::path& path() const noexcept {
    return path_;
  }

private:
  fs::path path_;
};

} // namespace

int main(int argc, char** argv) {
  paddock::hold_standard_descriptors();
  paddock::see_children_end();
  auto options = paddock::embedded::cluster_options{};
  auto listen = std::string{"127.0.0.1:0"};
  auto data_dir = std::string{};
  auto kubeconfig = std::string{};
  auto guest = (paddock::own_folder() / "paddock-guest").string();
  auto quiet = false;
  auto app =
    CLI::App{"A small Kubernetes cluster on this machine, for workspaces: an API server, the Sandbox controller and a kubelet that runs "
             "each pod as a process. It enforces no network policy.",
             "paddock-cluster"};
  app.set_version_flag("--version", std::string{"paddock-cluster "} + PADDOCK_VERSION);
  app.add_option("--listen", listen, "Address of the API server, loopback only; port 0: any")
    ->type_name("HOST:PORT")
    ->capture_default_str();
  app.add_option("--data-dir", data_dir, "Keep objects and disks in this folder; otherwise they go with the program")->type_name("FOLDER");
  app.add_option("--kubeconfig-out", kubeconfig, "Write the kubeconfig here")->type_name("FILE");
  app.add_option("--guest", guest, "The guest agent that runs for each pod")->type_name("PROGRAM")->capture_default_str();
  app.add_flag("--cilium", options.cilium, "Serve CiliumNetworkPolicy and its clusterwide kind, too; nothing enforces them");
  app.add_flag("--server-only", options.server_only, "Only the API server; controllers and kubelet are run apart, by the subcommands");
  app.add_flag("--quiet", quiet, "No log lines on standard error");
  auto agent = paddock::agent_command{};
  auto* kubelet = app.add_subcommand("kubelet", "Only the kubelet, as a node of the cluster that a kubeconfig names");
  auto* controllers = app.add_subcommand("controllers", "Only the controllers, for the cluster that a kubeconfig names");
  for (auto* command : {kubelet, controllers}) {
    command->add_option("--kubeconfig", agent.kubeconfig, "Where the API server is, and as whom")->type_name("FILE")->required();
    command->add_option("--context", agent.context, "Context of the kubeconfig (default: the current one)")->type_name("NAME");
    command->add_flag("--quiet", agent.quiet, "No log lines on standard error");
  }
  kubelet->add_option("--node", agent.node, "Name of the node (default: this machine's)")->type_name("NAME");
  kubelet->add_option("--data-dir", agent.data_dir, "Keep disks and logs in this folder; otherwise they go with the program")
    ->type_name("FOLDER");
  kubelet->add_option("--guest", agent.guest, "The guest agent that runs for each pod (default: the one beside this program)")
    ->type_name("PROGRAM");
  controllers
    ->add_option("--run", agent.run,
                 "Which, with commas between: sandbox sandboxclaim sandboxwarmpool sandboxtemplate scheduler (the default), "
                 "garbagecollector pvc-protection namespace; or all")
    ->type_name("NAMES");
  controllers->add_option("--home", agent.home, "Namespace of the ConfigMap agent-sandbox-config (default: agent-sandbox-system)")
    ->type_name("NAMESPACE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& x) {
    return app.exit(x);
  } catch (const CLI::ParseError& x) {
    return paddock::complain(paddock::exit_usage, "Usage", x.what());
  }
  if (agent.guest.empty())
    agent.guest = guest;
  if (*kubelet)
    return paddock::run_kubelet(agent);
  if (*controllers)
    return paddock::run_controllers(agent);
  auto where = read_listen(listen);
  if (!where)
    return paddock::complain(paddock::exit_usage, "Usage", "--listen " + listen + ": expected HOST:PORT with a port of 0 to 65535");
  options.address = where->host;
  options.port = where->port;
  if (!data_dir.empty())
    options.data_dir = data_dir;
  options.guest_program = guest;
  if (!quiet)
    options.log = [](std::string line) { std::cerr << line + '\n'; };
  auto signals = paddock::end_signals{};
  auto started = paddock::embedded::start_cluster(std::move(options));
  if (!started)
    return paddock::complain(paddock::exit_failed, "ClusterNotStarted", started.error());
  auto cluster = std::move(*started);
  auto own = std::optional<temporary_folder>{};
  auto file = fs::path{kubeconfig};
  if (kubeconfig.empty())
    file = data_dir.empty() ? own.emplace().path() / "kubeconfig" : fs::path{data_dir} / "kubeconfig";
  auto problem = std::error_code{};
  file = fs::absolute(file, problem);
  if (auto error = write_private(file, cluster->kubeconfig()); !error.empty())
    return paddock::complain(paddock::exit_failed, "KubeconfigNotWritten", file.string() + ": " + error);
  auto server = cluster->server();
  std::cout << "ready " << file.string() << " https://" << paddock::bracketed(server.host) << ':' << server.port << std::endl;
  signals.wait();
  paddock::stop_and_wait([&](std::function<void()> ended) { cluster->stop(std::move(ended)); });
  return 0;
}
