#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti run` on several FMUs, in time: steps of a unit's own, and events between units, with the plain master."""
import math
import unittest

from command import JACOBI, kit_fmu, test_fmu
from systems import CoupledTest, connect

DAHLQUIST, TRACKER = (kit_fmu(name, "2") for name in ("Dahlquist", "Tracker"))
STAIR3, FEEDTHROUGH3 = (kit_fmu(name, "3") for name in ("Stair", "Feedthrough"))


def after_events(table):
    """Indices of rows behind an event: those with the same time as the row before."""
    times = table.times
    return [i for i in range(1, len(times)) if times[i] == times[i - 1]]


class PlainTest(CoupledTest):
    def run_(self, *arguments, **more):
        return super().run_(*arguments, *JACOBI, **more)


class Steps(PlainTest):
    UNITS = f"a={DAHLQUIST}", f"b={TRACKER}", f"c={TRACKER}"
    WIRES = connect("a.x=b.u", "b.y=c.u")

    def lag(self, y, u, h):
        return u + (y - u) * math.exp(-h / 0.5)

    def test_a_longer_step(self):
        """b sees a at the beginning of its own step, and shows its output at the end; between, c sees the last one."""
        table, _, units = self.with_stats(*self.UNITS, *self.WIRES, "--stop", "1", "--step", "0.1", "--step", "b=0.3")
        a, b, c = table["a.x"], table["b.y"], table["c.y"]
        self.assertEqual(table.times, [n * 0.1 for n in range(10)] + [1])
        expected_b, expected_c = [0.0], [0.0]
        for n in range(1, 11):
            if n in (3, 6, 9):
                expected_b.append(self.lag(expected_b[-1], a[n - 3], 0.3))
            else:
                expected_b.append(self.lag(expected_b[-1], a[9], 0.1) if n == 10 else expected_b[-1])
            expected_c.append(self.lag(expected_c[-1], b[n - 1], 0.1))
        self.assert_near(b, expected_b, 1e-6)
        self.assert_near(c, expected_c, 1e-6)
        self.assertEqual([units[name]["do_steps"] for name in "abc"], [10, 4, 10])

    def test_every_sort_of_unit_may_have_one(self):
        results = set()
        for version, interface in (("1cs", "cs"), ("1me", "me"), ("2", "cs"), ("2", "me"), ("3", "cs"), ("3", "me")):
            table, _, units = self.with_stats(f"a={kit_fmu('Dahlquist', '3')}", f"b={kit_fmu('Tracker', version)}",
                                              *connect("a.x=b.u"), "--stop", "2", "--step", "0.1", "--step", "b=0.5",
                                              "--rtol", "1e-9",
                                              *(["--solver", "bdf"] if interface == "me" else ["--interface", "auto"]))
            self.assertEqual(units["b"]["interface"], interface)
            self.assertEqual(units["b"]["do_steps"], 4)
            y = table["b.y"]
            self.assertEqual([y[n] for n in range(20)], [y[n // 5 * 5] for n in range(20)])
            results.add(round(y[-1], 5))
        self.assertEqual(len(results), 1)

    def test_events_of_others_do_not_cut_it(self):
        table, _, units = self.with_stats(f"a={STAIR3}", f"b={TRACKER}", "--stop", "3", "--step", "0.4", "--step",
                                          "b=1.2", "--set", "b.u=1")
        self.assertEqual(units["b"]["do_steps"], 3)
        self.assertIn(1, table.times)

    def test_jumps_of_an_input_file(self):
        """In the middle of a step of its own the unit halts by itself; others go their way."""
        trajectory = self.write("in.csv", "time,b.u\n0,0\n0.25,0\n0.25,1\n2,1\n")
        for version, option in (("1cs", "auto"), ("1me", "auto"), ("2", "cs"), ("2", "me"), ("3", "cs"), ("3", "me")):
            with self.subTest(version=version, interface=option):
                table, stats, units = self.with_stats(
                    f"a={kit_fmu('Dahlquist', version)}", f"b={kit_fmu('Tracker', version)}", "--interface", option,
                    "--stop", "2", "--step", "0.1", "--step", "b=0.5", "--input", trajectory, "--rtol", "1e-9")
                times = sorted(set(table.times))
                self.assertEqual(times, [n * 0.1 for n in range(20)] + [2])
                self.assertEqual(stats["steps"], 20)
                y = dict(zip(table.times, table["b.y"]))
                self.assert_near([y[0.5], y[1.0], y[1.5], y[2]],
                                 [1 - math.exp(-(t - 0.25) / 0.5) for t in (0.5, 1, 1.5, 2)], 1e-6)
                self.assertLessEqual(units["b"]["do_steps"], 5)

    def test_kinks_of_an_input_file(self):
        """A Model Exchange unit follows slopes also in the middle of a step of its own."""
        trajectory = self.write("in.csv", "time,b.u\n0,0\n0.7,1\n1.3,-1\n2,1\n")
        last = []
        for step in ("0.1", "b=0.5"):
            for version in ("1me", "2", "3"):
                table = self.run_(f"a={DAHLQUIST}", f"b={kit_fmu('Tracker', version)}", "--solver", "bdf", "--stop",
                                  "2",
                                  "--step", "0.1", "--step", step, "--input", trajectory, "--rtol", "1e-9")
                last.append(table["b.y"][-1])
        self.assert_near(last, [last[0]] * 6, 1e-6)

    def test_not_a_multiple(self):
        self.refused("run", *self.UNITS, *self.WIRES, "--step", "0.1", "--step", "b=0.25", status=2,
                     says=["b=0.25", "multiple", "0.1", "b=0.2"])
        self.refused("run", *self.UNITS, *self.WIRES, "--step", "0.1", "--step", "b=0.01", status=2,
                     says=["b=0.01", "b=0.1"])

    def test_wrong_ones(self):
        for text, says in (("bb=0.2", "there is no unit 'bb'; did you mean 'b'"), ("b=x", "b=x"), ("b=0", "0"),
                           ("b=-0.1", "-0.1"), ("b=nan", "nan|number"), ("b=inf", "inf|finite"), ("b=", "b=|number")):
            with self.subTest(step=text):
                self.refused("run", *self.UNITS, "--step", "0.1", "--step", text, status=2, says=["--step", says])

    def test_a_name_with_an_equals_sign(self):
        _, _, units = self.with_stats(f"a={DAHLQUIST}", f"b.c={TRACKER}", "--stop", "1", "--step", "0.1", "--step",
                                      "b.c=0.5")
        self.assertEqual(units["b.c"]["do_steps"], 2)

    def test_a_single_fmu(self):
        self.refused("run", DAHLQUIST, "--step", "Dahlquist_fmi2=0.5", status=2, says="--step H")

    def test_a_unit_that_cannot_vary_its_step(self):
        """It goes from communication point to communication point, whatever happens between."""
        for version in ("2", "3"):
            with self.subTest(version=version):
                table, _, units = self.with_stats(f"a={STAIR3}", f"o={kit_fmu('Once', version)}", f"b={TRACKER}",
                                                  *connect("o.x=b.u"), "--stop", "2.8", "--step", "0.4")
                self.assertEqual(units["o"]["do_steps"], 7)
                self.assertEqual(units["b"]["do_steps"], 8)  # 2.0 is on the grid, 1 is not
                x = dict(zip(table.times, table["o.x"]))
                self.assert_near([x[n * 0.4] for n in range(7)], [n * 0.4 for n in range(7)], 1e-12)
                self.assertEqual(x[1], x[0.8])

    def test_it_cannot_vary_its_step_and_must(self):
        self.refused("run", f"o={kit_fmu('Once', '2')}", f"b={TRACKER}", "--stop", "1", "--step", "0.3", status=2,
                     says=["multiple", "0.3", "Once", "--step 0.25"])

    def test_it_may_have_a_step_of_its_own(self):
        table, _, units = self.with_stats(f"o={kit_fmu('Once', '2')}", f"b={TRACKER}", "--stop", "2", "--step", "0.1",
                                          "--step", "o=0.5")
        self.assertEqual((units["o"]["do_steps"], units["b"]["do_steps"]), (4, 20))
        self.assertEqual(table["o.x"][-1], 2)


class Events(PlainTest):
    def consumers(self):
        return (("3", "cs"), ("3", "me"), ("2", "me"), ("1me", "me"))

    def test_time_events_are_hit_by_all(self):
        for version, options in (("3", []), ("3", ["--solver", "bdf"]), ("2", ["--solver", "bdf"]), ("1me", [])):
            with self.subTest(version=version, options=options):
                table = self.run_(f"a={kit_fmu('Stair', version)}", f"b={test_fmu('Clockwork', '2')}", "--stop", "3.3",
                                  "--step", "0.3", *options, "--record", "a.counter", "--record", "b.y")
                after = after_events(table)
                self.assertEqual([table.times[i] for i in after][:3], [1, 2, 3][:len(after)])
                for i in after:
                    self.assertEqual(table["a.counter"][i], table["a.counter"][i - 1] + 1)
                    self.assertEqual(table["b.y"][i], table.times[i] ** 2)
                    self.assertEqual(table["b.y"][i - 1], table.times[i] ** 2)

    def test_discrete_signals_are_events_for_others(self):
        """Both rows of the event: nobody has heard of it; all have."""
        for version, interface in self.consumers():
            with self.subTest(version=version, interface=interface):
                options = ["--interface", "auto"] if interface == "cs" or version == "1me" else ["--solver", "bdf"]
                table, stats, _ = self.with_stats(
                    f"f={kit_fmu('Feedthrough', version)}", f"a={STAIR3}", f"g={kit_fmu('Feedthrough', version)}",
                    *connect("a.counter=f.int32_in", "f.int32_out=g.int32_in"), "--stop", "3.3", "--step", "0.3",
                    *options, "--record", "*.counter", "--record", "*.int32_out")
                after = after_events(table)
                self.assertEqual([table.times[i] for i in after], [1, 2, 3])
                for n, i in enumerate(after):
                    row = [table[name][i] for name in ("a.counter", "f.int32_out", "g.int32_out")]
                    before = [table[name][i - 1] for name in ("a.counter", "f.int32_out", "g.int32_out")]
                    self.assertEqual((before, row), ([n] * 3, [n + 1] * 3))
                self.assertEqual(stats["events_located"], 3)

    def test_without_event_mode_it_takes_a_step(self):
        for version in ("1cs", "2"):
            table = self.run_(f"a={STAIR3}", f"f={kit_fmu('Feedthrough', version)}", *connect("a.counter=f.int32_in"),
                              "--stop", "1.5", "--step", "0.3", "--record", "a.counter", "--record", "f.int32_out")
            rows = dict(zip(table.times, table["f.int32_out"]))
            self.assertEqual([rows[1], rows[1.2]], [0, 1])

    def test_booleans_and_enumerations(self):
        """A thermostat switches; the other unit knows at once. Its switch is inside of a step, so it is seen at the
        step's end."""
        table = self.run_(f"h={kit_fmu('Heater', '3')}", f"f={FEEDTHROUGH3}", f"h2={kit_fmu('Heater', '3')}",
                          *connect("h.heating=f.boolean_in", "f.color_out=h2.mode"), "--set", "f.color_in=3", "--stop",
                          "600", "--step", "1", "--record", "h.heating", "--record", "f.boolean_out", "--record",
                          "h2.heating")
        self.assertEqual(set(table["h2.heating"]), {1})
        changes = [i for i in range(1, len(table)) if table["f.boolean_out"][i] != table["f.boolean_out"][i - 1]]
        self.assertGreater(len(changes), 0)
        for i in changes:
            self.assertEqual(table["f.boolean_out"][i], table["h.heating"][i])
            self.assertEqual(table.times[i], table.times[i - 1])

    def test_state_events_of_two(self):
        """Two balls that bounce at different times, each by itself in the middle of a step."""
        for version in ("1cs", "1me", "2", "3"):
            with self.subTest(version=version):
                fmu = kit_fmu("BouncingBall", version)
                alone = self.simulate(fmu, "--stop", "2", "--step", "0.1", "--set", "h=2", "--output-step", "2")
                table = self.run_(f"a={fmu}", f"b={fmu}", "--stop", "2", "--step", "0.1", "--set", "b.h=2")
                self.assertAlmostEqual(table["b.h"][-1], alone["h"][-1], 4)
                self.assertEqual(table["b.bounces"][-1], alone["bounces"][-1])
                self.assertGreater(table["a.bounces"][-1], table["b.bounces"][-1])

    def test_news_at_the_very_start(self):
        """What a unit says at the end of its initialisation reaches the others before the first step."""
        table = self.run_(f"f={FEEDTHROUGH3}", f"h={kit_fmu('Heater', '3')}", *connect("h.heating=f.boolean_in"),
                          "--stop", "1", "--step", "1", "--set", "h.T=280", "--record", "*.heating", "--record",
                          "f.boolean_out")
        self.assertEqual((table["h.heating"][-1], table["f.boolean_out"][-1]), (1, 1))
        i = max(i for i, t in enumerate(table.times) if t == 0)
        self.assertEqual(table["f.boolean_out"][i], 1)

    def test_listing_does_not_matter(self):
        units = [f"a={STAIR3}", f"f={FEEDTHROUGH3}", f"g={FEEDTHROUGH3}", f"t={kit_fmu('Tracker', '3')}"]
        wires = connect("a.counter=f.int32_in", "f.int32_out=g.float64_discrete_in", "g.float64_discrete_out=t.u")
        results = set()
        for shift in range(4):
            table = self.run_(*units[shift:], *units[:shift], *wires, "--stop", "2.5", "--step", "0.3")
            results.add(tuple(tuple(table.texts(name)) for name in sorted(table.header)))
        self.assertEqual(len(results), 1)

    def test_listing_does_not_matter_for_events_at_one_time(self):
        """Both count seconds; what the one says there, the other hears afterwards, whoever is named first."""
        stair, sink = f"s={STAIR3}", f"k={test_fmu('Sink', '3')}"
        for interface in ("cs", "me"):
            results = set()
            for units in ((stair, sink), (sink, stair)):
                table = self.run_(*units, *connect("s.counter=k.u"), "--stop", "2.2", "--step", "0.4", "--interface",
                                  interface)
                results.add(tuple(tuple(table.texts(name)) for name in sorted(table.header)))
            self.assertEqual(len(results), 1)

    def test_an_fmu_ends_the_simulation_inside_of_a_step(self):
        """The others have gone on to the step's end by then."""
        for version, step in (("2", "0.3"), ("3", "a=0.9"), ("1me", "a=0.9")):
            with self.subTest(version=version):
                outcome = self.tutti("run", f"a={kit_fmu('Stair', version)}", f"b={TRACKER}", "--stop", "12", "--step",
                                     "0.3", "--step", step, *JACOBI)
                self.assertRegex(outcome.err, r"a: the FMU ended the simulation at t = 10\b(?!\.)")
                self.assertEqual(self.result()["a.counter"][-1], 10)

    def test_an_fmu_ends_the_simulation(self):
        for version in ("1me", "2", "3"):  # the others of FMI 1.0 have no way to say so
            with self.subTest(version=version):
                outcome = self.tutti("run", f"a={kit_fmu('Stair', version)}", f"b={TRACKER}", "--stop", "12", "--step",
                                     "0.4", "--stats", "stats.json")
                said = [line for line in outcome.lines("warning") if "ended the simulation" in line]
                self.assertEqual(len(said), 1, outcome.err)
                self.assertRegex(said[0], r"\ba\b.* at t = 10\b")
                times = self.result().times
                self.assertEqual(times[-1], 10)
                self.assertEqual(self.stats()["stop"], 10)


if __name__ == "__main__":
    unittest.main()
