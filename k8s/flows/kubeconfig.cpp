#include "k8s/flows/kubeconfig.hpp"

#include "base/base64.hpp"
#include "k8s/flows/exec_credentials.hpp"
#include "k8s/flows/small_file.hpp"
#include "k8s/url.hpp"

namespace paddock::k8s {

namespace {

template <class T>
using or_text = tl::expected<T, std::string>;

constexpr std::size_t largest_file = 4 * 1024 * 1024;

template <class Map>
auto entry(const Map& all, const char* kind, std::string_view name) -> or_text<const typename Map::mapped_type*> {
  const auto it = all.find(std::string{name});
  if (it == all.end())
    return tl::unexpected{std::string{"the kubeconfig has no "} + kind + " named '" + std::string{name} + "'"};
  return &it->second;
}

/// The text of a PEM that is given either way; empty when neither is.
or_text<std::string> text_of(const pem_place& x) {
  if (x.file.empty())
    return x.data;
  return small_file(x.file, largest_file);
}

// -- the cluster -------------------------------------------------------------------------------------------------------

/// The server's URL. What is refused is not repeated when it may hold a password.
or_text<void> take_url(const std::string& text, cluster_access& into) {
  const auto got = read_url(text);
  if (!got || !got->user_info.empty() || (got->scheme != "https" && got->scheme != "http"))
    return tl::unexpected{(text.find('@') == std::string::npos ? "'" + text + "'" : std::string{"server"}) + " is not the URL of a server"};
  into.server.tls = got->scheme == "https";
  into.server.host = got->host;
  into.server.port = got->port.value_or(into.server.tls ? 443 : 80);
  into.base_path = got->path;
  return {};
}

or_text<http_proxy> proxy_of(const std::string& text) {
  const auto got = read_url(text);
  if (!got || !got->path.empty())
    return tl::unexpected{std::string{"proxy-url is not the URL of a proxy"}};
  if (got->scheme != "http")
    return tl::unexpected{"proxy-url: the scheme '" + got->scheme + "' is not supported, only http is"};
  auto proxy = http_proxy{got->host, got->port.value_or(80), {}};
  if (got->user_info.empty())
    return proxy;
  const auto colon = std::min(got->user_info.find(':'), got->user_info.size());
  const auto name = percent_decoded(std::string_view{got->user_info}.substr(0, colon));
  const auto password = percent_decoded(std::string_view{got->user_info}.substr(std::min(colon + 1, got->user_info.size())));
  if (!name || !password)
    return tl::unexpected{std::string{"proxy-url: its user or password is not percent-encoded"}};
  proxy.authorization = secret{"Basic " + to_base64(*name + ":" + *password)};
  return proxy;
}

or_text<void> take_cluster(const kubeconfig::cluster& from, cluster_access& into) {
  if (!from.others.empty())
    return tl::unexpected{"'" + from.others.front() + "' is not supported"};
  if (auto ok = take_url(from.server, into); !ok)
    return ok;
  auto authority = text_of(from.authority);
  if (!authority)
    return tl::unexpected{"certificate-authority " + authority.error()};
  into.server.ca = std::move(*authority);
  into.server.server_name = from.server_name;
  into.server.insecure = from.insecure;
  if (from.insecure && !into.server.ca.empty())
    return tl::unexpected{std::string{"a certificate authority and insecure-skip-tls-verify contradict each other"}};
  if (from.proxy.empty())
    return {};
  auto proxy = proxy_of(from.proxy);
  if (!proxy)
    return tl::unexpected{proxy.error()};
  into.server.proxy = std::move(*proxy);
  return {};
}

// -- the user ----------------------------------------------------------------------------------------------------------

/// What a plug-in is told of the cluster.
nlohmann::json cluster_info(const kubeconfig::cluster& from, const std::string& authority) {
  auto got = nlohmann::json{{"server", from.server}, {"config", from.for_plugins}};
  if (!from.server_name.empty())
    got["tls-server-name"] = from.server_name;
  if (from.insecure)
    got["insecure-skip-tls-verify"] = true;
  if (!authority.empty())
    got["certificate-authority-data"] = to_base64(authority);
  if (!from.proxy.empty())
    got["proxy-url"] = from.proxy;
  if (from.plain_answers)
    got["disable-compression"] = true;
  return got;
}

/// The client certificate: as text when both parts are, else as files, which are read anew for each request.
or_text<void> take_certificate(const kubeconfig::user& from, cluster_access& into, stored_credential& stored) {
  const auto given = [](const pem_place& x) { return !x.data.empty() || !x.file.empty(); };
  if (given(from.certificate) != given(from.key))
    return tl::unexpected{std::string{"a client certificate and its key belong together"}};
  auto certificate = text_of(from.certificate);
  if (!certificate)
    return tl::unexpected{"client-certificate " + certificate.error()};
  auto key = text_of(from.key);
  if (!key)
    return tl::unexpected{"client-key " + key.error()};
  if (!from.certificate.file.empty() && !from.key.file.empty()) {
    stored.certificate_file = from.certificate.file;
    stored.key_file = from.key.file;
    return {};
  }
  into.server.certificate = std::move(*certificate);
  into.server.key = std::move(*key);
  return {};
}

or_text<void> take_user(const kubeconfig::user& from, const kubeconfig::cluster& cluster, cluster_access& into) {
  if (!from.others.empty())
    return tl::unexpected{"'" + from.others.front() + "' is not supported"};
  auto stored = stored_credential{};
  if (auto ok = take_certificate(from, into, stored); !ok)
    return ok;
  stored.token = from.token;
  stored.token_file = from.token_file;
  const auto has_token = !stored.token.empty() || !stored.token_file.empty();
  if (from.exec && !has_token) {
    if (!stored.certificate_file.empty())
      return tl::unexpected{std::string{"a client certificate in files and an exec plug-in exclude each other"}};
    auto plugin = *from.exec;
    if (from.tell_plugin)
      plugin.cluster = cluster_info(cluster, into.server.ca);
    into.credentials = exec_credentials(std::move(plugin));
  } else if (has_token || !stored.certificate_file.empty())
    into.credentials = stored_credentials(std::move(stored));
  return {};
}

/// One file of a list; nothing when it is not there. One that cannot be looked at may be there.
or_text<std::optional<kubeconfig>> read_one(const std::filesystem::path& file) {
  auto error = std::error_code{};
  const auto there = std::filesystem::exists(file, error);
  if (error)
    return tl::unexpected{file.string() + " cannot be read: " + error.message()};
  if (!there)
    return std::nullopt;
  auto text = small_file(file, largest_file);
  if (!text)
    return tl::unexpected{text.error()};
  auto absolute = std::filesystem::absolute(file, error);
  auto got = read_kubeconfig_text(*text, absolute.parent_path());
  if (!got)
    return tl::unexpected{file.string() + ": " + got.error()};
  return std::move(*got);
}

} // namespace

tl::expected<cluster_access, std::string> access_of(const kubeconfig& from, std::string_view context) {
  const auto wanted = context.empty() ? from.current : std::string{context};
  if (wanted.empty())
    return tl::unexpected{std::string{"the kubeconfig has no current context, and none is named"}};
  const auto chosen = entry(from.contexts, "context", wanted);
  if (!chosen)
    return tl::unexpected{chosen.error()};
  auto got = cluster_access{};
  if (!(*chosen)->name_space.empty())
    got.name_space = (*chosen)->name_space;
  const auto cluster = entry(from.clusters, "cluster", (*chosen)->cluster);
  if (!cluster)
    return tl::unexpected{cluster.error()};
  if (!(*cluster)->refusal.empty())
    return tl::unexpected{(*cluster)->refusal};
  if (auto ok = take_cluster(**cluster, got); !ok)
    return tl::unexpected{"cluster '" + (*chosen)->cluster + "': " + ok.error()};
  if ((*chosen)->user.empty())
    return got;
  const auto user = entry(from.users, "user", (*chosen)->user);
  if (!user)
    return tl::unexpected{user.error()};
  if (!(*user)->refusal.empty())
    return tl::unexpected{(*user)->refusal};
  if (auto ok = take_user(**user, **cluster, got); !ok)
    return tl::unexpected{"user '" + (*chosen)->user + "': " + ok.error()};
  return got;
}

tl::expected<cluster_access, std::string> read_kubeconfig(const std::filesystem::path& file, std::string_view context) {
  auto whole = read_one(file);
  if (!whole)
    return tl::unexpected{whole.error()};
  if (!*whole)
    return tl::unexpected{file.string() + " cannot be read"};
  auto got = access_of(**whole, context);
  if (!got)
    return tl::unexpected{file.string() + ": " + got.error()};
  return got;
}

tl::expected<cluster_access, std::string> read_kubeconfigs(std::string_view files, std::string_view context) {
  auto all = std::optional<kubeconfig>{};
  const auto named = std::string{files};
  while (!files.empty()) {
    const auto end = std::min(files.find(':'), files.size());
    const auto file = files.substr(0, end);
    files.remove_prefix(std::min(end + 1, files.size()));
    if (file.empty())
      continue;
    auto one = read_one(file);
    if (!one)
      return tl::unexpected{one.error()};
    if (*one)
      all = all ? merge(std::move(*all), std::move(**one)) : std::move(**one);
  }
  if (!all)
    return tl::unexpected{"none of the kubeconfigs is there: " + named};
  auto got = access_of(*all, context);
  if (!got)
    return tl::unexpected{named + ": " + got.error()};
  return got;
}

tl::expected<cluster_access, std::string> in_cluster(std::string host, std::string_view port, const std::filesystem::path& folder) {
  if (host.empty() || port.empty())
    return tl::unexpected{std::string{"KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set: this is not a pod"}};
  const auto number = read_port(port);
  if (!number)
    return tl::unexpected{"KUBERNETES_SERVICE_PORT: '" + std::string{port} + "' is not a port"};
  auto authority = small_file(folder / "ca.crt", largest_file);
  if (!authority)
    return tl::unexpected{authority.error()};
  auto name = small_file(folder / "namespace", largest_file);
  if (!name)
    return tl::unexpected{name.error()};
  auto got = cluster_access{};
  got.server.tls = true;
  got.server.host = std::move(host);
  got.server.port = *number;
  got.server.ca = std::move(*authority);
  got.credentials = token_file(folder / "token");
  got.name_space = std::string{trimmed(*name)};
  return got;
}

} // namespace paddock::k8s
