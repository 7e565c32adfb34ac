#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values of parameters of systems as SSP, by the text of the standard: types, units, arrays, structural and calculated
parameters.

As in test_ssp.py, every test runs a package and looks at what arrives in the FMUs; "Pitfall" has the same numbers."""
import pathlib
import unittest

from command import kit_fmu
from ssp_text import (CELSIUS, F3, FAHRENHEIT, KELVIN, PASCAL, SspTest, binding, component, connect, connector,
                      inputs, linear, outputs, reals, rename, ssd, ssm, ssv, system, value)

H3, S3 = "resources/Heater3.fmu", "resources/StateSpace3.fmu"


def one(*bindings, source=F3, name="a"):
    """A system with one component that has these bindings."""
    return system("root", component(name, source, bindings=bindings))


class Values(SspTest):
    """What the texts of values mean."""

    def test_all_types(self):
        parameters = [value("float64_in", "Float64", "-1.5e3"), value("float32_in", "Float32", "0.25"),
                      value("int8_in", "Int8", "-128"), value("uint8_in", "UInt8", "255"),
                      value("int16_in", "Int16", "+7"),
                      value("uint16_in", "UInt16", "65535"), value("int32_in", "Int32", "-7"),
                      value("uint32_in", "UInt32", "4294967295"), value("int64_in", "Int64", "-9223372036854775808"),
                      value("uint64_in", "UInt64", "18446744073709551615"), value("boolean_in", "Boolean", "1"),
                      value("string_in", "String", " two  words, ü "), value("string_parameter", "String", ""),
                      value("binary_in", "Binary", "00FFa0", mime_type="text/plain"),
                      value("color_in", "Enumeration", "green")]
        self.arrives(self.packed(ssd(one(binding(parameters))), "Feedthrough3"), {
            "a.float64_in": "-1500", "a.float32_in": "0.25", "a.int8_in": "-128", "a.uint8_in": "255",
            "a.int16_in": "7",
            "a.uint16_in": "65535", "a.int32_in": "-7", "a.uint32_in": "4294967295",
            "a.int64_in": "-9223372036854775808", "a.uint64_in": "18446744073709551615", "a.boolean_in": "1",
            "a.string_in": " two  words, ü ", "a.string_parameter": "", "a.binary_in": "00ffa0", "a.color_in": "3"})

    def test_types_of_ssp1(self):
        parameters = [value("float64_in", "Real", "1e3"), value("int32_in", "Integer", "-7"),
                      value("boolean_in", "Boolean", "true"), value("string_in", "String", "x"),
                      value("color_in", "Enumeration", "yellow")]
        for model in "Feedthrough1cs", "Feedthrough2", "Feedthrough3":
            root = one(binding(ssv(parameters, version="1.0")), source=f"resources/{model}.fmu")
            self.arrives(self.packed(ssd(root, version="1.0"), model), {
                "a.float64_in": 1000, "a.int32_in": -7, "a.boolean_in": "1", "a.string_in": "x", "a.color_in": "2"})

    def test_real_and_integer_for_the_widths_of_fmi3(self):
        parameters = [value("float32_in", "Real", "0.5"), value("int8_in", "Integer", "-5"),
                      value("uint64_in", "Integer", "5"), value("float64_in", "Integer", "3")]
        self.arrives(self.packed(ssd(one(binding(parameters))), "Feedthrough3"),
                     {"a.float32_in": "0.5", "a.int8_in": "-5", "a.uint64_in": "5", "a.float64_in": "3"})

    def test_space_around_values_and_infinity(self):
        parameters = [value("gain", "Real", "INF"), value("float64_in", "Real", " 2\n"), value("int32_in", "Integer",
                                                                                               "\t5 "),
                      value("boolean_in", "Boolean", " true ")]
        outcome = self.tutti("run", self.packed(ssd(one(binding(parameters))), "Feedthrough3"), "-o", "result.csv", "--stop",
                             "0.02", "--step", "0.01", "--record", "*", "--quiet")
        self.assertRegex(outcome.err, r"^tutti: warning: .*'a\.float64_out' is infinite at t = 0; going on\n$")
        for name, wanted in {"a.gain": "inf", "a.float64_in": "2", "a.int32_in": "5", "a.boolean_in": "1"}.items():
            self.assertEqual(self.result().texts(name), [wanted] * 3, name)

    def test_single_values_as_elements(self):
        parameters = [value("string_in", "String", "x"), value("color_in", "Enumeration", "green"),
                      value("binary_in", "Binary", "ff")]
        parameters = [text.replace(" value=", "><ssv:Value value=").replace("/>", "/></ssv:WHAT>", 1).replace(
            "WHAT", text.split("ssv:")[2].split()[0]) for text in parameters]
        self.arrives(self.packed(ssd(one(binding(parameters))), "Feedthrough3"),
                     {"a.string_in": "x", "a.color_in": "3", "a.binary_in": "ff"})

    def test_enumeration_for_an_integer(self):
        """The variable has no items: the file's own are what is left."""
        text = ssv([value("int32_in", "Enumeration", "on", name="E")], enumerations={"E": {"on": 30}})
        self.arrives(self.packed(ssd(one(binding(text))), "Feedthrough3"), {"a.int32_in": "30"})

    def test_values_that_do_not_fit(self):
        for parameter, says in ((value("int8_in", "Integer", "300"), "300"), (value("gain", "String", "x"), "gain"),
                                (value("boolean_in", "Boolean", "maybe"), "maybe"),
                                (value("gain", "Real", "1,5"), "1,5"),
                                (value("color_in", "Enumeration", "blue"), "blue"),
                                (value("binary_in", "Binary", "abc"), "abc"),
                                (value("uint8_in", "Integer", "-1"), "-1")):
            with self.subTest(parameter=parameter):
                self.refuses(self.packed(ssd(one(binding([parameter]))), "Feedthrough3"), says)

    def test_two_parameters_of_one_name(self):
        """Forbidden, but well-known examples have them: the last one counts, and somebody says so."""
        package = self.packed(ssd(one(binding([*reals(gain=2), *reals(gain=3)]))), "Feedthrough3")
        self.arrives(package, {"a.gain": 3})
        self.assertNotEqual(self.tutti("run", package, "--stop", "0.1", "-o", "-").lines("warning"), [])

    def test_enumeration_items_are_those_of_the_variable(self):
        """Pitfall 5: a name; the number is that of the FMU's type, whatever the file's own definition says."""
        definitions = {"Mode": {"off": 10, "automatic": 20, "on": 30}}
        for name in None, "Mode":
            text = ssv([value("mode", "Enumeration", "on", name=name)], enumerations=definitions)
            self.arrives(self.packed(ssd(one(binding(text), source=H3)), "Heater3"), {"a.mode": "3"})

    def test_enumeration_items_whose_names_are_numbers(self):
        """Pitfall 5: a value is a name first."""
        fmu = self.altered(kit_fmu("Heater", 3), ('<Item name="off"', '<Item name="2"'),
                           ('<Item name="on"', '<Item name="1"'))
        for text, expected in ("2", "1"), ("1", "3"), ("automatic", "2"):
            root = one(binding([value("mode", "Enumeration", text)]), source="resources/odd.fmu")
            self.arrives(self.packed(ssd(root), odd_fmu=pathlib.Path(fmu)), {"a.mode": expected})

    def test_units(self):
        """Pitfall 1: the units of a set are those of its own file: "K" is degC here, and T_set is in the FMU's K."""
        text = ssv([value("T_set", "Real", 20, unit="K"), value("P_max", "Real", 3500, unit="W")],
                   units={"K": CELSIUS, "W": {"kg": 1, "m": 2, "s": -3}})
        root = one(binding(text), source=H3)
        self.arrives(self.packed(ssd(root, units={"K": PASCAL}), "Heater3"), {"a.T_set": 293.15, "a.P_max": 3.5})

    def test_units_of_connectors_count_where_the_fmu_has_none(self):
        text = ssv([value("float64_in", "Real", 20, unit="degC")], units={"degC": CELSIUS})
        root = system("root", component("a", F3, [connector("float64_in", "input", "Real", unit="K")], [binding(text)]))
        self.arrives(self.packed(ssd(root, units={"K": KELVIN}), "Feedthrough3"), {"a.float64_in": 293.15})

    def test_differences_have_no_offset(self):
        """FMI's relativeQuantity: a band of 2 degC is one of 2 K."""
        for unit, number in ("degC", 2), ("degF", 3.6), ("K", 2):
            text = ssv([value("band", "Real", number, unit=unit)],
                       units={"degC": CELSIUS, "degF": FAHRENHEIT, "K": KELVIN})
            self.arrives(self.packed(ssd(one(binding(text), source=H3)), "Heater3"), {"a.band": 2})
            s = system("s", component("a", H3, [connector("band", "parameter")]),
                       connectors=[connector("band", "parameter", "Real", unit="degF")],
                       connections=[connect("/band", "a/band")], bindings=[binding(text)])
            self.arrives(self.packed(ssd(system("root", s), units={"degF": FAHRENHEIT}), "Heater3"), {"s.a.band": 2})

    def test_units_that_clash(self):
        text = ssv([value("T_set", "Real", 20, unit="Pa")], units={"Pa": PASCAL})
        self.refuses(self.packed(ssd(one(binding(text), source=H3)), "Heater3"), "Pa", "T_set")

    def test_no_unit_is_the_variables(self):
        self.arrives(self.packed(ssd(one(binding(reals(T_set=300)), source=H3)), "Heater3"), {"a.T_set": 300})


class Arrays(SspTest):
    """SSP 2.0 and FMI 3.0."""

    def test_matrix_vector_strings(self):
        parameters = [value("matrix_in", "Float64", "1 2 3\n4 5 6", dims=(2, 3)), value("vector_in", "Integer", "7 8 9",
                                                                                       dims=(3,)),
                      value("strings_in", "String", "a b", "c", dims=(2,))]
        expected = {f"a.matrix_in[{i},{j}]": 3 * i - 3 + j for i in (1, 2) for j in (1, 2, 3)}
        expected.update({"a.vector_in[1]": 7, "a.vector_in[3]": 9, "a.strings_in[1]": "a b", "a.strings_in[2]": "c"})
        self.arrives(self.packed(ssd(one(binding(parameters))), "Feedthrough3"), expected)

    def test_unit_and_transformation_of_arrays(self):
        text = ssv([value("p", "Real", "1 2 3 4 5 6", dims=(2, 3), unit="degC")], units={"degC": CELSIUS})
        root = system("root", component("a", F3, [connector("matrix_in", "input", "Real", (2, 3), unit="K")], [
            binding(text, ssm(rename("p", "matrix_in", linear(2))))]))
        self.arrives(self.packed(ssd(root, units={"K": KELVIN}), "Feedthrough3"),
                     {"a.matrix_in[1,1]": 2 * 274.15, "a.matrix_in[2,3]": 2 * 279.15})

    def test_malformed_arrays(self):
        whole = value("strings_in", "String", "a", "b", dims=(2,))
        for parameter in (whole.replace("<ssv:String>", '<ssv:String value="c">'), whole.replace(' size="2"', "")):
            with self.subTest(parameter=parameter):
                self.refuses(self.packed(ssd(one(binding([parameter]))), "Feedthrough3"), "strings_in|Dimension|String")

    def test_elements_of_a_connectors_value(self):
        """A matrix for a connector of a system: whole, one element of it; a number for one element of a variable."""
        s = system("s", component("a", F3, inputs("float64_in", "matrix_in")), component("b", F3, inputs("matrix_in")),
                   connectors=[connector("m", "parameter", "Real", (2, 3)), connector("x", "parameter", "Real")],
                   connections=[connect("/m", "a/float64_in", startIndices="2 1"), connect("/m", "a/matrix_in"),
                                connect("/x", "b/matrix_in", endIndices="1 2")])
        root = system("root", s, bindings=[binding([value("s.m", "Real", "1 2 3 4 5 6", dims=(2, 3)), *reals(
            **{"s.x": 7})])])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {
            "s.a.matrix_in[2,3]": 6, "s.a.float64_in": 4, "s.b.matrix_in[1,2]": 7, "s.b.matrix_in[2,1]": 0})

    def test_wrong_number_of_values(self):
        for parameter in (value("matrix_in", "Float64", "1 2 3", dims=(2, 3)),
                          value("vector_in", "Int32", "1 2", dims=(2,)),
                          value("matrix_in", "Float64", "1 2 3 4 5 6", dims=(3, 2)),
                          value("vector_in", "Int32", "1 2 3 4", dims=(4,))):
            with self.subTest(parameter=parameter):
                self.refuses(self.packed(ssd(one(binding([parameter]))), "Feedthrough3"), "matrix_in|vector_in")

    def test_structural_parameters(self):
        """Pitfall 5: in configuration mode, before the arrays whose extents they are: m, n, r = 1, 2, 1."""
        parameters = [value("A", "Float64", "0 1 -4 0", dims=(2, 2)), value("B", "Float64", "0 1", dims=(2, 1)),
                      value("C", "Float64", "1 0", dims=(1, 2)), value("D", "Float64", "0.5", dims=(1, 1)),
                      value("x0", "Float64", "3 4", dims=(2,)), value("u", "Float64", "2", dims=(1,)),
                      value("m", "UInt64", "1"), value("n", "UInt64", "2"), value("r", "UInt64", "1")]
        row = self.first(self.packed(ssd(one(binding(parameters), source=S3)), "StateSpace3"))
        self.assertEqual({name: float(text) for name, text in row.items() if name != "time"}, {
            "a.m": 1, "a.n": 2, "a.r": 1, "a.A[1,1]": 0, "a.A[1,2]": 1, "a.A[2,1]": -4, "a.A[2,2]": 0, "a.B[1,1]": 0,
            "a.B[2,1]": 1, "a.C[1,1]": 1, "a.C[1,2]": 0, "a.D[1,1]": 0.5, "a.x0[1]": 3, "a.x0[2]": 4, "a.u[1]": 2,
            "a.y[1]": 4, "a.x[1]": 3, "a.x[2]": 4, "a.der(x)[1]": 4, "a.der(x)[2]": -10})

    def test_structural_parameters_and_arrays_from_different_levels(self):
        """Pitfall 5: sizes from the root, values from the component, in sets that stand before them."""
        root = system("root", component("a", S3, bindings=[binding([value("x0", "Float64", "3 4", dims=(2,))])]),
                      bindings=[binding([value("a.n", "UInt64", "2"), value("a.A", "Float64", "0 1 -4 0", dims=(2, 2)),
                                         value("a.B", "Real", "0 0 0 0", dims=(2, 2)),
                                         value("a.C", "Real", "1 0 0 1", dims=(2, 2))])])
        row = self.first(self.packed(ssd(root), "StateSpace3"))
        self.assertEqual((row["a.x[1]"], row["a.x[2]"], row["a.der(x)[2]"]), ("3", "4", "-12"))
        self.assertNotIn("a.x[3]", row)

    def test_structural_parameter_of_a_system(self):
        """Pitfall 5: n = 1 of the system goes to two FMUs, and their arrays are connected."""
        def space(name):
            return component(name, S3, [connector("n", "structuralParameter"), connector("m", "structuralParameter"),
                                        connector("r", "structuralParameter"),
                                        connector("u", "input", "Float64", ("m",)),
                                        connector("y", "output", "Float64", ("r",))], [binding([
                value("A", "Real", "0", dims=(1, 1)), value("B", "Real", "0", dims=(1, 1)),
                value("C", "Real", "2", dims=(1, 1)), value("D", "Real", "0", dims=(1, 1)),
                value("x0", "Real", "5", dims=(1,))])])
        root = system("root", space("a"), space("b"), connectors=[connector("size", "structuralParameter", "UInt64")],
                      bindings=[binding([value("size", "UInt64", "1")])],
                      connections=[*(connect(*ends) for e in "ab" for ends in (
                          ("/size", f"{e}/n"), (f"{e}/m", "/size"), ("/size", f"{e}/r"))), connect("a/y", "b/u")])
        self.arrives(self.packed(ssd(root), "StateSpace3"), {"a.n": 1, "b.m": 1, "a.y[1]": 10, "b.u[1]": 10})


class CalculatedParameters(SspTest):
    """Parameters that an FMU calculates in its initialisation, for parameters and inputs of others."""

    def fmu(self):
        """A Feedthrough whose discrete Real is a parameter, and a parameter calculated from it."""
        return pathlib.Path(self.altered(
            kit_fmu("Feedthrough", 3),
            ('name="float64_discrete_in" valueReference="3" causality="input" variability="discrete"',
             'name="given" valueReference="3" causality="parameter" variability="fixed"'),
            ('name="float64_discrete_out" valueReference="4" causality="output" variability="discrete"',
             'name="calculated" valueReference="4" causality="calculatedParameter" variability="fixed"'),
            ('    <Output valueReference="4" dependencies="3" dependenciesKind="constant"/>\n', "")))

    def test_to_parameter_and_input(self):
        root = system("root", component("a", "resources/calc.fmu", [connector("calculated", "calculatedParameter")],
                                        [binding(reals(given=4))]),
                      component("b", "resources/calc.fmu", [connector("given", "parameter"), *inputs("float64_in"),
                                                            connector("calculated", "calculatedParameter")]),
                      component("c", F3, [connector("gain", "parameter")]),
                      connections=[connect("b/given", "a/calculated", linear(10)),
                                   connect("a/calculated", "b/float64_in"),
                                   connect("b/calculated", "c/gain", linear(1, 1))])
        self.arrives(self.packed(ssd(root), "Feedthrough3", calc_fmu=self.fmu()),
                     {"a.given": 4, "a.calculated": 4, "b.given": 40, "b.float64_in": 4, "b.calculated": 40,
                      "c.gain": 41})

    def test_connection_is_above_values(self):
        """What is given to a connector, or a parameter, that has a source is not used."""
        s = system("s", component("b", F3, [connector("gain", "parameter")]), connectors=[connector("p", "parameter")],
                   connections=[connect("/p", "b/gain")])
        root = system("root", component("a", "resources/calc.fmu", [connector("calculated", "calculatedParameter")],
                                        [binding(reals(given=4))]), s, connections=[connect("a/calculated", "s/p")],
                      bindings=[binding(reals(**{"s.p": 9, "s.b.gain": 8}))])
        self.arrives(self.packed(ssd(root), "Feedthrough3", calc_fmu=self.fmu()), {"s.b.gain": 4})

    def test_output_is_not_constant_enough(self):
        root = system("root", component("a", F3, outputs("float64_out")),
                      component("b", F3, [connector("gain", "parameter")]),
                      connections=[connect("a/float64_out", "b/gain")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), r"a\.float64_out", r"b\.gain")

    def test_constant_to_structural_parameter(self):
        """The constant 42 as a number of inputs would be a Real; refused by its type."""
        root = system("root", component("a", F3, [connector("constant", "constant")]),
                      component("b", S3, [connector("m", "structuralParameter")]),
                      connections=[connect("a/constant", "b/m")])
        self.refuses(self.packed(ssd(root), "Feedthrough3", "StateSpace3"), r"a\.constant", r"b\.m")


if __name__ == "__main__":
    unittest.main(verbosity=2)
