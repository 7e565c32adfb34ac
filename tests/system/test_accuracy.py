#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A tolerance means something: over random stable systems the error of a run follows it. (bench/bench_accuracy.py has many
more of them.)"""
import math
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

from command import FMUS, TUTTI
from random_systems import SORTS, System, do_steps

SEEDS = (1, 2, 3, 4, 25, 26)
TOLERANCES = (1e-2, 1e-3, 1e-5)
MOST = 2  # times the tolerance and the range of the signal; the bar is 10
LEAST_SLOPE = 0.85  # of the error against the tolerance, both logarithmic; a line through three points
MOST_REJECTED = 0.12
MOST_UNDERESTIMATED = 0.5


class Accuracy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tutti-accuracy-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_system(self, system, tolerance, *options):
        columns, stats = system.run(TUTTI, self.folder, "--rtol", tolerance, *options)
        errors, ranges = system.errors(columns, system.exact())
        return max(errors / ranges), stats

    def check_estimate(self, system, tolerance, error, estimate):
        """What steps did wrong, added up, is at most the tolerance, and the result is not worse than that."""
        self.assertIn(estimate["variable"], system.outputs)
        self.assertGreater(estimate["size"], 0)
        self.assertLess(estimate["share"], 1.2)
        self.assertGreater(estimate["share"] * tolerance, MOST_UNDERESTIMATED * error)

    def test_error_follows_the_tolerance(self):
        self.assertEqual({System(seed, FMUS).sort for seed in SEEDS}, set(SORTS))
        for seed in SEEDS:
            system = System(seed, FMUS)
            found = [self.run_system(system, tolerance) for tolerance in TOLERANCES]
            errors = [error for error, _ in found]
            with self.subTest(system=system.name, errors=errors):
                slope = np.polyfit(np.log(TOLERANCES), np.log(errors), 1)[0]
                self.assertGreater(slope, LEAST_SLOPE)
                for tolerance, (error, stats) in zip(TOLERANCES, found):
                    self.assertLess(error, MOST * tolerance)
                    self.assertLess(stats["rejected"], MOST_REJECTED * (stats["steps"] + stats["rejected"]) + 5)
                    self.assertEqual(stats["forced"], 0)
                    self.check_estimate(system, tolerance, error, stats["estimated_error"])

    def test_per_step_is_another_thing(self):
        """By one step the error of the run follows with the root of the tolerance at best, for the same do-steps."""
        system = System(3, FMUS)
        by_step, dear = self.run_system(system, 1e-4, "--error-per", "step")
        by_time, cheap = self.run_system(system, 1e-2)
        self.assertGreater(by_step, 20 * 1e-4)
        self.assertLess(by_time, by_step / 10)
        self.assertLess(do_steps(cheap), do_steps(dear))

    def test_estimate_is_told(self):
        """In the summary, where errors of the run are bounded, and only there."""
        system = System(2, FMUS)
        for options, told in ((("--rtol", "1e-3"), True), (("--step", "0.1"), False),
                              (("--rtol", "1e-3", "--error-per", "step"), False)):
            command = [TUTTI, "run", *system.options, "--stop", "5", *options, "-o", str(self.folder / "result.csv")]
            ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
            lines = [line for line in ended.stderr.splitlines() if line.startswith("error ")]
            with self.subTest(options=options):
                self.assertEqual(len(lines), told)
                if told:
                    self.assertRegex(lines[0], r"estimated: up to [0-9.e-]+ times --rtol \(c[01]\.[yq]: [0-9.e-]+\)")
                _, stats = system.run(TUTTI, self.folder, *options)
                self.assertEqual(stats["estimated_error"] is not None, told)

    def test_masses_of_the_readme(self):
        """Two masses of 1 kg, springs of 100 N/m, dampers of 1 N s/m, from 100 mm: right.x."""
        mass = FMUS / "ChainMass_fmi2.fmu"
        system = System(3, FMUS)
        system.options = [f"left={mass}", f"right={mass}", "--set", "left.x=0.1"]
        for output, target in (("left.x", "right.x_left"), ("left.v", "right.v_left"), ("right.F", "left.F_right")):
            system.connect(output, target)
        system.count, system.stop = 2, 5
        system.m, system.k, system.d = np.ones(2), np.full(2, 100.0), np.ones(2)
        system.initial = np.array([0.1, 0, 0, 0])
        system.outputs = ["left.x", "right.x", "left.v", "right.v", "left.F", "right.F"]
        for tolerance, most in ((1e-2, 2000), (1e-3, 6000), (1e-4, 18000)):
            columns, stats = system.run(TUTTI, self.folder, "--rtol", tolerance)
            errors, _ = system.errors(columns, system.exact())
            with self.subTest(tolerance=tolerance):
                self.assertLess(errors[1], 0.2 * tolerance * 0.1)
                self.assertLess(do_steps(stats), most)
                self.assertTrue(math.isfinite(errors[5]))


if __name__ == "__main__":
    unittest.main()
