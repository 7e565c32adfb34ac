#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Units that are taken back: what they are told about it, and what becomes of those that do not come back as they were."""
import unittest

from command import kit_fmu, test_fmu
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
    """Units whose saved state is incomplete, and that are not to be taken back otherwise (test_rollback.py)."""

    FORGET = {"KIT_FAULT": "lose SetFMUstate|SetFMUState @b"}
    WARNING = r"warning: b: the FMU does not come back to a state that it saved .*'y' at t = 0.1 is another.*cannot go back"

    def test_auto_chooses_something_else(self):
        """Two units in an algebraic loop were iterated, and steps of unequal size controlled, to a wrong result."""
        for version in FAULTY:
            units = ring(version)[:-2]
            fixed = self.run_(*units, "--control", "fixed", "--events", "none", "--step", "0.1")
            outcome = self.tutti("run", *units, "--rtol", "1e-3", "--rollback", "fmu", "-o", self.path("result.csv"), "--stats",
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
                outcome = self.tutti("run", *ring(version), *options, "--rollback", "fmu", "-o", self.path("none.csv"),
                                     "--quiet", status=1, env=self.FORGET)
                self.assertRegex(outcome.err, r"error: .*takes units back, and 'b' \(.*it does not come back to a state "
                                              rf"that it saved; use --rollback auto, {instead}")

    def test_on_ranks(self):
        """The unit's rank finds out, and all choose alike."""
        units = ring("2")[:-2] + ("--rtol", "1e-3", "--rollback", "fmu")
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


class News(CoupledTest):
    """A unit in event mode that comes back at once, because its input is another than at the last event."""

    UNITS = f"s={test_fmu('Follower', '2')}", f"f={test_fmu('Fussy', '3')}", *connect("s.x=f.u"), "--set", "s.u=1", \
        "--stop", "1", "--interface", "cs"

    def test_the_run_moves_on(self):
        """It went on in steps of 1e-5 of a step, without a word, and would have taken days."""
        for options in (("--step", "0.01"), ("--step", "0.01", "--coupling", "relax"), ("--rtol", "1e-3")):
            with self.subTest(options=options):
                table, stats, _ = self.with_stats(*self.UNITS, "--events", "early", *options)
                plain = self.run_(*self.UNITS, "--events", "none", *options)
                self.assertLess(stats["steps"], 300)
                self.assertAlmostEqual(table["f.x"][-1], plain["f.x"][-1], delta=1e-2)

    def test_units_that_do_not_come_back(self):
        """Event mode without early return: what is announced needs no saved states."""
        fussy = test_fmu("Fussy", "3")
        patient = self.altered(fussy, (' mightReturnEarlyFromDoStep="true"', ""))
        for fmu, events in ((fussy, "early"), (patient, "none")):
            _, stats, _ = self.with_stats(self.UNITS[0], f"f={fmu}", *self.UNITS[2:], "--step", "0.1")
            self.assertEqual(stats["events"], events)


class Cost(CoupledTest):
    def test_where_the_time_went(self):
        units = ring("2")[:-2] + ("--step", "0.001", "--coupling", "seidel", "--events", "early")
        outcome = self.tutti("run", *units, "-o", self.path("result.csv"), "--stats", self.path("stats.json"))
        self.assertRegex(outcome.err, r"\nspent +\d+ % in do-steps, \d+ % saving states, \d+ % restoring, \d+ % setting, "
                                      r"\d+ % getting\n")
        for unit in self.stats()["units"]:
            for name in ("seconds", "save_seconds", "set_seconds", "get_seconds"):
                self.assertGreaterEqual(unit[name], 0, name)
            self.assertEqual(unit["restore_seconds"], 0)
            self.assertLessEqual(sum(unit[f"{name}_seconds"] for name in ("save", "set", "get")), self.stats()["loop_seconds"])


class Alone(CoupledTest):
    def test_options_of_coupled_units(self):
        """They were ignored in silence."""
        for option in (("--coupling", "jacobi"), ("--control", "embedded"), ("--extrapolate", "0"), ("--events", "none"),
                       ("--max-iterations", "3"), ("--quantum", "1"), ("--h-min", "1e-3"), ("--event-tolerance", "1"),
                       ("--sweeps", "jacobi"), ("--accelerate", "anderson"), ("--divergence", "1")):
            self.refused("run", FAULTY["2"], *option, "-o", self.path("none.csv"), status=2,
                         says=f"{option[0]} is about units that are coupled, and there is only one")
        for option in (("--coupling", "auto"), ("--events", "auto"), ("--control", "fixed")):
            self.run_(FAULTY["2"], *option)


class Trial(CoupledTest):
    """`tutti check --run`."""

    def check(self, fmu, fault="", status=0):
        return self.tutti("check", "--run", "--quiet", fmu, status=status, env={"KIT_FAULT": fault}).out

    def test_good_units(self):
        for model in ("Faulty", "BouncingBall", "Stair", "Tracker", "VanDerPol", "Once", "Heater"):
            for version in ("1cs", "2", "3"):
                self.assertEqual(self.check(kit_fmu(model, version)), "", f"{model} {version}")

    def test_start_values(self):
        """Parameters that are not what the description says."""
        for version in ("1cs", "2", "3"):
            self.assertRegex(self.check(test_fmu("Resetting", version)),
                             r"warning: .*: Co-Simulation: the parameter 'p' \(.*; one of 1\) has another value after the initialisation")

    def test_bad_ones(self):
        for version, fmu in FAULTY.items():
            with self.subTest(version=version):
                said = self.check(fmu, "lose SetFMUstate|SetFMUState")
                self.assertRegex(said, r"warning: .*: Co-Simulation: .*'y' at t = 0.1 is another after it went back to t = 0;")
                said = self.check(fmu, "ignore x")
                self.assertRegex(said, r"warning: .*: Co-Simulation: the FMU ignores start values: 'x' was set to ")
                said = self.check(fmu, "stay DoStep")
                self.assertRegex(said, r"warning: .*'y' at t = 0.2 is another if it may be taken back to t = 0;")
                said = self.check(fmu, "error DoStep 0.5", status=1)
                self.assertRegex(said, r"error: .*: Co-Simulation: it does not run: .*DoStep")
                said = self.check(fmu, "error SerializeFMUstate|SerializeFMUState")
                self.assertRegex(said, r"warning: .*saved states as bytes .*fail")

    def test_systems(self):
        self.tutti("new", "ring.ssp", *ring("2")[:6])
        said = self.check("ring.ssp", "lose SetFMUstate @b")
        self.assertEqual(said.count("after it went back"), 1)


if __name__ == "__main__":
    unittest.main()
