#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs with the habits of real ones, which the standards leave open or forbid: a run must give the right result all the
same. `Habits` of the kit: x' = u from x = u + p, twice = 2 x, and a time event every 1/8 s, which count counts."""
import json
import pathlib
import platform
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import JACOBI, ME_VERSIONS, SOLVERS, CommandTest, Table, in_turn, kit_fmu, test_fmu  # noqa: E402

BOTH = [(version, interface) for version in ("2", "3") for interface in ("cs", "me")]
ALL = [("1cs", "cs"), ("1me", "me"), *BOTH]


class HabitTest(CommandTest):
    def run_habit(self, habit, version, interface, *options):
        """The result of a run, about which nobody may have been warned."""
        return self.simulate(kit_fmu("Habits", version), "--interface", interface, "--record", "*", *options,
                             env={"KIT_FAULT": habit})


class Events(HabitTest):
    def test_next_event_is_told_once(self):
        """In the first round of an event, or not at all by the initialisation of FMI 1.0."""
        for version in ME_VERSIONS:
            with self.subTest(version=version):
                table = self.run_habit("untold NewDiscreteStates|UpdateDiscreteStates|Initialize", version, "me")
                self.assertEqual(table["count"][-1], 8)


class Start(HabitTest):
    def test_values_are_forgotten(self):
        """fmi2SetupExperiment resets what was set before: it has to come first."""
        for interface in ("cs", "me"):
            with self.subTest(interface=interface):
                table = self.run_habit("forget SetupExperiment", "2", interface, "--set", "u=1", "--set", "p=3")
                self.assertEqual(table["p"][0], 3)
                self.assertEqual(table["x"][0], 4)

    def test_start_is_computed_before_the_initialisation_mode(self):
        """Settings and the first row of an input file count for the start all the same."""
        trajectory = self.write("input.csv", "time,u\n0,1\n1,1\n")
        for version, interface in BOTH:
            for options in (("--set", "u=1"), ("--input", trajectory)):
                with self.subTest(version=version, interface=interface, options=options):
                    table = self.run_habit("solve EnterInitializationMode", version, interface, "--set", "p=3", *options)
                    self.assertEqual(table["x"][0], 4)

    def test_start_is_computed_before_connections(self):
        """What is known of a connected output before anything is computed: its start value, or its setting."""
        for version in ("2", "3"):
            for start, options in ((7, ("--set", "a.x=7")), (1, ())):
                with self.subTest(version=version, start=start):
                    outcome = self.tutti("run", f"a={kit_fmu('Dahlquist', version)}", f"b={kit_fmu('Habits', version)}",
                                         "--connect", "a.x=b.u", "-o", "-", "--quiet", *options,
                                         env={"KIT_FAULT": "solve EnterInitializationMode"})
                    self.assertEqual(Table(outcome.out)["b.y"][0], start)

    def test_inputs_are_refused_before_the_initialisation_mode(self):
        """As FMI 2.0 allows: the FMU is reset, and gets its inputs later."""
        for version, interface in BOTH:
            with self.subTest(version=version, interface=interface):
                table = self.run_habit("strict SetReal|SetFloat64", version, interface, "--set", "u=1", "--set", "p=3")
                self.assertEqual(table["p"][0], 3)
                self.assertEqual(table["x"][0], 4)

    def test_values_are_not_told_before_the_initialisation_mode(self):
        trajectory = self.write("input.csv", "time,u\n0,1\n1,1\n")
        for interface in ("cs", "me"):
            with self.subTest(interface=interface):
                table = self.run_habit("unready GetFloat64", "3", interface, "--input", trajectory)
                self.assertEqual(table["x"][0], 1)


class Recording(HabitTest):
    def record_all(self, habit, version, interface, *options):
        """The result and the only warning."""
        outcome = self.tutti("run", kit_fmu("Habits", version), "--interface", interface, "--record", "*", "--log-level",
                             "warning", *options, env={"KIT_FAULT": habit})
        warning, = outcome.lines("warning")
        return self.result(), warning

    def test_input_that_cannot_be_read(self):
        """What the FMU was told is known all the same."""
        for version, interface in ALL:
            with self.subTest(version=version, interface=interface):
                table, warning = self.record_all("hide u", version, interface, "--set", "u=2")
                self.assertRegex(warning, "'u' cannot be read.* what the FMU was told")
                self.assertEqual(set(table["u"]), {2})
                self.assertAlmostEqual(table["x"][-1], 4)

    def test_connected_input_that_cannot_be_read(self):
        """What is connected is recorded as its source is, and not read."""
        for fabric in ((), ("--processes", "2")):
            with self.subTest(fabric=fabric):
                outcome = self.tutti("run", f"a={kit_fmu('Stair', '2')}", f"b={kit_fmu('Habits', '2')}", "--connect",
                                     "a.counter=b.u", "--stop", "3", "--step", "0.5", "--record", "*", *JACOBI, *fabric,
                                     env={"KIT_FAULT": "hide u"})
                self.assertEqual(outcome.lines("warning"), [])
                table = self.result()
                self.assertEqual(table["b.u"], table["a.counter"])

    def test_inputs_that_are_put_back(self):
        """Discrete inputs are set once more after the initialisation, though nothing changed since: y = n in Resetting."""
        trajectory = self.write("n.csv", "time,n\n0,7\n1,7\n")
        for version in ("1cs", "2", "3"):
            with self.subTest(version=version):
                table = self.simulate(test_fmu("Resetting", version), "--input", trajectory, "--step", "0.25", "--set", "p=0")
                self.assertEqual(table["y"][1:], [7] * 4)
                self.tutti("run", f"a={kit_fmu('Stair', version)}", f"b={test_fmu('Resetting', version)}", "--connect",
                           "a.counter+5=b.n", "--convert", "--stop", "0.5", "--step", "0.125", *JACOBI)
                self.assertEqual(self.result()["b.y"][1:], [5] * 4)

    def test_local_that_cannot_be_read(self):
        """The run goes on without it."""
        for version, interface in ALL:
            with self.subTest(version=version, interface=interface):
                table, warning = self.record_all("hide twice", version, interface)
                self.assertRegex(warning, "'twice' cannot be read.* not recorded")
                self.assertNotIn("twice", table.header)
                self.assertEqual(table["count"][-1], 8)

    def test_output_that_cannot_be_read(self):
        """Without outputs there is nothing to simulate for."""
        self.refused("run", kit_fmu("Habits", "2"), "--record", "*", status=1, env={"KIT_FAULT": "hide y"},
                     says="fmi2GetReal returned Error")


class Reading(HabitTest):
    """Outputs that follow only when derivatives are computed (OpenModelica 1.11 and 1.12). Faulty: y = x, x' = u - x, x(0) = 0."""

    LAG = {"KIT_FAULT": "lag GetReal|GetFloat64"}

    def test_rows(self):
        """Every row shows outputs and derivatives of its own time, for all solvers."""
        for version, solver in in_turn(ME_VERSIONS, SOLVERS):
            with self.subTest(version=version, solver=solver):
                table = self.simulate(kit_fmu("Faulty", version), "--interface", "me", "--solver", solver, "--step", "0.1", "--record", "*",
                                      env=self.LAG)
                self.assertEqual(table["y"], table["x"])
                self.assertEqual(table["der(x)"], [1 - x for x in table["x"]])

    def test_coupled(self):
        """Connected outputs, also where one solver has all units: a ring of two, x' = 1 - x, for 1 - x = x' of the other one."""
        for version in ("2", "3"):
            units = [f"{name}={kit_fmu('Faulty', version)}" for name in "ab"]
            for options in (("--coupling", "strong"), ("--coupling", "jacobi", "--step", "0.01")):
                with self.subTest(version=version, options=options):
                    runs = [self.tutti("run", *units, "--connect", "a.y*-1=b.u", "--connect", "b.y=a.u", "--set", "a.x=1", "--interface",
                                       "me", "--record", "*", "-o", "-", "--quiet", *options, env=env) for env in ({}, self.LAG)]
                    plain, lagging = (Table(run.out) for run in runs)
                    self.assertEqual(plain["b.y"], lagging["b.y"])
                    self.assertEqual(lagging["a.y"], lagging["a.x"])

    def test_derivatives_of_outputs(self):
        """Differences of outputs, as slopes of inputs need them."""
        for options in ((), ("--extrapolate", "2")):
            with self.subTest(options=options):
                runs = [self.tutti("run", f"a={kit_fmu('Faulty', '2')}", f"b={kit_fmu('Faulty', '2')}", "--connect", "a.y=b.u", "--interface",
                                   "me", "-o", "-", "--quiet", "--coupling", "jacobi", "--step", "0.05", *options, env=env).out
                        for env in ({}, self.LAG)]
                self.assertEqual(*runs)

    def test_trial(self):
        """`check --run` reports it; of an FMU without the habit it reports nothing."""
        for version in ME_VERSIONS:
            with self.subTest(version=version):
                outcome = self.tutti("check", "--run", kit_fmu("Faulty", version), env=self.LAG)
                self.assertRegex(outcome.out, r"warning: .*Model Exchange: 'y' at t = 0\.\d+ is 0\.\d+ when it is read, and 0\.\d+ once the "
                                              "FMU has computed its derivatives")
                self.assertNotIn("when it is read", self.tutti("check", "--run", kit_fmu("Faulty", version)).out)


class Features(HabitTest):
    """Features that an FMU claims and does not master can be left unused; the message says how."""

    def test_event_mode(self):
        fmu, fault = kit_fmu("Habits", "3"), {"KIT_FAULT": "error UpdateDiscreteStates"}
        for option in ("--no-event-mode", "--no-event-mode=Habits_fmi3"):
            self.refused("run", fmu, status=1, env=fault, says="UpdateDiscreteStates returned Error.*"
                                                               "do without: --no-event-mode=Habits_fmi3")
            self.assertEqual(self.simulate(fmu, option, env=fault)["count"][-1], 8)

    def test_event_mode_of_one_unit(self):
        """The other one keeps its own; on every fabric."""
        fault = {"KIT_FAULT": "error UpdateDiscreteStates @b"}
        units = [f"{name}={kit_fmu('Habits', '3')}" for name in "ab"]
        results = [self.tutti("run", *units, "--no-event-mode=b", "-o", "-", "--quiet", *fabric, env=fault).out
                   for fabric in ((), ("--threads", "2"), ("--processes", "2"))]
        self.assertEqual(len(set(results)), 1)
        self.assertEqual(Table(results[0])["b.count"][-1], 8)

    def test_directional_derivatives(self):
        fmu = kit_fmu("VanDerPol", "2")
        for option, used in (((), True), (("--no-directional-derivatives",), False),
                             (("--no-directional-derivatives=VanDerPol_fmi2",), False)):
            outcome = self.tutti("run", fmu, "--solver", "radau5", "--stats", "-", "--quiet", *option)
            self.assertEqual(json.loads(outcome.out)["units"][0]["directional_derivatives"] > 0, used, option)

    def test_wrong_derivatives_in_a_loop(self):
        """a.y = 1 - 3 b.y, b.y = a.y: the first one's derivatives say that its output follows nothing."""
        system = ("--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.factor=-3", "--set", "a.offset=1",
                  "--set", "b.factor=1", "-o", "result.csv")
        for version in ("2", "3"):
            units = f"a={test_fmu('LyingRelation', version)}", f"b={test_fmu('Relation', version)}"
            for options in ((), ("--processes", "2"), ("--coupling", "jacobi", "--correct")):
                with self.subTest(version=version, options=options):
                    outcome = self.tutti("run", *units, *system, *options)
                    self.assertRegex("\n".join(outcome.lines("warning")), "^tutti: warning: a: the FMU's directional "
                                     "derivatives are wrong: at t = 0 one of an output by an input is 0, and -3 by "
                                     "differences.*--no-directional-derivatives=a [^\n]*$")
                    self.assertTrue(all(abs(y - 0.25) < 1e-9 for y in self.result()["b.y"]))
            self.tutti("run", *units, *system, "--no-directional-derivatives=a", "--quiet")

    def test_unknown_unit(self):
        for option in ("--no-event-mode", "--no-directional-derivatives", "--no-stop-time"):
            self.refused("run", kit_fmu("Habits", "3"), f"{option}=Habit_fmi3", status=2,
                         says="no unit 'Habit_fmi3'; did you mean 'Habits_fmi3'")

    def test_annotation(self):
        """An SSP says it for a component."""
        fault = {"KIT_FAULT": "error UpdateDiscreteStates"}
        self.tutti("new", self.path("system.ssp"), f"a={kit_fmu('Habits', '3')}")
        self.tutti("run", self.path("system.ssp"), status=1, env=fault)
        for name, option in (("all.ssp", "--no-event-mode"), ("one.ssp", "--no-event-mode=a")):
            self.tutti("new", self.path(name), f"a={kit_fmu('Habits', '3')}", option)
            self.tutti("run", self.path(name), env=fault)


class StopTime(HabitTest):
    """FMUs whose first step integrates to the stop time: an error, not a constant."""

    RUSH = {"KIT_FAULT": "rush DoStep"}
    DRIVEN = ("--set", "u=1", "--interface", "cs", "--step", "0.0625")

    def test_the_message_and_what_it_says(self):
        for version in ("1cs", "2", "3"):
            with self.subTest(version=version):
                fmu = kit_fmu("Habits", version)
                name = pathlib.Path(fmu).stem
                self.refused("run", fmu, *self.DRIVEN, status=1, env=self.RUSH,
                             says=f"{name}: the FMU integrates to the stop time in its first step: '[xy]' is (2|1.125) at t = 0.0625 and constant after that.*"
                                  f"use --no-stop-time={name}")
                expected = self.simulate(fmu, *self.DRIVEN)
                for option in ("--no-stop-time", f"--no-stop-time={name}"):
                    self.assertEqual(self.simulate(fmu, *self.DRIVEN, option, env=self.RUSH)["y"], expected["y"])

    def test_in_a_system(self):
        """One unit, whose input is what moves it; also where steps are rolled back, and in a separate process."""
        fault = {"KIT_FAULT": "rush DoStep @b"}
        units = [f"{name}={kit_fmu('Habits', '2')}" for name in "ab"]
        system = (*units, "--connect", "a.y=b.u", "--set", "a.p=1", "--interface", "cs", "--no-event-mode")
        for options in ((), ("--control", "richardson"), ("--rollback", "fork", "--control", "richardson"), ("--processes", "2")):
            with self.subTest(options=options):
                outcome = self.tutti("run", *system, *options, status=1, env=fault)
                self.assertRegex("".join(outcome.lines("error")), "b: the FMU integrates to the stop time.*'x' is.*--no-stop-time=b")
                self.assertAlmostEqual(self.simulate(*system, *options, "--no-stop-time=b", env=fault)["b.y"][-1], 2)

    def test_what_stands_still_for_another_reason(self):
        """Stair steps on an internal grid: no report for it, nor for an output that is constant after the first step."""
        for step in ("0.01", "0.03"):
            self.assertEqual(self.tutti("run", kit_fmu("Stair", "2"), "--step", step, "--quiet", "-o", "result.csv").err, "")

    def test_in_a_file_and_on_trial(self):
        self.tutti("new", self.path("one.ssp"), f"a={kit_fmu('Habits', '2')}", "--set", "a.u=1", "--no-stop-time=a", "--interface", "cs")
        self.tutti("run", self.path("one.ssp"), env=self.RUSH)
        self.tutti("new", self.path("two.ssp"), f"a={kit_fmu('Habits', '2')}", "--set", "a.u=1", "--interface", "cs")
        outcome = self.tutti("check", "--run", self.path("two.ssp"), status=1, env=self.RUSH)
        self.assertRegex(outcome.out, "error: .*integrates to the stop time in its first step")

    def test_both_interfaces_on_trial(self):
        """An FMU that can be made once only is not looked at beside the run; its two interfaces are compared."""
        fmu = kit_fmu("Faulty", "2")
        self.assertRegex(self.tutti("check", "--run", fmu).err, "Co-Simulation and Model Exchange agree over 11 points: 'y' is farthest apart")
        once = self.altered(fmu, ("<CoSimulation ", '<CoSimulation canBeInstantiatedOnlyOncePerProcess="true" '))
        self.assertRegex(self.tutti("check", "--run", once, env=self.RUSH).out, "warning: .*Co-Simulation and Model Exchange differ: 'y' by 0.*of its "
                         "range on average; at t = 0.1 it is .*, and .* by Model Exchange")


class Processor(HabitTest):
    @unittest.skipUnless(platform.machine() == "x86_64", "the kit knows the modes of this processor only")
    def test_flush_to_zero(self):
        """What an FMU does to the processor is not for all others: tiny numbers stay what they are."""
        trajectory = self.write("input.csv", "time,u\n0,0\n1,2e-310\n")
        for call in ("Load", "Instantiate"):
            with self.subTest(call=call):
                table = self.run_habit(f"flush {call}", "3", "me", "--input", trajectory, "--output-step", "0.5")
                self.assertEqual(table["u"][-1], 2e-310)
                self.assertIn(1e-310, table["u"])

    def run_beside(self, habit, version, interface, *options):
        """Unit b, with numbers of any size, beside a unit a that has the habit; the result, and warnings."""
        outcome = self.tutti("run", f"a={kit_fmu('Habits', version)}", f"b={kit_fmu('Habits', version)}", "--interface",
                             interface, "--set", "a.u=0.1", "--set", "b.u=3e-310", "--set", "b.p=0", *JACOBI, "--step",
                             "0.0625", "-o", "-", *options, env={"KIT_FAULT": habit})
        return outcome.out, outcome.lines("warning")

    def test_modes_do_not_reach_other_units(self):
        """Rounding and flush-to-zero that a call leaves: the same bits as without, in every way to make steps, and one
        warning, of that unit."""
        habits = ["round"] + ["flush"] * (platform.machine() == "x86_64")
        for version, interface in ALL:
            calls = "DoStep" if interface == "cs" else "GetDerivatives|GetContinuousStateDerivatives"
            plain, _ = self.run_beside("", version, interface)
            self.assertIn("e-310", plain)
            for habit in habits:
                for options in ((), ("--stats-exact",), ("--threads", "2")):
                    with self.subTest(version=version, interface=interface, habit=habit, options=options):
                        result, warnings = self.run_beside(f"{habit} {calls} @a", version, interface, *options)
                        self.assertEqual(result, plain)
                        self.assertEqual(len(warnings), 1, warnings)
                        self.assertRegex(warnings[0], f"a: fmi\\d?({calls}) changes a floating-point mode.*(rounding|flush)")

    @unittest.skipUnless(platform.machine() == "x86_64", "the kit knows the modes of this processor only")
    def test_modes_at_load_are_told(self):
        _, warnings = self.run_beside("flush Load", "2", "cs")
        self.assertEqual(len(warnings), 1, warnings)
        self.assertRegex(warnings[0], "Habits_fmi2.fmu: the FMU's library changes a floating-point mode .* -Ofast")

    def test_locale(self):
        """Nor is its locale: numbers have a decimal point everywhere."""
        outcome = self.tutti("run", kit_fmu("Habits", "2"), "--stats", "-", "--log-level", "info",
                             env={"KIT_FAULT": "locale Instantiate", **self.german()})
        self.assertIsInstance(json.loads(outcome.out)["loop_seconds"], float)
        self.assertNotRegex(outcome.err, r"\d,\d+ [mu]?s\b")
        self.assertRegex(outcome.err, r"took +\S+ [mu]?s")


if __name__ == "__main__":
    unittest.main()
