#!/usr/bin/env python3
"""A node that is configured to an egress: what it refuses to start with, and what it proves before a workspace runs."""
import socket

from clusters import *
from pages import documents
from real_api import api

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "egress"
DENY_ALL = {"policy": {"kind": "deny-all"}}
HOSTS = {"engine": "cilium", "policy": {"kind": "static", "allowedHosts": ["git.example.com"]}}
FENCE = "namzu-per-sandbox-egress"


def per_sandbox(**more):
    return {**DENY_ALL, "perSandbox": {"engine": "cilium", "admissionPolicyName": FENCE, **more}}


def narrowed(**how):
    return {**HOSTS, "ciliumNarrowing": how}


class Refused(SystemTest):
    """A node beside an API server that would notice a connection."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="paddock-test-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        self.server = socket.socket()
        self.addCleanup(self.server.close)
        self.server.bind(("127.0.0.1", 0))
        self.server.listen()
        self.server.setblocking(False)
        (self.folder / "kubeconfig").write_text(json.dumps({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.getsockname()[1]}"}}],
            "users": [{"name": "u", "user": {"token": "t"}}]}))

    def refuses(self, configured, reason, *words, **options):
        (self.folder / "egress.yaml").write_text(configured if isinstance(configured, str) else json.dumps(configured))
        config = {"listen": "127.0.0.1:0", "kubeconfig": str(self.folder / "kubeconfig"), "egress": "egress.yaml", **options}
        (self.folder / "paddock.yaml").write_text(json.dumps(config))
        got = subprocess.run([BIN / "paddockd", "--config", "paddock.yaml"], capture_output=True, timeout=BOUND, cwd=self.folder,
                             stdin=subprocess.DEVNULL)
        self.assertEqual(got.returncode, 2, got)
        text = got.stderr.decode()
        self.assertTrue(text.startswith(f"paddockd: {reason}: "), text)
        for word in words:
            self.assertIn(word, text)
        with self.assertRaises(BlockingIOError):
            self.server.accept()
        return text

    # [C 15]
    def test_hosts_that_the_engine_cannot_enforce(self):
        for policy in ({"kind": "static", "allowedHosts": ["git.example.com"]}, {"kind": "resolver"}):
            self.refuses({"policy": policy}, "UnenforceableEgressPolicy", "egress.yaml:1", policy["kind"])

    def test_hosts_that_nobody_says(self):
        self.refuses({"engine": "cilium", "policy": {"kind": "resolver"}}, "EgressPolicyConfig", "policy.kind", "static")

    # [C 16]
    def test_a_block_that_is_none(self):
        self.refuses({"policy": {"kind": "public-internet", "exceptCidrs": ["10.1.0.0/16", "nope"]}}, "EgressPolicyConfig",
                     "policy.exceptCidrs")

    # [C 17]
    def test_a_narrowing_of_nothing(self):
        self.refuses({**DENY_ALL, "engine": "cilium", "ciliumNarrowing": {"ports": [443]}}, "EgressNarrowingUnsupported")

    # [C 19]
    def test_a_narrowing_that_cannot_be_meant(self):
        for how, field in (({"ports": []}, "ports"), ({"hostPorts": {"a": []}}, 'hostPorts["a"]'), ({"ports": [0]}, "ports"),
                           ({"ports": [65536]}, "ports"), ({"dnsNames": {"searchSuffixes": [" "]}}, "dnsNames.searchSuffixes")):
            self.refuses(narrowed(**how), "EgressPolicyConfig", "config.egress.ciliumNarrowing." + field)

    # [C 20]
    def test_a_profile_that_is_no_label(self):
        for profile in ("Internet", "-a", "a" * 64):
            self.refuses({**DENY_ALL, "profile": profile}, "EgressProfileConfig", "config.egress.profile ")

    # [C 21]
    def test_a_profile_key_that_is_none(self):
        for key in ("a/b/c", "sandbox.namzu.ai/template"):
            self.refuses({**DENY_ALL, "profileLabelKey": key}, "EgressProfileConfig", "config.egress.profileLabelKey")

    # [C 22]
    def test_a_name_that_is_too_long(self):
        self.refuses({**DENY_ALL, "profile": "none"}, "EgressProfileConfig", "config.egress.profile", template="a" * 243)

    # [C 23] [W 11] [E 174] no workspace is ever opened by such a node, and nothing was asked
    def test_an_engine_without_lists_for_single_sandboxes(self):
        self.refuses(per_sandbox(engine="core"), "PerSandboxEgressConfig", "perSandbox.engine")

    # [C 24]
    def test_a_fence_without_a_name(self):
        self.refuses({**DENY_ALL, "perSandbox": {"engine": "cilium"}}, "PerSandboxEgressConfig", "perSandbox.admissionPolicyName")
        for name in ("", " x"):
            self.refuses(per_sandbox(admissionPolicyName=name), "PerSandboxEgressConfig", "perSandbox.admissionPolicyName")

    # [C 25]
    def test_a_label_key_that_means_something_else(self):
        self.refuses(per_sandbox(labelKey="sandbox.namzu.ai/template"), "PerSandboxEgressConfig", "perSandbox.labelKey")
        self.refuses({**per_sandbox(labelKey="k"), "profile": "none", "profileLabelKey": "k"}, "PerSandboxEgressConfig",
                     "perSandbox.labelKey")

    # [C 26]
    def test_whom_the_fence_bounds(self):
        for name in ("", " x"):
            self.refuses(per_sandbox(hostIdentity=name), "PerSandboxEgressConfig", "perSandbox.hostIdentity")
        self.refuses(per_sandbox(permittedHostsParam={"name": "n", "namespace": ""}), "PerSandboxEgressConfig",
                     "perSandbox.permittedHostsParam.namespace")

    def test_a_file_that_is_none(self):
        self.refuses("policy: {kind: deny-all}\nverfiy: union\n", "EgressPolicyConfig", "egress.yaml:2", "verfiy")
        self.refuses("a: [", "InvalidConfig", "egress.yaml:1")
        self.refuses(DENY_ALL, "InvalidConfig", "absent.yaml", egress="absent.yaml")
        self.refuses(DENY_ALL, "InvalidConfig", "ingress", "unverified", ingress="off")


class Proved(SystemTest):
    """Beside an embedded cluster that serves Cilium's kinds."""

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="paddock-test-")))
        stack.enter_context(embedded_cluster("--cilium"))
        self.send("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "namzu-sandboxes"}})
        standard = self.send("GET", "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxtemplates/default")
        standard["metadata"] = {"name": "namzu-task"}
        self.send("POST", "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/namzu-sandboxes/sandboxtemplates", standard)

    def send(self, method, path, body=None):
        got = api(method, path, body, "application/yaml" if isinstance(body, str) else "application/json")
        self.assertIsNotNone(got, f"{method} {path}: there is no such object")
        return got

    sandboxes = "/apis/agents.x-k8s.io/v1beta1/namespaces/namzu-sandboxes/sandboxes"
    policies = "/apis/networking.k8s.io/v1/namespaces/namzu-sandboxes/networkpolicies"
    grants = "/apis/cilium.io/v2/namespaces/namzu-sandboxes/ciliumnetworkpolicies"
    fences = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"

    def node(self, egress, **options):
        (self.folder / "egress.yaml").write_text(json.dumps(egress))
        return Node(config={"kubeconfig": os.environ["KUBECONFIG"], "namespace": "namzu-sandboxes", "template": "namzu-task",
                            "agent-address": "pod-ip", "ready-timeout": "30s", "egress": str(self.folder / "egress.yaml"), **options})

    def apply_configured(self):
        got = subprocess.run([BIN / "paddock", "egress", "render", "--egress", self.folder / "egress.yaml", "--namespace", "namzu-sandboxes",
                              "--template", "namzu-task", "-o", "json"], capture_output=True, timeout=BOUND, check=True)
        self.send("POST", self.policies, json.loads(got.stdout))

    def apply_fence(self):
        policy, binding = (DEPLOY / "fence.yaml").read_text().split("\n---\n")
        self.send("POST", self.fences, policy)
        self.send("POST", self.bindings, binding)

    def policy(self, name, spec):
        return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": name}, "spec": {"podSelector": {}, **spec}}

    # [C 194] the fence is removed while the workspace sleeps
    def test_nothing_runs_before_all_is_proved(self):
        with self.node(per_sandbox()) as node:
            refused = lambda reason: self.refused(node.run("open", "desk"), 3, reason)
            refused("EgressPolicyNotApplied")
            self.apply_configured()
            refused("AdmissionFenceMissing")
            self.apply_fence()
            refused("IngressPolicy")
            self.send("POST", self.policies, self.policy("closed", {"policyTypes": ["Ingress"]}))
            self.send("POST", self.policies, self.policy("wide", {"policyTypes": ["Egress"], "egress": [{}]}))
            refused("EgressPolicyUnion")
            self.assertEqual(self.send("GET", self.sandboxes)["items"], [])
            self.send("DELETE", self.policies + "/wide")
            self.assertEqual(node.json("open", "desk")["origin"], "created")
            stored = self.send("GET", self.sandboxes + "/namzu-ws-desk")
            self.assertEqual(stored["spec"]["podTemplate"]["metadata"]["labels"]["sandbox.namzu.ai/per-sandbox-egress"], "namzu-ws-desk")
            self.assertEqual(self.good(node.run("exec", "desk", "--", "echo", "runs")), b"runs\n")
            self.good(node.run("suspend", "desk"))
            fence = self.send("GET", f"{self.fences}/{FENCE}")
            self.send("DELETE", f"{self.fences}/{FENCE}")
            before = self.send("GET", self.sandboxes + "/namzu-ws-desk")
            self.refused(node.run("resume", "desk"), 3, "AdmissionFenceMissing")
            after = self.send("GET", self.sandboxes + "/namzu-ws-desk")
            self.assertEqual(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"])
            self.assertEqual(after["spec"]["operatingMode"], "Suspended")
            del fence["metadata"]["resourceVersion"], fence["metadata"]["uid"]
            self.send("POST", self.fences, fence)
            self.send("POST", self.grants, {
                "apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy", "metadata": {"name": "namzu-sbx-of-a-former-one"},
                "spec": {"endpointSelector": {"matchLabels": {"sandbox.namzu.ai/per-sandbox-egress": "namzu-ws-desk"}},
                         "egress": [{"toFQDNs": [{"matchName": "git.example.com"}]}]}})
            self.assertEqual(node.json("resume", "desk")["origin"], "resumed")
            self.assertEqual(self.send("GET", self.grants)["items"], [])

    def test_one_workspace_is_granted_hosts_of_its_own(self):
        with self.node(per_sandbox(), ingress="unverified") as node:
            self.apply_configured()
            self.apply_fence()
            uid = node.json("open", "desk")["sandboxUid"]
            path = f"{self.grants}/namzu-sbx-{uid}"
            hosts = ["api.example.com", ".packages.example.org"]
            granted = node.json("policy", "set", "desk", "API.example.com", ".packages.example.org")
            self.assertEqual((granted["workspace"], granted["sandboxUid"], granted["policy"]), ("desk", uid, f"namzu-sbx-{uid}"))
            self.assertEqual((granted["stands"], granted["allowedHosts"]), (True, hosts))
            self.assertEqual(set(granted), documents()["policy set"])
            stored = self.send("GET", path)
            self.assertEqual(stored["spec"], granted["spec"])
            self.assertEqual(stored["spec"]["endpointSelector"], {"matchLabels": {"sandbox.namzu.ai/per-sandbox-egress": "namzu-ws-desk"}})
            self.assertEqual([(x["kind"], x["name"], x["uid"]) for x in stored["metadata"]["ownerReferences"]],
                             [("Sandbox", "namzu-ws-desk", uid)])
            self.assertEqual(node.json("policy", "show", "desk"), granted)
            self.assertEqual(self.good(node.run("policy", "show", "desk", "-o", "name")).decode().split(), hosts)
            # What is refused changes nothing.
            self.refused(node.run("policy", "set", "desk", "api.example.com:443"), 2, "NetworkPolicyHost")
            self.refused(node.run("policy", "set", "desk"), 2, "Usage")
            self.refused(node.run("policy", "set", "desk", "a.example", "--none"), 2, "Usage")
            self.assertEqual(self.send("GET", path), stored)
            # The grant is kept while the workspace sleeps, and nothing is written without the fence.
            self.good(node.run("suspend", "desk"))
            fence = self.send("GET", f"{self.fences}/{FENCE}")
            self.send("DELETE", f"{self.fences}/{FENCE}")
            self.refused(node.run("resume", "desk"), 3, "AdmissionFenceMissing")
            self.refused(node.run("policy", "set", "desk", "b.example"), 3, "AdmissionFenceMissing")
            self.refused(node.run("policy", "clear", "desk"), 3, "AdmissionFenceMissing")
            self.assertEqual(self.send("GET", path), stored)
            del fence["metadata"]["resourceVersion"], fence["metadata"]["uid"]
            self.send("POST", self.fences, fence)
            self.assertEqual(node.json("resume", "desk")["origin"], "resumed")
            self.assertEqual(self.send("GET", path)["spec"], stored["spec"])
            cleared = node.json("policy", "clear", "desk")
            self.assertEqual((cleared["stands"], cleared["allowedHosts"]), (False, []))
            self.assertEqual(self.send("GET", self.grants)["items"], [])
            self.assertEqual(node.json("policy", "set", "desk", "--none"), cleared)
            self.refused(node.run("policy", "show", "lamp"), 5, "AlreadyGone")

    def test_a_node_without_grants_says_so(self):
        with self.node(DENY_ALL, ingress="unverified") as node:
            for words in (("show", "desk"), ("clear", "desk"), ("set", "desk", "a.example")):
                self.refused(node.run("policy", *words), 3, "PerSandboxEgressNotConfigured")

    def test_a_node_that_starts_anew_proves_before_it_serves(self):
        with self.node(DENY_ALL, ingress="unverified") as node:
            self.apply_configured()
            node.json("open", "desk")
        with self.node(DENY_ALL, ingress="unverified") as node:
            self.assertEqual(self.good(node.run("exec", "desk", "--", "echo", "runs")), b"runs\n")
        self.send("DELETE", self.policies + "/namzu-task-egress")
        with self.node(DENY_ALL, ingress="unverified") as node:
            self.refused(node.run("exec", "desk", "--", "echo", "runs"), 125, "EgressPolicyNotApplied")
            self.good(node.run("suspend", "desk"))
            self.refused(node.run("resume", "desk"), 3, "EgressPolicyNotApplied")


class Embedded(SystemTest):
    def test_the_cluster_that_is_built_in_is_asked_as_well(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            (pathlib.Path(folder) / "egress.yaml").write_text(json.dumps(DENY_ALL))
            (pathlib.Path(folder) / "paddock.yaml").write_text(json.dumps({"egress": f"{folder}/egress.yaml"}))
            with Node("--config", f"{folder}/paddock.yaml") as node:
                self.refused(node.run("open", "desk"), 3, "EgressPolicyNotApplied")
                self.assertEqual(node.json("ls"), [])
                self.assertIn("it enforces no network policy", node.read_log())


if __name__ == "__main__":
    main()
