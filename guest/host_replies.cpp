#include "guest/host_replies.hpp"

#include "base/base64.hpp"
#include "guest/execution_registry.hpp"
#include "guest/reply_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace paddock::guest {

namespace {

using fields::bounded;
using fields::field;
using fields::longest_text;
using nlohmann::json;

tl::unexpected<failure> protocol(std::string text) {
  return tl::unexpected{failure{protocol_failure{std::move(text)}}};
}

bool is_version_2(const json& object) {
  return fields::number(object, "protocolVersion") == 2.0;
}

} // namespace

tl::expected<command_end, std::string> read_command_end(const json& x) {
  auto wrong = [](const char* name) { return tl::unexpected{std::string{"a result without a valid "} + name}; };
  if (!x.is_object())
    return wrong("shape");
  auto end = command_end{};
  const auto code = fields::number(x, "exitCode");
  if (!code || *code < std::numeric_limits<int>::min() || *code > std::numeric_limits<int>::max())
    return wrong("exitCode");
  end.exit_code = static_cast<int>(*code);
  const auto took = fields::number(x, "durationMs");
  if (!took)
    return wrong("durationMs");
  constexpr auto longest = 9007199254740991.0;
  end.took = std::chrono::milliseconds{static_cast<std::int64_t>(std::clamp(*took, 0.0, longest))};
  const auto timed_out = fields::flag(x, "timedOut");
  if (!timed_out)
    return wrong("timedOut");
  end.timed_out = *timed_out;
  if (x.contains("signal")) {
    const auto* name = fields::text(x, "signal");
    if (name == nullptr)
      return wrong("signal");
    end.signal = bounded(*name);
  }
  for (const auto* name : {"stdoutTruncated", "stderrTruncated"})
    if (x.contains(name) && !fields::flag(x, name))
      return wrong(name);
  end.out_truncated = fields::flag(x, "stdoutTruncated").value_or(false);
  end.err_truncated = fields::flag(x, "stderrTruncated").value_or(false);
  return end;
}

std::optional<failure> named_refusal(const json& x) {
  const auto* error = x.is_object() ? fields::text(x, "error") : nullptr;
  if (error == nullptr)
    return std::nullopt;
  if (*error == "unauthorized")
    return failure{unauthorized{}};
  if (*error == "agent_retiring")
    return failure{retiring{}};
  if (*error == "guest_mismatch")
    return failure{guest_mismatch{boot_in(x)}};
  return std::nullopt;
}

std::optional<failure> refusal_in(const json& reply) {
  if (!reply.is_object())
    return failure{protocol_failure{"the reply is not an object"}};
  const auto ok = fields::flag(reply, "ok");
  if (!ok)
    return failure{protocol_failure{"the reply has no boolean `ok`"}};
  if (*ok)
    return std::nullopt;
  const auto* error = fields::text(reply, "error");
  if (error == nullptr)
    return failure{refused{"unspecified", "the guest gave no reason"}};
  if (auto named = named_refusal(reply))
    return named;
  auto text = bounded(*error);
  if (const auto* more = fields::text(reply, "message"))
    text += ": " + bounded(*more);
  return failure{refused{bounded(error->substr(0, error->find(": "))), std::move(text)}};
}

std::optional<guest_boot_id> boot_in(const json& reply) {
  const auto* x = reply.is_object() ? fields::text(reply, "guestBootId") : nullptr;
  if (x == nullptr || x->empty() || x->size() > longest_text)
    return std::nullopt;
  return guest_boot_id{*x};
}

result<reservation> read_reservation(const json& reply) {
  if (auto refusal = refusal_in(reply))
    return tl::unexpected{std::move(*refusal)};
  if (!is_version_2(reply))
    return protocol("the reservation is not of protocol version 2");
  const auto* id = fields::text(reply, "executionId");
  if (id == nullptr || !is_execution_id(*id))
    return protocol("the reservation has no well-formed executionId");
  if (!fields::number(reply, "leaseExpiresAt"))
    return protocol("the reservation has no finite leaseExpiresAt");
  return reservation{*id, boot_in(reply)};
}

std::string_view to_string(acknowledgement::outcome x) {
  switch (x) {
    case acknowledgement::outcome::cancelled: return "cancelled";
    case acknowledgement::outcome::completed: return "completed";
    case acknowledgement::outcome::failed: return "failed";
  }
  return "failed";
}

tl::expected<acknowledgement, std::string> read_acknowledgement(const json& reply) {
  if (auto refusal = refusal_in(reply))
    return tl::unexpected{to_string(*refusal)};
  auto x = acknowledgement{};
  const auto* state = fields::text(reply, "state");
  if (state != nullptr && *state == "cancelled")
    x.state = acknowledgement::outcome::cancelled;
  else if (state != nullptr && *state == "completed")
    x.state = acknowledgement::outcome::completed;
  else if (state != nullptr && *state == "failed")
    x.state = acknowledgement::outcome::failed;
  else
    return tl::unexpected{std::string{"an acknowledgement without a valid state"}};
  const auto started = fields::flag(reply, "started");
  if (!started)
    return tl::unexpected{std::string{"an acknowledgement without a valid started"}};
  x.started = *started;
  if (const auto* end = field(reply, "result")) {
    auto read = read_command_end(*end);
    if (!read)
      return tl::unexpected{"an acknowledgement with " + read.error()};
    x.end = std::move(*read);
  }
  if (reply.contains("error")) {
    const auto* error = fields::text(reply, "error");
    if (error == nullptr)
      return tl::unexpected{std::string{"an acknowledgement without a valid error"}};
    x.error = bounded(*error);
  }
  return x;
}

result<readiness> read_health(const json& reply) {
  if (!reply.is_object())
    return protocol("the reply is not an object");
  auto x = readiness{};
  x.ok = fields::flag(reply, "ok").value_or(false);
  x.retiring = !x.ok && fields::flag(reply, "retiring").value_or(false);
  if (const auto version = fields::number(reply, "protocolVersion"); version && std::abs(*version) < 1e6)
    x.protocol_version = static_cast<int>(*version);
  if (x.ok && !is_version_2(reply))
    return protocol("the guest does not speak protocol version 2");
  if (const auto* features = field(reply, "features"); features != nullptr && features->is_array())
    for (const auto& one : *features)
      if (const auto* name = one.get_ptr<const std::string*>())
        x.features.push_back(*name);
  return x;
}

result<stream_event> read_event(const json& event, bool bytes) {
  if (!event.is_object())
    return protocol("an event is not an object");
  const auto* type = fields::text(event, "type");
  if (type == nullptr) {
    if (fields::flag(event, "ok") == false)
      return tl::unexpected{std::move(*refusal_in(event))};
    return protocol("an event without a type");
  }
  if (*type == "stdout_delta" || *type == "stderr_delta") {
    const auto* data = fields::text(event, "data");
    if (data == nullptr)
      return protocol("a delta without data");
    const auto which = *type == "stdout_delta" ? stream::out : stream::err;
    if (!bytes)
      return delta{which, *data};
    const auto* encoding = fields::text(event, "encoding");
    if (encoding == nullptr || *encoding != "base64")
      return protocol("a delta that is not base64, which was asked for");
    auto raw = from_base64(*data);
    if (!raw)
      return protocol("a delta of malformed base64");
    return delta{which, std::move(*raw)};
  }
  if (*type == "error") {
    const auto* error = fields::text(event, "error");
    if (error == nullptr)
      return protocol("an error event without an error");
    if (*error == "guest_mismatch")
      return tl::unexpected{*named_refusal(event)};
    return tl::unexpected{failure{command_failed{bounded(*error)}}};
  }
  if (*type == "result") {
    auto end = read_command_end(event);
    if (!end)
      return protocol(end.error());
    return std::move(*end);
  }
  return protocol("an event of an unknown type");
}

std::optional<result<delta>> lift_delta(std::string& payload) {
  constexpr auto head = std::string_view{R"({"type":"stdXXX_delta","data":")"};
  constexpr auto tail = std::string_view{R"(","encoding":"base64"})"};
  auto text = std::string_view{payload};
  if (text.size() < head.size() + tail.size() || !text.ends_with(tail))
    return std::nullopt;
  auto which = stream::out;
  if (text.starts_with(R"({"type":"stderr_delta","data":")"))
    which = stream::err;
  else if (!text.starts_with(R"({"type":"stdout_delta","data":")"))
    return std::nullopt;
  text.remove_prefix(head.size());
  text.remove_suffix(tail.size());
  // What holds a quote has more members, and what is escaped may be good base64.
  if (text.find('"') != std::string_view::npos || text.find('\\') != std::string_view::npos)
    return std::nullopt;
  const auto size = decode_base64(payload.data(), text);
  if (!size)
    return protocol("a delta of malformed base64");
  payload.resize(*size);
  return delta{which, std::move(payload)};
}

result<std::string> read_content(const json& reply) {
  if (auto refusal = refusal_in(reply))
    return tl::unexpected{std::move(*refusal)};
  const auto* content = fields::text(reply, "content");
  if (content == nullptr)
    return protocol("read-file without content");
  auto bytes = from_base64(*content);
  if (!bytes)
    return protocol("read-file with malformed base64");
  if (const auto size = fields::number(reply, "sizeBytes"); size && *size != static_cast<double>(bytes->size()))
    return protocol("read-file whose content is not as long as it says");
  return std::move(*bytes);
}

result<std::uint64_t> read_written(const json& reply, std::uint64_t sent) {
  if (auto refusal = refusal_in(reply))
    return tl::unexpected{std::move(*refusal)};
  if (const auto written = fields::number(reply, "bytesWritten"); written && *written != static_cast<double>(sent))
    return protocol("write-file confirms another size than was sent");
  return sent;
}

} // namespace paddock::guest
