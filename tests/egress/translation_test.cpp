#define CAF_SUITE translation

#include "egress/flows/translation.hpp"
#include "tests/egress/refusals.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/io_context.hpp>

using namespace paddock;
using namespace paddock::egress;
using nlohmann::json;

namespace {

egress_config resolved(policy_engine engine) {
  auto out = egress_config{};
  out.policy = resolved_hosts{};
  out.engine = engine;
  return out;
}

struct fixture {
  boost::asio::io_context context;
  test::manual_time time;
  int asked = 0;
  result<std::vector<std::string>> hosts = std::vector<std::string>{"a.example", "b.example"};
  resolver resolve = [this](deadline) { return answer(); };

  boost::asio::awaitable<result<std::vector<std::string>>> answer() {
    ++asked;
    co_return hosts;
  }
  result<policy_object> translated(egress_config how) {
    auto target = policy_target{"namzu-sandboxes", "namzu-task"};
    return test::run_flow(context, translate_resolved(std::move(how), std::move(target), resolve, deadline{time, std::chrono::seconds{1}}));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(translation_tests, fixture)

// [E 14]
SCENARIO("a resolver under core is refused, and is never asked") {
  auto no = translated(resolved(policy_engine::core));
  REQUIRE(!no);
  CHECK(refused_as<unenforceable_policy>(no.error()).policy_kind == policy_kind::resolver);
  CHECK_EQ(asked, 0);
}

// [E 16]
SCENARIO("a resolver is asked once, and its hosts are what the rule holds") {
  auto got = translated(resolved(policy_engine::cilium));
  REQUIRE(got.has_value());
  CHECK_EQ(asked, 1);
  CHECK(got->manifest["spec"]["egress"][1]["toFQDNs"] == json({{{"matchName", "a.example"}}, {{"matchName", "b.example"}}}));
}

// [E 30]
SCENARIO("a narrowed resolver under core is not asked") {
  auto how = resolved(policy_engine::core);
  how.cilium_narrowing.emplace().ports = port_list{443};
  auto no = translated(how);
  REQUIRE(!no);
  CHECK(refused_as<unenforceable_policy>(no.error()).policy_kind == policy_kind::resolver);
  CHECK_EQ(asked, 0);
}

SCENARIO("a resolver that fails fails the translation, and is asked again by the next one") {
  hosts = tl::unexpected{egress_error{k8s::failure{k8s::cancelled{"resolve", {}, false}}}};
  CHECK(!translated(resolved(policy_engine::cilium)));
  hosts = std::vector<std::string>{"a.example"};
  CHECK(translated(resolved(policy_engine::cilium)).has_value());
  CHECK_EQ(asked, 2);
}

SCENARIO("no other kind of policy asks a resolver") {
  auto how = egress_config{};
  how.policy = deny_all{};
  resolve = nullptr;
  CHECK(translated(how).has_value());
}

CAF_TEST_FIXTURE_SCOPE_END()
