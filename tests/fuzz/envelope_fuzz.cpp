// A first frame from bytes of anyone's choosing, through all that the guest makes of it before anything is started: the envelope,
// the checks that may stop it, and the body as its op reads it. The first byte chooses what the guest may still do, and whether bulk is
// looked at. The body of an op that is not known is read as that of every op, so that no body has to wait for the right word. Besides not
// crashing: what is taken is within its bounds, what is refused is refused with a code of that op, and what was read of a program, sent
// again by our host, is read the same.
#include "base/utf8.hpp"
#include "guest/attach_request.hpp"
#include "guest/child_environment.hpp"
#include "guest/dispatch.hpp"
#include "guest/execution_registry.hpp"
#include "guest/execution_request.hpp"
#include "guest/file_request.hpp"
#include "guest/flush.hpp"
#include "guest/frame.hpp"
#include "guest/heartbeat.hpp"
#include "guest/host_requests.hpp"
#include "guest/host_stream_requests.hpp"
#include "guest/host_work_requests.hpp"
#include "guest/lifted_payload.hpp"
#include "guest/paths.hpp"
#include "guest/quiesce.hpp"
#include "guest/replies.hpp"
#include "guest/session_request.hpp"
#include "guest/tcp_request.hpp"
#include "guest/write_part.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

using namespace paddock::guest;
using namespace std::chrono_literals;
using nlohmann::json;
using paddock::require;

namespace {

const auto workspace = std::string{"/workspace"};
const auto boot = paddock::guest_boot_id{"3f0a9d62-7b1c-4e55-9d3a-61b8c2e47f90"};
constexpr std::uint64_t max_safe = 9'007'199'254'740'991;

bool contains(std::initializer_list<std::string_view> codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

void require_error(const std::string& text, std::initializer_list<std::string_view> codes) {
  require(contains(codes, std::string_view{text}.substr(0, text.find(": "))));
  require(paddock::is_utf8(text));
}

void require_reply(const std::string& payload, std::initializer_list<std::string_view> codes) {
  const auto reply = parse_payload(payload);
  require(reply && reply->at("ok") == false);
  require(contains(codes, reply->at("error").get<std::string>()));
}

// -- the envelope ------------------------------------------------------------------------------------------------------

void check_envelope(const envelope& x, const json& message) {
  const auto field = [&](const char* name) { return message.is_object() ? message.value(name, json{}) : json{}; };
  const auto name = field("op");
  require(x.has_op == name.is_string());
  require(!x.has_op || name == x.op);
  const auto token = field("token");
  require(x.token.has_value() == (token.is_string() && token != ""));
  require(!x.token || token == *x.token);
  require(x.expected_guest_boot_id.has_value() == (message.is_object() && message.contains("expectedGuestBootId")));
  const auto answer = parse_payload(refusal("unknown_op: " + x.op));
  require(answer && answer->at("error").get<std::string>().starts_with("unknown_op: "));
}

void check_refusal(const envelope& x, const standing& now) {
  const auto which = op_of(x);
  const auto no = refuse(x, now);
  if (!no) {
    require(which == op::healthz || !x.expected_guest_boot_id || *x.expected_guest_boot_id == boot.text());
    require(which == op::healthz || which == op::cancel_execution || !now.retiring);
    return;
  }
  require(which != op::healthz);
  const auto answer = parse_payload(no->payload);
  require(answer && answer->is_object() && answer->contains("ok") != answer->contains("type"));
  require(!no->with_terminator || answer->contains("type"));
  require(!answer->contains("guestBootId") || answer->at("guestBootId") == boot.text());
  const auto code = answer->at("error").get<std::string>();
  require(contains({"invalid_expected_guest_boot_id", "guest_mismatch", "agent_retiring", "quiesce_in_progress"}, code));
  require(code != "agent_retiring" || now.retiring);
  require(code != "quiesce_in_progress" || (now.quiescing && !now.retiring));
  require(which != op::cancel_execution || !contains({"agent_retiring", "quiesce_in_progress"}, code));
}

// -- programs ----------------------------------------------------------------------------------------------------------

// The body in a frame of our host; null when there is none, because it is too large.
json body_in(const result<std::string>& frame) {
  if (!frame)
    return nullptr;
  const auto message = parse_payload(std::string_view{*frame}.substr(frame_header_size));
  require(message && message->at("body").is_object());
  return message->at("body");
}

template <class Program>
void check_program(const Program& x) {
  require(!x.program.empty() && paddock::is_utf8(x.program));
  require(within(workspace, x.directory) && normalised(x.directory) == x.directory);
  require(std::all_of(x.arguments.begin(), x.arguments.end(), paddock::is_utf8));
  const auto lines = child_environment({"PATH=/bin", "NAMZU_AGENT_TOKEN=secret", "LANG=C"}, x.environment);
  for (const auto& line : lines) {
    const auto name = line.substr(0, line.find('='));
    require(name.size() < line.size() && !name.empty() && name.find('\0') == std::string::npos);
    require(x.environment.contains(name) || line == "PATH=/bin" || line == "LANG=C");
  }
  require(!program_candidates(x.program, lines).empty());
}

template <class Program>
bool same_program(const Program& x, const Program& y) {
  return x.program == y.program && x.arguments == y.arguments && x.directory == y.directory && x.environment == y.environment;
}

void check_execute(const json& body) {
  static constexpr auto ceiling = 3'600'000ms;
  const auto read = [](const json& x) { return read_execution_request(x, workspace, ceiling.count()); };
  const auto got = read(body);
  if (!got)
    return require_error(got.error(),
                         {"missing_command", "invalid_execution_id", "retain_requires_execution_id", "invalid_cwd", "invalid_timeout"});
  check_program(*got);
  require(!got->id || is_execution_id(*got->id));
  require(!got->retain || got->id);
  require(got->timeout > 0us && got->timeout <= ceiling);
  require(got->max_output_bytes <= max_safe);
  require(!got->input || !got->input_stream);
  auto again = command{got->program, got->arguments, got->directory, got->environment, std::nullopt, got->input_stream};
  const auto form = execution_form{got->output_as_base64, got->output_as_base64 ? std::nullopt : got->input, got->retain};
  const auto sent = body_in(execute_frame({}, got->id.value_or(std::string{model_execution_id}), again, form));
  if (sent.is_null())
    return;
  const auto back = read(sent);
  require(back && same_program(*back, *got));
  require(back->id == got->id.value_or(std::string{model_execution_id}) && back->retain == got->retain);
}

void check_terminal(const json& body) {
  const auto got = read_terminal_opening(body, workspace);
  if (!got)
    return require_error(got.error(), {"missing_terminal_options", "cols must be an integer in [1, 1000]",
                                       "rows must be an integer in [1, 1000]", path_escapes, "invalid_session_id"});
  check_program(got->run);
  require(got->run.environment.contains("TERM"));
  require(got->size.columns >= 1 && got->size.columns <= 1000 && got->size.rows >= 1 && got->size.rows <= 1000);
  require(!got->session || is_session_id(*got->session));
  require(!got->heartbeat || (*got->heartbeat >= shortest_heartbeat && *got->heartbeat <= longest_heartbeat));
  const auto& run = got->run;
  const auto sent = body_in(
    terminal_frame({}, {run.program, run.arguments, run.directory, run.environment, {got->size.columns, got->size.rows}, got->session},
                   {got->as_base64, got->heartbeat.value_or(0ms)}));
  if (sent.is_null())
    return;
  const auto back = read_terminal_opening(sent, workspace);
  require(back && same_program(back->run, run) && back->session == got->session && back->heartbeat == got->heartbeat);
}

void check_detached(const json& body) {
  const auto got = read_detached_program(body, workspace);
  if (!got)
    return require_error(got.error(), {path_escapes});
  check_program(*got);
  const auto id = session_id_in(body);
  require(!id || is_session_id(*id));
  if (!id || !names_program(body))
    return;
  const auto sent = body_in(start_detached_frame({}, {*id, got->program, got->arguments, got->directory, got->environment}));
  if (sent.is_null())
    return;
  const auto back = read_detached_program(sent, workspace);
  require(session_id_in(sent) == id && back && same_program(*back, *got));
}

// -- what is already there ---------------------------------------------------------------------------------------------

void check_reserve(const json& body) {
  auto wanted = std::optional<std::string>{};
  if (const auto at = body.find("executionId"); at != body.end() && at->is_string())
    wanted = at->get<std::string>();
  auto registry = execution_registry{{}};
  const auto got = registry.reserve(wanted, std::string{model_execution_id}, {});
  require(got.has_value() == (!wanted || is_execution_id(*wanted)));
  if (!got)
    return require_error(got.error(), {"invalid_execution_id"});
  require(got->id == wanted.value_or(std::string{model_execution_id}) && got->state == execution_state::reserved);
}

void check_attach(const json& body) {
  const auto execution = read_execution_attach(body);
  require(!execution.id || is_execution_id(*execution.id));
  require(!execution.from || *execution.from <= max_safe);
  const auto session = read_attach_opening(body);
  require(session.from == execution.from);
  require(session.from || body.contains("fromOffset"));
  require(!session.size || (session.size->columns >= 1 && session.size->columns <= 1000));
  require(!session.heartbeat || *session.heartbeat >= shortest_heartbeat);
  for (const auto fallback : {SIGTERM, SIGKILL}) {
    const auto signal = signal_in(body, fallback);
    require(signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGHUP);
  }
}

void check_tcp(const json& body) {
  const auto got = read_tcp_request(body);
  require(!got || ((got->host == "127.0.0.1" || got->host == "::1") && got->port != 0));
  require(!got || !got->heartbeat || *got->heartbeat >= shortest_heartbeat);
}

void check_stop(const json& body) {
  constexpr auto confirm = 5'000ms;
  if (const auto quiesce = read_quiesce_request(body, 2'000ms, confirm))
    require(quiesce->grace >= 1ms && quiesce->grace < confirm);
  else
    require_reply(quiesce.error(), {"quiesce_invalid_grace", "quiesce_invalid_idle_only"});
  constexpr auto otherwise = 30'000ms;
  if (const auto flush = read_flush_request(body, otherwise)) {
    require(flush->limit >= 1ms && flush->limit <= 366 * 24h);
    require((flush->from == flush_bound::source::request) == body.contains("timeoutMs"));
  } else {
    require_reply(flush.error(), {"flush_invalid_timeout"});
  }
}

// -- files -------------------------------------------------------------------------------------------------------------

void check_range(const json& body) {
  const auto wanted = read_range(body);
  if (!wanted)
    return require_error(wanted.error(), {"read_file_invalid_offset", "read_file_invalid_length"});
  require(wanted->whole() == (!body.contains("offset") && !body.contains("length")));
  for (const auto size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5000}, std::numeric_limits<std::uint64_t>::max()}) {
    const auto part = clamp(*wanted, size);
    require(part.offset == wanted->offset.value_or(0) && part.length <= wanted->length.value_or(size));
    require(part.length == 0 || (part.offset < size && part.length <= size - part.offset));
    constexpr auto limit = std::uint64_t{1} << 20;
    const auto no = range_refusal(*wanted, size, limit);
    require(no.has_value() == (wanted->length.value_or(part.length) > limit)); // never shortened
    if (no)
      require_error(*no, {"read_file_range_too_large"});
  }
}

void check_part(const json& body) {
  const auto part = part_of(body);
  if (!part)
    return require_error(part.error(), {"write_part_invalid_shape"});
  if (*part == nullptr)
    return;
  const auto got = read_data_part(**part, body.contains("content"));
  if (!got)
    return require_error(got.error(), {missing_path_or_content, "write_part_invalid_offset", "write_part_missing_rename_target"});
  require(got->offset <= max_safe);
  require(got->rename_to.has_value() == ((*part)->value("final", json{}) == true));
  require(!got->rename_to || !got->rename_to->empty());
}

// `x` with the bulk in the place of its mark.
void put_back(json& x, const lifted_payload& from, std::string_view bulk) {
  if (from.stands_for_bulk(x))
    x = paddock::to_utf8_with_replacement(bulk);
  else if (x.is_structured())
    for (auto& one : x)
      put_back(one, from, bulk);
}

// Bulk is lifted out of a payload when it is long: a short word of the input is made long.
void check_lifting(std::string payload) {
  constexpr auto word = std::string_view{"QUJD"};
  const auto at = payload.find(word);
  if (at == std::string::npos)
    return;
  payload.insert(at, 16 * 1024, 'A');
  auto lifted = lifted_payload{payload};
  require(lifted.whole() == payload);
  const auto whole = parse_payload(payload);
  auto rest = parse_payload(lifted.text());
  if (!whole)
    return;
  require(rest.has_value());
  const auto bulk = std::string{lifted.bulk().begin(), lifted.bulk().end()};
  put_back(*rest, lifted, bulk);
  require(*rest == *whole);
}

// -- later frames ------------------------------------------------------------------------------------------------------

std::string shown(const terminal_event& x) {
  if (const auto* input = std::get_if<terminal_input>(&x))
    return "input " + input->bytes;
  if (const auto* size = std::get_if<terminal_size>(&x))
    return "size " + std::to_string(size->columns) + " " + std::to_string(size->rows);
  if (const auto* kill = std::get_if<terminal_kill>(&x))
    return "kill " + std::to_string(kill->signal);
  return "nothing";
}

std::string shown(const tcp_frame& x) {
  const auto* data = std::get_if<tcp_data>(&x);
  require(data == nullptr || (!data->bytes.empty() && data->bytes.size() <= tcp_data_bound));
  return std::to_string(x.index()) + (data == nullptr ? "" : data->bytes);
}

// With a space in front it is not the usual form, and goes through the parser.
void check_later_frame(const std::string& payload) {
  for (const auto as_base64 : {false, true})
    require(shown(read_terminal_event(payload, as_base64)) == shown(read_terminal_event(" " + payload, as_base64)));
  require(shown(read_tcp_frame(payload)) == shown(read_tcp_frame(" " + payload)));
}

void check_body(op which, const json& any) {
  const auto is = [&](op one) { return which == one || which == op::unknown; };
  if (is(op::terminal))
    check_terminal(any);
  const auto body = any.is_object() ? any : json::object(); // only a terminal takes another for none
  if (is(op::execute))
    check_execute(body);
  if (is(op::start_detached))
    check_detached(body);
  if (is(op::reserve_execution) || which == op::cancel_execution)
    check_reserve(body);
  if (is(op::attach_execution) || which == op::attach_session || which == op::kill_session)
    check_attach(body);
  if (is(op::tcp_connect))
    check_tcp(body);
  if (is(op::quiesce) || which == op::flush)
    check_stop(body);
  if (is(op::read_file) || which == op::read_file_stream)
    check_range(body);
  if (is(op::write_file))
    check_part(body);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto payload = std::string{reinterpret_cast<const char*>(data), size}.substr(1);
  check_later_frame(payload);
  if ((data[0] & 4) != 0) // much slower than all else
    check_lifting(payload);
  const auto message = parse_payload(payload);
  const auto got = read_envelope(payload);
  require(got.has_value() == message.has_value());
  if (!got)
    return 0;
  check_envelope(*got, *message);
  check_refusal(*got, {boot, (data[0] & 1) != 0, (data[0] & 2) != 0});
  check_body(op_of(*got), message->is_object() ? message->value("body", json{}) : json{});
  return 0;
}
