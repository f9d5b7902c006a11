#include "k8s/flows/exec_credentials.hpp"

#include "k8s/flows/program.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace paddock::k8s {

namespace asio = boost::asio;

namespace {

using instant = time_source::clock::time_point;
using wall_instant = time_source::wall_clock::time_point;

/// One run, and who waits for it.
struct run {
  std::vector<std::weak_ptr<asio::steady_timer>> bells;
  std::optional<io_result<credential>> end;
};

class exec_source final : public credential_source, public std::enable_shared_from_this<exec_source> {
public:
  exec_source(exec_plugin how, exec_limits limits) : how_(std::move(how)), limits_(limits) {
  }

  asio::awaitable<io_result<credential>> get(const time_source& time) override {
    if (held_ && (!held_until_ || time.wall() < *held_until_))
      co_return *held_;
    if (failure_ && time.now() < failed_at_ + limits_.between_failures)
      co_return tl::unexpected{*failure_};
    auto lane = co_await asio::this_coro::executor;
    auto mine = under_way_;
    if (!mine) {
      after_refusal_ = after_refusal_ && !held_; // else what is held has run out
      mine = under_way_ = std::make_shared<run>();
      auto self = shared_from_this();
      asio::co_spawn(lane, renew(self, mine, &time), [self, mine, &time](std::exception_ptr error) {
        if (!error)
          return;
        self->held_.reset();
        self->fail("its run broke off", time);
        self->settle(*mine);
      });
    }
    auto bell = std::make_shared<asio::steady_timer>(lane, instant::max());
    mine->bells.push_back(bell);
    if (!mine->end) {
      [[maybe_unused]] auto [rung] = co_await bell->async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (!mine->end)
      co_return tl::unexpected{io_failure{io_failure::stage::cancelled, false, "withdrawn by the caller"}};
    co_return *mine->end;
  }

  bool refused(const credential& shown, const time_source& time) override {
    if (!held_ || *held_ != shown)
      return true;
    if (after_refusal_ && time.now() < came_at_ + limits_.between_refusals)
      return false;
    held_.reset();
    after_refusal_ = true;
    return true;
  }

private:
  static asio::awaitable<void> renew(std::shared_ptr<exec_source> self, std::shared_ptr<run> mine, const time_source* time) {
    auto what = program{self->how_.command, self->how_.arguments, self->how_.environment};
    what.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(self->how_));
    const auto until = std::chrono::steady_clock::now() + self->limits_.run;
    auto printed = co_await run_program(std::move(what), until, self->limits_.output);
    self->take(std::move(printed), *time);
    self->settle(*mine);
  }

  /// Ends the run with what is held now, or the failure, and tells who waits.
  void settle(run& which) {
    which.end = held_ ? io_result<credential>{*held_} : io_result<credential>{tl::unexpected{*failure_}};
    under_way_.reset();
    for (const auto& x : which.bells)
      if (auto bell = x.lock())
        bell->cancel();
  }

  void take(tl::expected<std::string, std::string> printed, const time_source& time) {
    held_.reset();
    failure_.reset();
    if (!printed)
      return fail(printed.error(), time);
    auto got = read_exec_credential(*printed, how_.api_version);
    if (!got)
      return fail(got.error(), time);
    if (got->expires && *got->expires <= time.wall())
      return fail("the credential that it gave has expired", time);
    held_ = credential{std::move(got->token), std::move(got->certificate), std::move(got->key)};
    held_until_ = use_until(*got, time.wall());
    came_at_ = time.now();
  }

  void fail(const std::string& why, const time_source& time) {
    const auto hint = how_.install_hint.empty() ? std::string{} : " (" + how_.install_hint + ")";
    failure_ = io_failure{io_failure::stage::connect, false, "the credential plug-in " + how_.command + ": " + why + hint};
    failed_at_ = time.now();
  }

  exec_plugin how_;
  exec_limits limits_;
  std::optional<credential> held_;
  std::optional<wall_instant> held_until_; // absent: for good
  instant came_at_;
  bool after_refusal_ = false; // what is held, or will be, came after a refusal
  std::optional<io_failure> failure_;
  instant failed_at_;
  std::shared_ptr<run> under_way_;
};

} // namespace

std::shared_ptr<credential_source> exec_credentials(exec_plugin how, exec_limits limits) {
  return std::make_shared<exec_source>(std::move(how), limits);
}

} // namespace paddock::k8s
