#include "egress/rule_verdict.hpp"

#include <utility>

namespace paddock::egress {

using nlohmann::json;

std::string_view to_string(rule_reason x) {
  switch (x) {
    case rule_reason::none: return "none";
    case rule_reason::nothing_permitted: return "nothing-permitted";
    case rule_reason::everywhere: return "everywhere";
    case rule_reason::destination: return "destination";
    case rule_reason::entity: return "entity";
    case rule_reason::host: return "host";
    case rule_reason::host_pattern: return "host-pattern";
    case rule_reason::dns_names: return "dns-names";
    case rule_reason::not_understood: return "not-understood";
  }
  return "";
}

rule_verdict rule_verdict::beyond(rule_reason why, std::string path, std::string detail) {
  return {answer::beyond, why, {std::move(path), std::move(detail)}};
}

rule_verdict rule_verdict::unknown(unreadable where) {
  return {answer::unknown, rule_reason::not_understood, std::move(where)};
}

} // namespace paddock::egress
