#include "embedded/field_set.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

constexpr std::size_t deepest = 128;

std::optional<field_set> read_below(const json& fields, std::size_t depth) {
  if (!fields.is_object() || depth > deepest)
    return std::nullopt;
  field_set out;
  for (const auto& [step, value] : fields.items()) {
    if (step == ".") {
      out.insert();
      continue;
    }
    if (step.size() < 2 || step[1] != ':' || std::string_view{"fkvi"}.find(step[0]) == std::string_view::npos)
      return std::nullopt;
    auto below = read_below(value, depth + 1);
    if (!below)
      return std::nullopt;
    if (below->empty())
      below->insert();
    out.at(step) = std::move(*below);
  }
  return out;
}

} // namespace

std::optional<field_set> field_set::read(const json& fields) {
  return read_below(fields, 0);
}

json field_set::to_json() const {
  auto out = json::object();
  if (here_ && !below_.empty())
    out["."] = json::object();
  for (const auto& [step, below] : below_)
    out[step] = below.to_json();
  return out;
}

const field_set* field_set::find(std::string_view step) const {
  const auto found = below_.find(step);
  return found == below_.end() ? nullptr : &found->second;
}

field_set& field_set::at(std::string_view step) {
  const auto found = below_.find(step);
  return found != below_.end() ? found->second : below_[std::string{step}];
}

void field_set::erase(std::string_view step) {
  if (const auto found = below_.find(step); found != below_.end())
    below_.erase(found);
}

void field_set::tidy() {
  for (auto& x : below_)
    x.second.tidy();
  std::erase_if(below_, [](const auto& x) { return x.second.empty(); });
}

void field_set::add(const field_set& other) {
  here_ = here_ || other.here_;
  for (const auto& [step, below] : other.below_)
    at(step).add(below);
}

field_set field_set::united(const field_set& other) const {
  auto out = *this;
  out.add(other);
  return out;
}

field_set field_set::without(const field_set& other) const {
  field_set out;
  out.here_ = here_ && !other.here_;
  for (const auto& [step, below] : below_) {
    const auto* taken = other.find(step);
    auto left = taken == nullptr ? below : below.without(*taken);
    if (!left.empty())
      out.below_.emplace(step, std::move(left));
  }
  return out;
}

field_set field_set::common(const field_set& other) const {
  field_set out;
  out.here_ = here_ && other.here_;
  for (const auto& [step, below] : below_) {
    const auto* theirs = other.find(step);
    if (theirs == nullptr)
      continue;
    auto both = below.common(*theirs);
    if (!both.empty())
      out.below_.emplace(step, std::move(both));
  }
  return out;
}

std::string member_step(std::string_view name) {
  return "f:" + std::string{name};
}

std::string step_text(std::string_view step) {
  const auto what = step.substr(2);
  if (step[0] == 'f')
    return "." + std::string{what};
  if (step[0] != 'k')
    return step[0] == 'v' ? "[=" + std::string{what} + "]" : "[" + std::string{what} + "]";
  std::string out;
  const auto keys = json::parse(what, nullptr, false);
  if (keys.is_object())
    for (const auto& [key, value] : keys.items())
      out += (out.empty() ? "" : ",") + key + "=" + encode_json(value);
  return "[" + out + "]";
}

} // namespace paddock::embedded
