#include "guest/glob.hpp"

#include "base/utf8.hpp"
#include "guest/glob_compiler.hpp"

#include <algorithm>

namespace paddock::guest {

namespace {

using op = glob_segment::op;

void append_utf8(std::string& to, char32_t x) {
  auto tail = [&](int shift) { to += static_cast<char>(0x80 | (x >> shift & 0x3f)); };
  if (x < 0x80) {
    to += static_cast<char>(x);
    return;
  }
  if (x < 0x800) {
    to += static_cast<char>(0xc0 | x >> 6);
  } else if (x < 0x10000) {
    to += static_cast<char>(0xe0 | x >> 12);
    tail(6);
  } else {
    to += static_cast<char>(0xf0 | x >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
}

bool takes(const glob_segment::code& code, const glob_segment::instruction& step, char32_t x) {
  switch (step.what) {
    case op::one: return step.character == x;
    case op::set: return code.sets[step.index].holds(x);
    default: return true;
  }
}

// Positions in a name.
class position_set {
public:
  position_set() = default;
  explicit position_set(std::size_t size) : words_(size / 64 + 1) {
  }
  bool empty() const {
    return words_.empty();
  }
  bool holds(std::size_t at) const {
    return (words_[at / 64] >> (at % 64) & 1) != 0;
  }
  void insert(std::size_t at) {
    words_[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  void insert(const position_set& more) {
    for (auto i = std::size_t{0}; i < words_.size(); ++i)
      words_[i] |= more.words_[i];
  }
  // All that are not in it, also those past the name.
  position_set others() const {
    auto result = *this;
    for (auto& word : result.words_)
      word = ~word;
    return result;
  }

private:
  std::vector<std::uint64_t> words_;
};

// Steps that only take characters. The last star takes more whenever what follows it fails, which is always enough.
bool matches_plain(const glob_segment::code& code, std::u32string_view name) {
  auto at = std::size_t{0};
  auto step = std::size_t{0};
  auto star = std::optional<std::size_t>{};
  auto star_end = std::size_t{0};
  for (;;) {
    auto what = code.steps[step].what;
    if (what == op::star) {
      star = step++;
      star_end = at;
    } else if (what == op::accept && at == name.size()) {
      return true;
    } else if (what != op::accept && at < name.size() && takes(code, code.steps[step], name[at])) {
      ++step;
      ++at;
    } else if (star && star_end < name.size()) {
      step = *star + 1;
      at = ++star_end;
    } else {
      return false;
    }
  }
}

// Runs all ways through the code side by side, one character after the other.
class simulation {
public:
  simulation(const glob_segment::code& code, std::u32string_view name, bool hidden) :
    code_(code), name_(name), hidden_(hidden), known_(code.withouts * (name.size() + 1)) {
  }

  bool matches() {
    return ends(0, code_.steps.size(), 0).holds(name_.size());
  }

private:
  // Where the code of [first, last) can end that begins at position `from`.
  position_set ends(std::size_t first, std::size_t last, std::size_t from) {
    auto result = position_set{name_.size()};
    auto reached = std::vector<std::size_t>(last - first, name_.size() + 1); // the position at which a step was seen last
    auto open = std::vector<std::uint32_t>{static_cast<std::uint32_t>(first)};
    auto taking = std::vector<std::uint32_t>{};
    auto later = std::vector<std::pair<std::uint32_t, position_set>>{}; // the ends of a `without`, all that began so far
    auto slots = std::vector<std::size_t>(code_.withouts, code_.withouts);
    for (auto at = from; at <= name_.size(); ++at) {
      for (const auto& [to, positions] : later)
        if (positions.holds(at))
          open.push_back(to);
      taking.clear();
      while (!open.empty()) {
        auto pc = open.back();
        open.pop_back();
        if (std::exchange(reached[pc - first], at) == at)
          continue;
        const auto& step = code_.steps[pc];
        auto wild = step.what != op::one && step.what != op::split && step.what != op::jump && step.what != op::accept;
        if (wild && hidden_ && at == 0)
          continue;
        switch (step.what) {
          case op::accept: result.insert(at); break;
          case op::jump: open.push_back(step.to); break;
          case op::split:
            open.push_back(step.to);
            open.push_back(step.other);
            break;
          case op::star:
            open.push_back(step.to);
            taking.push_back(pc);
            break;
          case op::without: {
            const auto& after = ends_without(pc, at);
            auto& slot = slots[step.index];
            if (slot == code_.withouts) {
              slot = later.size();
              later.emplace_back(step.to, position_set{name_.size()});
            }
            later[slot].second.insert(after);
            if (after.holds(at))
              open.push_back(step.to);
            break;
          }
          default: taking.push_back(pc);
        }
      }
      if (at == name_.size() || (taking.empty() && later.empty()))
        break;
      for (auto pc : taking)
        if (takes(code_, code_.steps[pc], name_[at]))
          open.push_back(code_.steps[pc].what == op::star ? pc : pc + 1);
    }
    return result;
  }

  // Each is worked out once, however many ways lead to it.
  const position_set& ends_without(std::uint32_t pc, std::size_t at) {
    const auto& step = code_.steps[pc];
    auto& result = known_[step.index * (name_.size() + 1) + at];
    // What lies before `at` is in it too, and nobody asks: a simulation only goes forward.
    if (result.empty())
      result = ends(pc + 1, step.to, at).others();
    return result;
  }

  const glob_segment::code& code_;
  std::u32string_view name_;
  bool hidden_; // the leading dot is to be spelled
  std::vector<position_set> known_;
};

} // namespace

std::u32string characters_of(std::string_view text) {
  auto result = std::u32string{};
  auto repaired = std::string{};
  if (!is_utf8(text)) {
    repaired = to_utf8_with_replacement(text);
    text = repaired;
  }
  result.reserve(text.size());
  for (auto i = std::size_t{0}; i < text.size();) {
    auto lead = static_cast<unsigned char>(text[i]);
    auto length = lead < 0x80 ? 1u : lead < 0xe0 ? 2u : lead < 0xf0 ? 3u : 4u;
    auto value = length == 1 ? char32_t{lead} : static_cast<char32_t>(lead & (0x7fu >> length));
    for (auto more = i + 1; more < i + length; ++more)
      value = value << 6 | (static_cast<unsigned char>(text[more]) & 0x3fu);
    result += value;
    i += length;
  }
  return result;
}

bool glob_segment::character_set::holds(char32_t x) const noexcept {
  auto found = std::any_of(ranges.begin(), ranges.end(), [x](auto range) { return range.first <= x && x <= range.second; });
  return found != negated;
}

tl::expected<glob_segment, std::string> glob_segment::compile(std::string_view pattern) {
  auto characters = characters_of(pattern);
  auto code = compile_segment(characters);
  if (!code)
    return tl::unexpected{code.error()};
  auto result = glob_segment{};
  result.code_ = std::move(*code);
  result.crosses_ = pattern == "**";
  auto literal = std::string{};
  for (const auto& step : result.code_.steps) {
    if (step.what == op::accept)
      result.literal_ = std::move(literal);
    if (step.what != op::one)
      break;
    append_utf8(literal, step.character);
  }
  return result;
}

bool glob_segment::matches(std::u32string_view name, bool include_hidden) const {
  if (crosses_)
    return false;
  auto hidden = !include_hidden && name.starts_with(U'.');
  if (code_.grouped)
    return simulation{code_, name, hidden}.matches();
  if (hidden && code_.steps.front().what != op::one)
    return false;
  return matches_plain(code_, name);
}

} // namespace paddock::guest
