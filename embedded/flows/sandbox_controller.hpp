#pragma once

#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"
#include "embedded/sandbox_controller.hpp"

#include <functional>
#include <string>

namespace paddock::embedded {

/// The Sandbox controller: one pass a Sandbox whenever it or a child of it changes. What a pass could not do stands in the
/// Sandbox's Ready condition.
class sandbox_controller final : public reconciler {
public:
  sandbox_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                     std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;
  [[nodiscard]] std::optional<sandbox_view> look(const std::string& key) const;
  void child_changed(const object_change& change);
  void took(const sandbox_write& write, const nlohmann::json& answer);

  control_client& client_;
  informer& sandboxes_;
  informer& pods_;
  informer& services_;
  informer& claims_;
};

} // namespace paddock::embedded
