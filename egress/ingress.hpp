#pragma once

#include "egress/errors.hpp"
#include "egress/policy_reader.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddock::egress {

/// `config.ingress` ([E] 6.1). Its absence is the strict setting.
struct ingress_config {
  bool verify = true;                    // false: 'unverified', nothing is read
  std::optional<policy_engine> engine{}; // absent: that of egress, if any
  friend bool operator==(const ingress_config&, const ingress_config&) = default;
};
/// Which collections hold policies.
[[nodiscard]] policy_engine engine_of(const ingress_config& how, const std::optional<egress_config>& egress);

/// Whose agent port must be closed to everyone but the host.
struct ingress_question {
  std::string subject; // for people
  label_map pod_labels;
  std::string name_space;
  std::uint16_t agent_port = 1024;
};

/// Judges who may reach the agent port of a pod ([E] 6.2). It holds when some policy that selects the pod denies ingress by
/// default, and none that selects it admits everyone on that port. What cannot be read is never taken for either.
///
/// Known limits, none of which refuses: peers that are every pod of a namespace or of the cluster, blocks of addresses but the
/// two that are everything, and cluster-wide policies of Cilium.
class ingress_judge final : public policy_reader {
public:
  explicit ingress_judge(ingress_question asked);

  void begin(resource_kind kind) override;
  void take(resource_kind kind, const nlohmann::json& item) override;

  /// The verdict on all that was taken. With a collection that could not be read it is that nobody can tell.
  [[nodiscard]] result<void> verdict(std::optional<unread_collection> unread = std::nullopt) const;

private:
  struct taken {
    std::vector<examined_policy<ingress_verdict>> examined;
    std::size_t items = 0;
  };
  [[nodiscard]] taken& of(resource_kind kind);

  ingress_question asked_;
  std::array<taken, 2> taken_; // core first
};

} // namespace paddock::egress
