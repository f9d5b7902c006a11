#include "embedded/resource_service.hpp"

#include "embedded/patch.hpp"
#include "embedded/resource_discovery.hpp"

#include <cctype>
#include <charconv>
#include <set>

namespace paddock::embedded {

namespace {

using outcome = std::variant<api_answer, watch_start>;

const std::pair<std::string, std::string> json_type{"Content-Type", "application/json"};

api_answer answer(unsigned status, std::string body) {
  body += '\n';
  return {status, {json_type}, std::move(body)};
}

api_answer page_not_found() {
  return {404, {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}}, "404 page not found\n"};
}

api_answer success(const resource_kind& kind, const stored_object& gone) {
  nlohmann::ordered_json out;
  out["kind"] = "Status";
  out["apiVersion"] = "v1";
  out["metadata"] = nlohmann::ordered_json::object();
  out["status"] = "Success";
  auto& details = out["details"];
  details["name"] = text_at(gone.value, {"metadata", "name"});
  if (!kind.group.empty())
    details["group"] = kind.group;
  details["kind"] = kind.plural;
  details["uid"] = text_at(gone.value, {"metadata", "uid"});
  return answer(200, encode_json(out));
}

/// As the server does it: each text once; when they are too long together, each is cut, and no more are told than that holds.
void warn_of(api_answer& out, const std::vector<std::string>& texts) {
  constexpr std::size_t most_together = 4096; // characters
  constexpr std::size_t most_each = 256;
  std::vector<std::string_view> told;
  std::set<std::string_view> seen;
  std::size_t together = 0;
  for (const std::string_view one : texts) {
    if (one.empty() || !seen.insert(one).second)
      continue;
    told.push_back(one);
    together += characters(one);
  }
  const bool cuts = together > most_together;
  together = 0;
  for (const auto whole : told) {
    if (together >= most_together)
      return;
    const auto one = cuts ? first_characters(whole, most_each) : whole;
    together += characters(one);
    std::string text;
    for (const char c : one) {
      if (c == '"' || c == '\\')
        text += '\\';
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)
        text += c;
    }
    out.headers.emplace_back("Warning", "299 - \"" + text + "\"");
  }
}

/// The media type without its parameters, in lower case.
std::string media_type(std::string_view text) {
  text = text.substr(0, text.find(';'));
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  std::string out;
  for (const char c : text)
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Whether one of the types that the client takes is plain JSON.
bool takes_json(std::string_view accept) {
  if (media_type(accept).empty())
    return true;
  while (!accept.empty()) {
    const auto end = std::min(accept.find(','), accept.size());
    const auto one = accept.substr(0, end);
    const auto type = media_type(one);
    if ((type == "application/json" || type == "application/*" || type == "*/*") && one.find("as=") == std::string_view::npos)
      return true;
    accept.remove_prefix(std::min(end + 1, accept.size()));
  }
  return false;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t out = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return out;
}

std::string not_a_number(const std::string& text) {
  return "resourceVersion: Invalid value: " + in_quotes(text) + ": strconv.ParseUint: parsing " + in_quotes(text) + ": invalid syntax";
}

std::string summary(std::string_view body) {
  constexpr std::size_t most = 30;
  if (body.empty())
    return "<empty>";
  return body.size() > most ? std::string{body.substr(0, most)} + " ..." : std::string{body};
}

/// The object that was sent to create or replace one.
api_result<json> read_object(const resource_kind& kind, const api_call& call) {
  if (!call.content_type.empty() && media_type(call.content_type) != "application/json")
    return tl::unexpected{unsupported_body_type()};
  const auto unrecognized = [&](const std::string& why) {
    return tl::unexpected{bad_request("the object provided is unrecognized (must be of type " + std::string{kind.kind} + "): " + why + " ("
                                      + summary(call.body) + ")")};
  };
  auto parsed = parse_json(call.body);
  if (!parsed)
    return unrecognized("couldn't get version/kind; json parse error: " + parsed.error());
  if (!parsed->is_object())
    return unrecognized("couldn't get version/kind; json parse error: json: cannot unmarshal " + std::string{parsed->type_name()}
                        + " into Go value of type struct");
  // A built-in kind may leave out what the path says already.
  if (text_at(*parsed, {"kind"}).empty() && kind.custom)
    return unrecognized("Object 'Kind' is missing in '" + call.body.substr(0, 1024) + "'");
  if (!kind.custom) {
    if (text_at(*parsed, {"kind"}).empty())
      (*parsed)["kind"] = kind.kind;
    if (text_at(*parsed, {"apiVersion"}).empty())
      (*parsed)["apiVersion"] = kind.api_version();
  }
  return std::move(*parsed);
}

api_result<write_options> read_options(const request_target& target, bool& warns) {
  write_options out;
  const auto dry = target.query_text("dryRun");
  if (!dry.empty() && dry != "All")
    return tl::unexpected{invalid("meta.k8s.io", "CreateOptions", "", {field_unsupported("dryRun", in_quotes(dry), {"All"})})};
  out.dry_run = dry == "All";
  const auto validation = target.query_text("fieldValidation");
  if (!validation.empty() && validation != "Strict" && validation != "Warn" && validation != "Ignore")
    return tl::unexpected{invalid("meta.k8s.io", "CreateOptions", "",
                                  {field_unsupported("fieldValidation", in_quotes(validation), {"", "Ignore", "Warn", "Strict"})})};
  out.strict = validation == "Strict";
  warns = validation.empty() || validation == "Warn";
  return out;
}

/// One request about objects: where it goes and what it carries.
class servant {
public:
  servant(store& objects, const api_call& call, const request_target& target, const resource_path& where, const request_gate* gate,
          const access_attributes& what, store::instant now) :
    objects_(objects), call_(call), target_(target), where_(where), kind_(*where.kind), gate_(gate), what_(what), now_(now) {
  }

  outcome get() {
    auto found = objects_.get(kind_, where_.name_space, where_.name);
    return found ? answer(200, (*found)->text) : to_answer(found.error());
  }

  outcome list() {
    auto what = read_selection();
    if (!what)
      return to_answer(what.error());
    if (!target_.query_text("continue").empty())
      return to_answer(bad_request("invalid continue token: this server never continues a list"));
    if (const auto text = target_.query_text("resourceVersion"); !text.empty()) {
      const auto wanted = number(text);
      if (!wanted)
        return to_answer(bad_request("invalid resource version: " + not_a_number(text)));
      if (*wanted > objects_.version())
        return to_answer(version_too_new(*wanted, objects_.version()));
    }
    auto out = R"({"apiVersion":)" + in_quotes(kind_.api_version()) + R"(,"items":[)";
    bool first = true;
    for (const auto& x : objects_.list(kind_, where_.name_space, *what)) {
      out += first ? "" : ",";
      out += x->text;
      first = false;
    }
    out += R"(],"kind":)" + in_quotes(std::string{kind_.kind} + "List") + R"(,"metadata":{)" + (kind_.custom ? R"("continue":"",)" : "")
           + R"("resourceVersion":")" + std::to_string(objects_.version()) + R"("}})";
    return answer(200, std::move(out));
  }

  outcome watch() {
    auto what = read_selection();
    if (!what)
      return to_answer(what.error());
    watch_start out;
    out.request.kind = &kind_;
    out.request.name_space = where_.name_space;
    out.request.what = std::move(*what);
    if (const auto text = target_.query_text("resourceVersion"); !text.empty()) {
      const auto from = number(text);
      if (!from)
        return to_answer({500, "", not_a_number(text), {}});
      if (*from != 0)
        out.request.from = from;
    }
    out.request.bookmarks = target_.query_flag("allowWatchBookmarks");
    if (target_.query_flag("sendInitialEvents")) {
      if (target_.query_text("resourceVersionMatch") != "NotOlderThan")
        return to_answer(
          invalid("meta.k8s.io", "ListOptions", "",
                  {field_forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")}));
      if (out.request.from && *out.request.from > objects_.version())
        return to_answer(version_too_new(*out.request.from, objects_.version()));
      out.request.from.reset();
      out.request.end_of_initial = out.request.bookmarks;
    }
    if (const auto text = target_.query_text("timeoutSeconds"); !text.empty()) {
      const auto seconds = number(text);
      if (!seconds || *seconds > 86'400 * 365)
        return to_answer(bad_request("strconv.ParseInt: parsing " + in_quotes(text) + ": invalid syntax"));
      if (*seconds > 0)
        out.timeout = std::chrono::seconds{*seconds};
    }
    return out;
  }

  outcome create() {
    bool warns = false;
    auto how = read_options(target_, warns);
    if (!how)
      return to_answer(how.error());
    auto object = read_object(kind_, call_);
    if (!object)
      return to_answer(object.error());
    how->admit = admission("CREATE", how->dry_run);
    return finish(201, objects_.create(kind_, where_.name_space, std::move(*object), now_, *how), warns);
  }

  /// Answers what is created to ask something.
  outcome review() {
    bool warns = false;
    if (auto how = read_options(target_, warns); !how)
      return to_answer(how.error());
    auto object = read_object(kind_, call_);
    if (!object)
      return to_answer(object.error());
    if (gate_ == nullptr)
      return to_answer(internal_error("this server knows no rights"));
    auto answered = gate_->review(call_.user, kind_, where_.name_space, std::move(*object), now_);
    return answered ? answer(201, encode_json(*answered)) : to_answer(answered.error());
  }

  outcome replace(store::part which) {
    bool warns = false;
    auto how = read_options(target_, warns);
    if (!how)
      return to_answer(how.error());
    auto object = read_object(kind_, call_);
    if (!object)
      return to_answer(object.error());
    const auto change = [&](const json&) -> api_result<json> { return *object; };
    how->admit = admission("UPDATE", how->dry_run);
    return finish(200, objects_.update(kind_, where_.name_space, where_.name, which, store::form::put, change, *how), warns);
  }

  outcome patch(store::part which) {
    bool warns = false;
    auto how = read_options(target_, warns);
    if (!how)
      return to_answer(how.error());
    const auto type = media_type(call_.content_type);
    const bool operations = type == "application/json-patch+json";
    if (!operations && type != "application/merge-patch+json")
      return to_answer(unsupported_patch_type(kind_.custom));
    auto read = operations ? parse_json_patch(call_.body) : parse_merge_patch(call_.body);
    if (!read)
      return to_answer(read.error());
    const auto change = [&](const json& object) -> api_result<json> {
      if (operations)
        return apply_json_patch(object, *read);
      return apply_merge_patch(object, *read);
    };
    how->admit = admission("UPDATE", how->dry_run);
    return finish(200, objects_.update(kind_, where_.name_space, where_.name, which, store::form::patch, change, *how), warns);
  }

  outcome remove() {
    auto how = read_delete();
    if (!how)
      return to_answer(how.error());
    how->admit = admission("DELETE", how->dry_run);
    auto done = objects_.remove(kind_, where_.name_space, where_.name, *how, now_);
    if (!done)
      return to_answer(done.error());
    auto out = done->gone && !kind_.returns_deleted ? success(kind_, *done->object) : answer(200, done->object->text);
    warn_of(out, warnings_);
    return out;
  }

  outcome bind() {
    const auto parsed = parse_json(call_.body);
    if (!parsed)
      return to_answer(
        bad_request("the object provided is unrecognized (must be of type Binding): couldn't get version/kind; json parse error: "
                    + parsed.error() + " (" + summary(call_.body) + ")"));
    auto done = objects_.bind(where_.name_space, where_.name, *parsed, now_);
    if (!done)
      return to_answer(done.error());
    return answer(201, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})");
  }

private:
  admission_hook admission(std::string_view operation, bool dry_run) {
    if (gate_ == nullptr)
      return {};
    return [this, operation, dry_run](const json* object, const json* old) {
      return gate_->admit({call_.user, what_, kind_, operation, dry_run, object, old}, warnings_);
    };
  }

  api_result<selection> read_selection() {
    selection out;
    auto labels = label_selector::parse(target_.query_text("labelSelector"));
    if (!labels)
      return tl::unexpected{bad_request(labels.error())};
    auto fields = field_selector::parse(kind_, target_.query_text("fieldSelector"));
    if (!fields)
      return tl::unexpected{bad_request(fields.error())};
    out.labels = std::move(*labels);
    out.fields = std::move(*fields);
    return out;
  }

  api_result<delete_request> read_delete() {
    delete_request out;
    json options = json::object();
    if (!call_.body.empty()) {
      if (!call_.content_type.empty() && media_type(call_.content_type) != "application/json")
        return tl::unexpected{unsupported_body_type()};
      auto parsed = parse_json(call_.body);
      if (!parsed)
        return tl::unexpected{bad_request("couldn't get version/kind; json parse error: " + parsed.error())};
      if (!parsed->is_object())
        return tl::unexpected{bad_request("couldn't get version/kind; json parse error: json: cannot unmarshal "
                                          + std::string{parsed->type_name()} + " into Go value of type struct")};
      options = std::move(*parsed);
    } else {
      // The options of a request without a body stand in its query.
      if (const auto text = target_.query_text("gracePeriodSeconds"); !text.empty()) {
        const auto seconds = number(text);
        if (!seconds)
          return tl::unexpected{bad_request("strconv.ParseInt: parsing " + in_quotes(text) + ": invalid syntax")};
        options["gracePeriodSeconds"] = static_cast<std::int64_t>(*seconds);
      }
      if (const auto text = target_.query_text("propagationPolicy"); !text.empty())
        options["propagationPolicy"] = text;
    }
    const auto unreadable = [](std::string_view field) {
      return tl::unexpected{bad_request(
        "DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: json: cannot unmarshal into Go struct field DeleteOptions."
        + std::string{field})};
    };
    if (const auto* x = member(options, "preconditions"); x != nullptr && !x->is_null()) {
      if (!x->is_object())
        return unreadable("preconditions");
      // A precondition that cannot be read must not be lost.
      for (const auto& [key, value] : x->items()) {
        if (value.is_null())
          continue;
        if (!value.is_string())
          return unreadable("preconditions." + key);
        if (key == "uid")
          out.uid = value.get<std::string>();
        else if (key == "resourceVersion")
          out.version = value.get<std::string>();
      }
    }
    if (const auto* x = member(options, "gracePeriodSeconds"); x != nullptr && !x->is_null()) {
      if (!x->is_number_integer())
        return unreadable("gracePeriodSeconds");
      out.grace_seconds = x->get<std::int64_t>();
    }
    if (const auto* x = member(options, "propagationPolicy"); x != nullptr && !x->is_null()) {
      if (!x->is_string())
        return unreadable("propagationPolicy");
      const auto policy = x->get<std::string>();
      const bool known = policy == "Foreground" || policy == "Orphan";
      if (known)
        return tl::unexpected{
          invalid("meta.k8s.io", "DeleteOptions", "", {field_unsupported("propagationPolicy", in_quotes(policy), {"Background"})})};
      if (policy != "Background")
        return tl::unexpected{
          invalid("meta.k8s.io", "DeleteOptions", "",
                  {field_unsupported("propagationPolicy", in_quotes(policy), {"Foreground", "Background", "Orphan", "nil"})})};
    }
    auto dry = target_.query_text("dryRun");
    if (const auto* x = member(options, "dryRun"); x != nullptr && x->is_array() && !x->empty())
      dry = (*x)[0].is_string() ? (*x)[0].get<std::string>() : "?";
    if (!dry.empty() && dry != "All")
      return tl::unexpected{invalid("meta.k8s.io", "DeleteOptions", "", {field_unsupported("dryRun", in_quotes(dry), {"All"})})};
    out.dry_run = dry == "All";
    return out;
  }

  outcome finish(unsigned status, api_result<written> done, bool warns) {
    if (!done)
      return to_answer(done.error());
    auto out = answer(status, done->object->text);
    std::vector<std::string> texts;
    if (warns)
      for (const auto& field : done->unknown_fields)
        texts.push_back("unknown field " + in_quotes(field));
    texts.insert(texts.end(), warnings_.begin(), warnings_.end());
    warn_of(out, texts);
    return out;
  }

  store& objects_;
  const api_call& call_;
  const request_target& target_;
  const resource_path& where_;
  const resource_kind& kind_;
  const request_gate* gate_;
  const access_attributes& what_;
  store::instant now_;
  std::vector<std::string> warnings_; // of the policies
};

} // namespace

api_answer to_answer(const api_status& x) {
  auto out = answer(x.code, encode_json(to_json(x)));
  if (x.details && x.details->retry_after)
    out.headers.emplace_back("Retry-After", std::to_string(*x.details->retry_after));
  return out;
}

std::optional<api_answer> serve_public(std::string_view method, std::string_view path) {
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    if (method != "GET")
      return to_answer(method_not_allowed());
    return api_answer{200, {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}}, "ok"};
  }
  if (path == "/version") {
    if (method != "GET")
      return to_answer(method_not_allowed());
    nlohmann::ordered_json out;
    out["major"] = "1";
    out["minor"] = "36";
    out["gitVersion"] = "v1.36.2+paddock";
    out["platform"] = "linux/amd64";
    return api_answer{200, {json_type}, out.dump(2)};
  }
  return std::nullopt;
}

std::variant<api_answer, watch_start> serve(store& objects, const api_call& call, const request_gate* gate, store::instant now) {
  const auto target = parse_target(call.target);
  if (!target)
    return to_answer(bad_request("the request's path or query is not encoded correctly"));
  // -- whether the user may --
  const auto what = read_attributes(call.method, *target);
  if (gate != nullptr)
    if (auto denied = gate->denies(call.user, what))
      return to_answer(*denied);
  if (call.body.size() > max_object_bytes)
    return to_answer(too_large());
  if (auto open = serve_public(call.method, target->path))
    return std::move(*open);
  const auto where = parse_resource_path(target->segments);
  if (!where) {
    auto found = discover(target->segments);
    if (!found)
      return page_not_found();
    if (call.method != "GET")
      return to_answer(method_not_allowed());
    return answer(200, encode_json(*found));
  }
  const bool reads = call.method == "GET";
  // Of one object by its path there is no watch: it is read, which is what the right was asked for.
  const bool watches = reads && where->name.empty() && target->query_flag("watch");
  if (!reads && call.method != "POST" && call.method != "PUT" && call.method != "PATCH" && call.method != "DELETE")
    return to_answer(method_not_allowed());
  if (!takes_json(call.accept))
    return to_answer(not_acceptable());
  // -- subresources --
  servant work{objects, call, *target, *where, gate, what, now};
  const auto& kind = *where->kind;
  if (kind.asks) {
    if (!where->name.empty())
      return to_answer(not_served());
    return call.method == "POST" && (!kind.namespaced || !where->name_space.empty()) ? work.review() : to_answer(method_not_allowed());
  }
  if (!where->subresource.empty()) {
    if (where->subresource == "status" && kind.has_status) {
      if (reads)
        return work.get();
      if (call.method == "PUT")
        return work.replace(store::part::status);
      if (call.method == "PATCH")
        return work.patch(store::part::status);
      return to_answer(method_not_allowed());
    }
    if (where->subresource == "binding" && kind.kind == "Pod")
      return call.method == "POST" ? work.bind() : to_answer(method_not_allowed());
    if (kind.custom)
      return to_answer(not_found(kind, where->name));
    return page_not_found();
  }
  // -- objects and collections --
  if (watches)
    return work.watch();
  if (reads)
    return where->name.empty() ? work.list() : work.get();
  // Nothing is made in all namespaces at once; a custom kind takes a POST also under a name, and ignores that name.
  const bool somewhere = !kind.namespaced || !where->name_space.empty();
  if (call.method == "POST")
    return somewhere && (where->name.empty() || kind.custom) ? work.create() : to_answer(method_not_allowed());
  if (where->name.empty())
    return to_answer(method_not_allowed());
  if (call.method == "PUT")
    return work.replace(store::part::main);
  if (call.method == "PATCH")
    return work.patch(store::part::main);
  // A namespace would have to be emptied first.
  return kind.kind == "Namespace" ? to_answer(method_not_allowed()) : work.remove();
}

} // namespace paddock::embedded
