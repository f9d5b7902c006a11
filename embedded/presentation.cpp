#include "embedded/presentation.hpp"

#include "embedded/event_view.hpp"
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

ordered version_alone(const std::string& text) {
  ordered out;
  out["resourceVersion"] = text_in(text, {"metadata", "resourceVersion"});
  return out;
}

} // namespace

std::string presentation::content_type() const {
  return how_.yaml ? "application/yaml" : "application/json";
}

std::string presentation::written(const ordered& value) const {
  return how_.yaml ? to_yaml(json(value)) : encode_json(value);
}

/// The object in the form of the kind, with all that its text has.
json presentation::whole(const std::string& text) const {
  auto out = json::parse(text);
  return kind_.view ? to_event_view(out) : out;
}

std::string presentation::object(const std::string& text) const {
  if (how_.what == form::table)
    return written(make_table(how_, version_alone(text), &kind_, ordered::array({row(text)})));
  if (how_.what == form::metadata)
    return written(partial_object(whole(text), how_.version));
  if (how_.yaml)
    return to_yaml(whole(text));
  return kind_.view ? encode_json(whole(text)) : text;
}

ordered presentation::row(const std::string& text) const {
  const auto kept = json::parse(text);
  return kind_.view ? table_row(kind_, kept, to_event_view(kept), how_, now_) : table_row(kind_, kept, kept, how_, now_);
}

std::string presentation::plain_list(std::span<const object_ptr> items, const ordered& metadata) const {
  std::size_t size = 256;
  for (const auto& x : items)
    size += x->text.size() + 1;
  std::string out;
  out.reserve(size);
  out += R"({"apiVersion":)" + in_quotes(kind_.api_version()) + R"(,"items":[)";
  bool first = true;
  for (const auto& x : items) {
    out += first ? "" : ",";
    out += kind_.view ? encode_json(whole(x->text)) : x->text;
    first = false;
  }
  return out + R"(],"kind":)" + in_quotes(std::string{kind_.kind} + "List") + R"(,"metadata":)" + encode_json(metadata) + "}";
}

std::string presentation::list(std::span<const object_ptr> items, const list_position& at) const {
  const auto metadata = list_metadata(kind_, at);
  if (how_.what == form::object) {
    auto text = plain_list(items, metadata);
    return how_.yaml ? to_yaml(json::parse(text)) : text;
  }
  auto all = ordered::array();
  for (const auto& x : items)
    all.push_back(how_.what == form::table ? row(x->text) : partial_object(whole(x->text), how_.version));
  if (how_.what == form::table)
    return written(make_table(how_, metadata, &kind_, std::move(all)));
  ordered out;
  out["kind"] = "PartialObjectMetadataList";
  out["apiVersion"] = "meta.k8s.io/" + how_.version;
  out["metadata"] = metadata;
  out["items"] = std::move(all);
  return written(out);
}

std::string presentation::event(const std::string& text, bool first) const {
  if (how_.what == form::table)
    return encode_json(make_table(how_, version_alone(text), first ? &kind_ : nullptr, ordered::array({row(text)})));
  if (how_.what == form::metadata)
    return encode_json(partial_object(whole(text), how_.version));
  return kind_.view ? encode_json(whole(text)) : text;
}

watch_form watch_form_of(const resource_kind& kind, const representation& how) {
  // All that `event` reads of both. YAML is no form of a watch.
  const auto name = kind.qualified_plural() + '/' + kind.api_version() + '/' + std::to_string(static_cast<int>(how.what)) + '/'
                    + how.version + '/' + std::to_string(static_cast<int>(how.beside));
  return {name, [kind = &kind, how](const std::string& text, bool first, store::instant now) {
            return presentation{*kind, how, now}.event(text, first);
          }};
}

} // namespace paddock::embedded
