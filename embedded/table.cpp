#include "embedded/table.hpp"

#include "embedded/embedded_data.hpp"
#include "embedded/human_age.hpp"
#include "embedded/printer_path.hpp"
#include "embedded/table_cells.hpp"

#include <map>

namespace paddock::embedded {

namespace {

using ordered = nlohmann::ordered_json;
using instant = time_source::wall_clock::time_point;

/// A column that a definition names.
struct custom_column {
  std::string type;
  printer_path path;
};

struct columns {
  ordered shown;
  std::vector<custom_column> custom; // after the name
};

ordered column(std::string_view name, std::string_view type, std::string_view format, std::string_view description) {
  ordered out;
  out["name"] = name;
  out["type"] = type;
  out["format"] = format;
  out["description"] = description;
  out["priority"] = 0;
  return out;
}

ordered name_column(const ordered& known) {
  return known.at("configmaps").at(0);
}

/// Of a kind that names no columns of its own.
columns plain_columns(const ordered& known) {
  columns out;
  out.shown.push_back(name_column(known));
  out.shown.push_back(column("Age", "date", "", known.at("configmaps").at(2).at("description").get<std::string>()));
  out.custom.push_back({"date", printer_path{".metadata.creationTimestamp"}});
  return out;
}

columns read_definition(const ordered& definition, const ordered& known) {
  const auto& version = definition.at("spec").at("versions").at(0);
  if (!version.contains("additionalPrinterColumns"))
    return plain_columns(known);
  columns out;
  out.shown.push_back(name_column(known));
  for (const auto& x : version.at("additionalPrinterColumns")) {
    const auto path = x.at("jsonPath").get<std::string>();
    const auto type = x.at("type").get<std::string>();
    auto one = column(x.at("name").get<std::string>(), type, x.value("format", ""),
                      x.value("description", "Custom resource definition column (in JSONPath format): " + path));
    one["priority"] = x.value("priority", 0);
    out.shown.push_back(std::move(one));
    out.custom.push_back({type, printer_path{path}});
  }
  return out;
}

std::map<std::string, columns, std::less<>> read_all() {
  std::map<std::string, columns, std::less<>> out;
  const auto known = ordered::parse(columns_text());
  for (const auto& [plural, shown] : known.items())
    out[plural].shown = shown;
  const auto definitions = ordered::parse(custom_kinds_text());
  for (const auto& [plural, definition] : definitions.items())
    out[plural] = read_definition(definition, known);
  // A kind of which nothing more is known.
  out[""] = plain_columns(known);
  return out;
}

const columns& known_columns(const resource_kind& kind) {
  static const auto all = read_all();
  const auto found = all.find(kind.plural);
  return found == all.end() ? all.at("") : found->second;
}

json custom_cell(const custom_column& x, const json& object, instant now) {
  const auto* value = x.path.find(object);
  if (value == nullptr || value->is_null())
    return nullptr;
  if (x.type == "date")
    return value->is_string() ? human_age(value->get<std::string>(), now) : "<unknown>";
  if (x.type == "string")
    return value->is_string() ? *value : json(value->dump());
  const bool fits = x.type == "integer" ? value->is_number_integer() : x.type == "number" ? value->is_number() : value->is_boolean();
  return fits ? *value : json{};
}

json cells(const resource_kind& kind, const json& object, instant now) {
  const auto& known = known_columns(kind);
  if (known.custom.empty())
    return cells_of(kind, object, now);
  auto out = json::array({text_at(object, {"metadata", "name"})});
  for (const auto& x : known.custom)
    out.push_back(custom_cell(x, object, now));
  return out;
}

} // namespace

const ordered& columns_of(const resource_kind& kind) {
  return known_columns(kind).shown;
}

ordered partial_object(const json& object, const std::string& version) {
  ordered out;
  out["kind"] = "PartialObjectMetadata";
  out["apiVersion"] = "meta.k8s.io/" + version;
  const auto* metadata = member(object, "metadata");
  out["metadata"] = metadata == nullptr ? ordered::object() : ordered(*metadata);
  return out;
}

ordered table_row(const resource_kind& kind, const json& object, const json& whole, const representation& how, instant now) {
  ordered out;
  out["cells"] = cells(kind, object, now);
  switch (how.beside) {
    case representation::rows::metadata: out["object"] = partial_object(whole, how.version); break;
    case representation::rows::object: out["object"] = whole; break;
    case representation::rows::none: out["object"] = nullptr; break;
  }
  return out;
}

ordered make_table(const representation& how, ordered metadata, const resource_kind* columns, ordered rows) {
  ordered out;
  out["kind"] = "Table";
  out["apiVersion"] = "meta.k8s.io/" + how.version;
  out["metadata"] = std::move(metadata);
  out["columnDefinitions"] = columns == nullptr ? ordered{} : columns_of(*columns);
  out["rows"] = std::move(rows);
  return out;
}

} // namespace paddock::embedded
