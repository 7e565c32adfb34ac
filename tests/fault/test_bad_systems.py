#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Systems that are wrong: connections that lead nowhere, clashes, cycles, missing files, hostile documents and
archives.

Whatever is wrong with a document ends the command with status 1 and one message that names file and line and says
a way out; what is wrong with the command line, with status 2. Some things are odd only: they get a warning, and the
run goes on."""
import io
import os
import pathlib
import sys
import unittest
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import kit_fmu  # noqa: E402
from systems import (SystemTest, component, connection, connector, inputs, line_of, outputs, ssd,  # noqa: E402
                     system, words)

DAHLQUIST, TRACKER, FEEDTHROUGH, CHAIN, HEATER = (f"{name}_fmi2.fmu" for name in (
    "Dahlquist", "Tracker", "Feedthrough", "ChainMass", "Heater"))
SPACE, FEEDTHROUGH3 = "StateSpace_fmi3.fmu", "Feedthrough_fmi3.fmu"
SSD = "SystemStructure.ssd"
SYSTEM, PACKAGE = "application/x-ssp-definition", "application/x-ssp-package"
SHORT = ("--stop", "0.2", "--step", "0.1")
METRES = '<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>\n<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>\n'
BOMB = '<!DOCTYPE bomb [<!ENTITY a0 "ha">' + \
    "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(12)) + "]>\n"
DICTIONARY = '<ssd:SignalDictionaries><ssd:SignalDictionary name="d" source="{}"/></ssd:SignalDictionaries>\n'


def binding(inside="", mapping="", **attributes):
    """A parameter binding with an inline parameter set of these parameters, or a source."""
    words = "".join(f' {name}="{value}"' for name, value in attributes.items())
    values = f'<ssd:ParameterValues><ssv:ParameterSet version="1.0" name="set"><ssv:Parameters>\n{inside}' \
             "</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues>\n" if inside else ""
    return f"<ssd:ParameterBindings>\n<ssd:ParameterBinding{words}>{values}{mapping}</ssd:ParameterBinding>\n" \
           "</ssd:ParameterBindings>\n"


def parameter(name, value, type_="Real"):
    return f'<ssv:Parameter name="{name}"><ssv:{type_} value="{value}"/></ssv:Parameter>\n'


class BadSystemTest(SystemTest):
    def setUp(self):
        super().setUp()
        for name in (DAHLQUIST, TRACKER, FEEDTHROUGH, CHAIN, HEATER, SPACE, FEEDTHROUGH3):
            os.symlink(kit_fmu(*name.removesuffix(".fmu").split("_fmi")), self.path(name))
        self.a = component("a", DAHLQUIST, outputs("x"))
        self.b = component("b", TRACKER, inputs("u"), outputs("y"))

    def bad(self, text, *says, at=None, after="", commands=("run", "check", "info"), name="bad.ssd"):
        """A document that cannot be run: at the line with `at` (behind one with `after`), in these words."""
        self.write(name, text)
        place = rf"{name}:{line_of(text, at, after)}: " if at else rf"{name}\b"
        outcome = self.refused("run", name, "-o", "-", *SHORT, status=1, says=[place, *says])
        self.assertEqual(outcome.out, "")
        if "check" in commands:
            outcome = self.tutti("check", name, status=1)
            for pattern in (place, *says):
                self.assertRegex(outcome.out + outcome.err, pattern)
        if "info" in commands:
            self.tutti("info", name, status=None)
        return outcome


class Settings(BadSystemTest):
    """What is wrong in an annotation org.tutti, or only shows once the FMUs are there, is a fault of the file."""

    def test_words_of_the_system(self):
        for word, says in ((dict(solver="foo"), "--solver takes cvode"),
                           (dict(coupling="foo"), "takes auto, jacobi.*not 'foo'"),
                           (dict(interface="foo"), "takes auto, cs, me or se, not 'foo'"),
                           (dict(jacobian="foo"), "not 'foo'"), (dict(step="0"), "greater than 0, not '0'"),
                           (dict(stepp="1"), "knows no 'stepp' for a system")):
            with self.subTest(word=word):
                self.bad(ssd(system(self.a), behind=words(**word)), says, at="tutti:")

    def test_words_of_a_component(self):
        text = ssd(system(component("a", DAHLQUIST, outputs("x"), inside=words(coupling="jacobi"))))
        self.bad(text, "knows no 'coupling' for a component", at="tutti:")

    def test_a_step_that_is_no_multiple(self):
        text = ssd(system(component("a", DAHLQUIST, outputs("x"), inside=words(step="0.15")), self.b))
        self.bad(text, "a=0.15 is not a multiple", at='name="a"', commands=("run",))

    def test_an_experiment_that_ends_before_it_begins(self):
        self.write("bad.ssd", ssd(system(self.a), behind='<ssd:DefaultExperiment startTime="2" stopTime="1"/>\n'))
        self.refused("run", "bad.ssd", status=1, says="the stop time 1 .*must be after the start time 2")
        self.assertIn("stop time", self.tutti("check", "bad.ssd", status=1).out)

    def test_an_element_that_is_not_there(self):
        text = ssd(system(component("s", SPACE, outputs("y")), self.b,
                          connect=connection("s.y", "b.u", startIndices="4")), version="2.0")
        self.bad(text, r"no element 'y\[4\]'", at="startIndices", commands=("run",))

    def test_nothing_to_simulate(self):
        self.write("bad.ssd", ssd(system()))
        self.refused("run", "bad.ssd", status=1, says="nothing to simulate")
        self.assertIn("nothing to simulate", self.tutti("check", "bad.ssd").out)


class Connections(BadSystemTest):
    def join(self, start, end, *elements, **more):
        return ssd(system(self.a, self.b, *elements, connect=connection(start, end)), **more)

    def test_dangling_ones(self):
        for start, end, says in (("c.x", "b.u", "'c'"), ("a.x", "c.u", "'c'"), ("aa.x", "b.u", "did you mean 'a'"),
                                 ("a.xx", "b.u", "did you mean 'x'"), ("a.x", "b.nothing", "'b.nothing'"),
                                 ("nothing", "b.u", "'nothing'"), ("a.x", "nothing", "'nothing'"),
                                 ("a.k", "b.u", ["'a.k'", "add a Connector"])):
            with self.subTest(start=start, end=end):
                self.bad(self.join(start, end), *([says] if isinstance(says, str) else says), at="<ssd:Connection ")

    def test_a_connector_that_the_fmu_does_not_have(self):
        text = ssd(system(component("a", DAHLQUIST, outputs("x"), outputs("z")), self.b, connect=connection("a.z",
                                                                                                            "b.u")))
        self.bad(text, "'a.z'", "no variable of its FMU", at='name="z"')

    def test_a_connector_of_another_kind_than_the_variable(self):
        self.bad(ssd(system(component("a", DAHLQUIST, inputs("x")))), "'a.x'", "input", "output", at='name="x"')

    def test_two_sources(self):
        text = ssd(system(self.a, self.b, component("c", DAHLQUIST, outputs("x")),
                          connect=connection("a.x", "b.u") + connection("c.x", "b.u")))
        other = line_of(text, 'startElement="a"')
        self.bad(text, "'b.u' has two sources", "'c.x'", "'a.x'", f"bad.ssd:{other}\\b", at='startElement="c"')

    def test_two_sources_through_a_nested_system(self):
        inner = system(self.b, ports=inputs("w"), connect=connection("w", "b.u"), name="inner")
        text = ssd(system(self.a, component("c", DAHLQUIST, outputs("x")), inner,
                          connect=connection("a.x", "inner.w") + connection("c.x", "inner.w")))
        self.bad(text, "two sources", "'a.x'", "'c.x'", at='startElement="c"')

    def test_a_source_of_the_command_line_and_one_of_the_file(self):
        self.write("one.ssd", ssd(system(self.a, self.b, component("c", DAHLQUIST, outputs("x")),
                                         connect=connection("a.x", "b.u"))))
        self.refused("run", "one.ssd", "--connect", "c.x=b.u", status=2, says=["'b.u'", "'c.x'", "'a.x'"])

    def test_wrong_directions(self):
        self.bad(self.join("b.u", "c.u", component("c", TRACKER, inputs("u"))), r"'b.u' \(input\)", r"'c.u' \(input\)",
                 "connect an output to an input", at="<ssd:Connection ")
        self.bad(self.join("b.y", "c.y", component("c", TRACKER, outputs("y"))), r"'b.y' \(output\)",
                 r"'c.y' \(output\)",
                 "connect an output to an input", at="<ssd:Connection ")

    def test_a_connector_with_itself(self):
        self.bad(self.join("b.u", "b.u"), "'b.u' is connected to itself", "remove", at="<ssd:Connection ")

    def test_a_unit_with_itself(self):
        """That is a loop like any other."""
        self.write("loop.ssd", self.join("b.y", "b.u"))
        self.tutti("run", "loop.ssd", *SHORT, "--quiet")

    def test_types(self):
        """Those that cannot be converted without a loss."""
        f = component("f", FEEDTHROUGH, inputs("int32_in", type_="Integer"), inputs("boolean_in", type_="Boolean"),
                      inputs("string_in", type_="String"), outputs("string_out", type_="String"))
        for start, end, types in (("a.x", "f.int32_in", ("Float64", "Int32")), ("a.x", "f.string_in", ("Float64",
                                                                                                       "String")),
                                  ("a.x", "f.boolean_in", ("Float64", "Boolean")),
                                  ("f.string_out", "b.u", ("String", "Float64"))):
            with self.subTest(start=start, end=end):
                self.bad(self.join(start, end, f), f"'{start}'", f"'{end}'", *types, at="<ssd:Connection ")

    def test_a_type_that_is_not_the_variables(self):
        text = ssd(system(component("f", FEEDTHROUGH, inputs("int32_in", type_="Real"))))
        self.bad(text, "'f.int32_in'", "Real", "Int32", at='name="int32_in"')

    def test_units(self):
        text = ssd(system(component("m", CHAIN, connector("x", "output", unit="m")),
                          component("h", HEATER, connector("T_outside", "input", unit="K")),
                          connect=connection("m.x", "h.T_outside")), units=METRES)
        self.bad(text, "'m.x'", "'h.T_outside'", "'m' and 'K'", "suppress", at="<ssd:Connection ")
        text = ssd(system(component("m", CHAIN, outputs("x")), component("h", HEATER, inputs("T_outside")),
                          connect=connection("m.x", "h.T_outside")))
        self.bad(text, "'m.x'", "'h.T_outside'", "'m' and 'K'", at="<ssd:Connection ")

    def test_units_that_are_not_to_be_converted(self):
        text = ssd(system(component("m", CHAIN, outputs("x")), component("h", HEATER, inputs("T_outside")),
                          connect=connection("m.x", "h.T_outside", suppressUnitConversion="true")))
        self.write("plain.ssd", text)
        self.tutti("run", "plain.ssd", *SHORT, "--quiet")

    def test_sizes(self):
        vector = connector("y", "output").replace("<ssc:Real/>", '<ssc:Real/><ssc:Dimension size="2"/>')
        dimensions = '<ssc:Real/><ssc:Dimension size="2"/><ssc:Dimension size="3"/>'
        matrix = connector("matrix_in", "input").replace("<ssc:Real/>", dimensions)
        text = ssd(system(component("s", SPACE, vector), component("f", FEEDTHROUGH3, matrix),
                          connect=connection("s.y", "f.matrix_in")), version="2.0")
        self.bad(text, "s.y", "f.matrix_in", at="<ssd:Connection ")

    def test_a_transformation_for_other_types(self):
        text = ssd(system(self.a, self.b, connect=connection(
            "a.x", "b.u", '<ssc:BooleanMappingTransformation><ssc:MapEntry source="true" target="false"/>'
                          "</ssc:BooleanMappingTransformation>")))
        self.bad(text, "'a.x'", "'b.u'", "BooleanMapping|Boolean", at="<ssd:Connection ")

    def test_a_number_that_is_none(self):
        text = ssd(system(self.a, self.b, connect=connection("a.x", "b.u",
                                                             '<ssc:LinearTransformation factor="much"/>')))
        self.bad(text, '"much"', "number", at="LinearTransformation")

    def test_ten_thousand_faults(self):
        """A run names the first, and how many there are; check lists them."""
        text = ssd(system(self.a, self.b, connect="".join(connection(f"c{n}.x", "b.u") for n in range(10000))))
        self.write("many.ssd", text)
        outcome = self.refused("run", "many.ssd", status=1, says=["'c0'", "9999 more errors", "tutti check"])
        self.assertLess(len(outcome.err), 1000)
        outcome = self.tutti("check", "many.ssd", status=1)
        self.assertIn("10000 errors", outcome.err + outcome.out[-200:])


class Elements(BadSystemTest):
    def test_two_of_one_name(self):
        text = ssd(system(self.a, self.b, self.a))
        first = line_of(text, 'name="a"')
        self.bad(text, '"a"', f"line {first}\\b", "rename", at='name="a"', after='name="b"')

    def test_no_name(self):
        self.bad(ssd(system(f'<ssd:Component source="{DAHLQUIST}"/>\n')), "name is missing", at="<ssd:Component")

    def test_no_source(self):
        """A component without a source is a design that nobody has built: odd, and nothing comes out of it."""
        text = ssd(system(self.a, '<ssd:Component name="later"/>\n'), version="2.0")
        self.write("odd.ssd", text)
        message, = self.tutti("run", "odd.ssd", *SHORT).lines("warning")
        self.assertRegex(message, f"odd.ssd:{line_of(text, 'later')}: .*'later'.*no source")

    def test_nothing_in_it(self):
        self.bad(ssd(system()), "nothing to simulate", commands=())

    def test_names_that_look_odd(self):
        """... are no mistake: dots, spaces, any letter."""
        for name in ("x.y", "a b", "größe", "日本", "a:b/c", "1", "a&amp;b"):
            text = ssd(system(self.a, component(name, TRACKER, inputs("u"), outputs("y")),
                              connect=f'<ssd:Connection startElement="a" startConnector="x" endElement="{name}" '
                                      'endConnector="u"/>\n'))
            with self.subTest(name=name):
                self.write("odd.ssd", text)
                shown = name.replace("&amp;", "&")
                outcome = self.tutti("run", "odd.ssd", *SHORT, "--quiet", "-o", "-", "--record", f"{shown}.y")
                self.assertEqual(outcome.out.splitlines()[0], f"time,{shown}.y")

    def test_an_implementation_that_is_not_there(self):
        text = ssd(system(component("a", "Ticker_fmi2.fmu", implementation="ModelExchange")))
        self.bring(kit_fmu("Ticker", "2"))
        self.bad(text, "'a'", "ModelExchange", "CoSimulation", at="<ssd:Component")

    def test_huge_names_and_numbers(self):
        self.write("huge.ssd", ssd(system(component("n" * 1000000, DAHLQUIST, outputs("x")))))
        self.tutti("run", "huge.ssd", *SHORT, "--quiet", "--record", "none")
        for value in ("1e999", "0x10", "1,5", "1" * 400 + "x"):
            text = ssd(system(component("a", DAHLQUIST, outputs("x"), inside=binding(parameter("k", value)))))
            self.bad(text, "number", at="<ssv:Parameter ")
        text = ssd(system(component("f", FEEDTHROUGH, inside=binding(parameter("int32_in", "9" * 30, "Integer")))))
        self.bad(text, "whole number", at="<ssv:Parameter ")

    def test_times_that_are_none(self):
        for start, stop in (("0", "-1"), ("0", "nan"), ("5", "4"), ("0", "1e999")):
            text = ssd(system(self.a), behind=f'<ssd:DefaultExperiment startTime="{start}" stopTime="{stop}"/>\n')
            self.write("times.ssd", text)
            with self.subTest(start=start, stop=stop):
                outcome = self.finish(self.start("run", "times.ssd", "-o", "-"))
                self.assertNotEqual(outcome.status, 0)
                self.assertEqual(len(outcome.err.splitlines()), 1)
        self.tutti("run", "times.ssd", "--start", "0", "--stop", "1", "--quiet", status=None)


class Values(BadSystemTest):
    def with_binding(self, inside):
        return ssd(system(component("a", DAHLQUIST, outputs("x"), inside=inside)))

    def test_a_parameter_that_is_not_there(self):
        """SSP lets one set of values serve several components: what one does not have is not for it. A set of which nothing
        fits is told of."""
        self.write("odd.ssd", self.with_binding(binding(parameter("kk", "2") + parameter("k", "2"))))
        self.assertEqual(self.tutti("run", "odd.ssd", *SHORT).lines("warning"), [])
        self.write("odd.ssd", self.with_binding(binding(parameter("kk", "2"))))
        warning, = self.tutti("run", "odd.ssd", *SHORT).lines("warning")
        self.assertRegex(warning, "'kk'.* fits anything in 'a'")

    def test_a_mapping_of_what_is_not_there(self):
        mapping = '<ssd:ParameterMapping><ssm:ParameterMapping version="1.0">\n{}' \
                  "</ssm:ParameterMapping></ssd:ParameterMapping>\n"
        for source, target, named in (("nothing", "k", "'nothing'"), ("p", "nothing", "'nothing'")):
            entry = f'<ssm:MappingEntry source="{source}" target="{target}"/>\n'
            text = self.with_binding(binding(parameter("p", "2"), mapping.format(entry)))
            self.write("odd.ssd", text)
            outcome = self.tutti("run", "odd.ssd", *SHORT)
            self.assertTrue(any(named in line and f"odd.ssd:{line_of(text, '<ssm:MappingEntry')}: " in line
                                for line in outcome.lines("warning")), outcome.err)

    def test_a_value_of_another_type(self):
        self.bad(self.with_binding(binding(parameter("k", "2", "String"))), "'k'", "String", "Float64", at='name="k"')

    def test_files_that_are_missing(self):
        self.bad(self.with_binding(binding(source="nothing.ssv")), "nothing.ssv", "No such file",
                 at="<ssd:ParameterBinding ")
        mapping = '<ssd:ParameterMapping source="nothing.ssm"/>\n'
        self.bad(self.with_binding(binding(parameter("k", "2"), mapping)), "nothing.ssm", "No such file")
        self.bad(ssd(system(component("a", "nothing.fmu", outputs("x")))), "'a'", "nothing.fmu", "No such file",
                 at="<ssd:Component")
        self.bad(ssd(system(component("a", "nothing.ssp", type=PACKAGE))), "'a'", "nothing.ssp", at="<ssd:Component")
        dictionary = DICTIONARY.format("nothing.ssb")
        text = ssd(system(self.a, '<ssd:SignalDictionaryReference name="r" dictionary="d">'
                                  '<ssd:Connectors><ssd:Connector name="s" kind="inout"/></ssd:Connectors>'
                                  "</ssd:SignalDictionaryReference>\n"))
        text = text.replace("</ssd:System>\n", dictionary + "</ssd:System>\n")
        self.bad(text, "nothing.ssb", "No such file")

    def test_a_dictionary_that_is_missing(self):
        text = ssd(system(self.a, '<ssd:SignalDictionaryReference name="r" dictionary="none">'
                                  '<ssd:Connectors><ssd:Connector name="s" kind="inout"/></ssd:Connectors>'
                                  "</ssd:SignalDictionaryReference>\n"))
        self.bad(text, "none", at="<ssd:SignalDictionaryReference")


class Sources(BadSystemTest):
    def source(self, uri, *says):
        self.bad(ssd(system(component("a", uri, outputs("x")))), "'a'", *says, at="<ssd:Component")

    def packed(self, uri, *says):
        """The same in a package, out of which nothing leads."""
        text = ssd(system(component("a", uri, outputs("x"))))
        self.package("bad.ssp", {SSD: text})
        for command in ("run", "check"):
            outcome = self.tutti(command, "bad.ssp", status=1)
            for pattern in (f"bad.ssp/{SSD}:{line_of(text, '<ssd:Component')}: ", *says):
                self.assertRegex(outcome.out + outcome.err, pattern)

    def test_of_other_machines(self):
        for uri in ("http://example.org/a.fmu", "https://example.org/a.fmu", "ftp://example.org/a.fmu", "urn:x:y"):
            self.source(uri, uri, "fetch|relative path|not a file")
            self.packed(uri, uri)

    def test_empty_ones(self):
        self.source("", "empty")
        self.packed("", "empty")

    def test_no_fmus(self):
        self.write("text.fmu", "this is no FMU")
        self.source("text.fmu", "not a ZIP archive")
        self.source(".", "no modelDescription.xml")
        self.source("/dev/zero", "neither a file nor a folder")

    def test_out_of_a_package(self):
        fmu = self.path(DAHLQUIST)
        for uri in (f"../{DAHLQUIST}", f"resources/../../{DAHLQUIST}", f"%2e%2e/{DAHLQUIST}", f"..%2f{DAHLQUIST}", fmu,
                    f"file://{fmu}", f"//localhost{fmu}", f"resources\\..\\..\\{DAHLQUIST}"):
            with self.subTest(uri=uri):
                self.packed(uri, "'a'")

    def test_percent_signs_that_mean_nothing(self):
        for uri in ("a%.fmu", "a%zz.fmu", "a%00.fmu"):
            with self.subTest(uri=uri):
                self.packed(uri, "'a'")

    def test_parts_that_are_not_there(self):
        self.package("two.ssp", {SSD: ssd(system()), "Other.ssd": ssd(system())})
        self.bad(ssd(system(component("a", "two.ssp#Third.ssd", type=PACKAGE))), "'a'", "Third.ssd", "Other.ssd",
                 at="<ssd:Component")
        self.source("#nothing", "nothing", "id")
        self.refused("run", "two.ssp#Third.ssd", status=2, says=["Third.ssd", "Other.ssd"])


class Cycles(BadSystemTest):
    def test_a_document_in_itself(self):
        self.bad(ssd(system(component("me", "bad.ssd", type=SYSTEM))), "'me'", "itself", at="<ssd:Component",
                 commands=("check",))

    def test_documents_in_each_other(self):
        inner = ssd(system(component("outer", "bad.ssd", type=SYSTEM)))
        self.write("inner.ssd", inner)
        self.write("bad.ssd", ssd(system(component("inner", "inner.ssd", type=SYSTEM))))
        for command in ("run", "check"):
            outcome = self.tutti(command, "bad.ssd", status=1)
            self.assertRegex(outcome.out + outcome.err,
                             f"inner.ssd:{line_of(inner, '<ssd:Component')}: .*'inner.outer' .*'inner'")

    def test_a_package_in_itself(self):
        """By an address inside of it, since nothing leads out."""
        self.package("bad.ssp", {SSD: ssd(system(component("me", SSD, type=SYSTEM)))})
        outcome = self.tutti("run", "bad.ssp", status=1)
        self.assertRegex(outcome.err, "'me'.*itself")

    def test_a_doubling_of_documents(self):
        """40 documents, each of which holds the next one twice: 2^40 FMUs, which nobody has room for. Without its type
        each of them is worth a warning; they are counted."""
        self.write("d40.ssd", ssd(system(self.a)))
        for type_, lines in ((SYSTEM, 1), (None, 22)):
            for n in range(40):
                self.write(f"d{n}.ssd", ssd(system(*(component(name, f"d{n + 1}.ssd", type=type_) for name in "lr"))))
            outcome = self.tutti("run", "d0.ssd", status=1)
            self.assertEqual(len(outcome.err.splitlines()), lines, outcome.err[:3000])
            self.assertRegex(outcome.lines("error")[0], r"d\d+\.ssd")


class Documents(BadSystemTest):
    """The XML of all four kinds of documents."""

    def documents(self):
        good = ssd(system(self.a, self.b, connect=connection("a.x", "b.u")))
        yield "bad.ssd", good, good, "bad.ssd"
        spaces = 'xmlns:{0}="http://ssp-standard.org/SSP1/SystemStructure{1}" ' \
                 'xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0"'
        ssv = f'<?xml version="1.0" encoding="UTF-8"?>\n<ssv:ParameterSet {spaces.format("ssv", "ParameterValues")} ' \
              f'name="set">\n<ssv:Parameters>\n{parameter("k", "2")}</ssv:Parameters>\n</ssv:ParameterSet>\n'
        yield "bad.ssv", ssv, ssd(system(component("a", DAHLQUIST, outputs("x"), inside=binding(source="bad.ssv")))), \
            "main.ssd"
        ssm = f'<?xml version="1.0" encoding="UTF-8"?>\n<ssm:ParameterMapping ' \
              f'{spaces.format("ssm", "ParameterMapping")}>\n<ssm:MappingEntry source="p" target="k"/>\n' \
              "</ssm:ParameterMapping>\n"
        yield "bad.ssm", ssm, ssd(system(component("a", DAHLQUIST, outputs("x"), inside=binding(
            parameter("p", "2"), '<ssd:ParameterMapping source="bad.ssm"/>\n')))), "main.ssd"
        ssb = f'<?xml version="1.0" encoding="UTF-8"?>\n<ssb:SignalDictionary ' \
              f'{spaces.format("ssb", "SignalDictionary")}>\n<ssb:DictionaryEntry name="s"><ssc:Real/>' \
              "</ssb:DictionaryEntry>\n</ssb:SignalDictionary>\n"
        reference = '<ssd:SignalDictionaryReference name="r" dictionary="d"><ssd:Connectors>\n' \
                    '<ssd:Connector name="s" kind="inout"><ssc:Real/></ssd:Connector></ssd:Connectors>' \
                    "</ssd:SignalDictionaryReference>\n"
        dictionary = DICTIONARY.format("bad.ssb")
        main = ssd(system(self.a, self.b, reference, connect=connection("a.x", "r.s") + connection("r.s", "b.u")))
        yield "bad.ssb", ssb, main.replace("</ssd:System>\n", dictionary + "</ssd:System>\n"), "main.ssd"

    def hostile(self, change, *says, status=1):
        """Each kind of document, changed as text or bytes."""
        for name, good, main, path in self.documents():
            with self.subTest(document=name):
                self.write(path, main)
                self.write(name, good)
                self.tutti("run", path, *SHORT, "--quiet")  # the good one is good
                changed = change(good)
                pathlib.Path(self.path(name)).write_bytes(changed if isinstance(changed, bytes) else changed.encode())
                outcome = self.tutti("run", path, *SHORT, "-o", "-", status=status)
                self.assertEqual(len(outcome.err.splitlines()), 1, outcome.err)
                self.assertLess(len(outcome.err), 3000)
                for pattern in (rf"{name}:\d+: ", *says):
                    self.assertRegex(outcome.err, pattern)
                self.assertNotIn("root:", outcome.err)
                self.tutti("check", path, status=status)

    @staticmethod
    def behind_the_declaration(text, addition):
        first, rest = text.split("\n", 1)
        return f"{first}\n{addition}{rest}"

    def test_document_types(self):
        self.hostile(lambda text: self.behind_the_declaration(text, "<!DOCTYPE x>\n"), "DOCTYPE")

    def test_entity_bombs(self):
        self.hostile(lambda text: self.behind_the_declaration(text, BOMB).replace('version="1.0">', 'version="&a12;">'),
                     "DOCTYPE")

    def test_entities_from_elsewhere(self):
        self.hostile(lambda text: self.behind_the_declaration(
            text, '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n').replace('name="', 'name="&e;'), "DOCTYPE")
        self.hostile(lambda text: self.behind_the_declaration(text, '<!DOCTYPE x SYSTEM "file:///dev/zero">\n'),
                     "DOCTYPE")

    def test_cut_off(self):
        self.hostile(lambda text: text[:len(text) * 2 // 3], "well-formed")
        self.hostile(lambda text: text[:text.rindex("<")], "well-formed")
        self.hostile(lambda text: "", "well-formed")

    def test_other_documents(self):
        self.hostile(lambda text: "<html><body>Not found</body></html>\n", "html", "expected <")
        self.hostile(lambda text: "not even XML", "well-formed")

    def test_deep_nesting(self):
        end = "</{}>"
        self.hostile(lambda text: text[:text.rindex("</")] + "<x>" * 100000 + end.format("x") * 100000 +
                     text[text.rindex("</"):], "deep")

    def test_bytes_that_are_no_text(self):
        self.hostile(lambda text: text.encode().replace(b'name="', b'name="\xff\xfe', 1) if b'name="' in text.encode()
                     else text.encode().replace(b'source="', b'source="\xff', 1), "well-formed")
        self.hostile(lambda text: text.encode().replace(b'"1.0" ', b'"1.0\0" ', 1).replace(b'"1.0">', b'"1.0\0">', 1),
                     "well-formed")
        self.hostile(lambda text: text.replace("UTF-8", "x-unknown"), "encoding")

    def test_utf16_is_read(self):
        good = ssd(system(self.a, self.b, connect=connection("a.x", "b.u"))).replace("UTF-8", "UTF-16")
        pathlib.Path(self.path("wide.ssd")).write_bytes(good.encode("utf-16"))
        self.tutti("run", "wide.ssd", *SHORT, "--quiet")

    def test_millions_of_attributes_and_elements(self):
        many = "".join(f' a{n}="x"' for n in range(100000))
        text = ssd(system(self.a).replace('<ssd:System name="root"', f'<ssd:System{many} name="root"'))
        self.write("wide.ssd", text)
        self.tutti("run", "wide.ssd", *SHORT, "--quiet", status=None)
        self.write("long.ssd", ssd(system(self.a) + "<x/>\n" * 300000))
        self.tutti("run", "long.ssd", *SHORT, "--quiet", status=None)


class Archives(BadSystemTest):
    def refuse(self, says, name="bad.ssp"):
        for command in ("run", "check", "info"):
            outcome = self.tutti(command, name, status=1)
            self.assertRegex(outcome.out + outcome.err, says)
            self.assertFalse(os.path.exists(self.path("evil.txt")))

    def good(self):
        return {SSD: ssd(system(component("a", f"resources/{DAHLQUIST}", outputs("x"))))}

    def pack(self, entries, compression=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.path("bad.ssp"), "w", compression) as archive:
            for entry, data in {**self.good(), **entries}.items():
                archive.writestr(entry, data)
            archive.write(self.path(DAHLQUIST), f"resources/{DAHLQUIST}")

    def test_the_good_one(self):
        self.pack({})
        self.tutti("run", "bad.ssp", *SHORT, "--quiet")

    def test_entries_that_lead_out(self):
        for entry in ("../evil.txt", "resources/../../evil.txt", "/tmp/evil.txt", "..\\evil.txt", "C:\\evil.txt"):
            with self.subTest(entry=entry):
                self.pack({entry: "evil"})
                self.refuse("refused")

    def test_links(self):
        link = zipfile.ZipInfo("resources/link")
        link.external_attr = 0o120777 << 16
        self.pack({link: "/etc/passwd"})
        self.refuse("resources/link' is refused: it is a link")

    def test_bombs(self):
        self.pack({"resources/bomb": b"\0" * (300 << 20)}, zipfile.ZIP_DEFLATED)
        self.refuse("made to fill disks")

    def test_a_bomb_in_a_package_in_a_package(self):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(SSD, self.good()[SSD])
            archive.writestr("resources/bomb", b"\0" * (300 << 20))
        self.package("bad.ssp", {SSD: ssd(system(component("n", "resources/inner.ssp", type=PACKAGE))),
                                 "resources/inner.ssp": inner.getvalue()})
        outcome = self.tutti("run", "bad.ssp", status=1)
        self.assertRegex(outcome.err, "'n': .*made to fill disks")

    def test_damaged_ones(self):
        self.pack({})
        whole = pathlib.Path(self.path("bad.ssp")).read_bytes()
        for data, says in ((b"", "empty"), (whole[:len(whole) // 2], "cut off"), (b"PK\3\4" + bytes(1000), "cut off"),
                           (b"<html>", "not a ZIP")):
            pathlib.Path(self.path("bad.ssp")).write_bytes(data)
            self.refuse(says)

    def test_no_document(self):
        self.package("bad.ssp", {"readme.txt": "hello"})
        outcome = self.finish(self.start("run", "bad.ssp"))
        self.assertIn(outcome.status, (1, 2))
        self.assertRegex(outcome.err, SSD)

    def test_a_damaged_fmu_inside(self):
        self.package("bad.ssp", {**self.good(), f"resources/{DAHLQUIST}": "not an FMU"})
        outcome = self.tutti("run", "bad.ssp", status=1)
        self.assertRegex(outcome.err, f"bad.ssp/{SSD}:\\d+: component 'a': .*{DAHLQUIST}.*not a ZIP archive")

    def test_names_twice(self):
        with zipfile.ZipFile(self.path("bad.ssp"), "w") as archive:
            for _ in range(2):
                with self.assertWarns(UserWarning) if SSD in archive.namelist() else io.StringIO():
                    archive.writestr(SSD, self.good()[SSD])
            archive.write(self.path(DAHLQUIST), f"resources/{DAHLQUIST}")
        self.tutti("run", "bad.ssp", *SHORT, "--quiet", status=None)

    def test_a_folder_with_a_link_that_leads_out(self):
        folder = self.folder / "bad"
        (folder / "resources").mkdir(parents=True)
        (folder / SSD).write_text(self.good()[SSD], encoding="utf-8")
        os.symlink(self.path(DAHLQUIST), folder / "resources" / DAHLQUIST)
        outcome = self.finish(self.start("run", "bad"))
        self.assertNotEqual(outcome.status, 0)
        self.assertRegex(outcome.err, "link")


class CommandLines(BadSystemTest):
    def test_files_that_are_not_there(self):
        self.refused("run", "nothing.ssp", status=1, says=["nothing.ssp", "No such file"])
        self.refused("run", f"a={self.path(DAHLQUIST)}", "b=nothing.fmu", status=1, says=["nothing.fmu",
                                                                                          "No such file"])

    def test_analyze_and_graph_say_the_same(self):
        self.write("bad.ssd", ssd(system(self.a, self.b, connect=connection("c.x", "b.u"))))
        for command in (("analyze", "bad.ssd"), ("graph", "bad.ssd", "-o", "out.dot")):
            self.refused(*command, status=1, says=["bad.ssd:", "'c'"])

    def test_units_clash(self):
        self.refused("run", f"m={kit_fmu('ChainMass', '2')}", f"h={kit_fmu('Heater', '2')}", "--connect",
                     "m.x=h.T_outside",
                     status=2, says=["m.x", "h.T_outside", "'m' and 'K'"])

    def test_settings_of_what_is_not_there(self):
        self.write("good.ssd", ssd(system(self.a, self.b, connect=connection("a.x", "b.u"))))
        for text in ("a.kk=1", "c.k=1", "k=1", "a=1", ".=1"):
            with self.subTest(set=text):
                self.refused("run", "good.ssd", "--set", text, status=2, says=["--set",
                                                                               "did you mean|tutti info|takes|'"])


if __name__ == "__main__":
    unittest.main()
