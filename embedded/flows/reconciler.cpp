#include "embedded/flows/reconciler.hpp"

#include "embedded/pod_facts.hpp"

namespace paddock::embedded {

using namespace std::chrono_literals;

reconciler::reconciler(boost::asio::any_io_executor lane, std::vector<informer*> needs) :
  needs_(std::move(needs)), queue_(std::move(lane)) {
}

void reconciler::look_at(std::string key) {
  queue_.push(std::move(key));
}

bool reconciler::listed() const {
  return std::all_of(needs_.begin(), needs_.end(), [](const auto* x) { return x->listed(); });
}

boost::asio::awaitable<void> reconciler::run() {
  for (;;) {
    auto key = co_await queue_.pop();
    if (key.empty())
      co_return;
    if (!listed()) {
      queue_.push_after(key, 20ms);
      continue;
    }
    auto end = co_await pass(key);
    if (!end.done) {
      queue_.push_after(key, waits_.try_emplace(key, 100ms, 30s).first->second.next());
      continue;
    }
    waits_.erase(key);
    if (end.revisit)
      queue_.push_after(key, *end.revisit);
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
