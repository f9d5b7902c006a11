#include "embedded/flows/controllers.hpp"

#include "embedded/flows/account_controller.hpp"
#include "embedded/flows/claim_controller.hpp"
#include "embedded/flows/claim_protection.hpp"
#include "embedded/flows/garbage_collector.hpp"
#include "embedded/flows/namespace_controller.hpp"
#include "embedded/flows/pool_controller.hpp"
#include "embedded/flows/sandbox_controller.hpp"
#include "embedded/flows/scheduler.hpp"
#include "embedded/flows/template_controller.hpp"
#include "embedded/resource.hpp"

namespace paddock::embedded {

namespace names = controller_names;

namespace {

/// Every kind that owns or is owned.
std::vector<informer*> owned_kinds(informer_set& watched) {
  std::vector<informer*> result;
  for (const auto& x : served_kinds())
    if (x.collected)
      result.push_back(&watched.of((x.group.empty() ? "/api/" : "/apis/") + x.api_version() + "/" + std::string{x.plural}));
  return result;
}

} // namespace

std::set<std::string> all_controllers() {
  auto result = controllers_beside_a_manager();
  result.insert({names::garbage, names::protection, names::name_space, names::account});
  return result;
}

std::set<std::string> controllers_beside_a_manager() {
  return {names::sandbox, names::claim, names::pool, names::template_, names::scheduler};
}

controllers::controllers(control_client& client, informer_set& watched, boost::asio::any_io_executor lane,
                         const controllers_options& options) :
  lane_(lane), flows_(lane) {
  auto wanted = [&](const char* name) { return options.run.contains(name); };
  // Each says its name.
  auto log = [&](const char* name) {
    return std::function<void(std::string)>{[say = options.log, name](std::string line) {
      if (say)
        say(std::string{"controller "} + name + ": " + line);
    }};
  };
  if (wanted(names::sandbox))
    add(client, std::make_unique<sandbox_controller>(client, watched, lane, log(names::sandbox)), "sandbox-controller");
  if (wanted(names::claim))
    add(client, std::make_unique<claim_controller>(client, watched, options.home, lane, log(names::claim)), "sandboxclaim-controller");
  if (wanted(names::pool))
    all_.push_back(std::make_unique<pool_controller>(client, watched, lane, log(names::pool)));
  if (wanted(names::template_))
    all_.push_back(std::make_unique<template_controller>(client, watched, lane, log(names::template_)));
  if (wanted(names::scheduler))
    add(client, std::make_unique<scheduler>(client, watched, options.only_node, lane, log(names::scheduler)), "default-scheduler");
  if (wanted(names::garbage))
    all_.push_back(std::make_unique<garbage_collector>(client, owned_kinds(watched), lane, log(names::garbage)));
  if (wanted(names::protection))
    all_.push_back(std::make_unique<claim_protector>(client, watched, lane, log(names::protection)));
  if (wanted(names::name_space))
    all_.push_back(std::make_unique<namespace_controller>(client, watched, lane, log(names::name_space)));
  if (wanted(names::account))
    all_.push_back(std::make_unique<account_controller>(client, watched, lane, log(names::account)));
}

/// One that tells of what it does, under the name that the component has in Kubernetes.
void controllers::add(control_client& client, std::unique_ptr<reconciler> one, const char* component) {
  recorders_.push_back(std::make_unique<event_recorder>(client, lane_, event_source{component}));
  one->tell_by([to = recorders_.back().get()](const nlohmann::json& subject, happening what) { to->tell(subject, std::move(what)); });
  all_.push_back(std::move(one));
}

void controllers::start() {
  for (const auto& x : recorders_)
    flows_.start([one = x.get()] { return until_cancelled(one->run()); });
  for (const auto& x : all_)
    flows_.start([one = x.get()] { return until_cancelled(one->run()); });
}

void controllers::close(std::function<void()> ended) {
  flows_.close(std::move(ended));
}

} // namespace paddock::embedded
