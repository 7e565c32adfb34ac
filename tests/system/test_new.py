#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti new` writes FMUs of a command line as SSP: valid, whole, and with the same result when it is run."""
import os
import shutil
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

from command import VERSIONS, kit_fmu, kit_fmus, test_fmu
from ssp import NEEDS_SCHEMAS, SPACES, SSD, SspTest

MASSES = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}")
ROW = ("--connect", "a.x=b.x_left", "--connect", "a.v=b.v_left", "--connect", "b.F=a.F_right", "--set", "a.x=0.1")
HOSTILE = "a.b <&>\"'ü\u4e2d#%?:"


class FromFmus(SspTest):
    def test_same_result(self):
        times = ("--start", "0.5", "--stop", "2", "--step", "0.01", "--output-step", "0.05")
        for more in ((), times, times + ("--step", "b=0.05"), times + ("--interface", "me", "--solver", "radau5"),
                     times + ("--predictor", "restart", "--rtol", "1e-9", "--atol", "1e-12", "--h-max", "0.01", "--jacobian", "dense",
                              "--interface", "me"),
                     times + ("--interface", "me", "--solver", "rk4", "--solver-step", "0.001",
                              "--filter", "none", "--coupling", "jacobi")):
            with self.subTest(options=more):
                self.tutti("new", "row.ssp", *MASSES, *ROW, *more)
                self.assert_same_result((*MASSES, *ROW, *more), ("row.ssp",))

    def test_one_component_connected_to_itself(self):
        """It is a system on the command line, too: the same interface, steps and values as from the SSP."""
        for fmu, *links in ((kit_fmu("Cell", "2"), "y=u3"), (kit_fmu("CellMoves", "3"), "y=u3", "q=u2"),
                            (kit_fmu("ChainMass", "2"), "x=x_left"), (kit_fmu("Tracker", "2"), "y=u"),
                            (kit_fmu("Heater", "3"), "T=T_outside")):
            ends = [[f"f.{end}" for end in link.split("=")] for link in links]
            words = [f"f={fmu}", *(word for ends in ends for word in ("--connect", "=".join(ends)))]
            for more in ((), ("--rtol", "1e-6"), ("--step", "0.05")):
                with self.subTest(fmu=fmu, options=more):
                    self.tutti("new", "self.ssp", *words)
                    rows = [self.tutti("run", *system, *more, "--stop", "2", "-o", "-", "--quiet").out for system in (words, ("self.ssp",))]
                    self.assertEqual(*(text.split("\n", 1)[1] for text in rows))

    def test_all_versions_together(self):
        files = [f"f{version}={kit_fmu('Heater', version)}" for version in ("1cs", "1me", "2", "3")]
        options = ["--connect", "f1cs.T=f2.T_outside", "--connect", "f2.T=f3.T_outside", "--connect",
                   "f3.T=f1me.T_outside", "--set", "f2.mode=on", "--set", "f1cs.mode=3", "--set", "f3.P_max=1.5",
                   "--stop", "600", "--step", "10"]
        self.tutti("new", "heaters.ssp", *files, *options)
        self.assert_same_result((*files, *options), ("heaters.ssp",))
        document = self.document("heaters.ssp")
        self.assertEqual(document.get("version"), "1.0")
        self.assertEqual([node.get("value") for node in document.iter(f"{{{SPACES['ssv']}}}Enumeration")], ["on", "on"])
        kinds = {node.get("name"): node.get("kind") for node in document.findall(".//*[@name='f3']/*/ssd:Connector", SPACES)}
        self.assertEqual(kinds, {"T": "output", "T_celsius": "output", "T_outside": "input", "mode": "input",
                                 "heating": "output", "P": "output", "P_max": "parameter"})

    def test_units_and_enumerations_are_defined(self):
        self.tutti("new", "heater.ssp", kit_fmu("Heater", "2"))
        document = self.document("heater.ssp")
        units = {node.get("name"): self.find(node, "ssc:BaseUnit").attrib for node in document.iterfind("ssd:Units/*", SPACES)}
        self.assertEqual(units["degC"], {"K": "1", "offset": "273.15"})
        self.assertEqual(units["kW"], {"kg": "1", "m": "2", "s": "-3", "factor": "1000"})
        used = {node.get("unit") for node in document.iter(f"{{{SPACES['ssc']}}}Real")}
        self.assertEqual(used - {None}, set(units))
        items = document.findall("ssd:Enumerations/ssc:Enumeration[@name='HeaterMode']/ssc:Item", SPACES)
        self.assertEqual([(item.get("name"), item.get("value")) for item in items],
                         [("off", "1"), ("automatic", "2"), ("on", "3")])

    def test_units_and_enumerations_that_clash(self):
        """Two FMUs mean different things by a name: the unit is left to the FMU, the enumeration gets another name."""
        heater = kit_fmu("Heater", "2")
        other = self.altered(heater, ('<BaseUnit kg="1" m="2" s="-3" factor="1000"/>',
                                      '<BaseUnit kg="1" m="2" s="-3" factor="1024"/>'),
                             ('<Item name="off"', '<Item name="out"'), name="other.fmu")
        self.tutti("new", "two.ssp", f"a={heater}", f"b={other}", "--set", "b.mode=out")
        document = self.document("two.ssp")
        names = [self.find(document, f".//*[@name='{name}']//ssd:Connector[@name='mode']/ssc:Enumeration").get("name")
                 for name in "ab"]
        self.assertEqual(names, ["HeaterMode", "HeaterMode_2"])
        self.assertIsNone(self.find(document, ".//*[@name='b']//ssd:Connector[@name='P']/ssc:Real").get("unit"))
        self.assert_same_result((f"a={heater}", f"b={other}", "--set", "b.mode=out"), ("two.ssp",))

    def test_types_of_fmi_3(self):
        fmu = kit_fmu("Feedthrough", "3")
        options = ("--connect", "a.float64_out=b.float64_in", "--connect", "a.matrix_out=b.matrix_in",
                   "--connect", "a.vector_out[2]=b.int32_in", "--set", "a.matrix_in=1 2 3 4 5 6", "--set",
                   "a.vector_in=7,8,9", "--set", "a.color_in=green", "--set", "a.uint64_in=18446744073709551615",
                   "--set", "a.int8_in=-128", "--set", "a.float32_in=0.1", "--set", "a.boolean_in=true", "--set",
                   'a.string_in=<&>"\' ü\n\t x', "--set", "a.binary_in=00ff7f", "--set", "b.gain=inf", "--set",
                   "b.vector_in[3]=-4", "--set", "b.strings_in=twice", "--stop", "0.1")
        self.tutti("new", "types.ssp", f"a={fmu}", f"b={fmu}", *options)
        self.assert_same_result((f"a={fmu}", f"b={fmu}", *options), ("types.ssp",))
        document = self.document("types.ssp")
        self.assertEqual(document.get("version"), "2.0")
        self.assertEqual(len(self.entries("types.ssp")), 2, "the FMU is in it once")
        values = {node.get("name"): node for node in document.iterfind(".//*[@name='a']//ssv:Parameter", SPACES)}
        self.assertEqual(self.find(values["matrix_in"], "ssv:Float64").get("value"), "1 2 3 4 5 6")
        self.assertEqual([node.get("size") for node in values["matrix_in"].iterfind("ssc:Dimension", SPACES)], ["2", "3"])
        self.assertEqual(self.find(values["string_in"], "ssv:String").get("value"), '<&>"\' ü\n\t x')
        self.assertEqual(self.find(values["binary_in"], "ssv:Binary").get("value"), "00ff7f")
        self.assertEqual(self.find(values["uint64_in"], "ssv:UInt64").get("value"), "18446744073709551615")
        connection = self.find(document, ".//ssd:Connection[@startIndices]")
        self.assertEqual(connection.attrib, {"startElement": "a", "startConnector": "vector_out", "startIndices": "2",
                                             "endElement": "b", "endConnector": "int32_in"})
        strings = document.findall(".//*[@name='b']//ssv:Parameter[@name='strings_in']/ssv:String/ssv:Value", SPACES)
        self.assertEqual([node.get("value") for node in strings], ["twice", "twice"])

    def test_elements_of_arrays(self):
        """SSP has values for whole arrays: those that were not named keep their starts."""
        fmu = kit_fmu("StateSpace", "3")
        options = ("--set", "x0[2]=7", "--stop", "0.1")
        self.tutti("new", "one.ssp", f"s={fmu}", "--set", "s.x0[2]=7", "--stop", "0.1")
        values = self.find(self.document("one.ssp"), ".//ssv:Parameter[@name='x0']/ssv:Float64").get("value").split()
        self.assertEqual((len(values), values[1]), (3, "7"))
        single = self.simulate(fmu, *options)
        system = self.simulate("one.ssp")
        self.assertEqual([f"s.{name}" for name in single.header[1:]], system.header[1:])
        self.assertEqual(single.rows, system.rows)

    def test_structural_parameters(self):
        fmu = kit_fmu("StateSpace", "3")
        options = ("--set", "s.n=1", "--set", "s.m=1", "--set", "s.r=1", "--set", "s.A=-1", "--set", "s.B=1", "--set",
                   "s.C=2", "--set", "s.D=0", "--set", "s.x0=3", "--stop", "1", "--step", "0.1")
        self.tutti("new", "small.ssp", f"s={fmu}", f"t={fmu}", *options)
        self.assert_same_result((f"s={fmu}", f"t={fmu}", *options), ("small.ssp",))
        dimensions = self.document("small.ssp").findall(".//*[@name='s']//ssv:Parameter[@name='A']/ssc:Dimension", SPACES)
        self.assertEqual([node.get("size") for node in dimensions], ["1", "1"])

    def test_experiment(self):
        """Start and stop are the options', else those of the first FMU that has any."""
        ball, masses = kit_fmu("BouncingBall", "2"), kit_fmu("ChainMass", "2")
        for options, expected in (((), {"startTime": "0", "stopTime": "3"}),
                                  (("--stop", "7"), {"startTime": "0", "stopTime": "7"}),
                                  (("--start", "1", "--stop", "1e9"), {"startTime": "1", "stopTime": "1e+09"})):
            self.tutti("new", "ball.ssp", ball, masses, *options)
            self.assertEqual(self.find(self.document("ball.ssp"), "ssd:DefaultExperiment").attrib, expected)

    def test_geometry(self):
        """From left to right as signals go; nothing lies on anything else."""
        self.tutti("new", "row.ssp", *MASSES, f"c={kit_fmu('ChainMass', '2')}", f"d={kit_fmu('Heater', '2')}",
                   "--connect", "c.x=a.x_left", "--connect", "a.x=b.x_left", "--connect", "b.F=c.F_right")
        document = self.document("row.ssp")
        boxes = {node.get("name"): {key: float(value) for key, value in self.find(node, "ssd:ElementGeometry").attrib.items()}
                 for node in document.iter(f"{{{SPACES['ssd']}}}Component")}
        outer = {key: float(value) for key, value in self.find(document, ".//ssd:SystemGeometry").attrib.items()}
        columns = [boxes[name]["x1"] for name in "adbc"]  # the loop opens at a; d is on its own
        self.assertTrue(columns[0] == columns[1] < columns[2] < columns[3], columns)
        for name, box in boxes.items():
            self.assertTrue(outer["x1"] <= box["x1"] < box["x2"] <= outer["x2"], name)
            self.assertTrue(outer["y1"] <= box["y1"] < box["y2"] <= outer["y2"], name)
            for other in set(boxes) - {name}:
                apart = (box["x2"] <= boxes[other]["x1"] or boxes[other]["x2"] <= box["x1"] or
                         box["y2"] <= boxes[other]["y1"] or boxes[other]["y2"] <= box["y1"])
                self.assertTrue(apart, f"{name} lies on {other}")
        for connector in document.iter(f"{{{SPACES['ssd']}}}Connector"):
            if connector.get("kind") in ("input", "output"):
                place = self.find(connector, "ssd:ConnectorGeometry")
                self.assertEqual(place.get("x"), "0" if connector.get("kind") == "input" else "1")
                self.assertTrue(0 < float(place.get("y")) < 1)

    def test_many_units(self):
        files = [f"m{i}={kit_fmu('ChainMass', '2')}" for i in range(300)]
        connections = [word for i in range(299) for word in ("--connect", f"m{i}.x=m{i + 1}.x_left")]
        self.tutti("new", "many.ssp", *files, *connections)
        self.assertEqual(self.tutti("info", "many.ssp").out.count("ChainMass_fmi2.fmu"), 300)
        self.assertEqual(len(self.entries("many.ssp")), 2)


class Files(SspTest):
    def test_names(self):
        """Of units, files, folders and the package; the same name for two files."""
        for folder, version in (("x #1", "2"), ("y%20", "3")):
            os.mkdir(self.path(folder))
            shutil.copy(kit_fmu("Heater", version), self.path(f"{folder}/{HOSTILE}.fmu"))
        os.mkdir(self.path("unpacked"))
        with zipfile.ZipFile(kit_fmu("ChainMass", "2")) as archive:
            archive.extractall(self.path("unpacked"))
        name = "s y <s>&\"t'ü.ssp"
        files = (f"{HOSTILE}=x #1/{HOSTILE}.fmu", f"a.b=y%20/{HOSTILE}.fmu", "unpacked")
        options = ("--connect", f"{HOSTILE}.T=a.b.T_outside", "--set", "unpacked.x=1", "--set", f"{HOSTILE}.mode=on",
                   "--stop", "60", "--step", "1")
        self.tutti("new", name, *files, *options)
        self.assert_same_result((*files, *options), (name,))
        entries = self.entries(name)
        self.assertEqual(len(entries), 4)
        with zipfile.ZipFile(self.path(name)) as archive:
            for entry in archive.infolist():
                self.assertIn(entry.compress_type, (0, 8))
                self.assertLessEqual(entry.extract_version, 20)
                self.assertEqual(entry.date_time, (2000, 1, 1, 0, 0, 0))
        self.assertEqual(self.tutti("check", name).out, "")
        self.assertEqual(self.document(name).get("name"), name[:-4])

    def test_same_bytes(self):
        for name in ("one.ssp", "two.ssp"):
            self.tutti("new", name, *MASSES, *ROW)
        one, two = self.entries("one.ssp"), self.entries("two.ssp")
        one[SSD] = one[SSD].replace(b'"one"', b'"two"')
        self.assertEqual(one, two)
        os.rename(self.path("one.ssp"), self.path("first.ssp"))
        self.tutti("new", "one.ssp", *MASSES, *ROW)
        with open(self.path("first.ssp"), "rb") as first, open(self.path("one.ssp"), "rb") as again:
            self.assertEqual(first.read(), again.read())

    def test_bare_ssd(self):
        """FMUs stay where they are; references are relative."""
        for folder in ("models 1", "deep/er"):
            os.makedirs(self.path(folder))
        shutil.copy(kit_fmu("ChainMass", "2"), self.path("models 1/a%.fmu"))
        files = ("a=models 1/a%.fmu", MASSES[1])
        for name, source in (("row.ssd", "models%201/a%25.fmu"), ("deep/er/row.ssd", "../../models%201/a%25.fmu"),
                             ("models 1/row.ssd", "a%25.fmu")):
            self.tutti("new", name, *files, *ROW)
            document = ElementTree.parse(self.path(name)).getroot()
            self.assertEqual(self.find(document, ".//*[@name='a'][@source]").get("source"), source)
            self.assert_same_result((*files, *ROW), (name,))
        self.assertEqual(set(os.listdir(self.path("deep/er"))), {"row.ssd"})

    def test_inputs_are_not_written_over(self):
        shutil.copy(kit_fmu("ChainMass", "2"), self.path("a.ssd"))
        os.symlink(self.path("a.ssd"), self.path("link.ssp"))
        before = self.identity("a.ssd")
        self.refused("new", "link.ssp", f"b={kit_fmu('ChainMass', '2')}", "x=a.ssd", status=1, says="a.ssd")
        shutil.copy(kit_fmu("ChainMass", "2"), self.path("in.fmu"))
        os.link(self.path("in.fmu"), self.path("out.ssp"))
        self.refused("new", "out.ssp", "in.fmu", status=2, says=("out.ssp", "made from", "another name"))
        self.assertEqual(self.identity("a.ssd"), before)

    def identity(self, name):
        """What a write would change of a file; reading it may change its time of access."""
        status = os.stat(self.path(name))
        return status.st_ino, status.st_size, status.st_mtime_ns

    def test_what_is_there_is_replaced_whole(self):
        self.write("row.ssp", "old")
        self.refused("new", "row.ssp", *MASSES, "--connect", "a.x=b.nothing", status=2, says="nothing")
        self.refused("new", "row.ssp", "a=missing.fmu", status=1, says="missing.fmu")
        with open(self.path("row.ssp"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")
        self.tutti("new", "row.ssp", *MASSES)
        self.tutti("check", "row.ssp")
        self.assertEqual(set(os.listdir(self.folder)), {"row.ssp", "tmp"})

    def test_places_that_cannot_be_written(self):
        os.mkdir(self.path("folder.ssp"))
        for name in ("nowhere/x.ssp", "nowhere/x.ssd", "folder.ssp"):
            self.refused("new", name, *MASSES, status=1, says=("cannot", name.split("/", maxsplit=1)[0]))
        self.assertEqual(set(os.listdir(self.folder)), {"folder.ssp", "tmp"})


class Refusals(SspTest):
    def test_command_line(self):
        for arguments, says in ((("out.zip", *MASSES), "OUT.ssp or OUT.ssd"),
                                (("out.ssp",), "FILE... is missing"),
                                (("out.ssp", *MASSES, "--record", "x"), "unknown option '--record'"),
                                (("out.ssp", *MASSES, "--step", "fast"), "takes a number"),
                                (("out.ssp", *MASSES, "--step", "c=1"), "no unit 'c'"),
                                (("out.ssp", *MASSES, "--step", "a=x"), "number H"),
                                (("out.ssp", *MASSES, "--step", "0.1", "--step", "a=0.15"), "multiple"),
                                (("out.ssp", *MASSES, "--solver", "cvoed"), "cvoed"),
                                (("out.ssp", *MASSES, "--interface", "me", "--jacobian", "fancy"), "fancy"),
                                (("out.ssp", *MASSES, "--jacobian", "dense"), "--jacobian is for Model Exchange"),
                                (("out.ssp", *(f"{name}={kit_fmu('Heater', '1cs')}" for name in "ab"), "--solver", "bdf"), "no FMU of this system has"),
                                (("out.ssp", *MASSES, "--coupling", "loose"), "loose"),
                                (("out.ssp", *MASSES, "--start", "2", "--stop", "1"), "after the start"),
                                (("out.ssp", *MASSES, "--set", "a.q=1"), "'a.q'"),
                                (("out.ssp", *MASSES, "--set", "a.m=heavy"), "heavy"),
                                (("out.ssp", "a\x01=" + kit_fmu("ChainMass", "2")), "control character"),
                                (("out.ssp", f"f={kit_fmu('Feedthrough', '2')}", "--set", "f.string_in=\x02"),
                                 "control character")):
            with self.subTest(arguments=arguments):
                self.refused("new", *arguments, status=2, says=says)
                self.assertFalse(os.path.exists(self.path("out.ssp")))

    def test_faults_of_the_system(self):
        """What a run would refuse."""
        for connections, says in ((("a.x=b.x_left", "b.x=b.x_left"), "x_left"), (("a.x=b.v_left",), "v_left")):
            options = [word for connection in connections for word in ("--connect", connection)]
            self.refused("new", "out.ssp", *MASSES, *options, status=2, says=says)
            self.assertFalse(os.path.exists(self.path("out.ssp")))

    def test_systems_with_others(self):
        self.tutti("new", "row.ssp", *MASSES)
        self.refused("new", "out.ssp", "row.ssp", MASSES[0], status=2, says=("row.ssp", "alone"))


@NEEDS_SCHEMAS
class Schemas(SspTest):
    def test_every_fmu_of_the_kit(self):
        for fmu in kit_fmus():
            with self.subTest(fmu=fmu.name):
                self.tutti("new", "one.ssp", f"a={fmu}", f"b={fmu}", "--quiet")
                version = self.document("one.ssp").get("version")
                self.assert_valid("one.ssp", "12" if version == "1.0" else "2")
                self.assertTrue(version == "1.0" or fmu.stem.endswith("_fmi3"), version)

    def test_clocks_and_odd_types(self):
        for model in ("Clockwork", "Mixed"):
            self.tutti("new", "one.ssp", test_fmu(model, "3"))
            self.assert_valid("one.ssp", "2")

    def test_everything_at_once(self):
        for version in VERSIONS:
            fmu = kit_fmu("Feedthrough", version)
            self.tutti("new", "all.ssp", f"{HOSTILE}={fmu}", f"b c={fmu}", "--connect", f"{HOSTILE}.float64_out=b c.float64_in",
                       "--set", "b c.color_in=green", "--set", f"{HOSTILE}.string_in=<&>\"'\n", "--set", "b c.gain=NaN",
                       "--set", "b c.int32_in=-5", "--set", "b c.boolean_in=1", "--start", "0", "--stop", "1e-3", "--step",
                       "1e-4", "--step", f"{HOSTILE}=2e-4", "--rtol", "1e-5", "--output-step", "5e-4")
            self.assert_valid("all.ssp", "2" if version == "3" else "12")


if __name__ == "__main__":
    unittest.main()
