#include "embedded/flows/process.hpp"

#include "embedded/flows/descriptor.hpp"
#include "embedded/flows/process_mark.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddock::embedded {

namespace {

/// Above the three that the child gets, so that no dup2 hits one still needed.
descriptor high(int fd) {
  auto result = descriptor{fd >= 0 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 10) : -1};
  if (fd >= 0)
    ::close(fd);
  return result;
}

// -- the child ----------------------------------------------------------------

enum class step : int { input, output, cgroup, folder, name_space, bounding, privileges, capabilities, parent, program };

const char* describe(step x) {
  switch (x) {
    case step::input:
    case step::output: return "could not set up the standard streams";
    case step::cgroup: return "could not enter the cgroup of its limits";
    case step::folder: return "could not enter the folder";
    case step::name_space:
      return "could not drop the bounding capabilities, and a user namespace of its own was refused (run as root, or allow unprivileged "
             "user "
             "namespaces)";
    case step::bounding: return "could not drop the bounding capabilities";
    case step::privileges: return "could not set no-new-privileges";
    case step::capabilities: return "could not drop the capabilities";
    case step::parent: return "lost its parent";
    case step::program: return "could not run the program";
  }
  return "failed";
}

struct refusal {
  step at = step::program;
  int error = 0;
};

/// Everything that the child needs, made before the fork: after it only async-signal-safe calls are left.
struct prepared {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;
  int input = -1;
  int output = -1;
  int report = -1;
  pid_t parent = 0;
  gid_t mark = 0; // 0: none
  const char* uid_map = nullptr;
  const char* gid_map = nullptr;
  const char* cgroup = nullptr; // the file that takes members; empty: none
};

[[noreturn]] void refuse(const prepared& how, step at) {
  auto said = refusal{at, errno};
  // The parent learns of it by these bytes; it reads the end of the pipe otherwise.
  if (::write(how.report, &said, sizeof said) != sizeof said)
    ::_exit(126);
  ::_exit(127);
}

bool put(const char* path, const char* text) {
  auto fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  auto n = ::strlen(text);
  auto ok = ::write(fd, text, n) == static_cast<ssize_t>(n);
  ::close(fd);
  return ok;
}

/// Drops every capability of the bounding set. False: not allowed.
bool drop_bounding() {
  for (auto cap = 0; cap < 64; ++cap) {
    auto has = ::prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
    if (has < 0)
      return true; // the kernel knows no more
    if (has == 1 && ::prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
      return false;
  }
  return true;
}

[[noreturn]] void become(const prepared& how) {
  // Signals: none blocked, none ignored.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (auto n = 1; n < 65; ++n)
    ::sigaction(n, &standard, nullptr);
  ::setsid();
  ::umask(022);
  if (::dup2(how.input, 0) < 0)
    refuse(how, step::input);
  if (::dup2(how.output, 1) < 0 || ::dup2(how.output, 2) < 0)
    refuse(how, step::output);
  if (*how.cgroup != '\0' && !put(how.cgroup, "0"))
    refuse(how, step::cgroup);
  if (::chdir(how.directory) != 0)
    refuse(how, step::folder);
  // Where groups may not be set, the mark in the environment is left.
  if (how.mark != 0 && ::setgroups(1, &how.mark) != 0)
    ::setgroups(0, nullptr);
  if (!drop_bounding()) {
    if (::unshare(CLONE_NEWUSER) != 0 || !put("/proc/self/setgroups", "deny") || !put("/proc/self/uid_map", how.uid_map)
        || !put("/proc/self/gid_map", how.gid_map))
      refuse(how, step::name_space);
    if (!drop_bounding())
      refuse(how, step::bounding);
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capset, &header, data) != 0)
    refuse(how, step::capabilities);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    refuse(how, step::privileges);
  // After the credentials: a change of them may clear it. A parent that ended before this call is seen by its absence.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || ::getppid() != how.parent)
    refuse(how, step::parent);
  // All descriptors but the three close on exec, whoever opened them.
  ::syscall(SYS_close_range, 3u, ~0u, static_cast<unsigned>(CLOSE_RANGE_CLOEXEC));
  ::execve(how.program, how.arguments, how.environment);
  refuse(how, step::program);
}

/// The program as execve takes it.
std::string find_program(const process_request& what) {
  auto name = what.program.string();
  if (name.empty() || name.find('/') != std::string::npos)
    return name;
  std::string path;
  for (const auto& [key, value] : what.environment)
    if (key == "PATH")
      path = value;
  for (std::size_t from = 0; from <= path.size();) {
    auto end = std::min(path.find(':', from), path.size());
    auto here = path.substr(from, end - from) + "/" + name;
    if (::access(here.c_str(), X_OK) == 0)
      return here;
    from = end + 1;
  }
  return name;
}

std::string last_error(const std::string& what) {
  return what + ": " + std::strerror(errno);
}

} // namespace

struct process::state {
  state(boost::asio::any_io_executor lane, int pidfd, int out) : handle(lane, pidfd), output(lane, out) {
  }
  boost::asio::posix::stream_descriptor handle; // the pidfd
  boost::asio::posix::stream_descriptor output;
  pid_t id = 0;
  std::string mark;
  group_lease group;
  std::optional<process_end> end;

  /// Takes the end if it has come.
  bool reap() {
    if (end)
      return true;
    auto info = siginfo_t{};
    auto got = 0;
    do
      got = ::waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOHANG);
    while (got != 0 && errno == EINTR);
    if (got == 0 && info.si_pid == 0)
      return false;
    if (got != 0)
      end = process_end{-1, 0}; // somebody else took the status
    else
      end = info.si_code == CLD_EXITED ? process_end{info.si_status, 0} : process_end{0, info.si_status};
    end_marked(mark, group.get());
    return true;
  }
};

process::process(std::unique_ptr<state> s) : state_(std::move(s)) {
}

process::~process() {
  if (state_->reap())
    return;
  ::kill(state_->id, SIGKILL);
  auto info = siginfo_t{};
  while (::waitid(P_PID, static_cast<id_t>(state_->id), &info, WEXITED) != 0 && errno == EINTR) {
  }
  end_marked(state_->mark, state_->group.get());
}

tl::expected<std::unique_ptr<process>, std::string> process::start(boost::asio::any_io_executor lane, process_request what) {
  // Pipes: one for what it writes, one on which the child says why it did not become the program.
  auto out = std::array<int, 2>{};
  auto said = std::array<int, 2>{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0)
    return tl::unexpected{last_error("could not make a pipe")};
  auto out_read = high(out[0]);
  auto out_write = high(out[1]);
  if (::pipe2(said.data(), O_CLOEXEC) != 0)
    return tl::unexpected{last_error("could not make a pipe")};
  auto said_read = high(said[0]);
  auto said_write = high(said[1]);
  auto input = high(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (out_read.get() < 0 || out_write.get() < 0 || said_read.get() < 0 || said_write.get() < 0 || input.get() < 0)
    return tl::unexpected{last_error("could not open the standard streams")};
  // The mark of everything that comes of it.
  auto mark = new_mark(what.family);
  auto group = group_lease::take(what.family);
  // Argument and environment vectors.
  auto program = find_program(what);
  std::vector<std::string> texts{what.program.string()};
  texts.insert(texts.end(), what.arguments.begin(), what.arguments.end());
  std::vector<std::string> variables;
  for (const auto& [name, value] : what.environment)
    variables.push_back(name + "=" + value);
  auto marked = std::string{mark_variable};
  marked += '=';
  marked += mark;
  variables.push_back(std::move(marked));
  auto pointers = [](std::vector<std::string>& from) {
    std::vector<char*> result;
    for (auto& x : from)
      result.push_back(x.data());
    result.push_back(nullptr);
    return result;
  };
  auto arguments = pointers(texts);
  auto environment = pointers(variables);
  auto uid = std::to_string(::geteuid());
  auto gid = std::to_string(::getegid());
  auto uid_map = uid + " " + uid + " 1";
  auto gid_map = gid + " " + gid + " 1";
  auto how = prepared{};
  how.program = program.c_str();
  how.arguments = arguments.data();
  how.environment = environment.data();
  how.directory = what.directory.c_str();
  how.input = input.get();
  how.output = out_write.get();
  how.report = said_write.get();
  how.parent = ::getpid();
  how.mark = group.get();
  how.uid_map = uid_map.c_str();
  how.gid_map = gid_map.c_str();
  auto cgroup = what.cgroup.empty() ? std::string{} : (what.cgroup / "cgroup.procs").string();
  how.cgroup = cgroup.c_str();
  // No handler of this program may run in the child.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto id = ::fork();
  if (id == 0)
    become(how);
  auto error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (id < 0) {
    errno = error;
    return tl::unexpected{last_error("could not make a process")};
  }
  out_write.close();
  said_write.close();
  auto reap = [&] {
    auto info = siginfo_t{};
    while (::waitid(P_PID, static_cast<id_t>(id), &info, WEXITED) != 0 && errno == EINTR) {
    }
  };
  auto why = refusal{};
  auto got = ssize_t{0};
  do
    got = ::read(said_read.get(), &why, sizeof why);
  while (got < 0 && errno == EINTR);
  if (got != 0) {
    reap();
    auto text = std::string{describe(why.at)};
    if (why.at == step::program)
      text += " " + what.program.string();
    if (why.at == step::folder)
      text += " " + what.directory.string();
    return tl::unexpected{text + ": " + std::strerror(why.error)};
  }
  auto handle = descriptor{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))};
  if (handle.get() < 0) {
    auto text = last_error("could not watch the process");
    ::kill(id, SIGKILL);
    reap();
    return tl::unexpected{text};
  }
  auto made = std::make_unique<state>(std::move(lane), handle.release(), out_read.release());
  made->id = id;
  made->mark = mark;
  // Where groups may not be set the mark in the environment has to do.
  if (has_group(id, group.get()))
    made->group = std::move(group);
  return std::unique_ptr<process>{new process{std::move(made)}};
}

pid_t process::id() const noexcept {
  return state_->id;
}

boost::asio::awaitable<process_end> process::ended() {
  using namespace boost::asio;
  while (!state_->reap()) {
    auto [error] = co_await state_->handle.async_wait(posix::descriptor_base::wait_read, as_tuple(use_awaitable));
    if (error)
      throw boost::system::system_error{error};
  }
  co_return *state_->end;
}

void process::signal(int number) {
  if (!state_->reap())
    ::syscall(SYS_pidfd_send_signal, state_->handle.native_handle(), number, nullptr, 0);
}

boost::asio::posix::stream_descriptor& process::output() noexcept {
  return state_->output;
}

} // namespace paddock::embedded
