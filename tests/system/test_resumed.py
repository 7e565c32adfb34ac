#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The statistics of a resumed run are those of a run that was never interrupted: every statistic that src/sim/stats.def does not
mark NO, of every coupling with several controls, on one rank and on several."""
import re
import unittest

from command import ROOT, JACOBI, kit_fmu
from fabrics import LOCAL, processes, threads
from test_fabrics import example
from test_checkpoint import CHAIN, POINT, CheckpointTest
from test_fabrics_masters import SYSTEMS, masters

FABRICS = (LOCAL, threads(2), processes(2))
TABLE = (ROOT / "src/sim/stats.def").read_text(encoding="utf-8")


def surviving(macro):
    """The names in the file of --stats of what is the same after --resume."""
    rows = re.findall("^" + macro + r'\(\w+, \w+, "([^"]+)",(?: \w+,)? (\w+),\s+"', TABLE, re.MULTILINE)
    assert len(rows) == TABLE.count("\n" + macro + "("), "a row of stats.def is not as expected"
    return [name for name, kept in rows if kept != "NO"]


OF_RUN, OF_UNIT = surviving("RUN_STAT"), surviving("UNIT_STAT")


def pick(stats, names):
    found = {}
    for name in names:
        value = stats
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        found[name] = value
    return found


class ResumedStatistics(CheckpointTest):
    maxDiff = None

    def check(self, *run, part=0.37, fabrics=FABRICS, how=()):
        """Returns the statistics on the last of the fabrics; None: the run is refused."""
        whole = None
        for fabric in fabrics:
            with self.subTest(run=run, fabric=str(fabric)):
                self.clear()
                whole = self.again(*run, fabric=fabric)
                if whole.status:
                    return None
                every = str(part * self.span(whole.stats))
                self.clear()
                taken = self.again(*run, *how, "--checkpoint", POINT, "--every", every, fabric=fabric)
                resumed = self.again(*run, *how, "--resume", POINT, fabric=fabric)
                for other in (taken, resumed):
                    self.assertEqual(other.status, 0, other.err)
                    self.assertEqual(pick(other.stats, OF_RUN), pick(whole.stats, OF_RUN))
                    self.assertEqual([pick(unit, OF_UNIT) for unit in other.stats["units"]],
                                     [pick(unit, OF_UNIT) for unit in whole.stats["units"]])
        return whole.stats

    def test_every_coupling(self):
        """Each with two controls, or with one that iterates."""
        good = total = 0
        for n, master in enumerate(masters()):
            if n % 5 not in (n // 5 % 5, (n // 5 + 2) % 5):
                continue
            total += 1
            good += self.check(*SYSTEMS[n % len(SYSTEMS)], *master, part=(0.2, 0.37, 0.61)[n % 3]) is not None
        self.assertGreater(good, 0.7 * total, "too many are refused")

    def test_a_car(self):
        car = (example("car"), "--stop", "0.2")
        for options in ((), ("--coupling", "newton", "--step", "0.002"), ("--coupling", "relax"), ("--coupling", "seidel"),
                        ("--coupling", "federated", "--step", "0.002")):
            stats = self.check(*car, *options)
            self.assertGreater(stats["rows"], 10)

    def test_without_a_master(self):
        for system, stop, quantum in ((SYSTEMS[1], "0.1", "0.02"), (SYSTEMS[2], "0.8", "0.05")):
            stats = self.check(system[0], "--stop", stop, "--coupling", "federated", "--quantum", quantum)
            self.assertGreater(stats["federation"]["grants"], 0)

    def test_units(self):
        self.check(*CHAIN, *JACOBI)
        self.check(*CHAIN, "--step", "a=0.04")
        self.check(*CHAIN, "--interface", "me", "--solver", "bdf", *JACOBI)
        self.check(kit_fmu("BouncingBall", "3"), "--interface", "me", "--solver", "bdf", fabrics=(LOCAL,))
        self.check(kit_fmu("Lacking", "2"), "--stop", "2", fabrics=(LOCAL,), how=("--checkpoint-replay",))

    def test_on_other_ranks(self):
        """What the run did does not depend on where it was interrupted and resumed. (How often ranks exchanged does, and estimates
        of errors are those since the checkpoint.)"""
        names = [name for name in OF_RUN if name != "exchanges" and not name.startswith("estimated_error")]
        whole = self.again(*CHAIN, *JACOBI)
        for first, second in ((LOCAL, processes(2)), (processes(2), threads(2)), (threads(2), LOCAL)):
            with self.subTest(first=str(first), second=str(second)):
                self.clear()
                self.again(*CHAIN, *JACOBI, "--checkpoint", POINT, "--every", "0.7", fabric=first)
                resumed = self.again(*CHAIN, *JACOBI, "--resume", POINT, fabric=second)
                self.assertEqual(pick(resumed.stats, names), pick(whole.stats, names))


if __name__ == "__main__":
    unittest.main()
