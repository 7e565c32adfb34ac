#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Systems as one FMU (`tutti pack`), Model Exchange FMUs as FMUs for Co-Simulation (`tutti wrap`): they give the rows of what was packed, by FMI 2.0 and
3.0, alone and in other systems, go back, are saved and go on elsewhere; what cannot be packed is told."""
import json
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET
import zipfile

from command import FMUS, ME_VERSIONS, ROOT, SANITIZED, CommandTest, description, kit_fmu
from systems import connect

PAIR = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}", *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"))
MOVED = ("--set", "a.x=0.1")
TIMES = ("--step", "0.0625", "--stop", "2")
MASTERS = (("--coupling", "jacobi", "--extrapolate", "2"), ("--coupling", "newton"), ("--interface", "me", "--coupling", "strong"))


class PackTest(CommandTest):
    def good(self, *arguments):
        outcome = self.tutti(*arguments)
        self.assertEqual((outcome.status, outcome.err), (0, ""), arguments)
        return outcome.out

    def packed(self, *arguments, name="packed.fmu", command="pack"):
        fmu = self.path(name)
        self.good(command, *arguments, "--quiet", "-o", fmu)
        return fmu

    def rows(self, *arguments):
        return self.good("run", *arguments, "--quiet", "-o", "-").splitlines()

    def refused_pack(self, status, words, *arguments):
        self.refused("pack", *arguments, "--quiet", status=status, says=words)


class Systems(PackTest):
    def test_same_rows(self):
        """By every kind of coupling; with error control where points are asked for."""
        for number, master in enumerate(MASTERS):
            version = "23"[number % 2]
            with self.subTest(master=master, fmi=version):
                fmu = self.packed(*PAIR, *MOVED, *TIMES, *master, "--fmi", version)
                self.assertEqual(self.rows(fmu), self.rows(*PAIR, *MOVED, *TIMES, *master))

    def test_error_control(self):
        controlled = (*PAIR, *MOVED, "--stop", "2", "--rtol", "1e-5", "--interface", "cs")
        for version in "23":
            fmu = self.packed(*controlled, "--fmi", version)
            self.assertEqual(self.rows(fmu, "--step", "0.125"), self.rows(*controlled, "--output-step", "0.125"))

    def test_same_file(self):
        one = pathlib.Path(self.packed(*PAIR))
        before = one.read_bytes()
        self.packed(*PAIR)
        self.assertEqual(one.read_bytes(), before)

    def test_checks(self):
        for version in "23":
            fmu = self.packed(*PAIR, *TIMES, "--fmi", version)
            self.assertIn("0 errors, 0 warnings", self.tutti("check", "--run", fmu).err)

    def test_no_folders(self):
        """CommandTest looks for what is left; here it is several instances, of which one is in a loop that goes back."""
        fmu = self.packed(*PAIR, *MOVED, *TIMES)
        rows = self.rows(f"p={fmu}", f"q={fmu}", *connect("p.b.x=q.a.x_left", "q.a.x=p.a.x_left"), *TIMES, "--coupling", "relax")
        self.assertEqual(len(rows), 34)

    def test_nested(self):
        """A packed system in a packed system."""
        inner = self.packed(*PAIR, *MOVED, *TIMES, name="inner.fmu")
        outer = self.packed(f"p={inner}", f"w={kit_fmu('VanDerPol', '2')}", *TIMES, "--fmi", "3", name="outer.fmu")
        rows = self.rows(outer)
        alone = self.rows(*PAIR, *MOVED, *TIMES)
        self.assertEqual([row.split(",")[0:4] for row in rows[1:]], [row.split(",")[0:4] for row in alone[1:]])
        self.assertTrue(rows[0].startswith("time,p.a.x,"))


    def test_examples(self):
        for name, version in (("quarter_car", "2"), ("four_rooms", "3")):
            ssp = FMUS.parent / "examples" / name / f"{name}.ssp"
            plain = self.rows(ssp)
            self.assertGreater(len(plain), 1000)
            self.assertEqual(self.rows(self.packed(ssp, "--fmi", version)), plain)


# An importer as people write them: functions by name, and steps from n * h that end at n * h + h, with its rounding.
IMPORTER = """
import ctypes, json, sys
folder, library, token, references, h, steps = json.loads(sys.argv[1])
fmu = ctypes.CDLL(library)
LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
class Callbacks(ctypes.Structure):
    _fields_ = [("logger", LOGGER), ("allocate", ctypes.c_void_p), ("free", ctypes.c_void_p), ("done", ctypes.c_void_p), ("context", ctypes.c_void_p)]
callbacks = Callbacks(LOGGER(lambda context, name, status, category, text: sys.stderr.write(f"{text}\\n")))
double, handle = ctypes.c_double, ctypes.c_void_p
fmu.fmi2Instantiate.restype = handle
c = handle(fmu.fmi2Instantiate(b"one", 1, token.encode(), f"file://{folder}/resources".encode(), ctypes.byref(callbacks), 0, 0))
assert c.value and not fmu.fmi2SetupExperiment(c, 0, double(0), double(0), 0, double(0))
assert not fmu.fmi2EnterInitializationMode(c) and not fmu.fmi2ExitInitializationMode(c)
which, values = (ctypes.c_uint * len(references))(*references), (double * len(references))()
for n in range(steps + 1):
    assert not fmu.fmi2GetReal(c, which, len(references), values)
    print(json.dumps(list(values)))
    assert n == steps or not fmu.fmi2DoStep(c, double(n * h), double(h), 1)
assert not fmu.fmi2Terminate(c)
fmu.fmi2FreeInstance(c)
"""


class Importers(PackTest):
    def unpacked(self, *arguments):
        fmu, folder = self.packed(*arguments), pathlib.Path(self.path("unpacked"))
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(folder)
        return fmu, folder, next(folder.glob("binaries/*/packed.so"))

    def test_all_functions(self):
        """Importers look for all of them before they look at the description. The library is the same for both versions."""
        library = self.unpacked(*PAIR)[2].read_bytes()
        for version in "23":
            names = re.findall(rf"X\((fmi{version}\w+),", (ROOT / "src" / "fmi" / f"api{version}.h").read_text(encoding="ascii"))
            self.assertGreater(len(names), 30)
            self.assertEqual([name for name in names if name.encode() + b"\0" not in library], [])

    @unittest.skipIf(SANITIZED, "the importer's process has no sanitizer")
    def test_points_of_others(self):
        """Rounding of an importer's times does not change the bits."""
        h, steps = 0.01, 200
        arguments = (*PAIR, *MOVED, "--step", str(h), "--stop", str(h * steps))
        fmu, folder, library = self.unpacked(*arguments)
        self.assertNotEqual([n * h + h for n in range(steps)], [(n + 1) * h for n in range(steps)])
        root = ET.fromstring(description(fmu))
        references = {variable.get("name"): int(variable.get("valueReference")) for variable in root.find("ModelVariables")}
        header, *rows = self.rows(*arguments)
        what = [str(folder), str(library), root.get("guid"), [references[name] for name in header.split(",")[1:]], h, steps]
        seen = subprocess.run([sys.executable, "-c", IMPORTER, json.dumps(what)], check=True, capture_output=True, text=True).stdout
        self.assertEqual([json.loads(line) for line in seen.splitlines()], [[float(value) for value in row.split(",")[1:]] for row in rows])


class Variables(PackTest):
    def variables(self, fmu):
        root = ET.fromstring(description(fmu))
        return {variable.get("name"): variable for variable in root.find("ModelVariables")}, root

    def test_defaults(self):
        variables, root = self.variables(self.packed(*PAIR, *TIMES, "--fmi", "3"))
        self.assertEqual([name for name, variable in variables.items() if variable.get("causality") == "input"],
                         ["a.x_left", "a.v_left", "b.F_right"])
        self.assertNotIn("a.m", variables)
        self.assertEqual(variables["a.x"].get("unit"), "m")
        self.assertEqual(root.find("DefaultExperiment").get("stepSize"), "0.0625")

    def test_exposed(self):
        """Parameters and inputs that nothing drives can be set, before the start and between steps."""
        fmu = self.packed(*PAIR, *TIMES, *MOVED, "--expose", "a.k", "--set", "a.k=7")
        self.assertEqual(self.variables(fmu)[0]["a.k"].find("Real").get("start"), "7")
        changed = ("--set", "a.k=3", "--set", "a.x_left=0.05")
        self.assertEqual(self.rows(fmu, *changed), self.rows(*PAIR, *TIMES, *MOVED, *changed))
        table = self.write("in.csv", "time,a.x_left\n0,0.05\n2,0.05\n")
        self.assertEqual(self.rows(fmu, "--set", "a.k=3", "--input", table), self.rows(fmu, *changed))

    def test_inputs_that_move(self):
        """A step input is taken with the step that follows it."""
        table = self.write("in.csv", "time,a.x_left\n0,0\n1,0\n1,0.2\n2,0.2\n")
        fmu = self.packed(*PAIR, *TIMES)
        packed = [row.split(",") for row in self.rows(fmu, "--input", table)]
        plain = [row.split(",") for row in self.rows(*PAIR, *TIMES, "--input", table)]
        self.assertEqual({row[0]: row[1:] for row in packed}, {row[0]: row[1:] for row in plain})

    def test_dependencies(self):
        _, root = self.variables(self.packed(f"f={kit_fmu('Feedthrough', '2')}", f"g={kit_fmu('VanDerPol', '2')}", "--expose", "f.float64_in",
                                             "--fmi", "3"))
        structure = {output.get("valueReference"): output.get("dependencies") for output in root.find("ModelStructure").findall("Output")}
        names = {variable.get("valueReference"): variable.get("name") for variable in root.find("ModelVariables")}
        by_name = {names[reference]: [names[other] for other in others.split()] for reference, others in structure.items()}
        self.assertEqual(by_name["f.float64_out"], ["f.float64_in"])
        self.assertEqual(by_name["g.x0"], [])

    def test_types(self):
        feedthrough = kit_fmu("Feedthrough", "2")
        fmu = self.packed(feedthrough, "--stop", "1", "--step", "0.25")
        values = ("--set", "int32_in=5", "--set", "boolean_in=true", "--set", "color_in=green", "--set", "string_in=hello, world")
        self.assertEqual(self.rows(fmu, *values), self.rows(feedthrough, "--stop", "1", "--step", "0.25", *values))


class GoingOn(PackTest):
    def test_checkpoints(self):
        """The state of a packed system is serialised: a run goes on in another process."""
        for version in "23":
            fmu = self.packed(*PAIR, *MOVED, *TIMES, "--fmi", version)
            whole, file, state = self.rows(fmu), self.path("result.csv"), self.path("state")
            self.good("run", fmu, "--stop", "1", "--quiet", "-o", file, "--final-state", state)
            rest = self.rows(fmu, "--start", "1", "--initial-state", state)
            self.assertEqual(rest[2:], whole[18:])

    def test_error_control_around(self):
        """Steps of a packed system are taken back."""
        fmu = self.packed(*PAIR, *MOVED, *TIMES)
        rows = self.rows(f"p={fmu}", f"w={kit_fmu('VanDerPol', '2')}", *connect("w.x0=p.a.x_left"), "--stop", "2", "--rtol", "1e-4")
        self.assertGreater(len(rows), 10)


class Wrapped(PackTest):
    def test_same_rows(self):
        for number, version in enumerate(ME_VERSIONS):
            for model in ("VanDerPol", "Dahlquist"):
                out = "23"[number % 2]
                with self.subTest(model=model, version=version, out=out):
                    me = (kit_fmu(model, version), "--solver", "bdf", "--stop", "2", "--step", "0.125")
                    fmu = self.packed(*me, "--fmi", out, command="wrap")
                    self.assertIn("CoSimulation", description(fmu))
                    self.assertEqual(self.rows(fmu), self.rows(*me, "--interface", "me"))

    def test_events(self):
        """An event of the wrapped FMU ends a step where the importer allows that; else it is crossed on the way."""
        ball = kit_fmu("BouncingBall", "2")
        plain = self.rows(ball, "--interface", "me", "--stop", "2", "--step", "0.25")
        early = self.rows(self.packed(ball, "--stop", "2", "--step", "0.25", "--fmi", "3", command="wrap"))
        self.assertEqual([row.split(",")[0] for row in early[1:]], [row.split(",")[0] for row in plain[1:]])
        at_points = self.rows(self.packed(ball, "--stop", "2", "--step", "0.25", command="wrap"))
        self.assertTrue(set(at_points) < set(plain))

    def test_parameters(self):
        """A single FMU keeps its parameters."""
        fmu = self.packed(kit_fmu("Dahlquist", "3"), "--stop", "1", "--step", "0.25", command="wrap")
        self.assertEqual(self.rows(fmu, "--set", "k=3"),
                         self.rows(kit_fmu("Dahlquist", "3"), "--interface", "me", "--stop", "1", "--step", "0.25", "--set", "k=3"))


class Refusals(PackTest):
    def test_words(self):
        out = self.path("out.fmu")
        self.refused_pack(2, "-o OUT.fmu is missing", *PAIR)
        self.refused_pack(2, "OUT.fmu, not", *PAIR, "-o", self.path("out.zip"))
        self.refused_pack(2, "--fmi takes 2 or 3", *PAIR, "-o", out, "--fmi", "4")
        self.refused_pack(2, "--expose nothing.* fits no variable", *PAIR, "-o", out, "--expose", "nothing.*")
        self.refused_pack(1, "array", f"s={kit_fmu('StateSpace', '3')}", "-o", out, "--expose", "y", "--fmi", "3")
        self.refused_pack(1, "use --fmi 3", f"f={kit_fmu('Feedthrough', '3')}", "-o", out, "--expose", "float32_in")
        self.refused_pack(1, "Binary", f"f={kit_fmu('Feedthrough', '3')}", "-o", out, "--expose", "binary_in", "--fmi", "3")
        self.assertFalse(pathlib.Path(out).exists())

    def test_input_stays(self):
        fmu = self.packed(*PAIR)
        before = pathlib.Path(fmu).read_bytes()
        self.refused_pack(2, "is read, and cannot be written", fmu, "-o", fmu)
        self.assertEqual(pathlib.Path(fmu).read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
