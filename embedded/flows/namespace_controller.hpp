#pragma once

#include "embedded/flows/informer_set.hpp"
#include "embedded/flows/reconciler.hpp"
#include "embedded/namespace_end.hpp"

#include <functional>
#include <string>

namespace paddock::embedded {

/// Ends namespaces: deletes what a terminating one holds, of every kind that the server serves, and lets it go when nothing is
/// left.
class namespace_controller final : public reconciler {
public:
  namespace_controller(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                       std::function<void(std::string)> log);

private:
  boost::asio::awaitable<outcome> pass(std::string key) override;
  struct emptied {
    std::size_t found = 0;
    std::size_t deleted = 0; // of those, now
  };
  boost::asio::awaitable<tl::expected<emptied, call_failure>> empty(std::string path);
  boost::asio::awaitable<tl::expected<std::vector<std::string>, call_failure>> collections_of(std::string name_space);

  control_client& client_;
  informer& namespaces_;
};

} // namespace paddock::embedded
