#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti analyze`: which couplings are stable, whether runs agree, what `auto` chooses and why, what it refuses."""
import cmath
import itertools
import json
import math
import unittest

from command import FMUS, CommandTest, kit_fmu, test_fmu

ORDERS = ("constant", "linear", "quadratic")
PAIRS = ((0.5, -0.5), (0.1, -0.1), (0.9, 0.9), (-2, -1))


def subsystem(kind, version):
    """x' = -x + b u, y = c x + d u. That of FMI 2.0 takes slopes; Derivatives gives them, too; Plain does neither."""
    return str(FMUS.parent / "examples" / "linear_coupling" / f"Subsystem{kind}_fmi{version}.fmu")


def coupled(first, second, d1, d2):
    """Andersson's example 6.1.1."""
    return (f"a={first}", f"b={second}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", f"a.d={d1}", "--set",
            f"b.d={d2}", "--set", "b.b=3", "--set", "b.c=-5")


class StabilityTest(CommandTest):
    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def analyse(self, *arguments, status=0):
        return json.loads(self.tutti("analyze", *arguments, "--json", status=status).out)

    def table(self, *arguments):
        rows = self.analyse(*arguments)["stability"]
        self.assertEqual([row["extrapolation"] for row in rows], list(ORDERS))
        return rows


class Table(StabilityTest):
    def test_closed_forms(self):
        """Eigenvalues of DL are +- sqrt(d1 d2); eq. 6.41; z^3 = l (3 z^2 - 3 z + 1) for three points."""
        for d1, d2 in PAIRS:
            rows = self.table(*coupled(subsystem("", 2), subsystem("", 2), d1, d2))
            root = cmath.sqrt(d1 * d2)
            linear = max(abs(l + sign * cmath.sqrt(l * l - l)) for l in (root, -root) for sign in (1, -1))
            for name, row, history in zip(ORDERS, rows, (abs(root), linear, None)):
                with self.subTest(d=(d1, d2), extrapolation=name):
                    self.assertAlmostEqual(row["given"]["radius"], abs(root), 6)
                    self.assertAlmostEqual(row["history"]["radius"], row["jacobi"]["radius"], 4)
                    if history is not None:
                        self.assertAlmostEqual(row["history"]["radius"], history, 6)
                    for cell in filter(None, row.values()):
                        if isinstance(cell, dict) and cell["radius"] is not None:
                            self.assertEqual(cell["stable"], cell["radius"] <= 1 + 1e-6)
                    self.assertEqual(row["correct"], {"stable": True, "radius": None})
                    self.assertEqual(row["smooth"] is None, name == "constant")
            self.assertAlmostEqual(rows[0]["seidel"]["radius"], abs(d1 * d2), 6)

    def test_runs_agree(self):
        """Small steps: outputs stay where the table says stable, and run away where it says unstable."""
        untold = self.altered(subsystem("Plain", 2), ('index="5" dependencies="2 4" dependenciesKind="fixed fixed"', 'index="5"'))
        plain, derivatives, both = subsystem("", 2), subsystem("Derivatives", 2), ("--interface", "me", "--rtol", "1e-9")
        kinds = {"history": (plain, plain), "held": (subsystem("Plain", 2), subsystem("Plain", 3)),
                 "mixed": (plain, subsystem("Plain", 3)), "given": (derivatives, derivatives),
                 "half given": (derivatives, plain), "untold": (plain, untold),
                 "model exchange": (subsystem("", 3), plain, *both)}
        seen = set()
        ways = [*itertools.product((("jacobi",), ("seidel",), ("jacobi", "--correct")), range(3)),
                *itertools.product([("jacobi", "--smooth"), ("jacobi", "--smooth", "--correct")], (1, 2))]
        for (kind, (first, second, *options)), d in itertools.product(kinds.items(), PAIRS):
            system = (*coupled(first, second, *d), *options)
            rows = self.table(*system)
            for (coupling, *flags), order in ways:
                column = "correct" if "--correct" in flags else "smooth" if flags else coupling
                cell = rows[order][column]
                if cell["radius"] is not None and 0.97 < cell["radius"] < 1.04:
                    continue  # a thousand steps would not tell
                outcome = self.tutti("run", *system, "-o", "result.csv", "--quiet", "--coupling", coupling, *flags,
                                     "--control", "fixed", "--extrapolate", order, "--step", "0.001", "--stop", "1",
                                     status=None)
                table = self.result()
                largest = max(abs(y) for name in ("a.y", "b.y") for y in table[name])
                self.assertEqual(outcome.status, 0 if largest < 1e100 else outcome.status)
                with self.subTest(kind=kind, d=d, coupling=coupling, flags=flags, order=order, cell=cell, largest=largest):
                    self.assertEqual(largest < 100, cell["stable"])
                    seen.add((kind, column, order, cell["stable"]))
        for kind, column, order in itertools.product(kinds, ("jacobi", "seidel", "smooth"), range(3)):
            for stable in (True, False):
                self.assertTrue((kind, column, order, stable) in seen or (column == "smooth" and order == 0))

    def test_the_order_of_units_counts_for_seidel(self):
        units = [word for n in range(3) for word in (f"r{n}={test_fmu('Relation', '2')}",)]
        ring = [word for n in range(3) for word in ("--connect", f"r{n}.y=r{(n + 1) % 3}.u")]
        factors = [word for n, f in enumerate((0.9, -0.8, 1.3)) for word in ("--set", f"r{n}.factor={f}")]
        product = 0.9 * 0.8 * 1.3
        for order, radius in (("r0,r1,r2", product), ("r2,r1,r0", math.sqrt(product))):
            rows = self.table(*units, *ring, *factors, "--order", order)
            self.assertAlmostEqual(rows[0]["seidel"]["radius"], radius, 6)
            self.assertAlmostEqual(rows[0]["jacobi"]["radius"], product ** (1 / 3), 6)

    def test_no_loop(self):
        tracker = kit_fmu("Tracker", "2")
        for row in self.table(f"a={tracker}", f"b={tracker}", "--connect", "a.y=b.u"):
            for column in ("jacobi", "given", "history", "seidel"):
                self.assertEqual(row[column], {"stable": True, "radius": 0})

    def test_not_known(self):
        feed = kit_fmu("Feedthrough", "2")
        loop = ("--connect", "a.boolean_out=b.boolean_in", "--connect", "b.boolean_out=a.boolean_in")
        for row in self.table(f"a={feed}", f"b={feed}", *loop):
            self.assertEqual({cell for name, cell in row.items() if name != "extrapolation"}, {None})

    def test_for_people(self):
        system = coupled(subsystem("", 2), subsystem("", 2), 0.5, 0.5)
        text = self.tutti("analyze", *system).out
        self.assertRegex(text, r"(?m)^stability +constant +linear +quadratic$")
        self.assertRegex(text, r"(?m)^ +jacobi +stable 0\.5 +unstable 1\.37 +unstable 2\.26$")
        self.assertRegex(text, r"(?m)^ +all given +stable 0\.5 +stable 0\.5 +stable 0\.5$")
        self.assertRegex(text, r"(?m)^ +jacobi --correct +stable +stable +stable$")
        self.assertRegex(text, r"(?m)^ +jacobi --smooth +- +unstable 1\.37 +unstable 2\.26$")
        self.assertRegex(text, r"(?m)^ +seidel +stable 0\.25 ")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)


class FiniteStep(StabilityTest):
    """--step H: what a step of this size multiplies errors by."""
    OSCILLATOR = str(FMUS.parent / "examples" / "oscillator" / "oscillator.ssp")
    WAYS = {"jacobi": (range(3), ()), "smooth": ((1, 2), ("--smooth",)), "correct": (range(3), ("--correct",)),
            "seidel": (range(3), ())}

    def test_an_oscillator(self):
        for options in ((), ("--interface", "me")):
            step = self.analyse(self.OSCILLATOR, "--step", "0.5", *options)["step"]
            self.assertAlmostEqual(step["jacobi"][0]["radius"], math.sqrt(1.25), 6)
            self.assertEqual((step["jacobi"][0]["stable"], step["jacobi"][0]["largest"]), (False, None))
            self.assertAlmostEqual(step["seidel"][0]["largest"], 2, 3)
            self.assertAlmostEqual(step["relax"][0]["radius"], 1, 6)
            self.assertTrue(step["relax"][0]["any_step"])
            self.assertAlmostEqual(step["exact"], 1, 6)
            self.assertAlmostEqual(step["sweeps"]["seidel"], 0.0625, 6)

    def growth(self, *run, step, steps):
        """Per step, over the last third of a run."""
        self.tutti("run", *run, "-o", "result.csv", "--quiet", "--control", "fixed", "--step", step, "--stop", step * steps)
        table = self.result()
        sizes = [max(map(abs, row)) for row in zip(table["a.y"], table["b.y"])]
        part = len(sizes) // 3
        return (max(sizes[-part:]) / max(sizes[-2 * part:-part])) ** (1 / part)

    def test_runs_agree(self):
        kinds = {"history": (subsystem("", 2), subsystem("", 2)), "held": (subsystem("Plain", 2), subsystem("Plain", 3)),
                 "given": (subsystem("Derivatives", 2), subsystem("Derivatives", 2)),
                 "mixed": (subsystem("Derivatives", 2), subsystem("Plain", 3)),
                 "model exchange": (subsystem("", 3), subsystem("", 2), "--interface", "me", "--rtol", "1e-10")}
        compared = 0
        for (kind, (first, second, *options)), step in itertools.product(kinds.items(), (0.05, 0.3)):
            system = (*coupled(first, second, 0.1, -0.1), *options)
            told = self.analyse(*system, "--step", step)["step"]
            for way, (orders, flags) in self.WAYS.items():
                for order in orders:
                    radius = told[way][order]["radius"]
                    if not 0.9 < radius < 4:
                        continue  # gone, or beyond the range of numbers, before one can see it
                    steps = min(400, int(150 / abs(math.log(radius)))) if radius != 1 else 400
                    found = self.growth(*system, "--coupling", "seidel" if way == "seidel" else "jacobi", *flags, "--extrapolate",
                                        order, step=step, steps=steps)
                    compared += 1
                    with self.subTest(kind=kind, step=step, way=way, order=order, radius=radius):
                        self.assertAlmostEqual(found / radius, 1, delta=0.04)
        self.assertGreater(compared, 50)

    def test_the_longest_stable_step(self):
        """A little shorter is stable, a little longer is not."""
        system = coupled(subsystem("", 2), subsystem("", 2), 0.1, -0.1)
        told = self.analyse(*system, "--step", "0.1")["step"]
        for way, order in (("jacobi", 0), ("jacobi", 1), ("seidel", 0)):
            for factor in (0.97, 1.03):
                again = self.analyse(*system, "--step", factor * told[way][order]["largest"])["step"]
                self.assertEqual(again[way][order]["stable"], factor < 1, (way, order, factor))

    def test_what_is_not_known(self):
        tracker, signals = kit_fmu("Tracker", "2"), str(FMUS.parent / "examples" / "control_loop" / "control_loop.ssp")
        self.assertIsNone(self.analyse(f"a={tracker}", f"b={tracker}", "--connect", "a.y=b.u")["step"])  # no step
        self.assertIsNone(self.analyse(tracker, "--step", "0.1")["step"])  # not coupled
        step = self.analyse(signals, "--step", "0.1")["step"]
        self.assertRegex(step["why_not"], "'signals' .* is for Co-Simulation: its states cannot be seen")
        self.assertNotIn("jacobi", step)

    def test_for_people(self):
        text = self.tutti("analyze", self.OSCILLATOR, "--step", "0.5").out
        self.assertRegex(text, r"(?m)^step +0\.5 multiplies errors by this; the equations themselves by 1$")
        self.assertRegex(text, r"(?m)^ +jacobi +unstable 1\.118 +stable 0\.989")
        self.assertRegex(text, r"(?m)^ +jacobi +none +0\.73")
        self.assertRegex(text, r"(?m)^ +seidel +2 +2 ")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)


class Choices(StabilityTest):
    def test_the_same_as_a_run(self):
        tracker = kit_fmu("Tracker", "2")
        system = (f"a={tracker}", f"b={tracker}", "--connect", "a.y=b.u")
        for options in ((), ("--step", "0.1"), ("--coupling", "seidel"), ("--coupling", "relax", "--control", "converge"),
                        ("--extrapolate", "1"), ("--events", "none"), ("--coupling", "jacobi", "--extrapolate", "2")):
            with self.subTest(options=options):
                told = self.analyse(*system, *options)
                self.assertIsNone(told["failure"])
                choices = told["choices"]
                self.tutti("run", *system, *options, "--stop", "0.2", "--stats", "stats.json", "--record", "none", "--quiet")
                stats = json.loads(self.content("stats.json"))
                for name in ("coupling", "control", "extrapolate", "events"):
                    self.assertEqual(choices[name]["value"], stats[name])
                    self.assertEqual(choices[name]["reason"] is None, f"--{name}" in options)
                for name in ("correct", "smooth"):
                    self.assertEqual(choices[name], stats[name])

    def test_a_loop_is_not_extrapolated_into_instability(self):
        """Where the coupling is named, and the order is left to auto. A tolerance of the run needs correction."""
        system = coupled(subsystem("", 2), subsystem("", 2), 0.5, 0.5)
        for coupling in ("jacobi", "seidel"):
            choices = self.analyse(*system, "--coupling", coupling)["choices"]
            self.assertEqual((choices["coupling"]["value"], choices["correct"], choices["extrapolate"]["value"]), (coupling, True, "2"))
            self.assertRegex(choices["coupling"]["reason"], r"^as asked for, with --correct, .*rho\(DL\) = 0.5")
        for options in (("--coupling", "jacobi", "--error-per", "step"), ("--coupling", "seidel", "--step", "0.01")):
            choices = self.analyse(*system, *options)["choices"]
            self.assertEqual(choices["extrapolate"]["value"], "0", options)
            self.assertIn("algebraic loop", choices["extrapolate"]["reason"], options)
        choices = self.analyse(*system, "--rtol", "1e-4")["choices"]  # corrected, which is stable with any order
        self.assertEqual((choices["correct"], choices["extrapolate"]["value"]), (True, "2"))

    def test_steps_that_are_too_long(self):
        """Of Model Exchange units, whose states can be seen: seidel of the oscillator is stable up to a step of 2."""
        system = (FiniteStep.OSCILLATOR, "--interface", "me")
        for step, coupling in ((1.9, "seidel"), (2.5, "newton")):
            told = self.analyse(*system, "--step", step)
            self.assertEqual(told["choices"]["coupling"]["value"], coupling)
            self.tutti("run", *system, "--step", step, "--stop", 100 * step, "-o", "result.csv", "--stats", "stats.json", "--quiet")
            stats = json.loads(self.content("stats.json"))
            self.assertEqual(stats["coupling"], coupling)
            self.assertLess(max(map(abs, self.result()["first.y"])), 10)
        self.assertIn("with seidel errors would grow", told["choices"]["coupling"]["reason"])
        self.assertRegex(stats["reasons"]["coupling"], r"^with seidel errors would grow 4 times in each step of 2\.5$")
        plain = self.content("result.csv")
        for fabric in (("--threads", "2"), ("--processes", "2")):
            self.tutti("run", *system, "--step", "2.5", "--stop", "250", "-o", "result.csv", "--quiet", *fabric)
            self.assertEqual(self.content("result.csv"), plain, fabric)
        for options in (("--coupling", "seidel"), ("--interface", "cs")):  # asked for; states that cannot be seen
            self.assertEqual(self.analyse(*system, "--step", "2.5", *options)["choices"]["coupling"]["value"], "seidel")

    def test_one_solver_for_a_tolerance(self):
        system = (FiniteStep.OSCILLATOR, "--interface", "me")
        for options, coupling in ((("--rtol", "1e-6"), "strong"), (("--atol", "1e-6"), "strong"), (("--step", "0.1"), "seidel"),
                                  (("--rtol", "1e-6", "--step", "0.1"), "seidel"), (("--rtol", "1e-6", "--control", "embedded"), "seidel"),
                                  (("--rtol", "1e-6", "--interface", "cs"), "seidel"), (("--rtol", "1e-6", "--extrapolate", "1"), "seidel"),
                                  (("--rtol", "1e-6", "--order", "second"), "seidel")):
            choices = self.analyse(*system, *options)["choices"]
            self.assertEqual(choices["coupling"]["value"], coupling, options)
        self.tutti("run", *system, "--rtol", "1e-6", "--stop", "50", "-o", "result.csv", "--stats", "stats.json", "--quiet")
        table, stats = self.result(), json.loads(self.content("stats.json"))
        self.assertIn("all units are of Model Exchange", stats["reasons"]["coupling"])
        self.assertLess(max(abs(x - math.cos(t)) for t, x in zip(table["time"], table["first.y"])), 1e-5)

    def test_one_unit(self):
        choices = self.analyse(kit_fmu("Tracker", "2"))["choices"]
        self.assertEqual([choices[name]["value"] for name in ("coupling", "control", "extrapolate", "events")],
                         ["none", "fixed", "0", "none"])

    def test_reasons_for_people(self):
        tracker = kit_fmu("Tracker", "2")
        text = self.tutti("analyze", f"a={tracker}", f"b={tracker}", "--connect", "a.y=b.u", "--coupling", "jacobi").out
        self.assertRegex(text, r"(?m)^coupling +jacobi: as asked for$")
        for name in ("control", "extrapolate", "events"):
            self.assertRegex(text, rf"(?m)^{name} +\w+: \w.*$")

    def test_a_refusal(self):
        """The table is there all the same: it may say what to use instead."""
        system = coupled(subsystem("", 2), subsystem("", 2), 0.5, 0.5)
        told = self.analyse(*system, "--coupling", "jacobi", "--control", "converge", status=1)
        self.assertTrue(told["initialised"])
        self.assertIsNone(told["choices"])
        self.assertIn("relax", told["failure"])
        self.assertAlmostEqual(told["stability"][0]["seidel"]["radius"], 0.25, 6)
        text = self.tutti("analyze", *system, "--control", "quantum", status=1).out
        self.assertRegex(text, r"(?m)^refused +.*--quantum")
        told = self.analyse(*system, "--order", "a,nobody", status=1)
        self.assertIn("nobody", told["failure"])
        self.assertIsNone(told["stability"][0]["seidel"])
        self.assertAlmostEqual(told["stability"][0]["jacobi"]["radius"], 0.5, 6)

    def test_words_that_nobody_knows(self):
        tracker = kit_fmu("Tracker", "2")
        self.refused("analyze", tracker, "--coupling", "magic", status=2, says="magic")


class Bounded(StabilityTest):
    """Steps that are short because of the coupling, and not for the sake of their error, are reported."""

    WARNING = "the stability of the coupling bounds the steps"

    def test_a_stiff_coupling(self):
        car = FMUS.parent / "examples" / "race_car_init" / "race_car_init.ssp"
        outcome = self.tutti("run", car, "--rtol", "1e-4", "--interface", "cs", "--stop", "0.2", "--record", "none")
        message, = outcome.lines("warning")
        self.assertIn(self.WARNING, message)
        self.assertIn("--coupling strong", message)

    def test_jumps_and_smooth_systems(self):
        """Rejected steps of another kind: a relay without events, an oscillator."""
        for arguments in ((f"relay={test_fmu('Relay', 2)}", f"tank={test_fmu('Tank', 2)}", "--connect", "relay.y=tank.u", "--connect",
                           "tank.y=relay.u"),
                          (FMUS.parent / "examples" / "oscillator" / "oscillator.ssp", "--interface", "cs", "--stop", "20")):
            outcome = self.tutti("run", *arguments, "--rtol", "1e-6", "--record", "none")
            self.assertNotIn(self.WARNING, outcome.err)


if __name__ == "__main__":
    unittest.main()
