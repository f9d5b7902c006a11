#include "embedded/object.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

std::size_t nesting_of(const json& value, std::size_t above) {
  if (!value.is_structured() || above > max_nesting)
    return above;
  auto deepest = above + 1;
  for (const auto& x : value)
    deepest = std::max(deepest, nesting_of(x, above + 1));
  return deepest;
}

/// Whether brackets outside strings are nested too deep. Looks at the text, so nothing deep is ever built.
bool too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > max_nesting)
        return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

bool is_markup(char c) {
  return c == '<' || c == '>' || c == '&';
}

std::string escape_markup(std::string text) {
  if (std::none_of(text.begin(), text.end(), is_markup))
    return text;
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

} // namespace

const json* member(const json& value, std::string_view key) {
  if (!value.is_object())
    return nullptr;
  auto found = value.find(std::string{key});
  return found == value.end() ? nullptr : &*found;
}

const json* find(const json& value, std::initializer_list<std::string_view> path) {
  const auto* at = &value;
  for (auto key : path) {
    at = member(*at, key);
    if (at == nullptr)
      return nullptr;
  }
  return at;
}

std::string text_at(const json& value, std::initializer_list<std::string_view> path) {
  const auto* found = find(value, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

std::vector<std::string> texts_of(const json& value, std::string_view key) {
  std::vector<std::string> out;
  if (const auto* all = member(value, key); all != nullptr && all->is_array())
    for (const auto& x : *all)
      if (x.is_string())
        out.push_back(x.get<std::string>());
  return out;
}

const json& list_at(const json& value, std::string_view key) {
  static const auto none = json::array();
  const auto* all = member(value, key);
  return all != nullptr && all->is_array() ? *all : none;
}

json& object_at(json& value, std::string_view key) {
  if (!value.is_object())
    value = json::object();
  auto& out = value[std::string{key}];
  if (!out.is_object())
    out = json::object();
  return out;
}

void drop_nulls(json& value) {
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      if (it->is_null()) {
        it = value.erase(it);
      } else {
        drop_nulls(*it);
        ++it;
      }
    }
  } else if (value.is_array()) {
    for (auto& x : value)
      drop_nulls(x);
  }
}

tl::expected<json, std::string> parse_json(std::string_view text) {
  if (too_deep(text))
    return tl::unexpected{std::string{"exceeded max depth"}};
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    if (e.byte == 0 || e.byte > text.size())
      return tl::unexpected{std::string{"unexpected end of JSON input"}};
    const auto c = text[e.byte - 1];
    if (c >= 0x20 && c < 0x7f)
      return tl::unexpected{std::string{"invalid character '"} + c + "' looking for beginning of value"};
    return tl::unexpected{std::string{"invalid character in JSON input"}};
  } catch (const json::exception&) {
    return tl::unexpected{std::string{"number out of range in JSON input"}};
  }
}

std::size_t nesting(const json& value) {
  return nesting_of(value, 0);
}

std::string encode_json(const json& value) {
  return escape_markup(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string encode_json(const nlohmann::ordered_json& value) {
  return escape_markup(value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string_view first_characters(std::string_view text, std::size_t most) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (begins_character(text[i]) && most-- == 0)
      return text.substr(0, i);
  return text;
}

std::string in_quotes(std::string_view text) {
  return json(std::string{text}).dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace paddock::embedded
