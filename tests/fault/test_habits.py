#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs with the habits of real ones, which the standards leave open or forbid: a run must give the right result all the
same. `Habits` of the kit: x' = u from x = u + p, twice = 2 x, and a time event every 1/8 s, which count counts."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import ME_VERSIONS, CommandTest, Table, kit_fmu  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
