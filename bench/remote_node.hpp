#pragma once

// The programs paddock-cluster and paddockd beside this one, and a client of the node.

#include "bench/cluster_client.hpp"
#include "messages/error.hpp"
#include "messages/interfaces.hpp"
#include "messages/mail.hpp"
#include "remoting/actor_config.hpp"

#include <caf/io/all.hpp>

#include <fstream>
#include <set>

namespace paddock::bench {

/// A cluster with real guests, a node beside it, and this program as a client of the node.
class remote_node {
public:
  remote_node() {
    const auto colon = node_program_.address().rfind(':');
    const auto port = static_cast<std::uint16_t>(std::stoi(node_program_.address().substr(colon + 1)));
    auto found = system_.middleman().remote_actor<node_actor>("127.0.0.1", port);
    if (!found)
      give_up("the node is not reached: " + to_string(found.error()));
    node_ = *found;
  }

  [[nodiscard]] const node_actor& node() const {
    return node_;
  }
  [[nodiscard]] caf::actor_system& system() {
    return system_;
  }
  [[nodiscard]] const served_program& node_program() const {
    return node_program_;
  }
  [[nodiscard]] const served_program& cluster_program() const {
    return cluster_program_;
  }

private:
  static bool prepare() {
    std::signal(SIGPIPE, SIG_IGN);
    register_messages();
    return true;
  }
  [[nodiscard]] std::string kubeconfig() const {
    return (folder_.path() / "kubeconfig").string();
  }
  /// Written once the cluster has said where it is.
  [[nodiscard]] std::string config() const {
    const auto file = (folder_.path() / "paddock.yaml").string();
    std::ofstream{file} << "listen: 127.0.0.1:0\nkubeconfig: " << kubeconfig() << "\nagent-address: pod-ip\ningress: unverified\n";
    return file;
  }

  bool prepared_ = prepare();
  temporary_folder folder_;
  served_program cluster_program_{{"paddock-cluster", "--quiet", "--kubeconfig-out", kubeconfig()}};
  served_program node_program_{{"paddockd", "--config", config()}};
  actor_config config_{{}, 2};
  caf::actor_system system_{config_};
  node_actor node_;
};

/// What a workspace goes through, in this order.
struct life {
  bool suspend_and_resume = false;
  bool remove = false;
};

/// Lives the life of workspace `which` on `node`: open, one command, and what `how` says. Tells `to` how it ended: empty is well.
inline void live(caf::event_based_actor* self, const node_actor& node, const std::string& which, life how, const caf::actor& to) {
  constexpr caf::timespan patience = std::chrono::minutes{5};
  const auto end = [self, to, which](const std::string& why) {
    mail::tell(self, to, which, why);
    self->quit();
  };
  const auto failed = [end](const caf::error& why) { end(to_problem(why).reason + ": " + to_problem(why).message); };
  const auto remove = [=] {
    if (!how.remove)
      return end({});
    self->request(node, caf::infinite, atom::remove_v, which, remove_spec{}, patience).then([end] { end({}); }, failed);
  };
  const auto resume = [=] {
    self->request(node, caf::infinite, atom::resume_v, which, open_spec{}, patience)
      .then([remove](const opened_view&) { remove(); }, failed);
  };
  const auto used = [=] {
    if (!how.suspend_and_resume)
      return remove();
    self->request(node, caf::infinite, atom::suspend_v, which, suspend_spec{}, patience)
      .then([resume](const workspace_view&) { resume(); }, failed);
  };
  auto sink = self->spawn([used_by = caf::actor_cast<caf::actor>(self)](sink_actor::pointer mine) -> sink_actor::behavior_type {
    return {
      [](atom::output, std::uint8_t, const bytes&) {},
      [](atom::wanted, std::uint64_t) {},
      [](atom::noted, const call_note&) {},
      [=](atom::ended, const call_end& x) {
        mail::tell_anonymously(used_by, x.exit_code == 0 ? std::string{} : std::string{"the command ended with another code"});
        mine->quit();
      },
      [=](atom::failed, const problem& x) {
        mail::tell_anonymously(used_by, x.reason + ": " + x.message);
        mine->quit();
      },
    };
  });
  self->become([=](const std::string& why) { why.empty() ? used() : end(why); });
  self->request(node, caf::infinite, atom::open_v, which, open_spec{}, patience)
    .then(
      [=](const opened_view&) {
        auto what = run_spec{};
        what.program = "true";
        self->request(node, caf::infinite, atom::call_v, which, call_spec{what}, sink, patience).then([](const call_actor&) {}, failed);
      },
      failed);
}

/// Lets all of them live, `at_once` at a time. The answer is how many did not end well.
inline std::size_t live_all(remote_node& on, const std::vector<std::string>& names, std::size_t at_once, life how) {
  auto self = caf::scoped_actor{on.system()};
  auto next = std::size_t{0};
  auto failures = std::size_t{0};
  const auto begin = [&] { on.system().spawn(live, on.node(), names[next++], how, caf::actor_cast<caf::actor>(self)); };
  while (next < std::min(at_once, names.size()))
    begin();
  for (auto ended = std::size_t{0}; ended < names.size(); ++ended) {
    self->receive([&](const std::string& which, const std::string& why) {
      if (why.empty())
        return;
      ++failures;
      std::cerr << which << ": " << why << '\n';
    });
    if (next < names.size())
      begin();
  }
  return failures;
}

} // namespace paddock::bench
