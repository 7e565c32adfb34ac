#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti info` says what an FMU is; with --json it says the same as the model description, read by another parser."""
import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

from command import ROOT, SANITIZED, TUTTI, CommandTest, description, kit_fmu, kit_fmus

TYPES_1_AND_2 = {"Real": "Float64", "Integer": "Int32", "Boolean": "Boolean", "String": "String",
                 "Enumeration": "Enumeration"}
INTERFACES = {"CoSimulation": "coSimulation", "ModelExchange": "modelExchange",
              "ScheduledExecution": "scheduledExecution"}


def variables_of(root):
    """Name, value reference, type and attributes of every variable, from the XML of any version."""
    for variable in root.find("ModelVariables"):
        typed = variable
        if variable.tag == "ScalarVariable":
            typed = next(child for child in variable if child.tag in TYPES_1_AND_2)
        yield (variable.get("name"), int(variable.get("valueReference")), TYPES_1_AND_2.get(typed.tag, typed.tag),
               {**variable.attrib, **typed.attrib})


class Info(CommandTest):
    def info(self, fmu, **options):
        return json.loads(self.tutti("info", fmu, "--json", **options).out)

    def test_what_prevents_a_run(self):
        """What `tutti run` would refuse, `info` and `check` say before."""
        clock = '<Clock name="tick" valueReference="99" causality="input" intervalVariability="triggered"/>'
        clocked = self.altered(kit_fmu("Dahlquist", "3"), ("</ModelVariables>", f"{clock}</ModelVariables>"))
        foreign = self.altered(kit_fmu("Dahlquist", "2"), name="foreign.fmu", drop=["binaries/"],
                               add={"binaries/win64/Dahlquist.dll": b""})
        tool = self.altered(kit_fmu("Dahlquist", "1cs"), ("CoSimulation_StandAlone", "CoSimulation_Tool"),
                            ("/CoSimulation_StandAlone", "/CoSimulation_Tool"), name="tool.fmu", drop=["binaries/"])
        for fmu, why, faulty in ((clocked, r"has clocks \('tick'\)", 1), (foreign, "binar.*win64", 1),
                                 (tool, "tool coupling", 1)):
            with self.subTest(fmu=fmu):
                self.refused("run", fmu, status=1, says=why)
                self.assertRegex(self.tutti("info", fmu).out, f"(?m)^cannot run +.*{why}")
                self.assertRegex(self.info(fmu)["cannotRun"], f"^(?!{fmu}).*{why}")
                self.assertRegex(self.tutti("check", fmu, status=faulty).out, f"(?m)^(error|warning): .*{why}")
        self.assertNotIn("cannotRun", self.info(kit_fmu("Dahlquist", "3")))

    def test_every_kit_fmu_for_people(self):
        for fmu in kit_fmus():
            with self.subTest(fmu=fmu.name):
                root = ElementTree.fromstring(description(fmu))
                outcome = self.tutti("info", fmu)
                self.assertEqual(outcome.err, "")
                self.assertIn(f"{root.get('modelName')}, FMI {root.get('fmiVersion')}", outcome.out.splitlines()[0])
                self.assertIn(root.get("description"), outcome.out)
                self.assertIn("Model Exchange" if "1me" in fmu.name else "Co-Simulation", outcome.out)

    def test_what_is_made_up_for_in_model_exchange(self):
        for fmu, directional in ((kit_fmu("Heater", "2"), False), (kit_fmu("VanDerPol", "3"), True)):
            words = self.tutti("info", fmu).out.split("\nModel Exchange\n")[1]
            self.assertRegex(words, "directional derivatives +" + ("yes" if directional else "no: differences"))
            self.assertRegex(words, "dependencies of derivatives +yes")
        words = self.tutti("info", kit_fmu("VanDerPol", "1me")).out.split("\nModel Exchange\n")[1]
        self.assertRegex(words, "saved and restored +no: .*as long as no event")
        self.assertRegex(words, "dependencies of derivatives +no: ")

    def test_every_variable_is_listed(self):
        for fmu in kit_fmus():
            with self.subTest(fmu=fmu.name):
                root = ElementTree.fromstring(description(fmu))
                listed = self.tutti("info", fmu, "--variables").out.split("\nVariables\n")[1].splitlines()
                names = [re.sub(r"\[[\w,]*\]$", "", line.split()[2]) for line in listed if line.split()[0] != "alias"]
                self.assertEqual(names, [name for name, *_ in variables_of(root)])

    def test_json_agrees_with_the_description(self):
        for fmu in kit_fmus():
            with self.subTest(fmu=fmu.name):
                root, info = ElementTree.fromstring(description(fmu)), self.info(fmu)
                self.assertEqual(info["fmiVersion"], root.get("fmiVersion"))
                self.assertEqual(info["modelName"], root.get("modelName"))
                self.assertEqual(info["token"], root.get("guid") or root.get("instantiationToken"))
                self.assertEqual([(v["name"], v["valueReference"], v["type"]) for v in info["variables"]],
                                 [(name, reference, kind) for name, reference, kind, _ in variables_of(root)])
                self.compare_attributes(info, root)
                self.compare_interfaces(info, root)
                self.compare_experiment(info, root.find("DefaultExperiment"))

    def compare_attributes(self, info, root):
        for found, (name, _, _, attributes) in zip(info["variables"], variables_of(root)):
            with self.subTest(variable=name):
                for key in ("description", "displayUnit", "declaredType"):
                    if key in attributes:
                        self.assertEqual(found[key], attributes[key])
                for key in ("min", "max", "nominal"):
                    if key in attributes:
                        self.assertEqual(found[key], float(attributes[key]))
                if "unit" in attributes:
                    self.assertEqual(found["unit"], attributes["unit"])
                if root.get("fmiVersion") != "1.0" and "causality" in attributes:
                    self.assertEqual(found["causality"], attributes["causality"])

    def compare_interfaces(self, info, root):
        if root.get("fmiVersion") == "1.0":
            expected = {"modelExchange" if root.find("Implementation") is None else "coSimulation":
                        root.get("modelIdentifier")}
        else:
            expected = {INTERFACES[child.tag]: child.get("modelIdentifier") for child in root
                        if child.tag in INTERFACES}
        self.assertEqual({kind: value["modelIdentifier"] for kind, value in info["interfaces"].items()}, expected)

    def compare_experiment(self, info, experiment):
        for key, attribute in (("start", "startTime"), ("stop", "stopTime"), ("step", "stepSize"),
                               ("tolerance", "tolerance")):
            if experiment.get(attribute) is None:
                self.assertNotIn(key, info["defaultExperiment"])
            else:
                self.assertEqual(info["defaultExperiment"][key], float(experiment.get(attribute)))

    def test_units_have_factor_and_offset(self):
        for version in ("2", "3"):
            units = {unit["name"]: unit for unit in self.info(kit_fmu("Heater", version))["units"]}
            self.assertEqual((units["degC"]["factor"], units["degC"]["offset"]), (1, 273.15))
            self.assertEqual((units["kW"]["factor"], units["kW"]["offset"]), (1000, 0))

    def test_start_values_of_every_type(self):
        start = {v["name"]: v.get("start") for v in self.info(kit_fmu("Feedthrough", "3"))["variables"]}
        self.assertEqual(start["string_parameter"], 'a "quoted" <text> & \u00fcml\u00e4ut')
        self.assertEqual(start["vector_in"], [1, 2, 3])
        self.assertEqual(start["strings_in"], ["first", "second"])
        self.assertEqual(start["binary_in"], "666f6f")
        self.assertEqual((start["boolean_in"], start["color_in"], start["constant"]), (False, 1, 42))

    def test_largest_numbers_survive_json(self):
        fmu = self.altered(kit_fmu("Feedthrough", "3"),
                           ('name="uint64_in" valueReference="24" causality="input" start="0"',
                            'name="uint64_in" valueReference="24" causality="input" start="18446744073709551615"'),
                           ('name="int64_in" valueReference="22" causality="input" start="0"',
                            'name="int64_in" valueReference="22" causality="input" start="-9223372036854775808"'))
        start = {v["name"]: v.get("start") for v in self.info(fmu)["variables"]}
        self.assertEqual(start["int64_in"], -2**63)
        self.assertEqual(start["uint64_in"], str(2**64 - 1))  # beyond what JSON readers take as an integer

    def test_dependencies_and_dimensions(self):
        info = self.info(kit_fmu("StateSpace", "3"))
        dimensions = {v["name"]: v.get("dimensions") for v in info["variables"]}
        self.assertEqual((dimensions["A"], dimensions["B"], dimensions["m"]), (["n", "n"], ["n", "m"], None))
        outputs = {o["variable"]: o["dependencies"] for o in info["outputs"]}
        self.assertEqual(set(outputs["y"]), {"x", "u", "C", "D"})

    def test_capabilities_and_what_is_made_up_for(self):
        lacking = self.tutti("info", kit_fmu("Lacking", "2")).out
        self.assertRegex(lacking, r"inputs that move in a step +no: inputs are held")
        space = self.tutti("info", self.altered(kit_fmu("StateSpace", "3"), ("<CoSimulation ", "<CoSimulation "
                           'providesIntermediateUpdate="true" '))).out  # its input is an array
        self.assertRegex(space, r"Co-Simulation\n[^M]*inputs that move in a step +no: .u., which is held: only Float64 of constant size")
        self.assertRegex(self.tutti("info", kit_fmu("Tracker", "3")).out, r"inputs that move in a step +yes\n")
        tracker = self.info(kit_fmu("Tracker", "2"))["interfaces"]["coSimulation"]
        self.assertTrue(tracker["inputDerivatives"] and tracker["state"] and tracker["serialize"])
        self.assertEqual(tracker["maxOutputDerivativeOrder"], 2)
        once = self.info(kit_fmu("Once", "2"))["interfaces"]["coSimulation"]
        self.assertEqual((once["oncePerProcess"], once["variableStep"]), (True, False))
        ball = self.info(kit_fmu("BouncingBall", "3"))["interfaces"]["coSimulation"]
        self.assertTrue(ball["eventMode"] and ball["earlyReturn"])

    def test_unpacked_folder(self):
        with zipfile.ZipFile(kit_fmu("Heater", "3")) as archive:
            archive.extractall(self.path("Heater"))
        packed, unpacked = self.info(kit_fmu("Heater", "3")), self.info(self.path("Heater"))
        self.assertEqual(packed.pop("file"), kit_fmu("Heater", "3"))
        self.assertEqual(unpacked.pop("file"), self.path("Heater"))
        self.assertEqual(packed, unpacked)

    def test_description_of_90000_variables(self):
        fmu = self.path("large.fmu")
        subprocess.run([sys.executable, "-B", ROOT / "tools" / "make_large_description.py", fmu], check=True)
        text = description(fmu)
        self.assertGreater(text.count("\n"), 600000)
        outcome = self.tutti("info", fmu)
        self.assertRegex(outcome.out, r"(?m)^variables +90000: ")
        self.assertLess(os.stat(fmu).st_size, len(text))
        if not SANITIZED:
            self.assertLess(self.peak_memory("info", fmu), 150e6)

    def peak_memory(self, *arguments):
        """Bytes that a run of the command held at most."""
        pid = os.posix_spawn(TUTTI, [TUTTI, *arguments], self.environment(),
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(pid, 0)
        self.assertEqual(status, 0)
        return usage.ru_maxrss * 1024

    def test_no_code_of_the_fmu_runs(self):
        """Not even its library is looked at: info works for FMUs of other platforms."""
        fmu = self.altered(kit_fmu("Dahlquist", "2"), drop=["binaries/"], add={"binaries/win64/Dahlquist.dll": b"MZ"})
        self.assertEqual(self.info(fmu)["platforms"], ["win64"])
        self.assertRegex(self.tutti("info", fmu).out, r"(?m)^platforms +win64$")

    def test_platforms_whose_names_contain_others(self):
        binaries = ("darwin64/Dahlquist.dylib", "win64/Dahlquist.dll", "win64/more.dll", "linux64/Dahlquist.so",
                    "darwin64/more.dylib", "linux6/Dahlquist.so")
        fmu = self.altered(kit_fmu("Dahlquist", "2"), drop=["binaries/"],
                           add={f"binaries/{name}": b"" for name in binaries})
        self.assertEqual(self.info(fmu)["platforms"], ["darwin64", "win64", "linux64", "linux6"])
        self.assertRegex(self.tutti("info", fmu).out, r"(?m)^platforms +darwin64, win64, linux64, linux6$")

    def test_nothing_in_a_model_steers_the_terminal(self):
        """Line feeds forge lines, and U+009B is to a terminal what ESC [ is; --json escapes or keeps them."""
        text = "&#10;&#9;a\x7f\x85b\x9b31mc"
        fmu = self.altered(kit_fmu("Feedthrough", "3"), ('modelName="Feedthrough"', f'modelName="m{text}"'),
                           ('description="Copies', f'description="{text}Copies'),
                           ('generationTool="', f'generationTool="{text}'), ('name="red"', f'name="red{text}"'),
                           ('name="float64_in"', f'name="float64_in{text}"'),
                           ('value="Set me!"', f'value="Set me!{text}"'))
        outcome = self.tutti("info", fmu, "--variables")
        self.assertEqual(re.findall(r"[^\n -~\xa0-\U0010ffff]", outcome.out), [])
        self.assertIn("b  31mc", outcome.out)
        plain = self.tutti("info", kit_fmu("Feedthrough", "3"), "--variables").out
        self.assertEqual(len(outcome.out.splitlines()), len(plain.splitlines()))
        self.assertIn("a\x7f\x85b\x9b31mc", self.info(fmu)["modelName"])

    def test_names_of_files_are_taken_as_they_are(self):
        for name in ("with blank.fmu", "ümläut.fmu", "-dash.fmu", "quote'\".fmu"):
            fmu = self.altered(kit_fmu("Dahlquist", "3"), name=name)
            self.assertEqual(self.info(fmu)["file"], fmu)
            self.assertIn("Dahlquist", self.tutti("info", "--", name).out)
            self.assertIn("Dahlquist", self.tutti("info", f"./{name}").out)


if __name__ == "__main__":
    unittest.main()
