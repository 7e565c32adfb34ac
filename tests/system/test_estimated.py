#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every run of several components ends with an estimate of its error, also where steps are fixed; where a component keeps it from being
controlled, a warning says how large it may be."""
import json
import unittest

from command import CommandTest, kit_fmu

PAIR = ("--connect", "a.y=b.u1", "--connect", "b.y=a.u1", "--set", "b.bx1=-0.5", "--stop", "10")


class Estimated(CommandTest):
    def pair(self, *options, goes_back=True):
        fmu = kit_fmu("Cell", 2)
        if not goes_back:
            fmu = self.altered(fmu, *2 * (('canGetAndSetFMUstate="true"', ""), ('canSerializeFMUstate="true"', "")))
        told = self.tutti("run", f"a={fmu}", f"b={fmu}", *PAIR, "-o", "result.csv", "--stats", "stats.json", *options)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return json.load(file), told

    def error(self):
        """At the end, as a multiple of the range, by a run that is right."""
        coarse = self.result()
        self.pair("--rtol", "1e-7")
        fine = self.result()
        return max(abs(coarse[name][-1] - fine[name][-1]) / (max(fine[name]) - min(fine[name])) for name in ("a.y", "b.y"))

    def test_fixed(self):
        """A bound, whatever the coupling, and the same on every fabric; no tolerance is given."""
        for coupling in ("jacobi", "seidel", "relax", "newton"):
            with self.subTest(coupling=coupling):
                stats, told = self.pair("--step", "0.1", "--coupling", coupling)
                self.assertEqual((stats["control"], told.lines("warning")), ("fixed", []))
                self.assertRegex(told.err + told.out, r"error +estimated: up to \S+ times --rtol \([ab]\.y: ")
                self.assertGreater(stats["estimated_error"]["share"] * 1e-4, self.error())
                self.assertEqual(self.pair("--step", "0.1", "--coupling", coupling, "--threads", "2")[0]["estimated_error"],
                                 stats["estimated_error"])

    def test_long_run(self):
        """After a thousand steps some are looked at only: the estimate stays what it is."""
        shares = [self.pair("--step", step)[0]["estimated_error"]["share"] for step in ("0.01", "0.001")]
        self.assertLess(abs(shares[0] / shares[1] / 10 - 1), 0.2, shares)

    def test_cannot_go_back(self):
        stats, told = self.pair(goes_back=False)
        self.assertEqual(stats["control"], "fixed")
        self.assertEqual(len(told.lines("warning")), 1, told.err)
        self.assertRegex(told.lines("warning")[0], r"the error of the coupling may be \S+ times the tolerance \(1e-04\) in '[ab]\.y' \(\S+\), and is "
                         r"not controlled: '[ab]' cannot go back to the beginning of a step, so all steps are of 0\.\d+; use "
                         r"--rollback fork, a smaller --step")


if __name__ == "__main__":
    unittest.main()
