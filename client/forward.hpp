#pragma once

#include "client/target.hpp"

#include <functional>
#include <memory>
#include <string>

namespace paddock::client {

struct forwarded_ports {
  std::string address = "127.0.0.1"; // on loopback
  std::uint16_t local = 0;           // 0: the kernel chooses
  std::uint16_t remote = 0;
};

/// A local port that is carried to one on the guest's loopback, connection by connection: 256 of them at most, the others wait.
class port_forward {
public:
  /// Listens. What would be refused to everybody is refused here, before anybody connects. `at` outlives the answer. `failed` hears
  /// of connections that could not be carried, on any thread.
  [[nodiscard]] static result<std::unique_ptr<port_forward>> listen(const target& at, const forwarded_ports& ports,
                                                                    std::function<void(const problem&)> failed);
  ~port_forward();
  port_forward(const port_forward&) = delete;
  port_forward& operator=(const port_forward&) = delete;

  /// The local port.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Accepts and carries until the file descriptor `stop` is readable. Then every connection is closed and its end awaited.
  void run(int stop);

private:
  struct state;
  explicit port_forward(std::unique_ptr<state> x);
  std::unique_ptr<state> state_;
};

} // namespace paddock::client
