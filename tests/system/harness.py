"""What the system tests share: real programs on loopback, ports chosen by the kernel, waits that are bounded and poll a fact."""
import contextlib, json, os, pathlib, signal, subprocess, sys, tempfile, time, unittest

BIN = pathlib.Path(os.environ["PADDOCK_BIN"])
BOUND = float(os.environ.get("PADDOCK_TEST_BOUND", "60"))  # seconds until a wait is a failure


def wait_for(what, fact, bound=BOUND):
    """The first true value of `fact()`, or a failure that says what was waited for."""
    end = time.monotonic() + bound
    while True:
        got = fact()
        if got:
            return got
        if time.monotonic() > end:
            raise AssertionError(f"not within {bound} s: {what}")
        time.sleep(0.01)  # between two looks at a fact, never instead of one


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def resident(pid):
    """Bytes."""
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * 4096


class Node:
    """One paddockd: embedded, or with a configuration, which is a file or its options. A context manager: it ends with its test, whatever
    happens."""

    def __init__(self, *arguments, data_dir=None, config=None, environment=None):
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        if isinstance(config, dict):
            options, config = config, pathlib.Path(self.folder.name) / "paddock.yaml"
            config.write_text(json.dumps({"listen": "127.0.0.1:0", **options}))
        self.arguments = ["--config", config] if config else ["--embedded", "--listen", "127.0.0.1:0", *arguments]
        if data_dir:
            self.arguments += ["--data-dir", str(data_dir)]
        self.environment = {**os.environ, **(environment or {})}
        self.process = None
        self.address = None
        self.clients = []

    def __enter__(self):
        ready = pathlib.Path(self.folder.name) / "ready"
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+")
        self.process = subprocess.Popen([BIN / "paddockd", *self.arguments, "--ready-file", ready], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self.log, env=self.environment)

        def served():
            if self.process.poll() is not None:
                raise AssertionError(f"the node ended with {self.process.returncode}: {self.read_log()}")
            return ready.exists()

        wait_for("the node serves", served)
        self.address = ready.read_text().strip()
        return self

    def __exit__(self, *_):
        for client in self.clients:  # whom a failure has left over
            if client.poll() is None:
                client.kill()
                client.wait()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        self.folder.cleanup()

    def read_log(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def start(self, *arguments, **options):
        """A client that runs on; the caller waits for it."""
        self.clients.append(subprocess.Popen([BIN / "paddock", "--node", self.address, *arguments], **options))
        return self.clients[-1]

    def run(self, *arguments, input=b"", bound=BOUND):
        """A client that has ended: its code and the bytes of stdout and stderr."""
        return subprocess.run([BIN / "paddock", "--node", self.address, *arguments], input=input, capture_output=True, timeout=bound)

    def json(self, *arguments):
        got = self.run("-o", "json", *arguments)
        assert got.returncode == 0, (arguments, got)
        return json.loads(got.stdout)


class SystemTest(unittest.TestCase):
    maxDiff = None

    def good(self, got):
        self.assertEqual(got.returncode, 0, got)
        return got.stdout

    def refused(self, got, code, reason):
        """The exit code, and `paddock: REASON: text` as the only thing said."""
        self.assertEqual(got.returncode, code, got)
        self.assertTrue(got.stderr.decode().startswith(f"paddock: {reason}: "), got)
        self.assertEqual(got.stderr.count(b"\n"), 1, got)


def main():
    """Ends with 77 when something was skipped. What the machine may not allow is a ctest entry of its own, so that a skip is counted."""
    ran = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not ran.wasSuccessful() else 77 if ran.skipped else 0)
