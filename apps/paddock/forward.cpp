#include "apps/paddock/forward.hpp"

#include "apps/paddock/stream.hpp"

#include <iostream>
#include <sys/eventfd.h>
#include <unistd.h>

namespace paddock::cli {

int run_forward(const client::target& at, const arguments& args, const client::forwarded_ports& ports) {
  const auto forward = client::port_forward::listen(at, ports, [&](const problem& why) { print_problem(std::cerr, args.how(), why); });
  if (!forward)
    return refuse(args, forward.error());
  std::cout << "forwarding " << ports.address << ":" << (*forward)->port() << std::endl;
  auto signals = interrupts{};
  const auto stop = ::eventfd(0, EFD_CLOEXEC);
  run_stoppable(
    signals, [&] { (*forward)->run(stop); }, [&] { ::eventfd_write(stop, 1); });
  ::close(stop);
  return 0;
}

} // namespace paddock::cli
