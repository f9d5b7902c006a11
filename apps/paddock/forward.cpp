#include "apps/paddock/forward.hpp"

#include "apps/paddock/stream.hpp"

#include <iostream>

namespace paddock::cli {

int run_forward(const client::target& at, const arguments& args, const client::forwarded_ports& ports) {
  const auto forward = client::port_forward::listen(at, ports, [&](const problem& why) { print_problem(std::cerr, args.how(), why); });
  if (!forward)
    return refuse(args, forward.error());
  std::cout << "forwarding " << ports.address << ":" << (*forward)->port() << std::endl;
  const auto signals = interrupts{};
  (*forward)->run(signals.fd());
  return 0;
}

} // namespace paddock::cli
