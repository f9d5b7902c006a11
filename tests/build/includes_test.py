#!/usr/bin/env python3
"""Plants one offence at a time into a small tree with the real table, and expects scripts/check-layers to refuse it by file and line."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOUND = {
    "base/CMakeLists.txt": "paddock_library(base KIND rules SOURCES hash.cpp)\n",
    "base/hash.hpp": "#pragma once\n",
    "base/hash.cpp": '#include "base/hash.hpp"\n\n#include <string>\n',
    "base/flows/CMakeLists.txt": "paddock_library(base_flows KIND flows SOURCES beast_impl.cpp LINKS base)\n",
    "base/flows/http.hpp": "#include <boost/asio.hpp>\n#include <thread>\n",
    "base/flows/beast_body.hpp": "#include <boost/beast/http.hpp>\n",
    "base/flows/beast_impl.cpp": '#include "base/flows/beast_body.hpp"\n#include <boost/beast/src.hpp>\n',
    "workspace/CMakeLists.txt": "paddock_library(workspace KIND rules SOURCES LINKS base)\n",
    "workspace/id.hpp": '#include "base/hash.hpp"\n',
    "guest/agent/CMakeLists.txt": "paddock_library(guest_agent KIND agent SOURCES LINKS base)\n",
    "guest/agent/serve.hpp": "#include <boost/asio.hpp>\n",
    "messages/CMakeLists.txt": "paddock_library(messages KIND actors SOURCES)\n",
    "messages/types.hpp": "#include <caf/all.hpp>\n",
    "actors/CMakeLists.txt": "paddock_library(actors KIND actors SOURCES LINKS messages)\n",
    "actors/node.hpp": '#include "messages/types.hpp"\n#include "workspace/id.hpp"\n#include <thread>\n',
    "apps/paddockd/CMakeLists.txt": "paddock_program(paddockd SOURCES main.cpp)\n",
    "apps/paddockd/main.cpp": '#include "actors/node.hpp"\n#include "base/flows/http.hpp"\n#include <caf/all.hpp>\n#include <boost/asio.hpp>\n',
    "tests/base/hash_test.cpp": '#include "base/hash.hpp"\n#include <boost/beast/http.hpp>\n#include <caf/all.hpp>\n',
}
# file, the line planted at its end, what the complaint says of it
OFFENCES = [
    ("base/hash.hpp", '#include "workspace/id.hpp"', "base may not link workspace"),
    ("base/hash.hpp", "#include <workspace/id.hpp>", "base may not link workspace"),
    ("base/hash.hpp", '#include "base/flows/http.hpp"', "base may not link base_flows"),
    ("base/hash.hpp", "#include <boost/asio.hpp>", "base is of kind rules: no Asio"),
    ("base/hash.hpp", "  #  include <caf/all.hpp>", "base is of kind rules: no CAF"),
    ("base/hash.hpp", "#include <openssl/evp.h>", "base is of kind rules: no TLS"),
    ("base/hash.hpp", "#include <spdlog/spdlog.h>", "base is of kind rules: no log"),
    ("base/hash.hpp", "#include <thread>", "base is of kind rules: no threads"),
    ("workspace/id.hpp", '#include "actors/node.hpp"', "workspace may not link actors"),
    ("workspace/id.hpp", '#include "tests/support/fake.hpp"', "tests/ is included by nobody outside of it"),
    ("workspace/id.hpp", '#include "id.hpp"', "from the root"),
    ("base/flows/http.hpp", "#include <caf/all.hpp>", "base_flows is of kind flows: no CAF"),
    ("base/flows/http.hpp", "#include <boost/beast/http.hpp>", "only base/flows/beast_* see Beast"),
    ("base/flows/http.hpp", '#include "base/flows/beast_body.hpp"', "only base/flows/beast_* see Beast"),
    ("guest/agent/serve.hpp", "#include <boost/asio/ssl.hpp>", "guest_agent is of kind agent: no TLS"),
    ("guest/agent/serve.hpp", '#include "k8s/call.hpp"', "guest_agent may not link k8s"),
    ("messages/types.hpp", "#include <boost/asio.hpp>", "messages is of kind actors: no Asio"),
    ("messages/types.hpp", '#include "actors/node.hpp"', "messages may not link actors"),
    ("actors/node.hpp", "#include <openssl/ssl.h>", "actors is of kind actors: no TLS"),
    ("actors/node.hpp", '#include "workspace/flows/resume.hpp"', "actors may not link workspace_flows"),
]


class includes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in SOUND.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        (self.root / "cmake").mkdir()
        shutil.copy(ROOT / "cmake/paddock_layers.cmake", self.root / "cmake")

    def check(self):
        ran = subprocess.run([sys.executable, ROOT / "scripts/check-layers", "--root", self.root], capture_output=True, text=True)
        return ran.returncode, ran.stdout.splitlines(), ran.stderr

    def test_a_sound_tree_passes(self):
        status, said, errors = self.check()
        self.assertEqual((status, errors), (0, ""), said)
        self.assertIn(f"{sum(x.endswith(('.cpp', '.hpp')) for x in SOUND)} files", said[0])

    def test_each_offence_is_refused_alone_by_file_and_line(self):
        for name, line, why in OFFENCES:
            with self.subTest(f"{line} in {name}"):
                text = SOUND[name] + "/* a\n   comment */\n" + line + "\n"
                (self.root / name).write_text(text)
                status, said, _ = self.check()
                self.assertEqual((status, len(said)), (1, 1), said)
                self.assertTrue(said[0].startswith(f"{name}:{text.count(chr(10))}: {line.strip()}: "), said)
                self.assertIn(why, said[0])
                (self.root / name).write_text(SOUND[name])

    def test_an_include_in_a_comment_is_none(self):
        (self.root / "base/hash.hpp").write_text('// #include <thread>\n/*\n#include <caf/all.hpp>\n*/\n')
        self.assertEqual(self.check()[0], 0)

    def test_a_source_that_nobody_builds_is_refused(self):
        (self.root / "base/lost.cpp").write_text("")
        (self.root / "base/CMakeLists.txt").write_text(SOUND["base/CMakeLists.txt"] + "# lost.cpp\n")
        status, said, _ = self.check()
        self.assertEqual((status, said), (1, ["base/lost.cpp:1: base/lost.cpp: no CMakeLists.txt names it"]))

    def test_a_folder_without_a_library_is_refused(self):
        (self.root / "stray").mkdir()
        (self.root / "stray/thing.hpp").write_text("")
        status, said, _ = self.check()
        self.assertEqual((status, len(said)), (1, 1), said)
        self.assertTrue(said[0].startswith("stray/thing.hpp:1: "), said)

    def test_a_library_linked_past_the_table_is_refused(self):
        with (self.root / "base/CMakeLists.txt").open("a") as file:
            file.write("target_link_libraries(paddock_base PUBLIC paddock_workspace)\n")
        status, said, _ = self.check()
        self.assertEqual((status, len(said)), (1, 1), said)
        self.assertTrue(said[0].startswith("base/CMakeLists.txt:2: "), said)

    def test_an_empty_tree_is_no_success(self):
        for name in SOUND:
            (self.root / name).unlink()
        self.assertNotEqual(self.check()[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
