#define CAF_SUITE errors

#include "egress/errors.hpp"
#include "tests/egress/refusals.hpp"
#include "tests/support/check_json.hpp"

using namespace paddock::egress;
using nlohmann::json;

SCENARIO("a refused host is quoted, and nothing was written") {
  auto no = egress_error{illegal_host{"*.example.com", "contains *"}};
  CHECK_EQ(reason_of(no), "NetworkPolicyHost");
  CHECK(says(no, "\"*.example.com\" contains *"));
  CHECK(says(no, "nothing was written"));
  CHECK_JSON(details_of(no), (json{{"host", "*.example.com"}}));
}

SCENARIO("a refused union says what was examined, what was not read and what to do") {
  auto no = union_refused{union_refused::cause::policy_widens_egress,
                          "pod p",
                          {{"b", "2"}, {"a", "1"}},
                          policy_kind::deny_all,
                          {{{resource_kind::network_policy, "wide"}, egress_verdict::widens_egress, "egress[0] reaches everything"},
                           {{resource_kind::cilium_network_policy, "other"}, egress_verdict::does_not_select, {}}},
                          {}};
  CHECK(says(no, "pod p: NetworkPolicy/wide lets the pod reach more"));
  CHECK(says(no, "Configured: deny-all"));
  CHECK(says(no, "Pod labels: a=1,b=2."));
  CHECK(says(no, "NetworkPolicy/wide: widens-egress (egress[0] reaches everything), CiliumNetworkPolicy/other: does-not-select"));
  CHECK(!says(no, "named-object-only"));
  no.refusal = union_refused::cause::not_evaluable;
  no.pod_labels.clear();
  no.unread = {{"ciliumnetworkpolicies", "/apis/x", unread_collection::cause::forbidden, "403"}};
  CHECK(says(no, "Pod labels: (none)."));
  CHECK(says(no, "Not read: ciliumnetworkpolicies (/apis/x), forbidden: 403."));
  CHECK(says(no, "grant list on ciliumnetworkpolicies"));
  CHECK(says(no, "egress.verify: 'named-object-only'"));
  auto fields = details_of(no);
  CHECK_EQ(fields["refusal"], "not-evaluable");
  CHECK_EQ(fields["examined"][0]["detail"], "egress[0] reaches everything");
  CHECK_EQ(fields["unread"][0]["why"], "forbidden");
}

SCENARIO("a refused ingress claims an empty namespace only where a list came back empty") {
  auto no = ingress_refused{ingress_refused::cause::no_covering_policy, "pod p", {}, 1024, {}, {}};
  CHECK(says(no, "the namespace holds no policy"));
  CHECK(says(no, "No policy was read at all"));
  CHECK(says(no, "TCP 1024"));
  CHECK(says(no, "ingress: 'unverified'"));
  no.refusal = ingress_refused::cause::not_evaluable;
  no.unread = {{"ciliumnetworkpolicies", "/apis/x", unread_collection::cause::absent, "404"}};
  CHECK(!says(no, "holds no policy"));
  CHECK(says(no, "choose an engine"));
  no.examined = {{{resource_kind::network_policy, "n"}, ingress_verdict::covers, "why"}};
  CHECK(!says(no, "No policy was read at all"));
  CHECK(says(no, "NetworkPolicy/n [covers: why]"));
}
