#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti graph` draws a system, what depends on what in it, and its algebraic loops; or says why not."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from command import CommandTest, description, kit_fmu

NEEDS_DOT = unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
SVG = "{http://www.w3.org/2000/svg}"

# y = gain u at once, and so is the error of Tracker: a loop.
LOOP = (f"plant={kit_fmu('Tracker', '2')}", f"gain={kit_fmu('Feedthrough', '3')}",
        "--connect", "plant.error=gain.float64_in", "--connect", "gain.float64_out=plant.u")


def chain(length):
    """Masses in a row, each with its left and right neighbour."""
    arguments = [f"m{i}={kit_fmu('ChainMass', '2')}" for i in range(length)]
    for i in range(length - 1):
        for connection in (f"m{i}.x=m{i + 1}.x_left", f"m{i}.v=m{i + 1}.v_left", f"m{i + 1}.F=m{i}.F_right"):
            arguments += ["--connect", connection]
    return arguments


class Graph(CommandTest):
    def graph(self, *arguments, output="out.json", err=""):
        outcome = self.tutti("graph", *arguments, "-o", output)
        self.assertEqual((outcome.out, outcome.err), ("", err))
        return pathlib.Path(self.path(output)).read_text(encoding="utf-8")

    def json(self, *arguments, **options):
        return json.loads(self.graph(*arguments, **options))

    def picture(self, *arguments):
        """All texts of the picture, and the picture."""
        root = ElementTree.fromstring(self.graph(*arguments, output="out.svg"))
        self.assertEqual(root.tag, SVG + "svg")
        return ["".join(text.itertext()).replace("\xa0", " ").strip() for text in root.iter(SVG + "text")], root

    def names(self, graph, indices):
        nodes = [graph["nodes"][i] for i in indices]
        return {f"{node['unit']}.{node['variable']}" for node in nodes}

    def check_order(self, graph):
        """Each node once, after all that it needs, or in a loop with it."""
        place = {}
        for number, action in enumerate(graph["order"]):
            for node in action["nodes"]:
                self.assertNotIn(node, place)
                place[node] = number
                if action["action"] != "solve":
                    self.assertEqual(graph["nodes"][node]["unit"], action["unit"])
                    self.assertEqual(graph["nodes"][node]["kind"], {"set": "input", "get": "output"}[action["action"]])
        self.assertEqual(set(place), set(range(len(graph["nodes"]))))
        for i, node in enumerate(graph["nodes"]):
            for needed in node["needs"]:
                if node["loop"] is None or graph["nodes"][needed]["loop"] != node["loop"]:
                    self.assertLess(place[needed], place[i])
                else:
                    self.assertEqual(place[needed], place[i])

    def test_chain(self):
        graph = self.json(*chain(3))
        self.assertEqual([unit["name"] for unit in graph["units"]], ["m0", "m1", "m2"])
        self.assertEqual({unit["model"] for unit in graph["units"]}, {"ChainMass"})
        self.assertEqual(len(graph["connections"]), 6)
        self.assertIn({"from": {"unit": "m1", "variable": "F"}, "to": {"unit": "m0", "variable": "F_right"},
                       "at_start_only": False}, graph["connections"])
        self.assertEqual((graph["loops"], graph["assumed"], graph["inputs"], graph["outputs"]), ([], [], [], []))
        force = next(node for node in graph["nodes"] if (node["unit"], node["variable"]) == ("m1", "F"))
        self.assertEqual(self.names(graph, force["needs"]), {"m1.x_left", "m1.v_left"})
        self.check_order(graph)
        self.assertEqual(graph["evaluations"], 3)

    def test_loop(self):
        graph = self.json(*LOOP)
        self.assertEqual(len(graph["loops"]), 1)
        self.assertEqual(self.names(graph, graph["loops"][0]),
                         {"plant.u", "plant.error", "gain.float64_in", "gain.float64_out"})
        self.assertEqual([action["action"] for action in graph["order"]], ["solve"])
        self.assertEqual({node["loop"] for node in graph["nodes"]}, {0})
        self.check_order(graph)

    def test_assumed(self):
        """Without dependencies there may be a loop where there is none."""
        untold = [(text, "") for text in re.findall(r' dependencies="[^"]*" dependenciesKind="[^"]*"',
                                                    description(kit_fmu("Tracker", "2")))]
        fmu = self.altered(kit_fmu("Tracker", "2"), *untold, name="untold.fmu")
        arguments = (f"a={fmu}", f"b={kit_fmu('Feedthrough', '3')}", "--connect", "a.y=b.float64_in",
                     "--connect", "b.float64_out=a.u")
        graph = self.json(*arguments)
        self.assertEqual(graph["assumed"], ["a"])
        self.assertEqual([unit["assumed"] for unit in graph["units"]], [True, False])
        self.assertEqual(len(graph["loops"]), 1)
        self.assertIn("does not tell its dependencies", self.graph(*arguments, output="out.dot"))
        told = self.json(f"a={kit_fmu('Tracker', '2')}", *arguments[1:])
        self.assertEqual((told["assumed"], told["loops"]), ([], []))

    def test_phases(self):
        for phase in ("initial", "run"):
            graph = self.json(*LOOP, "--phase", phase)
            self.assertEqual((graph["phase"], len(graph["loops"])), (phase, 1))

    def test_conversion(self):
        """Between units of the same quantity, factor and offset are told."""
        length = ('description="displacement of the left neighbour" causality="input" variability="continuous">'
                  '<Real unit="')
        fmu = self.altered(
            kit_fmu("ChainMass", "2"), (f'{length}m"', f'{length}km"'),
            ('</UnitDefinitions>', '<Unit name="km"><BaseUnit m="1" factor="1000"/></Unit></UnitDefinitions>'),
            name="km.fmu")
        arguments = (f"a={kit_fmu('ChainMass', '2')}", f"b={fmu}", "--connect", "a.x=b.x_left")
        self.assertEqual(self.json(*arguments)["connections"][0]["factor"], 0.001)
        self.assertIn("\u00d7 0.001", self.graph(*arguments, output="out.dot"))

    def test_dot_on_standard_output(self):
        outcome = self.tutti("graph", *chain(2), "-o", "-")
        self.assertEqual(outcome.err, "")
        self.assertEqual(outcome.out, self.graph(*chain(2), output="out.dot"))
        self.assertEqual(outcome.out, self.graph(*chain(2), output="out.gv"))
        self.assertRegex(outcome.out, r"u0:o\d+:e -> u1:i\d+:w")

    @NEEDS_DOT
    def test_picture(self):
        texts, _ = self.picture(*chain(3))
        self.assertLessEqual({"m0", "m1", "m2", "x_left", "F", "(x_left, v_left)", "No algebraic loops"}, set(texts))

    @NEEDS_DOT
    def test_picture_of_a_loop(self):
        texts, root = self.picture(*LOOP)
        self.assertIn("Algebraic loop 1:", texts)
        coloured = [path for path in root.iter(SVG + "path") if path.get("stroke") == "#d55e00"]
        self.assertEqual(len(coloured), 2)

    @NEEDS_DOT
    def test_many_units(self):
        """Beyond some dozens of units there is one arrow for a pair, and its number of connections."""
        texts, root = self.picture(*chain(100))
        self.assertLessEqual({f"m{i}" for i in range(100)}, set(texts))
        self.assertNotIn("x_left", texts)
        edges = [group for group in root.iter(SVG + "g") if group.get("class") == "edge"]
        self.assertEqual((len(edges), texts.count("2")), (198, 99))

    @NEEDS_DOT
    def test_names_that_mean_something_to_others(self):
        """Names are shown as they are; nothing in them reaches Graphviz or a shell."""
        names = ['a<b>&"c\'', "]]> </TABLE>>]; x -> gotcha; y [<", "\\N $(touch gotcha)", "&lt;b&gt;", "pump \u00f6l"]
        arguments = [f"{name}={kit_fmu('Feedthrough', '2')}" for name in names]
        for i, name in enumerate(names):
            arguments += ["--connect", f"{names[i - 1]}.float64_out={name}.float64_in"]
        texts, _ = self.picture(*arguments)
        self.assertLessEqual(set(names), set(texts))
        self.assertFalse(os.path.exists(self.path("gotcha")))
        self.assertEqual([unit["name"] for unit in self.json(*arguments)["units"]], names)

    @NEEDS_DOT
    def test_dot_text_is_sound(self):
        for arguments in (chain(3), chain(70), LOOP):
            text = self.graph(*arguments, output="out.dot")
            done = subprocess.run(["dot", "-Tcanon"], input=text.encode(), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=True)
            self.assertEqual(done.stderr, b"")

    def write_system(self, more=""):
        """Two masses, one of them in a system of its own, driven from outside."""
        shutil.copy(kit_fmu("ChainMass", "2"), self.path("mass.fmu"))
        connectors = "".join(f'<ssd:Connector name="{name}" kind="{kind}"><ssc:Real/></ssd:Connector>'
                             for name, kind in (("x", "output"), ("F", "output"), ("x_left", "input")))
        mass = ('<ssd:Component name="{}" type="application/x-fmu-sharedlibrary" source="mass.fmu">'
                f"<ssd:Connectors>{connectors}</ssd:Connectors></ssd:Component>")
        return self.write("two.ssd", f"""<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
 xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0" name="two">
<ssd:System name="two">
<ssd:Connectors><ssd:Connector name="drive" kind="input"><ssc:Real/></ssd:Connector></ssd:Connectors>
<ssd:Elements>{mass.format("first")}<ssd:System name="inner">
<ssd:Connectors><ssd:Connector name="in" kind="input"><ssc:Real/></ssd:Connector></ssd:Connectors>
<ssd:Elements>{mass.format("second")}</ssd:Elements>
<ssd:Connections><ssd:Connection startConnector="in" endElement="second" endConnector="x_left"/></ssd:Connections>
</ssd:System></ssd:Elements>
<ssd:Connections>
<ssd:Connection startConnector="drive" endElement="first" endConnector="x_left"/>
<ssd:Connection startElement="first" startConnector="x" endElement="inner" endConnector="in"/>
{more}</ssd:Connections></ssd:System></ssd:SystemStructureDescription>""")

    def test_nested_systems(self):
        """Only FMUs are units; ports of the system itself are ends of connections, but no nodes."""
        graph = self.json(self.write_system())
        self.assertEqual([unit["name"] for unit in graph["units"]], ["first", "inner.second"])
        self.assertEqual(graph["inputs"], ["drive"])
        ends = [(connection["from"], connection["to"]) for connection in graph["connections"]]
        self.assertIn(({"port": "drive"}, {"unit": "first", "variable": "x_left"}), ends)
        self.assertIn(({"unit": "first", "variable": "x"}, {"unit": "inner.second", "variable": "x_left"}), ends)
        self.assertEqual(self.names(graph, range(len(graph["nodes"]))), {"first.x", "inner.second.x_left"})
        self.assertRegex(self.graph(self.path("two.ssd"), output="out.dot"), r"p0 -> u0:i\d+:w")

    def test_system_with_a_mistake(self):
        """What is wrong is said, the rest is drawn."""
        system = self.write_system('<ssd:Connection startElement="first" startConnector="F" endElement="nobody" '
                                   'endConnector="x"/>\n')
        outcome = self.tutti("graph", system, "-o", "out.json", status=1)
        self.assertRegex(outcome.err, r"^tutti: error: .*two\.ssd:\d+: .*nobody")
        self.assertEqual(len(json.loads(pathlib.Path(self.path("out.json")).read_text(encoding="utf-8"))["units"]), 2)

    def test_single_fmu(self):
        graph = self.json(kit_fmu("VanDerPol", "3"))
        self.assertEqual((len(graph["units"]), graph["connections"], graph["nodes"], graph["order"]), (1, [], [], []))

    def test_what_cannot_be_drawn(self):
        for arguments, status, says in (((*LOOP,), 2, r"-o OUT\.svg"), ((*LOOP, "-o", "a.png"), 2, "svg"),
                                        ((*LOOP, "-o", "a.svg", "--phase", "late"), 2, "--phase.*'late'"),
                                        (("nowhere.fmu", "-o", "a.svg"), 1, r"nowhere\.fmu"),
                                        ((*LOOP, "-o", "no/where.dot"), 1, r"no/where\.dot"),
                                        ((*LOOP, "--connect", "plant.error=gain.nothing", "-o", "a.dot"), 2,
                                         "gain.nothing")):
            with self.subTest(arguments=arguments):
                self.refused("graph", *arguments, status=status, says=says)
                self.assertFalse(os.path.exists(self.path("a.svg")))

    def test_no_graphviz(self):
        self.write("out.svg", "an older picture")
        self.refused("graph", *LOOP, "-o", "out.svg", status=1, says="Debian package graphviz",
                     env={"PATH": "/nowhere"})
        self.assertEqual(pathlib.Path(self.path("out.svg")).read_text(encoding="utf-8"), "an older picture")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk(self):
        os.symlink("/dev/full", self.path("full.dot"))
        self.refused("graph", *LOOP, "-o", "full.dot", status=1, says=r"full\.dot.*space")


if __name__ == "__main__":
    unittest.main()
