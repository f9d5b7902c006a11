#include "k8s/exec_credential.hpp"

#include <algorithm>

namespace paddock::k8s {

using namespace std::chrono;
using nlohmann::json;

namespace {

constexpr auto earliest_renewal = seconds{30};

/// A member that is a text; empty where there is none. False: it is there and something else.
bool take(const json& from, const char* name, std::string& to) {
  const auto it = from.find(name);
  if (it == from.end() || it->is_null())
    return true;
  if (!it->is_string())
    return false;
  to = it->get<std::string>();
  return true;
}

bool is_text(const json& object, const char* name, std::string_view value) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() && it->get_ref<const std::string&>() == value;
}

} // namespace

bool is_known_exec_version(std::string_view api_version) {
  return api_version == "client.authentication.k8s.io/v1" || api_version == "client.authentication.k8s.io/v1beta1";
}

std::string exec_info(const exec_plugin& of) {
  auto spec = json{{"interactive", false}};
  if (!of.cluster.is_null())
    spec["cluster"] = of.cluster;
  return json{{"apiVersion", of.api_version}, {"kind", "ExecCredential"}, {"spec", spec}}.dump(-1, ' ', false,
                                                                                               json::error_handler_t::replace);
}

tl::expected<exec_credential, std::string> read_exec_credential(std::string_view text, std::string_view api_version) {
  const auto refuse = [](std::string why) { return tl::unexpected{std::move(why)}; };
  const auto whole = json::parse(text, nullptr, false);
  if (!whole.is_object())
    return refuse("what it printed is not a JSON object");
  if (!is_text(whole, "kind", "ExecCredential"))
    return refuse("what it printed is no ExecCredential");
  if (!is_text(whole, "apiVersion", api_version))
    return refuse("what it printed is not of the version that was asked for, " + std::string{api_version});
  const auto status = whole.find("status");
  if (status == whole.end() || !status->is_object())
    return refuse("it gave no status");
  auto token = std::string{}, key = std::string{}, expires = std::string{};
  auto got = exec_credential{};
  if (!take(*status, "token", token) || !take(*status, "clientCertificateData", got.certificate) || !take(*status, "clientKeyData", key)
      || !take(*status, "expirationTimestamp", expires))
    return refuse("a member of its status is not a text");
  if (token.empty() && got.certificate.empty() && key.empty())
    return refuse("it gave neither a token nor a client certificate");
  if (got.certificate.empty() != key.empty())
    return refuse("it gave one of a client certificate and its key, and they belong together");
  if (token.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
    return refuse("its token is not one line");
  got.token = secret{std::move(token)};
  got.key = secret{std::move(key)};
  if (!expires.empty()) {
    const auto at = read_instant(expires);
    if (!at)
      return refuse("its expirationTimestamp is no RFC 3339 instant");
    got.expires = *at;
  }
  return got;
}

std::optional<time_source::wall_clock::time_point> use_until(const exec_credential& x, time_source::wall_clock::time_point came) {
  if (!x.expires)
    return std::nullopt;
  const auto left = *x.expires - came;
  return *x.expires - std::min<time_source::wall_clock::duration>(earliest_renewal, left / 10);
}

} // namespace paddock::k8s
