#pragma once

#include "client/gate.hpp"
#include "client/task.hpp"
#include "messages/interfaces.hpp"

namespace paddock::client {

struct task_holder::state {
  state(std::shared_ptr<const connection> through, caf::timespan bound, std::function<void(const task_event&)> told);
  ~state();
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  void let_go() const;

  std::shared_ptr<const connection> by; // goes last
  caf::timespan budget;
  std::shared_ptr<gate> hearing = std::make_shared<gate>();
  task_holder_actor self;
};

} // namespace paddock::client
