#include "embedded/rbac.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <tuple>

namespace paddock::embedded {

namespace {

bool has(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool has_all(const std::vector<std::string>& all, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& x) { return has(all, x); });
}

std::string verb_of(std::string_view method) {
  if (method == "POST")
    return "create";
  if (method == "GET" || method == "HEAD")
    return "get";
  if (method == "PUT")
    return "update";
  if (method == "PATCH")
    return "patch";
  return method == "DELETE" ? "delete" : "";
}

/// The name of a field selector that asks for one name and nothing else.
std::string selected_name(const request_target& target) {
  constexpr std::string_view wanted = "metadata.name=";
  const auto text = target.query_text("fieldSelector");
  if (!text.starts_with(wanted) || text.find_first_of(",!", wanted.size()) != std::string::npos)
    return {};
  const auto name = text.substr(wanted.size());
  return name.starts_with('=') ? name.substr(1) : name;
}

bool covers_resource(const policy_rule& rule, const std::string& resource) {
  if (has(rule.resources, "*") || has(rule.resources, resource))
    return true;
  const auto slash = resource.find('/');
  return slash != std::string::npos && has(rule.resources, "*" + resource.substr(slash));
}

bool covers_url(const std::string& granted, const std::string& wanted) {
  if (granted == "*" || granted == wanted)
    return true;
  return granted.ends_with('*') && wanted.starts_with(granted.substr(0, granted.find_last_not_of('*') + 1));
}

/// Whether one rule grants all of another that names one verb and one resource or path.
bool covers(const policy_rule& rule, const policy_rule& wanted) {
  if (!has(rule.verbs, "*") && !has_all(rule.verbs, wanted.verbs))
    return false;
  if (!wanted.urls.empty())
    return std::any_of(rule.urls.begin(), rule.urls.end(), [&](const auto& x) { return covers_url(x, wanted.urls.front()); });
  if (!has(rule.groups, "*") && !has_all(rule.groups, wanted.groups))
    return false;
  if (!covers_resource(rule, wanted.resources.front()))
    return false;
  return rule.names.empty() || (!wanted.names.empty() && has_all(rule.names, wanted.names));
}

double bytes_of(const std::vector<std::string>& all) {
  double out = 0;
  for (const auto& x : all)
    out += static_cast<double>(x.size());
  return out;
}

/// How many combinations the lists have, one that is long counting for more. An empty list leaves none.
double combinations(std::initializer_list<const std::vector<std::string>*> lists) {
  constexpr double bytes_for_one = 256;
  double number = 1;
  double length = 0; // of one combination, on average
  for (const auto* all : lists) {
    const auto size = static_cast<double>(all->size());
    number *= size;
    length += all->empty() ? 0 : bytes_of(*all) / size;
  }
  return number * std::max(1.0, length / bytes_for_one);
}

/// One rule for each verb on each resource, name and path.
std::vector<policy_rule> taken_apart(const policy_rule& rule) {
  std::vector<policy_rule> out;
  for (const auto& verb : rule.verbs) {
    for (const auto& group : rule.groups) {
      for (const auto& resource : rule.resources) {
        if (rule.names.empty())
          out.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const auto& name : rule.names)
          out.push_back({{verb}, {group}, {resource}, {name}, {}});
      }
    }
    for (const auto& url : rule.urls)
      out.push_back({{verb}, {}, {}, {}, {url}});
  }
  return out;
}

std::string field(const char* name, const std::vector<std::string>& all) {
  if (all.empty())
    return {};
  std::string out;
  for (const auto& x : all)
    out += (out.empty() ? "" : " ") + in_quotes(x);
  return std::string{name} + ":[" + out + "], ";
}

} // namespace

// -- what is asked ------------------------------------------------------------------------------------------------

access_attributes read_attributes(std::string_view method, const request_target& target) {
  access_attributes out;
  std::string lower;
  for (const char c : method)
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  out.verb = lower;
  out.path = target.path;
  auto parts = std::span<const std::string>{target.segments};
  const bool named = !parts.empty() && parts[0] == "apis";
  if (parts.size() < 3 || (!named && parts[0] != "api") || (named && parts.size() < 4))
    return out;
  out.on_resource = true;
  out.verb = verb_of(method);
  if (named)
    out.group = parts[1];
  out.version = parts[named ? 2 : 1];
  parts = parts.subspan(named ? 3 : 2);
  // `namespaces/N/status` is about the namespace, `namespaces/N/pods` about pods.
  if (parts[0] == "namespaces" && parts.size() > 1) {
    out.name_space = parts[1];
    if (parts.size() > 2 && parts[2] != "status" && parts[2] != "finalize")
      parts = parts.subspan(2);
  }
  out.resource = parts[0];
  if (parts.size() > 1)
    out.name = parts[1];
  if (parts.size() > 2)
    out.subresource = parts[2];
  if (out.name.empty() && out.verb == "get") {
    out.verb = target.query_flag("watch") ? "watch" : "list";
    out.name = selected_name(target);
  } else if (out.name.empty() && out.verb == "delete") {
    out.verb = "deletecollection";
  }
  return out;
}

api_status access_denied(const access_attributes& what, std::string_view user) {
  auto out = api_status{403, "Forbidden", {}, status_details{}};
  const auto whose = "User " + in_quotes(user) + " cannot " + what.verb;
  if (!what.on_resource) {
    out.message = "forbidden: " + whose + " path " + in_quotes(what.path);
    return out;
  }
  out.details->name = what.name;
  out.details->group = what.group;
  out.details->kind = what.resource;
  const auto resource = what.resource + (what.subresource.empty() ? "" : "/" + what.subresource);
  out.message = what.resource + (what.group.empty() ? "" : "." + what.group) + (what.name.empty() ? "" : " " + in_quotes(what.name))
                + " is forbidden: " + whose + " resource " + in_quotes(resource) + " in API group " + in_quotes(what.group)
                + (what.name_space.empty() ? " at the cluster scope" : " in the namespace " + in_quotes(what.name_space));
  return out;
}

// -- what is granted ----------------------------------------------------------------------------------------------

bool is_role(const resource_kind& kind) {
  return kind.kind == "Role" || kind.kind == "ClusterRole";
}

bool aggregates(const json& role) {
  const auto* x = member(role, "aggregationRule");
  return x != nullptr && x->is_object();
}

std::vector<policy_rule> read_rules(const json& role) {
  std::vector<policy_rule> out;
  if (const auto* rules = member(role, "rules"); rules != nullptr && rules->is_array())
    for (const auto& x : *rules)
      out.push_back({texts_of(x, "verbs"), texts_of(x, "apiGroups"), texts_of(x, "resources"), texts_of(x, "resourceNames"),
                     texts_of(x, "nonResourceURLs")});
  return out;
}

json to_json(const policy_rule& x) {
  json out{{"verbs", x.verbs}};
  if (!x.groups.empty())
    out["apiGroups"] = x.groups;
  if (!x.resources.empty())
    out["resources"] = x.resources;
  if (!x.names.empty())
    out["resourceNames"] = x.names;
  if (!x.urls.empty())
    out["nonResourceURLs"] = x.urls;
  return out;
}

bool allows(const policy_rule& rule, const access_attributes& what) {
  if (!has(rule.verbs, "*") && !has(rule.verbs, what.verb))
    return false;
  if (!what.on_resource)
    return std::any_of(rule.urls.begin(), rule.urls.end(), [&](const auto& x) { return covers_url(x, what.path); });
  if (!has(rule.groups, "*") && !has(rule.groups, what.group))
    return false;
  if (!covers_resource(rule, what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource))
    return false;
  return rule.names.empty() || has(rule.names, what.name);
}

bool too_many(std::span<const policy_rule> held, std::span<const policy_rule> wanted) {
  static const std::vector<std::string> every{""};
  double rights = 0;
  for (const auto& x : wanted)
    rights += combinations({&x.verbs, &x.groups, &x.resources, x.names.empty() ? &every : &x.names}) + combinations({&x.verbs, &x.urls});
  double entries = 0;
  for (const auto& x : held)
    entries += static_cast<double>(x.verbs.size() + x.groups.size() + x.resources.size() + x.names.size() + x.urls.size());
  return rights > most_rights || rights * entries > most_comparisons;
}

std::vector<policy_rule> not_covered(std::span<const policy_rule> held, std::span<const policy_rule> wanted) {
  // By resource and name, so that the verbs on one thing stand together.
  std::map<std::tuple<std::string, std::string, std::string, std::string>, policy_rule> missing;
  for (const auto& rule : wanted) {
    for (auto& part : taken_apart(rule)) {
      if (std::any_of(held.begin(), held.end(), [&](const auto& x) { return covers(x, part); }))
        continue;
      const auto first = [](const std::vector<std::string>& x) { return x.empty() ? std::string{} : x.front(); };
      auto& at = missing[{first(part.groups), first(part.resources), first(part.names), first(part.urls)}];
      const auto verb = part.verbs.front();
      if (at.verbs.empty())
        at = std::move(part);
      else if (!has(at.verbs, verb))
        at.verbs.push_back(verb);
    }
  }
  std::vector<policy_rule> out;
  for (auto& [key, rule] : missing)
    out.push_back(std::move(rule));
  return out;
}

std::string describe(const policy_rule& x) {
  auto out = field("APIGroups", x.groups) + field("Resources", x.resources) + field("ResourceNames", x.names)
             + field("NonResourceURLs", x.urls) + field("Verbs", x.verbs);
  if (!out.empty())
    out.resize(out.size() - 2);
  return "{" + out + "}";
}

} // namespace paddock::embedded
