#pragma once

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::guest {

/// How long a flush may take, and who says so.
struct flush_bound {
  enum class source { request, variable, shutdown };
  std::chrono::milliseconds limit{0};
  source from = source::variable;
};

/// Reads the body of `flush` ([G] 13). A failure is the whole reply.
[[nodiscard]] tl::expected<flush_bound, std::string> read_flush_request(const nlohmann::json& body, std::chrono::milliseconds otherwise);

/// The bound of the flush at SIGTERM ([G] 14): the variable's, unless less time is left.
[[nodiscard]] flush_bound shutdown_flush_bound(std::chrono::milliseconds flush_timeout, std::chrono::milliseconds left);

/// What SIGTERM keeps back for the flush.
[[nodiscard]] std::chrono::milliseconds flush_reserve(std::chrono::milliseconds flush_timeout, std::chrono::milliseconds shutdown_deadline);

/// Keeps the last 4,096 bytes of what a command says.
class error_tail {
public:
  static constexpr std::size_t size = 4096;
  void append(std::string_view bytes);
  /// As text, without trailing blanks.
  [[nodiscard]] std::string text() const;

private:
  std::string kept_; // up to twice the size, so that bytes are moved seldom
};

/// `the flush did not return within 50 ms (timeoutMs of the request)`
[[nodiscard]] std::string flush_timeout_message(const flush_bound& x);
/// `the flush command exited with status 3: <the end of its standard error>`; or the name of the signal that ended it.
[[nodiscard]] std::string flush_command_message(int exit_code, const std::optional<std::string>& signal, std::string_view errors);

[[nodiscard]] std::string flush_reply(std::chrono::milliseconds took, std::string_view workspace);
/// `error` is a code of [G] 13.
[[nodiscard]] std::string flush_refusal(std::string_view error, std::string_view message);

} // namespace paddock::guest
