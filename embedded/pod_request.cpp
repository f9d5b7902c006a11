#include "embedded/pod_request.hpp"

#include "embedded/pod_environment.hpp"
#include "embedded/pod_facts.hpp"
#include "embedded/quantity.hpp"
#include "embedded/selector.hpp"

#include <algorithm>
#include <set>

namespace paddock::embedded {

namespace {

using nlohmann::json;

constexpr auto token_variable = "NAMZU_AGENT_BIND_TOKEN";

std::vector<std::string> texts_in(const json& object, const std::string& where) {
  std::vector<std::string> result;
  for (const auto& x : array_in(object, where))
    result.push_back(x.is_string() ? x.get<std::string>() : std::string{});
  return result;
}

bool has_token(const json& container) {
  const auto& all = array_in(container, "/env");
  return std::any_of(all.begin(), all.end(), [](const json& x) { return text_in(x, "/name") == token_variable; });
}

/// The container that runs the guest agent, or null.
const json& guest_of(const json& pod) {
  static const json none;
  const auto& all = array_in(pod, "/spec/containers");
  for (const auto& x : all)
    if (has_token(x))
      return x;
  for (const auto& x : all)
    if (array_in(x, "/command").empty())
      return x;
  return none;
}

/// The claim behind the pod's volume of that name, or nothing.
std::optional<std::string> claim_behind(const json& pod, const std::string& volume) {
  for (const auto& x : array_in(pod, "/spec/volumes"))
    if (text_in(x, "/name") == volume)
      if (auto claim = text_in(x, "/persistentVolumeClaim/claimName"); !claim.empty())
        return claim;
  return std::nullopt;
}

tl::expected<container_request, std::string> read_container(const json& pod, const json& from, bool guest, const pod_place& where,
                                                            const data_lookup& look) {
  container_request result;
  result.name = text_in(from, "/name");
  result.guest = guest;
  auto environment = container_environment(pod, from, where, look);
  if (!environment)
    return tl::unexpected{"container " + result.name + ": " + environment.error()};
  result.environment = std::move(*environment);
  if (!guest) {
    for (const auto* list : {"/command", "/args"})
      for (const auto& x : texts_in(from, list))
        result.command.push_back(expand_variables(x, result.environment));
    if (array_in(from, "/command").empty())
      return tl::unexpected{"container " + result.name + " has no command, and this node has no images that could say one"};
    result.directory = text_in(from, "/workingDir");
  }
  for (auto [which, into] :
       {std::pair{"startupProbe", &result.startup}, {"readinessProbe", &result.readiness}, {"livenessProbe", &result.liveness}}) {
    auto got = read_probe(from, which);
    if (!got)
      return tl::unexpected{got.error()};
    *into = std::move(*got);
  }
  result.pre_stop = texts_in(from, "/lifecycle/preStop/exec/command");
  result.stays = text_in(from, "/restartPolicy") == "Always";
  result.cpu_limit = quantity_in(value_in(from, "/resources/limits"), "cpu");
  result.memory_limit = quantity_in(value_in(from, "/resources/limits"), "memory");
  return result;
}

} // namespace

std::string expand_variables(const std::string& text, const std::vector<std::pair<std::string, std::string>>& known) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 >= text.size()) {
      result += text[i];
      continue;
    }
    if (text[i + 1] == '$') {
      result += '$';
      ++i;
      continue;
    }
    auto end = text[i + 1] == '(' ? text.find(')', i) : std::string::npos;
    auto name = end == std::string::npos ? std::string{} : text.substr(i + 2, end - i - 2);
    auto found = std::find_if(known.begin(), known.end(), [&](const auto& x) { return x.first == name; });
    if (end == std::string::npos || found == known.end()) {
      result += '$';
      continue;
    }
    result += found->second;
    i = end;
  }
  return result;
}

std::optional<std::string> workspace_claim(const nlohmann::json& pod) {
  const auto& guest = guest_of(pod);
  for (const auto* list : {"/volumeDevices", "/volumeMounts"})
    for (const auto& x : array_in(guest, list))
      if (auto claim = claim_behind(pod, text_in(x, "/name")))
        return claim;
  auto all = claims_of(pod);
  return all.empty() ? std::nullopt : std::optional{all.front()};
}

std::optional<std::string> unfit_name(const nlohmann::json& pod) {
  if (!is_dns_label(namespace_of(pod)) || !is_dns_subdomain(name_of(pod)) || uid_of(pod).empty() || !is_label_value(uid_of(pod)))
    return "the pod has a namespace, name or uid that cannot be one";
  for (const auto* list : {"/spec/initContainers", "/spec/containers"})
    for (const auto& x : array_in(pod, list))
      if (auto name = text_in(x, "/name"); !is_dns_label(name))
        return "container name \"" + name + "\" is not a DNS label";
  return std::nullopt;
}

std::uint16_t guest_port(const nlohmann::json& pod) {
  auto port = number_in(guest_of(pod), "/ports/0/containerPort");
  return port && *port > 0 && *port <= 65535 ? static_cast<std::uint16_t>(*port) : std::uint16_t{1024};
}

std::vector<data_reference> data_needed(const nlohmann::json& pod) {
  std::set<data_reference> result;
  auto add = [&](bool secret, const json& from) {
    // It becomes part of a request's path.
    if (auto name = text_in(from, "/name"); is_dns_subdomain(name))
      result.insert({secret, name});
  };
  for (const auto* list : {"/spec/initContainers", "/spec/containers"})
    for (const auto& container : array_in(pod, list)) {
      for (const auto& x : array_in(container, "/env")) {
        add(false, value_in(x, "/valueFrom/configMapKeyRef"));
        add(true, value_in(x, "/valueFrom/secretKeyRef"));
      }
      for (const auto& x : array_in(container, "/envFrom")) {
        add(false, value_in(x, "/configMapRef"));
        add(true, value_in(x, "/secretRef"));
      }
    }
  return {result.begin(), result.end()};
}

tl::expected<pod_request, std::string> read_pod_request(const nlohmann::json& pod, const pod_place& where, const data_lookup& look) {
  if (auto why = unfit_name(pod))
    return tl::unexpected{*why};
  const auto& containers = array_in(pod, "/spec/containers");
  if (containers.empty())
    return tl::unexpected{std::string{"the pod has no container"}};
  const auto& guest = guest_of(pod);
  pod_request result;
  result.port = guest_port(pod);
  if (!guest.is_null() && result.port < 1024)
    return tl::unexpected{"container port " + std::to_string(result.port) + " needs a privilege that no guest has: use 1024 to 65535"};
  result.claim = workspace_claim(pod);
  for (const auto& x : array_in(pod, "/spec/initContainers")) {
    auto got = read_container(pod, x, false, where, look);
    if (!got)
      return tl::unexpected{got.error()};
    got->init = !got->stays;
    result.init.push_back(std::move(*got));
  }
  for (const auto& x : containers) {
    auto got = read_container(pod, x, &x == &guest, where, look);
    if (!got)
      return tl::unexpected{got.error()};
    result.containers.push_back(std::move(*got));
  }
  return result;
}

} // namespace paddock::embedded
