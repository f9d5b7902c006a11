#pragma once

#include "client/target.hpp"

#include <caf/timespan.hpp>

#include <memory>
#include <string>
#include <vector>

namespace paddock::cli {

struct guest_place {
  std::string host;
  std::uint16_t port = 0;
  std::string token; // empty: none
  caf::timespan budget{std::chrono::seconds{120}};
  std::string walker; // the guest's own program, for walks; empty: where the image has it
};

/// A guest itself, over the transport that a node uses, without a node.
class guest_target : public client::target {
public:
  struct health {
    bool ok = false;
    bool retiring = false;
    int protocol_version = 0;
    std::vector<std::string> features;
  };
  virtual tl::expected<health, problem> look() = 0;
};
[[nodiscard]] std::unique_ptr<guest_target> make_guest_target(guest_place where);

} // namespace paddock::cli
