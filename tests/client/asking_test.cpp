#define CAF_SUITE asking

#include "tests/client/client_fixture.hpp"

using namespace paddock;
using namespace paddock::client;
using namespace paddock::test;

namespace {

struct fixture : client_fixture {
  template <class T>
  using answers = std::shared_ptr<std::vector<result<T>>>;

  answers<workspace_view> get() {
    auto out = std::make_shared<std::vector<result<workspace_view>>>();
    client::ask<workspace_view>(
      sys, node, effect::reads, 30s, [out](result<workspace_view> x) { out->push_back(std::move(x)); }, atom::get_v, "desk"s,
      caf::timespan{10s});
    sched.run();
    return out;
  }
  answers<void> remove() {
    auto out = std::make_shared<std::vector<result<void>>>();
    client::ask<void>(
      sys, node, effect::changes, 30s, [out](result<void> x) { out->push_back(std::move(x)); }, atom::remove_v, "desk"s, remove_spec{},
      caf::timespan{10s});
    sched.run();
    return out;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(asking_tests, fixture)

SCENARIO("the answer of the node is the answer") {
  auto got = get();
  CHECK_EQ(script->gets, std::vector<std::string>{"desk"});
  CHECK(got->empty());
  auto view = workspace_view{};
  view.workspace = "desk";
  answer([&] { script->views.at(0).deliver(view); });
  REQUIRE_EQ(got->size(), 1u);
  CHECK_EQ(got->at(0).value().workspace, "desk");
}

SCENARIO("a named error arrives as it is, with its details") {
  auto got = remove();
  answer([&] {
    script->removed.at(0).deliver(to_error(problem{verdict::overtaken, "WorkspaceReplaced", "another stands", R"({"expectedUid":"S1"})"}));
  });
  REQUIRE_EQ(got->size(), 1u);
  const auto& why = got->at(0).error();
  CHECK_EQ(why.how, verdict::overtaken);
  CHECK_EQ(why.reason, "WorkspaceReplaced");
  CHECK_EQ(why.details, R"({"expectedUid":"S1"})");
}

SCENARIO("a node that goes away leaves open whether a change was made") {
  auto got = remove();
  end_node();
  REQUIRE_EQ(got->size(), 1u);
  CHECK_EQ(got->at(0).error().how, verdict::unknown);
  CHECK_EQ(got->at(0).error().reason, "OutcomeUnknown");
}

SCENARIO("a node that goes away before a read was answered is unreachable") {
  auto got = get();
  end_node();
  REQUIRE_EQ(got->size(), 1u);
  CHECK_EQ(got->at(0).error().how, verdict::unreachable);
}

SCENARIO("a node that does not answer in time leaves open whether a change was made, and a late answer is nobody's") {
  auto changed = remove();
  auto read = get();
  pass(29s);
  CHECK(changed->empty());
  CHECK(read->empty());
  pass(2s);
  REQUIRE_EQ(changed->size(), 1u);
  CHECK_EQ(changed->at(0).error().reason, "OutcomeUnknown");
  REQUIRE_EQ(read->size(), 1u);
  CHECK_EQ(read->at(0).error().reason, "Unreachable");
  answer([&] {
    script->removed.at(0).deliver();
    script->views.at(0).deliver(workspace_view{});
  });
  end_node();
  CHECK_EQ(changed->size(), 1u);
  CHECK_EQ(read->size(), 1u);
}

SCENARIO("a node that was gone before it was asked is told at once") {
  end_node();
  auto got = remove();
  CHECK(script->removes.empty());
  REQUIRE_EQ(got->size(), 1u);
  CHECK_EQ(got->at(0).error().how, verdict::unknown);
}

CAF_TEST_FIXTURE_SCOPE_END()
