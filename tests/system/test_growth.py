#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values that grow without bound and stay finite: an unstable coupling is told, what a model does by itself is not."""
import unittest

from command import FMUS, JACOBI, CommandTest, kit_fmu

SUBSYSTEM = str(FMUS.parent / "examples" / "linear_coupling" / "Subsystem_fmi2.fmu")


def coupled(d1, d2, *options):
    """x' = -x + b u, y = c x + d u, twice: rho(DL) is the root of d1 d2."""
    return (f"a={SUBSYSTEM}", f"b={SUBSYSTEM}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", f"a.d={d1}",
            "--set", f"b.d={d2}", "--set", "b.b=3", "--set", "b.c=-5", "--step", "0.01", "--stop", "0.5", *options)


class Coupling(CommandTest):
    FABRICS = ((), ("--threads", "2"), ("--processes", "2"))

    def warnings(self, *arguments):
        return self.tutti("run", *arguments, "-o", "result.csv", "--quiet").lines("warning")

    def test_unstable(self):
        """The same words everywhere, also where nothing is recorded."""
        for gains in ((2, -1), (-2, -1)):
            told = set()
            for fabric in (*self.FABRICS, ("--record", "none")):
                warnings = self.warnings(*coupled(*gains, *JACOBI), *fabric)
                self.assertEqual(len(warnings), 1, warnings)
                told.update(warnings)
            self.assertEqual(len(told), 1, told)
            self.assertRegex(told.pop(), r"'[ab]\.y' changes more and more from step to step, since t = 0\.0\d, and by "
                             r"[\d.e+]+ at t = 0\.\d+: the coupling is not stable.*smaller --step.*--coupling")

    def test_stable(self):
        for options in (JACOBI, ("--rtol", "1e-4")):
            for fabric in self.FABRICS:
                self.assertEqual(self.warnings(*coupled(0.5, -0.5, *options), *fabric), [])

    def test_cured(self):
        """By what the warning says."""
        self.assertEqual(self.warnings(*coupled(2, -1, *JACOBI, "--correct")), [])


class FarLimit(CommandTest):
    """x' = x is a model like others, until nobody can believe it any more."""

    def grow(self, stop, *options):
        return self.tutti("run", kit_fmu("Dahlquist", 2), "--set", "k=-1", "--stop", stop, "--step", "0.1", "-o",
                          "result.csv", "--quiet", *options).lines("warning")

    def test_exponential(self):
        self.assertEqual(self.grow(25), [])
        for options in ((), ("--interface", "me"), ("--processes", "2")):
            with self.subTest(options=options):
                warnings = self.grow(60, *options)
                self.assertEqual(len(warnings), 1, warnings)
                self.assertRegex(warnings[0], r"'x' has grown without bound since t = \d.*, and is \d\.\d+e\+\d\d at t = "
                                 r"\d\d.*--step")

    def test_jumps_are_none(self):
        """A large number is no growth."""
        rows = "".join(f"{t},{1e15 if t > 3 else 0},{1e18 * t ** 3}\n" for t in range(11))
        self.simulate(kit_fmu("Feedthrough", 2), "--input", self.write("large.csv", "time,float64_in,"
                      "float64_discrete_in\n" + rows), "--stop", "10")


if __name__ == "__main__":
    unittest.main()
