#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti run` of Model Exchange FMUs: which interface and solver, rows, events, inputs."""
import collections
import itertools
import json
import math
import unittest

from command import ME_VERSIONS, SOLVERS, CommandTest, Table, in_turn, kit_fmu, test_fmu

T = 0.5  # of Tracker, x' = (u - x) / T
FIXED = ("rk4", "heun", "euler", "implicit_euler")
CURVED = tuple(solver for solver in SOLVERS if solver not in FIXED)  # they choose their steps


def ramp(t, slope=1.0):
    """Tracker's answer to u = slope * t, from rest."""
    return slope * (t - T + T * math.exp(-t / T)) if t > 0 else 0.0


def step(t, height=1.0):
    """... to a step at t = 0, from rest."""
    return height * (1 - math.exp(-t / T)) if t > 0 else 0.0


class ExchangeTest(CommandTest):
    def exchange(self, fmu, *options):
        return self.simulate(fmu, "--interface", "me", *options)

    def stats(self, fmu, *options, **more):
        """What --stats says: of the run, and of its unit."""
        self.tutti("run", fmu, "--quiet", "--stats", "stats.json", *options, **more)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            stats = json.load(file)
        return stats, stats["units"][0]

    def pairs(self, table):
        """Indices of rows that share their time with the next one."""
        return [i for i, (a, b) in enumerate(itertools.pairwise(table.times)) if a == b]


class Interfaces(ExchangeTest):
    def test_co_simulation_is_preferred(self):
        for version in ("2", "3"):
            _, unit = self.stats(kit_fmu("Dahlquist", version))
            self.assertEqual((unit["interface"], unit["solver"], unit["solver_steps"]), ("cs", None, 0))

    def test_who_names_a_solver_wants_model_exchange(self):
        for version in ("2", "3"):
            for options in (("--solver", "radau5"), ("--interface", "me", "--solver", "radau5")):
                _, unit = self.stats(kit_fmu("Dahlquist", version), *options)
                self.assertEqual((unit["interface"], unit["solver"]), ("me", "radau5"))

    def test_the_only_interface_is_taken(self):
        _, unit = self.stats(kit_fmu("Dahlquist", "1me"))
        self.assertEqual((unit["interface"], unit["fmi"]), ("me", "1.0"))
        _, unit = self.stats(kit_fmu("Dahlquist", "1cs"))
        self.assertEqual(unit["interface"], "cs")

    def test_an_interface_that_is_not_there(self):
        self.refused("run", kit_fmu("Dahlquist", "1me"), "--interface", "cs", status=1,
                     says=["Dahlquist_fmi1me.fmu", "no Co-Simulation, only Model Exchange", "--interface me"])
        self.refused("run", kit_fmu("Dahlquist", "1cs"), "--interface", "me", status=1,
                     says=["Dahlquist_fmi1cs.fmu", "no Model Exchange, only Co-Simulation", "--interface cs"])
        self.refused("run", kit_fmu("Dahlquist", "1cs"), "--solver", "cvode", status=1,
                     says=["no Model Exchange, only Co-Simulation", "without a solver"])
        self.refused("run", kit_fmu("Dahlquist", "2"), "--interface", "fmi", status=2,
                     says="--interface takes auto, cs, me or se, not 'fmi'")

    def test_both_interfaces_agree(self):
        for model in ("Dahlquist", "VanDerPol", "BouncingBall", "Stair", "Heater"):
            for version in ("2", "3"):
                options = ("--rtol", "1e-8", "--output-step", "0.5")
                mine = self.exchange(kit_fmu(model, version), *options)
                own = self.simulate(kit_fmu(model, version), "--interface", "cs", *options)
                self.assertEqual(mine.header, own.header)
                column = mine.header[1]
                ends = {time: value for time, value in zip(own.times, own.texts(column))}
                rows = collections.Counter(mine.times)
                for time, value in zip(mine.times, mine.texts(column)):
                    if time in ends and rows[time] == 1:
                        self.assertAlmostEqual(float(value), float(ends[time]), delta=1e-3)


class Options(ExchangeTest):
    def test_options_of_model_exchange_with_co_simulation(self):
        fmu = kit_fmu("Dahlquist", "2")
        for option in (("--atol", "1e-6"), ("--solver-step", "0.1"), ("--h-max", "0.1"), ("--predictor", "restart"),
                       ("--jacobian", "dense"), ("--filter", "average"), ("--atol", "x=1e-6"), ("--h-first", "0.1"),
                       ("--max-order", "2"), ("--linear-solver", "krylov")):
            self.refused("run", fmu, *option, status=2, says=[f"{option[0]} is for Model Exchange", "--interface me"])
        self.refused("run", fmu, "--interface", "cs", "--solver", "rk4", status=2, says="its own solver")

    def test_a_solver_that_does_not_exist(self):
        self.refused("run", kit_fmu("Dahlquist", "2"), "--solver", "ode45", status=2,
                     says=["--solver takes .*, not 'ode45'", *(rf"\b{solver}\b" for solver in SOLVERS)])

    def test_what_a_solver_cannot_do(self):
        fmu = kit_fmu("Dahlquist", "2")
        for solver in ("rk4", "dopri5", "radau5"):
            self.refused("run", fmu, "--solver", solver, "--predictor", "correct-1", status=2,
                         says=[solver, "--predictor is for multistep methods", "bdf"])
        for solver in ("dopri5", "dopri8", "rk4", "euler"):
            self.refused("run", fmu, "--solver", solver, "--jacobian", "sparse", status=2,
                         says=[f"solver {solver} uses no Jacobian"])
        for solver in ("cvode", "adams"):
            self.refused("run", fmu, "--solver", solver, "--predictor", "correct-2", status=2, says=["CVODE", "bdf"])
        self.refused("run", fmu, "--solver", "radau5", "--solver-step", "0.1", status=2, says="--h-max")
        self.refused("run", fmu, "--solver", "rk4", "--h-max", "0.1", status=2, says="--solver-step")

    def test_orders_first_steps_and_linear_solvers(self):
        fmu = kit_fmu("VanDerPol", "2")
        plain, low = (self.stats(fmu, "--solver", "cvode", "--rtol", "1e-6", *more)[1] for more in ((), ("--max-order", "1")))
        self.assertGreater(low["solver_steps"], 5 * plain["solver_steps"])
        _, krylov = self.stats(fmu, "--solver", "cvode", "--rtol", "1e-6", "--linear-solver", "krylov")
        self.assertEqual(krylov["jacobian_evaluations"], 0)
        self.assertLess(krylov["solver_steps"], 2 * plain["solver_steps"])
        _, short = self.stats(fmu, "--solver", "dopri5", "--h-first", "1e-9")
        _, found = self.stats(fmu, "--solver", "dopri5")
        self.assertGreater(short["solver_steps"], found["solver_steps"] + 5)
        for more, says in ((("--solver", "cvode", "--max-order", "6"), "orders 1 to 5, not 6"),
                           (("--solver", "cvode", "--max-order", "13"), "--max-order takes a whole number from 1 to 12"),
                           (("--solver", "rodas", "--max-order", "2"), "--max-order is for multistep methods"),
                           (("--solver", "rk4", "--h-first", "0.1"), "--solver-step"),
                           (("--solver", "bdf", "--linear-solver", "krylov"), "cvode, ida and dirk"),
                           (("--solver", "cvode", "--linear-solver", "krylov", "--jacobian", "dense"), "takes no matrix")):
            self.refused("run", fmu, *more, status=2, says=says)

    def test_tolerances_of_single_states(self):
        fmu = kit_fmu("VanDerPol", "2")
        counts = [self.stats(fmu, "--solver", "dopri5", "--rtol", "1e-3", "--atol", "1e-3", *more)[1]["solver_steps"]
                  for more in ((), ("--atol", "x0=1e-3"), ("--atol", "x0=1e-12"), ("--atol", "x0=1e-12", "--rtol", "1e-12"))]
        self.assertEqual(counts[0], counts[1])  # the nominal value of both states is 1
        self.assertGreaterEqual(counts[2], counts[1])
        self.assertGreater(counts[3], counts[2])
        table = self.simulate(fmu, "--solver", "cvode", "--rtol", "1e-12", "--atol", "1e3", "--atol", "x0=1e-9", "--atol", "x1=1e-9")
        exact = self.simulate(fmu, "--solver", "radau5", "--rtol", "1e-11")
        self.assert_near(table["x0"], exact["x0"], 1e-6)
        for value, says in (("x7=1", "x7"), ("x0=0", "greater than 0"), ("x0=no", "UNIT.STATE=A"), ("mu=1", "no continuous state")):
            self.refused("run", fmu, "--solver", "cvode", "--atol", value, status=2, says=["--atol", says])

    def assert_errors_told(self, rows):
        """They are those of results that are compared here, of one recorded variable as of all."""
        exact = self.simulate(kit_fmu("VanDerPol", "2"), "--solver", "radau5", "--rtol", "1e-10")
        for record in ((), ("--record", "x0")):
            lines = self.tutti("run", kit_fmu("VanDerPol", "2"), "--compare-solvers", "--rtol", "1e-6", *record).out.splitlines()
            told = {line.split()[0]: float(line.split()[-1]) for line in lines[1:]}
            for solver in ("cvode", "dopri5", "bdf"):
                own = self.simulate(kit_fmu("VanDerPol", "2"), "--solver", solver, "--rtol", "1e-6")
                names = [name for name in own.header[1:] if not record or name == "x0"]
                error = max(abs(a - b) / (max(exact[name]) - min(exact[name])) for name in names for a, b in zip(own[name], exact[name]))
                self.assertAlmostEqual(told[solver] / error, 1, delta=0.06)
                if not record:
                    self.assertEqual(told[solver], float(rows[solver][-1]))

    def test_all_solvers_side_by_side(self):
        lines = self.tutti("run", kit_fmu("VanDerPol", "2"), "--compare-solvers", "--rtol", "1e-6").out.splitlines()
        self.assertEqual(lines[0].split(), ["solver", "steps", "f-evals", "J-evals", "elapsed", "error"])
        rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
        self.assertEqual(list(rows), [s for s in SOLVERS if s not in FIXED])
        for solver, (steps, calls, jacobians, *_, error) in rows.items():
            self.assertGreater(int(calls), int(steps), solver)
            self.assertEqual(jacobians == "-", solver in ("adams", "switch", "dopri5", "dopri8"), solver)
            self.assertLess(float(error), 1e-3, solver)
        self.assert_errors_told(rows)
        for more in (("--solver", "cvode"), ("-o", "r.csv"), ("--stats", "s.json")):
            self.refused("run", kit_fmu("VanDerPol", "2"), "--compare-solvers", *more, status=2, says="--compare-solvers makes one")
        self.refused("run", kit_fmu("Dahlquist", "1cs"), "--compare-solvers", status=1, says="no Model Exchange")

    def test_words_that_are_none(self):
        for option, words in (("--predictor", "correct-all"), ("--jacobian", "plain"), ("--filter", "average")):
            self.refused("run", kit_fmu("Dahlquist", "1me"), option, "no", status=2,
                         says=[f"{option} takes", words, "not 'no'"])

    def test_tolerances_and_steps_that_are_none(self):
        fmu = kit_fmu("Dahlquist", "1me")
        for option, value in itertools.product(("--rtol", "--atol", "--h-max"), ("0", "-1", "-0", "nan", "-1e-300")):
            self.refused("run", fmu, option, value, status=2, says=[rf"{option} takes a number greater than 0, not "])
        for value in ("0", "-1", "nan", "inf"):
            self.refused("run", fmu, "--solver", "rk4", "--solver-step", value, status=2, says="--solver-step takes a number")
        self.refused("run", fmu, "--solver", "rk4", "--solver-step", "1e-300", status=2, says="cannot be meant")
        self.refused("run", fmu, "--h-max", "1e-300", status=2, says="cannot be meant")
        self.refused("run", fmu, "--rtol", "1e-17", status=2, says="more digits than a number has")

    def test_tolerance_0_of_the_fmu_is_no_tolerance(self):
        for version, tolerance in itertools.product(("2", "3"), ("0", "-1")):
            text = "<DefaultExperiment"
            fmu = self.altered(kit_fmu("Dahlquist", version), (text, f'{text} tolerance="{tolerance}"'))
            table = Table(self.tutti("run", fmu, "-o", "-", "--solver", "radau5").out)
            self.assert_near(table["x"], [math.exp(-t) for t in table.times], 1e-3)

    def test_every_solver_follows_its_tolerance(self):
        for version, solver, rtol in in_turn(ME_VERSIONS, CURVED, (1e-4, 1e-8)):
            table = self.exchange(kit_fmu("Dahlquist", version), "--solver", solver, "--rtol", rtol, "--stop", 5)
            self.assert_near(table["x"], [math.exp(-t) for t in table.times], 50 * rtol)

    def test_fixed_steps_are_as_long_as_they_are_told(self):
        for solver in FIXED:
            for step_size, steps in ((None, 50), ("0.01", 500), ("0.03", 167)):
                options = () if step_size is None else ("--solver-step", step_size)
                _, unit = self.stats(kit_fmu("Dahlquist", "2"), "--solver", solver, "--step", 0.1, "--stop", 5, *options)
                self.assertEqual(unit["solver_steps"], steps)

    def test_h_max_bounds_the_steps(self):
        for solver in CURVED:
            _, unit = self.stats(kit_fmu("Dahlquist", "2"), "--solver", solver, "--h-max", 0.01, "--stop", 5)
            self.assertGreaterEqual(unit["solver_steps"], 500)
            _, unit = self.stats(kit_fmu("Dahlquist", "2"), "--solver", solver, "--stop", 5)
            self.assertGreaterEqual(unit["solver_steps"], 50)  # (stop - start) / 50

    def test_averages(self):
        """x = e^-t: its mean over every communication step; the row at the start is the value itself."""
        for version, solver in in_turn(ME_VERSIONS, ("cvode", "bdf", "radau5", "dopri5")):
            table = self.exchange(kit_fmu("Dahlquist", version), "--filter", "average", "--step", 0.25, "--stop", 2,
                                  "--rtol", 1e-8, "--solver", solver)
            means = [(math.exp(-a) - math.exp(-b)) / (b - a) for a, b in itertools.pairwise(table.times)]
            self.assert_near(table["x"], [1, *means], 1e-6)


class Stats(ExchangeTest):
    COUNTS = ("do_steps", "rollbacks", "gets", "sets", "init_evaluations", "solver_steps", "rhs_evaluations",
              "jacobian_evaluations", "directional_derivatives", "solver_error_failures", "solver_other_failures",
              "solver_restarts")

    def test_fields(self):
        for version, name in ME_VERSIONS.items():
            stats, unit = self.stats(kit_fmu("VanDerPol", version), "--solver", "radau5", "--step", 0.1, "--stop", 2)
            self.assertEqual((unit["interface"], unit["solver"], unit["fmi"]), ("me", "radau5", name))
            self.assertEqual((stats["steps"], unit["do_steps"]), (20, 20))
            for count in self.COUNTS:
                self.assertIsInstance(unit[count], int, count)
            self.assertGreater(unit["solver_steps"], 0)
            self.assertGreater(unit["rhs_evaluations"], unit["solver_steps"])
            self.assertGreater(unit["jacobian_evaluations"], 0)
            self.assertEqual(unit["directional_derivatives"] > 0, version != "1me")
            self.assertEqual(unit["solver_restarts"], 0)

    def test_explicit_solvers_need_no_jacobian(self):
        _, unit = self.stats(kit_fmu("VanDerPol", "2"), "--solver", "dopri5")
        self.assertEqual((unit["jacobian_evaluations"], unit["directional_derivatives"]), (0, 0))

    def test_restarts_and_events(self):
        stats, unit = self.stats(kit_fmu("BouncingBall", "2"), "--solver", "radau5")
        bounces = self.exchange(kit_fmu("BouncingBall", "2"))["bounces"][-1]
        self.assertEqual(stats["events_located"], bounces)
        self.assertEqual(unit["solver_restarts"], bounces)
        self.assertEqual(stats["events"], "early")

    def test_a_solver_is_not_bound_to_communication_points(self):
        _, few = self.stats(kit_fmu("VanDerPol", "3"), "--interface", "me", "--step", 1)
        _, many = self.stats(kit_fmu("VanDerPol", "3"), "--interface", "me", "--step", 0.001)
        self.assertEqual(few["solver_steps"], many["solver_steps"])
        self.assertEqual(many["do_steps"], 20000)

    def test_without_states(self):
        for version in ME_VERSIONS:
            _, unit = self.stats(kit_fmu("Feedthrough", version), "--interface", "me")
            self.assertEqual((unit["solver_steps"], unit["rhs_evaluations"]), (0, 0))


class Rows(ExchangeTest):
    def test_recorded_points_are_hit(self):
        for version, solver in in_turn(ME_VERSIONS, ("cvode", "bdf", "dopri5", "rk4")):
            table = self.exchange(kit_fmu("Dahlquist", version), "--solver", solver, "--output-step", "0.07", "--step",
                                  "0.1", "--stop", "1", "--rtol", "1e-8")
            self.assertEqual(table.times, [n * 0.07 for n in range(15)] + [1])
            self.assert_near(table["x"], [math.exp(-t) for t in table.times], 1e-5)

    def test_a_stop_time_that_is_no_multiple(self):
        for version in ME_VERSIONS:
            table = self.exchange(kit_fmu("Dahlquist", version), "--step", "0.3", "--stop", "1")
            self.assertEqual(table.times, [0, 0.3, 0.6, 3 * 0.3, 1])

    def test_a_start_time_that_is_not_0(self):
        for version in ME_VERSIONS:
            table = self.exchange(kit_fmu("Dahlquist", version), "--start", "-3", "--step", "0.5", "--stop", "-1",
                                  "--rtol", "1e-8")
            self.assertEqual(table.times, [-3, -2.5, -2, -1.5, -1])
            self.assert_near(table["x"], [math.exp(-t - 3) for t in table.times], 1e-6)

    def test_far_from_time_0(self):
        """Where doubles are 1e-7 apart, first steps may be shorter than that."""
        for solver in CURVED:
            with self.subTest(solver=solver):
                table = self.exchange(kit_fmu("VanDerPol", "3"), "--solver", solver, "--rtol", "1e-8", "--start", "1e9",
                                      "--stop", "1000000020", "--output-step", "5")
                self.assertAlmostEqual(table["x0"][-1], 2.00815, delta=1e-4)

    def test_two_rows_at_an_event(self):
        for version, solver in in_turn(ME_VERSIONS, ("cvode", "bdf", "radau5", "dopri5")):
            with self.subTest(version=version, solver=solver):
                table = self.exchange(kit_fmu("BouncingBall", version), "--solver", solver, "--rtol", "1e-10", "--step",
                                      "0.1", "--stop", "2")
                events = self.pairs(table)
                self.assertEqual(table["bounces"][-1], len(events))
                before, after = events[0], events[0] + 1
                self.assertAlmostEqual(table.times[before], math.sqrt(2 / 9.81), delta=1e-9)
                self.assertLess(table["v"][before], 0)
                self.assertAlmostEqual(table["v"][after], -0.7 * table["v"][before], delta=1e-12)
                self.assertEqual([table["bounces"][i] for i in (before, after)], [0, 1])
                others = [t for t in table.times if table.times.count(t) == 1]
                self.assertEqual(others, [n * 0.1 for n in range(20)] + [2])

    def test_all_versions_write_the_same_bytes(self):
        """One model, one result. (With a Jacobian FMI 1.0 differs in the last digits: it knows no structure.)"""
        cases = [(kit_fmu, "Dahlquist"), (kit_fmu, "BouncingBall"), (kit_fmu, "VanDerPol"), (kit_fmu, "Stair"),
                 (kit_fmu, "Tracker"), (kit_fmu, "Heater"), (kit_fmu, "Lacking"), (test_fmu, "Crossings"),
                 (test_fmu, "Clockwork"), (test_fmu, "Wave"), (test_fmu, "Scaled"), (test_fmu, "Ramp")]
        options = ("--interface", "me", "--stop", "12", "--step", "0.1", "--quiet", "-o", "-")
        for solver in ("dopri5", "rk4", "adams", "radau5", "bdf", "cvode"):
            versions = list(ME_VERSIONS) if solver in ("dopri5", "rk4", "adams") else ["2", "3"]
            for path, model in cases:
                with self.subTest(solver=solver, model=model):
                    results = {self.tutti("run", path(model, version), "--solver", solver, *options).out for version in versions}
                    self.assertEqual(len(results), 1)


class Events(ExchangeTest):
    def ramp(self, version, *settings, stop=2):
        options = [word for setting in settings for word in ("--set", setting)]
        return ("run", test_fmu("Ramp", version), "--interface", "me", "-o", "-", "--stop", str(stop), "--step", "0.25", *options)

    def test_an_event_at_a_communication_point(self):
        for version, solver in in_turn(ME_VERSIONS, SOLVERS):
            arguments = self.ramp(version, "at=0.5", "what=1", stop=1.75)
            table = Table(self.tutti(*arguments, "--solver", solver, "--quiet").out)
            self.assertEqual(table["events"][-1], 3)
            self.assert_near([table.times[i] for i in self.pairs(table)], [0.5, 1, 1.5], 1e-12)
            self.assertAlmostEqual(table["x"][-1], 0.25, delta=1e-9)

    def test_time_events_are_rows(self):
        for version in ME_VERSIONS:
            table = Table(self.tutti(*self.ramp(version, "period=0.1", stop=1), "--quiet").out)
            self.assertEqual(table.times, sorted([0, 0.25, 0.75] + [n * 0.1 for n in range(1, 11)] * 2))
            self.assertEqual(table["ticks"][-1], 10)

    def test_an_fmu_that_ends_the_run(self):
        for version in ME_VERSIONS:
            outcome = self.tutti(*self.ramp(version, "at=0.6", "what=3"))
            self.assertRegex(outcome.err, r"warning: .*ended the simulation at t = 0\.6")
            table = Table(outcome.out)
            self.assertAlmostEqual(table.times[-1], 0.6, delta=1e-9)
            outcome = self.tutti("run", kit_fmu("Stair", version), "--interface", "me", "-o", "-")
            self.assertIn("ended the simulation at t = 10", outcome.err)
            self.assertEqual(Table(outcome.out)["counter"][-1], 10)

    def fails(self, version, *settings, says):
        outcome = self.tutti(*self.ramp(version, *settings), "--quiet", status=1)
        message, = outcome.lines("error")
        for pattern in (rf"Ramp_fmi{version} \(.*Ramp_fmi{version}.fmu\)", *says):
            self.assertRegex(message, pattern)
        self.assertGreaterEqual(Table(outcome.out).times[-1], 0.5)  # all rows up to there

    def test_events_that_go_wrong(self):
        for version in ME_VERSIONS:
            self.fails(version, "at=0.6", "what=7", says=["state 'x' is not a finite number", "t = 0.6"])
            self.fails(version, "at=0.6", "what=8", says=["indicator", "has no value"])

    def test_chattering(self):
        """Named, with what to do about it, and the rows up to there."""
        for version, solver in in_turn(ME_VERSIONS, SOLVERS):
            with self.subTest(version=version, solver=solver):
                outcome = self.tutti("run", test_fmu("Sliding", version), "--solver", solver, "-o", "-", "--quiet",
                                     status=1)
                message, = outcome.lines("error")
                self.assertRegex(message, r"Sliding_fmi\w+ \(.*\): chattering: 200 state events between t = (1|0\.9{9})")
                self.assertRegex(message, "indicator 'side'" if version == "3" else "indicator 1 of 1")
                self.assertIn("hysteresis", message)
                table = Table(outcome.out)
                self.assertGreater(len(table), 200)
                self.assertAlmostEqual(table.times[-1], 1, delta=1e-6)

    def test_a_ball_that_never_rests(self):
        """Its bounces pile up at t = sqrt(2 h / g) (1 + e) / (1 - e), with hops lower than rounding: no solver lets it fall through."""
        end = math.sqrt(2 / 10) * 1.3 / 0.7
        for version, solver in in_turn(ME_VERSIONS, CURVED):
            with self.subTest(version=version, solver=solver):
                outcome = self.tutti("run", test_fmu("Sliding", version), "--set", "bounce=true", "--set", "e=0.3", "--solver", solver,
                                     "--rtol", "1e-8", "-o", "-", "--quiet", status=1)
                message, = outcome.lines("error")
                self.assertIn("chattering: 200 state events", message)
                table = Table(outcome.out)
                self.assertAlmostEqual(table.times[-1], end, delta=1e-4)
                self.assertGreater(min(table["x"]), -1e-9)

    def test_events_inside_long_steps(self):
        """x - 0.99 is positive for 0.28 of each period of 6.28, which solvers of high order pass in one step."""
        for version, solver in in_turn(ME_VERSIONS, CURVED):
            with self.subTest(version=version, solver=solver):
                table = self.exchange(test_fmu("Crossings", version), "--solver", solver, "--rtol", "1e-4", "--set", "level=0.99",
                                      "--set", f"phase={math.pi}", "--stop", "25", "--step", "5")
                self.assertEqual(table["tops"][-1], 8)

    def test_far_from_zero(self):
        """Steps are not rounded to the digits of t = 1e9: what is found there is what is found at 0."""
        for version, solver in in_turn(ME_VERSIONS, SOLVERS):
            with self.subTest(version=version, solver=solver):
                near, far = (self.exchange(kit_fmu("VanDerPol", version), "--solver", solver, "--rtol", "1e-8", "--start", start, "--stop",
                                           start + 4, "--step", "0.5") for start in (0, 10**9))
                self.assertEqual([t + 1e9 for t in near.times], far.times)
                self.assert_near(far["x0"], near["x0"], 1e-12)

    def test_thousands_of_events(self):
        for version in ME_VERSIONS:
            stats, _ = self.stats(test_fmu("Crossings", version), "--solver", "radau5", "--set", "w=3141.592653589793",
                                  "--stop", "1.9997", "--record", "none")
            self.assertEqual(stats["events_located"], 2000)


class Inputs(ExchangeTest):
    def follow(self, model, version, rows, *options, header="time,u", path=kit_fmu):
        trajectory = self.write("input.csv", "\n".join([header, *rows]) + "\n")
        return self.exchange(path(model, version), "--input", trajectory, "--rtol", "1e-8", *options)

    def test_ramps_and_kinks(self):
        for version, solver in in_turn(ME_VERSIONS, CURVED):
            with self.subTest(version=version, solver=solver):
                table = self.follow("Tracker", version, ["0,0", "1,1", "1.7,-0.4", "2,-0.4"], "--stop", "3", "--step",
                                    "0.5", "--solver", solver)
                expected = [ramp(t) - 3 * ramp(t - 1) + 2 * ramp(t - 1.7) for t in table.times]
                self.assert_near(table["y"], expected, 1e-5)
                self.assertIn(1.7, table.times)  # a kink is a point of the run

    def test_jumps_are_hit_and_are_two_rows(self):
        for version in ME_VERSIONS:
            for time in (0.3, 0.333, 0.1 + 0.2):
                table = self.follow("Tracker", version, ["0,0", f"{time!r},0", f"{time!r},1", "5,1"], "--step", "0.1",
                                    "--stop", "1")
                before, = self.pairs(table)
                self.assertEqual(table.times[before], time)
                self.assertEqual([table["error"][i] for i in (before, before + 1)], [0, 1])
                self.assert_near(table["y"], [step(t - time) for t in table.times], 1e-6)

    def test_a_pulse_that_is_shorter_than_the_step(self):
        """0.001 long, 100 high, between two communication points, and beside them."""
        for version, solver in in_turn(ME_VERSIONS, ("cvode", "bdf", "radau5", "dopri5")):
            for begin in (0.2, 0.2371):
                end = begin + 0.001
                rows = ["0,0", f"{begin},0", f"{begin},100", f"{end!r},100", f"{end!r},0", "1,0"]
                table = self.follow("Tracker", version, rows, "--step", "0.2", "--stop", "1", "--solver", solver)
                expected = [step(t - begin, 100) - step(t - end, 100) for t in table.times]
                self.assert_near(table["y"], expected, 1e-5)

    def test_a_triangle_that_is_shorter_than_the_step(self):
        for version in ME_VERSIONS:
            rows = ["0,0", "0.231,0", "0.232,1", "0.233,0", "1,0"]
            table = self.follow("Tracker", version, rows, "--step", "0.25", "--stop", "1")
            expected = [ramp(t - 0.231, 1000) - 2 * ramp(t - 0.232, 1000) + ramp(t - 0.233, 1000) for t in table.times]
            self.assert_near(table["y"], expected, 1e-6)

    def test_the_file_may_end_early(self):
        for version, solver in itertools.product(ME_VERSIONS, CURVED):
            table = self.follow("Tracker", version, ["0,0", "1,1"], "--stop", "4", "--step", "0.05", "--solver", solver)
            self.assertEqual(table.times[-1], 4)
            self.assert_near(table["y"], [ramp(t) - ramp(t - 1) for t in table.times], 1e-5)

    def test_the_file_may_begin_late(self):
        for version in ME_VERSIONS:
            table = self.follow("Tracker", version, ["1,1", "2,2", "9,2"], "--stop", "3", "--step", "0.25")
            expected = [step(t) + ramp(t - 1) - ramp(t - 2) for t in table.times]
            self.assert_near(table["y"], expected, 1e-6)

    def test_discrete_inputs_change_at_events_and_ramps_go_on(self):
        """An Integer and a discrete Real change in rows at which the ramp of u goes straight on: y = x + 10 u + 100 level,
        x' = 1 + u."""
        for version, solver in itertools.product(ME_VERSIONS, ("cvode", "bdf", "radau5")):
            with self.subTest(version=version, solver=solver):
                rows = ["0,0,0,0", "0.37,0.37,1,0", "0.8,0.8,1,2", "2,2,1,2"]
                table = self.follow("Ramp", version, rows, "--stop", "1.5", "--step", "0.25", "--solver", solver,
                                    header="time,u,gate,level", path=test_fmu)
                self.assertEqual([table.times[i] for i in self.pairs(table)], [0.37, 0.8])
                first, second = self.pairs(table)
                self.assertEqual([table["gates"][i] for i in (first, first + 1)], [0, 1])
                for i, t in enumerate(table.times):
                    level = 2 if i > second else 0
                    self.assertAlmostEqual(table["y"][i], t + t * t / 2 + 10 * t + 100 * level, delta=1e-6)

    def test_inputs_cause_state_events(self):
        """u passes 1 upwards by a ramp at 0.5, and downwards by a jump at 0.75."""
        for version in ME_VERSIONS:
            rows = ["0.1,0.2", "0.7,1.4", "0.75,1.4", "0.75,0", "1,0"]
            table = self.follow("Clockwork", version, rows, "--start", "0.1", "--stop", "0.95", path=test_fmu)
            crossings = [table.times[i] for i in self.pairs(table)]
            self.assert_near(crossings, [0.5, 0.75], 1e-12)
            self.assertEqual(table["crossings"][-1], 2)

    def test_inputs_of_a_model_without_states(self):
        for version in ME_VERSIONS:
            table = self.follow("Clockwork", version, ["0,0", "1,0.5", "5,0.5"], "--start", "0.25", "--stop", "0.75",
                                path=test_fmu)
            self.assert_near(table["y"], [t * t + t / 2 for t in table.times], 1e-14)


class InputsOfEverySort(ExchangeTest):
    """Mixed, x' = u + w[1] + 2 w[2] + f from 0: scalars, arrays and Float32 move inside of steps alike."""

    def integral(self, rows, *options):
        return self.exchange(test_fmu("Mixed", "3"), "--stop", "1", "--step", "0.25", "--rtol", "1e-8", "--input",
                             self.write("input.csv", rows), *options)

    def test_ramps(self):
        for solver in SOLVERS[:-2]:  # neither of Euler's integrates a ramp exactly
            noise = 1e-5 if solver == "rodas" else 1e-7  # which takes differences in time, and of a Float32
            with self.subTest(solver=solver):
                for rows, slope in (("time,w[1]\n0,0\n1,1\n", 1), ("time,w[2]\n0,0\n1,1\n", 2), ("time,f\n0,0\n1,1\n", 1),
                                    ("time,w\n0,0 0\n1,1 0.5\n", 2),
                                    ("time,w[1],u,f,w[2]\n0,0,0,0,0\n1,1,0.5,0.25,0.5\n", 2.75)):
                    table = self.integral(rows, "--solver", solver)
                    self.assert_near(table["x"], [slope * t * t / 2 for t in table.times], noise)

    def test_kinks_are_hit(self):
        """A roof between two ends of steps."""
        table = self.integral("time,w[1],f\n0,0,0\n0.3,0.3,3\n0.6,0,0\n", "--solver", "cvode")
        self.assertAlmostEqual(table["x"][-1], 0.09 + 0.9, delta=1e-6)

    def test_an_array_from_another_unit(self):
        """y = (t, t / 2) of StateSpace: along its slope, as a scalar would."""
        table = self.simulate("a=" + kit_fmu("StateSpace", "3"), "b=" + test_fmu("Mixed", "3"), "--connect", "a.y=b.w",
                              "--set", "a.n=1", "--set", "a.A=0", "--set", "a.B=1 0", "--set", "a.C=1 0.5", "--set", "a.D=0 0 0 0",
                              "--set", "a.x0=0", "--set", "a.u=1 0", "--interface", "me", "--coupling", "jacobi", "--control",
                              "fixed", "--extrapolate", "1", "--stop", "1", "--step", "0.125", "--rtol", "1e-8")
        # in the first step no slope is known
        self.assertAlmostEqual(table["b.x"][-1], 1, delta=0.125 ** 2 + 1e-6)
        self.assertAlmostEqual(table["b.x"][-1] - table["b.x"][1], 1 - 0.125 ** 2, delta=1e-6)


class StepEvents(ExchangeTest):
    """Restless asks for event mode after steps of the integrator, and nothing changes there (x'' = -x)."""

    def oscillate(self, version, solver, *options):
        step = ("--step", "0.001", "--output-step", "0.125") if solver in FIXED else ("--step", "0.125")
        _, unit = self.stats(test_fmu("Restless", version), "--solver", solver, "--rtol", "1e-6", "-o", "rows.csv", *step,
                             *options)
        with open(self.path("rows.csv"), encoding="utf-8") as file:
            table = Table(file.read())
        return {time: value for time, value in zip(table.times, table["x"])}, table["events"][-1], unit

    def assert_undisturbed(self, version, solver, *options):
        """... and the run takes no notice of it: not in its result, its steps or its restarts."""
        calm, none, before = self.oscillate(version, solver, "--set", "every=0")
        asked, events, after = self.oscillate(version, solver, *options)
        self.assertEqual(none, 0)
        self.assertGreaterEqual(events, after["solver_steps"] - 1)
        self.assertEqual((after["solver_steps"], after["solver_restarts"]), (before["solver_steps"], 0))
        self.assertLessEqual(after["rhs_evaluations"], before["rhs_evaluations"] + 2 * events)
        for time, value in calm.items():
            self.assertAlmostEqual(asked[time], value, delta=1e-12)
            self.assertAlmostEqual(value, math.cos(time), delta=0.02 if "euler" in solver else 1e-4)

    def test_events_that_change_nothing(self):
        for version in ME_VERSIONS:
            for solver in SOLVERS if version == "2" else ("cvode", "bdf", "rk4"):
                with self.subTest(version=version, solver=solver):
                    self.assert_undisturbed(version, solver)

    def test_changes_that_are_none(self):
        """The FMU says that its states, or their nominal values, are others, and they are not."""
        for what, solver in itertools.product(("1", "2"), ("cvode", "bdf", "radau5")):
            with self.subTest(what=what, solver=solver):
                self.assert_undisturbed("3", solver, "--set", f"what={what}")

    def test_state_events_begin_anew(self):
        """Behind one, the equations may be others, though no state is: no multistep method goes on with its past."""
        for version, solver in itertools.product(ME_VERSIONS, ("cvode", "adams", "bdf")):
            _, unit = self.stats(test_fmu("Ramp", version), "--set", "at=0.45", "--solver", solver, "--stop", "1")
            self.assertEqual(unit["solver_restarts"], 1)
        _, unit = self.stats(test_fmu("Ramp", "2"), "--set", "at=0.45", "--solver", "bdf", "--predictor", "proceed", "--stop", "1")
        self.assertEqual(unit["solver_restarts"], 0)

    def test_changes_that_nobody_tells(self):
        """A state that moves, or a derivative that is another one from then on, is seen."""
        for version, solver in itertools.product(ME_VERSIONS, CURVED):
            with self.subTest(version=version, solver=solver):
                first = ("--h-first", "1e-4") if solver == "ida" else ()  # its own is so short that seven steps lead nowhere
                rows, events, unit = self.oscillate(version, solver, "--set", "every=7", "--set", "what=3", "--stop", "0.5", *first)
                self.assertGreater(events, 0)
                self.assertGreaterEqual(unit["solver_restarts"], events - 1)
                self.assertGreater(rows[0.5], math.cos(0.5) + 0.008 * events)
        for solver in CURVED:
            with self.subTest(solver=solver):  # x'' = x0 - x from the event on, with x0 = -x at it: seen by all alike
                rows, _, _ = self.oscillate("2", solver, "--set", "every=1", "--set", "what=4", "--stop", "1")
                self.assertAlmostEqual(rows[1.0], math.cos(math.sqrt(2)), delta=2e-2)


if __name__ == "__main__":
    unittest.main()
