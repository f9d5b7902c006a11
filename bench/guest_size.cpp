// guest_size: resident memory of an idle agent that has served a command, and the size of its program as it is shipped, stripped.

#include "bench/guest_process.hpp"
#include "bench/report.hpp"

namespace {

using namespace paddock;
using namespace paddock::bench;
using namespace std::chrono_literals;

class no_output final : public guest::output_sink {
public:
  boost::asio::awaitable<void> take(guest::stream, std::string) override {
    co_return;
  }
};

boost::asio::awaitable<guest::result<guest::execution>> run(guest::host& by, guest::endpoint where, deadline until) {
  no_output output;
  auto what = guest::command{};
  what.program = "true";
  co_return co_await by.execute(std::move(where), std::move(what), output, nullptr, until);
}

} // namespace

int main() {
  auto agent = guest_process{};
  auto host = lane{};
  good(host.run(run(*host.guests.commands, agent.where(), host.in(30s))));
  report("guest_idle_memory", static_cast<double>(status_kib(agent.pid(), "VmRSS")) / 1024, "MiB", 4);
  const auto folder = temporary_folder{};
  const auto stripped = (folder.path() / "paddock-guest").string();
  const auto command = "strip -o '" + stripped + "' '" + (own_folder() / "paddock-guest").string() + "'";
  if (std::system(command.c_str()) != 0)
    give_up("strip");
  report("guest_program_size", static_cast<double>(std::filesystem::file_size(stripped)) / (1024 * 1024), "MiB", 3);
}
