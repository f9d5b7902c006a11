#include "embedded/flows/address_book.hpp"

#include "embedded/kubelet.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <sys/random.h>

namespace paddock::embedded {

namespace {

constexpr auto attempts = 1000;

/// Whether `port` can be bound on `address` now.
bool free_to_bind(const std::string& address, std::uint16_t port) {
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor probe{context};
  boost::system::error_code error;
  auto where = boost::asio::ip::tcp::endpoint{boost::asio::ip::make_address(address, error), port};
  if (error)
    return false;
  probe.open(where.protocol(), error);
  if (!error)
    probe.set_option(boost::asio::socket_base::reuse_address{true}, error);
  if (!error)
    probe.bind(where, error);
  if (!error)
    probe.listen(1, error);
  return !error;
}

std::uint32_t random_word() {
  auto result = std::uint32_t{0};
  for (auto got = ssize_t{0}; got != sizeof result;)
    got = ::getrandom(&result, sizeof result, 0);
  return result;
}

} // namespace

std::string address_book::take(const std::string& wish, std::uint16_t port) {
  if (is_pod_address(wish) && !taken_.contains(wish) && free_to_bind(wish, port)) {
    taken_.insert(wish);
    return wish;
  }
  auto result = std::string{};
  for (auto tries = 0; tries < attempts; ++tries) {
    result = pod_address(random_word());
    if (!taken_.contains(result) && free_to_bind(result, port))
      break;
  }
  taken_.insert(result);
  return result;
}

void address_book::release(const std::string& address) {
  taken_.erase(address);
}

} // namespace paddock::embedded
