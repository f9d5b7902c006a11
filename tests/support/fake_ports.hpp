#pragma once

#include "workspace/ports.hpp"

#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::workspace {

// Fakes of the workspace's ports. Each keeps every question with its callback, in the order of asking, until the test
// answers it; nothing is answered by itself, also not a cancelled question. For tests of one thread.

/// Answers `fake.suspends.at(0).to({after, done{}})`, or with a failure through `refuse(fake.suspends.at(0), after, why)`.
class fake_transitions_port final : public transitions_port {
public:
  struct open_question {
    ticket name = 0;
    id which;
    open_options how;
    session before;
    deadline until;
    then<opened> to;
  };
  struct take_up_question {
    ticket name = 0;
    id which;
    session before;
    deadline until;
    then<done> to;
  };
  struct suspend_question {
    ticket name = 0;
    id which;
    suspend_options how;
    session before;
    deadline until;
    then<done> to;
  };
  using resume_question = open_question;
  struct remove_question {
    ticket name = 0;
    id which;
    remove_options how;
    session before;
    deadline until;
    then<done> to;
  };
  struct reset_question {
    ticket name = 0;
    id which;
    epoch_reset what;
    session before;
    deadline until;
    then<done> to;
  };
  struct stamp_question {
    ticket name = 0;
    id which;
    session before;
    deadline until;
    then<stamped> to;
  };
  struct explain_question {
    ticket name = 0;
    id which;
    std::string operation;
    session before;
    failure original;
    deadline until;
    then<done> to;
  };

  using refresh_question = take_up_question;
  struct reread_question {
    ticket name = 0;
    id which;
    session now;
    deadline until;
    std::function<void(result<std::optional<found_pod>>)> to;
  };

  void open(ticket name, id which, open_options how, session before, deadline until, then<opened> to) override {
    log.emplace_back("open");
    opens.push_back({name, std::move(which), std::move(how), std::move(before), until, std::move(to)});
  }
  void take_up(ticket name, id which, session before, deadline until, then<done> to) override {
    log.emplace_back("take_up");
    take_ups.push_back({name, std::move(which), std::move(before), until, std::move(to)});
  }
  void suspend(ticket name, id which, suspend_options how, session before, deadline until, then<done> to) override {
    log.emplace_back("suspend");
    suspends.push_back({name, std::move(which), std::move(how), std::move(before), until, std::move(to)});
  }
  void resume(ticket name, id which, open_options how, session before, deadline until, then<opened> to) override {
    log.emplace_back("resume");
    resumes.push_back({name, std::move(which), std::move(how), std::move(before), until, std::move(to)});
  }
  void remove(ticket name, id which, remove_options how, session before, deadline until, then<done> to) override {
    log.emplace_back("remove");
    removes.push_back({name, std::move(which), std::move(how), std::move(before), until, std::move(to)});
  }
  void reset_epoch(ticket name, id which, epoch_reset what, session before, deadline until, then<done> to) override {
    log.emplace_back("reset_epoch");
    resets.push_back({name, std::move(which), std::move(what), std::move(before), until, std::move(to)});
  }
  void stamp(ticket name, id which, session before, deadline until, then<stamped> to) override {
    log.emplace_back("stamp");
    stamps.push_back({name, std::move(which), std::move(before), until, std::move(to)});
  }
  void refresh(ticket name, id which, session before, deadline until, then<done> to) override {
    log.emplace_back("refresh");
    refreshes.push_back({name, std::move(which), std::move(before), until, std::move(to)});
  }
  void reread(ticket name, id which, session now, deadline until, std::function<void(result<std::optional<found_pod>>)> to) override {
    log.emplace_back("reread");
    rereads.push_back({name, std::move(which), std::move(now), until, std::move(to)});
  }
  void explain(ticket name, id which, std::string operation, session before, failure original, deadline until, then<done> to) override {
    log.emplace_back("explain");
    explains.push_back({name, std::move(which), std::move(operation), std::move(before), std::move(original), until, std::move(to)});
  }
  void cancel(ticket name) override {
    log.emplace_back("cancel");
    cancelled.push_back(name);
  }
  void saw(ticket name, k8s::sighting x) override {
    seen.emplace_back(name, std::move(x));
  }

  std::vector<open_question> opens;
  std::vector<take_up_question> take_ups;
  std::vector<suspend_question> suspends;
  std::vector<resume_question> resumes;
  std::vector<remove_question> removes;
  std::vector<reset_question> resets;
  std::vector<stamp_question> stamps;
  std::vector<explain_question> explains;
  std::vector<refresh_question> refreshes;
  std::vector<reread_question> rereads;
  std::vector<ticket> cancelled;
  std::vector<std::pair<ticket, k8s::sighting>> seen;
  std::vector<std::string> log; // the name of every call but `saw`, in order
};

class fake_inventory_port final : public inventory_port {
public:
  struct list_question {
    deadline until;
    std::function<void(result<std::vector<summary>>)> to;
  };
  struct get_question {
    id which;
    deadline until;
    std::function<void(result<summary>)> to;
  };

  void list(deadline until, std::function<void(result<std::vector<summary>>)> to) override {
    lists.push_back({until, std::move(to)});
  }
  void get(id which, deadline until, std::function<void(result<summary>)> to) override {
    gets.push_back({std::move(which), until, std::move(to)});
  }

  std::vector<list_question> lists;
  std::vector<get_question> gets;
};

/// The test plays the guest: `fake.starts.at(0).events.output(...)`, `.events.wants_input(...)`, `.events.end(...)`.
class fake_guest_port final : public guest_port {
public:
  struct start_question {
    ticket name = 0;
    guest::endpoint where;
    guest_job what;
    deadline until;
    call_events events;

    /// @pre it is such a job
    [[nodiscard]] const guest::command& command() const {
      return std::get<run_job>(what).what;
    }
  };
  struct ask_question {
    ticket name = 0;
    guest::endpoint where;
    question what;
    deadline until;
    std::function<void(result<reply>)> to;
  };
  struct steered {
    ticket name = 0;
    steering how;
  };
  struct given {
    ticket name = 0;
    std::size_t bytes = 0;
  };
  struct moved {
    ticket name = 0;
    std::optional<guest::endpoint> to;
  };
  struct piece {
    ticket name = 0;
    std::string bytes;
    bool last = false;
  };

  void start(ticket name, guest::endpoint where, guest_job what, deadline until, call_events events) override {
    log.emplace_back("start");
    starts.push_back({name, std::move(where), std::move(what), until, std::move(events)});
  }
  void ask(ticket name, guest::endpoint where, question what, deadline until, std::function<void(result<reply>)> to) override {
    log.emplace_back("ask");
    asks.push_back({name, std::move(where), std::move(what), until, std::move(to)});
  }
  void steer(ticket name, steering how) override {
    log.emplace_back("steer");
    steers.push_back({name, std::move(how)});
  }
  void move(ticket name, std::optional<guest::endpoint> to) override {
    log.emplace_back("move");
    moves.push_back({name, std::move(to)});
  }
  void grant(ticket name, std::size_t bytes) override {
    log.emplace_back("grant");
    grants.push_back({name, bytes});
  }
  void input(ticket name, std::vector<std::byte> bytes, bool last) override {
    log.emplace_back("input");
    inputs.push_back({name, std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, last});
  }
  void cancel(ticket name) override {
    log.emplace_back("cancel");
    cancelled.push_back(name);
  }

  /// All that was granted to one call.
  [[nodiscard]] std::size_t granted(ticket name) const {
    return std::accumulate(grants.begin(), grants.end(), std::size_t{0},
                           [&](std::size_t sum, const given& x) { return x.name == name ? sum + x.bytes : sum; });
  }

  std::vector<start_question> starts;
  std::vector<ask_question> asks;
  std::vector<steered> steers;
  std::vector<moved> moves;
  std::vector<given> grants;
  std::vector<piece> inputs;
  std::vector<ticket> cancelled;
  std::vector<std::string> log; // the name of every call, in order
};

/// Answers a question of `fake_transitions_port` with a failure.
template <class Question>
void refuse(const Question& asked, session after, failure why) {
  asked.to({std::move(after), tl::unexpected{std::move(why)}});
}

/// A piece of output, as `call_events::output` carries it.
inline std::vector<std::byte> to_bytes(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

} // namespace paddock::workspace
