#pragma once

#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"

#include <functional>
#include <string>

namespace paddock::embedded {

/// Keeps the ServiceAccount `default` in every namespace that stays.
class account_controller final : public reconciler {
public:
  account_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                     std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;

  control_client& client_;
  informer& namespaces_;
  informer& accounts_;
};

} // namespace paddock::embedded
