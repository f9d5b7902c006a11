"""Runs deploy/image/entrypoint with real tools: in mount and pid namespaces of its own, where it is pid 1, on a real loop device, with the
real paddock-guest. What the machine does not allow is skipped by name; the exit code is then 77, so that each part that may be is a ctest entry of its own.

The init is /usr/bin/tini, or $PADDOCK_TINI, or else a stand-in of six lines of shell of the same name: this says which."""
import hashlib, pathlib, shutil, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from harness import *  # noqa: E402

ENTRYPOINT = pathlib.Path(__file__).resolve().parents[2] / "deploy/image/entrypoint"
TOOLS = ("unshare", "nsenter", "setpriv", "mount", "losetup", "blkid", "mkfs.ext4", "dd")
MIB = 1 << 20

# Stands in for tini: passes SIGTERM on to its only child, reaps, and ends as the child does.
STAND_IN = """#!/bin/sh
shift
trap 'kill -TERM "$child"' TERM
"$@" &
child=$!
while :; do
  wait "$child" && code=0 || code=$?
  kill -0 "$child" 2>/dev/null || exit "$code"
done
"""

# Puts the image's files where the entrypoint looks for them, in the private mount namespace: /usr/bin with a tini, /usr/local/bin
# with the agent, a passwd file, and a /tmp of its own. $1 is the folder of the test; the rest is what becomes pid 1.
IMAGE = """set -eu
folder=$1
shift
mount --bind /usr/bin "$folder/usr-bin"
mount -t tmpfs -o mode=755 tmpfs /usr/bin
"$folder/usr-bin/ln" -s "$folder"/usr-bin/* /usr/bin/
"$folder/usr-bin/cp" --remove-destination "$folder/tini" /usr/bin/tini
mount -t tmpfs -o mode=755 tmpfs /usr/local/bin
cp "$folder/paddock-guest" "$folder/paddock-entrypoint" /usr/local/bin/
mount --bind "$folder/passwd" /etc/passwd
mount -t tmpfs -o mode=1777 tmpfs /tmp
exec "$@"
"""


def tini():
    for path in ("/usr/bin/tini", os.environ.get("PADDOCK_TINI")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def works(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=BOUND).returncode == 0
    except FileNotFoundError:
        return False


ROOT = os.geteuid() == 0
MISSING = [x for x in TOOLS if not shutil.which(x)]
NAMESPACES = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", *([] if ROOT else ["--user", "--map-root-user"]), "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
HAVE_NAMESPACES = not MISSING and works(*NAMESPACES, "mount", "-t", "tmpfs", "tmpfs", "/usr/local/bin")


class Loop:
    """A loop device over a file of 64 MiB. The file is what the disk holds."""

    def __init__(self, folder):
        self.file = folder / "disk"
        with open(self.file, "wb") as file:
            file.truncate(64 * MIB)
        got = subprocess.run(["losetup", "--find", "--show", self.file], capture_output=True, text=True)
        if got.returncode:
            raise unittest.SkipTest(f"no loop device: {got.stderr.strip()}")
        self.path = got.stdout.strip()

    def write(self, at, what):
        with open(self.path, "r+b") as device:
            device.seek(at)
            device.write(what)
            os.fsync(device.fileno())

    def content(self):
        subprocess.run(["blockdev", "--flushbufs", self.path], check=True)
        return hashlib.sha256(self.file.read_bytes()).hexdigest()

    def value(self, tag):
        return subprocess.run(["blkid", "-p", "-o", "value", "-s", tag, self.path], capture_output=True, text=True).stdout.strip()

    def close(self):
        subprocess.run(["losetup", "--detach", self.path], check=True)


class Pod:
    """The entrypoint as pid 1 of its own namespaces; a context manager."""

    def __init__(self, test, *before, bare=None, **variables):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NAMZU_WORKSPACE_ROOT": str(test.root), "NAMZU_AGENT_TCP_PORT": "0",
                       "PADDOCK_GUEST_TCP_ADDRESS": "127.0.0.1", "NAMZU_AGENT_BIND_TOKEN": "the-uid-of-the-pod", **variables}
        self.environment = environment
        command = bare or [*before, "/usr/local/bin/paddock-entrypoint"]
        self.log = test.folder / "log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([*NAMESPACES, "sh", "-c", IMAGE, "image", test.folder, *command], env=environment,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            # The rest goes with pid 1, which has become another user and so hears of no parent's death.
            for pid in self.children(self.process.pid):
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait(BOUND)

    def said(self):
        return self.log.read_text()

    def listening(self):
        wait_for("the agent listens", lambda: "listening " in self.said() or self.process.poll() is not None)
        assert self.process.poll() is None, (self.process.returncode, self.said())
        return self

    def ended(self):
        return self.process.wait(BOUND)

    def children(self, pid):
        return [int(x) for x in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def init(self):
        (pid,) = self.children(self.process.pid)
        return pid

    def agent(self):
        (pid,) = self.children(self.init())
        return pid

    def status(self, pid):
        return dict(x.split(":\t", 1) for x in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())

    def variables(self, pid):
        return dict(x.split("=", 1) for x in pathlib.Path(f"/proc/{pid}/environ").read_text().split("\0") if x)

    def prestop(self, **variables):
        """The hook, as an orchestrator runs it: one more process in the pod."""
        enter = ["nsenter", *([] if ROOT else ["--user", "--preserve-credentials"]), "--mount", "--pid", "--target", str(self.init())]
        return subprocess.run([*enter, "/usr/local/bin/paddock-entrypoint", "prestop"], env={**self.environment, **variables}, capture_output=True,
                              timeout=BOUND)


class RealTest(SystemTest):
    def setUp(self):
        if not HAVE_NAMESPACES:
            self.skipTest(f"no namespaces of its own here (missing: {' '.join(MISSING) or 'the right to make them'})")
        folder = tempfile.TemporaryDirectory(prefix="paddock-test-", dir="/var/tmp")  # the pod has a /tmp of its own
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.folder.chmod(0o755)
        self.root, self.home = self.folder / "workspace", self.folder / "home"
        (self.folder / "usr-bin").mkdir()
        shutil.copy(BIN / "paddock-guest", self.folder / "paddock-guest")
        shutil.copy(ENTRYPOINT, self.folder / "paddock-entrypoint")
        if tini():
            shutil.copy(tini(), self.folder / "tini")
        else:
            self.write_program("tini", STAND_IN)
        self.passwd(self.home)

    def write_program(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def passwd(self, home):
        (self.folder / "passwd").write_text(f"root:x:0:0::/root:/bin/sh\nnamzu:x:1001:1001::{home}:/bin/sh\n")

    def disk(self):
        if not ROOT:
            self.skipTest("only root has loop devices and mounts them")
        disk = Loop(self.folder)
        self.addCleanup(disk.close)
        return disk

    def without_privileges(self, pod):
        """What [G] 15.4 and 21.2 want of the agent and of the init, and that the agent is the init's child."""
        init, agent = pod.status(pod.init()), pod.status(pod.agent())
        for status in (init, agent):
            # An ordinary user's 1001 is that user again, looked at from outside of the pod.
            self.assertEqual(status["Uid"].split(), [str(1001 if ROOT else os.getuid())] * 4)
            self.assertEqual(status["Gid"].split(), [str(1001 if ROOT else os.getgid())] * 4)
            if ROOT:
                self.assertEqual(status["Groups"].split(), [])
            for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual((name, int(status[name], 16)), (name, 0))
            self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual((init["Name"], init["NSpid"].split()[-1]), ("tini", "1"))
        self.assertEqual((agent["Name"], agent["PPid"]), ("paddock-guest", init["Pid"]))
        self.assertEqual(pod.children(pod.agent()), [])
        # Nothing else is left of what prepared the pod.
        self.assertEqual(pod.children(pod.init()), [int(agent["Pid"])])


def main():
    print(f"as {'root' if ROOT else 'an ordinary user'}; real tools{'' if HAVE_NAMESPACES else ' are not possible here'}; the init is "
          f"{tini() or 'a stand-in shell script by the name of tini'}", file=sys.stderr)
    ran = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not ran.wasSuccessful() else 77 if ran.skipped else 0)
