#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Model Exchange FMU that misbehaves: derivatives that are no numbers or cannot be computed, calls that fail.

A point without a value makes the solver try another one. Where there is no way round, and after Error and Fatal, the run
ends with one message that names instance, FMI function or state, solver and time, and keeps all rows before."""
import itertools
import json
import math
import pathlib
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import ME_VERSIONS, CommandTest, Table, in_turn, kit_fmu, test_fmu  # noqa: E402

VARIABLE = ("cvode", "adams", "switch", "dopri5", "dopri8", "dirk", "radau5", "rodas", "bdf", "ida")
FIXED = ("rk4", "heun", "euler", "implicit_euler")
IMPLICIT = ("cvode", "dirk", "radau5", "rodas", "bdf")
PREFIX = {"1me": "fmi", "2": "fmi2", "3": "fmi3"}
DERIVATIVES = {"1me": "GetDerivatives", "2": "GetDerivatives", "3": "GetContinuousStateDerivatives"}
BEFORE = {  # calls before the first row, beside those that Co-Simulation has, too
    "1me": ("Initialize", "GetContinuousStates", "GetNominalContinuousStates", "SetTime", "GetEventIndicators"),
    "2": ("EnterInitializationMode", "ExitInitializationMode", "NewDiscreteStates", "GetContinuousStates",
          "GetNominalsOfContinuousStates", "EnterContinuousTimeMode", "SetTime", "GetEventIndicators"),
    "3": ("EnterInitializationMode", "ExitInitializationMode", "GetNumberOfContinuousStates", "UpdateDiscreteStates",
          "GetContinuousStates", "GetNominalsOfContinuousStates", "EnterContinuousTimeMode", "SetTime",
          "GetEventIndicators"),
}
DURING = {  # ... of every step
    version: ("SetTime", "SetContinuousStates", DERIVATIVES[version], "GetEventIndicators", "CompletedIntegratorStep")
    for version in ME_VERSIONS}
AT_EVENTS = {"1me": ("EventUpdate", "GetContinuousStates"),
             "2": ("EnterEventMode", "NewDiscreteStates", "GetContinuousStates", "EnterContinuousTimeMode"),
             "3": ("EnterEventMode", "UpdateDiscreteStates", "GetContinuousStates", "EnterContinuousTimeMode")}
WORDS = {"error": "returned Error", "fatal": "returned Fatal"}
HALF = 0.5  # when faults happen, of runs from 0 to 1


class ExchangeFaults(CommandTest):
    def setUp(self):
        super().setUp()
        # After Fatal an FMU may not be called, not even to release its memory.
        leaks = self.write("leaks.txt", "leak:Faulty.so\nleak:Ramp.so\n")
        self.leaks = f"suppressions={leaks}:print_suppressions=0"

    def environment(self, **extra):
        return super().environment(LSAN_OPTIONS=self.leaks, **extra)

    def misbehave(self, fmu, fault, *options, status=0):
        """A run from 0 to 1 in steps of 0.125, its rows on standard output."""
        return self.tutti("run", fmu, "--interface", "me", "--stop", "1", "--step", "0.125", "-o", "-", "--quiet", *options,
                          env={"KIT_FAULT": fault}, status=status)

    def message(self, outcome, version, model):
        """The one message of a run that failed, besides what the FMU itself had to say."""
        own = re.compile(rf"tutti: (error|warning): {model}_fmi{version}: ")
        message, = [line for line in outcome.err.splitlines() if line.strip() and not own.match(line)]
        self.assertRegex(message, rf"^tutti: error: .*{model}_fmi{version} \(")
        self.assertEqual(message.count(f"{model}_fmi{version} ("), 1)  # named once
        return message

    # ---- points without a value: Faulty, x' = 1 - x

    def stumble(self, version, fault, solver):
        """A run that goes on after a fault; what the solver had to give up."""
        outcome = self.misbehave(kit_fmu("Faulty", version), fault, "--solver", solver, "--rtol", "1e-6", "--stats",
                                 "stats.json")
        table = Table(outcome.out)
        self.assertEqual(table.times, [n * 0.125 for n in range(9)])
        self.assert_near(table["y"], [1 - math.exp(-t) for t in table.times], 1e-4)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return json.load(file)["units"][0]["solver_other_failures"]

    def test_a_single_point_without_a_value(self):
        """The step is made smaller, and the run goes on."""
        for version, solver, kind in in_turn(ME_VERSIONS, VARIABLE, ("nan", "discard", "slip")):
            with self.subTest(version=version, solver=solver, kind=kind):
                failures = self.stumble(version, f"{kind} {DERIVATIVES[version]} {HALF}", solver)
                self.assertGreaterEqual(failures, 1)

    def test_states_that_are_refused_once(self):
        for version, solver in in_turn(ME_VERSIONS, VARIABLE):
            with self.subTest(version=version, solver=solver):
                self.assertGreaterEqual(self.stumble(version, f"discard SetContinuousStates {HALF}", solver), 1)

    def test_no_value_from_a_time_on(self):
        """Step after step is tried up to there, and then there is a message."""
        says = {"nan": "derivative of 'x' is not a finite number at t = 0.5", "discard": "the FMU discarded the point at t = 0.5",
                "slip": "{function} returned Error at t = 0.5"}
        for version, solver, kind in in_turn(ME_VERSIONS, VARIABLE, list(says)):
            with self.subTest(version=version, solver=solver, kind=kind):
                outcome = self.misbehave(kit_fmu("Faulty", version), f"{kind} {DERIVATIVES[version]} {HALF}+",
                                         "--solver", solver, status=1)
                message = self.message(outcome, version, "Faulty")
                self.assertRegex(message, rf"solver {solver} cannot go on from t = (0\.49999|0\.5)")
                self.assertIn("'x'", message)
                self.assertIn(says[kind].format(function=PREFIX[version] + DERIVATIVES[version]), message)
                table = Table(outcome.out)
                self.assertIn(table.times[-1], (0.375, 0.5))
                self.assert_near(table["y"], [1 - math.exp(-t) for t in table.times], 1e-3)

    def test_errors_of_points_that_were_tried(self):
        """The user is told once, and in the end what the FMU said."""
        for version in ME_VERSIONS:
            function = PREFIX[version] + DERIVATIVES[version]
            for time, status in ((HALF, 0), (f"{HALF}+", 1)):
                outcome = self.tutti("run", kit_fmu("Faulty", version), "--solver", "bdf", "--stop", "1", "-o", "-",
                                     env={"KIT_FAULT": f"slip {DERIVATIVES[version]} {time}"}, status=status)
                warning, = [line for line in outcome.lines("warning") if "returned Error" in line]
                self.assertRegex(warning, rf"{function} returned Error at t = 0\.5\d*, a point that was tried")
                if status:
                    self.assertIn(f"fault: {DERIVATIVES[version]} slips at t = 0.5", outcome.lines("error")[-1])

    def test_an_error_that_is_meant(self):
        """The kit's FMUs do as FMI says: after Error they refuse whatever comes next."""
        for version, solver in in_turn(ME_VERSIONS, VARIABLE):
            outcome = self.misbehave(kit_fmu("Faulty", version), f"error {DERIVATIVES[version]} {HALF}", "--solver", solver,
                                     status=1)
            message = self.message(outcome, version, "Faulty")
            self.assertRegex(message, rf"{PREFIX[version]}{DERIVATIVES[version]} returned Error at t = 0\.5")
            self.assertRegex(message, rf"but {PREFIX[version]}\w+ returned Error then: this FMU cannot go on")

    def test_no_value_at_all(self):
        for version, solver, kind in in_turn(ME_VERSIONS, VARIABLE + FIXED, ("nan", "discard", "slip")):
            outcome = self.misbehave(kit_fmu("Faulty", version), f"{kind} {DERIVATIVES[version]}", "--solver", solver, status=1)
            message = self.message(outcome, version, "Faulty")
            self.assertRegex(message, rf"solver {solver} cannot go on from t = 0:")
            self.assertEqual(Table(outcome.out).times, [0])

    def test_fixed_steps_cannot_be_made_smaller(self):
        for version, solver, kind in in_turn(ME_VERSIONS, FIXED, ("nan", "discard")):
            outcome = self.misbehave(kit_fmu("Faulty", version), f"{kind} {DERIVATIVES[version]} {HALF}+", "--solver", solver,
                                     status=1)
            message = self.message(outcome, version, "Faulty")
            self.assertRegex(message, rf"solver {solver} cannot go on .*steps are of a fixed size")
            self.assertIn("'x'", message)
            self.assertIn(Table(outcome.out).times[-1], (0.375, 0.5))

    def test_states_that_were_reached_and_are_refused(self):
        """The solver was there: nothing helps."""
        for version in ME_VERSIONS:
            for call in ("SetTime", "SetContinuousStates"):
                outcome = self.misbehave(kit_fmu("Faulty", version), f"discard {call} {HALF}+", status=1)
                message = self.message(outcome, version, "Faulty")
                self.assertRegex(message, r"the FMU discard\w+ the (states|point) at t = 0\.(4|5)")
                self.assertEqual(Table(outcome.out).times[0], 0)

    # ---- directional derivatives that are none: Wave, x' = -x. Differences take their place, and the user is told once

    def replaced(self, model, version, says, *options, fault=""):
        outcome = self.tutti("run", test_fmu(model, version), "--interface", "me", "--stop", "1", "--step", "0.125", "--rtol",
                             "1e-6", "-o", "-", "--stats", "stats.json", *options, env={"KIT_FAULT": fault})
        table = Table(outcome.out)
        self.assert_near(table["x"], [math.exp(-t) for t in table.times], 1e-4)
        warning, = [line for line in outcome.lines("warning") if "directional" in line.lower()]
        self.assertRegex(warning, says)
        self.assertRegex(warning, "Differences take the place of the FMU's directional derivatives")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            unit, = json.load(file)["units"]
        self.assertLessEqual(unit["directional_derivatives"], 1)
        self.assertGreaterEqual(unit["jacobian_evaluations"], 1)

    def test_directional_derivatives_that_are_none(self):
        wrong = "are wrong: at t = 0\\S* that of the derivative of 'x' is 3, and -1 by differences"
        faults = (("BrokenWave", "", "a directional derivative is not a finite number"), ("LyingWave", "", wrong),
                  ("FaultyWave", "slip GetDirectionalDerivative", "GetDirectionalDerivative returned Error at t = 0"),
                  ("FaultyWave", "discard GetDirectionalDerivative", "GetDirectionalDerivative returned Discard"))
        for version, solver, (model, fault, says) in in_turn(("2", "3"), IMPLICIT, faults):
            with self.subTest(version=version, solver=solver, model=model, fault=fault):
                self.replaced(model, version, says, "--solver", solver, fault=fault)
        for version, solver, mode in in_turn(("2", "3"), IMPLICIT, ("sparse", "dense", "plain")):
            self.replaced("FaultyWave", version, "returned Error", "--solver", solver, "--jacobian", mode,
                          fault="slip GetDirectionalDerivative")
        table = Table(self.misbehave(test_fmu("BrokenWave", "2"), "", "--solver", "dopri5").out)
        self.assert_near(table["x"], [math.exp(-t) for t in table.times], 1e-3)

    def test_directional_derivatives_that_are_right(self):
        for version, solver in itertools.product(("2", "3"), IMPLICIT):
            outcome = self.tutti("run", test_fmu("Wave", version), "--solver", solver, "--stats", "stats.json", "-o", "-")
            self.assertEqual(outcome.lines("warning"), [])
            with open(self.path("stats.json"), encoding="utf-8") as file:
                self.assertGreaterEqual(json.load(file)["units"][0]["directional_derivatives"], 1)

    def test_directional_derivatives_of_a_strict_fmu(self):
        for version in ("2", "3"):
            outcome = self.misbehave(test_fmu("FaultyWave", version), "error GetDirectionalDerivative", "--solver", "cvode",
                                     status=1)
            message = self.message(outcome, version, "FaultyWave")
            self.assertRegex(message, r"GetDirectionalDerivative returned Error at t = 0.* this FMU cannot go on after an Error")

    def test_linearize_without_directional_derivatives(self):
        for version in ("2", "3"):
            for model, fault in (("FaultyWave", "slip GetDirectionalDerivative"), ("LyingWave", ""), ("BrokenWave", "")):
                with self.subTest(version=version, model=model):
                    outcome = self.tutti("linearize", test_fmu(model, version), "-o", "linear.json",
                                         env={"KIT_FAULT": fault})
                    with open(self.path("linear.json"), encoding="utf-8") as file:
                        linear = json.load(file)
                    self.assertAlmostEqual(linear["A"]["values"][0], -1, delta=1e-6)
                    self.assertIn("Differences take the place", outcome.err)

    def test_loops_without_directional_derivatives(self):
        """The start of a loop, and --correct."""
        def run(model, version, interface, fault, *options):
            outcome = self.tutti("run", "a=" + test_fmu(model, version), "b=" + test_fmu(model, version), "--connect",
                                 "a.swing=b.u", "--connect", "b.swing=a.u", "--stop", "0.5", "--step", "0.125", "--interface",
                                 interface, "--coupling", "jacobi", "-o", "-", *options, env={"KIT_FAULT": fault})
            return Table(outcome.out), outcome.lines("warning")
        for version, interface, correct in itertools.product(("2", "3"), ("me", "cs"), ((), ("--correct",))):
            with self.subTest(version=version, interface=interface, correct=correct):
                expected, _ = run("Wave", version, interface, "", *correct)
                table, warnings = run("FaultyWave", version, interface, "slip GetDirectionalDerivative", *correct)
                self.assert_near(table["a.x"], expected["a.x"], 1e-6)
                if any("Directional" in line for line in warnings):
                    self.assertEqual(len([line for line in warnings if "Differences take" in line]), 2)

    # ---- calls that fail: Ramp, x' = 1, with an event at HALF

    def failing(self, version, fault, call, says, *options, rows):
        outcome = self.misbehave(test_fmu("Ramp", version), fault, "--set", f"at={HALF}", *options, status=1)
        message = self.message(outcome, version, "Ramp")
        for pattern in (rf"\b{PREFIX[version]}{call}\b", *says):
            self.assertRegex(message, pattern)
        self.assertNotIn("nan", message)
        times = Table(outcome.out).times if outcome.out else []
        self.assertEqual(times, [n * 0.125 for n in range(len(times))])
        self.assertIn(len(times), rows)

    def test_error_and_fatal_before_the_first_row(self):
        for version, calls in BEFORE.items():
            for call, (kind, word) in itertools.product(calls, WORDS.items()):
                with self.subTest(version=version, call=call, kind=kind):
                    self.failing(version, f"{kind} {call}", call, [word, f"fault: {call} fails", "t = 0"], rows=[0])

    def test_error_and_fatal_in_every_step(self):
        for version, calls in DURING.items():
            for solver, call, (kind, word) in in_turn(("cvode", "bdf", "radau5", "dopri5", "rk4"), calls, list(WORDS.items())):
                with self.subTest(version=version, call=call, kind=kind, solver=solver):
                    self.failing(version, f"{kind} {call} 0.3", call, [word, f"fault: {call} fails", r"t = 0\.[3-9]"],
                                 "--solver", solver, rows=range(1, 5))

    def test_error_and_fatal_at_an_event(self):
        """The row before the event is there."""
        for version, calls in AT_EVENTS.items():
            for call, (kind, word) in itertools.product(calls, WORDS.items()):
                with self.subTest(version=version, call=call, kind=kind):
                    self.failing(version, f"{kind} {call} 0.3", call, [word, f"fault: {call} fails", r"t = 0\.5"],
                                 rows=[5])

    def test_discard_of_what_cannot_be_discarded(self):
        for version, calls in AT_EVENTS.items():
            for call in calls:
                with self.subTest(version=version, call=call):
                    self.failing(version, f"discard {call} 0.3", call, ["returned Discard", r"t = 0\.5"], rows=[5])
            self.failing(version, "discard CompletedIntegratorStep 0.3", "CompletedIntegratorStep", ["returned Discard"],
                         rows=range(1, 5))

    def test_indicators_that_are_discarded(self):
        for version in ME_VERSIONS:
            outcome = self.misbehave(test_fmu("Ramp", version), "discard GetEventIndicators 0.3", status=1)
            message = self.message(outcome, version, "Ramp")
            self.assertRegex(message, r"event indicator .* has no value at t = 0\.[3-9]")

    def test_indicators_behind_an_event(self):
        """At the end of a step they have no value, because there should have been an event on the way."""
        for version, kind in itertools.product(ME_VERSIONS, ("slip", "discard")):
            with self.subTest(version=version, kind=kind):
                outcome = self.misbehave(test_fmu("Ramp", version), f"{kind} GetEventIndicators 0.47", "--set", "at=0.45",
                                         "--set", "what=1", "--set", "back=-1", "--solver", "rk4")
                table = Table(outcome.out)
                self.assertEqual(table["events"][-1], 1)
                self.assertAlmostEqual(table["x"][-1], -0.45, delta=1e-9)

    def test_indicators_that_are_no_numbers(self):
        for version, what in itertools.product(ME_VERSIONS, (8, 9)):  # NaN, infinite
            outcome = self.misbehave(test_fmu("Ramp", version), "", "--set", f"at={HALF}", "--set", f"what={what}", status=1)
            message = self.message(outcome, version, "Ramp")
            name = "'to_go'" if version == "3" else "1 of 1"
            self.assertRegex(message, rf"event indicator {name} has no value at t = 0\.[5-9]")

    def test_crashes(self):
        for version in ME_VERSIONS:
            for call in (*DURING[version], *AT_EVENTS[version]):
                with self.subTest(version=version, call=call):
                    outcome = self.misbehave(test_fmu("Ramp", version), f"crash {call} 0.3", "--set", f"at={HALF}",
                                             status=1)
                    message = self.message(outcome, version, "Ramp")
                    for pattern in ("crash", "SIGSEGV", rf"\b{PREFIX[version]}{call}\b", r"t = 0\.[3-9]"):
                        self.assertRegex(message, pattern)
                    self.assertIn(len(Table(outcome.out)), range(1, 6))

    def test_warnings_change_nothing(self):
        for version in ME_VERSIONS:
            expected = self.misbehave(test_fmu("Ramp", version), "", "--set", f"at={HALF}").out
            for call in (*DURING[version], *AT_EVENTS[version]):
                with self.subTest(version=version, call=call):
                    outcome = self.tutti("run", test_fmu("Ramp", version), "--interface", "me", "--stop", "1", "--step",
                                         "0.125", "-o", "-", "--set", f"at={HALF}", env={"KIT_FAULT": f"warning {call}"})
                    said = [line for line in outcome.lines("warning") if "returned Warning" in line and "times" not in line]
                    self.assertEqual(len(said), 1)
                    self.assertIn(f"{PREFIX[version]}{call}", said[0])
                    self.assertEqual(outcome.out, expected)


if __name__ == "__main__":
    unittest.main()
