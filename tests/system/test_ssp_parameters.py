#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parameters of systems as SSP, by the text of the standard: bindings, values, mappings, precedence.

As in test_ssp.py, every test runs a package and looks at what arrives in the FMUs; "Pitfall" has the same numbers."""
import itertools
import pathlib
import unittest

from command import kit_fmu
from ssp_text import (CELSIUS, DEFAULT, F2, F3, FAHRENHEIT, KELVIN, SSD_TYPE, SSP_TYPE, SspTest, binding, component,
                      connect, connector, dictionary, entry, feedthrough, inputs, linear, mapped, outputs, reals,
                      reference, rename, renamed, ssd, ssm, ssv, system, value)

H3 = "resources/Heater3.fmu"


def one(*bindings, source=F3, name="a"):
    """A system with one component that has these bindings."""
    return system("root", component(name, source, bindings=bindings))


class Sources(SspTest):
    """Where parameters come from."""

    def test_inline_and_file(self):
        for version, source, model in itertools.product(("1.0", "2.0"), (F2, F3), ("Feedthrough2", "Feedthrough3")):
            if model in source:
                text = ssv(reals(gain=2, float64_in=3), version=version)
                for values in text, "resources/x.ssv":
                    with self.subTest(version=version, model=model, values=values[:9]):
                        package = self.packed(ssd(one(binding(values), source=source), version=version), model,
                                              x_ssv=text)
                        self.arrives(package, {"a.gain": 2, "a.float64_in": 3, "a.float64_out": 6})

    def test_inline_with_prefixes_of_its_own(self):
        """The inline document declares its namespace itself, as the default one."""
        text = renamed(ssv(reals(gain=2)), ssv="")
        self.arrives(self.packed(ssd(one(binding(text))), "Feedthrough3"), {"a.gain": 2})

    def test_file_inside_of_the_fmu(self):
        """Pitfall 4: sourceBase="component" means a file of the FMU's archive."""
        for version in "2", "3":
            fmu = self.altered(kit_fmu("Feedthrough", version), add={
                "resources/x.ssv": ssv(reals(other=2)), "resources/x.ssm": ssm(rename("other", "gain"))})
            bound = binding("resources/x.ssv", "resources/x.ssm", "component", sourceBase="component")
            files = {DEFAULT: ssd(one(bound)), F3: pathlib.Path(fmu), "resources/x.ssv": ssv(reals(gain=9)),
                     "resources/x.ssm": ssm(rename("other", "tunable_gain"))}
            for place in self.package(files), self.unpacked(files):
                with self.subTest(version=version, place=place):
                    self.arrives(place, {"a.gain": 2, "a.tunable_gain": 1})

    def test_source_base_is_the_document_otherwise(self):
        """Pitfall 4: "SSD" and none at all are the same."""
        fmu = self.altered(kit_fmu("Feedthrough", 3), add={"resources/x.ssv": ssv(reals(gain=9))})
        for base in "SSD", None:
            files = {DEFAULT: ssd(one(binding("resources/x.ssv", sourceBase=base))), F3: pathlib.Path(fmu),
                     "resources/x.ssv": ssv(reals(gain=2))}
            self.arrives(self.package(files), {"a.gain": 2})

    def test_file_inside_of_a_package(self):
        """Pitfall 4: a component may be an .ssp, and its files are in reach, too."""
        inner = self.package({DEFAULT: ssd(one()), **self.files("Feedthrough3"),
                              "resources/x.ssv": ssv(reals(**{"a.gain": 2}))}, "inner.ssp")
        root = system("root", component("n", "resources/inner.ssp", type=SSP_TYPE, bindings=[
            binding("resources/x.ssv", sourceBase="component")]))
        self.arrives(self.packed(ssd(root), inner_ssp=pathlib.Path(inner)), {"n.a.gain": 2})

    def test_files_of_an_inner_document_lie_around_it(self):
        inner = ssd(system("s", component("a", "Feedthrough3.fmu", bindings=[binding("x.ssv", "x.ssm")])))
        package = self.packed(ssd(system("root", component("n", "resources/inner.ssd", type=SSD_TYPE))), "Feedthrough3",
                              inner_ssd=inner, x_ssv=ssv(reals(p=2)), x_ssm=ssm(rename("p", "gain")))
        self.arrives(package, {"n.a.gain": 2})

    def test_file_that_is_not_there(self):
        self.refuses(self.packed(ssd(one(binding("resources/no.ssv"))), "Feedthrough3"), r"resources/no\.ssv")
        self.refuses(self.packed(ssd(one(binding("resources/no.ssv", sourceBase="component"))), "Feedthrough3"),
                     r"no\.ssv")

    def test_source_and_inline_at_once(self):
        both = binding(reals(gain=2)).replace("<ssd:ParameterBinding>",
                                              '<ssd:ParameterBinding source="resources/x.ssv">')
        outcome = self.tutti("run", self.packed(ssd(one(both)), "Feedthrough3", x_ssv=ssv(reals(gain=3))), "--stop",
                             "0.1",
                             "-o", "-", status=None)
        self.assertNotEqual(outcome.lines("error") + outcome.lines("warning"), [])

    def test_formats_of_others(self):
        """Neither parameters nor mappings of another MIME type are read as if they were ours."""
        for bound in (binding("resources/x.cdf", type="application/x-cdf"),
                      binding(reals(gain=2), "resources/x.map").replace("<ssd:ParameterMapping ",
                                                                        '<ssd:ParameterMapping type="text/x-map" ')):
            package = self.packed(ssd(one(bound)), "Feedthrough3", x_cdf=ssv(reals(gain=2)),
                                  x_map=ssm(rename("gain", "gain")))
            outcome = self.tutti("run", package, "--stop", "0.1", "-o", "-", "--record", "*gain", status=None)
            self.assertRegex("".join(outcome.lines("error") + outcome.lines("warning")), "x-cdf|x-map")
            self.assertNotIn("\n0,2", outcome.out)

    def test_empty_source_beside_inline_values(self):
        """The standard asks for it: the attribute is empty then."""
        both = binding(reals(gain=2)).replace("<ssd:ParameterBinding>", '<ssd:ParameterBinding source="">')
        self.arrives(self.packed(ssd(one(both)), "Feedthrough3"), {"a.gain": 2})

    def test_empty_set(self):
        self.arrives(self.packed(ssd(one(binding([]))), "Feedthrough3"), {"a.gain": 1})


class Matching(SspTest):
    """Which variables a value is for."""

    def test_unmatched_are_ignored_silently(self):
        """Pitfall 4: large sets out of which a part applies."""
        package = self.packed(ssd(one(binding(reals(gain=2, nobody=1, **{"a.gain": 5})))), "Feedthrough3")
        self.arrives(package, {"a.gain": 2})
        self.assertEqual(self.tutti("run", package, "--stop", "0.1", "-o", "-").lines("warning"), [])

    def test_hierarchical_names(self):
        """From every level by its own name: B.C.gain, C.gain, gain."""
        for level, name in enumerate(("B.C.gain", "C.gain", "gain")):
            bound = [[binding(reals(**{name: 2}))] if i == level else [] for i in range(3)]
            root = system("A", system("B", component("C", F3, bindings=bound[2]), bindings=bound[1]), bindings=bound[0])
            self.arrives(self.packed(ssd(root), "Feedthrough3"), {"B.C.gain": 2})

    def test_names_of_other_levels_do_not_match(self):
        for level, name in itertools.product(range(3), ("A.B.C.gain", "B.C.gain", "C.gain", "gain")):
            if name == ("B.C.gain", "C.gain", "gain")[level]:
                continue
            bound = [[binding(reals(**{name: 2}))] if i == level else [] for i in range(3)]
            root = system("A", system("B", component("C", F3, bindings=bound[2]), bindings=bound[1]), bindings=bound[0])
            with self.subTest(level=level, name=name):
                self.arrives(self.packed(ssd(root), "Feedthrough3"), {"B.C.gain": 1})

    def test_no_connector_is_needed(self):
        """Also locals and outputs with a start value can be set: the state of a Tracker, of a Dahlquist."""
        root = system("root", component("t", "resources/Tracker3.fmu", bindings=[binding(reals(x=7))]),
                      component("d", "resources/Dahlquist2.fmu", bindings=[binding(reals(x=5, k=0))]))
        row = self.first(self.packed(ssd(root), "Tracker3", "Dahlquist2"))
        self.assertEqual((row["t.x"], row["d.x"], row["d.k"]), ("7", "5", "0"))

    def test_prefix(self):
        """Pitfall 4: prepended to all names before anything is matched."""
        root = system("root", component("a", F3), component("b", F3),
                      bindings=[binding(reals(gain=2), prefix="a."), binding(reals(gain=3), prefix="b."),
                                binding(reals(**{"a.tunable_gain": 9}), prefix="a.")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.gain": 2, "b.gain": 3, "a.tunable_gain": 1})
        root = system("root", component("a", F3), bindings=[binding(reals(ain=2), prefix="a.g"),
                                                            binding(reals(**{"a.tunable_gain": 4}), prefix="")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.gain": 2, "a.tunable_gain": 4})

    def test_prefix_before_mapping(self):
        """Pitfall 4: the sources of a mapping have the prefix, its targets do not."""
        mapping = ssm(rename("p.x", "a.gain"), rename("x", "a.tunable_gain"))
        root = system("root", component("a", F3), bindings=[binding(reals(x=2), mapping, prefix="p.")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.gain": 2, "a.tunable_gain": 1})

    def test_names_that_clash(self):
        """Pitfall 6: B.C.gain is a variable of C in B, and of the component "B.C": both get the value."""
        root = system("A", system("B", component("C", F3, outputs("float64_out"), [binding(reals(float64_in=1))]),
                                  connectors=outputs("y"), connections=[connect("C/float64_out", "/y")]),
                      component("B.C", F2, outputs("float64_out"), [binding(reals(float64_in=10))]), component("t", F3,
                      inputs("float64_in", "float64_discrete_in")), bindings=[binding(reals(**{"B.C.gain": 3}))],
                      connections=[connect("B/y", "t/float64_in"), connect("B.C/float64_out", "t/float64_discrete_in")])
        self.arrives(self.packed(ssd(root), "Feedthrough2", "Feedthrough3"),
                     {"t.float64_in": 3, "t.float64_discrete_in": 30})

    def test_names_that_clash_with_dots_in_variables(self):
        """Pitfall 6: component a.b with gain, component a with b.gain, a connector "a.b.gain" of the system."""
        dotted = self.altered(kit_fmu("Feedthrough", 2), ('name="gain"', 'name="b.gain"'))
        root = system("root", component("a", "resources/dotted.fmu", outputs("float64_out"),
                                        [binding(reals(float64_in=1))]),
                      component("a.b", F3, outputs("float64_out"), [binding(reals(float64_in=10))]),
                      component("t", F3, inputs("float64_in",
                                                "float64_discrete_in") + [connector("tunable_gain", "parameter")]),
                      connectors=[connector("a.b.gain", "parameter")], bindings=[binding(reals(**{"a.b.gain": 3}))],
                      connections=[connect("a/float64_out", "t/float64_in"), connect("/a.b.gain", "t/tunable_gain"),
                                   connect("a.b/float64_out", "t/float64_discrete_in")])
        self.arrives(self.packed(ssd(root), "Feedthrough3", dotted_fmu=pathlib.Path(dotted)),
                     {"t.float64_in": 3, "t.float64_discrete_in": 30, "t.tunable_gain": 3})

    def test_names_with_brackets_and_quotes(self):
        name = "x[1].'a.b'.gain"
        fmu = self.altered(kit_fmu("Feedthrough", 2), ('name="gain"', f'name="{name}"'))
        root = system("root", component("a", "resources/f.fmu"), bindings=[binding(reals(**{f"a.{name}": 3}))])
        self.arrives(self.packed(ssd(root), f_fmu=pathlib.Path(fmu)), {f"a.{name}": 3})

    def test_connectors_of_systems(self):
        """A value for a connector travels to the FMU behind it, through transformations and units on the way."""
        for what, variable in ("parameter", "gain"), ("parameter", "float64_in"), ("input", "float64_in"), (
                "structuralParameter", "gain"):
            target = "parameter" if variable == "gain" else "input"
            s = system("s", component("a", F3, [connector(variable, target)]), connectors=[connector("p", what)],
                       connections=[connect(f"a/{variable}", "/p", linear(10, 1))])
            for name, at_root in ("p", False), ("s.p", True):
                with self.subTest(what=what, variable=variable, name=name):
                    bound = [binding(reals(**{name: 2}))]
                    root = system("root", s if at_root else s.replace('<ssd:Elements>', "".join(
                        ["<ssd:ParameterBindings>", *bound, "</ssd:ParameterBindings><ssd:Elements>"]), 1),
                                  bindings=bound if at_root else [])
                    self.arrives(self.packed(ssd(root), "Feedthrough3"), {f"s.a.{variable}": 21})

    def test_connector_of_a_system_with_a_unit(self):
        """20 degC for a connector in K, which leads to a variable in degF."""
        s = system("s", component("a", F3, [connector("float64_in", "input", "Real", unit="degF")]),
                   connectors=[connector("p", "parameter", "Real", unit="K")],
                   connections=[connect("/p", "a/float64_in")])
        text = ssv([value("s.p", "Real", 20, unit="degC")], units={"degC": CELSIUS})
        root = system("root", s, bindings=[binding(text)])
        self.arrives(self.packed(ssd(root, units={"K": KELVIN, "degF": FAHRENHEIT}), "Feedthrough3"),
                     {"s.a.float64_in": 68})

    def test_entry_of_a_dictionary(self):
        """A reference is an element, too: a value for its connector is there until somebody writes."""
        root = system("root", feedthrough("b"), reference("ref", "D", connector("s", "inout")),
                      bindings=[binding(reals(**{"ref.s": 3}))], connections=[connect("ref/s", "b/float64_in")],
                      dictionaries=[dictionary("D", entry("s"))])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"b.float64_in": 3})

    def test_kinds_of_fmi1(self):
        """FMI 1.0 has parameters that are internal, and constants that are outputs."""
        source = "resources/Feedthrough1cs.fmu"
        root = system("root", component("a", source, [connector("constant", "constant")]),
                      component("b", source, [connector("gain", "parameter"), *inputs("float64_in")]),
                      connectors=[connector("p", "parameter")], bindings=[binding(reals(p=2))],
                      connections=[connect("/p", "b/gain"), connect("b/float64_in", "a/constant")])
        self.arrives(self.packed(ssd(root), "Feedthrough1cs"), {"b.gain": 2, "b.float64_in": 42, "b.float64_out": 84})

    def test_connector_without_value_leaves_the_variable_alone(self):
        s = system("s", component("a", F3, [connector("gain", "parameter")], [binding(reals(gain=5))]),
                   connectors=[connector("p", "parameter")], connections=[connect("/p", "a/gain")])
        self.arrives(self.packed(ssd(system("root", s)), "Feedthrough3"), {"s.a.gain": 5})

    def test_root_connectors(self):
        """Of the root system, too: parameters and inputs."""
        root = system("root", component("a", F3, [connector("gain", "parameter"), *inputs("float64_in")]),
                      connectors=[connector("p", "parameter"), *inputs("u")], bindings=[binding(reals(p=2, u=3))],
                      connections=[connect("/p", "a/gain"), connect("/u", "a/float64_in")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.gain": 2, "a.float64_in": 3, "a.float64_out": 6})

    def test_connected_input_is_not_held_by_its_value(self):
        """A start value of a connected input is replaced by what comes."""
        root = system("root", component("a", F3, outputs("float64_out"), [binding(reals(float64_in=3))]),
                      component("b", F3, inputs("float64_in"), [binding(reals(float64_in=9))]),
                      connections=[connect("a/float64_out", "b/float64_in")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"b.float64_in": 3})

    def test_what_cannot_be_set(self):
        """A constant, a calculated output: nobody sets them silently."""
        for name in "constant", "float64_out":
            package = self.packed(ssd(one(binding(reals(**{name: 7})))), "Feedthrough3")
            outcome = self.tutti("run", package, "--stop", "0.1", "-o", "-", status=None)
            self.assertRegex("".join(outcome.lines("error") + outcome.lines("warning")), name)
            self.assertNotIn(",7,", outcome.out)


class Precedence(SspTest):
    """Pitfall 3."""

    def test_same_level_the_later_wins(self):
        """Pitfall 3: parameter by parameter, also between inline and file and with a prefix."""
        root = one(binding(reals(gain=2, tunable_gain=2)), binding("resources/x.ssv"), binding(reals(float64_in=4)))
        self.arrives(self.packed(ssd(root), "Feedthrough3", x_ssv=ssv(reals(gain=3, float64_in=3))),
                     {"a.gain": 3, "a.tunable_gain": 2, "a.float64_in": 4})
        for bindings, expected in (([binding(reals(gain=2), prefix="a."), binding(reals(**{"a.gain": 3}))], 3),
                                   ([binding(reals(**{"a.gain": 3})), binding(reals(gain=2), prefix="a.")], 2)):
            root = system("root", component("a", F3), bindings=bindings)
            self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.gain": expected})

    def test_higher_level_wins(self):
        """Pitfall 3: the root over the nested system over the component, whichever of them speak."""
        for levels in itertools.product([False, True], repeat=3):
            if not any(levels):
                continue
            names = "B.C.gain", "C.gain", "gain"
            bound = [[binding(reals(**{name: 10 * i + 10}))] if on else []
                     for i, (name, on) in enumerate(zip(names, levels))]
            root = system("A", system("B", component("C", F3, bindings=bound[2]), bindings=bound[1]), bindings=bound[0])
            with self.subTest(levels=levels):
                self.arrives(self.packed(ssd(root), "Feedthrough3"), {"B.C.gain": 10 * levels.index(True) + 10})

    def test_component_that_is_a_system(self):
        """Pitfall 3: its bindings count as appended to those of the inner system; enclosing ones are above."""
        inner_bindings = [binding(reals(**{"c.gain": 2, "c.tunable_gain": 2, "c.float64_in": 2}))]
        inner = ssd(system("s", component("c", "Feedthrough3.fmu", bindings=[binding(reals(gain=1, tunable_gain=1,
                                                                                          float64_in=1,
                                                                                          float64_discrete_in=1))]),
                           bindings=inner_bindings))
        root = system("root", component("n", "resources/inner.ssd", type=SSD_TYPE, bindings=[
            binding(reals(**{"c.gain": 3, "c.tunable_gain": 3}))]), bindings=[binding(reals(**{"n.c.gain": 4}))])
        self.arrives(self.packed(ssd(root), "Feedthrough3", inner_ssd=inner),
                     {"n.c.gain": 4, "n.c.tunable_gain": 3, "n.c.float64_in": 2, "n.c.float64_discrete_in": 1})

    def test_component_that_is_a_package(self):
        """Pitfall 3: the same through an .ssp, and for a connector of the inner system."""
        inner = self.package({DEFAULT: ssd(system(
            "s", component("c", F3, [connector("gain", "parameter")]), connectors=[connector("p", "parameter")],
            connections=[connect("/p", "c/gain")], bindings=[binding(reals(p=2, **{"c.tunable_gain": 2}))])),
            **self.files("Feedthrough3")}, "inner.ssp")
        for outer, expected in ([], 2), ([binding(reals(p=3))], 3):
            root = system("root", component("n", "resources/inner.ssp", [connector("p", "parameter")], outer,
                                            type=SSP_TYPE))
            self.arrives(self.packed(ssd(root), inner_ssp=pathlib.Path(inner)),
                         {"n.c.gain": expected, "n.c.tunable_gain": 2})

    def test_command_line_is_above_all(self):
        root = system("root", component("a", F3, bindings=[binding(reals(gain=2))]),
                      bindings=[binding(reals(**{"a.gain": 3}))])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.gain": 7}, "--set", "a.gain=7")


class Mappings(SspTest):
    def mapped(self, parameters, *entries, units=None, source=F3, **more):
        return self.packed(ssd(one(binding(ssv(parameters, units=units), ssm(*entries)), source=source), **more),
                           "Feedthrough3", "Heater3")

    def test_inline_and_file(self):
        for version in "1.0", "2.0":
            text = ssm(rename("p", "gain"), version=version)
            for mapping in text, "resources/x.ssm":
                package = self.packed(ssd(one(binding(reals(p=2), mapping)), version=version), "Feedthrough3",
                                      x_ssm=text)
                self.arrives(package, {"a.gain": 2})

    def test_only_mapped_ones_apply(self):
        """Pitfall 4: and they do only by their new names."""
        package = self.mapped(reals(gain=2, tunable_gain=3), rename("gain", "float64_in"))
        self.arrives(package, {"a.gain": 1, "a.tunable_gain": 1, "a.float64_in": 2})

    def test_empty_mapping_applies_nothing(self):
        """Pitfall 4."""
        self.arrives(self.mapped(reals(gain=2)), {"a.gain": 1})

    def test_one_parameter_for_several(self):
        package = self.mapped(reals(p=2), rename("p", "gain"), rename("p", "tunable_gain", linear(10)))
        self.arrives(package, {"a.gain": 2, "a.tunable_gain": 20})

    def test_transformation_of_another_type(self):
        self.refuses(self.mapped([value("p", "Integer", 2)], rename("p", "int32_in", linear(2))), "int32_in")

    def test_exchanged_names(self):
        package = self.mapped(reals(gain=2, tunable_gain=3), rename("gain", "tunable_gain"),
                              rename("tunable_gain", "gain"))
        self.arrives(package, {"a.gain": 3, "a.tunable_gain": 2})

    def test_several_for_one_are_refused(self):
        """The standard forbids it."""
        package = self.mapped(reals(p=2, q=3), rename("p", "gain"), rename("q", "gain"))
        self.refuses(package, "gain")

    def test_source_that_the_set_does_not_have(self):
        self.arrives(self.mapped(reals(p=2), rename("nothing", "gain"), rename("p", "tunable_gain")),
                     {"a.gain": 1, "a.tunable_gain": 2})

    def test_target_that_is_not_there(self):
        package = self.mapped(reals(p=2), rename("p", "gains"))
        outcome = self.tutti("run", package, "--stop", "0.1", "-o", "-")
        self.assertRegex("".join(outcome.lines("warning")), "gains")

    def test_transformations(self):
        """Pitfall 5: partial tables pass what they do not know."""
        parameters = [value("r", "Real", 2), value("b", "Boolean", "true"), value("c", "Boolean", "false"),
                      value("i", "Integer", 3), value("j", "Integer", 4), value("e", "Enumeration", "red")]
        table, flip = mapped("Integer", pairs=[(3, 30)]), mapped("Boolean", pairs=[("true", "false")])
        self.arrives(self.mapped(parameters, rename("r", "gain", linear(3, 1)), rename("b", "boolean_in", flip),
                                 rename("i", "int32_in", table), rename("j", "int16_in", table),
                                 rename("e", "color_in", mapped("Enumeration", red="green"))),
                     {"a.gain": 7, "a.boolean_in": 0, "a.int32_in": 30, "a.int16_in": 4, "a.color_in": 3})
        self.arrives(self.mapped(parameters, rename("c", "boolean_in", mapped("Boolean", pairs=[("0", "1")]))),
                     {"a.boolean_in": 1})

    def test_enumeration_names_pass_a_partial_table(self):
        """Pitfall 5."""
        table = mapped("Enumeration", red="green")
        for text, expected in ("yellow", 2), ("green", 3), ("red", 3):
            self.arrives(self.mapped([value("e", "Enumeration", text)], rename("e", "color_in", table)),
                         {"a.color_in": expected})

    def test_enumeration_names_of_another_type(self):
        """The source's names need not be items of the target."""
        table = mapped("Enumeration", low="off", high="on")
        for text, expected in ("low", 1), ("high", 3), ("automatic", 2):
            self.arrives(self.mapped([value("e", "Enumeration", text)], rename("e", "mode", table), source=H3),
                         {"a.mode": expected})

    def test_units_then_transformation(self):
        """Pitfall 1: T_set is in K; 20 degC are 293.15 K, and then 2 x + 1."""
        parameters, scales = [value("t", "Real", 20, unit="degC")], {"degC": CELSIUS}
        for mapping, expected in ((rename("t", "T_set"), 293.15), (rename("t", "T_set", linear(2, 1)), 587.3),
                                (rename("t", "T_set", suppressUnitConversion=True), 20),
                                (rename("t", "T_set", linear(2, 1), suppressUnitConversion=True), 41)):
            with self.subTest(mapping=mapping):
                self.arrives(self.mapped(parameters, mapping, units=scales, source=H3), {"a.T_set": expected})


if __name__ == "__main__":
    unittest.main(verbosity=2)
