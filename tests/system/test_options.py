#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tutti run` sets (--set), records (--record, -o) and counts (--stats)."""
import json
import math
import os
import unittest

from command import VERSIONS, CommandTest, Table, kit_fmu

ONE_STEP = ("--stop", "0.1", "--step", "0.1")

# Values at the limits of every type, as a person writes them and as the result has them.
VALUES_3 = {
    "float64": ("-1.5e-300", "-1.5e-300"), "float64_discrete": ("0.1", "0.1"), "float32": ("0.1", "0.1"),
    "int8": ("-128", "-128"), "uint8": ("255", "255"), "int16": ("-32768", "-32768"), "uint16": ("65535", "65535"),
    "int32": ("-1000000000", "-1000000000"), "uint32": ("4294967295", "4294967295"),
    "int64": ("-9223372036854775808", "-9223372036854775808"),
    "uint64": ("18446744073709551615", "18446744073709551615"), "boolean": ("true", "1"),
    "string": ('one, "two"\nthree', 'one, "two"\nthree'), "color": ("green", "3"), "binary": ("00ff7e", "00ff7e"),
}
VALUES_1_AND_2 = ("float64", "float64_discrete", "int32", "boolean", "string", "color")


class Set(CommandTest):
    def value(self, fmu, setting, *columns, record="*"):
        """The first row of these columns after --set."""
        settings = [setting] if isinstance(setting, str) else setting
        arguments = [word for text in settings for word in ("--set", text)]
        table = self.simulate(fmu, *ONE_STEP, *arguments, "--record", record)
        return [table.texts(column)[0] for column in columns]

    def test_every_type(self):
        for version in VERSIONS:
            for name, (given, found) in VALUES_3.items():
                if version == "3" or name in VALUES_1_AND_2:
                    with self.subTest(version=version, type=name):
                        fmu = kit_fmu("Feedthrough", version)
                        self.assertEqual(self.value(fmu, f"{name}_in={given}", f"{name}_in", f"{name}_out"),
                                         [found, found])

    def test_parameters_take_effect(self):
        for version in VERSIONS:
            fmu = kit_fmu("Dahlquist", version)
            table = self.simulate(fmu, "--set", "k=3", "--set", "x=2", "--step", "0.01", "--stop", "1")
            self.assert_near(table["x"], [2 * math.exp(-3 * t) for t in table.times], 1e-7)
            name = f"Dahlquist_fmi{version}.k=3"  # the unit's name may stand in front
            self.assertEqual(self.value(fmu, name, "k"), ["3"])
            self.assertEqual(self.value(fmu, ["k=1", "k=4"], "k"), ["4"])

    def test_words_of_booleans_and_enumerations(self):
        for version in VERSIONS:
            fmu = kit_fmu("Feedthrough", version)
            for given, found in (("true", "1"), ("1", "1"), ("false", "0"), ("0", "0")):
                self.assertEqual(self.value(fmu, f"boolean_in={given}", "boolean_out"), [found])
            for given, found in (("red", "1"), ("yellow", "2"), ("green", "3"), ("2", "2")):
                self.assertEqual(self.value(fmu, f"color_in={given}", "color_out"), [found])

    def test_arrays(self):
        fmu = kit_fmu("Feedthrough", "3")
        matrix = [f"matrix_out[{row},{column}]" for row in (1, 2) for column in (1, 2, 3)]
        self.assertEqual(self.value(fmu, "matrix_in=1 2 3 4 5 6", *matrix), list("123456"))
        self.assertEqual(self.value(fmu, "matrix_in=1,2,3, 4,5,6", *matrix), list("123456"))
        self.assertEqual(self.value(fmu, "matrix_in=7", *matrix), ["7"] * 6)
        self.assertEqual(self.value(fmu, ["matrix_in=7", "matrix_in[2,1]=0.5"], *matrix),
                         ["7", "7", "7", "0.5", "7", "7"])
        vector = ("vector_out[1]", "vector_out[2]", "vector_out[3]")
        self.assertEqual(self.value(fmu, "vector_in[3]=-9", *vector), ["1", "2", "-9"])
        self.assertEqual(self.value(fmu, "strings_in[2]=a, b", "strings_out[1]", "strings_out[2]"), ["first", "a, b"])

    def test_structural_parameters(self):
        """x' = -2 x + 4, y = 3 x + 2 from the matrices of a general system."""
        settings = "n=1 m=1 r=1 A=-2 B=1 C=3 D=0.5 x0=1 u=4".split()
        for order in (settings, settings[::-1]):  # structural parameters come first anyway
            table = self.simulate(kit_fmu("StateSpace", "3"), *[word for s in order for word in ("--set", s)])
            self.assertEqual(table.header, ["time", "y[1]"])
            self.assert_near(table["y[1]"], [3 * (2 - math.exp(-2 * t)) + 2 for t in table.times], 1e-6)

    def test_extents_of_zero(self):
        fmu = kit_fmu("StateSpace", "3")
        table = self.simulate(fmu, "--set", "n=0")  # y = D u
        self.assertEqual((set(table["y[1]"]), set(table["y[2]"])), ({0}, {0.5}))
        self.assertEqual(self.simulate(fmu, "--set", "m=0").header, ["time", "y[1]", "y[2]"])
        self.assertEqual(self.simulate(fmu, "--set", "r=0", *ONE_STEP).rows, [["0"], ["0.1"]])
        nothing = self.simulate(fmu, *[word for name in "nmr" for word in ("--set", f"{name}=0")], "--record", "*")
        self.assertEqual(nothing.header, ["time", "m", "n", "r"])

    def test_elements_of_arrays_that_were_resized(self):
        """Indices count in the extents of this run, not in those of the file."""
        fmu = kit_fmu("StateSpace", "3")
        elements = [f"A[{row},{column}]" for row in range(1, 5) for column in range(1, 5)]
        for element in ("A[2,1]", "A[1,4]", "A[4,4]", "A[4,1]"):
            with self.subTest(element=element):
                found = self.value(fmu, ["n=4", "A=0", f"{element}=5"], *elements, record="A*")
                self.assertEqual([e for e, value in zip(elements, found) if value != "0"], [element])
        self.refused("run", fmu, "--set", "n=2", "--set", "A[3,1]=5", status=2, says=r"A\[3,1\]")


class Record(CommandTest):
    def header(self, fmu, *patterns):
        return self.simulate(fmu, *ONE_STEP, *[word for p in patterns for word in ("--record", p)]).header

    def test_patterns(self):
        fmu = kit_fmu("VanDerPol", "2")
        for patterns, names in (((), ["x0", "x1"]), (("x0",), ["x0"]), (("x?",), ["x0", "x1"]), (("mu",), ["mu"]),
                                (("*",), ["x0", "der(x0)", "x1", "der(x1)", "mu"]),
                                (("der(*)", "mu"), ["der(x0)", "der(x1)", "mu"]), (("x1", "x0"), ["x0", "x1"]),
                                (("x0", "x*"), ["x0", "x1"]), (("VanDerPol_fmi2.x1",), ["x1"]),
                                (("VanDerPol_fmi2.*",), ["x0", "der(x0)", "x1", "der(x1)", "mu"])):
            with self.subTest(patterns=patterns):
                self.assertEqual(self.header(fmu, *patterns), ["time", *names])

    def test_elements_beside_whole_variables(self):
        fmu = kit_fmu("StateSpace", "3")
        for patterns, names in ((("x[1]", "y"), ["y[1]", "y[2]", "x[1]"]), (("x[3]", "x[1]"), ["x[1]", "x[3]"]),
                                (("?[2]", "n"), ["n", "u[2]", "y[2]", "x[2]"]),
                                (("StateSpace_fmi3.A[1,*]",), ["A[1,1]", "A[1,2]", "A[1,3]"])):
            with self.subTest(patterns=patterns):
                self.assertEqual(self.header(fmu, *patterns), ["time", *names])

    def test_none(self):
        outcome = self.tutti("run", kit_fmu("VanDerPol", "3"), "--record", "none", "-o", "result.csv")
        self.assertNotIn("result", outcome.err)
        with self.assertRaises(FileNotFoundError):
            self.result()

    def test_arrays_and_aliases(self):
        fmu = kit_fmu("Feedthrough", "3")
        matrix = [f"matrix_out[{row},{column}]" for row in (1, 2) for column in (1, 2, 3)]
        self.assertEqual(self.header(fmu, "matrix_out"), ["time", *matrix])
        self.assertEqual(self.header(fmu, "matrix_out[2,*]"), ["time", *matrix[3:]])
        self.assertEqual(self.header(fmu, "matrix_out[1,2]"), ["time", "matrix_out[1,2]"])
        self.assertEqual(self.header(fmu, "float64_alias", "float64_out"), ["time", "float64_out", "float64_alias"])

    def test_quotes_as_in_rfc_4180(self):
        out = self.tutti("run", kit_fmu("Feedthrough", "3"), *ONE_STEP, "-o", "-", "--quiet",
                         "--set", 'string_in=a,"b"\nc', "--record", "string_out", "--record", "matrix_out[1,1]").out
        self.assertEqual(out, 'time,string_out,"matrix_out[1,1]"\n0,"a,""b""\nc",0\n0.1,"a,""b""\nc",0\n')

    def test_text_of_the_fmu_comes_through(self):
        table = self.simulate(kit_fmu("Feedthrough", "2"), *ONE_STEP, "--record", "string_parameter")
        self.assertEqual(table.texts("string_parameter"), ['a "quoted" <text> & \u00fcml\u00e4ut'] * 2)

    def test_numbers_read_back_to_the_same_bits(self):
        for given in ("0.1", "1e-310", "5e-324", "1.7976931348623157e308", "0.30000000000000004", "-0.0", "123456789"):
            table = self.simulate(kit_fmu("Feedthrough", "3"), *ONE_STEP, "--set", f"float64_in={given}",
                                  "--record", "float64_in")
            self.assertEqual(table["float64_in"][0].hex(), float(given).hex())

    def test_result_file(self):
        fmu = kit_fmu("Dahlquist", "3")
        self.tutti("run", fmu)
        self.assertEqual(len(self.result("result.csv")), 101)
        self.tutti("run", fmu, "-o", "other.csv", *ONE_STEP)
        self.assertEqual(len(self.result("other.csv")), 2)
        self.tutti("run", fmu, "--output=result.csv", *ONE_STEP)  # the longer one before is gone
        self.assertEqual(self.result("result.csv").rows, self.result("other.csv").rows)
        outcome = self.tutti("run", fmu, "-o", "-", *ONE_STEP)
        self.assertEqual(Table(outcome.out).rows, self.result("other.csv").rows)
        self.assertIn("steps", outcome.err)


class Stats(CommandTest):
    KEYS = set("version system coupling control extrapolate events fabric ranks start stop steps rejected iterations "
               "events_located exchanges setup_seconds loop_seconds units".split())
    UNIT_KEYS = set("name fmu fmi interface rank do_steps rollbacks gets sets init_evaluations solver_steps "
                    "rhs_evaluations jacobian_evaluations seconds".split())

    def stats(self, fmu, *options, status=0, **more):
        self.tutti("run", fmu, "--stats", "stats.json", "--quiet", *options, status=status, **more)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            stats = json.load(file)
        self.assertLessEqual(self.KEYS, set(stats))
        self.assertEqual(len(stats["units"]), 1)
        self.assertLessEqual(self.UNIT_KEYS, set(stats["units"][0]))
        if status == 0:
            self.assertEqual(stats["units"][0]["do_steps"], stats["steps"] + stats["rejected"])
        return stats

    def counts(self, *arguments, **options):
        stats = self.stats(*arguments, **options)
        return [stats["steps"], *(stats["units"][0][key] for key in ("do_steps", "gets", "sets"))]

    def test_header(self):
        for version, fmi in VERSIONS.items():
            fmu = kit_fmu("Dahlquist", version)
            stats = self.stats(fmu, "--start", "-1", "--stop", "2", "--step", "0.5")
            unit = stats["units"][0]
            self.assertEqual((stats["start"], stats["stop"], stats["ranks"], unit["rank"]), (-1, 2, 1, 0))
            self.assertEqual((unit["name"], unit["fmu"], unit["fmi"], unit["interface"]),
                             (f"Dahlquist_fmi{version}", fmu, fmi, "cs"))
            self.assertEqual((stats["system"], stats["rejected"], stats["exchanges"]), (fmu, 0, 0))
            version_line = self.tutti("--version").out
            self.assertEqual(version_line, f"tutti {stats['version']}\n")

    def test_counts(self):
        """Steps, do-steps, gets (one per type and row) and sets."""
        dahlquist, feedthrough = kit_fmu("Dahlquist", "2"), kit_fmu("Feedthrough", "2")
        self.assertEqual(self.counts(dahlquist), [100, 100, 101, 0])
        self.assertEqual(self.counts(dahlquist, "--set", "k=2", "--set", "x=3"), [100, 100, 101, 2])
        self.assertEqual(self.counts(dahlquist, "--record", "none"), [100, 100, 0, 0])
        self.assertEqual(self.counts(dahlquist, "--output-step", "1"), [100, 100, 11, 0])
        self.assertEqual(self.counts(dahlquist, "--record", "*", "--step", "1"), [10, 10, 11, 0])
        self.assertEqual(self.counts(feedthrough, "--record", "*", "--step", "1"), [2, 2, 3 * 5, 0])
        self.assertEqual(self.counts(dahlquist, "--record", "none", "--stop", "1", "--step", "1e-6"),
                         [1000000, 1000000, 0, 0])

    def test_counts_with_inputs(self):
        """Once while it initialises and once before every step."""
        trajectory = self.write("u.csv", "time,u\n0,0\n5,5\n")
        for version in ("1cs", "2"):
            self.assertEqual(self.counts(kit_fmu("Tracker", version), "--input", trajectory, "--step", "0.5"),
                             [10, 10, 11, 11])

    def test_events(self):
        stats = self.stats(kit_fmu("Stair", "3"), "--stop", "3.5", "--step", "0.5")
        self.assertEqual((stats["events_located"], stats["steps"]), (3, 7))
        self.assertEqual(self.stats(kit_fmu("BouncingBall", "3"))["events_located"], 11)

    def test_end_by_the_fmu(self):
        for version in ("2", "3"):
            with self.subTest(version=version):
                stats = self.stats(kit_fmu("Stair", version), "--step", "0.5")
                self.assertEqual((stats["stop"], stats["steps"], stats["rejected"]), (10, 20, 0))

    def test_file_names_that_are_no_utf_8(self):
        """JSON has to be: what is not UTF-8 becomes '?'. Nor may a long name be cut inside a character."""
        latin, long = os.fsdecode(b"b\xe9b\xff.fmu"), "a" * 99 + "\u00e9.fmu"
        for name, told in ((latin, "b?b?.fmu"), (long, long)):
            self.altered(kit_fmu("Dahlquist", "3"), name=name)
            stats = self.stats(name)
            self.assertEqual((stats["system"], stats["units"][0]["fmu"], stats["steps"]), (told, told, 100))
            self.assertTrue(told.startswith(stats["units"][0]["name"].rstrip("?")), stats["units"][0]["name"])

    def test_failed_run(self):
        stats = self.stats(kit_fmu("Faulty", "2"), status=1, env={"KIT_FAULT": "error DoStep 0.55"})
        self.assertEqual((stats["stop"], stats["steps"], stats["units"][0]["gets"]), (0.5, 5, 6))


if __name__ == "__main__":
    unittest.main()
