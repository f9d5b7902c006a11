#include "base/base64.hpp"
#include "embedded/schema.hpp"

#include <re2/re2.h>

namespace paddock::embedded::schema {

namespace {

void fill(json& object, const char* key, json value) {
  if (!object.contains(key))
    object[key] = std::move(value);
}

/// The maps from key to base64 that the kind has.
std::vector<std::string> encoded_maps(const resource_kind& kind) {
  if (kind.kind == "Secret")
    return {"data"};
  return kind.kind == "ConfigMap" ? std::vector<std::string>{"binaryData"} : std::vector<std::string>{};
}

/// What the client sent as text becomes data.
void take_texts(json& secret) {
  const auto found = secret.find("stringData");
  if (found == secret.end())
    return;
  const auto texts = std::move(*found);
  secret.erase(found);
  if (!texts.is_object())
    return;
  for (const auto& [key, text] : texts.items())
    object_at(secret, "data")[key] = to_base64(text.get_ref<const std::string&>());
}

void check_keys(const json& object, const char* map, std::vector<status_cause>& out) {
  static const re2::RE2 form{"[-._a-zA-Z0-9]+"};
  const auto* all = member(object, map);
  if (all == nullptr)
    return;
  for (const auto& [key, value] : all->items())
    if (key.size() > 253 || key == "." || key == ".." || !re2::RE2::FullMatch(key, form))
      out.push_back(field_invalid(std::string{map} + "[" + key + "]", in_quotes(key),
                                  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
                                  "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"));
}

/// Who said that it never changes is held to it.
void check_immutable(const json& before, const json& after, std::vector<status_cause>& out) {
  const auto* fixed = member(before, "immutable");
  if (fixed == nullptr || *fixed != true)
    return;
  if (const auto* still = member(after, "immutable"); still == nullptr || *still != true)
    out.push_back(field_forbidden("immutable", "field is immutable when `immutable` is set"));
  for (const auto* key : {"data", "binaryData"})
    if (before.value(key, json{}) != after.value(key, json{}))
      out.push_back(field_forbidden(key, "field is immutable when `immutable` is set"));
}

std::vector<status_cause> check_event(const json& after) {
  std::vector<status_cause> out;
  auto wanted = text_at(after, {"involvedObject", "namespace"});
  if (wanted.empty())
    wanted = "default";
  if (wanted != text_at(after, {"metadata", "namespace"}))
    out.push_back(field_invalid("involvedObject.namespace", in_quotes(text_at(after, {"involvedObject", "namespace"})),
                                "does not match event.namespace"));
  return out;
}

std::vector<status_cause> check_lease(const json& after) {
  std::vector<status_cause> out;
  const auto check = [&](const char* key, std::int64_t least, const char* why) {
    const auto* x = find(after, {"spec", key});
    if (x != nullptr && x->is_number_integer() && x->get<std::int64_t>() < least)
      out.push_back(field_invalid(std::string{"spec."} + key, x->dump(), why));
  };
  check("leaseDurationSeconds", 1, "must be greater than 0");
  check("leaseTransitions", 0, "must be greater than or equal to 0");
  return out;
}

} // namespace

std::optional<std::string> misshapen_plain(const resource_kind& kind, const json& object) {
  for (const auto& map : encoded_maps(kind))
    if (const auto* all = member(object, map); all != nullptr && all->is_object())
      for (const auto& value : *all)
        if (value.is_string() && !from_base64(value.get_ref<const std::string&>()))
          return "illegal base64 data at input byte 0";
  if (kind.kind != "Lease")
    return std::nullopt;
  static const re2::RE2 instant{R"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d))"};
  for (const auto* key : {"acquireTime", "renewTime"})
    if (const auto text = text_at(object, {"spec", key}); !text.empty() && !re2::RE2::FullMatch(text, instant))
      return "parsing time " + in_quotes(text) + R"( as "2006-01-02T15:04:05.000000Z07:00": cannot parse )" + in_quotes(text)
             + R"( as "2006")";
  return std::nullopt;
}

void default_plain(const resource_kind& kind, json& object) {
  if (kind.kind == "Secret") {
    take_texts(object);
    fill(object, "type", "Opaque");
  } else if (kind.kind == "Event") {
    fill(object, "eventTime", nullptr);
    fill(object, "reportingComponent", "");
    fill(object, "reportingInstance", "");
    fill(object, "source", json::object());
    fill(object, "firstTimestamp", nullptr);
    fill(object, "lastTimestamp", nullptr);
  }
}

std::vector<status_cause> check_plain(const resource_kind& kind, const json* before, const json& after) {
  if (kind.kind == "Event")
    return check_event(after);
  if (kind.kind == "Lease")
    return check_lease(after);
  if (kind.kind != "ConfigMap" && kind.kind != "Secret")
    return {};
  std::vector<status_cause> out;
  check_keys(after, "data", out);
  check_keys(after, "binaryData", out);
  if (before == nullptr)
    return out;
  check_immutable(*before, after, out);
  if (kind.kind == "Secret" && text_at(*before, {"type"}) != text_at(after, {"type"}))
    out.push_back(field_invalid("type", in_quotes(text_at(after, {"type"})), "field is immutable"));
  return out;
}

} // namespace paddock::embedded::schema
