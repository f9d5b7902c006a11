#include "embedded/store.hpp"

#include "base/random.hpp"
#include "embedded/patch.hpp"
#include "embedded/pod_admission.hpp"
#include "embedded/request_body.hpp"
#include "embedded/schema.hpp"
#include "embedded/store_facts.hpp"
#include "embedded/store_managers.hpp"

namespace paddock::embedded {

namespace {

constexpr std::size_t suffix_length = 5;
constexpr std::size_t longest_prefix = 63 - suffix_length;
constexpr int name_attempts = 8;

const resource_kind& namespace_kind() {
  static const auto* kind = find_kind("", "v1", "namespaces");
  return *kind;
}

/// Whether what `metadata.generation` counts the changes of is the same.
bool same_generation(const json& a, const json& b) {
  const auto within = [](const json& x, const json& y) {
    for (const auto& [key, value] : x.items())
      if (key != "metadata" && key != "status")
        if (const auto* other = member(y, key); other == nullptr || *other != value)
          return false;
    return true;
  };
  return within(a, b) && within(b, a);
}

/// What a strict decoder would refuse; nothing unless it is asked.
std::vector<std::string> complaints_of(const write_options& how, const std::vector<std::string>& unknown) {
  if (!how.strict)
    return {};
  auto out = how.twice;
  for (const auto& x : unknown)
    out.push_back("unknown field " + in_quotes(x));
  return out;
}

std::string strict_text(const std::vector<std::string>& complaints) {
  std::string out;
  for (const auto& x : complaints)
    out += (out.empty() ? "strict decoding error: " : ", ") + x;
  return out;
}

/// Kind and version of what was sent must be those of the path.
std::optional<api_status> other_type(const resource_kind& kind, const json& object) {
  const auto version = text_at(object, {"apiVersion"});
  const auto name = text_at(object, {"kind"});
  if (version != kind.api_version())
    return bad_request("the API version in the data (" + version + ") does not match the expected API version (" + kind.api_version()
                       + ")");
  if (name == kind.kind)
    return std::nullopt;
  if (kind.custom)
    return invalid(kind.group, name, text_at(object, {"metadata", "name"}),
                   {field_invalid("kind", in_quotes(name), "must be " + std::string{kind.kind})});
  return bad_request(name + " in version \"" + std::string{kind.version} + "\" cannot be handled as a " + std::string{kind.kind}
                     + ": no conversion between them");
}

/// The namespace of the object becomes the one of the path, or is refused when it is another one.
std::optional<api_status> place(const resource_kind& kind, const std::string& name_space, json& object) {
  auto& metadata = object_at(object, "metadata");
  if (const auto given = text_at(metadata, {"namespace"}); !given.empty() && given != name_space)
    return bad_request("the namespace of the provided object does not match the namespace sent on the request");
  if (kind.namespaced)
    metadata["namespace"] = name_space;
  else
    metadata.erase("namespace");
  return std::nullopt;
}

/// What this kind of write leaves alone is as it was.
void keep_the_rest(const resource_kind& kind, store::part which, const json& before, json& after) {
  if (which == store::part::status || which == store::part::finalizers) {
    const auto key = which == store::part::status ? "status" : "spec";
    auto wanted = std::exchange(after, before).value(key, json{});
    after.erase(key);
    if (!wanted.is_null())
      after[key] = std::move(wanted);
    return;
  }
  auto& metadata = object_at(after, "metadata");
  for (const auto* field : {"uid", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (const auto* x = find(before, {"metadata", field}))
      metadata[field] = *x;
    else
      metadata.erase(field);
  }
  const auto keep = [&](const char* key) {
    after.erase(key);
    if (const auto* x = member(before, key))
      after[key] = *x;
  };
  if (kind.has_status)
    keep("status");
  if (kind.kind == "Namespace")
    keep("spec");
}

} // namespace

store::store(journal_port* journal, store_bounds bounds, store_names names) : journal_(journal), bounds_(bounds), names_(std::move(names)) {
  if (!names_.uid)
    names_.uid = [] { return new_uuid(); };
  if (!names_.suffix)
    names_.suffix = [](std::size_t n) { return new_name_suffix(n); };
}

tl::expected<void, std::string> store::restore(journal_image image) {
  std::map<std::pair<std::string, std::string>, const resource_kind*> kinds;
  for (const auto& x : served_kinds())
    kinds[{x.api_version(), std::string{x.kind}}] = &x;
  std::map<key, object_ptr> objects;
  std::size_t bytes = 0;
  for (auto& [text_key, text] : image.objects) {
    if (!json::accept(text))
      return tl::unexpected{"object " + text_key + " cannot be read: it is no JSON"};
    const auto kind = kinds.find({text_in(text, {"apiVersion"}), text_in(text, {"kind"})});
    if (kind == kinds.end())
      return tl::unexpected{"object " + text_key + " is of a kind that is not served"};
    key at{kind->second, text_in(text, {"metadata", "namespace"}), text_in(text, {"metadata", "name"})};
    const auto version = std::strtoull(text_in(text, {"metadata", "resourceVersion"}).c_str(), nullptr, 10);
    if (journal_key(at) != text_key || version == 0 || version > image.version)
      return tl::unexpected{"object " + text_key + " is not what its key and version say"};
    bytes += text.size();
    objects.emplace_hint(objects.end(), std::move(at), make_stored(*kind->second, version, std::move(text)));
  }
  objects_ = std::move(objects);
  bytes_ = bytes;
  version_ = floor_ = std::max<std::uint64_t>(image.version, 1);
  events_.clear();
  event_bytes_ = 0;
  return {};
}

api_result<void> store::bootstrap(const std::vector<std::string>& namespaces, instant now) {
  for (const auto& name : namespaces) {
    if (objects_.contains({&namespace_kind(), "", name}))
      continue;
    auto made = create(namespace_kind(), "", {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}}, now);
    if (!made)
      return tl::unexpected{made.error()};
  }
  return {};
}

void store::hold(const resource_kind& kind, json object) {
  const key at{&kind, text_at(object, {"metadata", "namespace"}), text_at(object, {"metadata", "name"})};
  objects_[at] = make_stored(kind, 1, std::move(object), "");
}

// -- reading ------------------------------------------------------------------------------------------------------

api_result<object_ptr> store::get(const resource_kind& kind, const std::string& name_space, const std::string& name) const {
  auto found = objects_.find({&kind, name_space, name});
  if (found == objects_.end())
    return tl::unexpected{not_found(kind, name)};
  return found->second;
}

const store_event* store::event_after(std::uint64_t version) const {
  auto found =
    std::upper_bound(events_.begin(), events_.end(), version, [](std::uint64_t v, const store_event& x) { return v < x.version; });
  return found == events_.end() ? nullptr : &*found;
}

// -- writing ------------------------------------------------------------------------------------------------------

std::string store::journal_key(const key& at) {
  return at.kind->qualified_plural() + "/" + at.name_space + "/" + at.name;
}

void store::remember(store_event event) {
  event_bytes_ += event.now->text.size();
  events_.push_back(std::move(event));
  while (events_.size() > bounds_.events || (event_bytes_ > bounds_.event_bytes && events_.size() > 1)) {
    event_bytes_ -= events_.front().now->text.size();
    floor_ = events_.front().version;
    events_.pop_front();
  }
}

api_result<object_ptr> store::commit(const key& at, json value, std::string_view managed, bool removed, bool dry_run) {
  auto found = objects_.find(at);
  const auto before = found == objects_.end() ? object_ptr{} : found->second;
  const auto version = version_ + 1;
  if (!dry_run)
    object_at(value, "metadata")["resourceVersion"] = std::to_string(version);
  auto now = make_stored(*at.kind, version, std::move(value), managed);
  if (now->text.size() > max_object_bytes)
    return tl::unexpected{too_large()};
  if (dry_run)
    return now;
  const auto bytes = bytes_ - (before ? before->text.size() : 0) + (removed ? 0 : now->text.size());
  if (!removed && bytes > bounds_.bytes && bytes > bytes_)
    return tl::unexpected{internal_error("database space exceeded")};
  // The journal first: what it refuses has not happened.
  if (journal_ != nullptr) {
    auto kept = journal_->commit(version, journal_key(at), removed ? std::nullopt : std::optional{now->text});
    if (!kept)
      return tl::unexpected{internal_error(kept.error())};
  }
  if (group_)
    group_->before.emplace_back(at, before);
  version_ = version;
  bytes_ = bytes;
  if (removed)
    objects_.erase(at);
  else
    objects_[at] = now;
  remember({version, {at.name_space, at.name}, before, now, removed});
  return now;
}

void store::begin_group() {
  if (journal_ == nullptr)
    return;
  journal_->begin_group();
  group_ = group{version_, bytes_, {}};
}

tl::expected<void, std::string> store::end_group() {
  const auto ending = std::exchange(group_, std::nullopt);
  if (!ending)
    return {};
  auto kept = journal_->end_group();
  if (kept)
    return kept;
  for (auto x = ending->before.rbegin(); x != ending->before.rend(); ++x)
    if (x->second)
      objects_[x->first] = x->second;
    else
      objects_.erase(x->first);
  while (!events_.empty() && events_.back().version > ending->version) {
    event_bytes_ -= events_.back().now->text.size();
    events_.pop_back();
  }
  version_ = ending->version;
  bytes_ = ending->bytes;
  floor_ = std::min(floor_, version_);
  return kept;
}

/// Why nothing can be made in the namespace: it is not there, or on its way out.
std::optional<api_status> store::unfit_namespace(const resource_kind& kind, const std::string& name_space, const std::string& name) const {
  if (!kind.namespaced)
    return std::nullopt;
  const auto found = objects_.find({&namespace_kind(), "", name_space});
  if (found == objects_.end())
    return not_found(namespace_kind(), name_space);
  if (is_terminating(*found->second))
    return namespace_ends(kind, name, name_space);
  return std::nullopt;
}

api_result<written> store::create(const resource_kind& kind, const std::string& name_space, json object, instant now, write_options how) {
  if (auto why = other_type(kind, object))
    return tl::unexpected{std::move(*why)};
  if (auto why = misshapen(kind, object))
    return tl::unexpected{std::move(*why)};
  if (auto why = place(kind, name_space, object))
    return tl::unexpected{std::move(*why)};
  const auto sent_managers = take_managed(object);
  auto& metadata = object_at(object, "metadata");
  const auto sent_version = text_at(metadata, {"resourceVersion"});
  // The name, if it is to be found.
  auto name = text_at(metadata, {"name"});
  if (auto prefix = text_at(metadata, {"generateName"}); name.empty() && !prefix.empty()) {
    prefix.resize(std::min(prefix.size(), longest_prefix));
    for (int i = 0; i < name_attempts && (i == 0 || objects_.contains({&kind, name_space, name})); ++i)
      name = prefix + names_.suffix(suffix_length);
    metadata["name"] = name;
  }
  if (auto why = unfit_namespace(kind, name_space, name))
    return tl::unexpected{std::move(*why)};
  // What the server alone says.
  for (const auto* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"})
    metadata.erase(field);
  object.erase("status");
  auto unknown = prune(kind, object);
  if (auto complaints = complaints_of(how, unknown); !complaints.empty())
    return tl::unexpected{not_strict(kind.version, kind.kind, complaints)};
  set_defaults(kind, object);
  const auto managed = managed_text(managers_after(kind, nullptr, blank_object(kind), object, sent_managers, how));
  if (kind.kind == "Pod")
    complete_pod(object);
  if (auto causes = check_new(kind, object); !causes.empty())
    return tl::unexpected{invalid(kind, name, std::move(causes))};
  if (!sent_version.empty())
    return tl::unexpected{api_status{500, "", "resourceVersion should not be set on objects to be created", {}}};
  auto& made = object_at(object, "metadata");
  made["uid"] = names_.uid();
  made["creationTimestamp"] = rfc3339_seconds(now);
  if (kind.has_generation)
    made["generation"] = 1;
  if (how.admit)
    if (auto admitted = how.admit(&object, nullptr); !admitted)
      return tl::unexpected{admitted.error()};
  key at{&kind, name_space, name};
  if (auto found = objects_.find(at); found != objects_.end())
    return tl::unexpected{already_exists(kind, name, is_terminating(*found->second))};
  auto done = commit(at, std::move(object), managed, false, how.dry_run);
  if (!done)
    return tl::unexpected{done.error()};
  return written{std::move(*done), std::move(unknown)};
}

api_result<written> store::update(const resource_kind& kind, const std::string& name_space, const std::string& name, part which,
                                  form how_sent, const edit& change, write_options how) {
  key at{&kind, name_space, name};
  auto found = objects_.find(at);
  if (found == objects_.end())
    return tl::unexpected{not_found(kind, name)};
  const auto stored = found->second; // keeps it alive while it is replaced
  const auto before = stored->value();
  auto edited = change(before);
  if (!edited)
    return tl::unexpected{edited.error()};
  auto after = std::move(*edited);
  const auto sent_managers = take_managed(after);
  // It must still be this object.
  if (auto why = misshapen(kind, after))
    return tl::unexpected{std::move(*why)};
  if (auto why = other_type(kind, after))
    return tl::unexpected{std::move(*why)};
  if (const auto sent = text_at(after, {"metadata", "name"}); sent != name)
    return tl::unexpected{bad_request("the name of the object (" + sent + ") does not match the name on the URL (" + name + ")")};
  if (auto why = place(kind, name_space, after))
    return tl::unexpected{std::move(*why)};
  const auto uid = text_at(before, {"metadata", "uid"});
  const auto sent_uid = text_at(after, {"metadata", "uid"});
  const auto sent_version = text_at(after, {"metadata", "resourceVersion"});
  const bool other_uid = !sent_uid.empty() && sent_uid != uid;
  if (other_uid && how_sent == form::put)
    return tl::unexpected{conflict_uid(kind, name_space, name, sent_uid, uid)};
  if (sent_version.empty() && how_sent == form::put && (kind.custom || kind.conditional))
    return tl::unexpected{
      invalid(kind.group, kind.plural, name, {field_invalid("metadata.resourceVersion", "0", "must be specified for an update")})};
  if (!sent_version.empty() && sent_version != std::to_string(stored->version))
    return tl::unexpected{conflict_modified(kind, name)};
  if (other_uid) {
    auto cause = field_invalid("metadata.uid", in_quotes(sent_uid), "field is immutable");
    return tl::unexpected{invalid(kind, name, kind.custom ? std::vector{cause, cause} : std::vector{cause})};
  }
  keep_the_rest(kind, which, before, after);
  const auto sent_text = how.strict ? encode_object(after, stored->managed()).text : std::string{};
  auto unknown = prune(kind, after);
  if (auto complaints = complaints_of(how, unknown); !complaints.empty())
    return tl::unexpected{how_sent == form::patch
                            ? invalid("", "", "", {field_invalid("patch", in_quotes(sent_text), strict_text(complaints))})
                            : not_strict(kind.version, kind.kind, complaints)};
  if (which == part::main)
    set_defaults(kind, after);
  if (auto causes = check_change(kind, before, after, which == part::status); !causes.empty())
    return tl::unexpected{invalid(kind, name, std::move(causes))};
  object_at(after, "metadata")["resourceVersion"] = std::to_string(stored->version);
  if (how.admit)
    if (auto admitted = how.admit(&after, &before); !admitted)
      return tl::unexpected{admitted.error()};
  const auto managers = managers_after(kind, stored.get(), before, after, sent_managers, how);
  if (after == before && same_fields(managers, managers_of(*stored)))
    return written{stored, std::move(unknown)};
  const auto managed = managed_text(managers);
  if (!same_generation(after, before))
    raise_generation(kind, after);
  // The last finalizer is gone: so is the object.
  const bool ends = is_terminating(after) && !is_held(kind, after) && number_at(after, {"metadata", "deletionGracePeriodSeconds"}, 0) == 0;
  // Watchers hear of it as it was kept last, who has ended it gets what that made of it.
  auto done = commit(at, ends ? before : after, ends ? stored->managed() : std::string_view{managed}, ends, how.dry_run);
  if (!done)
    return tl::unexpected{done.error()};
  if (!ends)
    return written{std::move(*done), std::move(unknown)};
  if (!how.dry_run)
    after["metadata"]["resourceVersion"] = std::to_string((*done)->version);
  return written{make_stored(kind, (*done)->version, std::move(after), managed), std::move(unknown)};
}

} // namespace paddock::embedded
