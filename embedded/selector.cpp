#include "embedded/selector.hpp"

#include "embedded/event_view.hpp"
#include "embedded/object_text.hpp"

#include <algorithm>
#include <map>

namespace paddock::embedded {

namespace {

bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_alphanumeric(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

bool is_qualified_part(std::string_view text) {
  if (text.empty() || text.size() > 63 || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back()))
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

/// Reads a selector from left to right.
class reader {
public:
  explicit reader(std::string_view text) : rest_(text) {
  }
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ')
      rest_.remove_prefix(1);
  }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  bool take(std::string_view what) {
    skip_spaces();
    if (!rest_.starts_with(what))
      return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  /// The longest run of characters that end no word.
  std::string_view word() {
    skip_spaces();
    const auto end = std::min(rest_.find_first_of(" ,=!()<>"), rest_.size());
    const auto out = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return out;
  }

private:
  std::string_view rest_;
};

/// What else an object of the kind is found by, joined by commas.
std::string_view fields_of(const resource_kind& kind) {
  static const std::map<std::string_view, std::string_view> known{
    {"Pod", "spec.nodeName,spec.restartPolicy,spec.schedulerName,spec.serviceAccountName,spec.hostNetwork,status.phase,status.podIP,"
            "status.nominatedNodeName"},
    {"Event", "involvedObject.kind,involvedObject.namespace,involvedObject.name,involvedObject.uid,involvedObject.apiVersion,"
              "involvedObject.resourceVersion,involvedObject.fieldPath,reason,reportingComponent,source,type"},
    {"Secret", "type"},
    {"Namespace", "status.phase"},
    {"Node", "spec.unschedulable"},
    {"Service", "spec.clusterIP,spec.type"},
  };
  const auto found = known.find(kind.kind);
  return found == known.end() || !kind.group.empty() ? std::string_view{} : found->second;
}

bool is_known_field(const resource_kind& kind, std::string_view name) {
  const auto more = words_of(fields_of(kind));
  return name == "metadata.name" || name == "metadata.namespace" || std::find(more.begin(), more.end(), name) != more.end();
}

std::string unknown_field(const resource_kind& kind, std::string_view name) {
  if (kind.custom || kind.view || !fields_of(kind).empty())
    return "field label not supported: " + std::string{name};
  return in_quotes(name) + R"( is not a known field selector: only "metadata.name", "metadata.namespace")";
}

/// A flag as its word; false where it is absent.
std::string text_of(std::string_view object, const std::string& group, const std::string& field) {
  const auto x = group.empty() ? written_at(object, {field}) : written_at(object, {group, field});
  if (field == "source" && x.starts_with('{'))
    return text_in(x, {"component"});
  if (field == "unschedulable" || field == "hostNetwork")
    return x == "true" ? "true" : "false";
  return read_text(x);
}

} // namespace

bool is_dns_label(std::string_view text) {
  if (text.empty() || text.size() > 63 || !is_lower(text.front()) || !is_lower(text.back()))
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253)
    return false;
  // Every part is alphanumeric at both ends; only the whole has a bound on its length.
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('.', at), text.size());
    const auto part = text.substr(at, end - at);
    if (part.empty() || !is_lower(part.front()) || !is_lower(part.back()))
      return false;
    if (!std::all_of(part.begin(), part.end(), [](char c) { return is_lower(c) || c == '-'; }))
      return false;
    at = end + 1;
  }
  return true;
}

bool is_label_key(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return is_qualified_part(text);
  return is_dns_subdomain(text.substr(0, slash)) && is_qualified_part(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) {
  return text.empty() || is_qualified_part(text);
}

// -- labels -------------------------------------------------------------------------------------------------------

tl::expected<label_selector, std::string> label_selector::parse(std::string_view text) {
  label_selector out;
  reader in{text};
  if (in.at_end())
    return out;
  do {
    requirement one;
    const bool negated = in.take("!");
    one.key = in.word();
    if (!is_label_key(one.key))
      return tl::unexpected{"unable to parse requirement: invalid label key " + in_quotes(one.key)};
    bool one_value = false;
    if (negated) {
      one.what = operation::absent;
    } else if (in.take("==") || in.take("=")) {
      one.what = operation::in;
      one_value = true;
    } else if (in.take("!=")) {
      one.what = operation::not_in;
      one_value = true;
    } else if (const auto word = in.word(); word == "in" || word == "notin") {
      one.what = word == "in" ? operation::in : operation::not_in;
      if (!in.take("("))
        return tl::unexpected{std::string{"unable to parse requirement: found '', expected: '('"}};
      do
        one.values.emplace_back(in.word());
      while (in.take(","));
      if (!in.take(")"))
        return tl::unexpected{std::string{"unable to parse requirement: found '', expected: ',' or ')'"}};
    } else if (!word.empty()) {
      return tl::unexpected{"unable to parse requirement: found '" + std::string{word} + "', expected: in, notin, =, ==, !=, gt, lt"};
    }
    if (one_value)
      one.values.emplace_back(in.word());
    for (const auto& x : one.values)
      if (!is_label_value(x))
        return tl::unexpected{"unable to parse requirement: invalid label value " + in_quotes(x)};
    out.all_.push_back(std::move(one));
  } while (in.take(","));
  if (!in.at_end())
    return tl::unexpected{"unable to parse requirement: unexpected text after " + in_quotes(out.all_.back().key)};
  return out;
}

/// `label`: the value under a key, or nothing.
template <class Label>
bool label_selector::holds(Label label) const {
  for (const auto& x : all_) {
    const std::optional<std::string> value = label(x.key);
    const bool listed = value && std::find(x.values.begin(), x.values.end(), *value) != x.values.end();
    bool holds = false;
    switch (x.what) {
      case operation::in: holds = listed; break;
      case operation::not_in: holds = !listed; break;
      case operation::exists: holds = value.has_value(); break;
      case operation::absent: holds = !value; break;
    }
    if (!holds)
      return false;
  }
  return true;
}

bool label_selector::matches(const json& object) const {
  return holds([&](const std::string& key) {
    const auto* value = find(object, {"metadata", "labels", key});
    return value != nullptr && value->is_string() ? std::optional{value->get<std::string>()} : std::nullopt;
  });
}

bool label_selector::matches_text(std::string_view object) const {
  if (all_.empty())
    return true;
  const auto labels = written_at(object, {"metadata", "labels"});
  return holds([&](const std::string& key) {
    const auto value = written_at(labels, {key});
    return value.starts_with('"') ? std::optional{read_text(value)} : std::nullopt;
  });
}

// -- fields -------------------------------------------------------------------------------------------------------

tl::expected<field_selector, std::string> field_selector::parse(const resource_kind& kind, std::string_view text) {
  field_selector out;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const auto one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.empty())
      continue;
    const auto sign = one.find('=');
    if (sign == std::string_view::npos || sign == 0)
      return tl::unexpected{"invalid selector: '" + std::string{one} + "'; can't understand '" + std::string{one} + "'"};
    term x;
    x.equal = one[sign - 1] != '!';
    const auto asked = one.substr(0, x.equal ? sign : sign - 1);
    x.value = one.substr(one.substr(sign).starts_with("==") ? sign + 2 : sign + 1);
    if (kind.view ? kept_event_field(asked).empty() : !is_known_field(kind, asked))
      return tl::unexpected{unknown_field(kind, asked)};
    const auto name = kind.view ? kept_event_field(asked) : asked;
    const auto dot = name.find('.');
    x.group = dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
    x.field = dot == std::string_view::npos ? name : name.substr(dot + 1);
    out.all_.push_back(std::move(x));
  }
  return out;
}

bool field_selector::matches_text(std::string_view object) const {
  return std::all_of(all_.begin(), all_.end(), [&](const term& x) { return (text_of(object, x.group, x.field) == x.value) == x.equal; });
}

} // namespace paddock::embedded
