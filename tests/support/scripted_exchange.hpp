#pragma once

#include "base/flows/http.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

inline http_response http_answer(unsigned status, std::string body = "{}", http_headers more = {}) {
  more.emplace_back("Content-Type", "application/json");
  return {status, std::move(more), std::move(body)};
}
inline tl::unexpected<io_failure> http_lost(io_failure::stage at, bool sent = true) {
  return tl::unexpected{io_failure{at, sent, "scripted"}};
}

/// An HTTP exchange without a network: it notes what it is asked and answers from `answers`, in order. Asked for more, it refuses
/// as a server that nobody listens for. A stream first hands out its pieces, and ends well where those were enough.
class scripted_exchange final : public http_exchange {
public:
  struct question {
    http_server_address where;
    http_request what;
    deadline until;
    std::optional<time_source::clock::duration> silence; // of a stream
  };
  struct reply {
    io_result<http_response> end;
    std::vector<std::string> pieces = {}; // of a stream
  };

  boost::asio::awaitable<io_result<http_response>> send(http_server_address where, http_request what, http_limits,
                                                        deadline until) override {
    asked.push_back({std::move(where), std::move(what), until, std::nullopt});
    co_return next().end;
  }
  boost::asio::awaitable<io_result<http_response>> stream(http_server_address where, http_request what, http_limits,
                                                          std::function<bool(std::string_view)> on_body, time_source::clock::duration idle,
                                                          deadline until) override {
    asked.push_back({std::move(where), std::move(what), until, idle});
    auto it = next();
    for (const auto& x : it.pieces)
      if (!on_body(x))
        co_return http_answer(200, "");
    co_return std::move(it.end);
  }
  void then(io_result<http_response> end, std::vector<std::string> pieces = {}) {
    answers.push_back({std::move(end), std::move(pieces)});
  }

  std::vector<question> asked;
  std::deque<reply> answers;

private:
  reply next() {
    if (answers.empty())
      return {http_lost(io_failure::stage::connect, false)};
    auto got = std::move(answers.front());
    answers.pop_front();
    return got;
  }
};

} // namespace paddock::test
