#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace paddock::guest {

// What a host asks of a loopback connection, and what the guest says of it ([G] 10).

/// The most bytes that one frame of the host may carry; more of them are dropped.
inline constexpr std::size_t tcp_data_bound = 8U << 20;

/// The body of `tcp-connect`.
struct tcp_request {
  std::string host; // `127.0.0.1` or `::1`
  std::uint16_t port = 0;
  std::optional<std::chrono::milliseconds> heartbeat;
};

/// Absent: it is none of the two addresses of loopback in exactly these words, or no port from 1 to 65535.
[[nodiscard]] std::optional<tcp_request> read_tcp_request(const nlohmann::json& body);

struct tcp_data {
  std::string bytes; // never empty
};
struct tcp_end {};
struct tcp_destroy {};
/// A later frame of the host. Nothing: one that is to be ignored, data that is no base64 or too much of it included.
using tcp_frame = std::variant<std::monostate, tcp_data, tcp_end, tcp_destroy>;

[[nodiscard]] tcp_frame read_tcp_frame(std::string payload);

/// The whole frame of a `data` event, with its header.
[[nodiscard]] std::string service_data_frame(std::string_view bytes);

} // namespace paddock::guest
