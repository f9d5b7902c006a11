#define CAF_SUITE node

// The verbs as programs call them: over TCP on loopback, from threads of their own, in an actor system of the library.

#include "client/node.hpp"
#include "client/run.hpp"
#include "messages/error.hpp"
#include "remoting/actor_config.hpp"
#include "tests/client/client_fixture.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <future>
#include <thread>

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

/// Takes everything and answers nothing.
caf::behavior silent_node(caf::event_based_actor* self) {
  auto kept = std::make_shared<std::vector<caf::typed_response_promise<node_info>>>();
  return {[=](atom::info) { return kept->emplace_back(self->make_response_promise<node_info>()); }};
}

/// Lists nothing, refuses every call and every task, of which it tells an event before, and ends when it is asked for a workspace or told
/// to remove one.
caf::behavior unhelpful_node(caf::event_based_actor* self, std::uint32_t protocol) {
  return {
    [=](atom::info) {
      auto out = node_info{};
      out.version = "9.9";
      out.protocol = protocol;
      return out;
    },
    [](atom::list, caf::timespan) { return std::vector<workspace_view>{}; },
    [](atom::call, const std::string&, const call_spec&, const sink_actor&, caf::timespan) -> caf::result<call_actor> {
      return to_error(make_problem(verdict::refused, "WorkspaceSuspended", "asleep"));
    },
    [=](atom::acquire, const task_spec&, const task_holder_actor& holder, caf::timespan) -> caf::result<task_actor> {
      mail::tell(self, holder, atom::noted_v, task_event{"gone", {}});
      return to_error(make_problem(verdict::refused, "Acquire", "no"));
    },
    [](atom::pin, const std::string&, const pin_spec&) -> caf::result<pinned_guest_actor> {
      return to_error(make_problem(verdict::usage, "PinIncomplete", "no pod"));
    },
    [=](atom::get, const std::string&, caf::timespan) -> caf::result<workspace_view> {
      self->quit();
      return self->make_response_promise<workspace_view>();
    },
    [=](atom::remove, const std::string&, const remove_spec&, caf::timespan) -> caf::result<void> {
      self->quit();
      return self->make_response_promise<void>();
    },
  };
}

struct fixture {
  fixture() : system(config) {
  }
  ~fixture() {
    caf::anon_send_exit(published, caf::exit_reason::kill);
  }
  result<remote_node> connect(std::uint32_t protocol = message_protocol) {
    published = system.spawn(unhelpful_node, protocol);
    auto how = options{};
    how.port = system.middleman().publish(caf::actor_cast<node_actor>(published), 0, "127.0.0.1").value();
    return remote_node::connect(how);
  }

  client_config registered; // before the first system
  actor_config config{remoting_tls{}, 2};
  caf::actor_system system;
  caf::actor published;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_tests, fixture)

SCENARIO("a node says who it is, and answers") {
  const auto node = connect();
  REQUIRE(node);
  CHECK_EQ(node->about().version, "9.9");
  CHECK(node->list().value().empty());
}

SCENARIO("a node of another protocol is refused before anything is asked of it") {
  const auto node = connect(message_protocol + 1);
  REQUIRE(!node);
  CHECK_EQ(node.error().how, verdict::refused);
  CHECK_EQ(node.error().reason, "ProtocolMismatch");
}

SCENARIO("a node that says nothing is unreachable, within the budget and not the grace of verbs") {
  published = system.spawn(silent_node);
  auto how = options{};
  how.port = system.middleman().publish(caf::actor_cast<node_actor>(published), 0, "127.0.0.1").value();
  how.budget = 200ms;
  CHECK_EQ(remote_node::connect(how).error().how, verdict::unreachable);
}

SCENARIO("where nobody listens a node is unreachable") {
  auto context = boost::asio::io_context{};
  const auto loopback = boost::asio::ip::make_address("127.0.0.1");
  auto how = options{};
  how.port = boost::asio::ip::tcp::acceptor{context, {loopback, 0}}.local_endpoint().port(); // and is closed
  CHECK_EQ(remote_node::connect(how).error().how, verdict::unreachable);
}

SCENARIO("files of TLS that cannot be read are refused before anything is dialled") {
  auto how = options{};
  how.tls = {"/no/such/file", "/no/such/file", "/no/such/file"};
  CHECK_EQ(remote_node::connect(how).error().reason, "TlsConfig");
}

SCENARIO("a refused call is a named error, and leaves nothing behind that keeps the connection") {
  // Destroying the last handle waits for every actor of the connection.
  const auto node = connect();
  REQUIRE(node);
  CHECK_EQ(node->workspace("desk").start(run_spec{}).error().reason, "WorkspaceSuspended");
  CHECK_EQ(output_of(node->workspace("desk"), run_spec{}).error().reason, "WorkspaceSuspended");
  CHECK_EQ(node->workspace("desk").pinned({}).start(run_spec{}).error().reason, "PinIncomplete");
}

SCENARIO("a holder that is destroyed waits for what is just being told") {
  const auto node = connect();
  REQUIRE(node);
  auto begun = std::promise<void>{};
  auto go = std::promise<void>{};
  auto told = std::atomic{false};
  {
    auto holder = std::make_unique<task_holder>(node->hold_tasks([&, going = go.get_future().share()](const task_event&) {
      begun.set_value();
      going.wait();
      std::this_thread::yield();
      told = true;
    }));
    CHECK_EQ(holder->acquire({}).error().reason, "Acquire");
    begun.get_future().wait();
    auto destroying = std::thread{[&] { holder.reset(); }};
    go.set_value();
    destroying.join();
  }
  CHECK(told);
}

SCENARIO("a node that ends during a change leaves open what it did, and the handle stays so") {
  const auto node = connect();
  REQUIRE(node);
  const auto desk = node->workspace("desk");
  CHECK_EQ(desk.remove({}).error().how, verdict::unknown);
  CHECK_EQ(desk.suspend().error().how, verdict::unknown);
  CHECK_EQ(node->list().error().how, verdict::unreachable);
}

SCENARIO("a node that ends during a read is unreachable") {
  const auto node = connect();
  REQUIRE(node);
  CHECK_EQ(node->workspace("desk").get().error().how, verdict::unreachable);
}

CAF_TEST_FIXTURE_SCOPE_END()
