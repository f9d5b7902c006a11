#!/usr/bin/env python3
"""Two rival hosts on one cluster: takeover, foreign suspends, two verbs at once, and one host killed at every request of every verb. Run it
alone, and the cluster is ours; by `realcluster/up --agent-sandbox -- this`, and the API server is a real one."""
import concurrent.futures, http.client, itertools, ssl, threading, urllib.parse

from clusters import *
from counting_proxy import CountingProxy
from real_api import api

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guarantees.md"
EARLIER, FIRST, SECOND = 0, 1 << 30, 1 << 40  # epoch bases: whoever comes later has the higher one
CONTENT = bytes(range(256)) * 64


class PodHistory(threading.Thread):
    """Everything that happened to pods, by a watch from before the first. A disk that two live pods name at once is an offence."""

    def __init__(self):
        super().__init__(daemon=True)
        self.live, self.offences, self.ended, self.over = {}, [], None, False
        server = urllib.parse.urlsplit(os.environ["KUBE_SERVER"])
        self.connection = http.client.HTTPSConnection(server.hostname, server.port, context=ssl.create_default_context(cafile=os.environ["KUBE_CA"]))
        version = api("GET", f"{CORE}/pods")["metadata"]["resourceVersion"]
        self.connection.request("GET", f"{CORE}/pods?watch=1&timeoutSeconds=3000&resourceVersion={version}",
                                headers={"Authorization": "Bearer " + os.environ["KUBE_TOKEN"]})
        self.answer = self.connection.getresponse()
        self.start()

    def run(self):
        try:
            for line in self.answer:
                self.see(json.loads(line))
        except Exception as why:  # noqa: BLE001 - the test reports it, unless it ended the watch itself
            self.ended = why
        self.over = True

    def of(self, name):
        """The users of each disk of the workspaces of a test."""
        return [users for disk, users in list(self.live.items()) if f"{disk}-".startswith(f"workspace-namzu-ws-{name}-")]

    def see(self, event):
        pod = event["object"]
        if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
            raise AssertionError(event)
        ended = event["type"] == "DELETED" or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        for disk in {x["persistentVolumeClaim"]["claimName"] for x in pod["spec"].get("volumes", []) if "persistentVolumeClaim" in x}:
            users = self.live.setdefault(disk, {})
            users.pop(pod["metadata"]["uid"], None)
            if not ended:
                users[pod["metadata"]["uid"]] = pod["metadata"]["name"]
            if len(users) > 1:
                self.offences.append((disk, dict(users)))


class Verb:
    """One verb of the first host: what stands before it, how it is said, and what undoes it. Of what stands, a file was acknowledged."""

    def __init__(self, title, words, opposite, *before):
        self.title, self.words, self.opposite, self.before = title, words, opposite, before

    def removes(self):
        return self.words[0] == "rm"


VERBS = [Verb("`open`, nothing stands", ["open"], "suspend"),
         Verb("`open`, it runs", ["open"], "suspend", ("earlier", "open")),
         Verb("`open`, it is suspended", ["open"], "suspend", ("earlier", "open"), ("earlier", "suspend")),
         Verb("`suspend`", ["suspend"], "open", ("first", "open")),
         Verb("`resume`", ["resume"], "suspend", ("first", "open"), ("first", "suspend")),
         Verb("`rm --delete-disk`", ["rm", "--delete-disk"], "open", ("first", "open"))]


class TwoHosts(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.enter_context(real_cluster() if "KUBE_SERVER" in os.environ else embedded_cluster())
        cls.numbers = itertools.count()
        cls.pods = PodHistory()
        cls.earlier = cls.stack.enter_context(cls.host(EARLIER))
        cls.second = cls.stack.enter_context(cls.host(SECOND))

    @staticmethod
    def host(epoch_base, proxy=None):
        """A node beside the cluster, or beside the proxy that stands before it."""
        return host(proxy and proxy.kubeconfig, epoch_base=epoch_base, ready_poll_interval="200ms")

    def setUp(self):
        self.name = f"desk-{next(self.numbers)}"

    def tearDown(self):
        # All that a test opens it removes: once its pods have gone the watch has told the whole of its history.
        wait_for("the watch has seen the last pod", lambda: self.pods.over or not any(self.pods.of(self.name)))
        self.assertFalse(self.pods.over, self.pods.ended)
        self.assertTrue(self.pods.of(self.name), "no pod of the test has named a disk")
        self.assertEqual(self.pods.offences, [])

    # -- what the cluster holds ------------------------------------------------------------------

    def sandbox(self, name):
        return api("GET", f"{AGENTS}/sandboxes/namzu-ws-{name}")

    def disk(self, name):
        """The uid of the claim, None for none."""
        claim = api("GET", f"{CORE}/persistentvolumeclaims/workspace-namzu-ws-{name}")
        return claim and claim["metadata"]["uid"]

    def stored_epoch(self, name):
        return int(self.sandbox(name)["metadata"]["annotations"]["sandbox.namzu.ai/holder-epoch"])

    def open_with_file(self, host, name):
        self.good(host.run("open", name))
        self.good(host.run("cp", "-", f"{name}:kept", input=CONTENT))

    # -- both alive ------------------------------------------------------------------------------

    def test_who_is_overtaken_is_refused_at_its_next_write_and_nothing_else_changes(self):
        name = self.name
        with CountingProxy() as proxy, self.host(FIRST, proxy) as first:
            self.open_with_file(first, name)
            before, disk = self.sandbox(name), self.disk(name)
            self.assertEqual(self.good(self.second.run("open", name)), b"adopted-running\n")
            taken = self.sandbox(name)
            self.assertEqual(taken["spec"], before["spec"])
            self.assertGreaterEqual(self.stored_epoch(name), SECOND)
            for words in (["suspend", name], ["rm", name, "--delete-disk"], ["open", name], ["resume", name]):
                proxy.arm()
                self.refused(first.run(*words), 6, "WorkspacePrecondition")
                self.assertFalse([x for x in proxy.requests if not x.startswith("GET ")], proxy.requests)
            self.assertEqual(self.sandbox(name)["metadata"]["resourceVersion"], taken["metadata"]["resourceVersion"])
            # Reading needs no hold: the session of the first is still good.
            self.assertEqual(self.good(first.run("cat", f"{name}:kept")), CONTENT)
            self.assertEqual(self.good(self.second.run("cat", f"{name}:kept")), CONTENT)
            self.good(self.second.run("suspend", name))
            self.assertGreaterEqual(self.stored_epoch(name), SECOND)
            self.assertEqual(self.disk(name), disk)
            self.good(self.second.run("rm", name, "--delete-disk"))

    def test_a_suspend_of_the_other_host_is_seen(self):
        name = self.name
        with self.host(FIRST) as first:
            self.open_with_file(first, name)
            running = first.start("exec", name, "--", "sh", "-c", "echo on; exec sleep 1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(running.stdout.readline(), b"on\n")
            disk = self.disk(name)
            self.good(self.second.run("open", name))
            self.good(self.second.run("suspend", name))
            running.communicate(timeout=BOUND)
            self.assertNotEqual(running.returncode, 0)
            got = first.run("cat", f"{name}:kept")
            self.assertTrue(got.stderr.startswith(b"paddock: WorkspaceSuspended: "), got)
            self.assertEqual(first.json("get", name)["operatingMode"], "Suspended")
            self.refused(first.run("resume", name), 6, "WorkspacePrecondition")
            self.assertEqual(self.sandbox(name)["spec"]["operatingMode"], "Suspended")
            self.assertEqual(self.good(self.second.run("resume", name)), b"resumed\n")
            self.assertEqual(self.good(self.second.run("cat", f"{name}:kept")), CONTENT)
            self.assertEqual(self.disk(name), disk)
            self.good(self.second.run("rm", name, "--delete-disk"))

    def test_both_resume_at_once(self):
        with self.host(FIRST) as first:
            for round in range(5):
                name = f"{self.name}-{round}"
                self.open_with_file(first, name)
                self.good(first.run("suspend", name))
                disk = self.disk(name)
                hosts = (first, self.second) if round % 2 else (self.second, first)
                running = [x.start("resume", name, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for x in hosts]
                ends = {host: (client.communicate(timeout=BOUND), client.returncode) for host, client in zip(hosts, running)}
                # The later host has it; the earlier one was before it, or is told by name.
                self.assertEqual(ends[self.second][1], 0, ends)
                (_, err), code = ends[first]
                if code != 0:
                    self.assertEqual(code, 6, ends)
                    self.assertTrue(err.startswith(b"paddock: WorkspacePrecondition: "), err)
                self.assertGreaterEqual(self.stored_epoch(name), SECOND)
                self.assertEqual(self.sandbox(name)["spec"]["operatingMode"], "Running")
                self.assertEqual(self.good(self.second.run("cat", f"{name}:kept")), CONTENT)
                self.assertEqual(self.disk(name), disk)
                self.good(self.second.run("rm", name, "--delete-disk"))

    def test_the_lower_epoch_survives_and_is_told_what_to_do(self):
        name = self.name
        with self.host(FIRST) as first:
            self.open_with_file(first, name)
            with self.host(SECOND) as other:
                self.good(other.run("open", name))
                other.process.kill()
            for words in (["suspend", name], ["rm", name, "--delete-disk"]):
                self.refused(first.run(*words), 6, "WorkspacePrecondition")
            self.assertEqual(self.sandbox(name)["spec"]["operatingMode"], "Running")
        # What the refusal says: the same host with a higher epoch base takes over.
        with self.host(SECOND + 1) as again:
            self.assertEqual(self.good(again.run("cat", f"{name}:kept")), CONTENT)
            self.good(again.run("suspend", name))
            self.good(again.run("rm", name, "--delete-disk"))

    # -- one dies --------------------------------------------------------------------------------

    def test_a_host_that_dies_at_any_request_of_any_verb(self):
        answers = [(verb, words) for verb in VERBS for words in (verb.words, [verb.opposite])]
        with concurrent.futures.ThreadPoolExecutor(len(VERBS)) as workers:
            columns = list(workers.map(lambda x: self.die_everywhere(*x), answers))
        table = []
        for verb, same, opposite in zip(VERBS, columns[::2], columns[1::2]):
            self.assertEqual({x: stands for x, (stands, _) in same.items()}, {x: stands for x, (stands, _) in opposite.items()}, verb.title)
            table += [[verb.title, point, stands, answer, opposite[point][1]] for point, (stands, answer) in same.items()]
        self.assertEqual(written_table(), table_text(table), "docs/guarantees.md must say:\n" + "\n".join(table_text(table)))

    def die_everywhere(self, verb, words):
        """Point of death -> what stands and what `words` are answered, in the order of the requests. Deaths that leave the same behind must
        be found and answered alike."""
        rows = {}

        def die(n, applied):
            requests, point, *row = self.die_at(verb, n, applied, words)
            self.assertEqual(rows.setdefault(point, row), row, (verb.title, point))
            return requests

        for n in itertools.count():
            requests = die(n, False)
            if len(requests) <= n:
                return rows
            if not requests[n].startswith("GET "):
                die(n, True)

    def die_at(self, verb, n, applied, words):
        """Kills the first host at request `n` of the verb, or at its end when there are fewer, and has the second say `words`."""
        name = f"{self.name}-{next(self.numbers)}"
        with CountingProxy() as proxy, self.host(FIRST, proxy) as first:
            for who, word in verb.before:
                host = first if who == "first" else self.earlier
                self.open_with_file(host, name) if word == "open" else self.good(host.run(word, name))
            before, disk = self.sandbox(name), self.disk(name)
            proxy.arm(n, applied, lambda: (first.process.kill(), first.process.wait()))
            got = first.run(verb.words[0], name, *verb.words[1:])
            requests, point = proxy.requests, proxy.point()
            if point == "once it is answered":
                self.good(got)
                first.process.kill()
            else:
                self.refused(got, 4, "OutcomeUnknown")
        found = self.sandbox(name)
        stands = found["spec"]["operatingMode"] if found else "nothing"
        kept = before and not (verb.removes() and found is None)
        if kept:
            self.assertEqual((found["metadata"]["uid"], self.disk(name)), (before["metadata"]["uid"], disk))
        answer = self.answer(name, words)
        if words[0] != "rm":
            self.good(self.second.run("open", name))
            content = self.second.run("cat", f"{name}:kept")
            if kept:
                self.assertEqual(self.good(content), CONTENT)
                self.assertEqual((self.sandbox(name)["metadata"]["uid"], self.disk(name)), (before["metadata"]["uid"], disk))
            else:
                self.assertEqual(content.returncode, 5, content)
                self.assertNotEqual(self.disk(name), disk)
            self.good(self.second.run("rm", name, "--delete-disk"))
        wait_for(f"{name} and its disk are gone", lambda: self.sandbox(name) is None and self.disk(name) is None)
        return requests, point, stands, answer

    def answer(self, name, words):
        """What the survivor is told. A refusal has a name, and the second try is good or says that there is nothing."""
        got = self.second.run(words[0], name, *words[1:])
        if got.returncode == 0:
            return got.stdout.decode().strip()
        reason = re.match(r"paddock: ([A-Z]\w+): ", got.stderr.decode())[1]
        if reason == "AlreadyGone":
            return reason
        return f"{reason}, then " + self.good(self.second.run(words[0], name, *words[1:])).decode().strip()


# -- the table -----------------------------------------------------------------------------------

HEAD = ["The first host's verb", "It is killed", "What stands", "The second host, same verb", "The second host, opposite verb"]


def table_text(rows):
    return ["| " + " | ".join(x) + " |" for x in [HEAD, ["---"] * len(HEAD), *rows]]


def written_table():
    lines = DOCS.read_text().splitlines()
    return list(itertools.takewhile(lambda x: x.startswith("|"), lines[lines.index(table_text([])[0]):]))


if __name__ == "__main__":
    main()
