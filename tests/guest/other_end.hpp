#pragma once

#include "tests/guest/agent_world.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>

// The agent's end of a connection, which the test's own process has as well.
namespace paddock::test {

/// The descriptor, or -1 when there is none.
inline int other_end(const raw_client& client) {
  auto mine = sockaddr_in{};
  auto size = socklen_t{sizeof mine};
  ::getsockname(client.fd(), reinterpret_cast<sockaddr*>(&mine), &size);
  for (auto fd = 3; fd < 1024; ++fd) {
    auto peer = sockaddr_in{};
    auto peer_size = socklen_t{sizeof peer};
    if (fd != client.fd() && ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 && peer.sin_family == AF_INET
        && peer.sin_port == mine.sin_port && peer.sin_addr.s_addr == mine.sin_addr.s_addr)
      return fd;
  }
  return -1;
}

/// Whether the agent, whose end is `end`, has read everything that `client` has sent.
inline bool all_read(const raw_client& client, int end) {
  auto unsent = 0;
  auto unread = 0;
  return ::ioctl(client.fd(), SIOCOUTQ, &unsent) == 0 && ::ioctl(end, FIONREAD, &unread) == 0 && unsent == 0 && unread == 0;
}

} // namespace paddock::test
