#pragma once

#include "embedded/bootstrap.hpp"
#include "embedded/flows/cluster.hpp"
#include "embedded/flows/control_client.hpp"
#include "embedded/pod_facts.hpp"
#include "guest/flows/transport.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <fstream>
#include <future>
#include <iterator>
#include <set>
#include <signal.h>
#include <stdlib.h>

namespace paddock::embedded {

using namespace std::chrono_literals;
using nlohmann::json;
namespace asio = boost::asio;
namespace fs = std::filesystem;

inline constexpr auto sandboxes = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes";
inline constexpr auto core = "/api/v1/namespaces/default/";

/// A folder that goes with the test.
struct scratch {
  scratch() {
    auto name = (fs::temp_directory_path() / "paddock-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      CAF_FAIL("no temporary folder");
    path = name;
  }
  ~scratch() {
    auto ignored = std::error_code{};
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

inline cluster_options options_for(const std::optional<fs::path>& folder) {
  cluster_options result;
  result.data_dir = folder;
  result.guest_program = PADDOCK_GUEST_PROGRAM;
  result.log = [](std::string line) { MESSAGE(line); };
  return result;
}

inline json sandbox(const std::string& name) {
  auto agent = json{{"name", "agent"}, {"image", "guest:1"}};
  agent["ports"] = json::array({json{{"name", "agent"}, {"containerPort", 1024}}});
  agent["volumeDevices"] = json::array({json{{"name", "workspace"}, {"devicePath", "/dev/workspace"}}});
  auto disk = json{{"metadata", {{"name", "workspace"}}}};
  disk["spec"] = json{{"volumeMode", "Block"}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  disk["spec"]["accessModes"] = json::array({"ReadWriteOnce"});
  auto spec = json{{"service", true}};
  spec["podTemplate"]["metadata"]["labels"]["app"] = "box";
  spec["podTemplate"]["spec"] = json{{"terminationGracePeriodSeconds", 5}, {"containers", json::array({agent})}};
  spec["volumeClaimTemplates"] = json::array({disk});
  return json{{"apiVersion", "agents.x-k8s.io/v1beta1"},
              {"kind", "Sandbox"},
              {"metadata", {{"name", name}, {"namespace", "default"}}},
              {"spec", spec}};
}

/// A cluster and a client of it.
class world {
public:
  explicit world(cluster_options how) {
    auto started = start_cluster(std::move(how));
    if (!started)
      CAF_FAIL(started.error());
    cluster_ = std::move(*started);
    client = std::make_unique<control_client>(*exchange_, time, cluster_->server(), cluster_->token());
  }
  ~world() {
    // The client's connections first.
    client.reset();
  }

  tl::expected<json, call_failure> send(k8s::call what) {
    return test::run_flow(on, client->send(std::move(what)));
  }
  json get(const std::string& path) {
    auto got = send(k8s::get(path));
    return got ? *got : json{};
  }
  json must(k8s::call what) {
    auto path = what.method + " " + what.path;
    auto got = send(std::move(what));
    if (!got)
      CAF_FAIL(path << ": " << got.error().status << " " << got.error().message);
    return *got;
  }
  /// Reads until `enough` or 20 s have passed; gives what was read last, null where nothing stands.
  json until(const std::string& path, const std::function<bool(const json&)>& enough) {
    auto end = deadline{time, 20s};
    for (;;) {
      auto got = get(path);
      if (enough(got))
        return got;
      if (end.passed(time)) {
        CAF_FAIL("not in time: " << path << " is " << got.dump());
        return got;
      }
      test::run_flow(on, time.sleep_until(time.now() + 5ms));
    }
  }
  json ready(const std::string& name) {
    return until(sandboxes + ("/" + name), [](const json& x) { return text_in(condition_of(x, "Ready"), "/status") == "True"; });
  }
  /// Whether that process is no more within 20 s.
  bool ends(pid_t which) {
    auto end = deadline{time, 20s};
    while (::kill(which, 0) == 0 && !end.passed(time))
      test::run_flow(on, time.sleep_until(time.now() + 5ms));
    return ::kill(which, 0) != 0;
  }
  json gone(const std::string& path) {
    return until(path, [](const json& x) { return x.is_null(); });
  }
  guest::endpoint endpoint_of(const json& pod) {
    return {text_in(pod, "/status/podIP"), 1024, secret{uid_of(pod)}};
  }
  std::string boot_of(const json& pod) {
    auto got = test::run_flow(on, guests_->write_file(endpoint_of(pod), "probe", "x", deadline{time, 10s}));
    if (!got)
      CAF_FAIL(guest::to_string(got.error()));
    return got->boot ? got->boot->text() : "";
  }
  cluster& it() {
    return *cluster_;
  }
  guest::host& guests() {
    return *guests_;
  }

  asio::io_context on;
  real_flow_time time;

private:
  std::unique_ptr<http_exchange> exchange_ = make_http_exchange(time);
  std::unique_ptr<guest::host> guests_ = guest::make_host(time);
  std::unique_ptr<cluster> cluster_;

public:
  std::unique_ptr<control_client> client;
};

/// The guest process of a pod: found by its token, which only it and its kin hold.
inline pid_t guest_of(const std::string& pod_uid) {
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    auto file = std::ifstream{entry.path() / "environ", std::ios::binary};
    auto text = std::string{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    if (text.find("NAMZU_AGENT_BIND_TOKEN=" + pod_uid) != std::string::npos)
      return static_cast<pid_t>(std::stol(name));
  }
  return 0;
}

inline json mode(const std::string& to) {
  return json{{"spec", {{"operatingMode", to}}}};
}

inline std::function<bool(const json&)> reason(std::string type, std::string what) {
  return [type, what](const json& x) { return text_in(condition_of(x, type), "/reason") == what; };
}

inline json finalizers(const json& all) {
  return json{{"metadata", {{"finalizers", all}}}};
}

inline std::string sandbox_path(const std::string& name) {
  return sandboxes + ("/" + name);
}

inline bool ours(const json& owner, const json& child) {
  const auto& found = controller_of(child);
  return text_in(found, "/uid") == uid_of(owner) && value_in(found, "/blockOwnerDeletion") == json(true);
}

} // namespace paddock::embedded
