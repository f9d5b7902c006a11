#include "embedded/flows/list_watch.hpp"

#include "k8s/flows/watches.hpp"

namespace paddock::embedded {

namespace {

using namespace std::chrono_literals;

/// The server is in the same process or nearby: a watch is long, and what fails is tried again soon.
k8s::list_watch_options options_for(const std::string& path) {
  auto how = k8s::list_watch_options{};
  how.what.collection = path;
  how.watch_for = 300s;
  how.longest_pause = 5s;
  return how;
}

/// The API server as the informers read it.
class control_source final : public k8s::watch_source {
public:
  explicit control_source(control_client& client) : client_(client) {
  }
  boost::asio::awaitable<tl::expected<nlohmann::json, k8s::read_failure>> page(k8s::call what, deadline) override {
    auto got = co_await client_.send(std::move(what));
    if (!got)
      co_return tl::unexpected{failure_of(got.error())};
    co_return std::move(*got);
  }
  boost::asio::awaitable<tl::expected<void, k8s::read_failure>> stream(k8s::call what, std::function<bool(std::string_view)> on_bytes,
                                                                       time_source::clock::duration silence, deadline until) override {
    auto got = co_await client_.stream(std::move(what), std::move(on_bytes), silence, until);
    if (!got)
      co_return tl::unexpected{failure_of(got.error())};
    co_return tl::expected<void, k8s::read_failure>{};
  }

private:
  static k8s::read_failure failure_of(const call_failure& x) {
    return {x.status, std::nullopt, x.message};
  }
  control_client& client_;
};

} // namespace

informer::informer(control_client& client, std::string path, std::function<void(std::string)> log) :
  client_(client), path_(std::move(path)), log_(std::move(log)) {
}

void informer::on_change(listener hear) {
  listeners_.push_back(std::move(hear));
}

void informer::on_listed(std::function<void()> hear) {
  on_listed_.push_back(std::move(hear));
}

void informer::took(nlohmann::json answer) {
  tell(cache_.took(std::move(answer)));
}

void informer::tell(const std::vector<object_change>& all) {
  for (const auto& change : all)
    for (const auto& hear : listeners_)
      hear(change);
}

k8s::kept informer::keep(nlohmann::json object) {
  return object_cache::keep(std::move(object));
}

void informer::listed(std::vector<k8s::kept> all, const std::string& version, bool anew) {
  auto changes = cache_.replace(std::move(all), version, anew);
  listed_ = true;
  tell(changes);
  for (const auto& hear : std::exchange(on_listed_, {}))
    hear();
}

void informer::told(k8s::watch_event::kind what, k8s::kept object) {
  tell(cache_.apply(what, std::move(object)));
}

void informer::marked(const std::string& version) {
  cache_.advance(version);
}

void informer::lost(const k8s::read_failure& why) {
  // A kind that is not served has no objects; it may be served later. One whose objects are known is served: it is the answer that
  // went astray, and they stay.
  if (why.status == 404 && cache_.all().empty())
    listed({}, cache_.version(), true);
  else if (why.status != 0)
    log_(path_ + ": " + why.text);
}

boost::asio::awaitable<void> informer::run() {
  auto source = control_source{client_};
  auto plan = k8s::list_watch{options_for(path_), k8s::real_chance};
  co_await k8s::follow(source, *this, std::move(plan), client_.time());
}

} // namespace paddock::embedded
