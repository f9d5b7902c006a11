#include "guest/flows/file_walk.hpp"

#include "guest/flows/family.hpp"
#include "guest/host_file_requests.hpp"
#include "guest/walk_plan.hpp"
#include "guest/walk_records.hpp"

#include <boost/asio/this_coro.hpp>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

constexpr std::size_t listing_ceiling = 64 * 1024 * 1024;

tl::unexpected<failure> fail(failure x) {
  return tl::unexpected{std::move(x)};
}

/// What takes the output of a command and may have had enough of it.
class stopping_sink : public output_sink {
public:
  explicit stopping_sink(const asio::any_io_executor& lane) : bell_(lane, asio::steady_timer::time_point::max()) {
  }
  /// Ends once there was enough.
  static asio::awaitable<bool> until_enough(std::shared_ptr<stopping_sink> it) {
    while (!it->enough_) {
      [[maybe_unused]] auto [ec] = co_await it->bell_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    co_return true;
  }
  [[nodiscard]] bool had_enough() const noexcept {
    return enough_;
  }

protected:
  void stop() {
    enough_ = true;
    bell_.cancel();
  }

private:
  asio::steady_timer bell_;
  bool enough_ = false;
};

struct run_end {
  result<execution> got;
  bool withdrawn = false;
};

/// Runs `what` until it ends, its sink has enough or the caller is cancelled; in both of these it is cancelled in the guest,
/// and that is waited for.
asio::awaitable<run_end> run(flow_time& time, host& through, endpoint where, command what, std::shared_ptr<stopping_sink> to,
                             deadline until) {
  auto lane = co_await asio::this_coro::executor;
  auto kin = std::make_shared<family>(time, lane);
  auto running = kin->start(through.execute(std::move(where), std::move(what), *to, nullptr, until));
  auto enough = kin->start(stopping_sink::until_enough(to));
  auto withdrawn = false;
  auto stopped = false;
  while (!running->over()) {
    const bool gone = co_await was_withdrawn();
    withdrawn = withdrawn || gone;
    if ((withdrawn || to->had_enough()) && !stopped) {
      stopped = true;
      running->stop();
      continue;
    }
    co_await kin->wait();
  }
  co_await kin->close();
  auto end = run_end{fail(lost{running->thrown().value_or("the command ended without an answer")}), withdrawn};
  if (running->value)
    end.got = std::move(*running->value);
  co_return end;
}

/// What a caller that has withdrawn is told. The end of the command is confirmed.
failure withdrawn_from(const execution& x) {
  const auto nothing_ran = !x.boot && x.end.exit_code == 1 && !x.end.signal;
  return nothing_ran ? failure{withdrawn{}} : failure{lost{"withdrawn by the caller; the command in the guest is confirmed gone"}};
}

class listing final : public stopping_sink {
public:
  using stopping_sink::stopping_sink;
  asio::awaitable<void> take(stream which, std::string bytes) override {
    if (which == stream::out && !had_enough()) {
      if (text.size() + bytes.size() > listing_ceiling)
        stop();
      else
        text += bytes;
    }
    co_return;
  }
  std::string text;
};

class walking final : public stopping_sink {
public:
  walking(const asio::any_io_executor& lane, const walk_plan& plan, entry_sink& to) : stopping_sink(lane), rows(plan), to_(to) {
  }
  asio::awaitable<void> take(stream which, std::string bytes) override {
    if (which != stream::out || had_enough())
      co_return;
    for (auto& x : rows.push(bytes)) {
      auto entry = listed_file{std::move(x.path), x.size};
      const bool more = co_await to_.take(std::move(entry));
      if (!more) {
        left = true;
        stop();
        co_return;
      }
    }
    if (rows.fault())
      stop();
  }
  walk_reader rows;
  bool left = false; // the caller had enough

private:
  entry_sink& to_;
};

failure walk_failed(walk_failure x, bool of_the_stream) {
  if (of_the_stream)
    return protocol_failure{std::move(x.text)};
  return refused{x.code.value_or("walk_failed"), std::move(x.text)};
}

bool is_confirmed(const result<execution>& got) {
  return got || std::holds_alternative<result_incomplete>(got.error());
}

} // namespace

asio::awaitable<result<std::vector<listed_file>>> list_files(flow_time& time, host& through, endpoint where, std::string root,
                                                             deadline until) {
  if (auto good = check_path(root); !good)
    co_return tl::unexpected{std::move(good.error())};
  if (root.starts_with('-'))
    co_return fail(invalid_argument{"a root that begins with `-` would be taken for an option"});
  auto lane = co_await asio::this_coro::executor;
  auto lines = std::make_shared<listing>(lane);
  auto what = command{"find", listing_arguments(root), {}, {}, {}, false};
  auto end = co_await run(time, through, std::move(where), std::move(what), lines, until);
  if (lines->had_enough() && is_confirmed(end.got))
    co_return fail(refused{"listing_too_large", "listing_too_large: more than " + std::to_string(listing_ceiling) + " bytes"});
  if (!end.got)
    co_return tl::unexpected{std::move(end.got.error())};
  if (end.withdrawn)
    co_return fail(withdrawn_from(*end.got));
  // An exit code other than 0 means that there is no root; a `find` that was ended from outside means nothing.
  if (end.got->end.timed_out)
    co_return fail(lost{"the time was up before the listing was whole"});
  if (end.got->end.signal || end.got->end.out_truncated)
    co_return fail(lost{"the listing was cut off"});
  co_return listed_files(end.got->end.exit_code, lines->text);
}

asio::awaitable<result<void>> walk_files(flow_time& time, host& through, file_options files, endpoint where, walk_request what,
                                         entry_sink& to, deadline until) {
  auto options = walk_options{};
  options.pattern = std::move(what.pattern);
  options.include_hidden = what.include_hidden;
  options.max_depth = what.max_depth;
  options.max_entries = what.max_entries;
  options.max_visited_entries = what.max_visited_entries;
  const auto plan = plan_walk(what.root, options);
  if (!plan)
    co_return fail(invalid_argument{plan.error()});
  auto lane = co_await asio::this_coro::executor;
  auto it = std::make_shared<walking>(lane, *plan, to);
  auto walker = command{std::move(files.walker), walk_arguments(*plan), {}, {}, {}, false};
  auto end = co_await run(time, through, std::move(where), std::move(walker), it, until);
  // Whether the process is gone comes first: a walk that was left early is not over before that.
  if (!is_confirmed(end.got))
    co_return tl::unexpected{std::move(end.got.error())};
  if (it->left)
    co_return result<void>{};
  if (it->rows.fault())
    co_return fail(walk_failed(*it->rows.fault(), true));
  if (!end.got)
    co_return tl::unexpected{std::move(end.got.error())};
  if (end.withdrawn)
    co_return fail(withdrawn_from(*end.got));
  const auto& exit = end.got->end;
  auto good = it->rows.finish(exit.exit_code, exit.out_truncated, exit.timed_out);
  if (!good)
    co_return fail(walk_failed(std::move(good.error()), it->rows.fault().has_value()));
  co_return result<void>{};
}

} // namespace paddock::guest
