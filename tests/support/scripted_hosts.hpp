#pragma once

#include "guest/flows/file_host.hpp"
#include "guest/flows/stream_host.hpp"
#include "guest/flows/work_host.hpp"
#include "tests/support/scripted_guest.hpp"
#include "workspace/flows/guest_jobs.hpp"

#include <functional>

namespace paddock::test {

/// Files over the whole-file calls of a `guest::host`: what a guest without streams and parts gives.
class plain_files final : public guest::file_host {
public:
  explicit plain_files(guest::host& over) : over_(over) {
  }
  boost::asio::awaitable<guest::result<guest::file_read>> read(guest::endpoint where, std::string path, guest::file_part,
                                                               guest::byte_sink& to, deadline until) override {
    const auto limit = std::size_t{64} * 1024 * 1024;
    auto got = co_await over_.read_file(std::move(where), std::move(path), limit, until);
    if (!got)
      co_return tl::unexpected{std::move(got.error())};
    auto end = guest::file_read{got->bytes.size(), 0, got->bytes.size(), got->boot};
    co_await to.take(std::move(got->bytes));
    if (breaks)
      co_return tl::unexpected{*breaks};
    co_return end;
  }
  boost::asio::awaitable<guest::result<guest::file_written>> write(guest::endpoint where, std::string path, guest::input_source& from,
                                                                   std::optional<std::uint64_t>, deadline until) override {
    auto all = std::string{};
    for (;;) {
      auto piece = co_await from.next();
      if (piece.empty())
        break;
      all += piece;
    }
    co_return co_await over_.write_file(std::move(where), std::move(path), std::move(all), until);
  }
  boost::asio::awaitable<guest::result<std::vector<guest::listed_file>>> list(guest::endpoint where, std::string root, deadline) override {
    roots.push_back(where.host + " " + root);
    if (refuses && where.token != *refuses)
      co_return tl::unexpected{guest::failure{guest::unauthorized{}}};
    co_return listed;
  }
  boost::asio::awaitable<guest::result<void>> walk(guest::endpoint, guest::walk_request what, guest::entry_sink& to, deadline) override {
    walks.push_back(what);
    for (const auto& x : listed) {
      auto one = x;
      const auto more = co_await to.take(std::move(one));
      if (!more)
        break;
    }
    if (breaks)
      co_return tl::unexpected{*breaks};
    co_return guest::result<void>{};
  }

  std::optional<secret> refuses;        // every other token, of a list
  std::optional<guest::failure> breaks; // a read or walk, after what there is
  std::vector<guest::listed_file> listed;
  std::vector<std::string> roots;
  std::vector<guest::walk_request> walks;

private:
  guest::host& over_;
};

/// A terminal of which the test plays the program: `say` and `finish`, and what it was told.
class scripted_terminal final : public guest::terminal_stream {
public:
  struct script {
    explicit script(const boost::asio::any_io_executor& lane) : bell(lane, boost::asio::steady_timer::time_point::max()) {
    }
    void say(std::string bytes) {
      output.push_back(std::move(bytes));
      bell.cancel();
    }
    void finish(guest::result<guest::terminal_end> how) {
      if (!ended)
        ended = std::move(how);
      bell.cancel();
    }
    std::deque<std::string> output;
    std::optional<guest::result<guest::terminal_end>> ended;
    guest::result<guest::terminal_end> when_left = guest::terminal_end{};
    std::string input;
    std::vector<guest::window_size> sizes;
    std::vector<std::string> signals;
    int left = 0;
    bool dies_of_signals = false;
    std::optional<guest_boot_id> boot;
    std::optional<guest::session_position> position;
    std::optional<std::uint64_t> next_offset;
    boost::asio::steady_timer bell;
  };

  explicit scripted_terminal(std::shared_ptr<script> by) : by_(std::move(by)) {
  }
  const std::optional<guest_boot_id>& boot() const override {
    return by_->boot;
  }
  const std::optional<guest::session_position>& position() const override {
    return by_->position;
  }
  std::optional<std::uint64_t> next_offset() const override {
    return by_->next_offset;
  }
  boost::asio::awaitable<std::string> next() override {
    for (;;) {
      if (!by_->output.empty()) {
        auto piece = std::move(by_->output.front());
        by_->output.pop_front();
        co_return piece;
      }
      const auto state = co_await boost::asio::this_coro::cancellation_state;
      if (by_->ended || state.cancelled() != boost::asio::cancellation_type::none)
        co_return std::string{};
      [[maybe_unused]] auto rung = co_await by_->bell.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
  }
  boost::asio::awaitable<bool> write(std::string bytes) override {
    by_->input += bytes;
    co_return !by_->ended;
  }
  boost::asio::awaitable<bool> resize(guest::window_size size) override {
    by_->sizes.push_back(size);
    co_return !by_->ended;
  }
  boost::asio::awaitable<bool> kill(std::string signal) override {
    by_->signals.push_back(signal);
    if (by_->dies_of_signals)
      by_->finish(guest::terminal_end{-1, 9});
    co_return !by_->ended;
  }
  void detach() override {
    ++by_->left;
    by_->finish(by_->when_left);
  }
  boost::asio::awaitable<guest::result<guest::terminal_end>> end() override {
    while (!by_->ended)
      [[maybe_unused]] auto rung = co_await by_->bell.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return *by_->ended;
  }

private:
  std::shared_ptr<script> by_;
};

class scripted_port final : public guest::tcp_stream {
public:
  using script = scripted_terminal::script;
  explicit scripted_port(std::shared_ptr<script> by) : stream_(by), by_(std::move(by)) {
  }
  const std::optional<guest_boot_id>& boot() const override {
    return by_->boot;
  }
  boost::asio::awaitable<std::string> next() override {
    return stream_.next();
  }
  boost::asio::awaitable<bool> write(std::string bytes) override {
    return stream_.write(std::move(bytes));
  }
  boost::asio::awaitable<bool> finish() override {
    by_->signals.emplace_back("finish");
    co_return !by_->ended;
  }
  void destroy() override {
    stream_.detach();
  }

private:
  scripted_terminal stream_;
  std::shared_ptr<script> by_;
};

/// Streams that the test has prepared; an open without one is refused.
class scripted_streams final : public guest::stream_host {
public:
  using opened = guest::result<std::unique_ptr<guest::terminal_stream>>;

  boost::asio::awaitable<opened> open_terminal(guest::endpoint where, guest::terminal_request what, deadline) override {
    hosts.push_back(where.host);
    terminals.push_back(std::move(what));
    co_return next(where);
  }
  boost::asio::awaitable<opened> attach_session(guest::endpoint where, guest::session_attach what, deadline) override {
    hosts.push_back(where.host);
    attached.push_back(std::move(what));
    co_return next(where);
  }
  boost::asio::awaitable<guest::result<std::unique_ptr<guest::tcp_stream>>> open_tcp(guest::endpoint where, std::string host, int port,
                                                                                     deadline) override {
    hosts.push_back(where.host);
    ports.push_back(host + ":" + std::to_string(port));
    if (const auto no = refused(where))
      co_return tl::unexpected{*no};
    co_return std::make_unique<scripted_port>(prepared);
  }

  std::shared_ptr<scripted_terminal::script> prepared;
  std::optional<secret> refuses; // every other token
  guest::failure refusal = guest::lost{"no stream was prepared"};
  std::vector<std::string> hosts;
  std::vector<guest::terminal_request> terminals;
  std::vector<guest::session_attach> attached;
  std::vector<std::string> ports;

private:
  [[nodiscard]] std::optional<guest::failure> refused(const guest::endpoint& where) const {
    if (refuses && where.token != *refuses)
      return guest::unauthorized{};
    return prepared ? std::nullopt : std::optional{refusal};
  }
  opened next(const guest::endpoint& where) {
    if (const auto no = refused(where))
      return tl::unexpected{*no};
    return std::make_unique<scripted_terminal>(prepared);
  }
};

/// Work of which every answer is a function of the test's.
class scripted_work final : public guest::work_host {
public:
  template <class T, class... Ts>
  using answer = std::function<guest::result<T>(const guest::endpoint&, Ts...)>;

  boost::asio::awaitable<guest::result<guest::attached_end>> run_detached(guest::endpoint where, guest::detached_run what,
                                                                          guest::log_sink& output, deadline) override {
    for (const auto& x : log) {
      auto piece = x;
      co_await output.take(guest::stream::out, std::move(piece), 0);
    }
    if (gap)
      co_await output.gap(gap->first, gap->second);
    co_return on_run(where, what);
  }
  boost::asio::awaitable<guest::result<guest::attached_end>> attach(guest::endpoint where, guest::attach_request what,
                                                                    guest::log_sink& output, deadline) override {
    for (const auto& x : log) {
      auto piece = x;
      co_await output.take(guest::stream::out, std::move(piece), 0);
    }
    co_return on_attach(where, what);
  }
  boost::asio::awaitable<guest::result<void>> cancel(guest::endpoint where, std::string execution, deadline) override {
    co_return on_cancel(where, execution);
  }
  boost::asio::awaitable<guest::result<std::vector<guest::session_row>>> sessions(guest::endpoint where, deadline) override {
    co_return on_sessions(where);
  }
  boost::asio::awaitable<guest::result<guest::session_row>> start_detached(guest::endpoint where, guest::session_start what,
                                                                           deadline) override {
    co_return on_start(where, what);
  }
  boost::asio::awaitable<guest::result<guest::session_row>> kill_session(guest::endpoint where, std::string session,
                                                                         std::optional<std::string> signal, deadline) override {
    co_return on_kill(where, session, signal);
  }
  boost::asio::awaitable<guest::result<guest::session_chunk>> read_session(guest::endpoint, std::string, std::uint64_t, deadline) override {
    co_return guest::session_chunk{};
  }
  boost::asio::awaitable<guest::result<guest::quiesce_report>> quiesce(guest::endpoint where, guest::quiesce_request how,
                                                                       deadline) override {
    co_return on_quiesce(where, how);
  }
  boost::asio::awaitable<guest::result<guest::flush_report>> flush(guest::endpoint where, std::optional<std::chrono::milliseconds> bound,
                                                                   deadline) override {
    co_return on_flush(where, bound);
  }

  std::vector<std::string> log;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> gap;
  answer<guest::attached_end, guest::detached_run> on_run = [](const auto&, const auto& x) {
    auto end = guest::attached_end{};
    end.execution_id = x.execution_id.value_or("");
    end.outcome = "completed";
    return guest::result<guest::attached_end>{std::move(end)};
  };
  answer<guest::attached_end, guest::attach_request> on_attach = [](const auto&, const auto& x) {
    auto end = guest::attached_end{};
    end.execution_id = x.execution_id;
    end.outcome = "completed";
    return guest::result<guest::attached_end>{std::move(end)};
  };
  answer<void, std::string> on_cancel = [](const auto&, const auto&) { return guest::result<void>{}; };
  answer<std::vector<guest::session_row>> on_sessions = [](const auto&) { return guest::result<std::vector<guest::session_row>>{}; };
  answer<guest::session_row, guest::session_start> on_start = [](const auto&, const auto& x) {
    auto row = guest::session_row{};
    row.session = x.session;
    return guest::result<guest::session_row>{std::move(row)};
  };
  answer<guest::session_row, std::string, std::optional<std::string>> on_kill = [](const auto&, const auto& x, const auto&) {
    auto row = guest::session_row{};
    row.session = x;
    return guest::result<guest::session_row>{std::move(row)};
  };
  answer<guest::quiesce_report, guest::quiesce_request> on_quiesce = [](const auto&, const auto&) {
    return guest::result<guest::quiesce_report>{guest::quiesce_report{}};
  };
  answer<guest::flush_report, std::optional<std::chrono::milliseconds>> on_flush = [](const auto&, const auto&) {
    return guest::result<guest::flush_report>{guest::flush_report{}};
  };
};

/// The four ways into a scripted guest.
struct scripted_hosts {
  explicit scripted_hosts(guest::host& over) : commands(over), files(over) {
  }
  workspace::guest_hosts ways() {
    return {commands, files, streams, work};
  }
  guest::host& commands;
  plain_files files;
  scripted_streams streams;
  scripted_work work;
};

} // namespace paddock::test
