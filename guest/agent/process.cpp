#include "guest/agent/process.hpp"

#include "guest/child_environment.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace paddock::guest {

namespace {

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

int make_pipe(pipe_ends& ends) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return errno;
  ends.read.reset(fds[0]);
  ends.write.reset(fds[1]);
  return 0;
}

void set_nonblocking(const unique_fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

class spawn_actions {
public:
  spawn_actions() {
    ::posix_spawn_file_actions_init(&actions_);
  }
  ~spawn_actions() {
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  spawn_actions(const spawn_actions&) = delete;
  spawn_actions& operator=(const spawn_actions&) = delete;
  posix_spawn_file_actions_t* get() {
    return &actions_;
  }

private:
  posix_spawn_file_actions_t actions_;
};

class spawn_attributes {
public:
  spawn_attributes() {
    ::posix_spawnattr_init(&attributes_);
    auto none = sigset_t{};
    ::sigemptyset(&none);
    auto all = sigset_t{};
    std::memset(&all, 0xff, sizeof all); // sigfillset leaves out two that the library would then have ignored
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_attributes() {
    ::posix_spawnattr_destroy(&attributes_);
  }
  spawn_attributes(const spawn_attributes&) = delete;
  spawn_attributes& operator=(const spawn_attributes&) = delete;
  posix_spawnattr_t* get() {
    return &attributes_;
  }

private:
  posix_spawnattr_t attributes_;
};

// 0: `path`, seen from `directory`, is a program.
int judge_program(int directory, const std::string& path) {
  struct stat is;
  if (::fstatat(directory, path.c_str(), &is, 0) != 0)
    return errno;
  if (!S_ISREG(is.st_mode))
    return EACCES;
  return ::faccessat(directory, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

tl::expected<std::string, int> find_program(int directory, const process_plan& plan) {
  auto worst = ENOENT;
  for (auto& candidate : program_candidates(plan.program, plan.environment)) {
    auto error = judge_program(directory, candidate);
    if (error == 0)
      return candidate;
    if (error == EACCES)
      worst = EACCES; // as execvp: found but not allowed says more than not found
    else if (worst != EACCES && error != ENOENT && error != ENOTDIR)
      worst = error;
  }
  return tl::unexpected{worst};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  auto result = std::vector<char*>{};
  result.reserve(strings.size() + 1);
  for (auto& x : strings)
    result.push_back(x.data());
  result.push_back(nullptr);
  return result;
}

std::string signal_name(int number) {
  if (const auto* name = ::sigabbrev_np(number))
    return std::string{"SIG"} + name;
  return "SIG" + std::to_string(number); // a real-time signal
}

} // namespace

std::string errno_name(int error) {
  const auto* name = ::strerrorname_np(error);
  return name != nullptr ? name : "E" + std::to_string(error);
}

std::string system_message(int error, const char* call, const std::string& what) {
  auto text = std::string{};
  if (const auto* description = ::strerrordesc_np(error))
    text = description;
  return errno_name(error) + ": " + text + ", " + call + " '" + what + "'";
}

tl::expected<process, int> start_process(const process_plan& plan) {
  auto directory = unique_fd{::open(plan.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!directory)
    return tl::unexpected{errno};
  auto found = find_program(directory.get(), plan);
  if (!found)
    return tl::unexpected{found.error()};
  auto path = *found;
  auto in = pipe_ends{};
  auto out = pipe_ends{};
  auto err = pipe_ends{};
  auto piped = plan.terminal.empty();
  auto failed = piped ? make_pipe(out) : 0;
  if (failed == 0 && piped)
    failed = make_pipe(err);
  if (failed == 0 && piped && plan.with_input)
    failed = make_pipe(in);
  if (failed != 0)
    return tl::unexpected{failed};
  auto actions = spawn_actions{};
  if (!piped) // the first terminal that the leader of a new session opens controls it
    ::posix_spawn_file_actions_addopen(actions.get(), 0, plan.terminal.c_str(), O_RDWR, 0);
  else if (plan.with_input)
    ::posix_spawn_file_actions_adddup2(actions.get(), in.read.get(), 0);
  else
    ::posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), piped ? out.write.get() : 0, 1);
  ::posix_spawn_file_actions_adddup2(actions.get(), piped ? err.write.get() : 0, 2);
  ::posix_spawn_file_actions_addfchdir_np(actions.get(), directory.get());
  ::posix_spawn_file_actions_addclosefrom_np(actions.get(), 3);
  auto attributes = spawn_attributes{};
  auto environment = plan.environment;
  auto environment_pointers = pointers(environment);
  auto words = std::vector<std::string>{plan.program};
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  auto word_pointers = pointers(words);
  auto result = process{};
  failed = ::posix_spawn(&result.pid, path.c_str(), actions.get(), attributes.get(), word_pointers.data(), environment_pointers.data());
  if (failed == ENOEXEC) {
    // A script without an interpreter line: execvp gives it to the shell, and so do we.
    words[0] = path;
    words.insert(words.begin(), "sh");
    word_pointers = pointers(words);
    failed = ::posix_spawn(&result.pid, "/bin/sh", actions.get(), attributes.get(), word_pointers.data(), environment_pointers.data());
  }
  if (failed != 0)
    return tl::unexpected{failed};
  result.exit.reset(static_cast<int>(::syscall(SYS_pidfd_open, result.pid, 0)));
  if (!result.exit) {
    // Without it the end of the child would never be seen.
    failed = errno;
    ::kill(-result.pid, SIGKILL);
    reap(result.pid);
    return tl::unexpected{failed};
  }
  result.in = std::move(in.write);
  result.out = std::move(out.read);
  result.err = std::move(err.read);
  for (const auto* fd : {&result.in, &result.out, &result.err})
    if (*fd)
      set_nonblocking(*fd);
  return result;
}

std::optional<exit_status> peek_exit(pid_t child) {
  auto info = siginfo_t{};
  if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return std::nullopt;
  auto result = exit_status{};
  if (info.si_code == CLD_EXITED) {
    result.exit_code = info.si_status;
  } else {
    result.exit_code = -1;
    result.signal = signal_name(info.si_status);
  }
  return result;
}

void inherit_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void reap_members(pid_t group) {
  for (;;) {
    auto info = siginfo_t{};
    if (::waitid(P_PGID, static_cast<id_t>(group), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0)
      return;
  }
}

void reap_orphans(const std::function<bool(pid_t)>& keep) {
  for (;;) {
    auto info = siginfo_t{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
      return;
    if (keep(info.si_pid))
      break;
    reap(info.si_pid);
  }
  // One that is kept stands first and hides the others: ask each child.
  auto children = std::ifstream{"/proc/thread-self/children"};
  auto child = pid_t{};
  while (children >> child)
    if (!keep(child))
      ::waitpid(child, nullptr, WNOHANG);
}

void reap(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace paddock::guest
