#include "guest/host_requests.hpp"

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "guest/frame.hpp"

namespace paddock::guest {

namespace {

using nlohmann::ordered_json;

tl::unexpected<failure> too_large(std::uint64_t size) {
  return tl::unexpected{failure{frame_too_large{size, request_ceiling}}};
}

request addressed(const endpoint& where, std::string op, std::optional<ordered_json> body) {
  auto x = request{std::move(op), std::move(body), std::nullopt, std::nullopt};
  if (!where.token.empty())
    x.token = where.token.reveal();
  if (where.pinned)
    x.expected_guest_boot_id = where.pinned->text();
  return x;
}

result<std::string> checked_frame(const request& x) {
  const auto payload = to_payload(x);
  if (payload.size() > request_ceiling)
    return too_large(payload.size());
  return to_frame(payload);
}

} // namespace

result<std::string> request_frame(const endpoint& where, std::string op, std::optional<ordered_json> body) {
  return checked_frame(addressed(where, std::move(op), std::move(body)));
}

std::uint64_t request_size(const endpoint& where, std::string op, std::optional<ordered_json> body) {
  return to_payload(addressed(where, std::move(op), std::move(body))).size();
}

tl::unexpected<failure> not_text(std::string code, std::string_view what) {
  auto text = code + ": " + std::string{what} + " is not UTF-8";
  return tl::unexpected{failure{refused{std::move(code), std::move(text)}}};
}

result<void> put_arguments(ordered_json& body, const std::vector<std::string>& all, const std::optional<std::string>& directory,
                           const std::map<std::string, std::string>& environment) {
  auto& arguments = body["args"] = ordered_json::array();
  for (const auto& x : all) {
    if (!is_utf8(x))
      return not_text("command_not_text", "an argument");
    arguments.push_back(x);
  }
  if (directory) {
    if (!is_utf8(*directory))
      return not_text("command_not_text", "the working directory");
    body["cwd"] = *directory;
  }
  if (!environment.empty()) {
    auto& variables = body["env"] = ordered_json::object();
    for (const auto& [name, value] : environment) {
      if (!is_utf8(name) || !is_utf8(value))
        return not_text("command_not_text", "the environment");
      variables[name] = value;
    }
  }
  return {};
}

std::string healthz_frame() {
  return to_frame(to_payload(request{"healthz", std::nullopt, std::nullopt, std::nullopt}));
}

result<std::string> reserve_frame(const endpoint& where) {
  return request_frame(where, "reserve-execution", std::nullopt);
}

result<std::string> cancel_frame(const endpoint& where, const std::string& execution_id) {
  return request_frame(where, "cancel-execution", ordered_json{{"executionId", execution_id}});
}

result<std::string> execute_frame(const endpoint& where, const std::string& execution_id, const command& what, const execution_form& form) {
  if (!is_utf8(what.program))
    return not_text("command_not_text", "the program");
  auto body = ordered_json::object();
  body["executionId"] = execution_id;
  body["command"] = what.program;
  if (auto good = put_arguments(body, what.arguments, what.directory, what.environment); !good)
    return tl::unexpected{std::move(good.error())};
  if (form.bytes && what.with_input) {
    body["stdinStream"] = true;
  } else if (!form.bytes && form.text_input) {
    // Escapes only make it longer, so an input that is too long is not encoded first.
    if (form.text_input->size() > request_ceiling)
      return too_large(form.text_input->size());
    if (!is_utf8(*form.text_input))
      return not_text("stdin_not_text", "the input");
    body["stdin"] = *form.text_input;
  }
  if (what.limit)
    body["timeoutMs"] = what.limit->count();
  body["maxOutputBytes"] = unlimited_output;
  if (form.retain)
    body["retainOutput"] = true;
  if (form.bytes)
    body["outputEncoding"] = "base64";
  return request_frame(where, "execute", std::move(body));
}

result<std::string> read_file_frame(const endpoint& where, const std::string& path) {
  if (!is_utf8(path))
    return not_text("path_not_text", "the path");
  return request_frame(where, "read-file", ordered_json{{"path", path}, {"encoding", "base64"}});
}

result<std::string> write_file_frame(const endpoint& where, const std::string& path, std::string_view bytes) {
  if (!is_utf8(path))
    return not_text("path_not_text", "the path");
  auto x = addressed(where, "write-file", ordered_json{{"path", path}, {"content", ""}, {"encoding", "base64"}});
  const auto size = to_payload(x).size() + (bytes.size() + 2) / 3 * 4;
  if (size > request_ceiling)
    return too_large(size);
  (*x.body)["content"] = to_base64(bytes);
  return checked_frame(x);
}

std::string stdin_frame(std::string_view piece) {
  // Base64 needs no escape.
  if (piece.empty())
    return to_frame(R"({"type":"stdin_end"})");
  return to_frame(R"({"type":"stdin","data":")" + to_base64(piece) + R"("})");
}

} // namespace paddock::guest
