#include "embedded/resource.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size())
        return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0)
        return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

} // namespace

// -- paths --------------------------------------------------------------------------------------------------------

std::string request_target::query_text(const std::string& key) const {
  const auto found = query.lower_bound(key);
  return found == query.end() || found->first != key ? std::string{} : found->second;
}

std::vector<std::string> request_target::query_texts(const std::string& key) const {
  std::vector<std::string> out;
  for (auto [at, end] = query.equal_range(key); at != end; ++at)
    out.push_back(at->second);
  return out;
}

bool request_target::query_flag(const std::string& key) const {
  const auto text = query_text(key);
  return query.contains(key) && text != "0" && text != "false" && text != "False" && text != "f" && text != "F";
}

std::optional<request_target> parse_target(std::string_view target) {
  request_target out;
  const auto mark = target.find('?');
  const auto path = target.substr(0, mark);
  out.path = path;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) {
      auto segment = decode(path.substr(at, end - at), false);
      if (!segment || segment->find('/') != std::string::npos || segment->find('\0') != std::string::npos)
        return std::nullopt;
      out.segments.push_back(std::move(*segment));
    }
    at = end + 1;
  }
  if (mark == std::string_view::npos)
    return out;
  const auto query = target.substr(mark + 1);
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    const auto pair = query.substr(at, end - at);
    const auto equals = std::min(pair.find('='), pair.size());
    auto key = decode(pair.substr(0, equals), true);
    auto value = decode(equals < pair.size() ? pair.substr(equals + 1) : std::string_view{}, true);
    if (!key || !value)
      return std::nullopt;
    if (!key->empty())
      out.query.emplace(std::move(*key), std::move(*value));
    at = end + 1;
  }
  return out;
}

std::optional<resource_path> parse_resource_path(std::span<const std::string> segments) {
  // The group and version.
  std::string_view group;
  std::string_view version;
  if (segments.size() >= 2 && segments[0] == "api") {
    version = segments[1];
    segments = segments.subspan(2);
  } else if (segments.size() >= 3 && segments[0] == "apis") {
    group = segments[1];
    version = segments[2];
    segments = segments.subspan(3);
  } else {
    return std::nullopt;
  }
  // `namespaces/N/pods...` is about pods, `namespaces/N` and `namespaces/N/status` about the namespace itself.
  resource_path out;
  const bool scoped = segments.size() >= 3 && segments[0] == "namespaces" && find_kind(group, version, segments[2]) != nullptr;
  if (scoped) {
    out.name_space = segments[1];
    segments = segments.subspan(2);
  }
  if (segments.empty() || segments.size() > 3)
    return std::nullopt;
  out.kind = find_kind(group, version, segments[0]);
  if (out.kind == nullptr || out.kind->namespaced != (scoped || (segments.size() == 1 && out.kind->namespaced)))
    return std::nullopt;
  if (segments.size() > 1)
    out.name = segments[1];
  if (segments.size() > 2)
    out.subresource = segments[2];
  return out;
}

} // namespace paddock::embedded
