#include "config/listen.hpp"

#include "base/bracketed.hpp"
#include "config/duration.hpp"

namespace paddock::config {

namespace {

constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
constexpr std::string_view address_characters = "0123456789abcdefABCDEF:.";

bool is_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.find_first_not_of(name_characters) == std::string_view::npos && host.front() != '-'
         && host.front() != '.';
}

bool is_bracketed_address(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']' && host.find(':') != std::string_view::npos
         && host.substr(1, host.size() - 2).find_first_not_of(address_characters) == std::string_view::npos;
}

} // namespace

std::optional<listen_address> parse_listen(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  const auto host = text.substr(0, colon);
  const auto port = parse_whole(text.substr(colon + 1));
  if (!port || *port > 65535)
    return std::nullopt;
  if (is_bracketed_address(host))
    return listen_address{std::string{host.substr(1, host.size() - 2)}, static_cast<std::uint16_t>(*port)};
  if (is_name(host))
    return listen_address{std::string{host}, static_cast<std::uint16_t>(*port)};
  return std::nullopt;
}

std::string write_listen(const listen_address& x) {
  return bracketed(x.host) + ":" + std::to_string(x.port);
}

} // namespace paddock::config
