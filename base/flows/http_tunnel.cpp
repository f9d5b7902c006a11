#include "base/flows/http_tunnel.hpp"

#include "base/bracketed.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <array>

namespace paddock {

namespace asio = boost::asio;

namespace {

constexpr std::size_t largest_answer = 16 * 1024;
constexpr std::string_view end_of_head = "\r\n\r\n";

std::string authority_of(const std::string& host, std::uint16_t port) {
  return bracketed(host) + ":" + std::to_string(port);
}

/// The status of `HTTP/1.x NNN ...`; 0 when it is none.
unsigned status_of(std::string_view head) {
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[8] != ' ')
    return 0;
  auto status = 0u;
  for (auto x : head.substr(9, 3)) {
    if (x < '0' || x > '9')
      return 0;
    status = status * 10 + static_cast<unsigned>(x - '0');
  }
  return status;
}

} // namespace

asio::awaitable<io_result<void>> open_tunnel(wire& on, http_proxy through, http_server_address to) {
  const auto name = "the proxy " + authority_of(through.host, through.port);
  const auto target = authority_of(to.host, to.port);
  const auto refuse = [&name](io_failure::stage at, const std::string& why) {
    return tl::unexpected{io_failure{at, false, name + " " + why}};
  };
  auto ask = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!through.authorization.empty())
    ask += "Proxy-Authorization: " + through.authorization.reveal() + "\r\n";
  ask += "\r\n";
  if (target.find_first_of(std::string_view{" \t\r\n\0", 5}) != std::string::npos
      || through.authorization.reveal().find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
    co_return refuse(io_failure::stage::protocol, "cannot be asked for a name with a blank in it");
  auto moved = co_await on.write(asio::buffer(ask));
  auto answer = std::string{};
  auto room = std::array<char, 2048>{};
  while (!moved.ec && answer.find(end_of_head) == std::string::npos) {
    if (answer.size() > largest_answer)
      co_return refuse(io_failure::stage::too_large, "answers with too large a header");
    moved = co_await on.read_some(asio::buffer(room));
    answer.append(room.data(), moved.n);
  }
  if (moved.ec) {
    auto why = co_await explain(on, io_failure::stage::connect, false, name + " gave no answer", moved.ec);
    co_return tl::unexpected{std::move(why)};
  }
  const auto status = status_of(answer);
  if (status == 0)
    co_return refuse(io_failure::stage::protocol, "does not speak HTTP/1.1");
  if (status / 100 != 2)
    co_return refuse(io_failure::stage::connect, "refused to connect to " + target + " (" + std::to_string(status) + ")");
  // The server at the far end speaks second: bytes here would be the proxy's own.
  if (answer.find(end_of_head) + end_of_head.size() != answer.size())
    co_return refuse(io_failure::stage::protocol, "sent more than its answer");
  co_return io_result<void>{};
}

} // namespace paddock
