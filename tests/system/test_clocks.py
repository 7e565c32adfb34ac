#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clocks of FMI 3.0 and Scheduled Execution: ticks against exact fractions, a controller against the exact sampled loop, random systems of
clocks against an oracle, and what is refused."""
import csv
import json
import math
import random
import re
import unittest
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

from command import description, kit_fmu, test_fmu
from fabrics import FabricTest
from systems import component, connection, connector, ssd, system, words

CLOCKS, PLANT = kit_fmu("Clocks", "3"), kit_fmu("StateSpace", "3")
# Ways to make and to choose steps, all of which clocks tick the same with.
MASTERS = (*(("--coupling", name) for name in ("jacobi", "seidel", "relax", "newton", "strong", "kinematic")),
           *(("--rtol", "1e-6", "--control", name) for name in ("embedded", "richardson", "slope", "converge", "diverge")),
           ("--control", "quantum", "--quantum", "0.01"), ("--rtol", "1e-6"),
           *(("--rtol", "1e-6", "--coupling", name) for name in ("jacobi", "relax", "newton", "strong")))


def rows_of(content):
    """The rows of a CSV file, as numbers by name."""
    return [{name: float(value) for name, value in row.items()}
            for row in csv.DictReader(content.decode().splitlines())]


def every_clock(stop):
    """The ticks of kit/models/Clocks.c, as (time, place of the clock), in order."""
    ticks, stop = [], Fraction(stop)
    periods = {1: ("1/200", "1/100"), 2: ("1/20", "1/10"), 3: ("0", "1/30"), 4: ("1/1000", "70/1000"), 5: ("0", "110/1000")}
    for place, (shift, period) in periods.items():
        t = Fraction(shift)
        while t <= stop:
            ticks.append((t, place))
            t += Fraction(period)
    t = Fraction(1, 10)
    for count in range(1, 10**6):
        if t > stop:
            break
        ticks.append((t, 6))
        t += Fraction(count % 3 + 1, 10)
    constant = sorted(t for t, place in ticks if place == 1)
    ticks += [(t + Fraction(1, 70), 7) for t in constant[2::3] if t + Fraction(1, 70) <= stop]
    return sorted(ticks)


class Ticks(FabricTest):
    def test_intervals_of_the_user(self):
        """The fixed clock ticks as it is told, in all interfaces, to the digit; the FMU has been told, too."""
        for interface in ("cs", "me", "se"):
            for given, interval in (("1/50", Fraction(1, 50)), ("0.3", Fraction(3, 10)), ("1/7", Fraction(1, 7))):
                rows = rows_of(self.ran(CLOCKS, "--interface", interface, "--stop", "3", "--clock", f"told={given}").files["result.csv"])
                count = int(3 / interval) + 1
                self.assertEqual((rows[-1]["told_count"], rows[-1]["told_time"]), (count, float((count - 1) * interval)))
        loop = ("--connect", "p.y[1]=c.y", "--connect", "c.u=p.u[1]", "--stop", "0.1")
        outcome = self.ran(f"p={PLANT}", f"c={kit_fmu('PI', '3')}", *loop, "--clock", "c.tick=1/200")
        self.assertEqual(rows_of(outcome.files["result.csv"])[-1]["c.count"], 21)

    def test_every_kind_of_clock(self):
        expected = every_clock("3")
        for interface in ("cs", "me", "se"):
            with self.subTest(interface=interface):
                rows = rows_of(self.ran(CLOCKS, "--interface", interface, "--stop", "3").files["result.csv"])
                order, counts = 0, dict.fromkeys(range(1, 8), 0)
                names = ("constant", "decimal", "told", "computed", "tunable", "changing", "countdown")
                last = {row["time"]: row for row in rows}
                times = sorted({t for t, _ in expected})
                self.assertLessEqual({float(t) for t in times}, set(last))
                for t in times:
                    for place in sorted(place for at, place in expected if at == t):
                        order = (order * 31 + place) % 1000003
                        counts[place] += 1
                        self.assertEqual(last[float(t)][f"{names[place - 1]}_time"], float(t))
                    self.assertEqual(last[float(t)]["order"], order, f"t = {t}")
                    for place, name in enumerate(names, 1):
                        self.assertEqual(last[float(t)][f"{name}_count"], counts[place], f"{name} at t = {t}")

    def test_rows_before_and_after(self):
        rows = rows_of(self.ran(CLOCKS, "--stop", "0.02", "--record", "constant_count").files["result.csv"])
        at = [row["constant_count"] for row in rows if row["time"] == 0.005]
        self.assertEqual(at, [0, 1])

    def test_a_state_event_makes_a_clock_tick(self):
        """The angle is t + t^2/4, teeth are 0.3 apart."""
        teeth = [(-1 + (1 + 0.3 * k) ** 0.5) * 2 for k in range(1, 5)]
        for interface in ("cs", "me"):
            with self.subTest(interface=interface):
                ran = self.ran(f"crank={kit_fmu('Crank', '3')}", f"c={CLOCKS}", "--connect", "crank.tooth=c.triggered",
                               "--interface", interface, "--stop", "1", "--record", "c.triggered_*")
                rows = rows_of(ran.files["result.csv"])
                found = {row["c.triggered_count"]: row["c.triggered_time"] for row in rows if row["c.triggered_count"] > 0}
                self.assertEqual(sorted(found), [float(k) for k in range(1, len([t for t in teeth if t <= 1]) + 1)])
                for count, time in found.items():
                    self.assertAlmostEqual(time, teeth[int(count) - 1], delta=1e-3 if interface == "me" else 1e-5)
                self.assertNotIn("inside of a step", ran.err)

    def test_a_tick_inside_of_a_step_is_heard_at_its_end(self):
        for interface in ("cs", "me"):
            with self.subTest(interface=interface):
                ran = self.ran(f"crank={kit_fmu('Crank', '3')}", f"c={CLOCKS}", "--connect", "crank.tooth=c.triggered",
                               "--interface", interface, "--stop", "1", "--events", "none")
                self.assertEqual(ran.status, 0, ran.err)
                self.assertEqual(ran.err.count("the clock 'tooth' ticked at t = 0.28035"), 1, ran.err)
                self.assertEqual(ran.err.count("inside of a step"), 1, ran.err)


def sampled_loop(steps, period=0.01, gain=1.0, per_tick=0.1):
    """A double integrator under a PI controller whose output is held: exact from tick to tick."""
    x, v, integral, out = 0.0, 0.0, 0.0, []
    for _ in range(steps):
        error = 1 - x
        integral += per_tick * error
        u = gain * error + integral
        out.append((x, u))
        x, v = x + period * v + period * period / 2 * u, v + period * u
    return out


class Loop(FabricTest):
    def write(self):
        """A sensor of Co-Simulation, a controller of Scheduled Execution, a plant of Model Exchange: a double integrator."""
        parts = (component("sensor", kit_fmu("Sampler", "3"), connector("u", "input"), connector("y", "output"),
                           connector("ready", "output", "Clock"), inside=words(interface="cs")),
                 component("control", kit_fmu("PITriggered", "3"), connector("y", "input"), connector("u", "output"),
                           connector("tick", "input", "Clock"), inside=words(interface="se")),
                 component("plant", test_fmu("Push", "3"), connector("u", "input"), connector("x", "output"),
                           inside=words(interface="me", solver="rk4", solver_step="0.01")))
        wires = "".join(connection(*ends) for ends in (("plant.x", "sensor.u"), ("sensor.y", "control.y"), ("sensor.ready", "control.tick"),
                                                       ("control.u", "plant.u")))
        path = self.path("loop.ssd")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ssd(system(*parts, connect=wires), version="2.0"))
        return path

    def test_a_controller_in_three_interfaces(self):
        path = self.write()
        plain = self.same(path, "--stop", "2", "--step", "0.01", fabrics=self.fabrics())
        rows = {row["time"]: row for row in rows_of(plain.files["result.csv"])}
        for k, (x, u) in enumerate(sampled_loop(200)):
            row = rows[float(Fraction(k, 100))]
            self.assertAlmostEqual(row["sensor.y"], x, delta=1e-12 * max(1, abs(x)))
            self.assertAlmostEqual(row["control.u"], u, delta=1e-12 * max(1, abs(u)))

    def test_masters_and_checkpoints(self):
        path = self.write()
        plain = self.ran(path, "--stop", "0.5", "--step", "0.01")
        for options in (*MASTERS, ("--events", "none")):
            with self.subTest(options=options):
                other = self.ran(path, "--stop", "0.5", "--step", "0.01", *options)
                self.assertEqual(other.status, 0, other.err)
                rows = {row["time"]: row for row in rows_of(other.files["result.csv"])}
                for k, (x, u) in enumerate(sampled_loop(50)):
                    self.assertAlmostEqual(rows[float(Fraction(k, 100))]["sensor.y"], x, delta=1e-11)
                    self.assertAlmostEqual(rows[float(Fraction(k, 100))]["control.u"], u, delta=1e-11)
        self.tutti("run", path, "--stop", "0.5", "--step", "0.01", "--checkpoint", "half.ckpt", "--every", "0.25", "-o", "again.csv")
        self.tutti("run", path, "--stop", "0.5", "--step", "0.01", "--resume", "half.ckpt", "-o", "again.csv")
        with open(self.path("again.csv"), "rb") as file:
            self.assertEqual(file.read(), plain.files["result.csv"])


class Continuous(FabricTest):
    """Two units whose coupling has an error, so that steps are taken back, and clocks that tick meanwhile: x = cos t."""

    def run_with(self, interface, *options, step=(), same=False):
        push, ends = test_fmu("Push", "3"), ("a.x=b.u", "b.x=a.u", "a.x=s.u", "s.ready=beat.triggered")
        values = ("a.x=1", "b.x=-1", "beat.modulo=0", "beat.counter=3")
        arguments = (f"a={push}", f"b={push}", f"s={kit_fmu('Sampler', '3')}", f"beat={test_fmu('Beat', '3')}",
                     *(word for end in ends for word in ("--connect", end)), *(word for value in values for word in ("--set", value)),
                     "--interface", interface, "--stop", "1", *step, *options)
        return self.same(*arguments, fabrics=self.fabrics()) if same else self.ran(*arguments)

    def test_steps_that_are_taken_back(self):
        for interface in ("cs", "me"):
            rejected = 0
            for options in MASTERS:
                with self.subTest(interface=interface, options=options):
                    varies = "--rtol" in options
                    ran = self.run_with(interface, *options, step=() if varies else ("--step", "0.001"))
                    self.assertEqual(ran.status, 0, ran.err)
                    last = {row["time"]: row for row in rows_of(ran.files["result.csv"])}
                    rejected += ran.stats["rejected"]
                    for k in range(101):
                        row = last[float(Fraction(k, 100))]
                        self.assertEqual(row["beat.count"], k + 1 + k // 30 + 1, f"t = {k}/100")
                        self.assertEqual(row["s.y"], row["a.x"], f"t = {k}/100")
                        self.assertAlmostEqual(row["s.y"], math.cos(k / 100), delta=1e-2)
            self.assertGreater(rejected, 20)

    def test_same_bits_on_fabrics(self):
        self.run_with("me", "--rtol", "1e-6", "--control", "embedded", same=True)


class Oracle:
    """A random system of beats (tests/unit/kit/Beat.c), and what becomes of it."""

    def __init__(self, seed):
        numbers = random.Random(seed)
        self.count, self.stop = numbers.randint(2, 6), Fraction(numbers.randint(5, 20), 10)
        self.interface = ("cs", "me", "se", "mixed")[seed % 4]
        self.units = [dict(counter=numbers.randint(1, 9), resolution=numbers.choice((7, 10, 12, 20)), shift=numbers.randint(0, 5),
                           modulo=numbers.randint(0, 3), scheduled=self.interface == "se" or
                           (self.interface == "mixed" and numbers.random() < 0.5)) for _ in range(self.count)]
        self.data = {b: numbers.randrange(self.count) for b in range(self.count) if numbers.random() < 0.7}
        self.data = {b: a for b, a in self.data.items() if a != b}
        self.clocks = {b: numbers.randrange(b) for b in range(1, self.count) if numbers.random() < 0.6}

    def arguments(self):
        out = [] if self.interface == "mixed" else ["--interface", self.interface]
        for n, unit in enumerate(self.units):
            only = unit["scheduled"] and self.interface == "mixed"
            out.append(f"u{n}={test_fmu('BeatSE' if only else 'Beat', '3')}")
            out += [word for name in ("counter", "resolution", "shift", "modulo") for word in ("--set", f"u{n}.{name}={unit[name]}")]
        out += [word for b, a in self.data.items() for word in ("--connect", f"u{a}.v=u{b}.a")]
        out += [word for b, a in self.clocks.items() for word in ("--connect", f"u{a}.out=u{b}.triggered")]
        return [*out, "--stop", repr(float(self.stop)), "--record", "*.v", "--record", "*.count"]

    def order(self):
        """Nodes (unit, clock), each after those that it needs; a circle is cut before the first one."""
        nodes = [(n, clock) for n, unit in enumerate(self.units)
                 for clock in (("triggered", "own") if unit["scheduled"] else (None,))]
        needs = {node: set() for node in nodes}
        for (b, clock_b) in nodes:
            for (a, clock_a) in nodes:
                if a == b:
                    if clock_b == "own" and clock_a == "triggered":
                        needs[b, clock_b].add((a, clock_a))
                elif self.data.get(b) == a or (self.clocks.get(b) == a and clock_b in (None, "triggered")):
                    needs[b, clock_b].add((a, clock_a))
        done, wave = [], {}
        while len(done) < len(nodes):
            ready = [node for node in nodes if node not in done and needs[node] <= set(done)]
            node = (ready or [node for node in nodes if node not in done])[0]
            wave[node] = max((wave[before] + 1 for before in needs[node] if before in wave), default=0)
            done.append(node)
        return sorted(nodes, key=lambda node: (wave[node], nodes.index(node)))

    def run(self):
        """time -> the state after it: (v, count) of every unit."""
        next_own = [Fraction(unit["shift"], unit["resolution"]) for unit in self.units]
        v, count, triggered, out, order = [0] * self.count, [0] * self.count, [False] * self.count, {}, self.order()
        while min(next_own) <= self.stop:
            t = min(next_own)
            while t in next_own or any(triggered):
                for n, clock in order:
                    unit = self.units[n]
                    own = clock in (None, "own") and next_own[n] == t
                    told = clock in (None, "triggered") and triggered[n]
                    a, told_others = (v[self.data[n]] if n in self.data else 0), False
                    for add in ([1] if own else []) + ([2] if told else []):
                        v[n] = (v[n] * 31 + a * 7 + add) % 1000003
                        count[n] += 1
                        told_others = told_others or (unit["modulo"] > 0 and v[n] % unit["modulo"] == 0)
                    if own:
                        next_own[n] += Fraction(unit["counter"], unit["resolution"])
                    if told:
                        triggered[n] = False
                    if told_others:
                        for b, a in self.clocks.items():
                            triggered[b] = triggered[b] or a == n
            out[t] = (tuple(v), tuple(count))
        return out


class Random(FabricTest):
    def test_against_an_oracle(self):
        """Every master with another system; and all systems with what is chosen by itself."""
        for seed, options in ((*((seed, ()) for seed in range(24)), *enumerate(MASTERS), *enumerate(reversed(MASTERS)))):
            oracle = Oracle(seed)
            with self.subTest(seed=seed, interface=oracle.interface, options=options):
                outcome = self.ran(*oracle.arguments(), *options)
                self.assertEqual(outcome.status, 0, outcome.err)
                last = {row["time"]: row for row in rows_of(outcome.files["result.csv"])}
                for t, (v, count) in oracle.run().items():
                    row = last[float(t)]
                    self.assertEqual(tuple(row[f"u{n}.v"] for n in range(oracle.count)), v, f"t = {t}")
                    self.assertEqual(tuple(row[f"u{n}.count"] for n in range(oracle.count)), count, f"t = {t}")

    def test_same_bits_on_fabrics(self):
        for seed in (3, 7, 10):
            self.same(*Oracle(seed).arguments(), fabrics=self.fabrics())


class Schedule(FabricTest):
    def write(self, *lines):
        with open(self.path("schedule.csv"), "w", encoding="utf-8") as file:
            file.write("\n".join(("clock,time,interval", *lines)) + "\n")
        return self.path("schedule.csv")

    def test_a_schedule_makes_clocks_tick(self):
        path = self.write("a.triggered,1/3,", "a.triggered,0.1,1/10", "b.triggered,0.2,")
        for kind in ("Beat", "BeatSE"):
            with self.subTest(kind=kind):
                units = [f"{name}={test_fmu(kind, '3')}" for name in "ab"]
                sets = [word for name in "ab" for word in ("--set", f"{name}.shift=50", "--set", f"{name}.modulo=0")]
                plain = self.same(*units, *sets, "--schedule", path, "--stop", "0.5", "--record", "*.count", fabrics=self.fabrics())
                last = {row["time"]: row for row in rows_of(plain.files["result.csv"])}
                self.assertEqual([last[float(Fraction(t))]["a.count"] for t in ("0", "1/10", "2/10", "3/10", "1/3", "4/10", "5/10")],
                                 [0, 1, 2, 3, 4, 5, 6])
                self.assertEqual((last[0.1]["b.count"], last[0.2]["b.count"], last[0.5]["b.count"]), (0, 1, 1))

    def test_what_is_no_schedule(self):
        beat = test_fmu("Beat", "3")
        for lines, words in ((("triggered;0;1",), "schedule.csv:2"), (("own,0,1",), "only triggered input clocks"),
                             (("triggered,-1,",), "the time is no number"), (("triggered,0,0",), "the interval is no number"),
                             (("triggered,0,1/0",), "the interval is no number"), (("trigered,0,1",), "triggered")):
            with self.subTest(lines=lines):
                outcome = self.ran(beat, "--schedule", self.write(*lines))
                self.assertNotEqual(outcome.status, 0)
                self.assertIn(words, outcome.err)
        outcome = self.ran(beat, "--schedule", self.write("triggered,1,"), "--start", "2", "--stop", "3")
        self.assertIn("before the start", outcome.err)


class Told(FabricTest):
    """What `tutti info` and `tutti graph` say of clocks."""

    def test_info_for_people(self):
        out = self.tutti("info", "--variables", CLOCKS).out
        for line in (r"constant \{constant, interval 2/200, shift 1/200, priority 1\}", r"decimal \{constant, interval 0.1, shift 0.05, priority 2\}",
                     r"computed \{fixed, interval computed by the FMU, priority 4\}", r"triggered \{triggered, priority 8\}",
                     r"told_count \(at ticks of told\)"):
            self.assertRegex(out, rf"(?m)(Clock|Int32) +{line}$")

    def test_info_is_the_description(self):
        """Every attribute of a clock, and the clocks of every variable."""
        for fmu in (CLOCKS, test_fmu("Beat", "3"), kit_fmu("Sampler", "3")):
            told = json.loads(self.tutti("info", "--json", fmu).out)["variables"]
            described = list(ElementTree.fromstring(description(fmu)).find("ModelVariables"))
            names = {variable.get("valueReference"): variable.get("name") for variable in described}
            for one, variable in zip(told, described):
                with self.subTest(fmu=fmu, variable=one["name"]):
                    clocks = [names[word] for word in variable.get("clocks", "").split()]
                    self.assertEqual(one.get("clocks", []), clocks)
                    self.assertEqual("clock" in one, variable.tag == "Clock")
                    for key, value in one.get("clock", {}).items():
                        self.assertEqual(str(value).lower(), variable.get(key, "false"), key)
                    for key in ("intervalVariability", "intervalDecimal", "shiftDecimal", "resolution", "intervalCounter", "shiftCounter",
                                "priority"):
                        self.assertTrue(variable.get(key, "0") == "0" or key in one["clock"], key)

    def test_graph(self):
        self.tutti("graph", f"crank={kit_fmu('Crank', '3')}", f"c={CLOCKS}", f"s={kit_fmu('Sampler', '3')}", "--connect",
                   "crank.tooth=c.triggered", "--connect", "crank.angle=s.u", "-o", "clocks.dot")
        with open(self.path("clocks.dot"), encoding="utf-8") as file:
            out = file.read()
        self.assertEqual(len(re.findall(r"(?m)^ +u0:o\d+:e -> u1:i\d+:w \[.*style=dashed", out)), 1, out)
        self.assertEqual(out.count("style=dashed"), 1)
        self.assertIn("dashed: a clock", out)


class Refused(FabricTest):
    def refused(self, *arguments, words):
        outcome = self.ran(*arguments)
        self.assertNotEqual(outcome.status, 0)
        for word in words:
            self.assertIn(word, outcome.err)

    def test_what_intervals_are_refused(self):
        for given, word in (("constant=1/5", "fixed or tunable"), ("computed=1/5", "description has an interval"), ("told=0", "above 0"),
                            ("told=-1", "above 0"), ("told=1/0", "above 0"), ("told", "UNIT.CLOCK=SECONDS"), ("tolt=1", "no variable named"),
                            ("order=1", "fixed or tunable")):
            self.refused(CLOCKS, "--clock", given, words=("--clock", word))
        self.refused(CLOCKS, "--clock", "told=1", "--clock", "told=2", words=("already",))

    def test_intervals_that_cannot_be_represented(self):
        """As a fraction of 64-bit numbers; and as a step of time, which doubles of that size do not resolve."""
        for given in ("1e-300", "1e300", "1/36893488147419103232", "nan", "inf"):
            self.refused(CLOCKS, "--clock", f"told={given}", words=("--clock", "above 0, nor a fraction of two 64-bit numbers"))
        tiny = self.altered(CLOCKS, ('intervalDecimal="0.1"', 'intervalDecimal="1e-300"'))
        self.refused(tiny, words=("'decimal'", "1e-300", "no fraction of two 64-bit numbers"))
        for given, start, stop in (("1/18446744073709551615", "1", "1.5"), ("1e-9", "1e9", "1000000001")):
            self.refused(CLOCKS, "--clock", f"told={given}", "--start", start, "--stop", stop, "--step", "0.1",
                         words=("the interval of the clock 'told'", f"cannot be told from 0 at t = {float(start):.0f}: time does not go on"))

    def test_ticks_without_end(self):
        beat = test_fmu("Beat", "3")
        self.refused(f"a={beat}", f"b={beat}", "--connect", "a.out=b.triggered", "--connect", "b.out=a.triggered", "--set", "a.modulo=1",
                     "--set", "b.modulo=1", words=("without end at t = 0", "b.out -> a.triggered -> a.out -> b.triggered -> b.out"))
        scheduled = test_fmu("BeatSE", "3")
        self.refused(f"a={scheduled}", f"b={scheduled}", "--connect", "a.out=b.triggered", "--connect", "b.out=a.triggered",
                     "--set", "a.modulo=1", "--set", "b.modulo=1", words=("activated once at a time", "'triggered'"))

    def test_a_circle_is_found_without_a_run(self):
        parts = "".join(component(name, test_fmu("Beat", "3"), connector("triggered", "input", "Clock"), connector("out", "output", "Clock"))
                        for name in "ab")
        wires = connection("a.out", "b.triggered") + connection("b.out", "a.triggered")
        with open(self.path("circle.ssd"), "w", encoding="utf-8") as file:
            file.write(ssd(system(parts, connect=wires), version="2.0"))
        outcome = self.tutti("check", self.path("circle.ssd"), status=None)
        self.assertIn("tick in a circle", outcome.out + outcome.err)

    def test_clocks_that_tick_by_time_are_not_triggered(self):
        beat = test_fmu("Beat", "3")
        self.refused(f"a={beat}", f"b={beat}", "--connect", "a.out=b.own", words=("'own'", "ticks by time"))
        self.refused(f"a={beat}", f"b={beat}", "--connect", "a.out=b.a", words=("Clock cannot be handed to",))

    def test_units_without_a_master(self):
        beat = test_fmu("Beat", "3")
        self.refused(f"a={beat}", f"b={beat}", "--connect", "a.out=b.triggered", "--coupling", "federated",
                     words=("a clock of a ticks at points that all units have reached", "--coupling seidel"))

    def test_intervals(self):
        beat = test_fmu("Beat", "3")
        self.refused(beat, "--set", "counter=0", words=("'own'", "interval of 0"))
        self.refused(beat, "--set", "counter=1", "--set", "resolution=0", words=("resolution 0",))

    def test_input_files_and_saved_states(self):
        with open(self.path("in.csv"), "w", encoding="utf-8") as file:
            file.write("time,a\n0,1\n1,2\n")
        self.refused(test_fmu("BeatSE", "3"), "--input", self.path("in.csv"), words=("Scheduled Execution",))


if __name__ == "__main__":
    unittest.main()
