#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::guest {

/// The body of `execute`, as the guest takes it ([G] 6.3, `feature::exec_bytes`).
struct execution_request {
  std::optional<std::string> id; // absent: an untracked run
  std::string program;
  std::vector<std::string> arguments;
  std::string directory; // absolute, within the workspace by its text
  std::map<std::string, std::string> environment;
  std::optional<std::string> input; // absent: the null device, unless `input_stream`
  std::chrono::microseconds timeout{0};
  std::uint64_t max_output_bytes = 0; // of each stream
  bool retain = false;                // keep a log of the output
  bool output_as_base64 = false;
  bool input_stream = false;
};

/// The checks that need no registry, in the order of [G] 6.3. A failure is the whole error text for the wire.
[[nodiscard]] tl::expected<execution_request, std::string> read_execution_request(const nlohmann::json& body, const std::string& workspace,
                                                                                  std::uint64_t max_timeout_ms);

/// A number, or a string that is one ([G] 0). Absent: neither.
[[nodiscard]] std::optional<double> number_of(const nlohmann::json& value);

/// `value` as a non-negative safe integer, in any notation.
[[nodiscard]] std::optional<std::uint64_t> offset_of(const nlohmann::json& value);

} // namespace paddock::guest
