#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Systems as one FMU (`tutti pack`), Model Exchange FMUs as FMUs for Co-Simulation (`tutti wrap`): they give the rows of what was packed, by FMI 2.0 and
3.0, alone and in other systems, go back, are saved and go on elsewhere; what cannot be packed is told."""
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
import zipfile

from command import FMUS, ME_VERSIONS, ROOT, SANITIZED, SOLVERS, CommandTest, Table, description, kit_fmu
from ssp import SCHEMAS, component, ssd
from systems import connect

PAIR = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}", *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"))
SPACES = (f"a={kit_fmu('StateSpace', '3')}", f"b={kit_fmu('StateSpace', '3')}", *connect("a.y=b.u", "b.y=a.u"))
MOVED = ("--set", "a.x=0.1")
VERSION = {"2": (), "3": ("--fmi", "3")}
TIMES = ("--step", "0.0625", "--stop", "2")
MASTERS = (("--coupling", "jacobi", "--extrapolate", "2"), ("--coupling", "newton"), ("--interface", "me", "--coupling", "strong"))


SHARED = pathlib.Path(tempfile.mkdtemp(prefix="test-tutti-packed."))
KEPT = {}  # by how they were made: FMUs of SHARED, since each takes a second that is spent on compression


def tearDownModule():
    shutil.rmtree(SHARED, ignore_errors=True)


class PackTest(CommandTest):
    def good(self, *arguments):
        outcome = self.tutti(*arguments)
        self.assertEqual((outcome.status, outcome.err), (0, ""), arguments)
        return outcome.out

    def packed(self, *arguments, command="pack"):
        """An FMU packed.fmu, made so, now or by another test."""
        made = (command, *arguments)
        if made not in KEPT:
            fmu = tempfile.mkdtemp(dir=SHARED) + "/packed.fmu"
            self.good(*made, "--quiet", "-o", fmu)
            KEPT[made] = fmu
        return KEPT[made]

    def rows(self, *arguments):
        return self.good("run", *arguments, "--quiet", "-o", "-").splitlines()

    def refused_pack(self, status, words, *arguments):
        self.refused("pack", *arguments, "--quiet", status=status, says=words)


class Systems(PackTest):
    def test_same_rows(self):
        """By every kind of coupling; with error control where points are asked for."""
        times = ("--step", "0.0625", "--stop", "1.5")  # jacobi with extrapolation is not stable with these steps, and longer runs say so
        for number, master in enumerate(MASTERS):
            version = "23"[number % 2]
            with self.subTest(master=master, fmi=version):
                fmu = self.packed(*PAIR, *MOVED, *times, *master, "--fmi", version)
                self.assertEqual(self.rows(fmu), self.rows(*PAIR, *MOVED, *times, *master))

    def test_algebraic_loops(self):
        """Outputs in a loop are those that the coupling has corrected, not what a unit said of the inputs that it held."""
        cells = (f"a={kit_fmu('Cell', '2')}", f"b={kit_fmu('Cell', '3')}", *connect("a.q=b.u1", "b.q=a.u1", "a.y=b.u3"))
        loop = (*cells, "--set", "a.d=0.6", "--set", "b.d=-0.7", "--set", "a.x=1", *TIMES)
        self.assertEqual(self.rows(self.packed(*loop)), self.rows(*loop))

    def test_error_control(self):
        controlled = (*PAIR, *MOVED, "--stop", "2", "--rtol", "1e-5", "--interface", "cs")
        for version in "23":
            fmu = self.packed(*controlled, "--fmi", version)
            self.assertEqual(self.rows(fmu, "--step", "0.125"), self.rows(*controlled, "--output-step", "0.125"))

    def test_same_file(self):
        again = self.path("packed.fmu")
        self.good("pack", *PAIR, *TIMES, "--quiet", "-o", again)
        self.assertEqual(pathlib.Path(again).read_bytes(), pathlib.Path(self.packed(*PAIR, *TIMES)).read_bytes())

    def test_tokens(self):
        """Systems that differ in an option or in what is in an FMU are not taken for each other."""
        other = self.path("ChainMass_fmi3.fmu")
        shutil.copyfile(kit_fmu("ChainMass", "3"), other)
        with zipfile.ZipFile(other, "a") as archive:
            archive.writestr("documentation/more.txt", "another one")
        systems = ((*PAIR, *TIMES), (*PAIR, *MOVED, *TIMES), (PAIR[0], f"b={other}", *PAIR[2:], *TIMES))
        self.assertEqual(len({ET.fromstring(description(self.packed(*system))).get("guid") for system in systems}), 3)

    def test_checks(self):
        for version in "23":
            fmu = self.packed(*PAIR, *TIMES, *VERSION[version])
            self.assertIn("0 errors, 0 warnings", self.tutti("check", "--run", fmu).err)

    def test_no_folders(self):
        """CommandTest looks for what is left; here it is several instances, of which one is in a loop that goes back."""
        fmu = self.packed(*PAIR, *MOVED, *TIMES)
        rows = self.rows(f"p={fmu}", f"q={fmu}", *connect("p.b.x=q.a.x_left", "q.a.x=p.a.x_left"), *TIMES, "--coupling", "relax")
        self.assertEqual(len(rows), 34)

    def test_nested(self):
        """A packed system in a packed system."""
        inner = self.packed(*PAIR, *MOVED, *TIMES)
        outer = self.packed(f"p={inner}", f"w={kit_fmu('VanDerPol', '2')}", *TIMES, "--fmi", "3")
        rows = self.rows(outer)
        alone = self.rows(*PAIR, *MOVED, *TIMES)
        self.assertEqual([row.split(",")[0:4] for row in rows[1:]], [row.split(",")[0:4] for row in alone[1:]])
        self.assertTrue(rows[0].startswith("time,p.a.x,"))


    def test_events_pass_outside(self):
        """By FMI 3.0 a step ends where units have an event, by their states or announced, or by what another unit gives them, also at the end of the step. The
        importer reads the values before it, and after event mode those after: its rows are the system's own."""
        ball, stair = f"a={kit_fmu('BouncingBall', '3')}", f"b={kit_fmu('Stair', '3')}"
        heaters = (f"a={kit_fmu('Heater', '3')}", f"b={kit_fmu('Heater', '3')}", *connect("a.T=b.T_outside"), "--step", "60", "--stop", "7200")
        for events, system in ((6, (ball, stair, "--step", "0.25", "--stop", "1.5")), (6, (ball, stair, "--interface", "me", "--step", "0.25", "--stop", "1.5")),
                               (4, heaters)):
            packed, plain = self.rows(self.packed(*system, "--fmi", "3")), self.rows(*system)
            self.assertEqual(packed, plain)
            times = [row.split(",")[0] for row in plain]
            self.assertGreaterEqual(len([t for t in times if times.count(t) == 2]), events)

    def test_events_of_levels(self):
        """Of a packed system in a packed system."""
        ball = self.packed(f"a={kit_fmu('BouncingBall', '3')}", f"b={kit_fmu('Stair', '3')}", "--step", "0.25", "--stop", "1.5", "--fmi", "3")
        outer = self.packed(f"p={ball}", f"w={kit_fmu('Dahlquist', '2')}", "--step", "0.25", "--stop", "1.5", "--fmi", "3")
        plain = self.rows(f"a={kit_fmu('BouncingBall', '3')}", f"b={kit_fmu('Stair', '3')}", "--step", "0.25", "--stop", "1.5")
        self.assertEqual([row.rsplit(",", 1)[0] for row in self.rows(outer)[1:]], plain[1:])

    def test_clocks_inside(self):
        """Ticks are events, at their exact times; those at the start are a part of the initialisation, and have no row before them."""
        system = (f"s={kit_fmu('Sampler', '3')}", f"d={kit_fmu('Dahlquist', '3')}", "--step", "0.1", "--stop", "1")
        header, _, *rows = self.rows(*system)
        self.assertEqual(self.rows(self.packed(*system, "--fmi", "3")), [header, *rows])
        self.assertGreater(len(rows), 200)

    def test_fabrics(self):
        """Units that are packed systems, on threads and in processes, in loops that go back: the same bytes."""
        fmus = [self.packed(*PAIR, *MOVED, *TIMES, *VERSION[version]) for version in "23"]
        system = (f"p={fmus[0]}", f"q={fmus[1]}", f"c={kit_fmu('ChainMass', '2')}",
                  *connect("p.b.x=q.a.x_left", "p.b.v=q.a.v_left", "q.a.F=p.b.F_right", "q.b.x=c.x_left"), *TIMES)
        for coupling in ("jacobi", "newton"):
            alone = self.rows(*system, "--coupling", coupling)
            for fabric in (("--threads", "2"), ("--processes", "3")):
                self.assertEqual(self.rows(*system, "--coupling", coupling, *fabric), alone)

    def test_warnings_pass_outside(self):
        outcome = self.tutti("run", self.packed(*PAIR, *MOVED, "--step", "0.3", "--stop", "15"), "-o", self.path("result.csv"))
        self.assertIn("'a.v' changes more and more from step to step", outcome.err)

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

DAMAGE = """
state, again, size = handle(), handle(), ctypes.c_size_t()
assert not fmu.fmi2GetFMUstate(c, ctypes.byref(state)) and not fmu.fmi2SerializedFMUstateSize(c, state, ctypes.byref(size))
bytes_ = (ctypes.c_ubyte * size.value)()
assert not fmu.fmi2SerializeFMUstate(c, state, bytes_, size)
for at in [*range(min(120, size.value)), *range(120, size.value, 97), size.value - 1]:
    bytes_[at] ^= 1 << at % 8
    assert fmu.fmi2DeSerializeFMUstate(c, bytes_, size, ctypes.byref(again)) == 3, at
    bytes_[at] ^= 1 << at % 8
assert not fmu.fmi2DeSerializeFMUstate(c, bytes_, size, ctypes.byref(again)) and not fmu.fmi2SetFMUstate(c, again)
"""

# Several instances, on threads, of which each has to see the same; then the end that no library can know of.
THREADS = """
    return seen
import os, signal, threading
found = {}
def note(n):
    found[n] = run()
threads = [threading.Thread(target=note, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 4 and all(seen == found[0] for seen in found.values())
c = begin()
assert not fmu.fmi2DoStep(c, double(0), double(h), 1)
print(len(found[0]), os.listdir(os.environ["TMPDIR"]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

# The derivatives of all by the first, in the initialisation at first.
ASKS = """
    seed, by = double(1), (double * (len(references) - 1))()
    assert not fmu.fmi2GetDirectionalDerivative(c, ctypes.byref(which, 4), len(references) - 1, which, 1, ctypes.byref(seed), by)
    print(json.dumps(list(by)))
    assert n > 0 or not fmu.fmi2ExitInitializationMode(c)
"""


class Importers(PackTest):
    def unpacked(self, *arguments):
        fmu, folder = self.packed(*arguments), pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(folder)
        return fmu, folder, next(folder.glob("binaries/*/packed.so"))

    def assert_imported(self, system, own_times, h, steps):
        """The importer, which names no stop time, sees the rows of the system with steps of h."""
        fmu, folder, library = self.unpacked(*system, *own_times)
        root = ET.fromstring(description(fmu))
        references = {variable.get("name"): int(variable.get("valueReference")) for variable in root.find("ModelVariables")}
        header, *rows = self.rows(*system, "--stop", str(h * steps))
        real = [place for place, name in enumerate(header.split(",")) if name in references and root.find(f".//*[@name='{name}']/Real") is not None]
        last = {float(row.split(",")[0]): [float(row.split(",")[place]) for place in real] for row in rows}
        what = [str(folder), str(library), root.get("guid"), [references[header.split(",")[place]] for place in real], h, steps]
        seen = subprocess.run([sys.executable, "-c", IMPORTER, json.dumps(what)], check=False, capture_output=True, text=True)
        self.assertEqual(seen.returncode, 0, seen.stderr)
        self.assertEqual([json.loads(line) for line in seen.stdout.splitlines()], [values for t, values in last.items() if abs(t / h - round(t / h)) < 1e-9])

    def test_all_functions(self):
        """Importers look for all of them before they look at the description. The library is the same for both versions."""
        library = self.unpacked(*PAIR, *TIMES)[2].read_bytes()
        for version in "23":
            names = re.findall(rf"X\((fmi{version}\w+),", (ROOT / "src" / "fmu" / f"api{version}.h").read_text(encoding="ascii"))
            self.assertGreater(len(names), 30)
            self.assertEqual([name for name in names if name.encode() + b"\0" not in library], [])

    @unittest.skipIf(SANITIZED, "the importer's process has no sanitizer")
    def test_points_of_others(self):
        """Rounding of an importer's times does not change the bits."""
        h, steps = 0.01, 200
        self.assertNotEqual([n * h + h for n in range(steps)], [(n + 1) * h for n in range(steps)])
        self.assert_imported((*PAIR, *MOVED, "--step", str(h)), ("--stop", str(h * steps)), h, steps)

    @unittest.skipIf(SANITIZED, "the importer's process has no sanitizer")
    def test_past_the_end(self):
        """An importer that names no stop time goes on past that of the system, as a run to a later one would; FMUs inside are told of none, and units with
        steps of their own keep them."""
        dahlquists = (f"a={kit_fmu('Dahlquist', '3')}", f"b={kit_fmu('Dahlquist', '2')}")
        for system in ((*dahlquists, "--step", "0.3"), (*PAIR, *MOVED, "--step", "0.0625", "--step", "a=0.3125"),
                       (f"a={kit_fmu('BouncingBall', '3')}", dahlquists[1], "--step", "0.0625"),
                       (*PAIR, *MOVED, "--coupling", "strong", "--interface", "me", "--solver", "rk4", "--step", "0.0625")):
            with self.subTest(system=system):
                self.assert_imported(system, ("--stop", "1"), float(system[system.index("--step") + 1]), 50)

    @unittest.skipIf(SANITIZED, "the importer's process has no sanitizer")
    def test_damaged_states(self):
        """One bit of a serialised state is another: refused, wherever it is."""
        fmu, folder, library = self.unpacked(*PAIR, *MOVED, *TIMES)
        what = [str(folder), str(library), ET.fromstring(description(fmu)).get("guid"), [1], 0.0625, 3]
        script = IMPORTER.replace("assert not fmu.fmi2Terminate(c)\n", DAMAGE + "assert not fmu.fmi2Terminate(c)\n")
        seen = subprocess.run([sys.executable, "-c", script, json.dumps(what)], check=False, capture_output=True, text=True)
        self.assertEqual(seen.returncode, 0, seen.stderr)

    @unittest.skipIf(SANITIZED, "the importer's process has no sanitizer")
    def test_instances_on_threads(self):
        """... and nothing is left of a process that is killed."""
        fmu, folder, library = self.unpacked(*PAIR, *MOVED, *TIMES)
        root = ET.fromstring(description(fmu))
        what = [str(folder), str(library), root.get("guid"), [1, 2, 3], 0.0625, 500]
        head, body = IMPORTER.split("c = handle(", 1)
        making, steps = ("c = handle(" + body).split("which, values", 1)
        script = (head + "def begin():\n" + "".join(f"    {line}\n" for line in making.strip().splitlines()) + "    return c\n" +
                  "def run():\n    c, seen = begin(), []\n" + "".join(f"    {line}\n" for line in ("which, values" + steps).rstrip().splitlines()) + THREADS)
        script = script.replace("print(json.dumps(list(values)))", "seen.append(list(values))")
        tmp = pathlib.Path(self.path("own"))
        tmp.mkdir()
        seen = subprocess.run([sys.executable, "-c", script, json.dumps(what)], check=False, capture_output=True, text=True, env={**self.environment(), "TMPDIR": str(tmp)})
        self.assertEqual((seen.stdout, seen.returncode), ("501 []\n", -9), seen.stderr)
        self.assertEqual(list(tmp.iterdir()), [])

    @unittest.skipIf(SANITIZED, "the importer's process has no sanitizer")
    def test_directional_derivatives(self):
        """By Co-Simulation, of outputs by inputs: in the initialisation, where the start is made anew, and between steps."""
        fmu, folder, library = self.unpacked(f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('ChainMass', '2')}", *connect("a.error=b.x_left"), "--coupling", "strong",
                                             "--step", "0.125")
        root = ET.fromstring(description(fmu))
        references = {variable.get("name"): int(variable.get("valueReference")) for variable in root.find("ModelVariables")}
        self.assertEqual(root.find("CoSimulation").get("providesDirectionalDerivative"), "true")
        what = [str(folder), str(library), root.get("guid"), [references[name] for name in ("a.u", "a.y", "a.error", "b.F")], 0.125, 3]
        script = IMPORTER.replace("print(json.dumps(list(values)))", ASKS).replace("and not fmu.fmi2ExitInitializationMode(c)", "")
        seen = subprocess.run([sys.executable, "-c", script, json.dumps(what)], check=True, capture_output=True, text=True).stdout
        stiffness = 100
        for line in seen.splitlines():
            for value, exact in zip(json.loads(line), (0, 1, -stiffness), strict=True):
                self.assertAlmostEqual(value, exact, delta=1e-6 * stiffness)
        self.assertEqual(json.loads(seen.splitlines()[-1]), [0, 1, -stiffness])


class Variables(PackTest):
    def variables(self, fmu):
        root = ET.fromstring(description(fmu))
        return {variable.get("name"): variable for variable in root.find("ModelVariables")}, root

    def test_connectors(self):
        """A system's own inputs and outputs, in units of their own, by names that FMI calls flat; they can be set before the start and from a table."""
        connector = '<ssd:Connector name="{}" kind="{}"><ssc:Real unit="{}"/></ssd:Connector>'
        own = connector.format("pull", "input", "kN") + connector.format("Ort [m].x y", "output", "mm")
        inside = connector.format("x", "output", "m") + connector.format("F_right", "input", "N")
        units = "".join(f'<ssc:Unit name="{name}"><ssc:BaseUnit {base}/></ssc:Unit>' for name, base in
                        (("kN", 'kg="1" m="1" s="-2" factor="1000"'), ("N", 'kg="1" m="1" s="-2"'), ("m", 'm="1"'), ("mm", 'm="1" factor="0.001"')))
        text = ssd(component("ä b.c[1]", "ChainMass_fmi2.fmu", f"<ssd:Connectors>{inside}</ssd:Connectors>"),
                   '<ssd:Connection startConnector="pull" endElement="ä b.c[1]" endConnector="F_right"/>'
                   '<ssd:Connection startElement="ä b.c[1]" startConnector="x" endConnector="Ort [m].x y"/>',
                   inside=f"<ssd:Connectors>{own}</ssd:Connectors>", behind=f"<ssd:Units>{units}</ssd:Units>")
        ssp, table = self.path("odd.ssp"), self.write("in.csv", "time,pull\n0,0.001\n1,0.001\n1,0.002\n2,0.002\n")
        with zipfile.ZipFile(ssp, "w") as archive:
            archive.writestr("SystemStructure.ssd", text)
            archive.write(kit_fmu("ChainMass", "2"), "resources/ChainMass_fmi2.fmu")
        for version in "23":
            fmu = self.packed(ssp, *TIMES, *VERSION[version])
            variables, root = self.variables(fmu)
            self.assertEqual((root.get("variableNamingConvention"), sorted(set(variables) - {"time"})), ("flat", ["Ort [m].x y", "pull"]))
            self.assertIn("0 errors, 0 warnings", self.tutti("check", fmu).err)
            for packed, plain in ((("--input", table), ("--input", table)), (("--set", "pull=0.003"), ("--set", "ä b.c[1].F_right=3"))):
                whole = {row.split(",")[0]: row.split(",")[-1] for row in self.rows(ssp, *TIMES, *plain)[1:]}
                self.assertEqual({row.split(",")[0]: row.split(",")[-1] for row in self.rows(fmu, *packed)[1:]}, whole)
                self.assertNotEqual(whole["2"], "0")

    @unittest.skipUnless(shutil.which("xmllint") and (SCHEMAS / "fmi3").is_dir(), f"no xmllint, or no schemas in {SCHEMAS}")
    def test_schemas(self):
        """Descriptions are as the standard's schemas have them."""
        heaters = (f"a={kit_fmu('Heater', '3')}", f"b={kit_fmu('Heater', '3')}", *connect("a.T=b.T_outside"), "--step", "60", "--stop", "7200")
        for version, system in (("2", (*PAIR, *MOVED, *TIMES, "--coupling", "strong")), ("3", (*PAIR, *MOVED, *TIMES, "--coupling", "strong", "--fmi", "3")),
                                ("3", (*heaters, "--fmi", "3"))):
            file = self.write("modelDescription.xml", description(self.packed(*system)))
            outcome = subprocess.run(["xmllint", "--noout", "--schema", SCHEMAS / f"fmi{version}" / f"fmi{version}ModelDescription.xsd", file],
                                     check=False, capture_output=True, text=True)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)

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


    def test_arrays(self):
        """Arrays are arrays by FMI 3.0, and their elements are variables by FMI 2.0; parameters among them can be set as a whole or one by one."""
        system = (*SPACES, "--step", "0.0625", "--stop", "1")
        changed = ("--set", "a.A=-1 1 0  0 -2 1  0 0.25 -3", "--set", "a.x0[2]=3")
        for version in "23":
            fmu = self.packed(*system, "--expose", "*.A", "--expose", "a.x0", "--set", "a.A[3,3]=-4", "--fmi", version)
            variables = self.variables(fmu)[0]
            if version == "3":
                self.assertEqual(variables["a.A"].get("start"), "-1 1 0 0 -2 1 0 0 -4")
                self.assertEqual([dimension.get("start") for dimension in variables["a.A"].findall("Dimension")], ["3", "3"])
            else:
                self.assertEqual(variables["a.A[3,3]"].find("Real").get("start"), "-4")
                changed = ("--set", "a.A[3,2]=0.25", "--set", "a.A[3,3]=-3", "--set", "a.x0[2]=3")
            self.assertEqual(self.rows(fmu), self.rows(*system, "--set", "a.A[3,3]=-4"))
            whole = self.rows(*system, "--set", "a.A=-1 1 0  0 -2 1  0 0.25 -3", "--set", "a.x0[2]=3")
            self.assertEqual(self.rows(fmu, *changed), whole)

    def test_arrays_that_move(self):
        """Inputs that are arrays, from a table, at the start and between steps."""
        alone = (f"a={kit_fmu('StateSpace', '3')}", f"b={kit_fmu('Dahlquist', '3')}", "--set", "a.D=0", "--step", "0.0625", "--stop", "1",
                 "--coupling", "jacobi")
        table = self.write("in.csv", "time,a.u[1],a.u[2]\n0,1,1\n0.5,1,1\n0.5,3,-1\n1,3,-1\n")
        for version in "23":
            fmu = self.packed(*alone, "--fmi", version)
            packed = {row.split(",")[0]: row for row in self.rows(fmu, "--input", table)}
            self.assertEqual(packed, {row.split(",")[0]: row for row in self.rows(*alone, "--input", table)})

    def test_binaries(self):
        feedthrough = kit_fmu("Feedthrough", "3")
        fmu = self.packed(feedthrough, "--stop", "1", "--step", "0.25", "--set", "binary_in=00ff7a", "--fmi", "3")
        self.assertEqual(self.variables(fmu)[0]["binary_in"].find("Start").get("value"), "00ff7a")
        for value in ((), ("--set", "binary_in=0102"), ("--set", "binary_in=")):
            self.assertEqual(self.rows(fmu, "--record", "binary_*", *value),
                             self.rows(feedthrough, "--record", "binary_*", "--stop", "1", "--step", "0.25", *(value or ("--set", "binary_in=00ff7a"))))


class Exchange(PackTest):
    """A system of units for Model Exchange is one of them."""

    def strong(self, *system, version):
        return self.packed(*system, "--coupling", "strong", *VERSION[version])

    def both(self, fmu, system, *master):
        return self.rows(fmu, "--interface", "me", *master), self.rows(*system, "--coupling", "strong", *master)

    def assert_near(self, packed, plain, delta):
        """`delta` is relative for values larger than 1, as a tolerance is."""
        self.assertEqual(len(packed), len(plain))
        for one, other in zip(packed[1:], plain[1:]):
            for mine, yours in zip(one.split(","), other.split(",")):
                self.assertAlmostEqual(float(mine), float(yours), delta=delta * max(1, abs(float(yours))))

    def test_same_rows(self):
        """Where the same solver sees the same equations, the same bits come out; also with algebraic loops, of arrays. Implicit solvers take Jacobians from
        directional derivatives, which `--coupling strong` does not: without them there is no difference, and with them only one of rounding and tolerance."""
        for version, system in (("2", (*PAIR, *MOVED, *TIMES)), ("3", (*SPACES, *TIMES))):
            fmu = self.strong(*system, version=version)
            for solver in (("dopri5",), ("cvode", "--no-directional-derivatives"), ("radau5", "--no-directional-derivatives")):
                with self.subTest(version=version, solver=solver):
                    packed, plain = self.both(fmu, system, "--solver", *solver)
                    self.assertEqual(packed, plain)
            self.assert_near(*self.both(fmu, system, "--solver", "cvode", "--rtol", "1e-9"), 1e-6)

    def test_events(self):
        """Of two units, one after the other and at one instant, and what a third one makes of them. After an event the packed system has outputs that fit
        together, also of units that had none; a row of the run has these at its next point."""
        balls = (f"a={kit_fmu('BouncingBall', '2')}", f"b={kit_fmu('BouncingBall', '3')}", f"c={kit_fmu('Tracker', '2')}", *connect("b.h=c.u"))
        for version, height in (("2", "1.3"), ("3", "1")):
            system = (*balls, "--set", f"a.h={height}", *TIMES)
            packed, plain = self.both(self.strong(*system, version=version), system, "--solver", "dopri5")
            self.assertEqual([row.split(",")[:8] for row in packed], [row.split(",")[:8] for row in plain])
            self.assertGreater(len(packed), 38)
            self.assert_near(packed, plain, 1e-12)

    def test_time_events(self):
        stairs = (f"a={kit_fmu('Stair', '2')}", f"b={kit_fmu('Dahlquist', '3')}", "--step", "0.25", "--stop", "3")
        packed, plain = self.both(self.strong(*stairs, version="3"), stairs, "--solver", "rk4")
        self.assertEqual(packed, plain)
        self.assertEqual([row.split(",")[1] for row in packed if row.startswith("2,")], ["1", "2"])

    def test_discrete_inputs(self):
        """Thermostats: event indicators, an input that is an enumeration and a parameter that is tunable are set in event mode. An event's time
        is off by the error of T over its slope, 0.01 K/s."""
        rooms = (f"a={kit_fmu('Heater', '2')}", f"b={kit_fmu('Heater', '3')}", *connect("a.T=b.T_outside"), "--step", "60", "--stop", "7200")
        table = self.write("in.csv", "time,a.mode,a.T_outside\n0,2,273.15\n3600,2,273.15\n3600,1,270\n7200,1,260\n")
        for version in "23":
            packed, plain = self.both(self.strong(*rooms, version=version), rooms, "--solver", "dopri5", "--rtol", "1e-9", "--input", table)
            self.assert_near(packed, plain, 5e-8)

    def test_inside_of_others(self):
        """Its inputs move with the states of another unit, in one solver for all."""
        third = f"c={kit_fmu('ChainMass', '2')}"
        pair = self.strong(*PAIR, *MOVED, *TIMES, version="2")
        chain = (f"p={pair}", third, *connect("p.b.x=c.x_left", "p.b.v=c.v_left", "c.F=p.b.F_right"))
        master = (*TIMES, "--coupling", "strong", "--solver", "rk4", "--output-step", "0.25")
        whole = self.rows(*PAIR, third, *connect("b.x=c.x_left", "b.v=c.v_left", "c.F=b.F_right"), *MOVED, *master)
        packed = self.rows(*chain, *master)
        self.assert_near(packed, whole, 1e-14)

    def test_going_on(self):
        """States are saved and serialised, in steps that are taken back and in another process; also after an event."""
        for version, model, delta in (("2", "Dahlquist", 0), ("3", "BouncingBall", 1e-9)):
            fmu = self.strong(f"a={kit_fmu(model, '2')}", f"b={kit_fmu('VanDerPol', '3')}", *TIMES, version=version)
            me = ("--interface", "me", "--solver", "rk4", "--solver-step", "0.0009765625") if delta == 0 else ("--interface", "me", "--rtol", "1e-12")
            whole, file, state = self.rows(fmu, *me), self.path("result.csv"), self.path("state")
            self.good("run", fmu, *me, "--stop", "1", "--quiet", "-o", file, "--final-state", state)
            rest = self.rows(fmu, *me, "--start", "1", "--initial-state", state)
            self.assert_near(rest[-16:], whole[-16:], delta)
            self.assertIn("0 errors, 0 warnings", self.tutti("check", "--run", fmu).err)

    def test_dependencies(self):
        """Derivatives follow states of other units through what connects them."""
        for version in "23":
            root = ET.fromstring(description(self.strong(*PAIR, *MOVED, *TIMES, version=version)))
            names = {variable.get("valueReference"): variable.get("name") for variable in root.find("ModelVariables")}
            reference, found = ("valueReference", "ContinuousStateDerivative") if version == "3" else ("index", "Derivatives/Unknown")
            depends = {names[unknown.get(reference)]: [names[other] for other in unknown.get("dependencies").split()]
                       for unknown in root.find("ModelStructure").findall(found)}
            self.assertEqual(depends, {"der(a.x)": ["a.v"], "der(a.v)": ["a.x", "a.v", "a.x_left", "a.v_left", "b.x", "b.v"], "der(b.x)": ["b.v"],
                                       "der(b.v)": ["a.x", "a.v", "b.x", "b.v", "b.F_right"]})

    def test_directional_derivatives(self):
        """Through the graph, with an algebraic loop of arrays: those of the units give what `linearize` finds of the system, to rounding, and what differences of
        the packed system show. Solvers take their Jacobians from them."""
        system = (*SPACES, f"c={kit_fmu('Tracker', '2')}", *connect("a.y[2]=c.u"), f"d={kit_fmu('ChainMass', '2')}", *connect("c.error=d.x_left"), "--stop", "2")
        at, found = ("--at", "1", "--quiet", "-o"), {}
        fmus = {version: self.strong(*system, version=version) for version in "23"}
        for name, arguments in (("itself", system), ("2", (fmus["2"], "--interface", "me")), ("3", (fmus["3"], "--interface", "me")),
                                ("differences", (fmus["3"], "--interface", "me", "--no-directional-derivatives"))):
            self.good("linearize", *arguments, *at, self.path("l.json"))
            with open(self.path("l.json"), encoding="utf-8") as file:
                found[name] = json.load(file)
        self.assertEqual([found[name]["exact"] for name in ("itself", "2", "3", "differences")], [True, True, True, False])
        for name, delta in (("2", 1e-13), ("3", 1e-13), ("differences", 1e-7)):
            for letter in "ABCD":
                for row, other in zip(found["itself"][letter]["dense"], found[name][letter]["dense"], strict=True):
                    for value, its in zip(row, other, strict=True):
                        self.assertAlmostEqual(value, its, delta=delta)
        self.assertNotEqual(found["itself"]["D"]["dense"], [[0.0] * 3] * 9)

    def test_only_where_all_units_are(self):
        for arguments in ((*PAIR, *TIMES), (*PAIR, *TIMES, "--coupling", "newton", "--interface", "me"),
                          (f"a={kit_fmu('VanDerPol', '1me')}", f"b={kit_fmu('VanDerPol', '2')}", "--interface", "me")):
            self.assertNotIn("<ModelExchange", description(self.packed(*arguments)))


class GoingOn(PackTest):
    def test_checkpoints(self):
        """The state of a packed system is serialised: a run goes on in another process."""
        for version in "23":
            fmu = self.packed(*PAIR, *MOVED, *TIMES, *VERSION[version])
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
        for version in ME_VERSIONS:
            for out, model in (("2", "VanDerPol"), ("3", "Dahlquist")):
                with self.subTest(model=model, version=version, out=out):
                    me = (kit_fmu(model, version), "--solver", "bdf", "--stop", "2", "--step", "0.125")
                    fmu = self.packed(*me, "--fmi", out, command="wrap")
                    self.assertIn("CoSimulation", description(fmu))
                    self.assertEqual(self.rows(fmu), self.rows(*me, "--interface", "me"))

    def test_solvers(self):
        """Every solver, in one system of units that have one each."""
        settings = ('<ssd:Annotations><ssc:Annotation type="org.tutti"><tutti:Settings xmlns:tutti="https://tutti.dev/ssp" '
                    'interface="me" solver="{}"/></ssc:Annotation></ssd:Annotations>')
        ssp = self.path("solvers.ssp")
        with zipfile.ZipFile(ssp, "w") as archive:
            archive.writestr("SystemStructure.ssd", ssd("".join(component(solver, "VanDerPol_fmi2.fmu", settings.format(solver)) for solver in SOLVERS)))
            archive.write(kit_fmu("VanDerPol", "2"), "resources/VanDerPol_fmi2.fmu")
        system = (ssp, "--stop", "2", "--step", "0.0625", "--coupling", "jacobi")
        header, *rows = self.rows(*system)
        self.assertEqual(self.rows(self.packed(*system)), [header, *rows])
        self.assertGreater(len(set(rows[-1].split(",")[1::2])), len(SOLVERS) - 2)  # nearly all of them have errors of their own

    def test_events(self):
        """An event of the wrapped FMU ends a step where the importer allows that; else it is crossed on the way."""
        ball = kit_fmu("BouncingBall", "2")
        plain = self.rows(ball, "--interface", "me", "--stop", "2", "--step", "0.25")
        early = self.rows(self.packed(ball, "--stop", "2", "--step", "0.25", "--fmi", "3", command="wrap"))
        self.assertEqual(early, plain)
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
        self.refused_pack(1, "use --fmi 3", f"f={kit_fmu('Feedthrough', '3')}", "-o", out, "--expose", "float32_in")
        self.refused_pack(1, "use --fmi 3", f"f={kit_fmu('Feedthrough', '3')}", "-o", out, "--expose", "binary_in")
        self.refused_pack(1, "Clock", f"f={kit_fmu('Sampler', '3')}", "-o", out, "--expose", "sample", "--fmi", "3")
        self.assertFalse(pathlib.Path(out).exists())

    def test_connectors(self):
        """A connector that has a variable's name is refused; one that has to do with no unit is left out with a word."""
        def system(name, connection):
            connectors = '<ssd:Connectors><ssd:Connector name="{}" kind="output"/><ssd:Connector name="loose" kind="input"/></ssd:Connectors>'
            unit = component("a", "ChainMass_fmi2.fmu", '<ssd:Connectors><ssd:Connector name="v" kind="output"/></ssd:Connectors>')
            with zipfile.ZipFile(self.path("system.ssp"), "w") as archive:
                archive.writestr("SystemStructure.ssd", ssd(unit, connection.format(name), inside=connectors.format(name)))
                archive.write(kit_fmu("ChainMass", "2"), "resources/ChainMass_fmi2.fmu")
            return self.path("system.ssp")
        from_unit = '<ssd:Connection startElement="a" startConnector="v" endConnector="{}"/>'
        out = self.path("out.fmu")
        self.refused_pack(2, "two variables of the FMU would be called 'a.x'", system("a.x", from_unit), "--expose", "a.x", "-o", out)
        self.refused_pack(2, "two variables of the FMU would be called 'time'", system("time", from_unit), "--fmi", "3", "-o", out)
        outcome = self.tutti("pack", system("y", '<ssd:Connection startConnector="loose" endConnector="{}"/>'), "-o", out)
        for word in ("'loose' of the system does not lead to a unit", "'y' of the system does not come from a unit"):
            self.assertIn(word, outcome.err)

    def test_input_stays(self):
        fmu = self.packed(*PAIR, *TIMES)
        before = pathlib.Path(fmu).read_bytes()
        self.refused_pack(2, "is read, and cannot be written", fmu, "-o", fmu)
        self.assertEqual(pathlib.Path(fmu).read_bytes(), before)


class PerStep(CommandTest):
    """What counts communication steps counts the importer's."""

    def test_averages_are_over_the_importers_step(self):
        """x' = -x, x(0) = 1: the mean over a step from t to t + h is (exp(-t) - exp(-t - h)) / h."""
        for version in ("2", "3"):
            self.tutti("wrap", kit_fmu("Tracker", version), "--fmi", version, "--filter", "average", "--set", "x=1", "--set", "T=1", "--rtol", "1e-9", "-o",
                       "w.fmu", "--quiet")
            for step in (0.5, 0.25, 0.05):
                with self.subTest(version=version, step=step):
                    table = Table(self.tutti("run", "w.fmu", "--stop", "7", "--step", repr(step), "-o", "-", "--quiet").out)
                    means = [1] + [(math.exp(step - t) - math.exp(-t)) / step for t in table.times[1:]]
                    self.assert_near(table["y"], means, 1e-6)

    SYSTEM = (f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('Tracker', '2')}", "--connect", "a.y=b.u", "--set", "a.x=1", "--set", "a.T=1", "--set", "b.T=1",
              "--interface", "me")

    def assert_as_flat(self, packed, system, *options):
        """With each step of the importer as the system would be with that step."""
        for step in ("0.5", "0.04"):
            with self.subTest(step=step):
                times = ("--stop", "2", "--step", step, "-o", "-", "--quiet")
                table = Table(self.tutti("run", packed, "--interface", "cs", *times).out)
                flat = Table(self.tutti("run", *system, *options, *times).out)
                for output in ("a.y", "b.y"):
                    self.assert_near(table[output], flat[output], 1e-6)

    def test_averages_and_smoothed_inputs_of_several_components(self):
        cases = {"average": ("--filter", "average"), "smooth": ("--smooth", "--coupling", "jacobi", "--control", "fixed")}
        for name, options in cases.items():
            with self.subTest(name=name):
                self.tutti("pack", *self.SYSTEM, *options, "--rtol", "1e-9", "-o", f"{name}.fmu", "--quiet")
                self.assert_as_flat(f"{name}.fmu", self.SYSTEM, *options, "--rtol", "1e-9")

    def test_tables_of_several_components(self):
        """Read in the middle of a step: x' = u - x has the exact solution of the value there."""
        self.tutti("new", "plain.ssp", *self.SYSTEM, "--interface", "cs", "--control", "fixed", "--quiet")
        table = '<ssd:Component name="t" type="text/csv" source="resources/t.csv"><ssd:Connectors><ssd:Connector name="u" kind="output">' \
                '<ssc:Real/></ssd:Connector></ssd:Connectors></ssd:Component>'
        link = '<ssd:Connection startElement="t" startConnector="u" endElement="a" endConnector="u"/>'
        with zipfile.ZipFile(self.path("plain.ssp")) as plain, zipfile.ZipFile(self.path("middle.ssp"), "w") as middle:
            for name in plain.namelist():
                data = plain.read(name)
                if name == "SystemStructure.ssd":
                    text = data.decode().replace("</ssd:Elements>", table + "</ssd:Elements>").replace("</ssd:Connections>", link + "</ssd:Connections>")
                    data = text.replace('control="fixed"', 'control="fixed" input-at="middle"')
                middle.writestr(name, data)
            middle.writestr("resources/t.csv", "time,u\n0,0\n2,2\n")
        self.tutti("pack", "middle.ssp", "-o", "middle.fmu", "--quiet")
        self.assert_as_flat("middle.fmu", ("middle.ssp",))
        table = Table(self.tutti("run", "middle.fmu", "--stop", "2", "--step", "0.5", "-o", "-", "--quiet").out)
        expected = [1]
        for n in range(4):
            expected.append(expected[-1] * math.exp(-0.5) + (1 - math.exp(-0.5)) * (0.25 + n * 0.5))
        self.assert_near(table["a.y"], expected, 1e-4)

    def test_exact_averages_of_several_components(self):
        self.tutti("pack", *self.SYSTEM, "--filter", "average", "--rtol", "1e-9", "-o", "p.fmu", "--quiet")
        for step in (0.5, 0.1):
            table = Table(self.tutti("run", "p.fmu", "--stop", "3", "--step", repr(step), "-o", "-", "--quiet").out)
            self.assert_near(table["a.y"], [1] + [(math.exp(step - t) - math.exp(-t)) / step for t in table.times[1:]], 1e-6)
        self.assertNotIn("Model Exchange", self.tutti("info", "p.fmu").out.splitlines()[2])

    def test_steps_that_vary_have_no_averages(self):
        outcome = self.tutti("pack", *self.SYSTEM, "--filter", "average", "--control", "richardson", "-o", "p.fmu", status=2)
        self.assertRegex(outcome.err, "'a' has averages over a step.*--control richardson.*use --control fixed")
        table = self.tutti("run", *self.SYSTEM, "--filter", "average", "--stop", "1", "-o", "-")
        self.assertIn("averages over a step", self.tutti("run", *self.SYSTEM, "--filter", "average", "--stop", "1", "--record", "none", "--verbose").err)


if __name__ == "__main__":
    unittest.main()
