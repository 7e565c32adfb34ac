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


class Driven(CommandTest):
    """What asks whether something drives inputs asks for expressions, too."""

    RING = ("--connect", "a.y=b.u1", "--connect", "b.y=a.u1", "--signal", "b.u2=sin(3*time)")

    def ring(self):
        return (f"a={kit_fmu('Cell', '2')}", f"b={kit_fmu('Cell', '2')}", *self.RING)

    def test_steps_that_go_back(self):
        rows = "".join(f"{i / 2000!r},{math.sin(3 * i / 2000)!r}\n" for i in range(4001))
        file = self.write("u.csv", "time,b.u2\n" + rows)
        table = ("--connect", "a.y=b.u1", "--connect", "b.y=a.u1", "--input", file)
        common = ("--stop", "2", "--interface", "cs", "--output-step", "0.5", "-o", "-", "--quiet")
        for options in (("--rtol", "1e-3"), ("--coupling", "newton", "--step", "0.02"), ("--coupling", "relax", "--step", "0.02")):
            with self.subTest(options=options):
                signal = Table(self.tutti("run", *self.ring(), *common, *options).out)
                other = Table(self.tutti("run", *self.ring()[:2], *table, *common, *options).out)
                self.assert_near(signal["a.y"], other["a.y"], 1e-3)
        self.tutti("linearize", *self.ring(), "-o", "l.json", "--quiet")
        self.tutti("sweep", *self.ring(), "--vary", "a.x=0:1:2", "--rtol", "1e-3", "--interface", "cs", "--stop", "0.5", "-o", "s.csv", "--quiet")

    def test_one_fmu_is_controlled(self):
        """Slopes are chords: what they leave out depends on the step. Cell holds its inputs, Tracker takes slopes."""
        errors = []
        for rtol in ("1e-3", "1e-5"):
            table = Table(self.tutti("run", kit_fmu("Tracker", "2"), *LAG, "--interface", "cs", "--stop", "2", "--rtol", rtol, "--signal", "u=sin(9*time)",
                                     "-o", "-", "--quiet").out)
            errors.append(max(abs(y - lag(t, 1, 9)) for t, y in zip(table.times, table["y"])))
            self.assertLess(errors[-1], float(rtol))
        held = ("run", kit_fmu("Cell", "2"), "--interface", "cs", "--stop", "2", "--signal", "u1=sin(9*time)", "-o", "-", "--quiet", "--output-step", "0.5")
        exact = Table(self.tutti(*held, "--interface", "me", "--rtol", "1e-10").out)
        self.assert_near(Table(self.tutti(*held, "--rtol", "1e-5").out)["y"], exact["y"], 1e-5)


class Breaks(CommandTest):
    """Jumps and bends of expressions end steps."""

    def run_pulse(self, version, interface, *options, signal="(time>5.03&&time<5.04)?100:0"):
        outcome = self.tutti("run", kit_fmu("Tracker", version), *LAG, "--stop", "10", "--interface", interface, "--signal", "u=" + signal, "--record",
                             "y", "-o", "-", *options)
        return Table(outcome.out), outcome.err

    def exact(self, t):
        area = 100 * (1 - math.exp(-min(max(t - 5.03, 0), 0.01)))
        return area * math.exp(-max(t - 5.04, 0))

    def test_a_pulse_is_not_lost(self):
        for version, interface in (("1cs", "cs"), ("2", "cs"), ("3", "cs"), ("1me", "me"), ("2", "me"), ("3", "me")):
            for options in ((), ("--rtol", "1e-6"), ("--step", "0.1")):
                with self.subTest(version=version, interface=interface, options=options):
                    table, _ = self.run_pulse(version, interface, "--quiet", *options)
                    self.assertIn(5.03, table.times)
                    self.assert_near(table["y"], [self.exact(t) for t in table.times], 5e-4)

    def test_the_same_pulse_in_other_words(self):
        for signal in ("100*(min(1,max(0,ceil(time-5.03)))-min(1,max(0,ceil(time-5.04))))", "abs(time-5.035)<0.005?100:0", "max(0,sign(min(time-5.03,5.04-time)))*100",
                       "cos(time-5.035)>cos(0.005)&&time<8?100:0", "exp(time-5.03)>1?(time^2<5.04^2?100:0):0"):
            with self.subTest(signal=signal):
                table, _ = self.run_pulse("2", "cs", "--quiet", signal=signal)
                self.assert_near(table["y"], [self.exact(t) for t in table.times], 1e-6)

    def test_a_bend_is_no_event(self):
        """abs(sin) bends 3 times; a row for each, not two."""
        table, _ = self.run_pulse("2", "cs", "--quiet", "--step", "0.3", signal="abs(sin(time))")
        self.assertEqual(len(table.times), len(set(table.times)))

    def test_in_a_system(self):
        fmu = kit_fmu("Tracker", "2")
        for options in (("--step", "0.1"), ("--rtol", "1e-5"), ("--interface", "me", "--rtol", "1e-6")):
            with self.subTest(options=options):
                table = Table(self.tutti("run", f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--set", "a.T=1", "--set", "b.T=1", "--stop", "10",
                                         "--signal", "a.u=(time>5.03&&time<5.04)?100:0", "--record", "a.y", "-o", "-", "--quiet", *options).out)
                self.assert_near(table["a.y"], [self.exact(t) for t in table.times], 1e-3)


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
