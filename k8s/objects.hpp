#pragma once

#include "base/secret.hpp"
#include "k8s/uids.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::k8s {

// What is read of the objects of the API ([W] 1.2), and nothing else of them. Reading never fails: a member of an
// unexpected shape reads as absent.

inline constexpr std::string_view epoch_annotation = "sandbox.namzu.ai/holder-epoch";
inline constexpr std::string_view mode_changed_annotation = "sandbox.namzu.ai/operating-mode-changed-at";
inline constexpr std::string_view template_hash_annotation = "sandbox.namzu.ai/pod-template-hash";

/// Anything but exactly `Suspended` is running.
enum class operating_mode { running, suspended };
[[nodiscard]] std::string_view to_string(operating_mode x); // `Running`, `Suspended`

/// The string at `path` (JSON pointer) of `object`, when there is one and it is not empty.
[[nodiscard]] std::optional<std::string> text_at(const nlohmann::json& object, const char* path);

/// `items` of a list answer; a missing or ill-shaped one reads as empty ([C] 2.1).
[[nodiscard]] std::vector<nlohmann::json> items_of(const std::optional<nlohmann::json>& answer);

struct sandbox {
  std::optional<std::string> name;
  std::optional<sandbox_uid> uid;
  std::optional<std::string> resource_version;
  std::optional<std::string> created; // creationTimestamp as it stands
  std::optional<std::int64_t> generation;
  std::map<std::string, std::string> annotations; // those whose value is a string
  operating_mode mode = operating_mode::running;
  bool deleting = false;                           // a deletionTimestamp is set
  bool ready = false;                              // a condition Ready is exactly True
  bool judged = false;                             // there is a condition Ready: its controller has looked at it
  std::optional<std::int64_t> observed_generation; // of the Ready condition, whatever its status
  std::optional<std::string> ready_message;        // of the Ready condition
  std::optional<std::string> service_fqdn;
  std::vector<std::string> pod_ips;
  std::optional<std::string> selector;
  std::optional<std::string> template_hash; // absent: the revision is unknown
  nlohmann::json pod_template;              // null when absent
  nlohmann::json volume_claim_templates;    // null when absent

  /// Whether the controller has looked at the generation that `wanted` names ([W] P9). Not before there is a condition Ready; one
  /// that reports no generation says yes, as an unknown generation does.
  [[nodiscard]] bool seen_by_controller(std::optional<std::int64_t> wanted) const;
};
[[nodiscard]] sandbox read_sandbox(const nlohmann::json& object);

struct pod {
  /// *Live*: not being deleted and in no terminal phase. *Stopped*: phase Succeeded or Failed. *Draining*: being deleted and
  /// not stopped. *Nothing*: no metadata at all.
  enum class life { nothing, live, stopped, draining };
  struct owner {
    std::string kind;
    std::string name;
    std::string uid;
    bool controller = false;
  };
  std::optional<std::string> name;
  std::optional<secret> uid; // doubles as the guest's bind token
  life state = life::nothing;
  std::optional<std::string> phase;
  std::optional<std::string> ip;
  std::map<std::string, std::string> labels;
  std::vector<owner> owners;

  [[nodiscard]] bool live() const {
    return state == life::live;
  }
  /// The pod ends no suspend unless this holds, or a read says that it is gone.
  [[nodiscard]] bool retired() const {
    return state == life::stopped;
  }
  /// False only when a controller owner reference names another uid ([W] P2).
  [[nodiscard]] bool may_belong_to(const sandbox_uid& who) const;
};
[[nodiscard]] pod read_pod(const nlohmann::json& object);

struct volume_claim {
  std::optional<std::string> name;
  std::optional<claim_uid> uid;
  std::optional<std::string> phase;
};
[[nodiscard]] volume_claim read_volume_claim(const nlohmann::json& object);

} // namespace paddock::k8s
