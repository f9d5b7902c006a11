#include "embedded/flows/reconciler.hpp"

#include "embedded/pod_facts.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace paddock::embedded {

using namespace std::chrono_literals;

reconciler::reconciler(boost::asio::any_io_executor lane, std::vector<informer*> needs, std::function<void(std::string)> log) :
  needs_(std::move(needs)), queue_(std::move(lane)), log_(std::move(log)) {
  for (auto* x : needs_)
    x->on_listed([this] { lists_taken(); });
}

void reconciler::look_at(std::string key) {
  if (listed())
    queue_.push(std::move(key));
  else
    early_.insert(std::move(key));
}

void reconciler::lists_taken() {
  if (listed())
    for (const auto& key : std::exchange(early_, {}))
      queue_.push(key);
}

void reconciler::complain(const std::string& key, const std::string& text) {
  auto& said = said_[key];
  if (said == text)
    return;
  said = text;
  if (log_)
    log_(key + ": " + text);
}

/// A pass that throws is one that left something undone.
boost::asio::awaitable<reconciler::outcome> reconciler::careful_pass(std::string key) {
  try {
    co_return co_await pass(key);
  } catch (const boost::system::system_error& x) {
    if (x.code() == boost::asio::error::operation_aborted)
      throw;
    complain(key, x.what());
  } catch (const std::exception& x) {
    complain(key, x.what());
  }
  co_return outcome{false};
}

bool reconciler::listed() const {
  return std::all_of(needs_.begin(), needs_.end(), [](const auto* x) { return x->listed(); });
}

boost::asio::awaitable<void> reconciler::run() {
  for (;;) {
    auto key = co_await queue_.pop();
    if (key.empty())
      co_return;
    auto end = co_await careful_pass(key);
    if (!end.done) {
      queue_.push_after(key, waits_.try_emplace(key, 100ms, 30s).first->second.next());
      continue;
    }
    waits_.erase(key);
    said_.erase(key);
    if (end.revisit)
      queue_.push_after(key, std::min<time_source::clock::duration>(*end.revisit, 24h));
  }
}

std::string key_of(const nlohmann::json& object) {
  return namespace_of(object) + "/" + name_of(object);
}

std::pair<std::string, std::string> split_key(const std::string& key) {
  auto slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

} // namespace paddock::embedded
