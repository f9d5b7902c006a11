#pragma once

#include "embedded/claim_protection.hpp"
#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"

#include <functional>

namespace paddock::embedded {

/// Protects claims in use: each gets a finalizer, which is taken off when it terminates and no pod uses it.
class claim_protector final : public reconciler {
public:
  claim_protector(control_client& client, informer_set& watched, boost::asio::any_io_executor lane, std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;
  void pod_changed(const object_change& change);

  control_client& client_;
  informer& pods_;
  informer& claims_;
};

} // namespace paddock::embedded
