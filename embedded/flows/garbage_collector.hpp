#pragma once

#include "embedded/flows/reconciler.hpp"
#include "embedded/garbage_collector.hpp"

#include <functional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// The garbage collector: deletes objects all of whose owners are gone, and carries foreground deletions out. An owner that
/// no list knows is looked up before anything is deleted.
class garbage_collector final : public reconciler {
public:
  garbage_collector(control_client& client, std::vector<informer*> kinds, boost::asio::any_io_executor lane,
                    std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string uid) override;
  boost::asio::awaitable<owner_state> ask(nlohmann::json reference, std::string name_space);
  void changed(const object_change& change);
  [[nodiscard]] object_cache::object find(const std::string& uid) const;
  [[nodiscard]] std::vector<object_cache::object> dependants(const std::string& uid) const;

  control_client& client_;
  std::vector<informer*> all_;
};

} // namespace paddock::embedded
