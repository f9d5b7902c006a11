#include "embedded/list_options.hpp"

#include "base/base64.hpp"
#include "embedded/request_options.hpp"

namespace paddock::embedded {

namespace {

constexpr auto meta = "meta.k8s.io";
constexpr auto exact = "Exact";
constexpr auto not_older = "NotOlderThan";

std::string not_a_number(const std::string& text) {
  return "resourceVersion: Invalid value: " + in_quotes(text) + ": strconv.ParseUint: parsing " + in_quotes(text) + ": invalid syntax";
}

tl::unexpected<api_status> not_an_int(const std::string& text) {
  return tl::unexpected{bad_request("strconv.ParseInt: parsing " + in_quotes(text) + ": invalid syntax")};
}

status_cause match_forbidden(std::string_view why) {
  return field_forbidden("resourceVersionMatch", why);
}

api_result<void> all_right(std::vector<status_cause> causes) {
  if (causes.empty())
    return {};
  return tl::unexpected{invalid(meta, "ListOptions", "", std::move(causes))};
}

api_result<void> check_list(const request_target& target) {
  std::vector<status_cause> out;
  const auto match = target.query_text("resourceVersionMatch");
  const auto version = target.query_text("resourceVersion");
  if (!match.empty()) {
    if (version.empty())
      out.push_back(match_forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (!target.query_text("continue").empty())
      out.push_back(match_forbidden("resourceVersionMatch is forbidden when continue is provided"));
    if (match != exact && match != not_older)
      out.push_back(field_unsupported("resourceVersionMatch", in_quotes(match), {exact, not_older, ""}));
    if (match == exact && version == "0")
      out.push_back(match_forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  if (target.query.contains("sendInitialEvents"))
    out.push_back(field_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return all_right(std::move(out));
}

api_result<void> check_watch(const request_target& target) {
  std::vector<status_cause> out;
  const auto match = target.query_text("resourceVersionMatch");
  const bool initial = target.query.contains("sendInitialEvents");
  if (initial && match != not_older)
    out.push_back(match_forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (!match.empty()) {
    if (!initial)
      out.push_back(match_forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    if (match != not_older)
      out.push_back(field_unsupported("resourceVersionMatch", in_quotes(match), {not_older}));
    if (!target.query_text("continue").empty())
      out.push_back(match_forbidden("resourceVersionMatch is forbidden when continue is provided"));
  }
  return all_right(std::move(out));
}

/// A byte in the quotes of a message.
std::string quoted_byte(char c) {
  const auto code = static_cast<unsigned char>(c);
  constexpr auto digits = "0123456789abcdef";
  if (code < 0x20 || code == 0x7f)
    return std::string{"'\\x"} + digits[code >> 4] + digits[code & 15] + "'";
  if (code < 0x80)
    return std::string{"'"} + c + "'";
  if (code < 0xa0 || code == 0xad)
    return std::string{"'\\u00"} + digits[code >> 4] + digits[code & 15] + "'";
  return std::string{"'"} + static_cast<char>(0xc0 | (code >> 6)) + static_cast<char>(0x80 | (code & 0x3f)) + "'";
}

/// Whether a path would lead elsewhere when it is cleaned. A name may well have dots in it.
bool has_dot_segment(const std::string& path) {
  const auto whole = "/" + path + "/";
  return whole.find("/./") != std::string::npos || whole.find("/../") != std::string::npos;
}

} // namespace

// -- tokens -------------------------------------------------------------------------------------------------------

std::string to_token(const list_cursor& x, const std::string& name_space) {
  nlohmann::ordered_json out;
  out["v"] = "meta.k8s.io/v1";
  out["rv"] = x.version == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(x.version);
  const bool everywhere = name_space.empty() && !x.after.name_space.empty();
  if (x.left)
    out["left"] = *x.left;
  out["start"] = "/" + (everywhere ? x.after.name_space + "/" : "") + x.after.name + std::string(1, '\0');
  auto text = to_base64(out.dump());
  for (auto& c : text)
    c = c == '+' ? '-' : c == '/' ? '_' : c;
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

tl::expected<list_cursor, std::string> read_token(const std::string& text, const std::string& name_space) {
  const auto bad = [](const std::string& why) { return tl::unexpected{"continue key is not valid: " + why}; };
  const auto decoded = from_base64(text);
  if (!decoded) {
    const auto at = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
    return bad("illegal base64 data at input byte " + std::to_string(std::min(at, text.size())));
  }
  if (!decoded->empty() && std::string_view{"{[\"-0123456789tfn"}.find(decoded->front()) == std::string_view::npos)
    return bad("invalid character " + quoted_byte(decoded->front()) + " looking for beginning of value");
  const auto parsed = parse_json(*decoded);
  if (!parsed)
    return bad(parsed.error());
  const auto* version = member(*parsed, "rv");
  if (text_at(*parsed, {"v"}) != "meta.k8s.io/v1" || version == nullptr || !version->is_number_integer())
    return bad("server does not recognize this encoded version " + in_quotes(text_at(*parsed, {"v"})));
  list_cursor out;
  if (const auto number = version->get<std::int64_t>(); number > 0)
    out.version = static_cast<std::uint64_t>(number);
  if (const auto* left = member(*parsed, "left"); left != nullptr && left->is_number_unsigned())
    out.left = left->get<std::size_t>();
  auto start = text_at(*parsed, {"start"});
  if (start.size() < 3 || start.front() != '/' || start.back() != '\0')
    return bad("encoded start key is not valid");
  start = start.substr(1, start.size() - 2);
  if (has_dot_segment(start))
    return bad("encoded start key is not valid");
  const auto slash = start.find('/');
  out.after.name_space = slash == std::string::npos ? name_space : start.substr(0, slash);
  out.after.name = slash == std::string::npos ? start : start.substr(slash + 1);
  return out;
}

// -- parameters ---------------------------------------------------------------------------------------------------

api_result<selection> read_selection(const resource_kind& kind, const request_target& target) {
  selection out;
  auto labels = label_selector::parse(target.query_text("labelSelector"));
  if (!labels)
    return tl::unexpected{bad_request(labels.error())};
  auto fields = field_selector::parse(kind, target.query_text("fieldSelector"));
  if (!fields)
    return tl::unexpected{bad_request(fields.error())};
  out.labels = std::move(*labels);
  out.fields = std::move(*fields);
  return out;
}

api_result<list_parameters> read_list_parameters(const resource_kind& kind, const std::string& name_space, const request_target& target) {
  list_parameters out;
  if (auto text = target.query_text("limit"); !text.empty()) {
    const bool negative = text.front() == '-';
    const auto limit = read_number(negative ? std::string_view{text}.substr(1) : std::string_view{text});
    if (!limit)
      return not_an_int(text);
    out.limit = negative ? 0 : static_cast<std::size_t>(*limit);
  }
  if (auto checked = check_list(target); !checked)
    return tl::unexpected{checked.error()};
  auto what = read_selection(kind, target);
  if (!what)
    return tl::unexpected{what.error()};
  out.what = std::move(*what);
  const auto version_text = target.query_text("resourceVersion");
  const auto version = version_text.empty() ? std::optional<std::uint64_t>{0} : read_number(version_text);
  if (!version)
    return tl::unexpected{bad_request("invalid resource version: " + not_a_number(version_text))};
  if (const auto token = target.query_text("continue"); !token.empty()) {
    if (*version != 0)
      return tl::unexpected{bad_request("specifying resource version is not allowed when using continue")};
    auto cursor = read_token(token, name_space);
    if (!cursor)
      return tl::unexpected{bad_request("invalid continue token: " + cursor.error())};
    out.from = std::move(*cursor);
  } else if (*version != 0) {
    const auto match = target.query_text("resourceVersionMatch");
    const bool one_version = match == exact || (match.empty() && out.limit > 0);
    (one_version ? out.exactly : out.at_least) = version;
  }
  return out;
}

api_result<watch_parameters> read_watch_parameters(const resource_kind& kind, const request_target& target) {
  watch_parameters out;
  if (auto checked = check_watch(target); !checked)
    return tl::unexpected{checked.error()};
  auto what = read_selection(kind, target);
  if (!what)
    return tl::unexpected{what.error()};
  out.what = std::move(*what);
  if (const auto text = target.query_text("resourceVersion"); !text.empty()) {
    const auto from = read_number(text);
    if (!from)
      return tl::unexpected{api_status{500, "", not_a_number(text), {}}};
    if (*from != 0)
      out.from = from;
  }
  out.bookmarks = target.query_flag("allowWatchBookmarks");
  if (target.query.contains("sendInitialEvents")) {
    if (target.query_flag("sendInitialEvents")) {
      out.at_least = std::exchange(out.from, std::nullopt);
      out.end_of_initial = out.bookmarks;
    } else if (!out.from) {
      out.initial = false;
    }
  }
  if (const auto text = target.query_text("timeoutSeconds"); !text.empty()) {
    const auto seconds = read_number(text);
    if (!seconds || *seconds > 86'400 * 365)
      return not_an_int(text);
    if (*seconds > 0)
      out.timeout = std::chrono::seconds{*seconds};
  }
  return out;
}

} // namespace paddock::embedded
