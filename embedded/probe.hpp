#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::embedded {

/// A GET that is answered 200 to 399.
struct http_probe {
  bool tls = false;
  std::string host; // empty: the pod's address
  std::uint16_t port = 0;
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> headers;
};

/// A connection that is taken.
struct tcp_probe {
  std::string host; // empty: the pod's address
  std::uint16_t port = 0;
};

/// A command that ends well.
struct exec_probe {
  std::vector<std::string> command;
};

/// How a container is asked how it is.
struct probe {
  std::variant<http_probe, tcp_probe, exec_probe> how;
  std::chrono::seconds initial_delay{0};
  std::chrono::seconds period{10};
  std::chrono::seconds timeout{1};
  int successes = 1; // in a row, until it holds
  int failures = 3;  // in a row, until it does not
};

/// The probe that `container` has under `which` (`startupProbe`, `readinessProbe`, `livenessProbe`), or none; or the text of what
/// this kubelet cannot do (gRPC) or cannot read. A port may be the name of one of the container's.
[[nodiscard]] tl::expected<std::optional<probe>, std::string> read_probe(const nlohmann::json& container, const std::string& which);

/// Counts the answers of one probe.
class probe_count {
public:
  probe_count(int successes, int failures) : successes_(successes), failures_(failures) {
  }
  /// True or false when enough answers in a row say so; nothing while they do not.
  [[nodiscard]] std::optional<bool> saw(bool good);

private:
  int successes_;
  int failures_;
  bool last_ = false;
  int in_a_row_ = 0;
};

} // namespace paddock::embedded
