#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs with the habits of real ones, which the standards leave open or forbid: a run must give the right result all the
same. `Habits` of the kit: x' = u from x = u + p, twice = 2 x, and a time event every 1/8 s, which count counts."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import ME_VERSIONS, CommandTest, kit_fmu  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
