#include "embedded/fault.hpp"

namespace paddock::embedded {

void fault_plan::add(fault_rule rule) {
  all_.push_back({std::move(rule), 0});
}

void fault_plan::clear() {
  all_.clear();
}

std::optional<fault> fault_plan::next(std::string_view method, std::string_view path) {
  std::optional<fault> out;
  for (auto& x : all_) {
    if ((!x.rule.method.empty() && x.rule.method != method) || !path.starts_with(x.rule.path_prefix))
      continue;
    ++x.seen;
    if (!out && (x.rule.occurrence == 0 || x.rule.occurrence == x.seen))
      out = x.rule.what;
  }
  return out;
}

} // namespace paddock::embedded
