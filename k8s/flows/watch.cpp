#include "k8s/flows/watch.hpp"

#include "base/flows/wire.hpp"
#include "k8s/objects.hpp"

#include <boost/asio/this_coro.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace paddock::k8s {

namespace asio = boost::asio;

namespace {

constexpr auto page_bound = std::chrono::seconds{30};

/// One list+watch that runs.
struct following {
  watch_source& from;
  watch_listener& to;
  flow_time& time;
  list_watch plan;
  std::vector<kept> pages; // of the list under way
};

void page_failed(following& it, const read_failure& why) {
  it.pages.clear();
  it.plan.page_failed(why);
  it.to.lost(why);
}

void take_page(following& it, list_page page) {
  for (auto& x : page.items)
    it.pages.push_back(it.to.keep(std::move(x)));
  const auto verdict = it.plan.page_came(page.version, page.more);
  if (verdict.what == list_watch::listing::goes_on)
    return;
  auto all = std::exchange(it.pages, {});
  if (verdict.what == list_watch::listing::whole)
    it.to.listed(std::move(all), it.plan.position(), verdict.anew);
  else
    it.to.lost({0, std::nullopt, "the pages of a list do not belong together, or are older than what is known"});
}

asio::awaitable<void> read_one_page(following& it, list_request what) {
  auto asked = to_call(what);
  auto got = co_await it.from.page(std::move(asked), deadline{it.time, page_bound});
  auto gone = co_await withdrawn();
  if (gone)
    co_return;
  if (!got) {
    page_failed(it, got.error());
    co_return;
  }
  auto page = read_page(std::move(*got));
  if (page)
    take_page(it, std::move(*page));
  else
    page_failed(it, {0, std::nullopt, page.error()});
}

/// The end of one watch that its decoder saw.
struct hearing {
  watch_decoder decoder;
  std::optional<watch_fault> fault;
};

/// False: enough.
bool hear(following& it, hearing& one, std::string_view bytes) {
  one.decoder.take(bytes);
  while (auto next = one.decoder.next()) {
    if (!*next) {
      one.fault = std::move(next->error());
      return false;
    }
    auto& event = **next;
    if (!it.plan.heard(event))
      continue;
    if (event.what == watch_event::kind::bookmark)
      it.to.marked(it.plan.position());
    else
      it.to.told(event.what, it.to.keep(std::move(event.object)));
  }
  return true;
}

asio::awaitable<void> watch_once(following& it, watch_step how) {
  auto one = std::make_shared<hearing>();
  auto asked = to_call(how.what);
  // Named, and not made within the expression that waits: gcc 12 destroys such a closure twice.
  auto take = std::function<bool(std::string_view)>{[&it, one](std::string_view bytes) { return hear(it, *one, bytes); }};
  const auto began = it.time.now();
  auto end = co_await it.from.stream(std::move(asked), std::move(take), how.silence, deadline{it.time, how.whole});
  auto gone = co_await withdrawn();
  if (gone)
    co_return;
  const auto lasted = it.time.now() - began;
  if (one->fault) {
    it.plan.watch_failed(*one->fault);
    it.to.lost({0, std::nullopt, to_string(*one->fault)});
  } else if (!end) {
    it.plan.watch_failed(end.error(), lasted);
    it.to.lost(end.error());
  } else if (!it.plan.watch_ended(lasted)) {
    it.to.lost({0, std::nullopt, "the watch ended at once"});
  }
}

} // namespace

asio::awaitable<void> follow(watch_source& from, watch_listener& to, list_watch plan, flow_time& time) {
  auto it = following{from, to, time, std::move(plan), {}};
  for (;;) {
    auto gone = co_await withdrawn();
    if (gone)
      co_return;
    auto step = it.plan.next();
    if (const auto* pause = std::get_if<pause_step>(&step))
      co_await time.sleep_until(time.now() + pause->length);
    else if (auto* list = std::get_if<list_step>(&step))
      co_await read_one_page(it, std::move(list->what));
    else
      co_await watch_once(it, std::get<watch_step>(std::move(step)));
  }
}

} // namespace paddock::k8s
