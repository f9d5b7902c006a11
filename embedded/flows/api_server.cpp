#include "embedded/flows/api_server.hpp"

#include "base/flows/withdrawal.hpp"
#include "base/random.hpp"
#include "embedded/authentication_review.hpp"
#include "embedded/custom_definitions.hpp"
#include "embedded/event_expiry.hpp"
#include "embedded/flows/pod_log_reader.hpp"
#include "embedded/resource_answer.hpp"
#include "embedded/store_watch.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <list>
#include <mutex>

namespace paddock::embedded {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t logged_body = 64 * 1024;
constexpr std::size_t watch_piece = 256 * 1024;
constexpr auto peer_check = 5s; // how soon a watch whose client has gone ends
constexpr auto bookmark_every = 60s;
constexpr auto longest_watch = 30min; // unless the client says otherwise
constexpr auto log_check = 100ms;     // how soon a client hears of a new line
constexpr auto expiry_every = 60s;    // of events that are an hour old

using bell = asio::steady_timer;

/// A write that waits for its group.
struct waiting_write {
  const api_call& what;
  bell done;
  outcome got = {};
  bool over = false;
};

/// What requests share. Used on the server's strand, but for the log.
struct core {
  core(flow_time& clock, api_server_options from) :
    time(clock),
    options(std::move(from)),
    objects(options.journal, options.bounds),
    gate(objects, std::exchange(options.tokens, {}), std::exchange(options.signing_key, {})) {
    if (options.cilium)
      objects.serve_cilium();
  }

  flow_time& time;
  api_server_options options;
  store objects;
  request_gate gate;
  shown_objects shown;
  std::list<bell*> watchers; // to ring after each write
  std::list<waiting_write*> writes;
  bool group_due = false;   // `carry_out_group` comes
  std::size_t followed = 0; // logs
  time_source::clock::time_point expired_at = {};
  std::uint64_t arrived = 0;
  mutable std::mutex guard; // of the log
  std::deque<logged_request> log;

  void keep(const logged_request& x) {
    if (options.log_entries == 0)
      return;
    auto lock = std::lock_guard{guard};
    log.push_back(x);
    if (log.size() > options.log_entries)
      log.pop_front();
  }

  /// Wakes every watch, also one that is about to wait.
  void ring() {
    for (auto* x : watchers)
      x->expires_at(bell::time_point::min());
  }

  outcome carry_out(const api_call& call) {
    const auto before = objects.version();
    if (time.now() - expired_at >= expiry_every && !expire_events(objects, time.wall()))
      expired_at = time.now();
    gate.catch_up();
    auto out = serve(objects, call, &gate, time.wall());
    if (objects.version() != before)
      gate.catch_up();
    if (objects.version() != before)
      ring();
    return out;
  }

  /// Carries out the writes that wait, which the journal keeps together. Nothing else runs meanwhile, so nobody sees of them
  /// what is not kept.
  void carry_out_group() {
    group_due = false;
    objects.begin_group();
    carry_out_waiting();
    if (!objects.end_group()) {
      // None has happened. Alone, each succeeds or hears of its own failure.
      gate.start_over();
      carry_out_waiting();
    }
    for (auto* x : writes) {
      x->over = true;
      x->done.expires_at(bell::time_point::min());
    }
  }

private:
  void carry_out_waiting() {
    for (auto* x : writes)
      if (!x->over)
        x->got = carry_out(x->what);
  }
};

/// Keeps a watch in the list of those to ring, a write in that of those that wait.
template <class T>
class enlisted {
public:
  enlisted(std::list<T*>& all, T& mine) : all_(all), at_(all.insert(all.end(), &mine)) {
  }
  ~enlisted() {
    all_.erase(at_);
  }
  enlisted(const enlisted&) = delete;
  enlisted& operator=(const enlisted&) = delete;

private:
  std::list<T*>& all_;
  typename std::list<T*>::iterator at_;
};

asio::awaitable<void> wait_for(bell& mine) {
  [[maybe_unused]] auto [ec] = co_await mine.async_wait(asio::as_tuple(asio::use_awaitable));
}

/// Carries it out; a write that a journal keeps, with what else is written at this moment. The answer proves what that of a write alone
/// proves.
asio::awaitable<outcome> carry_out(std::shared_ptr<core> of, const api_call& call) {
  if (of->options.journal == nullptr || call.method == "GET")
    co_return of->carry_out(call);
  const auto lane = co_await asio::this_coro::executor;
  auto mine = waiting_write{call, bell{lane, bell::time_point::max()}};
  const auto listed = enlisted{of->writes, mine};
  if (!std::exchange(of->group_due, true))
    asio::post(lane, [of] { of->carry_out_group(); });
  // A caller that goes away now changes nothing: the group comes at once.
  while (!mine.over)
    co_await wait_for(mine.done);
  co_return std::move(mine.got);
}

asio::awaitable<void> send(http_responder& to, api_answer what) {
  http_response out{what.status, std::move(what.headers), std::move(what.body)};
  [[maybe_unused]] auto told = co_await to.send(std::move(out)); // a peer that has gone needs no answer
}

/// A watch that runs.
struct running_watch {
  store_watch lines;
  bell mine;
  time_source::clock::time_point end;
  time_source::clock::time_point mark_at;
  bool looks = false; // it is time to see whether the client is there
};

/// Tells what is written until the watch, its time or its client ends.
asio::awaitable<void> tell(std::shared_ptr<core> of, http_responder& to, running_watch& it) {
  co_await asio::this_coro::throw_if_cancelled(false);
  auto told = io_result<void>{};
  while (told) {
    // From here to the wait nothing else runs: a write is either seen now or rings.
    it.mine.expires_at(bell::time_point::max());
    auto piece = it.lines.next(watch_piece, of->time.wall());
    if (piece.empty() && it.lines.request().bookmarks && of->time.now() >= it.mark_at) {
      piece = it.lines.bookmark(of->time.wall());
      it.mark_at = of->time.now() + bookmark_every;
    }
    if (!piece.empty()) {
      told = co_await to.chunk(std::move(piece));
      continue;
    }
    if (it.lines.ended() || of->time.now() >= it.end)
      break;
    // A withdrawal that came while a piece was sent does not reach what is begun after it.
    auto early = co_await withdrawn();
    if (early)
      break;
    co_await wait_for(it.mine);
    auto late = co_await withdrawn();
    if (late)
      break;
    if (std::exchange(it.looks, false))
      told = co_await to.chunk(std::string{}); // fails when the client has gone
  }
  if (told)
    told = co_await to.end();
}

/// Wakes the watch for what is no write, for as long as it is let.
asio::awaitable<void> remind(std::shared_ptr<core> of, running_watch& it) {
  for (;;) {
    const auto now = of->time.now();
    auto until = now + peer_check;
    for (const auto at : {it.end, it.lines.request().bookmarks ? it.mark_at : it.end})
      if (at > now)
        until = std::min(until, at);
    co_await of->time.sleep_until(until);
    it.looks = true;
    it.mine.expires_at(bell::time_point::min());
  }
}

asio::awaitable<void> run_watch(std::shared_ptr<core> of, http_responder& to, watch_start start) {
  using namespace asio::experimental::awaitable_operators;
  if (of->watchers.size() >= of->options.watches) {
    co_await send(to, to_answer(too_many_requests()));
    co_return;
  }
  const auto lane = co_await asio::this_coro::executor;
  const auto now = of->time.now();
  const auto length =
    start.timeout ? std::chrono::duration_cast<std::chrono::seconds>(*start.timeout) : std::chrono::seconds{longest_watch};
  auto it = running_watch{store_watch{of->objects, std::move(start.request), &of->shown}, bell{lane}, now + length, now + bookmark_every};
  const auto listed = enlisted{of->watchers, it.mine};
  http_headers headers{{"Content-Type", "application/json"}};
  auto told = co_await to.begin(200, std::move(headers));
  auto late = co_await withdrawn();
  if (told && !late) [[maybe_unused]]
    auto ended = co_await (tell(of, to, it) || remind(of, it));
}

/// Whether a log may still grow: the pod is there and its container has not ended.
bool may_grow(const core& of, const log_request& what) {
  const auto pod = of.objects.get(*find_kind("", "v1", "pods"), what.name_space, what.pod);
  return what.follow && pod && may_write((*pod)->value(), what);
}

asio::awaitable<void> run_log(std::shared_ptr<core> of, http_responder& to, log_request what) {
  if (of->followed >= of->options.watches) {
    co_await send(to, to_answer(too_many_requests()));
    co_return;
  }
  auto reader = pod_log_reader::open(of->options.logs, what);
  if (!reader) {
    co_await send(to, to_answer(bad_request(reader.error())));
    co_return;
  }
  const auto count = std::shared_ptr<void>{(++of->followed, nullptr), [of](void*) { --of->followed; }};
  http_headers headers{{"Content-Type", "text/plain"}};
  auto told = co_await to.begin(200, std::move(headers));
  for (auto last = false; told;) {
    // What is written before the container has ended is told in any case.
    const auto grows = may_grow(*of, what) && !reader->ended();
    auto piece = reader->next(watch_piece);
    if (!piece.empty()) {
      told = co_await to.chunk(std::move(piece));
      continue;
    }
    if (!grows && std::exchange(last, true))
      break;
    auto early = co_await withdrawn();
    if (early)
      break;
    if (!what.follow)
      continue;
    co_await of->time.sleep_until(of->time.now() + log_check);
    auto late = co_await withdrawn();
    if (late)
      break;
    told = co_await to.chunk(std::string{});
  }
  if (told)
    told = co_await to.end();
}

/// Says nothing until the peer or the server has gone.
asio::awaitable<void> stay_silent(std::shared_ptr<core> of, http_responder& to) {
  for (;;) {
    co_await of->time.sleep_until(of->time.now() + 1s);
    auto late = co_await withdrawn();
    if (late)
      break;
    auto there = co_await to.chunk(std::string{});
    if (!there)
      break;
  }
  to.abort();
}

/// The body as far as the log may have it: nothing of one that may hold a token, and nothing of a Secret.
std::string loggable(const api_call& call) {
  const auto target = parse_target(call.target);
  const bool secret = !target || carries_token(call.target) || read_attributes(call.method, *target).resource == "secrets";
  return secret ? "[secret]" : call.body.substr(0, logged_body);
}

asio::awaitable<void> answer(std::shared_ptr<core> of, http_request what, http_responder& to) {
  const auto text = [&](std::string_view name) { return std::string{header(what.headers, name).value_or(std::string_view{})}; };
  auto call = api_call{what.method, what.target, text("Content-Type"), text("Accept"), std::move(what.body), {}, text("User-Agent")};
  auto certificate = std::optional<certificate_name>{};
  if (auto shown = to.peer())
    certificate = certificate_name{std::move(shown->common_name), std::move(shown->organizations), std::move(shown->fingerprint)};
  auto user = of->gate.who().user_of(certificate, text("Authorization"), of->objects, of->time.wall());
  call.user = user.value_or(user_info{});
  const auto entry = logged_request{++of->arrived, call.method, call.target, call.content_type, loggable(call), call.user.name};
  of->keep(entry);
  auto wrong = fault{};
  if (of->options.faults)
    wrong = of->options.faults(entry).value_or(fault{});
  if (wrong.delay > 0ms)
    co_await of->time.sleep_until(of->time.now() + wrong.delay);
  // -- who asks --
  auto got = outcome{};
  if (!user)
    got = to_answer(unauthorized());
  else if (wrong.commit || wrong.end == fault::ending::answer)
    got = co_await carry_out(of, call);
  // -- what it hears --
  if (wrong.end == fault::ending::close) {
    to.abort();
  } else if (wrong.end == fault::ending::silence) {
    co_await stay_silent(of, to);
  } else if (wrong.end == fault::ending::replace) {
    auto other = api_answer{wrong.status, std::move(wrong.headers), std::move(wrong.body)};
    co_await send(to, std::move(other));
  } else if (auto* ready = std::get_if<api_answer>(&got)) {
    co_await send(to, std::move(*ready));
  } else if (auto* log = std::get_if<log_request>(&got)) {
    auto wanted = std::move(*log);
    co_await run_log(of, to, std::move(wanted));
  } else {
    auto start = std::move(std::get<watch_start>(got));
    co_await run_watch(of, to, std::move(start));
  }
}

class server final : public api_server {
public:
  server(std::shared_ptr<core> of, std::unique_ptr<http_server> http) : of_(std::move(of)), http_(std::move(http)) {
  }
  std::uint16_t port() const override {
    return http_->port();
  }
  std::vector<logged_request> requests() const override {
    auto lock = std::lock_guard{of_->guard};
    return {of_->log.begin(), of_->log.end()};
  }
  void close(std::function<void()> closed) override {
    http_->close(std::move(closed));
  }

private:
  std::shared_ptr<core> of_;
  std::unique_ptr<http_server> http_;
};

} // namespace

tl::expected<std::unique_ptr<api_server>, std::string> make_api_server(asio::any_io_executor lane, flow_time& time,
                                                                       api_server_options options) {
  auto listen = options.http;
  // A body that is too large for an object still gets the API's own refusal.
  listen.bound.body = std::max(listen.bound.body, std::size_t{8} * 1024 * 1024);
  auto stored = std::exchange(options.stored, {});
  if (options.signing_key.empty())
    options.signing_key = secret{new_key()};
  auto of = std::make_shared<core>(time, std::move(options));
  if (auto taken = of->objects.restore(std::move(stored)); !taken)
    return tl::unexpected{taken.error()};
  if (auto made = of->objects.bootstrap(of->options.namespaces, time.wall()); !made)
    return tl::unexpected{"the namespaces cannot be made: " + made.error().message};
  if (auto ended = of->objects.finish_deletions(time.wall()); !ended)
    return tl::unexpected{"a deletion that was begun cannot be ended: " + ended.error().message};
  hold_definitions(of->objects, time.wall());
  if (auto made = of->gate.bootstrap(time.wall()); !made)
    return tl::unexpected{"the roles of every cluster cannot be made: " + made.error().message};
  auto http = make_http_server(std::move(lane), std::move(listen),
                               [of](http_request what, http_responder& to) { return answer(of, std::move(what), to); });
  if (!http)
    return tl::unexpected{http.error().text};
  return std::make_unique<server>(std::move(of), std::move(*http));
}

} // namespace paddock::embedded
