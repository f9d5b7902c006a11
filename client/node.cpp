#include "client/node.hpp"

#include "client/actors.hpp"
#include "client/connection.hpp"

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
