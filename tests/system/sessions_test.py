#!/usr/bin/env python3
"""A session whose host loses its guest: two hosts on one cluster, the first behind a relay that can be cut."""
import random, socket, threading

from clusters import *
from counting_proxy import CountingProxy
from guest_verbs_test import Terminal
from real_api import api


class Relay:
    """Another address for a guest, on the same port; `cut` ends every connection through it. A context manager."""

    def __init__(self):
        self.listener, self.pairs = socket.socket(), []
        self.address = f"127.{random.randrange(128, 250)}.{random.randrange(256)}.{random.randrange(1, 255)}"
        self.listener.bind((self.address, 1024))
        self.listener.listen()
        self.target = None

    def instead(self, content):
        """An answer of the API server in which the guest is here."""
        at = re.search(rb'"podIP": ?"([^"]+)"', content)
        if not at:
            return content
        self.target = at[1].decode()
        return content.replace(at[0], b'"podIP":"' + self.address.encode() + b'"')

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection((self.target, 1024))
                self.pairs += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        with contextlib.suppress(OSError):
            while piece := one.recv(65536):
                other.sendall(piece)
            other.shutdown(socket.SHUT_WR)

    def cut(self):
        for one in self.pairs:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.pairs = []


class Sessions(SystemTest):
    # [W 233]
    def test_a_session_outlives_its_host_s_connections_and_another_host_takes_it_up(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(embedded_cluster())
            relay = stack.enter_context(Relay())
            proxy = stack.enter_context(CountingProxy(relay.instead))
            first = stack.enter_context(host(proxy.kubeconfig))
            second = stack.enter_context(host(epoch_base=1 << 40))
            self.good(first.run("open", "desk"))
            with Terminal(BIN / "paddock", "--node", first.address, "shell", "desk", "--session", "s1", "--", "sh") as screen:
                screen.type("echo began-$((1+1))\r")
                screen.until(rb"began-2\r\n")
                relay.cut()
                self.assertNotEqual(screen.end(), 0)
                self.assertIn(b"paddock: AgentSessionDetached: ", screen.read)
            self.assertEqual(self.good(second.run("open", "desk")), b"adopted-running\n")

            def row():
                return next(x for x in second.json("sessions", "desk") if x["sessionId"] == "s1")

            wait_for("the guest has seen the cut", lambda: not row()["attached"])
            self.assertEqual(row()["state"], "running")
            with Terminal(BIN / "paddock", "--node", second.address, "shell", "desk", "--session", "s1", "--attach", "--from", "0") as screen:
                screen.until(rb"began-2\r\n")
                screen.resize(20, 60)
                screen.type("while [ \"$(stty size)\" != '20 60' ]; do :; done; echo resiz''ed\r")
                screen.until(rb"resized\r\n")
                screen.type("exit 3\r")
                self.assertEqual(screen.end(), 3)


if __name__ == "__main__":
    main()
