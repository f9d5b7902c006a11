#pragma once

#include "k8s/flows/api.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>

namespace paddock::k8s {

/// Sends one request, unless the caller has withdrawn or `until` has passed: then nothing is sent and the failure says so.
boost::asio::awaitable<result<answer>> ask(api& server, const time_source& time, call what, deadline until);

/// The body of a read. An answer without one is a failure: an object that cannot be read is not acted on.
boost::asio::awaitable<result<nlohmann::json>> read(api& server, const time_source& time, std::string path, deadline until);

/// Who takes a list in pages.
struct page_sink {
  std::function<void()> begin;                     // the list begins, or begins anew: what was taken of it no longer counts
  std::function<void(const nlohmann::json&)> take; // one item
};

/// Reads a whole collection, a page of `page_size` after another. It begins anew where the server has forgotten the list that a
/// page goes on with, three times at most. `to` outlives the call, and what it took counts only after a success. A 404 or 410
/// of the first page is `already_gone`: the kind is not served.
boost::asio::awaitable<result<void>> read_list(api& server, const time_source& time, std::string collection, const page_sink& to,
                                               deadline until);

inline constexpr std::size_t page_size = 500;

[[nodiscard]] inline bool is_gone(const failure& x) {
  return std::holds_alternative<already_gone>(x);
}

} // namespace paddock::k8s
