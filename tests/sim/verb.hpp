#pragma once

#include "k8s/fenced_write.hpp"
#include "workspace/session.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::sim {

enum class verb_kind { open, take_up, suspend, resume, remove };
[[nodiscard]] const char* to_string(verb_kind x);

/// One verb of one host: what it was given, and what is known of it from outside. Requests of it may arrive after its end.
struct verb {
  verb_kind kind = verb_kind::open;
  std::string host;               // the slot, over all its lives
  int life = 0;                   // which life of the host
  std::uint64_t order = 0;        // among the verbs of the slot
  std::uint64_t term = 0;         // of the host
  std::uint64_t stored_epoch = 0; // when it began
  workspace::session before;
  // -- what it has heard --
  std::optional<std::string> uid; // of the object that it is about
  std::optional<k8s::reading> first;
  std::optional<k8s::operating_mode> mode; // of the last reading
  bool slept = false;                      // some reading said Suspended
  struct seen_pod {
    std::string owner;
    bool ending = false;
  };
  std::map<std::string, seen_pod> pods; // by uid, as read last
  bool overlapped = false;              // other requests of the host ran meanwhile
  // -- what became of its writes --
  int writes = 0; // sent
  int unknown = 0;
  int wake_ups = 0; // applied
  int suspends = 0;
  bool made = false;
  bool deleted = false;
  struct probed_pod {
    std::string uid;
    std::string owner;
  };
  std::vector<probed_pod> probed; // where its commands ran
  bool over = false;
};
using shared_verb = std::shared_ptr<verb>;

} // namespace paddock::sim
