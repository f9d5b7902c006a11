#include "tests/sim/cluster.hpp"

#include "embedded/pod_facts.hpp"
#include "embedded/resource_service.hpp"
#include "k8s/answer_class.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"

#include <algorithm>
#include <stdexcept>

namespace paddock::sim {

namespace {

constexpr std::size_t addresses = 3; // few, so that a pod soon gets the address of another

const auto the_template =
  json::parse(R"({"apiVersion":"extensions.agents.x-k8s.io/v1beta1","kind":"SandboxTemplate","metadata":{"name":"tpl"},"spec":{
  "podTemplate":{"metadata":{"labels":{"app":"x"}},
    "spec":{"containers":[{"name":"agent","image":"i","volumeDevices":[{"name":"workspace","devicePath":"/dev/ws"}]}]}},
  "volumeClaimTemplates":[{"metadata":{"name":"workspace"},
    "spec":{"accessModes":["ReadWriteOnce"],"volumeMode":"Block","resources":{"requests":{"storage":"1Gi"}}}}],
  "service":false}})");

std::string uid_of(const json& x) {
  return x.at("metadata").at("uid");
}

std::string name_of(const json& x) {
  return x.at("metadata").at("name");
}

std::string owner_of(const json& x) {
  for (const auto& y : x.at("metadata").value("ownerReferences", json::array()))
    if (y.value("controller", false))
      return y.at("uid");
  return {};
}

bool is_terminating(const json& x) {
  return x.at("metadata").contains("deletionTimestamp");
}

std::string phase_of(const json& pod) {
  return k8s::text_at(pod, "/status/phase").value_or("");
}

} // namespace

cluster::cluster(const time_source& time, std::function<void(std::string)> log) :
  time_(time),
  log_(std::move(log)),
  objects_(nullptr, {}, {[this] { return "uid-" + std::to_string(++uids_); }, [](std::size_t n) { return std::string(n, 'x'); }}) {
  if (!objects_.bootstrap({name_space}, now()))
    throw std::runtime_error{"the store does not start"};
  must(k8s::post("/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/ns/sandboxtemplates", the_template));
}

embedded::store::instant cluster::now() const {
  return time_.wall();
}

k8s::result<std::optional<json>> cluster::serve(const k8s::call& what) {
  embedded::api_call asked;
  asked.method = what.method;
  asked.target = what.path;
  asked.content_type = k8s::content_type(what.type);
  asked.body = k8s::body_text(what).value_or("");
  if (what.method == "DELETE" && what.path == k8s::sandboxes_path(name_space, sandbox_name))
    last_ = sandbox();
  auto got = embedded::serve(objects_, asked, nullptr, now());
  const auto& answer = std::get<embedded::api_answer>(got);
  for (const auto& x : list("pods"))
    if (known_pods_.insert(uid_of(x)).second && made_pod)
      made_pod(x);
  return k8s::classify(what, {answer.status, "application/json", std::nullopt, answer.body}, now());
}

void cluster::must(const k8s::call& what) {
  if (auto got = serve(what); !got)
    throw std::runtime_error{what.method + " " + what.path + ": " + k8s::to_string(got.error())};
}

std::optional<json> cluster::sandbox() const {
  auto got = objects_.get(*embedded::find_kind("agents.x-k8s.io", "v1beta1", "sandboxes"), name_space, sandbox_name);
  return got ? std::optional{(*got)->value()} : std::nullopt;
}

std::vector<json> cluster::list(const char* plural) const {
  auto out = std::vector<json>{};
  for (const auto& x : objects_.list(*embedded::find_kind("", "v1", plural), name_space, {}))
    out.push_back(x->value());
  return out;
}

std::vector<json> cluster::pods() const {
  return list("pods");
}

std::vector<json> cluster::pods_of(const std::string& uid) const {
  auto all = pods();
  std::erase_if(all, [&](const json& x) { return owner_of(x) != uid || phase_of(x) == "Failed" || phase_of(x) == "Succeeded"; });
  return all;
}

const guest_process* cluster::guest_at(const std::string& address) const {
  const auto found = std::ranges::find(guests_, address, &guest_process::address);
  return found == guests_.end() ? nullptr : &*found;
}

const guest_process* cluster::guest_of(const std::string& pod) const {
  const auto found = std::ranges::find(guests_, pod, &guest_process::pod);
  return found == guests_.end() ? nullptr : &*found;
}

// -- controllers -----------------------------------------------------------------

std::vector<cluster::step> cluster::steps() {
  auto out = std::vector<step>{};
  if (pass_)
    out.emplace_back([this] { go_on(); });
  else if (looked_at_ != objects_.version() && look())
    out.emplace_back([this] { begin_pass(); });
  const auto standing = sandbox();
  for (const auto* kind : {"pods", "persistentvolumeclaims", "services"})
    for (const auto& x : list(kind)) {
      const auto path = "/api/v1/namespaces/ns/" + std::string{kind} + "/" + name_of(x);
      const auto orphaned = !standing || owner_of(x) != uid_of(*standing);
      const auto is_pod = std::string_view{kind} == "pods";
      if (owner_of(x).empty())
        continue;
      if (orphaned && !is_terminating(x))
        out.emplace_back([this, path, x] {
          log_("the garbage collector deletes " + path);
          must(k8s::remove(path, json{{"preconditions", {{"uid", uid_of(x)}}}}));
        });
      else if (is_pod && is_terminating(x))
        out.emplace_back([this, x] { end(x); });
      else if (is_pod && phase_of(x) != "Running" && phase_of(x) != "Failed")
        out.emplace_back([this, x] { run(x); });
      else if (!is_pod && is_terminating(x) && x.at("metadata").contains("finalizers"))
        out.emplace_back([this, path] { must(k8s::merge_patch(path, {{"metadata", {{"finalizers", nullptr}}}})); });
    }
  return out;
}

std::optional<embedded::sandbox_view> cluster::look() const {
  auto standing = sandbox();
  if (!standing)
    return std::nullopt;
  auto seen = embedded::sandbox_view{*standing, {}, {}, {}};
  for (const auto& x : list("pods"))
    if (embedded::controls(*standing, x) || name_of(x) == sandbox_name)
      seen.pods.push_back(x);
  for (const auto& x : list("persistentvolumeclaims"))
    if (name_of(x) == std::string{"workspace-"} + sandbox_name)
      seen.claims[name_of(x)] = x;
  for (const auto& x : list("services"))
    if (name_of(x) == sandbox_name)
      seen.service = x;
  return seen;
}

void cluster::begin_pass() {
  looked_at_ = objects_.version();
  auto seen = look();
  auto plan = embedded::plan_sandbox(*seen, now());
  pass_ = pass{std::move(*seen), {plan.writes.begin(), plan.writes.end()}, std::move(plan.errors), plan.report};
}

/// One request of the pass, as the embedded controller makes them.
void cluster::go_on() {
  if (pass_->writes.empty()) {
    auto ended = std::move(*pass_);
    pass_.reset();
    auto report = ended.report ? embedded::report_sandbox(ended.seen, ended.errors, now()) : std::nullopt;
    if (report && serve(*report))
      log_("the controller reports " + report->body.dump());
    return;
  }
  const auto write = pass_->writes.front();
  pass_->writes.pop_front();
  auto got = serve(write.call);
  log_("the controller: " + write.call.method + " " + write.call.path + (got ? "" : " refused"));
  if (got && *got) {
    embedded::apply_answer(pass_->seen, write, **got);
    return;
  }
  if (got || (write.call.method == "DELETE" && std::holds_alternative<k8s::already_gone>(got.error())))
    return;
  pass_->errors.push_back("refused");
  looked_at_ = 0; // it is made again
  if (write.what == embedded::sandbox_write::of::pod)
    std::erase_if(pass_->writes, [](const auto& x) { return x.what == embedded::sandbox_write::of::annotation; });
}

// -- the node --------------------------------------------------------------------

void cluster::run(const json& pod) {
  const auto path = k8s::pods_path(name_space, name_of(pod));
  auto address = std::string{};
  for (std::size_t i = 1; i <= addresses && address.empty(); ++i)
    if (auto free = "10.0.0." + std::to_string(i); guest_at(free) == nullptr)
      address = free;
  if (address.empty())
    return;
  if (!k8s::text_at(pod, "/spec/nodeName"))
    if (!objects_.bind(name_space, name_of(pod), {{"target", {{"kind", "Node"}, {"name", "node-1"}}}}, now()))
      return;
  must(k8s::merge_patch(path + "/status", {{"status",
                                            {{"phase", "Running"},
                                             {"podIP", address},
                                             {"podIPs", json::array({{{"ip", address}}})},
                                             {"conditions", json::array({{{"type", "Ready"}, {"status", "True"}}})}}}}));
  guests_.push_back({uid_of(pod), owner_of(pod), address, "boot-" + std::to_string(++boots_)});
  log_("pod " + uid_of(pod) + " of " + owner_of(pod) + " runs at " + address + " (" + guests_.back().boot + ")");
}

void cluster::end(const json& pod) {
  std::erase_if(guests_, [&](const auto& x) { return x.pod == uid_of(pod); });
  must(k8s::remove(k8s::pods_path(name_space, name_of(pod)), json{{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", uid_of(pod)}}}}));
  log_("pod " + uid_of(pod) + " has ended");
}

void cluster::restart_guest() {
  if (guests_.empty())
    return;
  guests_.front().boot = "boot-" + std::to_string(++boots_);
  log_("the agent of pod " + guests_.front().pod + " is another process: " + guests_.front().boot);
}

// -- strangers -------------------------------------------------------------------

void cluster::wipe() {
  const auto standing = sandbox();
  if (!standing)
    return;
  log_("somebody deletes Sandbox " + uid_of(*standing));
  must(k8s::remove(k8s::sandboxes_path(name_space, sandbox_name)));
}

void cluster::make_stranger(bool restored) {
  if (sandbox() || !last_)
    return;
  auto body = *last_;
  for (const auto* x : {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"})
    body["metadata"].erase(x);
  body.erase("status");
  if (!restored)
    body["metadata"]["annotations"].erase(std::string{k8s::epoch_annotation});
  must(k8s::post(k8s::sandboxes_path(name_space), body));
  log_("somebody makes Sandbox " + uid_of(*sandbox()) + (restored ? " from a backup" : " anew"));
}

bool cluster::lose_annotation() {
  const auto standing = sandbox();
  if (!standing || !k8s::read_sandbox(*standing).annotations.contains(std::string{k8s::epoch_annotation}))
    return false;
  must(k8s::merge_patch(k8s::sandboxes_path(name_space, sandbox_name),
                        {{"metadata", {{"annotations", {{std::string{k8s::epoch_annotation}, nullptr}}}}}}));
  log_("somebody takes the epoch off");
  return true;
}

void cluster::wake() {
  const auto standing = sandbox();
  if (!standing || k8s::read_sandbox(*standing).mode != k8s::operating_mode::suspended)
    return;
  must(k8s::merge_patch(k8s::sandboxes_path(name_space, sandbox_name), {{"spec", {{"operatingMode", "Running"}}}}));
  log_("somebody wakes it with kubectl");
}

} // namespace paddock::sim
