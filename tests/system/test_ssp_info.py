#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti info` and `tutti check` of systems."""
import json
import os
import re
import unittest

from command import kit_fmu
from ssp import SSD, SspTest, component, ssd

MASS = kit_fmu("ChainMass", "2")
HEATER = kit_fmu("Heater", "3")

CONNECTORS = ('<ssd:Connectors><ssd:Connector name="x" kind="output"/><ssd:Connector name="x_left" kind="input"/>'
              '<ssd:Connector name="v" kind="output"/></ssd:Connectors>')
VALUE = ('<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="p">'
         '<ssv:Parameters><ssv:Parameter name="{}"><ssv:Real value="{}"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet>'
         "</ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>")
SETTINGS = ('<ssd:Annotations><ssc:Annotation type="org.tutti"><t:Settings xmlns:t="urn:t" step="{}"/></ssc:Annotation>'
            "</ssd:Annotations>")
LINE = ('<ssd:Connection startElement="{}" startConnector="{}" endElement="{}" endConnector="{}"/>')
GOOD = ssd(component("a", MASS, CONNECTORS + VALUE.format("k", 7)) + "\n" + component("b", MASS, CONNECTORS + SETTINGS.format("0.02")) +
           '\n<ssd:System name="in ner"><ssd:Elements>' + component("heat", HEATER, more=' implementation="ModelExchange"') +
           "</ssd:Elements></ssd:System>",
           LINE.format("a", "x", "b", "x_left"),
           inside='<ssd:Connectors><ssd:Connector name="pull" kind="input"><ssc:Real unit="kN"/></ssd:Connector></ssd:Connectors>',
           behind='<ssd:Units><ssc:Unit name="kN"><ssc:BaseUnit kg="1" m="1" s="-2" factor="1000"/></ssc:Unit></ssd:Units>'
                  '<ssd:DefaultExperiment startTime="0" stopTime="2"/>' + SETTINGS.format("0.01"), name="Pair")


class Info(SspTest):
    def test_summary(self):
        self.package("pair.ssp", GOOD, MASS, HEATER, files={"B.ssd": GOOD.replace('"Pair"', '"Second"')})
        out = self.tutti("info", "pair.ssp").out
        for line in ("Pair, SSP 1.0", "variants     SystemStructure.ssd, B.ssd", "experiment   start 0, stop 2",
                     "settings     step 0.01", "components   3, of 2 FMUs", "connections  1", "values set   1",
                     "  input               Float64     pull [kN]",
                     "  a: ChainMass_fmi2.fmu, FMI 2.0, Co-Simulation or Model Exchange",
                     "  b: ChainMass_fmi2.fmu, FMI 2.0, Co-Simulation or Model Exchange, step 0.02", "  in ner: system",
                     "    heat: Heater_fmi3.fmu, FMI 3.0, Co-Simulation or Model Exchange, used as ModelExchange"):
            self.assertIn(line, out.splitlines(), out)
        out = self.tutti("info", "--variables", "pair.ssp#B.ssd").out.splitlines()
        self.assertEqual(out[0], "Second, SSP 1.0")
        self.assertIn("  a.x -> b.x_left", out)
        self.assertIn("  a.k = 7.0", out)

    def test_json(self):
        self.package("pair.ssp", GOOD, MASS, HEATER)
        info = json.loads(self.tutti("info", "--json", "pair.ssp").out)
        parts = info.pop("components")
        self.assertEqual(info, {
            "file": "pair.ssp", "variant": SSD, "sspVersion": "1.0", "name": "Pair", "variants": [SSD],
            "defaultExperiment": {"start": 0, "stop": 2}, "settings": {"step": "0.01"}, "errors": 0,
            "connectors": [{"name": "pull", "kind": "input", "type": "Float64", "unit": "kN"}],
            "connections": [{"from": "a.x", "to": "b.x_left"}]})
        self.assertEqual([part["name"] for part in parts], ["a", "b", "in ner.heat"])
        self.assertEqual(parts[0], {
            "name": "a", "fmu": "pair.ssp/resources/ChainMass_fmi2.fmu", "fmiVersion": "2.0", "modelName": "ChainMass",
            "interfaces": ["coSimulation", "modelExchange"], "settings": {}, "values": [{"variable": "k", "value": 7}]})
        self.assertEqual(parts[1]["settings"], {"step": "0.02"})
        self.assertEqual(parts[2]["implementation"], "ModelExchange")

    def test_json_of_many_types(self):
        fmu = kit_fmu("Feedthrough", "3")
        self.tutti("new", "all.ssp", f"f={fmu}", "--set", "f.matrix_in=1 2 3 4 5 6", "--set", "f.color_in=green", "--set",
                   "f.string_in=\"ü\"", "--set", "f.binary_in=00ff", "--set", "f.boolean_in=true")
        part, = json.loads(self.tutti("info", "--json", "all.ssp").out)["components"]
        self.assertEqual({value["variable"]: value["value"] for value in part["values"]},
                         {"matrix_in": [1, 2, 3, 4, 5, 6], "color_in": 3, "string_in": '"ü"', "binary_in": "00ff",
                          "boolean_in": True})

    def test_nested_files(self):
        self.package("inner.ssp", ssd(component("m", MASS)), MASS)
        with open(self.path("inner.ssp"), "rb") as file:
            inner = file.read()
        self.package("outer.ssp", ssd('<ssd:Component name="sub" type="application/x-ssp-package" '
                                      'source="resources/inner.ssp"/>'), files={"resources/inner.ssp": inner})
        out = self.tutti("info", "outer.ssp").out
        self.assertRegex(out, r"(?m)^  sub: resources/inner.ssp\n    m: ChainMass_fmi2.fmu, FMI 2.0")
        self.assertEqual(self.tutti("check", "outer.ssp").out, "")

    def test_forms(self):
        """A folder, and a bare document."""
        self.tutti("new", "row.ssd", f"a={MASS}")
        self.assertIn("row, SSP 1.0", self.tutti("info", "row.ssd").out)
        os.mkdir(self.path("folder"))
        os.rename(self.path("row.ssd"), self.path(f"folder/{SSD}"))
        self.write(f"folder/{SSD}", ssd(f'<ssd:Component name="a" source="m.fmu"/>'))
        os.symlink(MASS, self.path("folder/m.fmu"))
        self.refused("info", "folder", status=1, says="link")
        os.remove(self.path("folder/m.fmu"))
        with open(MASS, "rb") as source, open(self.path("folder/m.fmu"), "wb") as target:
            target.write(source.read())
        self.assertIn("a: m.fmu", self.tutti("info", "folder").out)
        self.assertEqual(self.tutti("check", "folder").out, "")

    def test_faults(self):
        for name, text, says in (("bad.ssp", "no archive", "ZIP"), ("bad.ssd", "<", "bad.ssd:1")):
            self.write(name, text)
            self.refused("info", name, status=1, says=says)
        self.refused("info", "none.ssp", status=1, says="none.ssp")
        self.package("pair.ssp", GOOD, MASS, HEATER)
        self.refused("info", "pair.ssp#C.ssd", status=1, says=("C.ssd", SSD))
        self.package("pair.ssp", GOOD.replace('endConnector="x_left"', 'endConnector="gone"'), MASS, HEATER)
        self.assertRegex(self.tutti("info", "pair.ssp").out, r"(?m)^errors +1; `tutti check` lists them$")

    def test_control_characters(self):
        self.package("pair.ssp", GOOD.replace('"Pair"', '"P&#x9b;2J&#10;air"'), MASS, HEATER)
        out = self.tutti("info", "pair.ssp").out
        self.assertNotIn("\x9b", out)
        self.assertTrue(out.splitlines()[0].endswith("air, SSP 1.0"))


class Check(SspTest):
    def check(self, *arguments):
        """All findings."""
        outcome = self.tutti("check", *arguments, status=None)
        lines = outcome.out.splitlines()
        for line in lines:
            self.assertRegex(line, r"^(error|warning): \S")
        errors = sum(line.startswith("error") for line in lines)
        self.assertEqual(outcome.status, 1 if errors else 0)
        self.assertTrue(re.search(rf": {errors} errors?, {len(lines) - errors} warnings?$", outcome.err), outcome.err)
        return lines

    def test_good(self):
        self.package("pair.ssp", GOOD, MASS, HEATER, files={"resources/unused.fmu": b"nobody looks", "resources/x.ssv": "<"})
        self.assertEqual(self.check("pair.ssp"), [])

    def test_every_fault_of_a_system(self):
        """Each with its place; the first does not hide the others."""
        text = GOOD.replace('endConnector="x_left"/>', 'endConnector="gone"/>\n' + LINE.format("a", "v", "b", "x_left"))
        text = text.replace('name="k"', 'name="m"').replace('value="7"', 'value="-7"')
        self.package("pair.ssp", text, MASS, HEATER)
        found = self.check("pair.ssp")
        for words in ("gone", "measure different things"):
            self.assertEqual(len([line for line in found if line.startswith(f"error: pair.ssp/{SSD}:") and words in line]), 1,
                             found)

    def test_fmus_are_checked_once(self):
        """In all variants together; what is wrong with a file is said once."""
        bad = self.altered(MASS, ('unit="kg"', 'unit="stone"'), name="ChainMass_fmi2.fmu")
        self.package("pair.ssp", GOOD, bad, HEATER, files={"B.ssd": GOOD, "C.ssd": GOOD})
        found = self.check("pair.ssp")
        self.assertEqual(len([line for line in found if "stone" in line and
                              line.startswith("warning: pair.ssp/resources/ChainMass_fmi2.fmu/modelDescription.xml:")]), 1, found)

    def test_binaries_are_loaded(self):
        bad = self.altered(MASS, drop=("binaries/",), name="ChainMass_fmi2.fmu")
        self.package("pair.ssp", GOOD, bad, HEATER)
        found = self.check("pair.ssp")
        self.assertTrue(found and all("pair.ssp/resources/ChainMass_fmi2.fmu" in line for line in found), found)

    def test_variants(self):
        """All of them, or the one that is named."""
        files = {"B.ssd": GOOD.replace('endConnector="x_left"', 'endConnector="gone"'), "C.ssd": "<"}
        self.package("pair.ssp", GOOD, MASS, HEATER, files=files)
        found = self.check("pair.ssp")
        self.assertEqual([line.split(":")[1] for line in found], [" pair.ssp/B.ssd", " pair.ssp/C.ssd"])
        self.assertEqual(self.check("pair.ssp#" + SSD), [])
        self.assertEqual(len(self.check("pair.ssp#B.ssd")), 1)
        self.assertRegex(self.check("pair.ssp#D.ssd")[0], "D.ssd.*B.ssd")

    def test_missing_files(self):
        self.package("pair.ssp", GOOD, MASS)
        self.assertRegex(self.check("pair.ssp")[0], "Heater_fmi3.fmu")
        self.write("empty.ssp", "")
        self.assertTrue(self.check("empty.ssp")[0].startswith("error: empty.ssp"))
        self.assertTrue(self.check("gone.ssp")[0].startswith("error: "))

    def test_no_default_variant(self):
        self.package("pair.ssp", GOOD, MASS, HEATER, files={"B.ssd": GOOD})
        with open(self.path("pair.ssp"), "r+b") as file:
            data = file.read().replace(SSD.encode(), b"SystemStructurf.ssd")
            file.seek(0)
            file.write(data)
        found = self.check("pair.ssp")
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], rf"^error: pair.ssp: there is no {SSD}")

    def test_quiet(self):
        self.package("pair.ssp", GOOD, MASS, HEATER)
        outcome = self.tutti("check", "--quiet", "pair.ssp")
        self.assertEqual((outcome.out, outcome.err), ("", ""))


if __name__ == "__main__":
    unittest.main()
