#pragma once

#include "guest/flows/host.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

/// One call that a `scripted_guest` received.
struct guest_call {
  enum class op { execute, look, read, write };
  op what = op::look;
  guest::endpoint where;
  guest::command command; // of execute
  std::string path;       // of read and write
  std::string bytes;      // the whole input of execute, the content of write
  std::size_t limit = 0;  // of read
  deadline until{time_source::clock::time_point{}};
  bool cancelled = false; // the caller's coroutine was cancelled while the call was pending
};

/// What an execute handler wants: the output goes to the caller's sink first, then comes the answer. No answer leaves the
/// call pending until `answer`.
struct scripted_execution {
  std::vector<std::pair<guest::stream, std::string>> output;
  std::optional<guest::result<guest::execution>> answer;
};

/// A guest of which every answer is scripted. It keeps every call in `calls`, in order; the handler of its kind then
/// answers it at once, or answers nothing, and the call waits for `answer(index in calls, ...)`. Deadlines are recorded
/// and not acted on. A pending call whose coroutine is cancelled answers with `when_cancelled` (execute) or `lost`
/// (the others) unless `hold_when_cancelled` is set: then it keeps waiting. Not thread-safe: all on one lane.
class scripted_guest final : public guest::host {
public:
  using op = guest_call::op;

  scripted_guest() = default;
  scripted_guest(const scripted_guest&) = delete;
  scripted_guest& operator=(const scripted_guest&) = delete;

  /// The boot id in every answer. First, because the members below are made with it.
  std::optional<guest_boot_id> boot = guest_boot_id{"3f0a9d62-7b1c-4e55-9d3a-61b8c2e47f90"};

  /// `cat /proc/self/status` finds an unprivileged process, every other command ends with 0 and no output.
  std::function<scripted_execution(const guest_call&)> on_execute = [this](const guest_call& x) { return default_execution(x); };
  /// Well, protocol version 2, no features.
  std::function<std::optional<guest::result<guest::health>>(const guest_call&)> on_look = [](const guest_call&) {
    return guest::result<guest::health>{guest::health{true, false, 2, {}}};
  };
  /// Reads what was written here before; `refused` (`ENOENT`) otherwise.
  std::function<std::optional<guest::result<guest::file_content>>(const guest_call&)> on_read = [this](const guest_call& x) {
    return read_from_memory(x);
  };
  /// Keeps the content for later reads.
  std::function<std::optional<guest::result<guest::file_written>>(const guest_call&)> on_write = [this](const guest_call& x) {
    return write_to_memory(x);
  };
  guest::result<guest::execution> when_cancelled = ended_by_signal("SIGTERM");
  bool hold_when_cancelled = false;

  std::vector<guest_call> calls;
  std::map<std::string, std::string> files;

  // -- answering pending calls -------------------------------------------------

  void answer(std::size_t call, guest::result<guest::execution> x) {
    executions_.at(call)->put(std::move(x));
  }
  void answer(std::size_t call, guest::result<guest::health> x) {
    looks_.at(call)->put(std::move(x));
  }
  void answer(std::size_t call, guest::result<guest::file_content> x) {
    reads_.at(call)->put(std::move(x));
  }
  void answer(std::size_t call, guest::result<guest::file_written> x) {
    writes_.at(call)->put(std::move(x));
  }
  [[nodiscard]] bool pending(std::size_t call) const {
    return executions_.contains(call) || looks_.contains(call) || reads_.contains(call) || writes_.contains(call);
  }
  /// How many calls of this kind were made.
  [[nodiscard]] std::size_t count(op which) const {
    auto n = std::size_t{0};
    for (const auto& x : calls)
      n += x.what == which ? 1u : 0u;
    return n;
  }

  // -- ready-made answers ------------------------------------------------------

  static std::string unprivileged_status() {
    return "Name:\tcat\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
           "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n";
  }
  [[nodiscard]] guest::result<guest::execution> ended(int exit_code) const {
    auto x = guest::execution{};
    x.end.exit_code = exit_code;
    x.boot = boot;
    return x;
  }
  [[nodiscard]] guest::result<guest::execution> ended_by_signal(std::string name) const {
    auto x = guest::execution{};
    x.end.exit_code = -1;
    x.end.signal = std::move(name);
    x.boot = boot;
    return x;
  }
  static bool is_privilege_probe(const guest_call& x) {
    return x.what == op::execute && x.command.program == "cat" && x.command.arguments == std::vector<std::string>{"/proc/self/status"};
  }

  // -- guest::host -------------------------------------------------------------

  boost::asio::awaitable<guest::result<guest::execution>> execute(guest::endpoint where, guest::command what, guest::output_sink& output,
                                                                  guest::input_source* input, deadline until) override {
    auto call = guest_call{op::execute, std::move(where), std::move(what), {}, {}, 0, until, false};
    while (input != nullptr) {
      auto piece = co_await input->next();
      if (piece.empty())
        break;
      call.bytes += piece;
    }
    const auto index = calls.size();
    calls.push_back(call);
    auto wanted = on_execute(call);
    for (auto& [which, bytes] : wanted.output)
      co_await output.take(which, std::move(bytes));
    if (wanted.answer)
      co_return std::move(*wanted.answer);
    co_return co_await wait_for(executions_, index, when_cancelled);
  }

  boost::asio::awaitable<guest::result<guest::health>> look(guest::endpoint where, deadline until) override {
    const auto index = calls.size();
    calls.push_back({op::look, std::move(where), {}, {}, {}, 0, until, false});
    auto wanted = on_look(guest_call{calls.back()});
    if (wanted)
      co_return std::move(*wanted);
    co_return co_await wait_for(looks_, index, guest::result<guest::health>{gone()});
  }

  boost::asio::awaitable<guest::result<guest::file_content>> read_file(guest::endpoint where, std::string path, std::size_t limit,
                                                                       deadline until) override {
    const auto index = calls.size();
    calls.push_back({op::read, std::move(where), {}, std::move(path), {}, limit, until, false});
    auto wanted = on_read(guest_call{calls.back()});
    if (wanted)
      co_return std::move(*wanted);
    co_return co_await wait_for(reads_, index, guest::result<guest::file_content>{gone()});
  }

  boost::asio::awaitable<guest::result<guest::file_written>> write_file(guest::endpoint where, std::string path, std::string bytes,
                                                                        deadline until) override {
    const auto index = calls.size();
    calls.push_back({op::write, std::move(where), {}, std::move(path), std::move(bytes), 0, until, false});
    auto wanted = on_write(guest_call{calls.back()});
    if (wanted)
      co_return std::move(*wanted);
    co_return co_await wait_for(writes_, index, guest::result<guest::file_written>{gone()});
  }

private:
  template <class T>
  struct slot {
    explicit slot(const boost::asio::any_io_executor& lane) : wake(lane, boost::asio::steady_timer::time_point::max()) {
    }
    void put(T x) {
      value.emplace(std::move(x));
      wake.cancel();
    }
    std::optional<T> value;
    boost::asio::steady_timer wake;
  };
  template <class T>
  using slots = std::map<std::size_t, std::shared_ptr<slot<T>>>;

  template <class T>
  boost::asio::awaitable<T> wait_for(slots<T>& all, std::size_t index, T otherwise) {
    // The flag belongs to the whole stack of coroutines, so it is put back.
    const bool throws = co_await boost::asio::this_coro::throw_if_cancelled();
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    auto lane = co_await boost::asio::this_coro::executor;
    auto mine = std::make_shared<slot<T>>(lane);
    all.emplace(index, mine);
    while (!mine->value) {
      auto state = co_await boost::asio::this_coro::cancellation_state;
      if (state.cancelled() != boost::asio::cancellation_type::none) {
        calls[index].cancelled = true;
        if (!hold_when_cancelled)
          break;
      }
      co_await mine->wake.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    all.erase(index);
    co_await boost::asio::this_coro::throw_if_cancelled(throws);
    if (mine->value)
      co_return std::move(*mine->value);
    co_return otherwise;
  }

  static tl::unexpected<guest::failure> gone() {
    return tl::unexpected{guest::failure{guest::lost{"the call was cancelled"}}};
  }

  [[nodiscard]] scripted_execution default_execution(const guest_call& x) const {
    auto y = scripted_execution{};
    if (is_privilege_probe(x))
      y.output.emplace_back(guest::stream::out, unprivileged_status());
    y.answer = ended(0);
    return y;
  }

  std::optional<guest::result<guest::file_content>> read_from_memory(const guest_call& x) const {
    const auto found = files.find(x.path);
    if (found == files.end())
      return guest::result<guest::file_content>{
        tl::unexpected{guest::failure{guest::refused{"ENOENT", "ENOENT: no such file or directory, open '" + x.path + "'"}}}};
    if (found->second.size() > x.limit)
      return guest::result<guest::file_content>{tl::unexpected{guest::failure{guest::refused{"file_too_large", "file_too_large"}}}};
    return guest::result<guest::file_content>{guest::file_content{found->second, boot}};
  }

  std::optional<guest::result<guest::file_written>> write_to_memory(const guest_call& x) {
    files[x.path] = x.bytes;
    return guest::result<guest::file_written>{guest::file_written{x.bytes.size(), boot}};
  }

  slots<guest::result<guest::execution>> executions_;
  slots<guest::result<guest::health>> looks_;
  slots<guest::result<guest::file_content>> reads_;
  slots<guest::result<guest::file_written>> writes_;
};

} // namespace paddock::test
