#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace paddock::guest {

/// The body of `attach-execution` ([G] 6.6, `feature::exec_bytes`).
struct execution_attach_request {
  std::optional<std::string> id;     // absent: there is none, or it is no execution id
  std::optional<std::uint64_t> from; // absent: it is no offset
  bool as_base64 = false;            // of the deltas of this connection, whatever the others asked for
};

[[nodiscard]] execution_attach_request read_execution_attach(const nlohmann::json& body);

} // namespace paddock::guest
