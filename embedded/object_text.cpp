#include "embedded/object_text.hpp"

#include "embedded/object.hpp"

namespace paddock::embedded {

namespace {

/// Behind the string that begins at `at`; the size of `text` when it does not end.
std::size_t after_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"')
      return at + 1;
    if (text[at] == '\\')
      ++at;
  }
  return text.size();
}

/// Behind the value that begins at `at`.
std::size_t after_value(std::string_view text, std::size_t at) {
  auto depth = std::size_t{0};
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at = after_string(text, at);
        if (depth == 0)
          return at;
        continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth == 0)
          return at; // of the object around it
        if (--depth == 0)
          return at + 1;
        break;
      case ',':
        if (depth == 0)
          return at;
        break;
      default: break;
    }
    ++at;
  }
  return text.size();
}

/// The member of the object that `text` is.
std::string_view written_member(std::string_view text, std::string_view key) {
  if (!text.starts_with('{'))
    return {};
  auto at = std::size_t{1};
  while (at < text.size() && text[at] == '"') {
    const auto colon = after_string(text, at);
    const auto begin = colon + 1;
    if (begin >= text.size())
      return {};
    const auto end = after_value(text, begin);
    if (text.substr(at + 1, colon - at - 2) == key)
      return text.substr(begin, end - begin);
    at = end + 1;
  }
  return {};
}

} // namespace

std::string_view written_at(std::string_view text, std::initializer_list<std::string_view> path) {
  for (const auto key : path)
    text = written_member(text, key);
  return text;
}

std::string text_in(std::string_view text, std::initializer_list<std::string_view> path) {
  return read_text(written_at(text, path));
}

std::string read_text(std::string_view written) {
  if (written.size() < 2 || !written.starts_with('"'))
    return {};
  if (written.find('\\') == std::string_view::npos)
    return std::string{written.substr(1, written.size() - 2)};
  const auto read = json::parse(written, nullptr, false);
  return read.is_string() ? read.get<std::string>() : std::string{};
}

} // namespace paddock::embedded
