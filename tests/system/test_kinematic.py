#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Constraints between units: rigid joints, gears, several ends, compliance; the same bytes on every fabric and over a checkpoint; what
cannot be kept is refused."""
import json
import math
import unittest

from command import Table, kit_fmu, test_fmu
from fabrics import LOCAL, RESULT, has_mpi, mpi, processes, threads
from systems import component, ssd, system
from test_checkpoint import CheckpointTest

MASS, MASS3 = kit_fmu("ChainMass", "2"), kit_fmu("ChainMass", "3")
RIGID = "a.x=b.x; a.v=b.v; a.F_right,b.F_right"
PAIR = (f"a={MASS}", f"b={MASS3}", "--set", "b.m=3", "--set", "b.k=50", "--set", "a.d=0", "--set", "b.d=0")


def sets(**values):
    return [word for name, value in values.items() for word in ("--set", f"{name.replace('_', '.', 1)}={value}")]


class Constraints(CheckpointTest):
    def table(self, *arguments):
        ran = self.again(*arguments)
        self.assertEqual(ran.status, 0, ran.err)
        self.ran_stats = ran.stats
        return Table(ran.files[RESULT].decode())

    def refused(self, *arguments, status=2):
        return self.tutti("run", *arguments, "-o", RESULT, "--quiet", status=status).err

    def swing(self, table, variable, start, omega):
        """The largest error of start cos(omega t)."""
        return max(abs(x - start * math.cos(omega * t)) for x, t in zip(table[variable], table.times))

    def test_rigid_joint(self):
        """Two masses on springs move as one; the error falls with the square of the step, or faster."""
        errors = []
        for step in (0.04, 0.02, 0.01):
            table = self.table(*PAIR, *sets(a_x=0.1, b_x=0.1), "--constrain", RIGID, "--step", str(step), "--stop", "5")
            errors.append(max(self.swing(table, f"{unit}.x", 0.1, math.sqrt(150 / 4)) for unit in "ab"))
        self.assertLess(errors[-1], 1e-4)
        self.assertTrue(all(math.log2(a / b) > 1.8 for a, b in zip(errors, errors[1:])), errors)
        self.assertEqual(self.ran_stats["coupling"], "kinematic")
        self.assertEqual(self.ran_stats["mobilities"], 1)
        self.assertLess(self.ran_stats["drift"]["size"], 1e-5)
        self.assertEqual(self.ran_stats["drift"]["constraint"], RIGID)
        self.assertLess(self.ran_stats["units"][0]["do_steps"], 2.1 * 500)

    def test_analysis(self):
        """What errors are multiplied by in a step, as tutti analyze foretells it and a run does it, where that is too much."""
        run = (*PAIR, *sets(a_x=0.101, b_x=0.1), "--constrain", RIGID, "--interface", "me", "--step", "0.4")
        told = json.loads(self.tutti("analyze", *run, "--json").out)["step"]
        self.assertEqual((told["exact"], told["jacobi"]), (None, [None] * 3))
        radius = told["kinematic"][0]["radius"]
        self.assertGreater(radius, 1.2)
        self.assertLess(told["kinematic"][0]["largest"], 0.4)
        table = self.table(*run, "--stop", "24", "--rtol", "1e-9")
        sizes = [max(abs(table[name][n]) for name in ("a.x", "b.x")) for n in range(61)]
        self.assertAlmostEqual((sizes[-1] / sizes[20]) ** (1 / 40) / radius, 1, delta=0.01)
        words = self.tutti("analyze", *run).out
        self.assertRegex(words, "kinematic +unstable")
        self.assertNotIn("seidel  ", words)

    def test_model_exchange(self):
        table = self.table(*PAIR, *sets(a_x=0.1, b_x=0.1), "--constrain", RIGID, "--step", "0.01", "--stop", "3", "--interface", "me",
                           "--rtol", "1e-8")
        self.assertLess(self.swing(table, "a.x", 0.1, math.sqrt(150 / 4)), 1e-4)

    def test_mobilities_by_derivatives(self):
        """Of Model Exchange units no step is tried for mobilities, which are the same: so are the forces. Where velocities do not come out
        as they say, steps are."""
        forces = []
        for interface in ("cs", "me"):
            table = self.table(*PAIR, *sets(a_x=0.1, b_x=0.1), "--constrain", RIGID, "--step", "0.01", "--stop", "1", "--interface", interface,
                               "--rtol", "1e-10", "--record", "*")
            forces.append([float(force) for force in table["a.F_right"]])
            tried = [unit["do_steps"] - 2 * self.ran_stats["steps"] for unit in self.ran_stats["units"]]
            self.assertEqual((self.ran_stats["mobilities"], [count > 0 for count in tried]), (1, [interface == "cs"] * 2))
        self.assertLess(max(abs(a - b) for a, b in zip(*forces)), 1e-3 * max(map(abs, forces[0])))
        mixers = (f"a={test_fmu('Mixer', '2')}", f"b={test_fmu('Mixer', '2')}", *sets(a_b1=1, b_b1=2, a_a=0.5, b_a=2, a_x=1, b_x=3),
                  "--constrain", "a.y1=b.y1; a.u1,b.u1", "--interface", "me", "--step", "0.1", "--stop", "2")
        for cube, tries in ((0, False), (0.1, True)):  # a force to the power of 3
            self.table(*mixers, *sets(a_cube=cube))
            self.assertEqual((self.ran_stats["mobilities"] > 1, self.ran_stats["units"][0]["do_steps"] > 2 * self.ran_stats["steps"]),
                             (tries, tries))

    def test_gear(self):
        """a turns three times as fast: 9 m_a + m_b swing on 9 k_a + k_b. Of positions, and of velocities alone."""
        for constraint in ("a.x=3*b.x; a.v=3*b.v; a.F_right,b.F_right", "a.v=3*b.v; a.F_right,b.F_right"):
            with self.subTest(constraint=constraint):
                table = self.table(*PAIR, *sets(a_x=0.3, b_x=0.1), "--constrain", constraint, "--step", "0.005", "--stop", "3")
                omega = math.sqrt((9 * 100 + 50) / (9 * 1 + 3))
                self.assertLess(self.swing(table, "b.x", 0.1, omega), 2e-4)
                self.assertLess(self.swing(table, "a.x", 0.3, omega), 6e-4)

    def test_more_than_two_ends(self):
        """Three that move as one; and one whose velocity is the sum of two others': v - M^-1 G^T (G M^-1 G^T)^-1 G v."""
        three = (f"a={MASS}", f"b={MASS3}", f"c={MASS}", *sets(a_k=0, b_k=0, c_k=0, a_d=0, b_d=0, c_d=0, b_m=2, c_m=3, a_v=1, b_v=2, c_v=5),
                 "--step", "0.01", "--stop", "0.1")
        table = self.table(*three, "--constrain", "a.v=b.v=c.v; a.F_right,b.F_right,c.F_right")
        for unit in "abc":
            self.assertAlmostEqual(table[f"{unit}.v"][-1], (1 + 4 + 15) / 6, delta=1e-6)
        table = self.table(*three, "--constrain", "a.v+b.v=c.v; a.F_right,b.F_right,c.F_right")
        impulse = (1 + 2 - 5) / (1 + 1 / 2 + 1 / 3)
        for unit, expected in (("a", 1 - impulse), ("b", 2 - impulse / 2), ("c", 5 + impulse / 3)):
            self.assertAlmostEqual(table[f"{unit}.v"][-1], expected, delta=1e-6)

    def test_ground_and_distance(self):
        table = self.table(*PAIR, *sets(a_x=0.1, b_x=0.2), "--constrain", "a.x=0.1; a.v=0; a.F_right", "--step", "0.01", "--stop", "3",
                           "--record", "*")
        self.assertLess(max(abs(x - 0.1) for x in table["a.x"]), 1e-6)
        self.assertAlmostEqual(table["a.F_right"][-1], 10, delta=1e-3)  # against its spring
        table = self.table(*PAIR, *sets(a_x=0.1, b_x=0.3), "--constrain", "a.x=b.x-0.2; a.v=b.v; a.F_right,b.F_right", "--step", "0.01",
                           "--stop", "3")
        self.assertLess(max(abs(a - b + 0.2) for a, b in zip(table["a.x"], table["b.x"])), 1e-4)

    def test_compliance(self):
        """At rest the gap is the compliance times the force that it holds."""
        table = self.table(f"a={MASS}", f"b={MASS}", *sets(a_x_left=0.2, a_d=10, b_d=10), "--constrain", f"{RIGID}; compliance=1e-3",
                           "--step", "0.01", "--stop", "5", "--record", "*")
        force, gap = table["a.F_right"][-1], table["a.x"][-1] - table["b.x"][-1]
        self.assertAlmostEqual(gap, -1e-3 * force, delta=1e-6)
        self.assertAlmostEqual(force, -0.2 / (1 / 100 + 1 / 100 + 1e-3), delta=1e-3)

    def test_gap_at_the_start_closes(self):
        table = self.table(*PAIR, *sets(a_x=0.101, b_x=0.1), "--constrain", RIGID, "--step", "0.01", "--stop", "1")
        gaps = [abs(a - b) for a, b in zip(table["a.x"], table["b.x"])]
        self.assertLess(max(gaps[40:]), 2e-5)
        swings = self.tutti("run", *PAIR, *sets(a_x=0.101, b_x=0.1), "--constrain", RIGID, "--step", "0.01", "--stop", "0.1",
                            "--relax-time", "0.1", "-o", RESULT)
        self.assertIn("--relax-time 0.1 is not stable", swings.err)
        self.assertIn("drift ", swings.err + swings.out)

    def test_splinters_of_steps(self):
        """A recorded point cuts steps: a short one does not have to close at once what a long one left."""
        table = self.table(*PAIR, *sets(a_x=0.1, b_x=0.1), "--constrain", RIGID, "--step", "0.03", "--output-step", "0.0301", "--stop", "3")
        self.assertLess(self.swing(table, "a.x", 0.1, math.sqrt(150 / 4)), 5e-3)

    def test_every_fabric_and_checkpoint(self):
        kinds = [threads(2), processes(2), self.tcp()] + ([mpi(2)] if has_mpi() else [])
        three = (*PAIR, f"c={MASS}", *sets(a_x=0.1, b_x=0.1), "--connect", "b.x=c.x_left", "--connect", "b.v=c.v_left", "--stop", "1")
        for n, more in enumerate((("--step", "0.01"), ("--step", "0.01", "--extrapolate", "1"), ("--step", "0.01", "--interface", "me"), ("--control", "embedded", "--rtol", "1e-3"),
                                  ("--control", "richardson", "--rtol", "1e-3", "--step", "0.01"),
                                  ("--step", "0.01", "--tlm", "c.F_right,c.v=d.F_right,d.v; delay=0.02; impedance=1", f"d={MASS3}"))):
            run = (*three, "--constrain", RIGID, *more)
            plain = self.goes_on(*run, pairs=[(LOCAL, kinds[n % len(kinds)]), (kinds[(n + 1) % len(kinds)], LOCAL)], log=True)
            self.assertEqual(plain.status, 0, plain.err)

    def test_annotation(self):
        self.bring(MASS)
        name = MASS.rpartition("/")[2]
        settings = ('<ssd:Annotations><ssc:Annotation type="org.tutti"><tutti:Settings xmlns:tutti="https://tutti.dev/ssp" '
                    'constrain="{}"/></ssc:Annotation></ssd:Annotations>')
        units = system(*(component(unit, name) for unit in "abc"))

        def write(file, text):
            self.write(file, ssd(units).replace("</ssd:SystemStructureDescription>",
                                                f"{settings.format(text)}</ssd:SystemStructureDescription>"))
        second = "b.x_left=c.x"  # is no joint
        write("good.ssd", f"{RIGID} | c.v=0; c.F_right")
        more = (*sets(a_x=0.1, b_x=0.1), "--step", "0.01", "--stop", "0.5")
        plain = self.again(f"a={MASS}", f"b={MASS}", f"c={MASS}", "--constrain", RIGID, "--constrain", "c.v=0; c.F_right", *more)
        annotated = self.again("good.ssd", *more)
        self.assertEqual((plain.status, annotated.status), (0, 0), plain.err + annotated.err)
        self.assertEqual(plain.files, annotated.files)
        self.tutti("check", "good.ssd")
        write("bad.ssd", f"a.x=b.y; a.v=b.v; a.F_right,b.F_right | a.v=b.v; a.x,b.F_right | a.v=b.x; a.F_right,b.F_right | {RIGID} | "
              f"b.v=c.v; b.F_right,c.F_right | {second}")
        found = self.tutti("check", "bad.ssd", status=1)
        for words in ("'b.y'", "'a.x' cannot be a force: it is an output", "'a.v' [m/s] and 'b.x' [m] have different units",
                      "'b.F_right' is joined twice", "forces are missing"):
            self.assertIn(words, found.out + found.err)
        self.assertIn("bad.ssd:", found.out + found.err)

    def test_what_cannot_be_kept(self):
        for words, *texts in (
                ("--constrain 'a.v=b.v': forces are missing", "a.v=b.v"),
                ("it takes A.x=B.x; A.v=B.v; A.f,B.f", "a.x=b.x; a.v=b.v; a.v=b.v; a.F_right,b.F_right"),
                ("'a.w'", "a.w=b.v; a.F_right,b.F_right"),
                ("it has 2 ends and the force 'a.F_right'", "a.v=b.v; a.F_right"),
                ("positions and velocities are not constrained alike", "a.x=2*b.x; a.v=b.v; a.F_right,b.F_right"),
                ("only positions may be apart by a number", "a.v=b.v+1; a.F_right,b.F_right"),
                ("the force 'b.F_right' and the velocity 'a.v' of an end are of different units", "a.v=b.v; b.F_right,a.F_right"),
                ("'a.F_right' is joined twice", "a.v=b.v; a.F_right,b.F_right", "a.v=0; a.F_right"),
                ("it is redundant", "a.v=b.v=a.v; a.F_right,b.F_right"),
                ("'a.x_left' cannot be a velocity: it is an input", "a.x_left=b.v; a.F_right,b.F_right"),
                ("compliance takes a number greater than 0", f"{RIGID}; compliance=-1"),
        ):
            with self.subTest(texts=texts):
                self.assertIn(words, self.refused(*PAIR, *(word for text in texts for word in ("--constrain", text))))
        self.assertIn("--constrain goes with --coupling kinematic, not with seidel",
                      self.refused(*PAIR, "--constrain", RIGID, "--coupling", "seidel"))
        one = kit_fmu("ChainMass", "1cs")
        self.assertIn("use --rollback auto", self.refused(f"a={one}", f"b={one}", "--constrain", RIGID, "--rollback", "fmu", status=1))

    def test_forces_that_do_nothing(self):
        """An input that does not move the velocity is no force: named, with what to do."""
        said = self.refused(f"a={MASS}", f"b={MASS}", "--constrain", "a.x=b.x; a.v=b.v; a.x_left,b.x_left", *sets(a_k=0, b_k=0, a_d=0, b_d=0),
                            status=1)
        self.assertIn("its forces do not move its velocities", said)
        self.assertIn("compliance=E", said)


if __name__ == "__main__":
    unittest.main()
