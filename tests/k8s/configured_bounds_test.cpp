#define CAF_SUITE configured_bounds

#include "config/load.hpp"
#include "config/node_options.hpp"
#include "k8s/flows/api_client.hpp"
#include "tests/support/run_flow.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::test;

namespace {

/// The bound that a node's configuration gives, or nothing when it is refused.
std::optional<std::int64_t> bound_of(const std::string& text) {
  auto options = config::node_options{};
  auto all = config::option_list{};
  describe(all, options);
  if (!load(all, text, "p.yaml").empty())
    return std::nullopt;
  return options.api_request_timeout.count();
}

bool builds(std::int64_t bound) {
  real_flow_time time;
  auto exchange = make_http_exchange(time);
  auto options = k8s::api_client_options{};
  options.server.host = "127.0.0.1";
  options.request_timeout_ms = bound;
  return k8s::make_api_client(*exchange, time, std::move(options)).has_value();
}

} // namespace

// [C 6] the bound of a request
SCENARIO("the bound of a request is a whole number of milliseconds from 1000 on, and 30000 unless it is given") {
  for (const auto* text : {"999ms", "0ms", "-1ms", "1000.5ms", ".inf", "inf", "infinity", "off", "none", "1e99s"})
    CHECK(!bound_of("api-request-timeout: " + std::string{text}));
  for (auto ms : {999, 0, -1})
    CHECK(!builds(ms));
  CHECK_EQ(bound_of("api-request-timeout: 1000ms").value_or(0), 1000);
  CHECK(builds(1000));
  CHECK_EQ(bound_of("").value_or(0), 30'000);
  CHECK_EQ(k8s::api_client_options{}.request_timeout_ms, 30'000);
}
