#include "embedded/pod_environment.hpp"

#include "embedded/pod_facts.hpp"
#include "embedded/quantity.hpp"

#include <algorithm>
#include <cmath>

namespace paddock::embedded {

namespace {

using nlohmann::json;
using pairs = std::vector<std::pair<std::string, std::string>>;
using text_or_why = tl::expected<std::optional<std::string>, std::string>;

/// The key of `metadata.labels['KEY']`.
std::optional<std::string> subscript(const std::string& field, const std::string& of) {
  if (!field.starts_with(of + "['") || !field.ends_with("']"))
    return std::nullopt;
  return field.substr(of.size() + 2, field.size() - of.size() - 4);
}

/// The value of a field of the pod, or nothing: a field that is not known here.
std::optional<std::string> field_of(const json& pod, const std::string& field, const pod_place& where) {
  if (field == "metadata.uid")
    return uid_of(pod);
  if (field == "metadata.name")
    return name_of(pod);
  if (field == "metadata.namespace")
    return namespace_of(pod);
  if (auto key = subscript(field, "metadata.labels"))
    return label_of(pod, *key);
  if (auto key = subscript(field, "metadata.annotations"))
    return annotation_of(pod, *key);
  if (field == "spec.nodeName")
    return where.node;
  if (field == "spec.serviceAccountName")
    return text_in(pod, "/spec/serviceAccountName");
  if (field == "status.hostIP" || field == "status.hostIPs")
    return where.host_address;
  if (field == "status.podIP" || field == "status.podIPs")
    return where.pod_address;
  return std::nullopt;
}

/// `limits.cpu` and its kin, divided and rounded up; an absent limit is nought.
std::optional<std::string> resource_of(const json& container, const json& from) {
  auto what = text_in(from, "/resource");
  auto dot = what.find('.');
  if (dot == std::string::npos || (what.substr(0, dot) != "limits" && what.substr(0, dot) != "requests"))
    return std::nullopt;
  auto amount = quantity_in(value_in(container, "/resources/" + what.substr(0, dot)), what.substr(dot + 1));
  auto divisor = quantity_in(from, "divisor");
  // The largest double below what an int64 holds.
  auto parts = std::min(std::ceil(amount / (divisor > 0 ? divisor : 1)), 9223372036854774784.0);
  return std::to_string(static_cast<std::int64_t>(parts));
}

text_or_why data_value(const json& from, bool secret, const data_lookup& look) {
  auto name = text_in(from, "/name");
  auto key = text_in(from, "/key");
  auto optional = value_in(from, "/optional") == json(true);
  if (auto data = look({secret, name}))
    for (const auto& [k, value] : *data)
      if (k == key)
        return std::optional{value};
  if (optional)
    return std::optional<std::string>{};
  return tl::unexpected{std::string{secret ? "Secret " : "ConfigMap "} + name + " has no key " + key + ", or does not exist"};
}

text_or_why value_of(const json& pod, const json& container, const json& variable, const pod_place& where, const data_lookup& look,
                     const pairs& known) {
  const auto& from = value_in(variable, "/valueFrom");
  if (!from.is_object())
    return std::optional{expand_variables(text_in(variable, "/value"), known)};
  if (auto field = text_in(from, "/fieldRef/fieldPath"); !field.empty()) {
    if (auto value = field_of(pod, field, where))
      return value;
    return tl::unexpected{"takes the field " + field + ", which is not known here"};
  }
  if (const auto& resource = value_in(from, "/resourceFieldRef"); resource.is_object()) {
    if (auto value = resource_of(container, resource))
      return value;
    return tl::unexpected{"takes the resource " + text_in(resource, "/resource") + ", which is not known here"};
  }
  if (const auto& x = value_in(from, "/configMapKeyRef"); x.is_object())
    return data_value(x, false, look);
  if (const auto& x = value_in(from, "/secretKeyRef"); x.is_object())
    return data_value(x, true, look);
  return tl::unexpected{std::string{"has a source that is not known here"}};
}

void set(pairs& all, const std::string& name, const std::string& value) {
  auto same = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.first == name; });
  if (same == all.end())
    all.emplace_back(name, value);
  else
    same->second = value;
}

} // namespace

tl::expected<pairs, std::string> container_environment(const nlohmann::json& pod, const nlohmann::json& container, const pod_place& where,
                                                       const data_lookup& look) {
  pairs result;
  for (const auto& x : array_in(container, "/envFrom")) {
    auto secret = value_in(x, "/secretRef").is_object();
    const auto& from = value_in(x, secret ? "/secretRef" : "/configMapRef");
    auto data = look({secret, text_in(from, "/name")});
    if (!data && value_in(from, "/optional") != json(true))
      return tl::unexpected{std::string{secret ? "Secret " : "ConfigMap "} + text_in(from, "/name") + " does not exist"};
    if (data)
      for (const auto& [key, value] : *data)
        set(result, text_in(x, "/prefix") + key, value);
  }
  for (const auto& x : array_in(container, "/env")) {
    auto value = value_of(pod, container, x, where, look, result);
    if (!value)
      return tl::unexpected{"the variable " + text_in(x, "/name") + " " + value.error()};
    if (*value)
      set(result, text_in(x, "/name"), **value);
  }
  return result;
}

} // namespace paddock::embedded
