#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Terminals of FMUs (terminalsAndIcons.xml): told by info, check and graph; joined as a whole by --connect, by their matching rules; and
layered standards that FMUs say they follow."""
import csv
import json
import re
import unittest
import zipfile

from command import CommandTest, kit_fmu

ENTRY = "terminalsAndIcons/terminalsAndIcons.xml"
SOURCE, SINK = kit_fmu("PlugSource", "3"), kit_fmu("PlugSink", "3")
MANIFEST = ('<?xml version="1.0"?><{root} xmlns:fmi-ls="http://fmi-standard.org/fmi-ls-manifest" fmi-ls:fmi-ls-name="{name}" '
            'fmi-ls:fmi-ls-version="1.0.0" fmi-ls:fmi-ls-description="d"/>')


def terminals_of(fmu):
    with zipfile.ZipFile(fmu) as archive:
        return archive.read(ENTRY).decode()


class Terminals(CommandTest):
    def with_terminals(self, fmu, *edits, name):
        """A copy of an FMU with changes in its terminals."""
        text = terminals_of(fmu)
        for old, new in edits:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        return self.altered(fmu, name=name, drop=[ENTRY], add={ENTRY: text})

    def last_row(self, *arguments, source=SOURCE, sink=SINK):
        self.tutti("run", f"a={source}", f"b={sink}", *arguments, "--stop", "1", "-o", self.path("o.csv"))
        with open(self.path("o.csv"), encoding="utf-8") as file:
            return {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}

    def join_refused(self, plug, *says, source=SOURCE, sink=SINK):
        for one, other in (("a", "b"), ("b", "a")):
            self.refused("run", f"a={source}", f"b={sink}", "--connect", f"{one}.{plug}={other}.{plug}", status=2,
                         says=".*".join(says) if one == "a" else says[-1])

    # ---- joined

    def test_plug(self):
        """v = 12 - i / 2 and i = v / 2, whichever of the two is named first; the same as by two connections."""
        single = self.last_row("--connect", "a.pin.v=b.pin.v", "--connect", "b.pin.i=a.pin.i")
        self.assertAlmostEqual(single["a.pin.v"], 9.6, 12)
        for joined in ("a.pin=b.pin", "b.pin=a.pin"):
            self.assertEqual(self.last_row("--connect", joined), single)

    def test_flows_that_count_the_same_way_are_opposite(self):
        """Kirchhoff: v = 12 + i / 2 where both count the current into themselves, so v = 12 / (1 - 1/4)."""
        source = self.with_terminals(SOURCE, ('variableKind="outflow"', 'variableKind="inflow"'), name="same.fmu")
        row = self.last_row("--connect", "a.pin=b.pin", source=source)
        self.assertAlmostEqual(row["a.pin.v"], 16, 9)
        self.assertAlmostEqual(row["b.pin.i"], 8, 9)

    def test_bus_joins_what_both_have(self):
        row = self.last_row("--connect", "a.line=b.line")
        self.assertEqual(row["b.taken"], 3 + 500)

    def test_sequence_goes_by_order(self):
        source = self.with_terminals(SOURCE, ('memberName="first"', 'memberName="x"'), name="renamed.fmu")
        self.assertEqual(self.last_row("--connect", "a.pair=b.pair", source=source)["b.taken"], 3 + 500)
        self.assertEqual(self.last_row("--connect", "a.pair=b.pair", "--set", "a.first=7", source=source)["b.taken"], 703)

    def test_frames_of_a_bus_with_their_clock(self):
        """Physical Signal Abstraction of fmi-ls-bus: frame and PDU inside of the bus, a clock by time that makes another tick."""
        row = self.last_row("--connect", "a.Powertrain=b.Powertrain")
        self.assertEqual((row["b.count"], row["a.level"], row["b.seen"]), (11, 100, 100))
        self.assertEqual(self.last_row("--connect", "b.Powertrain.Frame=a.Powertrain.Frame")["b.seen"], 100)

    def test_as_an_ssp(self):
        """What was joined is written as connections, a clock by time among them."""
        joins = ("--connect", "a.pin=b.pin", "--connect", "a.Powertrain=b.Powertrain")
        expected = self.last_row(*joins)
        self.tutti("new", self.path("s.ssp"), f"a={SOURCE}", f"b={SINK}", *joins)
        self.tutti("run", self.path("s.ssp"), "--stop", "1", "--step", "0.1", "-o", self.path("s.csv"))
        with open(self.path("s.csv"), encoding="utf-8") as file:
            row = list(csv.DictReader(file))[-1]
        self.assertEqual(float(row["b.seen"]), expected["b.seen"])
        self.assertAlmostEqual(float(row["b.pin.i"]), expected["b.pin.i"], 9)

    def test_a_terminal_in_an_older_fmu(self):
        xml = ('<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals><Terminal name="port" matchingRule="plug">'
               '<TerminalMemberVariable variableName="{}" memberName="m" variableKind="signal"/></Terminal></Terminals>'
               '</fmiTerminalsAndIcons>')
        fmus = [self.altered(kit_fmu("ChainMass", "2"), name=f"{v}.fmu", add={ENTRY: xml.format(v)}) for v in ("x", "x_left")]
        self.tutti("run", f"a={fmus[0]}", f"b={fmus[1]}", "--connect", "a.port=b.port", "--stop", "0.1")
        self.assertIn("port: plug, 1 member", self.tutti("info", fmus[0]).out)

    def test_streams(self):
        """What flows out of one is what flows into the other, both ways."""
        stream = ('<TerminalStreamMemberVariable inStreamMemberName="in" outStreamMemberName="out" inStreamVariableName="{}" '
                  'outStreamVariableName="{}"/></Terminal>')
        text = '<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals><Terminal name="gas" matchingRule="{}">'
        for rule in ("plug", "bus", "sequence"):
            fmus = [self.altered(fmu, name=f"{name}.fmu", drop=[ENTRY],
                                 add={ENTRY: text.format(rule) + stream.format(*pair) + "</Terminals></fmiTerminalsAndIcons>"})
                    for fmu, name, pair in ((SOURCE, "p", ("torque", "first")), (SINK, "q", ("first", "torque")))]
            row = self.last_row("--connect", "a.gas=b.gas", "--set", "a.first=8", source=fmus[0], sink=fmus[1])
            self.assertEqual(row["b.taken"], 803)

    # ---- refused

    def test_what_is_not_joined(self):
        self.join_refused("loose", "'none'", "one by one")
        missing = self.with_terminals(SINK, ('memberName="i"', 'memberName="j"'), name="missing.fmu")
        self.join_refused("pin", "member '[ij]' of '[ab].pin' has none to match", "as a whole", sink=missing)
        fewer = self.with_terminals(SINK, (re.search(r" *<Term[^>]*=\"second\" mem[^>]*>\n", terminals_of(SINK)).group(), ""),
                                    name="fewer.fmu")
        self.join_refused("pair", "2 members", "sequence", sink=fewer)
        rule = self.with_terminals(SINK, ('matchingRule="plug"', 'matchingRule="bus"'), name="rule.fmu")
        self.join_refused("pin", "'plug'", "'bus'", "one by one", sink=rule)
        other = [self.with_terminals(fmu, ('matchingRule="plug"', 'matchingRule="org.x.rule"'), name=f"o{i}.fmu")
                 for i, fmu in enumerate((SOURCE, SINK))]
        self.join_refused("pin", "org.x.rule", "not known", source=other[0], sink=other[1])
        kind = self.with_terminals(SINK, ('variableKind="inflow"', 'variableKind="signal"'), name="kind.fmu")
        self.join_refused("pin", "kind outflow", "do not belong together", sink=kind)
        self.refused("run", f"a={SOURCE}", f"b={SOURCE}", "--connect", "a.pin=b.pin", status=2,
                     says=r"'a.pin.v' \(output\) and 'b.pin.v' \(output\) cannot be connected")
        self.refused("run", f"a={SOURCE}", f"b={SOURCE}", "--connect", "a.line=b.line", status=2, says="none of their pairs")
        self.refused("run", f"a={SOURCE}", "--connect", "a.pin=a.pin", status=2, says="joined to itself")
        apart = self.with_terminals(SINK, ('memberName="speed"', 'memberName="v"'), name="apart.fmu")
        self.join_refused("line", "no member in common", sink=apart)

    def test_other_kinds_are_joined_with_a_word(self):
        other = self.with_terminals(SINK, ("electric.pin", "Modelica.NegativePin"), name="kind.fmu")
        outcome = self.tutti("run", f"a={SOURCE}", f"b={other}", "--connect", "a.pin=b.pin")
        self.assertRegex(outcome.err, "electric.pin.*Modelica.NegativePin")

    # ---- told

    def test_told(self):
        info = json.loads(self.tutti("info", SOURCE, "--json").out)
        self.assertEqual([t["name"] for t in info["terminals"]],
                         ["pin", "line", "pair", "loose", "Powertrain", "Powertrain.Frame", "Powertrain.Frame.Pdu"])
        self.assertEqual(info["terminals"][0]["members"][1], {"name": "i", "variable": "pin.i", "kind": "outflow"})
        self.assertEqual(info["icon"]["coordinates"], [-100, -100, 100, 100])
        self.assertIn("outflow      input       i = pin.i", self.tutti("info", SOURCE, "--variables").out)
        self.tutti("graph", f"a={SOURCE}", f"b={SINK}", "-o", self.path("g.json"))
        with open(self.path("g.json"), encoding="utf-8") as file:
            graph = json.load(file)
        self.assertEqual(graph["units"][0]["terminals"][0]["matchingRule"], "plug")
        self.tutti("graph", f"a={SOURCE}", f"b={SINK}", "-o", self.path("g.dot"))
        with open(self.path("g.dot"), encoding="utf-8") as file:
            self.assertIn("pin, line, pair, loose, Powertrain and 2 more", file.read())
        self.assertEqual(self.tutti("check", SOURCE).out, "")
        self.assertEqual(json.loads(self.tutti("info", kit_fmu("Dahlquist", "3"), "--json").out)["terminals"], [])

    def test_icons(self):
        text = terminals_of(SOURCE).replace(
            "<Terminals>", '<GraphicalRepresentation><CoordinateSystem x1="0" y1="0" x2="10" y2="20" '
            'suggestedScalingFactorTo_mm="2"/><Icon x1="1" y1="2" x2="3" y2="4"/></GraphicalRepresentation><Terminals>')
        fmu = self.altered(SOURCE, name="icon.fmu", drop=[ENTRY], add={ENTRY: text, "terminalsAndIcons/icon.png": b"png"})
        self.assertEqual(json.loads(self.tutti("info", fmu, "--json").out)["icon"],
                         {"coordinates": [0, 0, 10, 20], "millimetres": 2, "extent": [1, 2, 3, 4],
                          "png": "terminalsAndIcons/icon.png"})

    def test_a_broken_file_is_told_and_does_not_stop_a_run(self):
        broken = self.altered(SOURCE, name="broken.fmu", drop=[ENTRY], add={ENTRY: "<fmiTerminalsAndIcons><Terminals>"})
        self.tutti("run", broken)
        self.assertRegex(self.tutti("info", broken).out, "terminals +.*terminalsAndIcons.xml:1")
        self.assertRegex(self.tutti("check", broken, status=None).out, "terminalsAndIcons.xml:1")
        self.refused("run", f"a={broken}", f"b={SINK}", "--connect", "a.pin=b.pin", status=1, says="terminalsAndIcons.xml:1")
        unknown = self.with_terminals(SOURCE, ('variableName="speed"', 'variableName="sped"'), name="unknown.fmu")
        self.assertRegex(self.tutti("check", unknown, status=None).out, r"terminalsAndIcons.xml:\d+.*'sped'")

    def test_layered_standards(self):
        names = {"bus": "frames of network buses", "xcp": "measurement and calibration", "struct": "structures of variables"}
        manifests = {f"extra/org.fmi-standard.fmi-ls-{name}/fmi-ls-manifest.xml":
                     MANIFEST.format(root="anything", name=f"org.fmi-standard.fmi-ls-{name}") for name in names}
        fmu = self.altered(kit_fmu("Dahlquist", "3"), add={**manifests, "extra/com.x/fmi-ls-manifest.xml":
                                                           MANIFEST.format(root="r", name="com.x"), "extra/y/fmi-ls-manifest.xml": "<no"})
        out = self.tutti("info", fmu).out
        for name, words in names.items():
            self.assertRegex(out, rf"follows +org.fmi-standard.fmi-ls-{name} 1.0.0: .*{words}")
        self.assertRegex(out, "follows +com.x 1.0.0")
        layers = json.loads(self.tutti("info", fmu, "--json").out)["layeredStandards"]
        self.assertEqual(len(layers), 4)
        self.assertRegex(self.tutti("check", fmu, status=None).out, "extra/y/fmi-ls-manifest.xml")
        bus = json.loads(self.tutti("info", kit_fmu("CanBus", "3"), "--json").out)["layeredStandards"]
        self.assertTrue(bus[0]["isBusSimulationFMU"])


if __name__ == "__main__":
    unittest.main()
