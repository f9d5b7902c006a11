#include "guest/host_file_replies.hpp"

#include "base/base64.hpp"
#include "guest/envelope.hpp"
#include "guest/host_file_requests.hpp"
#include "guest/host_replies.hpp"
#include "guest/reply_fields.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace paddock::guest {

namespace {

using nlohmann::json;

tl::unexpected<failure> protocol(std::string_view what) {
  auto text = std::string{"read-file-stream: "};
  text += what;
  return tl::unexpected{failure{protocol_failure{std::move(text)}}};
}

failure refusal_of(std::string text) {
  text = fields::bounded(std::move(text));
  auto code = text.substr(0, text.find(": "));
  return refused{std::move(code), std::move(text)};
}

} // namespace

result<std::string> file_stream_reader::take(std::string payload) {
  // Nearly every payload looks exactly like this, and is not taken apart as JSON.
  constexpr auto front = std::string_view{R"({"type":"data","data":")"};
  constexpr auto back = std::string_view{R"("})"};
  if (payload.size() >= front.size() + back.size() && payload.starts_with(front) && payload.ends_with(back)) {
    const auto n = payload.size() - front.size() - back.size();
    const auto text = std::string_view{payload}.substr(front.size(), n);
    // What holds a quote has more members, and what is escaped may be good base64.
    if (text.find('"') == std::string_view::npos && text.find('\\') == std::string_view::npos)
      return take_data(std::move(payload), front.size(), n);
  }
  return take_event(payload);
}

result<std::string> file_stream_reader::take_data(std::string&& payload, std::size_t at, std::size_t n) {
  if (ended_)
    return protocol("data after the end");
  if (!meta_)
    return protocol("data before meta");
  const auto size = decode_base64(payload.data(), std::string_view{payload}.substr(at, n));
  if (!size)
    return protocol("malformed base64");
  received_ += *size;
  if (received_ > meta_->length)
    return protocol("more bytes than announced");
  payload.resize(*size);
  return std::move(payload);
}

result<std::string> file_stream_reader::take_event(const std::string& payload) {
  const auto event = parse_payload(payload);
  if (!event || !event->is_object())
    return protocol("an event is not a JSON object");
  const auto* type = fields::text(*event, "type");
  if (type == nullptr) {
    if (const auto* ok = fields::field(*event, "ok"); ok != nullptr && ok->is_boolean() && !ok->get<bool>() && !meta_)
      return tl::unexpected{std::move(*refusal_in(*event))};
    return protocol("an event without a type");
  }
  if (ended_)
    return protocol("an event after the end");
  if (*type == "data") {
    const auto* data = fields::text(*event, "data");
    if (data == nullptr)
      return protocol("data without data");
    return take_data(std::string{*data}, 0, data->size());
  }
  auto good = result<void>{};
  if (*type == "meta") {
    good = take_meta(*event);
  } else if (*type == "end") {
    good = take_end(*event);
  } else if (*type == "error") {
    const auto* error = fields::text(*event, "error");
    if (error == nullptr)
      return protocol("an error event without an error");
    if (*error == "guest_mismatch")
      return tl::unexpected{*named_refusal(*event)};
    return tl::unexpected{refusal_of(*error)};
  } else {
    good = protocol("an event of an unknown type");
  }
  if (!good)
    return tl::unexpected{std::move(good.error())};
  return std::string{};
}

result<void> file_stream_reader::take_meta(const json& event) {
  if (meta_)
    return protocol("a second meta");
  const auto size = fields::offset(event, "sizeBytes");
  const auto offset = fields::offset(event, "offset");
  const auto length = fields::offset(event, "length");
  if (!size || !offset || !length)
    return protocol("meta without a valid sizeBytes, offset and length");
  if (*length > *size)
    return protocol("meta announces more than the file has");
  // What was asked is given in full, or the host would take a piece for the whole.
  const auto from = offset_.value_or(0);
  const auto there = from < *size ? *size - from : 0;
  if (*length != std::min(there, length_.value_or(there)) || (*offset != from && *length != 0))
    return protocol("meta announces another part than was asked for");
  meta_ = file_meta{*size, from, *length};
  return {};
}

result<void> file_stream_reader::take_end(const json& event) {
  if (!meta_)
    return protocol("the end before meta");
  const auto sent = fields::offset(event, "bytesSent");
  if (!sent)
    return protocol("an end without a valid bytesSent");
  if (*sent != received_)
    return protocol("bytesSent is not what came");
  if (received_ != meta_->length) {
    auto text = std::string{"the file became shorter while it was read, what is missing begins at byte "};
    text += std::to_string(meta_->offset + received_);
    return tl::unexpected{failure{lost{std::move(text)}}};
  }
  ended_ = true;
  return {};
}

result<void> read_part_reply(const json& reply, std::uint64_t sent, std::optional<std::uint64_t> total) {
  auto written = read_written(reply, sent);
  if (!written)
    return tl::unexpected{std::move(written.error())};
  const auto* size = fields::field(reply, "sizeBytes");
  if (total && size != nullptr && size->is_number() && fields::offset(reply, "sizeBytes") != total)
    return tl::unexpected{failure{protocol_failure{"the file that was written has another size than was sent"}}};
  return {};
}

} // namespace paddock::guest
