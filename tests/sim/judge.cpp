#include "tests/sim/judge.hpp"

#include "k8s/objects.hpp"
#include "k8s/paths.hpp"

#include <algorithm>

namespace paddock::sim {

namespace {

const auto sandbox_path = k8s::sandboxes_path(name_space, sandbox_name);

std::string life_of(const verb& x) {
  return x.host + std::to_string(x.life);
}

std::string in_words(const verb& x) {
  return life_of(x) + " " + to_string(x.kind) + " " + std::to_string(x.order);
}

/// The mode that a patch sets.
std::optional<std::string> mode_in(const k8s::call& what) {
  if (what.type == k8s::call::content::json_patch)
    for (const auto& x : what.body)
      if (x.at("op") == "add" && x.at("path") == "/spec/operatingMode")
        return x.at("value").get<std::string>();
  return std::nullopt;
}

std::optional<std::uint64_t> epoch_in(const k8s::call& what) {
  const auto key = std::string{k8s::epoch_annotation};
  if (what.type == k8s::call::content::json_patch)
    for (const auto& x : what.body) {
      const auto path = x.at("path").get<std::string>();
      if (x.at("op") == "add" && path.ends_with("~1holder-epoch"))
        return k8s::parse_epoch(x.at("value").get<std::string>());
      if (x.at("op") == "add" && path == "/metadata/annotations" && x.at("value").contains(key))
        return k8s::parse_epoch(x.at("value").at(key).get<std::string>());
    }
  return std::nullopt;
}

} // namespace

const char* to_string(verb_kind x) {
  constexpr const char* names[] = {"open", "take up", "suspend", "resume", "remove"};
  return names[static_cast<int>(x)];
}

judge::judge(const time_source& time, cluster& on) : time_(time), cluster_(on), start_(time.now()) {
  cluster_.made_pod = [this](const json& x) { made_pod(x); };
}

void judge::note(const std::string& line) {
  const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(time_.now() - start_).count();
  history.push_back("[" + std::to_string(at) + " ms] " + line);
}

void judge::violated(const char* which, std::string what) {
  note("VIOLATED: " + std::string{which} + ": " + what);
  violations.push_back({which, std::move(what)});
}

// -- requests ---------------------------------------------------------------------

void judge::applied(const shared_verb& by, const k8s::call& what, const std::optional<json>& before) {
  if (!by)
    return violated(invariant::truth, what.method + " was sent outside any verb");
  auto& x = *by;
  if (what.method == "POST") {
    x.made = true;
    return;
  }
  const auto was = k8s::read_fence(*before);
  const auto uid = was.uid->text();
  if (x.uid && *x.uid != uid)
    violated(invariant::identity, in_words(x) + " is about " + *x.uid + " and wrote to " + uid);
  const auto epoch = epoch_in(what);
  // What a DELETE was sent under is not in it; a host of this term has no epoch of a later one.
  if (was.epoch && *was.epoch >> 20 > x.term)
    violated(invariant::fencing, in_words(x) + " in term " + std::to_string(x.term) + " wrote over " + std::to_string(*was.epoch));
  if (auto held = held_epochs_.find(uid); epoch && !lost_epochs_ && held != held_epochs_.end() && held->second > *epoch)
    violated(invariant::fencing,
             in_words(x) + " wrote epoch " + std::to_string(*epoch) + " after a verb at " + std::to_string(held->second));
  else if (epoch && was.epoch && *was.epoch > *epoch)
    violated(invariant::fencing, in_words(x) + " wrote epoch " + std::to_string(*epoch) + " over " + std::to_string(*was.epoch));
  if (!was.annotation && stamped_.contains({life_of(x), uid}))
    violated(invariant::fencing, in_words(x) + " took a lost annotation for epoch 0");
  if (auto last = acknowledged_.find({x.host, uid}); last != acknowledged_.end() && last->second > x.order)
    violated(invariant::kept, "a late write of " + in_words(x) + " was accepted after verb " + std::to_string(last->second));
  if (what.method == "DELETE") {
    x.deleted = true;
    if (x.kind != verb_kind::remove)
      violated(invariant::disk, in_words(x) + " deleted " + uid);
    else if (!x.first)
      violated(invariant::disk, in_words(x) + " deleted what it had not read");
    else if (x.first->uid != was.uid || x.first->mode != was.mode || x.first->annotation != was.annotation)
      violated(invariant::disk, in_words(x) + " deleted an object that had changed since it was read");
    return;
  }
  const auto mode = mode_in(what);
  if (mode == "Running") {
    if (++x.wake_ups > 1 || was.mode != k8s::operating_mode::suspended)
      violated(invariant::one_patch, in_words(x) + " woke what was not suspended");
  } else if (mode == "Suspended") {
    if (++x.suspends > 1)
      violated(invariant::one_patch, in_words(x) + " suspended twice");
    if (x.kind != verb_kind::suspend && x.wake_ups == 0 && !x.made)
      violated(invariant::kept, in_words(x) + " suspended what it had not woken");
  }
}

void judge::heard(verb& by, const k8s::call& what, const k8s::result<std::optional<json>>& answer) {
  if (!answer) {
    if (what.method != "GET" && k8s::outcome_unknown(answer.error()))
      ++by.unknown;
    return;
  }
  const auto& body = answer->value_or(json{});
  if (what.path == sandbox_path || what.method == "POST") {
    if (what.method == "DELETE")
      return;
    const auto seen = k8s::read_fence(body);
    if (!by.uid && seen.uid)
      by.uid = seen.uid->text();
    if (what.method == "GET" && !by.first)
      by.first = seen;
    by.mode = seen.mode;
    by.slept = by.slept || seen.mode == k8s::operating_mode::suspended;
    if (what.method != "GET" && seen.uid)
      stamped_[{life_of(by), seen.uid->text()}] = true;
  } else if (what.path.find("/pods") != std::string::npos) {
    auto all = body.contains("items") ? k8s::items_of(body) : std::vector<json>{body};
    for (const auto& x : all) {
      const auto pod = k8s::read_pod(x);
      const auto owner = std::ranges::find_if(pod.owners, &k8s::pod::owner::controller);
      by.pods[pod.uid->reveal()] = {owner == pod.owners.end() ? "" : owner->uid, pod.state == k8s::pod::life::draining};
    }
  }
}

// -- verbs --------------------------------------------------------------------------

void judge::ended(verb& x, const workspace::session& after, const workspace::failure* why) {
  x.over = true;
  note(in_words(x) + (why == nullptr ? " is done" : " failed: " + workspace::to_string(*why)) + ", state "
       + std::string{workspace::to_string(after.at)});
  if (why != nullptr) {
    told(workspace::to_string(*why) + workspace::details_of(*why).dump());
    failed(x, after, *why);
    return;
  }
  if (x.unknown > 0)
    violated(invariant::once, in_words(x) + " went on after a write of which nobody knows");
  if (x.kind == verb_kind::suspend)
    well_suspended(x, after);
  else if (x.kind == verb_kind::remove) {
    const auto standing = cluster_.sandbox();
    if (x.uid && standing && standing->at("metadata").at("uid") == *x.uid)
      violated(invariant::truth, in_words(x) + " says deleted, and it stands");
  } else
    well_started(x, after);
  if (x.kind == verb_kind::take_up || !after.sandbox)
    return;
  const auto uid = after.sandbox->text();
  acknowledged_[{x.host, uid}] = x.order;
  held_epochs_[uid] = std::max(held_epochs_[uid], after.epoch.value_or(0));
}

void judge::well_started(const verb& x, const workspace::session& after) {
  if (after.at != workspace::state::running) {
    if (x.kind != verb_kind::take_up)
      violated(invariant::truth, in_words(x) + " is done and no session runs");
    return;
  }
  if (!x.mode)
    violated(invariant::truth, in_words(x) + " is done and has read nothing");
  if (!x.overlapped && x.mode == k8s::operating_mode::suspended)
    violated(invariant::truth, in_words(x) + " is done and its last reading said Suspended");
  const auto uid = after.sandbox ? after.sandbox->text() : "";
  for (const auto& pod : x.probed)
    if (pod.owner != uid)
      violated(invariant::identity, in_words(x) + " of " + uid + " ran its probe in a pod of " + pod.owner);
  if (!x.probed.empty() && after.pod && after.pod->text() != x.probed.back().uid)
    violated(invariant::identity, in_words(x) + " is done with pod " + after.pod->text() + " and probed " + x.probed.back().uid);
  if (auto pod = x.pods.find(after.pod ? after.pod->text() : ""); pod != x.pods.end()) {
    if (pod->second.owner != uid)
      violated(invariant::identity, in_words(x) + " of " + uid + " bound a pod of " + pod->second.owner);
    if (pod->second.ending)
      violated(invariant::truth, in_words(x) + " is done and its pod was ending when it was read last");
  }
}

void judge::well_suspended(const verb& x, const workspace::session& after) {
  if (after.at != workspace::state::suspended || !x.slept)
    violated(invariant::truth, in_words(x) + " is done and it never read Suspended");
  const auto standing = cluster_.sandbox();
  if (!standing || !x.uid)
    return;
  const auto now = k8s::read_sandbox(*standing);
  if (now.uid->text() != *x.uid || now.mode != k8s::operating_mode::suspended)
    return;
  if (!cluster_.pods_of(*x.uid).empty())
    violated(invariant::truth, in_words(x) + " is done and its pod is there");
  asleep_ = rest{*x.uid, now.generation.value_or(0)};
}

void judge::made_pod(const json& pod) {
  const auto seen = k8s::read_pod(pod);
  const auto owner = std::ranges::find_if(seen.owners, &k8s::pod::owner::controller);
  owners_[seen.uid->reveal()] = owner == seen.owners.end() ? "" : owner->uid;
  const auto standing = cluster_.sandbox();
  if (!asleep_ || !standing)
    return;
  const auto now = k8s::read_sandbox(*standing);
  if (now.uid->text() == asleep_->uid && now.mode == k8s::operating_mode::suspended && now.generation == asleep_->generation
      && std::ranges::any_of(seen.owners, [&](const auto& y) { return y.uid == asleep_->uid; }))
    violated(invariant::kept, "a pod of " + asleep_->uid + " began after its suspend had succeeded");
}

void judge::failed(const verb& x, const workspace::session& after, const workspace::failure& why) {
  using workspace::state;
  const auto says_unknown =
    std::holds_alternative<workspace::write_unknown>(why) || std::holds_alternative<std::shared_ptr<const workspace::start_failed>>(why);
  if (x.unknown > 0 && !says_unknown)
    violated(invariant::truth, in_words(x) + " does not say that nobody knows");
  const auto at = after.at;
  if (x.kind == verb_kind::suspend && x.suspends > 0 && (at == state::running || at == state::suspended))
    violated(invariant::truth, in_words(x) + " was applied, failed, and left the state as it was");
  if (x.kind != verb_kind::suspend && (x.wake_ups > 0 || x.made) && (at == state::suspended || at == state::deleted))
    violated(invariant::truth, in_words(x) + " was applied, failed, and left the state as it was");
  if (x.deleted && at != state::deleted && !says_unknown)
    violated(invariant::truth, in_words(x) + " was applied and failed");
}

void judge::epoch_lost() {
  lost_epochs_ = true;
}

void judge::told(const std::string& text) {
  for (const auto& [x, owner] : owners_)
    for (auto at = text.find(x); at != std::string::npos; at = text.find(x, at + 1))
      if (at + x.size() == text.size() || std::isdigit(static_cast<unsigned char>(text[at + x.size()])) == 0)
        return violated(invariant::secrets, text);
}

// -- commands ----------------------------------------------------------------------

void judge::ran(const shared_verb& probe, const std::string& command, const guest_process& in) {
  if (probe && !probe->over) {
    probe->probed.push_back({in.pod, in.owner});
    return;
  }
  auto found = commands.find(command);
  if (found == commands.end())
    return;
  auto& x = found->second;
  if (++x.runs > 1)
    violated(invariant::once, command + " ran again");
  if (x.pod != in.pod || (!x.boot.empty() && x.boot != in.boot))
    violated(invariant::identity, command + " was for pod " + x.pod + " " + x.boot + " and ran in " + in.pod + " " + in.boot);
}

void judge::followed(const std::string& host, const workspace::session& now, const pod_uid& to) {
  note(host + " moves its calls to pod " + to.text());
  if (const auto made = owners_.find(to.text()); !now.sandbox || made == owners_.end() || made->second != now.sandbox->text())
    violated(invariant::identity, host + " follows " + (now.sandbox ? now.sandbox->text() : "nothing") + " to a pod that is not its own");
}

void judge::finish() {
  for (const auto& [name, x] : commands) {
    if (x.answer == "done" && x.runs == 0)
      violated(invariant::truth, name + " is said to have run, and did not");
    if (x.answer == "nothing" && x.runs > 0)
      violated(invariant::truth, name + " is said not to have run, and did");
  }
}

} // namespace paddock::sim
