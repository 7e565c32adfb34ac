#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sweeps on nodes, and what studies refuse instead of leaving it out."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from common import ROOT, TUTTI, kit

import tutti

sys.path.append(str(ROOT / "tests" / "system"))
from command import wait_until  # noqa: E402

VARY = {"mu": (1, 3, 5)}


class Nodes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="test-tutti.")
        self.addCleanup(folder.cleanup)
        log = pathlib.Path(folder.name) / "log"
        with open(log, "wb") as file:
            node = subprocess.Popen([TUTTI, "node", "--listen", "127.0.0.1:0", "--cache", folder.name + "/cache", "--confine", "none"], stdout=file, stderr=file)
        self.addCleanup(node.wait)
        self.addCleanup(node.terminate)
        self.assertTrue(wait_until(lambda: "listening at" in log.read_text() or node.poll() is not None))
        self.assertIsNone(node.poll(), log.read_text())
        self.address = re.search(r"listening at (\S+),", log.read_text())[1]

    def test_same_numbers(self):
        here = tutti.sweep(kit("VanDerPol"), vary=VARY, measure="max(x0)", stop=1)
        there = tutti.sweep(kit("VanDerPol"), vary=VARY, measure="max(x0)", stop=1, nodes=self.address, timeout=60.0)
        self.assertEqual(list(there["max(x0)"]), list(here["max(x0)"]))
        with self.assertRaisesRegex(tutti.Error, "127.0.0.1:1"):
            tutti.sweep(kit("VanDerPol"), vary=VARY, nodes="127.0.0.1:1")


class Refused(unittest.TestCase):
    def test_what_has_no_effect(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as data:
            data.write("time,x0\n0,2\n1,1.5\n")
            data.flush()
            for option in ({"nodes": "127.0.0.1:1"}, {"workers": 2}, {"timeout": 1.0}, {"confine": "strict"}):
                with self.subTest(option=option), self.assertRaisesRegex(tutti.Error, "one after the other"):
                    tutti.estimate(kit("VanDerPol"), fit={"mu": (1, 0, 5)}, data=data.name, **option)
        for option in ({"timeout": 1.0}, {"confine": "strict"}):
            with self.subTest(option=option), self.assertRaisesRegex(tutti.Error, f"{next(iter(option))}.*for tutti_run"):
                tutti.Simulation(kit("VanDerPol"), **option)


if __name__ == "__main__":
    unittest.main()
