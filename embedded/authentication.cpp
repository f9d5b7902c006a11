#include "embedded/authentication.hpp"

#include <algorithm>
#include <cctype>

namespace paddock::embedded {

namespace {

constexpr auto all_authenticated = "system:authenticated";
constexpr auto credential_id = "authentication.kubernetes.io/credential-id";

user_info with_group(user_info x, const char* group) {
  if (std::find(x.groups.begin(), x.groups.end(), group) == x.groups.end())
    x.groups.emplace_back(group);
  return x;
}

/// The token of `Bearer TOKEN`; nothing when the header says something else.
std::optional<std::string_view> bearer(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size())
    return std::nullopt;
  for (std::size_t i = 0; i < scheme.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(authorization[i])) != scheme[i])
      return std::nullopt;
  authorization.remove_prefix(scheme.size());
  return authorization;
}

/// Whether the object of that name is still the one with this uid, and stays.
bool lives(const store& objects, std::string_view plural, const std::string& name_space, const std::string& name, const std::string& uid) {
  const auto* kind = find_kind("", "v1", plural);
  if (kind == nullptr)
    return false;
  const auto found = objects.get(*kind, kind->namespaced ? name_space : std::string{}, name);
  return found && (*found)->text_at({"metadata", "uid"}) == uid && !(*found)->has({"metadata", "deletionTimestamp"});
}

std::string plural_of(const std::string& kind) {
  return kind == "Pod" ? "pods" : kind == "Node" ? "nodes" : "secrets";
}

user_info account_user(const service_account_claims& of) {
  user_info out{"system:serviceaccount:" + of.name_space + ":" + of.name,
                {"system:serviceaccounts", "system:serviceaccounts:" + of.name_space, all_authenticated}};
  out.uid = of.uid;
  out.extra[credential_id] = {"JTI=" + of.id};
  if (of.bound && of.bound->kind == "Pod") {
    out.extra["authentication.kubernetes.io/pod-name"] = {of.bound->name};
    out.extra["authentication.kubernetes.io/pod-uid"] = {of.bound->uid};
  }
  return out;
}

} // namespace

json to_json(const user_info& x) {
  auto out = json::object();
  if (!x.name.empty())
    out["username"] = x.name;
  if (!x.uid.empty())
    out["uid"] = x.uid;
  if (!x.groups.empty())
    out["groups"] = x.groups;
  if (!x.extra.empty())
    out["extra"] = x.extra;
  return out;
}

user_info anonymous_user() {
  return {"system:anonymous", {"system:unauthenticated"}};
}

authenticator::authenticator(std::vector<known_token> tokens, secret signing_key) :
  known_(std::move(tokens)), accounts_(std::move(signing_key)) {
}

std::optional<user_info> authenticator::user_of(const std::optional<certificate_name>& certificate, std::string_view authorization,
                                                const store& objects, store::instant now) const {
  if (certificate && !certificate->common_name.empty()) {
    user_info out{certificate->common_name, certificate->organizations};
    out.extra[credential_id] = {"X509SHA256=" + certificate->fingerprint};
    return with_group(std::move(out), all_authenticated);
  }
  const auto token = bearer(authorization);
  if (!token)
    return anonymous_user();
  auto found = accept(*token, {}, objects, now);
  return found ? std::optional{std::move(found->user)} : std::nullopt;
}

tl::expected<authenticated, std::string> authenticator::accept(std::string_view token, const std::vector<std::string>& audiences,
                                                               const store& objects, store::instant now) const {
  const auto wanted = audiences.empty() ? std::vector<std::string>{server_audience} : audiences;
  const known_token* known = nullptr;
  for (const auto& x : known_)
    if (!x.token.empty() && same_secret(x.token.reveal(), token))
      known = &x;
  if (known != nullptr) {
    if (std::find(wanted.begin(), wanted.end(), server_audience) == wanted.end())
      return tl::unexpected{std::string{"invalid bearer token"}};
    return authenticated{with_group(known->user, all_authenticated), {server_audience}};
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const auto claims = accounts_.verify(token, wanted, seconds);
  if (!claims)
    return tl::unexpected{std::string{"invalid bearer token"}};
  const auto refused = [](const std::string& why) { return tl::unexpected{"[invalid bearer token, " + why + "]"}; };
  if (!*claims)
    return refused(claims->error());
  const auto& said = **claims;
  if (!lives(objects, "serviceaccounts", said.name_space, said.name, said.uid))
    return refused("service account " + said.name_space + "/" + said.name + " has been deleted");
  if (said.bound && !lives(objects, plural_of(said.bound->kind), said.name_space, said.bound->name, said.bound->uid))
    return refused("the object that the token is bound to has been deleted");
  authenticated out{account_user(said), {}};
  for (const auto& x : said.audiences)
    if (std::find(wanted.begin(), wanted.end(), x) != wanted.end())
      out.audiences.push_back(x);
  return out;
}

} // namespace paddock::embedded
