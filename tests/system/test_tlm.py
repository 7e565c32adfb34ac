#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transmission lines between units: what arrives is what left, energy is kept, on every fabric and over a checkpoint; what cannot be
joined is refused."""
import bisect
import math
import unittest

from command import JACOBI, Table, kit_fmu
from fabrics import LOCAL, RESULT, has_mpi, mpi, processes, threads
from systems import component, ssd, system
from test_checkpoint import CheckpointTest

MASS = kit_fmu("ChainMass", "2")
DELAY, IMPEDANCE, STIFFNESS = 0.05, 5, 100
LINE = f"a.F_right,a.v=b.F_right,b.v; delay={DELAY}; impedance={IMPEDANCE}"
MASSES = (f"a={MASS}", f"b={kit_fmu('ChainMass', '3')}", "--set", "a.x=1", "--set", "a.d=0", "--set", "b.d=0", "--stop", "3")
COUPLINGS = (("jacobi",), ("seidel",), ("jacobi", "--extrapolate", "1"), ("relax",))


def between(times, values, t):
    """On the line between two of the points that are known so far; constant before the first."""
    place = bisect.bisect_right(times, t, 0, len(values))
    if place in (0, len(values)):
        return values[place and -1]
    part = (t - times[place - 1]) / (times[place] - times[place - 1])
    return values[place - 1] + part * (values[place] - values[place - 1])


def energies(table):
    """Of both masses with their springs, and of the line, point by point. In the line run w1 and w2; it holds the integral of
    (w1^2 + w2^2) / 4 Z over what is on its way. Before the start it moved with its ends, without a force."""
    into = table["a.v"], [-v for v in table["b.v"]]
    times = [table.times[0], *table.times]
    waves, masses, lines = ([IMPEDANCE * into[0][0]], [IMPEDANCE * into[1][0]]), [], []
    x, v = ([table[f"{unit}.{name}"] for unit in "ab"] for name in "xv")
    for i, t in enumerate(table.times):
        arrived = [between(times, waves[1 - end], t - DELAY) for end in (0, 1)]
        for end in (0, 1):
            waves[end].append(arrived[end] + 2 * IMPEDANCE * into[end][i])
        masses.append(sum(v[unit][i] ** 2 / 2 + STIFFNESS * x[unit][i] ** 2 / 2 for unit in (0, 1)))
        parts = [t - DELAY + DELAY * (k + 0.5) / 50 for k in range(50)] if i % 10 == 0 else []
        lines.append(sum(between(times, wave, s) ** 2 for s in parts for wave in waves) * DELAY / 50 / 4 / IMPEDANCE)
    return masses[::10], lines[::10]


class Lines(CheckpointTest):
    def refused(self, *arguments):
        return self.tutti("run", *MASSES, *arguments, "-o", RESULT, "--quiet", status=2).err

    def drift(self, step, *coupling):
        """The largest change of all energy, relative to it; and how much of it went through the line."""
        ran = self.again(*MASSES, "--tlm", LINE, "--step", str(step), "--coupling", *coupling)
        self.assertEqual(ran.status, 0, ran.err)
        table = Table(ran.files[RESULT].decode())
        masses, lines = energies(table)
        whole = [mass + line for mass, line in zip(masses, lines)]
        moved = sum(STIFFNESS * table["b.x"][-k] ** 2 / 2 + table["b.v"][-k] ** 2 / 2 for k in range(1, 100)) / 100
        return max(abs(energy - whole[0]) for energy in whole) / whole[0], moved / whole[0]

    def test_energy_is_kept(self):
        for coupling, order, finest in zip(COUPLINGS, (1, 1, 2, 2), (0.01, 0.01, 0.01, 0.001)):
            with self.subTest(coupling=coupling):
                (coarse, _), (fine, moved) = self.drift(0.01, *coupling), self.drift(0.0025, *coupling)
                self.assertLess(fine, finest)
                self.assertGreater(math.log(coarse / fine, 4), 0.8 * order if finest > 0.001 else 0)
                self.assertGreater(moved, 0.1, "the second mass does not move")

    def test_steps_near_the_delay(self):
        """Without an option about the coupling, as good as steps that are iterated. (The jump of the wave at the start is 0.7% of it.)"""
        line = "a.F_right,a.v=b.F_right,b.v; delay=0.01; impedance=1"
        exact = self.again(*MASSES, "--tlm", line, "--step", "0.0005", "--coupling", "relax", "--output-step", "0.1")
        for step in (0.01, 0.004):
            with self.subTest(step=step):
                ran = self.again(*MASSES, "--tlm", line, "--step", str(step), "--output-step", "0.1")
                self.assertEqual((exact.status, ran.status), (0, 0), ran.err)
                table, truth = Table(ran.files[RESULT].decode()), Table(exact.files[RESULT].decode())
                for name in ("a.x", "a.v", "b.x", "b.v"):
                    span = max(truth[name]) - min(truth[name])
                    self.assertLess(max(abs(x - y) for x, y in zip(table[name], truth[name])) / span, 0.013, name)

    def test_waves_arrive_after_the_delay(self):
        """One mass is hit; the other one stands still for a delay, then feels 2 Z v of what left, and its own -Z v."""
        ran = self.again(f"a={MASS}", f"b={MASS}", "--tlm", f"a.F_right,a.v=b.F_right,b.v; delay=0.25; impedance={IMPEDANCE}",
                         "--set", "a.k=0", "--set", "a.d=0", "--set", "b.k=0", "--set", "b.d=0", "--set", "a.v=1",
                         "--step", "0.001", "--stop", "0.5", "--coupling", "relax", "--record", "*.v", "--record", "*.F_right")
        self.assertEqual(ran.status, 0, ran.err)
        table = Table(ran.files[RESULT].decode())
        at = {round(t, 4): k for k, t in enumerate(table.times)}
        # Before the start all moved with its end: w1 = Z, w2 = 0. So a feels -Z v, b feels Z - Z v; the v of both follow.
        for t in (0.1, 0.25):
            self.assertAlmostEqual(table["a.v"][at[t]], math.exp(-IMPEDANCE * t), delta=2e-5)
            self.assertAlmostEqual(table["b.v"][at[t]], 1 - math.exp(-IMPEDANCE * t), delta=2e-5)
        # Then what left a, 2 Z v - 0, arrives: b' = 2 Z exp(-Z (t - D)) - Z b.
        b, s = 1 - math.exp(-IMPEDANCE * 0.25), 0.2
        self.assertAlmostEqual(table["b.v"][at[0.45]], math.exp(-IMPEDANCE * s) * (b + 2 * IMPEDANCE * s), delta=2e-4)

    def test_uniform_motion_has_no_force(self):
        ran = self.again(*MASSES[:2], "--tlm", LINE, "--set", "a.v=2", "--set", "b.v=2", "--set", "a.k=0", "--set", "b.k=0",
                         "--set", "a.d=0", "--set", "b.d=0", "--stop", "1", "--step", "0.01", *JACOBI, "--record", "*")
        table = Table(ran.files[RESULT].decode())
        self.assertLess(max(map(abs, table["a.F_right"] + table["b.F_right"])), 1e-12)

    def test_factors_turn_directions(self):
        """An end whose velocity points the other way, and a force that is the one on the line."""
        table = {}
        for name, line in (("plain", LINE), ("turned", LINE.replace("b.F_right,b.v", "-1*b.F_right,-b.v"))):
            ran = self.again(*MASSES, "--tlm", line, "--step", "0.01", *JACOBI)
            table[name] = Table(ran.files[RESULT].decode())
        for variable, sign in (("a.x", 1), ("a.v", 1), ("b.x", -1), ("b.v", -1)):
            for x, y in zip(table["plain"][variable], table["turned"][variable]):
                self.assertAlmostEqual(x, sign * y, delta=1e-12)

    def test_every_fabric_and_checkpoint(self):
        kinds = [threads(2), processes(2), self.tcp()] + ([mpi(2)] if has_mpi() else [])
        for n, coupling in enumerate((*COUPLINGS, ("jacobi", "--control", "embedded", "--rtol", "1e-3"),
                                      ("seidel", "--control", "richardson", "--rtol", "1e-3"))):
            run = (*MASSES, "--tlm", LINE, "--coupling", *coupling, "--step", "0.01")
            plain = self.goes_on(*run, pairs=[(LOCAL, kinds[n % len(kinds)]), (kinds[(n + 1) % len(kinds)], LOCAL)], log=True)
            self.assertEqual(plain.status, 0, plain.err)

    def test_steps_are_no_longer_than_the_delay(self):
        self.assertIn("its delay 0.05 is less than the step 0.1", self.refused("--tlm", LINE, "--step", "0.1"))
        self.assertIn("the step 0.1 of b", self.refused("--tlm", LINE, "--step", "0.01", "--step", "b=0.1", *JACOBI))
        varied = self.again(*MASSES, "--tlm", LINE, "--rtol", "1e-2", log=True)
        self.assertEqual(varied.status, 0, varied.err)
        self.assertLessEqual(max(Table(varied.files["steps.csv"].decode())["h"]), DELAY * (1 + 1e-9))

    def test_annotation_and_new(self):
        """An SSP has the line in its annotation; a command line adds to it."""
        self.bring(MASS)
        name = MASS.rpartition("/")[2]
        settings = (f'<ssd:Annotations><ssc:Annotation type="org.tutti"><tutti:Settings xmlns:tutti="https://tutti.dev/ssp" '
                    f'tlm="{LINE}"/></ssc:Annotation></ssd:Annotations>')
        self.write("lines.ssd", ssd(system(*(component(unit, name) for unit in "ab"))).replace(
            "</ssd:SystemStructureDescription>", f"{settings}</ssd:SystemStructureDescription>"))
        more = ("--set", "a.x=1", "--step", "0.01", "--stop", "1", *JACOBI)
        plain = self.again(f"a={MASS}", f"b={MASS}", "--tlm", LINE, *more)
        annotated = self.again("lines.ssd", *more)
        self.assertEqual((plain.status, annotated.status), (0, 0), plain.err + annotated.err)
        self.assertEqual(plain.files, annotated.files)
        made = self.tutti("new", "made.ssp", f"a={MASS}", f"b={MASS}", "--tlm", LINE)
        self.assertEqual(made.status, 0, made.err)
        self.assertEqual(self.again("made.ssp", *more).files, plain.files)
        self.assertEqual(self.tutti("check", "made.ssp").status, 0)
        self.assertIn("'a.F_right' is joined twice", self.tutti("run", "made.ssp", "--tlm", LINE, *more, status=2).err)

    def test_what_cannot_be_joined(self):
        for text, words in (
                (LINE.replace("delay=0.05; ", ""), "delay=D is missing"),
                (LINE.replace("=5", "=0"), "impedance takes a number greater than 0, not '0'"),
                ("a.v=b.v; delay=1; impedance=1", "each end is a force and a velocity"),
                ("a.F_right,a.v; delay=1; impedance=1", "it takes A.f,A.v=B.f,B.v; delay=D; impedance=Z"),
                (LINE.replace("b.v", "b.w"), "'b.w'"),
                (LINE.replace("b.F_right", "b.x"), "'b.x' cannot be a force: it is an output, and an input is needed"),
                (LINE.replace("a.v", "a.F_right"), "'a.F_right' cannot be a velocity: it is an input"),
                (LINE.replace("b.v", "b.x"), "'a.v' [m/s] and 'b.x' [m] have different units"),
                (LINE.replace("b.F_right", "a.F_right"), "'a.F_right' is joined twice"),
                (LINE.replace("b.v", "b.m"), "'b.m' cannot be a velocity"),
        ):
            with self.subTest(text=text):
                self.assertIn(words, self.refused("--tlm", text))
        self.assertIn("'b.F_right' has two sources, this and 'a.F'", self.refused("--tlm", LINE, "--connect", "a.F=b.F_right"))
        self.write("drive.csv", "time,b.F_right\n0,0\n3,1\n")
        self.assertIn("column 'b.F_right' drives an input that a joint (--tlm, --constrain) feeds as well",
                      self.refused("--tlm", LINE, "--input", "drive.csv"))


if __name__ == "__main__":
    unittest.main()
