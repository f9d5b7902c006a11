#!/usr/bin/env python3
"""Our kubelet and controllers beside a real kube-apiserver. Run it by `realcluster/up --agent-sandbox -- this`: then the cluster's own
controller manager collects garbage, protects claims and ends namespaces; or with `--no-kcm` and PADDOCK_CONTROLLERS=all: then ours do."""
from clusters import *
from real_api import api

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


def patch(path, body):
    return api("PATCH", path, body, "application/merge-patch+json")


def pool(name, of, replicas):
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": name},
            "spec": {"replicas": replicas, "sandboxTemplateRef": {"name": of}}}


def claim(name, of, **spec):
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim", "metadata": {"name": name},
            "spec": {"warmPoolRef": {"name": of}, **spec}}


def pod(name, containers, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"terminationGracePeriodSeconds": 2, "containers": [{"image": "none", **x} for x in containers], **spec}}


def condition(x, kind="Ready"):
    return next((c for c in ((x or {}).get("status") or {}).get("conditions", []) if c["type"] == kind), {})


def ready(x):
    return condition(x).get("status") == "True"


def until(path, holds, bound=30):
    """The object at `path`, None for none, once `holds` says so."""
    seen = []

    def look():
        seen[:] = [api("GET", path)]
        return holds(seen[0])

    try:
        wait_for(path, look, bound)
    except AssertionError:
        raise AssertionError(f"{path} is {json.dumps(seen[0])}")
    return seen[0]


def gone(path):
    until(path, lambda x: x is None)


class Agents(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.TemporaryDirectory(prefix="paddock-test-")
        cls.stack = contextlib.ExitStack()
        cls.kubelet = cls.stack.enter_context(Agent("kubelet", "--node", "node-a", "--data-dir", cls.data.name))
        cls.stack.enter_context(Agent("controllers", *(["--run", os.environ["PADDOCK_CONTROLLERS"]] if "PADDOCK_CONTROLLERS" in os.environ else [])))

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()
        cls.data.cleanup()

    def logs(self, name, uid, container):
        return sorted((pathlib.Path(self.data.name) / "logs" / f"default_{name}_{uid}" / container).iterdir(), key=lambda x: int(x.stem))

    def test_a_workspace_lives_beside_a_real_api_server(self):
        api("POST", f"{EXTENSIONS}/sandboxtemplates", workspace_template())
        with host(context="admin", ready_timeout="20s") as node:
            self.assertEqual(node.json("open", "desk")["origin"], "created")
            self.good(node.run("cp", "-", "desk:a", input=b"kept"))
            self.assertEqual(self.good(node.run("exec", "desk", "--", "cat", "a")), b"kept")
            first = node.json("identity", "desk")
            seen = api("GET", f"{CORE}/pods/namzu-ws-desk")
            self.assertEqual(seen["spec"]["nodeName"], "node-a")
            disk = until(f"{CORE}/persistentvolumeclaims/workspace-namzu-ws-desk", lambda x: x["status"]["phase"] == "Bound")
            self.assertIn("kubernetes.io/pvc-protection", disk["metadata"]["finalizers"])
            folder = pathlib.Path(self.data.name) / "disks" / disk["metadata"]["uid"]
            self.assertEqual((folder / "a").read_bytes(), b"kept")
            self.good(node.run("suspend", "desk"))
            self.assertIsNone(api("GET", f"{CORE}/pods/namzu-ws-desk"))
            self.assertEqual(condition(until(f"{AGENTS}/sandboxes/namzu-ws-desk", lambda x: condition(x, "Suspended").get("status") == "True"),
                                       "Suspended")["reason"], "PodTerminated")
            self.assertEqual(node.json("resume", "desk")["origin"], "resumed")
            second = node.json("identity", "desk")
            self.assertEqual(first["sandboxUid"], second["sandboxUid"])
            self.assertEqual(first["volumeClaimUids"], second["volumeClaimUids"])
            self.assertNotEqual(first["podUid"], second["podUid"])
            self.assertEqual(self.good(node.run("cat", "desk:a")), b"kept")
            self.good(node.run("rm", "desk", "--delete-disk"))
            for path in (f"{AGENTS}/sandboxes/namzu-ws-desk", f"{CORE}/pods/namzu-ws-desk", f"{CORE}/services/namzu-ws-desk",
                         f"{CORE}/persistentvolumeclaims/workspace-namzu-ws-desk"):
                gone(path)
            wait_for("the folder of the disk is gone", lambda: not folder.exists(), 10)

    def test_the_node_and_its_lease_are_there(self):
        node = until("/api/v1/nodes/node-a", ready)
        self.assertEqual(condition(node, "NetworkPolicyEnforced")["status"], "False")
        self.assertIn(condition(node, "ResourceLimitsEnforced")["status"], ("True", "False"))
        lease = until(f"{LEASES}/node-a", lambda x: x is not None)
        self.assertEqual(lease["spec"]["holderIdentity"], "node-a")
        self.assertEqual(lease["metadata"]["ownerReferences"][0]["uid"], node["metadata"]["uid"])

    # [C 212] two claims race for one warm member, [C 213] an adopted Sandbox
    def test_claims_take_warm_members_and_make_their_own(self):
        api("POST", f"{EXTENSIONS}/sandboxtemplates", template("warm", service=True))
        policy = until(f"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/warm-network-policy", lambda x: x is not None)
        self.assertEqual(policy["spec"]["policyTypes"], ["Ingress", "Egress"])
        api("POST", f"{EXTENSIONS}/sandboxwarmpools", pool("p", "warm", 1))
        until(f"{EXTENSIONS}/sandboxwarmpools/p", lambda x: x.get("status", {}).get("readyReplicas") == 1)
        member = next(x for x in api("GET", f"{AGENTS}/sandboxes")["items"] if x["metadata"]["name"].startswith("p-"))
        member_pod = api("GET", f"{CORE}/pods/{member['metadata']['name']}")
        self.assertIn("agents.x-k8s.io/warm-pool-sandbox", member_pod["metadata"]["labels"])
        # What refills the pool finds no node, so that the claim that comes second has nothing to wait for.
        patch(f"{EXTENSIONS}/sandboxtemplates/warm", {"spec": {"podTemplate": {"spec": {"nodeSelector": {"paddock.test/none": "x"}}}}})
        for name in ("c1", "c2"):
            api("POST", f"{EXTENSIONS}/sandboxclaims", claim(name, "p"))
        claims = [until(f"{EXTENSIONS}/sandboxclaims/{name}", lambda x: x.get("status", {}).get("sandbox")) for name in ("c1", "c2")]
        names = [x["status"]["sandbox"]["name"] for x in claims]
        winner, loser = claims if names[0] == member["metadata"]["name"] else claims[::-1]
        self.assertEqual(winner["status"]["sandbox"]["name"], member["metadata"]["name"])
        self.assertEqual(loser["status"]["sandbox"]["name"], loser["metadata"]["name"])
        self.assertEqual(api("GET", f"{AGENTS}/sandboxes/{loser['metadata']['name']}")["metadata"]["labels"]["agents.x-k8s.io/launch-type"], "cold")
        self.assertTrue(ready(until(f"{EXTENSIONS}/sandboxclaims/{winner['metadata']['name']}", ready)))
        adopted = until(f"{AGENTS}/sandboxes/{member['metadata']['name']}", ready)
        self.assertEqual(adopted["metadata"]["uid"], member["metadata"]["uid"])
        self.assertEqual([x["uid"] for x in adopted["metadata"]["ownerReferences"]], [winner["metadata"]["uid"]])
        self.assertNotIn("agents.x-k8s.io/warm-pool-sandbox", adopted["metadata"]["labels"])
        moved = until(f"{CORE}/pods/{member['metadata']['name']}", lambda x: "agents.x-k8s.io/warm-pool-sandbox" not in x["metadata"]["labels"])
        self.assertEqual(moved["metadata"]["uid"], member_pod["metadata"]["uid"])
        until(f"{EXTENSIONS}/sandboxclaims/{winner['metadata']['name']}", lambda x: "agents.x-k8s.io/claim-first-ready-at" in x["metadata"]["annotations"])
        # The pool has a member again: its status alone may still be that of the first one.
        def members():
            return [x["metadata"]["name"] for x in api("GET", f"{AGENTS}/sandboxes")["items"]
                    if "agents.x-k8s.io/warm-pool-sandbox" in x["metadata"]["labels"]]

        wait_for("the pool is refilled", members)
        (refill,) = members()
        self.assertTrue(refill.startswith("p-"), refill)
        self.assertNotEqual(refill, member["metadata"]["name"])
        until(f"{EXTENSIONS}/sandboxwarmpools/p", lambda x: x["status"].get("replicas") == 1 and "readyReplicas" not in x["status"])
        # Scaled to nought by its subresource.
        patch(f"{EXTENSIONS}/sandboxwarmpools/p/scale", {"spec": {"replicas": 0}})
        until(f"{EXTENSIONS}/sandboxwarmpools/p", lambda x: "replicas" not in x["status"])

    # [C 216] a claim deleted: first it, then its Sandbox, then what the Sandbox owns; and a policy that comes too late
    def test_what_a_claim_owns_goes_after_it(self):
        api("POST", f"{EXTENSIONS}/sandboxtemplates", template("owned", service=True, networkPolicyManagement="Unmanaged"))
        api("POST", f"{EXTENSIONS}/sandboxwarmpools", pool("o", "owned", 0))
        owner = api("POST", f"{EXTENSIONS}/sandboxclaims", claim("owner", "o"))
        until(f"{EXTENSIONS}/sandboxclaims/owner", ready)
        # Held, so that the order can be seen: what the Sandbox owns stays as long as it does.
        patch(f"{AGENTS}/sandboxes/owner", {"metadata": {"finalizers": ["paddock.test/hold"]}})
        api("DELETE", f"{EXTENSIONS}/sandboxclaims/owner")
        gone(f"{EXTENSIONS}/sandboxclaims/owner")
        until(f"{AGENTS}/sandboxes/owner", lambda x: "deletionTimestamp" in x["metadata"])
        # The collector has gone on since: it takes what comes too late while the Sandbox is held, and still nothing of the Sandbox's.
        policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
        api("POST", policies, {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": {}}, "metadata": {
            "name": "late", "ownerReferences": [{"apiVersion": owner["apiVersion"], "kind": "SandboxClaim", "name": "owner", "uid": owner["metadata"]["uid"]}]}})
        gone(f"{policies}/late")
        self.assertIn("deletionTimestamp", api("GET", f"{AGENTS}/sandboxes/owner")["metadata"])
        for path in (f"{CORE}/pods/owner", f"{CORE}/services/owner"):
            self.assertNotIn("deletionTimestamp", api("GET", path)["metadata"])
        patch(f"{AGENTS}/sandboxes/owner", {"metadata": {"finalizers": None}})
        for path in (f"{AGENTS}/sandboxes/owner", f"{CORE}/pods/owner", f"{CORE}/services/owner"):
            gone(path)

    def test_a_namespace_goes_with_all_that_it_holds(self):
        api("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "brief"}})
        api("POST", "/api/v1/namespaces/brief/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}})
        api("POST", "/api/v1/namespaces/brief/pods", pod("p", [{"name": "c", "command": ["sleep", "1000"]}]))
        until("/api/v1/namespaces/brief/pods/p", ready)
        api("DELETE", "/api/v1/namespaces/brief")
        gone("/api/v1/namespaces/brief")
        self.assertIsNone(api("GET", "/api/v1/namespaces/brief/pods/p"))

    # [C 211] an expired claim under each policy
    def test_expired_claims_go_as_their_policy_says(self):
        api("POST", f"{EXTENSIONS}/sandboxtemplates", template("brief", networkPolicyManagement="Unmanaged"))
        api("POST", f"{EXTENSIONS}/sandboxwarmpools", pool("none", "brief", 0))
        policies = ("Delete", "Retain", "DeleteForeground")
        for policy in policies:
            api("POST", f"{EXTENSIONS}/sandboxclaims", claim(f"x-{policy.lower()}", "none"))
        for policy in policies:
            until(f"{EXTENSIONS}/sandboxclaims/x-{policy.lower()}", ready)
        # The pod of the last is held by a finalizer, as a slow kubelet would hold it.
        patch(f"{CORE}/pods/x-deleteforeground", {"metadata": {"finalizers": ["paddock.test/hold"]}})
        for policy in policies:
            patch(f"{EXTENSIONS}/sandboxclaims/x-{policy.lower()}",
                  {"spec": {"lifecycle": {"shutdownTime": "2020-01-01T00:00:00Z", "shutdownPolicy": policy}}})
        for path in (f"{EXTENSIONS}/sandboxclaims/x-delete", f"{AGENTS}/sandboxes/x-delete", f"{CORE}/pods/x-delete", f"{AGENTS}/sandboxes/x-retain"):
            gone(path)
        kept = until(f"{EXTENSIONS}/sandboxclaims/x-retain", lambda x: x["status"]["sandbox"] == {})
        self.assertEqual(condition(kept)["reason"], "ClaimExpired")
        held = until(f"{EXTENSIONS}/sandboxclaims/x-deleteforeground", lambda x: "deletionTimestamp" in x["metadata"])
        self.assertEqual(held["metadata"]["finalizers"], ["foregroundDeletion"])
        until(f"{CORE}/pods/x-deleteforeground", lambda x: "deletionTimestamp" in x["metadata"])
        self.assertIsNotNone(api("GET", f"{EXTENSIONS}/sandboxclaims/x-deleteforeground"))
        patch(f"{CORE}/pods/x-deleteforeground", {"metadata": {"finalizers": None}})
        for path in (f"{CORE}/pods/x-deleteforeground", f"{AGENTS}/sandboxes/x-deleteforeground", f"{EXTENSIONS}/sandboxclaims/x-deleteforeground"):
            gone(path)

    # [C 214] a label domain that is not allowed, then is
    def test_a_label_domain_is_allowed_by_the_configuration(self):
        api("POST", f"{EXTENSIONS}/sandboxtemplates", template("labels", networkPolicyManagement="Unmanaged"))
        api("POST", f"{EXTENSIONS}/sandboxwarmpools", pool("l", "labels", 0))
        api("POST", f"{EXTENSIONS}/sandboxclaims", claim("l1", "l", additionalPodMetadata={"labels": {"example.org/x": "1"}}))
        refused = until(f"{EXTENSIONS}/sandboxclaims/l1", lambda x: condition(x).get("reason") == "InvalidMetadata")
        self.assertIn("example.org/x", condition(refused)["message"])
        api("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "agent-sandbox-system"}})
        api("POST", "/api/v1/namespaces/agent-sandbox-system/configmaps",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "agent-sandbox-config"}, "data": {"allowed-label-domains": "example.org"}})

        def touched():
            patch(f"{EXTENSIONS}/sandboxclaims/l1", {"metadata": {"annotations": {"touched": str(time.monotonic())}}})
            return ready(api("GET", f"{EXTENSIONS}/sandboxclaims/l1"))

        wait_for("the claim binds", touched, 20)
        self.assertEqual(api("GET", f"{CORE}/pods/l1")["metadata"]["labels"]["example.org/x"], "1")

    def test_init_containers_run_in_order_and_containers_beside_each_other(self):
        shared = pathlib.Path(self.data.name) / "shared"
        shared.mkdir()
        api("POST", f"{CORE}/pods", pod("several", [
            {"name": "one", "command": ["sh", "-c", f"echo one-$WHO; while :; do sleep 0.1; done"], "env": [{"name": "WHO", "valueFrom": {
                "fieldRef": {"fieldPath": "metadata.name"}}}]},
            {"name": "two", "command": ["sh", "-c", f"test \"$(cat {shared}/order)\" = ab && exec sleep 1000"],
             "readinessProbe": {"exec": {"command": ["test", "-e", f"{shared}/go"]}, "periodSeconds": 1}}],
            initContainers=[{"name": n, "image": "none", "command": ["sh", "-c", f"printf {n} >> {shared}/order"]} for n in "ab"]))
        seen = until(f"{CORE}/pods/several", lambda x: x.get("status", {}).get("phase") == "Running" and all(
            "running" in c["state"] for c in x["status"]["containerStatuses"]))
        self.assertFalse(ready(seen))
        self.assertEqual([c["state"]["terminated"]["exitCode"] for c in seen["status"]["initContainerStatuses"]], [0, 0])
        self.assertEqual([c["ready"] for c in seen["status"]["containerStatuses"]], [True, False])
        (shared / "go").touch()
        until(f"{CORE}/pods/several", ready)
        (shared / "go").unlink()
        until(f"{CORE}/pods/several", lambda x: not ready(x))
        lines = self.logs("several", seen["metadata"]["uid"], "one")[-1].read_text().splitlines()
        self.assertRegex(lines[0], r"^\d{4}-\S+Z stdout F one-several$")
        api("DELETE", f"{CORE}/pods/several")
        gone(f"{CORE}/pods/several")

    def test_a_container_that_fails_its_liveness_probe_or_ends_is_started_again(self):
        flag = pathlib.Path(self.data.name) / "healthy"
        flag.touch()
        api("POST", f"{CORE}/pods", pod("sick", [{"name": "c", "command": ["sleep", "1000"], "livenessProbe": {
            "exec": {"command": ["test", "-e", str(flag)]}, "periodSeconds": 1, "failureThreshold": 1}}]))
        until(f"{CORE}/pods/sick", ready)
        flag.unlink()
        again = until(f"{CORE}/pods/sick", lambda x: x["status"]["containerStatuses"][0]["restartCount"] >= 1)
        self.assertEqual(again["status"]["phase"], "Running")
        self.assertEqual(again["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 143)
        api("DELETE", f"{CORE}/pods/sick")
        gone(f"{CORE}/pods/sick")

    def test_pods_that_end_are_succeeded_or_failed(self):
        for name, script, policy, phase in (("good", "exit 0", "OnFailure", "Succeeded"), ("bad", "exit 3", "Never", "Failed")):
            api("POST", f"{CORE}/pods", pod(name, [{"name": "c", "command": ["sh", "-c", script]}], restartPolicy=policy))
            seen = until(f"{CORE}/pods/{name}", lambda x: x.get("status", {}).get("phase") == phase)
            self.assertEqual(seen["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], int(script[-1]))
            self.assertFalse(ready(seen))

    def test_a_container_that_ignores_term_is_killed_after_its_grace(self):
        flag = pathlib.Path(self.data.name) / "deaf"
        api("POST", f"{CORE}/pods", pod("deaf", [{"name": "c", "command": ["sh", "-c", f"trap '' TERM; touch {flag}; while :; do sleep 0.1; done"],
                                                  "readinessProbe": {"exec": {"command": ["test", "-e", str(flag)]}, "periodSeconds": 1}}],
                                        terminationGracePeriodSeconds=1))
        until(f"{CORE}/pods/deaf", ready)
        begun = time.monotonic()
        api("DELETE", f"{CORE}/pods/deaf")
        gone(f"{CORE}/pods/deaf")
        self.assertGreater(time.monotonic() - begun, 0.9)

    def test_a_pod_that_finds_no_room_says_why_and_is_placed_when_there_is(self):
        huge = {"name": "c", "command": ["sleep", "1000"], "resources": {"requests": {"cpu": "100000"}}}
        api("POST", f"{CORE}/pods", pod("huge", [huge]))
        seen = until(f"{CORE}/pods/huge", lambda x: condition(x, "PodScheduled").get("reason") == "Unschedulable")
        self.assertIn("Insufficient cpu", condition(seen, "PodScheduled")["message"])
        api("DELETE", f"{CORE}/pods/huge")
        gone(f"{CORE}/pods/huge")
        api("POST", f"{CORE}/pods", pod("choosy", [{"name": "c", "command": ["sleep", "1000"]}], nodeSelector={"paddock.test/disk": "fast"}))
        until(f"{CORE}/pods/choosy", lambda x: condition(x, "PodScheduled").get("reason") == "Unschedulable")
        patch("/api/v1/nodes/node-a", {"metadata": {"labels": {"paddock.test/disk": "fast"}}})
        until(f"{CORE}/pods/choosy", ready)
        api("DELETE", f"{CORE}/pods/choosy")
        gone(f"{CORE}/pods/choosy")

    def test_values_of_secrets_reach_the_container_and_nothing_else(self):
        api("POST", f"{CORE}/pods", pod("secretive", [{"name": "c", "command": ["sh", "-c", "test \"$S\" = hunter2 && exec sleep 1000"], "env": [
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}]))
        waiting = until(f"{CORE}/pods/secretive", lambda x: x.get("status", {}).get("containerStatuses", [{}])[0].get("state", {}).get(
            "waiting", {}).get("reason") == "CreateContainerConfigError")
        self.assertIn("Secret s", waiting["status"]["containerStatuses"][0]["state"]["waiting"]["message"])
        api("POST", f"{CORE}/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "hunter2"}})
        seen = until(f"{CORE}/pods/secretive", ready)
        self.assertNotIn("hunter2", json.dumps(seen["status"]) + self.kubelet.read_log())
        api("DELETE", f"{CORE}/pods/secretive")
        gone(f"{CORE}/pods/secretive")


class Refused(SystemTest):
    def start(self, *arguments):
        got = subprocess.run([BIN / "paddock-cluster", *arguments], capture_output=True, timeout=30)
        return got.returncode, got.stderr.decode()

    def test_what_cannot_start_says_why(self):
        code, said = self.start("controllers", "--kubeconfig", os.environ["KUBECONFIG"], "--context", "nobody")
        self.assertEqual(code, 1)
        self.assertIn("forbidden", said)
        self.assertNotIn(os.environ["KUBE_NOBODY_TOKEN"], said)
        code, said = self.start("controllers", "--kubeconfig", os.environ["KUBECONFIG"], "--run", "sandbox,nothing")
        self.assertEqual((code, said.splitlines()[0].split(";")[0]), (2, "paddock-cluster: Usage: --run: 'nothing' is no controller"))
        code, said = self.start("kubelet", "--kubeconfig", "/nowhere")
        self.assertEqual(code, 2)
        self.assertIn("/nowhere", said)


if __name__ == "__main__":
    main()
