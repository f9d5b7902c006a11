#define CAF_SUITE kubeconfig

#include "base/base64.hpp"
#include "k8s/flows/kubeconfig.hpp"
#include "tests/support/check_json.hpp"
#include "tests/support/run_flow.hpp"
#include "tests/support/temp_folder.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <sys/stat.h>

using namespace paddock;
using namespace paddock::k8s;
using namespace paddock::test;
using nlohmann::json;

namespace {

std::string config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: one\ncontexts:\n- name: one\n  context: {cluster: c, user: u, namespace: here}\n"
         "- name: two\n  context: {cluster: c, user: other}\nclusters:\n- name: c\n  cluster: "
         + cluster + "\nusers:\n- name: u\n  user: " + user + "\n- name: other\n  user: {token: t2}\n";
}

tl::expected<cluster_access, std::string> parse(const std::string& text, const std::filesystem::path& folder = "/",
                                                std::string_view context = {}) {
  auto read = read_kubeconfig_text(text, folder);
  if (!read)
    return tl::unexpected{read.error()};
  return access_of(*read, context);
}

io_result<credential> shown_by(const cluster_access& x) {
  boost::asio::io_context on;
  manual_time time;
  REQUIRE(x.credentials);
  return run_flow(on, x.credentials->get(time));
}

std::string token_of(const cluster_access& x) {
  auto got = shown_by(x);
  return got ? got->token.reveal() : to_string(got.error());
}

std::string complaint(const std::string& cluster, const std::string& user) {
  auto got = parse(config(cluster, user));
  return got ? "none" : got.error();
}

bool has(const std::string& in, const std::string& what) {
  return in.find(what) != std::string::npos;
}

const auto good = std::string{"{server: 'https://h'}"};
const auto exec_head = std::string{"{exec: {apiVersion: client.authentication.k8s.io/v1, command: "};

} // namespace

SCENARIO("a context gives the server, its authority and who we are") {
  temp_folder in;
  in.write("ca.pem", "CA");
  in.write("token", " t1\n");
  auto got = parse(config("{server: 'https://h.test:6443/base/', certificate-authority: ca.pem, tls-server-name: s}",
                          "{tokenFile: token, token: stale, client-certificate-data: " + to_base64("CERT")
                            + ", client-key-data: " + to_base64("KEY") + "}"),
                   in.path());
  REQUIRE(got);
  CHECK(got->server.tls);
  CHECK_EQ(got->server.host, "h.test");
  CHECK_EQ(got->server.port, 6443u);
  CHECK_EQ(got->base_path, "/base");
  CHECK_EQ(got->server.ca, "CA");
  CHECK_EQ(got->server.server_name, "s");
  CHECK(!got->server.insecure);
  CHECK_EQ(got->server.certificate, "CERT");
  CHECK_EQ(got->server.key, "KEY");
  CHECK_EQ(got->name_space, "here");
  CHECK_EQ(token_of(*got), "t1");
  in.write("token", "t9"); // rotated
  CHECK_EQ(token_of(*got), "t9");
  auto two = parse(config("{server: 'http://[::1]', insecure-skip-tls-verify: true}", "{}"), in.path(), "two");
  REQUIRE(two);
  CHECK_EQ(two->server.host, "::1");
  CHECK_EQ(two->server.port, 80u);
  CHECK(two->server.insecure);
  CHECK_EQ(two->name_space, "default");
  CHECK_EQ(token_of(*two), "t2");
}

SCENARIO("a client certificate in files is read anew for each request") {
  temp_folder in;
  in.write("cert.pem", "C1");
  in.write("key.pem", "K1");
  auto got = parse(config(good, "{client-certificate: cert.pem, client-key: key.pem, token: t}"), in.path());
  REQUIRE(got);
  CHECK(shown_by(*got) == credential({secret{"t"}, "C1", secret{"K1"}}));
  in.write("cert.pem", "C2");
  in.write("key.pem", "K2");
  CHECK(shown_by(*got) == credential({secret{"t"}, "C2", secret{"K2"}}));
  std::filesystem::remove(in.path() / "key.pem");
  auto without = shown_by(*got);
  REQUIRE(!without);
  CHECK(has(without.error().text, "key.pem cannot be read"));
}

SCENARIO("what is not understood of a cluster or a user is refused by its name") {
  CHECK_EQ(complaint(good, "{token: t}"), "none");
  for (const auto* key : {"auth-provider", "username", "password", "as", "as-groups", "impersonate"})
    CHECK(has(complaint(good, "{" + std::string{key} + ": [hush]}"), "user 'u': '" + std::string{key} + "' is not supported"));
  CHECK(has(complaint("{server: 'https://h', strange: x}", "{}"), "cluster 'c': 'strange' is not supported"));
  CHECK_EQ(complaint("{server: 'https://h', strange: ''}", "{username: '', password: null}"), "none"); // as if they were not there
  CHECK(has(complaint("{server: 'https://h', insecure-skip-tls-verify: maybe}", "{}"), "insecure-skip-tls-verify"));
  CHECK(has(complaint("{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority-data: QQ==}", "{}"), "contradict"));
  CHECK(has(complaint("{server: 'https://h', certificate-authority: gone.pem}", "{}"), "gone.pem"));
  CHECK(has(complaint("{server: 'https://h', certificate-authority: a, certificate-authority-data: QQ==}", "{}"), "both given"));
  CHECK(has(complaint("{server: 'https://h', certificate-authority-data: '*'}", "{}"), "not base64"));
  CHECK(has(complaint(good, "{client-certificate-data: QQ==}"), "key"));
  CHECK(has(complaint(good, "{client-certificate-data: QQ==, client-key: /gone.pem}"), "gone.pem"));
  CHECK(has(complaint(good, "{token: [a]}"), "user 'u': token is not a text"));
  for (const auto* url : {"h", "ftp://h", "https://", "https://h:0", "https://h:x", "https://u:hush@h", "https://h?x"}) {
    const auto text = complaint("{server: '" + std::string{url} + "'}", "{}");
    CHECK(has(text, "URL"));
    CHECK(!has(text, "hush"));
  }
}

SCENARIO("a proxy is http, with or without a password") {
  const auto at = [](const std::string& url) { return parse(config("{server: 'https://h', proxy-url: '" + url + "'}", "{}")); };
  auto plain = at("http://p.test:3128/");
  REQUIRE(plain);
  CHECK(plain->server.proxy == http_proxy({"p.test", 3128, {}}));
  auto known = at("http://me:p%40ss@p.test");
  REQUIRE(known);
  CHECK(known->server.proxy == http_proxy({"p.test", 80, secret{"Basic " + to_base64("me:p@ss")}}));
  CHECK(!parse(config(good, "{}"))->server.proxy);
  for (const auto* scheme : {"https", "socks5"}) {
    const auto text = complaint("{server: 'https://h', proxy-url: '" + std::string{scheme} + "://u:hush@p'}", "{}");
    CHECK(has(text, "proxy-url"));
    CHECK(has(text, "'" + std::string{scheme} + "' is not supported"));
    CHECK(!has(text, "hush"));
  }
  CHECK(has(complaint("{server: 'https://h', proxy-url: 'p:3128'}", "{}"), "proxy-url"));
  CHECK(has(complaint("{server: 'https://h', proxy-url: 'http://hush%zz@p'}", "{}"), "percent-encoded"));
}

SCENARIO("a credential plug-in is found beside its kubeconfig and told of the cluster when it wants to be") {
  temp_folder in;
  std::filesystem::create_directory(in.path() / "bin");
  in.write_script(
    "bin/plugin",
    "echo \"$KUBERNETES_EXEC_INFO\" >\"$(dirname \"$0\")/../info\"\n"
    "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"'$1$NAME'\"}}'\n");
  const auto exec =
    exec_head + "./bin/plugin, args: [a], env: [{name: NAME, value: b}], interactiveMode: IfAvailable, provideClusterInfo: true}}";
  auto got =
    parse(config("{server: 'https://h:1', tls-server-name: s, certificate-authority-data: QQ==, proxy-url: 'http://p', extensions: "
                 "[{name: other, extension: 1}, {name: client.authentication.k8s.io/exec, extension: {n: 7, t: '7', l: [true, x]}}]}",
                 exec),
          in.path());
  REQUIRE(got);
  CHECK_EQ(token_of(*got), "ab");
  const auto info = json::parse(in.read("info"), nullptr, false);
  const auto cluster = json{{"server", "https://h:1"},
                            {"tls-server-name", "s"},
                            {"certificate-authority-data", "QQ=="},
                            {"proxy-url", "http://p"},
                            {"config", {{"n", 7}, {"t", "7"}, {"l", {true, "x"}}}}};
  CHECK_JSON(info, json({{"apiVersion", "client.authentication.k8s.io/v1"},
                         {"kind", "ExecCredential"},
                         {"spec", {{"interactive", false}, {"cluster", cluster}}}}));
  WHEN("the user has a token too") {
    auto both = parse(config(good, "{token: t, " + exec.substr(1)), in.path());
    REQUIRE(both);
    THEN("the token counts, as with kubectl") {
      CHECK_EQ(token_of(*both), "t");
    }
  }
}

SCENARIO("a plug-in that cannot be run as it asks is refused by name, and only where its user is meant") {
  CHECK_EQ(complaint(good, exec_head + "x, interactiveMode: Never}}"), "none");
  CHECK_EQ(complaint(good, "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}}"), "none");
  const auto wrong = std::vector<std::pair<std::string, std::string>>{
    {exec_head + "x, interactiveMode: Always}}", "interactiveMode is Always"},
    {exec_head + "x}}", "interactiveMode is missing"},
    {exec_head + "x, interactiveMode: Perhaps}}", "interactiveMode is none of"},
    {exec_head + "'', interactiveMode: Never}}", "command is missing"},
    {exec_head + "x, interactiveMode: Never, strange: 1}}", "strange is not supported"},
    {exec_head + "x, interactiveMode: Never, args: [[a]]}}", "args"},
    {exec_head + "x, interactiveMode: Never, env: [{value: hush}]}}", "env: name"},
    {exec_head + "x, interactiveMode: Never, env: [{name: N, value: \"hush\\0\"}]}}", "NUL"},
    {"{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}", "apiVersion is neither"},
    {"{exec: 7}", "exec is not a map"},
  };
  for (const auto& [user, why] : wrong) {
    const auto text = complaint(good, user);
    CHECK(has(text, "user 'u': exec"));
    CHECK(has(text, why));
    CHECK(!has(text, "hush"));
    CHECK(parse(config(good, user), "/", "two"));
  }
}

SCENARIO("a kubeconfig that is not one says so, without repeating its text") {
  CHECK(has(parse("").error(), "no current context"));
  CHECK(has(parse("[]").error(), "not a map"));
  CHECK(has(parse("current-context: x").error(), "no context named 'x'"));
  CHECK(has(parse(config(good, "{}"), "/", "three").error(), "no context named 'three'"));
  CHECK(has(parse("current-context: x\ncontexts: [{name: x, context: {cluster: y}}]").error(), "no cluster named 'y'"));
  CHECK(has(parse(config(good, "{}") + "- name: u\n  user: {token: hush}\n").error(), "users has two entries named 'u'"));
  for (const auto* text : {"token: [hush", "users: {hush: x}", "users: [hush]", "users: [{name: u, user: hush}]",
                           "users: [{user: {token: hush}}]", "current-context: [hush]", "users: [{name: u, name: hush}]"}) {
    auto got = read_kubeconfig_text(text, "/");
    REQUIRE(!got);
    CHECK(!has(got.error(), "hush"));
  }
  CHECK(!read_kubeconfig_text(std::string(5'000'000, ' '), "/"));
  auto absent = read_kubeconfig("/nonexistent/config");
  REQUIRE(!absent);
  CHECK(has(absent.error(), "/nonexistent/config"));
}

SCENARIO("an extension that grows by its aliases is refused") {
  auto text = std::string{"a: &a [1,1,1,1,1,1,1,1,1,1]\n"};
  for (auto x = 'b'; x < 'h'; ++x) {
    const auto before = std::string{"*"} + static_cast<char>(x - 1);
    text += std::string{x} + ": &" + x + " [" + before;
    for (auto i = 0; i < 9; ++i)
      text += ", " + before;
    text += "]\n";
  }
  text +=
    "current-context: o\ncontexts: [{name: o, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'https://h', extensions: "
    "[{name: client.authentication.k8s.io/exec, extension: *g}]}}]\n";
  auto got = parse(text);
  REQUIRE(!got);
  CHECK(has(got.error(), "10000"));
}

SCENARIO("several kubeconfigs are merged as kubectl merges them") {
  temp_folder in;
  std::filesystem::create_directory(in.path() / "sub");
  in.write("first", "contexts: [{name: one, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {tokenFile: token}}]\n");
  in.write("sub/second",
           "current-context: one\nclusters: [{name: c, cluster: {server: 'https://second', certificate-authority: ca}}]\n"
           "users: [{name: u, user: {token: t2, username: hush}}, {name: v, user: {tokenFile: token}}]\n"
           "contexts: [{name: one, context: {cluster: gone, namespace: gone}}, {name: two, context: {cluster: c, user: v}}]\n");
  in.write("token", "t1");
  in.write("sub/token", "t3");
  in.write("sub/ca", "CA");
  const auto at = [&](const char* name) { return (in.path() / name).string(); };
  const auto list = at("first") + "::" + at("absent") + ":" + at("sub/second");
  auto got = read_kubeconfigs(list);
  REQUIRE(got);
  CHECK_EQ(got->server.host, "second");
  CHECK_EQ(got->server.ca, "CA"); // each file's names are its own folder's
  CHECK_EQ(got->name_space, "default");
  CHECK_EQ(token_of(*got), "t1");
  auto two = read_kubeconfigs(list, "two");
  REQUIRE(two);
  CHECK_EQ(token_of(*two), "t3");
  in.write("first", "users: [");
  auto broken = read_kubeconfigs(list);
  REQUIRE(!broken);
  CHECK(has(broken.error(), at("first")));
  auto none = read_kubeconfigs(at("absent") + ":");
  REQUIRE(!none);
  CHECK(has(none.error(), at("absent")));
}

SCENARIO("a kubeconfig that cannot be looked at is refused by its name and not taken for absent") {
  temp_folder in;
  std::filesystem::create_symlink("round", in.path() / "round"); // also root cannot follow it
  in.write("good",
           "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'https://h'}}]\n");
  const auto round = (in.path() / "round").string();
  REQUIRE(read_kubeconfigs((in.path() / "good").string()));
  for (const auto& got : {read_kubeconfigs(round + ":" + (in.path() / "good").string()), read_kubeconfig(round)}) {
    REQUIRE(!got);
    CHECK(has(got.error(), round + " cannot be read: "));
  }
}

SCENARIO("a file that is empty, huge or no file is a failure that names it") {
  temp_folder in;
  in.write("empty", "");
  in.write("blank", " \n");
  in.write("huge", std::string(70'000, 'x'));
  REQUIRE_EQ(::mkfifo((in.path() / "pipe").c_str(), 0600), 0);
  boost::asio::io_context on;
  manual_time time;
  for (const auto* name : {"empty", "blank", "huge", "absent", "pipe", "."}) {
    auto got = run_flow(on, token_file(in.path() / name)->get(time));
    REQUIRE(!got);
    CHECK(has(got.error().text, (in.path() / name).string()));
  }
}
