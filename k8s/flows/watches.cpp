#include "k8s/flows/watches.hpp"

#include "base/flows/http.hpp"

#include <random>
#include <utility>

namespace paddock::k8s {

namespace asio = boost::asio;

namespace {

read_failure to_read_failure(const failure& x) {
  auto got = read_failure{0, std::nullopt, to_string(x)};
  if (const auto* credential = std::get_if<credential_failure>(&x))
    got.status = credential->status;
  else if (const auto* gone = std::get_if<already_gone>(&x))
    got.status = gone->status;
  else if (std::holds_alternative<conflict>(x))
    got.status = 409;
  else if (const auto* other = std::get_if<api_failure>(&x)) {
    got.status = other->status.value_or(0);
    got.retry_after = other->retry_after;
  }
  return got;
}

class api_source final : public watch_source {
public:
  api_source(streaming_api& over, const time_source& time, const projection& read) : over_(over), time_(time), read_(read) {
  }
  /// Of a page no more is made of its text than is read.
  asio::awaitable<tl::expected<nlohmann::json, read_failure>> page(call what, deadline until) override {
    auto text = std::make_shared<std::string>();
    auto take = std::function<bool(std::string_view)>{[text](std::string_view bytes) {
      text->append(bytes);
      return text->size() <= http_limits{}.body;
    }};
    auto got = co_await over_.stream(std::move(what), std::move(take), until.left(time_), until);
    if (!got)
      co_return tl::unexpected{to_read_failure(got.error())};
    if (text->size() > http_limits{}.body)
      co_return tl::unexpected{read_failure{0, std::nullopt, "a page of the list is too large"}};
    auto page = read_.read_list(*text);
    if (!page)
      co_return tl::unexpected{read_failure{0, std::nullopt, "a page of the list is no JSON"}};
    co_return std::move(*page);
  }
  asio::awaitable<tl::expected<void, read_failure>> stream(call what, std::function<bool(std::string_view)> on_bytes,
                                                           time_source::clock::duration silence, deadline until) override {
    auto got = co_await over_.stream(std::move(what), std::move(on_bytes), silence, until);
    if (!got)
      co_return tl::unexpected{to_read_failure(got.error())};
    co_return tl::expected<void, read_failure>{};
  }

private:
  streaming_api& over_;
  const time_source& time_;
  const projection& read_;
};

/// Trims what it hears and passes it on.
class teller final : public watch_listener {
public:
  teller(const projection& read, std::function<void(watch_news)> tell) : read_(read), tell_(std::move(tell)) {
  }
  kept keep(nlohmann::json object) override {
    return std::make_shared<const kept_object>(read_.of(object), kept_object::form::packed);
  }
  void listed(std::vector<kept> all, const std::string& version, bool anew) override {
    tell_(watch_listed{std::move(all), version, anew});
  }
  void told(watch_event::kind what, kept object) override {
    tell_(watch_told{what, std::move(object)});
  }
  void marked(const std::string& version) override {
    tell_(watch_marked{version});
  }
  void lost(const read_failure& why) override {
    tell_(watch_lost{why});
  }

private:
  const projection& read_;
  std::function<void(watch_news)> tell_;
};

asio::awaitable<void> run(std::shared_ptr<api_source> from, std::shared_ptr<teller> to, list_watch plan, flow_time& time) {
  co_await follow(*from, *to, std::move(plan), time);
}

class watches final : public watch_port {
public:
  watches(streaming_api& over, flow_time& time, flow_group& flows, list_watch::random chance, list_watch_options options) :
    over_(over), time_(time), flows_(flows), chance_(std::move(chance)), options_(std::move(options)) {
  }
  void start(ticket name, watched what, std::function<void(watch_news)> tell) override {
    auto how = options_;
    how.what = std::move(what.what);
    auto from = std::make_shared<api_source>(over_, time_, *what.read);
    auto to = std::make_shared<teller>(*what.read, std::move(tell));
    flows_.start(name, [this, from, to, how] { return run(from, to, list_watch{how, chance_}, time_); });
  }
  void stop(ticket name) override {
    flows_.cancel(name);
  }

private:
  streaming_api& over_;
  flow_time& time_;
  flow_group& flows_;
  list_watch::random chance_;
  list_watch_options options_;
};

} // namespace

std::unique_ptr<watch_port> make_watches(streaming_api& over, flow_time& time, flow_group& flows, list_watch::random chance,
                                         list_watch_options options) {
  return std::make_unique<watches>(over, time, flows, std::move(chance), std::move(options));
}

double real_chance() {
  thread_local auto engine = std::mt19937_64{std::random_device{}()};
  return std::uniform_real_distribution{}(engine);
}

} // namespace paddock::k8s
