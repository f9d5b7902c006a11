#pragma once

#include <filesystem>
#include <functional>
#include <signal.h>
#include <string>

namespace paddock {

inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

/// Says `paddock-cluster: REASON: text` on one line of standard error and answers `code`.
int complain(int code, const std::string& reason, const std::string& text);

/// The folder of this program, where its siblings lie too.
[[nodiscard]] std::filesystem::path own_folder();

/// SIGTERM and SIGINT, kept from every thread that is started while this lives.
class end_signals {
public:
  /// Before the first thread.
  end_signals();
  /// Until one has come. From then on a second one ends the program at once.
  void wait();

private:
  sigset_t which_{};
};

/// Calls `stop` with what it has to call at the end, and waits for that.
void stop_and_wait(const std::function<void(std::function<void()>)>& stop);

} // namespace paddock
