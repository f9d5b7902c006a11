#include "embedded/request_options.hpp"

#include "embedded/protobuf_json.hpp"
#include "embedded/representation.hpp"
#include "embedded/yaml_json.hpp"

#include <charconv>

namespace paddock::embedded {

namespace {

constexpr auto meta = "meta.k8s.io";

/// All or nothing: a word that is there and is another one, be it empty, must not become a write. The value is told as a list.
api_result<bool> read_dry_run(std::string_view options, const std::vector<std::string>& words) {
  for (const auto& x : words)
    if (x != "All")
      return tl::unexpected{invalid(meta, options, "", {field_unsupported("dryRun", encode_json(json(words)), {"All"})})};
  return !words.empty();
}

/// What is wrong with the name of a manager, and with when it is given.
std::vector<status_cause> check_manager(const request_target& target, const std::string& manager, bool applies) {
  constexpr std::size_t longest = 128;
  std::vector<status_cause> out;
  if (!applies && target.query.contains("force"))
    out.push_back(field_forbidden("force", "may not be specified for non-apply patch"));
  if (applies && manager.empty())
    out.push_back(field_required("fieldManager", "is required for apply patch"));
  if (manager.size() > longest)
    out.push_back({"FieldValueTooLong", "Too long: may not be more than " + std::to_string(longest) + " bytes", "fieldManager"});
  for (std::size_t i = 0; i < manager.size(); ++i)
    if (const auto c = static_cast<unsigned char>(manager[i]); c < 0x20 || c == 0x7f) {
      constexpr auto digits = "0123456789ABCDEF";
      // Bytes are written as such there.
      auto quoted = in_quotes(manager);
      for (auto at = quoted.find("\\u00"); at != std::string::npos; at = quoted.find("\\u00"))
        quoted.replace(at, 4, "\\x");
      out.push_back(field_invalid("fieldManager", quoted,
                                  std::string{"invalid character U+00"} + digits[c >> 4] + digits[c & 15] + " (at position "
                                    + std::to_string(i) + ")"));
      break;
    }
  return out;
}

tl::unexpected<api_status> unreadable(const std::string& field) {
  return tl::unexpected{bad_request("DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: json: cannot unmarshal into Go "
                                    "struct field DeleteOptions."
                                    + field)};
}

/// Nothing sent, or null.
const json* given(const json& options, std::string_view key) {
  const auto* x = member(options, key);
  return x == nullptr || x->is_null() ? nullptr : x;
}

api_result<json> read_options_body(std::string_view content_type, const std::string& body) {
  const auto media = media_type(content_type);
  if (!media.empty() && media != "application/json" && media != "application/yaml" && media != protobuf_type)
    return tl::unexpected{unsupported_body_type()};
  std::vector<std::string> ignored;
  auto parsed = media == protobuf_type ? parse_protobuf(body) : media == "application/yaml" ? parse_yaml(body, ignored) : parse_json(body);
  if (!parsed)
    return tl::unexpected{bad_request("couldn't get version/kind; json parse error: " + parsed.error())};
  if (!parsed->is_object())
    return tl::unexpected{bad_request("couldn't get version/kind; json parse error: json: cannot unmarshal "
                                      + std::string{parsed->type_name()} + " into Go value of type struct")};
  return std::move(*parsed);
}

/// The options of a request without a body stand in its query.
api_result<json> read_options_query(const request_target& target) {
  auto out = json::object();
  if (const auto text = target.query_text("gracePeriodSeconds"); !text.empty()) {
    const auto seconds = read_number(text);
    if (!seconds || *seconds > INT64_MAX)
      return tl::unexpected{bad_request("strconv.ParseInt: parsing " + in_quotes(text) + ": invalid syntax")};
    out["gracePeriodSeconds"] = static_cast<std::int64_t>(*seconds);
  }
  if (const auto text = target.query_text("propagationPolicy"); !text.empty())
    out["propagationPolicy"] = text;
  if (target.query.contains("orphanDependents"))
    out["orphanDependents"] = target.query_flag("orphanDependents");
  for (const auto* key : {"uid", "resourceVersion"})
    if (const auto text = target.query_text(key); !text.empty())
      out["preconditions"][key] = text;
  return out;
}

/// A precondition that cannot be read must not be lost.
api_result<void> read_preconditions(const json& options, delete_request& out) {
  const auto* all = given(options, "preconditions");
  if (all == nullptr)
    return {};
  if (!all->is_object())
    return unreadable("preconditions");
  for (const auto& [key, value] : all->items()) {
    if (value.is_null())
      continue;
    if (!value.is_string())
      return unreadable("preconditions." + key);
    if (key == "uid")
      out.uid = value.get<std::string>();
    else if (key == "resourceVersion")
      out.version = value.get<std::string>();
  }
  return {};
}

api_result<void> read_propagation(const json& options, delete_request& out) {
  const auto* policy = given(options, "propagationPolicy");
  const auto* orphan = given(options, "orphanDependents");
  if (policy != nullptr && !policy->is_string())
    return unreadable("propagationPolicy");
  if (orphan != nullptr && !orphan->is_boolean())
    return unreadable("orphanDependents");
  if (orphan != nullptr)
    out.children = *orphan ? propagation::orphan : propagation::background;
  if (policy == nullptr)
    return {};
  const auto refused = [](status_cause why) { return tl::unexpected{invalid(meta, "DeleteOptions", "", {std::move(why)})}; };
  if (orphan != nullptr)
    return refused(field_invalid("propagationPolicy", policy->dump(), "orphanDependents and deletionPropagation cannot be both set"));
  if (*policy == "Background")
    out.children = propagation::background;
  else if (*policy == "Foreground")
    out.children = propagation::foreground;
  else if (*policy == "Orphan")
    out.children = propagation::orphan;
  else
    return refused(
      field_unsupported("propagationPolicy", in_quotes(policy->get<std::string>()), {"Foreground", "Background", "Orphan", "nil"}));
  return {};
}

} // namespace

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t out = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return out;
}

api_result<write_parameters> read_write_parameters(const request_target& target, std::string_view options, bool applies) {
  write_parameters out;
  out.manager = target.query_text("fieldManager");
  out.force = applies && target.query_flag("force");
  if (auto causes = check_manager(target, out.manager, applies); !causes.empty())
    return tl::unexpected{invalid(meta, options, "", std::move(causes))};
  auto dry = read_dry_run(options, target.query_texts("dryRun"));
  if (!dry)
    return tl::unexpected{dry.error()};
  out.dry_run = *dry;
  const auto validation = target.query_text("fieldValidation");
  if (validation == "Ignore")
    out.unknown = write_parameters::unknown_fields::ignored;
  else if (validation == "Strict")
    out.unknown = write_parameters::unknown_fields::refused;
  else if (!validation.empty() && validation != "Warn")
    return tl::unexpected{
      invalid(meta, options, "", {field_unsupported("fieldValidation", in_quotes(validation), {"", "Ignore", "Strict", "Warn"})})};
  return out;
}

api_result<delete_request> read_delete_options(const request_target& target, std::string_view content_type, const std::string& body) {
  auto options = body.empty() ? read_options_query(target) : read_options_body(content_type, body);
  if (!options)
    return tl::unexpected{options.error()};
  delete_request out;
  if (auto read = read_preconditions(*options, out); !read)
    return tl::unexpected{read.error()};
  if (const auto* x = given(*options, "gracePeriodSeconds")) {
    if (!x->is_number_integer())
      return unreadable("gracePeriodSeconds");
    out.grace_seconds = x->get<std::int64_t>();
  }
  if (auto read = read_propagation(*options, out); !read)
    return tl::unexpected{read.error()};
  auto words = target.query_texts("dryRun");
  if (const auto* x = given(*options, "dryRun"); x != nullptr && !x->empty()) {
    const auto sent = texts_of(*options, "dryRun");
    if (sent.size() != x->size())
      return unreadable("dryRun");
    words.insert(words.end(), sent.begin(), sent.end());
  }
  auto dry = read_dry_run("DeleteOptions", words);
  if (!dry)
    return tl::unexpected{dry.error()};
  out.dry_run = *dry;
  return out;
}

} // namespace paddock::embedded
