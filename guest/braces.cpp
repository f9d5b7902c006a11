#include "guest/braces.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace paddock::guest {

namespace {

using words = std::vector<std::string>;

constexpr auto none = std::string_view::npos;

bool is_digit(char x) {
  return x >= '0' && x <= '9';
}

bool is_letter(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z');
}

// A whole number of at most 15 digits; a longer one is text.
std::optional<std::int64_t> whole_number(std::string_view text) {
  auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.size() > 15 || !std::all_of(digits.begin(), digits.end(), is_digit))
    return std::nullopt;
  auto result = std::int64_t{0};
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

bool is_padded(std::string_view number) {
  auto digits = number.substr(number.starts_with('-') ? 1 : 0);
  return digits.size() > 1 && digits.front() == '0';
}

// What `FROM..TO` and `FROM..TO..STEP` count.
struct count {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t step = 1;
  bool letters = false;
  std::size_t width = 0; // numbers are filled with zeros up to here

  std::size_t size() const {
    return static_cast<std::size_t>(std::max(to - from, from - to) / step) + 1;
  }

  std::string at(std::size_t i) const {
    auto value = from + (to < from ? -step : step) * static_cast<std::int64_t>(i);
    if (letters) {
      auto letter = static_cast<char>(value);
      // Between Z and a stand characters that mean something in a pattern.
      return is_letter(letter) ? std::string{letter} : std::string{'\\', letter};
    }
    auto text = std::to_string(value);
    if (text.size() < width)
      text.insert(value < 0 ? 1 : 0, width - text.size(), '0');
    return text;
  }
};

std::optional<count> count_of(std::string_view body) {
  auto first = body.find("..");
  if (first == none)
    return std::nullopt;
  auto second = body.find("..", first + 2);
  auto from = body.substr(0, first);
  auto to = body.substr(first + 2, second == none ? none : second - first - 2);
  auto result = count{};
  if (second != none) {
    auto step = whole_number(body.substr(second + 2));
    if (!step)
      return std::nullopt;
    result.step = std::max<std::int64_t>(1, std::max(*step, -*step));
  }
  if (from.size() == 1 && to.size() == 1 && is_letter(from.front()) && is_letter(to.front())) {
    result.from = from.front();
    result.to = to.front();
    result.letters = true;
    return result;
  }
  auto low = whole_number(from);
  auto high = whole_number(to);
  if (!low || !high)
    return std::nullopt;
  result.from = *low;
  result.to = *high;
  if (is_padded(from) || is_padded(to))
    result.width = std::max(from.size(), to.size());
  return result;
}

class expander {
public:
  expander(std::string_view text, std::size_t most) : text_(text), most_(most), close_(text.size(), none) {
    auto open = std::vector<std::size_t>{};
    for (auto i = std::size_t{0}; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '{') {
        open.push_back(i);
      } else if (text[i] == '}' && !open.empty()) {
        close_[open.back()] = i;
        open.pop_back();
      }
    }
  }

  // What [at, end) stands for, within `depth` groups. Absent: too many.
  std::optional<words> expand(std::size_t at, std::size_t end, std::size_t depth) const {
    auto result = words{""};
    auto plain = at; // where the text begins that every word gets as it is
    while (at < end) {
      if (text_[at] == '\\') {
        at += 2;
        continue;
      }
      if (text_[at] != '{' || close_[at] == none) {
        ++at;
        continue;
      }
      auto choices = words{};
      switch (choose(at, depth, choices)) {
        case group::too_many: return std::nullopt;
        case group::text: ++at; continue;
        case group::choice: break;
      }
      if (choices.size() * result.size() > most_)
        return std::nullopt;
      append(result, plain, at);
      auto product = words{};
      product.reserve(choices.size() * result.size());
      for (const auto& head : result)
        for (const auto& tail : choices)
          product.push_back(head + tail);
      result = std::move(product);
      at = close_[at] + 1;
      plain = at;
    }
    append(result, plain, end);
    return result;
  }

private:
  enum class group { text, choice, too_many };

  group choose(std::size_t open, std::size_t depth, words& into) const {
    auto end = close_[open];
    if (auto numbers = count_of(text_.substr(open + 1, end - open - 1))) {
      if (numbers->size() > most_)
        return group::too_many;
      for (auto i = std::size_t{0}; i < numbers->size(); ++i)
        into.push_back(numbers->at(i));
      return group::choice;
    }
    auto starts = std::vector<std::size_t>{open + 1};
    for (auto i = open + 1; i < end; ++i) {
      if (text_[i] == '\\')
        ++i;
      else if (text_[i] == '{' && close_[i] != none)
        i = close_[i];
      else if (text_[i] == ',')
        starts.push_back(i + 1);
    }
    if (starts.size() == 1)
      return group::text;
    // Each group adds at least one word to those of the group within it, which bounds the recursion.
    if (starts.size() > most_ || depth >= most_)
      return group::too_many;
    starts.push_back(end + 1);
    for (auto i = std::size_t{0}; i + 1 < starts.size(); ++i) {
      auto part = expand(starts[i], starts[i + 1] - 1, depth + 1);
      if (!part || part->size() + into.size() > most_)
        return group::too_many;
      std::move(part->begin(), part->end(), std::back_inserter(into));
    }
    return group::choice;
  }

  void append(words& to, std::size_t at, std::size_t end) const {
    for (auto& word : to)
      word += text_.substr(at, end - at);
  }

  std::string_view text_;
  std::size_t most_;
  std::vector<std::size_t> close_; // of each brace that opens and has a partner
};

} // namespace

std::optional<std::vector<std::string>> expand_braces(std::string_view pattern, std::size_t most) {
  return expander{pattern, most}.expand(0, pattern.size(), 0);
}

} // namespace paddock::guest
