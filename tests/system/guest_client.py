"""A host of the guest protocol, written from its specification alone and sharing nothing with the programs under test.

Strict where the protocol lets a host be strict: a frame, a field, an order or an ending that is not as written is a ProtocolError.
A refusal is a Refused, which keeps the frames as they came. Every wait has a bound.
"""
import base64, contextlib, json, math, re, select, socket, time

SAFE = 2**53 - 1
PREAUTH_FRAME = 8 * 1024 * 1024
READ_IDLE = 60.0
CLOSE_AFTER_REPLY = 1.0
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class ProtocolError(Exception):
    """The guest did something that the protocol does not allow."""


class Refused(Exception):
    def __init__(self, said, shape):
        super().__init__(said.get("error"))
        self.said, self.shape, self.error = said, shape, said.get("error")


# -- shapes -------

def text(x): return isinstance(x, str)
def flag(x): return isinstance(x, bool)
def number(x): return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)
def whole(x): return number(x) and x == int(x) and 0 <= x <= SAFE
def texts(x): return isinstance(x, list) and all(map(text, x))
def boot_id(x): return text(x) and UUID4.fullmatch(x) is not None
def data64(x): return text(x) and re.fullmatch(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", x) is not None
def one_of(*names): return lambda x: x in names
def rows(shape): return lambda x: isinstance(x, list) and all(fits(one, shape) for one in x)
def shaped(shape): return lambda x: fits(x, shape)


def fits(value, shape):
    """Fields that end in `?` may be absent. Fields that the shape does not know are the guest's own business."""
    if not isinstance(value, dict):
        return False
    for name, check in shape.items():
        if name.rstrip("?") in value:
            if not check(value[name.rstrip("?")]):
                return False
        elif not name.endswith("?"):
            return False
    return True


STATE = one_of("reserved", "starting", "running", "exited", "terminal")
RESULT = {"exitCode": number, "timedOut": flag, "durationMs": number, "signal?": text, "stdoutTruncated": flag, "stderrTruncated": flag}
SUMMARY = {"sessionId": text, "kind": one_of("terminal", "detached"), "command": text, "args": texts, "startedAt": whole,
           "lastInputAt?": whole, "lastOutputAt?": whole, "nextOffset": whole, "droppedBytes": whole,
           "state": one_of("running", "exited"), "attached": flag, "exitCode?": number, "signal?": number}
REPLIES = {  # what follows `ok: true`
    "healthz": {"protocolVersion": whole, "features": texts, "retiring?": flag},
    "reserve-execution": {"guestBootId": boot_id, "protocolVersion": whole, "executionId": text, "leaseExpiresAt": whole, "state?": STATE,
                          "retainedOutput?": flag, "outputOffset?": whole},
    "cancel-execution": {"guestBootId": boot_id, "state": one_of("completed", "cancelled", "failed"), "started": flag,
                         "result?": shaped(RESULT), "error?": text},
    "read-file": {"guestBootId": boot_id, "content": text, "sizeBytes": whole, "encoding": one_of("base64", "utf8"), "offset?": whole,
                  "bytesRead?": whole},
    "write-file": {"bytesWritten?": whole, "guestBootId?": boot_id, "sizeBytes?": whole, "discarded?": flag},
    "start-detached": {**SUMMARY, "pid": whole},
    "list-sessions": {"sessions": rows(SUMMARY)},
    "kill-session": {**SUMMARY, "signalled?": whole},
    "quiesce": {"scope": one_of("pid-namespace", "owned-sessions"), "graceMs": whole, "rounds": whole,
                "stopped": rows({"pid": whole, "command": text, "signal": one_of("SIGTERM", "SIGKILL")})},
    "flush": {"durationMs": number, "workspace": text},
}
ERROR = {"error": text}
DELTA = {"data": text, "offset?": whole, "nextOffset?": whole}
BEAT = {"heartbeat": {}}
SESSION_EVENTS = {
    "ready": {"guestBootId": boot_id, "heartbeatMs?": number, "sessionId?": text, "kind?": one_of("terminal", "detached"),
              "state?": one_of("running", "exited"), "fromOffset?": whole, "droppedBytes?": whole, "nextOffset?": whole},
    "data": {"data": text, "stream?": one_of("stdout", "stderr"), "offset?": whole, "nextOffset?": whole},
    "exit": {"exitCode": number, "signal?": number, "nextOffset?": whole},
    "detached": {"reason": one_of("superseded", "slow_reader")}, "error": ERROR, **BEAT}
EVENTS = {
    "execute": {"stdout_delta": DELTA, "stderr_delta": DELTA, "result": RESULT, "error": ERROR},
    "attach-execution": {
        "attached": {"executionId": text, "state": STATE, "fromOffset": whole, "droppedBytes": whole},
        "stdout_delta": {**DELTA, "offset": whole, "nextOffset": whole}, "stderr_delta": {**DELTA, "offset": whole, "nextOffset": whole},
        "attach_result": {"executionId": text, "outcome": one_of("completed", "cancelled", "failed"), "started": flag,
                          "result?": shaped(RESULT), "error?": text, "nextOffset": whole},
        "error": ERROR},
    "read-file-stream": {"meta": {"sizeBytes": whole, "offset": whole, "length": whole}, "data": {"data": data64}, "end": {"bytesSent": whole},
                         "error": ERROR},
    "terminal": SESSION_EVENTS, "attach-session": SESSION_EVENTS,
    "tcp-connect": {"ready": {"guestBootId": boot_id, "heartbeatMs?": number}, "data": {"data": data64}, "end": {}, "error": ERROR, **BEAT},
}


# -- frames -------

def frame(payload):
    return b"%08x\n" % len(payload) + payload


def parse(payload):
    def once(pairs):
        if len({name for name, _ in pairs}) != len(pairs):
            raise ProtocolError(f"a name twice in one object: {payload[:200]!r}")
        return dict(pairs)

    def never(word):
        raise ProtocolError(f"{word} is not JSON")

    try:
        return json.loads(payload.decode("utf-8"), object_pairs_hook=once, parse_constant=never)
    except ValueError as bad:
        raise ProtocolError(f"not JSON in UTF-8: {payload[:200]!r}") from bad


class Wire:
    """One connection, which carries one request."""

    def __init__(self, address, bound=5.0):
        self.socket = socket.socket(socket.AF_UNIX) if text(address) else socket.socket(socket.AF_INET)
        # A queue of strangers may cost a few retransmissions of the first packet before anybody is heard.
        self.socket.settimeout(30)
        self.socket.connect(address)
        self.socket.settimeout(bound)
        self.read, self.ended = bytearray(), False

    def send(self, *values):
        self.socket.sendall(b"".join(frame(json.dumps(x, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
                                           if not isinstance(x, bytes) else x) for x in values))

    def more(self, bound):
        """False at the end of the stream."""
        self.socket.settimeout(max(bound, 0.001))
        got = self.socket.recv(1 << 18)
        self.read += got
        self.ended = self.ended or not got
        return bool(got)

    def held(self):
        """One complete frame that has already arrived, else nothing."""
        line = self.read.find(b"\n", 0, 9)
        if 0 <= line < 8 or (line < 0 and len(self.read) >= 9):
            raise ProtocolError(f"malformed header {bytes(self.read[:9])!r}")
        if line < 0:
            return None
        if not re.fullmatch(rb"[0-9a-f]{8}\n", self.read[:9]):
            raise ProtocolError(f"invalid length header {bytes(self.read[:9])!r}")
        size = int(self.read[:8], 16)
        if len(self.read) < 9 + size:
            return None
        got = bytes(self.read[9:9 + size])
        del self.read[:9 + size]
        return got

    def arrived(self):
        """One complete frame that has come by now, else nothing. Looks at the socket and does not wait."""
        with contextlib.suppress(ConnectionError):  # destroyed is a way to say nothing
            while not self.ended and select.select([self.socket], [], [], 0)[0]:
                self.more(1)
        return self.held()

    def next(self, bound=READ_IDLE):
        """The next frame, or None where the stream ended between two frames. The bound restarts at every byte."""
        while (got := self.held()) is None:
            if not self.more(bound):
                if self.read:
                    raise ProtocolError(f"ended inside a frame: {bytes(self.read[:100])!r}")
                return None
        return got

    def over(self, bound=CLOSE_AFTER_REPLY):
        """Nothing may follow, and the guest closes within the bound."""
        if not self.read and self.more(bound):
            raise ProtocolError("data after the end")
        if self.read:
            raise ProtocolError(f"trailing data {bytes(self.read[:100])!r}")

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Stream:
    """A stream op. Events are checked; heartbeats are sent and watched while somebody waits for an event."""

    def __init__(self, wire, op, asked=None):
        self.wire, self.op, self.asked, self.interval, self.ready = wire, op, asked, None, None
        self.heard = self.spoke = time.monotonic()
        self.beats = 0

    def event(self, bound=READ_IDLE):
        """The next event but heartbeats; None for the terminator."""
        deadline = time.monotonic() + bound
        while True:
            got = self.wire.held()
            if got is None:
                self.wait(deadline)
                continue
            if not got:
                return None
            value = parse(got)
            if isinstance(value, dict) and value.get("ok") is False and "type" not in value:
                raise Refused(value, "R")
            kind = value.get("type") if isinstance(value, dict) else None
            if kind not in EVENTS[self.op] or not fits(value, EVENTS[self.op][kind]):
                raise ProtocolError(f"not an event of {self.op}: {got[:200]!r}")
            if kind == "heartbeat":
                if self.interval is None:
                    raise ProtocolError("a heartbeat that nobody asked for")
                self.beats += 1
                continue
            if kind == "ready":
                if self.ready:
                    raise ProtocolError("ready twice")
                self.ready = value
                self.arm(value.get("heartbeatMs"))
            return value

    def arm(self, echo):
        if echo is not None and self.asked is None:
            raise ProtocolError("an echo that nobody asked for")
        if number(echo) and echo > 0:
            self.interval = min(4 * max(self.asked, 100), max(100, math.floor(echo))) / 1000

    def wait(self, deadline):
        now = time.monotonic()
        step = deadline - now
        if self.interval:
            if now - self.heard > 3 * self.interval:
                raise ProtocolError("the guest is silent for three intervals")
            if now - self.spoke >= self.interval:
                self.say(type="heartbeat")
                self.spoke = now
            step = min(step, max(0.01, self.interval / 4))
        if now > deadline:
            raise TimeoutError(f"no event of {self.op} in time")
        if select.select([self.wire.socket], [], [], max(step, 0))[0]:
            if not self.wire.more(1):
                raise EOFError(f"{self.op} ended without its end")
            self.heard = time.monotonic()

    def say(self, **value):
        self.wire.send(value)

    def end(self, terminated):
        """After the last event: the terminator where the op has one, and then the close."""
        if terminated and self.event() is not None:
            raise ProtocolError("an event after the last one")
        self.wire.over()

    def until(self, *kinds, bound=READ_IDLE):
        """Events up to the first of these kinds, which is the last in the list."""
        got = []
        while not got or got[-1]["type"] not in kinds:
            value = self.event(bound)
            if value is None:
                raise ProtocolError(f"terminator before {kinds}: {got}")
            got.append(value)
        return got

    def close(self):
        self.wire.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Guest:
    def __init__(self, address, token=None, pin=None):
        self.address, self.token, self.pin = address, token, pin

    def envelope(self, op, body=None):
        value = {"op": op}
        if body is not None:
            value["body"] = body
        if self.token is not None and op != "healthz":
            value["token"] = self.token
        if self.pin is not None:
            value["expectedGuestBootId"] = self.pin
        return value

    def open(self, op, body=None):
        wire = Wire(self.address)
        try:
            wire.send(self.envelope(op, body))
        except BaseException:
            wire.close()
            raise
        return wire

    def answer(self, op, body=None, bound=READ_IDLE):
        """Every frame up to the close, as it came; for those who look at shapes."""
        with self.open(op, body) as wire:
            return list(iter(lambda: wire.next(bound), None))

    # -- one reply -------

    def request(self, op, body=None):
        with self.open(op, body) as wire:
            got = wire.next()
            if got is None:
                raise ProtocolError("closed before its reply")
            wire.over()
        value = parse(got)
        if not isinstance(value, dict) or not flag(value.get("ok")):
            raise ProtocolError(f"not a reply: {got[:200]!r}")
        if not value["ok"] and not (op == "healthz" and value.get("retiring")):
            if not text(value.get("error")):
                raise ProtocolError(f"a refusal without its reason: {got[:200]!r}")
            raise Refused(value, "R")
        if not fits(value, REPLIES[op]):
            raise ProtocolError(f"not a reply to {op}: {got[:300]!r}")
        return value

    def health(self):
        got = self.request("healthz")
        if got["protocolVersion"] != 2:
            raise ProtocolError(f"version {got['protocolVersion']}")
        return got

    def reserve(self, name=None):
        return self.request("reserve-execution", None if name is None else {"executionId": name})

    def cancel(self, name):
        return self.request("cancel-execution", {"executionId": name})

    def read_file(self, path, **options):
        """The bytes; a range where offset or length is given."""
        got = self.request("read-file", {"path": path, "encoding": "base64", **options})
        content = base64.b64decode(got["content"], validate=True)
        if ("bytesRead" in got) != bool(options) or got.get("bytesRead", got["sizeBytes"]) != len(content):
            raise ProtocolError(f"the sizes of {path} do not agree: {len(content)} of {got['sizeBytes']}")
        return content

    def write_file(self, path, content, part=None):
        body = {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}
        got = self.request("write-file", body if part is None else {**body, "part": part})
        if not (part or {}).get("discard") and got.get("bytesWritten") != len(content):
            raise ProtocolError(f"{len(content)} bytes were sent, written were {got}")
        return got

    def start_detached(self, name, command, *args, **options):
        return self.request("start-detached", {"sessionId": name, "command": command, "args": list(args), **options})

    def sessions(self):
        return self.request("list-sessions")["sessions"]

    def kill_session(self, name, **options):
        return self.request("kill-session", {"sessionId": name, **options})

    def quiesce(self, **options):
        return self.request("quiesce", options)

    def flush(self, **options):
        return self.request("flush", options)

    # -- streams with a terminator -------

    def events(self, op, body, last, bound=READ_IDLE):
        """All events of a terminated stream whose last one is of the kinds `last`."""
        with Stream(self.open(op, body), op, body.get("heartbeatMs")) as stream:
            got = stream.until(*last, "error", bound=bound)
            stream.end(True)
        if got[-1]["type"] == "error":
            raise Refused(got[-1], "S")
        return got

    def execute(self, command, *args, reserved=True, bound=None, **options):
        """(stdout, stderr, result) of a command that was reserved first, as a host does it."""
        if reserved is True:
            reserved = self.reserve()["executionId"]
        body = {"command": command, "args": list(args), **({"executionId": reserved} if reserved else {}), **options}
        got = self.events("execute", body, ["result"], bound or options.get("timeoutMs", 300000) / 1000 + 10)
        joined = ["".join(x["data"] for x in got if x["type"] == kind) for kind in ("stdout_delta", "stderr_delta")]
        return joined[0], joined[1], got[-1]

    def attach(self, name, offset=0):
        got = self.events("attach-execution", {"executionId": name, "fromOffset": offset}, ["attach_result"])
        if got[0]["type"] != "attached" or got[0]["fromOffset"] != offset + got[0]["droppedBytes"]:
            raise ProtocolError(f"not an attachment: {got[0]}")
        follows(got[1:-1], got[0]["fromOffset"], got[-1]["nextOffset"])
        return got

    def read_stream(self, path, **options):
        got = self.events("read-file-stream", {"path": path, **options}, ["end"])
        if got[0]["type"] != "meta" or any(x["type"] != "data" for x in got[1:-1]):
            raise ProtocolError(f"a streamed read out of order: {[x['type'] for x in got]}")
        content = b"".join(base64.b64decode(x["data"]) for x in got[1:-1])
        if not got[-1]["bytesSent"] == len(content) == got[0]["length"]:
            raise ProtocolError(f"{len(content)} bytes arrived: {got[0]}, {got[-1]}")
        return got[0], content

    # -- streams that stay -------

    def stream(self, op, **body):
        """Opened and ready. What came before `ready` is in `early`."""
        stream = Stream(self.open(op, body), op, body.get("heartbeatMs"))
        try:
            stream.early = stream.until("ready", "exit", "error")
            if stream.early[-1]["type"] == "error":
                raise Refused(stream.early[-1], "S" if stream.op == "attach-session" else "T")
            return stream
        except BaseException:
            stream.close()
            raise

    def terminal(self, cols=80, rows=24, **body):
        return self.stream("terminal", cols=cols, rows=rows, **body)

    def attach_session(self, name, **body):
        return self.stream("attach-session", sessionId=name, **body)

    def tcp(self, port, **body):
        return self.stream("tcp-connect", port=port, **body)


def follows(deltas, at, end):
    """Positions come from the guest and leave no hole. A text in UTF-8 is never shorter than its bytes: U+FFFD is three for three at most."""
    for one in deltas:
        if one["offset"] != at or not at < one["nextOffset"] <= at + len(one["data"].encode("utf-8", "surrogatepass")):
            raise ProtocolError(f"a chunk from {one['offset']} to {one['nextOffset']} with {len(one['data'])} characters, expected at {at}")
        at = one["nextOffset"]
    if at != end:
        raise ProtocolError(f"the stream ends at {at}, its end says {end}")
