#pragma once

#include "base/time.hpp"

#include <deque>
#include <functional>
#include <string>

namespace paddock::embedded {

/// A form in which a watch wants its objects, other than that in which they are stored.
struct watch_form {
  using instant = time_source::wall_clock::time_point;

  std::string name; // forms of one name write the same
  /// `first`: it is the first object of the watch.
  std::function<std::string(const std::string& text, bool first, instant now)> write;
};

/// The latest objects as forms have written them, so that what is told to many watches of one form is written once.
class shown_objects {
public:
  /// `text` as `form` writes it, or has written it within this second. Valid until the next call.
  const std::string& show(const watch_form& form, const std::string& text, bool first, watch_form::instant now);

private:
  struct shown {
    std::string form;
    std::string text;
    bool first = false;
    std::chrono::seconds at{};
    std::string written;
  };
  std::deque<shown> latest_;
};

} // namespace paddock::embedded
