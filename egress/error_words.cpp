#include "egress/errors.hpp"

namespace paddock::egress {

std::string_view to_string(unread_collection::cause x) {
  return x == unread_collection::cause::forbidden ? "forbidden" : "absent";
}

std::string_view to_string(egress_verdict x) {
  switch (x) {
    case egress_verdict::not_evaluable: return "not-evaluable";
    case egress_verdict::does_not_select: return "does-not-select";
    case egress_verdict::widens_egress: return "widens-egress";
    case egress_verdict::not_egress_scoped: return "not-egress-scoped";
    case egress_verdict::within: return "within";
  }
  return "";
}

std::string_view to_string(union_refused::cause x) {
  switch (x) {
    case union_refused::cause::policy_widens_egress: return "policy-widens-egress";
    case union_refused::cause::no_enforcing_policy: return "no-enforcing-policy";
    case union_refused::cause::not_evaluable: return "not-evaluable";
  }
  return "";
}

std::string_view to_string(ingress_verdict x) {
  switch (x) {
    case ingress_verdict::not_evaluable: return "not-evaluable";
    case ingress_verdict::does_not_select: return "does-not-select";
    case ingress_verdict::opens_agent_port: return "opens-agent-port";
    case ingress_verdict::not_ingress_scoped: return "not-ingress-scoped";
    case ingress_verdict::covers: return "covers";
  }
  return "";
}

std::string_view to_string(ingress_refused::cause x) {
  switch (x) {
    case ingress_refused::cause::no_covering_policy: return "no-covering-policy";
    case ingress_refused::cause::port_open: return "port-open";
    case ingress_refused::cause::not_evaluable: return "not-evaluable";
  }
  return "";
}

} // namespace paddock::egress
