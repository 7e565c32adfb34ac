#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Coupled runs where two things meet: steps of a unit's own and what a file or an FMU announces inside of them, several events at
one point, arrays of which parts are connected, options of a unit against those of the system."""
import json
import math
import os
import pathlib
import random
import shutil
import unittest

from command import JACOBI, ME_VERSIONS, CommandTest, kit_fmu, test_fmu

SSD = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="2.0" name="{name}">
<ssd:System name="root">
<ssd:Connectors>{connectors}</ssd:Connectors>
<ssd:Elements>{elements}</ssd:Elements>
{connections}
</ssd:System>
</ssd:SystemStructureDescription>
"""
LAG = 0.5  # T of the tracker


def connector(name, kind, inside=""):
    return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:Float64/>{inside}</ssd:Connector>'


def component(name, fmu, connectors="", attributes="", settings=""):
    own = f'<ssc:Annotation type="org.tutti"><settings xmlns="org.tutti" {settings}/></ssc:Annotation>'
    annotations = f"<ssd:Annotations>{own}</ssd:Annotations>" if settings else ""
    return (f'<ssd:Component name="{name}" source="{pathlib.Path(fmu).name}" {attributes}>'
            f"<ssd:Connectors>{connectors}</ssd:Connectors>{annotations}</ssd:Component>")


def connection(start, end, more="", inside=""):
    """From and to "element.connector", or a connector of the system itself."""
    text = ""
    for word, name in (("start", start), ("end", end)):
        element, _, inner = name.rpartition(".")
        text += (f'{word}Element="{element}" ' if element else "") + f'{word}Connector="{inner}" '
    return f"<ssd:Connection {text}{more}>{inside}</ssd:Connection>"


class SspTest(CommandTest):
    def ssd(self, fmus, elements, connections=(), connectors="", name="system"):
        """A structure next to copies of its FMUs."""
        for fmu in fmus:
            if not pathlib.Path(self.path(pathlib.Path(fmu).name)).exists():
                shutil.copy(fmu, self.folder)
        wires = f"<ssd:Connections>{''.join(connections)}</ssd:Connections>" if connections else ""
        return self.write(f"{name}.ssd", SSD.format(name=name, connectors=connectors, elements="".join(elements),
                                                    connections=wires))


class StepsOfTheirOwn(SspTest):
    def lagging(self, version, interface, csv, *options):
        """Two trackers, the second one with the longer step and driven by a file: the table."""
        fmu = kit_fmu("Tracker", version)
        return self.simulate(f"a={fmu}", f"b={fmu}", "--connect", "b.y=a.u", "--interface", interface, "--input",
                             self.write("input.csv", csv), "--step", "0.1", "--step", "b=0.4", "--stop", "1.2", "--record",
                             "b.y", "--record", "a.u", *options)

    def test_a_jump_of_the_file_inside_of_a_long_step_is_hit(self):
        jump = "time,b.u\n0,0\n0.13,0\n0.13,1\n1,1\n"
        for version in ("2", "3"):
            for interface, tolerance in (("cs", 1e-8), ("me", 1e-8)):
                with self.subTest(version=version, interface=interface):
                    precise = ("--rtol", "1e-10") if interface == "me" else ()
                    table = self.lagging(version, interface, jump, *precise)
                    self.assertEqual(table.times, [n * 0.1 for n in range(12)] + [1.2])
                    exact = [1 - math.exp(-(t - 0.13) / LAG) for t in (0.4, 0.8, 1.2)]
                    self.assert_near([table["b.y"][n] for n in (4, 8, 12)], exact, tolerance)
                    self.assertEqual([table["b.y"][n] for n in (5, 6, 7)], 3 * [table["b.y"][4]])  # seen at its end only

    def test_a_kink_of_the_file_inside_of_a_long_step_is_hit(self):
        kink = "time,b.u\n0,0\n0.13,0\n1.13,1\n2,1\n"
        for version in ME_VERSIONS:
            table = self.lagging(version, "me", kink, "--rtol", "1e-10")
            ramp = [(t - 0.13) - LAG * (1 - math.exp(-(t - 0.13) / LAG)) for t in (0.4, 0.8)]
            self.assert_near([table["b.y"][4], table["b.y"][8]], ramp, 1e-8)

    def test_an_event_of_the_file_inside_of_a_long_step_reaches_event_mode(self):
        fmu, alarm = kit_fmu("Feedthrough", "3"), test_fmu("Alarm", "3")
        csv = self.write("input.csv", "time,b.int32_in\n0,0\n0.13,5\n1,5\n")
        table = self.simulate(f"a={alarm}", f"b={fmu}", "--input", csv, "--step", "0.1", "--step", "b=0.4", "--stop", "0.8",
                              "--record", "b.int32_out")
        self.assertEqual(table["b.int32_out"], 4 * [0] + 5 * [5])

    def test_what_a_unit_announces_inside_of_its_long_step_is_hit(self):
        alarm = test_fmu("Alarm", "3")
        table = self.simulate(f"a={alarm}", f"b={alarm}", "--set", "a.at=5", "--set", "b.at=0.13", "--step", "0.1", "--step",
                              "b=0.4", "--stop", "0.8")
        self.assertEqual(table["b.last"], 4 * [-1] + 5 * [0.13])

    def test_one_unit_with_a_long_step_in_a_system(self):
        ball = kit_fmu("BouncingBall", "3")
        ssd = self.ssd([ball], [component("ball", ball)])
        table = self.simulate(ssd, "--step", "0.1", "--step", "ball=0.2", "--stop", "1")
        alone = self.simulate(ball, "--step", "0.2", "--stop", "1", "--record", "h")
        last = dict(zip(alone.times, alone["h"]))  # behind events
        self.assertEqual(table.times, [n * 0.1 for n in range(10)] + [1])
        self.assert_near([table["ball.h"][n] for n in (2, 4, 6, 8, 10)], [last[n * 0.2] for n in range(1, 5)] + [last[1]],
                         1e-9)


class Events(CommandTest):
    def test_what_units_see_at_an_event_does_not_hang_on_their_order(self):
        units = {"s": kit_fmu("Stair", "3"), "d": kit_fmu("Dahlquist", "3"), "b": kit_fmu("Feedthrough", "3"),
                 "c": kit_fmu("Feedthrough", "3")}
        seen = []
        for order in ("sdcb", "sdbc", "cbds"):
            names = [f"{name}={units[name]}" for name in order]
            table = self.simulate(*names, "--connect", "s.counter=c.int32_in", "--connect", "s.counter=b.int32_in",
                                  "--connect", "d.x=c.float64_in", "--connect", "c.float64_out=b.float64_in", "--stop", "1.2",
                                  "--step", "0.1", "--record", "*.float64_out", "--record", "d.x")
            self.assertEqual(table.times.count(1), 2)
            seen.append({name: table[name] for name in ("time", "b.float64_out", "c.float64_out", "d.x")})
            after = 11  # behind the event: everybody has what the others had before it
            self.assertEqual(table["b.float64_out"][after], table["c.float64_out"][after - 1])
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])

    def test_times_that_differ_by_rounding_are_one_event(self):
        alarm = test_fmu("Alarm", "3")
        for first, second in (("0.3", "0.30000000000000004"), ("0.30000000000000004", "0.3")):
            for interface in ("cs", "me"):
                table = self.simulate(f"a={alarm}", f"b={alarm}", "--set", f"a.at={first}", "--set", f"b.at={second}",
                                      "--step", "0.1", "--stop", "0.5", "--interface", interface)
                self.assertEqual(len(table), 7)
                self.assertEqual([table["a.rings"], table["b.rings"]], 2 * [4 * [0] + 3 * [1]])


    def test_the_stop_is_the_end_whatever_is_announced_next_to_it(self):
        alarm = test_fmu("Alarm", "3")
        for at in ("0.3", "0.30000000000000004", "0.29999999999999993"):
            for units in ([alarm], [f"a={alarm}", f"b={alarm}"]):
                name = "at" if len(units) == 1 else "a.at"
                table = self.simulate(*units, "--set", f"{name}={at}", "--step", "0.1", "--stop", "0.3")
                self.assertEqual(max(table.times), 0.3)
                self.assertLessEqual(table.times.count(0.3), 2)
                self.assertEqual(len(set(table.times)), 4)

    def test_a_time_that_is_missed_by_rounding_comes_next(self):
        """The step of b ends at 0.3, an event of a; its own is announced for the next double."""
        alarm = test_fmu("Alarm", "3")
        for interface in ("cs", "me"):
            table = self.simulate(f"a={alarm}", f"b={alarm}", "--set", "a.at=0.3", "--set", "b.at=0.30000000000000004",
                                  "--step", "0.1", "--step", "b=0.3", "--stop", "0.9", "--interface", interface)
            self.assertEqual((table["a.rings"][-1], table["b.rings"][-1]), (1, 1))
            self.assert_near(table["b.last"][-1:], [0.3], 1e-15)


class Order(CommandTest):
    """The same system, its units and connections named in another order: the same to the bit, whatever happens in it."""

    # model: reals out and in, integers out and in
    MODELS = {
        ("Feedthrough", "1cs"): (("float64_out",), ("float64_in",), ("int32_out",), ("int32_in",)),
        ("Feedthrough", "2"): (("float64_out",), ("float64_in",), ("int32_out",), ("int32_in",)),
        ("Feedthrough", "3"): (("float64_out",), ("float64_in",), ("int32_out",), ("int32_in",)),
        ("Tracker", "1me"): (("y",), ("u",), (), ()),
        ("Tracker", "2"): (("y",), ("u",), (), ()),
        ("Tracker", "3"): (("y",), ("u",), (), ()),
        ("BouncingBall", "3"): (("h", "v"), (), ("bounces",), ()),
        ("Stair", "3"): ((), (), ("counter",), ()),
        ("Alarm", "3"): ((), (), ("rings",), ()),
    }

    def system(self, dice, cycles):
        """Units by name, connections and options. Without algebraic loops: their solution is only as exact as Newton's. Without
        cycles: also no steps of their own."""
        models = sorted(self.MODELS) + 3 * [("Feedthrough", "3"), ("Stair", "3")]  # events, above all
        units = {f"u{i}": dice.choice(models) for i in range(dice.randint(3, 8))}
        connections, options = [], ["--step", "0.1", "--stop", dice.choice(("1.5", "2.35"))]
        for here, model in units.items():
            for kind in (0, 2):
                sources = [f"{there}.{name}" for there, other in units.items() for name in self.MODELS[other][kind]
                           if there < here or (cycles and there != here and "Feedthrough" not in (model[0], other[0]))]
                for name in self.MODELS[model][kind + 1]:
                    if sources and dice.random() < 0.8:
                        connections.append(f"{dice.choice(sources)}={here}.{name}")
            if cycles and dice.random() < 0.3:
                options += ["--step", f"{here}={dice.choice(('0.2', '0.3', '0.4'))}"]
            if model[0] == "Alarm":
                options += ["--set", f"{here}.at={dice.choice((0.3, 0.1 * 3, 0.25, 0.77))!r}", "--set",
                            f"{here}.again={dice.choice((0, 0.5, 0.31))}"]
        return units, connections, options

    def run_twice(self, seed, cycles, *master):
        dice = random.Random(seed)
        units, connections, options = self.system(dice, cycles)
        tables = []
        for _ in range(2):
            arguments = [f"{name}={(test_fmu if model[0] == 'Alarm' else kit_fmu)(*model)}"
                         for name, model in dice.sample(sorted(units.items()), len(units))]
            for line in dice.sample(connections, len(connections)):
                arguments += ["--connect", line]
            table = self.simulate(*arguments, *options, *master)
            tables.append({name: table.texts(name) for name in table.header})
        self.assertEqual(tables[0], tables[1], f"seed {seed}: {units}, {connections}, {options}")

    def test_any_order(self):
        for seed in range(20):
            self.run_twice(seed, True, *JACOBI)

    def test_any_order_of_those_that_step_one_after_the_other(self):
        """Only where a cycle has to be cut does it matter who is listed first."""
        for seed in range(20):
            self.run_twice(seed, False)


class Arrays(SspTest):
    def test_elements_that_are_set_and_not_connected(self):
        units = f"a={kit_fmu('Dahlquist', '3')}", f"b={kit_fmu('StateSpace', '3')}"
        wired = "--connect", "a.x=b.u[1]"
        table = self.simulate(*units, *wired, "--set", "b.u[2]=7", "--step", "0.1", "--stop", "0.3", "--record", "b.u*")
        self.assertEqual(table["b.u[2]"], 4 * [7])
        self.assertEqual(table["b.u[1]"][0], 1)
        for setting, pointless in (("b.u[1]=7", ["b.u[1]"]), ("b.u[2]=7", [])):
            said = json.loads(self.tutti("analyze", *units, *wired, "--set", setting, "--json").out)
            self.assertEqual(said["pointless"], pointless)

    def test_elements_that_are_set_and_not_driven(self):
        csv = self.write("input.csv", "time,u[1]\n0,0\n1,1\n")
        table = self.simulate(kit_fmu("StateSpace", "3"), "--set", "u[2]=7", "--input", csv, "--step", "0.1", "--stop",
                              "0.3", "--record", "u*")
        self.assertEqual(table["u[2]"], 4 * [7])
        self.assert_near(table["u[1]"], [0, 0.1, 0.2, 0.3], 1e-15)

    def test_a_pattern_for_what_another_one_has_chosen(self):
        table = self.simulate(kit_fmu("StateSpace", "3"), "--record", "y", "--record", "y[1]", "--stop", "0.1")
        self.assertEqual(table.header, ["time", "y[1]", "y[2]"])

    def test_arrays_move_inside_of_a_step(self):
        """Two lags in arrays that follow each other are the same as four of them one by one; the error falls with the square of the step where
        inputs move, with the step itself where they are held."""
        pair, one = test_fmu("Followers", "3"), test_fmu("Follower", "3")
        names = ("a1", "a2", "b1", "b2")
        starts = dict(zip(names, (1, 2, 0, -1)))
        ends = {}
        for extrapolate in ("0", "1"):
            for step in (0.1, 0.05):
                master = ("--coupling", "jacobi", "--step", str(step), "--extrapolate", extrapolate, "--stop", "1")
                arrays = self.simulate(f"a={pair}", f"b={pair}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.x=1 2",
                                       "--set", "b.x=0 -1", *master, "--record", "*.y*")
                scalars = self.simulate(*(f"{name}={one}" for name in names), *(word for name, other in zip(names, ("b1", "b2", "a1", "a2"))
                                        for word in ("--connect", f"{name}.x={other}.u")),
                                        *(word for name in names for word in ("--set", f"{name}.x={starts[name]}")), *master, "--record", "*.x")
                ends[extrapolate, step] = arrays["a.y[1]"][-1]
                self.assert_near(arrays["b.y[2]"], scalars["b2.x"], 1e-13)
        exact = 0.5 + 0.5 * math.exp(-4)  # x' = 2 (y - x), y' = 2 (x - y)
        errors = {key: abs(value - exact) for key, value in ends.items()}
        self.assertGreater(errors["1", 0.1] / errors["1", 0.05], 3.2)
        self.assertLess(errors["0", 0.1] / errors["0", 0.05], 2.4)
        self.assertLess(errors["1", 0.1], errors["0", 0.1] / 3)

    def matrix(self):
        """A matrix of which the middle one of three elements comes from the system's own input."""
        a, b = kit_fmu("Dahlquist", "3"), kit_fmu("Feedthrough", "3")
        matrix = connector("matrix_in", "input", '<ssc:Dimension size="2"/><ssc:Dimension size="3"/>')
        ends = (("a.x", "1 1"), ("p", "1 2"), ("a.x", "1 3"))
        return self.ssd([a, b], [component("a", a, connector("x", "output")), component("b", b, matrix)],
                        [connection(start, "b.matrix_in", f'endIndices="{end}"') for start, end in ends],
                        connector("p", "input"))

    def test_a_port_between_connected_elements(self):
        table = self.simulate(self.matrix(), "--step", "0.1", "--stop", "0.1", "--record", "a.x", "--record",
                              "b.matrix_out", "--set", "b.matrix_in[2,2]=9")
        self.assertEqual([table[f"b.matrix_out[{place}]"][0] for place in ("1,1", "1,2", "1,3", "2,1", "2,2")],
                         [1, 0, 1, 0, 9])

    def test_an_array_is_driven_or_connected(self):
        csv = self.write("input.csv", "time,p\n0,5\n1,6\n")
        self.refused("run", self.matrix(), "--input", csv, status=2, says=["input.csv: column 'p'", "'a.x'", "array"])


class Options(SspTest):
    def test_a_solver_for_those_that_need_one(self):
        fmu = kit_fmu("Tracker", "2")
        ends = connector("u", "input") + connector("y", "output")
        elements = [component("a", fmu, ends, 'implementation="CoSimulation"'),
                    component("b", fmu, ends, 'implementation="ModelExchange"')]
        ssd = self.ssd([fmu], elements, [connection("a.y", "b.u"), connection("b.y", "a.u")])
        self.tutti("run", ssd, "--solver", "cvode", "--stop", "1", "--stats", "stats.json")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            units = json.load(file)["units"]
        self.assertEqual([(unit["interface"], unit["solver"]) for unit in units], [("cs", None), ("me", "cvode")])
        self.refused("run", ssd, "--solver", "cvode", "--interface", "cs", status=2, says=["--solver cvode", "cs"])

    def test_the_longest_step_of_a_control_is_none_of_a_solver_with_steps_of_one_size(self):
        fmu = kit_fmu("Tracker", "2")
        table = self.simulate(f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--interface", "me", "--solver", "rk4",
                              "--h-max", "0.125", "--control", "embedded", "--rtol", "0.1", "--step", "0.125", "--stop", "2")
        self.assertEqual(table.times, [n * 0.125 for n in range(17)])

    def test_a_negated_alias_at_a_port(self):
        fmu = self.altered(kit_fmu("Dahlquist", "1cs"), ('causality="output">', 'causality="output" alias="negatedAlias">'))
        linear = '<ssc:LinearTransformation factor="2" offset="1"/>'
        ports = connector("plain", "output") + connector("converted", "output")
        ssd = self.ssd([fmu], [component("a", fmu, connector("x", "output"))],
                       [connection("a.x", "plain"), connection("a.x", "converted", inside=linear)], ports)
        outcome = self.tutti("run", ssd, "--stop", "1", "--step", "0.5", "-o", "result.csv", "--quiet")
        self.assertEqual(outcome.lines("error"), [])
        table = self.result()
        self.assertLess(max(table["plain"]), 0)
        self.assert_near(table["converted"], [1 + 2 * x for x in table["plain"]], 1e-15)
        self.assertEqual(table["a.x"], table["plain"])


class Names(CommandTest):
    def test_file_names_that_are_no_text(self):
        """JSON is UTF-8, file names are bytes."""
        name = os.fsdecode(b"odd\xff.fmu")
        shutil.copy(kit_fmu("Dahlquist", "2"), self.folder / name)
        said = json.loads(self.tutti("analyze", name, "--json").out)
        self.assertEqual(said["system"], "odd?")


class Loops(CommandTest):
    def test_a_loop_through_fmi_1_model_exchange(self):
        """error = u - x and u = error / 2: error = -2 x."""
        units = f"a={kit_fmu('Tracker', '1me')}", f"b={kit_fmu('Feedthrough', '2')}"
        table = self.simulate(*units, "--connect", "a.error=b.float64_in", "--connect", "b.float64_out=a.u", "--set",
                              "a.x=1.5", "--set", "b.gain=0.5", "--step", "0.1", "--stop", "0.1", "--record", "a.error",
                              "--record", "b.float64_out")
        self.assert_near([table["a.error"][0], table["b.float64_out"][0]], [-3, -1.5], 1e-9)


    def test_a_point_that_a_model_refuses_is_walked_round(self):
        """u = 1 - 10 sqrt(u), with Discard for u < 0, where Newton's method would go first."""
        exact = (math.sqrt(26) - 5) ** 2
        for version in ("2", "3"):
            for guess in ("4", "30"):
                units = f"a={test_fmu('Narrow', version)}", f"b={kit_fmu('Feedthrough', version)}"
                table = self.simulate(*units, "--connect", "a.y=b.float64_in", "--connect", "b.float64_out=a.u", "--set",
                                      "a.factor=10", "--set", f"a.u={guess}", "--set", f"b.float64_in={guess}", "--stop",
                                      "0.1", "--record", "a.y", "--output-step", "0.1")
                self.assert_near(table["a.y"][:1], [exact], 1e-9)


if __name__ == "__main__":
    unittest.main()
