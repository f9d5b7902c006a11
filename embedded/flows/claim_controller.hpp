#pragma once

#include "embedded/claim_controller.hpp"
#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"

#include <functional>
#include <map>
#include <string>

namespace paddock::embedded {

/// The SandboxClaim controller. A pass writes until the rule has nothing left to write, then reports.
class claim_controller final : public reconciler {
public:
  /// `home` is the namespace whose ConfigMap `agent-sandbox-config` names the domains of additional labels.
  claim_controller(control_client& client, informer_set& watched, std::string home, boost::asio::any_io_executor lane,
                   std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;
  boost::asio::awaitable<bool> settle(claim_view& seen, claim_write write, unsigned status);
  boost::asio::awaitable<bool> make_sure(std::string key);
  boost::asio::awaitable<bool> carry_out(claim_view& seen, claim_write write);
  boost::asio::awaitable<bool> report(claim_view& seen, claim_state state);
  [[nodiscard]] std::optional<claim_view> look(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> label_domains() const;
  void sandbox_changed(const object_change& change);
  void look_at_namespace(const std::string& name_space);

  control_client& client_;
  informer& claims_;
  informer& sandboxes_;
  informer& pools_;
  informer& templates_;
  informer& config_maps_;
  std::string home_;
  std::map<std::string, std::string> unsure_; // claim -> the Sandbox of which it is not known whether a write landed
};

} // namespace paddock::embedded
