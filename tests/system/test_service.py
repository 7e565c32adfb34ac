#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The unit for systemd and the container file: their command lines are ones that a node takes, and the unit is as closed as it says."""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from command import ROOT, TUTTI, kit_fmu
from nodes import NodesTest

UNIT = pathlib.Path(TUTTI).parent / "tutti-node.service"


class Service(NodesTest):
    def serve(self, options):
        """A node with these options, but for addresses and paths, works."""
        own, key = self.keys("node.key")
        mine, _ = self.keys("mine.key")
        (self.folder / "users").mkdir()
        shutil.copy(mine + ".pub", self.folder / "users")
        known = {"--listen": None, "--cache": None, "--ports": None, "--key": own, "--allow": self.path("users")}
        given = []
        for option, value in zip(options[::2], options[1::2]):
            if known.get(option, value) is not None:
                given += [option, known.get(option, value)]
        node = self.node("node", *given)
        nodes = self.list("nodes.txt", f"{node.address} {key}")
        self.tutti("run", kit_fmu("Dahlquist", "2"), "--nodes", nodes, "--key", mine, "--quiet")
        self.assertEqual({"--listen", "--cache", "--ports", "--key", "--allow"} - set(options), set())

    def test_unit(self):
        text = UNIT.read_text(encoding="utf-8").replace("\\\n", " ")
        command = shlex.split(re.search(r"(?m)^ExecStart=(.*)$", text)[1])
        self.assertRegex(command[0], "^/.*/tutti$")
        self.assertEqual(command[1], "node")
        self.serve(command[2:])

    def test_container(self):
        text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
        self.assertEqual(json.loads(re.search(r"(?m)^ENTRYPOINT (.*)$", text)[1]), ["tutti", "node"])
        self.assertIn("RUN ./dev package", text)
        self.serve(json.loads(re.search(r"(?m)^CMD (.*)$", text)[1]))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_exposure(self):
        unit = self.write("tutti-node.service", re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={TUTTI}", UNIT.read_text(encoding="utf-8")))
        outcome = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
        self.assertEqual(outcome.stderr.strip(), "")
        outcome = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", unit], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)


if __name__ == "__main__":
    unittest.main()
