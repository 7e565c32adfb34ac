#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti new` changes an SSP: what was asked for, and nothing else."""
import os
import shutil
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

from command import kit_fmu
from ssp import NEEDS_SCHEMAS, SPACES, SSD, SspTest, component, ssd

MASS = kit_fmu("ChainMass", "2")
MASS3 = kit_fmu("ChainMass", "3")

# As another tool might write it: other prefixes, a default namespace, ids, geometry, notes, annotations with mixed content,
# meta data, an inner system, values on three levels.
FOREIGN = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- by hand -->
<SystemStructureDescription xmlns="{SPACES['ssd']}" xmlns:c="{SPACES['ssc']}" xmlns:v="{SPACES['ssv']}"
    xmlns:x="urn:x" version="2.0" name="Träger &amp; Söhne" id="top" author="A. N. Other" fileversion="7" x:state="wild">
  <System name="root" id="s0" description="two &lt;masses&gt;&#10;and more">
    <Connectors>
      <Connector name="pull" kind="input"><c:Real unit="kN"/><ConnectorGeometry x="0" y="0.25" systemInnerX="1"
          systemInnerY="2"/></Connector>
      <Connector name="mass" kind="parameter"><c:Real unit="g"/></Connector>
    </Connectors>
    <ParameterBindings>
      <ParameterBinding source="resources/masses.ssv"/>
      <ParameterBinding prefix="left."><ParameterValues><v:ParameterSet version="2.0" name="inline">
        <v:Parameters><v:Parameter name="k"><v:Real value="50"/></v:Parameter></v:Parameters></v:ParameterSet>
      </ParameterValues></ParameterBinding>
    </ParameterBindings>
    <c:MetaData kind="general" type="text/plain"><c:Content>free text &amp; <x:b>more</x:b> of it</c:Content></c:MetaData>
    <Elements>
      <Component name="left" id="l" source="resources/ChainMass_fmi2.fmu" implementation="CoSimulation">
        <Connectors>
          <Connector name="x" kind="output"/>
          <Connector name="F_right" kind="input"><Annotations><c:Annotation type="org.x"/></Annotations></Connector>
          <Connector name="m" kind="parameter"><c:Real unit="g"/></Connector>
        </Connectors>
        <ElementGeometry x1="10" y1="20" x2="-30" y2="4e1" rotation="90" iconSource="resources/icon.png"/>
        <Annotations><c:Annotation type="org.x"><x:deep xmlns:y="urn:y"><y:er/>text <y:er a="&quot;"/> text</x:deep>
        </c:Annotation></Annotations>
      </Component>
      <System name="inner">
        <Connectors><Connector name="push" kind="input"/><Connector name="out" kind="output"/></Connectors>
        <Elements><Component name="right.one" source="resources/ChainMass_fmi3.fmu"><Connectors>
          <Connector name="x_left" kind="input"/><Connector name="F" kind="output"/></Connectors></Component></Elements>
        <Connections><Connection startConnector="push" endElement="right.one" endConnector="x_left"/>
          <Connection startElement="right.one" startConnector="F" endConnector="out"/></Connections>
      </System>
    </Elements>
    <Connections>
      <Connection startElement="left" startConnector="x" endElement="inner" endConnector="push">
        <ConnectionGeometry pointsX="1 2" pointsY="3 4"/></Connection>
      <Connection startConnector="mass" endElement="left" endConnector="m"/>
    </Connections>
    <SystemGeometry x1="0" y1="0" x2="100" y2="100"/>
    <GraphicalElements><Note x1="0" y1="0" x2="1" y2="1" text="a note&#10;with two lines"/></GraphicalElements>
    <Annotations><c:Annotation type="org.x.y">  <x:layout>1</x:layout></c:Annotation></Annotations>
  </System>
  <Units><c:Unit name="kN"><c:BaseUnit kg="1" m="1" s="-2" factor="1000"/></c:Unit>
    <c:Unit name="g"><c:BaseUnit kg="1" factor="0.001"/></c:Unit></Units>
  <DefaultExperiment startTime="0" stopTime="0.5"><Annotations><c:Annotation type="org.x"/></Annotations></DefaultExperiment>
  <Annotations><c:Annotation type="org.x"><x:more/></c:Annotation></Annotations>
</SystemStructureDescription>
"""
VALUES = (f'<v:ParameterSet xmlns:v="{SPACES["ssv"]}" version="1.0" name="m"><v:Parameters>'
          '<v:Parameter name="left.d"><v:Real value="2"/></v:Parameter></v:Parameters></v:ParameterSet>')
EXTRA = {"resources/masses.ssv": VALUES, "Variant.ssd": FOREIGN.replace("Träger", "Other").replace(' x:state="wild"', ""), "extra/org.x/data.bin": b"\0\1\2",
         "documentation/index.html": "<html/>", "resources/unused.txt": "kept", "resources/icon.png": b"\x89PNG",
         "sources/a.c": "int a;", "empty/": ""}


def canonical(text):
    """A document without what is layout only."""
    return ElementTree.canonicalize(text, strip_text=True, with_comments=False)


class Changes(SspTest):
    def setUp(self):
        super().setUp()
        self.package("in.ssp", FOREIGN, MASS, MASS3, files=EXTRA)

    def change(self, *options, source="in.ssp", entry=SSD):
        """The document after a change; all other files are as they were."""
        self.tutti("new", "out.ssp", source, *options)
        before, after = self.entries(source.partition("#")[0]), self.entries("out.ssp")
        self.assertEqual(list(before), list(after))
        self.assertEqual({name for name in before if before[name] != after[name]} - {entry}, set())
        return self.document("out.ssp", entry)

    def assert_only_added(self, document, *paths, entry=SSD, before=FOREIGN):
        """Without what these paths find, the document is as it was."""
        text = ElementTree.tostring(document, encoding="unicode")
        tree = ElementTree.fromstring(text)
        for path in paths:
            parents = {child: parent for parent in tree.iter() for child in parent}
            found = tree.findall(path, SPACES)
            self.assertTrue(found, path)
            for node in found:
                parents[node].remove(node)
        expected = ElementTree.tostring(ElementTree.fromstring(before), encoding="unicode")
        self.assertEqual(canonical(ElementTree.tostring(tree, encoding="unicode")), canonical(expected), entry)

    def test_nothing(self):
        self.change()
        self.assertEqual(canonical(self.text("out.ssp")), canonical(FOREIGN))
        mixed = self.find(self.document("out.ssp"), ".//{urn:x}deep")
        self.assertEqual("".join(mixed.itertext()), "text  text")
        self.assertIn('x:state="wild"', self.text("out.ssp"))
        self.tutti("new", "again.ssp", "out.ssp")
        with open(self.path("out.ssp"), "rb") as out, open(self.path("again.ssp"), "rb") as again:
            self.assertEqual(out.read(), again.read())

    def test_set(self):
        """A binding behind the others, with values in the units of the connectors, as --set has them."""
        options = ("--set", "left.k=70", "--set", "left.m=2500", "--set", "inner.right.one.m=3", "--set", "left.x=0.1")
        document = self.change(*options)
        own = "ssd:System/ssd:ParameterBindings/ssd:ParameterBinding[last()]"
        values = {node.get("name"): node[0].get("value") for node in document.findall(f"{own}//ssv:Parameter", SPACES)}
        self.assertEqual(values, {"left.k": "70", "left.m": "2500", "inner.right.one.m": "3", "left.x": "0.1"})
        self.assert_only_added(document, own)
        self.assert_same_result(("in.ssp", *options), ("out.ssp",))
        again = self.change("--set", "left.k=80", "--set", "left.d=1e-3", source=shutil.copy(self.path("out.ssp"),
                                                                                              self.path("first.ssp")))
        values = {node.get("name"): node[0].get("value") for node in again.findall(f"{own}//ssv:Parameter", SPACES)}
        self.assertEqual(values, {"left.k": "80", "left.m": "2500", "inner.right.one.m": "3", "left.x": "0.1",
                                  "left.d": "0.001"})
        self.assertEqual(len(again.findall("ssd:System/ssd:ParameterBindings/*", SPACES)), 3)
        self.assert_same_result(("in.ssp", *options, "--set", "left.k=80", "--set", "left.d=1e-3"), ("out.ssp",))

    def test_set_the_system(self):
        document = self.change("--set", "mass=1500", "--set", "pull=0.25")
        self.assertEqual(self.find(document, ".//ssv:Parameter[@name='mass']/ssv:Real").get("value"), "1500")
        self.assert_same_result(("in.ssp", "--set", "mass=1500", "--set", "pull=0.25"), ("out.ssp",))

    def test_settings(self):
        """The options of a run, at the document or at a component; those that were there stay, unless they are changed."""
        options = ("--step", "0.01", "--step", "inner.right.one=0.05", "--rtol", "1e-7", "--output-step", "0.1")
        document = self.change(*options)
        annotation = "[@type='org.tutti']"
        self.assertEqual(self.find(document, f"ssd:Annotations/ssc:Annotation{annotation}/*").attrib,
                         {"step": "0.01", "rtol": "1e-07", "output-step": "0.1"})
        inner = self.find(document, ".//ssd:Component[@name='right.one']")
        self.assertEqual(self.find(inner, f"ssd:Annotations/ssc:Annotation{annotation}/*").attrib, {"step": "0.05"})
        self.assert_only_added(document, f"ssd:Annotations/ssc:Annotation{annotation}",
                               ".//ssd:Component[@name='right.one']/ssd:Annotations")
        self.assert_same_result(("in.ssp", *options), ("out.ssp",))
        again = self.change("--step", "0.02", "--step", "inner.right.one=0.1", source=shutil.copy(
            self.path("out.ssp"), self.path("first.ssp")))
        self.assertEqual(self.find(again, f"ssd:Annotations/ssc:Annotation{annotation}/*").attrib,
                         {"step": "0.02", "rtol": "1e-07", "output-step": "0.1"})
        self.assertEqual(len(again.findall(f".//ssc:Annotation{annotation}", SPACES)), 2)

    def test_settings_of_the_experiment(self):
        """They may stand at the default experiment as well; then they are changed there."""
        self.package("in.ssp", FOREIGN.replace('stopTime="0.5"><Annotations>', 'stopTime="0.5"><Annotations>'
                                               '<c:Annotation type="org.tutti"><s step="0.1"/></c:Annotation>'),
                     MASS, MASS3, files=EXTRA)
        document = self.change("--step", "0.05")
        self.assertEqual(self.find(document, ".//ssc:Annotation[@type='org.tutti']/*").attrib, {"step": "0.05"})

    def test_experiment(self):
        document = self.change("--stop", "0.25")
        self.assertEqual(self.find(document, "ssd:DefaultExperiment").attrib, {"startTime": "0", "stopTime": "0.25"})
        self.assert_only_added(document, before=FOREIGN.replace('stopTime="0.5"', 'stopTime="0.25"'))
        self.package("in.ssp", ssd(component("a", MASS)), MASS)
        document = self.change("--start", "1", "--stop", "3", "--step", "0.5")
        self.assertEqual([node.tag.partition("}")[2] for node in document], ["System", "DefaultExperiment", "Annotations"])

    def test_connect(self):
        """Between elements, into an inner system, and from the system itself; connectors are added where they lack."""
        self.refused("new", "out.ssp", "in.ssp", "--connect", "left.v=inner.right.one.v_left", "--quiet", status=2,
                     says=("same system", "connector"))
        outer, inner = "ssd:System/ssd:Connections", ".//*[@name='inner']/ssd:Connections"
        added = (".//ssd:Connector[@name='v']", ".//ssd:Connector[@name='v_left']")
        for connection, place, connectors in (("inner.out=left.F_right", outer, ()), ("pull=left.F_right", outer, ()),
                                              ("left.v=left.v_left", outer, added),
                                              ("inner.right.one.v=inner.right.one.v_left", inner, added)):
            with self.subTest(connection=connection):
                document = self.change("--connect", connection)
                self.assert_only_added(document, f"{place}/ssd:Connection[last()]", *connectors)
                self.assert_same_result(("in.ssp", "--connect", connection), ("out.ssp",))

    def test_variant(self):
        document = self.change("--set", "left.k=9", source="in.ssp#Variant.ssd", entry="Variant.ssd")
        self.assertTrue(document.get("name").startswith("Other"))
        self.assertEqual(self.find(document, ".//ssv:Parameter[@name='left.k']/ssv:Real").get("value"), "9")
        self.assert_same_result(("in.ssp#Variant.ssd", "--set", "left.k=9"), ("out.ssp#Variant.ssd",))
        self.assert_same_result(("in.ssp",), ("out.ssp",))
        self.refused("new", "out.ssp", "in.ssp#Nothing.ssd", status=2, says=("Nothing.ssd", "Variant.ssd"))

    @NEEDS_SCHEMAS
    def test_schemas(self):
        self.package("in.ssp", FOREIGN.replace(' x:state="wild"', ""), MASS, MASS3, files=EXTRA)
        self.assert_valid("in.ssp", "2")
        self.change("--set", "left.k=70", "--set", "mass=2", "--step", "0.01", "--step", "inner.right.one=0.05",
                    "--connect", "left.v=left.v_left", "--stop", "3")
        self.assert_valid("out.ssp", "2")
        self.package("in.ssp", ssd(component("a", MASS) + component("b", MASS)), MASS)
        self.change("--set", "a.k=70", "--step", "0.01", "--step", "a=0.05", "--connect", "a.x=b.x_left", "--stop", "3")
        self.assert_valid("out.ssp")

    def test_version_2_where_it_is_needed(self):
        fmu = kit_fmu("Feedthrough", "3")
        self.package("in.ssp", ssd(component("a", fmu) + component("b", fmu)), fmu)
        options = ("--connect", "a.vector_out[1]=b.int32_in", "--set", "a.vector_in[2]=5", "--set", "b.uint8_in=255",
                   "--stop", "0.1")
        document = self.change(*options)
        self.assertEqual(document.get("version"), "2.0")
        self.assertEqual(self.find(document, ".//ssv:ParameterSet").get("version"), "2.0")
        self.assertEqual(self.find(document, ".//ssv:Parameter[@name='a.vector_in']/ssv:Int32").get("value"), "1 5 3")
        self.assert_same_result(("in.ssp", *options), ("out.ssp",))

    def test_other_files(self):
        """What is in a file that the document refers to is not changed from here."""
        inner = ssd(component("m", MASS), name="inner")
        self.package("inner.ssp", inner, MASS)
        with open(self.path("inner.ssp"), "rb") as file:
            files = {"resources/inner.ssp": file.read()}
        outer = ssd('<ssd:Component name="sub" type="application/x-ssp-package" source="resources/inner.ssp"/>' +
                    component("a", MASS))
        self.package("in.ssp", outer, MASS, files=files)
        self.refused("new", "out.ssp", "in.ssp", "--step", "0.1", "--step", "sub.m=0.2", status=2, says=("sub.m", "refers to"))
        self.refused("new", "out.ssp", "in.ssp", "--connect", "a.x=sub.m.x_left", status=2, says=("sub.m", "refers to"))
        self.change("--set", "sub.m.k=3", "--set", "sub.m.x=1")
        self.assert_same_result(("in.ssp", "--set", "sub.m.k=3", "--set", "sub.m.x=1"), ("out.ssp",))

    def test_faults(self):
        """A system that would not run is not written."""
        self.package("in.ssp", ssd(component("a", MASS), '<ssd:Connection startElement="a" startConnector="x" '
                                   'endElement="b" endConnector="y"/>'), MASS)
        self.refused("new", "out.ssp", "in.ssp", status=1, says=("in.ssp/SystemStructure.ssd:", "b"))
        self.assertFalse(os.path.exists(self.path("out.ssp")))


class Forms(SspTest):
    """Unpacked, bare, in place."""

    TEXT = ssd(component("a", MASS, '<ssd:Connectors><ssd:Connector name="x" kind="output"/></ssd:Connectors>') +
               component("b", MASS3, '<ssd:Connectors><ssd:Connector name="x_left" kind="input"/></ssd:Connectors>'),
               '<ssd:Connection startElement="a" startConnector="x" '
               'endElement="b" endConnector="x_left"/>',
               inside='<ssd:ParameterBindings><ssd:ParameterBinding source="resources/my%20values.ssv"/>'
                      "</ssd:ParameterBindings>")
    VALUES = VALUES.replace("left.d", "a.x")

    def unpack(self, name):
        os.makedirs(self.path(f"{name}/resources"))
        for fmu in (MASS, MASS3):
            shutil.copy(fmu, self.path(f"{name}/resources"))
        self.write(f"{name}/resources/my values.ssv", self.VALUES)
        self.write(f"{name}/{SSD}", self.TEXT)

    def test_folder(self):
        self.unpack("folder")
        self.tutti("new", "out.ssp", "folder", "--set", "a.k=7")
        self.assertEqual(set(self.entries("out.ssp")) - {"resources/"}, {SSD, "resources/ChainMass_fmi2.fmu", "resources/ChainMass_fmi3.fmu",
                                                        "resources/my values.ssv"})
        self.assert_same_result(("folder", "--set", "a.k=7"), ("out.ssp",))

    def test_bare_to_package(self):
        """All that it refers to goes with it."""
        self.unpack("folder")
        self.tutti("new", "out.ssp", f"folder/{SSD}", "--set", "a.k=7")
        self.assertEqual(set(self.entries("out.ssp")), {SSD, "resources/ChainMass_fmi2.fmu", "resources/ChainMass_fmi3.fmu",
                                                        "resources/my values.ssv"})
        self.assert_same_result((f"folder/{SSD}", "--set", "a.k=7"), ("out.ssp",))

    def test_bare_to_bare(self):
        self.unpack("folder")
        os.mkdir(self.path("other"))
        for name, source in (("folder/b.ssd", "resources/my%20values.ssv"),
                             ("other/b.ssd", "../folder/resources/my%20values.ssv")):
            self.tutti("new", name, f"folder/{SSD}", "--set", "a.k=7")
            document = ElementTree.parse(self.path(name)).getroot()
            self.assertEqual(self.find(document, ".//ssd:ParameterBinding[@source]").get("source"), source)
            self.assert_same_result((f"folder/{SSD}", "--set", "a.k=7"), (name,))

    def test_bare_with_unpacked_files(self):
        """An unpacked FMU and an unpacked SSP are packed."""
        self.unpack("folder")
        os.mkdir(self.path("mass"))
        with zipfile.ZipFile(MASS) as archive:
            archive.extractall(self.path("mass"))
        self.write("outer.ssd", ssd('<ssd:Component name="sub" type="application/x-ssp-package" source="folder"/>'
                                    '<ssd:Component name="m" source="mass"/><ssd:Component name="n" source="./mass"/>'))
        self.tutti("new", "out.ssp", "q=outer.ssd", "--set", "m.x=1")
        self.assertEqual(set(self.entries("out.ssp")), {SSD, "resources/folder.ssp", "resources/mass.fmu"})
        self.assert_same_result(("outer.ssd", "--set", "m.x=1"), ("out.ssp",))

    def test_bare_with_other_documents(self):
        self.unpack("folder")
        self.write("folder/outer.ssd", ssd(f'<ssd:Component name="sub" type="application/x-ssp-definition" source="{SSD}"/>'))
        self.refused("new", "out.ssp", "folder/outer.ssd", status=2, says=("outer.ssd:", SSD, "first"))
        self.tutti("new", "outer.ssd", "folder/outer.ssd")
        self.assert_same_result(("folder/outer.ssd",), ("outer.ssd",))

    def test_in_place(self):
        self.package("in.ssp", self.TEXT, MASS, MASS3, files={"resources/my values.ssv": self.VALUES})
        before = self.entries("in.ssp")
        self.refused("new", "in.ssp", "in.ssp", "--set", "a.k=1", status=2, says=("in.ssp", "another name"))
        self.refused("new", "in.ssd", "in.ssp", status=2, says=("in.ssp", "write an .ssp"))
        self.assertEqual(self.entries("in.ssp"), before)

    def test_damaged(self):
        """An entry that cannot be read: nothing is written."""
        self.package("in.ssp", self.TEXT, MASS, MASS3, files={"resources/my values.ssv": self.VALUES,
                                                              "extra/x/y": b"0123456789" * 100})
        with zipfile.ZipFile(self.path("in.ssp")) as archive:
            place = archive.getinfo("extra/x/y").header_offset
        with open(self.path("in.ssp"), "r+b") as file:
            file.seek(place + 200)
            file.write(b"!")
        self.refused("new", "out.ssp", "in.ssp", status=1, says="extra/x/y")
        self.assertEqual(set(os.listdir(self.folder)), {"in.ssp", "tmp"})


if __name__ == "__main__":
    unittest.main()
