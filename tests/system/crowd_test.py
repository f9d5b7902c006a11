#!/usr/bin/env python3
"""Many workspaces at once, each through its whole life, and again: nothing fails and nothing is left. bench/workspace_rounds.cpp is the
same with 200 and 20 rounds, and measures memory, too."""
import concurrent.futures

from harness import *

CROWD = [f"w{n}" for n in range(40)]


def children(pid):
    return [int(child) for task in os.listdir(f"/proc/{pid}/task") for child in
            pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()]


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Crowd(SystemTest):
    def live(self, node, name):
        self.assertEqual(self.good(node.run("open", name)), b"created\n")
        self.good(node.run("cp", "-", f"{name}:mine", input=name.encode()))
        self.assertEqual(self.good(node.run("exec", name, "--", "cat", "mine")), name.encode())
        self.assertEqual(self.good(node.run("suspend", name)), b"suspended\n")
        self.assertEqual(self.good(node.run("resume", name)), b"resumed\n")
        self.assertEqual(self.good(node.run("cat", f"{name}:mine")), name.encode())
        self.assertEqual(self.good(node.run("rm", name, "--delete-disk")), b"deleted\n")

    def test_two_rounds_of_a_crowd_leave_nothing(self):
        with Node() as node, concurrent.futures.ThreadPoolExecutor(len(CROWD)) as together:
            pid, held = node.process.pid, []
            for _ in range(2):
                for ended in [together.submit(self.live, node, name) for name in CROWD]:
                    ended.result()
                wait_for("the guests are gone", lambda: not children(pid))
                self.assertEqual(node.json("ls"), [])
                self.assertEqual(node.json("nodes")[0]["workspaces"], 0)
                if held:
                    wait_for("connections are given up", lambda: descriptors(pid) <= held[0])
                held.append(descriptors(pid))


if __name__ == "__main__":
    main()
