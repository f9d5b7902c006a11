#include "egress/selectors.hpp"

#include <algorithm>

namespace paddock::egress {

using nlohmann::json;
using answer = selection::answer;

namespace {

selection unknown(std::string path, std::string detail) {
  return {answer::unknown, {std::move(path), std::move(detail)}};
}

/// The two members of a selector; null where they are absent.
struct frame {
  const json* labels = nullptr;      // an object of strings
  const json* expressions = nullptr; // a list
};

const json::object_t& members_of(const json* labels) {
  static const auto none = json::object_t{};
  return labels == nullptr ? none : labels->get_ref<const json::object_t&>();
}

tl::expected<frame, unreadable> read_frame(const json& selector) {
  if (!selector.is_object())
    return not_read("", "is not an object");
  auto got = frame{};
  if (const auto* other = find_members(selector, {{"matchLabels", got.labels}, {"matchExpressions", got.expressions}}))
    return not_read("." + *other, "is not understood");
  if (got.labels != nullptr && !got.labels->is_object())
    return not_read(".matchLabels", "is not an object");
  for (const auto& [key, value] : members_of(got.labels))
    if (!value.is_string())
      return not_read(".matchLabels[\"" + key + "\"]", "is not a string");
  if (got.expressions != nullptr && !got.expressions->is_array())
    return not_read(".matchExpressions", "is not a list");
  return got;
}

std::size_t count_of(const json* expressions) {
  return expressions == nullptr ? 0 : expressions->size();
}

enum class operation : std::uint8_t { in, not_in, exists, does_not_exist };

/// One of `matchExpressions`.
struct expression {
  const std::string* key = nullptr;
  operation what = operation::exists;
  const json* values = nullptr; // a list of strings; of `in` and `not_in`
};

tl::expected<operation, unreadable> read_operation(std::optional<std::string_view> name) {
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
  const json* key = nullptr;
  const json* name = nullptr;
  const json* values = nullptr;
  if (const auto* other = find_members(x, {{"key", key}, {"operator", name}, {"values", values}}))
    return not_read("." + *other, "is not understood");
  if (key == nullptr || !key->is_string() || key->get_ref<const std::string&>().empty())
    return not_read(".key", "is not the key of a label");
  const auto what = read_operation(text_of(name));
  if (!what)
    return tl::unexpected{what.error()};
  auto got = expression{&key->get_ref<const std::string&>(), *what};
  if (got.what == operation::exists || got.what == operation::does_not_exist)
    return got;
  got.values = values;
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
selection evaluate(const frame& selector, LabelOf label_of) {
  for (const auto& [key, value] : members_of(selector.labels))
    if (const auto* label = label_of(key); label == nullptr || text_of(&value) != *label)
      return {answer::no, {}};
  for (auto i = std::size_t{0}; i < count_of(selector.expressions); ++i) {
    auto one = read_expression((*selector.expressions)[i]);
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
std::optional<unreadable> cilium_problem(const frame& selector, std::string_view name_space) {
  for (const auto& [key, value] : members_of(selector.labels)) {
    if (auto problem = key_problem(key))
      return unreadable{".matchLabels[\"" + key + "\"]", std::move(*problem)};
    if (cilium_key(key) == cilium_namespace_key && text_of(&value) != name_space)
      return unreadable{".matchLabels[\"" + key + "\"]", "is another namespace, which Cilium overwrites"};
  }
  for (auto i = std::size_t{0}; i < count_of(selector.expressions); ++i) {
    const auto one = read_expression((*selector.expressions)[i]);
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
  auto read = read_frame(*selector);
  if (!read)
    return {answer::unknown, std::move(read.error())};
  return evaluate(*read, [&](const std::string& key) { return find(pod, key); });
}

selection selects_in_cilium(const json* selector, const label_map& pod, std::string_view name_space) {
  if (selector == nullptr || selector->is_null())
    return {answer::yes, {}};
  auto read = read_frame(*selector);
  if (!read)
    return {answer::unknown, std::move(read.error())};
  if (auto problem = cilium_problem(*read, name_space))
    return {answer::unknown, std::move(*problem)};
  const auto own = std::string{name_space};
  return evaluate(*read, [&](const std::string& key) {
    const auto bare = *cilium_key(key);
    return bare == cilium_namespace_key ? &own : find(pod, bare.size() == key.size() ? key : std::string{bare});
  });
}

tl::expected<label_demands, unreadable> read_demands(const json& selector) {
  const auto read = read_frame(selector);
  if (!read)
    return tl::unexpected{read.error()};
  auto got = label_demands{{}, read->expressions};
  got.labels.reserve(members_of(read->labels).size());
  for (const auto& [key, value] : members_of(read->labels))
    got.labels.emplace_back(key, value.get_ref<const std::string&>());
  for (auto i = std::size_t{0}; i < count_of(read->expressions); ++i)
    if (auto one = read_expression((*read->expressions)[i]); !one)
      return not_read(at_index("matchExpressions", i) + one.error().path, std::move(one.error().detail));
  return got;
}

bool is_narrower(const std::optional<label_demands>& outer, const std::optional<label_demands>& inner) {
  if (!outer)
    return true;
  const auto demanding = count_of(outer->expressions) != 0;
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
