#include "guest/envelope.hpp"

#include "base/utf8.hpp"

#include <cctype>

namespace paddock::guest {

namespace {

using nlohmann::json;

constexpr std::size_t max_depth = 64;

// The four hex digits after `\u` at `at`, or -1.
int code_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u')
    return -1;
  auto unit = 0;
  for (auto i = at + 2; i < at + 6; ++i) {
    auto x = static_cast<unsigned char>(text[i]);
    if (!std::isxdigit(x))
      return -1;
    unit = unit * 16 + (std::isdigit(x) ? x - '0' : std::tolower(x) - 'a' + 10);
  }
  return unit;
}

bool is_high(int unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}

bool is_low(int unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

// The parser refuses escaped lone surrogates, which the protocol allows.
void replace_lone_surrogates(std::string& text) {
  for (auto at = text.find('\\'); at != std::string::npos && at + 1 < text.size(); at = text.find('\\', at)) {
    auto unit = code_unit(text, at);
    if (is_high(unit) && is_low(code_unit(text, at + 6))) {
      at += 12;
      continue;
    }
    if (is_high(unit) || is_low(unit))
      text.replace(at, 6, "\\ufffd");
    at += unit < 0 ? 2 : 6;
  }
}

bool too_deep(std::string_view text) {
  auto depth = std::size_t{0};
  auto in_string = false;
  for (auto i = std::size_t{0}; i < text.size(); ++i) {
    auto x = text[i];
    if (in_string) {
      // Skip the long stretches between quotes and backslashes at once.
      while (i < text.size() && text[i] != '"' && text[i] != '\\')
        ++i;
      if (i == text.size())
        return false;
      if (text[i] == '\\')
        ++i;
      else
        in_string = false;
    } else if (x == '"') {
      in_string = true;
    } else if (x == '[' || x == '{') {
      if (++depth > max_depth)
        return true;
    } else if ((x == ']' || x == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

// Calls `parse` with text that the parser takes as the protocol means it. The usual payload is not copied.
template <class Parse>
auto with_clean_text(std::string_view payload, Parse parse) {
  auto clean = std::string{};
  auto text = payload;
  if (!is_utf8(text)) {
    clean = to_utf8_with_replacement(text);
    text = clean;
  }
  if (text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos) {
    if (clean.empty())
      clean = text;
    replace_lone_surrogates(clean);
    text = clean;
  }
  return parse(text);
}

// Keeps the three fields of the top level and drops all else. A later field of the same name replaces an earlier one.
class envelope_reader {
public:
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  bool null() {
    return value(nullptr);
  }
  bool boolean(bool x) {
    return value(x);
  }
  bool number_integer(number_integer_t x) {
    return value(x);
  }
  bool number_unsigned(number_unsigned_t x) {
    return value(x);
  }
  bool number_float(number_float_t x, const string_t&) {
    return value(x);
  }
  bool string(string_t& x) {
    return value(std::move(x));
  }
  bool binary(binary_t&) {
    return false;
  }
  bool start_object(std::size_t) {
    if (depth_ == 0)
      is_object = true;
    value(json::object());
    ++depth_;
    return true;
  }
  bool end_object() {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    value(json::array());
    ++depth_;
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool key(string_t& x) {
    if (depth_ == 1)
      key_ = std::move(x);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) {
    return false;
  }

  bool is_object = false;
  std::optional<json> op;
  std::optional<json> token;
  std::optional<json> pin;

private:
  template <class T>
  bool value(T&& x) {
    if (depth_ != 1 || !is_object)
      return true;
    if (key_ == "op")
      op = json(std::forward<T>(x));
    else if (key_ == "token")
      token = json(std::forward<T>(x));
    else if (key_ == "expectedGuestBootId")
      pin = json(std::forward<T>(x));
    return true;
  }

  std::size_t depth_ = 0;
  std::string key_;
};

} // namespace

std::string to_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_payload(const request& x) {
  auto object = nlohmann::ordered_json{{"op", x.op}};
  if (x.body)
    object["body"] = *x.body;
  if (x.token)
    object["token"] = *x.token;
  if (x.expected_guest_boot_id)
    object["expectedGuestBootId"] = *x.expected_guest_boot_id;
  return to_text(object);
}

std::optional<json> parse_payload(std::string_view payload) {
  if (too_deep(payload))
    return std::nullopt;
  return with_clean_text(payload, [](std::string_view text) -> std::optional<json> {
    auto value = json::parse(text, nullptr, false);
    if (value.is_discarded())
      return std::nullopt;
    return value;
  });
}

std::optional<envelope> read_envelope(std::string_view payload) {
  if (too_deep(payload))
    return std::nullopt;
  auto reader = envelope_reader{};
  if (!with_clean_text(payload, [&](std::string_view text) { return json::sax_parse(text, &reader); }))
    return std::nullopt;
  auto result = envelope{};
  result.has_op = reader.op && reader.op->is_string();
  if (result.has_op)
    result.op = reader.op->get<std::string>();
  else
    result.op = reader.op ? reader.op->dump(-1, ' ', false, json::error_handler_t::replace) : "undefined";
  if (reader.token && reader.token->is_string() && !reader.token->get_ref<const std::string&>().empty())
    result.token = reader.token->get<std::string>();
  result.expected_guest_boot_id = std::move(reader.pin);
  return result;
}

} // namespace paddock::guest
