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


if __name__ == "__main__":
    unittest.main()
