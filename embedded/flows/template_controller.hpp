#pragma once

#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"
#include "embedded/template_controller.hpp"

#include <functional>
#include <string>

namespace paddock::embedded {

/// The SandboxTemplate controller: keeps each managed template's NetworkPolicy.
class template_controller final : public reconciler {
public:
  template_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                      std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;

  control_client& client_;
  informer& templates_;
  informer& policies_;
};

} // namespace paddock::embedded
