#include "k8s/url.hpp"

#include <algorithm>
#include <charconv>

namespace paddock::k8s {

std::optional<std::uint16_t> read_port(std::string_view text) {
  auto port = std::uint16_t{0};
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (ec != std::errc{} || end != text.data() + text.size() || port == 0)
    return std::nullopt;
  return port;
}

std::optional<url> read_url(std::string_view text) {
  const auto colon = text.find("://");
  const auto unfit = [](char x) { return static_cast<unsigned char>(x) <= ' ' || x == 0x7f || x == '?' || x == '#' || x == '\\'; };
  if (colon == std::string_view::npos || colon == 0 || std::ranges::any_of(text, unfit))
    return std::nullopt;
  auto got = url{};
  got.scheme = std::string{text.substr(0, colon)};
  text.remove_prefix(colon + 3);
  const auto slash = std::min(text.find('/'), text.size());
  got.path = std::string{text.substr(slash)};
  while (got.path.ends_with('/'))
    got.path.pop_back();
  auto authority = text.substr(0, slash);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    got.user_info = std::string{authority.substr(0, at)};
    authority.remove_prefix(at + 1);
  }
  auto port = std::string_view{};
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos)
      return std::nullopt;
    got.host = std::string{authority.substr(1, end - 1)};
    port = authority.substr(end + 1);
  } else {
    const auto end = std::min(authority.find(':'), authority.size());
    got.host = std::string{authority.substr(0, end)};
    port = authority.substr(end);
  }
  if (!port.empty()) {
    got.port = port.front() == ':' ? read_port(port.substr(1)) : std::nullopt;
    if (!got.port)
      return std::nullopt;
  }
  if (got.host.empty() || got.host.find_first_of("[]@") != std::string::npos)
    return std::nullopt;
  return got;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  auto got = std::string{};
  for (auto i = std::size_t{0}; i < text.size(); ++i) {
    if (text[i] != '%') {
      got += text[i];
      continue;
    }
    auto byte = 0u;
    const auto* const first = text.data() + i + 1;
    if (text.size() - i < 3 || std::from_chars(first, first + 2, byte, 16).ptr != first + 2)
      return std::nullopt;
    got += static_cast<char>(byte);
    i += 2;
  }
  return got;
}

} // namespace paddock::k8s
