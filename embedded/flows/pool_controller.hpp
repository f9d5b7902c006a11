#pragma once

#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"
#include "embedded/pool_controller.hpp"

#include <functional>
#include <string>

namespace paddock::embedded {

/// The SandboxWarmPool controller.
class pool_controller final : public reconciler {
public:
  pool_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane, std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;
  [[nodiscard]] std::optional<pool_view> look(const std::string& key) const;

  control_client& client_;
  informer& pools_;
  informer& templates_;
  informer& sandboxes_;
};

} // namespace paddock::embedded
