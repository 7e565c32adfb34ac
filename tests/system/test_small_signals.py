#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Error control of signals that are much smaller than 1: without a declared nominal value their tolerance follows their size."""
import json
import math
import unittest

from command import FMUS, CommandTest, kit_fmu

CELL = {"axx": -0.01, "axz": 0, "azx": 0, "azz": -0.01, "bz1": 0}


def pair(amplitude, fmu=None):
    """a' = -.01 a + 3 b, b' = -.01 b - 3 a: a rotation of that amplitude, which decays."""
    fmu = fmu or kit_fmu("Cell", 2)
    values = [f"{name}.{key}={value}" for name in "ab" for key, value in (CELL | {"bx1": 3 if name == "a" else -3}).items()]
    values += [f"a.x={amplitude}", "b.x=0"]
    return (f"a={fmu}", f"b={fmu}", "--connect", "b.y=a.u1", "--connect", "a.y=b.u1", "--stop", "5",
            *(part for value in values for part in ("--set", value)))


class SmallSignals(CommandTest):
    def run_pair(self, amplitude, *options, fmu=None):
        """The largest error as a multiple of the range, what the run estimated in tolerances, and its warnings."""
        told = self.tutti("run", *pair(amplitude, fmu), "--rtol", "1e-4", "-o", "result.csv", "--stats", "stats.json", *options)
        result = self.result()
        error = max(max(abs(a - amplitude * math.exp(-.01 * t) * math.cos(3 * t)),
                        abs(b + amplitude * math.exp(-.01 * t) * math.sin(3 * t)))
                    for t, a, b in zip(result.times, result["a.y"], result["b.y"]))
        with open(self.path("stats.json"), encoding="utf-8") as file:
            stats = json.load(file)
        return error / (2 * amplitude), stats, told.lines("warning")

    def test_error(self):
        for options in (("--interface", "cs"), ("--interface", "cs", "--coupling", "newton"), ("--interface", "me"),
                        ("--interface", "me", "--coupling", "seidel")):
            for amplitude in (1, 1e-6, 1e-10):
                with self.subTest(options=options, amplitude=amplitude):
                    error, _, warnings = self.run_pair(amplitude, *options)
                    self.assertLess(error, 2e-4)
                    self.assertEqual(warnings, [])

    def test_work(self):
        """Small signals cost what large ones do."""
        steps = [self.run_pair(amplitude, "--interface", "cs")[1]["steps"] for amplitude in (0.5, 1e-9)]
        self.assertLess(abs(steps[1] - steps[0]), 0.5 * steps[0])

    def test_noise(self):
        """Heat that does not flow is noise of solvers, beside 293 K and 1000 W; it took 192397 steps of which 20 were forced."""
        rooms = str(FMUS.parent / "examples" / "four_rooms" / "four_rooms.ssp")
        self.tutti("run", rooms, "--interface", "cs", "--rtol", "1e-4", "-o", "result.csv", "--stats", "stats.json", "--quiet")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            self.assertLess(json.load(file)["steps"], 5000)

    def test_given(self):
        """--atol is meant."""
        error, _, warnings = self.run_pair(1e-6, "--interface", "cs", "--atol", "1e-6")
        self.assertGreater(error, 1e-3)
        self.assertEqual(warnings, [])

    def test_declared(self):
        """A nominal value that an FMU declares counts; the run says what it did to a small signal."""
        output = 'causality="output" variability="continuous"><Real'
        fmu = self.altered(kit_fmu("Cell", 2), (output, output + ' nominal="1"'))
        error, _, warnings = self.run_pair(1e-6, "--interface", "cs", fmu=fmu)
        self.assertGreater(error, 1e-3)
        self.assertEqual(len(warnings), 1, warnings)
        self.assertRegex(warnings[0], r"'[ab]\.y' moves over a range of \S+, and may be off by \S+, which is \S+ times --rtol of "
                         r"it: its tolerance is for its nominal value \(1\); use a smaller --rtol, or --atol")


if __name__ == "__main__":
    unittest.main()
