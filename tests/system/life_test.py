#!/usr/bin/env python3
"""The life of a workspace through the real programs: what is kept over a suspend, and what is really gone."""
import re

from harness import *


class Life(SystemTest):
    def test_files_outlive_the_pod_and_nothing_else_does(self):
        with Node() as node:
            opened = node.json("open", "desk")
            self.assertEqual(opened["origin"], "created")
            first = node.json("identity", "desk")
            guest = int(self.good(node.run("exec", "desk", "--", "sh", "-c", "echo $PPID")))
            self.assertTrue(alive(guest))
            content = bytes(range(256)) * 100
            self.good(node.run("cp", "-", "desk:notes.bin", input=content))
            self.good(node.run("suspend", "desk"))
            wait_for("the guest process is gone", lambda: not alive(guest), 5)
            asleep = node.json("get", "desk")
            self.assertEqual(asleep["operatingMode"], "Suspended")
            self.assertEqual(asleep["state"], "suspended")
            self.assertNotIn("podUid", asleep)
            self.refused(node.run("cat", "desk:notes.bin"), 3, "WorkspaceSuspended")
            self.refused_exec(node.run("exec", "desk", "--", "true"), "WorkspaceSuspended")
            self.assertEqual(node.json("resume", "desk")["origin"], "resumed")
            second = node.json("identity", "desk")
            self.assertEqual(second["sandboxUid"], first["sandboxUid"])
            self.assertEqual(second["volumeClaimUids"], first["volumeClaimUids"])
            self.assertNotEqual(second["podUid"], first["podUid"])
            self.assertNotEqual(int(self.good(node.run("exec", "desk", "--", "sh", "-c", "echo $PPID"))), guest)
            self.assertEqual(self.good(node.run("cat", "desk:notes.bin")), content)

    def refused_exec(self, got, reason):
        self.assertEqual(got.returncode, 125, got)
        self.assertTrue(got.stderr.decode().startswith(f"paddock: {reason}: "), got)

    def test_an_open_workspace_is_opened_again_as_it_is(self):
        with Node() as node:
            self.assertEqual(self.good(node.run("open", "desk")), b"created\n")
            pod = node.json("identity", "desk")["podUid"]
            self.assertEqual(self.good(node.run("open", "desk")), b"adopted-running\n")
            self.assertEqual(node.json("identity", "desk")["podUid"], pod)
            self.good(node.run("suspend", "desk"))
            self.good(node.run("suspend", "desk"))
            self.assertEqual(self.good(node.run("open", "desk")), b"resumed\n")

    def test_a_delete_takes_the_disk(self):
        with Node() as node:
            self.good(node.run("open", "desk"))
            self.good(node.run("cp", "-", "desk:a", input=b"1"))
            uid = node.json("identity", "desk")["sandboxUid"]
            self.refused(node.run("rm", "desk"), 2, "Usage")
            self.good(node.run("rm", "desk", "--delete-disk"))
            self.assertEqual(node.run("get", "desk").returncode, 5)
            wait_for("the name is free", lambda: node.run("open", "desk").returncode == 0)
            self.assertNotEqual(node.json("identity", "desk")["sandboxUid"], uid)
            self.assertNotEqual(node.run("cat", "desk:a").returncode, 0)

    def test_a_verb_for_a_named_sandbox_reaches_no_other(self):
        with Node() as node:
            self.good(node.run("open", "desk"))
            known = node.json("identity", "desk")
            uid, (claim, disk) = known["sandboxUid"], next(iter(known["volumeClaimUids"].items()))
            for other in (["suspend", "desk", "--by-id"], ["rm", "desk", "--delete-disk"]):
                self.refused(node.run(*other, "--expect-uid", "another"), 6, "WorkspaceReplaced")
                self.refused(node.run(*other, "--expect-uid", ""), 2, "IllegalArgument")
            self.refused(node.run("suspend", "desk", "--by-id", "--quiesce"), 2, "IllegalArgument")
            self.assertEqual(node.json("identity", "desk")["podUid"], known["podUid"])
            self.good(node.run("suspend", "desk", "--by-id", "--expect-uid", uid))
            self.refused(node.run("open", "desk", "--expect-uid", "another"), 6, "WorkspaceIdentityMismatch")
            self.refused(node.run("open", "desk", "--expect-uid", uid, "--expect-claim", f"{claim}=another"), 6, "WorkspaceIdentityMismatch")
            self.assertEqual(node.json("get", "desk")["operatingMode"], "Suspended")
            self.assertEqual(self.good(node.run("open", "desk", "--expect-uid", uid, "--expect-claim", f"{claim}={disk}")), b"resumed\n")
            self.good(node.run("rm", "desk", "--delete-disk", "--expect-uid", uid))
            self.refused(node.run("open", "desk", "--expect-uid", uid), 5, "WorkspaceIdentityMismatch")

    def test_the_inventory_shows_all_and_wakes_none(self):
        with Node() as node:
            for name in ("a", "b"):
                self.good(node.run("open", name))
            self.good(node.run("suspend", "b"))
            rows = {x["workspace"]: x for x in node.json("ls")}
            self.assertEqual({name: x["operatingMode"] for name, x in rows.items()}, {"a": "Running", "b": "Suspended"})
            self.assertIn("operatingModeChangedAt", rows["b"])
            self.assertEqual(sorted(self.good(node.run("-o", "name", "ls")).split()), [b"a", b"b"])
            self.assertEqual(node.json("get", "b")["operatingMode"], "Suspended")
            table = self.good(node.run("ls")).decode().splitlines()
            self.assertEqual(table[0].split()[0], "WORKSPACE")
            self.assertEqual(len(table), 3)
            about = node.json("nodes")[0]
            self.assertTrue(about["embedded"])

    def test_a_node_with_a_data_dir_comes_back_with_everything(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as data:
            with Node(data_dir=data) as node:
                self.good(node.run("open", "desk"))
                self.good(node.run("cp", "-", "desk:a", input=b"kept"))
                self.good(node.run("open", "lamp"))
                self.good(node.run("suspend", "lamp"))
                uid = node.json("identity", "desk")["sandboxUid"]
                before = node.json("get", "desk")["holderEpoch"]
            with Node(data_dir=data) as node:
                # The first call reads what stands; the epoch goes on from the stored one.
                self.assertEqual(wait_for("the guest is back", lambda: node.run("cat", "desk:a").stdout), b"kept")
                now = node.json("get", "desk")
                self.assertEqual(now["sandboxUid"], uid)
                self.assertGreater(now["holderEpoch"], before)
                self.assertEqual(node.json("get", "lamp")["operatingMode"], "Suspended")

    def test_a_killed_node_with_a_data_dir_has_lost_nothing_it_acknowledged(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as data:
            with Node(data_dir=data) as node:
                self.good(node.run("open", "desk"))
                self.good(node.run("cp", "-", "desk:a", input=b"kept"))
                guest = int(self.good(node.run("exec", "desk", "--", "sh", "-c", "echo $PPID")))
                node.process.kill()
                node.process.wait()
                wait_for("the guest died with its node", lambda: not alive(guest), 5)
            with Node(data_dir=data) as node:
                self.assertEqual(wait_for("the guest is back", lambda: node.run("cat", "desk:a").stdout), b"kept")

    def test_sigterm_ends_a_busy_node_within_five_seconds(self):
        with Node() as node:
            self.good(node.run("open", "desk"))
            guest = int(self.good(node.run("exec", "desk", "--", "sh", "-c", "echo $PPID")))
            busy = node.start("exec", "desk", "--", "sh", "-c", "echo on; exec sleep 1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(busy.stdout.readline(), b"on\n")
            begun = time.monotonic()
            node.process.send_signal(signal.SIGTERM)
            self.assertEqual(node.process.wait(10), 0)
            self.assertLess(time.monotonic() - begun, 5.5)
            self.assertFalse(alive(guest))
            self.assertNotEqual(busy.wait(10), 0)
            busy.communicate()

    def test_sigterm_ends_a_node_whose_command_cannot_be_confirmed(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            with Node(environment={"TMPDIR": folder}) as node:
                self.good(node.run("open", "desk"))
                # The command leaves its process group at once, so that the guest cannot say that it is gone.
                busy = node.start("exec", "desk", "--", "setsid", "sh", "-c", "echo $$; exec sleep 1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                pid = int(busy.stdout.readline())
                begun = time.monotonic()
                node.process.send_signal(signal.SIGTERM)
                node.process.send_signal(signal.SIGTERM)
                self.assertEqual(node.process.wait(10), 0)
                self.assertLess(time.monotonic() - begun, 5.5)
                self.assertFalse(alive(pid))
                self.assertEqual(os.listdir(folder), [])
                busy.communicate(timeout=BOUND)

    def test_the_programs_learn_how_their_children_end(self):
        """Inherited as ignored, SIGCHLD would have the kernel forget it: then a credential plug-in that failed cannot be told."""
        for command in (["paddock-cluster", "--quiet"], ["paddockd", "--embedded", "--listen", "127.0.0.1:0"]):
            process = subprocess.Popen([BIN / command[0], *command[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
            try:
                self.assertTrue(process.stdout.readline().startswith(b"ready "))
                ignored = int(re.search(r"SigIgn:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1], 16)
                self.assertFalse(ignored >> (signal.SIGCHLD - 1) & 1, command)
            finally:
                process.terminate()
                process.wait(BOUND)
                process.stdout.close()

    def test_a_deleted_workspace_leaves_no_actor_behind(self):
        with Node() as node:
            for i in range(3):
                self.good(node.run("open", f"w{i}"))
                self.good(node.run("rm", f"w{i}", "--delete-disk"))
            wait_for("the actors are gone", lambda: node.json("nodes")[0]["workspaces"] == 0)


if __name__ == "__main__":
    main()
