#!/usr/bin/env python3
"""kubectl against the embedded cluster, as an operator uses it: get in all forms, describe, create, apply, diff, patch, label, scale, delete,
wait, logs, events, tokens. What is not served says so."""
import json, os, pathlib, shutil, subprocess, tempfile, unittest

from harness import BIN, wait_for

KUBECTL = os.environ.get("PADDOCK_KUBECTL") or shutil.which("kubectl")

SANDBOX = """
apiVersion: agents.x-k8s.io/v1beta1
kind: Sandbox
metadata: {name: box, labels: {app: demo}}
spec:
  podTemplate:
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: none, command: [sh, -c, "echo first; echo second; while :; do sleep 0.1; done"]}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: once}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: none, command: [sh, -c, "for i in 1 2 3; do echo line $i; sleep 0.2; done"]}
"""
CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: %s}
"""
POOL = """
apiVersion: extensions.agents.x-k8s.io/v1beta1
kind: SandboxWarmPool
metadata: {name: pool}
spec: {replicas: 0, sandboxTemplateRef: {name: none}}
"""


class Cluster:
    """One paddock-cluster, and kubectl for it."""

    def __init__(self, folder, *arguments):
        self.folder = pathlib.Path(folder)
        self.kubeconfig = self.folder / "kubeconfig"
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen([BIN / "paddock-cluster", "--listen", "127.0.0.1:0", "--kubeconfig-out", self.kubeconfig, *arguments],
                                        stdout=subprocess.DEVNULL, stderr=self.log)
        wait_for("the kubeconfig", lambda: self.process.poll() is not None or self.kubeconfig.exists() and self.kubeconfig.read_text().endswith("\n"))

    def words(self, *words):
        return [KUBECTL, "--kubeconfig", self.kubeconfig, "--cache-dir", self.folder / "cache", *words]

    def run(self, *words, fails=False, stdin=None, code=None):
        got = subprocess.run(self.words(*words), input=stdin, capture_output=True, text=True, timeout=60)
        if code is None and (got.returncode != 0) != fails or code is not None and got.returncode != code:
            raise AssertionError(f"kubectl {' '.join(map(str, words))}: {got.returncode}: {got.stdout}{got.stderr}")
        return (got.stdout + got.stderr).strip()

    def end(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


@unittest.skipUnless(KUBECTL, "there is no kubectl on this machine")
class Kubectl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        cls.cluster = Cluster(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()
        cls.folder.cleanup()

    def setUp(self):
        self.space = self._testMethodName.replace("_", "-")[:60].strip("-")
        self.cluster.run("create", "namespace", self.space)

    def k(self, *words, **how):
        return self.cluster.run("-n", self.space, *words, **how)

    def read(self, *words):
        return json.loads(self.k("get", *words, "-o", "json"))

    # -- what not every kubectl can -----------------------------------------------------------------------------------

    newer = True

    def gone(self, what):
        self.k("wait", "--for=delete", what, "--timeout=30s")

    def token(self, account):
        return self.k("create", "token", account, "--duration=1h")

    # -- reading ------------------------------------------------------------------------------------------------------

    def test_a_sandbox_is_created_shown_and_deleted(self):
        self.k("create", "-f", "-", stdin=SANDBOX)
        self.k("wait", "--for=condition=Ready", "sandbox/box", "--timeout=30s")
        lines = self.k("get", "sandboxes").splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "READY", "REASON", "AGE"])
        self.assertEqual(lines[1].split()[:3], ["box", "True", "DependenciesReady"])
        wide = self.k("get", "pods", "-o", "wide").splitlines()
        self.assertEqual(wide[0].split()[:7], ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"])
        self.assertEqual(wide[1].split()[:4], ["box", "1/1", "Running", "0"])
        self.assertEqual(self.k("get", "pods", "-o", "name"), "pod/box")
        self.assertEqual(self.k("get", "sandbox", "box", "-o", "jsonpath={.spec.operatingMode}"), "Running")
        self.assertIn("operatingMode: Running", self.k("get", "sandbox", "box", "-o", "yaml"))
        self.assertEqual(self.k("get", "sandbox", "-l", "app=demo", "-o", "custom-columns=N:.metadata.name").split(), ["N", "box"])
        self.assertEqual(self.k("get", "pods", "--field-selector", "status.phase=Failed"), f"No resources found in {self.space} namespace.")
        self.assertIn("box", self.k("get", "all"))
        self.k("delete", "sandbox", "box")
        self.gone("pod/box")

    def test_describe(self):
        self.k("create", "-f", "-", stdin=SANDBOX)
        self.k("wait", "--for=condition=Ready", "sandbox/box", "--timeout=30s")
        self.assertIn("Operating Mode:", self.k("describe", "sandbox", "box"))
        pod = self.k("describe", "pod", "box")
        self.assertIn("Image:", pod)
        self.assertIn("Status:", pod)
        self.assertIn("Status:       Active", self.k("describe", "namespace", self.space))
        self.assertIn("Name:", self.k("describe", "serviceaccounts"))
        node = self.k("get", "nodes", "-o", "name")
        self.assertIn("Conditions:", self.k("describe", node))
        self.assertIn("Ready", self.k("get", "nodes"))

    def test_every_kind_that_can_be_listed_is_listed(self):
        kinds = self.k("api-resources", "--verbs=list", "-o", "name").split()
        for kind in ("pods", "secrets", "sandboxes.agents.x-k8s.io", "customresourcedefinitions.apiextensions.k8s.io", "leases.coordination.k8s.io"):
            self.assertIn(kind, kinds)
        for kind in kinds:
            self.k("get", kind)
        self.assertIn("swp", self.k("api-resources"))
        self.assertIn("networking.k8s.io/v1", self.k("api-versions"))
        self.assertEqual(len(self.k("get", "crd", "-o", "name").split()), 4)

    def test_long_lists_come_in_chunks(self):
        for i in range(5):
            self.k("create", "configmap", f"c{i}", f"--from-literal=i={i}")
        self.assertEqual(len(self.k("get", "configmaps", "--chunk-size=2", "-o", "name").split()), 5)

    def test_a_watch_shows_rows(self):
        watch = subprocess.Popen(self.cluster.words("-n", self.space, "get", "configmaps", "-w"), stdout=subprocess.PIPE, text=True)
        try:
            self.k("create", "configmap", "seen", "--from-literal=a=b")
            self.assertEqual(watch.stdout.readline().split(), ["NAME", "DATA", "AGE"])
            self.assertEqual(watch.stdout.readline().split()[:2], ["seen", "1"])
        finally:
            watch.terminate()
            watch.communicate(timeout=10)

    # -- writing ------------------------------------------------------------------------------------------------------

    def test_apply_creates_changes_leaves_alone_and_prunes_members(self):
        self.assertEqual(self.k("apply", "-f", "-", stdin=CONFIG % "red"), "configmap/settings created")
        self.assertEqual(self.k("apply", "-f", "-", stdin=CONFIG % "red"), "configmap/settings unchanged")
        self.assertEqual(self.k("apply", "-f", "-", stdin=CONFIG % "blue"), "configmap/settings configured")
        self.assertEqual(self.read("configmap", "settings")["data"], {"colour": "blue"})
        self.assertEqual(self.k("apply", "-f", "-", stdin=SANDBOX), "sandbox.agents.x-k8s.io/box created")
        self.assertEqual(self.k("apply", "-f", "-", stdin=SANDBOX.replace("app: demo", "app: other")), "sandbox.agents.x-k8s.io/box configured")
        self.assertEqual(self.read("sandbox", "box")["metadata"]["labels"], {"app": "other"})

    def test_diff_and_dry_run(self):
        self.k("apply", "-f", "-", stdin=CONFIG % "blue")
        self.assertIn("colour: blue", self.k("diff", "-f", "-", stdin=CONFIG % "red", code=1).replace("-  ", "").replace("+  ", ""))
        self.k("apply", "-f", "-", stdin=SANDBOX)
        self.assertIn("+  shutdownPolicy: Delete", self.k("diff", "-f", "-", stdin=SANDBOX + "  shutdownPolicy: Delete\n", code=1))
        self.k("diff", "-f", "-", stdin=SANDBOX)
        self.assertIn("dry run", self.k("apply", "--dry-run=server", "-f", "-", stdin=CONFIG % "green"))
        self.assertEqual(self.read("configmap", "settings")["data"], {"colour": "blue"})

    def test_patches_of_three_types(self):
        self.k("create", "configmap", "c", "--from-literal=a=b")
        self.k("patch", "configmap", "c", "-p", '{"data":{"strategic":"1"}}')
        self.k("patch", "configmap", "c", "--type=merge", "-p", '{"data":{"merge":"1"}}')
        self.k("patch", "configmap", "c", "--type=json", "-p", '[{"op":"add","path":"/data/json","value":"1"}]')
        self.assertEqual(set(self.read("configmap", "c")["data"]), {"a", "strategic", "merge", "json"})
        self.k("patch", "sandbox", "none", "--type=merge", "-p", "{}", fails=True)

    def test_labels_annotations_and_edits(self):
        self.k("create", "configmap", "c", "--from-literal=a=b")
        self.k("label", "configmap", "c", "tier=gold")
        self.k("annotate", "configmap", "c", "note=x")
        self.assertEqual(self.read("configmap", "c")["metadata"]["labels"], {"tier": "gold"})
        self.k("label", "configmap", "c", "tier-")
        self.assertNotIn("labels", self.read("configmap", "c")["metadata"])
        self.k("replace", "-f", "-", stdin=json.dumps({**self.read("configmap", "c"), "data": {"new": "1"}}))
        self.assertEqual(self.read("configmap", "c")["data"], {"new": "1"})

    def test_scale(self):
        self.k("apply", "-f", "-", stdin=POOL)
        self.assertIn("scaled", self.k("scale", "swp/pool", "--replicas=3"))
        self.assertEqual(self.read("swp", "pool")["spec"]["replicas"], 3)
        self.assertEqual(self.k("get", "swp").splitlines()[1].split()[0], "pool")

    def test_deletes(self):
        for i in range(4):
            self.k("create", "configmap", f"c{i}", f"--from-literal=i={i}")
        self.k("label", "configmaps", "c0", "c1", "go=yes")
        self.k("delete", "configmaps", "-l", "go=yes")
        self.assertEqual(self.k("get", "configmaps", "-o", "name").split(), ["configmap/c2", "configmap/c3"])
        self.k("delete", "configmaps", "--all", "--wait=false")
        self.k("apply", "-f", "-", stdin=SANDBOX)
        self.k("wait", "--for=condition=Ready", "sandbox/box", "--timeout=30s")
        self.k("delete", "sandbox", "box", "--cascade=foreground")
        self.assertNotIn("box", self.k("get", "pods", "--ignore-not-found", "-o", "name"))
        self.k("apply", "-f", "-", stdin=SANDBOX)
        self.k("wait", "--for=condition=Ready", "sandbox/box", "--timeout=30s")
        self.k("delete", "sandbox", "box", "--cascade=orphan")
        self.assertNotIn("ownerReferences", self.read("pod", "box")["metadata"])
        self.k("delete", "pod", "box", "--force", "--grace-period=0")

    def test_a_namespace_goes_with_what_is_in_it(self):
        self.k("create", "configmap", "c", "--from-literal=a=b")
        self.k("create", "secret", "generic", "s", "--from-literal=a=b")
        self.cluster.run("delete", "namespace", self.space, "--timeout=30s")
        self.cluster.run("get", "namespace", self.space, fails=True)

    # -- pods, accounts, events -----------------------------------------------------------------------------------------

    def test_logs(self):
        self.k("create", "-f", "-", stdin=POD)
        wait_for("the first line", lambda: "line 1" in self.cluster.run("-n", self.space, "logs", "once", "--ignore-errors", "--pod-running-timeout=30s")
                 if self.read("pod", "once")["status"]["phase"] != "Pending" else False)
        self.assertEqual(self.k("logs", "-f", "once").splitlines(), ["line 1", "line 2", "line 3"])
        wait_for("its end", lambda: self.read("pod", "once")["status"]["phase"] == "Succeeded")
        self.assertEqual(self.k("logs", "once", "--tail=1"), "line 3")
        self.assertIn("Z line 3", self.k("logs", "once", "--tail=1", "--timestamps"))
        self.assertIn("container other is not valid for pod once", self.k("logs", "once", "-c", "other", fails=True))

    def test_tokens_and_rights(self):
        self.k("create", "serviceaccount", "robot")
        self.k("create", "role", "reader", "--verb=get,list", "--resource=pods")
        self.k("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={self.space}:robot")
        token = self.token("robot")
        # The kubeconfig of an administrator would win over the token.
        server = ["--server", self.k("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"), "--insecure-skip-tls-verify"]
        with tempfile.NamedTemporaryFile() as nobody:
            def as_robot(*words, **how):
                env = [KUBECTL, "--kubeconfig", nobody.name, "--cache-dir", self.cluster.folder / "other", *server, "--token", token,
                       "-n", self.space, *words]
                got = subprocess.run(env, capture_output=True, text=True, timeout=60)
                return got.returncode, (got.stdout + got.stderr).strip()
            self.assertEqual(as_robot("auth", "can-i", "list", "pods"), (0, "yes"))
            self.assertEqual(as_robot("auth", "can-i", "delete", "pods")[1], "no")
            self.assertIn("pods", as_robot("auth", "can-i", "--list")[1])
            if self.newer:
                self.assertIn(f"system:serviceaccount:{self.space}:robot", as_robot("auth", "whoami")[1])
            self.assertEqual(as_robot("get", "pods")[0], 0)
            self.assertIn("is forbidden", as_robot("get", "secrets")[1])

    def test_events(self):
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "Testing", "message": "hello", "type": "Normal",
                 "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "namespace": self.space},
                 "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1, "source": {"component": "me"}}
        self.k("create", "configmap", "c", "--from-literal=a=b")
        event["involvedObject"]["uid"] = self.read("configmap", "c")["metadata"]["uid"]
        self.k("create", "-f", "-", stdin=json.dumps(event))
        if self.newer:
            self.assertIn("Testing", self.k("events"))
            self.assertIn("Testing", self.k("events", "--for", "configmap/c"))
        self.assertIn("hello", self.k("get", "events"))
        self.assertIn("hello", self.k("describe", "configmap", "c"))

    def test_what_happens_to_a_pod_is_told_in_events(self):
        self.k("create", "-f", "-", stdin=SANDBOX)
        self.k("wait", "--for=condition=Ready", "sandbox/box", "--timeout=30s")
        started = "reason=Started,involvedObject.name=box"
        wait_for("the event", lambda: "Started" in self.k("get", "events", "--field-selector", started))
        self.assertRegex(self.k("describe", "pod", "box"), r"Events:(?s:.*)Scheduled .*default-scheduler +Successfully assigned(?s:.*)Started .*kubelet")
        if self.newer:
            self.assertRegex(self.k("events", "--for", "pod/box"), "Normal +Scheduled +Pod/box +Successfully assigned .*/box to ")
        self.assertIn("Started", self.k("get", "events.events.k8s.io", "-o", "jsonpath={.items[*].reason}"))
        self.k("delete", "sandbox", "box")
        self.gone("pod/box")
        wait_for("the event", lambda: "Stopping container main" in self.k("get", "events"))

    def test_what_keeps_a_pod_or_a_claim_waiting_is_told_in_events(self):
        self.k("create", "-f", "-", stdin=POD.replace("restartPolicy", "nodeSelector: {no: such}\n  restartPolicy"))
        self.k("create", "-f", "-", stdin="""
apiVersion: extensions.agents.x-k8s.io/v1beta1
kind: SandboxClaim
metadata: {name: claim}
spec: {warmPoolRef: {name: none}}
""")
        wait_for("the events", lambda: {"FailedScheduling", "WarmPoolNotFound"} <= set(
            self.k("get", "events", "-o", "jsonpath={.items[*].reason}").split()))
        self.assertIn('SandboxWarmPool "none" not found', self.k("describe", "sandboxclaim", "claim"))

    # -- who has set what -------------------------------------------------------------------------------------------------

    def test_managers_are_shown_where_that_is_asked_for(self):
        self.k("create", "configmap", "c", "--from-literal=a=b")
        self.assertNotIn("managedFields", self.k("get", "configmap", "c", "-o", "yaml"))
        shown = self.k("get", "configmap", "c", "-o", "yaml", "--show-managed-fields")
        self.assertIn("manager: kubectl-create", shown)
        self.assertIn("f:a: {}", shown)

    def test_apply_by_the_server(self):
        apply = lambda text, *more, **how: self.k("apply", "--server-side", *more, "-f", "-", stdin=text, **how)  # noqa: E731
        self.assertEqual(apply(CONFIG % "red"), "configmap/settings serverside-applied")
        refused = apply(CONFIG % "blue", "--field-manager=other", fails=True)
        self.assertIn('conflict with "kubectl": .data.colour', refused)
        apply(CONFIG % "blue", "--field-manager=other", "--force-conflicts")
        self.assertEqual(self.read("configmap", "settings")["data"], {"colour": "blue"})
        apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n", "--field-manager=other")
        self.assertNotIn("data", self.read("configmap", "settings"))
        self.assertEqual(apply(SANDBOX), "sandbox.agents.x-k8s.io/box serverside-applied")
        self.assertIn("field not declared in schema", apply(SANDBOX.replace("{name: main,", "{nonsense: 1, name: main,"), fails=True))

    def test_apply_by_the_server_takes_over_from_kubectl(self):
        self.k("apply", "-f", "-", stdin=CONFIG % "red")
        self.k("apply", "--server-side", "-f", "-", stdin=CONFIG % "blue")
        managers = {x["manager"] for x in json.loads(self.k("get", "configmap", "settings", "-o", "json", "--show-managed-fields"))
                    ["metadata"]["managedFields"]}
        self.assertEqual(managers, {"kubectl", "kubectl-last-applied"})
        self.assertEqual(self.read("configmap", "settings")["data"], {"colour": "blue"})

    def test_explain(self):
        spec = self.k("explain", "sandbox.spec")
        self.assertIn("enum: Running, Suspended", spec)
        self.assertRegex(spec, r"podTemplate\t<Object> -required-")
        self.assertRegex(self.k("explain", "pod.spec.containers"), r"name\t<string> -required-")
        self.assertRegex(self.k("explain", "pod.spec.containers.resources.limits"), r"FIELD: limits <map\[string\]Quantity>")
        self.assertIn("regarding", self.k("explain", "events", "--api-version=events.k8s.io/v1"))
        self.assertIn('field "nonsense" does not exist', self.k("explain", "pod.nonsense", fails=True))

    def test_fields_are_checked_before_anything_is_made(self):
        wrong = SANDBOX.replace("{name: main,", "{nonsense: 1, name: main,")
        self.assertIn('unknown field "spec.podTemplate.spec.containers[0].nonsense"', self.k("create", "--validate=strict", "-f", "-", stdin=wrong, fails=True))
        self.assertIn("Warning: unknown field", self.k("create", "--validate=warn", "-f", "-", stdin=wrong))

    # -- refusals -----------------------------------------------------------------------------------------------------

    def test_what_is_wrong_is_told(self):
        # An older one does not ask the server to refuse it, and tells what it is warned of.
        self.assertIn("unknown field", self.k("create", "-f", "-", stdin=(CONFIG % "red") + "nonsense: 1\n", fails=self.newer))
        self.assertIn("spec.podTemplate: Required value", self.k("create", "-f", "-", fails=True, stdin=(
            "apiVersion: agents.x-k8s.io/v1beta1\nkind: Sandbox\nmetadata: {name: bad}\nspec: {}\n")))
        self.assertIn("not found", self.k("get", "pod", "none", fails=True))
        self.assertIn("doesn't have a resource type", self.k("get", "deployments", fails=True))

    def test_what_is_not_served_says_so(self):
        self.k("exec", "none", "--", "ls", fails=True)
        self.assertIn("not allow this method", self.k("delete", "crd", "sandboxes.agents.x-k8s.io", fails=True))


@unittest.skipUnless(KUBECTL, "there is no kubectl on this machine")
class Cilium(unittest.TestCase):
    def test_policies_of_cilium_are_served_where_that_is_asked_for(self):
        policy = json.dumps({"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy", "metadata": {"name": "p"},
                             "spec": {"endpointSelector": {}, "egress": [{"toFQDNs": [{"matchName": "example.org"}]}]}})
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            cluster = Cluster(folder, "--cilium", "--quiet")
            try:
                cluster.run("apply", "-f", "-", stdin=policy)
                self.assertIn("p", cluster.run("get", "cnp"))
            finally:
                cluster.end()


if __name__ == "__main__":
    unittest.main()
