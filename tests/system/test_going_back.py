#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Units that are taken back: what they are told about it, and what becomes of those that do not come back as they were."""
import unittest

from command import kit_fmu
from systems import CoupledTest, connect

FAULTY = {version: kit_fmu("Faulty", version) for version in ("2", "3")}


def ring(version):
    """Two units in a ring, which is at rest at 1."""
    unit = FAULTY[version]
    return f"a={unit}", f"b={unit}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=2", "--stop", "1", "--step", "0.1"


class Prior(CoupledTest):
    """noSetFMUStatePriorToCurrentPoint: some FMUs do not move on while it is false."""

    def test_going_back_to_the_start_of_a_step(self):
        for version in FAULTY:
            for options in (("--coupling", "relax"), ("--control", "converge"), ("--events", "early")):
                with self.subTest(version=version, options=options):
                    plain = self.run_(*ring(version), *options)
                    self.assertNotEqual(plain["a.y"][-1], 2)
                    stubborn = self.run_(*ring(version), *options, env={"KIT_FAULT": "stay DoStep"})
                    self.assertEqual(stubborn.rows, plain.rows)


    def test_going_back_further(self):
        """Two halves of a step lead beyond the start of the second. Units that do not stand that are not told."""
        for version in FAULTY:
            for control in ("richardson", "embedded"):
                with self.subTest(version=version, control=control):
                    plain = self.run_(*ring(version), "--control", control)
                    stubborn = self.run_(*ring(version), "--control", control, env={"KIT_FAULT": "stay DoStep"})
                    self.assertEqual(stubborn.rows, plain.rows)


class Forgetting(CoupledTest):
    """Units whose saved state is incomplete."""

    FORGET = {"KIT_FAULT": "forget SetFMUstate|SetFMUState @b"}
    WARNING = r"warning: b: the FMU does not come back to a state that it saved .*'y' at t = 0.1 is another.*cannot go back"

    def test_auto_chooses_something_else(self):
        """Two units in an algebraic loop were iterated, and steps of unequal size controlled, to a wrong result."""
        for version in FAULTY:
            units = ring(version)[:-2]
            fixed = self.run_(*units, "--control", "fixed", "--events", "none", "--step", "0.1")
            outcome = self.tutti("run", *units, "--rtol", "1e-3", "-o", self.path("result.csv"), "--stats",
                                 self.path("stats.json"), env=self.FORGET)
            self.assertRegex(outcome.err, self.WARNING)
            self.assertEqual(outcome.err.count("does not come back"), 1)
            self.assertEqual(self.stats()["control"], "fixed")
            self.assertEqual(self.stats()["units"][1]["rollbacks"], 0)
            self.assertEqual(self.result().rows, fixed.rows)

    def test_what_was_asked_for_is_refused(self):
        for version in FAULTY:
            for options, instead in ((("--coupling", "relax"), "--coupling seidel"),
                                     (("--control", "richardson"), "--control fixed or quantum"),
                                     (("--events", "early"), "--events none")):
                outcome = self.tutti("run", *ring(version), *options, "-o", self.path("none.csv"), "--quiet", status=1,
                                     env=self.FORGET)
                self.assertRegex(outcome.err, r"error: .*takes units back, and 'b' \(.*it does not come back to a state "
                                              rf"that it saved; use {instead}")

    def test_on_ranks(self):
        """The unit's rank finds out, and all choose alike."""
        units = ring("2")[:-2] + ("--rtol", "1e-3")
        results = []
        for where in ((), ("--threads", "2"), ("--processes", "2")):
            outcome = self.tutti("run", *units, *where, "-o", "-", env=self.FORGET)
            self.assertEqual(outcome.err.count("does not come back"), 1)
            results.append(outcome.out)
        self.assertEqual(results[1:], results[:1] * 2)

    def test_units_that_keep_their_word(self):
        """The trial leaves no trace, not even in the counts."""
        for version in FAULTY:
            for where in ((), ("--threads", "2")):
                _, stats, units = self.with_stats(*ring(version), "--coupling", "relax", *where)
                self.assertEqual(units["a"]["do_steps"], stats["iterations"])


if __name__ == "__main__":
    unittest.main()
