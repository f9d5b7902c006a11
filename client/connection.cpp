#include "client/connection.hpp"

#include "base/time.hpp"
#include "remoting/actor_config.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

#include <algorithm>
#include <set>
#include <thread>

namespace paddock::client {

namespace {

using found = tl::expected<node_actor, caf::error>;

/// Asks for the actor that is published at an address. `then` is called once, with an error at the end of `bound` at the latest.
void find(caf::actor_system& in, const options& how, caf::timespan bound, std::function<void(found)> then) {
  const auto middleman = how.tls.wanted() ? in.openssl_manager().actor_handle() : in.middleman().actor_handle();
  in.spawn([middleman, host = how.host, port = how.port, bound, then = std::move(then)](caf::event_based_actor* self) {
    mail::ask(self, middleman, bound, caf::connect_atom_v, host, port)
      .then(
        [self, then](const caf::node_id&, const caf::strong_actor_ptr& node, const std::set<std::string>& messages) {
          if (!node)
            then(tl::unexpected{caf::make_error(caf::sec::no_actor_published_at_port)});
          else if (!self->system().assignable<node_actor>(messages))
            then(tl::unexpected{caf::make_error(caf::sec::unexpected_actor_messaging_interface)});
          else
            then(caf::actor_cast<node_actor>(node));
        },
        [then](const caf::error& why) { then(tl::unexpected{why}); });
  });
}

std::string place_of(const options& how) {
  return how.host + ":" + std::to_string(how.port);
}

problem unreachable(const options& how, const std::string& why) {
  return make_problem(verdict::unreachable, "Unreachable", "no node answers at " + place_of(how) + ": " + why);
}

problem mismatch(const options& how, const std::string& theirs) {
  return make_problem(verdict::refused, "ProtocolMismatch",
                      "the node at " + place_of(how) + theirs + ", this client " + std::to_string(message_protocol));
}

problem not_found(const options& how, const caf::error& why) {
  if (why == caf::sec::unexpected_actor_messaging_interface)
    return mismatch(how, " speaks another protocol");
  if (why == caf::sec::request_timeout || why == caf::sec::connection_timeout)
    return unreachable(how, "no answer in time");
  return unreachable(how, why == caf::sec::cannot_connect_to_node ? "the connection is refused" : to_string(why));
}

} // namespace

struct connection::own_system {
  explicit own_system(const remoting_tls& tls) : config(tls, 2), system(config) {
  }
  actor_config config;
  caf::actor_system system;
};

connection::connection(std::unique_ptr<own_system> own, caf::actor_system& in) : own_(std::move(own)), system_(in) {
}

connection::~connection() = default;

result<std::shared_ptr<connection>> connection::dial(std::unique_ptr<own_system> own, caf::actor_system& in, const options& how,
                                                     caf::timespan bound) {
  auto out = std::shared_ptr<connection>{new connection{std::move(own), in}};
  auto promise = std::make_shared<std::promise<found>>();
  auto future = promise->get_future();
  find(in, how, bound, [promise](found x) { promise->set_value(std::move(x)); });
  auto node = future.get();
  if (!node && node.error() == caf::sec::request_timeout && out->own_)
    // The system ends when the attempt to connect has, which may take minutes.
    std::thread{[left = std::exchange(out, nullptr)] {}}.detach();
  if (!node)
    return tl::unexpected{not_found(how, node.error())};
  out->node_ = std::move(*node);
  return out;
}

result<std::shared_ptr<const connection>> connection::meet(caf::actor_system* in, const options& how) {
  if (auto bad = check(how.tls); !bad.empty())
    return tl::unexpected{make_problem(verdict::usage, "TlsConfig", bad)};
  const auto time = real_time{};
  const auto until = deadline{time, std::min(bounded(how.budget), caf::timespan{std::chrono::seconds{10}})};
  // A connection that was made and lost before anything was asked over it is made again: nothing can have happened.
  constexpr auto most_attempts = 3;
  for (auto attempt = 1;; ++attempt) {
    auto own = in == nullptr ? std::make_unique<own_system>(how.tls) : nullptr;
    auto& system = own ? own->system : *in;
    auto got = dial(std::move(own), system, how, bounded(until.left(time)));
    if (!got)
      return tl::unexpected{std::move(got.error())};
    auto about = (*got)->wait_for<node_info>((*got)->node_, effect::reads, bounded(until.left(time)), atom::info_v);
    if (!about && attempt < most_attempts && !until.passed(time))
      continue;
    if (!about)
      return tl::unexpected{unreachable(how, about.error().message)};
    if (about->protocol != message_protocol)
      return tl::unexpected{mismatch(how, " (version " + about->version + ") speaks protocol " + std::to_string(about->protocol))};
    (*got)->about_ = std::move(*about);
    return std::move(*got);
  }
}

result<std::shared_ptr<const connection>> connection::open(const options& how) {
  [[maybe_unused]] static const auto once = [] {
    register_messages();
    return true;
  }();
  return meet(nullptr, how);
}

result<std::shared_ptr<const connection>> connection::open(caf::actor_system& in, const options& how) {
  return meet(&in, how);
}

problem explained(effect what, const caf::error& why) {
  if (why.category() == caf::type_id_v<verdict>)
    return to_problem(why);
  if (what == effect::reads)
    return make_problem(verdict::unreachable, "Unreachable", "the node did not answer: " + to_string(why));
  return to_problem(why);
}

caf::timespan bounded(std::chrono::nanoseconds budget) {
  return std::clamp<caf::timespan>(budget, std::chrono::milliseconds{1}, std::chrono::hours{24 * 365});
}

} // namespace paddock::client
