#!/usr/bin/env python3
"""scripts/check-coroutines refuses what it says it refuses, with file and line, and lets the rest pass."""
import pathlib, subprocess, sys, tempfile, unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-coroutines"


def check(code):
    with tempfile.TemporaryDirectory() as root:
        (pathlib.Path(root) / "flows").mkdir()
        (pathlib.Path(root) / "flows" / "a.cpp").write_text(code)
        return subprocess.run([sys.executable, CHECK, "--root", root], capture_output=True, text=True)


class Coroutines(unittest.TestCase):
    def test_a_braced_temporary_is_refused(self):
        for line in ("co_await f(thing{a});", "auto x = co_await f(a,\n  ns::thing{b, c});", "co_await f(g(thing{}));", "co_await f(box<int>{1});", "co_await f([x](int) { return x; });"):
            got = check("void g();\n" + line)
            self.assertEqual(got.returncode, 1, line)
            self.assertIn("flows/a.cpp:2:", got.stdout)

    def test_what_is_safe_passes(self):
        for line in ("auto t = thing{a}; co_await f(std::move(t));", "co_await f(thing(a));", "co_await f(deadline{at});",
                     "co_await f(a); // co_await f(thing{a});", "co_await f([](int) {});", "if (co_await f(a)) { thing{}; }"):
            self.assertEqual(check(line).returncode, 0, line)

    def test_a_tree_without_any_is_no_success(self):
        self.assertEqual(check("void g();").returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
