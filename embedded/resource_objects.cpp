#include "embedded/duplicate_members.hpp"
#include "embedded/event_view.hpp"
#include "embedded/patch.hpp"
#include "embedded/request_body.hpp"
#include "embedded/resource_answer.hpp"
#include "embedded/resource_servant.hpp"
#include "embedded/strategic_merge.hpp"

namespace paddock::embedded {

namespace {

using unknown_fields = write_parameters::unknown_fields;

std::vector<std::string> duplicates_in(const std::string& body) {
  std::vector<std::string> out;
  for (const auto& path : duplicate_members(body))
    out.push_back("duplicate field " + in_quotes(path));
  return out;
}

/// The members of a custom object of another version that are not known: all but those that every object has.
std::vector<std::string> foreign_members(const resource_kind& kind, const json& object) {
  std::vector<std::string> out;
  if (!kind.custom || text_at(object, {"apiVersion"}) == kind.api_version())
    return out;
  for (const auto& [key, ignored] : object.items())
    if (key != "apiVersion" && key != "kind" && key != "metadata")
      out.push_back("unknown field " + in_quotes(key));
  return out;
}

/// A strategic merge patch is any object, too; its failures are worded in another way.
api_result<json> parse_strategic(const std::string& body) {
  auto parsed = parse_json(body);
  if (!parsed)
    return tl::unexpected{bad_request(parsed.error())};
  if (!parsed->is_object())
    return tl::unexpected{
      bad_request(std::string{"json: cannot unmarshal "} + parsed->type_name() + " into Go value of type map[string]interface {}")};
  return std::move(*parsed);
}

} // namespace

// -- what every write shares --------------------------------------------------------------------------------------

admission_hook servant::admission(std::string_view operation, bool dry_run, std::string name) {
  if (of_.gate == nullptr)
    return {};
  auto what = of_.what;
  if (!name.empty())
    what.name = std::move(name);
  return [this, what, operation, dry_run](const json* object, const json* old) {
    const auto shown = [this](const json* x) { return kind_.view && x != nullptr ? to_event_view(*x) : json{}; };
    const auto after = shown(object);
    const auto before = shown(old);
    return of_.gate->admit(
      {of_.call.user, what, kind_, operation, dry_run, after.is_null() ? object : &after, before.is_null() ? old : &before}, warnings_);
  };
}

api_result<write_options> servant::options_of(std::string_view options, std::string_view operation, write_parameters& sent, bool applies) {
  auto read = read_write_parameters(of_.target, options, applies);
  if (!read)
    return tl::unexpected{read.error()};
  sent = *read;
  write_options out;
  out.dry_run = sent.dry_run;
  out.strict = sent.unknown == unknown_fields::refused;
  out.admit = admission(operation, out.dry_run);
  out.author = {sent.manager.empty() ? manager_of(of_.call.user_agent) : sent.manager, of_.where.subresource, rfc3339_seconds(of_.now),
                kind_.view};
  return out;
}

outcome servant::finish(unsigned status, const api_result<written>& done, const write_parameters& sent,
                        const std::vector<std::string>& twice) {
  if (!done)
    return to_answer(shown_refusal(done.error()));
  auto out = make_answer(status, shown_.object(done->object->text), shown_.content_type());
  std::vector<std::string> texts;
  if (sent.unknown == unknown_fields::warned_of) {
    texts = twice;
    for (const auto& field : done->unknown_fields)
      texts.push_back("unknown field " + in_quotes(field));
  }
  texts.insert(texts.end(), warnings_.begin(), warnings_.end());
  add_warnings(out, texts);
  return out;
}

json servant::kept_form(json sent) const {
  // One that says to be of another kind is refused as such.
  return kind_.view && text_at(sent, {"apiVersion"}) == kind_.api_version() ? from_event_view(sent) : std::move(sent);
}

std::optional<api_status> servant::unfit_view(const json& made) const {
  auto causes = kind_.view ? check_event_view(made) : std::vector<status_cause>{};
  return causes.empty() ? std::nullopt : std::optional{invalid(kept_, text_at(made, {"metadata", "name"}), std::move(causes))};
}

api_status servant::shown_refusal(const api_status& why) const {
  return kind_.view && why.code == 404 ? not_found(kind_, of_.where.name) : why;
}

servant::edit servant::kept_edit(edit of) const {
  if (!kind_.view)
    return of;
  return [of = std::move(of), this](const json& object) -> api_result<json> {
    auto changed = of(to_event_view(object));
    if (!changed)
      return changed;
    auto out = kept_form(std::move(*changed));
    if (auto causes = check_event_view_change(object, out); !causes.empty())
      return tl::unexpected{invalid(kept_, of_.where.name, std::move(causes))};
    return out;
  };
}

// -- objects ------------------------------------------------------------------------------------------------------

outcome servant::get() {
  if (const auto text = of_.target.query_text("resourceVersion"); !text.empty()) {
    const auto wanted = read_number(text);
    if (!wanted)
      return to_answer(bad_request("invalid resource version: resourceVersion: Invalid value: " + in_quotes(text)
                                   + ": strconv.ParseUint: parsing " + in_quotes(text) + ": invalid syntax"));
    if (auto why = behind(wanted))
      return to_answer(*why);
  }
  const auto found = of_.objects.get(kept_, of_.where.name_space, of_.where.name);
  if (!found)
    return to_answer(shown_refusal(found.error()));
  return make_answer(200, shown_.object((*found)->text), shown_.content_type());
}

outcome servant::create() {
  write_parameters sent;
  auto how = options_of("CreateOptions", "CREATE", sent);
  if (!how)
    return to_answer(how.error());
  auto body = read_body(kind_, of_.call.content_type, of_.call.body);
  if (!body)
    return to_answer(body.error());
  how->twice = body->twice;
  if (auto why = unfit_view(body->value))
    return to_answer(*why);
  const auto foreign = foreign_members(kind_, body->value);
  const auto done = of_.objects.create(kept_, of_.where.name_space, kept_form(std::move(body->value)), of_.now, *how);
  if (done || sent.unknown != unknown_fields::warned_of)
    return finish(201, done, sent, body->twice);
  auto out = to_answer(done.error());
  add_warnings(out, foreign);
  return out;
}

outcome servant::review() {
  write_parameters sent;
  auto how = options_of("CreateOptions", "CREATE", sent);
  if (!how)
    return to_answer(how.error());
  auto body = read_body(kind_, of_.call.content_type, of_.call.body);
  if (!body)
    return to_answer(body.error());
  if (of_.gate == nullptr)
    return to_answer(internal_error("this server knows no rights"));
  const auto managers = after_update(kind_, blank_object(kind_), body->value, {}, how->author);
  auto answered = of_.gate->review(of_.call.user, kind_, of_.where.name_space, std::move(body->value), of_.now);
  if (!answered)
    return to_answer(answered.error());
  if (!managers.empty())
    object_at(*answered, "metadata")["managedFields"] = managed_json(managers);
  return make_answer(201, encode_json(*answered));
}

outcome servant::replace(store::part which) {
  write_parameters sent;
  auto how = options_of("UpdateOptions", "UPDATE", sent);
  if (!how)
    return to_answer(how.error());
  auto body = read_body(kind_, of_.call.content_type, of_.call.body);
  if (!body)
    return to_answer(body.error());
  how->twice = body->twice;
  const auto put = [&](const json&) -> api_result<json> { return body->value; };
  const auto& at = of_.where;
  return finish(200, of_.objects.update(kept_, at.name_space, at.name, which, store::form::put, kept_edit(put), *how), sent, body->twice);
}

api_result<servant::read_patch> servant::read_change(const type_schema* form) const {
  const auto type = media_type(of_.call.content_type);
  if (type == "application/json-patch+json") {
    auto read = parse_json_patch(of_.call.body);
    if (!read)
      return tl::unexpected{read.error()};
    return read_patch{json_patch_edit(std::move(*read)), {}};
  }
  if (type == "application/merge-patch+json") {
    auto read = parse_merge_patch(of_.call.body);
    if (!read)
      return tl::unexpected{read.error()};
    const auto apply = [patch = std::move(*read)](const json& object) -> api_result<json> { return apply_merge_patch(object, patch); };
    return read_patch{apply, duplicates_in(of_.call.body)};
  }
  if (type == "application/strategic-merge-patch+json" && form != nullptr) {
    auto read = parse_strategic(of_.call.body);
    if (!read)
      return tl::unexpected{read.error()};
    return read_patch{[form, patch = std::move(*read)](const json& object) { return apply_strategic_merge(*form, object, patch); },
                      duplicates_in(of_.call.body)};
  }
  return tl::unexpected{unsupported_patch_type(form == nullptr)};
}

/// Only a patch that speaks of managers is applied to an object with them.
servant::edit servant::json_patch_edit(json patch) const {
  const bool whole = of_.call.body.find("managedFields") != std::string::npos;
  return [this, whole, patch = std::move(patch)](const json& object) {
    if (!whole)
      return apply_json_patch(object, patch);
    const auto stored = of_.objects.get(kept_, of_.where.name_space, of_.where.name);
    auto all = stored ? json::parse((*stored)->text) : object;
    return apply_json_patch(kind_.view ? to_event_view(all) : std::move(all), patch);
  };
}

outcome servant::patch(store::part which) {
  if (media_type(of_.call.content_type) == apply_patch_type)
    return apply(which);
  write_parameters sent;
  auto how = options_of("PatchOptions", "UPDATE", sent);
  if (!how)
    return to_answer(how.error());
  auto read = read_change(kind_.custom ? nullptr : schema_of(kind_));
  if (!read)
    return to_answer(read.error());
  how->twice = read->twice;
  const auto& at = of_.where;
  return finish(200, of_.objects.update(kept_, at.name_space, at.name, which, store::form::patch, kept_edit(read->apply), *how), sent,
                read->twice);
}

outcome servant::remove() {
  auto how = read_delete_options(of_.target, of_.call.content_type, of_.call.body);
  if (!how)
    return to_answer(how.error());
  how->admit = admission("DELETE", how->dry_run);
  const auto done = of_.objects.remove(kept_, of_.where.name_space, of_.where.name, *how, of_.now);
  if (!done)
    return to_answer(shown_refusal(done.error()));
  auto out = done->gone && !kind_.returns_deleted ? gone_answer(kind_, *done->object)
                                                  : make_answer(200, shown_.object(done->object->text), shown_.content_type());
  add_warnings(out, warnings_);
  return out;
}

} // namespace paddock::embedded
