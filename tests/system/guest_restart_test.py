#!/usr/bin/env python3
"""A guest agent that dies and comes back under a node: the workspace goes on, and who listens is told."""
from harness import *


class GuestRestart(SystemTest):
    def test_a_killed_agent_is_one_event_and_the_workspace_goes_on(self):
        with Node() as node:
            self.good(node.run("open", "desk"))
            before = node.json("identity", "desk")
            self.assertEqual(node.json("events", "desk"), [])
            ear = node.start("-o", "json", "events", "desk", "--follow", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            killed = int(self.good(node.run("exec", "desk", "--", "sh", "-c", "echo $PPID")))
            os.kill(killed, signal.SIGKILL)
            wait_for("the guest is back", lambda: node.run("exec", "desk", "--", "true").returncode == 0)
            told = json.loads(ear.stdout.readline())
            after = node.json("identity", "desk")
            self.assertEqual(after["podUid"], before["podUid"])
            self.assertNotEqual(after["guestBootId"], before["guestBootId"])
            self.assertEqual((told["number"], told["event"], told["reason"]), (1, "guest-restart", "container-restarted"))
            self.assertEqual(told["previous"], before)
            self.assertEqual(told["current"], after)
            # The same is told to who comes later, and no second time by what the guest says afterwards.
            self.good(node.run("exec", "desk", "--", "true"))
            self.assertEqual(node.json("events", "desk"), [told])
            self.assertRegex(self.good(node.run("events", "desk")).decode(), r"^\S+  guest-restart \(container-restarted\): \S.*\n$")
            ear.terminate()
            self.assertEqual(ear.communicate(timeout=BOUND)[0], b"")

    def test_a_listener_hears_that_the_node_is_gone_and_one_with_a_bound_ends_well(self):
        with Node() as node:
            self.good(node.run("open", "desk"))
            self.assertEqual(self.good(node.run("--timeout", "100ms", "events", "desk", "-f")), b"")
            ear = node.start("events", "desk", "-f", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            node.process.kill()
            out, err = ear.communicate(timeout=BOUND)
            self.assertNotEqual(ear.returncode, 0)
            self.assertTrue(err.startswith(b"paddock: "), err)

    def test_a_refresh_says_how_the_workspace_stands_here(self):
        with Node() as node:
            self.assertEqual(node.run("refresh", "desk").returncode, 5)
            self.good(node.run("open", "desk"))
            self.assertEqual(self.good(node.run("refresh", "desk")), b"running\n")
            self.assertEqual(node.json("refresh", "desk")["state"], "running")
            self.good(node.run("suspend", "desk"))
            self.assertEqual(self.good(node.run("refresh", "desk")), b"suspended\n")
            self.assertEqual(node.run("exec", "desk", "--", "true").returncode, 125)
            self.assertEqual(node.run("events", "nobody").stdout, b"")


if __name__ == "__main__":
    main()
