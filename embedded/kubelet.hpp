#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::embedded {

/// The name of the node of an embedded cluster.
inline constexpr auto embedded_node = "embedded";

/// How a process ended: by itself with `code`, or by a signal.
struct process_end {
  int code = 0;
  int signal = 0; // 0: it ended by itself
  friend bool operator==(const process_end&, const process_end&) = default;
};

/// Removes a pod whose containers have ended.
[[nodiscard]] k8s::call finish_pod(const nlohmann::json& pod);

/// How long a terminating pod's processes have between TERM and KILL.
[[nodiscard]] std::chrono::seconds grace_of(const nlohmann::json& pod);

/// Says that the folder of the claim is there.
[[nodiscard]] k8s::call report_bound(const nlohmann::json& claim);

/// The list that tells whether the claim still is.
[[nodiscard]] k8s::call list_claim(const nlohmann::json& claim);

/// The uids of the claims in a complete list of claims, or nothing: `answer` is none, and proves nothing. A watch that lost its
/// objects (a 404 of a proxy reads as "no such kind") is no such proof: only what this list lacks has gone.
[[nodiscard]] std::optional<std::set<std::string>> listed_claims(const nlohmann::json& answer);

/// The wait before the next try: `first` doubling to `most`.
class back_off {
public:
  using clock = time_source::clock;
  back_off(clock::duration first, clock::duration most) : first_(first), most_(most), next_(first) {
  }
  [[nodiscard]] clock::duration next() {
    return std::exchange(next_, std::min(next_ * 2, most_));
  }
  void reset() {
    next_ = first_;
  }

private:
  clock::duration first_;
  clock::duration most_;
  clock::duration next_;
};

/// The `n`-th address of 127.64.0.0/10, counted so that no part is 0 or 255.
[[nodiscard]] std::string pod_address(std::uint32_t n);

/// Whether it is one of those: a pod's status may have been written by anybody.
[[nodiscard]] bool is_pod_address(std::string_view text);

/// How many addresses `pod_address` tells apart.
inline constexpr std::uint32_t pod_addresses = 64u * 254u * 254u;

} // namespace paddock::embedded
