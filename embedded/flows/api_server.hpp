#pragma once

#include "base/flows/http_server.hpp"
#include "base/flows/sleep.hpp"
#include "base/secret.hpp"
#include "embedded/fault.hpp"
#include "embedded/resource_service.hpp"
#include "embedded/store.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::embedded {

/// One request as it arrived. Never its token.
struct logged_request {
  std::uint64_t number = 0; // from 1, in the order of arrival
  std::string method;
  std::string target;
  std::string content_type;
  std::string body; // cut at 64 KiB
  std::string user; // empty: unknown
};

struct api_server_options {
  http_server_options http;
  std::vector<known_token> tokens;
  secret signing_key;                                            // of service accounts' tokens; empty: a random one
  std::vector<std::string> namespaces{"default", "kube-system"}; // made unless they exist
  journal_port* journal = nullptr;                               // outlives the server; null: objects live in memory only
  journal_image stored;                                          // what the journal held
  store_bounds bounds;
  std::size_t watches = 512;   // more are answered 429; the same for logs that are read
  std::filesystem::path logs;  // of the pods of this process (pod_log.hpp); empty: there are none
  bool cilium = false;         // serve Cilium's policies, too
  std::size_t log_entries = 0; // latest requests kept for `requests`; 0: none
  /// Asked once for each request, on the server's thread, before it is carried out.
  std::function<std::optional<fault>(const logged_request&)> faults;
};

/// The API server of the built-in cluster over HTTP: create, get, list, watch, replace, patch and delete of the kinds it
/// serves, to whom its roles and bindings allow it. Everything happens on one strand; a journal's disk is waited for there.
class api_server {
public:
  virtual ~api_server() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// The latest requests, oldest first. From any thread.
  [[nodiscard]] virtual std::vector<logged_request> requests() const = 0;
  /// Ends the watches and the server and calls `closed` once after the last request has ended.
  virtual void close(std::function<void()> closed) = 0;
};

/// Takes over what was stored, makes the namespaces and listens. The failure is a text for people. `time` outlives the
/// server.
[[nodiscard]] tl::expected<std::unique_ptr<api_server>, std::string> make_api_server(boost::asio::any_io_executor lane, flow_time& time,
                                                                                     api_server_options options);

} // namespace paddock::embedded
