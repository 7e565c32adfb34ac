#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti run` on the kit's models in every version: results against exact solutions, and exact times."""
import math
import re
import unittest
import zipfile

from command import VERSIONS, CommandTest, Table, description, kit_fmu, kit_fmus

G = 9.81  # of the bouncing ball
BOUNCE = 0.7  # part of its speed that is left
REST = 0.1  # a slower ball stays on the floor


def bounces(until):
    """Times of the bounces of a ball that falls from a height of 1, and the speeds after them."""
    t, v = math.sqrt(2 / G), BOUNCE * math.sqrt(2 * G)
    while t < until:
        yield t, v if v >= REST else 0
        if v < REST:
            return
        t, v = t + 2 * v / G, BOUNCE * v


class Models(CommandTest):
    def test_every_co_simulation_fmu_runs(self):
        for fmu in kit_fmus("*_fmi[123]*"):
            if "1me" in fmu.name or fmu.name.startswith("Claiming") or fmu.name == "Stair_fmi1cs.fmu":
                continue  # no Co-Simulation; warnings, see test_check; ends itself, see below
            with self.subTest(fmu=fmu.name):
                outcome = self.tutti("run", fmu, "-o", "result.csv")
                self.assertEqual(outcome.lines("error"), [])
                table = self.result()
                self.assertEqual(table.times, sorted(table.times))
                self.assertEqual(table.times[0], 0)
                self.assertIn(f"result.csv ({len(table)} rows, ", outcome.err)

    def test_dahlquist(self):
        for version in VERSIONS:
            table = self.simulate(kit_fmu("Dahlquist", version), "--step", "0.01")
            self.assertEqual(table.header, ["time", "x"])
            self.assertEqual(len(table), 1001)
            self.assert_near(table["x"], [math.exp(-t) for t in table.times], 1e-9)

    def test_van_der_pol_is_the_same_in_all_versions(self):
        results = {self.tutti("run", kit_fmu("VanDerPol", version), "-o", "-", "--step", "0.1", "--quiet").out
                   for version in VERSIONS}
        self.assertEqual(len(results), 1)
        self.assertEqual(len(Table(results.pop())), 201)

    def test_bouncing_ball_with_event_mode(self):
        table = self.simulate(kit_fmu("BouncingBall", "3"))
        times, h, v = table.times, table["h"], table["v"]
        events = [i for i in range(1, len(times)) if times[i] == times[i - 1]]
        expected = list(bounces(until=3))
        self.assert_near([times[i] for i in events], [t for t, _ in expected], 1e-9)
        self.assert_near([v[i] for i in events], [speed for _, speed in expected], 1e-8)
        self.assertGreater(len(expected), 10)
        for number, i in enumerate(events):
            self.assertLess(abs(h[i - 1]), 1e-9)
            self.assertLess(v[i - 1], 0)
            self.assertEqual((table["bounces"][i - 1], table["bounces"][i]), (number, number + 1))
        between = [t for i, t in enumerate(times) if i not in events and i + 1 not in events]
        self.assertEqual(between, [n * 0.01 for n in range(300)] + [3])

    def test_bouncing_ball_without_event_mode(self):
        last_event, last_speed = list(bounces(until=2))[-1]
        for version in ("1cs", "2"):
            table = self.simulate(kit_fmu("BouncingBall", version), "--stop", "2", "--step", "0.01")
            self.assertEqual(table.times, [n * 0.01 for n in range(200)] + [2])
            self.assertEqual(table["bounces"][-1], len(list(bounces(until=2))))
            self.assert_near(table["v"][-1:], [last_speed - G * (2 - last_event)], 1e-8)

    def test_stair_ends_the_simulation(self):
        for version, rows in (("2", 51), ("3", 61)):  # event mode: two rows at each of the ten steps
            outcome = self.tutti("run", kit_fmu("Stair", version))
            said = [line for line in outcome.lines("warning") if "[log" not in line]  # not what the FMU says itself
            self.assertEqual(len(said), 1)
            self.assertRegex(said[0], r"ended the simulation at t = 10\b")
            table = self.result()
            self.assertEqual((len(table), table.times[-1], table["counter"][-1]), (rows, 10, 10))

    def test_stair_steps_at_whole_seconds(self):
        table = self.simulate(kit_fmu("Stair", "3"), "--stop", "4.5", "--step", "0.3")
        counts = table["counter"]
        changes = [(t, before, after) for t, before, after in zip(table.times[1:], counts, counts[1:])
                   if before != after]
        self.assertEqual(changes, [(1, 0, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4)])

    def test_stair_of_fmi_1_cannot_say_why_it_stops(self):
        """FMI 1.0 knows no 'terminated' for slaves: the step is discarded, and what came before is kept."""
        outcome = self.refused("run", kit_fmu("Stair", "1cs"), "--step", "0.3", status=1,
                               says=["Stair_fmi1cs", "discarded the step from t = 9.9", "came as far as 10"])
        self.assertEqual(outcome.out, "")
        self.assertEqual(self.result()["counter"][-1], 9)

    def test_ticker_advances_one_tick_per_step(self):
        for version in VERSIONS:
            table = self.simulate(kit_fmu("Ticker", version), "--step", "0.05")
            self.assertEqual(table["ticks"], list(range(21)))
            self.assertEqual(table["y"], [n / 2 for n in range(21)])

    def test_heater_switches(self):
        for version in VERSIONS:
            table = self.simulate(kit_fmu("Heater", version), "--step", "10")
            self.assert_near(table["T_celsius"], [T - 273.15 for T in table["T"]], 1e-9)
            self.assertEqual(table["P"], [2 * on for on in table["heating"]])
            warm = [T for t, T in zip(table.times, table["T"]) if t > 500]
            self.assertGreater(min(warm), 293.65 - 0.2)
            self.assertLess(max(warm), 294.65 + 0.2)

    def test_resources_are_there(self):
        for version in VERSIONS:
            self.assertEqual(set(self.simulate(kit_fmu("Resource", version))["y"]), {42.25})

    def test_unpacked_folder(self):
        for version in VERSIONS:
            with zipfile.ZipFile(kit_fmu("Resource", version)) as archive:
                archive.extractall(self.path(f"model {version}"))
            self.assertEqual(set(self.simulate(self.path(f"model {version}"))["y"]), {42.25})

    def test_two_runs_give_the_same_bytes(self):
        for fmu in (kit_fmu("BouncingBall", "3"), kit_fmu("Heater", "3"), kit_fmu("Feedthrough", "2")):
            first, second = (self.tutti("run", fmu, "-o", "-", "--quiet").out for _ in range(2))
            self.assertEqual(first, second)


class Times(CommandTest):
    """t_n = start + n * step, to the bit, and the last one is stop, to the bit."""

    def times(self, *options, model="Dahlquist", version="2"):
        return self.simulate(kit_fmu(model, version), *options).times

    def test_grid(self):
        for start, stop, step, count in ((0, 1, 0.1, 10), (-1, 1, 0.1, 20), (-3, -2, 0.01, 100), (0.1, 0.7, 0.1, 6),
                                         (1e6, 1e6 + 1, 1e-3, 1000), (0, 1e-6, 1e-9, 1000), (5, 3605, 10, 360)):
            for version in VERSIONS:
                with self.subTest(start=start, step=step, version=version):
                    times = self.times("--start", repr(start), "--stop", repr(stop), "--step", repr(step),
                                       "--set", "k=0.01", version=version)  # stable with the longest one
                    self.assertEqual(times, [start + n * step for n in range(count)] + [stop])

    def test_stop_that_is_no_multiple(self):
        for stop in (1, 1.00001, 0.90000001, 0.3000001, 0.1):
            times = self.times("--step", "0.3", "--stop", repr(stop))
            before = [n * 0.3 for n in range(4) if n * 0.3 < stop]
            self.assertEqual(times, before + [stop])

    def test_recorded_points_are_hit_exactly(self):
        for version in VERSIONS:
            for step, interval in ((0.1, 0.25), (0.3, 0.1), (0.1, 0.1), (0.07, 0.5), (0.25, 0.3), (0.001, 1 / 3)):
                with self.subTest(version=version, step=step, interval=interval):
                    table = self.simulate(kit_fmu("Dahlquist", version), "--stop", "2", "--step", repr(step),
                                          "--output-step", repr(interval))
                    count = math.ceil(2 / interval - 1e-9)
                    self.assertEqual(table.times, [n * interval for n in range(count)] + [2])
                    self.assert_near(table["x"], [math.exp(-t) for t in table.times], 1e-3)

    def test_events_between_recorded_points(self):
        """They are recorded, too, on both sides; the other rows stay where they were asked for."""
        table = self.simulate(kit_fmu("BouncingBall", "3"), "--stop", "1", "--output-step", "0.2", "--step", "0.05")
        plain = [t for t in table.times if table.times.count(t) == 1]
        self.assertEqual(plain, [n * 0.2 for n in range(5)] + [1])
        doubled = [t for t in table.times if table.times.count(t) == 2]
        self.assert_near(doubled, [t for t, _ in bounces(until=1) for _ in range(2)], 1e-9)
        self.assertEqual(len(table), len(plain) + len(doubled))

    def test_a_million_steps(self):
        table = self.simulate(kit_fmu("Dahlquist", "2"), "--stop", "1", "--step", "1e-6", "--record", "x")
        self.assertEqual(len(table), 1000001)
        self.assertEqual(table.times, [n * 1e-6 for n in range(1000000)] + [1])
        self.assertAlmostEqual(table["x"][-1], math.exp(-1), delta=1e-12)

    def test_default_experiment(self):
        self.assertEqual(self.times(), [n * 0.1 for n in range(100)] + [10])
        self.assertEqual(self.times("--start", "9"), [9 + n * 0.1 for n in range(10)] + [10])
        self.assertEqual(self.times("--stop", "0.5"), [n * 0.1 for n in range(5)] + [0.5])
        self.assertEqual(self.times("--step", "2.5"), [0, 2.5, 5, 7.5, 10])

    def test_experiment_of_the_file_that_is_not_the_usual_one(self):
        fmu = self.altered(kit_fmu("Dahlquist", "2"), ('startTime="0" stopTime="10" stepSize="0.1"',
                                                       'startTime="-2.5" stopTime="2" stepSize="0.5"'))
        self.assertEqual(self.simulate(fmu).times, [-2.5 + n * 0.5 for n in range(10)])

    def test_no_default_experiment(self):
        for version in VERSIONS:
            element = re.search(r"<DefaultExperiment[^>]*/>", description(kit_fmu("Dahlquist", version)))[0]
            fmu = self.altered(kit_fmu("Dahlquist", version), (element, ""))
            self.assertEqual(self.simulate(fmu).times, [n * (1 / 500) for n in range(500)] + [1])

    def test_fmu_that_cannot_vary_its_step(self):
        for version in VERSIONS:
            self.assertEqual(self.times("--step", "0.25", model="Once", version=version), [0, 0.25, 0.5, 0.75, 1])
            times = self.times("--step", "0.125", "--output-step", "0.25", model="Once", version=version)
            self.assertEqual(times, [0, 0.25, 0.5, 0.75, 1])
            fmu = kit_fmu("Once", version)
            self.refused("run", fmu, "--step", "0.3", status=2,
                         says=[r"multiple of the step 0\.(3|2999)", r"--step 0\.25\b"])
            self.refused("run", fmu, "--step", "0.1", "--output-step", "0.25", status=2, says="--output-step 0.25")


if __name__ == "__main__":
    unittest.main()
