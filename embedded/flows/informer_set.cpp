#include "embedded/flows/informer_set.hpp"

#include "embedded/flows/work_queue.hpp"

namespace paddock::embedded {

informer_set::informer_set(control_client& client, boost::asio::any_io_executor lane, std::function<void(std::string)> log) :
  client_(client), log_(std::move(log)), flows_(std::move(lane)) {
}

informer& informer_set::of(const std::string& path) {
  auto& slot = all_[path];
  if (!slot)
    slot = std::make_unique<informer>(client_, path, log_);
  return *slot;
}

void informer_set::start() {
  for (const auto& [path, x] : all_)
    flows_.start([one = x.get()] { return until_cancelled(one->run()); });
}

void informer_set::close(std::function<void()> ended) {
  flows_.close(std::move(ended));
}

} // namespace paddock::embedded
