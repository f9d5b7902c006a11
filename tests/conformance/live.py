"""API servers that are asked over the wire, and how what they answer is made comparable with what was recorded."""
import base64, http.client, json, os, pathlib, re, ssl, subprocess, sys, tempfile, threading, unittest, urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))
from harness import BIN, wait_for  # noqa: E402

ADMIN = object()
MERGE = "application/merge-patch+json"
# By this name the recordings know who writes.
AGENT = "recorder"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.text = status, body.decode(errors="replace")
        self.warnings = headers.get_all("Warning") or []

    @property
    def json(self):
        return json.loads(self.text)


class Server:
    """An API server, and its administrator's token."""

    def __init__(self, name, url, authority, token):
        self.name, self.token, self.where = name, token, urllib.parse.urlsplit(url)
        self.context = ssl.create_default_context(cadata=authority)

    def open(self, method, target, body="", kind="", accept="application/json", token=ADMIN, bound=30, agent=AGENT):
        """The connection and the answer whose body is still to be read."""
        connection = http.client.HTTPSConnection(self.where.hostname, self.where.port, timeout=bound, context=self.context)
        headers = {"User-Agent": agent, "Accept": accept}
        if kind:
            headers["Content-Type"] = kind
        if token:
            headers["Authorization"] = "Bearer " + (self.token if token is ADMIN else token)
        try:
            connection.request(method, target, body.encode() or None, headers)
        except (BrokenPipeError, ConnectionResetError):
            pass  # answered before all of the body was read
        return connection, connection.getresponse()

    def ask(self, *request, **how):
        connection, got = self.open(*request, **how)
        try:
            return Answer(got.status, got.headers, got.read())
        finally:
            connection.close()

    def must(self, method, target, body=None, kind="application/json"):
        """What a request that has to succeed is answered."""
        got = self.ask(method, target, "" if body is None else json.dumps(body), kind if body is not None else "")
        if got.status >= 300:
            raise AssertionError(f"{self.name}: {method} {target}: {got.status} {got.text}")
        return got.json

    def get(self, target):
        """The object, or None where there is none."""
        got = self.ask("GET", target)
        if got.status not in (200, 404):
            raise AssertionError(f"{self.name}: GET {target}: {got.status} {got.text}")
        return got.json if got.status == 200 else None


def real_server():
    """The one that `realcluster/up` has started."""
    return Server("the real server", os.environ["KUBE_SERVER"], pathlib.Path(os.environ["KUBE_CA"]).read_text(), os.environ["KUBE_TOKEN"])


class EmbeddedServer(Server):
    """Our API server alone. It has been started before on the same folder: what was written then is no longer known one by one, as
    with a real server that has just begun to watch its store. A context manager."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        self.kubeconfig = pathlib.Path(self.folder.name) / "kubeconfig"
        self.start()
        self.stop()
        self.start()
        text = self.kubeconfig.read_text()
        quoted = {key: json.loads(value) for key, value in re.findall(r'^ +([a-z-]+): (".*")$', text, re.M)}
        super().__init__("the embedded server", quoted["server"], base64.b64decode(quoted["certificate-authority-data"]).decode(), quoted["token"])

    def start(self):
        self.kubeconfig.unlink(missing_ok=True)
        self.process = subprocess.Popen([BIN / "paddock-cluster", "--server-only", "--quiet", "--listen", "127.0.0.1:0", "--data-dir",
                                         pathlib.Path(self.folder.name) / "data", "--kubeconfig-out", self.kubeconfig], stdout=subprocess.DEVNULL)
        wait_for("the kubeconfig", lambda: self.process.poll() is not None or self.kubeconfig.exists())
        if self.process.poll() is not None:
            raise AssertionError(f"paddock-cluster ended with {self.process.returncode}")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


class Watch:
    """The events of a watch, as they come, on a thread of its own."""

    def __init__(self, server, target):
        self.connection, self.got = server.open("GET", target)
        self.events = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.got:
            self.events.append(json.loads(line))

    def end(self):
        """All events up to the end of the stream."""
        self.reader.join(60)
        self.connection.close()
        return self.events


# -- what is compared -----------------------------------------------------------------------------------------------------

# What no two servers say alike. Times and uids are taken wherever they stand, in messages, too. A controller compares the hash of a
# template's content with its own only.
VOLATILE = ("resourceVersion", "continue", "agents.x-k8s.io/sandbox-pod-template-hash", "agents.x-k8s.io/sandbox-template-hash")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
OLD = re.compile(r"(too old resource version: \d+ \()\d+\)")
VERSION = re.compile(r'(\\?"resourceVersion\\?":\\?")\d+')
# A real server walks the fields of an object that is not of its type in no fixed order.
ERRORS = re.compile(r"(?<=errors:)(\n  .*)+")


def comparable(value, name_of_uid=lambda uid: "<uid>"):
    """`value` without what differs from run to run. `name_of_uid` says what stands for a uid."""
    if isinstance(value, dict):
        out = {k: f"<{k}>" if k in VOLATILE and v else comparable(v, name_of_uid) for k, v in value.items()}
        # They stand in the order of their times.
        return {k: sorted(v, key=lambda x: json.dumps(x, sort_keys=True)) if k == "managedFields" and v else v for k, v in out.items()}
    if isinstance(value, list):
        return [comparable(x, name_of_uid) for x in value]
    if not isinstance(value, str):
        return value
    text = OLD.sub(r"\1<now>)", VERSION.sub(r"\1<version>", TIME.sub("<time>", value)))
    text = ERRORS.sub(lambda found: "\n".join(sorted(found.group().split("\n"))), text)
    return UID.sub(lambda found: name_of_uid(found.group()), text)


def difference(said, wanted, where=""):
    """Where they differ, a line each; empty: nowhere."""
    if isinstance(said, dict) and isinstance(wanted, dict):
        keys = list(wanted) + [x for x in said if x not in wanted]
        lines = [difference(said.get(x, "<nothing>"), wanted.get(x, "<nothing>"), f"{where}/{x}") for x in keys]
    elif isinstance(said, list) and isinstance(wanted, list) and len(said) == len(wanted):
        lines = [difference(x, y, f"{where}/{i}") for i, (x, y) in enumerate(zip(said, wanted))]
    else:
        lines = [] if said == wanted else [f"{where}: {json.dumps(said)} and not {json.dumps(wanted)}"]
    return "\n  ".join(x for x in lines if x)


def known_differences(heading):
    """The table below that heading of KNOWN.md: case -> the status that stands in its second column, or None."""
    section = (HERE / "KNOWN.md").read_text().split(f"\n{heading}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \|", section, re.M)
    return {case: int(here) if here.isdigit() else None for case, here in rows}


def judged(test, answers, known):
    """Fails `test` with every case that differs and is not known to, and every one that is known to and does not. `answers`: case ->
    (status, how it differs; empty: it does not)."""
    wrong = []
    for case, (status, difference) in answers.items():
        if difference and case not in known:
            wrong.append(f"{case}: {difference}")
        elif case in known and not difference:
            wrong.append(f"{case}: no longer differs")
        elif case in known and known[case] not in (None, status):
            wrong.append(f"{case}: {status} and not {known[case]}")
    wrong += [f"{case}: is known to differ and is not there" for case in known.keys() - answers.keys()]
    test.assertFalse(wrong, "\n" + "\n".join(wrong))
