#include "egress/refusal_text.hpp"

namespace paddock::egress {

namespace {

std::string name_of(const policy_name& x) {
  return std::string{to_string(x.kind)} + "/" + x.name;
}

/// The first policy of this verdict; "a policy" where there is none.
template <class Verdict>
std::string first_of(const std::vector<examined_policy<Verdict>>& examined, Verdict wanted) {
  for (const auto& x : examined)
    if (x.verdict == wanted)
      return name_of(x.policy);
  return "a policy";
}

std::string unread_text(const std::vector<unread_collection>& unread) {
  auto got = std::string{};
  for (const auto& x : unread)
    got += " Not read: " + x.resource + " (" + x.path + "), " + std::string{to_string(x.why)} + ": " + x.reason + ".";
  return got;
}

std::string not_readable(const std::vector<unread_collection>& unread) {
  return unread.front().resource + " could not be listed";
}

/// What mends a collection that could not be read.
std::string repair_of(const unread_collection& x) {
  return x.why == unread_collection::cause::forbidden
           ? "grant list on " + x.resource + " in this namespace"
           : "choose an engine whose policies the cluster serves (it does not serve " + x.resource + ")";
}

// -- egress -----------------------------------------------------------------

std::string summary_of(const union_refused& x) {
  switch (x.refusal) {
    case union_refused::cause::policy_widens_egress:
      return first_of(x.examined, egress_verdict::widens_egress) + " lets the pod reach more than the configuration allows";
    case union_refused::cause::no_enforcing_policy: return "no policy that selects the pod restricts its egress, so it reaches everything";
    case union_refused::cause::not_evaluable: break;
  }
  return x.unread.empty() ? first_of(x.examined, egress_verdict::not_evaluable) + " could not be judged" : not_readable(x.unread);
}

std::string remedy_of(const union_refused& x) {
  switch (x.refusal) {
    case union_refused::cause::policy_widens_egress:
      return "Remove that policy, narrow it, keep it from selecting these pods, or configure what it allows.";
    case union_refused::cause::no_enforcing_policy:
      return "Apply the policy that the configuration means; `paddock egress render` prints it.";
    case union_refused::cause::not_evaluable: break;
  }
  auto repair = x.unread.empty() ? "write that policy so that it can be judged" : repair_of(x.unread.front());
  return "To mend it, " + repair + "; egress.verify: 'named-object-only' gives up this check.";
}

// -- ingress ----------------------------------------------------------------

std::string summary_of(const ingress_refused& x) {
  switch (x.refusal) {
    case ingress_refused::cause::port_open:
      return first_of(x.examined, ingress_verdict::opens_agent_port) + " opens the agent port to everyone";
    case ingress_refused::cause::no_covering_policy:
      return x.examined.empty() ? "the namespace holds no policy" : "no policy that selects the pod restricts its ingress";
    case ingress_refused::cause::not_evaluable: break;
  }
  return x.unread.empty() ? first_of(x.examined, ingress_verdict::not_evaluable) + " could not be judged" : not_readable(x.unread);
}

std::string remedy_of(const ingress_refused& x) {
  auto repair =
    x.unread.empty() ? "apply the baseline manifest (deploy/egress), or narrow the policy that is named here" : repair_of(x.unread.front());
  return "To mend it, " + repair + "; ingress: 'unverified' gives up this check.";
}

} // namespace

std::string refusal_text(const union_refused& x) {
  auto got = x.subject + ": " + summary_of(x) + ". Configured: " + std::string{to_string(x.policy_kind)}
             + ". Pod labels: " + to_text(x.pod_labels) + ".";
  auto examined = std::string{};
  for (const auto& each : x.examined)
    examined += (examined.empty() ? "" : ", ") + name_of(each.policy) + ": " + std::string{to_string(each.verdict)}
                + (each.detail ? " (" + *each.detail + ")" : "");
  if (!examined.empty())
    got += " Examined: " + examined + ".";
  return got + unread_text(x.unread) + " " + remedy_of(x);
}

std::string refusal_text(const ingress_refused& x) {
  auto got =
    x.subject + ": " + summary_of(x) + ". Agent port: TCP " + std::to_string(x.agent_port) + ". Pod labels: " + to_text(x.pod_labels) + ".";
  auto examined = std::string{};
  for (const auto& each : x.examined)
    examined += (examined.empty() ? "" : ", ") + name_of(each.policy) + " [" + std::string{to_string(each.verdict)}
                + (each.detail ? ": " + *each.detail : "") + "]";
  got += examined.empty() ? " No policy was read at all." : " Examined: " + examined + ".";
  return got + unread_text(x.unread) + " " + remedy_of(x);
}

} // namespace paddock::egress
