#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values that grow without bound and stay finite: an unstable coupling is reported, before the run where it can be computed, otherwise
by the growth of signals; an unstable model is not."""
import unittest

from command import FMUS, JACOBI, CommandTest, description, kit_fmu

INTEGRATOR = str(FMUS.parent / "examples" / "oscillator" / "Integrator_fmi2.fmu")
SUBSYSTEM = str(FMUS.parent / "examples" / "linear_coupling" / "Subsystem_fmi2.fmu")


def coupled(d1, d2, *options):
    """x' = -x + b u, y = c x + d u, twice: rho(DL) is the root of d1 d2."""
    return (f"a={SUBSYSTEM}", f"b={SUBSYSTEM}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", f"a.d={d1}",
            "--set", f"b.d={d2}", "--set", "b.b=3", "--set", "b.c=-5", "--step", "0.01", "--stop", "0.5", *options)


class Coupling(CommandTest):
    FABRICS = ((), ("--threads", "2"), ("--processes", "2"))

    def warnings(self, *arguments):
        """What the watch on growth says; what is computed at the start is left out."""
        told = self.tutti("run", *arguments, "-o", "result.csv", "--quiet").lines("warning")
        return [line for line in told if "where the run starts" not in line]

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


class Slowly(CommandTest):
    """Co-Simulation without Model Exchange: nothing is linearised, and swings of 25 steps are not those of a coupling alone."""

    def test_an_oscillator(self):
        """Each step of jacobi multiplies an error by 1.118 with H = 0.5; 1.0000005 with H = 0.001."""
        text = description(INTEGRATOR)
        begin, end = text.index("<ModelExchange"), text.index("<CoSimulation")
        fmu = self.altered(INTEGRATOR, (text[begin:end], ""))
        system = (f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.gain=-1", "--set", "a.y=1", "--set", "b.y=0", "--coupling",
                  "jacobi", "--record", "none")
        for step, stop in (("0.5", "100"), ("0.2", "400")):
            with self.subTest(step=step):
                warning, = self.tutti("run", *system, "--step", step, "--stop", stop).lines("warning")
                self.assertRegex(warning, r"'[ab]\.y' has grown to .* the coupling is not stable with steps of 0\.\d.*smaller --step")
        self.assertEqual(self.tutti("run", *system, "--step", "0.01", "--stop", "30").lines("warning"), [])


class AtTheStart(CommandTest):
    """The linearised system says how errors grow in steps of one size."""
    OSCILLATOR = str(FMUS.parent / "examples" / "oscillator" / "oscillator.ssp")

    def warnings(self, *arguments):
        told = self.tutti("run", *arguments, "-o", "result.csv", "--quiet").lines("warning")
        return [line for line in told if "where the run starts" in line]

    def test_oscillator(self):
        """A step of jacobi multiplies an error by the root of 1 + H^2, 1.118 for H = 0.5; 200 of them by 4.7e9."""
        for options in ((), ("--processes", "2"), ("--interface", "me"), ("--correct",)):
            with self.subTest(options=options):
                warnings = self.warnings(self.OSCILLATOR, "--coupling", "jacobi", "--step", "0.5", "--stop", "100", *options)
                self.assertEqual(len(warnings), 1, warnings)
                self.assertRegex(warnings[0], r"--coupling jacobi.* is not stable with steps of 0\.5: where the run starts, an error "
                                 r"grows 1\.118 times in each of its 200 steps")

    def test_double_pendulum(self):
        """Bounded by what is not linear, and wrong all the same."""
        pendulum = str(FMUS.parent / "examples" / "double_pendulum" / "double_pendulum.ssp")
        for coupling in ("jacobi", "seidel"):
            self.assertEqual(len(self.warnings(pendulum, "--coupling", coupling, "--step", "0.01", "--stop", "1")), 1)
        self.assertEqual(self.warnings(pendulum, "--step", "0.01", "--stop", "1"), [])

    def test_stable(self):
        """A stable coupling, a short run, and systems that grow by themselves."""
        self.assertEqual(self.warnings(self.OSCILLATOR, "--step", "0.5", "--stop", "100"), [])
        self.assertEqual(self.warnings(self.OSCILLATOR, "--coupling", "jacobi", "--step", "0.5", "--stop", "10"), [])
        grows = [part for name in "ab" for key, value in (("axx", 1), ("azz", 1), ("bx1", 0.1)) for part in
                 ("--set", f"{name}.{key}={value}")]
        cell = kit_fmu("Cell", 2)
        self.assertEqual(self.warnings(f"a={cell}", f"b={cell}", "--connect", "a.y=b.u1", "--connect", "b.y=a.u1", *grows, "--step",
                                       "0.1", "--stop", "10"), [])


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
