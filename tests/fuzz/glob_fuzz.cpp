// A pattern before the first line break, and paths after it. A plan is made of any pattern and arrives as it left, its
// automaton never stops above a path that matches, and nothing takes more than bounded time.

#include "guest/glob_paths.hpp"
#include "guest/walk_plan.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string>
#include <string_view>

using namespace paddock::guest;
using paddock::require;

namespace {

bool matches(glob_paths& paths, std::string_view path) {
  auto places = paths.start();
  for (;;) {
    auto slash = path.find('/');
    paths.take(path.substr(0, slash));
    if (slash == std::string_view::npos)
      return paths.matches(places);
    places = paths.below(places);
    path.remove_prefix(slash + 1);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 600)
    return 0;
  auto text = std::string_view{reinterpret_cast<const char*>(data), size}.substr(1);
  auto options = walk_options{};
  options.include_hidden = (data[0] & 1) != 0;
  options.max_entries = 1;
  auto end = text.find('\n');
  options.pattern = text.substr(0, end);
  auto plan = plan_walk("/r", options);
  if (!plan)
    return 0;
  auto again = read_walk_plan(walk_arguments(*plan)[1]);
  require(again && again->branches == plan->branches);
  auto all = glob_paths::compile(plan->branches, options.include_hidden);
  require(all.has_value());
  for (const auto& segment : all->leading())
    require(!segment.empty() && segment != "." && segment != ".." && segment.find('/') == std::string::npos);
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 1);
    end = text.find('\n');
    auto path = text.substr(0, end);
    auto expected = false;
    for (const auto& branch : plan->branches) {
      auto one = glob_paths::compile({branch}, options.include_hidden);
      require(one.has_value());
      expected = matches(*one, path) || expected;
    }
    require(matches(*all, path) == expected);
  }
  return 0;
}
