#pragma once

#include <caf/default_enum_inspect.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

/// How an answer that is not a success is to be taken. On the wire as a number: append only.
enum class verdict : std::uint8_t {
  failed = 1,  // it was tried and did not work
  usage = 2,   // the caller's mistake; nothing happened
  refused = 3, // nothing happened
  unknown = 4, // it may have happened; asking again blindly may do it twice
  not_found = 5,
  overtaken = 6,   // a newer holder, or another object under the name
  unreachable = 7, // unreachable or out of time
};

[[nodiscard]] std::string to_string(verdict x);
bool verdict_from(std::string_view text, verdict& x);
/// CAF hands over its own string view before 0.19.
template <class Text>
bool from_string(const Text& text, verdict& x) {
  return verdict_from(std::string_view{text.data(), text.size()}, x);
}
bool from_integer(std::uint8_t value, verdict& x);

template <class Inspector>
bool inspect(Inspector& f, verdict& x) {
  return caf::default_enum_inspect(f, x);
}

/// A named error as it crosses actors and processes. Carries no token.
struct problem {
  verdict how = verdict::failed;
  std::string reason;  // stable, one of workspace::all_reasons() or of the few in messages/problem.cpp
  std::string message; // for people
  std::string details; // a JSON object as text, for programs; "{}" where there is nothing to say
};

template <class Inspector>
bool inspect(Inspector& f, problem& x) {
  return f.object(x).fields(f.field("how", x.how), f.field("reason", x.reason), f.field("message", x.message),
                            f.field("details", x.details));
}

} // namespace paddock
