#pragma once

#include "client/target.hpp"
#include "client/watch.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace paddock::client {

/// Where the bytes of a call come from and go to. Everything is called on the thread that carries the call. What is absent: output is
/// dropped, and there is no input.
struct streams {
  std::function<void(int which, std::span<const std::byte>)> output; // 1 stdout, and for a file that is read; 2 stderr
  std::function<bytes(std::size_t most)> input;                      // the next piece; empty: the end
  std::function<void(const call_note&)> noted;
  stream_watch watch;
};

/// Carries the bytes of a call that has not ended until it does. Other threads may `cancel` or `leave` it meanwhile.
[[nodiscard]] result<call_end> carry(call& what, const streams& through);

/// Starts and carries.
[[nodiscard]] result<call_end> run(const target& at, job what, const streams& through = {});

/// What a command has written, and how it ended.
struct command_output {
  std::string out;
  std::string err;
  bool cut = false; // there was more than was to be kept
  call_end end;
};

/// Runs and keeps at most `most` bytes of each stream. A command that ends with a code other than 0 is no failure of this. Of a file that
/// is read, and of a walk, `out` is the content.
[[nodiscard]] result<command_output> output_of(const target& at, job what, std::size_t most = 16 * 1024 * 1024,
                                               const stream_watch& watch = {});

/// Writes a file. The answer proves that the whole content stands under the path.
[[nodiscard]] result<call_end> write_file(const target& at, std::string path, std::string_view content);

} // namespace paddock::client
