#include "embedded/flows/claim_controller.hpp"

#include "embedded/agent_keys.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/sandbox_blueprint.hpp"

namespace paddock::embedded {

namespace {

constexpr auto config_name = "agent-sandbox-config";
constexpr auto default_domain = "sandbox.users.io";
constexpr auto most_writes = 12; // of one pass

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t from = 0; from < text.size();) {
    from = text.find_first_not_of(", \t\r\n", from);
    if (from == std::string::npos)
      break;
    auto end = std::min(text.find_first_of(", \t\r\n", from), text.size());
    result.push_back(text.substr(from, end - from));
    from = end;
  }
  return result;
}

} // namespace

claim_controller::claim_controller(control_client& client, informer_set& watched, std::string home, boost::asio::any_io_executor lane,
                                   std::function<void(std::string)> log) :
  reconciler(std::move(lane),
             {&watched.of(collections::sandbox_claims), &watched.of(collections::sandboxes), &watched.of(collections::warm_pools),
              &watched.of(collections::sandbox_templates), &watched.of(collections::config_maps)},
             std::move(log)),
  client_(client),
  claims_(watched.of(collections::sandbox_claims)),
  sandboxes_(watched.of(collections::sandboxes)),
  pools_(watched.of(collections::warm_pools)),
  templates_(watched.of(collections::sandbox_templates)),
  config_maps_(watched.of(collections::config_maps)),
  home_(std::move(home)) {
  claims_.on_change([this](const object_change& x) { look_at(key_of(x.after ? *x.after : *x.before)); });
  sandboxes_.on_change([this](const object_change& x) { sandbox_changed(x); });
  for (auto* named : {&pools_, &templates_})
    named->on_change([this](const object_change& x) { look_at_namespace(namespace_of(x.after ? *x.after : *x.before)); });
}

void claim_controller::sandbox_changed(const object_change& change) {
  for (const auto& x : {change.before, change.after}) {
    if (!x)
      continue;
    const auto& owner = controller_of(*x);
    if (text_in(owner, "/kind") == "SandboxClaim")
      look_at(namespace_of(*x) + "/" + text_in(owner, "/name"));
    else if (claims_.objects().find(namespace_of(*x), name_of(*x)))
      look_at(key_of(*x));
  }
}

/// A claim that waits for a pool or its template has no other word of their arrival.
void claim_controller::look_at_namespace(const std::string& name_space) {
  for (const auto& x : claims_.objects().all())
    if (namespace_of(*x) == name_space && text_in(*x, "/status/sandbox/name").empty())
      look_at(key_of(*x));
}

std::vector<std::string> claim_controller::label_domains() const {
  auto config = config_maps_.objects().find(home_, config_name);
  auto listed = config ? split_list(text_in(*config, "/data/allowed-label-domains")) : std::vector<std::string>{};
  return listed.empty() ? std::vector<std::string>{default_domain} : listed;
}

std::optional<claim_view> claim_controller::look(const std::string& key) const {
  auto [name_space, name] = split_key(key);
  auto claim = claims_.objects().find(name_space, name);
  if (!claim)
    return std::nullopt;
  auto seen = claim_view{*claim, {}, {}, {}, {}, {}, label_domains()};
  if (auto pool = pools_.objects().find(name_space, text_in(*claim, "/spec/warmPoolRef/name"))) {
    seen.pool = *pool;
    for (const auto& x : sandboxes_.objects().owned_by(uid_of(*pool)))
      if (text_in(controller_of(*x), "/uid") == uid_of(*pool))
        seen.members.push_back(*x);
    if (auto named = templates_.objects().find(name_space, text_in(*pool, "/spec/sandboxTemplateRef/name")))
      seen.sandbox_template = *named;
  }
  std::vector<nlohmann::json> near;
  for (const auto& x : sandboxes_.objects().owned_by(uid_of(*claim)))
    near.push_back(*x);
  for (const auto& other : {annotation_of(*claim, agent_keys::sandbox_name), name})
    if (auto there = sandboxes_.objects().find(name_space, other))
      near.push_back(*there);
  seen.sandbox = given_sandbox(*claim, near);
  return seen;
}

/// What became of a write of a Sandbox that did not succeed. False: the pass is over, and is to be made again.
boost::asio::awaitable<bool> claim_controller::settle(claim_view& seen, claim_write write, unsigned status) {
  auto name = write.what == claim_write::of::adopt ? annotation_of(seen.claim, agent_keys::sandbox_name) : name_of(seen.claim);
  // Whether an earlier write of ours landed is known after a read only: a second Sandbox would be one too many.
  auto got = co_await client_.send(k8s::get(sandboxes_path(seen.claim) + "/" + name));
  if (!got && got.error().status != 404) {
    unsure_[key_of(seen.claim)] = name;
    co_return false;
  }
  auto now = got ? std::optional{*got} : std::nullopt;
  if (now)
    sandboxes_.took(*now);
  switch (judge_outcome(seen, write, status, now)) {
    case claim_outcome::landed: apply_answer(seen, write, *now); co_return true;
    case claim_outcome::lost: seen.lost.push_back(name); co_return true;
    case claim_outcome::moved:
      for (auto& x : seen.members)
        if (name_of(x) == name)
          x = *now;
      co_return true;
    case claim_outcome::again: break;
  }
  co_return false;
}

/// Reads a Sandbox again of which an earlier pass could not tell whether it is the claim's. False: it still cannot.
boost::asio::awaitable<bool> claim_controller::make_sure(std::string key) {
  auto open = unsure_.find(key);
  if (open == unsure_.end())
    co_return true;
  auto [name_space, name] = split_key(key);
  auto got = co_await client_.send(k8s::get("/apis/agents.x-k8s.io/v1beta1/namespaces/" + name_space + "/sandboxes/" + open->second));
  if (!got && got.error().status != 404)
    co_return false;
  if (got)
    sandboxes_.took(std::move(*got));
  unsure_.erase(key);
  co_return true;
}

/// False: the pass is over, and is to be made again.
boost::asio::awaitable<bool> claim_controller::carry_out(claim_view& seen, claim_write write) {
  auto got = co_await client_.send(write.call);
  auto removal = write.what == claim_write::of::end || write.what == claim_write::of::release;
  if (!got && (write.what == claim_write::of::adopt || write.what == claim_write::of::create)) {
    auto settled = co_await settle(seen, std::move(write), got.error().status);
    co_return settled;
  }
  if (!got && !(removal && got.error().status == 404))
    co_return false;
  apply_answer(seen, write, got ? *got : nlohmann::json{});
  if (auto what = happening_of(seen, write))
    tell(seen.claim, std::move(*what));
  if (!removal && text_in(*got, "/kind") == "SandboxClaim")
    claims_.took(*got);
  else if (!removal)
    sandboxes_.took(*got);
  co_return true;
}

boost::asio::awaitable<bool> claim_controller::report(claim_view& seen, claim_state state) {
  if (auto patch = report_claim(seen, state, client_.time().wall())) {
    auto got = co_await client_.send(*patch);
    if (!got)
      co_return got.error().status == 404;
    seen.claim = *got;
    claims_.took(std::move(*got));
    if (auto what = happening_of(state))
      tell(seen.claim, std::move(*what));
  }
  if (auto stamp = stamp_first_ready(seen.claim, client_.time().wall())) {
    auto got = co_await client_.send(*stamp);
    if (!got)
      co_return got.error().status == 404;
    claims_.took(std::move(*got));
  }
  co_return true;
}

boost::asio::awaitable<reconciler::outcome> claim_controller::pass(std::string key) {
  auto sure = co_await make_sure(key);
  if (!sure)
    co_return outcome{false};
  auto seen = look(key);
  if (!seen)
    co_return outcome{};
  for (auto n = 0; n < most_writes; ++n) {
    auto step = next_step(*seen, client_.time().wall());
    if (auto* write = std::get_if<claim_write>(&step)) {
      auto done = co_await carry_out(*seen, *write);
      if (!done)
        co_return outcome{false};
      continue;
    }
    auto state = std::get<claim_state>(step);
    auto said = true;
    if (!state.silent)
      said = co_await report(*seen, state);
    co_return outcome{said, state.revisit};
  }
  co_return outcome{false};
}

} // namespace paddock::embedded
