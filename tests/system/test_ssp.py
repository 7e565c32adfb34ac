#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Systems as SSP, by the text of the standard: packages, nesting, the root system.

Every test builds a package, runs it, and looks at what arrives in the FMUs. Most of them are Feedthrough, whose outputs
are its inputs and whose `constant` is 42. The points that importers are known to get wrong are numbered: "Pitfall 1" to
"Pitfall 7" begin the words of their tests here and in test_ssp_connections.py, test_ssp_conversion.py,
test_ssp_parameters.py and test_ssp_values.py."""
import itertools
import json
import pathlib
import shutil
import unittest

from command import kit_fmu
from ssp_text import (CELSIUS, DEFAULT, F2, F3, FAHRENHEIT, KELVIN, SSD_TYPE, SSP_TYPE, SspTest, binding, component,
                      connect, connector, dictionary, entry, feedthrough, inputs, linear, outputs, pair, reals,
                      reference, renamed, ssb, ssd, ssv, system, tag)

SCALES = {"K": KELVIN, "degC": CELSIUS, "degF": FAHRENHEIT}


class Packages(SspTest):
    def test_archive_folder_and_bare_file(self):
        """Pitfall 7: documents of 1.0 and of 2.0, as .ssp, folder and .ssd."""
        for version, (model, source) in itertools.product(["1.0", "2.0"], [("Feedthrough2", F2), ("Feedthrough3", F3)]):
            files = {DEFAULT: ssd(pair(source=source), version=version), **self.files(model)}
            folder = self.unpacked(files)
            for place in self.package(files), folder, f"{folder}/{DEFAULT}":
                with self.subTest(version=version, model=model, place=place):
                    self.arrives(place, {"a.float64_in": 3, "b.float64_in": 3, "b.float64_out": 3})

    def test_bare_file_of_another_name(self):
        folder = self.unpacked({"car.ssd": ssd(pair()), **self.files("Feedthrough3")})
        self.arrives(f"{folder}/car.ssd", {"b.float64_in": 3})

    def test_versions_mixed_in_one_package(self):
        """Pitfall 7: each file says its own version."""
        files = {"x_ssv": ssv(reals(float64_in=4), version="1.0"), "x_ssb": ssb(entry("s"), version="1.0"),
                 "inner_ssd": ssd(system("inner", feedthrough("c", source="Feedthrough3.fmu"),
                                         connectors=inputs("u"), connections=[connect("/u", "c/float64_in")]),
                                  version="1.0")}
        root = system("root", feedthrough("a", binding("resources/x.ssv")),
                      component("n", "resources/inner.ssd", inputs("u"), type=SSD_TYPE),
                      reference("d", "D", connector("s", "inout")),
                      dictionaries=[dictionary("D", source="resources/x.ssb")],
                      connections=[connect("a/float64_out", "d/s"), connect("d/s", "n/u")])
        self.arrives(self.packed(ssd(root, version="2.0"), "Feedthrough3", **files), {"n.c.float64_in": 4})

    def test_prefixes_of_any_name(self):
        text = ssd(system("root", feedthrough("a", float64_in=3), feedthrough("b"),
                          connections=[connect("a/float64_out", "b/float64_in", linear(2))]))
        for prefixes in ({"ssd": "", "ssc": "x"}, {"ssd": "ssc", "ssc": "ssd"}, {"ssv": "", "ssc": "ssm", "ssm": "q"},
                         {"ssd": "Ünï.c-1", "ssc": "_"}):
            steps = {old: f"tmp{i}" for i, old in enumerate(prefixes)}  # so that two can swap their names
            other = renamed(renamed(text, **steps), **{steps[old]: new for old, new in prefixes.items()})
            with self.subTest(prefixes=prefixes):
                self.assertNotEqual(text, other)
                self.arrives(self.packed(other, "Feedthrough3"), {"b.float64_in": 6})

    def test_namespaces_declared_where_they_are_used(self):
        text = ssd(pair(linear(2)))
        own = text.replace("<ssc:LinearTransformation", '<c:LinearTransformation xmlns:c="http://ssp-standard.org/SSP1/'
                           'SystemStructureCommon"')
        self.arrives(self.packed(own, "Feedthrough3"), {"b.float64_in": 6})
        foreign = text.replace("<ssc:LinearTransformation", '<c:LinearTransformation xmlns:c="http://example.org"')
        outcome = self.tutti("run", self.packed(foreign, "Feedthrough3"), "--stop", "0.1", "-o", "-", status=None)
        self.assertNotIn(",6,", outcome.out, "an element of a foreign namespace counts")

    def test_variants_by_file_and_by_name(self):
        files = {DEFAULT: ssd(pair(start=1), name="plain"), "VariantB.ssd": ssd(pair(start=2), name="the second"),
                 **self.files("Feedthrough3")}
        for place in self.package(files), self.unpacked(files):
            self.arrives(place, {"b.float64_in": 1})
            self.arrives(f"{place}#{DEFAULT}", {"b.float64_in": 1})
            self.arrives(f"{place}#VariantB.ssd", {"b.float64_in": 2})
            self.arrives(f"{place}#the second", {"b.float64_in": 2})
        self.refused("run", f"{self.path('test.ssp')}#VariantC.ssd", status=2,
                     says=["VariantC", "VariantB.ssd", "SystemStructure.ssd"])

    def test_default_variant_missing(self):
        outcome = self.tutti("run", self.package({"Other.ssd": ssd(pair()), **self.files("Feedthrough3")}), status=2)
        self.assertRegex(outcome.err, r"SystemStructure\.ssd.*Other\.ssd")

    def test_sources_are_uris(self):
        """Percent-encoding; entries outside of resources/ are found, too."""
        files = {DEFAULT: ssd(pair(source="my%20models/f%C3%BC%231.fmu")), "my models/fü#1.fmu": pathlib.Path(kit_fmu(
            "Feedthrough", 3))}
        self.arrives(self.package(files), {"b.float64_in": 3})
        self.arrives(self.unpacked(files), {"b.float64_in": 3})

    def test_byte_order_mark(self):
        self.arrives(self.packed("\ufeff" + ssd(pair()), "Feedthrough3"), {"b.float64_in": 3})

    def test_further_entries(self):
        """extra/ and documentation/ are for others; folders may have entries of their own."""
        files = {"resources/": "", DEFAULT: ssd(pair()), **self.files("Feedthrough3"), "extra/": "",
                 "extra/com.example/SystemStructure.ssd": "no XML", "documentation/index.html": "<html>"}
        self.arrives(self.package(files), {"b.float64_in": 3})

    def test_numbers_with_space_around(self):
        """White space around numbers and Booleans is none of the value in XML Schema."""
        text = ssd(pair(linear("\t2 ", "\n1\n"), suppressUnitConversion=" false "), experiment={"stopTime": " 0.5 "})
        self.arrives(self.packed(text, "Feedthrough3"), {"b.float64_in": 7})

    def test_attributes_of_other_namespaces(self):
        text = ssd(pair()).replace("<ssd:Connection ", '<ssd:Connection xmlns:o="urn:o" o:startConnector="x" ')
        self.arrives(self.packed(text, "Feedthrough3"), {"b.float64_in": 3})

    def test_paths_with_a_number_sign(self):
        """A '#' in the name of a file that is there is no variant."""
        folder = self.folder / "my #dir"
        folder.mkdir()
        path = pathlib.Path(self.packed(ssd(pair()), "Feedthrough3")).rename(folder / "x #1.ssp")
        self.arrives(path, {"b.float64_in": 3})
        self.arrives(f"{path}#{DEFAULT}", {"b.float64_in": 3})

    def test_document_in_a_folder_of_the_package(self):
        self.refuses(self.package({f"test/{DEFAULT}": ssd(pair())}), DEFAULT)

    def test_version_of_the_future(self):
        source = self.packed(ssd(pair(), version="3.0"), "Feedthrough3")
        self.arrives(source, {"b.float64_in": 3})
        self.warns(source, "3\\.0")

    def test_sources_that_lead_out_of_a_package(self):
        shutil.copy(kit_fmu("Feedthrough", 3), self.path("out.fmu"))
        self.refuses(self.package({DEFAULT: ssd(pair(source="../out.fmu"))}), r"\.\./out\.fmu")

    def test_missing_file(self):
        self.refuses(self.package({DEFAULT: ssd(pair())}), r"resources/Feedthrough3\.fmu")


class Nesting(SspTest):
    def deep(self, levels, inner):
        """Systems around an element, with u and y handed through."""
        for level in reversed(range(levels)):
            below = f"s{level + 1}" if level < levels - 1 else "c"
            ends = ("u", "y") if level < levels - 1 else ("float64_in", "float64_out")
            inner = system(f"s{level}", inner, connectors=inputs("u") + outputs("y"),
                           connections=[connect("/u", f"{below}/{ends[0]}"), connect("/y", f"{below}/{ends[1]}")])
        return inner

    def test_three_systems_deep(self):
        root = system("root", feedthrough("a", float64_in=3), self.deep(3, feedthrough("c", gain=2)), feedthrough("b"),
                      connections=[connect("a/float64_out", "s0/u"), connect("s0/y", "b/float64_in")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"s0.s1.s2.c.float64_in": 3, "b.float64_in": 6})

    def test_names_with_dots_spaces_and_unicode(self):
        root = system("root", feedthrough("a.b", float64_in=3),
                      system("x y", feedthrough("größe, \"weit\""), connectors=
                      inputs("u.v"), connections=[connect("/u.v", "größe, \"weit\"/float64_in")]),
                      connections=[connect("a.b/float64_out", "x y/u.v")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.b.float64_in": 3, "x y.größe, \"weit\".float64_in": 3})

    INNER = staticmethod(lambda gain, source="Feedthrough3.fmu": system(
        "anything", feedthrough("c", source=source, gain=gain), connectors=inputs("u") + outputs("y"),
        connections=[connect("/u", "c/float64_in"), connect("c/float64_out", "/y")]))

    def around(self, source, what):
        return ssd(system("root", feedthrough("a", float64_in=3), feedthrough("b"),
                          component("n", source, inputs("u") + outputs("y"), type=f"application/x-ssp-{what}"),
                          connections=[connect("a/float64_out", "n/u"), connect("n/y", "b/float64_in")]))

    def test_ssd_as_component(self):
        """Sources inside are relative to the inner file."""
        text = self.around("resources/inner.ssd", "definition")
        source = self.packed(text, "Feedthrough3", inner_ssd=ssd(self.INNER(2)))
        self.arrives(source, {"n.c.float64_in": 3, "b.float64_in": 6})

    def test_ssp_as_component_and_its_variants(self):
        inner = self.package({DEFAULT: ssd(self.INNER(2, F3)), "B.ssd": ssd(self.INNER(4, F3), name="other"),
                              "an other.ssd": ssd(self.INNER(5, F3), name="third"),
                              **self.files("Feedthrough3")}, "inner.ssp")
        for fragment, expected in ("", 6), (f"#{DEFAULT}", 6), ("#B.ssd", 12), ("#an%20other.ssd", 15):
            with self.subTest(fragment=fragment):
                text = self.around("resources/inner.ssp" + fragment, "package")
                source = self.packed(text, "Feedthrough3", inner_ssp=pathlib.Path(inner))
                self.arrives(source, {"n.c.float64_in": 3, "b.float64_in": expected})

    def test_packages_in_packages(self):
        inner = self.package({DEFAULT: ssd(self.INNER(2, F3)), **self.files("Feedthrough3")}, "inner.ssp")
        for level in range(3):
            around = system("s", component("n", "resources/inner.ssp", inputs("u"), type=SSP_TYPE),
                            connectors=inputs("u"),
                            connections=[connect("/u", "n/u")])
            inner = self.package({DEFAULT: ssd(around), "resources/inner.ssp": pathlib.Path(inner)},
                                 f"level{level}.ssp")
        root = system("root", feedthrough("a", float64_in=3), component("n", "resources/inner.ssp", inputs("u"),
                                                                        type=SSP_TYPE),
                      connections=[connect("a/float64_out", "n/u")])
        self.arrives(self.packed(ssd(root), "Feedthrough3", inner_ssp=pathlib.Path(inner)),
                     {"n.n.n.n.c.float64_out": 6})

    def test_system_instantiated_twice_by_its_id(self):
        text = ssd(system("root", feedthrough("a", float64_in=3),
                          system("first", feedthrough("c"), connectors=inputs("u") + outputs("y"), id="it",
                                 connections=[connect("/u", "c/float64_in"), connect("c/float64_out", "/y")]),
                          component("second", "#it", inputs("u") + outputs("y"), [binding(reals(**{"c.gain": 2}))],
                                    type=SSD_TYPE),
                          component("third", "#it", inputs("u"), [binding(reals(**{"c.gain": 5}))],
                                    type=SSD_TYPE),
                          connections=[connect("a/float64_out", "first/u"), connect("first/y", "second/u"),
                                       connect("second/y", "third/u")]))
        self.arrives(self.packed(text, "Feedthrough3"), {
            "first.c.float64_out": 3, "second.c.float64_in": 3, "second.c.float64_out": 6, "third.c.float64_out": 30})

    def test_id_before_and_below_its_definition(self):
        """From another system, ahead of the definition, which lies deeper."""
        text = ssd(system("root", system("x", component("n", "#it", inputs("u"), type=SSD_TYPE), connectors=inputs("u"),
                                         connections=[connect("/u", "n/u")]),
                          system("y", system("def", feedthrough("c", gain=2), connectors=inputs("u"), id="it",
                                             connections=[connect("/u", "c/float64_in")])),
                          feedthrough("a", float64_in=3), connections=[connect("a/float64_out", "x/u")]))
        self.arrives(self.packed(text, "Feedthrough3"),
                     {"x.n.c.float64_in": 3, "x.n.c.gain": 2, "y.def.c.float64_in": 0, "y.def.c.gain": 2})

    def test_instances_have_dictionaries_of_their_own(self):
        inner = system("first", feedthrough("w"), feedthrough("r"), reference("ref", "D", connector("s", "inout")),
                       connectors=inputs("u"), id="it", dictionaries=[dictionary("D", entry("s"))],
                       connections=[connect("/u", "w/float64_in"), connect("w/float64_out", "ref/s"),
                                    connect("ref/s", "r/float64_in")])
        text = ssd(system("root", inner, component("second", "#it", inputs("u"), type=SSD_TYPE),
                          bindings=[binding(reals(**{"first.u": 3, "second.u": 4}))]))
        self.arrives(self.packed(text, "Feedthrough3"), {"first.r.float64_in": 3, "second.r.float64_in": 4})

    def test_connectors_said_again_must_agree(self):
        """A component says what connectors its system has."""
        text = self.around("resources/inner.ssd", "definition").replace(
            '<ssd:Connector name="y" kind="output"/>', '<ssd:Connector name="y" kind="parameter"/>')
        self.refuses(self.packed(text, "Feedthrough3", inner_ssd=ssd(self.INNER(2))), r"n\.y", "parameter", "output")

    def test_nothing_to_run(self):
        for root in system("root"), system("root", system("s")):
            self.refuses(self.packed(ssd(root)), "no FMU|nothing|no component")

    def test_empty_name(self):
        self.refuses(self.packed(ssd(system("root", feedthrough("")))), "name")

    def test_id_that_is_not_there(self):
        text = ssd(system("root", component("n", "#nothing", type=SSD_TYPE)))
        self.refuses(self.packed(text), "#?nothing")

    def test_cycles(self):
        """A file in itself, two files in each other, a system in itself."""
        inner = "application/x-ssp-definition"
        for files in ({DEFAULT: ssd(system("r", component("n", DEFAULT, type=inner)))},
                      {DEFAULT: ssd(system("r", component("n", "b.ssd", type=inner))),
                       "b.ssd": ssd(system("s", component("m", DEFAULT, type=inner)))},
                      {DEFAULT: ssd(system("r", system("s", component("n", "#it", type=inner), id="it")))}):
            with self.subTest(files=len(files)):
                self.refuses(self.package(files), "itself|cycle|contains")

    def test_component_type_is_optional(self):
        """Pitfall 6: without one it is an FMU; others are refused by name."""
        root = pair().replace(f'source="{F3}"', f'source="{F3}" type="application/x-fmu-sharedlibrary"', 1)
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"b.float64_in": 3})
        other = pair().replace(f'source="{F3}"', 'source="resources/x.mo" type="text/x-modelica"', 1)
        self.refuses(self.packed(ssd(other), "Feedthrough3", x_mo="model x end x;"), "text/x-modelica")

    def test_implementation(self):
        for word, short in ("CoSimulation", "cs"), ("ModelExchange", "me"), ("any", "cs"), (None, "cs"):
            root = system("root", component("c", "resources/Dahlquist3.fmu", implementation=word))
            outcome = self.tutti("run", self.packed(ssd(root), "Dahlquist3"), "--stop", "1", "--stats", "s.json",
                                 "--quiet")
            self.assertEqual(outcome.err, "")
            stats = json.loads(pathlib.Path(self.path("s.json")).read_text(encoding="utf-8"))
            with self.subTest(word=word):
                self.assertEqual(stats["units"][0]["interface"], short)
        for word in "ModelExchange", "ScheduledExecution":
            root = system("root", component("c", "resources/Ticker3.fmu", implementation=word))
            self.refuses(self.packed(ssd(root), "Ticker3"), "c", word)

    def test_interfaces_mixed(self):
        for kinds in ("ModelExchange", "CoSimulation"), ("CoSimulation", "ModelExchange"), ("ModelExchange",) * 2:
            root = system("root", component("a", F3, outputs("float64_out"), [binding(reals(float64_in=3))],
                                            implementation=kinds[0]),
                          component("b", F3, inputs("float64_in"), implementation=kinds[1]),
                          connections=[connect("a/float64_out", "b/float64_in")])
            self.arrives(self.packed(ssd(root), "Feedthrough3"), {"b.float64_in": 3})

    def test_component_without_source(self):
        """SSP 2.0: a design without implementation counts as an empty system."""
        root = system("root", feedthrough("a", float64_in=3), feedthrough("b", float64_in=5),
                      component("ghost", None, inputs("u") + outputs("y")),
                      connections=[connect("a/float64_out", "ghost/u"), connect("ghost/y", "b/float64_in")])
        source = self.packed(ssd(root), "Feedthrough3")
        self.arrives(source, {"a.float64_in": 3, "b.float64_in": 5})
        self.assertRegex("".join(self.tutti("run", source, "--stop", "0.1", "-o", "-").lines("warning")), "'ghost'")

    def test_what_others_added_is_ignored(self):
        """Annotations, also with elements of SSP in them, geometry, meta data, signatures."""
        inner = tag("ssd:Annotations", tag("ssc:Annotation", tag(
            "other", tag("ssd:System", tag("ssd:Elements", component("z", "no"))), "text &amp; all",
            xmlns="http://example.org"), type="com.example"))
        meta = tag("ssc:MetaData", tag("ssc:Content", tag("x", xmlns="http://example.org")), kind="general", type="a/b")
        geometry = tag("ssd:ElementGeometry", x1=0, y1=0, x2=10, y2=10)
        a = component("a", F3, inputs("float64_in") + [tag("ssd:Connector", tag("ssd:ConnectorGeometry", x=1, y=.5),
                                                           inner, name="float64_out", kind="output")],
                      inside=geometry + tag("ssd:ParameterBindings", binding(reals(float64_in=3))) + meta + inner)
        root = system("root", a, feedthrough("b"), inside=tag("ssd:SystemGeometry", x1=0, y1=0, x2=9, y2=9) + tag(
            "ssd:GraphicalElements", tag("ssd:Note", x1=0, y1=0, x2=1, y2=1, text="hi")) + inner,
                      connections=[connect("a/float64_out", "b/float64_in", linear(2) + tag(
                          "ssd:ConnectionGeometry", pointsX="1 2", pointsY="3 4") + inner)])
        source = self.packed(ssd(root, inside=meta + inner), "Feedthrough3")
        self.assertEqual(self.arrives(source, {"b.float64_in": 6}).header.count("b.float64_in"), 1)
        self.assertEqual(self.tutti("run", source, "--stop", "0.1", "-o", "-").lines("warning"), [])

    def test_element_names_are_unique(self):
        self.refuses(self.packed(ssd(system("root", feedthrough("a"), feedthrough("a"))), "Feedthrough3"), "'?a'?")


class RootSystem(SspTest):
    def system(self):
        return self.packed(ssd(system(
            "root", feedthrough("a"), connectors=[connector("temp", "input", "Real", unit="degC"),
                                                  connector("result", "output", "Real", unit="degF")],
            connections=[connect("a/float64_in", "/temp"), connect("/result", "a/float64_out")]).replace(
                '<ssd:Connector name="float64_in" kind="input"/><ssd:Connector name="float64_out" kind="output"/>',
                connector("float64_in", "input", "Real", unit="K") + connector("float64_out", "output", "Real",
                                                                               unit="K")),
            units=SCALES), "Feedthrough3")

    def test_inputs_and_outputs_have_their_own_names(self):
        """Recorded without any pattern: all outputs, the system's included; inputs take trajectories."""
        self.write("in.csv", "time,temp\n0,20\n1,20\n")
        table = self.simulate(self.system(), "--stop", "1", "--step", "0.5", "--input", "in.csv")
        self.assertIn("result", table.header)
        self.assert_near(table["a.float64_out"], [293.15] * 3, 1e-9)
        self.assert_near(table["result"], [68] * 3, 1e-9)

    def test_record_by_name(self):
        self.write("in.csv", "time,temp\n0,20\n1,30\n")
        table = self.simulate(self.system(), "--stop", "1", "--step", "0.5", "--input", "in.csv", "--record", "result",
                              "--record", "a.float64_in")
        self.assertEqual(sorted(table.header), ["a.float64_in", "result", "time"])
        self.assert_near(table["a.float64_in"], [293.15, 298.15, 303.15], 1e-9)

    def test_default_experiment_has_start_and_stop(self):
        """Pitfall 7: there is no step, and none is taken from an attribute of that name."""
        text = ssd(pair(), experiment={"startTime": 1, "stopTime": 1.5})
        table = self.simulate(self.packed(text, "Feedthrough3"))
        self.assertEqual((table.times[0], table.times[-1]), (1, 1.5))
        table = self.simulate(self.packed(text, "Feedthrough3"), "--start", "1.25", "--step", "0.125")
        self.assertEqual(table.times, [1.25, 1.375, 1.5])
        table = self.simulate(self.packed(ssd(pair()), "Feedthrough3"))
        self.assertEqual((table.times[0], table.times[-1]), (0, 1), "an experiment of an FMU is not the system's")

    def test_nested_experiments_do_not_count(self):
        text = ssd(system("root", component("n", "resources/inner.ssd", type=SSD_TYPE)))
        inner = ssd(system("s", feedthrough("a", source="Feedthrough3.fmu")),
                    experiment={"startTime": 3, "stopTime": 9})
        self.assertEqual(self.simulate(self.packed(text, "Feedthrough3", inner_ssd=inner)).times[-1], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
