#!/usr/bin/env python3
"""paddock-cluster --data-dir is killed again and again while clients write. PADDOCK_KILLS says how often (15); the figures are printed."""
import base64, http.client, random, re, ssl, threading

from harness import *

KILLS = int(os.environ.get("PADDOCK_KILLS", "15"))
WRITERS = 8
MAPS = "/api/v1/namespaces/default/configmaps"


class Cluster:
    """One paddock-cluster on a folder. A context manager."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __enter__(self):
        self.process = subprocess.Popen([BIN / "paddock-cluster", "--quiet", "--data-dir", self.folder], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode().split()
        if not line:
            raise AssertionError(self.process.stderr.read().decode())
        config = pathlib.Path(line[1]).read_text()
        self.host, self.port = re.search(r"https://([^:/]+):(\d+)", line[2]).groups()
        self.token = re.search(r'token: "([^"]+)"', config).group(1)
        authority = base64.b64decode(re.search(r'certificate-authority-data: "([^"]+)"', config).group(1)).decode()
        self.context = ssl.create_default_context(cadata=authority)
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.process.terminate()
            self.end()

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        self.process.wait(15)
        self.process.stdout.close()
        self.process.stderr.close()

    def connect(self):
        return http.client.HTTPSConnection(self.host, int(self.port), timeout=10, context=self.context)

    def call(self, method, path, body=None, connection=None, kind="application/json"):
        """Status and object. An answer that did not come is an OSError or HTTPException."""
        own = connection or self.connect()
        try:
            own.request(method, path, None if body is None else json.dumps(body), {"Authorization": "Bearer " + self.token, "Content-Type": kind})
            answer = own.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            if connection is None:
                own.close()


class Writer(threading.Thread):
    """Makes, changes and removes objects of its own. `known[name]` is the last acknowledged state (a number, None: gone), `asked[name]` what
    was asked and not answered when the server died."""

    def __init__(self, number, seed):
        super().__init__(daemon=True)
        self.number, self.random = number, random.Random(seed)
        self.known, self.version, self.writes = {}, 0, 0
        self.asked, self.wrong = {}, None

    def body(self, name, n):
        # Two members that one write sets together, and some weight.
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": str(n), "b": str(n), "fill": "x" * self.random.randrange(2000)}}

    def work(self, cluster):
        connection = cluster.connect()
        try:
            while True:
                name = f"w{self.number}-{self.random.randrange(40)}"
                now = self.known.get(name)
                if now is None:
                    step = ("POST", MAPS, self.body(name, 0), 0)
                elif self.random.random() < 0.1:
                    step = ("DELETE", f"{MAPS}/{name}", None, None)
                else:
                    step = ("PATCH", f"{MAPS}/{name}", {"data": self.body(name, now + 1)["data"]}, now + 1)
                self.asked = {name: step[3]}
                kind = "application/merge-patch+json" if step[0] == "PATCH" else "application/json"
                status, answer = cluster.call(*step[:3], connection, kind)
                if status not in (200, 201):
                    self.wrong = (step, status, answer)
                    return
                self.asked = {}
                self.known[name] = step[3]
                self.writes += 1
                if step[0] != "DELETE":
                    version = int(answer["metadata"]["resourceVersion"])
                    if version <= self.version:
                        self.wrong = (step, "an older resourceVersion", self.version, version)
                        return
                    self.version = version
        except (OSError, http.client.HTTPException):
            return  # it was killed
        finally:
            connection.close()


class Durability(SystemTest):
    def test_kill_9_under_load_loses_nothing_that_was_acknowledged(self):
        seed = random.randrange(1 << 30)
        print(f"seed {seed}", file=sys.stderr)
        chance = random.Random(seed)
        writers = [Writer(i, chance.random()) for i in range(WRITERS)]
        resumed = compacted = 0
        last = 0
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            for round in range(KILLS + 1):
                cluster = Cluster(folder).__enter__()
                try:
                    now = self.check(cluster, writers, last)
                    if last:
                        if self.watch_resumes(cluster, last):
                            resumed += 1
                        else:
                            compacted += 1
                    # What it lists now it keeps: from there a watch always goes on.
                    self.assertTrue(self.watch_resumes(cluster, now), now)
                    last = now
                    if round == KILLS:
                        break
                    threads = [threading.Thread(target=x.work, args=(cluster,), daemon=True) for x in writers]
                    for x in threads:
                        x.start()
                    time.sleep(chance.uniform(0.02, 0.4))  # how long it lives is the test's choice; nothing is waited for
                finally:
                    cluster.kill()
                for x in threads:
                    x.join(20)
                for x in writers:
                    self.assertIsNone(x.wrong)
                last = max([last, *(x.version for x in writers)])
        writes = sum(x.writes for x in writers)
        print(f"{KILLS} kills, {writes} acknowledged writes, none lost; watches: {resumed} resumed, {compacted} answered 410", file=sys.stderr)
        self.assertGreater(writes, KILLS)

    def check(self, cluster, writers, last):
        """Everything is as acknowledged, or as asked where no answer came. The list's version."""
        status, listed = cluster.call("GET", MAPS)
        self.assertEqual(status, 200)
        version = int(listed["metadata"]["resourceVersion"])
        self.assertGreaterEqual(version, last)
        there = {x["metadata"]["name"]: x for x in listed["items"] if not x["metadata"]["name"].startswith("mark-")}
        for x in there.values():
            self.assertEqual(x["data"]["a"], x["data"]["b"])
            self.assertLessEqual(int(x["metadata"]["resourceVersion"]), version)
        for writer in writers:
            for name in {*writer.known, *writer.asked}:
                got = int(there[name]["data"]["a"]) if name in there else None
                allowed = [writer.known.get(name)] + ([writer.asked[name]] if name in writer.asked else [])
                self.assertIn(got, allowed, name)
                writer.known[name] = got
            writer.asked = {}
            writer.version = max(writer.version, version)
        return version

    def watch_resumes(self, cluster, version):
        """True: the watch went on from `version` and heard the next write. False: 410. Anything else is a failure."""
        connection = cluster.connect()
        try:
            connection.request("GET", f"{MAPS}?watch=1&resourceVersion={version}&timeoutSeconds=20", headers={"Authorization": "Bearer " + cluster.token})
            answer = connection.getresponse()
            if answer.status == 410:
                return False
            self.assertEqual(answer.status, 200)
            status, made = cluster.call("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "mark-"}})
            self.assertEqual(status, 201)
            seen = version
            while True:
                event = json.loads(answer.readline())
                if event["type"] == "ERROR":
                    self.assertEqual(event["object"]["code"], 410)
                    return False
                now = int(event["object"]["metadata"]["resourceVersion"])
                self.assertGreater(now, seen)
                seen = now
                if event["object"]["metadata"]["name"] == made["metadata"]["name"]:
                    return True
        finally:
            connection.close()

    def refused(self, folder):
        got = subprocess.run([BIN / "paddock-cluster", "--quiet", "--data-dir", folder], capture_output=True, timeout=30)
        self.assertEqual(got.returncode, 1, got)
        self.assertEqual(got.stderr.count(b"\n"), 1, got)
        return got.stderr.decode()

    def test_a_second_process_on_the_folder_is_refused_by_name(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            with Cluster(folder) as first:
                said = self.refused(folder)
                self.assertIn(folder, said)
                self.assertIn(f"another cluster runs on it (process {first.process.pid})", said)
                self.assertEqual(first.call("GET", MAPS)[0], 200)

    def filled(self, folder):
        with Cluster(folder) as cluster:
            for i in range(50):
                body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{i}"}, "data": {"text": f"precious {i} " * 100}}
                self.assertEqual(cluster.call("POST", MAPS, body)[0], 201)
        return pathlib.Path(folder) / "objects.db"

    def test_a_damaged_file_is_refused_and_left_as_it_is(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            file = self.filled(folder)
            whole = file.read_bytes()
            self.assertGreater(len(whole), 100_000)
            at = whole.index(b"precious 7 ")
            damages = {"header": b"not a database " * 10 + whole[150:], "cut": whole[:len(whole) // 2 // 4096 * 4096],
                       "one letter of an object": whole[:at] + b"P" + whole[at + 1:], "a page": whole[:8192] + bytes(4096) + whole[12288:]}
            for what, damaged in damages.items():
                with self.subTest(what):
                    file.write_bytes(damaged)
                    said = self.refused(folder)
                    self.assertIn(str(file), said)
                    self.assertIn("put a copy of it in its place, or move it away", said)
                    self.assertEqual(file.read_bytes(), damaged)
            file.write_bytes(whole)
            with Cluster(folder) as cluster:
                self.assertEqual(len([x for x in cluster.call("GET", MAPS)[1]["items"] if x["metadata"]["name"].startswith("m")]), 50)

    def test_disks_without_their_objects_are_not_swept_away(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            file = self.filled(folder)
            disk = pathlib.Path(folder) / "disks" / "some-uid"
            disk.mkdir()
            (disk / "work").write_text("of a year")
            for left in (b"", None):
                file.unlink()
                if left is not None:
                    file.write_bytes(left)
                said = self.refused(folder)
                self.assertIn("disks", said)
                self.assertEqual((disk / "work").read_text(), "of a year")
                file.touch()

    def test_a_pod_that_outlives_a_killed_node_is_ended_and_started_again(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as data:
            with Node(data_dir=data) as node:
                self.good(node.run("open", "desk"))
                self.good(node.run("cp", "-", "desk:a", input=b"kept"))
                before = node.json("identity", "desk")
                # It leaves its group and its session, and clears its environment where it may be found by another trait.
                clear = ["env", "-i"] if os.geteuid() == 0 else []
                stray = node.start("exec", "desk", "--", "setsid", "sh", "-c", f"echo $$; exec {' '.join(clear)} sleep 1000",
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                pid = int(stray.stdout.readline())
                node.process.kill()
                node.process.wait()
                stray.wait(20)
                stray.stdout.close()
                self.assertTrue(alive(pid))
            with Node(data_dir=data) as node:
                self.assertFalse(alive(pid))
                self.assertEqual(wait_for("the guest is back", lambda: node.run("cat", "desk:a").stdout), b"kept")
                after = node.json("identity", "desk")
                self.assertEqual(after["podUid"], before["podUid"])
                self.assertNotEqual(after["guestBootId"], before["guestBootId"])


if __name__ == "__main__":
    main()
