#!/usr/bin/env python3
"""Bad input and faults through the real programs: a named error, the exit code, nothing created and nothing lost."""
import socket, struct

from harness import *


class Faults(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.node = Node().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.node.__exit__()

    def names(self):
        return {x["workspace"] for x in self.node.json("ls")}

    def test_an_illegal_id_creates_nothing(self):
        for name in ("Acme", "-x", "x-", "a_b", "x" * 55):
            self.refused(self.node.run("open", "--", name), 2, "IllegalId")
        self.assertEqual(self.names() & {"acme", "x", "a-b"}, set())

    def test_an_unknown_workspace_is_not_found(self):
        for verb in (["get", "nobody"], ["identity", "nobody"], ["suspend", "nobody"], ["resume", "nobody"], ["cat", "nobody:x"]):
            self.assertEqual(self.node.run(*verb).returncode, 5, verb)
        self.assertEqual(self.node.run("exec", "nobody", "--", "true").returncode, 125)
        self.assertNotIn("nobody", self.names())

    def test_a_missing_template_creates_nothing(self):
        got = self.node.run("open", "desk2", "--template", "nope")
        self.assertEqual(got.returncode, 5, got)
        self.assertEqual(self.node.run("get", "desk2").returncode, 5)

    def test_no_node_at_that_address(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
            got = subprocess.run([BIN / "paddock", "--node", f"127.0.0.1:{taken.getsockname()[1]}", "ls"], capture_output=True, timeout=BOUND)
        self.refused(got, 7, "Unreachable")

    def test_something_else_listens_there(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            got = subprocess.run([BIN / "paddock", "--node", f"127.0.0.1:{other.getsockname()[1]}", "--timeout", "1s", "ls"], capture_output=True,
                                 timeout=BOUND)
        self.refused(got, 7, "Unreachable")

    def test_errors_as_json(self):
        got = self.node.run("-o", "json", "get", "nobody")
        self.assertEqual(got.returncode, 5)
        self.assertEqual(json.loads(got.stderr)["reason"], "AlreadyGone")
        self.assertEqual(set(json.loads(got.stderr)), {"reason", "message", "details"})

    def test_usage_errors(self):
        for verb in ([], ["frobnicate"], ["open"], ["cp", "a", "b"], ["cp", "x:a", "y:b"], ["cat", "nopath"], ["completion", "csh"],
                     ["--node", "nonsense", "ls"], ["--timeout", "soon", "ls"], ["-o", "xml", "ls"]):
            self.assertEqual(self.node.run(*verb).returncode, 2, verb)

    def test_a_guest_that_dies_in_mid_command(self):
        self.good(self.node.run("open", "dying"))
        run = self.node.start("exec", "dying", "--", "sh", "-c", "echo $PPID; exec sleep 1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        guest = int(run.stdout.readline())
        os.kill(guest, signal.SIGKILL)
        out, err = run.communicate(timeout=BOUND)
        self.assertEqual(run.returncode, 125, err)
        self.assertRegex(err.decode(), r"^paddock: (RemoteCancellationUnknown|RemoteLost|RemoteResultIncomplete): ")
        # A container restart: the same pod, another guest, and the workspace goes on.
        pod = node_pod = self.node.json("identity", "dying")["podUid"]
        wait_for("the guest is back", lambda: self.node.run("exec", "dying", "--", "true").returncode == 0)
        self.assertEqual(self.node.json("identity", "dying")["podUid"], node_pod)
        self.assertTrue(pod)

    def test_a_node_that_ends_in_mid_exec(self):
        with Node() as node:
            self.good(node.run("open", "desk"))
            run = node.start("exec", "desk", "--", "sh", "-c", "echo on; exec sleep 1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(run.stdout.readline(), b"on\n")
            node.process.kill()
            out, err = run.communicate(timeout=BOUND)
            self.assertEqual(run.returncode, 125)
            self.assertTrue(err.startswith(b"paddock: OutcomeUnknown: "), err)

    def test_a_stranger_on_the_port_harms_nobody(self):
        """Headers of the actor protocol that are malformed, too large or cut, and bytes that are no header at all."""
        host, port = self.node.address.rsplit(":", 1)
        header = lambda operation, size: struct.pack(">BBBBIQQQ", operation, 0, 0, 0, size, 0, 0, 0)
        before = resident(self.node.process.pid)
        for junk in [header(x, y) for x in range(9) for y in (0, 1, 0x7fffffff, 0xffffffff)] + [b"", b"\x01", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096]:
            with socket.create_connection((host, int(port)), timeout=BOUND) as stranger:
                stranger.settimeout(2)
                with contextlib.suppress(OSError):  # the node may close on it at any byte
                    stranger.sendall(junk)
                    stranger.shutdown(socket.SHUT_WR)
                    while stranger.recv(4096):
                        pass
        self.assertIsNone(self.node.process.poll())
        self.assertEqual(self.node.run("nodes").returncode, 0)
        self.assertLess(resident(self.node.process.pid) - before, 16 << 20)


class Starting(SystemTest):
    def paddockd(self, *arguments):
        return subprocess.run([BIN / "paddockd", *arguments], capture_output=True, timeout=BOUND, stdin=subprocess.DEVNULL)

    def fails(self, got, code, reason, *words):
        self.assertEqual(got.returncode, code, got)
        text = got.stderr.decode()
        self.assertIn(f"paddockd: {reason}: ", text)
        for word in words:
            self.assertIn(word, text)

    def test_a_taken_port(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.fails(self.paddockd("--embedded", "--listen", f"127.0.0.1:{port}"), 1, "PortTaken", str(port))

    def test_a_configuration_that_cannot_be_used(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "paddock.yaml"
            self.fails(self.paddockd("--config", str(file)), 2, "InvalidConfig", "paddock.yaml")
            file.write_text("listen: 127.0.0.1:0\nshards: 0\nredy-timeout: 3s\n")
            self.fails(self.paddockd("--embedded", "--config", str(file)), 2, "InvalidConfig", "paddock.yaml:2", "shards", "1", "redy-timeout", "ready-timeout")
            file.write_text("a: [")
            self.fails(self.paddockd("--embedded", "--config", str(file)), 2, "InvalidConfig", "paddock.yaml")
        self.fails(self.paddockd("--embedded", "--listen", "nonsense"), 2, "InvalidConfig", "--listen", "HOST:PORT")
        self.fails(self.paddockd(), 2, "Usage")
        self.fails(self.paddockd("--embedded", "--listen", "0.0.0.0:0"), 2, "InvalidConfig", "tls-certificate")

    def test_a_folder_that_cannot_be_used(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "file"
            file.write_text("x")
            got = self.paddockd("--embedded", "--listen", "127.0.0.1:0", "--data-dir", str(file))
            self.assertEqual(got.returncode, 1, got)
            self.assertIn(str(file), got.stderr.decode())
            self.assertEqual(file.read_text(), "x")

    def test_a_folder_in_use(self):
        with tempfile.TemporaryDirectory() as folder, Node(data_dir=folder):
            got = self.paddockd("--embedded", "--listen", "127.0.0.1:0", "--data-dir", folder)
            self.assertEqual(got.returncode, 1, got)

    def test_a_guest_program_that_is_not_there(self):
        got = self.paddockd("--embedded", "--listen", "127.0.0.1:0", "--guest", "/nowhere/paddock-guest")
        self.assertEqual(got.returncode, 1, got)
        self.assertIn("/nowhere/paddock-guest", got.stderr.decode())


if __name__ == "__main__":
    main()
