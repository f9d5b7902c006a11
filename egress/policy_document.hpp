#pragma once

#include "egress/allowance.hpp"
#include "egress/errors.hpp"
#include "egress/policy_object.hpp"
#include "egress/rule_verdict.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace paddock::egress {

/// Which pod is asked about.
struct judged_pod {
  std::string name_space;
  label_map labels;
};

/// What one document of a policy object is to a pod ([E] 3.4, 3.11). An object of Cilium has one for `spec` and one for each of `specs`.
struct document_verdict {
  egress_verdict is = egress_verdict::within;
  rule_reason reason = rule_reason::none; // of `widens_egress` and `not_evaluable`
  unreadable where{};                     // likewise: the path in the object (`spec.egress[0].to[1]`)
};

/// Tells `then` the verdict on each document of `object` in its order. Those that select nodes are left out. The own `spec` of an
/// object that `allowed` names, as long as it is what is meant, is not compared with what it itself allows.
void judge_documents(resource_kind kind, const nlohmann::json& object, const allowance& allowed, const judged_pod& pod,
                     const std::function<void(document_verdict)>& then);

} // namespace paddock::egress
