#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections between variables of different types, and with a factor and an offset."""
import unittest

from command import kit_fmu
from ssp_text import F2, SspTest, component, connect, connector, linear, ssd, system

FEEDTHROUGH = kit_fmu("Feedthrough", "2")
UNITS = f"a={FEEDTHROUGH}", f"b={FEEDTHROUGH}"
SHORT = "--stop", "0.02", "--step", "0.01", "--coupling", "jacobi", "--control", "fixed"


class ConvertTest(SspTest):
    def arrives_at_b(self, variable, source, value, *options, units=UNITS):
        """The value of b's input behind a connection."""
        table = self.simulate(units[0], *units[1:], "--connect", f"{source}=b.{variable}", "--set", value, *SHORT, "--record",
                              f"b.{variable}", *options)
        column, = table.header[1:]
        return set(table.texts(column))


class Types(ConvertTest):
    def test_what_is_exact_needs_no_word(self):
        for variable, source, value, expected in (
                ("float64_in", "a.int32_out", "a.int32_in=7", "7"), ("float64_in", "a.boolean_out", "a.boolean_in=true", "1"),
                ("int32_in", "a.boolean_out", "a.boolean_in=true", "1"), ("int32_in", "a.boolean_out", "a.boolean_in=false", "0")):
            with self.subTest(to=variable, source=source):
                self.assertEqual(self.arrives_at_b(variable, source, value), {expected})

    def test_what_rounds_needs_one(self):
        for variable, source, value, expected in (
                ("int32_in", "a.float64_out", "a.float64_in=2.5", "3"), ("int32_in", "a.float64_out", "a.float64_in=-2.5", "-3"),
                ("int32_in", "a.float64_out", "a.float64_in=2.49", "2"), ("boolean_in", "a.float64_out", "a.float64_in=0.4", "0"),
                ("boolean_in", "a.float64_out", "a.float64_in=-0.5", "1"), ("boolean_in", "a.int32_out", "a.int32_in=-3", "1"),
                ("boolean_in", "a.int32_out", "a.int32_in=0", "0")):
            with self.subTest(to=variable, value=value):
                self.refused("run", *UNITS, "--connect", f"{source}=b.{variable}", status=2, says="--convert")
                self.assertEqual(self.arrives_at_b(variable, source, value, "--convert"), {expected})

    def test_texts_stay_texts(self):
        self.refused("run", *UNITS, "--connect", "a.string_out=b.float64_in", "--convert", status=2, says="String cannot be")

    def test_what_does_not_fit_ends_the_run(self):
        outcome = self.tutti("run", *UNITS, "--connect", "a.float64_out=b.int32_in", "--convert", "--set", "a.float64_in=1e10",
                             *SHORT, status=1)
        self.assertRegex(outcome.err, "a.float64_out.*b.int32_in.*10000000000 does not fit into Int32")

    def test_it_is_the_same_on_every_fabric(self):
        for fabric in "--threads", "--processes":
            self.assertEqual(self.arrives_at_b("int32_in", "a.float64_out*10", "a.float64_in=0.26", "--convert", fabric, "2"), {"3"})

    def test_in_an_ssp(self):
        """A system says so itself by its annotation; what is exact needs nothing."""
        for kind, start, given, options, expected in (("int32_in", "boolean_out", "a.boolean_in=true", (), 1),
                                                      ("int32_in", "float64_out", "a.float64_in=4.6", ("--convert",), 5)):
            root = system("root", component("a", F2, [connector(start, "output")]), component("b", F2, [connector(kind, "input")]),
                          connections=[connect(f"a/{start}", f"b/{kind}")])
            self.arrives(self.packed(ssd(root), "Feedthrough2"), {f"b.{kind}": expected}, "--set", given, *options)

    def test_a_wire_between_must_not_hide_the_rounding(self):
        root = system("root", component("a", F2, [connector("float64_out", "output")]),
                      component("b", F2, [connector("float64_in", "input")]),
                      system("inner", connectors=[connector("u", "input", "Integer"), connector("y", "output", "Integer")],
                             connections=[connect("/u", "/y")]),
                      connections=[connect("a/float64_out", "inner/u"), connect("inner/y", "b/float64_in")])
        self.refused("run", self.packed(ssd(root), "Feedthrough2"), "--convert", status=1, says="after it was rounded on its way")


class Scales(ConvertTest):
    def test_factor_and_offset(self):
        for source, expected in (("a.float64_out*2+1", 7), ("a.float64_out*2", 6), ("a.float64_out-0.5", 2.5),
                                 ("a.float64_out*-1e-1-1e+1", -10.3), ("a.float64_out+1e-1", 3.1)):
            with self.subTest(source=source):
                value, = self.arrives_at_b("float64_in", source, "a.float64_in=3")
                self.assertAlmostEqual(float(value), expected, delta=1e-12)

    def test_integers(self):
        self.assertEqual(self.arrives_at_b("float64_in", "a.int32_out*0.25", "a.int32_in=3"), {"0.75"})
        self.refused("run", *UNITS, "--connect", "a.int32_out*0.5=b.int32_in", status=2, says="rounded: --convert")
        self.assertEqual(self.arrives_at_b("int32_in", "a.int32_out*3-1", "a.int32_in=3", "--convert"), {"8"})
        self.assertEqual(self.arrives_at_b("int32_in", "a.int32_out*0.5", "a.int32_in=3", "--convert"), {"2"})

    def test_a_name_with_such_signs_comes_first(self):
        fmu = self.altered(FEEDTHROUGH, ('name="float64_out"', 'name="y*2"'), ('name="float64_discrete_out"', 'name="y"'))
        units = f"a={fmu}", f"b={FEEDTHROUGH}"
        for source, expected in (("a.y*2", "3"), ("a.y*2*2", "6"), ("a.y*2+1", "4"), ("a.y*3", "0")):
            with self.subTest(source=source):
                self.assertEqual(self.arrives_at_b("float64_in", source, "a.float64_in=3", units=units), {expected})

    def test_what_is_refused(self):
        for text, says in (("a.float64_out*=b.float64_in", "no variable named 'a.float64_out\\*'"),
                           ("a.float64_out*2=b.nothing", "no variable named 'b.nothing'"),
                           ("a.float64_out*x=b.float64_in", "no variable named"), ("a.float64_out*inf=b.float64_in", "no variable"),
                           ("b.float64_in*2=a.float64_out", "'b.float64_in' is none")):
            with self.subTest(text=text):
                self.refused("run", *UNITS, "--connect", text, status=2, says=says)

    def test_they_are_kept(self):
        """`tutti new` writes them, of FMUs and into an SSP that there is."""
        wire = "--connect", "a.float64_out*2+1=b.float64_in"
        rounded = "--connect", "a.float64_out*2=b.int32_in"
        self.tutti("new", "one.ssp", *UNITS, *wire, *rounded, "--convert", "--set", "a.float64_in=3.2")
        self.arrives("one.ssp", {"b.float64_in": 7.4, "b.int32_in": 6})
        self.tutti("new", "plain.ssp", *UNITS, "--set", "a.float64_in=3")
        self.tutti("new", "two.ssp", "plain.ssp", *wire)
        self.arrives("two.ssp", {"b.float64_in": 7})

    def test_a_transformation_of_an_ssp_for_integers(self):
        root = system("root", component("a", F2, [connector("int32_out", "output")]), component("b", F2, [connector("int32_in", "input")]),
                      connections=[connect("a/int32_out", "b/int32_in", linear(factor=2, offset=-1))])
        self.arrives(self.packed(ssd(root), "Feedthrough2"), {"b.int32_in": 5}, "--set", "a.int32_in=3", "--convert")


if __name__ == "__main__":
    unittest.main()
