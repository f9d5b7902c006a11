#!/usr/bin/env python3
"""The agent on the wire: the worked examples byte by byte, every op in its good form, every refusal with its shape and its close."""
import base64, concurrent.futures, re, socket, threading
from guest_client import *
from guest_process import *

BOOT = rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
UNKNOWN = "exec_5e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915"
OTHER_BOOT = "c81d40ee-15f7-4b2a-b0a9-2e6d93f1587c"
R_OPS = ("reserve-execution", "cancel-execution", "read-file", "write-file", "start-detached", "list-sessions", "kill-session", "quiesce", "flush",
         "frobnicate")
S_OPS = ("execute", "attach-execution", "attach-session", "read-file-stream")
T_OPS = ("terminal", "tcp-connect")
GOOD_BODIES = {
    "cancel-execution": {"executionId": UNKNOWN}, "read-file": {"path": "f"}, "write-file": {"path": "forbidden", "content": "x"},
    "start-detached": {"sessionId": "forbidden", "command": "true"}, "kill-session": {"sessionId": "forbidden"},
    "execute": {"command": "/bin/sh", "args": ["-c", "touch forbidden"]}, "attach-execution": {"executionId": UNKNOWN},
    "attach-session": {"sessionId": "forbidden"}, "read-file-stream": {"path": "f"},
    "terminal": {"command": "/bin/sh", "args": ["-c", "touch forbidden"], "cols": 80, "rows": 24}, "tcp-connect": {"port": 1}}


def bytes_of(address, sent, bound=20, pieces=None):
    """Every byte that comes back up to the close; a reset is a close too."""
    got = b""
    with socket.create_connection(address, bound) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):
            for at in range(0, len(sent), pieces or max(len(sent), 1)):
                peer.sendall(sent[at:at + pieces] if pieces else sent)
            while more := peer.recv(1 << 16):
                got += more
    return got


def frames_of(got):
    frames = []
    while got:
        size = int(got[:8], 16)
        assert got[8:9] == b"\n" and len(got) >= 9 + size, got[:200]
        frames.append(got[9:9 + size])
        got = got[9 + size:]
    return frames


def shape_of(frames):
    """R, S or T for a refusal, else None; and the refusal itself."""
    first = parse(frames[0]) if frames and frames[0] else {}
    if len(frames) == 1 and first.get("ok") is False and "type" not in first:
        return "R", first
    if first.get("type") == "error" and "ok" not in first and frames[1:] in ([], [b""]):
        return ("S" if len(frames) == 2 else "T"), first
    return None, frames


class WireTest(SystemTest):
    def refuses(self, agent, op, body, shape, error, extra=(), prefix=False, guest=None):
        """One refusal of exactly this shape, with exactly these fields, and then the end of the connection."""
        with self.subTest(op=op, error=error, body=str(body)[:120]):
            frames = (guest or agent.guest).answer(op, body, bound=20)
            got, said = shape_of(frames)
            self.assertEqual(got, shape, frames)
            said_error = said["error"]
            self.assertTrue(said_error.startswith(error) if prefix else said_error == error, said)
            self.assertEqual(set(said), {"ok" if shape == "R" else "type", "error", *extra}, said)
            if "guestBootId" in extra:
                self.assertTrue(boot_id(said["guestBootId"]), said)
            return said

    def refused_by(self, what, *arguments, **options):
        with self.assertRaises(Refused) as got:
            what(*arguments, **options)
        return got.exception


class StrictClient(unittest.TestCase):
    """The client itself, against a peer that says what no guest may say: a check that lets everything pass proves nothing."""

    def told(self, answer, what, linger=False):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def serve():
                peer, _ = server.accept()
                with peer:
                    peer.sendall(answer)
                    peer.shutdown(socket.SHUT_WR) if not linger else None
                    while peer.recv(4096):
                        pass

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                return what(Guest(server.getsockname()))
            finally:
                thread.join(20)

    def test_replies(self):
        good = b'{"ok":true,"sessions":[]}'
        self.assertEqual(self.told(frame(good), Guest.sessions), [])
        for bad in (b"", b"0000", frame(good)[:-1], frame(good) + frame(good), frame(good) + b"000", b"0000001G\n" + good, b"00000019" + good, b"19\n" + good,
                    b"0000001A\n" + b'{"ok":true,"sessions":[] }', frame(b'{"ok":1,"sessions":[]}'), frame(b'{"ok":true}'), frame(b'{"ok":true,"sessions":{}}'),
                    frame(b'{"ok":true,"sessions":[{}]}'), frame(b'{"ok":true,"ok":true,"sessions":[]}'), frame(b'{"ok":true,"sessions":[],"x":NaN}'),
                    frame(b'{"ok":false}'), frame(b"[]"), frame(b"\xff"), frame(b"")):
            with self.subTest(bad), self.assertRaises(ProtocolError):
                self.told(bad, Guest.sessions)
        with self.assertRaises(TimeoutError):  # it keeps the connection open after its reply
            self.told(frame(good), Guest.sessions, linger=True)

    def test_streams(self):
        delta, end = frame(b'{"type":"stdout_delta","data":"x"}'), frame(b"")
        result = frame(b'{"type":"result","exitCode":0,"timedOut":false,"durationMs":1,"stdoutTruncated":false,"stderrTruncated":false}')

        def run(guest):
            return guest.execute("x", reserved=False)

        self.assertEqual(self.told(delta + result + end, run)[0], "x")
        for bad in (delta + end, result + delta + end, result + result + end, result + end + b"0", delta + result, frame(b'{"type":"other"}') + end,
                    frame(result[9:].replace(b'"exitCode":0', b'"exitCode":"0"')) + end, frame(b'{"type":"stdout_delta","data":7}') + result + end):
            with self.subTest(bad), self.assertRaises((ProtocolError, EOFError)):
                self.told(bad, run)
        with self.assertRaises(Refused):
            self.told(frame(b'{"type":"error","error":"x"}') + end, run)
        with self.assertRaises((ProtocolError, EOFError)):
            self.told(frame(b'{"type":"error","error":"x"}'), run)
        meta = frame(b'{"type":"meta","sizeBytes":3,"offset":0,"length":3}')
        for bad in (frame(b'{"type":"data","data":"eA=="}') + meta, meta + meta, meta, b"", meta + frame(b'{"type":"data","data":"eA"}')):
            with self.subTest(bad), self.assertRaises(ProtocolError):
                self.told(bad + frame(b'{"type":"end","bytesSent":0}') + end, lambda guest: guest.read_stream("f"))

        def silent(guest):
            with guest.tcp(1, heartbeatMs=100) as stream:
                stream.event(20)

        with self.assertRaises(ProtocolError):  # silence where a heartbeat was promised
            self.told(frame(b'{"type":"ready","guestBootId":"3f0a9d62-7b1c-4e55-9d3a-61b8c2e47f90","heartbeatMs":100}'),
                      silent, linger=True)


class WorkedExamples(WireTest):
    @classmethod
    def setUpClass(cls):
        cls.agent = Agent().__enter__()
        cls.addClassCleanup(cls.agent.__exit__)

    def test_readiness_probe(self):
        sent = bytes.fromhex("30303030303031300a7b226f70223a226865616c74687a227d")
        self.assertEqual(sent, b'00000010\n{"op":"healthz"}')
        got = bytes_of(self.agent.address, sent)
        example = (b'000000b4\n{"ok":true,"protocolVersion":2,"features":["write-file-parts","execution-attach","stream-heartbeat",'
                   b'"read-file-stream","sessions","quiesce","flush","guest-boot-id","pinned-guest"]}')
        # What the agent can do beyond the example comes after it, in the list and nowhere else.
        more = re.fullmatch(rb'((?:,"[a-z-]+")*)\]\}', got[len(example) - 2:])
        self.assertTrue(more, got)
        self.assertEqual(more[1].split(b",")[1], b'"quiesce-idle-only"')
        self.assertEqual(got, b"%08x" % (0xb4 + len(more[1])) + example[8:-2] + more[1] + b"]}")

    def test_wrong_token(self):
        for sent in (b'{"op":"reserve-execution","token":"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a312"}', b'{"op":"list-sessions"}', b'{"op":"x","token":7}',
                     b'{"op":"terminal","body":{"cols":80,"rows":24},"token":""}', b'{"op":"execute","token":null}', b'[1]', b'"healthz"'):
            with self.subTest(sent):
                self.assertEqual(bytes_of(self.agent.address, frame(sent)), b'00000023\n{"ok":false,"error":"unauthorized"}')

    def reserve(self):
        sent = b'00000049\n{"op":"reserve-execution","token":"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311"}'
        got = bytes_of(self.agent.address, sent)
        self.assertEqual(got[:9], b"000000ad\n")
        found = re.fullmatch(rb'.{9}\{"ok":true,"guestBootId":"(' + BOOT + rb')","protocolVersion":2,"executionId":"(exec_' + BOOT +
                             rb')","leaseExpiresAt":(\d{13})\}', got, re.S)
        self.assertTrue(found, got)
        return found[1], found[2]

    def execute(self, name, script, timeout=5000):
        return frame(b'{"op":"execute","body":{"executionId":"' + name + b'","command":"/bin/sh","args":["-c","' + script +
                     b'"],"timeoutMs":%d},"token":"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311"}' % timeout)

    def test_reservation_and_execution(self):
        boot, name = self.reserve()
        # As the example, with the quotes that the shell wants around a backslash: without them it prints caf303251.
        sent = self.execute(name, rb"printf 'caf\\303\\251'")
        self.assertEqual(sent[:9], b"%08x\n" % (0xcc + 2))
        got = bytes_of(self.agent.address, sent)
        delta = bytes.fromhex("30303030303032360a7b2274797065223a227374646f75745f64656c7461222c2264617461223a22636166c3a9227d")
        self.assertEqual(got[:len(delta)], delta)
        found = re.fullmatch(rb'([0-9a-f]{8})\n(\{"type":"result","exitCode":0,"timedOut":false,"durationMs":(\d+),"stdoutTruncated":false,'
                             rb'"stderrTruncated":false\})00000000\n', got[len(delta):])
        self.assertTrue(found, got)
        self.assertEqual(int(found[1], 16), len(found[2]))
        self.assertEqual(int(found[1], 16) - len(found[3]), 0x6e - 1)

    def test_cancellation(self):
        boot, name = self.reserve()
        with socket.create_connection(self.agent.address, 20) as running:
            running.sendall(self.execute(name, b"echo up; exec sleep 30", 60000))
            head = b'00000025\n{"type":"stdout_delta","data":"up\\n"}'
            self.assertEqual(running.recv(len(head), socket.MSG_WAITALL), head)
            sent = (b'0000008b\n{"op":"cancel-execution","body":{"executionId":"' + name + b'"},"token":"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311"}')
            got = bytes_of(self.agent.address, sent)
            found = re.fullmatch(rb'([0-9a-f]{8})\n(\{"ok":true,"guestBootId":"' + boot + rb'","state":"cancelled","started":true,"result":'
                                 rb'(\{"exitCode":-1,"timedOut":false,"durationMs":(\d+),"signal":"SIGTERM","stdoutTruncated":false,'
                                 rb'"stderrTruncated":false\})\})', got)
            self.assertTrue(found, got)
            self.assertEqual(int(found[1], 16), len(found[2]))
            self.assertEqual(len(found[2]) - len(found[4]), 0xe1 - 3)
            rest = b""
            while more := running.recv(4096):
                rest += more
            self.assertEqual(frames_of(rest), [b'{"type":"result",' + found[3][1:], b""])
            self.assertEqual(bytes_of(self.agent.address, sent), got, "told again, it is the same")

    def test_frame_too_large(self):
        self.assertEqual(bytes_of(self.agent.address, b"00800001\n"),
                         b'00000074\n{"ok":false,"error":"frame_too_large: announced 8388609 bytes, limit 8388608 '
                         b'(NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES)"}')

    def test_terminal(self):
        sent = (b'{"op":"terminal","body":{"command":"/bin/bash","args":["--norc"],"env":{"PS1":"$ "},"cols":120,"rows":40,"heartbeatMs":15000},"token":"'
                + TOKEN.encode() + b'"}')
        with Wire(self.agent.address) as wire:
            wire.send(sent, b'{"type":"input","data":"exit 3\\r"}')
            frames = list(iter(lambda: wire.next(20), None))
        ready = [x for x in frames if x.startswith(b'{"type":"ready"')]
        self.assertEqual(len(ready), 1, frames)
        self.assertRegex(ready[0], rb'^\{"type":"ready","guestBootId":"' + BOOT + rb'","heartbeatMs":15000\}$')
        self.assertEqual(frames[-1], b'{"type":"exit","exitCode":3}', "and no terminator after it")
        said = "".join(parse(x)["data"] for x in frames if x.startswith(b'{"type":"data"'))
        self.assertIn("exit 3\r\n", said)

    def test_pinned_request(self):
        boot, _ = self.reserve()
        sent = (b'000000ae\n{"op":"read-file","body":{"path":"notes.txt","encoding":"base64"},"token":"b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311",'
                b'"expectedGuestBootId":"c81d40ee-15f7-4b2a-b0a9-2e6d93f1587c"}')
        self.assertEqual(bytes_of(self.agent.address, sent), b'0000005a\n{"ok":false,"error":"guest_mismatch","guestBootId":"' + boot + b'"}')


class GoodForms(WireTest):
    @classmethod
    def setUpClass(cls):
        cls.agent = Agent(agent_cancel_confirm_timeout_ms=2000).__enter__()
        cls.addClassCleanup(cls.agent.__exit__)
        cls.guest = cls.agent.guest
        cls.boot = cls.guest.reserve()["guestBootId"]

    def test_files(self):
        content = bytes(range(256)) * 3000
        for reply in (self.guest.write_file("a/b.bin", content), self.guest.request("read-file", {"path": "a/b.bin", "encoding": "base64"}),
                      self.guest.request("read-file", {"path": "a/b.bin", "encoding": "base64", "offset": 5, "length": 7}),
                      self.guest.write_file("a/.namzu-write-1.part", b"x", {"offset": 0})):
            self.assertEqual(reply["guestBootId"], self.boot)
        self.assertEqual(self.guest.read_file("a/b.bin"), content)
        self.assertEqual(self.guest.read_file("a/b.bin", offset=250, length=300), content[250:550])
        self.assertEqual(self.guest.read_file("a/b.bin", offset=10**9), b"")
        meta, streamed = self.guest.read_stream("a/b.bin", offset=7)
        self.assertEqual((meta["sizeBytes"], meta["offset"], meta["length"]), (len(content), 7, len(content) - 7))
        self.assertEqual(streamed, content[7:])
        self.assertEqual(self.guest.write_file("a/.namzu-write-1.part", b"", {"discard": True}), {"ok": True, "discarded": True})
        self.guest.request("write-file", {"path": "text", "content": "grüße", "encoding": "utf8"})
        self.assertEqual(self.guest.request("read-file", {"path": "text"})["content"], "grüße")
        for at, final in ((0, False), (1 << 16, False), (1 << 17, True)):
            part = content[at:] if final else content[at:at + (1 << 16)]
            got = self.guest.write_file(".namzu-write-t.part", part, {"offset": at, **({"final": True, "renameTo": "deep/er/whole"} if final else {})})
            self.assertEqual(got["sizeBytes"], at + len(part))
        self.assertEqual(self.guest.read_file("deep/er/whole"), content)
        self.assertEqual([x for x in os.listdir(self.agent.workspace) if x.startswith(".namzu")], [])

    def test_executions(self):
        got = self.guest.execute("/bin/sh", "-c", "echo out; echo err >&2; cat; exit 7", stdin="in", timeoutMs=10000)
        self.assertEqual((got[0], got[1], got[2]["exitCode"]), ("out\nin", "err\n", 7))
        self.assertEqual(self.guest.execute("pwd", cwd="new/one")[0], f"{self.agent.workspace}/new/one\n")
        self.assertEqual(self.guest.execute("true", reserved=False)[2]["exitCode"], 0)
        got = self.guest.execute("head", "-c", "100", "/dev/zero", maxOutputBytes=10)
        self.assertEqual((len(got[0]), got[2]["stdoutTruncated"], got[2]["stderrTruncated"]), (10, True, False))
        got = self.guest.execute("sleep", "30", timeoutMs=100)[2]
        self.assertEqual((got["timedOut"], got["exitCode"], got["signal"]), (True, -1, "SIGTERM"))
        name = "exec_0e2c7a10-94bd-4c3f-a1d8-7f60e3b2c915"
        self.assertEqual(self.guest.reserve(name)["state"], "reserved")
        self.guest.execute("/bin/sh", "-c", "printf abc; sleep 0.05; printf def >&2", reserved=name, retainOutput=True)
        known = self.guest.reserve(name)
        self.assertEqual((known["state"], known["retainedOutput"], known["outputOffset"], known["guestBootId"]), ("terminal", True, 6, self.boot))
        got = self.guest.attach(name, 2)
        self.assertEqual([x["data"] for x in got[1:-1]], ["c", "def"])
        self.assertEqual((got[-1]["outcome"], got[-1]["started"], got[-1]["result"]["exitCode"]), ("completed", True, 0))
        cancelled = self.guest.cancel(name)
        self.assertEqual((cancelled["state"], cancelled["guestBootId"]), ("completed", self.boot))
        self.assertEqual(cancelled["result"], got[-1]["result"])

    def test_sessions(self):
        summary = self.guest.start_detached("d.1", "/bin/sh", "-c", "echo one; exec sleep 60")
        self.assertTrue(alive(summary["pid"]))
        self.assertNotIn("guestBootId", summary)
        with self.guest.terminal(command="/bin/sh", env={"PS1": ""}, sessionId="t-1", persistent=True, heartbeatMs=1) as terminal:
            self.assertEqual((terminal.ready["guestBootId"], terminal.ready["heartbeatMs"]), (self.boot, 100))
            self.assertEqual([x["type"] for x in terminal.early], ["ready"])
            terminal.say(type="input", data="stty size; echo $TERM\n")
            said = ""
            while "xterm-256color" not in said:
                said += terminal.event(20)["data"]
            self.assertIn("24 80\r\n", said)
            with self.guest.attach_session("t-1", cols=100, rows=30) as second:
                self.assertEqual(terminal.until("detached", bound=20)[-1]["reason"], "superseded")
                terminal.end(True)
                self.assertEqual(second.ready["guestBootId"], self.boot)
                second.say(type="input", data="stty size; exit 5\n")
                got = second.until("exit", bound=20)
                self.assertIn("30 100\r\n", "".join(x["data"] for x in got[:-1]))
                follows(got[:-1], 0, got[-1]["nextOffset"])
                self.assertEqual(got[-1]["exitCode"], 5)
                second.end(True)
        listed = self.guest.sessions()
        self.assertEqual([x["sessionId"] for x in listed], ["d.1", "t-1"])
        self.assertEqual([x["state"] for x in listed], ["running", "exited"])
        killed = self.guest.kill_session("d.1")
        self.assertEqual((killed["state"], killed["signalled"]), ("exited", 1))
        self.assertNotIn("signalled", self.guest.kill_session("d.1"))
        with self.guest.attach_session("d.1", follow=False) as read:
            data = read.event()
            self.assertEqual((data["data"], data["offset"], data["nextOffset"]), ("one\n", 0, 4))
            read.end(True)

    def test_loopback(self):
        with socket.create_server(("127.0.0.1", 0)) as service:
            with self.guest.tcp(service.getsockname()[1], heartbeatMs=100) as stream:
                self.assertEqual(stream.ready["guestBootId"], self.boot)
                peer, _ = service.accept()
                with peer:
                    stream.say(type="data", data=base64.b64encode(b"\0\xffhello").decode())
                    self.assertEqual(peer.recv(7, socket.MSG_WAITALL), b"\0\xffhello")
                    with self.assertRaises(TimeoutError):  # nothing but heartbeats both ways, and it lives
                        stream.event(0.5)
                    self.assertGreaterEqual(stream.beats, 2)
                    peer.sendall(b"back")
                    self.assertEqual(base64.b64decode(stream.event(20)["data"]), b"back")
                    stream.say(type="end")
                    self.assertEqual(peer.recv(1), b"")
                self.assertEqual(stream.event(20)["type"], "end")
                stream.end(False)

    def test_authenticated_streams_stay_open(self):
        with Agent(agent_preauth_idle_timeout_ms=200, agent_preauth_deadline_ms=300) as agent:
            with agent.guest.terminal(command="/bin/cat") as terminal:
                self.assertEqual(bytes_of(agent.address, b""), b"", "a silent stranger is put out, without a word")
                self.assertEqual(bytes_of(agent.address, b""), b"", "and the next one")
                terminal.say(type="input", data="still\n")
                said = ""
                while "still\r\nstill\r\n" not in said:
                    said += terminal.event(20)["data"]

    def test_quiesce_and_flush(self):
        with Agent() as agent:
            agent.guest.start_detached("s", "/bin/sleep", "60")
            said = self.refuses(agent, "quiesce", {"idleOnly": True}, "R", "quiesce_not_idle", ("scope", "running", "message"))
            self.assertEqual([x["command"] for x in said["running"]], ["sleep"])
            got = agent.guest.quiesce(graceMs=500)
            self.assertEqual((got["scope"], got["graceMs"], got["rounds"]), ("owned-sessions", 500, 1))
            self.assertEqual([(x["command"], x["signal"]) for x in got["stopped"]], [("sleep", "SIGTERM")])
            self.assertEqual(agent.guest.quiesce()["rounds"], 0)
            self.assertEqual(agent.guest.quiesce(idleOnly=True)["stopped"], [])
            got = agent.guest.flush(timeoutMs=20000)
            self.assertEqual((got["workspace"], "guestBootId" in got), (str(agent.workspace), False))

    def test_one_byte_at_a_time_and_all_at_once(self):
        self.guest.write_file("f", b"served once")
        requests = [("healthz", None), ("reserve-execution", None), ("read-file", {"path": "f"}), ("read-file-stream", {"path": "f"}),
                    ("list-sessions", None), ("flush", {}), ("cancel-execution", {"executionId": UNKNOWN}), ("frobnicate", None),
                    ("execute", {"command": "/bin/sh", "args": ["-c", "echo once >>count"]})]

        def steady(op, got):
            got = re.sub(rb'"durationMs":\d+', b'"durationMs":0', re.sub(rb"exec_" + BOOT, b"exec", got))
            return re.sub(rb"\n?[0-9a-f]{8}\n", b"\n", re.sub(rb'"leaseExpiresAt":\d+', b"", got))

        def sent(op, body):
            return frame(json.dumps(self.guest.envelope(op, body)).encode())

        whole_answers = [steady(op, bytes_of(self.agent.address, sent(op, body))) for op, body in requests]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for pieces in (1, None):
                many = requests * 4
                got = pool.map(lambda x: steady(x[0], bytes_of(self.agent.address, sent(*x), pieces=pieces)), many)
                for (op, _), one, wanted in zip(many, got, whole_answers * 4):
                    self.assertEqual(one, wanted, op)
        self.assertEqual(self.guest.read_file("count"), b"once\n" * 9)

    def test_later_frames_and_bad_headers(self):
        for bad in (b"000000010", b"00001\n\n\n\n", b"0000zz10\n", b"-0000010\n", b"0x000010\n", b"00000000\n", b"00000003\n{]}", b"00000002\n\xff\xfe"):
            with self.subTest(bad):
                self.assertEqual(bytes_of(self.agent.address, bad), b"")
        good = frame(json.dumps(self.guest.envelope("list-sessions")).encode())
        self.assertEqual(len(frames_of(bytes_of(self.agent.address, good + good))), 1)
        self.assertEqual(len(frames_of(bytes_of(self.agent.address, good + b"00900000\n"))), 1)
        self.assertEqual(len(frames_of(bytes_of(self.agent.address, b"0000001A\n" + b'{"op":"healthz"}'.ljust(26)))), 1)


class Refusals(WireTest):
    @classmethod
    def setUpClass(cls):
        cls.agent = Agent(agent_max_sessions=1, agent_max_retained_output_logs=1, sandbox_max_timeout_ms=60000, agent_max_tracked_executions=3,
                          agent_cancel_confirm_timeout_ms=300, agent_cancel_grace_ms=50).__enter__()
        cls.addClassCleanup(cls.agent.__exit__)
        cls.guest = cls.agent.guest

    def case(self, *arguments, **options):
        return self.refuses(self.agent, *arguments, **options)

    def test_envelopes(self):
        self.case("frobnicate", None, "R", "unknown_op: frobnicate")
        for payload in (b'{"token":"%s"}' % TOKEN.encode(), b'{"op":7,"token":"%s"}' % TOKEN.encode()):
            shape, said = shape_of(frames_of(bytes_of(self.agent.address, frame(payload))))
            self.assertEqual((shape, said["error"].split(":")[0]), ("R", "unknown_op"))

    def test_pins(self):
        for pin, error, extra in ((OTHER_BOOT, "guest_mismatch", ["guestBootId"]), ("", "invalid_expected_guest_boot_id", []),
                                  (7, "invalid_expected_guest_boot_id", []), ({}, "invalid_expected_guest_boot_id", [])):
            pinned = Guest(self.agent.address, TOKEN, pin)
            for shape, ops in (("R", R_OPS), ("S", S_OPS), ("T", T_OPS)):
                for op in ops:
                    self.case(op, GOOD_BODIES.get(op), shape, error, extra, guest=pinned)
            self.assertTrue(pinned.health()["ok"])
        null = b'{"op":"list-sessions","token":"%s","expectedGuestBootId":null}' % TOKEN.encode()
        self.assertEqual(shape_of(frames_of(bytes_of(self.agent.address, frame(null))))[1]["error"], "invalid_expected_guest_boot_id")
        self.assertFalse((self.agent.workspace / "forbidden").exists())
        own = Guest(self.agent.address, TOKEN, self.guest.write_file("pin", b"")["guestBootId"])
        self.assertEqual(own.sessions(), [])

    def test_executions(self):
        for bad in ("exec_123", "", 7, "exec_5e2c7a10-94bd-6c3f-a1d8-7f60e3b2c915", UNKNOWN + "\n", " " + UNKNOWN, "exec_5e2c7a10-94bd-4c3f-c1d8-7f60e3b2c915"):
            self.case("reserve-execution", {"executionId": bad}, "R", "invalid_execution_id")
            self.case("cancel-execution", {"executionId": bad}, "R", "invalid_execution_id")
            self.case("execute", {"executionId": bad, "command": "true"}, "S", "invalid_execution_id")
            self.case("attach-execution", {"executionId": bad}, "S", "invalid_execution_id")
        self.case("execute", {}, "S", "missing_command")
        self.case("execute", {"command": ""}, "S", "missing_command")
        self.case("execute", {"command": ["true"]}, "S", "missing_command")
        self.case("execute", {"command": "true", "retainOutput": True}, "S", "retain_requires_execution_id")
        self.case("execute", {"command": "true", "cwd": "../x"}, "S", "invalid_cwd: path escapes the workspace")
        for bad in (0, -1, 60001):
            self.case("execute", {"command": "true", "timeoutMs": bad}, "S",
                      "invalid_timeout: timeoutMs must be a finite number in (0, 60000] (NAMZU_SANDBOX_MAX_TIMEOUT_MS)")
        # The default is as long as ever, so a guest with a lower ceiling wants to be told.
        self.case("execute", {"command": "true"}, "S", "invalid_timeout: ", prefix=True)
        good = {"command": "true", "timeoutMs": 60000}
        self.case("execute", {**good, "executionId": UNKNOWN}, "S", "unknown_execution")
        self.case("attach-execution", {"executionId": UNKNOWN}, "S", "unknown_execution")
        self.case("cancel-execution", {"executionId": UNKNOWN}, "R", "unknown_execution", ["guestBootId"])
        name = self.guest.reserve()["executionId"]
        self.assertEqual(self.case("attach-execution", {"executionId": name}, "S", "output_not_retained", ["state"])["state"], "reserved")
        self.guest.execute("printf", "abc", reserved=name, retainOutput=True, timeoutMs=60000)
        self.case("execute", {**good, "executionId": name}, "S", "execution_not_reserved: terminal")
        for bad in (4, -1, 0.5, 2**53):
            self.case("attach-execution", {"executionId": name, "fromOffset": bad}, "S", "invalid_offset")
        self.guest.write_file("file", b"")
        name = self.guest.reserve()["executionId"]
        self.case("execute", {**good, "executionId": name, "cwd": "file/below"}, "S", "mkdir_failed: ", prefix=True)
        self.assertEqual(self.guest.cancel(name)["state"], "failed")
        name = self.guest.reserve()["executionId"]
        self.case("execute", {**good, "command": "/nowhere/at-all", "executionId": name}, "S", "spawn /nowhere/at-all ENOENT")
        self.assertEqual(self.guest.cancel(name)["state"], "failed")

    def test_capacities(self):
        with Agent(agent_max_tracked_executions=2, agent_max_retained_output_logs=1) as agent:
            first, second = (agent.guest.reserve()["executionId"] for _ in range(2))
            self.refuses(agent, "reserve-execution", None, "R", "execution_capacity")
            with Stream(agent.guest.open("execute", {"executionId": first, "command": "sleep", "args": ["60"], "retainOutput": True}), "execute"):
                wait_for("it runs", lambda: agent.guest.reserve(first)["state"] == "running")
                self.refuses(agent, "execute", {"executionId": first, "command": "true"}, "S", "execution_not_reserved: running")
                self.refuses(agent, "execute", {"executionId": second, "command": "true", "retainOutput": True}, "S",
                             "retained_output_capacity: limit 1 (NAMZU_AGENT_MAX_RETAINED_OUTPUT_LOGS)")
            self.assertEqual(agent.guest.execute("true", reserved=second)[2]["exitCode"], 0)
            self.assertEqual(agent.guest.cancel(first)["state"], "cancelled")

    def test_files(self):
        (self.agent.workspace / "out").symlink_to("/etc")
        self.guest.write_file("some", b"12345")
        for op, shape in (("read-file", "R"), ("read-file-stream", "S")):
            self.case(op, {}, shape, "missing_path")
            self.case(op, {"path": ""}, shape, "missing_path")
            self.case(op, {"path": "../x"}, shape, "path escapes the workspace")
            self.case(op, {"path": "/etc/passwd"}, shape, "path escapes the workspace")
            self.case(op, {"path": "out/passwd"}, shape, "symlink escapes the workspace")
            for bad in (-1, 0.5, 2**53):
                self.case(op, {"path": "some", "encoding": "base64", "offset": bad}, shape, "read_file_invalid_offset: ", prefix=True)
                self.case(op, {"path": "some", "encoding": "base64", "length": bad}, shape, "read_file_invalid_length: ", prefix=True)
            said = self.case(op, {"path": "absent"}, shape, "", prefix=True)
            self.assertIn("ENOENT", said["error"])
        self.case("read-file-stream", {"path": "."}, "S", "read_file_stream_not_a_regular_file")
        self.assertIn("EISDIR", self.case("read-file", {"path": "."}, "R", "", prefix=True)["error"])
        self.case("read-file", {"path": "some", "offset": 0}, "R", "read_file_range_requires_base64: ", prefix=True)
        self.case("read-file", {"path": "some", "encoding": "base64", "length": 1048577}, "R",
                  "read_file_range_too_large: 1048577 bytes requested, limit 1048576 (NAMZU_AGENT_READ_FILE_RANGE_BYTES)", prefix=True)

        def write(part=..., path="some", content="", error="", **options):
            body = {"path": path, "content": content, "encoding": "base64", **({} if part is ... else {"part": part})}
            self.case("write-file", {k: v for k, v in body.items() if v is not None}, "R", error, **options)

        write(path=None, error="missing_path_or_content")
        write(content=None, error="missing_path_or_content")
        write(path="../x", error="path escapes the workspace")
        write(path="out/x", error="symlink escapes the workspace")
        for shape in ([], 7, "x", True):
            write(shape, error="write_part_invalid_shape")
        temp = ".namzu-write-a.part"
        write({"offset": 0}, path=temp, content=None, error="missing_path_or_content")
        for bad in (-1, "0", 0.5):
            write({"offset": bad}, path=temp, error=f"write_part_invalid_offset: {json.dumps(bad)}")
        write({"offset": 0, "final": True}, path=temp, error="write_part_missing_rename_target")
        write({"offset": 0, "final": True, "renameTo": "../x"}, path=temp, error="path escapes the workspace")
        write({"offset": 3}, path=temp, error="write_part_offset_mismatch: temp file is absent, part starts at offset 3")
        self.guest.write_file(temp, b"12345", {"offset": 0})
        write({"offset": 3}, path=temp, error="write_part_offset_mismatch: temp file is 5 bytes, part starts at offset 3")
        for name in ("some", ".namzu-write-.part", "x.namzu-write-a.part", ".namzu-write-a.part2"):
            write({"discard": True}, path=name, error="write_part_not_a_temp_file")
        self.assertEqual(self.guest.read_file("some"), b"12345")

    def test_what_needs_two_at_once(self):
        """Refusals of a moment: both ways are right for one try, and among many each is met."""
        def until(error, shape, attempt):
            for at in range(200):
                frames = attempt(at)
                if (got := shape_of(frames))[0]:
                    self.assertEqual((got[0], got[1]["error"]), (shape, error))
                    self.assertEqual(len(got[1]), 2)
                    return
            self.fail(f"{error} never came")

        part = {"path": ".namzu-write-b.part", "content": "A" * (4 << 20), "encoding": "base64", "part": {"offset": 0}}
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            def write_together(_):
                got = list(pool.map(lambda _: self.guest.answer("write-file", part), range(4)))
                return next((x for x in got if shape_of(x)[0]), [])

            until("write_part_in_flight", "R", write_together)

        def cancel_while_it_starts(at):
            name = self.guest.reserve()["executionId"]
            body = {"executionId": name, "command": "true", "cwd": "/".join([f"d{at}"] * 700), "timeoutMs": 5000}
            with self.guest.open("execute", body) as wire:
                said = self.guest.cancel(name)
                frames = list(iter(lambda: wire.next(20), None))
            self.assertEqual(said["started"], shape_of(frames)[0] is None, (said, frames))
            return frames

        until("execution_cancelled", "S", cancel_while_it_starts)

    def test_sessions_and_terminals(self):
        good = {"command": "/bin/cat", "cols": 80, "rows": 24}
        for bad in (None, 7, [], "x", True):
            self.case("terminal", bad, "T", "missing_terminal_options")
        for bad in (0, 1001, 1.5, None):
            self.case("terminal", {**good, "cols": bad}, "T", "cols must be an integer in [1, 1000]")
            self.case("terminal", {**good, "rows": bad}, "T", "rows must be an integer in [1, 1000]")
        self.case("terminal", {**good, "cwd": "../x"}, "T", "path escapes the workspace", prefix=False)
        self.case("terminal", {**good, "persistent": True}, "T", "invalid_session_id")
        for bad in ("-x", "x" * 65, "", 7, "a/b", "a\n"):
            self.case("terminal", {**good, "persistent": True, "sessionId": bad}, "T", "invalid_session_id")
            self.case("start-detached", {"sessionId": bad, "command": "true"}, "R", "invalid_session_id")
            self.case("kill-session", {"sessionId": bad}, "R", "invalid_session_id")
            self.case("attach-session", {"sessionId": bad}, "S", "invalid_session_id")
        self.case("kill-session", {"sessionId": "x"}, "R", "unknown_session")
        self.case("attach-session", {"sessionId": "x"}, "S", "unknown_session")
        self.case("start-detached", {"sessionId": "x"}, "R", "missing_command")
        self.case("start-detached", {"sessionId": "x", "command": "/nowhere"}, "R", "spawn_failed", ["message"])
        self.guest.start_detached("x", "sleep", "60")
        self.case("start-detached", {"sessionId": "x", "command": "true"}, "R", "session_exists")
        self.case("start-detached", {"sessionId": "y", "command": "true"}, "R", "session_capacity")
        self.case("terminal", {**good, "persistent": True, "sessionId": "x"}, "T", "session_exists")
        self.case("terminal", {**good, "persistent": True, "sessionId": "y"}, "T", "session_capacity")
        self.assertEqual(self.case("attach-session", {"sessionId": "x", "fromOffset": 1}, "S", "invalid_offset", ["nextOffset"])["nextOffset"], 0)
        self.assertEqual(self.guest.kill_session("x")["state"], "exited")
        self.case("tcp-connect", {"host": "10.0.0.1", "port": 80}, "T", "invalid_loopback_target")
        for bad in (0, 65536, 1.5, None):
            self.case("tcp-connect", {"port": bad}, "T", "invalid_loopback_target")
        with socket.create_server(("127.0.0.1", 0)) as service:
            port = service.getsockname()[1]
        self.assertIn("ECONNREFUSED", self.case("tcp-connect", {"port": port}, "T", "", prefix=True)["error"])

    def test_quiesce_and_flush(self):
        for bad in (0, -1, 300, 0.5, "5", True):
            said = self.case("quiesce", {"graceMs": bad}, "R", "quiesce_invalid_grace", ["message"])
            self.assertTrue("299" in said["message"] and "NAMZU_AGENT_CANCEL_CONFIRM_TIMEOUT_MS" in said["message"], said)
        for bad in (0, "yes", []):
            self.case("quiesce", {"idleOnly": bad}, "R", "quiesce_invalid_idle_only")
        for bad in (0, -1, 0.5, "5"):
            self.case("flush", {"timeoutMs": bad}, "R", "flush_invalid_timeout", ["message"])
        with Agent(agent_flush_command="echo broken >&2; exit 3", agent_quiesce_max_rounds=1) as agent:
            said = self.refuses(agent, "flush", {}, "R", "flush_unconfirmed", ["message"])
            self.assertIn("3", said["message"])
            self.assertIn("broken", said["message"])
            # At every TERM there is a new process: one round cannot be enough.
            agent.guest.start_detached("s", "/bin/sh", "-c", "trap 'sleep 60 & echo $! >new' TERM; echo $$ >ready; while :; do sleep 60 & wait; done")
            pid_in(agent.workspace / "ready")
            said = self.refuses(agent, "quiesce", {"graceMs": 100}, "R", "quiesce_unconfirmed", ["message"])
            self.assertRegex(said["message"], r"\d")
            self.assertTrue(agent.guest.health()["ok"], "an unconfirmed quiesce does not fence")
        with Agent(agent_flush_command="sleep 60") as agent:
            said = self.refuses(agent, "flush", {"timeoutMs": 100}, "R", "flush_unconfirmed", ["message"])
            self.assertIn("100", said["message"])

    def test_while_it_quiesces(self):
        with Agent() as agent:
            agent.guest.write_file("f", b"x")
            agent.guest.start_detached("s", "/bin/sh", "-c", "trap '' TERM; echo $$ >ready; while :; do sleep 60; done")
            pid_in(agent.workspace / "ready")
            with agent.guest.open("quiesce", {"graceMs": 1500}) as quiesce:
                wait_for("the gate is up", lambda: shape_of(agent.guest.answer("reserve-execution"))[0] == "R")
                for op in ("execute", "terminal", "attach-execution", "attach-session"):
                    self.refuses(agent, op, GOOD_BODIES[op], "S", "quiesce_in_progress")
                for op in ("reserve-execution", "start-detached", "kill-session", "quiesce", "flush"):
                    self.refuses(agent, op, GOOD_BODIES.get(op), "R", "quiesce_in_progress")
                self.assertEqual(len(agent.guest.sessions()), 1)
                self.assertEqual(agent.guest.read_file("f"), b"x")
                self.assertEqual(agent.guest.read_stream("f")[1], b"x")
                agent.guest.write_file("g", b"y")
                self.refuses(agent, "cancel-execution", {"executionId": UNKNOWN}, "R", "unknown_execution", ["guestBootId"])
                self.assertTrue(agent.guest.health()["ok"])
                self.assertIsNone(quiesce.arrived(), "all of this was said while it was under way")
                self.assertTrue(parse(quiesce.next(20))["ok"])
            self.assertFalse((agent.workspace / "forbidden").exists())
            self.assertTrue(agent.guest.reserve()["ok"])

    def test_fenced(self):
        with Agent(agent_cancel_confirm_timeout_ms=300) as agent:
            boot = agent.guest.reserve()["guestBootId"]
            name = agent.guest.reserve()["executionId"]
            # Its group ends at the first signal; what has left the group keeps the pipe, so the end cannot be shown.
            body = {"executionId": name, "command": "/bin/sh", "args": ["-c", "setsid sh -c 'echo $$ >pid; exec sleep 60' & sleep 60"]}
            with Stream(agent.guest.open("execute", body), "execute") as stream:
                escaped = pid_in(agent.workspace / "pid")
                self.refuses(agent, "cancel-execution", {"executionId": name}, "R", "cancellation_unconfirmed", ["guestBootId", "message"])
                health = agent.guest.health()
                self.assertEqual((health["ok"], health["retiring"], health["protocolVersion"]), (False, True, 2))
                self.assertTrue(alive(escaped))
                for op in (*R_OPS, *S_OPS, *T_OPS):
                    if op != "cancel-execution":
                        said = self.refuses(agent, op, GOOD_BODIES.get(op), "S" if op.startswith("attach-") else "R", "agent_retiring", ["guestBootId"])
                        self.assertEqual(said["guestBootId"], boot)
                self.refuses(agent, "cancel-execution", {"executionId": UNKNOWN}, "R", "unknown_execution", ["guestBootId"])
                self.assertIsNone(stream.wire.arrived(), "no last event for what may still run")
                os.kill(escaped, signal.SIGKILL)
            self.assertFalse((agent.workspace / "forbidden").exists())


class Gate(WireTest):
    def test_the_oldest_stranger_goes(self):
        with Agent(agent_max_preauth_connections=2) as agent:
            with socket.create_connection(agent.address, 20) as oldest, socket.create_connection(agent.address, 20) as second:
                self.assertTrue(agent.guest.health()["ok"])
                said = b"".join(iter(lambda: oldest.recv(4096), b""))
                self.assertEqual(frames_of(said), [b'{"ok":false,"error":"too_many_unauthenticated_connections: limit 2 '
                                                   b'(NAMZU_AGENT_MAX_PREAUTH_CONNECTIONS)"}'])
                second.sendall(frame(b'{"op":"healthz"}'))
                self.assertTrue(parse(frames_of(b"".join(iter(lambda: second.recv(4096), b"")))[0])["ok"])

    def test_the_shared_buffer(self):
        with Agent(agent_max_preauth_frame_bytes=100000, agent_max_preauth_buffer_bytes=150000) as agent:
            request = json.dumps({**agent.guest.envelope("list-sessions"), "pad": "x" * 90000}).encode()
            with socket.create_connection(agent.address, 20) as first, socket.create_connection(agent.address, 20) as second:
                first.sendall(frame(request)[:90000])
                wait_for("it has been read", lambda: not unread(agent, first))
                second.sendall(frame(request)[:-1])
                said = b"".join(iter(lambda: second.recv(4096), b""))
                self.assertEqual(frames_of(said), [b'{"ok":false,"error":"preauth_buffer_exhausted: limit 150000 bytes '
                                                   b'(NAMZU_AGENT_MAX_PREAUTH_BUFFER_BYTES)"}'])
                first.sendall(frame(request)[90000:])
                self.assertTrue(parse(frames_of(b"".join(iter(lambda: first.recv(4096), b"")))[0])["ok"])

    def test_first_use(self):
        with Agent(preset=False, agent_require_token="1") as agent:
            for token, error in (("", "unauthorized"), (None, "unauthorized"), ("first", None), ("second", "unauthorized"), ("first", None), ("", "unauthorized")):
                shape, said = shape_of(Guest(agent.address, token).answer("list-sessions"))
                self.assertEqual((shape, said["error"]) if error else said, ("R", error) if error else [b'{"ok":true,"sessions":[]}'])

    def test_frames_above_the_outer_ceiling(self):
        with Agent(agent_max_frame_bytes=1000) as agent:
            self.assertEqual(frames_of(bytes_of(agent.address, b"000003e9\n")),
                             [b'{"ok":false,"error":"frame_too_large: announced 1001 bytes, limit 1000 (NAMZU_AGENT_MAX_PREAUTH_FRAME_BYTES)"}'])
            with agent.guest.terminal(command="/bin/sh", args=["-c", "echo $$ >pid; exec cat"]) as terminal:
                program = pid_in(agent.workspace / "pid")
                terminal.wire.socket.sendall(b"000003e9\n")
                self.assertEqual(terminal.wire.next(20), b'{"ok":false,"error":"frame_too_large: announced 1001 bytes, limit 1000 (NAMZU_AGENT_MAX_FRAME_BYTES)"}')
                self.assertIsNone(terminal.wire.next(20))
                gone(program)

    # [G 34] a refused peer that does not read
    def test_a_refusal_that_cannot_be_flushed(self):
        for grace, variables in ((1.0, {}), (2.5, {"agent_refusal_flush_grace_ms": 2500})):
            with self.subTest(grace), Agent(agent_max_frame_bytes=1000, **variables) as agent:
                descriptors = agent.descriptors()
                body = {"command": "/bin/sh", "args": ["-c", "echo $$ >pid; exec cat /dev/zero"], "cols": 80, "rows": 24}
                with agent.guest.open("terminal", body) as wire:
                    program = pid_in(agent.workspace / "pid")
                    wait_for("its output is stuck", lambda: stuck(program, agent.pid()))
                    start = time.monotonic()
                    wire.socket.sendall(b"000003e9\n")
                    gone(program)
                    wait_for("the connection is given up", lambda: agent.descriptors() == descriptors)
                    took = time.monotonic() - start
                    self.assertGreater(took, grace - 0.1, "it has had its time")
                    self.assertLess(took, grace + 1)
                    rest = b""
                    with contextlib.suppress(ConnectionError):
                        while more := wire.socket.recv(1 << 16):
                            rest += more
                    self.assertNotIn(b"frame_too_large", rest)


def stuck(program, agent):
    """The program has written as much as it could, and neither it nor the agent is about to do anything: at ten looks that lie apart."""
    def look():
        states = []
        for pid in (program, agent):
            with open(f"/proc/{pid}/stat") as f:
                states.append(f.read().rsplit(")", 1)[1].split()[0])
        with open(f"/proc/{program}/io") as f:
            return states == ["S", "S"] and int(re.search(r"wchar: (\d+)", f.read())[1])

    first = look()
    for _ in range(10):
        time.sleep(0.02)
        if look() != first:
            return False
    return first > 100000


def unread(agent, peer):
    """Bytes that `peer` has sent and the agent has not taken from its socket yet."""
    port, own = peer.getpeername()[1], peer.getsockname()[1]
    with open("/proc/net/tcp") as f:
        for line in f.read().splitlines()[1:]:
            fields = line.split()
            local, remote = (int(x.split(":")[1], 16) for x in fields[1:3])
            queues = [int(x, 16) for x in fields[4].split(":")]
            if (local, remote) == (port, own) and queues[1] or (local, remote) == (own, port) and queues[0]:
                return True
    return False


if __name__ == "__main__":
    main()
