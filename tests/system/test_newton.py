#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`--coupling newton`: how often a Jacobian is made, what is discrete, and what happens where a step has no solution. Numbers and
fabrics: tests/conformance, test_fabrics_masters.py, examples."""
import math
import unittest

from command import kit_fmu, test_fmu
from systems import CoupledTest, connect
from test_fabrics import example

NEWTON = "--coupling", "newton", "--control", "fixed"


class Newton(CoupledTest):
    def count(self, *arguments):
        """Steps, iterations of Newton's method, Jacobians, and do-steps of all units."""
        _, stats, _ = self.with_stats(*arguments, *NEWTON)
        return stats["steps"], stats["newton_iterations"], stats["step_jacobians"], sum(u["do_steps"] for u in stats["units"])

    def test_linear_systems(self):
        """One iteration per step, however strong the coupling is, and one Jacobian for the whole run: a try per unit."""
        masses = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '2')}",
                  *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"), "--set", "a.x=1", "--set", "a.k=400", "--set", "b.k=400")
        for system, units, inputs in (((example("oscillator"), "--stop", "50", "--step", "0.5"), 2, 2),
                                      ((*masses, "--stop", "2", "--step", "0.02"), 2, 3)):
            with self.subTest(system=system[0]):
                self.assertEqual(self.count(*system), (100, 100, 1, 100 * 2 * units + inputs))
                self.assertEqual(self.count(*system, "--newton", "broyden")[:3], (100, 100, 1))
                self.assertEqual(self.count(*system, "--newton", "full")[:3], (100, 100, 100))
                self.assertEqual(self.count(*system, "--newton", "krylov")[:3], (100, 100, 0))

    def test_what_is_discrete_settles(self):
        """A flag and a text of one unit are those that another one of the cycle has seen, in every row; Reals do not know of it."""
        units = (f"s={test_fmu('Switches', '2')}", f"f={kit_fmu('Feedthrough', '2')}",
                 *connect("s.flag=f.boolean_in", "s.text=f.string_in", "s.x=f.float64_in", "f.float64_out=s.u"),
                 "--set", "s.flag_at=0.5", "--set", "s.text_at=0.7", "--set", "f.gain=-0.5", "--events", "none", "--stop", "2")
        table, stats, _ = self.with_stats(*units, *NEWTON, "--step", "0.1")
        self.assertEqual(table["s.flag"], table["f.boolean_out"])
        self.assertEqual(table.texts("s.text"), table.texts("f.string_out"))
        self.assertEqual(len(set(table.texts("s.text"))), 2)
        self.assertEqual(stats["not_converged"], 0)
        self.assertGreater(stats["iterations"], 2 * stats["steps"])  # twice more where something switches

    def test_what_flips_back_and_forth(self):
        """A controller that stops an integrator at 2.5: with its new value the integrator would not get there. Such a step goes as an
        explicit one; where events are located, it ends there."""
        for events, within in (("output", 1e-3), ("none", 0.61)):
            table, stats, _ = self.with_stats(example("control_loop"), *NEWTON, "--step", "0.1", "--events", events)
            self.assertAlmostEqual(table["integrator.x4"][-1], 2.5, delta=within)
            self.assertEqual(stats["not_converged"] > 0, events == "none")

    def test_a_step_that_is_singular_is_halved(self):
        """x' = y, y' = x with inputs on lines: I - (h/2)^2 is singular for h = 2, and no step may come close to that."""
        system = example("oscillator"), "--set", "first.gain=1", "--set", "second.gain=1", "--stop", "4"
        table, stats, _ = self.with_stats(*system, *NEWTON, "--step", "2")
        self.assertEqual((stats["steps"], stats["rejected"]), (4, 2))
        for t, x in zip(table["time"], table["first.y"]):
            factor = (1 + 0.5) / (1 - 0.5)  # of the growing part in a step of 1
            self.assertAlmostEqual(float(x), (factor ** float(t) + factor ** -float(t)) / 2, delta=1e-6 * math.cosh(float(t)))

    def test_no_solution(self):
        """A relay that switches its own input off and on again: no step across that has a solution. It says which signals differ, how
        well conditioned the equations are, and what to try."""
        loop = (f"tank={test_fmu('Tank', '2')}", f"relay={test_fmu('Relay', '2')}", *connect("relay.y=tank.u", "tank.y=relay.u"),
                "--set", "relay.limit=0.55", "--set", "relay.low=-1", "--stop", "1", "--step", "0.1")
        says = ["t = 0.5.*: the step to .*, and all longer ones, have no solution: ", "'relay.y' goes to 'tank' as .* and comes back as",
                "condition number is about", "--newton full", "--coupling relax"]
        self.refused("run", *loop, *NEWTON, "-o", self.path("part.csv"), status=1, says=says)

    def test_units_that_cannot_go_back(self):
        tracker = kit_fmu("Tracker", "1cs")
        self.refused("run", f"a={tracker}", f"b={tracker}", *connect("a.y=b.u", "b.y=a.u"), *NEWTON, "--rollback", "fmu", "--stop", "1",
                     "-o", self.path("none.csv"), status=1, says=["--coupling newton takes units back, and 'a'", "--rollback auto"])

    def test_cubics(self):
        """Only where the end of a step is known; who cannot is named, once."""
        pair = [(f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('Tracker', '2')}", *connect("a.y=b.u", "b.y=a.u")),
                (f"a={kit_fmu('Tracker', '2')}", f"b={test_fmu('Follower', '2')}", *connect("a.y=b.u", "b.x=a.u")),
                (f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('Feedthrough', '2')}", *connect("a.y=b.float64_in", "b.float64_out=a.u"))]
        run = "--extrapolate", "3", "--set", "a.x=1", "--stop", "1", "--step", "0.1", "-o", self.path("r.csv")
        self.refused("run", *pair[0], *run, "--coupling", "seidel", status=2,
                     says="--extrapolate 3 is a cubic .*: it goes with --coupling relax or newton, not with seidel; use --extrapolate 2")
        for units, says in zip(pair, (set(), {"gives no derivatives"}, {"gives no derivatives", "does not follow inputs"})):
            err = self.tutti("run", *units, *run, *NEWTON, status=0).err
            for what in ("gives no derivatives", "does not follow inputs"):
                self.assertEqual(err.count(f"warning: --extrapolate 3: 'b' {what}"), what in says, err)

    def test_last_steps(self):
        """Two integrators with --reevaluate last: the first part of a step goes with the guess, x(t_l) = x + the integral of that, the last
        step of the solver with lines from there to what comes out, X = x(t_l) + h_l (y(t_l) + Y) / 2, Y = y(t_l) - h_l (x(t_l) + X) / 2."""
        system = example("oscillator"), "--interface", "me", "--solver", "rk4", "--rtol", "1e-12", "--stop", "2"
        errors = {}
        for extrapolate in (0, 1):
            for h in (0.2, 0.1):
                last = h / 10
                table, stats, _ = self.with_stats(*system, *NEWTON, "--reevaluate", "last", "--extrapolate", str(extrapolate), "--step", str(h),
                                                  "--solver-step", str(last))
                x, y, part = 1.0, 0.0, h - last
                for row in range(1, len(table["time"])):
                    dx, dy = (y, -x) if extrapolate else (0, 0)
                    xl, yl = x + part * y + part ** 2 / 2 * dy, y - part * x - part ** 2 / 2 * dx
                    a, b = xl + last / 2 * (y + part * dy), yl - last / 2 * (x + part * dx)
                    x, y = ((a + last / 2 * b) / (1 + last ** 2 / 4), (b - last / 2 * a) / (1 + last ** 2 / 4))
                    self.assertAlmostEqual(float(table["first.y"][row]), x, delta=1e-9)
                    self.assertAlmostEqual(float(table["second.y"][row]), -y, delta=1e-9)  # its sign is the other one
                errors[extrapolate, h] = math.hypot(x - math.cos(2), y + math.sin(2))
                _, full, _ = self.with_stats(*system, *NEWTON, "--step", str(h), "--solver-step", str(last))
                ratio = stats["units"][0]["rhs_evaluations"] / full["units"][0]["rhs_evaluations"]
                self.assertLess(ratio, 0.6)  # of two sweeps over ten steps of the solver one is left, and a tenth
        for extrapolate, order in ((0, 1), (1, 2)):
            self.assertAlmostEqual(math.log2(errors[extrapolate, 0.2] / errors[extrapolate, 0.1]), order, delta=0.2)

    def test_last_steps_that_are_whole(self):
        """If a step is one of the solver, both are the same."""
        tables = [self.with_stats(example("van_der_pol"), "--interface", "me", "--solver", "rk4", "--solver-step", "0.1", "--step", "0.1",
                                  "--stop", "2", *NEWTON, "--reevaluate", what)[0] for what in ("full", "last")]
        for name in tables[0].header:
            self.assertEqual(tables[0][name], tables[1][name])

    def test_no_last_steps(self):
        run = "--step", "0.1", "--stop", "1", *NEWTON, "--reevaluate", "last", "-o", self.path("r.csv")
        for options, says in (((), "--reevaluate last repeats the last step of a unit's solver, and 'first' .* is of Co-Simulation"),
                              (("--interface", "me", "--solver", "cvode"), "and cvode of 'first' cannot go back .*; use --solver bdf"),
                              (("--interface", "me", "--filter", "average"), "--reevaluate last goes without --filter average: 'first'"),
                              (("--interface", "me", "--extrapolate", "3"), "--extrapolate 3 is about whole steps, and --reevaluate last")):
            self.refused("run", example("oscillator"), *run, *options, status=2, says=says)

    def test_idle_options(self):
        pair = (f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('Tracker', '2')}", *connect("a.y=b.u", "b.y=a.u"), "--stop", "1",
                "-o", self.path("r.csv"))
        outcome = self.tutti("run", *pair, "--coupling", "relax", "--newton", "full", status=0)
        self.assertIn("--newton has no effect here; it goes with --coupling newton", outcome.err)
        outcome = self.tutti("run", *pair, "--coupling", "newton", "--sweeps", "jacobi", status=0)
        self.assertIn("--sweeps has no effect here; it goes with --coupling relax", outcome.err)


if __name__ == "__main__":
    unittest.main()
