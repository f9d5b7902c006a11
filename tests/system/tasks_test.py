#!/usr/bin/env python3
"""Task sandboxes: one command each, out of a pool and without one. Run it alone, and the cluster is ours; by
`realcluster/up --agent-sandbox -- this`, and the API server is a real one."""
import concurrent.futures

from clusters import *
from real_api import api

CLAIMS, SANDBOXES, PODS, POOLS = f"{EXTENSIONS}/sandboxclaims", f"{AGENTS}/sandboxes", f"{CORE}/pods", f"{EXTENSIONS}/sandboxwarmpools"


def names(path):
    return {x["metadata"]["name"] for x in api("GET", path)["items"]}


def task_objects():
    """What this or an earlier node has made for tasks."""
    return {x for path in (CLAIMS, SANDBOXES, PODS) for x in names(path) if x.startswith("namzu-task-")}


def ready_members():
    return api("GET", f"{POOLS}/warm").get("status", {}).get("readyReplicas", 0)


class TasksTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.enter_context(real_cluster() if "KUBE_SERVER" in os.environ else embedded_cluster())
        api("POST", f"{EXTENSIONS}/sandboxtemplates", template("task", networkPolicyManagement="Unmanaged"))
        api("POST", POOLS, {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": "warm"},
                            "spec": {"replicas": 1, "sandboxTemplateRef": {"name": "task"}}})
        cls.node = cls.stack.enter_context(host(template="task", task_pool="warm", task_labels="host=one"))

    def setUp(self):
        wait_for("the pool is full", lambda: ready_members() == 1)

    def tearDown(self):
        wait_for("nothing of a task is left", lambda: not task_objects())

    def running(self, node, *options):
        """A client whose command runs, and the objects that its node has made for it."""
        client = node.start("task", "run", *options, "--", "sh", "-c", "echo here; exec sleep 600", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(client.stdout.readline(), b"here\n")
        made = task_objects()
        self.assertTrue(made)
        return client, made

    def test_a_command_runs_in_the_pools_sandbox_which_is_given_back(self):
        member, = names(PODS)
        got = self.node.run("task", "run", "--stdin", "--env", "A=1", "--", "sh", "-c", "cat; echo $A; pwd >&2; exit 7", input=b"in\n")
        self.assertEqual((got.returncode, got.stdout), (7, b"in\n1\n"), got)
        self.assertEqual(got.stderr.count(b"\n"), 1, got)
        wait_for("the sandbox that was used is gone", lambda: member not in names(PODS))

    def test_a_command_runs_in_a_sandbox_of_its_own(self):
        before = names(CLAIMS)
        client, made = self.running(self.node, "--template", "task")
        self.assertEqual(names(CLAIMS), before)
        spec = api("GET", f"{SANDBOXES}/{next(iter(made))}")["spec"]
        self.assertEqual((spec["shutdownPolicy"], spec["service"]), ("Delete", True))
        client.terminate()
        self.assertEqual(client.wait(BOUND), 128 + signal.SIGTERM)
        client.communicate()

    def test_a_client_that_is_interrupted_gives_back_before_it_ends(self):
        client, made = self.running(self.node)
        client.send_signal(signal.SIGINT)
        self.assertEqual(client.wait(BOUND), 128 + signal.SIGINT)
        client.communicate()
        self.assertFalse(made & names(CLAIMS))

    def test_an_acquire_that_is_interrupted_leaves_nothing(self):
        api("POST", f"{EXTENSIONS}/sandboxtemplates", {**template("never", networkPolicyManagement="Unmanaged"), "spec": {
            "podTemplate": {"spec": {"nodeSelector": {"no": "node"}, "containers": [AGENT]}}, "networkPolicyManagement": "Unmanaged"}})
        client = self.node.start("task", "run", "--template", "never", "--", "true", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for("its Sandbox is made", task_objects)
        client.send_signal(signal.SIGINT)
        self.assertEqual(client.wait(BOUND), 128 + signal.SIGINT)
        self.assertIn(b"paddock: Cancelled: ", client.communicate()[1])
        self.assertFalse(any(x.startswith("namzu-task-") for x in names(SANDBOXES)))

    def test_a_client_that_is_killed_gives_back_all_the_same(self):
        client, _ = self.running(self.node)
        client.kill()
        client.communicate()

    def test_a_node_that_ends_gives_back(self):
        with host(template="task") as node:
            client, made = self.running(node)
            node.process.terminate()
            node.process.wait(BOUND)
            # The node has cancelled the command, or has ended before that was confirmed.
            self.assertIn(client.wait(BOUND), (128 + signal.SIGTERM, 125))
            client.communicate()
        self.assertFalse(made & names(SANDBOXES))

    def test_what_a_killed_node_left_dies_with_its_lease_and_not_before(self):
        with host(template="task", task_lease="3s") as node:
            client, made = self.running(node)
            first = api("GET", f"{SANDBOXES}/{next(iter(made))}")["spec"]["shutdownTime"]
            # Alive it renews: the object outlives its first lease.
            wait_for("the lease is renewed twice", lambda: api("GET", f"{SANDBOXES}/{next(iter(made))}")["spec"]["shutdownTime"] > first)
            self.assertIsNone(client.poll())
            node.process.kill()
            node.process.wait()
            self.assertEqual(client.wait(BOUND), 125)
            self.assertIn(b"OutcomeUnknown", client.communicate()[1])
            self.assertEqual(task_objects() & made, made)

    def test_a_pool_that_is_not_there_is_refused_and_leaves_nothing(self):
        got = self.node.run("-o", "json", "task", "run", "--pool", "none", "--", "true")
        self.assertEqual(got.returncode, 125, got)
        said = json.loads(got.stderr)
        self.assertEqual((said["reason"], said["details"]["reason"], said["details"]["controllerReason"]), ("Acquire", "claim-rejected", "WarmPoolNotFound"))
        self.assertFalse(said["details"]["retryable"])

    def test_more_tasks_than_the_pool_has_members_each_get_their_own(self):
        with concurrent.futures.ThreadPoolExecutor(4) as crowd:
            got = list(crowd.map(lambda n: self.node.run("task", "run", "--", "sh", "-c", f"echo {n} > mine; sleep 0.2; cat mine"), range(4)))
        self.assertEqual([self.good(x) for x in got], [f"{n}\n".encode() for n in range(4)])

    def test_claims_of_this_node_are_found_by_their_label(self):
        client, made = self.running(self.node)
        self.assertEqual(self.node.json("task", "capacity")["activeClaims"], 1)
        self.assertEqual(self.node.json("task", "release", "host=another"), {"deleted": 0, "names": []})
        got = self.node.json("task", "release", "host=one")
        self.assertEqual(got["deleted"], 1)
        self.assertLessEqual(set(got["names"]), made)
        self.assertNotEqual(client.wait(BOUND), 0)
        client.communicate()


if __name__ == "__main__":
    main()
