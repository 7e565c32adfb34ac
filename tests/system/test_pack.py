#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Systems as one FMU (`tutti pack`), Model Exchange FMUs as FMUs for Co-Simulation (`tutti wrap`): they give the rows of what was packed, by FMI 2.0 and
3.0, alone and in other systems, go back, are saved and go on elsewhere; what cannot be packed is told."""
import pathlib
import unittest
import xml.etree.ElementTree as ET

from command import ME_VERSIONS, CommandTest, description, kit_fmu
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
