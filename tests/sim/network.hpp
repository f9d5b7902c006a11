#pragma once

#include "guest/flows/host.hpp"
#include "k8s/flows/api.hpp"
#include "tests/sim/judge.hpp"
#include "tests/sim/planted.hpp"
#include "tests/support/manual_time.hpp"
#include "workspace/ports.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace paddock::sim {

/// A request or a command that waits for its fate.
template <class What, class Answer>
struct waiting {
  waiting(const boost::asio::any_io_executor& lane, std::string of, shared_verb verb, What asked, deadline end) :
    host(std::move(of)), by(std::move(verb)), what(std::move(asked)), until(end), bell(lane, boost::asio::steady_timer::time_point::max()) {
  }
  void answer(Answer x) {
    got.emplace(std::move(x));
    bell.cancel();
  }
  std::string host; // with its life
  shared_verb by;
  What what;
  deadline until;
  std::optional<Answer> got;
  boost::asio::steady_timer bell;
};

/// A command on its way to a guest.
struct dialled {
  guest::endpoint where;
  std::string command; // empty: the privilege probe
};

using request = waiting<k8s::call, k8s::result<k8s::answer>>;
using command = waiting<dialled, guest::result<guest::execution>>;

/// Everything between the hosts and their world. What is sent waits here until the adversary says what becomes of it; what was
/// given up may still arrive.
class network {
public:
  network(paddock::test::manual_time& clock, cluster& around, judge& watched_by, const planted_bug* with) :
    time(clock), on(around), eye(watched_by), bug(with) {
  }

  // -- what becomes of requests ----------------------------------------------------

  enum class fate {
    answered,
    answer_lost,  // carried out; the host knows nothing
    given_up,     // the host knows nothing, and it may arrive later
    server_error, // carried out, and answered 500
    never_sent,   // the host knows that nothing was sent
  };
  void decide(std::size_t nth, fate how);
  void deliver_late(std::size_t nth);
  void decide_command(std::size_t nth, fate how);
  void deliver_late_command(std::size_t nth);
  /// Ends what has waited for as long as it may.
  void expire();
  /// When the first of them has.
  [[nodiscard]] std::optional<time_source::clock::time_point> next() const;
  /// A ticket that no actor has.
  workspace::ticket ticket() {
    return --last_ticket_;
  }

  paddock::test::manual_time& time;
  cluster& on;
  judge& eye;
  const planted_bug* bug;
  std::vector<std::shared_ptr<request>> requests;
  std::vector<std::shared_ptr<command>> commands;
  struct late_request {
    shared_verb by;
    std::string host;
    k8s::call what;
  };
  std::vector<late_request> late;
  struct late_command {
    shared_verb by;
    dialled what;
  };
  std::vector<late_command> late_commands;

private:
  workspace::ticket last_ticket_ = std::uint64_t{1} << 40;
  k8s::result<k8s::answer> carry_out(const std::string& host, const shared_verb& by, const k8s::call& what, const char* remark);
  guest::result<guest::execution> run(const shared_verb& by, const dialled& what);
};

/// Where one life of a host meets the network.
struct place {
  [[nodiscard]] std::string name() const {
    return slot + std::to_string(life);
  }
  network& net;
  std::string slot;
  int life = 0;
  std::uint64_t term = 0;
  bool dead = false;
  shared_verb verb = nullptr;       // that is under way
  workspace::session held = {};     // what the last one gave back
  std::set<std::string> found = {}; // pods of that Sandbox that calls were moved to since
};

/// The API server as a host sees it.
class host_api final : public k8s::api {
public:
  explicit host_api(place& at) : at_(at) {
  }
  boost::asio::awaitable<k8s::result<k8s::answer>> send(k8s::call what, deadline until) override;

private:
  boost::asio::awaitable<k8s::result<k8s::answer>> exchange(k8s::call what, deadline until);
  place& at_;
};

/// The guests as a host sees them.
class host_guests final : public guest::host {
public:
  explicit host_guests(place& at) : at_(at) {
  }
  boost::asio::awaitable<guest::result<guest::execution>> execute(guest::endpoint where, guest::command what, guest::output_sink& output,
                                                                  guest::input_source* input, deadline until) override;
  boost::asio::awaitable<guest::result<guest::health>> look(guest::endpoint where, deadline until) override;
  boost::asio::awaitable<guest::result<guest::file_content>> read_file(guest::endpoint where, std::string path, std::size_t limit,
                                                                       deadline until) override;
  boost::asio::awaitable<guest::result<guest::file_written>> write_file(guest::endpoint where, std::string path, std::string bytes,
                                                                        deadline until) override;

private:
  boost::asio::awaitable<guest::result<guest::execution>> exchange(dialled what, deadline until);
  place& at_;
};

} // namespace paddock::sim
