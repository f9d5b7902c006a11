#define CAF_SUITE fence_report

#include "audit/fence_report.hpp"
#include "tests/support/text_file.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::audit;

namespace {

source shipped(const std::string& name) {
  return {name, test::text_of(PADDOCK_DEPLOY_EGRESS "/" + name)};
}

source changed(source from, const std::string& what, const std::string& to) {
  for (auto at = from.text.find(what); at != std::string::npos; at = from.text.find(what, at + to.size()))
    from.text.replace(at, what.size(), to);
  return from;
}

egress::fence_question question() {
  auto how = egress::per_sandbox_egress{"namzu-per-sandbox-egress"};
  how.host_identity = "system:serviceaccount:namzu-sandboxes:namzu-sandbox-host";
  how.permitted_hosts_param = egress::object_reference{"sandbox-permitted-hosts", "platform"};
  return {how, "namzu-sandboxes"};
}

/// The reason, and the command that mends it.
std::string outcome(const std::vector<source>& files, const egress::fence_question& asked = question()) {
  const auto got = check_fence_in(files, asked);
  if (!got)
    return to_string(got.error());
  if (!got->missing)
    return "proved";
  const auto mends = remedy_of(*got, asked);
  REQUIRE(!mends.empty());
  return std::string{egress::reason_of(*got->missing)} + ": " + mends.back();
}

} // namespace

SCENARIO("the fence is proved from files as from a cluster, and what mends it is said") {
  const auto fence = shipped("fence.yaml");
  const auto hosts = shipped("permitted-hosts.yaml");
  const auto apply_fence = std::string{"kubectl apply -f deploy/egress/fence.yaml"};
  const auto apply_hosts = std::string{"kubectl apply -f deploy/egress/permitted-hosts.yaml"};
  CHECK_EQ(outcome({fence, hosts}), "proved");
  CHECK_EQ(outcome({hosts}), "AdmissionFenceMissing: " + apply_fence);
  CHECK_EQ(outcome({fence}), "AdmissionFenceMissing: " + apply_hosts);
  CHECK_EQ(outcome({fence, changed(hosts, "name: sandbox-permitted-hosts\n  namespace", "name: other\n  namespace")}),
           "PermittedHostsUnavailable: " + apply_hosts);
  CHECK_EQ(outcome({changed(fence, "failurePolicy: Fail", "failurePolicy: Ignore"), hosts}), "AdmissionFenceNotEnforcing: " + apply_fence);
  CHECK_EQ(outcome({fence, changed(hosts, "failurePolicy: Fail", "failurePolicy: Ignore")}), "AdmissionFenceNotEnforcing: " + apply_hosts);
  CHECK_EQ(outcome({fence, hosts, shipped("fence.yaml")}).find("fence.yaml:"), 0u);
  CHECK_EQ(outcome({changed(fence, "failurePolicy: Fail", "failurePolicy: on")}).find("fence.yaml:"), 0u);
  auto without = question();
  without.how.permitted_hosts_param.reset();
  CHECK_EQ(outcome({fence}, without), "proved");
}

SCENARIO("what of the shipped files differs from the configuration is said before the command") {
  auto asked = question();
  asked.how.admission_policy_name = "ours";
  asked.how.host_identity = "somebody";
  asked.name_space = "n";
  const auto got = check_fence_in({shipped("fence.yaml")}, asked);
  REQUIRE(got);
  CHECK_EQ(remedy_of(*got, asked),
           (std::vector<std::string>{
             "# in deploy/egress/fence.yaml write ours instead of namzu-per-sandbox-egress",
             "# in deploy/egress/fence.yaml write somebody instead of system:serviceaccount:namzu-sandboxes:namzu-sandbox-host",
             "# in deploy/egress/fence.yaml write n instead of namzu-sandboxes", "kubectl apply -f deploy/egress/fence.yaml"}));
}
