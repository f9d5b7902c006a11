#include "apps/paddock/policy_verbs.hpp"

#include <iostream>

namespace paddock::cli {

namespace {

int show(const arguments& args, const client::result<policy_view>& got) {
  if (!got)
    return refuse(args, got.error());
  print_policy(std::cout, args.how(), *got);
  return 0;
}

} // namespace

bool policy_verbs::parsed() const {
  return set->parsed() || clear->parsed() || show->parsed();
}

policy_verbs add_policy_verbs(CLI::App& on, arguments& args) {
  auto* group = on.add_subcommand("policy", "What one workspace may reach beside what the node is configured to let all reach");
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* text) {
    auto* verb = group->add_subcommand(name, text);
    verb->add_option("ID", args.id, "The workspace")->required();
    return verb;
  };
  policy_verbs out;
  out.set = add("set", "Let it reach these hosts, instead of those of before");
  out.set->add_option("HOST", args.granted_hosts, "api.example.com, or .example.com for that name and those one label below it");
  out.set->add_flag("--none", args.no_hosts, "No host: the same as `policy clear`");
  out.clear = add("clear", "Take away what was granted");
  out.show = add("show", "Show what stands in the cluster; wakes nothing");
  return out;
}

int run_policy(const policy_verbs& verbs, const client::remote_node& by, const arguments& args) {
  const auto desk = by.workspace(args.id);
  if (verbs.show->parsed())
    return show(args, desk.policy());
  if (verbs.set->parsed() && args.granted_hosts.empty() != args.no_hosts)
    return misuse(args, "policy set wants one host or more, or --none");
  return show(args, desk.set_policy(args.granted_hosts));
}

} // namespace paddock::cli
