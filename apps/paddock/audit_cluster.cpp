#include "apps/paddock/audit_cluster.hpp"

#include <cstdlib>

namespace paddock::cli {

namespace {

std::unique_ptr<k8s::streaming_api> make_api(http_exchange& over, const time_source& time, k8s::cluster_access access) {
  auto how = k8s::api_client_options{};
  how.server = std::move(access.server);
  how.base_path = std::move(access.base_path);
  how.credentials = std::move(access.credentials);
  return std::move(k8s::make_api_client(over, time, std::move(how)).value());
}

} // namespace

audit_cluster::audit_cluster(k8s::cluster_access access, std::chrono::nanoseconds budget) :
  exchange_(make_http_exchange(time_)),
  api_(make_api(*exchange_, time_, std::move(access))),
  on_{*api_, time_},
  until_{time_, std::chrono::duration_cast<time_source::clock::duration>(budget)} {
}

tl::expected<k8s::cluster_access, std::string> access_for_audit(const std::string& kubeconfig, const std::string& context) {
  if (!kubeconfig.empty())
    return k8s::read_kubeconfig(kubeconfig, context);
  if (const auto* files = std::getenv("KUBECONFIG"); files != nullptr && *files != '\0')
    return k8s::read_kubeconfigs(files, context);
  return tl::unexpected{std::string{"neither files nor a cluster are named: give some, or --kubeconfig, or set KUBECONFIG"}};
}

} // namespace paddock::cli
