#!/usr/bin/env python3
"""The pre-stop hook of deploy/image/entrypoint, with stub tools."""
import threading

from stub_tools import *

# Notes each SIGTERM; the end of its stdin is its end.
INIT = """#!{python}
import os, signal
def term(*_):
    with open({term!r}, "a") as file:
        file.write("term\\n")
    if {last}:
        os._exit(0)
signal.signal(signal.SIGTERM, term)
open({ready!r}, "w").close()
os.read(0, 1)
"""


class Hook(Entrypoint):
    """The init is a process of this test, named by NAMZU_PRESTOP_INIT_PID; the stub of sleep counts the ticks of a clock that does
    not run. real_entrypoint_test.py has the init as pid 1."""

    def init(self, name="tini", last=False):
        """A process of that name. It notes each SIGTERM, which is its last act if `last`, and otherwise ends with its stdin."""
        program, ready, self.term = self.folder / name, self.folder / "ready", self.folder / "term"
        ready.unlink(missing_ok=True)
        self.term.write_text("")
        program.write_text(INIT.format(python=os.path.realpath(sys.executable), term=str(self.term), ready=str(ready), last=last))
        program.chmod(0o755)
        process = subprocess.Popen([program], stdin=subprocess.PIPE)

        def end():
            process.stdin.close()
            process.wait(BOUND)

        self.addCleanup(end)
        wait_for("the init is there", lambda: ready.exists() or process.poll() is not None)
        self.assertEqual(pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip(), name)
        return process

    def prestop(self, shell, init, **variables):
        code, lines, calls = self.run_it(shell, "prestop", NAMZU_PRESTOP_INIT_PID=str(init), **variables)
        self.assertEqual(code, 0)
        self.assertEqual(calls[0], ["sync", "-f", str(self.root)])
        self.assertEqual(self.names(calls[1:]), ["sleep"] * (len(calls) - 1))
        return lines, [x[1] for x in calls[1:]]


class Prestop(Hook):
    # [G 283] the init is signalled, and the wait is longer than the agent's deadline of 15 s
    def test_the_init_is_signalled_and_waited_for_longer_than_the_deadline(self):
        self.stub("sleep")
        for shell in SHELLS:
            init = self.init()
            self.assertEqual(self.prestop(shell, init.pid), ([], ["0.1"] * 170))
            wait_for("the init has the signal", lambda: self.term.read_text() == "term\n")
            self.assertIsNone(init.poll())

    def test_the_wait_follows_the_deadline_rounded_up(self):
        self.stub("sleep")
        init = self.init()
        for deadline, seconds in (("1", 3), ("1000", 3), ("1001", 4), ("20000", 22), ("00900", 3), ("0", 17), ("15s", 17), ("9" * 30, 17)):
            for shell in SHELLS:
                with self.subTest(deadline=deadline):
                    self.assertEqual(self.prestop(shell, init.pid, NAMZU_AGENT_SHUTDOWN_DEADLINE_MS=deadline), ([], ["0.1"] * 10 * seconds))

    # [G 284] an invalid wait
    def test_an_invalid_wait_is_the_derived_one(self):
        self.stub("sleep")
        init = self.init()
        for wait in ("abc", "", "-1", "1.5", "5s", " 5", "0x10", "9" * 30):
            for shell in SHELLS:
                with self.subTest(wait=wait):
                    got = self.prestop(shell, init.pid, NAMZU_PRESTOP_WAIT_SECONDS=wait, NAMZU_AGENT_SHUTDOWN_DEADLINE_MS="500")
                    self.assertEqual(got, ([], ["0.1"] * 30))
        for shell in SHELLS:
            self.assertEqual(self.prestop(shell, init.pid, NAMZU_PRESTOP_WAIT_SECONDS="abc"), ([], ["0.1"] * 170))

    def test_a_valid_wait_is_used(self):
        self.stub("sleep")
        init = self.init()
        for wait, ticks in (("3", 30), ("08", 80), ("0", 0)):
            for shell in SHELLS:
                self.assertEqual(self.prestop(shell, init.pid, NAMZU_PRESTOP_WAIT_SECONDS=wait, NAMZU_AGENT_SHUTDOWN_DEADLINE_MS="x"), ([], ["0.1"] * ticks))

    def test_a_sleep_of_whole_seconds_is_enough(self):
        self.stub("sleep", "case $1 in *.*) echo invalid >&2; exit 1 ;; esac")
        init = self.init()
        for shell in SHELLS:
            self.assertEqual(self.prestop(shell, init.pid), ([], ["0.1"] + ["1"] * 17))

    def test_the_wait_ends_with_the_init(self):
        for shell in SHELLS:
            init = self.init(last=True)
            # The stub's tick is the end of the init, reaped by a thread below, as the kernel does it for pid 1.
            self.stub("sleep", f"while [ -d /proc/{init.pid} ]; do :; done")
            thread = threading.Thread(target=init.wait)
            thread.start()
            lines, ticks = self.prestop(shell, init.pid)
            thread.join(BOUND)
            self.assertEqual(lines, [])
            self.assertLessEqual(len(ticks), 1)
            self.assertEqual(init.returncode, 0)

    # [G 282] another program where the init should be
    def test_another_program_is_not_signalled(self):
        self.stub("sleep")
        for name, variables in (("tinier", {}), ("sleepy", {}), ("tini", {"NAMZU_PRESTOP_INIT_NAME": "dumb-init"})):
            init = self.init(name)
            for shell in SHELLS:
                with self.subTest(name=name):
                    lines, ticks = self.prestop(shell, init.pid, **variables)
                    self.assertEqual(len(lines), 1)
                    self.assertIn(f"'{name}'", lines[0])
                    self.assertEqual(ticks, [])
            # It would take a signal before the end of its stdin.
            init.stdin.close()
            init.wait(BOUND)
            self.assertEqual(self.term.read_text(), "")

    def test_the_name_of_the_init_can_be_another(self):
        self.stub("sleep")
        init = self.init("dumb-init")
        for shell in SHELLS:
            self.assertEqual(self.prestop(shell, init.pid, NAMZU_PRESTOP_INIT_NAME="dumb-init", NAMZU_PRESTOP_WAIT_SECONDS="1")[1], ["0.1"] * 10)

    def test_a_sync_that_fails_or_is_missing_changes_nothing(self):
        self.stub("sleep")
        self.stub("sync", "echo noise; echo more >&2", 1)
        init = self.init()
        for shell in SHELLS:
            self.assertEqual(self.prestop(shell, init.pid, NAMZU_PRESTOP_WAIT_SECONDS="1"), ([], ["0.1"] * 10))


class PidOne(Hook):
    def test_a_pid_that_is_no_number_is_one_and_one_that_nobody_has_is_nobody(self):
        self.stub("sleep")
        one = pathlib.Path("/proc/1/comm").read_text().strip()
        if one == "tini":
            self.skipTest("pid 1 of this machine is tini")
        for shell in SHELLS:
            for pid in ("abc", "", "-1", "1.0"):
                lines, ticks = self.prestop(shell, pid)
                self.assertEqual((len(lines), ticks), (1, []))
                self.assertIn(f"process 1 is '{one}'", lines[0])
            lines, ticks = self.prestop(shell, "0")
            self.assertEqual((len(lines), ticks), (1, []))


if __name__ == "__main__":
    main()
