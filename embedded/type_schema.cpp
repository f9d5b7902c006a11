#include "embedded/type_schema.hpp"

#include "embedded/embedded_data.hpp"

#include <re2/re2.h>

namespace paddock::embedded {

namespace {

using type = type_schema::type;

type type_of(const json& from) {
  if (const auto* x = member(from, "x-kubernetes-int-or-string"); x != nullptr && *x == true)
    return type::int_or_string;
  static const std::map<std::string, type, std::less<>> types{{"object", type::object}, {"array", type::array},
                                                              {"string", type::string}, {"integer", type::integer},
                                                              {"number", type::number}, {"boolean", type::boolean}};
  const auto found = types.find(text_at(from, {"type"}));
  return found == types.end() ? type::any : found->second;
}

template <class Number>
std::optional<Number> number_of(const json& from, std::string_view key) {
  const auto* x = member(from, key);
  return x != nullptr && x->is_number() ? std::optional{x->get<Number>()} : std::nullopt;
}

bool fits(const type_schema& schema, const json& value) {
  switch (schema.is) {
    case type::object: return value.is_object();
    case type::array: return value.is_array();
    case type::string: return value.is_string();
    case type::integer: return value.is_number_integer();
    case type::number: return value.is_number();
    case type::boolean: return value.is_boolean();
    case type::int_or_string: return value.is_string() || value.is_number();
    case type::any: break;
  }
  return true;
}

std::string_view go_type(const type_schema& schema) {
  switch (schema.is) {
    case type::object: return schema.values != nullptr ? "map[string]string" : "struct";
    case type::array: return "[]interface {}";
    case type::integer: return schema.format == "int32" ? "int32" : "int64";
    case type::number: return "float64";
    case type::boolean: return "bool";
    default: return "string";
  }
}

std::string go_name(const json& value) {
  if (value.is_boolean())
    return "bool";
  return value.is_object() ? "object" : std::string{value.type_name()};
}

/// The word of the type, or else what its strategic merge patch does.
void read_merging(type_schema& out, const json& from) {
  using merging = type_schema::merging;
  if (text_at(from, {"x-kubernetes-map-type"}) == "atomic")
    out.merged = merging::whole;
  if (out.is != type_schema::type::array)
    return;
  const auto word = text_at(from, {"x-kubernetes-list-type"});
  out.item_keys = texts_of(from, "x-kubernetes-list-map-keys");
  if (word.empty() && out.merges && !out.merge_key.empty())
    out.item_keys = {out.merge_key};
  if (word == "set" || (word.empty() && out.merges && out.merge_key.empty()))
    out.merged = merging::set;
  else
    out.merged = out.item_keys.empty() ? merging::whole : merging::keyed;
}

class misfit_finder {
public:
  explicit misfit_finder(const std::string& owner) : owner_(owner) {
  }
  std::optional<std::string> look(const type_schema& schema, const json& value, const std::string& path) const {
    if (value.is_null())
      return std::nullopt;
    if (!fits(schema, value))
      return "json: cannot unmarshal " + go_name(value) + " into Go struct field " + owner_ + "." + path + " of type "
             + std::string{go_type(schema)};
    if (value.is_array() && schema.items != nullptr)
      for (const auto& x : value)
        if (auto why = look(*schema.items, x, path))
          return why;
    if (value.is_object())
      for (const auto& [key, x] : value.items())
        if (const auto* below = below_of(schema, key))
          if (auto why = look(*below, x, path.empty() ? key : path + "." + key))
            return why;
    return std::nullopt;
  }

private:
  static const type_schema* below_of(const type_schema& schema, const std::string& key) {
    const auto found = schema.members.find(key);
    return found == schema.members.end() ? schema.values : found->second;
  }
  const std::string& owner_;
};

/// The catalogue of the built-in types, read when it is first needed.
const schema_catalog& builtins() {
  static const auto all = [] {
    schema_catalog out;
    out.read_types(json::parse(builtin_types_text()));
    return out;
  }();
  return all;
}

/// The schemas of the custom kinds by plural, as their definitions have them.
const std::map<std::string, const type_schema*, std::less<>>& customs() {
  static schema_catalog catalog;
  static const auto all = [] {
    std::map<std::string, const type_schema*, std::less<>> out;
    const auto definitions = json::parse(custom_kinds_text());
    for (const auto& [plural, definition] : definitions.items())
      out[plural] = catalog.read(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]);
    return out;
  }();
  return all;
}

} // namespace

// -- reading ------------------------------------------------------------------------------------------------------

void schema_catalog::read_types(const json& definitions) {
  for (const auto& [name, ignored] : definitions.items())
    named_[name] = &all_.emplace_back();
  for (const auto& [name, from] : definitions.items())
    fill(*named_[name], from);
}

const type_schema* schema_catalog::read(const json& schema) {
  if (const auto name = text_at(schema, {"$ref"}); !name.empty() && schema.size() == 1)
    return find(name);
  auto& out = all_.emplace_back();
  fill(out, schema);
  return &out;
}

const type_schema* schema_catalog::find(std::string_view name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

std::shared_ptr<const re2::RE2> schema_catalog::pattern(const std::string& text) {
  auto& out = patterns_[text];
  if (!out)
    out = std::make_shared<const re2::RE2>(text);
  return out;
}

void schema_catalog::fill(type_schema& out, const json& from) {
  // A member that is merged in a way of its own is a type of its own.
  if (const auto name = text_at(from, {"$ref"}); !name.empty())
    if (const auto* other = find(name))
      out = *other;
  if (from.contains("type") || from.contains("x-kubernetes-int-or-string"))
    out.is = type_of(from);
  if (const auto* x = member(from, "x-kubernetes-preserve-unknown-fields"))
    out.keeps_unknown = *x == true;
  if (const auto* all = member(from, "properties"))
    for (const auto& [name, one] : all->items())
      out.members[name] = read(one);
  if (const auto* x = member(from, "additionalProperties"); x != nullptr && x->is_object())
    out.values = read(*x);
  if (const auto* x = member(from, "items"))
    out.items = read(*x);
  out.required = texts_of(from, "required");
  out.words = texts_of(from, "enum");
  out.format = text_at(from, {"format"});
  out.pattern_text = text_at(from, {"pattern"});
  if (!out.pattern_text.empty())
    out.pattern = pattern(out.pattern_text);
  out.minimum = number_of<std::int64_t>(from, "minimum");
  out.min_length = number_of<std::size_t>(from, "minLength");
  out.max_length = number_of<std::size_t>(from, "maxLength");
  if (const auto* x = member(from, "default"))
    out.fallback = *x;
  if (const auto* all = member(from, "x-kubernetes-validations"))
    for (const auto& x : *all)
      out.rules.push_back({text_at(x, {"rule"}), text_at(x, {"message"})});
  if (text_at(from, {"x-kubernetes-list-type"}) == "map")
    out.list_keys = texts_of(from, "x-kubernetes-list-map-keys");
  const auto strategy = text_at(from, {"x-kubernetes-patch-strategy"});
  out.merges = strategy.find("merge") != std::string::npos;
  out.retains_keys = strategy.find("retainKeys") != std::string::npos;
  out.merge_key = text_at(from, {"x-kubernetes-patch-merge-key"});
  read_merging(out, from);
}

const type_schema* builtin_type(std::string_view name) {
  return builtins().find(name);
}

const type_schema* schema_of(const resource_kind& kind) {
  if (kind.view)
    return builtin_type("events.v1.Event");
  if (!kind.custom)
    return builtin_type(kind.kind);
  const auto found = customs().find(kind.plural);
  return found == customs().end() ? nullptr : found->second;
}

// -- using --------------------------------------------------------------------------------------------------------

void prune_unknown(const type_schema& schema, json& value, const std::string& path, std::vector<std::string>& unknown) {
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i)
      prune_unknown(*schema.items, value[i], path + "[" + std::to_string(i) + "]", unknown);
    return;
  }
  if (!value.is_object() || schema.is != type::object)
    return;
  const bool open = schema.keeps_unknown || (schema.members.empty() && schema.values == nullptr);
  for (auto it = value.begin(); it != value.end();) {
    const auto below = path.empty() ? it.key() : path + "." + it.key();
    const auto found = schema.members.find(it.key());
    if (const auto* known = found != schema.members.end() ? found->second : schema.values) {
      prune_unknown(*known, *it, below, unknown);
      ++it;
    } else if (open) {
      ++it;
    } else {
      unknown.push_back(below);
      it = value.erase(it);
    }
  }
}

void fill_defaults(const type_schema& schema, json& value) {
  if (value.is_array() && schema.items != nullptr)
    for (auto& x : value)
      fill_defaults(*schema.items, x);
  if (!value.is_object())
    return;
  for (const auto& [name, below] : schema.members) {
    if (below->fallback && !value.contains(name))
      value[name] = *below->fallback;
    if (auto found = value.find(name); found != value.end())
      fill_defaults(*below, *found);
  }
  if (schema.values != nullptr)
    for (auto& x : value)
      fill_defaults(*schema.values, x);
}

std::optional<std::string> misfit(const type_schema& schema, const json& value, const std::string& owner) {
  return misfit_finder{owner}.look(schema, value, "");
}

} // namespace paddock::embedded
