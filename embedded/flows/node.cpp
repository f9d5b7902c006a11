#include "embedded/flows/node.hpp"

#include "guest/flows/transport.hpp"

namespace paddock::embedded {

using namespace std::chrono_literals;

namespace {

std::unique_ptr<guest::host> make_guests(flow_time& time) {
  auto timing = guest::transport_options{};
  // The kubelet asks again by itself; a guest that does not listen yet is asked again soon.
  timing.connect_timeout = 1000ms;
  timing.retry_budget = 0ms;
  return guest::make_host(time, timing);
}

node_facts facts_of(const kubelet_options& options, const kubelet& its) {
  auto result = read_node_facts(options.node, options.folder);
  result.limits_fault = its.limits_fault();
  return result;
}

kubelet_options telling(kubelet_options options, event_recorder& events) {
  options.tell = [&events](const nlohmann::json& subject, happening what) { events.tell(subject, std::move(what)); };
  return options;
}

} // namespace

node::node(control_client& client, informer_set& watched, http_exchange& exchange, flow_time& time, boost::asio::any_io_executor lane,
           kubelet_options options) :
  guests_(make_guests(time)),
  events_(client, lane, {"kubelet", options.node}),
  kubelet_(client, watched.of(collections::pods), watched.of(collections::claims), exchange, *guests_, lane, telling(options, events_)),
  agent_(client, facts_of(options, kubelet_), options.log),
  flows_(lane) {
}

void node::start() {
  flows_.start([this] { return until_cancelled(events_.run()); });
  flows_.start([this] { return until_cancelled(kubelet_.run()); });
  flows_.start([this] { return until_cancelled(agent_.run()); });
}

void node::stop(std::function<void()> ended) {
  flows_.close([this, ended = std::move(ended)] { kubelet_.stop(ended); });
}

} // namespace paddock::embedded
