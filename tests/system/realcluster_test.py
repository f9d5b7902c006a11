#!/usr/bin/env python3
"""paddockd beside a real kube-apiserver, over TLS. The test plays controller and kubelet: it makes the pod of a Running Sandbox, with a
real paddock-guest behind it, and takes it away from a Suspended one. Run it by `realcluster/up --agent-sandbox -- this`."""
import random, threading

from clusters import *
from real_api import api

SANDBOXES = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes"
TEMPLATES = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxtemplates"
POLICIES = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
PODS = "/api/v1/namespaces/default/pods"
POD_SPEC = {"containers": [{"name": "agent", "image": "none", "ports": [{"containerPort": 1024}],
                            "volumeDevices": [{"name": "workspace", "devicePath": "/dev/workspace"}]}],
            "terminationGracePeriodSeconds": 5}
TEMPLATE = {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxTemplate", "metadata": {"name": "default"},
            "spec": {"podTemplate": {"spec": POD_SPEC},
                     "volumeClaimTemplates": [{"metadata": {"name": "workspace"},
                                               "spec": {"accessModes": ["ReadWriteOnce"], "volumeMode": "Block",
                                                        "resources": {"requests": {"storage": "1Gi"}}}}]}}


class Controller(threading.Thread):
    """Looks at every Sandbox again and again and does what the controllers, the scheduler and a kubelet would."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.over, self.guests, self.failure = pathlib.Path(folder), threading.Event(), {}, None
        self.address = f"127.{random.randrange(65, 127)}.{random.randrange(256)}.{random.randrange(1, 255)}"

    def begin(self):
        super().start()

    def run(self):
        try:
            while not self.over.wait(0.05):
                for sandbox in api("GET", SANDBOXES)["items"]:
                    self.reconcile(sandbox)
        except Exception as why:  # noqa: BLE001 - the test reports it
            self.failure = why

    def reconcile(self, sandbox):
        name, uid = sandbox["metadata"]["name"], sandbox["metadata"]["uid"]
        pod = api("GET", f"{PODS}/{name}")
        if sandbox["spec"]["operatingMode"] == "Running" and pod is None:
            pod = api("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "agent", "image": "none"}]},
                                     "metadata": {"name": name, "ownerReferences": [
                                         {"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox", "name": name, "uid": uid, "controller": True}]}})
            self.start_guest(pod)
            api("PATCH", f"{PODS}/{name}/status", {"status": {"phase": "Running", "podIP": self.address, "podIPs": [{"ip": self.address}]}},
                "application/merge-patch+json")
        elif sandbox["spec"]["operatingMode"] == "Suspended" and pod is not None:
            self.end(pod["metadata"]["uid"])
            api("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        ready = "True" if sandbox["spec"]["operatingMode"] == "Running" else "False"
        condition = {"type": "Ready", "status": ready, "reason": "Test", "message": "", "observedGeneration": sandbox["metadata"]["generation"],
                     "lastTransitionTime": "2026-01-01T00:00:00Z"}
        if sandbox.get("status", {}).get("conditions") != [condition]:
            api("PATCH", f"{SANDBOXES}/{name}/status", {"status": {"conditions": [condition]}}, "application/merge-patch+json")

    def start_guest(self, pod):
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "NAMZU_AGENT_BIND_TOKEN": pod["metadata"]["uid"], "NAMZU_AGENT_TCP_PORT": "1024",
                       "PADDOCK_GUEST_TCP_ADDRESS": self.address, "NAMZU_SANDBOX_WORKSPACE": str(disk)}
        self.guests[pod["metadata"]["uid"]] = subprocess.Popen(
            ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", BIN / "paddock-guest"], env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def end(self, uid):
        guest = self.guests.pop(uid, None)
        if guest:
            guest.terminate()
            guest.wait(20)

    def stop(self):
        self.over.set()
        self.join()
        for uid in list(self.guests):
            self.end(uid)


class RealCluster(SystemTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        self.node = host(context="admin", ready_timeout="20s").__enter__()
        self.controller = Controller(self.folder.name)

    def tearDown(self):
        self.node.__exit__()
        if self.controller.is_alive():
            self.controller.stop()
        self.folder.cleanup()

    def test_a_life_beside_a_real_api_server(self):
        node = self.node
        self.assertEqual(node.json("ls"), [])
        self.assertEqual(node.run("open", "desk").returncode, 5)  # no template yet
        self.assertEqual(api("GET", SANDBOXES)["items"], [])
        api("POST", TEMPLATES, TEMPLATE)
        self.controller.begin()
        self.assertEqual(node.json("open", "desk")["origin"], "created")
        stored = api("GET", f"{SANDBOXES}/namzu-ws-desk")
        self.assertRegex(stored["metadata"]["annotations"]["sandbox.namzu.ai/pod-template-hash"], "^sha256:[0-9a-f]{64}$")
        self.assertEqual(stored["spec"]["podTemplate"]["metadata"]["labels"]["sandbox.namzu.ai/template"], "default")
        self.assertTrue(stored["spec"]["service"])
        self.good(node.run("cp", "-", "desk:a", input=b"kept"))
        first = node.json("identity", "desk")
        self.good(node.run("suspend", "desk"))
        self.assertIsNone(api("GET", f"{PODS}/namzu-ws-desk"))
        stored = api("GET", f"{SANDBOXES}/namzu-ws-desk")
        self.assertEqual(stored["spec"]["operatingMode"], "Suspended")
        self.assertIn("sandbox.namzu.ai/operating-mode-changed-at", stored["metadata"]["annotations"])
        self.assertEqual(node.json("resume", "desk")["origin"], "resumed")
        second = node.json("identity", "desk")
        self.assertEqual(first["sandboxUid"], second["sandboxUid"])
        self.assertNotEqual(first["podUid"], second["podUid"])
        self.assertEqual(self.good(node.run("cat", "desk:a")), b"kept")
        self.assertEqual([x["workspace"] for x in node.json("ls")], ["desk"])
        self.mend_the_epoch(node, second["sandboxUid"])
        # A newer holder has stamped it: nothing of ours is applied any more.
        api("PATCH", f"{SANDBOXES}/namzu-ws-desk", {"metadata": {"annotations": {"sandbox.namzu.ai/holder-epoch": "99999999"}}},
            "application/merge-patch+json")
        self.refused(node.run("suspend", "desk"), 6, "WorkspacePrecondition")
        self.assertEqual(api("GET", f"{SANDBOXES}/namzu-ws-desk")["spec"]["operatingMode"], "Running")
        self.refused(node.run("rm", "desk", "--delete-disk"), 6, "WorkspacePrecondition")
        self.assertIsNotNone(api("GET", f"{SANDBOXES}/namzu-ws-desk"))
        self.assertIsNone(self.controller.failure)

    def mend_the_epoch(self, node, uid):
        def stamped(value):
            api("PATCH", f"{SANDBOXES}/namzu-ws-desk", {"metadata": {"annotations": {"sandbox.namzu.ai/holder-epoch": value}}},
                "application/merge-patch+json")

        def epoch():
            return api("GET", f"{SANDBOXES}/namzu-ws-desk")["metadata"]["annotations"].get("sandbox.namzu.ai/holder-epoch")

        stamped("latest")
        self.refused(node.run("suspend", "desk"), 6, "WorkspacePrecondition")
        self.refused(node.run("reset-epoch", "desk", "--stored", "later", "--uid", uid), 6, "WorkspacePrecondition")
        self.refused(node.run("reset-epoch", "desk", "--stored", "latest", "--uid", "another"), 6, "WorkspaceReplaced")
        self.assertEqual(epoch(), "latest")
        self.assertEqual(self.good(node.run("reset-epoch", "desk", "--stored", "latest", "--uid", uid)), b"replaced\n")
        mended = int(epoch())
        # Lost instead: the watch shows it, and the owner stamps it again.
        stamped(None)
        wait_for("it is stamped again", lambda: epoch() is not None)
        self.assertEqual(int(epoch()), mended)
        self.assertEqual(node.json("resume", "desk")["origin"], "adopted-running")

    def test_egress_is_proved_before_anything_is_made(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "egress.yaml").write_text("policy: {kind: deny-all}\n")
        if api("GET", f"{TEMPLATES}/default") is None:
            api("POST", TEMPLATES, TEMPLATE)
        rendered = subprocess.run([BIN / "paddock", "egress", "render", "--egress", folder / "egress.yaml", "--namespace", "default",
                                   "--template", "default", "-o", "json"], capture_output=True, timeout=BOUND, check=True).stdout
        closed = {"podSelector": {}, "policyTypes": ["Ingress"]}
        wide = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{}]}
        bounded = {"kubeconfig": os.environ["KUBECONFIG"], "context": "admin", "agent-address": "pod-ip", "egress": f"{folder}/egress.yaml",
                   "ready-timeout": "20s"}
        with Node(config=bounded) as node:
            self.refused(node.run("open", "bounded"), 3, "EgressPolicyNotApplied")
            api("POST", POLICIES, json.loads(rendered))
            self.refused(node.run("open", "bounded"), 3, "IngressPolicy")
            for name, spec in (("closed", closed), ("wide", wide)):
                api("POST", POLICIES, {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": name}, "spec": spec})
            self.refused(node.run("open", "bounded"), 3, "EgressPolicyUnion")
            self.assertIsNone(api("GET", f"{SANDBOXES}/namzu-ws-bounded"))
            api("DELETE", f"{POLICIES}/wide")
            self.controller.begin()
            self.assertEqual(node.json("open", "bounded")["origin"], "created")
            self.good(node.run("suspend", "bounded"))
            self.good(node.run("rm", "bounded", "--delete-disk"))
        self.assertIsNone(self.controller.failure)

    def test_a_token_without_rights(self):
        with host(context="nobody") as node:
            got = node.run("ls")
            self.refused(got, 3, "Credential")
            self.assertNotIn(os.environ["KUBE_NOBODY_TOKEN"].encode(), got.stderr)
            self.assertNotIn(os.environ["KUBE_NOBODY_TOKEN"], node.read_log())


if __name__ == "__main__":
    main()
