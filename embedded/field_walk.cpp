#include "embedded/field_walk.hpp"

#include <deque>
#include <set>

namespace paddock::embedded {

namespace {

using merging = type_schema::merging;

const type_schema& anything() {
  static const type_schema out;
  return out;
}

/// The type of a member; `named`: the schema says so by its name.
struct member_type {
  const type_schema* type = nullptr;
  bool named = false;
};

member_type type_of(const type_schema& schema, const std::string& key) {
  if (const auto found = schema.members.find(key); found != schema.members.end())
    return {found->second, true};
  return {schema.values != nullptr ? schema.values : &anything(), false};
}

const type_schema& items_of(const type_schema& schema) {
  return schema.items == nullptr ? anything() : *schema.items;
}

bool nothing_in(const json* value) {
  return value == nullptr || value->is_null() || value->empty();
}

/// How a value is taken apart: by its type, or where that says nothing by itself.
enum class shape { whole, map, list };

shape shape_of(const type_schema& schema, const json& value) {
  if (schema.merged == merging::whole)
    return shape::whole;
  if (value.is_object() && (schema.is == type_schema::type::object || schema.is == type_schema::type::any))
    return shape::map;
  return value.is_array() && (schema.merged == merging::keyed || schema.merged == merging::set) ? shape::list : shape::whole;
}

/// Of two values of one member the one that is there says it.
shape shape_of(const type_schema& schema, const json* a, const json* b) {
  const auto there = [](const json* x) { return x != nullptr && !x->is_null(); };
  if (!there(a) && !there(b))
    return shape::whole;
  const auto of = shape_of(schema, there(b) ? *b : *a);
  return there(a) && there(b) && shape_of(schema, *a) != of ? shape::whole : of;
}

std::string step_to(const type_schema& list, const json& item) {
  if (list.merged == merging::set)
    return "v:" + encode_json(item);
  auto keys = json::object();
  for (const auto& key : list.item_keys) {
    if (const auto* x = member(item, key))
      keys[key] = *x;
    else if (const auto found = items_of(list).members.find(key); found != items_of(list).members.end() && found->second->fallback)
      keys[key] = *found->second->fallback;
  }
  return "k:" + encode_json(keys);
}

/// The items of a list by their steps, in order; null: none.
using indexed_items = std::vector<std::pair<std::string, const json*>>;

indexed_items index_of(const type_schema& list, const json* value) {
  indexed_items out;
  if (value == nullptr || !value->is_array())
    return out;
  for (const auto& x : *value)
    out.emplace_back(step_to(list, x), &x);
  return out;
}

std::map<std::string, std::vector<const json*>> grouped(const indexed_items& all) {
  std::map<std::string, std::vector<const json*>> out;
  for (const auto& [step, item] : all)
    out[step].push_back(item);
  return out;
}

// -- fields -------------------------------------------------------------------------------------------------------

void collect(const type_schema& schema, const json& value, field_set& out) {
  switch (shape_of(schema, value)) {
    case shape::whole: out.insert(); return;
    case shape::list:
      for (const auto& [step, item] : index_of(schema, &value)) {
        collect(items_of(schema), *item, out.at(step));
        out.at(step).insert();
      }
      return;
    case shape::map: break;
  }
  for (const auto& [key, x] : value.items()) {
    const auto type = type_of(schema, key);
    auto& below = out.at(member_step(key));
    collect(*type.type, x, below);
    if (!type.named || x.is_null() || (x.is_object() && x.empty()))
      below.insert();
  }
}

// -- comparing ----------------------------------------------------------------------------------------------------

class comparison {
public:
  explicit comparison(field_changes& out) : out_(out) {
  }

  /// Null: absent.
  void look(const type_schema& schema, const json* before, const json* after, std::vector<std::string>& path) {
    const auto shape = shape_of(schema, before, after);
    const bool leaf = shape == shape::whole || (nothing_in(before) && nothing_in(after));
    if (!leaf && shape == shape::map)
      look_at_members(schema, before, after, path);
    else if (!leaf)
      look_at_items(schema, before, after, path);
    if (before == nullptr)
      place(out_.added, path).insert();
    else if (after == nullptr)
      place(out_.removed, path).insert();
    else if (leaf && *before != *after)
      place(out_.modified, path).insert();
  }

private:
  static field_set& place(field_set& in, const std::vector<std::string>& path) {
    auto* at = &in;
    for (const auto& step : path)
      at = &at->at(step);
    return *at;
  }

  void look_at_members(const type_schema& schema, const json* before, const json* after, std::vector<std::string>& path) {
    std::set<std::string> keys;
    for (const auto* x : {before, after})
      if (x != nullptr && x->is_object())
        for (const auto& [key, ignored] : x->items())
          keys.insert(key);
    for (const auto& key : keys) {
      path.push_back(member_step(key));
      look(*type_of(schema, key).type, before == nullptr ? nullptr : member(*before, key), after == nullptr ? nullptr : member(*after, key),
           path);
      path.pop_back();
    }
  }

  void look_at_items(const type_schema& schema, const json* before, const json* after, std::vector<std::string>& path) {
    const auto had = grouped(index_of(schema, before));
    const auto has = grouped(index_of(schema, after));
    std::set<std::string> steps;
    for (const auto* x : {&had, &has})
      for (const auto& [step, ignored] : *x)
        steps.insert(step);
    for (const auto& step : steps) {
      const auto old = had.find(step);
      const auto now = has.find(step);
      path.push_back(step);
      compare_items(schema, old == had.end() ? std::vector<const json*>{} : old->second,
                    now == has.end() ? std::vector<const json*>{} : now->second, path);
      path.pop_back();
    }
  }

  /// Items that stand there more than once are one thing together.
  void compare_items(const type_schema& list, const std::vector<const json*>& had, const std::vector<const json*>& has,
                     std::vector<std::string>& path) {
    if (had.size() < 2 && has.size() < 2)
      return look(items_of(list), had.empty() ? nullptr : had.front(), has.empty() ? nullptr : has.front(), path);
    const auto same = [](const json* a, const json* b) { return *a == *b; };
    if (std::equal(had.begin(), had.end(), has.begin(), has.end(), same))
      return;
    auto& out = had.empty() ? out_.added : has.empty() ? out_.removed : out_.modified;
    place(out, path).insert();
  }

  field_changes& out_;
};

// -- merging ------------------------------------------------------------------------------------------------------

json merged(const type_schema& schema, const json* live, const json* config);

json merged_members(const type_schema& schema, const json* live, const json& config) {
  auto out = live != nullptr && live->is_object() ? *live : json::object();
  for (const auto& [key, value] : config.items())
    out[key] = merged(*type_of(schema, key).type, live == nullptr ? nullptr : member(*live, key), &value);
  return out;
}

/// Items of both in the order of the configuration; those of the live list alone keep their places between them.
class list_merge {
public:
  list_merge(const type_schema& list, const json* live, const json& config) :
    list_(list), live_(index_of(list, live)), config_(index_of(list, &config)) {
    for (const auto& [step, item] : live_)
      known_.emplace(step, item);
    for (const auto& [step, item] : config_) {
      wanted_.emplace(step, item);
      if (known_.contains(step))
        shared_.push_back(step);
    }
  }

  json run() {
    std::size_t l = 0;
    std::size_t c = 0;
    while (l < live_.size() || c < config_.size()) {
      if (l < live_.size() && c < config_.size()) {
        const auto& step = live_[l].first;
        if (step == config_[c].first) {
          take(step);
          ++l;
          ++c;
          continue;
        }
        // Wanted, but at another place.
        if (wanted_.contains(step) && !shared_.empty() && shared_.front() != step) {
          ++l;
          continue;
        }
      }
      if (l < live_.size()) {
        const auto& [step, item] = live_[l];
        if (!wanted_.contains(step)) {
          out_.push_back(*item);
          ++l;
          continue;
        }
        if (taken_.contains(step))
          ++l;
      }
      if (c < config_.size())
        take(config_[c++].first);
    }
    return std::move(out_);
  }

private:
  void take(const std::string& step) {
    const auto known = known_.find(step);
    out_.push_back(merged(items_of(list_), known == known_.end() ? nullptr : known->second, wanted_.at(step)));
    taken_.insert(step);
    if (!shared_.empty() && shared_.front() == step)
      shared_.pop_front();
  }

  const type_schema& list_;
  indexed_items live_;
  indexed_items config_;
  std::map<std::string, const json*> known_;
  std::map<std::string, const json*> wanted_;
  std::deque<std::string> shared_; // steps that both have, in the order of the configuration
  std::set<std::string> taken_;
  json out_ = json::array();
};

json merged(const type_schema& schema, const json* live, const json* config) {
  const auto shape = shape_of(schema, live, config);
  if (shape == shape::whole || nothing_in(config))
    return shape != shape::whole && live != nullptr && !live->is_null() && !live->empty() ? *live : *config;
  return shape == shape::map ? merged_members(schema, live, *config) : list_merge{schema, live, *config}.run();
}

// -- removing -----------------------------------------------------------------------------------------------------

/// Nothing: nothing is left of it.
std::optional<json> left_of(const type_schema& schema, const json& value, const field_set& which) {
  switch (shape_of(schema, value)) {
    case shape::whole: return value;
    case shape::list: {
      auto out = json::array();
      for (const auto& [step, item] : index_of(schema, &value)) {
        const auto* below = which.find(step);
        if (below != nullptr && below->here())
          continue;
        if (auto left = below == nullptr ? std::optional{*item} : left_of(items_of(schema), *item, *below))
          out.push_back(std::move(*left));
      }
      return out.empty() ? std::nullopt : std::optional{std::move(out)};
    }
    case shape::map: break;
  }
  auto out = json::object();
  for (const auto& [key, x] : value.items()) {
    const auto* below = which.find(member_step(key));
    if (below != nullptr && below->here())
      continue;
    if (auto left = below == nullptr ? std::optional{x} : left_of(*type_of(schema, key).type, x, *below))
      out[key] = std::move(*left);
  }
  return out.empty() ? std::nullopt : std::optional{std::move(out)};
}

// -- fitness ------------------------------------------------------------------------------------------------------

/// A value as the server's messages write it.
std::string plain(const json& value) {
  if (value.is_string())
    return value.get<std::string>();
  return value.is_array() || value.is_object() ? "map[]" : value.dump();
}

std::string_view go_type(const json& value) {
  if (value.is_boolean())
    return "bool";
  return value.is_string() ? "string" : value.is_array() ? "[]interface {}" : "map[string]interface {}";
}

/// What is expected where the value is something else; empty: nothing.
std::string misfit_of(const type_schema& schema, const json& value) {
  using type = type_schema::type;
  if (value.is_null())
    return {};
  switch (schema.is) {
    case type::object: return value.is_object() ? "" : "expected map, got &{" + plain(value) + "}";
    case type::array: return value.is_array() ? "" : "expected list, got &{" + plain(value) + "}";
    case type::boolean: return value.is_boolean() ? "" : "expected boolean, got &{" + plain(value) + "}";
    case type::string: return value.is_string() ? "" : "expected string, got &value.valueUnstructured{Value:" + plain(value) + "}";
    case type::integer:
    case type::number: return value.is_number() ? "" : "expected numeric (int or float), got " + std::string{go_type(value)};
    default: return {};
  }
}

class fitness {
public:
  std::vector<std::string> faults;

  void look(const type_schema& schema, const json& value, const std::string& path) {
    if (const auto why = misfit_of(schema, value); !why.empty())
      return say(path, why);
    if (value.is_array())
      look_at_items(schema, value, path);
    else if (value.is_object() && (schema.is == type_schema::type::object || schema.is == type_schema::type::any))
      look_at_members(schema, value, path);
  }

private:
  void say(const std::string& path, const std::string& why) {
    faults.push_back(path + ": " + why);
  }

  void look_at_members(const type_schema& schema, const json& value, const std::string& path) {
    const bool open = schema.keeps_unknown || schema.values != nullptr || schema.members.empty();
    for (const auto& [key, x] : value.items()) {
      const auto type = type_of(schema, key);
      if (type.named || open)
        look(*type.type, x, path + "." + key);
      else
        say(path + "." + key, "field not declared in schema");
    }
  }

  void look_at_items(const type_schema& schema, const json& value, const std::string& path) {
    const bool steps = schema.merged == merging::keyed || schema.merged == merging::set;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto step = steps ? step_to(schema, value[i]) : "i:" + std::to_string(i);
      if (schema.merged == merging::keyed && !value[i].is_object())
        say(path, "element " + std::to_string(i) + ": associative list with keys may not have non-map elements");
      else if (!seen.insert(step).second)
        say(path, "duplicate entries for key " + step_text(step));
      else
        look(items_of(schema), value[i], path + step_text(step));
    }
  }
};

} // namespace

const type_schema& field_schema(const resource_kind& kind) {
  static const auto all = [] {
    std::map<const resource_kind*, type_schema> out;
    for (const auto& x : served_kinds()) {
      const auto* known = schema_of(x);
      auto& schema = out[&x] = known == nullptr ? type_schema{} : *known;
      schema.is = type_schema::type::object;
      schema.keeps_unknown = schema.keeps_unknown || known == nullptr;
      schema.members["metadata"] = builtin_type("ObjectMeta");
      for (const auto* name : {"apiVersion", "kind"})
        schema.members.try_emplace(name, &anything());
    }
    return out;
  }();
  return all.at(&kind);
}

field_set fields_of(const type_schema& schema, const json& object) {
  field_set out;
  collect(schema, object, out);
  out.tidy();
  return out;
}

field_changes compare_fields(const type_schema& schema, const json& before, const json& after) {
  field_changes out;
  std::vector<std::string> path;
  comparison{out}.look(schema, &before, &after, path);
  return out;
}

json merge_fields(const type_schema& schema, const json& live, const json& config) {
  return merged(schema, &live, &config);
}

json remove_fields(const type_schema& schema, const json& object, const field_set& which) {
  return left_of(schema, object, which).value_or(json::object());
}

field_set with_named(const type_schema& schema, const field_set& which) {
  auto out = which;
  for (const auto& [step, ignored] : which.below()) {
    auto& below = out.at(step);
    if (step[0] != 'f') {
      below = with_named(items_of(schema), below);
      continue;
    }
    const auto type = type_of(schema, step.substr(2));
    below = with_named(*type.type, below);
    if (type.named)
      below.insert();
  }
  return out;
}

std::string unfit_fields(const type_schema& schema, const json& config) {
  fitness check;
  check.look(schema, config, "");
  if (check.faults.size() < 2)
    return check.faults.empty() ? std::string{} : check.faults.front();
  std::string out = "errors:";
  for (const auto& x : check.faults)
    out += "\n  " + x;
  return out;
}

} // namespace paddock::embedded
