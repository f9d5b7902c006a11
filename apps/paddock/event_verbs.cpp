#include "apps/paddock/event_verbs.hpp"

#include "messages/error.hpp"

#include <future>
#include <iostream>
#include <memory>
#include <utility>

namespace paddock::cli {

namespace {

int follow(const client::remote_workspace& desk, const arguments& args, std::chrono::nanoseconds budget) {
  auto promise = std::make_shared<std::promise<problem>>();
  auto future = promise->get_future();
  auto over = [promise, told = std::make_shared<bool>(false)](const problem& why) {
    if (!std::exchange(*told, true))
      promise->set_value(why);
  };
  auto show = [how = args.how(), over](const workspace_event& x) {
    print_event(std::cout, how, x);
    std::cout.flush();
    if (!std::cout.good())
      over(make_problem(verdict::failed, "OutputFailed", "cannot write the output"));
  };
  const auto following = desk.follow({std::move(show), over});
  if (!args.timeout.empty() && future.wait_for(budget) != std::future_status::ready)
    return 0;
  return refuse(args, future.get());
}

} // namespace

int show_events(const client::remote_node& by, const arguments& args, std::chrono::nanoseconds budget) {
  const auto desk = by.workspace(args.id);
  if (args.follow)
    return follow(desk, args, budget);
  const auto got = desk.events();
  if (!got)
    return refuse(args, got.error());
  print_events(std::cout, args.how(), *got);
  return 0;
}

} // namespace paddock::cli
