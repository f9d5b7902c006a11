#include "apps/paddock-cluster/agents.hpp"

#include "apps/paddock-cluster/program.hpp"
#include "embedded/flows/remote_agents.hpp"

#include <iostream>
#include <sstream>
#include <unistd.h>

namespace paddock {

namespace {

using maker = std::function<tl::expected<std::unique_ptr<embedded::remote_agent>, std::string>(k8s::cluster_access)>;

std::function<void(std::string)> log_of(const agent_command& given) {
  if (given.quiet)
    return [](const std::string&) {};
  return [](const std::string& line) { std::cerr << line + '\n'; };
}

int run(const agent_command& given, const maker& make, const std::string& what) {
  auto signals = end_signals{};
  auto access = k8s::read_kubeconfig(given.kubeconfig, given.context);
  if (!access)
    return complain(exit_usage, "InvalidConfig", access.error());
  if (access->server.insecure)
    std::cerr << "warning: the API server's certificate is not verified (insecure-skip-tls-verify)\n";
  auto started = make(std::move(*access));
  if (!started)
    return complain(exit_failed, what + "NotStarted", started.error());
  std::cout << "ready" << std::endl;
  signals.wait();
  stop_and_wait([&](std::function<void()> ended) { (*started)->stop(std::move(ended)); });
  return 0;
}

/// This machine's name as a DNS subdomain.
std::string machine_name() {
  auto text = std::string(256, '\0');
  if (::gethostname(text.data(), text.size() - 1) != 0)
    return "paddock";
  text.resize(text.find('\0'));
  for (auto& c : text)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' ? '-' : c;
  return text.empty() ? "paddock" : text;
}

/// The names of `text`, or the one that is no controller.
tl::expected<std::set<std::string>, std::string> read_names(const std::string& text) {
  if (text.empty())
    return embedded::controllers_beside_a_manager();
  if (text == "all")
    return embedded::all_controllers();
  std::set<std::string> result;
  auto from = std::istringstream{text};
  for (std::string name; std::getline(from, name, ',');) {
    if (!embedded::all_controllers().contains(name))
      return tl::unexpected{name};
    result.insert(name);
  }
  return result;
}

} // namespace

int run_kubelet(const agent_command& given) {
  auto options = embedded::remote_kubelet_options{};
  options.node = given.node.empty() ? machine_name() : given.node;
  if (!given.data_dir.empty())
    options.data_dir = given.data_dir;
  options.guest_program = given.guest;
  options.log = log_of(given);
  return run(
    given, [&](k8s::cluster_access access) { return embedded::start_kubelet(std::move(access), options); }, "Kubelet");
}

int run_controllers(const agent_command& given) {
  auto options = embedded::controllers_options{};
  auto names = read_names(given.run);
  if (!names) {
    auto known = std::string{};
    for (const auto& x : embedded::all_controllers())
      known += " " + x;
    return complain(exit_usage, "Usage", "--run: '" + names.error() + "' is no controller; there are:" + known);
  }
  options.run = *names;
  if (!given.home.empty())
    options.home = given.home;
  options.log = log_of(given);
  return run(
    given, [&](k8s::cluster_access access) { return embedded::start_controllers(std::move(access), options); }, "Controllers");
}

} // namespace paddock
