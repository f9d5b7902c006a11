#!/usr/bin/env python3
"""The verbs that need no node: egress render, egress judge, fence check, ingress check; on files, and on an embedded cluster."""
import base64, re, shlex, ssl, urllib.error, urllib.request
from harness import *

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "egress"
LABELS = "sandbox.namzu.ai/template=namzu-task"
POD = ["--namespace", "namzu-sandboxes", "--labels", LABELS]
DENY_ALL = "policy: {kind: deny-all}\n"
HOSTS = """
engine: cilium
policy:
  kind: static
  allowedHosts: [git.example.com]
ciliumNarrowing: {ports: [443], dnsNames: true}
"""
FENCED = """
policy: {kind: deny-all}
perSandbox:
  engine: cilium
  admissionPolicyName: namzu-per-sandbox-egress
  hostIdentity: system:serviceaccount:namzu-sandboxes:namzu-sandbox-host
  permittedHostsParam: {name: sandbox-permitted-hosts, namespace: platform}
  narrowing: {ports: [443]}
"""
WIDE = """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: wide
spec:
  podSelector: {}
  policyTypes: [Egress]
  egress:
  - to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: kube-system
    ports:
    - {port: 53, protocol: UDP}
  - to:
    - ipBlock:
        cidr: 203.0.113.0/24
"""
OPEN = """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: open}
spec:
  podSelector: {}
  ingress:
  - ports: [{port: 1024}]
"""


class Verbs(SystemTest):
    """In a folder of its own, so that messages name files as they were given."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="paddock-test-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def write(self, name, text):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def run_paddock(self, *arguments, input=b"", environment=None):
        inherited = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"}
        return subprocess.run([BIN / "paddock", *arguments], input=input, capture_output=True, timeout=BOUND, cwd=self.folder,
                              env={**inherited, **(environment or {})})

    def render(self, config, *arguments):
        self.write("egress.yaml", config)
        return self.good(self.run_paddock("egress", "render", "--egress", "egress.yaml", "--namespace", "namzu-sandboxes",
                                          "--template", "namzu-task", *arguments))

    def judge(self, *arguments, config=DENY_ALL, **options):
        self.write("egress.yaml", config)
        return self.run_paddock("egress", "judge", "--egress", "egress.yaml", *POD, *arguments, **options)

    def report(self, got, code):
        self.assertEqual(got.returncode, code, got)
        return json.loads(got.stdout)


class Render(Verbs):
    def test_the_object_is_what_an_operator_applies(self):
        self.assertEqual(self.render(DENY_ALL).decode(), """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: namzu-task-egress
  namespace: namzu-sandboxes
spec:
  egress:
    - ports:
        - port: 53
          protocol: UDP
        - port: 53
          protocol: TCP
      to:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: kube-system
  podSelector:
    matchLabels:
      sandbox.namzu.ai/template: namzu-task
  policyTypes:
    - Egress
""")

    # [C 18]
    def test_a_narrowing_of_nothing_changes_nothing(self):
        plain = {"engine": "cilium", "policy": {"kind": "static", "allowedHosts": ["git.example.com", ".example.org"]}}
        off = {**plain, "ciliumNarrowing": {"hostPorts": {}, "dnsNames": False, "tlsServerNames": False, "tlsPorts": [8443]}}
        self.assertEqual(self.render(json.dumps(off)), self.render(json.dumps(plain)))

    def test_json_is_one_document_whatever_there_is(self):
        one = json.loads(self.render(HOSTS, "-o", "json", "--name", "other"))
        self.assertEqual((one["kind"], one["metadata"]["name"]), ("CiliumNetworkPolicy", "other"))
        both = json.loads(self.render(FENCED, "-o", "json", "--per-sandbox", "claim/c1=uid-1", "--per-sandbox", "s2=uid-2", "--grant",
                                      "Git.example.com,.example.org"))
        self.assertEqual(both["kind"], "List")
        self.assertEqual([x["metadata"]["name"] for x in both["items"]], ["namzu-task-egress", "namzu-sbx-uid-1", "namzu-sbx-uid-2"])
        owners = [x["metadata"]["ownerReferences"][0] for x in both["items"][1:]]
        self.assertEqual([(x["kind"], x["name"], x["uid"]) for x in owners], [("SandboxClaim", "c1", "uid-1"), ("Sandbox", "s2", "uid-2")])
        self.assertEqual(both["items"][2]["spec"]["endpointSelector"]["matchLabels"], {"sandbox.namzu.ai/per-sandbox-egress": "s2"})
        self.assertIn({"matchName": "git.example.com"}, [y for x in both["items"][1]["spec"]["egress"] for y in x.get("toFQDNs", [])])

    def test_what_is_rendered_is_judged_to_be_within(self):
        for config in (DENY_ALL, HOSTS, "policy: {kind: no-network}", "policy: {kind: allow-all}", "policy: {kind: public-internet}",
                       "engine: cilium\npolicy: {kind: resolver}\n", "egress:\n  policy: {kind: deny-all}\n  profile: online\n"):
            with self.subTest(config):
                resolved = ["--allowed-hosts", "a.example.com,.example.org"] if "resolver" in config else []
                labels = ["--labels", LABELS + ",sandbox.namzu.ai/egress-profile=online"]
                for output in ("yaml", "json"):
                    text = self.render(config, "-o", output, *resolved)
                    got = self.run_paddock("egress", "judge", "--egress", "egress.yaml", "--namespace", "namzu-sandboxes", *labels,
                                           *resolved, "-", input=text)
                    self.assertTrue(self.good(got).startswith(b"within\n"), got)

    def test_what_cannot_be_rendered_is_said(self):
        def refused(config, reason, *fragments, arguments=()):
            self.write("egress.yaml", config)
            got = self.run_paddock("egress", "render", "--egress", "egress.yaml", *arguments)
            self.refused(got, 2, reason)
            for fragment in fragments:
                self.assertIn(fragment, got.stderr.decode())
            self.assertEqual(got.stdout, b"")

        refused("policy: {kind: none}\n", "EgressPolicyConfig", "egress.yaml:1: ", "policy.kind")
        refused("policy:\n  kind: public-internet\n  exceptCidrs:\n  - 10.0.0.1/8\n", "EgressPolicyConfig", "egress.yaml:3: ", "10.0.0.1/8")
        refused("policy: {kind: deny-all}\nprofile: on\n", "UnreadableInput", "egress.yaml:2: profile: on ")
        refused("policy: {kind: deny-all}\npolicy: {kind: allow-all}\n", "UnreadableInput", 'egress.yaml:2: has the key "policy" twice')
        refused("policy: {kind: deny-all}\n---\npolicy: {kind: allow-all}\n", "UnreadableInput", "egress.yaml:3: holds a second document")
        refused("", "UnreadableInput", "egress.yaml:1: holds no configuration")
        refused("policy: [\n", "UnreadableInput", "egress.yaml:", "is not YAML")
        refused("engine: cilium\npolicy: {kind: static, allowedHosts: ['*.example.com']}\n", "NetworkPolicyHost", "egress.yaml:2: ")
        refused("policy: {kind: static, allowedHosts: [a.example.com]}\n", "UnenforceableEgressPolicy", "egress.yaml:1: ")
        refused(DENY_ALL, "EgressPolicyConfig", "perSandbox", arguments=["--per-sandbox", "s=u", "--grant", "a.example.com"])
        refused(FENCED, "Usage", "NAME=UID", arguments=["--per-sandbox", "uid-1", "--grant", "a.example.com"])
        refused(FENCED, "Usage", "--grant", arguments=["--per-sandbox", "s=u"])
        refused(FENCED, "NetworkPolicyHost", "a_b", arguments=["--per-sandbox", "s=u", "--grant", "a_b"])
        refused(DENY_ALL, "Usage", "--name", arguments=["--name", "No Name"])
        self.refused(self.run_paddock("egress", "render", "--egress", "absent.yaml"), 2, "UnreadableInput")
        self.refused(self.run_paddock("egress", "render"), 2, "Usage")
        self.refused(self.run_paddock("egress"), 2, "Usage")


    def test_completion_knows_the_verbs_below(self):
        script = self.good(self.run_paddock("completion", "bash")).decode()
        words = re.search(r"^ *egress\) mapfile.*compgen -W '([^']*)'", script, re.M)[1].split()
        for word in ("render", "judge", "--egress", "--labels", "--kubeconfig", "--timeout"):
            self.assertEqual(words.count(word), 1, word)


class Judge(Verbs):
    def setUp(self):
        super().setUp()
        self.write("named.yaml", self.render(DENY_ALL))

    def test_a_wide_policy_is_named_with_its_file_line_and_reason(self):
        self.write("wide.yaml", "# wide\n---\n" + WIDE)
        got = self.judge("named.yaml", "wide.yaml", "-o", "json")
        said = self.report(got, 3)
        self.assertEqual((said["within"], said["named"], said["union"]), (False, "applied", "policy-widens-egress"))
        (finding,) = said["findings"]
        self.assertRegex(finding.pop("detail"), "^spec.egress.1.*203.0.113.0/24")
        path = finding.pop("path")
        self.assertTrue(path.startswith("spec.egress[1].to[0]"), path)
        self.assertEqual(finding, {"policy": "wide", "kind": "NetworkPolicy", "file": "wide.yaml", "line": 18, "verdict": "widens-egress",
                                   "reason": "destination"})
        why = json.loads(got.stderr)
        self.assertEqual(why["reason"], "EgressPolicyUnion")
        self.assertEqual(why["details"]["refusal"], "policy-widens-egress")
        got = self.judge("named.yaml", "wide.yaml")
        self.refused(got, 3, "EgressPolicyUnion")
        self.assertIn("wide.yaml:18: NetworkPolicy wide: widens-egress (destination): spec.egress[1]", got.stdout.decode())

    def test_the_item_of_a_list_has_its_own_line(self):
        items = "apiVersion: v1\nkind: List\nitems:\n- " + WIDE.replace("\n", "\n  ").rstrip() + "\n"
        said = self.report(self.judge("named.yaml", "-", "-o", "json", input=items.encode()), 3)
        (finding,) = said["findings"]
        self.assertEqual((finding["file"], finding["line"], finding["item"]), ("stdin", 19, "items[0]"))

    def test_an_object_that_is_not_applied_or_has_drifted_is_not_within(self):
        said = self.report(self.judge("-", "-o", "json"), 3)
        self.assertEqual((said["named"], said["union"]), ("not-applied", "no-enforcing-policy"))
        self.refused(self.judge("-"), 3, "EgressPolicyNotApplied")
        drifted = json.loads(self.render(DENY_ALL, "-o", "json"))
        drifted["spec"]["egress"].append({})
        got = self.judge("-", "-o", "json", input=json.dumps(drifted, indent=1).encode())
        said = self.report(got, 3)
        self.assertEqual((said["named"], said["union"]), ("drifted", "policy-widens-egress"))
        self.assertIn("spec.egress", said["difference"])
        self.assertEqual(json.loads(got.stderr)["reason"], "EgressPolicyMismatch")

    def test_what_is_not_judged_is_listed(self):
        self.write("more.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {on: yes}\n---\n"
                   + WIDE.replace("name: wide", "name: far\n  namespace: other"))
        said = self.report(self.judge("named.yaml", "more.yaml", "-o", "json"), 0)
        self.assertTrue(said["within"])
        self.assertEqual([(x["file"], x["line"], x["kind"], x["name"], x["reason"]) for x in said["ignored"]],
                         [("more.yaml", 1, "Deployment", "d", "not a policy"),
                          ("more.yaml", 6, "NetworkPolicy", "far", "of the namespace other")])
        self.assertIn(b"more.yaml:1: ignored: Deployment d: not a policy\n", self.good(self.judge("named.yaml", "more.yaml")))

    def test_what_may_be_read_differently_is_refused_by_file_and_line(self):
        def refused(text, *fragments):
            self.write("bad.yaml", text)
            got = self.judge("named.yaml", "bad.yaml")
            self.refused(got, 2, "UnreadableInput")
            self.assertEqual(got.stdout, b"")
            for fragment in fragments:
                self.assertIn(fragment, got.stderr.decode())

        refused(WIDE.replace("port: 53", "port: 0065"), "bad.yaml:14: spec.egress[0].ports[0].port: 0065 ")
        refused("apiVersion: v1\nkind: List\nitems:\n- {kind: A, apiVersion: v1, on: 1}\n- kind: NetworkPolicy\n"
                "  apiVersion: networking.k8s.io/v1\n  metadata: {labels: {a: yes}}\n", "bad.yaml:7: items[1].metadata.labels.a: yes ")
        refused(WIDE + "  egress: []\n", 'bad.yaml:18: has the key "egress" twice')
        refused("a: &a {b: 1}\nc: {<<: *a}\n", "bad.yaml:2: has a merge key")
        refused(WIDE + "---\n" + WIDE, "bad.yaml:19: NetworkPolicy wide is also in bad.yaml:1")
        refused(self.render(DENY_ALL), "bad.yaml:1: NetworkPolicy namzu-task-egress is also in named.yaml:1")
        refused(WIDE.replace("networking.k8s.io/v1", "networking.k8s.io/v1beta1"), "bad.yaml:1: apiVersion")
        refused("a: 1\n b: [\n", "bad.yaml:2: is not YAML")
        refused('{"kind": "List",\n "items": [}', "bad.yaml:2: is not JSON")
        refused("just text\n", "bad.yaml:1: is not an object")
        refused("kind: NetworkPolicy\n", "bad.yaml:1: says no apiVersion and kind")
        refused(b"a: \xff\n", "bad.yaml:1: is not UTF-8")
        refused("a: " + "[" * 1000 + "]" * 1000, "bad.yaml:1: is nested more than 100 levels deep")
        refused('{"a":' * 100_000, "bad.yaml:1: is nested more than 100 levels deep")
        refused("x\n" * 40_000_000, "bad.yaml: is too large")
        self.refused(self.judge("absent.yaml"), 2, "UnreadableInput")
        self.refused(self.judge("."), 2, "UnreadableInput")

    def test_misuse_is_said_before_anything_is_judged(self):
        self.refused(self.judge(), 2, "Usage")
        self.refused(self.judge("named.yaml", "--kubeconfig", "k"), 2, "Usage")
        self.refused(self.run_paddock("egress", "judge", "--egress", "egress.yaml", "--labels", LABELS, "named.yaml"), 2, "Usage")
        for labels in ("app=x", "sandbox.namzu.ai/template", LABELS + ",a=1,a=2", LABELS + ",a=-", "a b=c"):
            got = self.run_paddock("egress", "judge", "--egress", "egress.yaml", "--namespace", "n", "--labels", labels, "named.yaml")
            self.refused(got, 2, "Usage")
        self.refused(self.run_paddock("egress", "judge", "--egress", "-", *POD, "-"), 2, "Usage")
        self.refused(self.judge("named.yaml", config="engine: cilium\npolicy: {kind: resolver}\n"), 2, "EgressPolicyConfig")


class Fence(Verbs):
    def check(self, *files, config=FENCED):
        self.write("egress.yaml", config)
        return self.run_paddock("fence", "check", "--egress", "egress.yaml", "--namespace", "namzu-sandboxes", "-o", "json", *files)

    def test_what_is_shipped_is_proved(self):
        said = self.report(self.check(DEPLOY / "fence.yaml", DEPLOY / "permitted-hosts.yaml", DEPLOY / "rbac.yaml"), 0)
        self.assertTrue(said["proved"])
        self.assertEqual([x["name"] for x in said["objects"]],
                         ["namzu-per-sandbox-egress" + x for x in ("", "-binding", "-hosts", "-hosts-binding")])
        self.assertIn("ServiceAccount", [x["kind"] for x in said["ignored"]])

    def test_what_is_missing_is_named_with_the_command_that_mends_it(self):
        def refused(reason, name, file, *files, config=FENCED):
            got = self.check(*files, config=config)
            said = self.report(got, 3)
            self.assertEqual((said["proved"], said["reason"]), (False, reason))
            self.assertIn(name, said["message"])
            self.assertEqual(said["mend"][-1], f"kubectl apply -f deploy/egress/{file}")
            self.assertTrue((DEPLOY / file).exists())
            self.assertEqual(json.loads(got.stderr)["reason"], reason)
            return said["mend"][:-1]

        fence, hosts = DEPLOY / "fence.yaml", DEPLOY / "permitted-hosts.yaml"
        self.assertEqual(refused("AdmissionFenceMissing", "namzu-per-sandbox-egress", "fence.yaml", hosts), [])
        self.assertEqual(refused("AdmissionFenceMissing", "namzu-per-sandbox-egress-hosts", "permitted-hosts.yaml", fence), [])
        config_map, _, policies = hosts.read_text().partition("\n---\n")
        self.write("policies.yaml", policies)
        refused("PermittedHostsUnavailable", "sandbox-permitted-hosts", "permitted-hosts.yaml", fence, "policies.yaml")
        self.write("idle.yaml", fence.read_text().replace("validationActions: [Deny]", "validationActions: [Audit]").replace(
            'validationActions: ["Deny"]', 'validationActions: ["Audit"]'))
        refused("AdmissionFenceNotEnforcing", "validation-actions", "fence.yaml", "idle.yaml", hosts)
        changes = refused("AdmissionFenceNotEnforcing", "host-identity", "fence.yaml", fence, hosts,
                          config=FENCED.replace(":namzu-sandbox-host", ":another"))
        self.assertTrue(any("system:serviceaccount:namzu-sandboxes:another" in x for x in changes), changes)
        self.refused(self.run_paddock("fence", "check", "--egress", "egress.yaml", "--namespace", "n", fence), 3, "AdmissionFenceMissing")
        self.write("none.yaml", DENY_ALL)
        self.refused(self.run_paddock("fence", "check", "--egress", "none.yaml", "--namespace", "n", fence), 2, "Usage")
        self.refused(self.run_paddock("fence", "check", "--egress", "egress.yaml", "--namespace", "n"), 2, "Usage")


class Ingress(Verbs):
    def check(self, *arguments, labels=LABELS, **options):
        return self.run_paddock("ingress", "check", "--namespace", "namzu-sandboxes", "--labels", labels, "-o", "json", *arguments, **options)

    def test_what_is_shipped_closes_the_agent_port(self):
        self.assertEqual(self.report(self.check(DEPLOY / "baseline.yaml"), 0), {"closed": True, "agentPort": 1024, "ignored": []})

    def test_an_open_or_an_uncovered_port_is_said_with_the_command_that_mends_it(self):
        got = self.check("-")
        said = self.report(got, 3)
        self.assertEqual((said["details"]["refusal"], said["mend"]), ("no-covering-policy", ["kubectl apply -f deploy/egress/baseline.yaml"]))
        self.assertEqual(json.loads(got.stderr)["reason"], "IngressPolicy")
        said = self.report(self.check(DEPLOY / "baseline.yaml", "-", input=OPEN.encode()), 3)
        self.assertEqual((said["details"]["refusal"], said["mend"]), ("port-open", ["kubectl edit -n namzu-sandboxes networkpolicy open"]))
        self.report(self.check(DEPLOY / "baseline.yaml", "-", "--agent-port", "1025", input=OPEN.encode()), 0)
        self.report(self.check(DEPLOY / "baseline.yaml", labels="app=x"), 3)
        self.refused(self.run_paddock("ingress", "check", *POD, "-"), 3, "IngressPolicy")

    def test_only_the_engine_that_is_read_closes_and_each_opens(self):
        text = OPEN.replace("networking.k8s.io/v1", "cilium.io/v2").replace("NetworkPolicy", "CiliumNetworkPolicy").replace(
            "podSelector", "endpointSelector").replace("- ports: [{port: 1024}]", "- fromEndpoints: [{matchLabels: {a: b}}]")
        self.report(self.check("-", input=text.encode()), 3)
        self.report(self.check("-", "--engine", "cilium", input=text.encode()), 0)
        self.write("egress.yaml", HOSTS)
        self.report(self.check("-", "--egress", "egress.yaml", input=text.encode()), 0)
        wide = text.replace("fromEndpoints: [{matchLabels: {a: b}}]", "fromEntities: [world]")
        said = self.report(self.check(DEPLOY / "baseline.yaml", "-", input=wide.encode()), 3)
        self.assertEqual(said["details"]["refusal"], "port-open")


class Cluster(Verbs):
    """An embedded cluster that serves Cilium's kinds, and one request as its administrator."""

    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory(prefix="paddock-test-")
        cls.addClassCleanup(made.cleanup)
        cls.kubeconfig = pathlib.Path(made.name) / "kubeconfig"
        cls.process = subprocess.Popen([BIN / "paddock-cluster", "--cilium", "--quiet", "--listen", "127.0.0.1:0", "--kubeconfig-out",
                                        cls.kubeconfig], stdout=subprocess.DEVNULL)
        cls.addClassCleanup(lambda: (cls.process.terminate(), cls.process.wait(30)))
        wait_for("the kubeconfig", lambda: cls.kubeconfig.exists() and cls.kubeconfig.read_text().endswith("\n"))
        text = cls.kubeconfig.read_text()
        said = {key: re.search(rf'"?{key}"?: *"?([^"\s,}}]+)', text)[1] for key in ("server", "token", "certificate-authority-data")}
        cls.server, cls.token = said["server"], said["token"]
        cls.trusted = ssl.create_default_context(cadata=base64.b64decode(said["certificate-authority-data"]).decode())
        for name in ("namzu-sandboxes", "platform"):
            cls.send("POST", "/api/v1/namespaces", json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))

    @classmethod
    def send(cls, method, path, body, kind="application/json"):
        request = urllib.request.Request(cls.server + path, method=method, data=body.encode())
        request.add_header("Authorization", "Bearer " + cls.token)
        request.add_header("Content-Type", kind)
        with urllib.request.urlopen(request, context=cls.trusted, timeout=30) as answer:
            return json.load(answer)

    def make(self, path, text):
        kind = "application/json" if text.lstrip().startswith("{") else "application/yaml"
        made = self.send("POST", path, text, kind)
        self.addCleanup(self.send, "DELETE", f"{path}/{made['metadata']['name']}", "{}")

    policies = "/apis/networking.k8s.io/v1/namespaces/namzu-sandboxes/networkpolicies"
    cilium_policies = "/apis/cilium.io/v2/namespaces/namzu-sandboxes/ciliumnetworkpolicies"

    def judge_cluster(self, config):
        return self.judge("--kubeconfig", self.kubeconfig, "-o", "json", config=config)

    def is_within_once_applied(self, config, path):
        said = self.report(self.judge_cluster(config), 3)
        self.assertEqual((said["named"], said["union"]), ("not-applied", "no-enforcing-policy"))
        self.make(path, self.render(config, "-o", "json").decode())
        said = self.report(self.judge_cluster(config), 0)
        self.assertEqual([(x["policy"], x["verdict"]) for x in said["examined"]], [("namzu-task-egress", "within")])

    def test_a_cluster_is_judged_as_files_are(self):
        self.is_within_once_applied(DENY_ALL, self.policies)
        self.make(self.policies, WIDE)
        said = self.report(self.judge_cluster(DENY_ALL), 3)
        (finding,) = said["findings"]
        self.assertEqual((finding["policy"], finding["reason"], said["named"]), ("wide", "destination", "applied"))
        self.assertNotIn("file", finding)

    def test_so_is_one_that_runs_cilium(self):
        self.is_within_once_applied(HOSTS, self.cilium_policies)

    def test_the_fence_of_a_cluster_is_proved_or_mended(self):
        self.write("egress.yaml", FENCED)
        check = ["fence", "check", "--egress", "egress.yaml", "--namespace", "namzu-sandboxes"]
        self.refused(self.run_paddock(*check, environment={"KUBECONFIG": str(self.kubeconfig)}), 3, "AdmissionFenceMissing")
        self.make_shipped("fence.yaml")
        got = self.run_paddock(*check, "--kubeconfig", self.kubeconfig)
        self.refused(got, 3, "AdmissionFenceMissing")
        self.assertIn(b"to mend it: kubectl apply -f deploy/egress/permitted-hosts.yaml\n", got.stdout)
        self.make_shipped("permitted-hosts.yaml")
        self.assertTrue(self.good(self.run_paddock(*check, "--kubeconfig", self.kubeconfig)).startswith(b"proved\n"))

    def make_shipped(self, file):
        admission = "/apis/admissionregistration.k8s.io/v1/"
        paths = {"ValidatingAdmissionPolicy": admission + "validatingadmissionpolicies",
                 "ValidatingAdmissionPolicyBinding": admission + "validatingadmissionpolicybindings",
                 "ConfigMap": "/api/v1/namespaces/platform/configmaps", "NetworkPolicy": self.policies}
        for document in (DEPLOY / file).read_text().split("\n---\n"):
            self.make(paths[re.search(r"^kind: (\w+)", document, re.M)[1]], document)

    def test_the_ingress_of_a_cluster_is_closed_or_mended(self):
        check = ["ingress", "check", *POD, "--kubeconfig", self.kubeconfig]
        got = self.run_paddock(*check)
        self.refused(got, 3, "IngressPolicy")
        self.assertIn(b"to mend it: kubectl apply -f deploy/egress/baseline.yaml\n", got.stdout)
        self.make_shipped("baseline.yaml")
        self.good(self.run_paddock(*check))
        self.good(self.run_paddock(*check, "--engine", "cilium"))

    def test_a_cluster_that_does_not_answer_is_unreachable(self):
        text = re.sub(r"https://127.0.0.1:\d+", "https://127.0.0.1:1", self.kubeconfig.read_text())
        self.write("kubeconfig", text)
        got = self.judge("--kubeconfig", "kubeconfig")
        self.assertEqual((got.returncode, got.stdout), (7, b""), got)
        self.refused(self.judge("--kubeconfig", "absent"), 2, "Usage")


if __name__ == "__main__":
    main()
