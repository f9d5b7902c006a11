#include "k8s/flows/program.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <optional>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddock::k8s {

namespace asio = boost::asio;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);

std::string text_of(int error) {
  auto room = std::array<char, 128>{};
  return ::strerror_r(error, room.data(), room.size());
}

/// Strings as exec takes them.
class string_list {
public:
  void add(std::string x) {
    all_.push_back(std::move(x));
  }
  /// Good until the next `add`.
  [[nodiscard]] char* const* data() {
    pointers_.clear();
    for (auto& x : all_)
      pointers_.push_back(x.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

private:
  std::vector<std::string> all_;
  std::vector<char*> pointers_;
};

string_list environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  auto all = std::map<std::string, std::string>{};
  for (auto** x = environ; *x != nullptr; ++x) {
    const auto line = std::string_view{*x};
    if (const auto at = line.find('='); at != std::string_view::npos)
      all.emplace(line.substr(0, at), line.substr(at + 1));
  }
  for (const auto& [name, value] : more)
    all.insert_or_assign(name, value);
  auto got = string_list{};
  for (const auto& [name, value] : all)
    got.add(name + "=" + value);
  return got;
}

/// What a child is started with: a clean signal state, three descriptors and a process group of its own.
class spawn_settings {
public:
  explicit spawn_settings(int output) {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, 1);
    ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
    ::posix_spawnattr_init(&attributes);
    auto signals = sigset_t{};
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~spawn_settings() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  spawn_settings(const spawn_settings&) = delete;
  spawn_settings& operator=(const spawn_settings&) = delete;

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
};

/// A child that runs. It does not outlive this.
class child {
public:
  explicit child(const asio::any_io_executor& lane) : output(lane), end(lane), bell(lane) {
  }
  ~child() {
    if (id_ <= 0)
      return;
    kill();
    reap();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  /// An error text, or nothing.
  std::string start(const program& what) {
    auto ends = std::array<int, 2>{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return "there is no pipe for it: " + text_of(errno);
    output.assign(ends[0]);
    auto arguments = string_list{};
    arguments.add(what.command);
    for (const auto& x : what.arguments)
      arguments.add(x);
    auto environment = environment_with(what.environment);
    const auto error = [&] {
      const auto with = spawn_settings{ends[1]};
      return ::posix_spawnp(&id_, what.command.c_str(), &with.files, &with.attributes, arguments.data(), environment.data());
    }();
    ::close(ends[1]);
    if (error != 0) {
      id_ = 0;
      return "it cannot be started: " + text_of(error);
    }
    const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, id_, 0));
    if (fd < 0)
      return "it cannot be watched: " + text_of(errno);
    end.assign(fd);
    return {};
  }
  /// The child and what it has started, unless that left its group.
  void kill() const {
    ::kill(-id_, SIGKILL);
  }
  /// How it ended, as waitpid says; nothing when somebody else took that. Waits until it has.
  std::optional<int> reap() {
    auto status = 0;
    auto got = pid_t{0};
    do
      got = ::waitpid(id_, &status, 0);
    while (got < 0 && errno == EINTR);
    id_ = 0;
    return got < 0 ? std::nullopt : std::optional{status};
  }
  /// Kills it at `until`; what waits for it then ends.
  static void watch(const std::shared_ptr<child>& self, std::chrono::steady_clock::time_point until) {
    self->bell.expires_at(until);
    self->bell.async_wait([weak = std::weak_ptr{self}](boost::system::error_code ec) {
      auto me = weak.lock();
      if (ec || !me)
        return;
      me->late = true;
      me->stop();
    });
  }
  void stop() {
    if (id_ > 0)
      kill();
    auto ignored = boost::system::error_code{};
    output.close(ignored); // something it left behind may hold the other end open
  }

  asio::posix::stream_descriptor output;
  asio::posix::stream_descriptor end; // readable once it has ended
  asio::steady_timer bell;
  bool late = false;

private:
  pid_t id_ = 0;
};

} // namespace

asio::awaitable<tl::expected<std::string, std::string>> run_program(program what, std::chrono::steady_clock::time_point until,
                                                                    std::size_t most) {
  auto lane = co_await asio::this_coro::executor;
  auto it = std::make_shared<child>(lane);
  if (auto error = it->start(what); !error.empty())
    co_return tl::unexpected{std::move(error)};
  child::watch(it, until);
  auto text = std::string{};
  auto room = std::array<char, 4096>{};
  for (;;) {
    auto [ec, n] = co_await it->output.async_read_some(asio::buffer(room), quietly);
    text.append(room.data(), n);
    if (ec || text.size() > most)
      break;
  }
  const auto much = text.size() > most;
  if (much)
    it->stop();
  [[maybe_unused]] auto [ended] = co_await it->end.async_wait(asio::posix::descriptor_base::wait_read, quietly);
  it->bell.cancel();
  const auto status = it->reap();
  if (it->late)
    co_return tl::unexpected{std::string{"it did not end in time"}};
  if (much)
    co_return tl::unexpected{"it printed more than " + std::to_string(most) + " bytes"};
  if (!status)
    co_return tl::unexpected{std::string{"how it ended is not known"}};
  if (WIFSIGNALED(*status))
    co_return tl::unexpected{"it was ended by signal " + std::to_string(WTERMSIG(*status))};
  if (WEXITSTATUS(*status) != 0)
    co_return tl::unexpected{"it ended with " + std::to_string(WEXITSTATUS(*status))};
  co_return text;
}

} // namespace paddock::k8s
