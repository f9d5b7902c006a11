#include "embedded/cel_lexer.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace paddock::embedded::cel {

namespace {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool in_name(char c) {
  return starts_name(c) || is_digit(c);
}

void append_utf8(std::string& to, std::uint32_t point) {
  if (point < 0x80) {
    to += static_cast<char>(point);
  } else if (point < 0x800) {
    to += static_cast<char>(0xc0 | (point >> 6));
    to += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    to += static_cast<char>(0xe0 | (point >> 12));
    to += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    to += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    to += static_cast<char>(0xf0 | (point >> 18));
    to += static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    to += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    to += static_cast<char>(0x80 | (point & 0x3f));
  }
}

class lexer {
public:
  explicit lexer(std::string_view text) : text_(text) {
  }

  tl::expected<std::vector<token>, problem> read() {
    std::vector<token> out;
    for (;;) {
      skip_blank();
      token one;
      one.at = at_;
      if (at_ == text_.size()) {
        out.push_back(std::move(one));
        return out;
      }
      const bool good = next(one);
      if (!good)
        return tl::unexpected{problem_};
      out.push_back(std::move(one));
    }
  }

private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool fail(std::string why) {
    problem_ = {at_, std::move(why), false};
    return false;
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(peek())) != 0)
        ++at_;
      else if (peek() == '/' && peek(1) == '/')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        return;
    }
  }

  bool next(token& out) {
    if (starts_text())
      return read_text(out);
    if (starts_name(peek())) {
      out.what = token::kind::identifier;
      while (in_name(peek()))
        out.text += text_[at_++];
      return true;
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1))))
      return read_number(out);
    static constexpr std::array<std::string_view, 25> symbols{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "?", ":", "+", "-",
                                                              "*",  "/",  "%",  "(",  ")",  "[",  "]", "{", "}", ".", ",", "="};
    for (const auto symbol : symbols) {
      if (text_.substr(at_).starts_with(symbol)) {
        out.what = token::kind::symbol;
        out.text = symbol;
        at_ += symbol.size();
        return true;
      }
    }
    return fail("token recognition error at: '" + std::string{peek()} + "'");
  }

  // -- numbers ----------------------------------------------------------------------------------------------------

  bool read_number(token& out) {
    out.what = token::kind::number;
    const auto begin = at_;
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex) {
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(peek())) != 0)
        ++at_;
    } else {
      while (is_digit(peek()))
        ++at_;
      bool real = false;
      if (peek() == '.' && is_digit(peek(1))) {
        real = true;
        ++at_;
        while (is_digit(peek()))
          ++at_;
      }
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
        real = true;
        at_ += sign;
        while (is_digit(peek()))
          ++at_;
      }
      if (real) {
        out.text = text_.substr(begin, at_ - begin);
        out.constant = value::content{std::strtod(out.text.c_str(), nullptr)};
        return in_name(peek()) ? fail("token recognition error at: '" + std::string{peek()} + "'") : true;
      }
    }
    out.text = text_.substr(begin, at_ - begin);
    if (peek() == 'u' || peek() == 'U') {
      ++at_;
      std::uint64_t number = 0;
      const auto digits = std::string_view{out.text}.substr(hex ? 2 : 0);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
      if (error != std::errc{} || end != digits.data() + digits.size())
        return fail("invalid uint literal");
      out.constant = value::content{number};
    }
    return in_name(peek()) ? fail("token recognition error at: '" + std::string{peek()} + "'") : true;
  }

  // -- texts ------------------------------------------------------------------------------------------------------

  /// Behind any of the prefixes `r`, `b`, `rb`, `br`.
  [[nodiscard]] std::size_t prefix() const {
    std::size_t n = 0;
    while (n < 2 && std::string_view{"rRbB"}.find(peek(n)) != std::string_view::npos && peek(n) != '\0')
      ++n;
    return n;
  }
  [[nodiscard]] bool starts_text() const {
    const auto quote = peek(prefix());
    return quote == '"' || quote == '\'';
  }

  bool read_text(token& out) {
    out.what = token::kind::text;
    bool raw = false;
    bool is_bytes = false;
    for (auto n = prefix(); n > 0; --n, ++at_) {
      raw = raw || peek() == 'r' || peek() == 'R';
      is_bytes = is_bytes || peek() == 'b' || peek() == 'B';
    }
    const auto quote = std::string(1, peek());
    const bool triple = text_.substr(at_).starts_with(quote + quote + quote);
    const auto fence = triple ? quote + quote + quote : quote;
    at_ += fence.size();
    std::string content;
    while (!text_.substr(at_).starts_with(fence)) {
      if (at_ == text_.size() || (!triple && (peek() == '\n' || peek() == '\r')))
        return fail("token recognition error at: unterminated string");
      if (peek() != '\\' || raw)
        content += text_[at_++];
      else if (!read_escape(content, is_bytes))
        return false;
    }
    at_ += fence.size();
    out.constant = is_bytes ? value::content{bytes{std::move(content)}} : value::content{std::move(content)};
    return true;
  }

  bool read_escape(std::string& to, bool is_bytes) {
    ++at_;
    const char c = peek();
    ++at_;
    static constexpr std::string_view plain = "abfnrtv\\?\"'`";
    static constexpr std::string_view means = "\a\b\f\n\r\t\v\\?\"'`";
    if (const auto found = plain.find(c); c != '\0' && found != std::string_view::npos) {
      to += means[found];
      return true;
    }
    std::size_t digits = 0;
    int base = 16;
    if (c == 'x' || c == 'X')
      digits = 2;
    else if (c == 'u')
      digits = 4;
    else if (c == 'U')
      digits = 8;
    if (c >= '0' && c <= '3') {
      digits = 3;
      base = 8;
      --at_;
    }
    const auto part = text_.substr(std::min(at_, text_.size()), digits);
    std::uint32_t point = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), point, base);
    if (digits == 0 || part.size() != digits || error != std::errc{} || end != part.data() + part.size())
      return fail("token recognition error at: invalid escape");
    at_ += digits;
    if (is_bytes && digits < 4) {
      to += static_cast<char>(point);
      return point <= 0xff || fail("token recognition error at: invalid escape");
    }
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
      return fail("invalid unicode code point");
    append_utf8(to, point);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  problem problem_;
};

} // namespace

tl::expected<std::vector<token>, problem> read_tokens(std::string_view text) {
  return lexer{text}.read();
}

} // namespace paddock::embedded::cel
