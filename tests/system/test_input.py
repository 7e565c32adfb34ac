#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti run --input`: Real inputs are linear between rows, others held; two rows with equal time are a jump.

Most tests follow the model Tracker, x' = (u - x) / T with T = 0.5, whose answers are known."""
import math
import unittest

from command import FMUS, VERSIONS, CommandTest, Table, kit_fmu, test_fmu

T = 0.5


def ramp(t, slope=1.0):
    """The answer to u = slope * t, from rest."""
    return slope * (t - T + T * math.exp(-t / T))


def step(t, height=1.0):
    """The answer to a step at t = 0, from rest."""
    return height * (1 - math.exp(-t / T)) if t > 0 else 0.0


class Trajectories(CommandTest):
    def follow(self, version, rows, *options, model="Tracker", header="time,u"):
        trajectory = self.write("input.csv", "\n".join([header, *rows]) + "\n")
        return self.simulate(kit_fmu(model, version), "--input", trajectory, *options)

    def at(self, table, time, column="y"):
        """The values of all rows at this time, which must be there to the bit."""
        values = [value for t, value in zip(table.times, table[column]) if t == time]
        self.assertTrue(values, f"no row at {time}")
        return values

    def test_ramp(self):
        """Input derivatives (1.0, 2.0) and intermediate update (3.0) carry the slope into the step."""
        for version in VERSIONS:
            with self.subTest(version=version):
                table = self.follow(version, ["0,0", "5,5"], "--step", "0.5")
                self.assertEqual(len(table), 11)
                self.assert_near(table["y"], [ramp(t) for t in table.times], 1e-6)
                self.assert_near(table["error"], [t - ramp(t) for t in table.times], 1e-6)

    def test_ramp_that_is_held_is_only_roughly_followed(self):
        """Lacking takes no slopes: inputs are held from one communication point to the next."""
        for version in VERSIONS:
            for options, ahead in (((), 1), (("--input-at", "end"), 1), (("--input-at", "middle"), 0.5),
                                   (("--input-at", "begin"), 0), (("--input-at", "slope"), 0)):
                x, expected = 0.0, [0.0]
                for n in range(10):  # x' = u - x with u held
                    u = (n + ahead) * 0.1
                    x = u + (x - u) * math.exp(-0.1)
                    expected.append(x)
                table = self.follow(version, ["0,0", "1,1"], "--step", "0.1", "--stop", "1", *options, model="Lacking")
                self.assert_near(table["x"], expected, 1e-6)

    def test_a_line_that_is_not_wanted(self):
        """--input-at begin, middle, end: FMUs that take lines get values, too. Those of before a jump at the end of a step."""
        for version in VERSIONS:
            for where, values in (("begin", [0, 1, 4]), ("middle", [0.5, 1.5, 4]), ("end", [1, 2, 4])):
                y, expected = 0.0, [0.0]
                for u in values:
                    y = u + (y - u) * math.exp(-1 / T)
                    expected.append(y)
                table = self.follow(version, ["0,0", "2,2", "2,4"], "--step", "1", "--stop", "3", "--input-at", where)
                with self.subTest(version=version, where=where):
                    self.assertEqual(table.times, [0, 1, 2, 3])
                    self.assert_near(table["y"], expected, 1e-5)

    def test_held_between_rows(self):
        for version in VERSIONS:
            table = self.follow(version, ["0,1", "0.35,3", "2,3"], "--stop", "1", "--step", "0.1", "--interpolate", "hold")
            self.assertIn(0.35, table.times)
            self.assert_near(table["y"], [step(t) + 2 * step(t - 0.35) for t in table.times], 1e-6)
        for option in ("--interpolate", "--input-at"):
            self.tutti("run", kit_fmu("Tracker", "2"), option, "sideways", status=2)

    def test_several_files(self):
        """Each with rows of its own; the same input in two of them is refused."""
        fmu = kit_fmu("Feedthrough", "3")
        first = self.write("first.csv", "time,float64_in\n0,1\n1,3\n")
        second = self.write("second.csv", "time;int32_in;float64_discrete_in\n0;1;0,5\n0,25;2;1,5\n")
        table = self.simulate(fmu, "--input", first, "--input", second, "--stop", "1", "--step", "0.5")
        self.assertEqual(table.times, [0, 0.25, 0.25, 0.5, 1])
        self.assertEqual(table["float64_out"], [1, 1.5, 1.5, 2, 3])
        self.assertEqual(table["int32_out"], [1, 1, 2, 2, 2])
        self.assertEqual(table["float64_discrete_out"], [0.5, 0.5, 1.5, 1.5, 1.5])
        third = self.write("third.csv", "time,int32_in\n0,1\n")
        outcome = self.tutti("run", fmu, "--input", first, "--input", second, "--input", third, status=1)
        self.assertRegex(outcome.err, r"second\.csv and .*third\.csv: columns 'int32_in' and 'int32_in' are for the same")
        self.tutti("run", fmu, "--input", first, "--input", first, status=2)

    def test_tunable_parameters(self):
        """They change at rows, as an event where the FMU has such, between steps where it has not."""
        text = "time,tunable_gain,float64_in\n0,2,1\n0.25,5,1\n"
        for version in ("2", "3"):
            for interface in ("cs", "me"):
                table = self.simulate(kit_fmu("Feedthrough", version), "--input", self.write("in.csv", text), "--stop", "1",
                                      "--step", "0.5", "--interface", interface, "--record", "tunable_gain", "--record",
                                      "float64_out")
                seen = sorted(set(zip(table.times, table["float64_out"])))
                events = interface == "me" or version == "3"
                self.assertEqual(seen, [(0, 2), (0.25, 2)] + [(0.25, 5)] * events + [(0.5, 5), (1, 5)])
        outcome = self.tutti("run", kit_fmu("Feedthrough", "2"), "--input", self.write("in.csv", "time,gain\n0,1\n"), status=2)
        self.assertIn("not tunable", outcome.err)

    def test_cells_with_arrays(self):
        text = "time;vector_in;matrix_in\n0;1 2 3;1,5 2 3 4 5 6\n1;1 2 3;2,5 4 3 4 5 6\n"
        table = self.simulate(kit_fmu("Feedthrough", "3"), "--input", self.write("in.csv", text), "--stop", "1", "--step",
                              "0.5")
        self.assertEqual(table["matrix_out[1,1]"], [1.5, 2, 2.5])
        self.assertEqual(table["matrix_out[1,2]"], [2, 3, 4])
        self.assertEqual([table[f"vector_out[{i}]"] for i in (1, 2, 3)], [[1] * 3, [2] * 3, [3] * 3])
        self.assertEqual([table[f"matrix_out[{i},{j}]"][0] for i in (1, 2) for j in (1, 2, 3)], [1.5, 2, 3, 4, 5, 6])

    def test_kinks_between_communication_points(self):
        """Up to t = 1 and down again: all versions agree at points that know of the kink."""
        for version in VERSIONS:
            table = self.follow(version, ["0,0", "1,1", "2,0"], "--step", "0.25", "--stop", "2")
            expected = [ramp(t) - (2 * ramp(t - 1) if t > 1 else 0) for t in table.times]
            self.assert_near(table["y"], expected, 1e-6)

    def test_jump_is_hit_exactly(self):
        for version in VERSIONS:
            for time in (1, 0.333, 0.1 + 0.2):
                with self.subTest(version=version, time=time):
                    table = self.follow(version, ["0,0", f"{time!r},0", f"{time!r},1", "5,1"], "--step", "0.1")
                    self.assertEqual(self.at(table, time), [0])
                    self.assert_near(table["y"], [step(t - time) for t in table.times], 1e-6)

    def test_jump_between_recorded_points(self):
        for version in VERSIONS:
            table = self.follow(version, ["0,0", "0.37,0", "0.37,1"], "--stop", "1", "--output-step", "0.25")
            self.assertEqual(table.times, [0, 0.25, 0.5, 0.75, 1])
            self.assert_near(table["y"], [step(t - 0.37) for t in table.times], 1e-6)

    def test_ends_of_the_file_are_held(self):
        for version in VERSIONS:
            table = self.follow(version, ["1,2", "2,2"], "--stop", "4")
            self.assert_near(table["y"], [step(t, 2) for t in table.times], 1e-6)
            table = self.follow(version, ["0,0", "1,1"], "--stop", "4")
            self.assert_near(table["y"], [ramp(t) - (ramp(t - 1) if t > 1 else 0) for t in table.times], 1e-6)

    def test_negative_and_late_times(self):
        for start in (-2.0, 100.0):
            for version in VERSIONS:
                table = self.follow(version, [f"{start},0", f"{start + 5},5"], "--start", start, "--stop", start + 5,
                                    "--step", "0.1")
                self.assert_near(table["y"], [ramp(t - start) for t in table.times], 1e-6)

    def test_inputs_that_are_recorded_are_those_of_the_file(self):
        for version in VERSIONS:
            table = self.follow(version, ["0,1", "2,3"], "--stop", "2", "--step", "0.25", "--record", "u")
            self.assertEqual(table["u"], [1 + t for t in table.times])

    def test_values_count_from_the_initialisation_on(self):
        for version in VERSIONS:
            table = self.follow(version, ["0,3"], "--stop", "1")
            self.assertEqual(table["error"][0], 3)

    def test_jump_at_a_point_of_a_uniform_fmu(self):
        """3 * 0.7 is one ulp below 2.1: the jump is of that point, not of the next one."""
        for version in VERSIONS:
            flag = 'canHandleVariableCommunicationStepSize="true"'
            fmu = self.altered(kit_fmu("Tracker", version), (flag, flag.replace("true", "false")))
            with self.subTest(version=version):
                trajectory = self.write("input.csv", "time,u\n0,0\n2.1,0\n2.1,1\n")
                table = self.simulate(fmu, "--input", trajectory, "--step", "0.7", "--stop", "3.5")
                self.assertEqual(table.times, [n * 0.7 for n in range(6)])
                self.assert_near(table["y"], [step(t - 3 * 0.7) for t in table.times], 1e-6)

    def test_form_of_the_file(self):
        """Line ends of other systems, quotes, a byte order mark, other columns first in the FMU: all the same."""
        expected = self.follow("2", ["0,0", "5,5"]).rows
        for text in ("time,u\r\n0,0\r\n5,5\r\n", '"time","u"\n"0","0"\n5,5', "\ufefftime,u\n0,0\n5,5\n",
                     "Time,u\n0.0,0e0\n5.0,+5\n", "time;u\n0;0\n2,5;2,5\n5;5,0\n", "t\tu\n0\t0\n5\t5\n",
                     "Time [min],u\n0,0\n0.08333333333333333,5\n", "time[ms];u\n0;0\n5000;5\n", "time,u\n0,0\n1,1\n2.5,2.5\n5,5\n"):
            with self.subTest(text=text):
                table = self.simulate(kit_fmu("Tracker", "2"), "--input", self.write("other.csv", text))
                self.assert_near(table["y"], [float(row[1]) for row in expected], 1e-9)


class Refused(CommandTest):
    """FMUs that claim to take derivatives of inputs and refuse them."""

    def run_slopes(self, version, *options, env=None):
        outcome = self.tutti("run", test_fmu("FaultySlopes", version), "--input", "ramp.csv", "--stop", "2", "--step", "0.1", "-o", "-", *options, env=env)
        return Table(outcome.out), outcome.err

    def test_values_are_those_of_the_end_of_a_step(self):
        self.write("ramp.csv", "time,u\n0,0\n1,1\n2,0\n")
        for version in ("1cs", "2"):
            at_end, _ = self.run_slopes(version, "--input-at", "end")
            moved, _ = self.run_slopes(version)
            self.assertNotEqual(moved["y"], at_end["y"])
            for fault in ("slip", "discard"):
                with self.subTest(version=version, fault=fault):
                    table, messages = self.run_slopes(version, env={"KIT_FAULT": fault + " SetRealInputDerivatives"})
                    self.assertEqual(table["y"], at_end["y"])
                    self.assertEqual(messages.count("canInterpolateInputs"), 1)
                    self.assertRegex(messages, "SetRealInputDerivatives returned (Error|Discard) at t = 0.*--input-at")
                    _, messages = self.run_slopes(version, "--input-at", "end", env={"KIT_FAULT": fault + " SetRealInputDerivatives"})
                    self.assertNotIn("canInterpolateInputs", messages)

    def test_in_a_system(self):
        """The run also continues where a unit is the source of the input."""
        self.write("ramp.csv", "time,a.u\n0,0\n1,1\n2,0\n")
        system = ("run", f"a={test_fmu('FaultySlopes', '2')}", f"b={test_fmu('FaultySlopes', '2')}", "--connect", "a.y=b.u", "--input", "ramp.csv", "--stop", "2",
                  "--step", "0.01", "--output-step", "0.1", "-o", "-")
        good = Table(self.tutti(*system, "--quiet").out)
        outcome = self.tutti(*system, env={"KIT_FAULT": "slip SetRealInputDerivatives"})
        self.assert_near(Table(outcome.out)["b.y"], good["b.y"], 0.01)
        self.assertIn("canInterpolateInputs", outcome.err)


class Ignored(CommandTest):
    """FMUs that claim to take derivatives of inputs, accept them, and hold their inputs all the same."""

    IGNORE = {"KIT_FAULT": "ignore SetRealInputDerivatives"}
    RAMP = "time,u\n0,0\n0.5,0\n1,1\n2,0\n"

    def run_ramp(self, version, *options, env=None):
        self.write("ramp.csv", self.RAMP)
        outcome = self.tutti("run", test_fmu("FaultySlopes", version), "--input", "ramp.csv", "--stop", "2", "--step", "0.1", "-o", "-", *options, env=env)
        return Table(outcome.out), outcome.err

    def test_values_are_those_of_the_end_of_a_step(self):
        for version in ("1cs", "2"):
            with self.subTest(version=version):
                at_end, messages = self.run_ramp(version, "--input-at", "end", env=self.IGNORE)
                self.assertNotIn("canInterpolateInputs", messages)
                table, messages = self.run_ramp(version, env=self.IGNORE)
                self.assertEqual(table["y"], at_end["y"])
                self.assertEqual(messages.count("canInterpolateInputs"), 1)
                self.assertRegex(messages, "ignores derivatives of inputs: '(x|y)' is the same.*--input-at")

    def test_others_are_not_reported(self):
        """Neither FMUs that use the derivatives nor FMUs whose inputs have no effect."""
        for fault in (None, "ignore SetRealInputDerivatives; ignore u"):
            with self.subTest(fault=fault):
                _, messages = self.run_ramp("2", env={"KIT_FAULT": fault} if fault else None)
                self.assertNotIn("canInterpolateInputs", messages)

    def test_effects_within_rounding_are_not_reported(self):
        """Heat flows of 1e-12 W change temperatures by less than their last digit."""
        outcome = self.tutti("run", FMUS.parent / "examples" / "four_rooms" / "four_rooms.ssp", "--stop", "3600", "--coupling", "jacobi", "--extrapolate", "1", "--rtol", "1e-3", "-o", "-")
        self.assertNotIn("ignores derivatives", outcome.err)

    def test_in_a_process_of_its_own(self):
        at_end, _ = self.run_ramp("2", "--input-at", "end", "--rollback", "fork")
        table, messages = self.run_ramp("2", "--rollback", "fork", env=self.IGNORE)
        self.assertEqual(table["y"], at_end["y"])
        self.assertEqual(messages.count("canInterpolateInputs"), 1)

    def test_in_a_system(self):
        """Inputs that other units feed are held in the middle of each step, but in the first one."""
        self.write("ramp.csv", "time,a.u\n0,0\n1,1\n2,0\n")
        system = ("run", f"a={kit_fmu('Tracker', '2')}", f"b={test_fmu('FaultySlopes', '2')}", "--connect", "a.y=b.u", "--signal", "a.u=sin(2*time)", "--stop", "2",
                  "--step", "0.05", "--control", "fixed", "--coupling", "jacobi", "--extrapolate", "1", "-o", "-")
        good = Table(self.tutti(*system, "--quiet").out)
        outcome = self.tutti(*system, env=self.IGNORE)
        self.assertEqual(outcome.err.count("canInterpolateInputs"), 1)
        self.assert_near(Table(outcome.out)["b.y"], good["b.y"], 0.003)

    def test_check_reports_it(self):
        for version in ("1cs", "2"):
            with self.subTest(version=version):
                fmu = test_fmu("FaultySlopes", version)
                self.assertRegex(self.tutti("check", "--run", fmu, env=self.IGNORE).out, "warning: .*ignores derivatives of inputs.*canInterpolateInputs")
                self.assertNotIn("ignores", self.tutti("check", "--run", fmu).out)
                self.assertNotIn("ignores", self.tutti("check", "--run", fmu, env={"KIT_FAULT": "ignore SetRealInputDerivatives; ignore u"}).out)


class Rows(CommandTest):
    """No row is lost: steps end at rows, or are chosen so that they do; what a step must skip is told."""

    def uniform(self, model, version):
        """An FMU that cannot vary its step."""
        flag = 'canHandleVariableCommunicationStepSize="true"'
        return self.altered(self.modest(model, version), (flag, flag.replace("true", "false")), name="uniform.fmu")

    def modest(self, model, version):
        """An FMU that proposes no step."""
        proposal = () if version == "1cs" else ((' stepSize="0.1"', ""),)
        return self.altered(kit_fmu(model, version), *proposal)

    def bits(self, count, step=0.001, name="boolean_in"):
        """A row every `step` seconds, each with another value than the one before, in an order that no rhythm has."""
        values = [(n * n // 7 + n) % 2 for n in range(count)]
        return values, f"time,{name}\n" + "".join(f"{n * step!r},{value}\n" for n, value in enumerate(values))

    def run_bits(self, fmu, text, *options, **more):
        return self.tutti("run", fmu, "--input", self.write("bits.csv", text), "--stop", "2", "-o", "-",
                          *options, **more)

    def test_a_default_step_from_the_rows(self):
        """FMUs that cannot vary their step see every one of 2001 rows, though 500 steps are the default."""
        values, text = self.bits(2001)
        for version in VERSIONS:
            with self.subTest(version=version):
                outcome = self.run_bits(self.uniform("Feedthrough", version), text)
                self.assertNotIn("warning", outcome.err)
                table = Table(outcome.out)
                seen = dict(zip(table.times, table["boolean_out"]))  # of two rows at an event the second counts
                late = 0 if version == "3" else 1  # outputs know of it one step later
                for n in range(1, 2000):
                    self.assertEqual(seen[table.times[0] + n * 0.001], values[n - late], n)

    def test_times_that_are_rounded(self):
        """Rows at thirds, written with five digits: before or behind the point that they mean."""
        text = "time,int32_in\n" + "".join(f"{n / 3:.5g},{n}\n" for n in range(7))
        for version in ("1cs", "2"):
            outcome = self.run_bits(self.uniform("Feedthrough", version), text, "--record", "int32_out")
            table = Table(outcome.out)
            for t, value in zip(table.times, table["int32_out"]):
                self.assertEqual(value, math.ceil(t * 3 - 1e-9) - 1 if t else 0, t)

    def test_a_step_that_skips_rows_is_told(self):
        _, text = self.bits(2001)
        for version in VERSIONS:
            outcome = self.run_bits(self.uniform("Feedthrough", version), text, "--step", "0.01")
            self.assertRegex(outcome.err, r"warning: .*bits\.csv: .*cannot vary its step 0\.01.* [1-9]\d\d+ it never saw; "
                                          r"use --step 0\.001")
            outcome = self.run_bits(self.uniform("Feedthrough", version), text, "--step", "0.001")
            self.assertNotIn("warning", outcome.err)
            outcome = self.run_bits(self.uniform("Feedthrough", version), "time,boolean_in\n0,0\n0.305,1\n", "--step",
                                    "0.01")
            self.assertRegex(outcome.err, r"1 changes? came late, 0 it never saw")

    def test_rows_of_a_unit_in_a_system(self):
        values, text = self.bits(2001, name="a.boolean_in")
        system = (f"a={self.uniform('Feedthrough', '2')}", f"b={self.modest('Feedthrough', '3')}", "--connect",
                  "a.boolean_out=b.boolean_in", "--input", self.write("bits.csv", text), "--stop", "2")
        results = []
        for options in ((), ("--threads", "2"), ("--processes", "2")):
            outcome = self.tutti("run", *system, "--record", "*.boolean_out", "-o", "-", *options)
            self.assertNotIn("warning", outcome.err)
            results.append(outcome.out)
        table = Table(results[0])
        seen = dict(zip(table.times, table["a.boolean_out"]))
        self.assertEqual([seen[n * 0.001] for n in range(1, 2000)], values[:1999])
        self.assertEqual(results[1:], results[:1] * 2)
        outcome = self.tutti("run", *system, "--step", "0.01", "--threads", "2", "-o", "-")
        self.assertRegex(outcome.err, r"warning: a: .*it never saw")

    def test_lines_bend_at_rows(self):
        """A tooth of 1 ms in a line: without --step the unit follows it, with a long one the run says what it missed."""
        text = "time,u\n0,0\n0.5,0\n0.5005,1\n0.501,0\n2,0\n"
        for version in VERSIONS:
            with self.subTest(version=version):
                fmu = kit_fmu("Tracker", version)
                outcome = self.run_bits(fmu, text, "--rtol", "1e-8")
                self.assertNotIn("warning", outcome.err)
                table = Table(outcome.out)
                expected = [0.0005 / T * math.exp(-(t - 0.5005) / T) for t in table.times]
                if version != "3":
                    self.assertIn(0.5005, table.times)
                self.assert_near([y for t, y in zip(table.times, table["y"]) if t > 0.502],
                                 [y for t, y in zip(table.times, expected) if t > 0.502], 1e-6)
                outcome = self.run_bits(fmu, text, "--step", "0.1")
                if version == "3":  # it asks for its input whenever it likes
                    self.assertNotIn("warning", outcome.err)
                else:
                    self.assertRegex(outcome.err, r"warning: .*bits\.csv: 1 rows? .*inside of steps.*--step 5e-04")

    def test_fine_tables_set_the_default_step(self):
        """A row every 2 ms of a wave: a default step of 2 ms, all points on the rows; a wave of few rows changes nothing."""
        for count, length in ((1001, 1001), (51, 501)):
            text = "time,u\n" + "".join(f"{2 * n / (count - 1)!r},{math.sin(n)}\n" for n in range(count))
            outcome = self.run_bits(self.modest("Tracker", "2"), text)
            self.assertEqual(len(Table(outcome.out)), length)


class Discrete(CommandTest):
    """Inputs that are held, and event mode."""

    def feed(self, version, text, *options, model="Feedthrough"):
        return self.simulate(kit_fmu(model, version), "--input", self.write("input.csv", text), *options)

    def at(self, table, time, column):
        return [value for t, value in zip(table.times, table.texts(column)) if t == time]

    def test_event_mode_shows_both_sides(self):
        text = "time,int32_in,boolean_in,color_in,float64_discrete_in,string_in\n" \
               "0,1,false,red,0.5,before\n0.55,2,true,green,1.5,\"after, all\"\n"
        table = self.feed("3", text, "--stop", "1", "--step", "0.1")
        for column, before, after in (("int32_out", "1", "2"), ("boolean_out", "0", "1"), ("color_out", "1", "3"),
                                      ("float64_discrete_out", "0.5", "1.5"), ("string_out", "before", "after, all")):
            self.assertEqual(self.at(table, 0.55, column), [before, after])
            self.assertEqual(set(table.texts(column)[:table.times.index(0.55) + 1]), {before})
            self.assertEqual(set(table.texts(column)[table.times.index(0.55) + 1:]), {after})
        self.assertEqual(len(table), 11 + 2)

    def test_held_without_event_mode(self):
        """FMI 1.0 and 2.0: the step ends where the input changes; outputs know of it one step later."""
        for version in ("1cs", "2"):
            table = self.feed(version, "time,int32_in,color_in\n0,1,red\n0.55,2,yellow\n", "--stop", "1", "--step",
                              "0.1")
            self.assertEqual(self.at(table, 0.55, "int32_out"), ["1"])
            after = [t > 0.55 for t in table.times]
            self.assertEqual(table["int32_out"], [2 if late else 1 for late in after])
            self.assertEqual(table["color_out"], [2 if late else 1 for late in after])

    def test_jump_of_a_continuous_input_in_event_mode(self):
        table = self.feed("3", "time,float64_in\n0,1\n0.35,1\n0.35,4\n", "--stop", "1", "--step", "0.1")
        self.assertEqual(self.at(table, 0.35, "float64_out"), ["1", "4"])

    def test_equal_rows_are_no_event(self):
        table = self.feed("3", "time,int32_in,float64_in\n0,1,2\n0.35,1,2\n0.35,1,2\n0.7,1,2\n", "--stop", "1",
                          "--step", "0.1")
        self.assertEqual(table.times, [n * 0.1 for n in range(10)] + [1])

    def test_elements_of_arrays(self):
        table = self.feed("3", 'time,"matrix_in[2,3]",vector_in[1],strings_in[2]\n0,1.5,7,x\n0.5,1.5,8,y\n',
                          "--stop", "1", "--step", "0.25")
        self.assertEqual(set(table.texts("matrix_out[2,3]")), {"1.5"})
        self.assertEqual(set(table.texts("matrix_out[1,1]")), {"0"})
        self.assertEqual(table.texts("vector_out[1]"), ["7", "7", "7", "8", "8", "8"])
        self.assertEqual(set(table.texts("vector_out[2]")), {"2"})
        self.assertEqual(table.texts("strings_out[2]"), ["x", "x", "x", "y", "y", "y"])

    def test_element_of_an_array_that_was_resized(self):
        """x' = u[3] - x in the third of three inputs, where the file has two."""
        table = self.simulate(kit_fmu("StateSpace", "3"), "--set", "m=3", "--set", "n=1", "--set", "r=1", "--set",
                              "A=-1", "--set", "B=0 0 1", "--set", "C=1", "--set", "D=0", "--set", "x0=0", "--input",
                              self.write("input.csv", "time,u[3]\n0,2\n"), "--stop", "1")
        self.assert_near(table["y[1]"], [2 * (1 - math.exp(-t)) for t in table.times], 1e-6)

    def test_negated_aliases(self):
        """FMI 1.0: the FMU holds minus the variable. A value means the same in a file as on the command line."""
        old, new = "</ModelVariables>", "".join(
            f'<ScalarVariable name="minus_{name}" valueReference="{reference}" variability="discrete" causality="input"'
            f' alias="negatedAlias"><{element}/></ScalarVariable>'
            for name, reference, element in (("float64", 3, "Real"), ("int32", 18, "Integer"),
                                             ("boolean", 26, "Boolean")))
        fmu = self.altered(kit_fmu("Feedthrough", "1cs"), (old, new + old))
        for name, value, found in (("float64", "2.5", "-2.5"), ("float64", "-4", "4"), ("int32", "7", "-7"),
                                   ("int32", "-1000000000", "1000000000"), ("boolean", "true", None),
                                   ("boolean", "false", None)):
            with self.subTest(name=name, value=value):
                options = ("run", fmu, "--step", "0.5", "--stop", "1", "-o", "-")
                column = "float64_discrete_out" if name == "float64" else f"{name}_out"
                trajectory = self.write("input.csv", f"time,minus_{name}\n0,{value}\n")
                set_ = Table(self.tutti(*options, "--set", f"minus_{name}={value}").out).texts(column)
                fed = Table(self.tutti(*options, "--input", trajectory).out).texts(column)
                self.assertEqual(fed, set_)
                if found:
                    self.assertEqual(set(fed), {found})

    def test_heater_is_switched_by_the_names_of_its_modes(self):
        text = "time,mode,T_outside\n0,off,273.15\n1000,on,273.15\n1500,automatic,273.15\n"
        for version in VERSIONS:
            with self.subTest(version=version):
                table = self.feed(version, text, "--stop", "1500", "--step", "10", model="Heater")
                cooling = [273.15 + 20 * math.exp(-t / 2000) for t in table.times if t <= 1000]
                self.assert_near(table["T"][:len(cooling)], cooling, 1e-6)
                self.assertEqual(set(table["P"][:len(cooling) - 1]), {0})
                self.assertEqual(set(table["P"][len(cooling) + 1:-1]), {2})


class Told(CommandTest):
    def test_recorded_inputs_are_what_the_fmu_was_told(self):
        """x' = u: what u is in a row has made x of the step that ends there, wherever in it the FMU sees its table."""
        trajectory = self.write("input.csv", "time,u\n0,0\n0.5,2\n1,1\n")
        for where in ("begin", "middle", "end", "auto"):
            with self.subTest(where=where):
                table = self.simulate(kit_fmu("Habits", "2"), "--input", trajectory, "--input-at", where, "--step",
                                      "0.125", "--record", "u", "--record", "x")
                x, u = table["x"], table["u"]
                self.assert_near([x[n + 1] - x[n] for n in range(8)], [0.125 * value for value in u[1:]], 1e-12)


if __name__ == "__main__":
    unittest.main()
