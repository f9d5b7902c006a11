#!/usr/bin/env python3
"""What the real controllers of agent-sandbox were seen to do (agents.json), told again to ours: before the embedded server and, under
`realcluster/up`, before a real one with its controller manager. The test is the kubelet; there is no scheduler."""
import datetime

from live import *

STORIES = json.loads((HERE / "agents.json").read_text())
BOUND = 60  # a real garbage collector looks for new kinds every 30 s
OURS = "sandbox,sandboxclaim,sandboxwarmpool,sandboxtemplate"
# What else a cluster has, but for the scheduler.
MANAGERS = "garbagecollector,pvc-protection,namespace,serviceaccount"


def name_hash(name):
    """FNV-1a in eight digits."""
    out = 0x811C9DC5
    for byte in name.encode():
        out = (out ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{out:08x}"


def at(value, pointer):
    for key in pointer.split("/")[1:]:
        if isinstance(value, list):
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def without_managers(x):
    """Our controllers make other writes of it."""
    if isinstance(x, dict):
        return {k: without_managers(v) for k, v in x.items() if k != "managedFields"}
    return [without_managers(y) for y in x] if isinstance(x, list) else x


class Uids:
    """Calls uids by the order in which they are met, so that the same objects are called the same."""

    def __init__(self, met=()):
        self.met = list(met)

    def __call__(self, uid):
        if uid not in self.met:
            self.met.append(uid)
        return f"<uid {self.met.index(uid)}>"


def in_order(value):
    return json.loads(json.dumps(value, sort_keys=True))


class Story:
    """One story, in a namespace of its own."""

    def __init__(self, server, space):
        self.server = server
        self.space = space
        self.names = {}  # of generated objects: as recorded -> as they are called here
        self.wanted_uids, self.seen_uids = Uids(), Uids()
        self.deleted = {}
        self.differences = {}
        server.must("POST", "/api/v1/namespaces", {"metadata": {"name": space}})

    def words(self):
        for recorded, name in self.names.items():
            yield recorded, name
            yield name_hash(recorded), name_hash(name)

    def here(self, text):
        for recorded, name in self.words():
            text = text.replace(recorded, name)
        later = lambda found: (datetime.datetime.now(datetime.timezone.utc)  # noqa: E731
                               + datetime.timedelta(seconds=int(found[1]))).strftime("%Y-%m-%dT%H:%M:%SZ")
        text = re.sub(r'"namespace": ?"rec"', f'"namespace":"{self.space}"', text.replace("/namespaces/rec/", f"/namespaces/{self.space}/"))
        return re.sub(r"<in (\d+) s>", later, text)

    def recorded(self, value):
        text = json.dumps(value).replace(self.space, "rec")
        for recorded, name in self.words():
            text = text.replace(name, recorded)
        return json.loads(text)

    def get(self, path):
        return self.server.get(self.here(path))

    def compare(self, seen, wanted):
        """How they differ. If they do not, the uids of both are met."""
        wanted_uids, seen_uids = Uids(self.wanted_uids.met), Uids(self.seen_uids.met)
        left = comparable(in_order(without_managers(self.recorded(seen))), seen_uids)
        right = comparable(in_order(wanted), wanted_uids)
        lines = difference(left, right)
        if not lines:
            self.wanted_uids, self.seen_uids = wanted_uids, seen_uids
        return lines

    def note(self, step, difference):
        # The first one of a case counts.
        if "case" in step and not self.differences.get(step["case"]):
            self.differences[step["case"]] = difference

    # -- steps ------------------------------------------------------------------------------------------------------------

    def tell(self, steps, known):
        for step in steps:
            kind = next(x for x in ("ask", "comes", "until", "another", "of", "in", "counts") if x in step)
            getattr(self, {"of": "name_member", "in": "name_found"}.get(kind, kind))(step, known)

    def ask(self, step, _):
        path, body = self.here(step["path"]), self.here(json.dumps(step["body"])) if "body" in step else ""
        if step["ask"] == "DELETE":
            self.deleted[step["path"]] = at(self.server.get(path), "/metadata/uid")
        got = self.server.ask(step["ask"], path, body, step.get("type", ""))
        if "answer" in step:
            told = f"{got.status} {got.text}" if got.status != step["status"] else self.compare(got.json, step["answer"])
            self.note(step, told)
        elif got.status >= 300:
            raise AssertionError(f"{step['ask']} {path}: {got.status} {got.text}")

    def comes(self, step, known):
        seen = []

        def there():
            seen[:] = [self.compare([self.get(x) for x in step["comes"]], list(step["comes"].values()))]
            return not seen[0]

        try:
            wait_for(step["case"], there, 2 if step["case"] in known else BOUND)
        except AssertionError:
            pass  # the last difference tells
        self.note(step, seen[0])

    def until(self, step, _):
        wait_for(f"{step['until']}{step['at']} is {step['is']}", lambda: at(self.get(step["until"]), step["at"]) == step["is"], BOUND)

    def another(self, step, _):
        wait_for(f"another {step['another']}", lambda: at(self.get(step["another"]), "/metadata/uid") not in (None, self.deleted[step["another"]]), BOUND)

    def members(self, pool):
        boxes = self.server.get(f"/apis/agents.x-k8s.io/v1beta1/namespaces/{self.space}/sandboxes")["items"]
        return [x["metadata"]["name"] for x in boxes if any(o["name"] == pool for o in x["metadata"].get("ownerReferences", []))]

    def name_member(self, step, _):
        self.names[step["name"]] = self.members(step["of"])[step["nth"]]

    def name_found(self, step, _):
        found = []
        wait_for(f"a name in {step['in']}", lambda: found.append(at(self.get(step["in"]), step["at"])) or found[-1], BOUND)
        self.names = {step["name"]: found[-1]}

    def counts(self, step, _):
        wait_for(f"{step['is']} members", lambda: len(self.members(step["counts"])) == step["is"], BOUND)


class Controllers:
    """Ours, for a server. A context manager."""

    def __init__(self, kubeconfig, names):
        self.process = subprocess.Popen([BIN / "paddock-cluster", "controllers", "--quiet", "--kubeconfig", kubeconfig, "--run", names],
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError("the controllers do not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()


def answers_of(server, known):
    answers = {}
    for name, steps in STORIES.items():
        story = Story(server, f"story-{name}")
        try:
            story.tell(steps, known)
        except AssertionError as why:
            raise AssertionError(f"{name}: {why}; until then: { {k: v for k, v in story.differences.items() if v} }")
        answers.update({case: (None, difference) for case, difference in story.differences.items()})
    return answers


class BeforeOurServer(unittest.TestCase):
    maxDiff = None

    def test_our_controllers_do_what_the_real_ones_did(self):
        known = known_differences("## The controllers of agent-sandbox")
        with EmbeddedServer() as server, Controllers(server.kubeconfig, f"{OURS},{MANAGERS}"):
            judged(self, answers_of(server, known), known)


@unittest.skipUnless("KUBE_SERVER" in os.environ, "there is no real server")
class BeforeARealServer(unittest.TestCase):
    maxDiff = None

    def test_our_controllers_do_what_the_real_ones_did(self):
        known = known_differences("## The controllers of agent-sandbox")
        with Controllers(os.environ["KUBECONFIG"], OURS):
            judged(self, answers_of(real_server(), known), known)


if __name__ == "__main__":
    unittest.main(verbosity=2)
