#pragma once

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <string>

namespace paddock::egress {

/// YAML as kubectl sends it: what is in quotes is a string, `true` and `false` are not, and neither is what looks like an
/// integer.
inline nlohmann::json json_of(const YAML::Node& node) {
  if (node.IsNull())
    return nullptr;
  if (node.IsSequence()) {
    auto got = nlohmann::json::array();
    for (const auto& x : node)
      got.push_back(json_of(x));
    return got;
  }
  if (node.IsMap()) {
    auto got = nlohmann::json::object();
    for (const auto& x : node)
      got[x.first.Scalar()] = json_of(x.second);
    return got;
  }
  const auto& text = node.Scalar();
  if (node.Tag() == "!")
    return text;
  if (text == "true" || text == "false")
    return text == "true";
  auto number = 0;
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (ec == std::errc{} && end == text.data() + text.size())
    return number;
  return text;
}

} // namespace paddock::egress
