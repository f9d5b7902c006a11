// paddockd: the host node. Reads the options, starts the embedded cluster when it is asked for, starts the node, waits for a
// signal, ends both.

#include "apps/common/version.hpp"
#include "apps/paddockd/egress_file.hpp"
#include "apps/paddockd/host.hpp"
#include "base/bracketed.hpp"
#include "base/random.hpp"
#include "base/signals.hpp"
#include "base/stdio.hpp"
#include "config/listen.hpp"
#include "config/load.hpp"
#include "config/node_options.hpp"
#include "embedded/flows/cluster.hpp"
#include "k8s/flows/kubeconfig.hpp"
#include "messages/error.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace {

using namespace paddock;
using namespace std::chrono_literals;

constexpr int failed = 1;
constexpr int usage = 2;

int complain(int code, const std::string& reason_and_text) {
  std::cerr << "paddockd: " << reason_and_text << '\n';
  return code;
}

/// The folder of this program, where its siblings lie too.
std::filesystem::path own_folder() {
  std::error_code bad;
  auto self = std::filesystem::read_symlink("/proc/self/exe", bad);
  return bad ? std::filesystem::path{"."} : self.parent_path();
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::shared_ptr<spdlog::logger> make_log(const config::node_options& x) {
  auto log = std::make_shared<spdlog::logger>("paddockd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log->set_pattern(x.format == config::log_format::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":"%v"})"
                                                        : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                   spdlog::pattern_time_type::utc);
  switch (x.level) {
    case config::log_level::debug: log->set_level(spdlog::level::debug); break;
    case config::log_level::info: log->set_level(spdlog::level::info); break;
    case config::log_level::warn: log->set_level(spdlog::level::warn); break;
    case config::log_level::error: log->set_level(spdlog::level::err); break;
  }
  log->flush_on(spdlog::level::debug);
  return log;
}

/// A message as it may stand inside a JSON string, and on one line.
std::string one_line(const std::string& text) {
  std::string out;
  for (auto c : text)
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out;
}

/// Written whole or not at all, so that who waits for the file never reads half of it.
bool write_ready_file(const std::filesystem::path& file, const std::string& text) {
  const auto part = file.string() + ".part";
  {
    std::ofstream out{part, std::ios::trunc};
    out << text;
    out.flush();
    if (!out.good())
      return false;
  }
  return std::rename(part.c_str(), file.c_str()) == 0;
}

std::string variable(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? std::string{} : value;
}

/// The kubeconfig that is named, or else those that KUBECONFIG names, or else the pod's own service account.
tl::expected<k8s::cluster_access, std::string> access_to_cluster(const std::string& kubeconfig, const std::string& context) {
  if (!kubeconfig.empty())
    return k8s::read_kubeconfig(kubeconfig, context);
  if (const auto files = variable("KUBECONFIG"); !files.empty())
    return k8s::read_kubeconfigs(files, context);
  return k8s::in_cluster(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"));
}

egress::ingress_config ingress_of(config::ingress_check x, bool embedded) {
  using check = config::ingress_check;
  egress::ingress_config how;
  how.verify = x != check::unverified && (x != check::automatic || !embedded);
  if (x == check::core)
    how.engine = egress::policy_engine::core;
  if (x == check::cilium)
    how.engine = egress::policy_engine::cilium;
  return how;
}

struct command_line {
  bool embedded = false;
  std::string config_file;
  std::string listen;
  std::string data_dir;
  std::string guest;
  std::string ready_file;
  bool print_config = false;
};

} // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  see_children_end();
  command_line given;
  CLI::App app{"The Paddock host node. Beside a cluster with --config, or with the cluster built in: --embedded.", "paddockd"};
  app.set_version_flag("--version", version);
  app.add_flag("--embedded", given.embedded, "Start the built-in cluster: no Kubernetes is needed. It enforces no network policy.");
  app.add_option("--config", given.config_file, "Configuration file (YAML)");
  app.add_option("--listen", given.listen, "Where clients reach this node, HOST:PORT (default 127.0.0.1:7330; port 0: the kernel chooses)");
  app.add_option("--data-dir", given.data_dir, "Keep the embedded cluster's objects and disks in this folder (default: in memory)");
  app.add_option("--guest", given.guest, "The paddock-guest that the embedded cluster runs (default: the one beside this program)");
  app.add_option("--ready-file", given.ready_file, "Write `HOST:PORT` into this file once the node serves");
  app.add_flag("--print-config", given.print_config, "Print the configuration in force and leave");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& x) {
    return x.get_exit_code() == 0 ? app.exit(x) : complain(usage, std::string{"Usage: "} + x.what());
  }

  config::node_options options;
  config::option_list all;
  config::describe(all, options);
  std::vector<config::complaint> wrong;
  if (!given.config_file.empty()) {
    std::ifstream in{given.config_file};
    std::stringstream text;
    text << in.rdbuf();
    if (!in.good())
      return complain(usage, "InvalidConfig: cannot read " + given.config_file);
    wrong = config::load(all, text.str(), given.config_file);
  }
  const auto also = [&](const char* name, const std::string& value, const char* from) {
    if (!value.empty())
      for (auto& x : config::load_one(all, name, value, from))
        wrong.push_back(std::move(x));
  };
  also("listen", given.listen, "--listen");
  also("data-dir", given.data_dir, "--data-dir");
  for (auto& x : config::judge(options, given.config_file.empty() ? "paddockd" : given.config_file))
    wrong.push_back(std::move(x));
  if (!wrong.empty()) {
    for (const auto& x : wrong)
      complain(usage, "InvalidConfig: " + to_string(x));
    return usage;
  }
  std::optional<egress::egress_config> egress;
  if (!options.egress.empty()) {
    auto read = read_egress_file(options.egress, {options.cluster_namespace, options.template_name});
    if (!read)
      return complain(usage, read.error());
    egress = std::move(*read);
  }
  if (given.print_config) {
    std::cout << config::print_config(all);
    return 0;
  }
  if (!given.embedded && given.config_file.empty())
    return complain(usage, "Usage: say --embedded, or --config FILE to run beside a cluster");
  const remoting_tls tls{options.tls_certificate, options.tls_key, options.tls_ca};
  if (!is_loopback(options.listen.host) && !tls.wanted())
    return complain(usage,
                    "InvalidConfig: listen: " + options.listen.host
                      + " can be reached from other machines, so clients must show certificates: set tls-certificate, tls-key and tls-ca");

  // Before the first thread, so that every thread leaves them to the sigwait below.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  register_messages();
  auto log = make_log(options);
  auto say = [log](spdlog::level::level_enum level, const std::string& text) { log->log(level, one_line(text)); };

  std::unique_ptr<embedded::cluster> built_in;
  host_options how;
  if (given.embedded) {
    embedded::cluster_options wanted;
    if (!options.data_dir.empty())
      wanted.data_dir = options.data_dir;
    wanted.guest_program = given.guest.empty() ? own_folder() / "paddock-guest" : std::filesystem::path{given.guest};
    how.walker = wanted.guest_program.string(); // its pods see the same files as this process
    wanted.name_space = options.cluster_namespace;
    wanted.log = [say](const std::string& text) { say(spdlog::level::info, text); };
    auto started = embedded::start_cluster(std::move(wanted));
    if (!started)
      return complain(failed, started.error());
    built_in = std::move(*started);
    how.access = {built_in->server(), {}, k8s::fixed_token(built_in->token()), options.cluster_namespace};
    how.how.agent_address = workspace::settings::address::pod_ip;
    say(spdlog::level::info, "the embedded cluster serves on " + bracketed(built_in->server().host) + ":"
                               + std::to_string(built_in->server().port) + "; it enforces no network policy");
  } else {
    auto access = access_to_cluster(options.kubeconfig, options.context);
    if (!access)
      return complain(usage, "InvalidConfig: " + access.error());
    how.access = std::move(*access);
    how.how.agent_address =
      options.agent == config::agent_address::pod_ip ? workspace::settings::address::pod_ip : workspace::settings::address::service;
    if (how.access.server.insecure)
      say(spdlog::level::warn, "the API server's certificate is not verified (insecure-skip-tls-verify)");
  }
  how.how.name_space = options.cluster_namespace;
  how.how.template_name = options.template_name;
  how.how.agent_port = options.agent_port;
  how.how.egress = std::move(egress);
  how.how.ingress = ingress_of(options.ingress, given.embedded);
  how.how.ready_timeout = options.ready_timeout;
  how.how.ready_poll = options.ready_poll_interval;
  if (!options.task_pool.empty())
    how.tasks.pool = options.task_pool;
  how.tasks.lease = std::chrono::duration_cast<std::chrono::seconds>(options.task_lease);
  how.tasks.claim_labels = config::read_labels(options.task_labels).value_or(egress::label_map{});
  how.how.epoch_base = options.epoch_base;
  how.api_bound = options.api_request_timeout;
  how.address = options.listen.host;
  how.port = options.listen.port;
  how.tls = tls;
  how.shards = static_cast<std::uint32_t>(options.shards);
  how.idle_after = options.idle_after;
  how.embedded = given.embedded;
  how.instance = new_uuid();
  how.warn = [say](const std::string& text) { say(spdlog::level::warn, text); };

  auto stop_cluster = [&built_in] {
    if (!built_in)
      return;
    const auto ended = std::make_shared<std::promise<void>>();
    built_in->stop([ended] { ended->set_value(); });
    if (ended->get_future().wait_for(4100ms) != std::future_status::ready)
      std::_Exit(0); // guests that are left die with this process
    built_in.reset();
  };
  auto node = start_host(std::move(how));
  if (!node) {
    stop_cluster();
    return complain(failed, node.error());
  }
  const auto address = config::write_listen({options.listen.host, (*node)->port()});
  if (!given.ready_file.empty() && !write_ready_file(given.ready_file, address + "\n")) {
    (*node)->stop(1s);
    stop_cluster();
    return complain(failed, "ReadyFile: cannot write " + given.ready_file);
  }
  std::cout << "ready " << address << std::endl;

  auto signal = 0;
  sigwait(&ending, &signal);
  say(spdlog::level::info, "stopping");
  // Further signals change nothing: what is promised is an end within 5 s, and the alarm keeps it should something hang.
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(5);
  const auto clean = (*node)->stop(500ms);
  if (!clean)
    say(spdlog::level::warn, "some work that was under way did not end in time; whether it was carried out is not known");
  else
    node->reset();
  stop_cluster();
  if (!clean)
    std::_Exit(0); // what has not ended still uses the host
  return 0;
}
