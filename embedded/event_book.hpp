#pragma once

#include "base/time.hpp"
#include "k8s/call.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace paddock::embedded {

/// What an Event tells of an object.
struct happening {
  bool warning = false; // else it is as it should be
  std::string reason;   // one word: `Started`
  std::string message;
  std::string field = {};  // of the object: `spec.containers{main}`; empty: all of it
  std::string action = {}; // what was being done
};

/// The part of the cluster that tells.
struct event_source {
  std::string component;
  std::string host = {};
};

/// A write that tells of a happening.
struct event_write {
  std::string key; // of what is told
  k8s::call call;
};

/// Makes Events of what happens: one object for each thing told of a subject, whose count rises when it is told again. Remembers the
/// latest 1,024. Of one subject 25 may come at once, and then one in five minutes; more is not told.
class event_book {
public:
  using instant = time_source::wall_clock::time_point;

  explicit event_book(event_source from) : from_(std::move(from)) {
  }
  /// Nothing: it is told too often, or of an object that is none.
  std::optional<event_write> tell(const nlohmann::json& subject, const happening& what, instant now);
  /// The Event of that key is not there any more: the next one is a new one.
  void forget(const std::string& key);

private:
  struct known_event {
    std::string path;
    std::uint64_t count = 1;
  };
  struct allowance {
    double left = 0;
    instant at;
  };
  bool allowed(const std::string& subject, instant now);

  event_source from_;
  std::map<std::string, known_event> known_;
  std::deque<std::string> order_; // of the known ones, the oldest first
  std::map<std::string, allowance> allowances_;
  std::uint64_t serial_ = 0;
};

} // namespace paddock::embedded
