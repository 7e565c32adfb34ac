# SPDX-License-Identifier: MIT
"""Inputs as functions of time: --signal, and tables on a spline: --interpolate cubic."""

import json
import math
import pathlib
import unittest

from command import CommandTest, Table, kit_fmu

LAG = ("--set", "T=1")  # of the kit's Tracker: x' = (u - x) / T, y = x


def lag(t, amplitude=100, omega=30):
    """x' = -x + amplitude sin(omega t), x(0) = 0."""
    factor = amplitude / (1 + omega * omega)
    return factor * (math.sin(omega * t) - omega * math.cos(omega * t) + omega * math.exp(-t))


class Signals(CommandTest):
    def run_lag(self, *options):
        outcome = self.tutti("run", kit_fmu("Tracker", "3"), *LAG, "--stop", "2", "--output-step", "0.1", "-o", "-", "--stats",
                             "stats.json", "--quiet", *options)
        return Table(outcome.out), json.loads(pathlib.Path(self.path("stats.json")).read_text(encoding="utf-8"))["units"][0]

    def test_model_exchange_knows_it_at_all_times(self):
        for solver in ("cvode", "radau5", "rodas", "bdf", "dopri5"):
            with self.subTest(solver=solver):
                table, unit = self.run_lag("--solver", solver, "--rtol", "1e-9", "--signal", "u=100*sin(30*time)")
                self.assert_near(table["y"], [lag(t) for t in table.times], 1e-5)
                self.assertEqual(unit["solver_restarts"], 0)

    def test_steps_are_those_of_a_smooth_input(self):
        """A table of 2,000 rows bends at each; an expression, and a spline through the table, do not."""
        rows = "".join(f"{i / 1000!r},{100 * math.sin(30 * i / 1000)!r}\n" for i in range(2001))
        file = self.write("u.csv", "time,u\n" + rows)
        options = ("--solver", "cvode", "--rtol", "1e-6")
        _, smooth = self.run_lag(*options, "--signal", "u=100*sin(30*time)")
        _, lines = self.run_lag(*options, "--input", file)
        table, spline = self.run_lag(*options, "--input", file, "--interpolate", "cubic")
        self.assertGreater(lines["solver_steps"], 5 * smooth["solver_steps"])
        self.assertLess(spline["solver_steps"], 1.5 * smooth["solver_steps"])
        self.assert_near(table["y"], [lag(t) for t in table.times], 1e-3)

    def test_co_simulation_by_slopes_and_at_points(self):
        """With slopes an FMU sees chords; others one value per step. Both are exact at the points."""
        for version in ("1cs", "2", "3"):
            for options, error in (((), 2e-3), (("--input-at", "middle"), 2e-2), (("--input-at", "begin"), 0.2)):
                with self.subTest(version=version, options=options):
                    table = Table(self.tutti("run", kit_fmu("Tracker", version), *LAG, "--signal", "u=sin(4*time)", "--stop", "2", "--step", "0.05",
                                             "--interface", "cs", "--record", "u", "--record", "y", *options, "-o", "-", "--quiet").out)
                    self.assert_near(table["y"], [lag(t, 1, 4) for t in table.times], error)

    def test_what_is_wrong(self):
        fmu = kit_fmu("Tracker", "3")
        for signal, says in (("u=100*sin(30*", ["--signal u", r"100\*sin"]),
                             ("u=sin(omega)", ["'omega' is not known here", "'time' alone"]),
                             ("u", ["UNIT.VAR=EXPRESSION"]),
                             ("=3", ["UNIT.VAR=EXPRESSION"]),
                             ("nosuch=1", ["nosuch"]),
                             ("y=time", ["no input"]),
                             ("T=time", ["no input"])):
            with self.subTest(signal=signal):
                self.refused("run", fmu, *LAG, "--solver", "cvode", "--signal", signal, status=2, says=says)
        self.refused("run", fmu, *LAG, "--solver", "cvode", "--signal", "u=1/(time-0.5)", "--stop", "1", "--step", "0.25", status=2,
                     says=["--signal", "t = 0.5"])
        self.refused("run", fmu, *LAG, "--solver", "cvode", "--signal", "u=time", "--signal", "u=2*time", status=1,
                     says=["for the same input"])


class Splines(CommandTest):
    def test_a_spline_through_few_rows_is_of_order_4(self):
        errors = []
        for count in (20, 40):
            rows = "".join(f"{2 * i / count!r},{math.sin(4 * 2 * i / count)!r}\n" for i in range(count + 1))
            table = Table(self.tutti("run", kit_fmu("Tracker", "3"), *LAG, "--stop", "2", "--output-step", "0.05", "-o", "-", "--quiet",
                                     "--solver", "radau5", "--rtol", "1e-10", "--interpolate", "cubic", "--input",
                                     self.write("u.csv", "time,u\n" + rows)).out)
            errors.append(max(abs(y - lag(t, 1, 4)) for t, y in zip(table.times, table["y"])))
        self.assertGreater(math.log2(errors[0] / errors[1]), 3.3)

    def test_jumps_and_ends(self):
        """Stretch by stretch between jumps; before the first row and after the last their values hold."""
        file = self.write("u.csv", "time,u\n0.5,1\n1,1\n1,3\n1.5,3\n")
        table = Table(self.tutti("run", kit_fmu("Tracker", "3"), "--stop", "2", "--step", "0.25", "--record", "u", "-o", "-", "--quiet", "--solver",
                                 "cvode", "--interpolate", "cubic", "--input", file).out)
        self.assert_near(table["u"], [1, 1, 1, 1, 1, 3, 3, 3, 3, 3], 1e-9)


class Systems(CommandTest):
    def test_an_annotation_says_it_too(self):
        fmu = kit_fmu("Tracker", "2")
        self.tutti("new", "t.ssp", f"a={fmu}", "--signal", "a.u=sin(time)", "--quiet")
        kept = Table(self.tutti("run", "t.ssp", "--stop", "1", "--step", "0.1", "--interface", "me", "-o", "-", "--quiet", "--record", "*").out)
        given = Table(self.tutti("run", f"a={fmu}", "--signal", "a.u=sin(time)", "--stop", "1", "--step", "0.1", "--interface", "me", "-o", "-",
                                 "--quiet", "--record", "*").out)
        self.assertEqual(kept.rows, given.rows)


if __name__ == "__main__":
    unittest.main()
