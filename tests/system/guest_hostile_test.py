#!/usr/bin/env python3
"""The agent among hostile peers, hostile requests and hostile programs: what is refused, what is bounded, and that it lives on."""
import base64, ctypes, random, resource, socket, stat, subprocess, sys
from guest_client import *
from guest_process import *

ROOT = os.geteuid() == 0
MIB = 1024  # of what `rss` counts


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000


def settled(agent, descriptors, bound=20):
    wait_for(f"descriptors go back to {descriptors}", lambda: agent.descriptors() <= descriptors, bound)
    wait_for("no child is left, nor a zombie", lambda: not agent.children(), bound)


@contextlib.contextmanager
def beside(work):
    """`work(stop)` in a process of its own, until the block ends; `stop()` tells it so. What it returns is put into the list."""
    told, tell = os.pipe()
    back, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(tell)
            os.set_blocking(told, False)

            def stop():
                with contextlib.suppress(BlockingIOError):
                    return os.read(told, 1) == b""
                return False

            os.write(say, repr(work(stop)).encode())
        finally:
            os._exit(0)
    os.close(told)
    os.close(say)
    said = []
    try:
        yield said
    finally:
        os.close(tell)
        with os.fdopen(back, "rb") as f:
            said.append(f.read().decode())
        os.waitpid(pid, 0)


def strangers(address, many, stop):
    """`many` connections that never close by themselves; whom the agent puts out is replaced. Returns how many came in all."""
    seed = random.Random(4)
    came, ring = 0, []
    while came < many or not stop():
        if len(ring) >= many:
            ring.pop(0).close()
        peer = socket.socket()
        peer.setblocking(False)
        with contextlib.suppress(BlockingIOError, ConnectionError, OSError):
            peer.connect_ex(address)
            kind = came % 4
            if kind == 1:  # slow: a byte now, others when others come
                peer.send(b"0")
            elif kind == 2:
                peer.send(seed.randbytes(200))
            elif kind == 3:  # half a frame, as large as they get
                peer.send(b"00800000\n" + b"[" * 60000)
        for slow in ring[-50:-1:16]:
            with contextlib.suppress(OSError):
                slow.send(b"0")
        ring.append(peer)
        came += 1
    for peer in ring:
        peer.close()
    return came


class Strangers(SystemTest):
    def measure(self, agent, seconds):
        """How long each call took, and the most memory and descriptors that were seen meanwhile."""
        took, memory, held, end = [], 0, 0, time.monotonic() + seconds
        while len(took) < 20 or time.monotonic() < end:
            start = time.monotonic()
            self.assertEqual(agent.guest.execute("/bin/true")[2]["exitCode"], 0)
            took.append(time.monotonic() - start)
            memory, held = max(memory, agent.rss()), max(held, agent.descriptors())
        return took, memory, held

    def test_two_thousand_strangers_and_one_caller(self):
        with Agent() as agent:
            alone, memory, _ = self.measure(agent, 1)
            descriptors = agent.descriptors()
            with beside(lambda stop: strangers(agent.address, 2000, stop)) as said:
                among, most, held = self.measure(agent, 4)
            print(f"\n  exec alone p50 {percentile(alone, .5):.1f} ms p99 {percentile(alone, .99):.1f} ms; among {said[0]} strangers p50 "
                  f"{percentile(among, .5):.1f} ms p99 {percentile(among, .99):.1f} ms max {max(among) * 1000:.1f} ms ({len(among)} calls); "
                  f"RSS {memory} KiB, then at most {most} KiB; descriptors {descriptors}, at most {held}", file=sys.stderr)
            self.assertGreaterEqual(int(said[0]), 2000)
            self.assertLessEqual(most - memory, 48 * MIB)
            self.assertLessEqual(held, descriptors + 64 + 16, "the pool, and those on their way out")
            settled(agent, descriptors)
            self.assertNotIn(TOKEN, agent.read_log())

    def test_silence(self):
        """Silent, half a frame, dripping: each has its moment, and none of them a word."""
        with Agent(agent_preauth_idle_timeout_ms=400, agent_preauth_deadline_ms=1000) as agent:
            descriptors = agent.descriptors()
            for name, first, drip, least in (("silent", b"", b"", .4), ("half a frame", b"00001000\n{", b"", .4), ("half a header", b"0000", b"", .4),
                                             ("drip", b"00001000\n", b" ", 1.0)):
                with self.subTest(name), socket.create_connection(agent.address, 20) as peer:
                    start = time.monotonic()
                    peer.sendall(first)
                    peer.settimeout(0.1)
                    got = None
                    while got is None:
                        with contextlib.suppress(TimeoutError):
                            try:
                                got = peer.recv(100)
                                continue
                            except ConnectionError:
                                got = b""
                                continue
                        with contextlib.suppress(ConnectionError):
                            peer.sendall(drip)
                        self.assertLess(time.monotonic() - start, BOUND)
                    self.assertEqual(got, b"")
                    self.assertGreaterEqual(time.monotonic() - start, least - 0.05)
                    self.assertLess(time.monotonic() - start, least + 3)
            settled(agent, descriptors)

    # [G 35] a refused peer that keeps streaming
    def test_a_refused_peer_is_not_listened_to(self):
        with Agent() as agent:
            agent.guest.execute("true")
            descriptors, memory = agent.descriptors(), agent.forget_peak()
            for first in (frame(b'{"op":"read-file","token":"wrong"}'), b"00800001\n"):
                with self.subTest(first), socket.create_connection(agent.address, 20) as peer:
                    peer.sendall(first)
                    sent = 0
                    with self.assertRaises(ConnectionError):
                        while sent < 256 << 20:
                            sent += peer.send(b"x" * 65536)
                    self.assertLess(sent, 64 << 20, "what the kernel holds, and no more")
            self.assertLessEqual(agent.peak() - memory, MIB)
            settled(agent, descriptors)

    def test_the_buffers_of_strangers(self):
        """Sixty who would have a MiB kept for them each: together they get 32."""
        with Agent() as agent, contextlib.ExitStack() as stack:
            agent.guest.execute("true")
            memory, descriptors = agent.rss(), agent.descriptors()
            for _ in range(60):
                peer = stack.enter_context(socket.create_connection(agent.address, 20))
                peer.settimeout(0.2)
                with contextlib.suppress(OSError):
                    peer.sendall(b"00800000\n" + b"[" * (1 << 20))
                self.assertLessEqual(agent.rss() - memory, 48 * MIB)
            self.assertEqual(agent.guest.execute("true")[2]["exitCode"], 0)
            stack.close()
            settled(agent, descriptors)

    def test_descriptors_run_out(self):
        with Agent(limits={resource.RLIMIT_NOFILE: 40}) as agent, contextlib.ExitStack() as stack:
            guest, descriptors = agent.guest, agent.descriptors()
            said = []
            for _ in range(60):
                wire = stack.enter_context(guest.open("execute", {"command": "sleep", "args": ["600"]}))
                with contextlib.suppress(TimeoutError):
                    said.append(wire.next(0.05))
            self.assertEqual(set(said), {b'{"type":"error","error":"spawn sleep EMFILE"}'})
            stack.close()  # the commands go on, and whoever waited in the kernel's queue is served
            wait_for("it serves again", lambda: agent.descriptors() < 40)
            self.assertTrue(guest.health()["ok"])
            guest.quiesce(graceMs=100)
            settled(agent, descriptors)

    def test_resets_in_the_middle(self):
        with Agent() as agent:
            agent.guest.write_file("f", b"x" * 3000000)
            descriptors = agent.descriptors()
            for op, body in (("read-file", {"path": "f"}), ("read-file-stream", {"path": "f"}), ("execute", {"command": "cat", "args": ["f"]}),
                             ("terminal", {"command": "cat", "args": ["f"], "cols": 80, "rows": 24}), ("list-sessions", None)):
                sent = frame(json.dumps(agent.guest.envelope(op, body)).encode())
                for at in (4, 9, len(sent) - 1, len(sent)):
                    with socket.create_connection(agent.address, 20) as peer:
                        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                        peer.sendall(sent[:at])
            settled(agent, descriptors)
            self.assertTrue(agent.guest.health()["ok"])


class Requests(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.agent = Agent().__enter__()
        cls.addClassCleanup(cls.agent.__exit__)
        cls.guest = cls.agent.guest

    def raw(self, payload):
        """Every frame that answers it."""
        with Wire(self.agent.address) as wire:
            with contextlib.suppress(ConnectionError):
                wire.send(payload if isinstance(payload, bytes) else payload.encode())
                return list(iter(lambda: wire.next(20), None))
        return []

    def tearDown(self):
        self.assertTrue(self.guest.health()["ok"])
        self.assertEqual(self.guest.execute("echo", "well")[0], "well\n")

    def refused(self, op, body, within=None):
        frames = self.guest.answer(op, body, bound=20)
        said = parse(frames[0])
        self.assertTrue(said.get("ok") is False or said.get("type") == "error", (op, body, frames[:2]))
        self.assertTrue(said["error"])
        if within:
            self.assertIn(within, said["error"])
        return said

    def test_deep(self):
        memory = self.agent.rss()
        for deep in (b"[" * 4000000, b'{"a":' * 1000000, b"[" * 2000000 + b"]" * 2000000):
            for where in (b'{"op":"healthz","body":%s}', b'{"op":"list-sessions","token":%s}', b'{"op":"list-sessions","token":"' + TOKEN.encode() + b'","x":%s}'):
                frames = self.raw(where % deep)
                self.assertLessEqual(len(frames), 1)
                if frames and b"list-sessions" in where and TOKEN.encode() not in where:
                    self.assertEqual(frames, [b'{"ok":false,"error":"unauthorized"}'])
        print(f"\n  deep JSON: RSS {memory} KiB, then {self.agent.rss()} KiB", file=sys.stderr)
        self.assertLessEqual(self.agent.rss() - memory, 48 * MIB)

    def test_names_twice(self):
        for payload in ('{"op":"healthz","op":"list-sessions"}', '{"op":"list-sessions","op":"healthz"}', '{"op":"list-sessions","token":"x","token":"%s"}' % TOKEN,
                        '{"op":"list-sessions","token":"%s","token":"x"}' % TOKEN):
            frames = self.raw(payload)
            said = parse(frames[0]) if frames else {}
            # Whichever of the two counts, the gate and the dispatcher go by the same one.
            self.assertTrue(not frames or "features" in said or said.get("error") == "unauthorized" or TOKEN in payload and said == {"ok": True, "sessions": []}, frames)

    def test_numbers(self):
        for huge in ("1e999", "-1e999", "1e308", "99999999999999999999999999", "9007199254740992", "-9007199254740993", "1e-400", "0.1e1"):
            for op, field, rest in (("execute", "timeoutMs", '"command":"true"'), ("execute", "maxOutputBytes", '"command":"true"'),
                                    ("read-file", "offset", '"path":"absent","encoding":"base64"'), ("attach-session", "fromOffset", '"sessionId":"none"'),
                                    ("terminal", "cols", '"rows":9,"command":"true"'), ("tcp-connect", "port", '"x":0'), ("quiesce", "graceMs", '"idleOnly":true'),
                                    ("flush", "timeoutMs", '"x":0'), ("write-file", "part", '"path":"x","content":""')):
                value = '{"offset":%s}' % huge if field == "part" else huge
                frames = self.raw('{"op":"%s","token":"%s","body":{"%s":%s,%s}}' % (op, TOKEN, field, value, rest))
                self.assertTrue(all(isinstance(parse(x), dict) for x in frames if x), frames)
        self.assertFalse((self.agent.workspace / "x").exists() and (self.agent.workspace / "x").stat().st_size)

    def test_surrogates_and_bytes_that_are_not_text(self):
        got = self.raw('{"op":"execute","token":"%s","body":{"command":"printf","args":["%%s","a\\ud83d"]}}' % TOKEN)
        self.assertEqual((parse(got[0])["data"], got[-1]), ("a\ufffd", b""), "a lone surrogate is a character that cannot be told")
        got = self.raw(b'{"op":"healthz","x":"\xff\xc3"}')
        self.assertTrue(parse(got[0])["ok"])
        got = self.raw(b'{"op":"list-sessions","token":"%s","x":"\xed\xa0\x80","body":{"\xfe":1}}' % TOKEN.encode())
        self.assertTrue(parse(got[0])["ok"])
        for op in ("read-file", "write-file"):
            self.assertLessEqual(len(self.raw('{"op":"%s","token":"%s","body":{"path":"\\udfff/x","content":""}}' % (op, TOKEN))), 1)
        self.assertEqual(self.guest.execute("printf", "\\377\\303\\050\\355\\240\\200")[0], "\ufffd\ufffd(\ufffd\ufffd\ufffd")

    def test_nul(self):
        self.guest.write_file("a", b"not this")
        before = sorted(os.listdir(self.agent.workspace))
        for op in ("read-file", "read-file-stream"):
            self.refused(op, {"path": "a\0b"})
        self.refused("write-file", {"path": "a\0b", "content": "x", "encoding": "utf8"})
        self.refused("write-file", {"path": "c\0/b", "content": "x", "encoding": "utf8"})
        self.refused("write-file", {"path": ".namzu-write-\0.part", "content": "x", "encoding": "utf8", "part": {"offset": 0, "final": True, "renameTo": "a\0"}})
        for body in ({"command": "true\0x"}, {"command": "echo", "args": ["a\0b"]}, {"command": "true", "cwd": "d\0e"},
                     {"command": "true", "env": {"A": "b\0c"}}):
            self.refused("execute", body)
            self.refused("start-detached", {"sessionId": "nul", **body})
            self.refused("terminal", {"cols": 80, "rows": 24, **body})
        seen = self.guest.execute("env", env={"A\0": "1", "NAME=B": "2", "": "3", "C": "4"})[0].splitlines()
        self.assertIn("C=4", seen)
        self.assertFalse([x for x in seen if x.startswith(("A", "NAME=", "=")) and x[-1] in "123"], "a name that is none names nothing else")
        self.assertEqual(self.guest.read_file("a"), b"not this")
        self.assertEqual(sorted(os.listdir(self.agent.workspace)), before, "nothing under a name that was cut")
        self.assertEqual(self.guest.sessions(), [])

    def test_many_things_at_once(self):
        long = "x" * 300
        self.refused("read-file", {"path": long}, "ENAMETOOLONG")
        self.refused("read-file", {"path": "/".join(["y" * 200] * 40)})
        self.refused("write-file", {"path": long, "content": "", "encoding": "utf8"}, "ENAMETOOLONG")
        self.refused("execute", {"command": "true", "args": ["x" * 200000]}, "E2BIG")
        self.assertEqual(self.guest.execute("printf", "%d", *["1"] * 20000)[0], "1" * 20000)
        self.assertEqual(self.guest.execute("cat", stdin="é" * 2000000)[0], "é" * 2000000)

    def test_stdin_that_nobody_reads(self):
        self.assertEqual(self.guest.execute("true", stdin="x" * 4000000)[2]["exitCode"], 0)
        with self.guest.terminal(command="sleep", args=["600"]) as terminal:
            terminal.wire.socket.settimeout(0.2)
            memory, sent = self.agent.rss(), 0
            one = frame(json.dumps({"type": "input", "data": ("x" * 59 + "\n") * 1000}).encode())  # lines: of what is none the kernel keeps little
            with contextlib.suppress(TimeoutError):
                while sent < 200 << 20:
                    sent += terminal.wire.socket.send(one)
            self.assertLess(sent, 64 << 20, "the agent stops reading what the terminal does not take")
            self.assertLessEqual(self.agent.rss() - memory, 8 * MIB)

    def test_bad_base64(self):
        for bad in ("=", "a", "a===", "AA=A", "\u00e9\u00e9\u00e9\u00e9", "AAAA=AAAA", "\n"):
            frames = self.guest.answer("write-file", {"path": "b64", "content": bad, "encoding": "base64"}, bound=20)
            self.assertEqual(len(frames), 1)


class FileSystem(SystemTest):
    def test_what_is_not_a_file(self):
        with Agent() as agent:
            w = agent.workspace
            os.mkfifo(w / "fifo")
            names = ["fifo", "sock"]
            with socket.socket(socket.AF_UNIX) as peer:
                here = os.getcwd()
                os.chdir(w)
                peer.bind("sock")
                os.chdir(here)
                if ROOT:
                    with contextlib.suppress(PermissionError):
                        os.mknod(w / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
                        names.append("zero")
                os.symlink("/dev/zero", w / "out")
                os.symlink("loop", w / "loop")
                descriptors = agent.descriptors()
                for name in (*names, "out", "loop"):
                    for op in ("read-file", "read-file-stream"):
                        for options in ({}, {"encoding": "base64", "offset": 0, "length": 10}):
                            with self.subTest(name=name, op=op, options=options):
                                start = time.monotonic()
                                frames = agent.guest.answer(op, {"path": name, **options}, bound=5)
                                said = parse(frames[0])
                                self.assertTrue(said.get("ok") is False or said.get("type") == "error", frames[0][:200])
                                self.assertLess(time.monotonic() - start, 5)
                for name in names:
                    with self.subTest(name):
                        for body in ({"path": name + "/below", "content": "x"}, {"path": name, "content": "x", "part": {"offset": 0}}):
                            frames = agent.guest.answer("write-file", {"encoding": "utf8", **body}, bound=5)
                            self.assertIs(parse(frames[0])["ok"], False, (body, frames))
                        with self.assertRaises(Refused):
                            agent.guest.execute("true", cwd=name, timeoutMs=1000)
                settled(agent, descriptors)
            self.assertTrue(agent.guest.health()["ok"])

    def test_links_that_change_while_they_are_used(self):
        with Agent() as agent, tempfile.TemporaryDirectory(prefix="paddock-outside-") as outside:
            w, out = agent.workspace, pathlib.Path(outside)
            (out / "f").write_text("SECRET")
            (out / "sub").mkdir()
            (w / "d").mkdir()
            (w / "d" / "f").write_text("inside")
            (w / "d" / "sub").mkdir()
            os.symlink(out, w / "link")
            descriptors = agent.descriptors()

            exchange = ctypes.CDLL(None, use_errno=True).renameat2

            def swap(stop):
                turns = 0
                while not stop():
                    if exchange(-100, bytes(w / "d"), -100, bytes(w / "link"), 2):  # RENAME_EXCHANGE: `d` is always there, as one or the other
                        return f"errno {ctypes.get_errno()}"
                    turns += 1
                return turns

            seen = {}
            with beside(swap) as said:
                end = time.monotonic() + 2
                while time.monotonic() < end:
                    for op, body in (("read-file", {"path": "d/f"}), ("read-file-stream", {"path": "d/f"}),
                                     ("write-file", {"path": "d/new", "content": "x", "encoding": "utf8"}),
                                     ("write-file", {"path": "d/sub/deep/new", "content": "x", "encoding": "utf8"}),
                                     ("write-file", {"path": "d/.namzu-write-p.part", "content": "x", "encoding": "utf8", "part": {"offset": 0}}),
                                     ("write-file", {"path": ".namzu-write-q.part", "content": "x", "encoding": "utf8",
                                                     "part": {"offset": 0, "final": True, "renameTo": "d/renamed"}})):
                        frames = agent.guest.answer(op, body, bound=20)
                        first = parse(frames[0])
                        self.assertNotIn(b"SECRET", b"".join(frames))
                        self.assertNotIn(base64.b64encode(b"SECRET"), b"".join(frames))
                        kind = "served" if first.get("ok") or first.get("type") == "meta" else first.get("error", "")[:30]
                        seen[kind] = seen.get(kind, 0) + 1
            print(f"\n  {said[0]} swaps: {seen}", file=sys.stderr)
            self.assertGreater(int(said[0]), 50)
            self.assertGreater(seen.get("served", 0), 0)
            self.assertEqual(sorted(os.listdir(out)), ["f", "sub"], "nothing was written outside")
            self.assertEqual(os.listdir(out / "sub"), [])
            settled(agent, descriptors)

    def test_files_larger_than_memory(self):
        with Agent(limits={resource.RLIMIT_AS: 1 << 30}) as agent:
            memory = agent.rss()
            for size, error in ((5 << 30, "EFBIG"), (1200 << 20, "ENOMEM")):
                with open(agent.workspace / "sparse", "wb") as f:
                    f.truncate(size)
                for encoding in ("base64", "utf8"):
                    with self.subTest(size=size, encoding=encoding), self.assertRaises(Refused) as got:
                        agent.guest.request("read-file", {"path": "sparse", "encoding": encoding})
                    self.assertIn(error, got.exception.error)
                self.assertEqual(agent.guest.read_file("sparse", offset=size - 3), b"\0\0\0")
            self.assertLessEqual(agent.rss() - memory, 8 * MIB)

    def test_readers_that_do_not_read(self):
        with Agent(agent_execution_log_bytes=65536) as agent, contextlib.ExitStack() as stack:
            guest, descriptors, memory = agent.guest, agent.descriptors(), agent.rss()
            with open(agent.workspace / "sparse", "wb") as f:
                f.truncate(3 << 30)
            name = guest.reserve()["executionId"]
            body = {"executionId": name, "command": "yes", "retainOutput": True}
            stack.enter_context(guest.open("execute", body))
            wait_for("it runs", lambda: guest.reserve(name)["state"] == "running")
            for _ in range(20):
                stack.enter_context(guest.open("attach-execution", {"executionId": name}))
                stack.enter_context(guest.open("read-file-stream", {"path": "sparse"}))
            wait_for("much has been written", lambda: guest.reserve(name)["outputOffset"] > 300_000)
            most = agent.rss()
            self.assertLessEqual(most - memory, 48 * MIB)
            self.assertEqual(guest.cancel(name)["state"], "cancelled")
            stack.close()
            print(f"\n  41 readers that do not read: RSS {memory} KiB, then {most} KiB", file=sys.stderr)
            settled(agent, descriptors)

    def full_disk(self, agent):
        guest, old = agent.guest, b"o" * (1 << 20)

        def names():
            return sorted(guest.execute("ls", "-A")[0].split())

        def runs_out(what, *arguments):
            with self.assertRaises(Refused) as got:
                what(*arguments)
            self.assertRegex(got.exception.error, r"ENOSPC|EFBIG|^write_short_write: wrote \d+ of \d+|^write_part_short_write: wrote \d+ of \d+")
            return got.exception.error

        guest.write_file("target", old)
        whole_file = runs_out(guest.write_file, "target", b"n" * (4 << 20))
        self.assertEqual(guest.read_file("target"), old)
        self.assertEqual(names(), ["target"])
        guest.write_file(".namzu-write-x.part", b"p" * 500000, {"offset": 0})
        final = {"offset": 500000, "final": True, "renameTo": "target"}
        part = runs_out(guest.write_file, ".namzu-write-x.part", b"p" * (4 << 20), final)
        self.assertEqual(guest.read_file("target"), old, "a part that did not fit is no reason to rename")
        self.assertEqual(names(), [".namzu-write-x.part", "target"])
        guest.write_file(".namzu-write-x.part", b"", {"discard": True})
        guest.write_file("target", b"small again")
        self.assertEqual(guest.read_file("target"), b"small again")
        self.assertTrue(guest.health()["ok"])
        return whole_file, part

    def test_a_full_disk(self):
        probe = subprocess.run(["unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"], capture_output=True) if ROOT else None
        private = probe is not None and probe.returncode == 0
        with Agent(private_disk="2m") if private else Agent(limits={resource.RLIMIT_FSIZE: 2 << 20}) as agent:
            got = self.full_disk(agent)
        print(f"\n  full disk by {'a tmpfs of 2 MiB' if private else 'RLIMIT_FSIZE'}: {got}", file=sys.stderr)

    def test_a_limit_of_file_size(self):
        with Agent(limits={resource.RLIMIT_FSIZE: 2 << 20}) as agent:
            self.full_disk(agent)


# A command, and what has left its session.
ESCAPE = "(setsid sh -c 'echo $$ >escaped; exec sleep 600' </dev/null >/dev/null 2>&1 &) ; echo $$ >leader; exec sleep 600"


class Programs(SystemTest):
    def test_escapees(self):
        with Agent() as agent:
            name = agent.guest.reserve()["executionId"]
            with Stream(agent.guest.open("execute", {"executionId": name, "command": "sh", "args": ["-c", ESCAPE]}), "execute") as stream:
                escaped, leader = pid_in(agent.workspace / "escaped"), pid_in(agent.workspace / "leader")
                self.assertEqual(agent.guest.cancel(name)["state"], "cancelled")
                self.assertFalse(alive(leader))
                self.assertTrue(alive(escaped), "a cancel signals the group, and it has left the group")
                stream.until("result", bound=20)
                stream.end(True)
            self.assertTrue(agent.guest.health()["ok"])
            agent.guest.quiesce(graceMs=100)
            self.assertTrue(alive(escaped), "owned sessions are the scope, and it has its own")
            os.kill(escaped, signal.SIGKILL)

    def test_pipes_that_outlive_or_end_early(self):
        with Agent(agent_cancel_confirm_timeout_ms=2500) as agent:
            guest = agent.guest
            out, _, result = guest.execute("sh", "-c", "(sleep 0.3; echo late) & exit 3")
            self.assertEqual((out, result["exitCode"]), ("late\n", 3), "the end is told when the pipe has ended too")
            start = time.monotonic()
            out, _, result = guest.execute("sh", "-c", "echo out; exec >&- 2>&-; sleep 0.4; exit 4")
            self.assertEqual((out, result["exitCode"]), ("out\n", 4))
            self.assertGreaterEqual(time.monotonic() - start, 0.4, "closed pipes are not an end")
            name = guest.reserve()["executionId"]
            with Stream(guest.open("execute", {"executionId": name, "command": "sh", "args": ["-c", "exec >&- 2>&-; sleep 600"]}), "execute") as stream:
                wait_for("it runs", lambda: guest.reserve(name)["state"] == "running")
                self.assertEqual(guest.cancel(name)["state"], "cancelled")
                self.assertEqual(stream.until("result", bound=20)[-1]["signal"], "SIGTERM")
            self.assertTrue(guest.health()["ok"])
            name = guest.reserve()["executionId"]
            with Stream(guest.open("execute", {"executionId": name, "command": "sh", "args": ["-c", "echo $$ >p; sleep 600 & echo $! >c; exit 0"]}), "execute") as stream:
                leader, child = pid_in(agent.workspace / "p"), pid_in(agent.workspace / "c")
                wait_for("the leader has ended", lambda: guest.reserve(name)["state"] == "exited")
                with self.assertRaises(Refused) as got:
                    guest.cancel(name)
                self.assertEqual(got.exception.error, "cancellation_unconfirmed")
                self.assertTrue(alive(child), "nothing is sent to a group whose leader has been reaped")
                self.assertTrue(guest.health()["retiring"])
                self.assertIsNone(stream.wire.arrived())
                os.kill(child, signal.SIGKILL)

    def test_the_agent_is_killed_in_the_middle(self):
        """The host cannot know what became of the command, and says so. Both take the whole time for a cancellation, so they take it together."""
        with contextlib.ExitStack() as stack:
            hosts = []
            for script in ("echo $$ >pid; exec sleep 600", "echo $$ >pid; echo out; exec sleep 600"):
                agent = stack.enter_context(Agent())
                (agent.root / "token").write_text(TOKEN)
                host = stack.enter_context(subprocess.Popen(
                    [BIN / "paddock", "guest", "--address", "%s:%d" % agent.address, "--token-file", agent.root / "token", "exec", "--", "sh", "-c", script],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
                stack.callback(host.kill)
                pid = pid_in(agent.workspace / "pid")
                stack.callback(lambda pid=pid: alive(pid) and os.kill(pid, signal.SIGKILL))
                if "out" in script:
                    self.assertEqual(host.stdout.readline(), b"out\n")
                agent.process.kill()
                hosts.append(host)
            for host in hosts:
                _, said = host.communicate(timeout=BOUND)
                self.assertEqual(host.returncode, 125, said)
                self.assertRegex(said.decode(), r"^paddock: (RemoteCancellationUnknown|RemoteLost): ")


class Many(SystemTest):
    def test_a_thousand_at_once(self):
        with Agent() as agent:
            guest = agent.guest
            guest.execute("true")
            os.mkfifo(agent.workspace / "gate")
            descriptors, memory = agent.descriptors(), agent.rss()
            start = time.monotonic()
            wires = []
            try:
                for _ in range(1000 // 25):  # a burst is smaller than the pool of those who have not authenticated yet
                    reserving = [guest.open("reserve-execution") for _ in range(25)]
                    for wire in reserving:
                        name = parse(wire.next())["executionId"]
                        wire.over()
                        wire.close()
                        wires.append(guest.open("execute", {"executionId": name, "command": "/bin/cat", "args": ["gate"]}))
                wait_for("a thousand run", lambda: len(agent.children()) == 1000)
                up, most = time.monotonic() - start, agent.rss()
                health = time.monotonic()
                self.assertTrue(guest.health()["ok"])
                health = time.monotonic() - health

                # Nobody opens the FIFO after its writer has left it: each takes its byte's worth of end.
                with open(agent.workspace / "gate", "w"):
                    wait_for("all have opened it", lambda: all(opened(x) for x in agent.children()))
                for wire in wires:
                    stream = Stream(wire, "execute")
                    self.assertEqual(stream.until("result", bound=BOUND)[-1]["exitCode"], 0)
                    stream.end(True)
            finally:
                for wire in wires:
                    wire.close()
            print(f"\n  1,000 at once: up in {up:.1f} s, healthz meanwhile {health * 1000:.1f} ms, all over in {time.monotonic() - start:.1f} s; "
                  f"RSS {memory} KiB, with all {most} KiB, afterwards {agent.rss()} KiB", file=sys.stderr)
            settled(agent, descriptors)
            self.assertLessEqual(most - memory, 48 * MIB)

    def test_thousands_in_a_row(self):
        """10,000 where PADDOCK_TEST_LONG is set or 12 s hold them; else as many as those hold, and 300 at least."""
        long = bool(os.environ.get("PADDOCK_TEST_LONG"))
        with Agent(agent_max_tracked_executions=64) as agent:
            for _ in range(200):  # more than there are records, so that every place has been used
                agent.guest.execute("/bin/true")
            descriptors, memory = agent.descriptors(), agent.rss()
            start, count = time.monotonic(), 0
            while count < 10000 and (long or count < 300 or time.monotonic() - start < 12):
                self.assertEqual(agent.guest.execute("/bin/true")[2]["exitCode"], 0)
                count += 1
            print(f"\n  {count:,} in a row in {time.monotonic() - start:.1f} s; RSS {memory} KiB, then {agent.rss()} KiB", file=sys.stderr)
            settled(agent, descriptors)
            self.assertLessEqual(agent.rss() - memory, 2 * MIB)


def opened(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return any(os.readlink(f"/proc/{pid}/fd/{x}").endswith("/gate") for x in os.listdir(f"/proc/{pid}/fd"))
    return True


if __name__ == "__main__":
    main()
