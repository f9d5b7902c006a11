#pragma once

#include "egress/ports.hpp"

#include <string>
#include <utility>
#include <vector>

namespace paddock::egress {

// Fakes of the ports of egress. Each keeps every question with its callback, in the order of asking, until the test answers it;
// nothing is answered by itself, also not a cancelled question. For tests of one thread.

class fake_fence_port : public fence_port {
public:
  struct question {
    ticket name = 0;
    deadline until;
    std::function<void(result<void>)> to;
  };
  void prove(ticket name, deadline until, std::function<void(result<void>)> to) override {
    proofs.push_back({name, until, std::move(to)});
  }
  void cancel(ticket name) override {
    cancelled.push_back(name);
  }
  std::vector<question> proofs;
  std::vector<ticket> cancelled;
};

class fake_gate_port final : public gate_port {
public:
  struct question {
    std::string what; // named-object, union, ingress
    ticket name = 0;
    checked_pod which;
    deadline until;
    then to;
  };
  void verify_named_object(ticket name, deadline until, then to) override {
    asked.push_back({"named-object", name, {}, until, std::move(to)});
  }
  void verify_union(ticket name, checked_pod which, deadline until, then to) override {
    asked.push_back({"union", name, std::move(which), until, std::move(to)});
  }
  void verify_ingress(ticket name, checked_pod which, deadline until, then to) override {
    asked.push_back({"ingress", name, std::move(which), until, std::move(to)});
  }
  void cancel(ticket name) override {
    cancelled.push_back(name);
  }
  std::vector<question> asked;
  std::vector<ticket> cancelled;
};

class fake_policy_port : public policy_port {
public:
  struct sandbox_question {
    ticket name = 0;
    std::string sandbox_name;
    deadline until;
    std::function<void(result<std::optional<grantee>>)> to;
  };
  struct set_question {
    ticket name = 0;
    grant_target whose;
    label_map pod_labels;
    std::vector<std::string> allowed_hosts;
    deadline until;
    std::function<void(write_end)> to;
  };
  struct read_question {
    ticket name = 0;
    grant_target whose;
    deadline until;
    std::function<void(result<std::optional<nlohmann::json>>)> to;
  };
  struct drop_question {
    ticket name = 0;
    deadline until;
    std::function<void(result<std::vector<std::string>>)> to;
  };
  void read_sandbox(ticket name, std::string sandbox_name, deadline until,
                    std::function<void(result<std::optional<grantee>>)> to) override {
    log.emplace_back("sandbox");
    sandboxes.push_back({name, std::move(sandbox_name), until, std::move(to)});
  }
  void set(ticket name, grant_target whose, label_map pod_labels, std::vector<std::string> allowed_hosts, deadline until,
           std::function<void(write_end)> to) override {
    log.emplace_back("set");
    sets.push_back({name, std::move(whose), std::move(pod_labels), std::move(allowed_hosts), until, std::move(to)});
  }
  void read(ticket name, grant_target whose, deadline until, std::function<void(result<std::optional<nlohmann::json>>)> to) override {
    log.emplace_back("read");
    reads.push_back({name, std::move(whose), until, std::move(to)});
  }
  void drop_predecessors(ticket name, grant_target, deadline until, std::function<void(result<std::vector<std::string>>)> to) override {
    log.emplace_back("drop");
    drops.push_back({name, until, std::move(to)});
  }
  void cancel(ticket name) override {
    log.emplace_back("cancel");
    cancelled.push_back(name);
  }
  std::vector<sandbox_question> sandboxes;
  std::vector<set_question> sets;
  std::vector<read_question> reads;
  std::vector<drop_question> drops;
  std::vector<ticket> cancelled;
  std::vector<std::string> log; // the name of every call, in order
};

} // namespace paddock::egress
