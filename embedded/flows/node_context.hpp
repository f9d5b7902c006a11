#pragma once

#include "base/flows/flow_group.hpp"
#include "base/flows/http.hpp"
#include "embedded/flows/address_book.hpp"
#include "embedded/flows/cgroup.hpp"
#include "embedded/flows/disk_store.hpp"
#include "embedded/flows/event_recorder.hpp"
#include "embedded/flows/list_watch.hpp"
#include "embedded/kubelet.hpp"
#include "guest/flows/host.hpp"

#include <filesystem>
#include <functional>
#include <set>
#include <string>

namespace paddock::embedded {

struct kubelet_options {
  std::string node = embedded_node;
  std::filesystem::path folder; // gets disks/ logs/ pods/ trash/
  std::filesystem::path guest_program;
  std::string family; // of its processes
  bool sweep = true;  // at the start, remove disks whose claim is not in the list: only in a folder that is the cluster's own
  std::function<void(std::string)> log;
  teller tell = [](const nlohmann::json&, const happening&) {};
};

/// What the pods of one node share.
struct node_context {
  control_client& client;
  informer& pods;
  informer& claims;
  http_exchange& exchange; // of probes
  guest::host& guests;
  boost::asio::any_io_executor lane; // of one thread, which starts the processes
  kubelet_options options;
  address_book addresses;
  disk_store disks;
  cgroup_tree cgroups;
  std::multiset<std::filesystem::path> logs_in_use; // folders of pods
  flow_group flows;                                 // the last to be made, the first to go

  [[nodiscard]] flow_time& time() const noexcept {
    return client.time();
  }
};

} // namespace paddock::embedded
