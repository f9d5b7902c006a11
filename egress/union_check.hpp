#pragma once

#include "egress/policy_document.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace paddock::egress {

/// A document that is wide, or that nobody can judge.
struct finding {
  policy_name policy;
  std::size_t item = 0; // which of the objects taken, from 0
  egress_verdict verdict{};
  rule_reason reason{};
  std::string path;   // in the object: `spec.egress[1].to[0].ipBlock`
  std::string detail; // a sentence that begins with the path
};

/// Whether all policies that select a pod together stay within an allowance ([E] 3.3 to 3.11). Takes the objects one after another,
/// core ones first, and keeps no more of them than their verdicts.
class union_check {
public:
  union_check(allowance allowed, judged_pod pod);

  void take(resource_kind kind, const nlohmann::json& object);

  /// Nothing: they do. A policy that is wide goes before one that cannot be judged, and that before the lack of any that
  /// restricts egress at all.
  [[nodiscard]] std::optional<union_refused::cause> refusal() const;
  /// The same as the error of a check about `subject`.
  [[nodiscard]] result<void> verdict(std::string subject) const;
  /// The error where a collection could not be listed, whatever was taken so far.
  [[nodiscard]] union_refused unread(std::string subject, unread_collection what) const;

  /// Each document, in the order taken.
  [[nodiscard]] const std::vector<examined_policy<egress_verdict>>& examined() const noexcept {
    return examined_;
  }
  [[nodiscard]] const std::vector<finding>& findings() const noexcept {
    return findings_;
  }

private:
  [[nodiscard]] union_refused refused(union_refused::cause why, std::string subject) const;

  allowance allowed_;
  judged_pod pod_;
  std::vector<examined_policy<egress_verdict>> examined_;
  std::vector<finding> findings_;
  std::size_t taken_ = 0;
  std::array<std::size_t, 3> taken_of_{}; // by kind
  bool enforced_ = false;
};

} // namespace paddock::egress
