#pragma once

// A cluster behind the ports that is left out: it answers every verb at once, an open with a session as large as a real one.

#include "workspace/ports.hpp"

#include <fstream>
#include <malloc.h>
#include <unistd.h>

namespace paddock::bench {

/// A session with everything that a bound one holds.
inline workspace::session session_of(const workspace::id& which) {
  workspace::session out;
  out.at = workspace::state::running;
  out.from = workspace::origin::created;
  out.epoch = 1'048'577;
  out.sandbox = sandbox_uid{"5e2c7a10-94bd-4c3f-a1d8-" + which.text()};
  out.pod = pod_uid{"b7c1e0a4-52d3-4f8e-8a16-" + which.text()};
  out.boot = guest_boot_id{"3f0a9d62-7b1c-4e55-9d3a-" + which.text()};
  out.claims.emplace("workspace", claim_uid{"c81d40ee-15f7-4b2a-b0a9-" + which.text()});
  out.claims_read = true;
  out.revision = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  out.template_name = "default";
  out.guest = guest::endpoint{"127.64.10.20", 1024, secret{out.pod->text()}};
  return out;
}

class instant_transitions final : public workspace::transitions_port {
public:
  void open(workspace::ticket, workspace::id which, workspace::open_options, workspace::session, deadline,
            then<workspace::opened> to) override {
    to({session_of(which), workspace::opened{}});
  }
  void take_up(workspace::ticket, workspace::id which, workspace::session, deadline, then<workspace::done> to) override {
    to({session_of(which), workspace::done{}});
  }
  void suspend(workspace::ticket, workspace::id, workspace::suspend_options, workspace::session before, deadline,
               then<workspace::done> to) override {
    to({std::move(before), workspace::done{}});
  }
  void resume(workspace::ticket, workspace::id, workspace::open_options, workspace::session before, deadline,
              then<workspace::opened> to) override {
    to({std::move(before), workspace::opened{}});
  }
  void remove(workspace::ticket, workspace::id, workspace::remove_options, workspace::session before, deadline,
              then<workspace::done> to) override {
    to({std::move(before), workspace::done{}});
  }
  void reset_epoch(workspace::ticket, workspace::id, workspace::epoch_reset, workspace::session before, deadline,
                   then<workspace::done> to) override {
    to({std::move(before), workspace::done{}});
  }
  void stamp(workspace::ticket, workspace::id, workspace::session before, deadline, then<workspace::stamped> to) override {
    to({std::move(before), workspace::stamped{}});
  }
  void refresh(workspace::ticket, workspace::id, workspace::session before, deadline, then<workspace::done> to) override {
    to({std::move(before), workspace::done{}});
  }
  void reread(workspace::ticket, workspace::id, workspace::session, deadline,
              std::function<void(workspace::result<std::optional<workspace::found_pod>>)> to) override {
    to(std::optional<workspace::found_pod>{});
  }
  void explain(workspace::ticket, workspace::id, std::string, workspace::session before, workspace::failure, deadline,
               then<workspace::done> to) override {
    to({std::move(before), workspace::done{}});
  }
  void cancel(workspace::ticket) override {
  }
  void saw(workspace::ticket, k8s::sighting) override {
  }
};

class no_inventory final : public workspace::inventory_port {
public:
  void list(deadline, std::function<void(workspace::result<std::vector<workspace::summary>>)>) override {
  }
  void get(workspace::id, deadline, std::function<void(workspace::result<workspace::summary>)>) override {
  }
};

class no_guests final : public workspace::guest_port {
public:
  void start(workspace::ticket, guest::endpoint, workspace::guest_job, deadline, workspace::call_events) override {
  }
  void ask(workspace::ticket, guest::endpoint, workspace::question, deadline,
           std::function<void(workspace::result<workspace::reply>)>) override {
  }
  void grant(workspace::ticket, std::size_t) override {
  }
  void input(workspace::ticket, std::vector<std::byte>, bool) override {
  }
  void steer(workspace::ticket, workspace::steering) override {
  }
  void move(workspace::ticket, std::optional<guest::endpoint>) override {
  }
  void cancel(workspace::ticket) override {
  }
};

/// Of this process, once what is free has been given back.
inline std::uint64_t resident_bytes() {
  ::malloc_trim(0);
  std::ifstream in{"/proc/self/statm"};
  std::uint64_t size = 0;
  std::uint64_t pages = 0;
  in >> size >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace paddock::bench
