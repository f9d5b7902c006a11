// The parsers of /proc from bytes of anyone's choosing: the first byte chooses which. Besides not crashing: what a line says
// of its name is between its first and its last parenthesis, and a line written back from what was read is read the same.
#include "guest/proc.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string>
#include <string_view>

using namespace paddock::guest;
using paddock::require;

namespace {

std::string written(const proc_stat& x) {
  auto line = std::to_string(x.pid) + " (" + x.comm + ") " + x.state + " " + std::to_string(x.parent) + " " + std::to_string(x.group) + " "
              + std::to_string(x.session);
  for (auto i = 0; i < 13; ++i)
    line += " 0";
  return line + " " + std::to_string(x.threads) + " 0 " + std::to_string(x.start) + "\n";
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto text = std::string_view{reinterpret_cast<const char*>(data), size}.substr(1);
  if (data[0] % 2 == 1) {
    (void)read_real_uid(text);
    return 0;
  }
  const auto got = read_proc_stat(text);
  if (!got)
    return 0;
  require(got->pid > 0 && got->parent >= 0 && got->comm.size() <= 256);
  require(text.find("(" + got->comm + ") ") != std::string_view::npos);
  const auto again = read_proc_stat(written(*got));
  require(again.has_value());
  require(again->same_process(*got) && again->comm == got->comm && again->state == got->state && again->session == got->session);
  require(again->over() == got->over());
  return 0;
}
