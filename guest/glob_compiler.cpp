#include "guest/glob_compiler.hpp"

#include <array>

namespace paddock::guest {

namespace {

using op = glob_segment::op;
using character_set = glob_segment::character_set;

constexpr auto none = std::u32string_view::npos;

struct named_class {
  std::u32string_view name;
  std::array<std::pair<char32_t, char32_t>, 4> ranges; // unused ones are the empty range 1-0
};

constexpr auto unused = std::pair<char32_t, char32_t>{1, 0};
constexpr auto named_classes = std::array<named_class, 14>{{
  {U"alnum", {{{U'0', U'9'}, {U'A', U'Z'}, {U'a', U'z'}, unused}}},
  {U"alpha", {{{U'A', U'Z'}, {U'a', U'z'}, unused, unused}}},
  {U"ascii", {{{0, 0x7f}, unused, unused, unused}}},
  {U"blank", {{{U' ', U' '}, {U'\t', U'\t'}, unused, unused}}},
  {U"cntrl", {{{0, 0x1f}, {0x7f, 0x7f}, unused, unused}}},
  {U"digit", {{{U'0', U'9'}, unused, unused, unused}}},
  {U"graph", {{{0x21, 0x7e}, unused, unused, unused}}},
  {U"lower", {{{U'a', U'z'}, unused, unused, unused}}},
  {U"print", {{{0x20, 0x7e}, unused, unused, unused}}},
  {U"punct", {{{0x21, 0x2f}, {0x3a, 0x40}, {0x5b, 0x60}, {0x7b, 0x7e}}}},
  {U"space", {{{U' ', U' '}, {U'\t', U'\r'}, unused, unused}}},
  {U"upper", {{{U'A', U'Z'}, unused, unused, unused}}},
  {U"word", {{{U'0', U'9'}, {U'A', U'Z'}, {U'a', U'z'}, {U'_', U'_'}}}},
  {U"xdigit", {{{U'0', U'9'}, {U'A', U'F'}, {U'a', U'f'}, unused}}},
}};

struct bracket {
  character_set set;
  std::optional<char32_t> only; // the plain character that is the whole of it
  std::size_t end = 0;          // after the `]`
};

// Adds the named class that begins at `at`, and says where it ends.
std::optional<std::size_t> add_named(std::u32string_view text, std::size_t at, character_set& to) {
  if (text.substr(at, 2) != U"[:")
    return std::nullopt;
  for (const auto& named : named_classes) {
    auto rest = text.substr(at + 2);
    if (!rest.starts_with(named.name) || rest.substr(named.name.size(), 2) != U":]")
      continue;
    for (auto range : named.ranges)
      if (range != unused)
        to.ranges.push_back(range);
    return at + named.name.size() + 4;
  }
  return std::nullopt;
}

// The class whose `[` is at `at`. Absent: nothing closes it.
std::optional<bracket> read_bracket(std::u32string_view text, std::size_t at) {
  auto result = bracket{};
  auto i = at + 1;
  if (i < text.size() && (text[i] == U'!' || text[i] == U'^')) {
    result.set.negated = true;
    ++i;
  }
  auto members = 0;
  auto character = [&]() -> char32_t {
    if (text[i] == U'\\' && i + 1 < text.size())
      ++i;
    return text[i++];
  };
  for (auto first = true; i < text.size(); first = false) {
    if (text[i] == U']' && !first) {
      if (members != 1 || result.set.negated)
        result.only.reset();
      result.end = i + 1;
      return result;
    }
    ++members;
    if (auto end = add_named(text, i, result.set)) {
      ++members; // never a plain character
      i = *end;
      continue;
    }
    auto low = character();
    if (i + 1 < text.size() && text[i] == U'-' && text[i + 1] != U']') {
      ++i;
      auto high = character();
      if (low <= high)
        result.set.ranges.emplace_back(low, high);
      members += low == high ? 0 : 1;
    } else {
      result.set.ranges.emplace_back(low, low);
    }
    result.only = low;
  }
  return std::nullopt;
}

class compiler {
public:
  explicit compiler(std::u32string_view text) : text_(text), close_(text.size(), none) {
    // Which groups are closed, and where.
    auto open = std::vector<std::size_t>{};
    for (auto i = std::size_t{0}; i < text.size(); ++i) {
      if (text[i] == U'\\') {
        ++i;
      } else if (text[i] == U'[') {
        if (auto found = read_bracket(text, i))
          i = found->end - 1;
      } else if (begins_group(i)) {
        open.push_back(++i);
      } else if (text[i] == U')' && !open.empty()) {
        close_[open.back()] = i;
        open.pop_back();
      }
    }
  }

  tl::expected<glob_segment::code, std::string> compile() {
    if (!sequence(0, text_.size(), 0))
      return tl::unexpected{"the pattern nests groups deeper than " + std::to_string(glob_segment::max_nesting)};
    emit(op::accept);
    return std::move(code_);
  }

private:
  bool begins_group(std::size_t at) const {
    return at + 1 < text_.size() && text_[at + 1] == U'(' && std::u32string_view{U"@!+*?"}.find(text_[at]) != none;
  }

  std::uint32_t here() const {
    return static_cast<std::uint32_t>(code_.steps.size());
  }

  std::uint32_t emit(op what, char32_t character = 0, std::uint32_t index = 0) {
    code_.steps.push_back({what, character, index, here() + 1, 0});
    return here() - 1;
  }

  // Emits [at, end). False: nested too deeply.
  bool sequence(std::size_t at, std::size_t end, std::size_t depth) {
    auto after_star = false;
    while (at < end) {
      auto x = text_[at];
      if (begins_group(at) && close_[at + 1] != none) {
        if (!group(x, at + 2, close_[at + 1], depth + 1))
          return false;
        at = close_[at + 1] + 1;
        after_star = false;
        continue;
      }
      if (x == U'*') {
        if (!after_star)
          emit(op::star);
        after_star = true;
        ++at;
        continue;
      }
      after_star = false;
      auto taken = std::optional<bracket>{};
      if (x == U'[')
        taken = read_bracket(text_, at);
      if (taken && taken->only) {
        emit(op::one, *taken->only);
      } else if (taken) {
        emit(op::set, 0, static_cast<std::uint32_t>(code_.sets.size()));
        code_.sets.push_back(std::move(taken->set));
      } else if (x == U'?') {
        emit(op::any);
      } else {
        if (x == U'\\' && at + 1 < end)
          ++at;
        emit(op::one, text_[at]);
      }
      at = taken ? taken->end : at + 1;
    }
    return true;
  }

  bool group(char32_t kind, std::size_t at, std::size_t end, std::size_t depth) {
    if (depth > glob_segment::max_nesting)
      return false;
    code_.grouped = true;
    auto begin = here();
    if (kind == U'!')
      emit(op::without, 0, code_.withouts++);
    else if (kind == U'?' || kind == U'*')
      emit(op::split);
    auto body = here();
    if (!alternatives(at, end, depth))
      return false;
    if (kind == U'*') {
      code_.steps[emit(op::jump)].to = begin;
    } else if (kind == U'+') {
      auto again = emit(op::split);
      code_.steps[again].other = body;
    } else if (kind == U'!') {
      emit(op::accept);
      code_.steps[begin].to = here();
    }
    if (kind == U'?' || kind == U'*')
      code_.steps[begin].other = here();
    return true;
  }

  // Emits the parts of [at, end) between the bars, each a way to go.
  bool alternatives(std::size_t at, std::size_t end, std::size_t depth) {
    auto ends = std::vector<std::uint32_t>{};
    for (;;) {
      auto bar = bar_after(at, end);
      auto ways = bar < end ? std::optional{emit(op::split)} : std::nullopt;
      if (!sequence(at, bar, depth))
        return false;
      if (!ways)
        break;
      ends.push_back(emit(op::jump));
      code_.steps[*ways].other = here();
      at = bar + 1;
    }
    for (auto jump : ends)
      code_.steps[jump].to = here();
    return true;
  }

  std::size_t bar_after(std::size_t at, std::size_t end) const {
    for (; at < end; ++at) {
      if (text_[at] == U'\\') {
        ++at;
      } else if (text_[at] == U'[') {
        if (auto found = read_bracket(text_, at))
          at = found->end - 1;
      } else if (begins_group(at) && close_[at + 1] != none) {
        at = close_[at + 1];
      } else if (text_[at] == U'|') {
        return at;
      }
    }
    return end;
  }

  std::u32string_view text_;
  std::vector<std::size_t> close_; // of each `(` that opens a group and has a partner
  glob_segment::code code_;
};

} // namespace

tl::expected<glob_segment::code, std::string> compile_segment(std::u32string_view pattern) {
  return compiler{pattern}.compile();
}

} // namespace paddock::guest
