#!/usr/bin/env python3
"""Configures a small project with the real cmake/paddock_layers.cmake: an allowed link passes, any other stops by name."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(planted LANGUAGES CXX)
foreach(library nlohmann_json::nlohmann_json tl::expected Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads CAF::core CAF::io)
  add_library(${library} INTERFACE IMPORTED GLOBAL)
endforeach()
include("%s/cmake/paddock_layers.cmake")
paddock_library(base KIND rules SOURCES)
paddock_library(k8s KIND rules SOURCES LINKS base)
%s
"""


class links(unittest.TestCase):
    def configure(self, planted):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CMakeLists.txt").write_text(PROJECT % (ROOT.as_posix(), planted))
            ran = subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder + "/build"], capture_output=True, text=True)
            return ran.returncode, " ".join(ran.stderr.split())  # CMake breaks its lines

    def test_an_allowed_link_configures(self):
        status, errors = self.configure("paddock_library(guest KIND rules SOURCES LINKS base)")
        self.assertEqual((status, errors), (0, ""))

    def test_a_wrong_link_is_refused_by_name(self):
        status, errors = self.configure("paddock_library(guest KIND rules SOURCES LINKS base k8s)")
        self.assertNotEqual(status, 0)
        self.assertIn("layers: guest may not link k8s; it may link: base", errors)

    def test_rules_may_not_link_flows(self):
        status, errors = self.configure("paddock_library(workspace KIND rules SOURCES LINKS base base_flows)")
        self.assertNotEqual(status, 0)
        self.assertIn("layers: workspace may not link base_flows", errors)

    def test_a_library_of_ours_is_not_smuggled_in_as_one_of_theirs(self):
        status, errors = self.configure("paddock_library(guest KIND rules SOURCES LINKS base LIBS paddock_k8s)")
        self.assertNotEqual(status, 0)
        self.assertIn("layers: guest may not link paddock_k8s as one of LIBS", errors)

    def test_an_unknown_library_is_refused_by_name(self):
        status, errors = self.configure("paddock_library(stray KIND rules SOURCES)")
        self.assertNotEqual(status, 0)
        self.assertIn("stray is not in the table", errors)

    def test_an_unknown_kind_is_refused(self):
        status, errors = self.configure("paddock_library(guest KIND mixed SOURCES)")
        self.assertNotEqual(status, 0)
        self.assertIn("kind 'mixed'", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
