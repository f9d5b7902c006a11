#!/usr/bin/env python3
"""deploy/image/entrypoint with real tools, as real_pod.py runs it."""
from real_pod import *


class Disk(RealTest):
    def mounted(self, pod, disk):
        """The options of the mount, after a look at who owns it."""
        inside = pathlib.Path(f"/proc/{pod.agent()}")
        owner = (inside / "root" / str(self.root)[1:]).stat()
        self.assertEqual((owner.st_uid, owner.st_gid), (1001, 1001))
        (mount,) = [x.split() for x in (inside / "mounts").read_text().splitlines() if x.split()[1] == str(self.root)]
        self.assertEqual((mount[0], mount[2]), (disk.path, "ext4"))
        self.assertLessEqual({"noatime", "nodev", "nosuid"}, set(mount[3].split(",")))
        return inside / "root" / str(self.root)[1:]

    # [G 275] blank and readable; [G 276] formatted already
    def test_a_blank_disk_is_formatted_once_and_keeps_what_is_written(self):
        disk = self.disk()
        with Pod(self, NAMZU_WORKSPACE_DEVICE=disk.path) as pod:
            workspace = self.mounted(pod.listening(), disk)
            (workspace / "kept").write_text("of the first pod")
            self.without_privileges(pod)
            identity = disk.value("UUID")
            self.assertTrue(identity)
            os.kill(pod.init(), signal.SIGTERM)
            self.assertEqual(pod.ended(), 0)
        wait_for("the disk is let go", lambda: disk.path not in pathlib.Path("/proc/mounts").read_text())
        with Pod(self, NAMZU_WORKSPACE_DEVICE=disk.path) as pod:
            workspace = self.mounted(pod.listening(), disk)
            self.assertEqual((workspace / "kept").read_text(), "of the first pod")
            self.assertEqual(disk.value("UUID"), identity)
            self.assertNotIn("mke2fs", pod.said())

    def left_alone(self, disk, said):
        before = disk.content()
        with Pod(self, NAMZU_WORKSPACE_DEVICE=disk.path) as pod:
            self.assertEqual(pod.ended(), 1, pod.said())
            self.assertEqual(pod.said().count("\n"), 1, pod.said())
            self.assertIn(said, pod.said())
        self.assertEqual(disk.content(), before)

    # [G 277] a probe that is not plain: two filesystems at once (status 8), partitions and no filesystem (status 0, nothing said)
    def test_a_disk_with_two_signatures_is_left_alone(self):
        disk = self.disk()
        subprocess.run(["mkfs.ext4", "-q", "-F", disk.path], check=True)
        disk.write(0, b"-rom1fs-")
        self.left_alone(disk, "ended with 8")

    def test_a_disk_with_partitions_is_left_alone(self):
        disk = self.disk()
        disk.write(446, bytes([0, 0, 0, 0, 0x83, 0, 0, 0, 1, 0, 0, 0, 0xFF, 0xFF, 1, 0]))
        disk.write(510, b"\x55\xaa")
        self.left_alone(disk, "ended with 0")

    # [G 278] the probe says "nothing" of a disk whose reads fail
    def test_a_disk_whose_reads_fail_is_left_alone(self):
        disk = self.disk()
        with open(disk.file, "r+b") as file:
            file.truncate(0)  # each read of the device is an I/O error from here on
        subprocess.run(["blockdev", "--flushbufs", disk.path], check=True)
        self.assertEqual(subprocess.run(["blkid", "-p", disk.path], capture_output=True).returncode, 2)
        self.left_alone(disk, "cannot be read")
        self.assertEqual(disk.file.stat().st_size, 0)

    def test_a_disk_that_nothing_can_mount_is_left_alone(self):
        disk = self.disk()
        subprocess.run(["mkswap", disk.path], check=True, capture_output=True)
        before = disk.content()
        with Pod(self, NAMZU_WORKSPACE_DEVICE=disk.path) as pod:
            self.assertEqual(pod.ended(), 1, pod.said())
            self.assertIn("could not be mounted", pod.said().splitlines()[-1])
        self.assertEqual(disk.content(), before)

    # [G 279] a device without root
    def test_a_device_without_root_is_refused(self):
        disk = self.disk()
        self.home.mkdir()
        os.chown(self.home, 1001, 1001)
        before = disk.content()
        with Pod(self, "setpriv", "--reuid=1001", "--regid=1001", "--clear-groups", "--", NAMZU_WORKSPACE_DEVICE=disk.path) as pod:
            self.assertEqual(pod.ended(), 1)
            self.assertIn("only root can mount", pod.said())
        self.assertEqual(disk.content(), before)


class Agent(RealTest):
    def test_the_agent_of_an_unprivileged_pod_has_no_privilege(self):
        self.home.mkdir()
        empty = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"]
        if ROOT:
            os.chown(self.home, 1001, 1001)
            task = [*empty, "--reuid=1001", "--regid=1001", "--clear-groups", "--"]
        else:
            task = ["unshare", "--user", "--map-user=1001", "--map-group=1001", "--keep-caps", *empty, "--"]
            if not works("unshare", "--user", "--map-root-user", *task, "true"):
                self.skipTest("no user namespace inside another")
        with Pod(self, *task) as pod:
            pod.listening()
            self.without_privileges(pod)
            self.assertEqual(pod.variables(pod.agent())["HOME"], str(self.home))


class Prestop(RealTest):
    # pid 1 is another program
    def test_another_pid_1_is_not_signalled(self):
        self.write_program("other", '#!/bin/sh\ntrap "echo signalled" TERM\necho ready\nwhile :; do sleep 0.05; done\n')
        with Pod(self, bare=[self.folder / "other"]) as pod:
            wait_for("pid 1 is there", lambda: "ready" in pod.said())
            self.root.mkdir()
            got = pod.prestop()
            self.assertEqual((got.returncode, got.stdout, got.stderr), (0, b"", b"entrypoint: process 1 is 'other' and not 'tini': it is not signalled\n"))
            # One signal of our own is the only one that it ever reports.
            self.assertEqual(pod.said(), "ready\n")
            os.kill(pod.init(), signal.SIGTERM)
            wait_for("its own signal arrives", lambda: "signalled" in pod.said())
            self.assertEqual(pod.said(), "ready\nsignalled\n")


@unittest.skipUnless(ROOT, "only root starts as root, gives a home to another uid and enters its pod")
class Root(RealTest):
    # [G 281] what is left of the privileges, after a start as root and after the start of a task's pod
    def test_the_agent_that_root_started_has_no_privilege(self):
        with Pod(self) as pod:
            pod.listening()
            self.without_privileges(pod)
            variables = pod.variables(pod.agent())
            self.assertEqual([variables[x] for x in ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NAMZU_SANDBOX_WORKSPACE")],
                             [str(self.home), "namzu", "namzu", f"{self.home}/.cache", f"{self.home}/.config", str(self.root)])
            owner = self.home.stat()
            self.assertEqual((owner.st_uid, owner.st_gid), (1001, 1001))

    # [G 280] a home inside the workspace
    def test_a_home_inside_the_workspace_is_not_used(self):
        self.passwd(self.root / "home")
        with Pod(self) as pod:
            pod.listening()
            variables = pod.variables(pod.agent())
            self.assertEqual((variables["HOME"], variables["USER"]), ("/tmp/namzu-home-1001", "namzu"))
            home = pathlib.Path(f"/proc/{pod.agent()}/root/tmp/namzu-home-1001").stat()
            self.assertEqual((home.st_uid, home.st_gid, home.st_mode & 0o7777), (1001, 1001, 0o700))

    # [G 283] in the pod: the init has the signal, passes it on, and the pod ends well within the wait of the hook
    def test_the_hook_ends_the_agent_by_its_init(self):
        with Pod(self) as pod:
            pod.listening()
            self.assertNotEqual(pod.prestop().returncode, 0, "it was still waiting: pid 1 takes the hook along")
            self.assertEqual(pod.ended(), 0, pod.said())


if __name__ == "__main__":
    main()
