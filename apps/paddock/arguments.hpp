#pragma once

#include "apps/paddock/print.hpp"
#include "client/forward.hpp"
#include "config/duration.hpp"
#include "messages/problem.hpp"

#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::cli {

/// The words of one run, as CLI11 fills them in. A verb reads its own.
struct arguments {
  std::string node;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_ca;
  std::string output = "table";
  std::string timeout; // empty: two minutes, and for exec as long as the command may take
  std::string id;      // of a workspace
  std::string template_name;
  std::optional<std::string> expect_uid;
  std::vector<std::string> expect_claims; // NAME=UID
  std::string stored_epoch;
  std::string sandbox_uid;
  bool by_id = false;
  bool refresh_template = false;
  bool no_flush = false;
  bool with_quiesce = false;
  bool delete_disk = false;
  bool yes = false;
  bool follow = false;
  // -- of the guest verbs -------
  std::string pin; // a file
  bool with_input = false;
  bool with_terminal = false;
  bool detach = false;
  std::string execution;
  std::string directory;
  std::vector<std::string> environment;
  std::string limit;
  std::vector<std::string> command;
  std::uint64_t from = 0;
  std::string session;
  bool attach = false;
  std::string kill;
  std::string start;
  std::string signal;
  std::string source;
  std::string destination;
  bool recursive = false;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> length;
  std::string pattern = "**/*";
  std::uint64_t max_entries = 10'000;
  std::uint64_t max_visited = 1'000'000;
  std::optional<std::uint64_t> depth;
  bool hidden = false;
  std::string ports; // LOCAL:REMOTE
  bool only_if_idle = false;
  std::string grace;
  std::string bound;
  // -- of `task` ----------------
  std::string pool;
  std::string selector;
  // -- of `guest` ---------------
  std::string address;
  std::string token_file;
  std::string walker;
  bool no_hosts = false; // of `policy set`; its hosts are `granted_hosts`
  // -- of the verbs without a node
  std::string egress_file;
  std::string name_space;
  std::string object_name;
  std::string labels;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> owners; // [claim/]NAME=UID
  std::vector<std::string> granted_hosts;
  std::string engine;
  std::uint16_t agent_port = 1024;
  std::string kubeconfig;
  std::string context;
  std::vector<std::string> manifests;
  // -----------------------------
  std::string shell; // of `completion`

  [[nodiscard]] format how() const {
    return output == "json" ? format::json : output == "name" ? format::name : format::table;
  }
};

/// Prints `x` on stderr, on a terminal with what to do about it, and gives the exit code that it means.
int refuse(const arguments& args, const problem& x);
/// The caller's mistake: exit code 2, reason `Usage`.
int misuse(const arguments& args, const std::string& text);

/// `ID:PATH`, or nothing for a local path. A path with a slash before its colon is local.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> remote_path(const std::string& text);

/// `LOCAL:REMOTE`, `ADDRESS:LOCAL:REMOTE` or one number for both; the address is on loopback, and the local port may be 0.
[[nodiscard]] std::optional<client::forwarded_ports> parse_forward(const std::string& text);

/// What `paddock identity ID -o json` prints, as a pin. A failure says what is wrong with the text.
[[nodiscard]] tl::expected<pin_spec, std::string> parse_pin(const std::string& text);

/// A duration above zero, or a word for people about `option`.
[[nodiscard]] tl::expected<std::chrono::milliseconds, std::string> duration_of(const std::string& option, const std::string& text);

/// KEY=VALUE, as often as there are; a failure names the one that is not, and says that `option` wants `form`.
[[nodiscard]] tl::expected<std::map<std::string, std::string>, std::string> pairs_of(const char* option, const char* form,
                                                                                     const std::vector<std::string>& all);
[[nodiscard]] tl::expected<std::map<std::string, std::string>, std::string> environment_of(const std::vector<std::string>& all);

} // namespace paddock::cli
