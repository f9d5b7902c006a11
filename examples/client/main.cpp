// run-in-workspace HOST PORT ID COMMAND ARG...: opens a workspace, runs a command in it, prints what it writes, suspends the workspace, and
// ends with the code of the command.

#include <cstdlib>
#include <iostream>
#include <paddock/client/node.hpp>
#include <paddock/client/run.hpp>

namespace {

using namespace paddock;

int refused(const char* verb, const problem& why) {
  std::cerr << verb << ": " << why.reason << ": " << why.message << '\n';
  // "Nobody knows whether it happened" is never to be taken for a failure.
  return why.how == verdict::unknown ? 4 : 1;
}

void print(int which, std::span<const std::byte> piece) {
  auto& to = which == 2 ? std::cerr : std::cout;
  to.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size())).flush();
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: run-in-workspace HOST PORT ID COMMAND ARG...\n";
    return 2;
  }
  auto how = client::options{};
  how.host = argv[1];
  how.port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  const auto node = client::remote_node::connect(how);
  if (!node)
    return refused("connect", node.error());

  const auto desk = node->workspace(argv[3]);
  const auto opened = desk.open();
  if (!opened)
    return refused("open", opened.error());
  std::cerr << opened->origin << " " << opened->view.workspace << '\n';

  auto command = run_spec{};
  command.program = argv[4];
  command.arguments.assign(argv + 5, argv + argc);
  auto through = client::streams{};
  through.output = print;
  const auto end = client::run(desk, command, through);
  if (!end)
    return refused("run", end.error());

  const auto suspended = desk.suspend();
  if (!suspended)
    return refused("suspend", suspended.error());
  std::cerr << suspended->state << '\n';
  return end->exit_code;
}
