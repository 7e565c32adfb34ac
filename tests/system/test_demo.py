#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `./dev demo` shows once it has built what it needs."""
import pathlib
import re
import shutil
import subprocess
import unittest

from command import FMUS, ROOT, TUTTI, CommandTest


@unittest.skipUnless(shutil.which("gnuplot") and shutil.which("dot"), "gnuplot or Graphviz is not installed")
class Demo(CommandTest):
    def test_demo(self):
        command = [ROOT / "examples" / "car" / "demo.sh", TUTTI, FMUS.parent / "examples" / "car" / "car.ssp", self.path("out")]
        ended = subprocess.run(command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        said = ended.stdout.replace(" \n", " ")
        self.assertRegex(said, r"the coupling is not stable with these steps")
        self.assertRegex(said, r"\ncoupling +seidel: \w.*\ncontrol +embedded: \w")
        self.assertIn("\nidentical\n", said)
        self.assertEqual(len(re.findall(r"(?m)^front_left.x in m$", said)), 2)  # drawn twice
        self.assertNotIn("\033", said)
        page = pathlib.Path(self.path("out"), "car.html").read_text(encoding="utf-8")
        self.assertEqual(page.count('src="data:image/svg+xml;base64,'), 3)
        self.assertNotRegex(page, r"(src|href)=\"(?!data:)")

    def test_what_it_builds(self):
        """README continues with `tutti web`, which loads a module."""
        build = pathlib.Path(TUTTI).parent
        if not (build / "build.ninja").exists() or not (build / "tutti_http.so").exists():
            self.skipTest("not a build by Ninja with libmicrohttpd")
        commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "demo"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn(" -o tutti_http.so", commands)


if __name__ == "__main__":
    unittest.main()
