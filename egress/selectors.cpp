#include "egress/selectors.hpp"

#include <algorithm>

namespace paddock::egress {

using nlohmann::json;
using answer = selection::answer;

namespace {

selection unknown(std::string path, std::string detail) {
  return {answer::unknown, {std::move(path), std::move(detail)}};
}

/// What is not understood of the selector's frame: its members, and the labels that it wants.
std::optional<unreadable> frame_problem(const json& selector) {
  if (!selector.is_object())
    return unreadable{"", "is not an object"};
  if (auto name = unknown_member(selector, {"matchLabels", "matchExpressions"}))
    return unreadable{"." + *name, "is not understood"};
  if (const auto* labels = member(selector, "matchLabels")) {
    if (!labels->is_object())
      return unreadable{".matchLabels", "is not an object"};
    for (const auto& [key, value] : labels->get_ref<const json::object_t&>())
      if (!value.is_string())
        return unreadable{".matchLabels[\"" + key + "\"]", "is not a string"};
  }
  if (const auto* all = member(selector, "matchExpressions"); all != nullptr && !all->is_array())
    return unreadable{".matchExpressions", "is not a list"};
  return std::nullopt;
}

enum class operation : std::uint8_t { in, not_in, exists, does_not_exist };

/// One of `matchExpressions`.
struct expression {
  const std::string* key = nullptr;
  operation what = operation::exists;
  const json* values = nullptr; // a list of strings; of `in` and `not_in`
};

tl::unexpected<unreadable> not_read(std::string path, std::string detail) {
  return tl::unexpected{unreadable{std::move(path), std::move(detail)}};
}

tl::expected<operation, unreadable> read_operation(const json& x) {
  const auto name = text_of(member(x, "operator"));
  if (name == "In")
    return operation::in;
  if (name == "NotIn")
    return operation::not_in;
  if (name == "Exists")
    return operation::exists;
  if (name == "DoesNotExist")
    return operation::does_not_exist;
  return not_read(".operator", "is none of In, NotIn, Exists and DoesNotExist");
}

tl::expected<expression, unreadable> read_expression(const json& x) {
  if (!x.is_object())
    return not_read("", "is not an object");
  if (auto name = unknown_member(x, {"key", "operator", "values"}))
    return not_read("." + *name, "is not understood");
  const auto* key = member(x, "key");
  if (key == nullptr || !key->is_string() || key->get_ref<const std::string&>().empty())
    return not_read(".key", "is not the key of a label");
  const auto what = read_operation(x);
  if (!what)
    return tl::unexpected{what.error()};
  auto got = expression{&key->get_ref<const std::string&>(), *what};
  if (got.what == operation::exists || got.what == operation::does_not_exist)
    return got;
  got.values = member(x, "values");
  if (got.values == nullptr || !got.values->is_array() || got.values->empty()
      || !std::all_of(got.values->begin(), got.values->end(), [](const json& value) { return value.is_string(); }))
    return not_read(".values", "is not a list of strings");
  return got;
}

bool holds(const expression& x, const std::string* label) {
  const auto listed = [&] {
    return label != nullptr
           && std::any_of(x.values->begin(), x.values->end(), [&](const json& value) { return text_of(&value) == *label; });
  };
  switch (x.what) {
    case operation::exists: return label != nullptr;
    case operation::does_not_exist: return label == nullptr;
    case operation::in: return listed();
    case operation::not_in: return !listed();
  }
  return false;
}

/// `label_of` gives the pod's label for a key as the selector writes it, or null. The first decisive demand decides.
template <class LabelOf>
selection evaluate(const json& selector, LabelOf label_of) {
  if (auto problem = frame_problem(selector))
    return {answer::unknown, std::move(*problem)};
  if (const auto* labels = member(selector, "matchLabels"))
    for (const auto& [key, value] : labels->get_ref<const json::object_t&>())
      if (const auto* label = label_of(key); label == nullptr || text_of(&value) != *label)
        return {answer::no, {}};
  if (const auto* all = member(selector, "matchExpressions"))
    for (auto i = std::size_t{0}; i < all->size(); ++i) {
      auto one = read_expression((*all)[i]);
      if (!one)
        return unknown(at_index("matchExpressions", i) + one.error().path, std::move(one.error().detail));
      if (!holds(*one, label_of(*one->key)))
        return {answer::no, {}};
    }
  return {answer::yes, {}};
}

const std::string* find(const label_map& labels, const std::string& key) {
  const auto found = labels.find(key);
  return found == labels.end() ? nullptr : &found->second;
}

/// Whether `key` means to Cilium what a look at the pod's labels means here.
std::optional<std::string> key_problem(const std::string& key) {
  const auto bare = cilium_key(key);
  if (!bare)
    return "has a source of labels other than k8s and any";
  if (is_derived_key(*bare))
    return "is made by Cilium and not by the pod";
  return std::nullopt;
}

/// Whether an expression about the namespace can only mean the pod's own.
bool is_about_own(const expression& x, std::string_view name_space) {
  if (x.what == operation::exists)
    return true;
  return x.what == operation::in
         && std::all_of(x.values->begin(), x.values->end(), [&](const json& value) { return text_of(&value) == name_space; });
}

/// What of a readable frame Cilium reads in another way than it stands.
std::optional<unreadable> cilium_problem(const json& selector, std::string_view name_space) {
  if (const auto* labels = member(selector, "matchLabels"))
    for (const auto& [key, value] : labels->get_ref<const json::object_t&>()) {
      if (auto problem = key_problem(key))
        return unreadable{".matchLabels[\"" + key + "\"]", std::move(*problem)};
      if (cilium_key(key) == cilium_namespace_key && text_of(&value) != name_space)
        return unreadable{".matchLabels[\"" + key + "\"]", "is another namespace, which Cilium overwrites"};
    }
  const auto* all = member(selector, "matchExpressions");
  for (auto i = std::size_t{0}; all != nullptr && i < all->size(); ++i) {
    const auto one = read_expression((*all)[i]);
    if (!one)
      continue; // found where its turn comes
    if (auto problem = key_problem(*one->key))
      return unreadable{at_index("matchExpressions", i) + ".key", std::move(*problem)};
    if (cilium_key(*one->key) == cilium_namespace_key && !is_about_own(*one, name_space))
      return unreadable{at_index("matchExpressions", i), "may be about another namespace, which Cilium overwrites"};
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string_view> cilium_key(std::string_view key) {
  const auto colon = key.find(':');
  if (colon == std::string_view::npos)
    return key;
  const auto source = key.substr(0, colon);
  return source == "k8s" || source == "any" ? std::optional{key.substr(colon + 1)} : std::nullopt;
}

bool is_derived_key(std::string_view key) {
  return key.starts_with("io.cilium.k8s.");
}

selection selects(const json* selector, const label_map& pod) {
  if (selector == nullptr || selector->is_null())
    return {answer::yes, {}};
  return evaluate(*selector, [&](const std::string& key) { return find(pod, key); });
}

selection selects_in_cilium(const json* selector, const label_map& pod, std::string_view name_space) {
  if (selector == nullptr || selector->is_null())
    return {answer::yes, {}};
  if (auto problem = frame_problem(*selector))
    return {answer::unknown, std::move(*problem)};
  if (auto problem = cilium_problem(*selector, name_space))
    return {answer::unknown, std::move(*problem)};
  const auto own = std::string{name_space};
  return evaluate(*selector, [&](const std::string& key) {
    const auto bare = *cilium_key(key);
    return bare == cilium_namespace_key ? &own : find(pod, bare.size() == key.size() ? key : std::string{bare});
  });
}

tl::expected<label_demands, unreadable> read_demands(const json& selector) {
  if (auto problem = frame_problem(selector))
    return tl::unexpected{std::move(*problem)};
  auto got = label_demands{};
  if (const auto* labels = member(selector, "matchLabels"))
    for (const auto& [key, value] : labels->get_ref<const json::object_t&>())
      got.labels.emplace_back(key, value.get_ref<const std::string&>());
  got.expressions = member(selector, "matchExpressions");
  for (auto i = std::size_t{0}; got.expressions != nullptr && i < got.expressions->size(); ++i)
    if (auto one = read_expression((*got.expressions)[i]); !one)
      return not_read(at_index("matchExpressions", i) + one.error().path, std::move(one.error().detail));
  return got;
}

bool is_narrower(const std::optional<label_demands>& outer, const std::optional<label_demands>& inner) {
  if (!outer)
    return true;
  const auto demanding = outer->expressions != nullptr && !outer->expressions->empty();
  if (outer->labels.empty() && !demanding)
    return true;
  if (!inner || !std::includes(inner->labels.begin(), inner->labels.end(), outer->labels.begin(), outer->labels.end()))
    return false;
  return !demanding || std::all_of(outer->expressions->begin(), outer->expressions->end(), [&](const json& x) {
    return inner->expressions != nullptr
           && std::find(inner->expressions->begin(), inner->expressions->end(), x) != inner->expressions->end();
  });
}

} // namespace paddock::egress
