#include "guest/lifted_payload.hpp"

#include <optional>

namespace paddock::guest {

namespace {

constexpr auto mark = std::string_view{"paddock:lifted-content"};
constexpr auto worthwhile = std::size_t{16 * 1024};

struct literal {
  std::size_t at = 0; // behind the opening quote
  std::size_t size = 0;
  bool escapes = false;
};

// The string that opens at `quote`. Absent: it does not end.
std::optional<literal> string_at(std::string_view text, std::size_t quote) {
  auto result = literal{quote + 1, 0, false};
  auto end = quote; // the next quote from `at` on, kept while it is ahead: the time is linear however many escapes there are
  for (auto at = result.at;;) {
    if (end < at)
      end = text.find('"', at);
    if (end == std::string_view::npos)
      return std::nullopt;
    auto escape = text.substr(at, end - at).find('\\');
    if (escape == std::string_view::npos) {
      result.size = end - result.at;
      return result;
    }
    result.escapes = true;
    at += escape + 2;
  }
}

std::size_t past_space(std::string_view text, std::size_t at) {
  auto next = text.find_first_not_of(" \t\r\n", at);
  return next == std::string_view::npos ? text.size() : next;
}

// The first long string without escapes that is the value of a member `content`.
std::optional<literal> long_content(std::string_view text) {
  for (auto at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
    auto name = string_at(text, at);
    if (!name)
      return std::nullopt;
    at = name->at + name->size + 1;
    if (text.substr(name->at, name->size) != "content")
      continue;
    auto colon = past_space(text, at);
    if (colon >= text.size() || text[colon] != ':')
      continue;
    auto quote = past_space(text, colon + 1);
    if (quote >= text.size() || text[quote] != '"')
      continue;
    auto value = string_at(text, quote);
    if (!value)
      return std::nullopt;
    if (value->size >= worthwhile && !value->escapes)
      return value;
    at = value->at + value->size + 1;
  }
  return std::nullopt;
}

} // namespace

lifted_payload::lifted_payload(std::string payload) : payload_(std::move(payload)) {
  if (payload_.size() < worthwhile)
    return;
  auto found = long_content(payload_);
  if (!found)
    return;
  auto view = std::string_view{payload_};
  auto head = view.substr(0, found->at);
  auto tail = view.substr(found->at + found->size);
  // A mark that was there before would stand for something else, also one that is spelled with escapes.
  for (auto part : {head, tail})
    if (part.find(mark) != std::string_view::npos || part.find("\\u") != std::string_view::npos)
      return;
  rest_.reserve(head.size() + mark.size() + tail.size());
  rest_.append(head).append(mark).append(tail);
  at_ = found->at;
  size_ = found->size;
}

bool lifted_payload::stands_for_bulk(const nlohmann::json& value) const {
  return lifted() && value.is_string() && value.get_ref<const std::string&>() == mark;
}

} // namespace paddock::guest
