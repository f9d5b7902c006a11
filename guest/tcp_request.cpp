#include "guest/tcp_request.hpp"

#include "base/base64.hpp"
#include "guest/envelope.hpp"
#include "guest/execution_request.hpp"
#include "guest/frame.hpp"
#include "guest/heartbeat.hpp"

#include <utility>

namespace paddock::guest {

namespace {

constexpr std::string_view data_head = R"({"type":"data","data":")";
constexpr std::string_view data_tail = R"("})";

tcp_frame data_of(std::string bytes, std::size_t size) {
  if (size == 0 || size > tcp_data_bound)
    return std::monostate{};
  bytes.resize(size);
  return tcp_data{std::move(bytes)};
}

} // namespace

std::optional<tcp_request> read_tcp_request(const nlohmann::json& body) {
  auto result = tcp_request{};
  result.host = "127.0.0.1";
  if (!body.is_object())
    return std::nullopt;
  if (auto host = body.find("host"); host != body.end()) {
    if (!host->is_string() || (*host != "127.0.0.1" && *host != "::1"))
      return std::nullopt;
    result.host = host->get<std::string>();
  }
  auto port = body.find("port");
  auto number = port == body.end() ? std::nullopt : offset_of(*port);
  if (!number || *number < 1 || *number > 65535)
    return std::nullopt;
  result.port = static_cast<std::uint16_t>(*number);
  result.heartbeat = accepted_heartbeat(body);
  return result;
}

tcp_frame read_tcp_frame(std::string payload) {
  // The usual form is decoded where it lies: parsing it costs more than all the rest of bulk data.
  auto text = std::string_view{payload};
  if (text.starts_with(data_head) && text.ends_with(data_tail) && text.size() >= data_head.size() + data_tail.size()) {
    text.remove_prefix(data_head.size());
    text.remove_suffix(data_tail.size());
    if (text.find('\\') == std::string_view::npos && text.find('"') == std::string_view::npos) {
      auto size = decode_base64(payload.data(), text);
      return size ? data_of(std::move(payload), *size) : std::monostate{};
    }
  }
  auto message = parse_payload(payload);
  if (!message || !message->is_object())
    return std::monostate{};
  auto type = message->find("type");
  if (type == message->end() || !type->is_string())
    return std::monostate{};
  if (*type == "end")
    return tcp_end{};
  if (*type == "destroy")
    return tcp_destroy{};
  auto data = message->find("data");
  if (*type != "data" || data == message->end() || !data->is_string())
    return std::monostate{};
  auto bytes = from_base64(data->get_ref<const std::string&>());
  if (!bytes)
    return std::monostate{};
  auto size = bytes->size();
  return data_of(std::move(*bytes), size);
}

std::string service_data_frame(std::string_view bytes) {
  auto size = data_head.size() + base64_size(bytes.size()) + data_tail.size();
  auto result = std::string{};
  result.reserve(frame_header_size + size);
  result.append(frame_header(static_cast<std::uint32_t>(size))).append(data_head);
  auto encoder = base64_encoder{};
  encoder.add(result, bytes);
  encoder.finish(result);
  return result.append(data_tail);
}

} // namespace paddock::guest
