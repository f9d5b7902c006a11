#include "apps/paddock-cluster/program.hpp"

#include <future>
#include <iostream>
#include <system_error>

namespace paddock {

int complain(int code, const std::string& reason, const std::string& text) {
  auto line = text;
  for (auto& c : line)
    if (c == '\n')
      c = ' ';
  std::cerr << "paddock-cluster: " << reason << ": " << line << '\n';
  return code;
}

std::filesystem::path own_folder() {
  auto error = std::error_code{};
  auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path{"."} : self.parent_path();
}

end_signals::end_signals() {
  sigemptyset(&which_);
  sigaddset(&which_, SIGTERM);
  sigaddset(&which_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &which_, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void end_signals::wait() {
  auto got = 0;
  sigwait(&which_, &got);
  pthread_sigmask(SIG_UNBLOCK, &which_, nullptr);
}

void stop_and_wait(const std::function<void(std::function<void()>)>& stop) {
  auto over = std::promise<void>{};
  stop([&over] { over.set_value(); });
  over.get_future().wait();
}

} // namespace paddock
