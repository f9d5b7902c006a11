#include "embedded/duplicate_members.hpp"
#include "embedded/last_applied.hpp"
#include "embedded/representation.hpp"
#include "embedded/resource_servant.hpp"
#include "embedded/store_managers.hpp"
#include "embedded/yaml_json.hpp"

namespace paddock::embedded {

namespace {

constexpr auto first_manager = "before-first-apply";

struct configuration {
  json value;
  std::vector<std::string> twice; // keys
};

/// The keys that JSON has twice, as YAML tells of them where it can be read as such.
std::vector<std::string> keys_twice(const std::string& text) {
  std::vector<std::string> out;
  const auto paths = duplicate_members(text);
  if (!paths.empty() && text.size() <= max_yaml_bytes)
    static_cast<void>(parse_yaml(text, out));
  if (out.empty())
    for (const auto& path : paths)
      out.push_back("key " + in_quotes(path) + " already set in map");
  return out;
}

/// YAML, and so JSON.
api_result<configuration> read_configuration(const std::string& body) {
  configuration out;
  const auto first = body.find_first_not_of(" \t\r\n");
  auto parsed =
    first != std::string::npos && body[first] == '{' ? parse_json(body) : tl::expected<json, std::string>{tl::unexpected{std::string{}}};
  if (!parsed && body.size() > max_yaml_bytes)
    return tl::unexpected{bad_request("error decoding YAML: more than " + std::to_string(max_yaml_bytes) + " bytes")};
  if (parsed)
    out.twice = keys_twice(body);
  else
    parsed = parse_yaml(body, out.twice);
  if (!parsed)
    return tl::unexpected{bad_request("error decoding YAML: " + parsed.error())};
  if (!parsed->is_object())
    return tl::unexpected{
      bad_request(std::string{"error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "}
                  + parsed->type_name() + " into Go value of type map[string]interface {}")};
  out.value = std::move(*parsed);
  return out;
}

api_status strictly_refused(const std::vector<std::string>& twice) {
  std::string text = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:";
  for (const auto& x : twice)
    text += "\n  " + x;
  return bad_request(text);
}

/// The configuration is of the kind, and says nothing of managers.
std::optional<api_status> unfit(const resource_kind& kind, const std::string& name, const json& config) {
  if (const auto* managers = find(config, {"metadata", "managedFields"}); managers != nullptr && !managers->is_null())
    return bad_request("metadata.managedFields must be nil");
  const auto version = text_at(config, {"apiVersion"});
  const auto type = text_at(config, {"kind"});
  if (version != kind.api_version() || type != kind.kind)
    return bad_request("invalid object type: " + qualified_type(version, type));
  const auto given = text_at(config, {"metadata", "name"});
  if (given.empty())
    return bad_request("the name of the object (" + name + " based on URL) was undeterminable: name must be provided");
  if (given != name)
    return bad_request("the name of the object (" + given + ") does not match the name on the URL (" + name + ")");
  return std::nullopt;
}

json with_managers(applied done) {
  auto out = std::move(done.object);
  object_at(out, "metadata")["managedFields"] = managed_json(std::move(done.managers));
  return out;
}

/// Of an object that was never applied to, and whose managers nobody kept, all is one manager's.
managed_fields known_managers(const resource_kind& kind, const stored_object& live, const std::string& now) {
  auto out = managers_of(live);
  return out.empty() ? after_update(kind, blank_object(kind), live.value(), {}, {first_manager, "", now}) : out;
}

} // namespace

outcome servant::apply(store::part which) {
  write_parameters sent;
  auto how = options_of("PatchOptions", "UPDATE", sent, true);
  if (!how)
    return to_answer(how.error());
  auto config = read_configuration(of_.call.body);
  if (!config)
    return to_answer(config.error());
  const auto& at = of_.where;
  const auto stored = of_.objects.get(kept_, at.name_space, at.name);
  if (!stored && (which != store::part::main || stored.error().code != 404))
    return to_answer(shown_refusal(stored.error()));
  if (auto why = unfit(kind_, at.name, config->value))
    return to_answer(*why);
  if (sent.unknown == write_parameters::unknown_fields::refused && !config->twice.empty())
    return to_answer(strictly_refused(config->twice));
  how->applied = true;
  if (!stored)
    return create_applied(config->value, config->twice, sent, std::move(*how));
  const auto change = [&](const json& live) -> api_result<json> {
    const auto known = known_managers(kept_, **stored, how->author.time);
    auto done = apply_as_kubectl(kind_, live, known, config->value, how->author, sent.force);
    if (!done)
      return tl::unexpected{done.error()};
    return with_managers(std::move(*done));
  };
  return finish(200, of_.objects.update(kept_, at.name_space, at.name, which, store::form::patch, kept_edit(change), *how), sent,
                config->twice);
}

/// What is made by an apply has to be allowed as a creation, too.
outcome servant::create_applied(const json& config, const std::vector<std::string>& twice, const write_parameters& sent,
                                write_options how) {
  const auto& at = of_.where;
  if (of_.gate != nullptr) {
    auto what = of_.what;
    what.verb = "create";
    if (auto denied = of_.gate->denies(of_.call.user, what))
      return to_answer(*denied);
  }
  how.admit = admission("CREATE", how.dry_run);
  if (const auto uid = text_at(config, {"metadata", "uid"}); !uid.empty())
    return to_answer(
      conflict(kind_, "", at.name, "uid mismatch: the provided object specified uid " + uid + ", and no existing object was found"));
  const json blank{{"apiVersion", kind_.api_version()}, {"kind", kind_.kind}, {"metadata", json::object()}};
  auto done = apply_fields(kind_, blank, {}, config, how.author, sent.force);
  if (!done)
    return to_answer(done.error());
  if (auto why = unfit_view(done->object))
    return to_answer(*why);
  return finish(201, of_.objects.create(kept_, at.name_space, kept_form(with_managers(std::move(*done))), of_.now, how), sent, twice);
}

} // namespace paddock::embedded
