#include "embedded/event_view.hpp"

#include <array>
#include <map>

namespace paddock::embedded {

namespace {

struct name_pair {
  std::string_view kept;
  std::string_view shown;
  enum class when_empty { absent, null, object } empty = when_empty::absent; // how the younger form writes nothing
};

constexpr std::array names{
  name_pair{"metadata", "metadata"},
  name_pair{"eventTime", "eventTime", name_pair::when_empty::null},
  name_pair{"series", "series"},
  name_pair{"reportingComponent", "reportingController"},
  name_pair{"reportingInstance", "reportingInstance"},
  name_pair{"action", "action"},
  name_pair{"reason", "reason"},
  name_pair{"involvedObject", "regarding", name_pair::when_empty::object},
  name_pair{"related", "related"},
  name_pair{"message", "note"},
  name_pair{"type", "type"},
  name_pair{"source", "deprecatedSource", name_pair::when_empty::object},
  name_pair{"firstTimestamp", "deprecatedFirstTimestamp", name_pair::when_empty::null},
  name_pair{"lastTimestamp", "deprecatedLastTimestamp", name_pair::when_empty::null},
  name_pair{"count", "deprecatedCount"},
};

bool says_nothing(const json* value) {
  return value == nullptr || value->is_null() || *value == "" || *value == 0 || (value->is_structured() && value->empty());
}

} // namespace

json to_event_view(const json& event) {
  json out{{"apiVersion", "events.k8s.io/v1"}, {"kind", "Event"}};
  for (const auto& x : names) {
    const auto* value = member(event, x.kept);
    if (!says_nothing(value))
      out[std::string{x.shown}] = *value;
    else if (x.empty != name_pair::when_empty::absent)
      out[std::string{x.shown}] = x.empty == name_pair::when_empty::null ? json{} : json::object();
  }
  return out;
}

json from_event_view(const json& view) {
  json out{{"apiVersion", "v1"}, {"kind", "Event"}};
  for (const auto& x : names)
    if (const auto* value = member(view, x.shown))
      out[std::string{x.kept}] = *value;
  return out;
}

std::vector<status_cause> check_event_view(const json& view) {
  std::vector<status_cause> out;
  if (text_at(view, {"eventTime"}).empty())
    return {field_required("eventTime")};
  for (const auto* key : {"reportingController", "reportingInstance", "action", "reason"})
    if (text_at(view, {key}).empty())
      out.push_back(field_required(key));
  if (const auto type = text_at(view, {"type"}); type != "Normal" && type != "Warning")
    out.push_back(field_invalid("type", "\"\"", "has invalid value: " + type));
  return out;
}

std::vector<status_cause> check_event_view_change(const json& before, const json& after) {
  static constexpr std::array fixed{name_pair{"involvedObject", "involvedObject"},
                                    name_pair{"reason", "reason"},
                                    name_pair{"message", "message"},
                                    name_pair{"source", "source"},
                                    name_pair{"firstTimestamp", "firstTimestamp"},
                                    name_pair{"lastTimestamp", "lastTimestamp"},
                                    name_pair{"count", "count"},
                                    name_pair{"action", "action"},
                                    name_pair{"related", "related"},
                                    name_pair{"reportingComponent", "reportingController"},
                                    name_pair{"reportingInstance", "reportingInstance"},
                                    name_pair{"type", "type"}};
  std::vector<status_cause> out;
  for (const auto& x : fixed) {
    const auto* had = member(before, x.kept);
    const auto* has = member(after, x.kept);
    if (says_nothing(had) ? !says_nothing(has) : has == nullptr || *has != *had)
      out.push_back(field_invalid(std::string{x.shown}, has == nullptr ? "null" : encode_json(*has), "field is immutable"));
  }
  return out;
}

std::string_view kept_event_field(std::string_view field) {
  static const std::map<std::string_view, std::string_view> known{{"reason", "reason"},
                                                                  {"type", "type"},
                                                                  {"reportingController", "reportingComponent"},
                                                                  {"regarding.kind", "involvedObject.kind"},
                                                                  {"regarding.namespace", "involvedObject.namespace"},
                                                                  {"regarding.name", "involvedObject.name"},
                                                                  {"regarding.uid", "involvedObject.uid"},
                                                                  {"regarding.apiVersion", "involvedObject.apiVersion"},
                                                                  {"regarding.resourceVersion", "involvedObject.resourceVersion"},
                                                                  {"regarding.fieldPath", "involvedObject.fieldPath"},
                                                                  {"metadata.name", "metadata.name"},
                                                                  {"metadata.namespace", "metadata.namespace"}};
  const auto found = known.find(field);
  return found == known.end() ? std::string_view{} : found->second;
}

} // namespace paddock::embedded
