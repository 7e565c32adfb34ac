#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--coupling strong: all Model Exchange units in one solver. References are the same equations in one piece."""
import math
import unittest
import zipfile

from command import Table, kit_fmu, test_fmu
from fabrics import FabricTest, has_mpi, mpi, processes, threads
from systems import connect
from test_checkpoint import CheckpointTest
from test_fabrics import example

STRONG = ("--coupling", "strong")
MASSES = (f"left={kit_fmu('ChainMass', '2')}", f"right={kit_fmu('ChainMass', '3')}",
          *connect("left.x=right.x_left", "left.v=right.v_left", "right.F=left.F_right"), "--set", "left.x=0.1")
# A ramp, a gate that its input switches, a lag behind it, and one that counts seconds.
HYBRID = (f"ramp={test_fmu('Switches', '2')}", f"gate={test_fmu('Gate', '3')}", f"lag={kit_fmu('Tracker', '1me')}",
          f"clock={kit_fmu('Stair', '3')}", *connect("ramp.x=gate.u", "gate.y=lag.u"),
          "--set", "gate.level=0.317", "--set", "ramp.flag_at=0.55", "--set", "lag.T=0.5", "--interface", "me", "--stop", "2",
          "--step", "0.1")


def runge_kutta(f, x, stop, steps):
    h = stop / steps
    for n in range(steps):
        t = n * h
        k1 = f(t, x)
        k2 = f(t + h / 2, [a + h / 2 * b for a, b in zip(x, k1)])
        k3 = f(t + h / 2, [a + h / 2 * b for a, b in zip(x, k2)])
        k4 = f(t + h, [a + h * b for a, b in zip(x, k3)])
        x = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(x, k1, k2, k3, k4)]
    return x


def masses(_, x):
    x1, v1, x2, v2 = x
    left, right = 100 * x1 + v1, 100 * (x2 - x1) + v2 - v1
    return v1, right - left, v2, -right


class Smooth(FabricTest):
    def test_no_error_of_the_coupling(self):
        """What is left is the solver's, and does not know of the communication step."""
        reference = runge_kutta(masses, [0.1, 0, 0, 0], 5, 50000)
        last = {}
        for step in ("1", "0.1", "0.013"):
            table = self.run_(*MASSES, *STRONG, "--stop", "5", "--step", step, "--output-step", "0.5", "--rtol", "1e-8")
            last[step] = table.rows
            for name, value in zip(("left.x", "left.v", "right.x", "right.v"), reference):
                self.assertAlmostEqual(table[name][-1], value, delta=1e-6, msg=f"{name} with steps of {step}")
        self.assertEqual(last["1"], last["0.1"])
        self.assertEqual(last["1"], last["0.013"])

    def test_do_steps_at_equal_error(self):
        """The masses of README.md: 0.06 mm, with a fifth of the do-steps of others, and fewer evaluations."""
        reference = runge_kutta(masses, [0.1, 0, 0, 0], 5, 50000)

        def measure(*options):
            table, _, units = self.with_stats(*MASSES, "--stop", "5", *options)
            error = max(abs(table[name][-1] - reference[place]) for name, place in (("left.x", 0), ("right.x", 2)))
            return error, sum(unit["do_steps"] for unit in units.values()), sum(unit["rhs_evaluations"] for unit in units.values())

        error, do_steps, evaluations = measure(*STRONG, "--step", "0.1")
        self.assertLess(error, 6e-5)
        for coupling in ("jacobi", "seidel", "relax"):
            other = measure("--coupling", coupling, "--interface", "me", "--step", "0.01", "--control", "fixed", "--extrapolate", "0",
                            "--rtol", "1e-8")
            self.assertGreater(other[0], error, coupling)
            self.assertGreaterEqual(other[1], 5 * do_steps, coupling)
            self.assertGreater(other[2], evaluations, coupling)

    def test_solvers(self):
        """Every kind, with the order that it has."""
        for solver in ("cvode", "adams", "dopri5", "dopri8", "dirk", "radau5", "bdf", "ida"):
            errors = []
            for rtol in ("1e-4", "1e-7"):
                table = self.run_(example("oscillator"), *STRONG, "--interface", "me", "--solver", solver, "--rtol", rtol,
                                  "--stop", "10", "--step", "0.5")
                errors.append(max(abs(value - math.cos(t)) for t, value in zip(table.times, table["first.y"])))
            self.assertLess(errors[1], 1e-4, solver)
            self.assertLess(errors[1], max(errors[0] / 5, 1e-11), f"{solver}: {errors}")
        for solver, order in (("rk4", 4), ("heun", 2), ("euler", 1)):
            errors = []
            for step in ("0.02", "0.01"):
                table = self.run_(example("oscillator"), *STRONG, "--interface", "me", "--solver", solver, "--solver-step", step,
                                  "--stop", "2", "--step", "0.5")
                errors.append(abs(table["first.y"][-1] - math.cos(2)))
            self.assertAlmostEqual(math.log2(errors[0] / errors[1]), order, delta=0.2, msg=f"{solver}: {errors}")

    def test_orbit(self):
        """Lotka and Volterra's constant of the motion, on [0, 100]."""
        table = self.run_(example("lotka_volterra"), *STRONG, "--interface", "me", "--rtol", "1e-8", "--stop", "100", "--step", "0.5")
        constants = [0.6 * x - 0.27 * math.log(x) + 0.7 * y - 0.5 * math.log(y)
                     for x, y in zip(table["prey.x"], table["predator.y"])]
        self.assertLess(max(constants) - min(constants), 1e-5)

    def test_loops(self):
        """The double pendulum's angular accelerations depend on each other: an algebraic loop, in every evaluation."""
        run = (example("double_pendulum"), *STRONG, "--interface", "me", "--stop", "2", "--step", "0.5", "--rtol", "1e-9")
        tables = [self.run_(*run, "--solver", solver) for solver in ("radau5", "dopri8", "bdf", "ida")]
        for name in tables[0].header:
            values = [table[name][-1] for table in tables]
            self.assertLess(max(values) - min(values), 1e-6, name)


class Hybrid(FabricTest):
    def check(self, table):
        """ramp.x = t; the gate opens at 0.317: y = 2 t, then 2 t + 1; the lag follows, from there on by another law."""
        self.assertAlmostEqual(table["ramp.x"][-1], 2, delta=1e-6)
        self.assertEqual(table["clock.counter"][-1], 2)
        self.assertEqual(table.texts("gate.high")[-1], "1")

        def lag(start, at, y, t):  # T y' = 2 t + start - y
            rest = y - (2 * at + start - 1)
            return 2 * t + start - 1 + rest * math.exp(-(t - at) / 0.5)

        there = lag(0, 0, 0, 0.317)
        self.assertAlmostEqual(table["lag.y"][-1], lag(1, 0.317, there, 2), delta=1e-5)

    def test_events_end_a_step_for_all(self):
        table, stats, units = self.with_stats(*HYBRID, *STRONG, "--rtol", "1e-7")
        self.check(table)
        self.assertEqual(stats["events"], "early")
        self.assertEqual(stats["rejected"], 0)
        self.assertEqual(units["gate"]["rollbacks"], 0)
        twice = [t for t, after in zip(table.times, table.times[1:]) if t == after]
        self.assertEqual(len(twice), 4, twice)  # gate, flag, two seconds: a row before, and one after
        self.assertAlmostEqual(twice[0], 0.317, delta=1e-6)
        self.assertAlmostEqual(twice[1], 0.55, delta=1e-6)
        self.assertEqual(twice[2:], [1, 2])
        at = table.times.index(twice[0])
        self.assertAlmostEqual(table["gate.y"][at + 1] - table["gate.y"][at], 1, delta=1e-12)

    def test_events_are_crossed_inside_of_a_step(self):
        table = self.run_(*HYBRID, *STRONG, "--rtol", "1e-7", "--events", "none", "--step", "0.5")
        self.check(table)
        self.assertNotIn(0.317, [round(t, 4) for t in table.times])

    def test_units_without_saved_states(self):
        """Nothing is taken back, so that nothing has to be saved."""
        plain = self.run_(*HYBRID, *STRONG)
        self.assertEqual(self.run_(*HYBRID, *STRONG, env={"KIT_FAULT": "fail GetFMUstate|GetFMUState"}).rows, plain.rows)

    def test_tables(self):
        """A table that drives one of them: its kinks and jumps are met."""
        self.write("drive.csv", "time,ramp.u\n0,0\n0.3,0\n0.3,2\n1,1\n2,1\n")
        for events in ("none", "early"):
            table = self.run_(*HYBRID, *STRONG, "--rtol", "1e-8", "--input", self.path("drive.csv"), "--events", events)
            self.assertAlmostEqual(table["ramp.x"][-1], 2 + 0.7 * 1.5 + 1, delta=1e-6)

    def test_the_end(self):
        """An FMU that ends the run inside of a step does so where it is."""
        for events in ("none", "early"):
            table = self.run_(*HYBRID, *STRONG, "--set", "gate.ends=true", "--events", events)
            self.assertAlmostEqual(table.times[-1], 0.317, delta=1e-4)

    def test_others_join(self):
        """Co-Simulation units step beside them, and an event of the others takes them back."""
        run = (f"ramp={test_fmu('Switches', '2')}", f"gate={test_fmu('Gate', '3')}", f"lag={kit_fmu('Tracker', '1cs')}",
               *connect("ramp.x=gate.u", "gate.y=lag.u"), "--set", "gate.level=0.317", "--set", "lag.T=0.5", "--stop", "2")
        for events in ("none", "early"):
            errors = []
            for step in ("0.02", "0.01"):
                options = ("--step", step, "--events", events, "--control", "fixed", "--extrapolate", "0")
                outcome = self.tutti("run", *run, *STRONG, *options, "--quiet", "-o", "-", status=None)
                if outcome.status:  # FMI 1.0 cannot go back
                    self.assertEqual(events, "early")
                    break
                table = Table(outcome.out)
                there = 2 * 0.317 - 1 + math.exp(-0.317 / 0.5)
                exact = 4 + (there - (2 * 0.317)) * math.exp(-(2 - 0.317) / 0.5)
                errors.append(abs(table["lag.y"][-1] - exact))
            else:
                self.assertLess(errors[1], 0.6 * errors[0], errors)


class Everywhere(CheckpointTest):
    """The same bytes on every fabric, and after a checkpoint."""

    RUNS = (
        (*HYBRID, *STRONG),
        (*HYBRID, *STRONG, "--events", "none", "--solver", "radau5"),
        (*HYBRID, *STRONG, "--control", "richardson", "--rtol", "1e-3"),
        (example("double_pendulum"), *STRONG, "--interface", "me", "--stop", "0.5"),
        (example("load_flow"), *STRONG, "--interface", "me"),
        (example("quarter_car"), *STRONG, "--interface", "me", "--stop", "0.1", "--jacobian", "sparse"),
        (example("linear_coupling"), *STRONG, "--interface", "me", "--solver", "radau5"),
        (example("car"), *STRONG, "--stop", "0.05", "--control", "fixed", "--step", "0.001", "--extrapolate", "1"),
    )

    def test_unknowns_of_ida(self):
        """Outputs between units are unknowns of its equations: ranks share them, and a loop is none for it."""
        for run in ((example("double_pendulum"), "--stop", "0.3"), (example("linear_coupling"), "--jacobian", "sparse")):
            self.same(*run, *STRONG, "--interface", "me", "--solver", "ida", fabrics=[threads(2), processes(2)])
        self.same(*HYBRID, *STRONG, "--solver", "ida", fabrics=[threads(3)])

    def test_fabrics(self):
        for n, run in enumerate(self.RUNS):
            fabrics = [threads(2 + n % 2), processes(2)]
            fabrics += [mpi(2)] if n % 3 == 0 and has_mpi() else []
            fabrics += [self.tcp()] if n % 3 == 1 else []
            self.same(*run, fabrics=fabrics)

    def test_checkpoints(self):
        for n, run in enumerate(self.RUNS):
            with self.subTest(run=run):
                self.clear()
                plain = self.goes_on(*run, pairs=((threads(2), processes(2)),) if n % 2 else ((processes(2), threads(2)),))
                self.assertEqual(plain.status, 0 if "load_flow" not in run[0] else plain.status, plain.err)


class Chosen(CheckpointTest):
    """`auto` takes FMUs that offer both interfaces by Model Exchange, in one solver, if a tolerance is given and nothing says otherwise
    (src/sim/job/integration.h)."""

    RUN = (*MASSES, "--stop", "0.1", "--rtol", "1e-4")

    def kinds(self, *arguments, **more):
        self.tutti("run", *arguments, "--stats", self.path("stats.json"), "--quiet", "-o", self.path("result.csv"), **more)
        stats = self.stats()
        return stats["coupling"], [unit["interface"] for unit in stats["units"]]

    def test_a_tolerance_is_kept(self):
        """README.md: 113 mm, and 0.1 mm at 1e-2; with Co-Simulation the same takes 1,551 do-steps, each with steps of the FMU's own."""
        reference = runge_kutta(masses, [0.1, 0, 0, 0], 5, 20000)
        for rtol, most in (("1e-2", 400), ("1e-4", 900)):
            table, stats, units = self.with_stats(*MASSES, "--stop", "5", "--rtol", rtol)
            self.assertEqual(stats["coupling"], "strong")
            self.assertIn("all units offer Model Exchange", stats["reasons"]["coupling"])
            self.assertLess(abs(table["right.x"][-1] - reference[2]), 0.1 * float(rtol) * 0.113)
            self.assertLess(units["left"]["rhs_evaluations"], most)
        told = self.tutti("analyze", *self.RUN).out
        self.assertRegex(told, "coupling +strong: a tolerance is given, and all units offer Model Exchange")

    def test_by_name_it_is_the_same(self):
        """The solver's tolerance does not depend on who chose the coupling; and steps go from row to row, by dense output."""
        reference = runge_kutta(masses, [0.1, 0, 0, 0], 5, 20000)
        run = (*MASSES, "--stop", "5", "--interface", "me", "--output-step", "0.5", "--rtol")
        for rtol in ("1e-4", "1e-6"):
            chosen, _, _ = self.with_stats(*run, rtol)
            named, stats, units = self.with_stats(*run, rtol, "--coupling", "strong")
            self.assertEqual(chosen["right.x"], named["right.x"])
            self.assertLess(abs(named["right.x"][-1] - reference[2]), float(rtol) * 0.1)
            self.assertEqual((stats["steps"], stats["rows"]), (10, 11))

    def test_the_same_everywhere(self):
        fabrics = [threads(2), processes(2), self.tcp()] + ([mpi(2)] if has_mpi() else [])
        self.same(*self.RUN, fabrics=fabrics)
        self.goes_on(*self.RUN, pairs=((threads(2), processes(2)),))

    def test_what_keeps_co_simulation(self):
        for options in (("--interface", "cs"), ("--step", "0.001"), ("--events", "none"), ("--rollback", "fmu"), ("--h-min", "1e-6"),
                        ("--input-at", "middle"), ("--step", "left=0.002"), ("--control", "embedded"), ("--coupling", "seidel")):
            coupling, kinds = self.kinds(*self.RUN, *options)
            self.assertEqual((coupling == "strong", kinds), (False, ["cs", "cs"]), options)
        for options in (("--coupling", "auto"), ("--events", "auto"), ("--output-step", "0.1"), ("--interface", "auto")):
            self.assertEqual(self.kinds(*self.RUN, *options), ("strong", ["me", "me"]), options)
        lone = f"old={kit_fmu('Tracker', '1cs')}", *connect("right.x=old.u")
        self.assertEqual(self.kinds(*self.RUN, *lone)[1], ["cs", "cs", "cs"])
        self.assertEqual(self.kinds(example("double_pendulum"), "--interface", "auto", "--rtol", "1e-3", "--stop", "0.1")[0], "jacobi")

    def test_states_that_only_co_simulation_saves(self):
        """Or a process of its own that only one of both needs."""
        start = '<ModelExchange modelIdentifier="ChainMass" '
        for old, new in ((start + 'canGetAndSetFMUState="true" canSerializeFMUState="true"', start),
                         (start, start + 'canBeInstantiatedOnlyOncePerProcess="true" '), (start, start + 'needsExecutionTool="true" ')):
            less = self.altered(kit_fmu("ChainMass", "3"), (old, new))
            self.assertEqual(self.kinds(self.RUN[0], f"right={less}", *self.RUN[2:])[1], ["cs", "cs"], new)

    def test_a_library_without_the_functions(self):
        """It claims Model Exchange and lacks a function of it: all units stay as they were, on all ranks."""
        poor = self.path("poor.fmu")
        with zipfile.ZipFile(kit_fmu("ChainMass", "2")) as source, zipfile.ZipFile(poor, "w") as target:
            for item in source.infolist():
                target.writestr(item, source.read(item).replace(b"fmi2GetDerivatives", b"fmi2GetDerivativeX"))
        run = (f"left={poor}", *self.RUN[1:])
        self.same(*run, fabrics=[threads(2), processes(2)])
        outcome = self.tutti("run", *run, "-o", "-")
        self.assertRegex(outcome.err, "warning: left: .*fmi2GetDerivatives.*; units stay with Co-Simulation")
        self.assertEqual(self.kinds(*run)[1], ["cs", "cs"])
        self.tutti("run", *run, "--interface", "me", "--quiet", status=1)

    def test_a_failure_says_the_way_out(self):
        unit = kit_fmu("Faulty", "2")
        run = (f"a={unit}", f"b={unit}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=2", "--stop", "1", "--rtol", "1e-3", "-o", "-")
        fault = {"KIT_FAULT": "nan GetDerivatives 0.4+ @b"}
        self.refused("run", *run, env=fault, status=1, says=r"because a tolerance is given \(--interface cs: Co-Simulation\): .*derivative of 'b")
        self.tutti("run", *run, "--interface", "cs", env=fault)


class Failure(FabricTest):
    def test_what_does_not_go_together(self):
        self.refused("run", *HYBRID, *STRONG, "--step", "gate=0.2", "--quiet", status=2,
                     says="--coupling strong needs units that step together, and 'gate'")
        self.refused("run", *HYBRID, *STRONG, "--filter", "average", "--quiet", status=2, says="--filter average")

    def test_no_unit_of_model_exchange(self):
        outcome = self.tutti("run", *MASSES, *STRONG, "--interface", "cs", "--stop", "1", "-o", self.path("cs.csv"))
        self.assertRegex(outcome.err, "warning: --coupling strong .* there are none: all units step as with jacobi")

    def test_singular_loop(self):
        """swing = x sin(t) + u t, with u = swing: at t = 1 no swing fulfils that."""
        outcome = self.tutti("run", f"w={test_fmu('Wave', '2')}", f"g={kit_fmu('Feedthrough', '2')}",
                             *connect("w.swing=g.float64_in", "g.float64_out=w.u"), "--interface", "me", *STRONG, "--stop", "2",
                             "--step", "0.1", "--quiet", "-o", self.path("result.csv"), status=1)
        self.assertRegex(outcome.err, r"solver bdf cannot go on from t = (0\.9999|1\.0000)\d*.*in the way is 'w\.x'")
        self.assertRegex(outcome.err, r"algebraic loop of 2 unknowns, with a condition number of (about|more than) \de\+\d\d, "
                                      r"(is singular|has no solution).*w\.swing = \S+ \(residual .*tutti analyze.*--coupling relax")

    def test_singular_loop_as_unknowns(self):
        """The same where the solver has the loop among its equations, on any rank."""
        loop = (f"w={test_fmu('Wave', '2')}", f"g={kit_fmu('Feedthrough', '2')}", *connect("w.swing=g.float64_in", "g.float64_out=w.u"),
                "--interface", "me", *STRONG, "--solver", "ida", "--stop", "2", "--step", "0.1", "--quiet", "-o", self.path("result.csv"))
        for fabric in ((), ("--threads", "2")):
            self.refused("run", *loop, *fabric, status=1, says=[
                r"solver ida cannot go on from t = (0\.9999|1\.0000)",
                r"algebraic loop of 2 unknowns, with a condition number of (?:about|more than) \de\+\d\d, is nearly singular: .*w\.swing = \S+ \(residual"])

    def test_no_value(self):
        unit = kit_fmu("Faulty", "2")
        self.refused("run", f"a={unit}", f"b={unit}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=2", "--stop", "1", *STRONG,
                     "--quiet", "-o", "-", env={"KIT_FAULT": "nan GetDerivatives 0.4+ @b"}, status=1,
                     says=r"--coupling strong.*derivative of 'b\.\w+' is not a finite number at t = .*--solver")


if __name__ == "__main__":
    unittest.main()
