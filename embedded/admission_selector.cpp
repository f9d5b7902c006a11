#include "embedded/admission_selector.hpp"

namespace paddock::embedded {

namespace {

/// One expression in the words of the text form.
tl::expected<std::string, std::string> expression(const json& x) {
  const auto key = text_at(x, {"key"});
  const auto what = text_at(x, {"operator"});
  if (!is_label_key(key))
    return tl::unexpected{"invalid label key " + in_quotes(key)};
  std::string values;
  if (const auto* all = member(x, "values"); all != nullptr && all->is_array()) {
    for (const auto& value : *all) {
      if (!value.is_string() || !is_label_value(value.get_ref<const std::string&>()))
        return tl::unexpected{"invalid label value for key " + in_quotes(key)};
      values += (values.empty() ? "" : ",") + value.get<std::string>();
    }
  }
  if (what == "Exists")
    return key;
  if (what == "DoesNotExist")
    return "!" + key;
  if ((what == "In" || what == "NotIn") && member(x, "values") != nullptr)
    return key + (what == "In" ? " in (" : " notin (") + values + ")";
  return tl::unexpected{in_quotes(what) + " is not a valid label selector operator"};
}

} // namespace

tl::expected<label_selector, std::string> read_label_selector(const json& selector) {
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ",") + one; };
  if (const auto* labels = member(selector, "matchLabels"); labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (!is_label_key(key) || !value.is_string() || !is_label_value(value.get_ref<const std::string&>()))
        return tl::unexpected{"invalid label " + in_quotes(key)};
      add(key + "=" + value.get<std::string>());
    }
  }
  if (const auto* all = member(selector, "matchExpressions"); all != nullptr && all->is_array()) {
    for (const auto& x : *all) {
      auto one = expression(x);
      if (!one)
        return tl::unexpected{one.error()};
      add(*one);
    }
  }
  return label_selector::parse(text);
}

} // namespace paddock::embedded
