#!/usr/bin/env python3
"""The start of deploy/image/entrypoint with stub tools: what it becomes, and what it does to a disk."""
from stub_tools import *


class Start(Entrypoint):
    def test_as_root_it_becomes_the_agent_without_any_privilege(self):
        for shell in SHELLS:
            code, lines, calls = self.run_it(shell)
            self.assertEqual((code, lines), (0, []))
            self.assertEqual(calls[-1], self.as_root())
            self.untouched(calls)
            self.assertEqual(self.environment, {
                "pid": str(self.pid), "NAMZU_SANDBOX_WORKSPACE": str(self.root), "HOME": str(self.home), "USER": "worker", "LOGNAME": "worker",
                "XDG_CACHE_HOME": f"{self.home}/.cache", "XDG_CONFIG_HOME": f"{self.home}/.config"})

    def test_as_another_user_it_becomes_the_agent_without_new_privileges(self):
        self.stub("id", "echo 1001")
        for shell in SHELLS:
            code, lines, calls = self.run_it(shell, "start")
            self.assertEqual((code, lines), (0, []))
            self.assertEqual(calls[-1], ["setpriv", "--no-new-privs", "--", *TINI])
            self.untouched(calls)
            self.assertEqual((self.environment["pid"], self.environment["HOME"]), (str(self.pid), str(self.home)))
            self.assertEqual(self.environment["NAMZU_SANDBOX_WORKSPACE"], str(self.root))

    def test_the_defaults_are_those_of_the_image(self):
        self.stub("stat", "echo 1001")
        for shell in SHELLS:
            code, lines, calls = self.run_it(shell, NAMZU_AGENT_UID="", NAMZU_AGENT_GID="", NAMZU_WORKSPACE_ROOT="")
            self.assertEqual((code, lines), (0, []))
            self.assertIn(["getent", "passwd", "1001"], calls)
            self.assertIn(["chown", "1001:1001", str(self.home)], calls)
            self.assertEqual(calls[-1][1:5], ["--reuid", "1001", "--regid", "1001"])
            self.assertEqual(self.environment["NAMZU_SANDBOX_WORKSPACE"], "/workspace")

    def test_without_setpriv_nothing_starts(self):
        (self.bin / "setpriv").unlink()
        for shell in SHELLS:
            self.assertEqual(self.refused(self.run_it(shell), "setpriv"), [])

    def test_an_unknown_verb_starts_nothing(self):
        for shell in SHELLS:
            self.assertEqual(self.refused(self.run_it(shell, "pre-stop"), "pre-stop"), [])

    def test_the_agent_is_never_root(self):
        for shell in SHELLS:
            for name in ("NAMZU_AGENT_UID", "NAMZU_AGENT_GID"):
                for value in ("0", "000", "root", "-1", "1001 0", "4294967296"):
                    self.assertEqual(self.refused(self.run_it(shell, **{name: value}), name), [])

    def test_a_root_that_nothing_can_be_mounted_at_is_refused(self):
        for shell in SHELLS:
            for root in ("/", "//", "workspace"):
                self.assertEqual(self.refused(self.run_it(shell, NAMZU_WORKSPACE_ROOT=root), "NAMZU_WORKSPACE_ROOT"), [])

    def test_a_path_that_is_no_block_device_is_said_and_not_mounted(self):
        for shell in SHELLS:
            code, lines, calls = self.run_it(shell, NAMZU_WORKSPACE_DEVICE="/dev/null")
            self.assertEqual((code, len(lines)), (0, 1))
            self.assertIn("/dev/null", lines[0])
            self.untouched(calls)
            self.assertEqual(calls[-1], self.as_root())

    # [G 279] a device without root
    def test_a_device_without_root_is_refused(self):
        self.stub("id", "echo 1001")
        for shell in SHELLS:
            for device in (a_block_device() or "/dev/absent", "/dev/absent"):
                calls = self.refused(self.run_it(shell, NAMZU_WORKSPACE_DEVICE=device), device, "root")
                self.untouched(calls)
                self.assertNotIn("blkid", self.names(calls))


class Disk(Entrypoint):
    def setUp(self):
        super().setUp()
        self.device = a_block_device()
        if not self.device:
            self.skipTest("this machine has no block device node")

    def start(self, shell):
        return self.run_it(shell, NAMZU_WORKSPACE_DEVICE=self.device)

    def steps(self, calls):
        """From the probe on."""
        return calls[self.names(calls).index("blkid"):]

    def probe(self):
        return ["blkid", "-p", "-o", "value", "-s", "TYPE", self.device]

    def mounted(self):
        return [["mount", "-o", "noatime,nodev,nosuid", self.device, str(self.root)], ["chown", f"{self.uid}:1001", str(self.root)], self.as_root()]

    # [G 275] blank and readable
    def test_a_blank_disk_is_formatted_once_and_mounted(self):
        self.stub("blkid", status=2)
        self.stub("dd", "printf '1+0 records in\\n1+0 records out\\n' >&2")
        for shell in SHELLS:
            code, lines, calls = self.start(shell)
            self.assertEqual((code, lines), (0, []))
            self.assertEqual(self.steps(calls), [self.probe(), ["dd", f"if={self.device}", "of=/dev/null", "bs=512", "count=1"],
                                                 ["mkfs.ext4", "-F", self.device], *self.mounted()])
            self.assertTrue(self.root.is_dir())

    # [G 276] formatted already
    def test_a_formatted_disk_is_never_formatted(self):
        for kind in ("ext4", "xfs", "crypto_LUKS"):
            self.stub("blkid", f"echo {kind}")
            for shell in SHELLS:
                code, lines, calls = self.start(shell)
                self.assertEqual((code, lines), (0, []))
                self.assertEqual(self.steps(calls), [self.probe(), *self.mounted()])

    # [G 277] a probe that says anything else
    def test_any_other_answer_of_the_probe_leaves_the_disk_alone(self):
        answers = [("", 0), ("echo", 0), *(("", x) for x in (1, 3, 4, 8, 126, 127, 255)), ("echo ext4", 1), ("echo ext4", 8)]
        for body, status in answers:
            self.stub("blkid", body, status)
            for shell in SHELLS:
                with self.subTest(body=body, status=status):
                    calls = self.refused(self.start(shell), self.device, "not formatted")
                    self.assertEqual(self.steps(calls), [self.probe()])

    def test_a_probe_that_is_killed_leaves_the_disk_alone(self):
        self.stub("blkid", "kill -KILL $$")
        for shell in SHELLS:
            code, lines, calls = self.start(shell)  # some shells say themselves that it was killed
            self.assertEqual((code, lines[-1:]), (1, [f"entrypoint: the probe of {self.device} ended with 137 and named no filesystem: it is not formatted"]))
            self.assertEqual(self.steps(calls), [self.probe()])

    # [G 278] nothing found because nothing can be read
    def test_a_disk_that_cannot_be_read_is_left_alone(self):
        self.stub("blkid", status=2)
        unreadable = [("echo 'error reading: Input/output error' >&2", 1), ("", 1), ("printf '0+0 records in\\n0+0 records out\\n' >&2", 0),
                      ("printf '0+1 records in\\n0+1 records out\\n' >&2", 0)]
        for body, status in unreadable:
            self.stub("dd", body, status)
            for shell in SHELLS:
                with self.subTest(body=body):
                    calls = self.refused(self.start(shell), self.device, "not formatted")
                    self.assertEqual(self.names(self.steps(calls)), ["blkid", "dd"])

    def test_a_missing_tool_is_found_before_the_disk_is_looked_at(self):
        for tool in ("blkid", "dd", "mkfs.ext4", "mount"):
            (self.bin / tool).rename(self.folder / "aside")
            for shell in SHELLS:
                with self.subTest(tool=tool):
                    calls = self.refused(self.start(shell), tool)
                    self.untouched(calls)
                    self.assertNotIn("blkid", self.names(calls))
            (self.folder / "aside").rename(self.bin / tool)

    def test_it_stops_at_the_first_step_that_fails(self):
        steps = ["blkid", "dd", "mkfs.ext4", "mount", "chown"]
        for failing in ("mkfs.ext4", "mount"):
            self.stub("blkid", status=2)
            self.stub(failing, status=32)
            for shell in SHELLS:
                with self.subTest(failing=failing):
                    calls = self.refused(self.start(shell), self.device)
                    self.assertEqual(self.names(self.steps(calls)), steps[:steps.index(failing) + 1])
            self.stub(failing)

    def test_a_workspace_that_cannot_be_given_away_starts_no_agent(self):
        self.stub("blkid", "echo ext4")
        self.stub("chown", f'[ "$2" != "{self.root}" ] || exit 1')
        for shell in SHELLS:
            self.refused(self.start(shell), self.root)


if __name__ == "__main__":
    main()
