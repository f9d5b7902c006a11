#include "guest/flush.hpp"

#include "base/utf8.hpp"
#include "guest/envelope.hpp"
#include "guest/whole_number.hpp"

#include <algorithm>

namespace paddock::guest {

namespace {

using object = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr auto longest = std::uint64_t{31'536'000'000}; // a year bounds what is added to a clock

} // namespace

tl::expected<flush_bound, std::string> read_flush_request(const nlohmann::json& body, milliseconds otherwise) {
  auto at = body.find("timeoutMs");
  if (at == body.end())
    return flush_bound{otherwise, flush_bound::source::variable};
  auto value = positive_safe_integer(*at);
  if (!value)
    return tl::unexpected{flush_refusal("flush_invalid_timeout", "timeoutMs must be a positive safe integer")};
  return flush_bound{milliseconds{static_cast<std::int64_t>(std::min(*value, longest))}, flush_bound::source::request};
}

flush_bound shutdown_flush_bound(milliseconds flush_timeout, milliseconds left) {
  if (flush_timeout <= left)
    return {flush_timeout, flush_bound::source::variable};
  return {std::max(milliseconds{1}, left), flush_bound::source::shutdown};
}

milliseconds flush_reserve(milliseconds flush_timeout, milliseconds shutdown_deadline) {
  return std::min(flush_timeout, std::max(milliseconds{1}, shutdown_deadline / 3));
}

void error_tail::append(std::string_view bytes) {
  if (bytes.size() > size)
    bytes.remove_prefix(bytes.size() - size);
  kept_ += bytes;
  if (kept_.size() > 2 * size)
    kept_.erase(0, kept_.size() - size);
}

std::string error_tail::text() const {
  auto bytes = std::string_view{kept_};
  if (bytes.size() > size)
    bytes.remove_prefix(bytes.size() - size);
  auto last = bytes.find_last_not_of(" \t\r\n");
  return to_utf8_with_replacement(bytes.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

std::string flush_timeout_message(const flush_bound& x) {
  auto text = "the flush did not return within " + std::to_string(x.limit.count()) + " ms (";
  switch (x.from) {
    case flush_bound::source::request: return text + "timeoutMs of the request)";
    case flush_bound::source::variable: return text + "NAMZU_AGENT_FLUSH_TIMEOUT_MS)";
    case flush_bound::source::shutdown: return text + "what is left of NAMZU_AGENT_SHUTDOWN_DEADLINE_MS)";
  }
  return text;
}

std::string flush_command_message(int exit_code, const std::optional<std::string>& signal, std::string_view errors) {
  auto text = std::string{"the flush command "};
  text += signal ? "was ended by " + *signal : "exited with status " + std::to_string(exit_code);
  if (!errors.empty())
    text.append(": ").append(errors);
  return text;
}

std::string flush_reply(milliseconds took, std::string_view workspace) {
  return to_text(object{{"ok", true}, {"durationMs", took.count()}, {"workspace", to_utf8_with_replacement(workspace)}});
}

std::string flush_refusal(std::string_view error, std::string_view message) {
  return to_text(object{{"ok", false}, {"error", error}, {"message", message}});
}

} // namespace paddock::guest
