#include "apps/paddock/client.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>

#include <thread>

namespace paddock::cli {

client::client(const client_options& how) : how_(how), config_(how.tls, 2), system_(config_) {
}

tl::expected<std::unique_ptr<client>, problem> client::connect(const client_options& how) {
  // A connection that was made and lost before anything was asked over it is made again: nothing can have happened.
  constexpr auto most_attempts = 3;
  for (auto attempt = 1;; ++attempt) {
    auto lost = false;
    auto got = connect_once(how, lost);
    if (got || !lost || attempt == most_attempts)
      return got;
  }
}

tl::expected<std::unique_ptr<client>, problem> client::connect_once(const client_options& how, bool& lost) {
  const auto place = how.host + ":" + std::to_string(how.port);
  const auto unreachable = [&](const std::string& why) {
    return tl::unexpected{make_problem(verdict::unreachable, "Unreachable", "no node answers at " + place + ": " + why)};
  };
  if (auto bad = check(how.tls); !bad.empty())
    return tl::unexpected{make_problem(verdict::usage, "TlsConfig", bad)};
  [[maybe_unused]] static const auto once = [] {
    register_messages();
    return true;
  }();
  auto out = std::unique_ptr<client>{new client{how}};
  // The connect and the handshake block, and the other side may be anything that listens: it gets a thread and a bound.
  using found = caf::expected<node_actor>;
  auto promise = std::make_shared<std::promise<found>>();
  auto future = promise->get_future();
  auto* system = &out->system_;
  std::thread{[promise, system, how] {
    promise->set_value(how.tls.wanted() ? caf::openssl::remote_actor<node_actor>(*system, how.host, how.port)
                                        : system->middleman().remote_actor<node_actor>(how.host, how.port));
  }}.detach();
  const auto bound = std::min<caf::timespan>(how.budget, std::chrono::seconds{10});
  if (future.wait_for(bound) != std::future_status::ready) {
    // The thread above still uses the system, so both are left to the end of the process.
    static_cast<void>(out.release());
    return unreachable("no answer in time");
  }
  auto node = future.get();
  if (!node)
    return unreachable(node.error() == caf::sec::cannot_connect_to_node ? "the connection is refused" : to_string(node.error()));
  out->node_ = *node;
  auto about = out->ask<node_info>(effect::reads, atom::info_v);
  if (!about) {
    lost = true;
    return unreachable(about.error().message);
  }
  if (about->protocol != message_protocol)
    return tl::unexpected{make_problem(verdict::refused, "ProtocolMismatch",
                                       "the node at " + place + " (version " + about->version + ") speaks protocol "
                                         + std::to_string(about->protocol) + ", this client " + std::to_string(message_protocol))};
  out->about_ = std::move(*about);
  return out;
}

problem client::node_gone(effect what) {
  return what == effect::reads ? make_problem(verdict::unreachable, "Unreachable", "the node went away before it answered")
                               : make_problem(verdict::unknown, "OutcomeUnknown",
                                              "the node went away before it answered; whether the request was carried out is not known");
}

problem client::explain(effect what, const caf::error& why) {
  if (why.category() == caf::type_id_v<verdict>)
    return to_problem(why);
  if (what == effect::reads)
    return make_problem(verdict::unreachable, "Unreachable", "the node did not answer: " + to_string(why));
  return to_problem(why);
}

} // namespace paddock::cli
