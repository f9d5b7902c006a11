#!/usr/bin/env python3
"""The verbs that speak to a guest, through a node and straight: real terminals, sessions, ports, trees, detached commands."""
import fcntl, itertools, pty, re, select, socket, struct, termios, threading
from guest_client import Guest
from harness import *


class Terminal:
    """A client on a pseudo-terminal of its own, as a person has one."""

    def __init__(self, *arguments, rows=24, columns=80):
        self.read = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(arguments[0], [str(x) for x in arguments])
        self.resize(rows, columns)
        self.code = None

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode() if isinstance(text, str) else text)

    def until(self, pattern, bound=BOUND):
        """Reads until `pattern` (a regular expression over bytes) has been seen; what was matched is taken."""
        end = time.monotonic() + bound
        while True:
            found = re.search(pattern, self.read)
            if found:
                self.read = self.read[found.end():]
                return found
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"not seen within {bound} s: {pattern}; but {self.read[-500:]}")
            try:
                more = os.read(self.fd, 65536)
            except OSError:  # the other side is closed
                more = b""
            if not more:
                raise AssertionError(f"ended without {pattern}: {self.read[-500:]}")
            self.read += more

    def settings(self):
        return termios.tcgetattr(self.fd)

    def end(self):
        """The exit code, once it has ended; what it still says is read."""
        deadline = time.monotonic() + BOUND
        while self.code is None:
            if select.select([self.fd], [], [], 0.01)[0]:
                with contextlib.suppress(OSError):
                    self.read += os.read(self.fd, 65536)
            got, status = os.waitpid(self.pid, os.WNOHANG)
            if got:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"the client did not end: {self.read[-500:]}")
        return self.code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class GuestVerbs(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.node = Node().__enter__()
        cls.addClassCleanup(cls.node.__exit__)
        assert cls.node.run("open", "desk").returncode == 0

    def setUp(self):
        self.client = [BIN / "paddock", "--node", self.node.address]

    def straight(self, *arguments, input=b""):
        """The same transport without a node."""
        return subprocess.run([BIN / "paddock", "guest", "--address", self.guest_address(), "--token-file", self.token_file(), "--walker",
                               BIN / "paddock-guest", *arguments], input=input, capture_output=True, timeout=BOUND)

    def guest_address(self):
        pid = int(self.good(self.node.run("exec", "desk", "--", "sh", "-c", "echo $PPID")))
        with open(f"/proc/{pid}/environ", "rb") as f:
            variables = dict(x.split(b"=", 1) for x in f.read().split(b"\0") if b"=" in x)
        return f"{variables[b'PADDOCK_GUEST_TCP_ADDRESS'].decode()}:{variables[b'NAMZU_AGENT_TCP_PORT'].decode()}"

    def token_file(self):
        path = pathlib.Path(self.node.folder.name) / "token"
        path.write_text(self.node.json("identity", "desk")["podUid"] + "\n")
        return path

    # -- detached commands -----------------------------------------------------------------------------------------------

    def test_a_detached_command_outlives_its_client_and_is_attached_to(self):
        execution = self.good(self.node.run("exec", "desk", "--detach", "--", "sh", "-c",
                                            "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 7")).decode().strip()
        self.assertRegex(execution, r"^exec_[0-9a-f-]{36}$")
        watching = self.node.start("attach", "desk", execution, stdout=subprocess.PIPE)
        self.assertEqual(watching.stdout.readline(), b"one\n")
        self.good(self.node.run("cp", "-", "desk:go", input=b""))
        self.assertEqual(watching.communicate(timeout=BOUND)[0], b"two\n")
        self.assertEqual(watching.returncode, 7)
        again = self.node.run("attach", "desk", execution)
        self.assertEqual((again.returncode, again.stdout), (7, b"one\ntwo\n"))
        later = self.node.run("attach", "desk", execution, "--from", "4")
        self.assertEqual((later.returncode, later.stdout), (7, b"two\n"))
        self.good(self.node.run("exec", "desk", "--", "rm", "go"))

    def test_a_detached_command_is_cancelled_by_its_name(self):
        execution = self.good(self.node.run("exec", "desk", "--detach", "--", "sleep", "1000")).decode().strip()
        self.assertEqual(self.good(self.node.run("cancel", "desk", execution)), b"ended\n")
        self.assertEqual(self.node.run("attach", "desk", execution).returncode, 128 + signal.SIGTERM)
        self.refused(self.node.run("cancel", "desk", "exec_00000000-0000-4000-8000-000000000000"), 5, "ExecutionNotAttachable")

    def test_leaving_an_attach_cancels_nothing(self):
        execution = self.good(self.node.run("exec", "desk", "--detach", "--", "sh", "-c", "echo ready; exec sleep 1000")).decode().strip()
        watching = self.node.start("attach", "desk", execution, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(watching.stdout.readline(), b"ready\n")
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=BOUND)
        self.assertEqual(watching.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.good(self.node.run("cancel", "desk", execution)), b"ended\n")  # it was running still

    # -- verbs that a person is asked about, or that go by what runs ------------------------------------------------------

    def test_a_delete_is_asked_about_on_a_terminal(self):
        words = [*self.client, "rm", "lamp", "--delete-disk"]
        self.good(self.node.run("open", "lamp"))
        for said in ("n", "", "yep"):
            with Terminal(*words) as screen:
                screen.until(rb"lamp.*\[y/N\] ")
                screen.type(said + "\r")
                self.assertEqual(screen.end(), 3)
                self.assertRegex(screen.read, rb"paddock: NotConfirmed: nothing was deleted\r\n")
        self.assertEqual(self.node.run("get", "lamp").returncode, 0)
        with Terminal(*words) as screen:
            screen.until(rb"\[y/N\] ")
            screen.type("y\r")
            self.assertEqual(screen.end(), 0)
        self.good(self.node.run("open", "lamp"))
        with Terminal(*words, "--yes") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(b"[y/N]", screen.read)
        self.assertEqual(self.node.run("get", "lamp").returncode, 5)

    def test_an_error_on_a_terminal_says_what_to_do(self):
        with Terminal(*self.client, "get", "nobody") as screen:
            self.assertEqual(screen.end(), 5)
            self.assertRegex(screen.read, rb"paddock: AlreadyGone: .*\r\n.*`ls`.*\r\n")

    def test_a_suspend_only_if_idle_leaves_what_runs(self):
        self.good(self.node.run("open", "busy"))
        running = self.good(self.node.run("exec", "busy", "--detach", "--", "sleep", "1000")).decode().strip()
        self.refused(self.node.run("suspend", "busy", "--only-if-idle"), 3, "QuiesceUnconfirmed")
        self.assertEqual(self.node.json("get", "busy")["operatingMode"], "Running")
        self.assertEqual(self.good(self.node.run("cancel", "busy", running)), b"ended\n")
        self.assertEqual(self.good(self.node.run("suspend", "busy", "--only-if-idle")), b"suspended\n")

    # -- terminals ---------------------------------------------------------------------------------------------------------

    def test_a_shell_is_a_terminal(self):
        with Terminal(*self.client, "shell", "desk", "--", "sh", rows=33, columns=101) as screen:
            before = screen.settings()
            screen.type("stty size; test -t 0 && echo is-a-terminal\r")
            screen.until(rb"33 101\r\n")
            screen.until(rb"is-a-terminal\r\n")
            screen.resize(20, 60)
            screen.type("while [ \"$(stty size)\" != '20 60' ]; do :; done; echo resiz''ed\r")
            screen.until(rb"resized\r\n[#$] ")
            screen.type("sh -c 'echo sleep\"\"ing; exec sleep 1000'\r")  # one job that speaks and sleeps, so that no Ctrl-C falls between two
            screen.until(rb"sleeping\r\n")
            screen.type(b"\x03")  # Ctrl-C belongs to the program
            screen.until(rb"[#$] ")
            screen.type("exit 9\r")
            self.assertEqual(screen.end(), 9)
            self.assertEqual(screen.settings(), before)

    def test_a_tilde_and_a_dot_leave_and_the_terminal_is_restored(self):
        with Terminal(*self.client, "shell", "desk", "--", "sh") as screen:
            before = screen.settings()
            screen.type("echo $$-started\r")
            shell = int(screen.until(rb"(\d+)-started\r\n").group(1))
            screen.type("~.")
            self.assertEqual(screen.end(), 129)
            self.assertEqual(screen.settings(), before)
            wait_for("the shell is gone with its terminal", lambda: not alive(shell), 10)

    def test_a_signal_restores_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with Terminal(*self.client, "shell", "desk", "--", "sh") as screen:
                before = screen.settings()
                screen.type("echo u''p\r")
                screen.until(rb"up\r\n")
                os.kill(screen.pid, number)
                self.assertEqual(screen.end(), 128 + number)
                self.assertEqual(screen.settings(), before)

    def test_a_shell_without_a_terminal_takes_its_input_from_a_pipe(self):
        got = self.node.run("shell", "desk", "--", "sh", input=b"echo from-$((20+3))\nexit 4\n")
        self.assertEqual(got.returncode, 4, got)
        self.assertIn(b"from-23", got.stdout)

    def test_bytes_survive_a_terminal(self):
        got = self.node.run("shell", "desk", "--", "sh", "-c", "stty raw -echo; printf '\\377\\200\\001'; exit 0")
        self.assertEqual(got.returncode, 0, got)
        self.assertTrue(got.stdout.endswith(b"\xff\x80\x01"), got)

    # [W 235] a second attach ends the first; who reads the log of the session does not
    def test_a_session_goes_on_and_is_taken_up(self):
        with Terminal(*self.client, "shell", "desk", "--session", "s1", "--", "sh") as screen:
            screen.type("echo began-$((1+1))\r")
            screen.until(rb"began-2\r\n")
            screen.type("~.")
            self.assertEqual(screen.end(), 0)
            self.assertIn(b"left session s1", screen.read)
        rows = self.node.json("sessions", "desk")
        row = next(x for x in rows if x["sessionId"] == "s1")
        self.assertEqual((row["kind"], row["state"], row["attached"]), ("terminal", "running", False))
        with Terminal(*self.client, "shell", "desk", "--session", "s1", "--attach") as screen:
            screen.until(rb"began-2\r\n")  # what was said before is replayed
            host, port = self.guest_address().split(":")
            token = self.node.json("identity", "desk")["podUid"]
            with Guest((host, int(port)), token).attach_session("s1", follow=False) as log:
                self.assertIn("began-2", "".join(x.get("data", "") for x in [*log.early, *iter(lambda: log.event(BOUND), None)]))
            screen.type("echo still-$((1+1))\r")
            screen.until(rb"still-2\r\n")
            with Terminal(*self.client, "shell", "desk", "--session", "s1", "--attach") as other:
                other.until(rb"began-2\r\n")
                self.assertEqual(screen.end(), 125)
                self.assertIn(b"superseded", screen.read)
                other.type("exit 3\r")
                self.assertEqual(other.end(), 3)
        self.refused(self.node.run("sessions", "desk", "--kill", "s9"), 5, "SessionRefused")

    # [W 234] the whole session, its background jobs too
    def test_a_program_without_a_terminal_goes_on_until_it_is_killed(self):
        started = self.node.json("sessions", "desk", "--start", "p1", "--", "sh", "-c", "sleep 1000 & echo $! >job; wait")
        self.assertEqual((started["kind"], started["state"]), ("detached", "running"))
        wait_for("its job runs", lambda: self.node.run("cat", "desk:job").stdout.endswith(b"\n"), 10)
        job = int(self.good(self.node.run("cat", "desk:job")))
        self.assertTrue(alive(started["pid"]) and alive(job))
        killed = self.node.json("sessions", "desk", "--kill", "p1")
        self.assertEqual(killed["state"], "exited")
        self.assertGreaterEqual(killed["signalled"], 2)
        wait_for("both are gone", lambda: not alive(started["pid"]) and not alive(job), 10)

    # [W 237] unknown from a request and from a stream; started twice; one too many
    # [W 239] a new pod has no sessions
    def test_what_a_guest_refuses_about_sessions_is_told_by_its_reason(self):
        self.good(self.node.run("open", "many"))

        def refused(code, because, *words):
            got = self.node.run(*words)
            self.refused(got, code, "SessionRefused")
            self.assertIn(because, got.stderr)

        refused(5, b"unknown_session", "sessions", "many", "--kill", "none")
        refused(125, b"unknown_session", "shell", "many", "--session", "none", "--attach")
        started = [self.node.json("sessions", "many", "--start", f"p{n}", "--", "sleep", "1000")["pid"] for n in range(16)]
        refused(3, b"session_exists", "sessions", "many", "--start", "p0", "--", "sleep", "1000")
        refused(3, b"session_capacity", "sessions", "many", "--start", "p16", "--", "sleep", "1000")
        self.assertEqual(len(self.node.json("sessions", "many")), 16)
        self.good(self.node.run("suspend", "many"))
        self.assertFalse(any(map(alive, started)))
        self.good(self.node.run("resume", "many"))
        self.assertEqual(self.node.json("sessions", "many"), [])

    # -- ports, files, quiesce, flush ----------------------------------------------------------------------------------------

    def test_a_port_of_the_guest_is_reached_through_a_local_one(self):
        # The embedded cluster's guests share this machine's loopback: the service is in the guest's world as it is in ours.
        with socket.create_server(("127.0.0.1", 0)) as service:
            forwarding = self.node.start("forward", "desk", f"0:{service.getsockname()[1]}", stdout=subprocess.PIPE)
            place = forwarding.stdout.readline().decode().split()[1]
            with socket.create_connection(("127.0.0.1", int(place.rsplit(":", 1)[1])), BOUND) as near:
                far, _ = service.accept()
                with far:
                    near.sendall(b"ping")
                    self.assertEqual(far.recv(4), b"ping")
                    near.shutdown(socket.SHUT_WR)
                    self.assertEqual(far.recv(1), b"")  # the half-close has come through
                    far.sendall(b"\x00\xff" * 100_000)
                    far.shutdown(socket.SHUT_WR)
                    whole = b""
                    while piece := near.recv(65536):
                        whole += piece
                    self.assertEqual(whole, b"\x00\xff" * 100_000)
            forwarding.send_signal(signal.SIGINT)
            self.assertEqual(forwarding.wait(BOUND), 0)
            forwarding.stdout.close()

    def test_a_burst_of_connections_is_carried(self):
        def echo(service):
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(service.accept()[0],), daemon=True).start()

        def answer(far):
            with far:
                while piece := far.recv(4096):
                    far.sendall(piece)

        def ask(near, answers):
            with near:
                near.settimeout(BOUND)
                near.sendall(b"hello")
                answers.append(near.recv(5))

        with socket.create_server(("127.0.0.1", 0), backlog=256) as service:
            threading.Thread(target=echo, args=(service,), daemon=True).start()
            forwarding = self.node.start("forward", "desk", f"0:{service.getsockname()[1]}", stdout=subprocess.PIPE)
            port = int(forwarding.stdout.readline().decode().rsplit(":", 1)[1])
            answers, callers = [], []
            for near in [socket.create_connection(("127.0.0.1", port), BOUND) for _ in range(120)]:
                callers.append(threading.Thread(target=ask, args=(near, answers)))
                callers[-1].start()
            for caller in callers:
                caller.join(BOUND)
            self.assertEqual(answers, [b"hello"] * 120)
            forwarding.send_signal(signal.SIGINT)
            self.assertEqual(forwarding.wait(BOUND), 0)
            forwarding.stdout.close()

    def test_a_forward_to_nowhere_is_refused_before_it_listens(self):
        self.refused(self.node.run("forward", "nosuch", "0:80"), 5, "AlreadyGone")

    def test_what_a_tree_cannot_carry_is_named_and_the_rest_goes(self):
        with tempfile.TemporaryDirectory() as near:
            near = pathlib.Path(near)
            (near / "good").write_bytes(b"1")
            os.mkfifo(near / "pipe")
            (near / "link").symlink_to("good")
            pathlib.Path(os.fsdecode(os.fsencode(near) + b"/\xff")).write_bytes(b"2")
            got = self.node.run("cp", "-r", str(near), "desk:odd")
            self.assertEqual(got.returncode, 1, got)
            self.assertEqual(got.stderr.count(b"paddock: Skipped: "), 3, got)
            self.assertEqual(self.good(self.node.run("cat", "desk:odd/good")), b"1")

    def test_a_long_name_comes_out(self):
        with tempfile.TemporaryDirectory() as near:
            name = "n" * 255
            self.good(self.node.run("cp", "-", f"desk:{name}", input=b"long"))
            self.good(self.node.run("cp", f"desk:{name}", f"{near}/{name}"))
            self.assertEqual((pathlib.Path(near) / name).read_bytes(), b"long")

    def test_trees_go_in_and_out_as_they_are(self):
        with tempfile.TemporaryDirectory() as near:
            near = pathlib.Path(near)
            tree = {"a": b"1", "d/e/b.bin": bytes(range(256)) * 1000, "d/.hidden": b"h", "empty": b""}
            for name, content in tree.items():
                (near / "in" / name).parent.mkdir(parents=True, exist_ok=True)
                (near / "in" / name).write_bytes(content)
            (near / "in" / "run").write_text("#!/bin/sh\necho ran\n")
            (near / "in" / "run").chmod(0o755)
            self.good(self.node.run("cp", "-r", str(near / "in"), "desk:tree"))
            self.assertEqual(self.good(self.node.run("exec", "desk", "--", "./tree/run")), b"ran\n")
            root = self.good(self.node.run("exec", "desk", "--", "sh", "-c", "cd tree; pwd -P")).decode().strip()
            self.good(self.node.run("cp", "-r", "desk:tree", str(near / "out")))
            for name, content in tree.items():
                self.assertEqual((near / "out" / name).read_bytes(), content, name)
            rows = self.node.json("ls-files", f"desk:{root}", "--pattern", "**/*.bin")
            self.assertEqual(rows, [{"path": f"{root}/d/e/b.bin", "size": 256_000}])
            every = self.node.json("ls-files", f"desk:{root}", "--max", "0")
            self.assertEqual(len(every), 5)

    def test_a_part_of_a_file_is_read(self):
        self.good(self.node.run("cp", "-", "desk:part", input=b"0123456789"))
        self.assertEqual(self.good(self.node.run("cat", "desk:part", "--offset", "2", "--length", "3")), b"234")

    def test_files_larger_than_one_request_go_in_and_out(self):
        content = os.urandom(1 << 20) * 20
        self.good(self.node.run("cp", "-", "desk:large", input=content))
        self.assertEqual(self.good(self.node.run("cat", "desk:large")), content)
        self.good(self.node.run("exec", "desk", "--", "rm", "large"))

    def test_a_quiesce_stops_what_runs_and_says_what(self):
        self.good(self.node.run("open", "busy"))
        idle = self.node.json("quiesce", "busy", "--only-if-idle")
        self.assertEqual(idle["stopped"], [])
        self.good(self.node.run("exec", "busy", "--detach", "--", "sleep", "1000"))
        self.refused(self.node.run("quiesce", "busy", "--only-if-idle"), 3, "QuiesceUnconfirmed")
        got = self.node.json("quiesce", "busy")
        self.assertIn("sleep", [x["command"] for x in got["stopped"]])
        self.assertEqual(self.node.json("quiesce", "busy")["stopped"], [])
        self.good(self.node.run("rm", "busy", "--delete-disk"))

    def test_a_flush_is_confirmed(self):
        got = self.node.json("flush", "desk")
        self.assertGreaterEqual(got["durationMs"], 0)
        self.assertTrue(os.path.isdir(got["workspace"]))

    # -- pinned -------------------------------------------------------------------------------------------------------------

    def test_a_pin_holds_one_guest_and_no_other(self):
        self.good(self.node.run("open", "pinned"))
        self.good(self.node.run("exec", "pinned", "--", "true"))  # so that the guest has said who it is
        with tempfile.NamedTemporaryFile() as pin:
            pin.write(self.good(self.node.run("-o", "json", "identity", "pinned")))
            pin.flush()
            self.assertEqual(self.good(self.node.run("exec", "pinned", "--pin", pin.name, "--", "echo", "here")), b"here\n")
            self.good(self.node.run("suspend", "pinned"))
            asleep = self.node.run("exec", "pinned", "--pin", pin.name, "--", "echo", "here")
            self.assertEqual(asleep.returncode, 125, asleep)
            self.assertTrue(asleep.stderr.startswith(b"paddock: GuestPinRefused: "), asleep)
            self.good(self.node.run("resume", "pinned"))
            other = self.node.run("exec", "pinned", "--pin", pin.name, "--", "touch", "must-not-be")
            self.assertEqual(other.returncode, 125, other)
            self.assertNotEqual(self.node.run("cat", "pinned:must-not-be").returncode, 0)
        self.good(self.node.run("rm", "pinned", "--delete-disk"))

    # -- straight to a guest --------------------------------------------------------------------------------------------------

    def test_the_same_verbs_work_without_a_node(self):
        self.assertTrue(self.good(self.straight("health")).startswith(b"ok\n"))
        got = self.straight("exec", "--stdin", "--", "sh", "-c", "cat; exit 5", input=b"\x00\xff in")
        self.assertEqual((got.returncode, got.stdout), (5, b"\x00\xff in"))
        self.good(self.straight("write", "straight.bin", input=b"abc" * 1000))
        self.assertEqual(self.good(self.straight("read", "straight.bin")), b"abc" * 1000)
        self.assertEqual(self.good(self.straight("read", "straight.bin", "--offset", "1", "--length", "2")), b"bc")
        self.assertEqual(self.good(self.node.run("cat", "desk:straight.bin")), b"abc" * 1000)
        execution = self.good(self.straight("exec", "--detach", "--", "sh", "-c", "echo kept; exit 2")).decode().strip()
        attached = self.straight("attach", execution)
        self.assertEqual((attached.returncode, attached.stdout), (2, b"kept\n"))
        root = self.good(self.straight("exec", "--", "pwd", "-P")).decode().strip()
        self.assertIn(f"{root}/straight.bin".encode(), self.good(self.straight("walk", root, "--pattern", "*.bin")))
        self.assertIn(f"{root}/straight.bin".encode(), self.good(self.straight("ls", root)))
        self.assertEqual(self.straight("shell", "--", "sh", input=b"exit 6\n").returncode, 6)
        self.good(self.straight("flush"))
        self.good(self.straight("sessions"))

    def test_a_wrong_token_is_refused_by_name_and_nothing_runs(self):
        with tempfile.NamedTemporaryFile() as token:
            token.write(b"not-the-token\n")
            token.flush()
            got = subprocess.run([BIN / "paddock", "guest", "--address", self.guest_address(), "--token-file", token.name, "exec", "--", "touch",
                                  "must-not-be"], capture_output=True, timeout=BOUND)
        self.assertEqual(got.returncode, 125, got)
        self.assertTrue(got.stderr.startswith(b"paddock: AgentUnauthorized: "), got)
        self.assertNotEqual(self.node.run("cat", "desk:must-not-be").returncode, 0)
        self.assertNotIn(b"not-the-token", got.stderr)

    # [W 191] another value than a truth; where nobody listens a request would end otherwise
    def test_only_if_idle_takes_no_number(self):
        for verb, value in itertools.product(("quiesce", "suspend"), ("1", "maybe")):
            got = subprocess.run([BIN / "paddock", "--node", "127.0.0.1:1", verb, "desk", f"--only-if-idle={value}"], capture_output=True,
                                 timeout=BOUND)
            self.assertEqual(got.returncode, 2, got)
            self.assertIn(b"only-if-idle", got.stderr)
            asked = self.node.run(verb, "desk", f"--only-if-idle={value}")
            self.assertEqual((asked.returncode, asked.stderr), (2, got.stderr))

    def test_misuse_is_told_before_anything_is_asked(self):
        for words in (["forward", "desk", "10.0.0.1:1:2"], ["ls-files", "nowhere"], ["sessions", "desk", "--start", "x"]):
            self.assertEqual(self.node.run(*words).returncode, 2, words)
        for words in (["attach", "desk", "nosuch"], ["cancel", "desk", "my1"], ["sessions", "desk", "--", "true"],
                      ["sessions", "desk", "--signal", "SIGTERM"], ["sessions", "desk", "--kill", "x", "--start", "y", "--", "true"],
                      ["guest", "--address", "127.0.0.1:1", "read", "-r", "docs"],
                      ["guest", "--address", "127.0.0.1:1", "read", "a", "b", "--offset", "1"]):
            self.refused(self.node.run(*words), 2, "Usage")
        for words in (["exec", "desk", "--detach", "--stdin", "--", "true"], ["shell", "desk", "--attach"], ["shell", "desk", "--from", "3"],
                      ["exec", "desk", "--tty", "--limit", "1s", "--", "true"], ["exec", "desk", "--tty", "--detach", "--", "true"],
                      ["exec", "desk", "--execution", "my1", "--", "true"], ["exec", "desk", "--pin", "/no/such", "--", "true"],
                      ["guest", "--address", "nowhere", "exec", "--", "true"],
                      ["guest", "--address", "127.0.0.1:1", "--token-file", "/no/such", "shell"]):
            self.assertEqual(self.node.run(*words).returncode, 125, words)


if __name__ == "__main__":
    main()
