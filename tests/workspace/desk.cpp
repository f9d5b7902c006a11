#include "tests/workspace/desk.hpp"

#include "base/hash.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"
#include "tests/support/run_flow.hpp"
#include "workspace/pod_template.hpp"

#include <algorithm>

namespace paddock::workspace::test {

namespace pt = paddock::test;
using nlohmann::json;

namespace {

constexpr const char* name = "namzu-ws-desk";

std::string sb() {
  return k8s::sandboxes_path("ns", name);
}

json condition(const char* status, const char* reason) {
  return {{"type", "Ready"}, {"status", status}, {"reason", reason}};
}

} // namespace

// -- cluster ---------------------------------------------------------------------

desk_cluster::desk_cluster(bool reports_uids, bool reports_generations) :
  the_template(json::parse(R"({"metadata":{"name":"tpl"},"spec":{
    "podTemplate":{"metadata":{"labels":{"app":"x"}},
      "spec":{"runtimeClassName":"runc","containers":[{"name":"agent","image":"i","env":[{"name":"A","value":"1"}],
        "volumeDevices":[{"name":"workspace","devicePath":"/dev/ws"}]}]}},
    "volumeClaimTemplates":[{"metadata":{"name":"workspace"},
      "spec":{"volumeMode":"Block","resources":{"requests":{"storage":"1Gi"}}}}],
    "service":false}})")),
  reports_uids_(reports_uids),
  reports_generations_(reports_generations) {
}

json desk_cluster::make_pod() {
  auto got = json{{"metadata", {{"name", name}, {"uid", "P" + std::to_string(++pods_made_)}}},
                  {"status", {{"phase", "Running"}, {"podIP", "10.0.0." + std::to_string(pods_made_)}}}};
  if (reports_uids_)
    got["metadata"]["ownerReferences"] =
      json::array({{{"kind", "Sandbox"}, {"name", name}, {"uid", sandbox->at("metadata").at("uid")}, {"controller", true}}});
  return got;
}

json desk_cluster::draining(json pod) {
  pod["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z";
  return pod;
}

std::string desk_cluster::mode() const {
  return sandbox->at("spec").value("operatingMode", "Running");
}

std::optional<std::string> desk_cluster::annotation(const std::string& key) const {
  const auto seen = k8s::read_sandbox(*sandbox);
  auto it = seen.annotations.find("sandbox.namzu.ai/" + key);
  return it == seen.annotations.end() ? std::nullopt : std::optional{it->second};
}

void desk_cluster::bump() {
  (*sandbox)["metadata"]["resourceVersion"] = std::to_string(++version_);
}

void desk_cluster::set_mode(const std::string& mode) {
  (*sandbox)["spec"]["operatingMode"] = mode;
  bump();
  reconcile();
}

void desk_cluster::stand(const std::string& mode, std::optional<std::string> epoch, const std::string& uid) {
  auto from = read_template(the_template, overlay{"tpl", std::nullopt, {}});
  sandbox = create_body(name, "ns", *from, std::nullopt);
  if (epoch)
    (*sandbox)["metadata"]["annotations"][std::string{k8s::epoch_annotation}] = *epoch;
  if (reports_uids_)
    (*sandbox)["metadata"]["uid"] = uid;
  if (reports_generations_)
    (*sandbox)["metadata"]["generation"] = 1;
  pod.reset();
  set_mode(mode);
}

/// What the controller makes of the object at once, where it acts.
void desk_cluster::reconcile() {
  if (controller_acts)
    look();
}

void desk_cluster::look() {
  auto& status = (*sandbox)["status"];
  status["serviceFQDN"] = "desk.ns.svc";
  status["selector"] = "hash=desk";
  // Left over from an earlier suspend; nobody may read it.
  status["conditions"] = json::array({{{"type", "Suspended"}, {"status", "True"}}});
  if (mode() == "Suspended") {
    pod.reset();
    status["conditions"].push_back(condition("False", "SandboxSuspended"));
  } else {
    if (!pod)
      pod = make_pod();
    status["conditions"].push_back(condition("True", "DependenciesReady"));
  }
  if (reports_generations_)
    status["conditions"][1]["observedGeneration"] = (*sandbox)["metadata"]["generation"];
}

desk_cluster::reply desk_cluster::apply(const k8s::call& what, json after) {
  if (after == *sandbox)
    return pt::found(*sandbox);
  if (reports_generations_ && after.at("spec") != sandbox->at("spec"))
    after["metadata"]["generation"] = after["metadata"]["generation"].get<int>() + 1;
  static_cast<void>(what);
  sandbox = std::move(after);
  bump();
  // The answer of a write shows the object before the controller has looked at it.
  auto answer = *sandbox;
  reconcile();
  return pt::found(answer);
}

desk_cluster::reply desk_cluster::answer(const k8s::call& what) {
  ++requests;
  if (intercept)
    if (auto got = intercept(what, requests))
      return std::move(*got);
  if (what.method == "GET" && what.path == k8s::template_path("ns", "tpl"))
    return pt::found(the_template);
  if (what.method == "POST" && what.path == k8s::sandboxes_path("ns")) {
    if (sandbox)
      return pt::taken(what);
    sandbox = what.body;
    if (reports_uids_)
      (*sandbox)["metadata"]["uid"] = "S1";
    if (reports_generations_)
      (*sandbox)["metadata"]["generation"] = 1;
    bump();
    auto answer = *sandbox;
    reconcile();
    return pt::found(answer);
  }
  if (what.path == sb()) {
    if (!sandbox)
      return pt::gone(what);
    if (what.method == "GET")
      return pt::found(*sandbox);
    if (what.method == "DELETE") {
      if (what.type == k8s::call::content::json)
        for (const auto& [key, value] : what.body.at("preconditions").items())
          if (sandbox->at("metadata").value(key, "") != value)
            return pt::taken(what);
      sandbox.reset();
      pod.reset();
      return pt::no_value();
    }
    auto after = *sandbox;
    if (what.type == k8s::call::content::merge_patch)
      after.merge_patch(what.body);
    else
      try {
        after = after.patch(what.body);
      } catch (const json::exception&) {
        return pt::not_applied(what);
      }
    return apply(what, std::move(after));
  }
  if (what.path == k8s::pods_path("ns", name))
    return pod ? pt::found(*pod) : pt::gone(what);
  if (what.path == k8s::with_selector(k8s::pods_path("ns"), "hash=desk")) {
    auto items = json::array();
    if (pod)
      items.push_back(*pod);
    for (const auto& x : listed)
      items.push_back(x);
    return pt::found({{"items", items}});
  }
  if (what.path == k8s::volume_claim_path("ns", "workspace", name))
    return pt::found({{"metadata", {{"uid", "C1"}}}});
  return answer_of_others(what);
}

desk_cluster::reply desk_cluster::answer_of_others(const k8s::call& what) {
  const auto collection = what.path.substr(0, what.path.find('?')) + "/";
  if (what.method == "GET" && collection.ends_with("networkpolicies/")) {
    auto items = json::array();
    for (const auto& [path, object] : objects)
      if (path.starts_with(collection))
        items.push_back(object);
    return pt::found({{"items", items}});
  }
  const auto it = objects.find(what.path);
  if (it == objects.end())
    return pt::gone(what);
  const auto was = it->second;
  if (what.method == "DELETE")
    objects.erase(it);
  return pt::found(was);
}

// -- host ------------------------------------------------------------------------

desk::desk(host how, api_server says) :
  cluster(says != api_server::without_uids, says == api_server::with_generations), on{api, guest, time, {}} {
  on.how.name_space = "ns";
  on.how.template_name = "tpl";
  on.how.fenced = how == host::fenced;
  on.how.ingress.verify = false;
  api.hold();
  api.handle_some([this](const k8s::call& x) { return cluster.hold && cluster.hold(x) ? std::nullopt : std::optional{cluster.answer(x)}; });
}

deadline desk::until() const {
  return deadline{time, budget};
}

transition<opened> desk::open(session before, open_options how) {
  return pt::run_flow(context, time, workspace::open(on, which, std::move(how), std::move(before), until()));
}

transition<done> desk::take_up(session before) {
  return pt::run_flow(context, time, workspace::take_up(on, which, std::move(before), until()));
}

transition<done> desk::suspend(session before, suspend_options how) {
  return pt::run_flow(context, time, workspace::suspend(on, which, how, std::move(before), until()));
}

transition<opened> desk::resume(session before, open_options how) {
  return pt::run_flow(context, time, workspace::resume(on, which, std::move(how), std::move(before), until()));
}

transition<done> desk::remove(session before, remove_options how) {
  return pt::run_flow(context, time, workspace::remove(on, which, std::move(how), std::move(before), until()));
}

transition<done> desk::reset_epoch(session before, epoch_reset what) {
  return pt::run_flow(context, time, workspace::reset_epoch(on, which, std::move(what), std::move(before), until()));
}

transition<stamped> desk::stamp(session before) {
  return pt::run_flow(context, time, workspace::stamp(on, which, std::move(before), until()));
}

transition<done> desk::explain(session before, std::string operation, failure original) {
  return pt::run_flow(context, time, workspace::explain(on, which, std::move(operation), std::move(before), std::move(original), until()));
}

namespace {

class no_output final : public guest::output_sink {
public:
  boost::asio::awaitable<void> take(guest::stream, std::string) override {
    co_return;
  }
};

} // namespace

guest::result<guest::execution> desk::exec(const session& in) {
  auto output = no_output{};
  auto what = guest::command{};
  what.program = "true";
  return pt::run_flow(context, time, guest.execute(in.guest.value(), what, output, nullptr, until()));
}

namespace {

/// Starts `flow` once its caller has already withdrawn.
template <class T>
boost::asio::awaitable<T> after_withdrawal(pt::manual_time& time, boost::asio::awaitable<T> flow) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  try {
    co_await time.sleep_until(time.now() + std::chrono::hours{1});
  } catch (const boost::system::system_error&) {
    // This is the withdrawal.
  }
  auto got = co_await std::move(flow);
  co_return got;
}

template <class T>
desk::withdrawn run_one(desk& d, boost::asio::awaitable<transition<T>> flow, std::function<bool()> when) {
  if (when && when()) {
    flow = after_withdrawal(d.time, std::move(flow));
    when = [&d] { return d.time.sleeping() == 1; };
  }
  auto it = pt::start_flow(d.context, std::move(flow));
  auto cancelled = false;
  pt::run_until(d.context, d.time, [&] {
    if (!cancelled && when && when()) {
      it.cancel();
      cancelled = true;
    }
    return it.done();
  });
  auto& got = it.get();
  return {got.after, got.answer ? std::nullopt : std::optional{got.answer.error()}};
}

} // namespace

desk::withdrawn desk::run_and_withdraw(verb what, session before, std::function<bool()> when) {
  switch (what) {
    case verb::open: return run_one(*this, workspace::open(on, which, {}, std::move(before), until()), when);
    case verb::take_up: return run_one(*this, workspace::take_up(on, which, std::move(before), until()), when);
    case verb::suspend: return run_one(*this, workspace::suspend(on, which, {}, std::move(before), until()), when);
    case verb::resume: return run_one(*this, workspace::resume(on, which, {}, std::move(before), until()), when);
    case verb::remove: break;
  }
  return run_one(*this, workspace::remove(on, which, {}, std::move(before), until()), when);
}

desk::withdrawn desk::run(verb what, session before) {
  return run_and_withdraw(what, std::move(before), {});
}

namespace {

/// A request of egress as a test writes it.
std::string of_egress(const std::string& path) {
  const auto core = k8s::network_policies_path("ns");
  const auto cilium = k8s::cilium_policies_path("ns");
  const auto words = std::vector<std::pair<std::string, std::string>>{
    {core + "?", "NPC"},
    {core + "/", "NP "},
    {cilium + "?", "CNPC"},
    {cilium + "/", "CNP "},
    {"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/", "VAP"},
    {"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/", "VAPB"},
  };
  for (const auto& [begin, word] : words)
    if (path.starts_with(begin))
      return word.ends_with(' ') ? word + path.substr(begin.size()) : word;
  return path;
}

} // namespace

std::vector<std::string> desk::requests() {
  const auto kinds = std::vector<std::pair<std::string, std::string>>{
    {k8s::template_path("ns", "tpl"), "TPL"},
    {k8s::sandboxes_path("ns"), "SBC"},
    {sb(), "SB"},
    {k8s::pods_path("ns", name), "POD"},
    {k8s::with_selector(k8s::pods_path("ns"), "hash=desk"), "PODS"},
    {k8s::volume_claim_path("ns", "workspace", name), "PVC"},
  };
  auto got = std::vector<std::string>{};
  for (; looked_ < api.calls.size(); ++looked_) {
    const auto& x = api.calls[looked_];
    auto known = std::ranges::find(kinds, x.path, &std::pair<std::string, std::string>::first);
    auto line = x.method + " " + (known != kinds.end() ? known->second : of_egress(x.path));
    if (x.type == k8s::call::content::merge_patch)
      line += " merge";
    if (x.type == k8s::call::content::json_patch)
      line += " json";
    got.push_back(std::move(line));
  }
  return got;
}

std::vector<json> desk::bodies() {
  auto got = std::vector<json>{};
  for (auto i = looked_; i < api.calls.size(); ++i)
    if (api.calls[i].method == "PATCH" || api.calls[i].method == "DELETE")
      got.push_back(api.calls[i].type == k8s::call::content::none ? json{} : api.calls[i].body);
  return got;
}

void desk::forget() {
  looked_ = api.calls.size();
}

std::size_t desk::sent(const std::string& method) const {
  return api.sent(method).size();
}

std::string desk::now() const {
  return rfc3339_millis(time.wall());
}

json desk::merge(const std::string& mode, const std::string& at) {
  return {{"metadata", {{"annotations", {{"sandbox.namzu.ai/operating-mode-changed-at", at}}}}}, {"spec", {{"operatingMode", mode}}}};
}

json test_op(std::string path, std::string value) {
  return {{"op", "test"}, {"path", std::move(path)}, {"value", std::move(value)}};
}

json add_op(std::string path, json value) {
  return {{"op", "add"}, {"path", std::move(path)}, {"value", std::move(value)}};
}

unsigned status_of(const failure& x) {
  const k8s::failure* why = std::get_if<k8s::failure>(&x);
  if (const auto* unknown = std::get_if<write_unknown>(&x))
    why = &unknown->why;
  const auto* api = why != nullptr ? std::get_if<k8s::api_failure>(why) : nullptr;
  return api != nullptr ? api->status.value_or(0) : 0;
}

session opened_on(desk& x) {
  auto got = x.open();
  got.answer.value(); // throws where there is none
  x.forget();
  return got.after;
}

session suspended_on(desk& x) {
  auto got = x.suspend(opened_on(x));
  got.answer.value();
  x.forget();
  return got.after;
}

session at_epoch(std::uint64_t epoch) {
  auto got = session{};
  got.epoch = epoch;
  return got;
}

std::string version_of(const desk& x) {
  return k8s::text_at(*x.cluster.sandbox, "/metadata/resourceVersion").value();
}

bool is_get(const k8s::call& x, const char* what) {
  return x.method == "GET" && x.path.find(what) != std::string::npos;
}

void drain_for(desk& x, int reads) {
  x.cluster.intercept = [pod = desk_cluster::draining(*x.cluster.pod), reads](const k8s::call& what,
                                                                              std::size_t) mutable -> std::optional<desk_cluster::reply> {
    return is_get(what, "/pods/") && reads-- > 0 ? std::optional{pt::found(pod)} : std::nullopt;
  };
}

open_options refreshing() {
  auto x = open_options{};
  x.refresh_template = true;
  return x;
}

void edit_template(desk& x) {
  x.cluster.the_template["spec"]["podTemplate"]["spec"]["containers"][0]["image"] = "i2";
}

void refuse_probe(scripted_guest& guest) {
  guest.on_execute = [&guest](const guest_call&) {
    auto x = scripted_execution{};
    auto text = scripted_guest::unprivileged_status();
    text.replace(text.find("NoNewPrivs:\t1"), 13, "NoNewPrivs:\t0");
    x.output.emplace_back(guest::stream::out, std::move(text));
    x.answer = guest.ended(0);
    return x;
  };
}

} // namespace paddock::workspace::test
