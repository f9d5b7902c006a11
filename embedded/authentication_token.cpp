#include "embedded/authentication_token.hpp"

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "embedded/object.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

constexpr std::size_t block = 64;
constexpr std::size_t longest_token = 16 * 1024;
constexpr std::string_view header_text = R"({"alg":"HS256","typ":"JWT"})";

/// Base64 with the URL-safe alphabet and no padding (RFC 7515).
std::string url_base64(std::string_view bytes) {
  auto out = to_base64(bytes);
  while (!out.empty() && out.back() == '=')
    out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::string bytes_of(const sha256_digest& x) {
  return {x.begin(), x.end()};
}

std::string quoted_list(const std::vector<std::string>& all) {
  std::string out = "[";
  for (const auto& x : all)
    out += (out.size() > 1 ? " " : "") + in_quotes(x);
  return out + "]";
}

json to_json(const service_account_claims& x) {
  json inner{{"namespace", x.name_space}, {"serviceaccount", {{"name", x.name}, {"uid", x.uid}}}};
  if (x.bound) {
    auto key = x.bound->kind;
    std::transform(key.begin(), key.end(), key.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    inner[key] = {{"name", x.bound->name}, {"uid", x.bound->uid}};
  }
  return {{"aud", x.audiences}, {"exp", x.expires},
          {"iat", x.issued},    {"iss", server_audience},
          {"jti", x.id},        {"kubernetes.io", std::move(inner)},
          {"nbf", x.issued},    {"sub", "system:serviceaccount:" + x.name_space + ":" + x.name}};
}

std::optional<service_account_claims> read_claims(const json& from) {
  service_account_claims out;
  out.name_space = text_at(from, {"kubernetes.io", "namespace"});
  out.name = text_at(from, {"kubernetes.io", "serviceaccount", "name"});
  out.uid = text_at(from, {"kubernetes.io", "serviceaccount", "uid"});
  out.id = text_at(from, {"jti"});
  for (const auto* kind : {"Pod", "Secret", "Node"}) {
    const auto key = std::string{static_cast<char>(kind[0] + 32)} + (kind + 1);
    if (const auto* x = find(from, {"kubernetes.io", key}))
      out.bound = bound_object{kind, text_at(*x, {"name"}), text_at(*x, {"uid"})};
  }
  const auto* issued = member(from, "iat");
  const auto* expires = member(from, "exp");
  const auto* audiences = member(from, "aud");
  const auto whole = [](const json* x) { return x != nullptr && x->is_number_integer(); };
  if (!whole(issued) || !whole(expires) || audiences == nullptr || !audiences->is_array())
    return std::nullopt;
  for (const auto& x : *audiences) {
    if (!x.is_string())
      return std::nullopt;
    out.audiences.push_back(x.get<std::string>());
  }
  out.issued = issued->get<std::int64_t>();
  out.expires = expires->get<std::int64_t>();
  return out;
}

} // namespace

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size())
    return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i])) ^ static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  auto padded = key.size() > block ? bytes_of(sha256(key)) : std::string{key};
  padded.resize(block, '\0');
  auto inner = padded;
  auto outer = padded;
  for (auto& c : inner)
    c = static_cast<char>(c ^ 0x36);
  for (auto& c : outer)
    c = static_cast<char>(c ^ 0x5c);
  return bytes_of(sha256(outer + bytes_of(sha256(inner + std::string{text}))));
}

service_account_tokens::service_account_tokens(secret key) : key_(std::move(key)) {
}

secret service_account_tokens::mint(const service_account_claims& what) const {
  const auto signed_part = url_base64(header_text) + "." + url_base64(encode_json(to_json(what)));
  return secret{signed_part + "." + url_base64(hmac_sha256(key_.reveal(), signed_part))};
}

std::optional<tl::expected<service_account_claims, std::string>>
service_account_tokens::verify(std::string_view token, const std::vector<std::string>& audiences, std::int64_t now) const {
  const auto first = token.find('.');
  const auto last = token.rfind('.');
  if (token.size() > longest_token || first == std::string_view::npos || first == last || token.find('.', first + 1) != last)
    return std::nullopt;
  // Only our own header is read: what a token says of its algorithm decides nothing.
  if (token.substr(0, first) != url_base64(header_text))
    return std::nullopt;
  if (!same_secret(token.substr(last + 1), url_base64(hmac_sha256(key_.reveal(), token.substr(0, last)))))
    return tl::unexpected{std::string{"the signature is not this cluster's"}};
  const auto text = from_base64(token.substr(first + 1, last - first - 1));
  const auto parsed = text ? parse_json(*text) : tl::expected<json, std::string>{tl::unexpect, "no base64"};
  const auto claims = parsed ? read_claims(*parsed) : std::nullopt;
  if (!claims)
    return tl::unexpected{std::string{"the claims cannot be read"}};
  if (now >= claims->expires)
    return tl::unexpected{std::string{"service account token has expired"}};
  if (now < claims->issued)
    return tl::unexpected{std::string{"service account token is not valid yet"}};
  const auto wanted = [&](const std::string& x) { return std::find(audiences.begin(), audiences.end(), x) != audiences.end(); };
  if (std::none_of(claims->audiences.begin(), claims->audiences.end(), wanted))
    return tl::unexpected{"token audiences " + quoted_list(claims->audiences) + " is invalid for the target audiences "
                          + quoted_list(audiences)};
  return *claims;
}

} // namespace paddock::embedded
