#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::embedded {

/// How one request goes wrong. The default is an ordinary answer.
struct fault {
  enum class ending {
    answer,  // the server's own
    replace, // `status`, `headers` and `body` in its place
    close,   // the connection is closed without an answer
    silence, // no answer for as long as the client waits and the server lives
  };
  std::chrono::milliseconds delay{0}; // before anything is done
  bool commit = true;                 // whether the request is carried out; the server's own answer implies it
  ending end = ending::answer;
  unsigned status = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

/// Which requests go wrong.
struct fault_rule {
  std::string method;      // empty: every method
  std::string path_prefix; // of the path without its query
  unsigned occurrence = 0; // 1: the first that matches; 0: each
  fault what;
};

/// Rules and how often each has matched. The first rule that applies counts; a rule is counted also when an earlier one
/// applies.
class fault_plan {
public:
  void add(fault_rule rule);
  void clear();
  [[nodiscard]] std::optional<fault> next(std::string_view method, std::string_view path);

private:
  struct counted {
    fault_rule rule;
    unsigned seen = 0;
  };
  std::vector<counted> all_;
};

} // namespace paddock::embedded
