#include "documents/events.hpp"

#include <iterator>

namespace paddock::documents {

namespace {

using nlohmann::json;

/// How far a text has been read. The parser copies its iterators, so they share this.
struct progress {
  const char* at = nullptr;
  std::size_t line = 1;
};

class counting_iterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, progress* seen) : at_(at), seen_(seen) {
  }
  reference operator*() const {
    return *at_;
  }
  counting_iterator& operator++() {
    if (*at_++ == '\n')
      ++seen_->line;
    seen_->at = at_;
    return *this;
  }
  counting_iterator operator++(int) {
    auto was = *this;
    ++*this;
    return was;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) {
    return a.at_ == b.at_;
  }

private:
  const char* at_;
  progress* seen_;
};

class teller final : public nlohmann::json_sax<json> {
public:
  teller(const listener& to, const progress& seen) : to_(to), seen_(seen) {
  }

  bool null() override {
    return value(nullptr);
  }
  bool boolean(bool x) override {
    return value(x);
  }
  bool number_integer(number_integer_t x) override {
    return number(x);
  }
  bool number_unsigned(number_unsigned_t x) override {
    return number(x);
  }
  bool number_float(number_float_t x, const string_t&) override {
    return number(x);
  }
  bool string(string_t& x) override {
    return value(std::move(x));
  }
  bool binary(binary_t&) override {
    return false;
  }
  bool start_object(std::size_t) override {
    return begin(event::type::map);
  }
  bool key(string_t& x) override {
    to_({event::type::key, seen_.line, std::move(x)});
    return true;
  }
  bool end_object() override {
    return end();
  }
  bool start_array(std::size_t) override {
    return begin(event::type::list);
  }
  bool end_array() override {
    return end();
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& why) override {
    const auto text = std::string_view{why.what()};
    constexpr auto number_overflow = 406;
    if (why.id == number_overflow)
      throw complaint{seen_.line, "has a number that is out of range"};
    const auto from = text.find("syntax error");
    throw syntax_complaint{{seen_.line, "is not JSON: " + std::string{text.substr(from == std::string_view::npos ? 0 : from)}},
                           text.find("unexpected end of input") != std::string_view::npos};
  }

private:
  bool begin(event::type x) {
    if (depth_ == 0)
      to_({event::type::document, seen_.line});
    if (++depth_ > deepest)
      throw complaint{seen_.line, "is nested more than " + std::to_string(deepest) + " levels deep"};
    to_({x, seen_.line});
    return true;
  }
  bool end() {
    --depth_;
    to_({event::type::end, seen_.line});
    return true;
  }
  bool value(json x) {
    return value(std::move(x), seen_.line);
  }
  /// The end of a number is known by what follows it, which may be the end of its line.
  bool number(json x) {
    return value(std::move(x), seen_.line - (seen_.at[-1] == '\n' ? 1 : 0));
  }
  bool value(json x, std::size_t line) {
    if (depth_ == 0)
      to_({event::type::document, line});
    to_({event::type::value, line, std::move(x)});
    return true;
  }

  const listener& to_;
  const progress& seen_;
  std::size_t depth_ = 0;
};

} // namespace

void read_json_events(std::string_view text, const listener& to) {
  auto seen = progress{text.data()};
  const auto* const end = text.data() + text.size();
  const auto skip_space = [&] {
    for (; seen.at != end && std::string_view{" \t\r\n"}.find(*seen.at) != std::string_view::npos; ++seen.at)
      seen.line += *seen.at == '\n' ? 1 : 0;
    return seen.at != end;
  };
  while (skip_space()) {
    auto tell = teller{to, seen};
    json::sax_parse(counting_iterator{seen.at, &seen}, counting_iterator{end, &seen}, &tell, json::input_format_t::json, false);
  }
}

} // namespace paddock::documents
