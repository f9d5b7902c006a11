#include "embedded/yaml_json.hpp"

#include "base/utf8.hpp"
#include "embedded/patch.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <re2/re2.h>

namespace paddock::embedded {

namespace {

constexpr std::size_t most_values = 500'000;

/// Thrown and caught in this file, like the library's own.
struct complaint {
  std::string text;
};

std::optional<json> number_in(const std::string& text) {
  static const re2::RE2 whole{"[-+]?(0|[1-9][0-9_]*)"};
  static const re2::RE2 hex{"0x([0-9a-fA-F]+)"};
  static const re2::RE2 octal{"0o?([0-7]+)"};
  static const re2::RE2 real{R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)"};
  const auto in_base = [](const std::string& digits, int base) -> std::optional<json> {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, base);
    return error == std::errc{} && end == digits.data() + digits.size() ? std::optional{json(out)} : std::nullopt;
  };
  std::string digits;
  if (re2::RE2::FullMatch(text, hex, &digits))
    return in_base(digits, 16);
  if (re2::RE2::FullMatch(text, octal, &digits))
    return in_base(digits, 8);
  auto plain = text;
  std::erase(plain, '_');
  if (plain.starts_with('+'))
    plain.erase(0, 1);
  if (re2::RE2::FullMatch(text, whole) || re2::RE2::FullMatch(text, real)) {
    if (plain.starts_with('.'))
      plain.insert(0, "0");
    if (plain.ends_with('.'))
      plain += '0';
    auto out = json::parse(plain, nullptr, false);
    if (out.is_number())
      return out;
  }
  return std::nullopt;
}

/// What a scalar without quotes and tag means.
json plain_scalar(const std::string& text) {
  static const std::vector<std::string> nothing{"", "~", "null", "Null", "NULL"};
  static const std::vector<std::string> yes{"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"};
  static const std::vector<std::string> no{"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"};
  const auto among = [&](const std::vector<std::string>& all) { return std::find(all.begin(), all.end(), text) != all.end(); };
  if (among(nothing))
    return nullptr;
  if (among(yes) || among(no))
    return among(yes);
  if (auto number = number_in(text))
    return std::move(*number);
  return text;
}

class converter {
public:
  explicit converter(std::vector<std::string>& twice) : twice_(twice) {
  }

  json convert(const YAML::Node& from, std::size_t depth) {
    if (++values_ > most_values || bytes_ > max_object_bytes)
      throw complaint{"yaml: document contains excessive aliasing"};
    if (depth > max_nesting)
      throw complaint{"yaml: exceeded max depth"};
    switch (from.Type()) {
      case YAML::NodeType::Scalar: return scalar(from);
      case YAML::NodeType::Sequence: {
        auto out = json::array();
        for (const auto& x : from)
          out.push_back(convert(x, depth + 1));
        return out;
      }
      case YAML::NodeType::Map: return map(from, depth);
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined: break;
    }
    return nullptr;
  }

private:
  json scalar(const YAML::Node& from) {
    const auto& text = from.Scalar();
    bytes_ += text.size();
    if (!is_utf8(text))
      throw complaint{"yaml: invalid UTF-8"};
    // Quotes are a tag of their own to the library.
    if (from.Tag() == "!" || from.Tag() == "tag:yaml.org,2002:str" || from.Tag() == "tag:yaml.org,2002:binary")
      return text;
    return plain_scalar(text);
  }

  json map(const YAML::Node& from, std::size_t depth) {
    auto out = json::object();
    for (const auto& x : from) {
      if (!x.first.IsScalar())
        throw complaint{"yaml: line " + std::to_string(x.first.Mark().line + 1) + ": a key must be a scalar"};
      const auto& key = x.first.Scalar();
      bytes_ += key.size();
      if (!is_utf8(key))
        throw complaint{"yaml: invalid UTF-8"};
      if (out.contains(key))
        twice_.push_back("line " + std::to_string(x.first.Mark().line + 1) + ": key " + in_quotes(key) + " already set in map");
      out[key] = convert(x.second, depth + 1);
    }
    return out;
  }

  std::vector<std::string>& twice_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

void emit(YAML::Emitter& to, const json& value) {
  if (value.is_object()) {
    if (value.empty())
      to << YAML::Flow;
    to << YAML::BeginMap;
    for (const auto& [key, x] : value.items()) {
      to << YAML::Key;
      emit(to, json(key));
      to << YAML::Value;
      emit(to, x);
    }
    to << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty())
      to << YAML::Flow;
    to << YAML::BeginSeq;
    for (const auto& x : value)
      emit(to, x);
    to << YAML::EndSeq;
  } else if (!value.is_string()) {
    to << value.dump();
  } else if (const auto& text = value.get_ref<const std::string&>(); text.find('\n') != std::string::npos) {
    to << YAML::DoubleQuoted << text;
  } else {
    // A text that would be read as something else is quoted.
    if (!plain_scalar(text).is_string())
      to << YAML::DoubleQuoted;
    to << text;
  }
}

} // namespace

tl::expected<json, std::string> parse_yaml(std::string_view text, std::vector<std::string>& twice) {
  try {
    return converter{twice}.convert(YAML::Load(std::string{text}), 0);
  } catch (const complaint& x) {
    return tl::unexpected{x.text};
  } catch (const YAML::Exception& x) {
    return tl::unexpected{"yaml: line " + std::to_string(x.mark.line + 1) + ": " + x.msg};
  }
}

std::string to_yaml(const json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string{out.c_str(), out.size()};
}

} // namespace paddock::embedded
