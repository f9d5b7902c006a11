#!/usr/bin/env python3
"""exec, cp and cat through the real programs: bytes as bytes, exit codes, signals, slow and vanished readers."""
import hashlib, threading

from harness import *

BIG = int(os.environ.get("PADDOCK_TEST_BIG", str(100 * 1000 * 1000)))


class Streams(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.node = Node().__enter__()
        cls.addClassCleanup(cls.node.__exit__)
        assert cls.node.run("open", "desk").returncode == 0

    def sh(self, script, *options, input=b""):
        return self.node.run("exec", "desk", *options, "--", "sh", "-c", script, input=input)

    def test_the_exit_code_is_the_commands(self):
        for code in (0, 1, 42, 255):
            self.assertEqual(self.sh(f"exit {code}").returncode, code)
        self.assertEqual(self.sh("kill -TERM $$").returncode, 128 + 15)
        self.assertEqual(self.sh("kill -KILL $$").returncode, 128 + 9)
        self.assertEqual(self.node.run("exec", "desk", "--", "no-such-program").returncode, 127)

    def test_stdout_and_stderr_come_apart_and_as_bytes(self):
        got = self.sh(r"printf '\377\000\200a'; printf '\376\001' >&2")
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, b"\xff\x00\x80a", b"\xfe\x01"))

    def test_output_arrives_while_the_command_runs(self):
        with self.node.start("exec", "desk", "--stdin", "--", "sh", "-c", "echo first; read word; echo got $word", stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), b"first\n")
            run.stdin.write(b"second\n")
            run.stdin.flush()
            self.assertEqual(run.stdout.readline(), b"got second\n")
            run.stdin.close()
            self.assertEqual(run.wait(BOUND), 0)

    def test_cwd_env_and_limit(self):
        got = self.sh('echo "$A|$(basename "$PWD")"', "--env", "A=b c", "--cwd", "sub/dir")
        self.assertEqual(got.stdout, b"b c|dir\n", got)
        got = self.sh("exec sleep 1000", "--limit", "200ms")
        self.assertEqual(got.returncode, 128 + 15)
        self.assertIn(b"TimedOut", got.stderr)
        self.assertEqual(self.sh("true", "--limit", "soon").returncode, 125)
        self.assertEqual(self.sh("true", "--env", "novalue").returncode, 125)
        self.assertEqual(self.sh("true", "--cwd", "../..").returncode, 125)

    def test_the_bind_token_does_not_reach_a_command(self):
        pod = self.node.json("identity", "desk")["podUid"]
        self.assertNotIn(pod.encode(), self.sh("env").stdout)
        self.assertNotIn(pod, self.node.read_log())

    def test_no_input_is_an_empty_input(self):
        self.assertEqual(self.sh("wc -c", "--stdin").stdout.strip(), b"0")
        self.assertEqual(self.sh("wc -c").stdout.strip(), b"0")

    def test_large_input_arrives_whole(self):
        content = os.urandom(1 << 20) * (BIG >> 20)
        got = self.sh("sha256sum", "--stdin", input=content)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(got.stdout.split()[0].decode(), hashlib.sha256(content).hexdigest())

    def test_large_output_arrives_whole(self):
        got = self.sh(f"head -c {BIG} /dev/zero | tr '\\0' x")
        self.assertEqual((got.returncode, len(got.stdout), got.stdout.count(b"x")), (0, BIG, BIG))

    def test_a_slow_reader_bounds_memory_at_every_hop(self):
        guest = int(self.sh("echo $PPID").stdout)
        run = self.node.start("exec", "desk", "--", "sh", "-c", f"head -c {BIG} /dev/zero", stdout=subprocess.PIPE)
        run.stdout.read(1)
        before = [resident(x) for x in (self.node.process.pid, guest, run.pid)]
        # Nobody reads now: while other commands come and go, what can be on its way has long filled up.
        for _ in range(50):
            self.assertEqual(self.sh("true").returncode, 0)
        after = [resident(x) for x in (self.node.process.pid, guest, run.pid)]
        for a, b in zip(before, after):
            self.assertLess(b - a, 24 << 20)
        rest = run.stdout.read()
        self.assertEqual(len(rest) + 1, BIG)
        self.assertEqual(run.wait(BOUND), 0)
        run.stdout.close()

    def test_output_into_a_closed_pipe_cancels_the_command(self):
        run = self.node.start("exec", "desk", "--", "sh", "-c", f"echo $$; exec head -c {BIG} /dev/zero", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pid = int(run.stdout.readline())
        run.stdout.close()
        self.assertEqual(run.wait(BOUND), 128 + 13, run.stderr.read())
        run.stderr.close()
        wait_for("the command is gone", lambda: not alive(pid), 10)

    def test_a_signal_cancels_the_remote_command(self):
        for which in (signal.SIGINT, signal.SIGTERM):
            run = self.node.start("exec", "desk", "--", "sh", "-c", "echo $$; exec sleep 1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            pid = int(run.stdout.readline())
            run.send_signal(which)
            self.assertEqual(run.wait(BOUND), 128 + which)
            self.assertFalse(alive(pid))
            run.communicate()

    def test_a_second_signal_leaves_at_once(self):
        run = self.node.start("exec", "desk", "--", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        pid = int(run.stdout.readline())
        node = self.node.process.pid
        os.kill(node, signal.SIGSTOP)  # so that the first cancel cannot be answered
        try:
            run.send_signal(signal.SIGINT)
            wait_for("the first signal was taken", lambda: "SigPnd:\t0000000000000000" in pathlib.Path(f"/proc/{run.pid}/status").read_text())
            wait_for("the second one ends it", lambda: run.poll() is not None or run.send_signal(signal.SIGINT))
        finally:
            os.kill(node, signal.SIGCONT)
        self.assertEqual(run.returncode, 128 + 2)
        wait_for("the command is ended all the same", lambda: not alive(pid), 20)
        run.communicate()

    def test_a_client_that_vanishes_takes_its_command_along(self):
        run = self.node.start("exec", "desk", "--", "sh", "-c", "echo $$; exec sleep 1000", stdout=subprocess.PIPE)
        pid = int(run.stdout.readline())
        run.kill()
        run.wait()
        run.stdout.close()
        wait_for("the command is gone", lambda: not alive(pid), 20)

    def test_files_go_in_and_out_as_they_are(self):
        content = os.urandom(3 << 20)
        with tempfile.TemporaryDirectory() as folder:
            here, back = pathlib.Path(folder) / "here", pathlib.Path(folder) / "back"
            here.write_bytes(content)
            self.good(self.node.run("cp", here, "desk:deep/er/"))
            self.good(self.node.run("cp", "desk:deep/er/here", back))
            self.assertEqual(back.read_bytes(), content)
            self.assertEqual(sorted(x.name for x in pathlib.Path(folder).iterdir()), ["back", "here"])
            self.good(self.node.run("cp", "-", "desk:empty", input=b""))
            self.assertEqual(self.good(self.node.run("cat", "desk:empty")), b"")
            # A copy that fails leaves nothing behind and what was there untouched.
            self.assertNotEqual(self.node.run("cp", "desk:missing", back).returncode, 0)
            self.assertEqual(back.read_bytes(), content)
            self.assertEqual(sorted(x.name for x in pathlib.Path(folder).iterdir()), ["back", "here"])

    def test_a_copy_keeps_what_its_destination_is(self):
        self.good(self.node.run("cp", "-", "desk:f", input=b"new"))
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            os.mkfifo(folder / "fifo")
            reader = subprocess.Popen(["cat", folder / "fifo"], stdout=subprocess.PIPE)
            self.good(self.node.run("cp", "desk:f", folder / "fifo"))
            self.assertEqual(reader.communicate(timeout=BOUND)[0], b"new")
            (folder / "target").write_bytes(b"old")
            (folder / "link").symlink_to("target")
            self.good(self.node.run("cp", "desk:f", folder / "link"))
            self.assertTrue((folder / "link").is_symlink())
            self.assertEqual((folder / "target").read_bytes(), b"new")
            (folder / "private").write_bytes(b"old")
            (folder / "private").chmod(0o600)
            self.good(self.node.run("cp", "desk:f", folder / "private"))
            self.assertEqual((folder / "private").stat().st_mode & 0o777, 0o600)

    def test_output_that_cannot_be_written_is_said_to_be(self):
        self.good(self.node.run("cp", "-", "desk:f", input=b"x" * 100000))
        for code, verb in ((1, ["cat", "desk:f"]), (1, ["ls"]), (125, ["exec", "desk", "--", "echo", "hi"])):
            with open("/dev/full", "wb") as full:
                run = self.node.start(*verb, stdout=full, stderr=subprocess.PIPE)
                err = run.communicate(timeout=BOUND)[1]
            self.assertEqual(run.returncode, code, err)
            self.assertTrue(err.startswith(b"paddock: OutputFailed: "), err)

    def test_closed_descriptors_are_no_trap(self):
        for _ in range(10):
            run = self.node.start("exec", "desk", "--", "echo", "hi", preexec_fn=lambda: os.closerange(0, 3))
            self.assertEqual(run.wait(BOUND), 0)

    def test_short_calls_never_lose_their_end(self):
        content = os.urandom(65536)
        self.good(self.node.run("cp", "-", "desk:f", input=content))
        for _ in range(20):
            runs = [self.node.start("cat", "desk:f", stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
            for run in runs:
                out, err = run.communicate(timeout=BOUND)
                self.assertEqual((run.returncode, out == content, err), (0, True, b""))

    def test_a_path_outside_the_workspace_is_refused(self):
        for path in ("../x", "/etc/passwd"):
            got = self.node.run("cat", f"desk:{path}")
            self.assertNotEqual(got.returncode, 0)
            self.assertIn(b"escapes", got.stderr)


if __name__ == "__main__":
    main()
