#include "embedded/flows/node_agent.hpp"

#include "embedded/kubelet.hpp"
#include "embedded/pod_facts.hpp"

#include <boost/asio/this_coro.hpp>

#include <fstream>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <thread>

namespace paddock::embedded {

namespace {

using namespace std::chrono_literals;

constexpr auto lease_interval = 10s;
constexpr auto report_interval = 300s;
constexpr auto unknown_kind_interval = 60s;

std::string first_line(const char* file) {
  std::string result;
  auto from = std::ifstream{file};
  std::getline(from, result);
  return result;
}

std::string system_name() {
  auto from = std::ifstream{"/etc/os-release"};
  for (std::string line; std::getline(from, line);)
    if (line.starts_with("PRETTY_NAME=\"") && line.size() > 14)
      return line.substr(13, line.size() - 14);
  return "Linux";
}

} // namespace

node_facts read_node_facts(std::string name, const std::filesystem::path& folder) {
  node_facts result;
  result.name = std::move(name);
  result.cpus = std::max(1u, std::thread::hardware_concurrency());
  struct sysinfo memory {};
  if (::sysinfo(&memory) == 0)
    result.memory = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) == 0)
    result.storage = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
  result.machine_id = first_line("/etc/machine-id");
  result.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  struct utsname machine {};
  if (::uname(&machine) == 0) {
    result.kernel = machine.release;
    result.architecture = std::string_view{machine.machine} == "x86_64"    ? "amd64"
                          : std::string_view{machine.machine} == "aarch64" ? "arm64"
                                                                           : machine.machine;
  }
  result.system = system_name();
  result.version = PADDOCK_VERSION;
  return result;
}

node_agent::node_agent(control_client& client, node_facts facts, std::function<void(std::string)> log) :
  client_(client), facts_(std::move(facts)), log_(std::move(log)) {
}

/// Makes the Node where it is missing, and reports it. False: to be tried again.
boost::asio::awaitable<bool> node_agent::register_node() {
  auto got = co_await client_.send(read_node(facts_.name));
  if (!got && got.error().status == 404)
    got = co_await client_.send(make_node(facts_));
  unknown_kind_ = !got && got.error().status == 404;
  if (got)
    got = co_await client_.send(report_node(*got, facts_, client_.time().wall()));
  if (!got) {
    if (!unknown_kind_)
      complain(got.error().message);
    co_return false;
  }
  node_ = std::move(*got);
  said_.clear();
  registered_ = true;
  co_return true;
}

/// False: the Node is to be looked at again.
boost::asio::awaitable<bool> node_agent::renew() {
  auto got = co_await client_.send(renew_lease(facts_.name, client_.time().wall()));
  if (!got && got.error().status == 404) {
    got = co_await client_.send(make_lease(node_, client_.time().wall()));
    if (!got && got.error().status == 404)
      co_return false;
  }
  if (got)
    said_.clear();
  else
    complain("the Lease cannot be renewed: " + got.error().message);
  co_return true;
}

/// Logs what fails, once until something else does or it succeeds.
void node_agent::complain(const std::string& what) {
  if (std::exchange(said_, what) != what)
    log_("node " + facts_.name + ": " + what);
}

boost::asio::awaitable<void> node_agent::run() {
  auto wait = back_off{100ms, 10s};
  auto report_at = client_.time().now();
  for (;;) {
    auto state = co_await boost::asio::this_coro::cancellation_state;
    if (state.cancelled() != boost::asio::cancellation_type::none)
      co_return;
    if (client_.time().now() >= report_at) {
      auto done = co_await register_node();
      if (!done) {
        auto pause = unknown_kind_ ? time_source::clock::duration{unknown_kind_interval} : wait.next();
        co_await client_.time().sleep_until(client_.time().now() + pause);
        continue;
      }
      wait.reset();
      report_at = client_.time().now() + report_interval;
    }
    auto kept = co_await renew();
    if (!kept)
      report_at = client_.time().now();
    co_await client_.time().sleep_until(client_.time().now() + lease_interval);
  }
}

} // namespace paddock::embedded
