#!/usr/bin/env python3
"""The library as other programs get it: installed into a folder of its own, found by `find_package(Paddock)`, and run against a real node."""
import os, pathlib, subprocess, tempfile

from harness import BOUND, Node, SystemTest, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ["PADDOCK_BUILD"]
CONFIGURE = os.environ["PADDOCK_CONFIGURE"].split("|")  # compiler, prefixes: what the build itself was configured with


class ClientLibrary(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name) / "prefix"
        build = pathlib.Path(cls.folder.name) / "build"
        for words in (["cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "client"],
                      ["cmake", "-S", ROOT / "examples" / "client", "-B", build, f"-DPaddock_ROOT={cls.prefix}", *CONFIGURE],
                      ["cmake", "--build", build]):
            ran = subprocess.run(words, capture_output=True, text=True, timeout=5 * BOUND)
            if ran.returncode != 0:
                raise AssertionError(ran.stdout + ran.stderr)
        cls.program = build / "run-in-workspace"

    def run_in(self, address, *words):
        return subprocess.run([self.program, *address.rsplit(":", 1), *words], capture_output=True, timeout=BOUND)

    def test_the_example_opens_runs_prints_and_suspends(self):
        with Node() as node:
            got = self.run_in(node.address, "desk", "sh", "-c", "echo out; echo err >&2; echo kept > file; exit 3")
            self.assertEqual((got.returncode, got.stdout), (3, b"out\n"), got)
            self.assertEqual(sorted(got.stderr.splitlines()), [b"created desk", b"err", b"suspended"])
            self.assertEqual(node.json("get", "desk")["operatingMode"], "Suspended")
            got = self.run_in(node.address, "desk", "cat", "file")
            self.assertEqual((got.returncode, got.stdout), (0, b"kept\n"), got)
            self.assertEqual(got.stderr, b"resumed desk\nsuspended\n")
            got = self.run_in(node.address, "No Id", "true")
            self.assertEqual((got.returncode, got.stdout), (1, b""), got)
            self.assertTrue(got.stderr.startswith(b"open: IllegalId: "), got)
        got = self.run_in(node.address, "desk", "true")  # it has ended
        self.assertEqual(got.returncode, 1, got)
        self.assertTrue(got.stderr.startswith(b"connect: Unreachable: "), got)

    def test_every_header_includes_what_it_needs_and_only_what_is_installed(self):
        for header in sorted(self.prefix.glob("include/paddock/client/*.hpp")):
            text = header.read_text()
            self.assertNotRegex(text, r'#include "(?!paddock/)')
            for line in text.splitlines():
                if line.startswith('#include "'):
                    self.assertTrue((self.prefix / "include" / line.split('"')[1]).exists(), f"{header.name}: {line}")


if __name__ == "__main__":
    main()
