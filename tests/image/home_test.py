#!/usr/bin/env python3
"""The home that deploy/image/entrypoint chooses, with stub tools."""
import stat

from stub_tools import *


class Home(Entrypoint):
    def home_is(self, home):
        self.stub("getent", f"printf '%s\\n' 'worker:x:{self.uid}:{self.uid}::{home}:/bin/sh'")

    def falls_back(self, shell, **variables):
        code, lines, calls = self.run_it(shell, **variables)
        self.assertEqual((code, lines), (0, []))
        self.assertEqual([self.environment[x] for x in ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")],
                         [str(self.fallback), "namzu", "namzu", f"{self.fallback}/.cache", f"{self.fallback}/.config"])
        self.assertIn(["chown", f"{self.uid}:1001", str(self.fallback)], calls)
        self.assertEqual(stat.S_IMODE(self.fallback.stat().st_mode), 0o700)
        return calls

    # [G 280] a home inside the workspace, however it is written
    def test_a_home_inside_the_workspace_is_not_used(self):
        self.home_is(f"{self.root}/home")
        for shell in SHELLS:
            self.falls_back(shell)
            self.assertFalse(self.root.exists())
        self.root.mkdir()
        (self.folder / "link").symlink_to(self.root)
        (self.folder / "other").mkdir()
        for home in (self.root, f"{self.root}/", f"{self.root}/home", f"/{self.root}/home", f"{self.folder}/other/../workspace/home", f"{self.folder}/link/home"):
            self.home_is(home)
            for shell in SHELLS:
                with self.subTest(home=home):
                    calls = self.falls_back(shell)
                    self.assertEqual([x for x in calls if x[0] == "chown"], [["chown", f"{self.uid}:1001", str(self.fallback)]])
        self.home_is(f"{self.root}-not/home")
        for shell in SHELLS:
            self.assertEqual(self.run_it(shell)[0], 0)
            self.assertEqual(self.environment["HOME"], f"{self.root}-not/home")

    def test_no_entry_and_no_lookup_tool_are_no_errors(self):
        for body, status in (("", 2), ("", 0), (f"echo 'worker:x:{self.uid}:1001:::/bin/sh'", 0), ("echo garbage", 0)):
            self.stub("getent", body, status)
            for shell in SHELLS:
                self.falls_back(shell)
        (self.bin / "getent").unlink()
        for shell in SHELLS:
            self.falls_back(shell)

    def test_a_fallback_that_is_there_already_becomes_private(self):
        self.home_is("")
        for shell in SHELLS:
            self.fallback.mkdir(exist_ok=True)
            self.fallback.chmod(0o755)
            self.falls_back(shell)

    def test_a_home_that_the_agent_would_not_own_is_not_used(self):
        lies = {"chown": f'[ "$2" != "{self.home}" ] || exit 1', "stat": f'[ "$4" != "{self.home}" ] || {{ echo 0; exit; }}\necho {self.uid}'}
        truth = {"chown": "", "stat": f"echo {self.uid}"}
        for tool, body in lies.items():
            self.stub(tool, body)
            for shell in SHELLS:
                with self.subTest(tool=tool):
                    self.falls_back(shell)
            self.stub(tool, truth[tool])

    def test_a_home_that_cannot_be_made_is_not_used(self):
        (self.folder / "file").write_text("")
        for home in (f"{self.folder}/file/home", "home", "/", "//", "/..", "/proc/absent/home"):
            self.home_is(home)
            for shell in SHELLS:
                with self.subTest(home=home):
                    self.falls_back(shell)

    def test_without_any_home_nothing_starts(self):
        for tool, truth in (("chown", ""), ("stat", f"echo {self.uid}")):
            self.stub(tool, status=1)
            for shell in SHELLS:
                self.refused(self.run_it(shell), self.fallback)
            self.stub(tool, truth)

    def test_a_planted_link_in_place_of_the_fallback_is_not_followed(self):
        self.home_is("")
        self.fallback.symlink_to(self.folder)
        for shell in SHELLS:
            self.assertNotIn("chown", self.names(self.refused(self.run_it(shell), self.fallback)))

    def test_a_name_with_a_space_is_one_name(self):
        self.home = self.folder / "a home"
        self.home_is(self.home)
        for shell in SHELLS:
            code, lines, calls = self.run_it(shell, NAMZU_WORKSPACE_ROOT=f"{self.folder}/a root")
            self.assertEqual((code, lines), (0, []))
            self.assertIn(["chown", f"{self.uid}:1001", str(self.home)], calls)
            self.assertEqual((self.environment["HOME"], self.environment["NAMZU_SANDBOX_WORKSPACE"]), (str(self.home), f"{self.folder}/a root"))


if __name__ == "__main__":
    main()
