#!/usr/bin/env python3
"""Who has set which fields, server-side apply, and the two forms of Events: stories of requests whose answers are held against those that a
real server gave (managers.json; managers_test.cpp holds a store against them, too), before the embedded server and, under `realcluster/up`, before a real one.

    realcluster/up --no-kcm --agent-sandbox -- tests/conformance/managers_test.py --record     makes managers.json anew"""
from live import *

RECORDS = HERE / "managers.json"
JSON, PUT_TYPE, JSON_PATCH = "application/json", "application/json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"


def core(kind, name="", version="v1"):
    return f"/api/{version}/namespaces/NS/{kind}" + (name and "/" + name)


def agents(name, sub=""):
    return "/apis/agents.x-k8s.io/v1beta1/namespaces/NS/sandboxes" + (name and "/" + name) + (sub and "/" + sub)


def create(path, body, agent="maker/1.0", query=""):
    return {"method": "POST", "path": path + query, "type": JSON, "body": body, "agent": agent}


def put(path, body, agent="putter/1.0", query=""):
    return {"method": "PUT", "path": path + query, "type": PUT_TYPE, "body": body, "agent": agent}


def patch(path, body, kind=MERGE, agent="patcher/1.0", query=""):
    return {"method": "PATCH", "path": path + query, "type": kind, "body": body, "agent": agent}


def apply(path, manager, body, force=False, query=""):
    return patch(path, body, APPLY, "applier/1.0", f"?fieldManager={manager}" + ("&force=true" if force else "") + query)


def get(path):
    return {"method": "GET", "path": path, "type": "", "body": "", "agent": "reader"}


def config_map(**data):
    metadata = {"name": "c"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **({"data": data} if data else {})}


def service(*ports, **more):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
            "spec": {"clusterIP": "None", "selector": {"app": "x"}, "ports": list(ports), **more}}


def sandbox(*containers, **spec):
    return {"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox", "metadata": {"name": "b"},
            "spec": {"podTemplate": {"spec": {"containers": list(containers)}}, **spec}}


def event(**more):
    return {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "NS", "uid": "u", "apiVersion": "v1"},
            "reason": "Started", "message": "Container started", "type": "Normal", "source": {"component": "kubelet", "host": "n"},
            "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:04:06Z", "count": 3, **more}


YOUNG = "/apis/events.k8s.io/v1/namespaces/NS/events"
YOUNG_EVENT = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "y"}, "eventTime": "2026-01-02T03:04:05.000006Z",
               "reportingController": "example.com/c", "reportingInstance": "c-1", "action": "Doing", "reason": "Done", "type": "Warning",
               "regarding": {"kind": "Pod", "name": "q", "namespace": "NS", "apiVersion": "v1"}, "note": "well done"}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "1"}, "annotations": {"n": "1"}},
       "spec": {"containers": [{"name": "main", "image": "i:1", "env": [{"name": "A", "value": "1"}],
                                "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}]}],
                "tolerations": [{"key": "k", "operator": "Exists"}]}}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}
LAST = {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration":
                                     '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"c"},"data":{"a":"1","b":"1"}}\n'}}}
C = core("configmaps", "c")
S = core("services", "s")
P = core("pods", "p")

STORIES = {
    "writes-of-a-pod": [
        create(core("pods"), POD), patch(P, {"metadata": {"labels": {"a": "2", "b": "1"}}}),
        patch(P, {"spec": {"containers": [{"name": "main", "image": "i:2"}]}}, STRATEGIC, query="?fieldManager=strategic"),
        patch(P, [{"op": "remove", "path": "/metadata/labels/b"}, {"op": "add", "path": "/metadata/annotations/x", "value": "1"}], JSON_PATCH,
              "json-patcher"),
        patch(P + "/status", {"status": {"conditions": [{**READY["status"]["conditions"][0], "lastProbeTime": "2026-01-02T03:04:05Z"}]}}, STRATEGIC, "kubelet/v1"), patch(P, {"metadata": {"labels": {"a": "2"}}}, agent="idle/1"), get(P)],
    "writes-of-a-sandbox": [
        create(agents(""), sandbox({"name": "main", "image": "i"})), patch(agents("b", "status"), READY, agent="controller/2"),
        patch(agents("b"), {"spec": {"operatingMode": "Suspended"}, "metadata": {"annotations": {"x": "1"}}}),
        patch(agents("b"), {"metadata": {"annotations": None}}, agent="other"),
        patch(agents("b"), {"spec": {"podTemplate": {"spec": {"containers": [{"name": "main", "image": "j"}, {"name": "two", "image": "k"}]}}}}),
        get(agents("b"))],
    "managers-that-clients-send": [
        create(core("configmaps"), config_map(a="1")), patch(C, {"metadata": {"managedFields": [{}]}}), get(C),
        patch(C, {"data": {"b": "1"}}), apply(C, "one", config_map(b="1", c="1")),
        patch(C, [{"op": "replace", "path": "/metadata/managedFields/0/manager", "value": "renamed"}], JSON_PATCH),
        apply(C, "bad", {**config_map(), "metadata": {"name": "c", "managedFields": []}})],
    "a-put": [create(core("configmaps"), config_map(a="1", b="1")), put(C, config_map(a="1", b="2", c="3")), put(C, config_map(a="1"), "third"),
              put(C, config_map(a="1"), "fourth")],
    "apply": [
        apply(C, "one", config_map(a="1", b="1")), apply(C, "two", config_map(c="1")), apply(C, "two", config_map(a="2", b="2")),
        apply(C, "two", config_map(a="2")), apply(C, "two", config_map(a="2"), True), apply(C, "two", config_map(a="2", b="1")),
        apply(C, "one", config_map(b="1")), apply(C, "one", config_map()), apply(C, "two", config_map(a="2", b="1")),
        patch(C, {"data": {"a": "3"}}), apply(C, "two", config_map(a="2", b="1")), apply(C, "two", config_map(a="3")), get(C)],
    "apply-after-updates": [
        create(core("configmaps"), config_map(a="1", b="1")), apply(C, "one", config_map(a="1", c="1")), apply(C, "one", config_map(a="2")),
        apply(C, "one", config_map(a="2"), True), apply(C, "one", config_map()), get(C)],
    "apply-of-a-service": [
        apply(S, "one", service({"name": "a", "port": 80}, {"name": "b", "port": 81, "protocol": "UDP"})),
        apply(S, "two", service({"name": "c", "port": 82, "protocol": "TCP"})),
        apply(S, "one", service({"name": "b", "port": 81, "protocol": "UDP"})),
        apply(S, "one", service({"name": "b", "port": 81}, {"name": "d", "port": 81})),
        apply(S, "one", service({"name": "b", "port": 81, "protocol": "UDP"}, nonsense=1))],
    "apply-of-a-sandbox": [
        apply(agents("b"), "one", sandbox({"name": "main", "image": "i"}, {"name": "two", "image": "j"})),
        apply(agents("b"), "one", sandbox({"name": "two", "image": "k"}, {"name": "main", "image": "i"})),
        apply(agents("b"), "two", sandbox({"name": "three", "image": "l"})), apply(agents("b"), "one", sandbox({"name": "main", "image": "i"})),
        apply(agents("b", "status"), "three", {**sandbox(), **READY}), apply(agents("b"), "one", sandbox({"name": "main"}, nonsense=True)),
        apply(agents("b"), "one", sandbox({"name": "main", "image": 1})), apply(agents("b"), "one", {**sandbox({"name": 1}), "spec": 3}),
        apply(agents("b"), "one", sandbox({"name": "two"}, {"name": "two"}, service="x")), apply(agents("absent", "status"), "three", {**sandbox(), **READY})],
    "apply-that-is-refused": [
        patch(C, config_map(), APPLY), patch(C, config_map(), query="?force=true"), apply(C, "x" * 129, config_map()),
        apply(C, "a%01b", config_map()), apply(C, "one", {"metadata": {"name": "c"}}), apply(C, "one", {**config_map(), "apiVersion": "v2"}),
        apply(C, "one", {**config_map(), "kind": "Secret"}), apply(C, "one", {**config_map(), "metadata": {"name": "other"}}),
        apply(C, "one", {**config_map(), "metadata": {}}), apply(C, "one", [1]), apply(C, "one", {**config_map(), "data": {"a": 1}}),
        apply(C, "one", {**config_map(), "metadata": {"name": "c", "uid": "00000000-0000-4000-8000-000000000000"}}),
        apply(C, "one", config_map(a="1"), query="&dryRun=All"), get(C)],
    "apply-by-kubectl-after-its-own": [
        create(core("configmaps"), {**config_map(a="1", b="1"), **{"metadata": {"name": "c", **LAST["metadata"]}}}, "kubectl-client-side-apply"),
        apply(C, "kubectl", config_map(a="2", b="1")), patch(C, {"data": {"b": "9"}}), apply(C, "kubectl", config_map(a="2", b="1"))],
    # Whose names are in the order of their writes: within one second the names count.
    "many-managers": [create(core("configmaps"), config_map(a="0"), "a0")]
    + [patch(C, {"data": {f"k{i}": "1"}}, agent=f"m{i:02}") for i in range(12)] + [get(C)],
    "kinds": [
        create(core("secrets"), {"metadata": {"name": "x"}, "stringData": {"a": "b"}}),
        create(core("serviceaccounts"), {"metadata": {"name": "x"}}), create(core("services"), service({"port": 80})),
        create(core("persistentvolumeclaims"), {"metadata": {"name": "x"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
        create("/apis/coordination.k8s.io/v1/namespaces/NS/leases", {"metadata": {"name": "x"}, "spec": {"holderIdentity": "h"}}),
        create("/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies", {"metadata": {"name": "x"}, "spec": {
            "podSelector": {"matchLabels": {"a": "b"}}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]}}),
        create("/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles", {"metadata": {"name": "x"}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        create("/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings", {"metadata": {"name": "x"}, "subjects": [
            {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"kind": "Role", "name": "x", "apiGroup": "rbac.authorization.k8s.io"}})],
    "events": [
        create(core("events"), event()), create(YOUNG, YOUNG_EVENT), get(YOUNG + "/e"), get(core("events", "y")), get(YOUNG + "/none"),
        get(YOUNG + "?fieldSelector=regarding.kind%3DPod,regarding.name%3Dp"), get(core("events") + "?fieldSelector=involvedObject.name%3Dq"),
        get(YOUNG + "?fieldSelector=involvedObject.name%3Dq"), get(core("events") + "?fieldSelector=regarding.name%3Dq"),
        create(YOUNG, {**YOUNG_EVENT, "metadata": {"name": "z"}, "eventTime": None, "action": ""}),
        create(YOUNG, {**YOUNG_EVENT, "metadata": {"name": "z"}, "type": "Odd"}),
        patch(YOUNG + "/e", {"deprecatedCount": 4, "note": "again"}), get(core("events", "e"))],
}


def answers_of(server, story, number):
    name = f"story-{number:02}"
    server.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    out = []
    for step in STORIES[story]:
        body = step["body"] if step["body"] == "" else json.dumps(step["body"]).replace('"NS"', f'"{name}"')
        got = server.ask(step["method"], step["path"].replace("/NS/", f"/{name}/"), body, step["type"], agent=step["agent"])
        text = got.text.replace(name, "NS")
        out.append({"request": step, "status": got.status, "answer": comparable(json.loads(text))})
    return out


def all_answers(server):
    return {f"{story}-{i:02}": (x["status"], x) for number, story in enumerate(STORIES)
            for i, x in enumerate(answers_of(server, story, number))}


def judged_answers(test, server, heading):
    recorded = json.loads(RECORDS.read_text())
    got = {case: (status, difference(x, recorded.get(case, "<nothing>"))) for case, (status, x) in all_answers(server).items()}
    test.assertEqual(sorted(got), sorted(recorded))
    judged(test, got, known_differences(heading))


class EmbeddedManagers(unittest.TestCase):
    maxDiff = None

    def test_it_answers_as_a_real_server_did(self):
        with EmbeddedServer() as server:
            judged_answers(self, server, "## Managers, apply and Events")


@unittest.skipUnless("KUBE_SERVER" in os.environ, "there is no real server")
class RealManagers(unittest.TestCase):
    maxDiff = None

    def test_a_real_server_answers_as_recorded(self):
        recorded = json.loads(RECORDS.read_text())
        got = {case: (status, difference(x, recorded[case])) for case, (status, x) in all_answers(real_server()).items()}
        judged(self, got, {})


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        lines = [json.dumps(case) + ":" + json.dumps(x, separators=(",", ":")) for case, (_, x) in all_answers(real_server()).items()]
        RECORDS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    else:
        unittest.main(verbosity=2)
