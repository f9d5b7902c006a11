#include "embedded/cel_function.hpp"

#include <algorithm>
#include <memory>
#include <re2/re2.h>

namespace paddock::embedded::cel {

namespace {

constexpr std::int64_t regex_memory = 1 << 20;
constexpr std::size_t largest_program = 12'000; // of that memory, about

const std::string& text(arguments all, std::size_t i) {
  return *all[i].as<std::string>();
}

std::int64_t number(arguments all, std::size_t i) {
  return *all[i].as<std::int64_t>();
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::int64_t length(std::string_view x) {
  return static_cast<std::int64_t>(characters(x));
}

/// Where the character number `index` begins; the end when there are no more.
std::size_t offset_of(std::string_view x, std::int64_t index) {
  std::size_t at = 0;
  while (at < x.size() && index > 0) {
    ++at;
    while (at < x.size() && continues(x[at]))
      ++at;
    --index;
  }
  return at;
}

tl::unexpected<std::string> out_of_range(std::int64_t index) {
  return tl::unexpected{"index out of range: " + std::to_string(index)};
}

std::string with_case(std::string x, char from, char to, int step) {
  for (auto& c : x)
    if (c >= from && c <= to)
      c = static_cast<char>(c + step);
  return x;
}

// -- parts --------------------------------------------------------------------------------------------------------

evaluated char_at(arguments all) {
  const auto index = number(all, 1);
  if (index < 0 || index > length(text(all, 0)))
    return out_of_range(index);
  const auto begin = offset_of(text(all, 0), index);
  const auto end = begin + offset_of(std::string_view{text(all, 0)}.substr(begin), 1);
  return give(text(all, 0).substr(begin, end - begin));
}

evaluated substring(arguments all) {
  const auto& of = text(all, 0);
  const auto size = length(of);
  const auto begin = number(all, 1);
  const auto end = all.size() == 3 ? number(all, 2) : size;
  if (begin < 0 || begin > size)
    return out_of_range(begin);
  if (end < 0 || end > size)
    return out_of_range(end);
  if (begin > end)
    return tl::unexpected{"invalid substring range. start: " + std::to_string(begin) + ", end: " + std::to_string(end)};
  const auto from = offset_of(of, begin);
  return give(of.substr(from, offset_of(of, end) - from));
}

evaluated index_of(arguments all) {
  const auto& of = text(all, 0);
  const auto from = all.size() == 3 ? number(all, 2) : 0;
  if (from < 0 || from > length(of))
    return out_of_range(from);
  const auto found = of.find(text(all, 1), offset_of(of, from));
  return give(found == std::string::npos ? std::int64_t{-1} : length(std::string_view{of}.substr(0, found)));
}

evaluated last_index_of(arguments all) {
  const auto& of = text(all, 0);
  const auto from = all.size() == 3 ? number(all, 2) : length(of);
  if (from < 0 || from > length(of))
    return out_of_range(from);
  const auto found = of.rfind(text(all, 1), offset_of(of, from));
  return give(found == std::string::npos ? std::int64_t{-1} : length(std::string_view{of}.substr(0, found)));
}

evaluated split(arguments all) {
  const auto& of = text(all, 0);
  const auto& by = text(all, 1);
  const auto most = all.size() == 3 ? number(all, 2) : -1;
  value_list out;
  if (most == 0)
    return value::of(std::move(out));
  // Each part is a value of its own, however short it is.
  const auto paid = [&](std::size_t size) { return all.cost().spend(text_cost(size)); };
  std::size_t at = 0;
  const auto room = [&] { return most < 0 || static_cast<std::int64_t>(out.size()) + 1 < most; };
  if (by.empty()) { // into characters
    while (at < of.size() && room()) {
      const auto end = at + offset_of(std::string_view{of}.substr(at), 1);
      if (!paid(end - at))
        return cost_exceeded();
      out.push_back(value::content{of.substr(at, end - at)});
      at = end;
    }
    if (at < of.size())
      out.push_back(value::content{of.substr(at)});
    return value::of(std::move(out));
  }
  for (auto found = of.find(by); found != std::string::npos && room(); found = of.find(by, at)) {
    if (!paid(found - at))
      return cost_exceeded();
    out.push_back(value::content{of.substr(at, found - at)});
    at = found + by.size();
  }
  out.push_back(value::content{of.substr(at)});
  return value::of(std::move(out));
}

evaluated join(arguments all) {
  std::string out;
  for (std::size_t i = 0; i < all[0].size(); ++i) {
    const auto part = all[0].at(i);
    const auto* piece = part.as<std::string>();
    if (piece == nullptr)
      return no_overload();
    const auto between = i > 0 && all.size() == 2 ? std::string_view{text(all, 1)} : std::string_view{};
    if (!all.cost().spend(text_cost(between.size() + piece->size())))
      return cost_exceeded();
    out += between;
    out += *piece;
  }
  return give(std::move(out));
}

evaluated replace(arguments all) {
  const auto& of = text(all, 0);
  const auto& old = text(all, 1);
  auto left = all.size() == 4 ? number(all, 3) : -1;
  std::string out;
  std::size_t at = 0;
  // An empty text stands before each character and at the end.
  while (at <= of.size() && left != 0) {
    const auto found = of.find(old, at);
    if (found == std::string::npos)
      break;
    if (!all.cost().spend(text_cost(found - at + text(all, 2).size())))
      return cost_exceeded();
    out += of.substr(at, found - at) + text(all, 2);
    --left;
    at = found + old.size();
    if (!old.empty())
      continue;
    if (at == of.size())
      return give(std::move(out));
    const auto next = at + offset_of(std::string_view{of}.substr(at), 1);
    out += of.substr(at, next - at);
    at = next;
  }
  return give(out + (at < of.size() ? of.substr(at) : ""));
}

evaluated reverse(arguments all) {
  const auto& of = text(all, 0);
  std::string out;
  for (auto end = of.size(); end > 0;) {
    auto begin = end - 1;
    while (begin > 0 && continues(of[begin]))
      --begin;
    out += of.substr(begin, end - begin);
    end = begin;
  }
  return give(std::move(out));
}

evaluated trim(arguments all) {
  constexpr std::string_view blank = " \t\n\v\f\r";
  const auto& of = text(all, 0);
  const auto begin = of.find_first_not_of(blank);
  return give(begin == std::string::npos ? std::string{} : of.substr(begin, of.find_last_not_of(blank) - begin + 1));
}

// -- regular expressions ------------------------------------------------------------------------------------------

RE2::Options regex_options() {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(regex_memory);
  return out;
}

std::string too_long() {
  return "regular expression is longer than " + std::to_string(max_pattern_bytes) + " bytes";
}

/// How many instructions the program has. One that was given up had as many as there is memory for.
std::size_t size_of(const RE2& x) {
  if (x.ok())
    return static_cast<std::size_t>(std::max(x.ProgramSize(), 0));
  return x.error_code() == RE2::ErrorPatternTooLarge ? largest_program : 0;
}

/// The program of the second text, made and paid for; so is running it over the first.
tl::expected<std::unique_ptr<RE2>, std::string> compiled(arguments all, const std::string& fault) {
  const auto& pattern = text(all, 1);
  if (pattern.size() > max_pattern_bytes)
    return tl::unexpected{too_long()};
  auto out = std::make_unique<RE2>(pattern, regex_options());
  const auto program = pattern.size() + size_of(*out);
  if (!all.cost().spend(program + text_cost(text(all, 0).size()) * text_cost(program)))
    return cost_exceeded();
  if (!out->ok())
    return tl::unexpected{fault + out->error()};
  return out;
}

evaluated matches(arguments all) {
  const auto regex = compiled(all, "error parsing regexp: ");
  return regex ? give(RE2::PartialMatch(text(all, 0), **regex)) : evaluated{tl::unexpected{regex.error()}};
}

evaluated find(arguments all) {
  const auto regex = compiled(all, "Illegal regex: ");
  if (!regex)
    return tl::unexpected{regex.error()};
  re2::StringPiece found;
  const bool there = (*regex)->Match(text(all, 0), 0, text(all, 0).size(), RE2::UNANCHORED, &found, 1);
  return give(there ? found.as_string() : std::string{});
}

} // namespace

tl::expected<std::size_t, pattern_failure> pattern_size(const std::string& text) {
  if (text.size() > max_pattern_bytes)
    return tl::unexpected{pattern_failure{too_long(), true}};
  const RE2 regex{text, regex_options()};
  if (!regex.ok())
    return tl::unexpected{pattern_failure{regex.error(), regex.error_code() == RE2::ErrorPatternTooLarge}};
  return size_of(regex);
}

void add_texts(std::vector<overload>& to, add_overload add) {
  add(to, "string.startsWith(string) bool", [](arguments all) -> evaluated { return give(text(all, 0).starts_with(text(all, 1))); });
  add(to, "string.endsWith(string) bool", [](arguments all) -> evaluated { return give(text(all, 0).ends_with(text(all, 1))); });
  add(to, "string.contains(string) bool",
      [](arguments all) -> evaluated { return give(text(all, 0).find(text(all, 1)) != std::string::npos); });
  add(to, "string.matches(string) bool", &matches);
  add(to, "matches(string, string) bool", &matches);
  add(to, "string.find(string) string", &find);
  add(to, "string.lowerAscii() string", [](arguments all) -> evaluated { return give(with_case(text(all, 0), 'A', 'Z', 32)); });
  add(to, "string.upperAscii() string", [](arguments all) -> evaluated { return give(with_case(text(all, 0), 'a', 'z', -32)); });
  add(to, "string.trim() string", &trim);
  add(to, "string.reverse() string", &reverse);
  add(to, "string.charAt(int) string", &char_at);
  add(to, "string.substring(int) string", &substring);
  add(to, "string.substring(int, int) string", &substring);
  add(to, "string.indexOf(string) int", &index_of);
  add(to, "string.indexOf(string, int) int", &index_of);
  add(to, "string.lastIndexOf(string) int", &last_index_of);
  add(to, "string.lastIndexOf(string, int) int", &last_index_of);
  add(to, "string.split(string) list(string)", &split);
  add(to, "string.split(string, int) list(string)", &split);
  add(to, "list.join() string", &join);
  add(to, "list.join(string) string", &join);
  add(to, "string.replace(string, string) string", &replace);
  add(to, "string.replace(string, string, int) string", &replace);
  const auto size = [](arguments all) -> evaluated { return give(length(text(all, 0))); };
  add(to, "size(string) int", size);
  add(to, "string.size() int", size);
}

} // namespace paddock::embedded::cel
