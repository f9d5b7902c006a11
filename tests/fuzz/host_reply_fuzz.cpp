// One reply of a guest from bytes of anyone's choosing, as every call of a host reads it. The first byte chooses what the host had
// asked. Besides not crashing: what is accepted is what was asked and within its bounds, every refusal is a failure that says so in
// bounded text, and no answer turns "not known" into "ended".
#include "base/utf8.hpp"
#include "guest/envelope.hpp"
#include "guest/execution_registry.hpp"
#include "guest/features.hpp"
#include "guest/host_file_replies.hpp"
#include "guest/host_outcome.hpp"
#include "guest/host_replies.hpp"
#include "guest/host_requests.hpp"
#include "guest/host_stream_events.hpp"
#include "guest/host_work_replies.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string>
#include <string_view>

using namespace paddock::guest;
using namespace std::chrono_literals;
using nlohmann::json;
using paddock::require;

namespace {

const auto asked_id = std::string{"exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915"};
const auto asked_session = std::string{"build"};
constexpr std::uint64_t max_safe = 9'007'199'254'740'991;
constexpr std::size_t longest_word = 4096;

template <class... Kinds>
bool is_one_of(const failure& x) {
  return (std::holds_alternative<Kinds>(x) || ...);
}

void require_bounded(const failure& x) {
  const auto text = to_string(x);
  require(text.size() <= 4 * longest_word && paddock::is_utf8(text));
  require(!reason_of(x).empty());
}

// What every reply may fail with; `Kinds` are what the call adds.
template <class... Kinds>
void require_failure(const failure& x) {
  require((is_one_of<unauthorized, retiring, guest_mismatch, refused, protocol_failure, Kinds...>(x)));
  require_bounded(x);
}

void check_end(const command_end& x) {
  require(x.took >= 0ms && x.took.count() <= static_cast<std::int64_t>(max_safe));
  require(!x.signal || x.signal->size() <= longest_word);
}

// -- refusals ----------------------------------------------------------------------------------------------------------

void check_refusal(const json& reply) {
  const auto ok = reply.is_object() ? reply.value("ok", json{}) : json{};
  const auto refusal = refusal_in(reply);
  require(refusal.has_value() == (ok != true));
  if (!refusal)
    return;
  require_failure<>(*refusal);
  require(is_one_of<protocol_failure>(*refusal) == !ok.is_boolean());
  if (const auto* why = std::get_if<refused>(&*refusal)) {
    require(!named_refusal(reply) && why->code.find(": ") == std::string::npos);
    require(why->text.starts_with(why->code) || why->code == "unspecified");
  }
  if (!reply.is_object())
    return;
  require_failure<>(stream_refusal(reply, std::nullopt));
  require_failure<session_refused>(stream_refusal(reply, asked_session));
}

void check_health(const json& reply) {
  const auto got = read_health(reply);
  if (!got)
    return require(is_one_of<protocol_failure>(got.error()));
  require(!got->ok || got->protocol_version == protocol_version);
  require(!got->ok || !got->retiring);
}

// -- executions --------------------------------------------------------------------------------------------------------

void check_reservation(const json& reply) {
  const auto got = read_reservation(reply);
  if (got)
    require(is_execution_id(got->execution_id) && (!got->boot || !got->boot->text().empty()));
  else
    require_failure<>(got.error());
  const auto named = read_named_reservation(reply, asked_id);
  require(named.has_value() == (got && got->execution_id == asked_id));
  if (!named)
    require((is_one_of<protocol_failure, unauthorized, retiring, guest_mismatch>(named.error())));
}

void check_outcomes(const confirmation& got, bool caller_withdrew) {
  const auto why = caller_withdrew ? cancel_reason::caller : cancel_reason::observation_timeout;
  const auto nothing_came = std::optional<result<command_end>>{};
  const auto before = outcome_before_execute(got, 1ms);
  const auto after = outcome_of_cancel(why, got, nothing_came, 1ms);
  const auto broken = outcome_of_error(lost{"gone"}, why, caller_withdrew, got, 1ms);
  if (!got) {
    for (const auto* each : {&before, &after, &broken})
      require(!*each && is_one_of<cancellation_unknown>(each->error()));
    return;
  }
  // It had begun, and its output is not whole: nobody is told of an end as if it were.
  require(before.has_value() == !got->started && after.has_value() == !got->started);
  require(!broken || (!got->started && caller_withdrew && got->state == acknowledgement::outcome::cancelled));
  if (got->started)
    for (const auto* each : {&before, &after, &broken})
      require(is_one_of<result_incomplete>(each->error()));
  const auto whole = outcome_of_result(synthetic_end(1ms), why, got);
  require(whole.timed_out == (!caller_withdrew && got->state == acknowledgement::outcome::cancelled));
}

void check_cancel(const json& reply, bool caller_withdrew) {
  const auto got = read_acknowledgement(reply);
  const auto patient = judge_reconciling_cancel(reply, asked_id);
  const auto plain = judge_plain_cancel(reply, asked_id);
  require(std::holds_alternative<acknowledgement>(patient) == got.has_value());
  require(!std::holds_alternative<failure>(patient)); // it is asked again
  if (got) {
    require(!refusal_in(reply));
    if (got->end)
      check_end(*got->end);
    require(!got->error || got->error->size() <= longest_word);
    const auto* same = std::get_if<acknowledgement>(&plain);
    require(same != nullptr && same->state == got->state && same->started == got->started);
  } else {
    require(!got.error().empty());
  }
  if (const auto* final = std::get_if<failure>(&plain))
    require((is_one_of<unauthorized, guest_mismatch, not_attachable>(*final)));
  require(!std::holds_alternative<acknowledgement>(plain) || reply.at("ok") == true);
  check_outcomes(got ? confirmation{*got} : confirmation{tl::unexpected{unconfirmed{got.error()}}}, caller_withdrew);
}

// -- files -------------------------------------------------------------------------------------------------------------

void check_file(const json& reply, std::uint64_t sent) {
  if (const auto content = read_content(reply))
    require(content->size() <= reply.at("content").get_ref<const std::string&>().size());
  else
    require_failure<>(content.error());
  const auto written = read_written(reply, sent);
  if (written)
    require(*written == sent);
  else
    require_failure<>(written.error());
  const auto part = read_part_reply(reply, sent, sent + 1);
  require(!part || written);
  if (part && reply.contains("sizeBytes") && reply.at("sizeBytes").is_number())
    require(reply.at("sizeBytes") == sent + 1);
}

// -- sessions, quiesce, flush ------------------------------------------------------------------------------------------

void check_row(const session_row& x) {
  require(x.session.size() <= longest_word && x.command.size() <= longest_word);
  require(x.kind == "terminal" || x.kind == "detached");
  require(x.state == "running" || x.state == "exited");
  require(x.next_offset <= max_safe && x.dropped_bytes <= max_safe && x.signalled.value_or(0) <= max_safe);
}

void check_sessions(const json& reply) {
  const auto all = read_sessions(reply);
  if (all) {
    require(all->size() == reply.at("sessions").size());
    for (const auto& row : *all)
      check_row(row);
  } else {
    require((is_one_of<protocol_failure, unauthorized, retiring, guest_mismatch>(all.error())));
    require_bounded(all.error());
  }
  const auto one = read_session_reply(reply, asked_session);
  if (one)
    check_row(*one);
  else
    require_failure<session_refused>(one.error());
  if (!one)
    if (const auto* why = std::get_if<session_refused>(&one.error()))
      require(why->session_id == asked_session && !why->reason.empty());
}

void check_stop(const json& reply) {
  const auto quiesce = read_quiesce(reply);
  if (quiesce) {
    require(quiesce->scope == "pid-namespace" || quiesce->scope == "owned-sessions");
    require(quiesce->grace_ms <= max_safe && quiesce->rounds <= max_safe);
    require(quiesce->stopped.size() <= (reply.contains("stopped") ? reply.at("stopped").size() : 0));
  } else {
    require_failure<quiesce_unconfirmed, unsupported>(quiesce.error());
    require(!is_one_of<refused>(quiesce.error()));
  }
  const auto flush = read_flush(reply);
  if (flush) {
    require(flush->duration_ms <= max_safe && flush->workspace.size() <= longest_word);
  } else {
    require_failure<flush_unconfirmed, unsupported>(flush.error());
    require(!is_one_of<refused>(flush.error()));
  }
  require(quiesce.has_value() == flush.has_value()); // both are done unless they are refused
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  auto payload = std::string{reinterpret_cast<const char*>(data), size}.substr(1);
  // A text too long for a message is longer than what is worth making up: a word of the input becomes one.
  constexpr auto word = std::string_view{"LONG"};
  if (const auto at = payload.find(word); at != std::string::npos)
    for (auto i = std::size_t{0}; i < longest_word; i += 2)
      payload.insert(at, "\xc3\xa9");
  const auto reply = parse_payload(payload);
  if (!reply)
    return 0;
  check_refusal(*reply);
  check_health(*reply);
  check_reservation(*reply);
  check_cancel(*reply, (data[0] & 1) != 0);
  check_file(*reply, data[0] / 2);
  check_sessions(*reply);
  check_stop(*reply);
  return 0;
}
