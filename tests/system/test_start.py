#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The start of coupled runs: values that fit together in whatever order units are listed, algebraic loops of all sorts,
and what is said about those without a solution. Also `tutti analyze`, which tells it without a run."""
import json
import math
import pathlib
import random
import re
import unittest

from command import JACOBI, Table, kit_fmu, test_fmu
from systems import SystemTest, component, connection, inputs, outputs, ssd, system

TRACKER, FEEDTHROUGH = kit_fmu("Tracker", "2"), kit_fmu("Feedthrough", "2")
SPACE = kit_fmu("StateSpace", "3")
RELATIONS = [(kind, version) for kind in ("Relation", "PlainRelation") for version in ("1me", "2", "3")]
LOOP = ["--connect", "a.y=b.float64_in", "--connect", "b.float64_out=a.u"]


def settings(**values):
    """--set for the relation `a`."""
    return [word for name, value in values.items() for word in ("--set", f"a.{name}={value}")]


class StartTest(SystemTest):
    def start_of(self, *arguments, stop="0.1", step="0.1"):
        """The first row by name, and the statistics."""
        outcome = self.tutti("run", *arguments, "--stop", stop, "--step", step, "-o", "-", "--quiet", "--stats",
                             self.path("stats.json"))
        self.assertEqual(outcome.err, "")
        table = Table(outcome.out)
        stats = json.loads(pathlib.Path(self.path("stats.json")).read_text("utf-8"))
        return {name: float(table.texts(name)[0]) for name in table.header
                if not re.search("string|binary", name)}, stats

    def fails(self, *arguments):
        """The one message of a run that cannot start."""
        outcome = self.tutti("run", *arguments, "--quiet", status=1)
        message, = [line for line in outcome.err.splitlines() if line.strip()]
        return message


class Chains(StartTest):
    LENGTH = 50

    def chain(self, versions, order, *options):
        units = [f"f{n}={kit_fmu('Feedthrough', versions[n % len(versions)])}" for n in range(self.LENGTH)]
        wires = [word for n in range(1, self.LENGTH)
                 for word in ("--connect", f"f{n - 1}.float64_out=f{n}.float64_in")]
        gains = [word for n in range(self.LENGTH) for word in ("--set", f"f{n}.gain=2")]
        row, stats = self.start_of(*(units[n] for n in order), *wires, *gains, "--set", "f0.float64_in=1", "--record",
                                   "*.float64_out", *options)
        for n in range(self.LENGTH):
            self.assertEqual(row[f"f{n}.float64_out"], 2 ** (n + 1))
        self.assertEqual({unit["init_evaluations"] for unit in stats["units"]}, {1})
        self.assertEqual(stats["init_loops"], 0)

    def test_listed_backwards(self):
        for versions in (["2"], ["3"], ["1cs"], ["1me"], ["1cs", "3", "1me", "2"]):
            with self.subTest(versions=versions):
                self.chain(versions, range(self.LENGTH - 1, -1, -1))

    def test_model_exchange(self):
        self.chain(["2", "3", "1me"], range(self.LENGTH - 1, -1, -1), "--interface", "me")

    def test_listed_anyhow(self):
        numbers = random.Random(4)
        for _ in range(3):
            order = list(range(self.LENGTH))
            numbers.shuffle(order)
            self.chain(["1cs", "3", "1me", "2"], order)

    def test_every_type_goes_through(self):
        """... at the start, also where it is discrete: nothing is left for the first step."""
        kinds = {"float64": "0.5", "float32": "0.25", "int8": "-3", "uint64": "18446744073709551615", "boolean": "true",
                 "color": "2", "string": "text", "int32": "7", "binary": "ab12"}
        units = [f"{name}={kit_fmu('Feedthrough', '3')}" for name in "cba"]
        wires = [word for kind in kinds for pair in ("ab", "bc")
                 for word in ("--connect", f"{pair[0]}.{kind}_out={pair[1]}.{kind}_in")]
        values = [word for kind, value in kinds.items() for word in ("--set", f"a.{kind}_in={value}")]
        outcome = self.tutti("run", *units, *wires, *values, "--stop", "0.1", "--step", "0.1", "-o", "-", "--quiet")
        table = Table(outcome.out)
        for kind, value in {**kinds, "boolean": "1"}.items():
            for unit in "abc":
                self.assertEqual(table.texts(f"{unit}.{kind}_out")[0], value)

    def test_a_system_that_needs_more_than_three_passes(self):
        """Two models, each of whose outputs needs the other's, but in no circle: a ladder through both."""
        fmus = {"a": kit_fmu("Feedthrough", "3"), "b": kit_fmu("Feedthrough", "2")}
        wires = ["--connect", "a.float64_out=b.float64_in", "--connect", "b.float64_out=a.float64_discrete_in",
                 "--connect", "a.float64_discrete_out=b.float64_discrete_in"]
        for order in ("ab", "ba"):
            row, stats = self.start_of(*(f"{name}={fmus[name]}" for name in order), *wires, "--set", "a.float64_in=4")
            self.assertEqual([row["a.float64_out"], row["b.float64_out"], row["a.float64_discrete_out"],
                              row["b.float64_discrete_out"]], [4] * 4)
            self.assertEqual(stats["init_loops"], 0)

    def test_fmi1_is_initialised_last(self):
        """Its output does not need the input, but it is told before it is initialised, wherever it stands."""
        old, new = f"old={kit_fmu('Tracker', '1cs')}", f"new={kit_fmu('Tracker', '2')}"
        wires = ["--connect", "new.y=old.u", "--connect", "old.y=new.u", "--set", "new.x=3"]
        for order in ((old, new), (new, old)):
            row, _ = self.start_of(*order, *wires)
            self.assertEqual((row["old.error"], row["new.error"]), (3, -3))


class Loops(StartTest):
    def test_linear(self):
        """y = 3 - y / 2 in one iteration of Newton's method, with derivatives of the FMU or by differences."""
        for kind, version in RELATIONS:
            with self.subTest(kind=kind, version=version):
                row, stats = self.start_of(f"a={test_fmu(kind, version)}", f"b={FEEDTHROUGH}", *LOOP,
                                           *settings(offset=3, factor=-0.5), "--record", "*.y", "--record",
                                           "*.float64_out")
                self.assertAlmostEqual(row["a.y"], 2, 9)
                self.assertAlmostEqual(row["b.float64_out"], 2, 9)
                self.assertEqual((stats["init_loops"], stats["init_iterations"]), (1, 1))

    def test_a_steep_linear_one(self):
        """Repetition would run away from the solution."""
        row, stats = self.start_of(f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *LOOP,
                                   *settings(offset=1, factor=-1000))
        self.assertAlmostEqual(row["a.y"], 1 / 1001, 12)
        self.assertEqual(stats["init_iterations"], 1)

    def test_not_linear(self):
        """y = 2 - y^3: y = 1."""
        for kind, version in RELATIONS:
            with self.subTest(kind=kind, version=version):
                row, stats = self.start_of(f"b={FEEDTHROUGH}", f"a={test_fmu(kind, version)}", *LOOP,
                                           *settings(offset=2, cubic=-1))
                self.assertAlmostEqual(row["a.y"], 1, 7)
                self.assertGreater(stats["init_iterations"], 1)
                self.assertLess(stats["init_iterations"], 30)

    def test_start_values_choose_a_solution(self):
        """y = y^2."""
        for guess, solution in ((0.1, 0), (3, 1)):
            row, _ = self.start_of(f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *LOOP,
                                   *settings(square=1, u=guess), "--set", f"b.float64_in={guess}")
            self.assertAlmostEqual(row["a.y"], solution, 5)

    def test_values_far_below_one(self):
        """y = 1e-9 + 1e8 y^2: a tolerance that is not relative to y would take the start values for a solution."""
        exact = (1 - math.sqrt(1 - 0.4)) / 2e8
        for kind, version in RELATIONS:
            row, _ = self.start_of(f"a={test_fmu(kind, version)}", f"b={FEEDTHROUGH}", *LOOP,
                                   *settings(offset=1e-9, square=1e8))
            self.assertLess(abs(row["a.y"] / exact - 1), 1e-8)

    def test_a_domain_with_a_border(self):
        """y = 6 - sqrt(y): y = 4, and no number for negative ones, on which Newton's method may come by."""
        row, _ = self.start_of(f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *LOOP,
                               *settings(offset=6, root=-1, u=100), "--set", "b.float64_in=100")
        self.assertAlmostEqual(row["a.y"], 4, 6)

    def test_conversions_are_in_the_loop(self):
        """a.error = (b.error / 2 + 1) - a.x, b.error = a.error - b.x."""
        fmu, = self.bring(TRACKER)
        half = '<ssc:LinearTransformation factor="0.5" offset="1"/>'
        text = ssd(system(component("a", fmu, inputs("u"), outputs("error")),
                          component("b", fmu, inputs("u"), outputs("error")),
                          connect=connection("b.error", "a.u", half) + connection("a.error", "b.u")))
        row, stats = self.start_of(self.write("half.ssd", text), "--set", "a.x=3", "--set", "b.x=5")
        self.assertAlmostEqual(row["a.error"], -9, 9)
        self.assertAlmostEqual(row["b.error"], -14, 9)
        self.assertEqual(stats["init_iterations"], 1)

    def test_directional_derivatives_save_evaluations(self):
        evaluations = []
        for kind in ("Relation", "PlainRelation"):
            _, stats = self.start_of(f"a={test_fmu(kind, '2')}", f"b={test_fmu(kind, '2')}", "--connect", "a.y=b.u",
                                     "--connect", "b.y=a.u", *settings(offset=2, cubic=-1), "--set", "b.factor=1")
            evaluations.append(sum(unit["init_evaluations"] for unit in stats["units"]))
        self.assertLess(*evaluations)

    def test_arrays(self):
        """u = y = C x + D u, from a unit to itself and through another."""
        row, stats = self.start_of(f"a={SPACE}", f"b={TRACKER}", "--connect", "a.y=a.u")
        self.assertAlmostEqual(row["a.y[1]"], 1, 9)
        self.assertAlmostEqual(row["a.y[2]"], -0.5, 9)
        self.assertEqual(stats["init_loops"], 1)
        row, stats = self.start_of(f"a={SPACE}", f"b={FEEDTHROUGH}", "--connect", "a.y[2]=b.float64_in", "--connect",
                                   "b.float64_out=a.u[1]")
        self.assertAlmostEqual(row["a.y[2]"], -2, 9)

    def test_several_loops_one_behind_the_other(self):
        """The second loop's offset is what the first one found."""
        units = [f"{name}={test_fmu('Relation', '2')}" for name in "dcba"]
        wires = ["a.y=b.u", "b.y=a.u", "c.y=d.u", "d.y=c.u"]
        values = settings(offset=3, factor=-0.5) + [word for text in ("b.factor=1", "c.factor=-0.5", "d.factor=1",
                                                                      "c.offset=6") for word in ("--set", text)]
        row, stats = self.start_of(*units, *(word for wire in wires for word in ("--connect", wire)), *values)
        self.assertAlmostEqual(row["a.y"], 2, 9)
        self.assertAlmostEqual(row["c.y"], 4, 9)
        self.assertEqual((stats["init_loops"], stats["init_iterations"]), (2, 2))

    def test_a_ring_of_many(self):
        """50 units in one loop: y = 1 + 0.9^50 y."""
        units = [f"r{n}={test_fmu('Relation', '23'[n % 2])}" for n in range(50)]
        wires = [word for n in range(50) for word in ("--connect", f"r{n}.y=r{(n + 1) % 50}.u")]
        factors = [word for n in range(50) for word in ("--set", f"r{n}.factor=0.9")]
        row, stats = self.start_of(*units, *wires, *factors, "--set", "r0.offset=1")
        self.assertAlmostEqual(row["r0.y"], 1 / (1 - 0.9 ** 50), 9)
        self.assertEqual(stats["init_loops"], 1)

    def test_fmi1_co_simulation(self):
        """Such a unit is read after its initialisation only: it is made anew for every evaluation, and rests in the solution."""
        one = test_fmu("Relation", "1cs")
        first = {}
        for version in ("2", "1cs"):
            row, stats = self.start_of(f"a={test_fmu('Relation', version)}", f"b={FEEDTHROUGH}", *LOOP, *settings(offset=1, factor=-0.5, cubic=-0.25))
            first[version] = row["a.y"]
            self.assertEqual(stats["init_loops"], 1)
        self.assertAlmostEqual(first["1cs"], first["2"], 9)
        y = first["1cs"]
        self.assertAlmostEqual(y, 1 - 0.5 * y - 0.25 * y ** 3, 9)
        for more in ((), ("--threads", "2")):  # all of the loop; with an input from outside of it
            row, _ = self.start_of(f"s={FEEDTHROUGH}", f"a={one}", f"b={one}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--connect",
                                   "s.boolean_out=a.up", "--set", "s.boolean_in=true", *settings(factor=0.5, step=3), "--set", "b.factor=0.5", *more)
            self.assertAlmostEqual(row["a.y"], 4, 9)
            self.assertAlmostEqual(row["b.y"], 2, 9)
        row, _ = self.start_of(f"a={one}", f"b={FEEDTHROUGH}", *DiscreteLoops.HIGH, *settings(offset=1, step=1, limit=0.5))
        self.assertEqual((row["a.y"], row["a.high"]), (2, 1))

    def test_float32(self):
        """Solved as those of Float64 are, to the digits that a Float32 has: also where repetition would not lead to rest."""
        units = f"a={kit_fmu('Feedthrough', '3')}", f"b={kit_fmu('Feedthrough', '3')}", "--connect", "b.float32_out=a.float32_in"
        for connection, y in (("*-2+3", 1), ("*0.5+1", 2), ("*-1+1", 0.5)):
            row, stats = self.start_of(*units, "--connect", f"a.float32_out{connection}=b.float32_in")
            self.assertAlmostEqual(row["a.float32_out"], y, 6)
            self.assertEqual(stats["init_loops"], 1)
        self.assertIn("singular", self.fails(*units, "--connect", "a.float32_out=b.float32_in", "--set", "a.float32_in=2"))

    def test_fmi1_co_simulation_that_is_made_once(self):
        """It starts with the outputs of its start values, and the rest of the loop is solved for them. With y = 1 + 0.5 u, u = y."""
        once = self.altered(test_fmu("Relation", "1cs"), ("canHandleVariableCommunicationStepSize=",
                                                         'canBeInstantiatedOnlyOncePerProcess="true" canHandleVariableCommunicationStepSize='))
        rows = {}
        for given, y in ((), 1.0), (("--set", "a.u=2"), 2.0), (("--set", "b.float64_in=4"), 1.0):
            for fabric in ((), ("--threads", "2"), ("--processes", "2")):
                with self.subTest(given=given, fabric=fabric):
                    outcome = self.tutti("run", f"a={once}", f"b={FEEDTHROUGH}", *LOOP, *settings(factor=0.5, offset=1), *given, *fabric, *JACOBI,
                                         "--step", "0.1", "--stop", "4", "--record", "*.y", "--record", "*.float64_out")
                    for words in ("warning: a: is part of an algebraic loop", "made once only", "start values of 'u'", "--set"):
                        self.assertIn(words, outcome.err)
                    rows.setdefault(given, self.result().rows)
                    self.assertEqual(self.result().rows, rows[given])
                    column = self.result()["a.y"]
                    self.assertEqual(column[0], y)
                    self.assertEqual(self.result()["b.float64_out"][0], y)
                    self.assertAlmostEqual(column[-1], 2, 4)  # the loop converges with its steps

    def test_others_in_the_loop_of_one_that_is_made_once(self):
        """They are solved for as if its outputs were given: here a loop of two remains, c = 1 + 0.5 d + a, d = c."""
        once = self.altered(test_fmu("Relation", "1cs"), ("canHandleVariableCommunicationStepSize=",
                                                         'canBeInstantiatedOnlyOncePerProcess="true" canHandleVariableCommunicationStepSize='))
        outcome = self.tutti("run", f"a={once}", f"c={SPACE}", f"d={FEEDTHROUGH}", "--set", "a.offset=3", "--set", "a.factor=0.1",
                             "--set", "c.n=0", "--set", "c.m=2", "--set", "c.r=1", "--set", "c.D=0.5,1", "--connect", "c.y[1]=d.float64_in",
                             "--connect", "d.float64_out=c.u[1]", "--connect", "a.y=c.u[2]", "--connect", "d.float64_out=a.u",
                             "--stop", "0.1", "--step", "0.1", "--quiet", "-o", "-")
        table = Table(outcome.out)
        self.assertEqual(table["a.y"][0], 3)
        self.assertAlmostEqual(table["c.y[1]"][0], 6, 9)

    def test_fmi1_co_simulation_behind_a_loop(self):
        row, _ = self.start_of(f"c={kit_fmu('Feedthrough', '1cs')}", f"a={test_fmu('Relation', '3')}",
                               f"b={FEEDTHROUGH}",
                               *LOOP, *settings(offset=3, factor=-0.5), "--connect", "a.y=c.float64_in")
        self.assertAlmostEqual(row["c.float64_out"], 2, 9)


class DiscreteLoops(StartTest):
    HIGH = ["--connect", "a.high=b.boolean_in", "--connect", "b.boolean_out=a.up"]

    def test_they_come_to_rest(self):
        for version in ("2", "3"):
            for offset, expected in ((2, (5, 1)), (0, (0, 0))):
                row, stats = self.start_of(f"a={test_fmu('Relation', version)}", f"b={kit_fmu('Feedthrough', version)}",
                                           *self.HIGH, *settings(offset=offset, step=3, limit=1))
                self.assertEqual((row["a.y"], row["a.high"]), expected)
                self.assertEqual(row["b.boolean_out"], expected[1])
                self.assertEqual((stats["init_loops"], stats["init_iterations"]), (1, 0))

    def test_together_with_real_ones(self):
        """y = 2 - y^3 + 8 (y > 0.5): 1 as long as nobody says that it is above the limit, then 2."""
        for kind, version in RELATIONS:
            with self.subTest(kind=kind, version=version):
                row, _ = self.start_of(f"a={test_fmu(kind, version)}", f"b={kit_fmu('Feedthrough', '3')}", *LOOP,
                                       *self.HIGH, *settings(offset=2, cubic=-1, step=8, limit=0.5))
                self.assertAlmostEqual(row["a.y"], 2, 6)
                self.assertEqual(row["a.high"], 1)

    def test_they_never_rest(self):
        message = self.fails(f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *self.HIGH,
                             *settings(offset=2, step=-5, limit=1))
        for words in ("does not come to rest", "'a.high'", "'b.boolean_out'", "--set"):
            self.assertIn(words, message)


class NoSolution(StartTest):
    def check(self, message, *words):
        for text in ("a.y = ", "b.float64_out = ", "residual", "at the start", "--set", *words):
            self.assertIn(text, message)

    def test_singular(self):
        """y = y + 1."""
        for kind, version in RELATIONS:
            message = self.fails(f"a={test_fmu(kind, version)}", f"b={FEEDTHROUGH}", *LOOP, *settings(offset=1,
                                                                                                      factor=1))
            self.check(message, "singular", "2 unknowns")

    def test_no_real_one(self):
        """y = 1 + y^2."""
        for kind, version in RELATIONS:
            self.check(self.fails(f"a={test_fmu(kind, version)}", f"b={FEEDTHROUGH}", *LOOP,
                                  *settings(offset=1, square=1, u=0.3), "--set", "b.float64_in=0.3"))

    def test_outside_of_the_domain(self):
        """y = -1 - sqrt(y)."""
        self.check(self.fails(f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *LOOP,
                              *settings(offset=-1, root=-1, u=1), "--set", "b.float64_in=1"))

    def test_a_unit_that_fails_in_the_loop(self):
        fmu = kit_fmu("Faulty", "2")
        outcome = self.tutti("run", f"a={fmu}", f"b={TRACKER}", "--connect", "b.error=a.u", "--connect", "a.y=b.u",
                             "--quiet", env={"KIT_FAULT": "error GetReal @a"}, status=1)
        self.assertRegex(outcome.err, r"a \(.*fmi2GetReal returned Error")

    def test_many_unknowns_are_not_all_named(self):
        units = [f"r{n}={test_fmu('Relation', '2')}" for n in range(40)]
        wires = [word for n in range(40) for word in ("--connect", f"r{n}.y=r{(n + 1) % 40}.u")]
        factors = [word for n in range(40) for word in ("--set", f"r{n}.factor=1")]
        message = self.fails(*units, *wires, *factors, "--set", "r0.offset=1")
        self.assertIn("40 unknowns", message)
        self.assertIn("more", message)
        self.assertLess(len(message), 3000)


class Analysis(StartTest):
    def analyse(self, *arguments, status=0):
        return json.loads(self.tutti("analyze", *arguments, "--json", status=status).out)

    def test_a_loop(self):
        for kind, exact in (("Relation", True), ("PlainRelation", False)):
            told = self.analyse(f"a={test_fmu(kind, '2')}", f"b={test_fmu(kind, '3')}", "--connect", "a.y=b.u",
                                "--connect",
                                "b.y=a.u", *settings(factor=-0.5, offset=1), "--set", "b.factor=0.5")
            loop, = told["loops"]
            self.assertEqual(sorted(loop["variables"]), ["a.u", "a.y", "b.u", "b.y"])
            self.assertAlmostEqual(loop["rho"], 0.5, 6)
            self.assertEqual(loop["exact"], exact)
            self.assertAlmostEqual(told["rho"], 0.5, 6)
            self.assertTrue(told["initialised"])

    def test_no_loop(self):
        told = self.analyse(f"b={TRACKER}", f"a={TRACKER}", "--connect", "a.y=b.u", "--set", "b.u=3")
        self.assertEqual((told["loops"], told["rho"], told["units"], told["connections"]), ([], 0, 2, 1))
        self.assertEqual(told["order"], [{"do": "get", "variables": ["a.y"]}, {"do": "set", "variables": ["b.u"]}])
        self.assertEqual(told["pointless"], ["b.u"])

    def test_a_loop_without_a_solution(self):
        told = self.analyse(f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *LOOP, *settings(offset=1, factor=1),
                            status=1)
        self.assertFalse(told["initialised"])
        self.assertIn("a.y = ", told["failure"])
        self.assertEqual(len(told["loops"]), 1)

    def test_discrete_values_have_no_rho(self):
        told = self.analyse(f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *DiscreteLoops.HIGH)
        self.assertIsNone(told["rho"])
        self.assertIn("discrete", told["loops"][0]["why_not"])

    def test_for_people(self):
        outcome = self.tutti("analyze", f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *LOOP,
                             *settings(factor=0.5))
        self.assertRegex(outcome.out, r"loops +1")
        self.assertRegex(outcome.out, r"a\.u, a\.y, b\.float64_in, b\.float64_out")

    def test_rho_tells_what_a_run_does(self):
        """Explicit coupling over a loop: values die away below 1, and run away above."""
        for factor in (0.8, 1.25):
            arguments = (f"a={test_fmu('Relation', '2')}", f"b={FEEDTHROUGH}", *LOOP, *settings(factor=factor))
            rho = self.analyse(*arguments)["rho"]
            self.assertAlmostEqual(rho, math.sqrt(factor), 6)
            trajectory = self.write("in.csv", "time,a.up\n0,0\n0.15,0\n0.15,1\n0.25,1\n0.25,0\n9,0\n")
            told = self.tutti("run", *arguments, "--set", "a.step=1", "--input", trajectory, "--stop", "9", "--step", "0.1", *JACOBI, "--quiet",
                              "-o", "result.csv")
            self.assertEqual(max(map(abs, self.result()["a.y"][-10:])) > 1, rho > 1)
            self.assertEqual([" is not stable with steps of 0.1: " in line for line in told.lines("warning")], [True] * (rho > 1))


if __name__ == "__main__":
    unittest.main()
