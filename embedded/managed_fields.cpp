#include "embedded/managed_fields.hpp"

#include "base/time.hpp"
#include "base/utf8.hpp"
#include "embedded/event_view.hpp"
#include "embedded/field_walk.hpp"
#include "embedded/first_bytes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace paddock::embedded {

namespace {

constexpr std::size_t longest_manager = 128;
constexpr std::size_t most_updaters = 10;
constexpr auto ancient = "ancient-changes";

/// What nobody manages.
void strip(field_set& fields) {
  for (const auto* name : {"apiVersion", "kind"})
    fields.erase(member_step(name));
  auto& metadata = fields.at("f:metadata");
  metadata.leave();
  for (const auto* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion"})
    metadata.erase(member_step(name));
  fields.tidy();
}

/// What the server says by itself when the object is made.
void strip_given(const resource_kind& kind, field_set& fields) {
  const auto drop = [&](std::initializer_list<const char*> names) {
    for (const auto* name : names)
      fields.at("f:spec").erase(member_step(name));
  };
  if (kind.kind == "Namespace")
    drop({"finalizers"});
  if (kind.kind == "Service")
    drop({"clusterIPs", "ipFamilies", "ipFamilyPolicy"});
  if (kind.has_status)
    fields.erase("f:status");
  fields.tidy();
}

/// Of a write by way of the status, or by another way.
field_set within(const resource_kind& kind, field_set fields, const std::string& subresource) {
  if (subresource == "status") {
    field_set out;
    if (const auto* status = fields.find("f:status"))
      out.at("f:status") = *status;
    return out;
  }
  if (kind.has_status)
    fields.erase("f:status");
  return fields;
}

manager_entry entry_of(const resource_kind& kind, const field_author& who, bool applies) {
  return {who.manager, applies, kind.api_version(), who.subresource, who.time, {}};
}

/// What a write changed, in the terms of one of the forms that the kind has.
struct write_changes {
  field_set taken; // new or other
  field_set removed;
};

write_changes changes_in(const resource_kind& form, const json& before, const json& after) {
  const auto shown = [&](const json& x) { return form.view ? to_event_view(x) : x; };
  auto changes =
    form.view ? compare_fields(field_schema(form), shown(before), shown(after)) : compare_fields(field_schema(form), before, after);
  strip(changes.added);
  strip(changes.modified);
  if (find(before, {"metadata", "uid"}) == nullptr)
    strip_given(form, changes.added);
  return {changes.modified.united(changes.added), std::move(changes.removed)};
}

/// The form of that version; one that is not known is taken for the kept one.
const resource_kind& form_of(const resource_kind& kind, const std::string& version) {
  for (const auto& x : served_kinds())
    if (x.kind == kind.kind && x.view && x.api_version() == version)
      return x;
  return kind;
}

managed_fields::iterator find_entry(managed_fields& all, const manager_entry& wanted) {
  return std::find_if(all.begin(), all.end(), [&](const manager_entry& x) { return x.same_manager(wanted); });
}

void drop_empty(managed_fields& all) {
  std::erase_if(all, [](const manager_entry& x) { return x.fields.empty(); });
}

/// Oldest first; the order in which they are put together.
bool older(const manager_entry* a, const manager_entry* b) {
  return std::tie(a->time, a->manager, a->subresource) < std::tie(b->time, b->manager, b->subresource);
}

void cap_updaters(managed_fields& all) {
  std::vector<const manager_entry*> updaters;
  for (const auto& x : all)
    if (!x.applies)
      updaters.push_back(&x);
  if (updaters.size() <= most_updaters)
    return;
  std::sort(updaters.begin(), updaters.end(), older);
  // One more than is too many goes: together they are one.
  updaters.resize(updaters.size() - most_updaters + 1);
  manager_entry bucket{ancient, false, updaters.back()->version, "", updaters.back()->time, {}};
  const std::set<const manager_entry*> old{updaters.begin(), updaters.end()};
  managed_fields left;
  for (auto& x : all)
    if (old.contains(&x))
      bucket.fields.add(x.fields);
    else
      left.push_back(std::move(x));
  left.push_back(std::move(bucket));
  all = std::move(left);
}

// -- conflicts ----------------------------------------------------------------------------------------------------

void list_paths(const field_set& fields, const std::string& path, std::vector<std::string>& out) {
  if (fields.here())
    out.push_back(path);
  for (const auto& [step, below] : fields.below())
    list_paths(below, path + step_text(step), out);
}

std::string title(const manager_entry& x) {
  return in_quotes(x.manager) + (x.subresource.empty() ? "" : " with subresource " + in_quotes(x.subresource))
         + (x.applies ? "" : " using " + x.version);
}

api_status conflicts(const managed_fields& with) {
  std::map<std::string, std::vector<std::string>> paths;
  for (const auto& x : with)
    list_paths(x.fields, "", paths[title(x)]);
  status_details details;
  std::string text;
  for (const auto& [who, all] : paths) {
    text += (text.empty() ? "conflicts with " : "\nconflicts with ") + who + ":";
    for (const auto& path : all) {
      text += "\n- " + path;
      details.causes.push_back({"FieldManagerConflict", "conflict with " + who, path});
    }
  }
  const auto n = details.causes.size();
  if (n == 1)
    text = details.causes.front().message + ": " + details.causes.front().field;
  return {409, "Conflict", "Apply failed with " + std::to_string(n) + (n == 1 ? " conflict: " : " conflicts: ") + text, std::move(details)};
}

// -- pruning ------------------------------------------------------------------------------------------------------

/// `merged` without what the author applied before and does not any more. What others apply too stays.
json pruned(const type_schema& schema, const json& merged, const field_set& before, const managed_fields& all) {
  const auto mine = with_named(schema, before);
  auto left = remove_fields(schema, merged, mine);
  field_set applied;
  for (const auto& x : all)
    if (x.applies)
      applied.add(x.fields);
  const auto whole = with_named(schema, fields_of(schema, merged));
  const auto kept = with_named(schema, fields_of(schema, left)).united(with_named(schema, applied));
  left = remove_fields(schema, merged, whole.without(kept));
  // What the author never had is not the author's to remove.
  const auto gone = whole.without(with_named(schema, fields_of(schema, left)));
  return remove_fields(schema, merged, gone.common(before));
}

} // namespace

std::string qualified_type(std::string_view version, std::string_view kind) {
  return (version.find('/') == std::string_view::npos ? "/" : "") + std::string{version} + ", Kind=" + std::string{kind};
}

// -- reading and writing ------------------------------------------------------------------------------------------

std::optional<managed_fields> read_managed(const json& entries) {
  if (!entries.is_array())
    return std::nullopt;
  managed_fields out;
  out.reserve(entries.size());
  std::map<manager_identity, std::size_t> places;
  for (const auto& x : entries) {
    const auto operation = text_at(x, {"operation"});
    const auto* fields = member(x, "fieldsV1");
    if ((operation != "Apply" && operation != "Update") || text_at(x, {"fieldsType"}) != "FieldsV1" || fields == nullptr)
      return std::nullopt;
    auto read = field_set::read(*fields);
    if (!read)
      return std::nullopt;
    manager_entry one{text_at(x, {"manager"}),     operation == "Apply", text_at(x, {"apiVersion"}),
                      text_at(x, {"subresource"}), text_at(x, {"time"}), std::move(*read)};
    if (const auto same = places.find(one.identity()); same != places.end()) {
      out[same->second].fields.add(one.fields);
      continue;
    }
    out.push_back(std::move(one));
    places.emplace(out.back().identity(), out.size() - 1);
  }
  drop_empty(out);
  return out;
}

json managed_json(managed_fields entries) {
  std::sort(entries.begin(), entries.end(), [](const manager_entry& a, const manager_entry& b) {
    return std::tuple{!a.applies, a.time, a.manager, a.version, a.subresource}
           < std::tuple{!b.applies, b.time, b.manager, b.version, b.subresource};
  });
  auto out = json::array();
  for (const auto& x : entries) {
    json one{{"manager", x.manager},
             {"operation", x.applies ? "Apply" : "Update"},
             {"apiVersion", x.version},
             {"fieldsType", "FieldsV1"},
             {"fieldsV1", x.fields.to_json()}};
    if (!x.time.empty())
      one["time"] = x.time;
    if (!x.subresource.empty())
      one["subresource"] = x.subresource;
    out.push_back(std::move(one));
  }
  return out;
}

std::string managed_text(managed_fields entries) {
  return entries.empty() ? std::string{} : encode_json(managed_json(std::move(entries)));
}

bool same_fields(const managed_fields& a, const managed_fields& b) {
  std::map<manager_identity, const field_set*> theirs;
  for (const auto& x : b)
    theirs.emplace(x.identity(), &x.fields);
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const manager_entry& x) {
           const auto same = theirs.find(x.identity());
           return same != theirs.end() && *same->second == x.fields;
         });
}

std::string manager_of(std::string_view user_agent) {
  auto out = to_utf8_with_replacement(user_agent.substr(0, user_agent.find('/')));
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  out = first_bytes(out, longest_manager);
  return out.empty() ? "unknown" : out;
}

json blank_object(const resource_kind& kind) {
  static const auto blanks = json::parse(R"({
    "Namespace": {"spec": {}, "status": {}},
    "Node": {"spec": {}, "status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 0}}, "nodeInfo": {"architecture": "", "bootID": "",
      "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "",
      "operatingSystem": "", "osImage": "", "systemUUID": ""}}},
    "Pod": {"spec": {"containers": null}, "status": {}},
    "PersistentVolumeClaim": {"spec": {"resources": {}}, "status": {}},
    "Service": {"spec": {}, "status": {"loadBalancer": {}}},
    "Event": {"involvedObject": {}, "source": {}, "firstTimestamp": null, "lastTimestamp": null, "eventTime": null,
      "reportingComponent": "", "reportingInstance": ""},
    "Lease": {"spec": {}},
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "Role": {"rules": null},
    "ClusterRole": {"rules": null},
    "RoleBinding": {"roleRef": {"apiGroup": "", "kind": "", "name": ""}},
    "ClusterRoleBinding": {"roleRef": {"apiGroup": "", "kind": "", "name": ""}},
    "ValidatingAdmissionPolicy": {"spec": {}, "status": {}},
    "ValidatingAdmissionPolicyBinding": {"spec": {}}
  })");
  auto out = kind.custom ? json::object() : blanks.value(std::string{kind.kind}, json::object());
  if (kind.asks)
    out["spec"] = json::object();
  out["apiVersion"] = kind.api_version();
  out["kind"] = kind.kind;
  out["metadata"] = json::object();
  return out;
}

// -- writes -------------------------------------------------------------------------------------------------------

managed_fields after_update(const resource_kind& kind, const json& before, const json& after, managed_fields known,
                            const field_author& who) {
  const auto& form = who.by_view ? *find_kind("events.k8s.io", "v1", kind.plural) : kind;
  std::map<const resource_kind*, write_changes> all; // by form: there may be many managers
  const auto changes = [&](const resource_kind& in) -> const write_changes& {
    const auto there = all.find(&in);
    return there != all.end() ? there->second : all.emplace(&in, changes_in(in, before, after)).first->second;
  };
  for (auto& x : known) {
    const auto& theirs = changes(form_of(kind, x.version));
    x.fields = x.fields.without(theirs.taken).without(theirs.removed);
  }
  const auto& taken = changes(form).taken;
  if (!taken.empty() && !who.manager.empty()) {
    auto mine = entry_of(form, who, false);
    auto there = find_entry(known, mine);
    if (there == known.end())
      there = known.insert(known.end(), std::move(mine));
    there->fields = there->fields.united(taken);
    there->time = who.time;
  }
  drop_empty(known);
  cap_updaters(known);
  return known;
}

api_result<applied> apply_fields(const resource_kind& kind, const json& live, managed_fields known, const json& config,
                                 const field_author& who, bool force) {
  const auto& schema = field_schema(kind);
  if (const auto why = unfit_fields(schema, config); !why.empty())
    return tl::unexpected{api_status{500,
                                     "",
                                     "failed to create typed patch object (" + text_at(config, {"metadata", "namespace"}) + "/"
                                       + text_at(config, {"metadata", "name"}) + "; " + qualified_type(kind.api_version(), kind.kind)
                                       + "): " + why,
                                     {}}};
  auto fields = within(kind, fields_of(schema, config), who.subresource);
  strip(fields);
  const auto before = known;
  auto mine = entry_of(kind, who, true);
  auto there = find_entry(known, mine);
  const auto had = there == known.end() ? field_set{} : there->fields;
  if (there == known.end())
    there = known.insert(known.end(), mine);
  there->fields = fields;
  auto object = merge_fields(schema, live, config);
  if (!had.empty())
    object = pruned(schema, object, had, known);
  // -- what others have set --
  const auto changes = compare_fields(schema, live, object);
  const auto taken = within(kind, changes.modified.united(changes.added), who.subresource);
  managed_fields disputed;
  for (auto& x : known) {
    if (x.same_manager(mine))
      continue;
    auto both = x.fields.common(taken);
    if (!both.empty()) {
      disputed.push_back(x);
      disputed.back().fields = std::move(both);
    }
    x.fields = x.fields.without(taken).without(changes.removed);
  }
  if (!disputed.empty() && !force)
    return tl::unexpected{conflicts(disputed)};
  there = find_entry(known, mine);
  if (object != live || !same_fields(before, known))
    there->time = who.time;
  drop_empty(known);
  return applied{std::move(object), std::move(known)};
}

} // namespace paddock::embedded
