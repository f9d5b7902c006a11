#pragma once

#include "base/flows/withdrawal.hpp"
#include "workspace/failure.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace paddock::workspace {

// One question of a port, carried out as one flow.

/// What a question is called in a failure.
struct question_name {
  std::string operation;
  std::string resource;
  bool writes = false;
};

/// The question never went out.
[[nodiscard]] inline failure unasked(const question_name& x) {
  return k8s::failure{k8s::cancelled{x.operation, x.resource, false}};
}

/// The flow broke its promise not to throw: of a write nobody knows whether it was sent.
[[nodiscard]] inline failure broken(const question_name& x, const char* what) {
  auto why =
    k8s::failure{k8s::api_failure{k8s::api_failure::transport::connect, x.operation, x.resource, std::nullopt, std::nullopt, true, what}};
  if (x.writes)
    return write_unknown{x.operation, std::move(why)};
  return why;
}

/// Calls `to` exactly once with what `act` comes to.
template <class T>
boost::asio::awaitable<void> carry(std::function<boost::asio::awaitable<result<T>>()> act, question_name name,
                                   std::function<void(result<T>)> to) {
  // One turn of the strand, so that a question withdrawn at once does not begin.
  co_await boost::asio::post(boost::asio::use_awaitable);
  auto end = result<T>{tl::unexpected{unasked(name)}};
  const auto over = co_await withdrawn();
  if (!over) {
    try {
      auto got = co_await act();
      end = std::move(got);
    } catch (const std::exception& x) {
      end = tl::unexpected{broken(name, x.what())};
    }
  }
  to(std::move(end));
}

} // namespace paddock::workspace
