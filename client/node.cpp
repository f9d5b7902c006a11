#include "client/node.hpp"

#include "client/actors.hpp"
#include "client/connection.hpp"
#include "client/task_state.hpp"

#include <utility>

namespace paddock::client {

remote_node::remote_node(std::shared_ptr<const connection> by, std::chrono::nanoseconds budget) :
  by_(std::move(by)), budget_(bounded(budget)) {
}

result<remote_node> remote_node::connect(const options& how) {
  return connection::open(how).map([&](auto&& by) { return remote_node{std::move(by), how.budget}; });
}

const node_info& remote_node::about() const {
  return by_->about();
}

remote_node remote_node::within(std::chrono::nanoseconds budget) const {
  return {by_, budget};
}

result<std::vector<workspace_view>> remote_node::list() const {
  return by_->ask<std::vector<workspace_view>>(effect::reads, budget_, atom::list_v, budget_);
}

remote_workspace remote_node::workspace(std::string id) const {
  return {by_, std::move(id), budget_};
}

task_holder remote_node::hold_tasks(std::function<void(const task_event&)> told) const {
  return task_holder{std::make_unique<task_holder::state>(by_, budget_, std::move(told))};
}

result<released_view> remote_node::release(std::string selector) const {
  return by_->ask<released_view>(effect::changes, budget_, atom::release_v, std::move(selector), budget_);
}

result<capacity_view> remote_node::capacity(std::string pool) const {
  return by_->ask<capacity_view>(effect::reads, budget_, atom::capacity_v, std::move(pool), budget_);
}

const char* version() noexcept {
  return PADDOCK_VERSION;
}

result<remote_node> actor_access::connect(caf::actor_system& in, const options& how) {
  return connection::open(in, how).map([&](auto&& by) { return remote_node{std::move(by), how.budget}; });
}

const node_actor& actor_access::actor_of(const remote_node& x) {
  return x.by_->node();
}

} // namespace paddock::client
