#pragma once

#include "workspace/ports.hpp"

#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::test {

/// All that one call told its asker.
struct told {
  std::string output;
  std::vector<std::size_t> pieces;
  std::vector<std::size_t> wants;
  std::vector<workspace::result<workspace::job_end>> ends;
  std::vector<workspace::job_note> notes;

  workspace::call_events events() {
    auto x = workspace::call_events{};
    x.output = [this](guest::stream, std::vector<std::byte> bytes) {
      late = late || !ends.empty();
      pieces.push_back(bytes.size());
      output.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    x.wants_input = [this](std::size_t bytes) {
      late = late || !ends.empty();
      wants.push_back(bytes);
    };
    x.noted = [this](workspace::job_note note) {
      late = late || !ends.empty();
      notes.push_back(std::move(note));
    };
    x.end = [this](workspace::result<workspace::job_end> end) { ends.push_back(std::move(end)); };
    return x;
  }
  bool late = false; // something came after the end
  [[nodiscard]] bool ended() const {
    return ends.size() == 1 && !late;
  }
  [[nodiscard]] bool well() const {
    return ended() && ends.front();
  }
  /// The guest's failure that it ended with.
  template <class Failure>
  [[nodiscard]] const Failure* failed() const {
    if (!ended() || ends.front())
      return nullptr;
    const auto* why = std::get_if<guest::failure>(&ends.front().error());
    return why == nullptr ? nullptr : std::get_if<Failure>(why);
  }
  [[nodiscard]] std::size_t wanted() const {
    return std::accumulate(wants.begin(), wants.end(), std::size_t{0});
  }
};

} // namespace paddock::test
