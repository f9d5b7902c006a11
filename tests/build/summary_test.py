#!/usr/bin/env python3
"""Runs scripts/test over runs of ctest whose results are known, with stubs for set-up, build and checks, and reads its last line."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = 'add_test(good%d "true")\n'
SYSTEM = 'add_test(whole "true")\nset_tests_properties(whole PROPERTIES LABELS system)\n'
STUB = "#!/bin/bash\nexit %d\n"


class summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        (self.root / "bin").mkdir()
        shutil.copy(ROOT / "scripts/test", self.root / "scripts/test")
        for name in ("scripts/setup", "scripts/format", "scripts/check-layers", "scripts/check-coroutines", "bin/cmake", "bin/shellcheck"):
            self.stub(name, 0)
        self.plant("dev", GOOD % 1 + GOOD % 2 + SYSTEM)
        self.plant("asan", GOOD % 1)
        self.plant("tsan", 'add_test(actors.good "true")\nadd_test(elsewhere "false")\n')

    def stub(self, name, status):
        (self.root / name).write_text(STUB % status)
        (self.root / name).chmod(0o755)

    def plant(self, preset, text):
        (self.root / "build" / preset).mkdir(parents=True, exist_ok=True)
        (self.root / "build" / preset / "CTestTestfile.cmake").write_text(text)

    def last_line(self, *arguments):
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        ran = subprocess.run([self.root / "scripts/test", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "PATH": path})
        return ran.stdout.splitlines()[-1], ran.returncode

    def test_all_runs_are_added_up(self):
        self.assertEqual(self.last_line(), ("5 passed, 0 failed", 0))

    def test_quick_leaves_out_sanitizers_and_system_tests(self):
        self.assertEqual(self.last_line("--quick"), ("2 passed, 0 failed", 0))

    def test_arguments_go_to_ctest(self):
        self.assertEqual(self.last_line("--", "-R", "good2"), ("1 passed, 0 failed", 0))

    def test_arguments_that_choose_no_test_fail(self):
        self.assertEqual(self.last_line("--", "-R", "nothing"), ("0 passed, 1 failed", 1))

    def test_a_failed_test_counts_once(self):
        self.plant("asan", GOOD % 1 + 'add_test(bad "false")\n')
        self.assertEqual(self.last_line(), ("5 passed, 1 failed", 1))

    def test_a_test_that_could_not_start_has_failed(self):
        self.plant("asan", GOOD % 1 + 'add_test(gone "/nonexistent/program")\n')
        self.assertEqual(self.last_line(), ("5 passed, 1 failed", 1))

    def test_a_skipped_test_is_named_apart(self):
        self.plant("asan", GOOD % 1 + 'add_test(skipped "sh" "-c" "exit 77")\nset_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)\n')
        self.assertEqual(self.last_line(), ("5 passed, 0 failed, 1 skipped", 0))

    def test_a_disabled_test_has_not_passed(self):
        self.plant("asan", GOOD % 1 + 'add_test(off "true")\nset_tests_properties(off PROPERTIES DISABLED TRUE)\n')
        self.assertEqual(self.last_line(), ("5 passed, 1 failed", 1))

    def test_a_run_without_tests_fails(self):
        self.plant("asan", "")
        self.assertEqual(self.last_line(), ("4 passed, 1 failed", 1))

    def test_output_that_looks_like_a_result_is_none(self):
        self.plant("asan", """add_test(liar "echo" "<testcase name='x' status=\\"run\\"></testcase>")\n""")
        self.assertEqual(self.last_line(), ("5 passed, 0 failed", 0))

    def test_a_check_that_fails_stops_nothing_and_is_counted(self):
        self.stub("scripts/format", 1)
        self.stub("scripts/check-layers", 1)
        self.assertEqual(self.last_line(), ("5 passed, 2 failed", 1))

    def test_a_build_that_fails_is_counted_and_its_tests_do_not_run(self):
        self.stub("bin/cmake", 1)
        self.assertEqual(self.last_line(), ("0 passed, 1 failed", 1))

    def test_a_set_up_that_fails_is_counted(self):
        self.stub("scripts/setup", 1)
        self.assertEqual(self.last_line(), ("0 passed, 1 failed", 1))

    def test_wrong_usage_runs_nothing(self):
        self.assertEqual(self.last_line("--bogus")[1], 2)
        self.assertEqual(self.last_line("--preset", "release")[1], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
