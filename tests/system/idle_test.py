#!/usr/bin/env python3
"""A node that lets go of a workspace which nobody uses: real programs and a real guest."""
from clusters import *
from guest_verbs_test import Terminal


class Idle(SystemTest):
    def test_an_idle_workspace_is_let_go_and_comes_back_with_the_next_use(self):
        with embedded_cluster(), host(idle_after="100ms") as node:

            def held():
                return node.json("nodes")[0]["workspaces"]

            def let_go():
                wait_for("it is let go", lambda: held() == 0)

            self.assertEqual(self.good(node.run("open", "desk")), b"created\n")
            let_go()
            self.assertEqual(node.json("get", "desk")["operatingMode"], "Running")
            self.assertNotIn("podUid", node.json("identity", "desk"))  # what nobody holds
            self.assertEqual(self.good(node.run("exec", "desk", "--", "sh", "-c", "echo here | tee left")), b"here\n")
            let_go()
            with Terminal(BIN / "paddock", "--node", node.address, "shell", "desk", "--", "sh") as screen:
                screen.type("echo began-$((1+1))\r")
                screen.until(rb"began-2\r\n")
                self.assertIn("podUid", node.json("identity", "desk"))
                for _ in range(5):  # longer than the bound, and nothing but the terminal holds it
                    self.assertEqual(self.good(node.run("cat", "desk:left")), b"here\n")
                    self.assertEqual(held(), 1)
                screen.type("exit 3\r")
                self.assertEqual(screen.end(), 3)
            let_go()
            self.assertEqual(self.good(node.run("suspend", "desk")), b"suspended\n")
            let_go()
            self.assertEqual(self.good(node.run("resume", "desk")), b"resumed\n")
            self.assertEqual(self.good(node.run("cat", "desk:left")), b"here\n")
            let_go()
            self.assertEqual(self.good(node.run("rm", "desk", "--delete-disk")), b"deleted\n")
            self.assertEqual(held(), 0)


if __name__ == "__main__":
    main()
