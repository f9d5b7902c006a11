#pragma once

#include "embedded/flows/process.hpp"
#include "embedded/flows/process_mark.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <caf/test/bdd_dsl.hpp>

#include <string>
#include <tuple>
#include <unistd.h>

// Processes of a family of the test's own.
namespace paddock::embedded::test {

inline const auto family = "test" + std::to_string(::getpid());

inline process_request shell(const std::string& script) {
  return {"/bin/sh", {"-c", script}, {{"PATH", "/usr/bin:/bin"}, {"GIVEN", "yes"}}, "/", family};
}

inline boost::asio::awaitable<std::string> read_all(process& from) {
  std::string text;
  // Up to the end, which is an error to a reader that knows no length.
  std::ignore =
    co_await boost::asio::async_read(from.output(), boost::asio::dynamic_buffer(text), boost::asio::as_tuple(boost::asio::use_awaitable));
  co_return text;
}

inline boost::asio::awaitable<std::string> read_line(process& from) {
  std::string text;
  for (auto c = char{0}; !text.ends_with('\n');) {
    auto [error, n] = co_await from.output().async_read_some(boost::asio::buffer(&c, 1), boost::asio::as_tuple(boost::asio::use_awaitable));
    if (error)
      break;
    text += c;
  }
  co_return text;
}

inline std::unique_ptr<process> start(boost::asio::io_context& on, process_request what) {
  auto got = process::start(on.get_executor(), std::move(what));
  if (!got)
    CAF_FAIL(got.error());
  return std::move(*got);
}

} // namespace paddock::embedded::test
