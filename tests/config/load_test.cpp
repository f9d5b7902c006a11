#define CAF_SUITE load

#include "config/load.hpp"
#include "config/node_options.hpp"
#include "config/yaml.hpp"

#include <caf/test/bdd_dsl.hpp>

#include <set>

using namespace paddock::config;
using std::chrono::milliseconds;

namespace {

/// The complaints about `text` as a node's configuration, as people read them.
std::vector<std::string> complaints(std::string_view text, node_options& into) {
  auto all = option_list{};
  describe(all, into);
  auto got = std::vector<std::string>{};
  for (const auto& x : load(all, text, "p.yaml"))
    got.push_back(to_string(x));
  return got;
}
std::vector<std::string> complaints(std::string_view text) {
  auto ignored = node_options{};
  return complaints(text, ignored);
}
std::string only(std::string_view text) {
  const auto got = complaints(text);
  return got.size() == 1 ? got.front() : std::to_string(got.size()) + " complaints";
}

struct small_options {
  paddock::secret token;
  std::string phrase;
};
void describe(option_list& see, small_options& x) {
  see.option("token", x.token, "Bearer token.");
  see.option("phrase", x.phrase, "A text | with a bar.")
    .matching("of lower case", [](const std::string& y) { return y.find_first_of("ABC") == std::string::npos; })
    .secret();
}

} // namespace

SCENARIO("an empty file leaves every default") {
  for (const auto* text : {"", "# nothing\n", "---\n", "{}"}) {
    auto x = node_options{};
    CHECK(complaints(text, x).empty());
    CHECK_EQ(write_listen(x.listen), "127.0.0.1:7330");
    CHECK_EQ(x.cluster_namespace, "default");
    CHECK_EQ(x.template_name, "default");
    CHECK_EQ(x.ready_timeout.count(), 60'000);
    CHECK_EQ(x.ready_poll_interval.count(), 50);
    CHECK_EQ(x.api_request_timeout.count(), 30'000);
    CHECK_EQ(x.agent_port, 1024);
    CHECK(x.agent == agent_address::service);
    CHECK_EQ(x.egress, "");
    CHECK(x.ingress == ingress_check::automatic);
    CHECK_EQ(x.epoch_base, 0u);
    CHECK_EQ(x.shards, 64u);
    CHECK_EQ(x.idle_after.count(), 900'000);
  }
}

SCENARIO("every option can be set, from YAML and from JSON") {
  const auto* yaml =
    "listen: 0.0.0.0:80\nnamespace: a-b\ntemplate: t.u\nkubeconfig: /k\ncontext: c\nready-timeout: 1m\n"
    "ready-poll-interval: 250ms\napi-request-timeout: 1000\nagent-port: 2\nagent-address: pod-ip\negress: /e\n"
    "ingress: cilium\nepoch-base: 7\nshards: 4096\nidle-after: 2h\ndata-dir: /d\ntls-certificate: /1\ntls-key: /2\ntls-ca: /3\nlog-level: "
    "debug\nlog-format: json\n";
  const auto* json = R"({"listen": "0.0.0.0:80", "namespace": "a-b", "template": "t.u", "kubeconfig": "/k", "context": "c",
    "ready-timeout": 60000, "ready-poll-interval": "250ms", "api-request-timeout": "1s", "agent-port": 2, "agent-address": "pod-ip",
    "egress": "/e", "ingress": "cilium", "epoch-base": 7, "shards": 4096, "idle-after": "2h", "data-dir": "/d", "tls-certificate": "/1", "tls-key": "/2", "tls-ca": "/3", "log-level": "debug",
    "log-format": "json"})";
  for (const auto* text : {yaml, json}) {
    auto x = node_options{};
    CHECK(complaints(text, x).empty());
    CHECK_EQ(write_listen(x.listen), "0.0.0.0:80");
    CHECK_EQ(x.cluster_namespace, "a-b");
    CHECK_EQ(x.template_name, "t.u");
    CHECK_EQ(x.kubeconfig, "/k");
    CHECK_EQ(x.context, "c");
    CHECK_EQ(x.ready_timeout.count(), 60'000);
    CHECK_EQ(x.ready_poll_interval.count(), 250);
    CHECK_EQ(x.api_request_timeout.count(), 1000);
    CHECK_EQ(x.agent_port, 2);
    CHECK(x.agent == agent_address::pod_ip);
    CHECK_EQ(x.egress, "/e");
    CHECK(x.ingress == ingress_check::cilium);
    CHECK_EQ(x.epoch_base, 7u);
    CHECK_EQ(x.shards, 4096u);
    CHECK_EQ(x.idle_after.count(), 7'200'000);
    CHECK_EQ(x.data_dir, "/d");
    CHECK_EQ(x.tls_certificate + x.tls_key + x.tls_ca, "/1/2/3");
    CHECK(x.level == log_level::debug);
    CHECK(x.format == log_format::json);
  }
}

SCENARIO("all that is wrong is said at once, in the order of the file, and changes nothing") {
  auto x = node_options{};
  const auto got = complaints("shards: 0\nlisten: 7330\nshards: 5\nredy-timeout: 1s\nready-timeout: 0\ntemplate: [a]\ncontext:\n"
                              "api-request-timeout: off\nlog-level: loud\nepoch-base: 9007199254740992\nnamespace: A\n",
                              x);
  const auto wanted =
    std::vector<std::string>{"p.yaml:1: shards: expected whole number, at least 1, at most 4096, found \"0\"",
                             "p.yaml:2: listen: expected HOST:PORT, found \"7330\"",
                             "p.yaml:3: shards: expected each option once, found it a second time",
                             "p.yaml:4: redy-timeout: expected the name of an option (did you mean ready-timeout?), found an unknown one",
                             "p.yaml:5: ready-timeout: expected duration, at least 1ms, at most 2147483647ms, found \"0\"",
                             "p.yaml:6: template: expected text, an object name, found a list",
                             "p.yaml:7: context: expected text, found nothing",
                             "p.yaml:8: api-request-timeout: expected duration, at least 1s, at most 2147483647ms, found \"off\"",
                             "p.yaml:9: log-level: expected debug or info or warn or error, found \"loud\"",
                             "p.yaml:10: epoch-base: expected whole number, a non-negative safe integer, found \"9007199254740992\"",
                             "p.yaml:11: namespace: expected text, a DNS label, found \"A\""};
  CHECK_EQ(got, wanted);
  CHECK_EQ(x.shards, 64u);
  CHECK_EQ(x.ready_timeout.count(), 60'000);
  CHECK_EQ(x.cluster_namespace, "default");
}

// [W 5] the epochs of a node begin with its configuration: with a wrong one it ends before it asks anything
SCENARIO("an epoch that is no safe integer is refused before a node starts") {
  for (const auto* bad : {"1.5", "-1"}) {
    auto x = node_options{};
    CHECK_EQ(complaints(std::string{"epoch-base: "} + bad, x),
             std::vector<std::string>{std::string{"p.yaml:1: epoch-base: expected whole number, a non-negative safe integer, found \""}
                                      + bad + "\""});
    CHECK_EQ(x.epoch_base, 0u);
  }
}

SCENARIO("the bounds of a value belong to it") {
  for (const auto* good : {"shards: 1", "shards: 4096", "ready-timeout: 1", "api-request-timeout: 1000", "epoch-base: 9007199254740991",
                           "agent-port: 1", "agent-port: 65535", "idle-after: 0", "ready-timeout: 2147483647"}) {
    MESSAGE(good);
    CHECK(complaints(good).empty());
  }
  for (const auto* bad : {"shards: 4097", "shards: -1", "shards: 1.5", "shards: 1s", "ready-timeout: 2147483648", "ready-poll-interval: 0",
                          "api-request-timeout: 999ms", "agent-port: 0", "agent-port: 65536", "namespace: ''", "template: ''",
                          "template: a..b", "template: -a", "agent-address: pod"}) {
    MESSAGE(bad);
    CHECK_EQ(complaints(bad).size(), 1u);
  }
}

SCENARIO("an unknown name below another is named by its path") {
  CHECK_EQ(only("api:\n  request:\n    timeout: 5\n"),
           "p.yaml:3: api.request.timeout: expected the name of an option (did you mean api-request-timeout?), found an unknown one");
  CHECK_EQ(only("zzzzzzzzzzzzzzzzzzzz: 1"), "p.yaml:1: zzzzzzzzzzzzzzzzzzzz: expected the name of an option, found an unknown one");
  CHECK_EQ(only("agent_port: 1"), "p.yaml:1: agent_port: expected the name of an option (did you mean agent-port?), found an unknown one");
}

SCENARIO("what is not a configuration at all is one complaint") {
  CHECK_EQ(only("just words"), "p.yaml:1: expected options as `name: value`, found a text");
  CHECK_EQ(only("- a\n- b\n"), "p.yaml:1: expected options as `name: value`, found a list");
  CHECK_EQ(only("shards: 1\n---\nshards: 2\n"), "p.yaml:2: expected one document, found a second one");
  // To the YAML library these are documents without end.
  CHECK_EQ(only(","), "p.yaml:1: expected one document, found a second one");
  CHECK_EQ(only("--- ,"), "p.yaml:1: expected one document, found a second one");
  CHECK_EQ(only("? [a]\n: b\n"), "p.yaml:1: expected the name of an option, found a key that is not a text");
  CHECK_EQ(only("shards: 1\nlisten: [a\n").substr(0, 31), "p.yaml:3: expected YAML or JSON");
  CHECK_EQ(only(std::string(1024 * 1024 + 1, '#')), "p.yaml: expected at most 1 MiB, found 1048577 bytes");
}

SCENARIO("a small text that stands for a very large value is refused") {
  auto text = std::string{"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"};
  for (auto i = 1; i < 9; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (auto k = 0; k < 9; ++k)
      text += "," + before;
    text += "]\n";
  }
  const auto got = complaints(text);
  REQUIRE_EQ(got.size(), 1u);
  CHECK(got.front().find("expected at most 10000 values on 16 levels, found more") != std::string::npos);
  CHECK(only(std::string(17, '[') + std::string(17, ']')).find("16 levels") != std::string::npos);
}

SCENARIO("a value from a flag or the environment is held to the same expectation") {
  auto x = node_options{};
  auto all = option_list{};
  describe(all, x);
  CHECK(load_one(all, "shards", "9", "--shards").empty());
  CHECK_EQ(x.shards, 9u);
  const auto got = load_one(all, "shards", "0", "--shards");
  REQUIRE_EQ(got.size(), 1u);
  CHECK_EQ(to_string(got.front()), "--shards: shards: expected whole number, at least 1, at most 4096, found \"0\"");
  CHECK_EQ(x.shards, 9u);
  CHECK_EQ(load_one(all, "shard", "1", "--shard").size(), 1u);
}

SCENARIO("the TLS files come together") {
  auto x = node_options{};
  CHECK(judge(x, "p.yaml").empty());
  x.tls_key = "/key";
  const auto got = judge(x, "p.yaml");
  REQUIRE_EQ(got.size(), 2u);
  CHECK_EQ(got[0].key, "tls-certificate");
  CHECK_EQ(got[1].key, "tls-ca");
  x.tls_certificate = x.tls_ca = "/pem";
  CHECK(judge(x, "p.yaml").empty());
}

// -- printing -------------------------------------------------------------------

SCENARIO("a printed configuration can be loaded again") {
  auto x = node_options{};
  x.context = "with \"quotes\", a: colon and \n a line";
  x.ready_timeout = milliseconds{90'000};
  x.agent = agent_address::pod_ip;
  x.listen = {"::1", 80};
  auto all = option_list{};
  describe(all, x);
  const auto text = print_config(all);
  auto y = node_options{};
  CHECK(complaints(text, y).empty());
  CHECK_EQ(y.context, x.context);
  CHECK_EQ(y.ready_timeout.count(), 90'000);
  CHECK(y.agent == agent_address::pod_ip);
  CHECK(y.listen == x.listen);
  CHECK(text.find("ready-timeout: 90s\n") != std::string::npos);
  CHECK(text.find("kubeconfig: \"\"\n") != std::string::npos);
}

SCENARIO("a secret is neither printed nor repeated in a complaint, and its mask is not a value") {
  auto x = small_options{};
  auto all = option_list{};
  describe(all, x);
  CHECK_EQ(print_config(all), "token: \"\"\nphrase: \"\"\n");
  CHECK(load(all, "token: hush\nphrase: quiet\n", "s.yaml").empty());
  CHECK_EQ(x.token.reveal(), "hush");
  CHECK_EQ(print_config(all), "token: [secret]\nphrase: [secret]\n");
  CHECK_EQ(load(all, print_config(all), "s.yaml").size(), 2u);
  CHECK_EQ(x.token.reveal(), "hush");
  const auto got = load(all, "phrase: ABC\n", "s.yaml");
  REQUIRE_EQ(got.size(), 1u);
  CHECK_EQ(to_string(got.front()), "s.yaml:1: phrase: expected text, of lower case, found [secret]");
  CHECK_EQ(docs_table(all), "| Option | Type | Default | Meaning |\n|---|---|---|---|\n"
                            "| `token` | secret text | `[secret]` | Bearer token. Never shown. |\n"
                            "| `phrase` | text, of lower case | `[secret]` | A text \\| with a bar. Never shown. |\n");
}

SCENARIO("the table of the documentation names every option once, with its default") {
  auto x = node_options{};
  auto all = option_list{};
  describe(all, x);
  const auto table = docs_table(all);
  auto names = std::set<std::string>{};
  for (const auto& y : all.all()) {
    CHECK(names.insert(y.name).second);
    CHECK(!y.help.empty());
    CHECK(table.find("| `" + y.name + "` | ") != std::string::npos);
  }
  CHECK_EQ(names.size(), 24u);
  CHECK(table.find("| `ready-timeout` | duration, at least 1ms, at most 2147483647ms | `1m` | Time from a create or resume until a pod is "
                   "bound. |\n")
        != std::string::npos);
}
