#!/usr/bin/env python3
"""What [G] 24.4 says of the image, read from deploy/image/Dockerfile; and its step against set-id bits, run on a folder with some."""
import pathlib, re, shlex, stat, subprocess, tempfile, unittest

IMAGE = pathlib.Path(__file__).resolve().parents[2] / "deploy/image"


def instructions():
    text = re.sub(r"^\s*#.*\n", "", (IMAGE / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


class Dockerfile(unittest.TestCase):
    def setUp(self):
        self.all = instructions()

    def of(self, name):
        return [rest for what, rest in self.all if what == name]

    def run_with(self, word):
        (found,) = [x for x in self.of("RUN") if word in x]
        return found

    def test_the_base_is_slim_debian_by_a_name_without_a_registry(self):
        self.assertEqual(self.of("FROM"), ["${BASE}"])
        self.assertIn("BASE=debian:bookworm-slim", self.of("ARG"))

    def test_it_starts_as_root_in_the_workspace_with_the_entrypoint(self):
        self.assertEqual(self.of("USER"), [])
        self.assertEqual((self.of("WORKDIR"), self.of("EXPOSE")), (["/workspace"], ["1024"]))
        self.assertEqual((self.of("ENTRYPOINT"), self.of("CMD")), (['["/usr/local/bin/paddock-entrypoint"]'], []))
        self.assertEqual(dict(x.split("=") for x in shlex.split(self.of("ENV")[0])), {
            "LANG": "C.UTF-8", "NAMZU_AGENT_UID": "1001", "NAMZU_AGENT_GID": "1001", "NAMZU_SANDBOX_WORKSPACE": "/workspace",
            "NAMZU_WORKSPACE_ROOT": "/workspace"})

    def test_it_has_what_the_entrypoint_calls(self):
        words = set(self.run_with("apt-get").split())
        self.assertLessEqual({"util-linux", "mount", "e2fsprogs", "tini", "coreutils", "findutils", "libc-bin", "passwd"}, words)
        script = (IMAGE / "entrypoint").read_text()
        self.assertIn("\nagent=/usr/local/bin/paddock-guest\n", script)
        places = [x.split()[-1] for x in self.of("COPY")]
        self.assertEqual(places, ["/usr/local/bin/paddock-guest", "/usr/local/bin/paddock-entrypoint"])

    def test_the_user_has_a_home_and_the_workspace(self):
        step = self.run_with("useradd")
        for words in ("groupadd --gid 1001 namzu", "useradd --uid 1001 --gid 1001 --create-home", "install -d -o 1001 -g 1001 /workspace"):
            self.assertIn(words, step)

    def test_no_set_id_bit_is_left_by_any_step(self):
        names = [(what, rest) for what, rest in self.all if what in ("RUN", "COPY")]
        self.assertIn("-perm /6000", names[-1][1])
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            root = pathlib.Path(folder)
            for name, mode in (("su", 0o4755), ("wall", 0o2755), ("both", 0o6711), ("plain", 0o755)):
                (root / name).write_text("")
                (root / name).chmod(mode)
            (root / "mail").mkdir()
            (root / "mail").chmod(0o3777)
            (root / "link").symlink_to("absent")
            command = names[-1][1].replace("find / ", f"find {folder} ")
            self.assertEqual(command.count(folder), 2)
            subprocess.run(["sh", "-euc", command], check=True, timeout=60)
            self.assertEqual({x.name: stat.S_IMODE(x.lstat().st_mode) for x in root.iterdir() if x.name != "link"},
                             {"su": 0o755, "wall": 0o755, "both": 0o711, "plain": 0o755, "mail": 0o1777})


if __name__ == "__main__":
    unittest.main(verbosity=2)
