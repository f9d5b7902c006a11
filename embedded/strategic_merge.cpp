#include "embedded/strategic_merge.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

/// Lists are merged item by item: what would take more is refused.
constexpr std::size_t most_comparisons = 4'000'000;
constexpr std::string_view patch_word = "$patch";
constexpr std::string_view retain_word = "$retainKeys";
constexpr std::string_view delete_prefix = "$deleteFromPrimitiveList/";
constexpr std::string_view order_prefix = "$setElementOrder/";

/// Thrown and caught in this file.
struct refusal {
  std::string text;
};

bool is_directive(const std::string& key) {
  return key == patch_word || key == retain_word || key.starts_with(delete_prefix) || key.starts_with(order_prefix);
}

/// As Go prints it: `map[image:new:2]`.
std::string go_text(const json& value) {
  if (value.is_string())
    return value.get<std::string>();
  if (!value.is_structured())
    return value.is_null() ? "<nil>" : value.dump();
  std::string out;
  for (const auto& [key, x] : value.items())
    out += (out.empty() ? "" : " ") + (value.is_object() ? key + ":" : std::string{}) + go_text(x);
  return (value.is_object() ? "map[" : "[") + out + "]";
}

void bound(const json& list, const json& patch) {
  if ((list.size() + patch.size()) * patch.size() > most_comparisons)
    throw refusal{"the lists of " + std::to_string(list.size()) + " and " + std::to_string(patch.size())
                  + " items are too long to be merged"};
}

const type_schema* below(const type_schema* schema, const std::string& key) {
  if (schema == nullptr)
    return nullptr;
  const auto found = schema->members.find(key);
  return found == schema->members.end() ? schema->values : found->second;
}

/// What a patch adds where there was nothing: the value without directives and nulls.
json plain(const json& value) {
  if (value.is_array()) {
    auto out = json::array();
    for (const auto& x : value)
      if (!x.is_object() || !x.contains(patch_word))
        out.push_back(plain(x));
    return out;
  }
  if (!value.is_object())
    return value;
  auto out = json::object();
  for (const auto& [key, x] : value.items())
    if (!is_directive(key) && !x.is_null())
      out[key] = plain(x);
  return out;
}

json merge(const type_schema* schema, json object, const json& patch);

// -- lists --------------------------------------------------------------------------------------------------------

/// Puts `list` into the order of `wanted`: what stands there in that order, what does not where it was relative to what precedes it.
template <class Same>
void order_by(json& list, const json& wanted, Same same) {
  auto out = json::array();
  const auto listed = [&](const json& x) { return std::any_of(wanted.begin(), wanted.end(), [&](const json& y) { return same(x, y); }); };
  auto put = std::vector<bool>(list.size());
  std::size_t next = 0;
  const auto put_wanted_before = [&](std::size_t end) {
    for (; next < end; ++next)
      for (std::size_t i = 0; i < list.size(); ++i)
        if (!put[i] && same(list[i], wanted[next])) {
          put[i] = true; // what is wanted may name it again
          out.push_back(list[i]);
        }
  };
  for (const auto& x : list) {
    if (!listed(x)) {
      out.push_back(x);
      continue;
    }
    std::size_t at = 0;
    while (!same(x, wanted[at]))
      ++at;
    put_wanted_before(std::max(at + 1, next));
  }
  list = std::move(out);
}

json merge_values(json list, const json& patch) {
  for (const auto& x : patch)
    if (std::find(list.begin(), list.end(), x) == list.end())
      list.push_back(x);
  return list;
}

const json& key_of(const json& item, const std::string& key) {
  const auto* x = member(item, key);
  if (x == nullptr)
    throw refusal{"map: " + go_text(item) + " does not contain declared merge key: " + key};
  return *x;
}

/// The items of a patch without its directives; those are carried out on `list`.
json take_directives(json& list, const json& patch, const std::string& key) {
  auto rest = json::array();
  bool replaces = false;
  for (const auto& item : patch) {
    const auto word = text_at(item, {patch_word});
    if (word.empty() || word == "merge") {
      rest.push_back(item);
    } else if (word == "replace") {
      replaces = true;
    } else if (word == "delete") {
      const auto gone = key_of(item, key);
      for (std::size_t i = list.size(); i-- > 0;)
        if (const auto* x = member(list[i], key); x != nullptr && *x == gone)
          list.erase(i);
    } else {
      throw refusal{"unknown patch type: " + word + " in map: " + go_text(item)};
    }
  }
  if (replaces)
    list = json::array();
  return rest;
}

json merge_items(const type_schema& schema, json list, const json& patch) {
  const auto& key = schema.merge_key;
  for (const auto& item : take_directives(list, patch, key)) {
    const auto& wanted = key_of(item, key);
    const auto same = [&](const json& x) {
      const auto* found = member(x, key);
      return found != nullptr && *found == wanted;
    };
    const auto found = std::find_if(list.begin(), list.end(), same);
    if (found == list.end())
      list.push_back(plain(item));
    else
      *found = merge(schema.items, *found, item);
  }
  return list;
}

json merge_lists(const type_schema* schema, json list, const json& patch) {
  if (schema == nullptr || !schema->merges)
    return plain(patch);
  bound(list, patch);
  if (schema->merge_key.empty())
    return merge_values(std::move(list), patch);
  return merge_items(*schema, std::move(list), patch);
}

// -- objects ------------------------------------------------------------------------------------------------------

/// The directives about one list of the object.
void carry_out(const type_schema* schema, json& object, const std::string& word, const json& value) {
  const bool deletes = word.starts_with(delete_prefix);
  const auto field = word.substr(deletes ? delete_prefix.size() : order_prefix.size());
  const auto found = object.find(field);
  if (found == object.end() || !found->is_array() || !value.is_array())
    return;
  bound(*found, value);
  if (deletes) {
    for (std::size_t i = found->size(); i-- > 0;)
      if (std::find(value.begin(), value.end(), (*found)[i]) != value.end())
        found->erase(i);
    if (found->empty())
      object.erase(found);
    return;
  }
  const auto* list = below(schema, field);
  const auto key = list == nullptr ? std::string{} : list->merge_key;
  if (key.empty())
    return order_by(*found, value, [](const json& a, const json& b) { return a == b; });
  order_by(*found, value, [&](const json& a, const json& b) {
    const auto* x = member(a, key);
    const auto* y = member(b, key);
    return x != nullptr && y != nullptr && *x == *y;
  });
}

void retain(json& object, const json& keys) {
  if (!keys.is_array())
    throw refusal{"invalid " + std::string{retain_word} + " value: " + go_text(keys)};
  for (auto it = object.begin(); it != object.end();)
    it = std::find(keys.begin(), keys.end(), it.key()) != keys.end() ? std::next(it) : object.erase(it);
}

void merge_member(const type_schema* schema, json& object, const std::string& key, const json& value) {
  const auto found = object.find(key);
  if (value.is_null()) {
    object.erase(key);
  } else if (found == object.end() || found->type() != value.type() || !value.is_structured()) {
    if (text_at(value, {patch_word}) == "delete")
      object.erase(key);
    else
      object[key] = plain(value);
  } else if (value.is_array()) {
    *found = merge_lists(schema, std::move(*found), value);
  } else if (text_at(value, {patch_word}) == "delete") {
    object.erase(found);
  } else {
    *found = merge(schema, std::move(*found), value);
  }
}

json merge(const type_schema* schema, json object, const json& patch) {
  if (const auto word = text_at(patch, {patch_word}); word == "replace")
    return plain(patch);
  else if (word == "delete")
    return json::object();
  else if (!word.empty() && word != "merge")
    throw refusal{"unknown patch type: " + word + " in map: " + go_text(patch)};
  if (const auto* keys = member(patch, retain_word))
    retain(object, *keys);
  for (const auto& [key, value] : patch.items())
    if (key.starts_with(delete_prefix))
      carry_out(schema, object, key, value);
  for (const auto& [key, value] : patch.items())
    if (!is_directive(key))
      merge_member(below(schema, key), object, key, value);
  for (const auto& [key, value] : patch.items())
    if (key.starts_with(order_prefix))
      carry_out(schema, object, key, value);
  return object;
}

} // namespace

api_result<json> apply_strategic_merge(const type_schema& schema, json object, const json& patch) {
  try {
    auto out = merge(&schema, std::move(object), patch);
    if (nesting(out) > max_nesting)
      return tl::unexpected{bad_request("exceeded max depth")};
    return out;
  } catch (const refusal& x) {
    return tl::unexpected{api_status{500, "", x.text, {}}};
  }
}

} // namespace paddock::embedded
