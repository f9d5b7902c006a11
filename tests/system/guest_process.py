"""The real guest agent as a process of its own, on loopback, with a folder of its own that ends with it."""
import ctypes, pathlib, re, resource, subprocess
import tempfile
from harness import *
from guest_client import Guest

TOKEN = "b7c1e0a4-52d3-4f8e-8a16-0c94d2f7a311"
NOBODY = 65534
LIBC = ctypes.CDLL(None)


class Agent:
    """Variables without their `NAMZU_` in small letters: `agent_cancel_grace_ms=0`. A context manager."""

    def __init__(self, token=TOKEN, uid=None, limits=(), private_disk=None, pid_namespace=False, preset=True, **variables):
        self.token, self.uid, self.limits, self.private_disk = token, uid, dict(limits), private_disk
        self.pid_namespace = pid_namespace
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-agent-")
        self.root = pathlib.Path(self.folder.name)
        self.workspace = self.root / "workspace"
        self.workspace.mkdir()
        own = {"NAMZU_" + name.upper(): str(value) for name, value in variables.items()}
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("NAMZU_")},
                            "PADDOCK_GUEST_TCP_ADDRESS": "127.0.0.1", "NAMZU_AGENT_TCP_PORT": "0",
                            "NAMZU_SANDBOX_WORKSPACE": str(self.workspace), "NAMZU_AGENT_QUIESCE_SCOPE": "owned-sessions", **own}
        if preset:
            self.environment["NAMZU_AGENT_BIND_TOKEN"] = token
        self.process = None

    def before(self):
        for what, bound in self.limits.items():
            resource.setrlimit(what, (bound, bound))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        if self.uid:
            os.setgid(self.uid)
            os.setuid(self.uid)
        LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a test that is killed takes its agent along

    def __enter__(self):
        try:
            if self.uid:
                for path in (self.root, self.workspace):
                    os.chown(path, self.uid, self.uid)
            command = [str(BIN / "paddock-guest")]
            if self.private_disk:
                command = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size={self.private_disk} none "$0" && exec "$@"',
                           str(self.workspace), *command]
            if self.pid_namespace:
                del self.environment["NAMZU_AGENT_QUIESCE_SCOPE"]
                command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *command]
            self.log = open(self.root / "log", "w+")
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log,
                                            env=self.environment, preexec_fn=self.before, start_new_session=True)

            def served():
                if self.process.poll() is not None:
                    raise AssertionError(f"the agent ended with {self.process.returncode}: {self.read_log()}")
                return re.search(r"listening ([0-9.]+):([0-9]+)\s", self.read_log())

            found = wait_for("the agent listens", served)
            self.address = (found[1], int(found[2]))
            self.guest = Guest(self.address, self.token)
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            with contextlib.suppress(Exception):  # what still runs ends with the agent, not after it
                self.guest.quiesce(graceMs=50)
            self.process.kill()
        if self.process:
            self.process.wait()
            self.log.close()
        self.folder.cleanup()

    def read_log(self):
        return (self.root / "log").read_text()

    def pid(self):
        return self.process.pid

    def status(self, field):
        with open(f"/proc/{self.pid()}/status") as f:
            return int(re.search(rf"{field}:\s+(\d+)", f.read())[1])

    def rss(self):
        """KiB that are resident."""
        return self.status("VmRSS")

    def forget_peak(self):
        """From now on `peak` is the most that will have been resident. Returns where that begins."""
        with open(f"/proc/{self.pid()}/clear_refs", "w") as f:
            f.write("5")
        return self.peak()

    def peak(self):
        """KiB that were resident at most."""
        return self.status("VmHWM")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid()}/fd"))

    def children(self):
        """{pid: state} of its direct children, zombies too."""
        with open(f"/proc/{self.pid()}/task/{self.pid()}/children") as f:
            pids = [int(x) for x in f.read().split()]
        got = {}
        for pid in pids:
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/stat") as f:
                got[pid] = f.read().rsplit(")", 1)[1].split()[0]
        return got


def pid_in(path):
    """The process id that a command has written there."""
    return wait_for(f"a pid in {path}", lambda: path.exists() and path.read_text().strip().isdigit() and int(path.read_text()))


def gone(pid, bound=10):
    wait_for(f"process {pid} has ended", lambda: not alive(pid), bound)
