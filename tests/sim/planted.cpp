#include "tests/sim/planted.hpp"

#include "k8s/objects.hpp"
#include "tests/sim/judge.hpp"

#include <algorithm>
#include <array>

namespace paddock::sim {

namespace {

using workspace::session;
using workspace::state;
using heard = k8s::result<k8s::answer>;
using nlohmann::json;

constexpr const char* epoch_path = "/metadata/annotations/sandbox.namzu.ai~1holder-epoch";

bool is_sandbox(const k8s::call& x) {
  return x.path.find("/sandboxes/") != std::string::npos;
}

bool is_pod(const k8s::call& x) {
  return x.path.find("/pods") != std::string::npos;
}

bool starts(const verb& x) {
  return x.kind == verb_kind::open || x.kind == verb_kind::resume;
}

/// What a patch does at `path` with operation `op`; null: nothing.
const json* operation_at(const k8s::call& x, const char* op, const char* path) {
  if (x.type == k8s::call::content::json_patch)
    for (const auto& y : x.body)
      if (y.at("op") == op && y.at("path") == path)
        return &y;
  return nullptr;
}

/// Takes a test out of a patch.
auto without_test(const char* path) {
  return [path](const verb&, k8s::call& x) {
    if (const auto* test = operation_at(x, "test", path))
      x.body.erase(static_cast<std::size_t>(test - &x.body.front()));
  };
}

bool suspends(const k8s::call& x) {
  const auto* mode = operation_at(x, "add", "/spec/operatingMode");
  return mode != nullptr && mode->at("value") == "Suspended";
}

/// Changes the pods that are read.
auto in_pods(void (*change)(json& metadata)) {
  return [change](const verb&, const k8s::call& x, heard& got) {
    if (!is_pod(x) || !got || !*got)
      return;
    if ((*got)->contains("items"))
      for (auto& y : (**got)["items"])
        change(y["metadata"]);
    else
      change((**got)["metadata"]);
  };
}

bool is_unknown_write(const k8s::call& x, const k8s::failure& why) {
  return x.method != "GET" && k8s::outcome_unknown(why);
}

guest::failure not_dialled(const guest::endpoint& where) {
  return guest::dial_failed{where.host, where.port, "refused"};
}

bool is_lost(const guest::result<guest::execution>& x) {
  return !x && std::holds_alternative<guest::lost>(x.error());
}

// Each is one line: what is left out or done wrong, at which seam, and how.
const auto bugs =
  std::array{
    // clang-format off
  planted_bug{.name = "keep-epoch-after-unknown", .breaks = "P1", .shows = invariant::kept, .ends = [](const verb& x, session& s, bool) { if (x.unknown > 0 && s.epoch) --*s.epoch; }},
  planted_bug{.name = "start-at-stored-epoch", .breaks = "P1", .shows = invariant::kept, .begins = [](const verb& x, session& s) { if (!s.epoch && x.stored_epoch >> 20 == x.term) s.epoch = x.stored_epoch; }},
  planted_bug{.name = "take-the-epoch-over", .breaks = "P1", .shows = invariant::fencing, .begins = [](const verb& x, session& s) { if (x.stored_epoch >> 20 > x.term) s.epoch = x.stored_epoch + 1; }},
  planted_bug{.name = "bind-any-pod", .breaks = "P2", .shows = invariant::identity, .hears = in_pods([](json& pod) { pod.erase("ownerReferences"); })},
  planted_bug{.name = "forget-the-uid", .breaks = "P3", .shows = invariant::identity, .begins = [](const verb&, session& s) { s.sandbox.reset(); }},
  planted_bug{.name = "no-uid-test", .breaks = "P3", .shows = invariant::identity, .sends = without_test("/metadata/uid")},
  planted_bug{.name = "keep-state-after-unknown", .breaks = "P4", .shows = invariant::truth, .ends = [](const verb& x, session& s, bool) { if (x.unknown > 0) s.at = x.before.at; }},
  planted_bug{.name = "suspended-from-memory", .breaks = "P4", .shows = invariant::truth, .answers_from_memory = [](const verb& x) { return x.kind == verb_kind::suspend && x.before.at == state::suspended; }},
  planted_bug{.name = "running-from-memory", .breaks = "P4", .shows = invariant::truth, .answers_from_memory = [](const verb& x) { return starts(x) && x.before.at == state::running; }},
  planted_bug{.name = "suspended-is-ready", .breaks = "P5", .shows = invariant::truth, .hears = [](const verb& x, const k8s::call& c, heard& got) { if (starts(x) && x.writes > 0 && is_sandbox(c) && got && *got) (**got)["spec"]["operatingMode"] = "Running"; }},
  planted_bug{.name = "no-mode-test", .breaks = "P6", .shows = invariant::one_patch, .sends = without_test("/spec/operatingMode")},
  planted_bug{.name = "no-wait-for-controller", .breaks = "P9", .shows = invariant::kept, .hears = [](const verb&, const k8s::call& c, heard& got) { if (c.method == "PATCH" && got && *got) (**got)["metadata"].erase("generation"); }},
  planted_bug{.name = "delete-any-version", .breaks = "P10", .shows = invariant::disk, .sends = [](const verb&, k8s::call& c) { if (c.method == "DELETE" && c.body.is_object()) c.body["preconditions"].erase("resourceVersion"); }},
  planted_bug{.name = "delete-what-changed", .breaks = "P10", .shows = invariant::disk, .sends_again = [](k8s::call& c, const k8s::failure& why) { if (c.method == "DELETE") c.body["preconditions"].erase("resourceVersion"); return c.method == "DELETE" && std::holds_alternative<k8s::conflict>(why); }},
  planted_bug{.name = "delete-without-a-look", .breaks = "P10", .shows = invariant::fencing, .hears = [](const verb& x, const k8s::call& c, heard& got) { if (x.kind == verb_kind::remove && c.method == "GET" && is_sandbox(c) && got && *got) (**got)["metadata"]["annotations"].erase(std::string{k8s::epoch_annotation}); }},
  planted_bug{.name = "delete-is-not-sent", .breaks = "deleted is what was deleted", .shows = invariant::truth, .sends = [](const verb&, k8s::call& c) { if (c.method == "DELETE") c = k8s::get(c.path); }},
  planted_bug{.name = "lost-epoch-is-zero", .breaks = "P11", .shows = invariant::fencing, .begins = [](const verb&, session& s) { s.stamped = false; }},
  planted_bug{.name = "forget-when-let-go", .breaks = "P3", .shows = invariant::identity, .begins = [](const verb&, session& s) { if (s.at == state::unknown) s = {}; }},
  planted_bug{.name = "no-stamp", .breaks = "P12", .shows = invariant::fencing, .sends = [](const verb&, k8s::call& c) { if (c.method == "PATCH" && operation_at(c, "add", "/spec/operatingMode") == nullptr) c = k8s::get(c.path); }},
  planted_bug{.name = "unknown-is-failed", .breaks = "P13", .shows = invariant::truth, .hears = [](const verb&, const k8s::call& c, heard& got) { if (!got && is_unknown_write(c, got.error())) got = tl::unexpected{k8s::failure{k8s::credential_failure{c.method, c.path, 403}}}; }},
  planted_bug{.name = "send-unknown-again", .breaks = "an unknown write is never retried", .shows = invariant::once, .sends_again = [](k8s::call& c, const k8s::failure& why) { return is_unknown_write(c, why); }},
  planted_bug{.name = "no-epoch-test", .breaks = "the stored epoch is tested", .shows = invariant::fencing, .sends = without_test(epoch_path)},
  planted_bug{.name = "no-version-test", .breaks = "an object without an epoch is tested by its version", .shows = invariant::fencing, .sends = without_test("/metadata/resourceVersion")},
  planted_bug{.name = "clean-up-what-others-woke", .breaks = "only what was woken is suspended again", .shows = invariant::kept, .suspends_after = [](const verb& x, bool well) { return !well && starts(x) && x.wake_ups == 0 && !x.made; }},
  planted_bug{.name = "clean-up-by-delete", .breaks = "only `remove` deletes", .shows = invariant::disk, .sends = [](const verb& x, k8s::call& c) { if (starts(x) && suspends(c)) c = k8s::remove(c.path); }},
  planted_bug{.name = "believe-no-pod", .breaks = "a suspend waits for the pod", .shows = invariant::truth, .hears = [](const verb& x, const k8s::call& c, heard& got) { if (x.kind == verb_kind::suspend && is_pod(c)) got = tl::unexpected{k8s::failure{k8s::already_gone{c.method, c.path, 404}}}; }},
  planted_bug{.name = "bind-ending-pod", .breaks = "an ending pod is not bound", .shows = invariant::truth, .hears = in_pods([](json& pod) { pod.erase("deletionTimestamp"); })},
  planted_bug{.name = "answer-old-generation", .breaks = "a session is of the pod that was bound", .shows = invariant::identity, .ends = [](const verb& x, session& s, bool well) { if (well && starts(x) && x.before.retired_pod) s.pod = x.before.retired_pod; }},
  planted_bug{.name = "guest-takes-any-token", .breaks = "a guest runs what is meant for it", .shows = invariant::identity, .knows_nobody = true},
  planted_bug{.name = "drop-the-pin", .breaks = "a pinned view speaks to one process", .shows = invariant::identity, .dials = [](guest::endpoint& where) { where.pinned.reset(); }},
  planted_bug{.name = "run-lost-again", .breaks = "a command is sent once", .shows = invariant::once, .runs_again = true},
  planted_bug{.name = "lost-is-done", .breaks = "what is lost is unknown", .shows = invariant::truth, .reports = [](const guest::endpoint&, guest::result<guest::execution>& got) { if (is_lost(got)) got = guest::execution{}; }},
  planted_bug{.name = "lost-is-not-dialled", .breaks = "what is lost is unknown", .shows = invariant::truth, .reports = [](const guest::endpoint& where, guest::result<guest::execution>& got) { if (is_lost(got)) got = tl::unexpected{not_dialled(where)}; }},
  planted_bug{.name = "tell-the-token", .breaks = "no error carries a token", .shows = invariant::secrets, .reports = [](const guest::endpoint& where, guest::result<guest::execution>& got) { if (is_lost(got)) got = tl::unexpected{guest::failure{guest::lost{"no answer to " + where.token.reveal()}}}; }},
  planted_bug{.name = "forget-a-waiter", .breaks = "who waits is answered", .shows = invariant::in_time, .forgets = [](const verb& x) { return x.order % 3 == 0; }},
  planted_bug{.name = "forget-the-deadline", .breaks = "a verb ends by its deadline", .shows = invariant::in_time, .allows = [](deadline& until) { until = deadline{until.at() + std::chrono::minutes{1}}; }},
    // clang-format on
  };

} // namespace

std::span<const planted_bug> planted_bugs() {
  return bugs;
}

const planted_bug* find_bug(std::string_view name) {
  const auto found = std::ranges::find(bugs, name, &planted_bug::name);
  return found == bugs.end() ? nullptr : &*found;
}

} // namespace paddock::sim
