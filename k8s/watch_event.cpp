#include "k8s/watch_event.hpp"

#include "base/overloaded.hpp"
#include "k8s/objects.hpp"

namespace paddock::k8s {

using nlohmann::json;

namespace {

using fault = watch_unreadable::fault;

constexpr int deepest = 200; // far above what an API server stores

/// The value of one line; discarded when it is no JSON or too deep.
json parse(std::string_view line) {
  auto too_deep = false;
  const auto shallow = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  auto got = json::parse(line, shallow, false);
  return too_deep ? json(json::value_t::discarded) : got;
}

std::optional<watch_event::kind> kind_of(const json& event) {
  const auto type = text_at(event, "/type");
  if (type == "ADDED")
    return watch_event::kind::added;
  if (type == "MODIFIED")
    return watch_event::kind::modified;
  if (type == "DELETED")
    return watch_event::kind::deleted;
  if (type == "BOOKMARK")
    return watch_event::kind::bookmark;
  return std::nullopt;
}

watch_fault error_of(const json& event) {
  const auto status = event.find("object");
  if (status == event.end() || !status->is_object())
    return watch_unreadable{fault::not_an_event};
  auto got = watch_refused{};
  if (const auto code = status->find("code"); code != status->end() && code->is_number_unsigned())
    got.code = static_cast<unsigned>(std::min<std::uint64_t>(code->get<std::uint64_t>(), 999));
  got.reason = text_at(*status, "/reason").value_or("");
  got.message = text_at(*status, "/message").value_or("");
  if (got.code == 410 || got.reason == "Expired" || got.reason == "Gone")
    return watch_expired{std::move(got.message)};
  const auto details = status->find("details");
  if (details != status->end() && details->is_object())
    if (const auto after = details->find("retryAfterSeconds"); after != details->end() && after->is_number_unsigned())
      got.retry_after = std::chrono::seconds{std::min<std::uint64_t>(after->get<std::uint64_t>(), 3600)};
  return got;
}

tl::expected<watch_event, watch_fault> read_event(std::string_view line) {
  auto event = parse(line);
  const auto fail = [](watch_fault why) { return tl::unexpected{std::move(why)}; };
  if (event.is_discarded())
    return fail(watch_unreadable{fault::not_json});
  if (text_at(event, "/type") == "ERROR")
    return fail(error_of(event));
  const auto kind = kind_of(event);
  const auto object = kind ? event.find("object") : event.end();
  if (object == event.end() || !object->is_object())
    return fail(watch_unreadable{fault::not_an_event});
  const auto identified = text_at(*object, "/metadata/name") && text_at(*object, "/metadata/uid");
  if (!text_at(*object, "/metadata/resourceVersion") || (kind != watch_event::kind::bookmark && !identified))
    return fail(watch_unreadable{fault::no_identity});
  return watch_event{*kind, std::move(*object)};
}

} // namespace

std::string_view to_string(watch_event::kind x) {
  switch (x) {
    case watch_event::kind::added: return "ADDED";
    case watch_event::kind::modified: return "MODIFIED";
    case watch_event::kind::deleted: return "DELETED";
    case watch_event::kind::bookmark: return "BOOKMARK";
  }
  return "";
}

std::string to_string(const watch_fault& x) {
  return std::visit(overloaded{
                      [](const watch_expired& e) { return "the version is no longer known (410): " + e.message; },
                      [](const watch_refused& e) {
                        return "the watch ended with an error " + std::to_string(e.code) + (e.reason.empty() ? "" : " " + e.reason)
                               + (e.message.empty() ? "" : ": " + e.message);
                      },
                      [](const watch_unreadable& e) -> std::string {
                        switch (e.what) {
                          case fault::too_long: return "the watch cannot be read: a line is too long";
                          case fault::not_json: return "the watch cannot be read: a line is not JSON";
                          case fault::not_an_event: return "the watch cannot be read: a line is not an event";
                          case fault::no_identity: return "the watch cannot be read: an object has no version, name or uid";
                        }
                        return "";
                      },
                    },
                    x);
}

watch_decoder::watch_decoder(std::size_t longest_line) : longest_line_(longest_line) {
}

void watch_decoder::take(std::string_view bytes) {
  if (over_)
    return;
  bytes_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  bytes_ += bytes;
}

tl::unexpected<watch_fault> watch_decoder::end_with(watch_fault why) {
  over_ = true;
  bytes_ = {};
  return tl::unexpected{std::move(why)};
}

std::optional<tl::expected<watch_event, watch_fault>> watch_decoder::next() {
  while (!over_) {
    const auto end = bytes_.find('\n', scanned_);
    const auto length = (end == std::string::npos ? bytes_.size() : end) - begin_;
    if (length > longest_line_)
      return end_with(watch_unreadable{fault::too_long});
    if (end == std::string::npos) {
      scanned_ = bytes_.size();
      return std::nullopt;
    }
    const auto line = std::string_view{bytes_}.substr(begin_, length);
    begin_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    auto got = read_event(line);
    if (!got)
      return end_with(std::move(got.error()));
    return got;
  }
  return std::nullopt;
}

} // namespace paddock::k8s
