#include "embedded/presentation.hpp"

#include "embedded/table.hpp"
#include "embedded/yaml_json.hpp"

namespace paddock::embedded {

namespace {

using ordered = nlohmann::ordered_json;
using form = representation::form;

/// The metadata of a list in the order of the API server; a custom kind's list is written by name.
ordered list_metadata(const resource_kind& kind, const list_position& at) {
  ordered out;
  const auto put_next = [&] {
    if (!at.next.empty() || kind.custom)
      out["continue"] = at.next;
    if (at.remaining)
      out["remainingItemCount"] = *at.remaining;
  };
  if (kind.custom)
    put_next();
  out["resourceVersion"] = std::to_string(at.version);
  if (!kind.custom)
    put_next();
  return out;
}

std::string plain_list(const resource_kind& kind, std::span<const object_ptr> items, const ordered& metadata) {
  std::size_t size = 256;
  for (const auto& x : items)
    size += x->text.size() + 1;
  std::string out;
  out.reserve(size);
  out += R"({"apiVersion":)" + in_quotes(kind.api_version()) + R"(,"items":[)";
  bool first = true;
  for (const auto& x : items) {
    out += first ? "" : ",";
    out += x->text;
    first = false;
  }
  return out + R"(],"kind":)" + in_quotes(std::string{kind.kind} + "List") + R"(,"metadata":)" + encode_json(metadata) + "}";
}

ordered version_alone(const json& value) {
  ordered out;
  out["resourceVersion"] = text_at(value, {"metadata", "resourceVersion"});
  return out;
}

} // namespace

std::string presentation::content_type() const {
  return how_.yaml ? "application/yaml" : "application/json";
}

std::string presentation::written(const ordered& value) const {
  return how_.yaml ? to_yaml(json(value)) : encode_json(value);
}

std::string presentation::object(const json& value, const std::string& text) const {
  if (how_.what == form::table)
    return written(make_table(how_, version_alone(value), &kind_, ordered::array({table_row(kind_, value, how_, now_)})));
  if (how_.what == form::metadata)
    return written(partial_object(value, how_.version));
  return how_.yaml ? to_yaml(value) : text;
}

std::string presentation::list(std::span<const object_ptr> items, const list_position& at) const {
  const auto metadata = list_metadata(kind_, at);
  if (how_.what == form::object) {
    auto text = plain_list(kind_, items, metadata);
    return how_.yaml ? to_yaml(json::parse(text)) : text;
  }
  auto all = ordered::array();
  for (const auto& x : items)
    all.push_back(how_.what == form::table ? table_row(kind_, x->value, how_, now_) : partial_object(x->value, how_.version));
  if (how_.what == form::table)
    return written(make_table(how_, metadata, &kind_, std::move(all)));
  ordered out;
  out["kind"] = "PartialObjectMetadataList";
  out["apiVersion"] = "meta.k8s.io/" + how_.version;
  out["metadata"] = metadata;
  out["items"] = std::move(all);
  return written(out);
}

std::string presentation::event(const json& value, const std::string& text, bool first) const {
  if (how_.what == form::table)
    return encode_json(
      make_table(how_, version_alone(value), first ? &kind_ : nullptr, ordered::array({table_row(kind_, value, how_, now_)})));
  return how_.what == form::metadata ? encode_json(partial_object(value, how_.version)) : text;
}

} // namespace paddock::embedded
