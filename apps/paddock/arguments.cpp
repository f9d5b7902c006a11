#include "apps/paddock/arguments.hpp"

#include "apps/paddock/advice.hpp"
#include "apps/paddock/exit_code.hpp"
#include "messages/error.hpp"

#include <charconv>
#include <iostream>
#include <unistd.h>

namespace paddock::cli {

int refuse(const arguments& args, const problem& x) {
  print_problem(std::cerr, args.how(), x);
  if (const auto hint = what_to_do(x.reason); !hint.empty() && args.how() != format::json && ::isatty(STDERR_FILENO) != 0)
    std::cerr << hint << '\n';
  return exit_code(x.how);
}

int misuse(const arguments& args, const std::string& text) {
  return refuse(args, make_problem(verdict::usage, "Usage", text));
}

std::optional<std::pair<std::string, std::string>> remote_path(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.find('/') < colon)
    return std::nullopt;
  return std::pair{text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<client::forwarded_ports> parse_forward(const std::string& text) {
  auto parts = std::vector<std::string>{};
  for (std::size_t from = 0; from <= text.size();) {
    const auto colon = std::min(text.find(':', from), text.size());
    parts.push_back(text.substr(from, colon - from));
    from = colon + 1;
  }
  const auto port = [](const std::string& x, std::uint16_t lowest) -> std::optional<std::uint16_t> {
    auto value = std::uint16_t{0};
    const auto [end, ec] = std::from_chars(x.data(), x.data() + x.size(), value);
    if (ec != std::errc{} || end != x.data() + x.size() || value < lowest)
      return std::nullopt;
    return value;
  };
  auto out = client::forwarded_ports{};
  if (parts.size() == 3) {
    out.address = parts.front();
    if (out.address != "localhost" && !out.address.starts_with("127."))
      return std::nullopt; // who may reach the guest's loopback is for the guest's owner to say, and not for a whole network
    if (out.address == "localhost")
      out.address = "127.0.0.1";
    parts.erase(parts.begin());
  }
  if (parts.empty() || parts.size() > 2)
    return std::nullopt;
  const auto remote = port(parts.back(), 1);
  const auto local = port(parts.front(), parts.size() == 1 ? 1 : 0);
  if (!remote || !local)
    return std::nullopt;
  out.local = *local;
  out.remote = *remote;
  return out;
}

tl::expected<pin_spec, std::string> parse_pin(const std::string& text) {
  const auto given = nlohmann::json::parse(text, nullptr, false);
  if (!given.is_object())
    return tl::unexpected{std::string{"a pin is the JSON object that `paddock identity ID -o json` prints"}};
  const auto field = [&](const char* name) {
    const auto at = given.find(name);
    return at != given.end() && at->is_string() ? at->get<std::string>() : std::string{};
  };
  auto out = pin_spec{field("sandboxUid"), field("podUid"), field("guestBootId"), {}};
  if (const auto claims = given.find("volumeClaimUids"); claims != given.end()) {
    if (!claims->is_object())
      return tl::unexpected{std::string{"volumeClaimUids of a pin is an object"}};
    for (const auto& [claim, uid] : claims->items())
      out.volume_claim_uids[claim] = uid.is_string() ? uid.get<std::string>() : std::string{};
  }
  return out; // what is missing is named by the node, and nothing is sent to a guest
}

tl::expected<std::chrono::milliseconds, std::string> duration_of(const std::string& option, const std::string& text) {
  const auto got = config::parse_duration(text);
  if (!got || got->count() == 0)
    return tl::unexpected{option + " wants a duration such as 30s, not \"" + text + "\""};
  return *got;
}

tl::expected<std::map<std::string, std::string>, std::string> pairs_of(const char* option, const char* form,
                                                                       const std::vector<std::string>& all) {
  auto out = std::map<std::string, std::string>{};
  for (const auto& x : all) {
    const auto equals = x.find('=');
    if (equals == std::string::npos || equals == 0)
      return tl::unexpected{std::string{option} + " wants " + form + ", not \"" + x + "\""};
    out[x.substr(0, equals)] = x.substr(equals + 1);
  }
  return out;
}

tl::expected<std::map<std::string, std::string>, std::string> environment_of(const std::vector<std::string>& all) {
  return pairs_of("--env", "KEY=VALUE", all);
}

} // namespace paddock::cli
