#!/usr/bin/env python3
"""The recorded cases against the embedded server and, under `realcluster/up`, against a real one: what stood there is made by
requests, the case is asked, and the answer has to be the recorded one. So the recordings themselves are held against a real server."""
from live import *

DATA = json.loads((HERE / "cases.json").read_text())
BOXES = "/apis/agents.x-k8s.io/v1beta1/namespaces/{}/sandboxes"
POLICIES = "/apis/admissionregistration.k8s.io/v1/"
OTHER_MODE = {"Running": "Suspended", "Suspended": "Running"}


class Scene:
    """A server brought to what a case was recorded on, in namespaces of the case's own."""

    def __init__(self, server, one, number):
        self.server, self.one = server, one
        # What the recording calls it -> what it is called here.
        self.names = {"rec": f"rec-{number:03}", "dying": f"dying-{number:03}"}
        self.values = {}
        for name in self.names.values():
            server.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        self.boxes = BOXES.format(self.names["rec"])
        for name in one["objects"]:
            self.make(DATA["states"][name])
        if "/dying/" in one["target"]:
            self.end_dying()
        version = str(one["version"])
        self.values.setdefault(version, server.get(self.boxes)["metadata"]["resourceVersion"])
        for before in one.get("after", []):  # the cases that were recorded before this one, on the same object
            server.ask(*self.request(next(x for x in DATA["cases"] if x["case"] == before)))
        for request in one.get("before", []):
            got = server.ask(*self.request(request))
            if got.status >= 300:
                raise AssertionError(f"{server.name}: cannot set up {one['case']}: {got.status} {got.text}")

    def make(self, state):
        """An object as it stood there: as often changed, with its status, and on its way out if it was."""
        recorded = state["metadata"]
        ending = "deletionTimestamp" in recorded
        path = f"{self.boxes}/{recorded['name']}"
        changes = recorded["generation"] - 1 - ending
        mode = state["spec"]["operatingMode"]
        modes = [mode if (changes - i) % 2 == 0 else OTHER_MODE[mode] for i in range(changes + 1)]
        self.server.must("POST", self.boxes, {
            **{k: state[k] for k in ("apiVersion", "kind")}, "spec": {**state["spec"], "operatingMode": modes[0]},
            "metadata": {k: recorded[k] for k in ("name", "labels", "annotations", "finalizers") if k in recorded}})
        for x in modes[1:]:
            self.server.must("PATCH", path, {"spec": {"operatingMode": x}}, MERGE)
        if "status" in state:
            self.server.must("PATCH", path + "/status", {"status": state["status"]}, MERGE)
        if ending:
            self.server.must("DELETE", path)
        made = self.server.get(path)["metadata"]
        self.values.update({recorded["uid"]: made["uid"], recorded["resourceVersion"]: made["resourceVersion"]})

    def end_dying(self):
        name = self.names["dying"]
        self.server.must("POST", f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}})
        self.server.must("DELETE", f"/api/v1/namespaces/{name}")

    def here(self, text):
        """What was recorded, in the names, uids and versions of this server."""
        for recorded, name in self.names.items():
            text = text.replace(f"/namespaces/{recorded}/", f"/namespaces/{name}/")
            text = re.sub(rf'"namespace": ?"{recorded}"', f'"namespace":"{name}"', text)
        for recorded, value in self.values.items():
            text = text.replace(f'"{recorded}"', f'"{value}"').replace(f"resourceVersion={recorded}&", f"resourceVersion={value}&")
        return text

    def recorded(self, text):
        for recorded, name in self.names.items():
            text = text.replace(name, recorded)
        for recorded, value in self.values.items():
            if UID.fullmatch(recorded):
                text = text.replace(value, recorded)
        return text

    def request(self, what):
        body = what.get("body", "")
        if body == "<4194526 bytes>":
            body = " " * 4194526
        return what["method"], self.here(what["target"]), self.here(body), what.get("type", ""), what.get("accept") or "application/json"

    def tidy(self):
        """Policies are of the whole cluster."""
        for kind in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            for x in self.server.get(POLICIES + kind)["items"]:
                self.server.must("DELETE", f"{POLICIES}{kind}/{x['metadata']['name']}")


def nobody(server, scene):
    """The token of a user without rights, and its name."""
    if "KUBE_NOBODY_TOKEN" in os.environ and server.name == "the real server":
        return os.environ["KUBE_NOBODY_TOKEN"], "nobody"
    account = f"/api/v1/namespaces/{scene.names['rec']}/serviceaccounts"
    server.must("POST", account, {"metadata": {"name": "nobody"}})
    token = server.must("POST", account + "/nobody/token", {"spec": {}})["status"]["token"]
    return token, f"system:serviceaccount:{scene.names['rec']}:nobody"


def answer_to(server, one, number):
    """The status and how the answer differs from the recorded one; empty: it does not."""
    scene = Scene(server, one, number)
    token, user = {"root": (ADMIN, ""), "system:anonymous": (None, "")}.get(one["user"]) or nobody(server, scene)
    request = scene.request(one)
    known = {x for x in scene.values if UID.fullmatch(x)} | set(UID.findall(one["body"]))
    plain = lambda value: comparable(value, lambda uid: uid if uid in known else "<uid>")  # noqa: E731
    try:
        if "watch=true" in one["target"] and one["status"] == 200:
            watch = Watch(server, request[1])
            for x in one.get("while", []):
                server.ask(*scene.request(x))
            told = plain(json.loads(scene.recorded(json.dumps(watch.end()))))
            return watch.got.status, difference(told, plain(one["answer"]))
        if "before" in one:
            settle(server, one, request, token)
        got = server.ask(*request, token=token)
        text = scene.recorded(got.text if not user else got.text.replace(user, "nobody"))
        if got.status != one["status"]:
            return got.status, f"{got.status} {text}"
        if got.warnings != one["warnings"]:
            return got.status, difference(got.warnings, one["warnings"], "warnings")
        if isinstance(one["answer"], str):
            return got.status, difference(text, one["answer"])
        return got.status, difference(plain(json.loads(text)), plain(one["answer"]))
    finally:
        scene.tidy()


def settle(server, one, request, token):
    """A policy binds a moment after it was made: tries without effect until it does."""
    method, target, *rest = request
    dry = target + ("&" if "?" in target else "?") + "dryRun=All"

    def binds():
        got = server.ask(method, dry, *rest, token=token)
        return got.status == one["status"] and got.warnings == one["warnings"]

    try:
        wait_for("the policy binds", binds, 10)
    except AssertionError:
        pass  # the answer will tell


def answers_of(server):
    return {one["case"]: answer_to(server, one, number) for number, one in enumerate(DATA["cases"])}


def user_of_a_tried_token(server):
    """Who shows the token of a TokenRequest that was to have no effect."""
    server.must("POST", "/api/v1/namespaces", {"metadata": {"name": "tried"}})
    accounts = "/api/v1/namespaces/tried/serviceaccounts"
    server.must("POST", accounts, {"metadata": {"name": "robot"}})
    token = server.must("POST", accounts + "/robot/token?dryRun=All", {"spec": {}})["status"]["token"]
    got = server.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", json.dumps(
        {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}), "application/json", token=token)
    return got.json["status"]["userInfo"]["username"]


class EmbeddedCases(unittest.TestCase):
    maxDiff = None

    def test_the_embedded_server_answers_as_recorded(self):
        with EmbeddedServer() as server:
            judged(self, answers_of(server), known_differences("## The recorded answers"))

    def test_a_token_that_was_only_tried_is_good(self):
        with EmbeddedServer() as server:
            self.assertEqual(user_of_a_tried_token(server), "system:serviceaccount:tried:robot")


@unittest.skipUnless("KUBE_SERVER" in os.environ, "there is no real server")
class RealCases(unittest.TestCase):
    maxDiff = None

    def test_the_real_server_answers_as_recorded(self):
        judged(self, answers_of(real_server()), known_differences("## The recordings"))

    def test_a_token_that_was_only_tried_is_good(self):
        self.assertEqual(user_of_a_tried_token(real_server()), "system:serviceaccount:tried:robot")


if __name__ == "__main__":
    unittest.main(verbosity=2)
