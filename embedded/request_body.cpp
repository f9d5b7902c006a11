#include "embedded/request_body.hpp"

#include "embedded/duplicate_members.hpp"
#include "embedded/protobuf_json.hpp"
#include "embedded/representation.hpp"
#include "embedded/yaml_json.hpp"

namespace paddock::embedded {

namespace {

std::string hex(std::string_view bytes) {
  constexpr auto digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

enum class encoding { json, yaml, protobuf };

/// In what a body is written; nothing: in something else. Protobuf is for built-in types.
std::optional<encoding> encoding_of(std::string_view content_type, bool custom) {
  const auto media = media_type(content_type);
  if (media.empty() || media == "application/json")
    return encoding::json;
  if (media == "application/yaml")
    return encoding::yaml;
  return media == protobuf_type && !custom ? std::optional{encoding::protobuf} : std::nullopt;
}

/// The beginning of a body, as messages show it: in hex unless it is JSON.
std::string summary(std::string_view body, encoding how) {
  constexpr std::size_t most = 30;
  if (body.empty())
    return "<empty>";
  const auto first = body.substr(0, most);
  return (how == encoding::json ? std::string{first} : hex(first)) + (body.size() > most ? " ..." : "");
}

tl::expected<sent_object, std::string> decode_yaml(const std::string& body) {
  sent_object out;
  std::vector<std::string> twice;
  auto parsed = parse_yaml(body, twice);
  if (!parsed)
    return tl::unexpected{parsed.error()};
  out.value = std::move(*parsed);
  if (twice.empty())
    return out;
  std::string all = "yaml: unmarshal errors:";
  for (const auto& x : twice)
    all += "\n  " + x;
  out.twice.push_back(std::move(all));
  return out;
}

tl::expected<sent_object, std::string> decode(const std::string& body, encoding how) {
  if (how == encoding::yaml)
    return decode_yaml(body);
  auto parsed = how == encoding::protobuf ? parse_protobuf(body) : parse_json(body);
  if (!parsed)
    return tl::unexpected{how == encoding::protobuf ? parsed.error() : "couldn't get version/kind; json parse error: " + parsed.error()};
  sent_object out{std::move(*parsed)};
  if (how == encoding::json)
    for (const auto& path : duplicate_members(body))
      out.twice.push_back("duplicate field " + in_quotes(path));
  return out;
}

} // namespace

api_result<sent_object> read_body(std::string_view type, bool named, std::string_view content_type, const std::string& body) {
  const auto how = encoding_of(content_type, named);
  if (!how)
    return tl::unexpected{unsupported_body_type()};
  const auto unrecognized = [&](const std::string& why) {
    return tl::unexpected{bad_request("the object provided is unrecognized (must be of type " + std::string{type} + "): " + why + " ("
                                      + summary(body, *how) + ")")};
  };
  auto out = decode(body, *how);
  if (!out)
    return unrecognized(out.error());
  if (!out->value.is_object())
    return unrecognized("couldn't get version/kind; json parse error: json: cannot unmarshal " + std::string{out->value.type_name()}
                        + " into Go value of type struct");
  if (named && text_at(out->value, {"kind"}).empty())
    return unrecognized("Object 'Kind' is missing in '" + body.substr(0, 1024) + "'");
  return std::move(*out);
}

api_result<sent_object> read_body(const resource_kind& kind, std::string_view content_type, const std::string& body) {
  auto out = read_body(kind.kind, kind.custom, content_type, body);
  if (!out || kind.custom)
    return out;
  if (text_at(out->value, {"kind"}).empty())
    out->value["kind"] = kind.kind;
  if (text_at(out->value, {"apiVersion"}).empty())
    out->value["apiVersion"] = kind.api_version();
  return out;
}

api_status not_strict(std::string_view version, std::string_view kind, const std::vector<std::string>& complaints) {
  auto text =
    std::string{kind} + " in version " + in_quotes(version) + " cannot be handled as a " + std::string{kind} + ": strict decoding error: ";
  for (std::size_t i = 0; i < complaints.size(); ++i)
    text += (i == 0 ? "" : ", ") + complaints[i];
  return bad_request(std::move(text));
}

} // namespace paddock::embedded
