#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tutti.System: put together, looked at, changed, saved."""
import os
import tempfile
import unittest
import zipfile

import numpy as np

from common import JOINED, TWO, kit

import tutti


class Source:
    outputs = ["y"]
    y = 0.0

    def step(self, t, h):
        self.y = t + h


class System(unittest.TestCase):
    def build(self):
        system = tutti.System(step=0.01, stop=1)
        system.add(TWO["a"], "a").add(TWO["b"], "b")
        for source, target in JOINED:
            system.connect(source, target)
        return system.set({"a.x_left": 0.1})

    def test_build(self):
        system = self.build()
        self.assertEqual(system.units, ["a", "b"])
        result = system.simulate()
        same = tutti.simulate(TWO, connect=JOINED, set={"a.x_left": 0.1}, step=0.01, stop=1)
        np.testing.assert_array_equal(result["b.x"], same["b.x"])
        more = system.simulate(set={"a.x_left": 0.2}, stop=0.5)
        self.assertEqual(more.time[-1], 0.5)
        self.assertNotEqual(more["b.x"][10], result["b.x"][10])
        self.assertEqual(tutti.System(TWO, connect=dict(JOINED)).connections, JOINED)
        self.assertEqual(tutti.System(TWO, connect=[f"{a}={b}" for a, b in JOINED]).connections, JOINED)

    def test_variables(self):
        ball = tutti.open(kit("BouncingBall"))
        height = ball.variables["h"]
        self.assertEqual((height.start, height.unit, height.causality), (1.0, "m", "output"))
        self.assertEqual(height.minimum, -np.inf)
        self.assertIsNone(tutti.open(kit("Feedthrough")).variables["string_in"].start)

    def test_units_of_nested_systems(self):
        inner = "".join(f'<ssd:Component name="{name}" source="resources/m.fmu"/>' for name in "ab")
        text = ('<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" version="1.0" name="n">'
                f'<ssd:System name="top"><ssd:Elements><ssd:System name="sub"><ssd:Elements>{inner}</ssd:Elements></ssd:System>'
                '<ssd:Component name="c" source="resources/m.fmu"/></ssd:Elements></ssd:System></ssd:SystemStructureDescription>')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "n.ssp")
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("SystemStructure.ssd", text)
                archive.write(TWO["a"], "resources/m.fmu")
            self.assertEqual(tutti.open(path).units, ["sub.a", "sub.b", "c"])

    def test_save(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.ssp")
            self.build().save(path)
            again = tutti.open(path)
            np.testing.assert_array_equal(again.simulate()["b.x"], self.build().simulate()["b.x"])
            self.assertEqual(again.units, ["a", "b"])
            with self.assertRaisesRegex(ValueError, "its own units"):
                again.add(kit("Dahlquist"))
            with self.assertRaisesRegex(ValueError, "Python cannot be saved"):
                tutti.System({"source": Source()}).save(os.path.join(folder, "x.ssp"))

    def test_step(self):
        with self.build().open() as simulation:
            simulation.start().advance(0.5)
            self.assertEqual(simulation.time, 0.5)

    def test_wrong(self):
        with self.assertRaises(FileNotFoundError):
            tutti.open("nothing.ssp")
        with self.assertRaisesRegex(ValueError, "already"):
            self.build().add(TWO["a"], "a")
        with self.assertRaisesRegex(tutti.Error, "nothing"):
            self.build().connect("a.nothing", "b.x_left").simulate()


if __name__ == "__main__":
    unittest.main()
