#!/usr/bin/env python3
"""The client library of Python (Debian's python3-kubernetes) against the embedded cluster. Ends with 77 when it is not there."""
import json, pathlib, sys, tempfile, threading, unittest

try:
    from kubernetes import client, config, dynamic, watch
    from kubernetes.client.rest import ApiException
except ImportError as why:
    print(why)
    sys.exit(77)
from kubectl_test import Cluster  # noqa: E402
from harness import wait_for  # noqa: E402

AGENTS = {"group": "agents.x-k8s.io", "version": "v1beta1", "plural": "sandboxes"}
BOX = {"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox", "metadata": {"name": "box", "labels": {"app": "demo"}},
       "spec": {"podTemplate": {"spec": {"terminationGracePeriodSeconds": 1, "containers": [
           {"name": "main", "image": "none", "command": ["sh", "-c", "while :; do sleep 0.1; done"]}]}}}}


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


class Informer:
    """A cache of the ConfigMaps of a namespace: a list, a watch from its version, again from the last version when the watch ends, and
    from a new list when that version is too old."""

    def __init__(self, core, space):
        self.core, self.space = core, space
        self.objects, self.seen, self.lists, self.version = {}, [], 0, None

    def list(self):
        got = self.core.list_namespaced_config_map(self.space)
        self.objects = {x.metadata.name: x.metadata.resource_version for x in got.items}
        self.version = got.metadata.resource_version
        self.lists += 1

    def follow(self, **how):
        """One watch, until it ends or is too old."""
        if self.version is None:
            self.list()
        try:
            for event in watch.Watch().stream(self.core.list_namespaced_config_map, self.space, resource_version=self.version,
                                              allow_watch_bookmarks=True, **how):
                self.take(event)
        except ApiException as why:
            if why.status != 410:
                raise
            self.version = None

    def take(self, event):
        metadata = event["object"].metadata
        self.version = metadata.resource_version
        if event["type"] == "BOOKMARK":
            return
        self.seen.append(int(metadata.resource_version))
        if event["type"] == "DELETED":
            self.objects.pop(metadata.name)
        else:
            self.objects[metadata.name] = metadata.resource_version


class PythonClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        data = ("--data-dir", cls.folder.name + "/data")
        # It was started before: what was written then is too old for a watch.
        Cluster(cls.folder.name, *data).end()
        pathlib.Path(cls.folder.name, "kubeconfig").unlink()
        cls.cluster = Cluster(cls.folder.name, *data)
        config.load_kube_config(str(cls.cluster.kubeconfig))
        cls.core = client.CoreV1Api()
        cls.custom = client.CustomObjectsApi()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()
        cls.folder.cleanup()

    def setUp(self):
        self.space = self._testMethodName.replace("_", "-")[:60].strip("-")
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.space)))

    def refused(self, status, call, *arguments, **how):
        with self.assertRaises(ApiException) as seen:
            call(*arguments, **how)
        self.assertEqual(seen.exception.status, status, seen.exception.body)
        return json.loads(seen.exception.body)

    # -- objects ------------------------------------------------------------------------------------------------------

    def test_a_pod_runs_is_watched_tells_its_log_and_goes(self):
        container = client.V1Container(name="main", image="none", command=["sh", "-c", "echo hello; while :; do sleep 0.1; done"])
        spec = client.V1PodSpec(containers=[container], termination_grace_period_seconds=1)
        made = self.core.create_namespaced_pod(self.space, client.V1Pod(metadata=client.V1ObjectMeta(name="p", labels={"a": "b"}), spec=spec))
        self.assertEqual((made.status.phase, made.status.qos_class), ("Pending", "BestEffort"))
        phases = []
        for event in watch.Watch().stream(self.core.list_namespaced_pod, self.space, label_selector="a=b", timeout_seconds=60,
                                          resource_version=made.metadata.resource_version):
            pod = event["object"]
            phases.append(pod.status.phase)
            if any(x.type == "Ready" and x.status == "True" for x in pod.status.conditions or []):
                break
        self.assertEqual(phases[-1], "Running")
        wait_for("the log", lambda: self.core.read_namespaced_pod_log("p", self.space) == "hello\n")
        self.core.delete_namespaced_pod("p", self.space)
        for event in watch.Watch().stream(self.core.list_namespaced_pod, self.space, field_selector="metadata.name=p", timeout_seconds=60):
            if event["type"] == "DELETED":
                break
        self.assertEqual(self.refused(404, self.core.read_namespaced_pod, "p", self.space)["reason"], "NotFound")

    def test_objects_are_written_read_and_refused(self):
        made = self.core.create_namespaced_config_map(self.space, config_map("c", a="1"))
        self.assertEqual(self.refused(409, self.core.create_namespaced_config_map, self.space, config_map("c"))["reason"], "AlreadyExists")
        # The library sends a list as a JSON patch and all else as a strategic merge patch.
        self.core.patch_namespaced_config_map("c", self.space, {"data": {"b": "2"}})
        self.core.patch_namespaced_config_map("c", self.space, [{"op": "add", "path": "/data/c", "value": "3"}])
        self.assertEqual(self.core.read_namespaced_config_map("c", self.space).data, {"a": "1", "b": "2", "c": "3"})
        made.data = {"new": "1"}
        self.assertEqual(self.refused(409, self.core.replace_namespaced_config_map, "c", self.space, made)["reason"], "Conflict")
        made.metadata.resource_version = None
        self.assertEqual(self.core.replace_namespaced_config_map("c", self.space, made).data, {"new": "1"})
        self.core.replace_namespaced_config_map("c", self.space, config_map("c", tried="1"), dry_run="All")
        self.assertEqual(self.core.read_namespaced_config_map("c", self.space).data, {"new": "1"})
        self.assertEqual(self.refused(422, self.core.create_namespaced_config_map, self.space, config_map("Bad"))["reason"], "Invalid")
        secret = client.V1Secret(metadata=client.V1ObjectMeta(name="s"), string_data={"k": "v"})
        self.assertEqual(self.core.create_namespaced_secret(self.space, secret).data, {"k": "dg=="})
        self.assertEqual(self.core.delete_namespaced_config_map("c", self.space).status, "Success")
        self.core.delete_collection_namespaced_secret(self.space)
        self.assertEqual(self.core.list_namespaced_secret(self.space).items, [])

    def test_lists_come_in_pages_and_by_selectors(self):
        for i in range(7):
            made = config_map(f"c{i}", i=str(i))
            made.metadata.labels = {"even": "yes" if i % 2 == 0 else "no"}
            self.core.create_namespaced_config_map(self.space, made)
        names, token = [], None
        while True:
            page = self.core.list_namespaced_config_map(self.space, limit=3, _continue=token)
            names += [x.metadata.name for x in page.items]
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual(names, [f"c{i}" for i in range(7)])
        self.assertEqual(len(self.core.list_namespaced_config_map(self.space, label_selector="even=yes").items), 4)
        self.assertEqual(len(self.core.list_namespaced_config_map(self.space, field_selector="metadata.name!=c1").items), 6)

    def test_custom_objects(self):
        where = {**AGENTS, "namespace": self.space}
        self.custom.create_namespaced_custom_object(**where, body=BOX)
        ready = lambda x: any(c["type"] == "Ready" and c["status"] == "True" for c in x.get("status", {}).get("conditions", []))  # noqa: E731
        for event in watch.Watch().stream(self.custom.list_namespaced_custom_object, **where, timeout_seconds=60):
            if ready(event["object"]):
                break
        self.custom.patch_namespaced_custom_object(**where, name="box", body={"spec": {"operatingMode": "Suspended"}})
        wait_for("the pod goes", lambda: not self.core.list_namespaced_pod(self.space).items)
        found = self.custom.list_namespaced_custom_object(**where, label_selector="app=demo")
        self.assertEqual([x["metadata"]["name"] for x in found["items"]], ["box"])
        self.assertEqual(self.refused(422, self.custom.create_namespaced_custom_object, **where, body={**BOX, "spec": {}})["reason"], "Invalid")
        self.custom.delete_namespaced_custom_object(**where, name="box")

    def test_the_dynamic_client_finds_the_kinds_by_discovery(self):
        found = dynamic.DynamicClient(client.ApiClient())
        boxes = found.resources.get(api_version="agents.x-k8s.io/v1beta1", kind="Sandbox")
        boxes.create(body=BOX, namespace=self.space)
        boxes.patch(body={"metadata": {"labels": {"more": "1"}}}, name="box", namespace=self.space, content_type="application/merge-patch+json")
        self.assertEqual(boxes.get(name="box", namespace=self.space).metadata.labels.more, "1")
        boxes.delete(name="box", namespace=self.space, body={"propagationPolicy": "Foreground"})
        wait_for("it goes", lambda: not boxes.get(namespace=self.space).items)
        pods = found.resources.get(api_version="v1", kind="Pod")
        self.assertEqual(pods.get(namespace=self.space).items, [])

    def test_rights_and_tokens(self):
        account = client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="robot"))
        self.core.create_namespaced_service_account(self.space, account)
        asked = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
        token = self.core.create_namespaced_service_account_token("robot", self.space, asked).status.token
        own = client.Configuration.get_default_copy()
        own.api_key = {"authorization": f"Bearer {token}"}
        robot = client.ApiClient(own)
        self.assertEqual(self.refused(403, client.CoreV1Api(robot).list_namespaced_pod, self.space)["reason"], "Forbidden")
        review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(namespace=self.space, verb="list", resource="pods")))
        self.assertFalse(client.AuthorizationV1Api(robot).create_self_subject_access_review(review).status.allowed)
        self.assertTrue(client.AuthorizationV1Api().create_self_subject_access_review(review).status.allowed)
        self.assertEqual(client.VersionApi().get_code().major, "1")

    # -- watches ------------------------------------------------------------------------------------------------------

    def test_an_informer_loses_nothing_and_sees_nothing_twice_across_the_ends_of_its_watches(self):
        self.core.create_namespaced_config_map(self.space, config_map("first"))
        informer = Informer(self.core, self.space)
        informer.list()
        versions = []

        def write():
            core = client.CoreV1Api(client.ApiClient())
            for i in range(100):
                versions.append(core.create_namespaced_config_map(self.space, config_map(f"c{i}")).metadata.resource_version)
                versions.append(core.patch_namespaced_config_map(f"c{i}", self.space, {"data": {"a": "b"}}).metadata.resource_version)
                if i % 3 == 0:
                    core.delete_namespaced_config_map(f"c{i}", self.space)

        writer = threading.Thread(target=write)
        writer.start()
        while writer.is_alive():
            informer.follow(timeout_seconds=1)
        informer.follow(timeout_seconds=1)
        now = self.core.list_namespaced_config_map(self.space)
        self.assertEqual(informer.objects, {x.metadata.name: x.metadata.resource_version for x in now.items})
        self.assertEqual(informer.seen, sorted(set(informer.seen)))
        self.assertLessEqual(set(map(int, versions)), set(informer.seen))
        self.assertEqual(len(informer.seen), 100 + 100 + 34)
        self.assertEqual(informer.lists, 1)

    def test_a_version_that_is_too_old_makes_an_informer_list_again(self):
        self.core.create_namespaced_config_map(self.space, config_map("c"))
        informer = Informer(self.core, self.space)
        informer.version = "1"
        informer.follow(timeout_seconds=5)
        self.assertIsNone(informer.version)
        informer.follow(timeout_seconds=1)
        self.assertEqual((informer.lists, list(informer.objects)), (1, ["c"]))
        # A list at an old version is told the same by its status.
        self.assertEqual(self.refused(410, self.core.list_namespaced_config_map, self.space, resource_version="1",
                                      resource_version_match="Exact")["reason"], "Expired")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
