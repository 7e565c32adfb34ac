#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What happens to values on their way through connections of an SSP, by the text of the standard: types, arrays, units,
transformations.

As in test_ssp.py, every test runs a package and looks at what arrives in the FMUs."""
import itertools
import pathlib
import unittest

from command import JACOBI, kit_fmu
from ssp_text import (BAR, CELSIUS, DEGREE, F3, FAHRENHEIT, KELVIN, METRE, PASCAL, RADIAN, SSD_TYPE, SspTest,
                      binding, component, connect, connector, dictionary, entry, feedthrough, inputs, linear, mapped,
                      outputs, reals, reference, ssd, system, tag, value)

SCALES = {"K": KELVIN, "degC": CELSIUS, "degF": FAHRENHEIT}
TYPES = {"float64": ("Float64", "2.5"), "float32": ("Float32", "0.5"), "int8": ("Int8", "-128"),
         "uint8": ("UInt8", "255"), "int16": ("Int16", "-32768"), "uint16": ("UInt16", "65535"),
         "int32": ("Int32", "-7"), "uint32": ("UInt32", "4294967295"), "int64": ("Int64", "-9223372036854775808"),
         "uint64": ("UInt64", "18446744073709551615"), "boolean": ("Boolean", "true"),
         "string": ("String", "a, \"b\" ü"),
         "binary": ("Binary", "00ff10"), "color": ("Enumeration", "green")}
RECORDED = {"true": "1", "green": "3"}
COLORS = {"Color": {"red": 1, "yellow": 2, "green": 3}}


class Types(SspTest):
    def pair_of(self, names, typed, source=F3):
        values = [value(f"{name}_in", *TYPES[name]) for name in names]

        def connectors(direction, what):
            return [connector(f"{name}_{direction}", what, typed and typed.get(name, TYPES[name][0]),
                         name="Color" if typed and name == "color" else None) for name in names]
        return ssd(system(
            "root", component("a", source, connectors("out", "output"), [binding(values)]),
            system("s", component("b", source, connectors("in", "input")),
                   connectors=[connector(name, "input", typed and typed.get(name, TYPES[name][0]),
                                    name="Color" if typed and name == "color" else None) for name in names],
                   connections=[connect(f"/{name}", f"b/{name}_in") for name in names]),
            connections=[connect(f"a/{name}_out", f"s/{name}") for name in names]), enumerations=COLORS)

    def test_all_types_of_fmi3(self):
        """Pitfall 6: the type of a connector is optional."""
        for typed in (None, {}):
            with self.subTest(typed=typed):
                self.arrives(self.packed(self.pair_of(TYPES, typed), "Feedthrough3"),
                             {f"s.b.{name}_{end}": RECORDED.get(text, text)
                              for name, (_, text) in TYPES.items() for end in ("in", "out")})

    def test_all_types_of_fmi1_and_fmi2_in_ssp1(self):
        names = ["float64", "int32", "boolean", "string", "color"]
        loose = {"float64": "Real", "int32": "Integer"}
        for typed, version in itertools.product((None, loose), ("1cs", "2", "3")):
            with self.subTest(typed=typed, version=version):
                model = f"Feedthrough{version}"
                text = self.pair_of(names, typed, f"resources/{model}.fmu").replace('version="2.0"', 'version="1.0"')
                text = text.replace("ssv:Float64", "ssv:Real").replace("ssv:Int32", "ssv:Integer")
                self.arrives(self.packed(text, model),
                             {f"s.b.{name}_in": RECORDED.get(TYPES[name][1], TYPES[name][1]) for name in names})

    def test_versions_of_fmi_mixed(self):
        names = ["float64", "int32", "boolean", "string", "color"]
        first = binding([value(f"{name}_in", *TYPES[name]) for name in names])
        for order in (["1cs", "2", "3"], ["3", "1cs", "2"], ["2", "3", "1cs"]):
            elements = [component(f"c{v}", f"resources/Feedthrough{v}.fmu", [
                connector(f"{name}_{end}", f"{end}put") for name in names for end in ("in", "out")],
                                  [first] if v == order[0] else []) for v in order]
            wires = [connect(f"c{a}/{name}_out", f"c{b}/{name}_in") for a, b in zip(order, order[1:]) for name in names]
            package = self.packed(ssd(system("root", *elements, connections=wires)),
                                  *(f"Feedthrough{v}" for v in order))
            with self.subTest(order=order):
                self.arrives(package, {f"c{v}.{name}_out": RECORDED.get(TYPES[name][1], TYPES[name][1])
                                       for v in order for name in names})

    def test_clocks_are_read(self):
        """Connectors of type Clock, and connectors that belong to one."""
        clock = tag("ssd:Connector", tag("ssc:Clock", intervalVariability="triggered"), name="clk", kind="input")
        clocked = tag("ssd:Connector", tag("ssc:Real"), tag("ssd:Clock", name="clk"), name="u", kind="input")
        s = system("s", feedthrough("a"), connectors=[clock, clocked], connections=[connect("/u", "a/float64_in")],
                   bindings=[binding(reals(u=2))])
        package = self.packed(ssd(system("root", s)), "Feedthrough3")
        self.arrives(package, {"s.a.float64_in": 2})
        self.warns(package)

    def test_types_that_widen(self):
        """Float32 to Float64, integers to wider ones and to Real."""
        ends = [("float32", "float64", 0.5), ("int8", "int64", -128), ("uint16", "int32", 65535),
                ("uint8", "float64_discrete", 255), ("float64", "float32", 2.5)]
        for source, target, expected in ends:
            with self.subTest(source=source, target=target):
                root = system("root", component("a", F3, outputs(f"{source}_out"),
                                                [binding([value(f"{source}_in", *TYPES[source])])]),
                              component("b", F3, inputs(f"{target}_in")),
                              connections=[connect(f"b/{target}_in", f"a/{source}_out")])
                self.arrives(self.packed(ssd(root), "Feedthrough3"), {f"b.{target}_in": expected})

    def test_types_that_clash(self):
        for source, target in ("string", "float64"), ("float64", "boolean"), ("binary", "string"), ("boolean", "color"):
            with self.subTest(source=source, target=target):
                root = system("root", component("a", F3, outputs(f"{source}_out")),
                              component("b", F3, inputs(f"{target}_in")),
                              connections=[connect(f"a/{source}_out", f"b/{target}_in")])
                self.refuses(self.packed(ssd(root), "Feedthrough3"), rf"a\.{source}_out", rf"b\.{target}_in")

    def test_type_of_a_connector_differs_from_the_variables(self):
        """The schema calls it an error."""
        root = system("root", component("a", F3, [connector("string_out", "output", "Real")]), feedthrough("b"),
                      connections=[connect("a/string_out", "b/float64_in")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), "string_out")

    def test_arrays(self):
        """Whole arrays, single elements by indices, and a matrix that goes through a connector of a system."""
        a = component("a", F3, outputs("matrix_out", "vector_out", "strings_out", "float64_out"),
                      [binding([value("matrix_in", "Float64", "1 2 3 4 5 6", dims=(2, 3)),
                                value("float64_in", "Real", 9),
                                value("vector_in", "Int32", "7 8 9", dims=(3,)),
                                value("strings_in", "String", "p", "q r", dims=(2,))])])
        s = system("s", component("b", F3, [connector("matrix_in", "input", "Float64", (2, 3)), *inputs(
            "vector_in", "strings_in")]), connectors=[connector("m", "input", "Float64", (2, 3)), *inputs("v", "t")],
                   connections=[connect("/m", "b/matrix_in", linear(10)), connect("b/vector_in", "/v"),
                                connect("/t", "b/strings_in")])
        c = component("c", F3, inputs("matrix_in", "float64_in", "vector_in"))
        root = system("root", a, s, c, connections=[
            connect("a/matrix_out", "s/m"), connect("a/vector_out", "s/v"), connect("s/t", "a/strings_out"),
            connect("a/matrix_out", "c/float64_in", startIndices="2 1"),
            connect("c/matrix_in", "a/float64_out", startIndices="1 3"),
            connect("a/vector_out", "c/vector_in", startIndices="3", endIndices="1")])
        expected = {f"s.b.matrix_in[{i},{j}]": 10 * (3 * i - 3 + j) for i in (1, 2) for j in (1, 2, 3)}
        expected.update({f"s.b.vector_in[{i}]": 6 + i for i in (1, 2, 3)})
        expected.update({"s.b.strings_in[1]": "p", "s.b.strings_in[2]": "q r", "c.float64_in": 4,
                         "c.matrix_in[1,3]": 9, "c.matrix_in[1,1]": 0, "c.vector_in[1]": 9, "c.vector_in[2]": 2})
        self.arrives(self.packed(ssd(root), "Feedthrough3"), expected)

    def test_arrays_of_different_shape(self):
        root = system("root", component("a", F3, outputs("matrix_out")), component("b", F3, inputs("float64_in")),
                      connections=[connect("a/matrix_out", "b/float64_in")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), r"a\.matrix_out", r"b\.float64_in")


class Transformations(SspTest):
    def through(self, what, text, transformation, **more):
        """What becomes of a value of this type between two Feedthroughs."""
        root = system("root", component("a", F3, outputs(f"{what}_out"), [binding([value(f"{what}_in", TYPES[what][0],
                                                                                         text)])]),
                      component("b", F3, inputs(f"{what}_in")),
                      connections=[connect(f"a/{what}_out", f"b/{what}_in", transformation)])
        return self.packed(ssd(root, **more), "Feedthrough3")

    def test_linear(self):
        for transformation, expected in (linear(2, 1), 6), (linear(2), 5), (linear(offset=-1), 1.5), (linear(), 2.5):
            self.arrives(self.through("float64", "2.5", transformation), {"b.float64_in": expected})
            self.arrives(self.through("float32", "2.5", transformation), {"b.float32_in": expected})

    def test_boolean_map(self):
        """Pitfall 5: values that a partial table does not know pass unchanged."""
        for pairs, text, expected in (([("true", "false")], "true", 0), ([("true", "false")], "false", 0),
                                      ([("false", "true")], "false", 1), ([("0", "1"), ("1", "0")], "true", 0)):
            self.arrives(self.through("boolean", text, mapped("Boolean", pairs=pairs)), {"b.boolean_in": expected})

    def test_integer_map(self):
        """Pitfall 5: partial; entries beyond the source's type never match."""
        table = mapped("Integer", pairs=[(3, 7), (-1, 100), (4000000000, 1)])
        for text, expected in ("3", 7), ("-1", 100), ("5", 5), ("7", 7):
            self.arrives(self.through("int32", text, table), {"b.int32_in": expected})
        self.arrives(self.through("uint64", "18446744073709551615", mapped("Integer", pairs=[(
            18446744073709551615, 18446744073709551614)])), {"b.uint64_in": "18446744073709551614"})

    def test_integer_map_of_an_enumeration(self):
        table = mapped("Integer", pairs=[(1, 3)])
        self.arrives(self.through("color", "red", table), {"b.color_in": 3})
        self.arrives(self.through("color", "yellow", table), {"b.color_in": 2})

    def test_enumeration_map(self):
        """Pitfall 5: by names, those of the FMU's own type here; partial."""
        table = mapped("Enumeration", red="green")
        for text, expected in ("red", 3), ("yellow", 2), ("green", 3):
            self.arrives(self.through("color", text, table), {"b.color_in": expected})

    def test_enumeration_map_between_two_types(self):
        table = mapped("Enumeration", red="off", green="on", yellow="automatic")
        for text, expected in ("red", 1), ("green", 3), ("yellow", 2):
            root = system("root", component("a", F3, outputs("color_out"), [binding([value("color_in", "Enumeration",
                                                                                           text)])]),
                          component("h", "resources/Heater3.fmu", inputs("mode")),
                          connections=[connect("h/mode", "a/color_out", table)])
            self.arrives(self.packed(ssd(root), "Feedthrough3", "Heater3"), {"h.mode": expected})

    def test_enumerations_are_scoped_to_their_file(self):
        """Pitfall 1: the same name, other items, in an inner file; the table's names are those of its own ends."""
        inner = ssd(system("inner", component("b", "Feedthrough3.fmu", [connector("color_in", "input")]),
                           connectors=[connector("u", "input", "Enumeration", name="Color")],
                           connections=[connect("/u", "b/color_in")]),
                    enumerations={"Color": {"rot": 1, "gelb": 2, "gruen": 3}})
        root = system("root", component("a", F3, [connector("color_out", "output", "Enumeration", name="Color")],
                                        [binding([value("color_in", "Enumeration", "red")])]),
                      component("n", "resources/inner.ssd", inputs("u"), type=SSD_TYPE),
                      connections=[connect("a/color_out", "n/u", mapped("Enumeration", red="gruen"))])
        self.arrives(self.packed(ssd(root, enumerations=COLORS), "Feedthrough3", inner_ssd=inner),
                     {"n.b.color_in": 3})

    def test_transformations_of_other_types_are_refused(self):
        for what, text, transformation in (("int32", "1", linear(2)), ("string", "x", linear(2)),
                                           ("float64", "1", mapped("Integer", pairs=[(1, 2)])),
                                           ("int32", "1", mapped("Boolean", pairs=[("true", "false")])),
                                           ("int32", "1", mapped("Enumeration", red="green"))):
            with self.subTest(what=what, transformation=transformation):
                self.refuses(self.through(what, text, transformation), f"{what}_out", f"{what}_in")

    def test_ambiguous_tables_are_refused(self):
        for what, text, table in (("int32", "1", mapped("Integer", pairs=[(1, 2), (1, 3)])),
                                  ("boolean", "true", mapped("Boolean", pairs=[("true", "false"), ("1", "1")])),
                                  ("color", "red", mapped("Enumeration", pairs=[("red", "green"), ("red", "red")]))):
            with self.subTest(what=what):
                self.refuses(self.through(what, text, table), "MapEntry", "same|red")

    def test_targets_that_the_destination_cannot_take(self):
        self.refuses(self.through("int8", "1", mapped("Integer", pairs=[(1, 1000)])), "1000")
        self.refuses(self.through("color", "red", mapped("Enumeration", red="purple")), "purple")


class Units(SspTest):
    """Pitfall 1: conversion (factor and offset) first, then the transformation."""

    def with_units(self, source, target, *options, start=20.0, units=None, what="Float64", **attributes):
        name = what.lower()
        a = component("a", F3, [connector(f"{name}_out", "output", what, unit=source)],
                      [binding([value(f"{name}_in", what, start)])])
        b = component("b", F3, [connector(f"{name}_in", "input", what, unit=target)])
        root = system("root", a, b, connections=[connect(f"b/{name}_in", f"a/{name}_out", *options, **attributes)])
        return self.packed(ssd(root, units=units or {**SCALES, "bar": BAR, "Pa": PASCAL, "deg": DEGREE, "rad": RADIAN,
                                                     "m": METRE}), "Feedthrough3")

    def test_factor_and_offset(self):
        """Pitfall 1: between all pairs of scales."""
        for source, target, start, expected in (
                ("degC", "K", 20, 293.15), ("K", "degC", 293.15, 20), ("degC", "degF", 20, 68),
                ("degF", "degC", 68, 20),
                ("K", "degF", 293.15, 68), ("degF", "K", 68, 293.15), ("degF", "degF", 68, 68),
                ("bar", "Pa", 1.5, 1.5e5),
                ("Pa", "bar", 1.5e5, 1.5), ("deg", "rad", 180, 3.141592653589793),
                ("rad", "deg", 3.141592653589793, 180)):
            with self.subTest(source=source, target=target):
                self.arrives(self.with_units(source, target, start=start), {"b.float64_in": expected})

    def test_single_precision(self):
        row = self.first(self.with_units("bar", "Pa", start=1.5, what="Float32"))
        self.assertEqual(float(row["b.float32_in"]), 1.5e5)

    def test_units_without_dimension(self):
        source = self.with_units("%", "1", start=50, units={"%": {"factor": 0.01}, "1": {}})
        self.arrives(source, {"b.float64_in": 0.5})

    def test_transformation_follows_the_conversion(self):
        """Pitfall 1: 2 * (20 + 273.15) + 1."""
        self.arrives(self.with_units("degC", "K", linear(2, 1)), {"b.float64_in": 587.3})
        self.arrives(self.with_units("degC", "degF", linear(10, -5)), {"b.float64_in": 675})

    def test_suppressed(self):
        """Pitfall 1: alone nothing happens; with a transformation only that happens."""
        self.arrives(self.with_units("degC", "K", suppressUnitConversion=True), {"b.float64_in": 20})
        self.arrives(self.with_units("degC", "K", linear(2, 1), suppressUnitConversion=True), {"b.float64_in": 41})
        self.arrives(self.with_units("degC", "K", linear(2, 1), suppressUnitConversion=False), {"b.float64_in": 587.3})
        self.arrives(self.with_units("degC", "Pa", suppressUnitConversion="1"), {"b.float64_in": 20})

    def test_clash(self):
        self.refuses(self.with_units("K", "Pa"), "K", "Pa", r"a\.float64_out", r"b\.float64_in")
        self.refuses(self.with_units("m", "rad"), "m", "rad")

    def test_no_unit_on_one_side(self):
        self.arrives(self.with_units("degC", None), {"b.float64_in": 20})
        self.arrives(self.with_units(None, "degC"), {"b.float64_in": 20})

    def test_units_of_the_fmus(self):
        """Connectors without unit have that of the variable: degC to K."""
        root = system("root", component("a", "resources/Heater2.fmu", outputs("T_celsius")),
                      component("b", "resources/Heater3.fmu", inputs("T_outside")),
                      connections=[connect("a/T_celsius", "b/T_outside")])
        row = self.first(self.packed(ssd(root, version="1.0"), "Heater2", "Heater3"))
        self.assertAlmostEqual(float(row["b.T_outside"]), float(row["a.T"]), delta=1e-9)

    def test_same_name_defined_differently(self):
        """Pitfall 1: units are scoped to their file, so "temp" is degC outside and K inside."""
        inner = ssd(system("inner", component("b", "Feedthrough3.fmu",
                                              [connector("float64_in", "input", "Real", unit="temp")]),
                           connectors=[connector("u", "input", "Real", unit="temp")],
                           connections=[connect("/u", "b/float64_in")]), units={"temp": KELVIN})
        root = system("root", component("a", F3, [connector("float64_out", "output", "Real", unit="temp")],
                                        [binding(reals(float64_in=20))]),
                      component("n", "resources/inner.ssd", inputs("u"), type=SSD_TYPE),
                      connections=[connect("a/float64_out", "n/u")])
        self.arrives(self.packed(ssd(root, units={"temp": CELSIUS}), "Feedthrough3", inner_ssd=inner),
                     {"n.b.float64_in": 293.15})

    def test_other_names_for_the_same(self):
        self.arrives(self.with_units("a", "b", units={"a": CELSIUS, "b": CELSIUS}), {"b.float64_in": 20})

    def test_differences_have_no_offset(self):
        """Pitfall 1, and FMI's relativeQuantity: 2 degC more are 2 K more, and 3.6 degF more are 2 K more, also through
        a connector of a system that has a unit of its own."""
        band = 'name="band" valueReference="12"'
        fmu = self.altered(kit_fmu("Heater", 3), (f'{band} description="of the thermostat" causality="parameter"',
                                                  f'{band} causality="input" variability="discrete"'))
        for unit, start in ("degC", 2), ("degF", 3.6), ("K", 2):
            root = system("root", component("a", F3, [connector("float64_out", "output", "Real", unit=unit)],
                                            [binding(reals(float64_in=start))]),
                          component("h", "resources/h.fmu", inputs("band")),
                          connections=[connect("a/float64_out", "h/band")])
            with self.subTest(unit=unit):
                self.arrives(self.packed(ssd(root, units=SCALES), "Feedthrough3", h_fmu=pathlib.Path(fmu)),
                             {"h.band": 2})
                s = system("s", component("h", "resources/h.fmu", inputs("band")),
                           connectors=[connector("u", "input", "Real", unit="degF")],
                           connections=[connect("/u", "h/band")])
                root = system("root", component("a", F3, [connector("float64_out", "output", "Real", unit=unit)],
                                                [binding(reals(float64_in=start))]), s,
                              connections=[connect("a/float64_out", "s/u")])
                self.arrives(self.packed(ssd(root, units=SCALES), "Feedthrough3", h_fmu=pathlib.Path(fmu)),
                             {"s.h.band": 2})

    def test_path_of_several_connections(self):
        """Each converts by itself: degC to K, 2 x, to degF, + 1, into a variable without unit."""
        s = system("s", feedthrough("b"), connectors=[connector("u", "input", "Real", unit="degF")],
                   connections=[connect("/u", "b/float64_in", linear(1, 1))])
        t = system("t", s, connectors=[connector("u", "input", "Real", unit="K")],
                   connections=[connect("/u", "s/u")])
        root = system("root", component("a", F3, [connector("float64_out", "output", "Real", unit="degC")],
                                        [binding(reals(float64_in=20))]), t,
                      connections=[connect("a/float64_out", "t/u", linear(2))])
        self.arrives(self.packed(ssd(root, units=SCALES), "Feedthrough3"),
                     {"t.s.b.float64_in": 2 * 293.15 * 9 / 5 - 459.67 + 1})

    def test_unit_that_the_file_does_not_define(self):
        """The value passes, but not without a word."""
        source = self.with_units("degC", "fathom")
        self.arrives(source, {"b.float64_in": 20})
        warnings = "".join(self.tutti("run", source, "--stop", "0.1", "-o", "-").lines("warning"))
        self.assertRegex(warnings, "fathom")


class OverTime(SspTest):
    """What holds at the start holds at every communication point: rows show an input as its source is in the same row."""

    def simulate(self, fmu, *options, **more):
        return super().simulate(fmu, *options, *JACOBI, **more)

    def assert_follows(self, inputs_, sources, tolerance=1e-12):
        self.assert_near(inputs_, sources, tolerance)

    def test_floats(self):
        """exp(-t) degC through a system in K and a dictionary in degF, doubled there, into a variable in K."""
        s = system("s", component("d", "resources/Dahlquist2.fmu", [connector("x", "output", "Real", unit="degC")]),
                   connectors=[connector("y", "output", "Real", unit="K")], connections=[connect("/y", "d/x")])
        root = system("root", s, reference("bus", "D", connector("v", "inout")),
                      component("b", F3, [connector("float64_in", "input", "Real", unit="K")]),
                      dictionaries=[dictionary("D", entry("v", unit="F"), units={"F": FAHRENHEIT})],
                      connections=[connect("s/y", "bus/v", linear(2)), connect("b/float64_in", "bus/v")])
        table = self.simulate(self.packed(ssd(root, units=SCALES), "Dahlquist2", "Feedthrough3"), "--stop", "1",
                              "--step",
                              "0.1", "--record", "*")
        self.assertEqual(len(table), 11)
        self.assertLess(table["s.d.x"][-1], 0.4)
        kelvin = [(2 * (x * 9 / 5 + 32) + 459.67) * 5 / 9 for x in table["s.d.x"]]
        self.assert_follows(table["b.float64_in"], kelvin, 1e-9)

    def test_booleans_and_enumerations(self):
        """A thermostat that switches, seen upside down."""
        root = system("root", component("h", "resources/Heater3.fmu", outputs("heating")),
                      component("b", F3, inputs("boolean_in") + outputs("color_out"), [binding([
                          value("color_in", "Enumeration", "yellow")])]),
                      component("g", "resources/Heater3.fmu", inputs("mode")),
                      connections=[connect("h/heating", "b/boolean_in", mapped("Boolean", true="false", false="true")),
                                   connect("b/color_out", "g/mode", mapped("Enumeration", yellow="on"))])
        table = self.simulate(self.packed(ssd(root), "Heater3", "Feedthrough3"), "--stop", "3600", "--step", "10",
                              "--record", "*")
        self.assertEqual({0.0, 1.0}, set(table["h.heating"]))
        self.assert_follows(table["b.boolean_in"], [1 - on for on in table["h.heating"]])
        self.assertEqual(set(table["g.mode"]), {3.0})

    def test_arrays(self):
        """y = (x1, x2 + x3 + 0.5 u1) of one system into u of another; one element goes elsewhere by its index."""
        root = system("root", component("a", "resources/StateSpace3.fmu", outputs("y")),
                      component("b", "resources/StateSpace3.fmu", inputs("u")), component("c", F3,
                                                                                          inputs("float64_in")),
                      connections=[connect("b/u", "a/y", linear(-1)),
                                   connect("a/y", "c/float64_in", linear(offset=1), startIndices="2")])
        table = self.simulate(self.packed(ssd(root), "StateSpace3", "Feedthrough3"), "--stop", "1", "--step", "0.1",
                              "--record", "*")
        for i in 1, 2:
            self.assertGreater(max(table[f"a.y[{i}]"]) - min(table[f"a.y[{i}]"]), 0.1)
            self.assert_follows(table[f"b.u[{i}]"], [-y for y in table[f"a.y[{i}]"]])
        self.assert_follows(table["c.float64_in"], [1 + y for y in table["a.y[2]"]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
