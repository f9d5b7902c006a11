"""Runs deploy/image/entrypoint with stubs in place of every tool that touches a disk, a user or a process. Each stub records how it
was called, PATH holds nothing else, and so nothing here can format or mount anything. Runs as any user. Every test runs under each
shell that the machine has: dash, bash as a POSIX shell, busybox (from PATH or $PADDOCK_BUSYBOX).

real_pod.py does it with real tools, where the machine lets it."""
import os, pathlib, random, shutil, subprocess, sys, tempfile, time, unittest

ENTRYPOINT = pathlib.Path(__file__).resolve().parents[2] / "deploy/image/entrypoint"
AGENT = "/usr/local/bin/paddock-guest"
TINI = ["/usr/bin/tini", "--", AGENT]
BOUND = 60

STUB = """#!{shell}
printf '%s' {name} >>"$CALLS"
for a; do printf '\\t%s' "$a" >>"$CALLS"; done
printf '\\n' >>"$CALLS"
{body}
"""


def wait_for(what, fact):
    end = time.monotonic() + BOUND
    while not fact():
        if time.monotonic() > end:
            raise AssertionError(f"not within {BOUND} s: {what}")
        time.sleep(0.005)  # between two looks at a fact


def takes_stubs(shell):
    """Whether it runs what PATH holds. A busybox that was built to prefer its own applets would run a real tool in place of a stub."""
    with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
        for tool in ("id", "blkid", "mount"):
            stub = pathlib.Path(folder) / tool
            stub.write_text(f"#!{os.path.realpath('/bin/sh')}\necho stub\n")
            stub.chmod(0o755)
        got = subprocess.run([*shell, "-c", "id; blkid; mount"], env={"PATH": folder}, capture_output=True, text=True)
    return got.stdout == "stub\n" * 3


def shells():
    found = [[shutil.which("dash")], [shutil.which("bash"), "--posix"], [os.environ.get("PADDOCK_BUSYBOX") or shutil.which("busybox"), "sh"]]
    return [x for x in found if x[0] and takes_stubs(x)]


SHELLS = shells()


def a_block_device():
    """Some block device node. It is looked at and never opened: what would open it is a stub."""
    for folder in ("/dev", "/dev/mapper"):
        for path in sorted(pathlib.Path(folder).glob("*")):
            if path.is_block_device():
                return str(path)
    return None


class Entrypoint(unittest.TestCase):
    maxDiff = None
    shell = ["no shell"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.bin, self.calls, self.root = self.folder / "bin", self.folder / "calls", self.folder / "workspace"
        self.bin.mkdir()
        self.uid = str(random.randrange(10**8, 2 * 10**8))  # nobody's, so that its fallback home is this test's own
        self.fallback = pathlib.Path(f"/tmp/namzu-home-{self.uid}")
        self.addCleanup(self.remove_fallback)
        self.home = self.folder / "home/namzu"
        for tool in ("mkdir", "chmod"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.stub("id", "echo 0")
        self.stub("getent", f"echo 'worker:x:{self.uid}:{self.uid}:A Worker:{self.home}:/bin/sh'")
        self.stub("chown")
        self.stub("stat", f"echo {self.uid}")
        self.stub("setpriv", """printf 'pid %s\\n' "$$" >>"$CALLS.env"
            for name in NAMZU_SANDBOX_WORKSPACE HOME USER LOGNAME XDG_CACHE_HOME XDG_CONFIG_HOME; do
              eval printf "'%s\\n'" "\\"$name=\\$$name\\"" >>"$CALLS.env"
            done""")
        for tool in ("blkid", "dd", "mkfs.ext4", "mount", "sync"):
            self.stub(tool)

    def remove_fallback(self):
        if self.fallback.is_symlink():
            self.fallback.unlink()
        elif self.fallback.exists():
            self.fallback.rmdir()

    def stub(self, name, body="", status=0):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(STUB.format(shell=os.path.realpath("/bin/sh"), name=name, body=f"{body}\nexit {status}"))
        path.chmod(0o755)

    def run_it(self, shell, *arguments, **variables):
        """One run: its exit code, its lines on standard error, the calls of the stubs, and the environment of setpriv."""
        self.shell = shell
        for file in (self.calls, pathlib.Path(f"{self.calls}.env")):
            file.write_text("")
        environment = {"PATH": str(self.bin), "CALLS": str(self.calls), "NAMZU_AGENT_UID": self.uid, "NAMZU_AGENT_GID": "1001",
                       "NAMZU_WORKSPACE_ROOT": str(self.root), **variables}
        process = subprocess.Popen([*shell, str(ENTRYPOINT), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment, cwd=self.folder)
        self.pid = process.pid
        try:
            out, err = process.communicate(timeout=BOUND)
        finally:
            process.kill()
        self.assertEqual(out, "")
        calls = [line.split("\t") for line in self.calls.read_text().splitlines()]
        self.environment = dict(x.split("=", 1) if "=" in x else x.split(" ", 1)
                                for x in pathlib.Path(f"{self.calls}.env").read_text().splitlines())
        return process.returncode, err.splitlines(), calls

    def names(self, calls):
        return [x[0] for x in calls]

    def _formatMessage(self, said, standard):
        return super()._formatMessage(said, f"under {' '.join(self.shell)}: {standard}")

    def refused(self, got, *words):
        """Exit code 1, one line that says why, and no agent."""
        code, lines, calls = got
        self.assertEqual((code, len(lines)), (1, 1), got)
        self.assertTrue(lines[0].startswith("entrypoint: "), lines)
        for word in words:
            self.assertIn(str(word), lines[0])
        self.assertNotIn("setpriv", self.names(calls))
        return calls

    def untouched(self, calls):
        """The device: not formatted, not mounted."""
        self.assertFalse({"mkfs.ext4", "mount"} & set(self.names(calls)), calls)

    def as_root(self):
        return ["setpriv", "--reuid", self.uid, "--regid", "1001", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs",
                "--", *TINI]


def main():
    """Ends with 77 when something was skipped. What the machine may not allow is a ctest entry of its own, so that a skip is counted."""
    if not SHELLS:
        sys.exit("no shell here takes the stubs")
    print("stub tools, under:", "; ".join(" ".join(x) for x in SHELLS), file=sys.stderr)
    ran = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not ran.wasSuccessful() else 77 if ran.skipped else 0)
