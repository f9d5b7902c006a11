#!/usr/bin/env python3
"""The agent among hostile programs, as far as the test has to be root: for a uid that nobody else has, whose processes are counted, and
for a pid namespace of its own."""
import resource
import guest_hostile_test
from guest_client import *
from guest_process import *

# A subshell that forks until the kernel says no, and one more process in the place that its own end leaves.
BOMB = "(while :; do sleep 600 & done) 2>/dev/null; sleep 600 & echo full; exec sleep 600"


@unittest.skipUnless(guest_hostile_test.ROOT, "only root has uids and pid namespaces to give")
class Programs(SystemTest):
    def processes_of(self, uid):
        count = 0
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                if os.stat(f"/proc/{pid}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{pid}/task"))
        return count

    def test_a_fork_bomb(self):
        with Agent(uid=NOBODY, limits={resource.RLIMIT_NPROC: self.processes_of(NOBODY) + 80}) as agent:
            guest = agent.guest
            guest.execute("true")
            descriptors = agent.descriptors()
            name = guest.reserve()["executionId"]
            body = {"executionId": name, "command": "/bin/sh", "args": ["-c", BOMB]}
            with Stream(guest.open("execute", body), "execute") as stream:
                self.assertEqual(stream.event(20).get("data"), "full\n")
                with self.assertRaises(Refused) as got:
                    guest.execute("true")
                self.assertEqual((got.exception.shape, got.exception.error), ("S", "spawn true EAGAIN"))
                with self.assertRaises(Refused) as got:
                    guest.start_detached("d", "true")
                self.assertEqual(got.exception.error, "spawn_failed")
                self.assertIn("EAGAIN", got.exception.said["message"])
                with self.assertRaises(Refused) as got:
                    guest.terminal(command="true").close()
                self.assertIn("EAGAIN", got.exception.error)
                self.assertTrue(guest.health()["ok"])
                guest.write_file("f", b"files need no process")
                self.assertEqual(guest.read_file("f"), b"files need no process")
                with self.assertRaises(Refused) as got:
                    guest.flush(timeoutMs=20000)
                self.assertEqual(got.exception.error, "flush_unconfirmed")
                self.assertIn("Resource temporarily unavailable", got.exception.said["message"])
                self.assertEqual(guest.cancel(name)["state"], "cancelled")
                self.assertEqual(stream.until("result", bound=20)[-1]["exitCode"], -1)
            self.assertEqual(guest.execute("true")[2]["exitCode"], 0)
            guest_hostile_test.settled(agent, descriptors)

    def test_escapees_in_a_pid_namespace(self):
        with Agent(pid_namespace=True) as agent:
            name = agent.guest.reserve()["executionId"]
            with Stream(agent.guest.open("execute", {"executionId": name, "command": "sh", "args": ["-c", "trap '' TERM; " + guest_hostile_test.ESCAPE]}), "execute") as stream:
                escaped, leader = pid_in(agent.workspace / "escaped"), pid_in(agent.workspace / "leader")
                got = agent.guest.quiesce(graceMs=200)
                self.assertEqual(got["scope"], "pid-namespace")
                self.assertEqual({(x["pid"], x["signal"]) for x in got["stopped"]}, {(escaped, "SIGKILL"), (leader, "SIGKILL")})
                self.assertLessEqual({x["command"] for x in got["stopped"]}, {"sh", "sleep"})  # whichever it had come to
                self.assertEqual(stream.until("result", bound=20)[-1]["signal"], "SIGKILL")
                stream.end(True)
            self.assertEqual(agent.guest.cancel(name)["state"], "cancelled")
            self.assertEqual(agent.guest.quiesce()["rounds"], 0)
            self.assertTrue(agent.guest.health()["ok"])


if __name__ == "__main__":
    main()
