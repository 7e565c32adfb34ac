#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti run` on several FMUs: names, connections, what is recorded and driven, settings of an SSP, statistics, and
what is left when it goes wrong."""
import math
import pathlib
import re
import signal
import unittest

from command import JACOBI, Table, description, kit_fmu
from systems import CoupledTest, component, connect, connection, connector, inputs, outputs, ssd, system, words

DAHLQUIST, TRACKER, FEEDTHROUGH = (kit_fmu(name, "2") for name in ("Dahlquist", "Tracker", "Feedthrough"))
STAIR3, FEEDTHROUGH3, SPACE = (kit_fmu(name, "3") for name in ("Stair", "Feedthrough", "StateSpace"))
SHORT = ("--stop", "0.3", "--step", "0.1")


class Names(CoupledTest):
    def test_units_are_called_after_their_files(self):
        table = self.run_(DAHLQUIST, TRACKER, *connect("Dahlquist_fmi2.x=Tracker_fmi2.u"), *SHORT)
        self.assertEqual(table.header, ["time", "Dahlquist_fmi2.x", "Tracker_fmi2.y", "Tracker_fmi2.error"])
        self.assertGreater(table["Tracker_fmi2.y"][-1], 0.3)

    def test_units_are_called_as_one_likes(self):
        for name in ("b", "b.c", "b c", "größe", "a b.größe.1", "x[1]", "b,c", 'b"c', "der(x)", "日本"):
            with self.subTest(name=name):
                table = self.run_(f"a={DAHLQUIST}", f"{name}={TRACKER}", *connect(f"a.x={name}.u"), *SHORT,
                                  "--set", f"{name}.T=1", "--record", f"{name}.y", *JACOBI)
                self.assertEqual(table.header, ["time", f"{name}.y"])
                self.assertAlmostEqual(table[f"{name}.y"][1], 1 - math.exp(-0.1), 7)

    def test_the_longest_name_of_a_unit_wins(self):
        """a.b.y: of a.b, not the variable b.y of a."""
        table = self.run_(f"a={TRACKER}", f"a.b={TRACKER}", "--set", "a.b.u=1", *SHORT)
        self.assertEqual(table.header, ["time", "a.y", "a.error", "a.b.y", "a.b.error"])
        self.assertEqual((table["a.error"][0], table["a.b.error"][0]), (0, 1))

    def test_variables_with_odd_names(self):
        fmu = self.altered(TRACKER, ('name="u"', 'name="u.v = [w]"'), ('name="y"', 'name="grün, y"'))
        table = self.run_(f"a={fmu}", f"b={fmu}", *connect("a.grün, y=b.u.v = [w]"), *SHORT, "--set", "a.u.v = [w]=1")
        self.assertEqual(table.header, ["time", "a.grün, y", "a.error", "b.grün, y", "b.error"])
        self.assertGreater(table["b.grün, y"][-1], 0)

    def test_a_file_with_an_equals_sign(self):
        """A file that is there is no other thing, whatever its name."""
        (self.folder / "k=2.fmu").write_bytes(pathlib.Path(DAHLQUIST).read_bytes())
        table = self.run_("k=2.fmu", f"b={TRACKER}", *connect("k=2.x=b.u"), *SHORT)
        self.assertEqual(table.header, ["time", "k=2.x", "b.y", "b.error"])

    def test_the_same_file_twice(self):
        table = self.run_(f"a={DAHLQUIST}", f"b={DAHLQUIST}", "--set", "b.k=2", "--stop", "1", "--step", "0.1")
        self.assertAlmostEqual(table["a.x"][-1] ** 2, table["b.x"][-1], 4)

    def test_two_of_one_name(self):
        self.refused("run", DAHLQUIST, DAHLQUIST, status=2, says=["'Dahlquist_fmi2'", f"={DAHLQUIST}"])
        self.refused("run", f"a={DAHLQUIST}", f"a={TRACKER}", status=2, says="are called .a.")

    def test_units_without_connections(self):
        table = self.run_(f"a={DAHLQUIST}", f"b={kit_fmu('Dahlquist', '3')}", *SHORT)
        self.assertEqual(table["a.x"], table["b.x"])

    def test_a_single_fmu_with_a_name(self):
        """... is a single FMU: its variables need no name before them."""
        self.assertEqual(self.run_(f"a={DAHLQUIST}", *SHORT).header, ["time", "x"])
        self.assertEqual(self.run_(f"a={TRACKER}", "--set", "a.T=1", *connect("y=u"), *SHORT).header,
                         ["time", "y", "error"])

    def test_wrong_connections(self):
        units = f"a={DAHLQUIST}", f"b={TRACKER}", f"c={FEEDTHROUGH}"
        for text, says in (("a.x", "A.y=B.u"), ("=b.u", "A.y=B.u"), ("a.x=", "A.y=B.u"),
                           ("a.xx=b.u", ["'a.xx'", "did you mean 'a.x'"]), ("a.x=b.uu", ["'b.uu'", "'b.u'"]),
                           ("z.x=b.u", "'z.x'"), ("a.x=b.y", ["'a.x'|'b.y'", "output|input"]),
                           ("a.x=b.time", "time|'b.time'"),
                           ("a.x=c.int32_in", ["'a.x'", "'c.int32_in'"]), ("a.x=c.string_in", "'c.string_in'"),
                           ("c.string_out=b.u", "'c.string_out'"), ("a.x=b.u[1]", r"u\[1\]|array")):
            with self.subTest(connect=text):
                self.refused("run", *units, "--connect", text, status=2, says=says)

    def test_the_kinds_of_its_ends_direct_a_connection(self):
        """As in SSP: which end is named first does not matter."""
        forth, back = (self.run_(f"a={DAHLQUIST}", f"b={TRACKER}", "--connect", text, *SHORT).rows
                       for text in ("a.x=b.u", "b.u=a.x"))
        self.assertEqual(forth, back)

    def test_two_sources(self):
        self.refused("run", f"a={DAHLQUIST}", f"b={TRACKER}", f"c={DAHLQUIST}", *connect("a.x=b.u", "c.x=b.u"),
                     status=2,
                     says=["'b.u'", "'a.x'", "'c.x'"])

    def test_sizes_of_arrays(self):
        units = f"a={SPACE}", f"b={FEEDTHROUGH3}", f"c={SPACE}"
        for text, says in (("a.y=b.matrix_in", ["a.y", "2 values", "b.matrix_in", "6 values"]),
                           ("a.y=b.float64_in", ["a.y", "b.float64_in"]), ("b.float64_out=a.u", ["b.float64_out",
                                                                                                 "a.u"]),
                           ("a.y[3]=b.float64_in", [r"y\[3\]|3"])):
            with self.subTest(connect=text):
                self.refused("run", *units, "--connect", text, status=2, says=says)
        self.refused("run", *units, "--connect", "a.y=c.u", "--set", "a.r=3", status=2,
                     says=["a.y", "3 values", "c.u", "2"])


class Records(CoupledTest):
    UNITS = f"a={DAHLQUIST}", f"b={TRACKER}", f"c={FEEDTHROUGH}"
    WIRES = connect("a.x=b.u", "b.y=c.float64_in")

    def header(self, *options):
        return self.run_(*self.UNITS, *self.WIRES, *SHORT, *options).header

    def test_all_outputs(self):
        self.assertEqual(self.header(), ["time", "a.x", "b.y", "b.error", "c.float64_out", "c.float64_discrete_out",
                                         "c.constant", "c.int32_out", "c.boolean_out", "c.string_out", "c.color_out"])

    def test_patterns(self):
        for patterns, columns in ((["a.*"], ["a.x", "a.der(x)", "a.k"]), (["*.y"], ["b.y"]),
                                  (["b.u", "a.x"], ["a.x", "b.u"]), (["?.x"], ["a.x", "b.x"]),
                                  (["c.float64_*t"], ["c.float64_out", "c.float64_discrete_out"])):
            with self.subTest(patterns=patterns):
                options = [word for pattern in patterns for word in ("--record", pattern)]
                self.assertEqual(self.header(*options), ["time", *columns])

    def test_none(self):
        self.tutti("run", *self.UNITS, *self.WIRES, *SHORT, "--record", "none", "--quiet")

    def test_a_pattern_that_fits_nothing(self):
        self.refused("run", *self.UNITS, "--record", "d.*", status=2, says="'d.[*]'")

    def test_a_connected_input_is_what_its_source_is(self):
        """A row belongs to its time, also where the unit held another value in the step that ends there."""
        record = "--record", "a.x", "--record", "b.u"
        for coupling in (JACOBI, ("--coupling", "seidel", "--extrapolate", "0")):
            table = self.run_(*self.UNITS, *self.WIRES, *SHORT, *record, *coupling)
            self.assertEqual(table["b.u"], table["a.x"])

    def test_output_steps(self):
        table = self.run_(*self.UNITS, *self.WIRES, "--stop", "1", "--step", "0.1", "--output-step", "0.25")
        self.assertEqual(table.times, [0, 0.25, 0.5, 0.75, 1])


class Inputs(CoupledTest):
    def test_columns_of_units(self):
        trajectory = self.write("in.csv", "time,b.u,c.int32_in\n0,1,5\n0.15,1,5\n0.15,2,6\n1,2,6\n")
        table = self.run_(f"a={DAHLQUIST}", f"b={TRACKER}", f"c={FEEDTHROUGH}", *connect("a.x=c.float64_in"), *SHORT,
                          "--input", trajectory, "--record", "b.u", "--record", "c.int32_out", "--record",
                          "c.float64_out", *JACOBI)
        self.assertEqual(table.times, [0, 0.1, 0.15, 0.2, 0.3])
        self.assertEqual(table["b.u"], [1, 1, 1, 2, 2])
        self.assertEqual(table["c.int32_out"], [5, 5, 5, 6, 6])
        self.assertAlmostEqual(table["c.float64_out"][-1], math.exp(-0.2), 5)

    def test_a_connected_input(self):
        trajectory = self.write("in.csv", "time,b.u\n0,1\n1,1\n")
        self.refused("run", f"a={DAHLQUIST}", f"b={TRACKER}", *connect("a.x=b.u"), "--input", trajectory, status=2,
                     says=["in.csv", "'b.u'", "'a.x'"])

    def test_unknown_columns(self):
        for column, says in (("b.v", "'b.v'"), ("u", "'u'"), ("b.y", "'b.y'|output"), ("x.u", "'x.u'")):
            trajectory = self.write("in.csv", f"time,{column}\n0,1\n1,1\n")
            with self.subTest(column=column):
                self.refused("run", f"a={DAHLQUIST}", f"b={TRACKER}", "--input", trajectory, status=2,
                             says=["in.csv", says])

    def root_inputs(self):
        fmu, = self.bring(kit_fmu("Heater", "2"))
        units = '<ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit>\n' \
                '<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>\n'
        rooms = [component(name, fmu, connector("T_outside", "input", unit="K"), connector("T", "output", unit="K"))
                 for name in ("a", "b")]
        text = ssd(system(*rooms, ports=connector("weather", "input", unit="degC") +
                          connector("inside", "output", unit="degC"),
                          connect=connection("weather", "a.T_outside") + connection("weather", "b.T_outside") +
                          connection("a.T", "inside")), units=units)
        return self.write("rooms.ssd", text)

    def test_inputs_and_outputs_of_the_root_system(self):
        """One input leads to two units; units are converted, to the FMUs and to the result."""
        trajectory = self.write("in.csv", "time,weather\n0,10\n100,10\n")
        table = self.run_(self.root_inputs(), "--input", trajectory, "--stop", "10", "--step", "1", "--record",
                          "*.T_outside", "--record", "inside", "--record", "a.T")
        self.assertEqual(sorted(table.header), ["a.T", "a.T_outside", "b.T_outside", "inside", "time"])
        self.assert_near(table["a.T_outside"], [283.15] * 11, 1e-12)
        self.assert_near(table["b.T_outside"], [283.15] * 11, 1e-12)
        self.assert_near(table["inside"], [t - 273.15 for t in table["a.T"]], 1e-12)

    def test_outputs_of_the_root_system_are_recorded(self):
        self.assertIn("inside", self.run_(self.root_inputs(), "--stop", "10", "--step", "1").header)

    def test_both_ways_to_one_input(self):
        trajectory = self.write("in.csv", "time,weather,a.T_outside\n0,10,280\n100,10,280\n")
        self.refused("run", self.root_inputs(), "--input", trajectory, status=1, says=["in.csv", "a.T_outside",
                                                                                       "weather"])

    def test_set_the_inputs_of_the_root_system(self):
        table = self.run_(self.root_inputs(), "--set", "weather=-10", "--stop", "10", "--step", "1", "--record",
                          "*.T_outside")
        self.assert_near(table["a.T_outside"], [263.15] * 11, 1e-12)


class Elements(CoupledTest):
    def test_elements_that_are_not_connected(self):
        """... keep their start values: those of the FMU, of --set, of an input file that drives others."""
        units = f"a={DAHLQUIST}", f"b={SPACE}"
        record = "--record", "b.u*", *JACOBI
        table = self.run_(*units, *connect("a.x=b.u[1]"), *SHORT, *record)
        self.assertEqual(table["b.u[2]"], [2] * 4)
        table = self.run_(*units, *connect("a.x=b.u[1]"), *SHORT, *record, "--set", "b.u[2]=5")
        self.assertEqual(table["b.u[2]"], [5] * 4)
        self.assertAlmostEqual(table["b.u[1]"][-1], math.exp(-0.3), 4)
        table = self.run_(*units, *connect("a.x=b.u[2]"), *SHORT, *record, "--set", "b.u=7 8")
        self.assertEqual(table["b.u[1]"], [7] * 4)
        table = self.run_(*units, *connect("a.x=b.u[1]"), *SHORT, *record, "--set", "b.u[2]=5", "--interface", "me")
        self.assertEqual(table["b.u[2]"], [5] * 4)

    def test_elements_that_no_file_drives(self):
        trajectory = self.write("in.csv", "time,u[1]\n0,1\n1,1\n")
        table = self.run_(SPACE, *SHORT, "--input", trajectory, "--set", "u[2]=5", "--record", "u*")
        self.assertEqual((table["u[1]"], table["u[2]"]), ([1] * 4, [5] * 4))

    def test_types_are_converted(self):
        table = self.run_(f"a={STAIR3}", f"b={FEEDTHROUGH3}", *connect("a.counter=b.float64_in", "a.counter=b.int8_in",
                                                                       "a.counter=b.uint64_in"), "--stop", "3.5",
                          "--step", "0.5", "--record", "a.counter", "--record", "b.*_in")
        for name in ("b.float64_in", "b.int8_in", "b.uint64_in"):
            self.assertEqual(table[name][-1], 3)

    def test_a_number_that_does_not_fit(self):
        outcome = self.tutti("run", f"a={FEEDTHROUGH3}", f"b={FEEDTHROUGH3}", *connect("a.int32_out=b.uint8_in"),
                             *SHORT,
                             "--set", "a.int32_in=300", status=1)
        for words_ in ("'a.int32_out'", "'b.uint8_in'", "300", "UInt8"):
            self.assertIn(words_, outcome.err)


class Aliases(CoupledTest):
    """FMI 1.0 knows variables that are minus another one."""

    def negated(self, name, variable, negated):
        """The Tracker of FMI 1.0, with another name for minus a variable."""
        fmu = kit_fmu("Tracker", "1cs")
        line = next(line for line in description(fmu).splitlines() if f'name="{variable}"' in line)
        number = re.search(r'valueReference="(\d+)"', line)[1]
        causality = "input" if variable == "u" else "output"
        alias = f'<ScalarVariable name="{negated}" valueReference="{number}" causality="{causality}" ' \
                'alias="negatedAlias"><Real/></ScalarVariable>\n'
        return self.altered(fmu, (line, alias + line), name=name)

    def test_a_negated_source(self):
        fmu = self.negated("source.fmu", "error", "minus")
        table = self.run_(f"a={fmu}", f"b={TRACKER}", *connect("a.minus=b.u"), *SHORT, "--set", "a.u=2", "--record",
                          "a.error", "--record", "a.minus", "--record", "b.error", "--record", "b.u", *JACOBI)
        self.assertEqual(table["a.minus"], [-value for value in table["a.error"]])
        self.assertEqual(table["b.u"], [-value for value in table["a.error"]])
        self.assertEqual(table["b.error"][0], -2)

    def test_a_negated_destination(self):
        fmu = self.negated("sink.fmu", "u", "minus")
        table = self.run_(f"a={DAHLQUIST}", f"b={fmu}", *connect("a.x=b.minus"), *SHORT, "--record", "a.x", "--record",
                          "b.u", "--record", "b.minus", *JACOBI)
        self.assertEqual(table["b.u"], [-value for value in table["a.x"]])
        self.assertEqual(table["b.minus"], table["a.x"])

    def test_both_ends_negated_with_a_conversion(self):
        """-(-x) is x, and what lies between acts in between."""
        self.negated("source.fmu", "y", "minus_y")
        self.negated("sink.fmu", "u", "minus_u")
        text = ssd(system(component("a", "source.fmu", outputs("minus_y")), component("b", "sink.fmu",
                                                                                      inputs("minus_u")),
                          connect=connection("a.minus_y", "b.minus_u",
                                             '<ssc:LinearTransformation factor="2" offset="3"/>')))
        table = self.run_(self.write("both.ssd", text), *SHORT, "--set", "a.u=1", "--record", "a.y", "--record", "b.u",
                          *JACOBI)
        self.assert_near(table["b.u"], [-(2 * -value + 3) for value in table["a.y"]], 1e-12)


class Annotations(CoupledTest):
    def document(self, root_words=None, own_words=None):
        fmus = self.bring(DAHLQUIST, TRACKER)
        inside = words(**own_words) if own_words else ""
        text = ssd(system(component("a", fmus[0], outputs("x")), component("b", fmus[1], inputs("u"), inside=inside),
                          connect=connection("a.x", "b.u")), behind=words(**root_words) if root_words else "")
        return self.write("words.ssd", text), text

    def test_words_of_a_system(self):
        path, _ = self.document({"step": "0.25", "output_step": "0.5", "coupling": "jacobi"})
        table, stats, _ = self.with_stats(path, "--stop", "1")
        self.assertEqual((stats["steps"], table.times), (4, [0, 0.5, 1]))

    def test_words_of_a_component(self):
        path, _ = self.document({"step": "0.1"}, {"step": "0.5", "interface": "me", "solver": "rk4"})
        _, _, units = self.with_stats(path, "--stop", "1")
        self.assertEqual(units["b"]["do_steps"], 2)
        self.assertEqual((units["b"]["interface"], units["b"]["solver"]), ("me", "rk4"))
        self.assertEqual((units["a"]["interface"], units["a"]["do_steps"]), ("cs", 10))

    def test_the_command_line_wins(self):
        path, _ = self.document({"step": "0.25"}, {"step": "0.5", "solver": "rk4"})
        _, stats, units = self.with_stats(path, "--stop", "1", "--step", "0.1", "--step", "b=0.2", "--solver", "bdf")
        self.assertEqual((stats["steps"], units["b"]["do_steps"], units["b"]["solver"]), (10, 5, "bdf"))

    def test_unknown_words(self):
        for where, given in (("system", ({"stepp": "0.1"}, None)), ("component", (None, {"coupling": "jacobi"}))):
            path, text = self.document(*given)
            line = text[:text.index("<tutti:settings")].count("\n") + 1
            word = next(iter((given[0] or given[1])))
            self.refused("run", path, status=1, says=[rf"words.ssd:{line}: ", f"'{word}'", f"a {where}", "solver"])

    def test_wrong_values(self):
        for given, says in (({"step": "fast"}, ["words.ssd:[0-9]+", "step", "'fast'"]),
                            ({"step": "0"}, ["words.ssd:[0-9]+", "step", "'0'"]), ({"coupling": "magic"}, ["magic",
                                                                                                           "jacobi"]),
                            ({"solver": "magic"}, ["magic", "cvode"])):
            path, _ = self.document(given)
            self.refused("run", path, status=None, says=says)

    def tutti(self, *arguments, status=0, **options):
        """None: 1 or 2."""
        if status is None:
            outcome = self.finish(self.start(*arguments, **options))
            self.assertIn(outcome.status, (1, 2), outcome.err)
            return outcome
        return super().tutti(*arguments, status=status, **options)

    def test_not_a_multiple(self):
        path, _ = self.document({"step": "0.1"}, {"step": "0.25"})
        self.refused("run", path, status=None, says=["0.25", "multiple", "'?b\\b"])


class Statistics(CoupledTest):
    KEYS = {"version", "system", "coupling", "control", "extrapolate", "events", "correct", "smooth", "fabric", "ranks",
            "start", "stop", "steps", "rejected", "iterations", "events_located", "exchanges", "setup_seconds", "loop_seconds", "units"}
    UNIT_KEYS = {"name", "fmu", "fmi", "interface", "rank", "do_steps", "accepted", "rejected", "auxiliary", "rollbacks", "gets", "sets", "init_evaluations",
                 "solver_steps", "rhs_evaluations", "jacobian_evaluations", "seconds"}

    def test_keys_and_counts(self):
        _, stats, units = self.with_stats(f"a={kit_fmu('Dahlquist', '1me')}", f"b={TRACKER}",
                                          f"c={kit_fmu('Tracker', '3')}",
                                          *connect("a.x=b.u", "b.y=c.u"), "--stop", "1", "--step", "0.1", *JACOBI)
        self.assertLessEqual(self.KEYS, set(stats))
        for unit in stats["units"]:
            self.assertLessEqual(self.UNIT_KEYS, set(unit))
            self.assertEqual((unit["do_steps"], unit["rank"], unit["rollbacks"]), (10, 0, 0))
            self.assertEqual((unit["accepted"], unit["rejected"], unit["auxiliary"]), (10, 0, 0))
        self.assertEqual([unit["name"] for unit in stats["units"]], ["a", "b", "c"])
        self.assertEqual([unit["fmi"] for unit in stats["units"]], ["1.0", "2.0", "3.0"])
        self.assertEqual([unit["interface"] for unit in stats["units"]], ["me", "cs", "cs"])
        self.assertEqual((stats["coupling"], stats["fabric"], stats["ranks"]), ("jacobi", "local", 1))
        self.assertEqual((stats["control"], stats["extrapolate"], stats["events"]), ("fixed", "0", "none"))
        self.assertEqual((stats["correct"], stats["smooth"], stats["iterations"]), (False, False, 0))
        self.assertEqual((stats["start"], stats["stop"], stats["steps"], stats["rejected"]), (0, 1, 10, 0))
        self.assertGreaterEqual(stats["exchanges"], 10)
        self.assertGreater(units["a"]["rhs_evaluations"], 0)
        self.assertEqual(units["b"]["rhs_evaluations"], 0)


class Endings(CoupledTest):
    PREFIX = {"1cs": "fmi", "2": "fmi2", "3": "fmi3"}

    def environment(self, **extra):
        leaks = f"suppressions={self.write('leaks.txt', 'leak:Faulty.so')}:print_suppressions=0"
        return super().environment(LSAN_OPTIONS=leaks, **extra)

    def test_a_unit_that_fails(self):
        """One message with unit, function and time; rows up to there."""
        for version, prefix in self.PREFIX.items():
            for kind, said in (("error", "returned Error"), ("fatal", "returned Fatal"), ("crash", "crash")):
                with self.subTest(version=version, kind=kind):
                    fmu = kit_fmu("Faulty", version)
                    outcome = self.tutti("run", f"a={DAHLQUIST}", f"good={fmu}", f"bad={fmu}",
                                         *connect("a.x=bad.u", "bad.y=good.u"), "--stop", "1", "--step", "0.125",
                                         "--quiet", env={"KIT_FAULT": f"{kind} DoStep 0.5 @bad"}, status=1)
                    message = [line for line in outcome.lines("error") if f"{prefix}DoStep" in line]
                    self.assertEqual(len(message), 1, outcome.err)
                    self.assertIn("bad", message[0])
                    self.assertRegex(message[0], r"t = 0\.5\b")
                    self.assertIn(said, message[0])
                    self.assertEqual(self.result().times, [0, 0.125, 0.25, 0.375, 0.5])

    def test_a_unit_that_fails_at_the_start(self):
        fmu = kit_fmu("Faulty", "2")
        for call in ("Instantiate", "EnterInitializationMode", "ExitInitializationMode", "GetReal"):
            with self.subTest(call=call):
                outcome = self.tutti("run", f"a={DAHLQUIST}", f"bad={fmu}", *connect("a.x=bad.u"), "--quiet",
                                     env={"KIT_FAULT": f"error {call}"}, status=1)
                message = [line for line in outcome.lines("error") if "fmi2" in line]
                self.assertEqual(len(message), 1, outcome.err)
                self.assertIn("bad", message[0])

    def test_a_discarded_step(self):
        """FMI 3.0 may try half of it; the others do not notice."""
        self.tutti("run", f"a={DAHLQUIST}", f"bad={kit_fmu('Faulty', '3')}", *connect("a.x=bad.u"), "--stop", "1",
                   "--step", "0.25", "--stats", "stats.json", "--quiet", env={"KIT_FAULT": "discard DoStep 0.5"})
        stats = self.stats()
        self.assertEqual(stats["rejected"], 1)
        self.assertEqual([unit["do_steps"] for unit in stats["units"]], [4, 6])
        self.assertEqual(self.result().times, [0, 0.25, 0.5, 0.75, 1])

    def test_a_discarded_step_of_fmi2(self):
        outcome = self.tutti("run", f"a={DAHLQUIST}", f"bad={kit_fmu('Faulty', '2')}", *connect("a.x=bad.u"), "--stop",
                             "1",
                             "--step", "0.25", "--quiet", env={"KIT_FAULT": "discard DoStep 0.5"}, status=1)
        self.assertRegex(outcome.err, r"bad \(.*discarded the step from t = 0.5 to 0.75")
        self.assertEqual(self.result().times, [0, 0.25, 0.5])

    def test_ctrl_c(self):
        process = self.start("run", f"a={DAHLQUIST}", f"bad={kit_fmu('Faulty', '2')}", *connect("a.x=bad.u"), "--stop",
                             "1",
                             "--step", "1e-9", "--output-step", "1e-6", env={"KIT_FAULT": "print DoStep 2.5e-5"})
        self.await_print(process)
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 130)
        self.assertRegex(outcome.err, r"interrupted at t = \S+; everything up to there is kept")
        times = self.result().times
        self.assertGreaterEqual(len(times), 26)
        self.assertEqual(times, [n * 1e-6 for n in range(len(times))])

    def test_a_result_on_standard_output(self):
        outcome = self.tutti("run", f"a={DAHLQUIST}", f"b={TRACKER}", *connect("a.x=b.u"), *SHORT, "-o", "-", "--quiet")
        self.assertEqual(len(Table(outcome.out)), 4)


if __name__ == "__main__":
    unittest.main()
