#include "embedded/probe.hpp"

#include "embedded/pod_facts.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

using nlohmann::json;

std::optional<std::uint16_t> port_in(const json& from, const char* where) {
  auto number = number_in(from, where);
  return number && *number >= 1 && *number <= 65535 ? std::optional{static_cast<std::uint16_t>(*number)} : std::nullopt;
}

/// The number at `/port`, or that of the container's port of the name at `/port`.
std::optional<std::uint16_t> port_of(const json& container, const json& handler) {
  if (auto name = text_in(handler, "/port"); !name.empty())
    for (const auto& x : array_in(container, "/ports"))
      if (text_in(x, "/name") == name)
        return port_in(x, "/containerPort");
  return port_in(handler, "/port");
}

tl::expected<std::variant<http_probe, tcp_probe, exec_probe>, std::string> read_handler(const json& container, const json& from) {
  if (const auto& x = value_in(from, "/httpGet"); x.is_object()) {
    auto port = port_of(container, x);
    if (!port)
      return tl::unexpected{std::string{"its port is not one"}};
    auto result = http_probe{text_in(x, "/scheme") == "HTTPS", text_in(x, "/host"), *port, text_in(x, "/path"), {}};
    if (!result.path.starts_with('/'))
      result.path.insert(0, "/");
    for (const auto& h : array_in(x, "/httpHeaders"))
      result.headers.emplace_back(text_in(h, "/name"), text_in(h, "/value"));
    return result;
  }
  if (const auto& x = value_in(from, "/tcpSocket"); x.is_object()) {
    auto port = port_of(container, x);
    if (!port)
      return tl::unexpected{std::string{"its port is not one"}};
    return tcp_probe{text_in(x, "/host"), *port};
  }
  if (const auto& x = array_in(from, "/exec/command"); !x.empty()) {
    exec_probe result;
    for (const auto& word : x)
      result.command.push_back(word.is_string() ? word.get<std::string>() : std::string{});
    return result;
  }
  return tl::unexpected{std::string{"it is none of exec, httpGet and tcpSocket"}};
}

std::chrono::seconds seconds_in(const json& from, const char* where, std::int64_t otherwise, std::int64_t least) {
  return std::chrono::seconds{std::clamp<std::int64_t>(number_in(from, where).value_or(otherwise), least, 86'400)};
}

int count_in(const json& from, const char* where, std::int64_t otherwise) {
  return static_cast<int>(std::clamp<std::int64_t>(number_in(from, where).value_or(otherwise), 1, 1'000'000));
}

} // namespace

tl::expected<std::optional<probe>, std::string> read_probe(const nlohmann::json& container, const std::string& which) {
  const auto& from = value_in(container, "/" + which);
  if (!from.is_object())
    return std::optional<probe>{};
  auto how = read_handler(container, from);
  if (!how)
    return tl::unexpected{"the " + which + " of container " + text_in(container, "/name") + ": " + how.error()};
  probe result;
  result.how = std::move(*how);
  result.initial_delay = seconds_in(from, "/initialDelaySeconds", 0, 0);
  result.period = seconds_in(from, "/periodSeconds", 10, 1);
  result.timeout = seconds_in(from, "/timeoutSeconds", 1, 1);
  result.successes = which == "readinessProbe" ? count_in(from, "/successThreshold", 1) : 1;
  result.failures = count_in(from, "/failureThreshold", 3);
  return std::optional{std::move(result)};
}

std::optional<bool> probe_count::saw(bool good) {
  in_a_row_ = good == last_ ? in_a_row_ + 1 : 1;
  last_ = good;
  if (in_a_row_ < (good ? successes_ : failures_))
    return std::nullopt;
  return good;
}

} // namespace paddock::embedded
