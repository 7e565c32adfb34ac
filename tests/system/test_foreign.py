#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Systems in formats of other tools: OspSystemStructure.xml and .msim."""
import csv
import json
import math
import shutil
import unittest

from command import Table, kit_fmu
from nodes import NodesTest

OSP = """<?xml version="1.0" encoding="utf-8"?>
<OspSystemStructure xmlns="http://opensimulationplatform.com/MSMI/OSPSystemStructure" version="0.1">
  <StartTime>0</StartTime>
  <EndTime>1</EndTime>
  <BaseStepSize>0.01</BaseStepSize>
  <Algorithm>fixedStep</Algorithm>
  <Simulators>
    <Simulator name="one" source="fmus/VanDerPol.fmu"/>
    <Simulator name="two" source="fmus/VanDerPol.fmu">
      <InitialValues><InitialValue variable="mu"><Real value="3"/></InitialValue></InitialValues>
    </Simulator>
    <Simulator name="pass" source="fmus/Feedthrough.fmu"/>
    <Simulator name="mass" source="fmus/ChainMass.fmu"{step}/>
  </Simulators>
  <Functions>{functions}</Functions>
  <Connections>{connections}</Connections>
</OspSystemStructure>
"""
GROUPS = """<OspModelDescription xmlns="http://opensimulationplatform.com/MSMI/OSPModelDescription" version="0.1">
  <VariableGroups><LinearMechanicalPort name="{name}">
    <LinearDisplacement name="position"><Variable ref="{first}"/></LinearDisplacement>
    <LinearVelocity name="speed"><Variable ref="{second}"/></LinearVelocity>
  </LinearMechanicalPort></VariableGroups>
</OspModelDescription>
"""


def variable(unit, name):
    return f'<Variable simulator="{unit}" name="{name}"/>'


def signal(function, name):
    return f'<Signal function="{function}" name="{name}"/>'


def link(*ends):
    return f"<VariableConnection>{''.join(ends)}</VariableConnection>"


def signal_link(*ends):
    return f"<SignalConnection>{''.join(ends)}</SignalConnection>"


class ForeignTest(NodesTest):
    def setUp(self):
        super().setUp()
        (self.folder / "fmus").mkdir()
        for model in ("VanDerPol", "Feedthrough", "ChainMass", "Heater"):
            shutil.copy(kit_fmu(model, "2"), self.folder / "fmus" / f"{model}.fmu")

    def osp(self, connections, functions="", step=""):
        return self.write("OspSystemStructure.xml",
                          OSP.format(connections="\n".join(connections), functions=functions, step=step))

    def rows(self, *options, status=0):
        outcome = self.tutti("run", "OspSystemStructure.xml", "-o", "-", "--quiet", *options, status=status)
        return outcome, Table(outcome.out)


class Osp(ForeignTest):
    def test_sum_and_linear_transformation(self):
        """Functions are computed with the transfer: they delay nothing. An end may come first or second."""
        self.osp([signal_link(variable("one", "x0"), signal("sum", "in[0]")),
                  signal_link(signal("sum", "in[1]"), variable("two", "x0")),
                  signal_link(signal("sum", "out"), variable("pass", "float64_in")),
                  signal_link(variable("one", "x1"), signal("scale", "in")),
                  signal_link(variable("mass", "F_right"), signal("scale", "out"))],
                 '<LinearTransformation name="scale" factor="0.5" offset="3"/><Sum name="sum" inputCount="2"/>')
        _, table = self.rows("--record", "*")
        self.assertEqual(len(table), 101)
        one, two, scaled = table["one.x0"], table["two.x0"], table["one.x1"]
        self.assertNotEqual(one, two)  # mu is another
        self.assertEqual(table["pass.float64_out"][1:], [a + b for a, b in zip(one[:-1], two[:-1])])
        self.assertEqual(table["mass.F_right"], [0.5 * value + 3 for value in scaled])

    def test_vector_sum_of_groups(self):
        self.write("VanDerPol_OspModelDescription.xml", GROUPS.format(name="state", first="x0", second="x1"))
        (self.folder / "fmus" / "ChainMass_OspModelDescription.xml").write_text(
            GROUPS.format(name="left", first="x_left", second="v_left"), encoding="utf-8")
        group = '<VariableGroup simulator="{}" name="{}"/>'
        groups = '<SignalGroup function="sum" name="{}"/>'
        self.osp([f"<SignalGroupConnection>{groups.format('in[0]')}{group.format('one', 'state')}</SignalGroupConnection>",
                  f"<SignalGroupConnection>{groups.format('in[1]')}{group.format('two', 'state')}</SignalGroupConnection>",
                  f"<SignalGroupConnection>{groups.format('out')}{group.format('mass', 'left')}</SignalGroupConnection>"],
                 '<VectorSum name="sum" inputCount="2" dimension="2"/>')
        _, table = self.rows("--record", "*")
        for state, left in (("x0", "mass.x_left"), ("x1", "mass.v_left")):
            self.assertEqual(table[left], [a + b for a, b in zip(table[f"one.{state}"], table[f"two.{state}"])])

    def test_groups_are_connected_member_by_member(self):
        self.write("VanDerPol_OspModelDescription.xml", GROUPS.format(name="state", first="x0", second="x1"))
        self.write("ChainMass_OspModelDescription.xml", GROUPS.format(name="left", first="x_left", second="v_left"))
        self.osp(['<VariableGroupConnection><VariableGroup simulator="mass" name="left"/>'
                  '<VariableGroup simulator="one" name="state"/></VariableGroupConnection>'])
        _, table = self.rows("--record", "*")
        self.assertEqual(table["mass.x_left"], table["one.x0"])
        self.assertEqual(table["mass.v_left"], table["one.x1"])

    def test_steps(self):
        """A unit's own step is a multiple of the base step, and the command line is above the file."""
        self.osp([], step=' stepSize="0.05"')
        self.tutti("run", "OspSystemStructure.xml", "--quiet", "--stats", "stats.json", "-o", "a.csv")
        self.assertEqual(self.do_steps(), {"one": 100, "two": 100, "pass": 100, "mass": 20})
        self.osp([], step=' stepSize="0.0204"')
        outcome = self.tutti("run", "OspSystemStructure.xml", "--stats", "stats.json", "-o", "a.csv")
        self.assertRegex(outcome.err, "the step of 'mass', 0.0204, is no multiple of the base step 0.01; it makes steps of 0.02")
        self.assertEqual(self.do_steps()["mass"], 50)
        self.osp([])
        self.tutti("run", "OspSystemStructure.xml", "--quiet", "--step", "0.1", "--stats", "stats.json", "-o", "a.csv")
        self.assertEqual(self.do_steps()["mass"], 10)

    def do_steps(self):
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return {unit["name"]: unit["do_steps"] for unit in json.load(file)["units"]}

    def test_every_fabric(self):
        self.osp([signal_link(variable("one", "x0"), signal("sum", "in[0]")),
                  signal_link(signal("sum", "in[1]"), variable("two", "x0")),
                  signal_link(signal("sum", "out"), variable("mass", "x_left"))],
                 '<Sum name="sum" inputCount="2"/>')
        alone, _ = self.rows()
        for fabric in (("--threads", "3"), ("--processes", "2"), self.on(self.node("a"), self.node("b"))):
            self.assertEqual(self.rows(*fabric)[0].out, alone.out, fabric)

    def test_steps_on_nodes(self):
        """Steps and start values of the file reach units wherever they are."""
        self.osp([link(variable("two", "x0"), variable("mass", "x_left"))], step=' stepSize="0.05"')
        nodes = self.on(self.node("a"), self.node("b"))
        for placed in ("one", "two", "mass"):
            alone, _ = self.rows("--record", "*")
            outcome, _ = self.rows("--record", "*", "--stats", "stats.json", *nodes, "--place", f"{placed}=1")
            self.assertEqual(outcome.out, alone.out, placed)
            self.assertEqual(self.do_steps(), {"one": 100, "two": 100, "pass": 100, "mass": 20})

    def test_new(self):
        self.osp([signal_link(variable("one", "x0"), signal("scale", "in")),
                  signal_link(variable("mass", "F_right"), signal("scale", "out")),
                  link(variable("two", "x0"), variable("mass", "x_left"))],
                 '<LinearTransformation name="scale" factor="0.5" offset="3"/>')
        self.tutti("new", "same.ssp", "OspSystemStructure.xml", "--quiet")
        same = self.tutti("run", "same.ssp", "-o", "-", "--quiet", "--coupling", "jacobi", "--control", "fixed", "--events", "none",
                          "--extrapolate", "0", "--step", "0.01", "--stop", "1")
        self.assertEqual(same.out, self.rows()[0].out)

    def test_new_has_no_words_for_sums(self):
        self.osp([signal_link(variable("one", "x0"), signal("sum", "in[0]")),
                  signal_link(signal("sum", "in[1]"), variable("two", "x0")),
                  signal_link(signal("sum", "out"), variable("mass", "x_left"))], '<Sum name="sum" inputCount="2"/>')
        self.refused("new", "same.ssp", "OspSystemStructure.xml", "--quiet", status=2,
                     says="'mass.x_left' is a sum of several outputs, which SSP has no words for")

    def test_check(self):
        self.osp([link(variable("one", "x0"), variable("none", "u")),
                  link(variable("one", "x0"), variable("mass", "F_rigth")),
                  link(variable("one", "x0"), variable("mass", "F_right")),
                  link(variable("two", "x0"), variable("mass", "F_right")),
                  link(variable("one", "x0"), variable("two", "x1")),
                  signal_link(variable("one", "x0"), signal("sum", "in[2]")),
                  '<VariableGroupConnection><VariableGroup simulator="mass" name="left"/>'
                  '<VariableGroup simulator="one" name="state"/></VariableGroupConnection>'],
                 '<Sum name="sum" inputCount="2"/>')
        outcome = self.tutti("check", "OspSystemStructure.xml", status=1)
        for words in ("'none.u': there is no such simulator", "did you mean 'F_right'", "'mass.F_right' has two sources",
                      "values come out of both", "'sum.in[2]': the function has no such signal",
                      "'mass.left': there is no such group of variables"):
            self.assertIn(words, outcome.out)
        self.assertIn("OspSystemStructure.xml:17", outcome.out.replace(self.path(""), ""))

    def test_wrong_files(self):
        for text, says in (("<a/>", "found <a>, expected <OspSystemStructure>"),
                           ("<OspSystemStructure/>", "<Simulators> is missing"),
                           ("<OspSystemStructure><Simulators/></OspSystemStructure>", "there is no simulator in it"),
                           ('<OspSystemStructure><Simulators><Simulator name="a" source="none.fmu"/></Simulators>'
                            "</OspSystemStructure>", "simulator 'a': cannot read none.fmu"),
                           ('<OspSystemStructure><Simulators><Simulator name="a" source="fmus/VanDerPol.fmu"/></Simulators>'
                            '<Functions><Sum name="s" inputCount="0"/></Functions></OspSystemStructure>', "no number from 1 to")):
            self.write("OspSystemStructure.xml", text)
            self.refused("run", "OspSystemStructure.xml", "-o", "-", "--quiet", status=1, says=says)
        self.refused("run", "OspSystemStructure.xml", "fmus/VanDerPol.fmu", status=2, says="cannot be a part of a larger system")


class Msim(ForeignTest):
    PROJECT = """# A comment with many, many, many, many, many, many words
tStart  0 s
tEnd    1 min
hStart  500 ms
adjustStepSize no
MasterMode {mode}
maxIterations {iterations}
relTol 1e-6

simulator 0 0 one #ff8c00 "fmus/VanDerPol.fmu"
simulator 1 0 pass #ff8c00 "fmus/Feedthrough.fmu"
parameter one.mu 2
parameter pass.string_parameter "two words"
graph one.x0 pass.float64_in {scale}
"""

    def run_project(self, *options, mode="GAUSS_JACOBI", iterations=1, scale=""):
        self.write("project.msim", self.PROJECT.format(mode=mode, iterations=iterations, scale=scale))
        return self.simulate("project.msim", *options)

    def test_connection(self):
        table = self.run_project(scale="1.5 -2 0.8 #000000")
        self.assertEqual(table.times[:3] + table.times[-1:], [0, 0.5, 1, 60])
        self.assertEqual(table["pass.float64_out"][1:], [1.5 - 2 * value for value in table["one.x0"][:-1]])
        self.assertTrue(all("two words" in text or text for text in table.texts("pass.string_out")))

    def test_tables(self):
        """A simulator that is a table drives inputs; columns may have a unit behind their name, and points in it."""
        self.write("table.tsv", "Time [min]\tshift.u [-]\tother [m]\n0\t1\t5\n1\t61\t5\n")
        self.write("project.msim", "tEnd 60 s\nhStart 0.5 s\nsimulator 0 0 values #000000 \"table.tsv\"\n"
                   "simulator 1 0 pass #ff8c00 \"fmus/Feedthrough.fmu\"\ngraph values.shift.u pass.float64_in\n")
        table = self.simulate("project.msim", "--input-at", "begin")
        self.assert_near(table["pass.float64_out"][1:], [1 + t for t in table.times[:-1]], 1e-12)
        for document in ("same.ssp", "same.ssd"):
            self.tutti("new", document, "project.msim", "--quiet")
            self.tutti("check", document)
            self.assertEqual(self.simulate(document, "--input-at", "begin").rows, table.rows, document)
        self.tutti("pack", "project.msim", "-o", "packed.fmu", "--quiet")
        self.assertIn("pass.float64_out", self.tutti("info", "packed.fmu", "--variables").out)
        self.write("project.msim", "tEnd 60 s\nhStart 0.5 s\nsimulator 0 0 values #000000 \"table.tsv\"\n"
                   "simulator 1 0 pass #ff8c00 \"fmus/Feedthrough.fmu\"\ngraph values.none pass.float64_in\n")
        self.assertIn("'values.none': the table has no such column", self.tutti("check", "project.msim", status=1).out)

    def test_every_fabric(self):
        """Tables, masters and scaled connections come to the same wherever units are."""
        self.write("table.tsv", "Time [min]\tshift [-]\n0\t1\n1\t61\n")
        project = self.PROJECT.replace("graph one.x0", 'simulator 2 0 values #000000 "table.tsv"\ngraph values.shift '
                                       "pass.float64_discrete_in\ngraph one.x0")
        nodes = self.on(self.node("a"), self.node("b"))
        for mode, iterations in (("GAUSS_JACOBI", 1), ("GAUSS_SEIDEL", 4), ("NEWTON", 20)):
            self.write("project.msim", project.format(mode=mode, iterations=iterations, scale="1.5 -2"))
            alone = self.tutti("run", "project.msim", "--quiet", "-o", "-").out
            for fabric in (("--threads", "2"), ("--processes", "2"), nodes):
                self.assertEqual(self.tutti("run", "project.msim", "--quiet", "-o", "-", *fabric).out, alone, fabric)

    def test_one_simulator(self):
        """Its master has nothing to couple, and is no reason to refuse the file."""
        self.write("project.msim", "tEnd 1 s\nhStart 0.5 s\nMasterMode GAUSS_SEIDEL\nmaxIterations 3\n"
                   "simulator 0 0 one #000000 \"fmus/VanDerPol.fmu\"\n")
        self.assertEqual(self.simulate("project.msim").times, [0, 0.5, 1])

    def stats_of(self, project, *options):
        self.write("project.msim", project)
        self.tutti("run", "project.msim", "-o", "a.csv", "--quiet", "--stats", "stats.json", *options)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_one_simulator_and_a_table(self):
        """Inputs from a table are a reason to control steps: the settings for that, and the tolerances, have an effect."""
        self.write("table.csv", "time,u\n" + "".join(f"{0.1 * k},{math.sin(0.1 * k)}\n" for k in range(101)))
        project = ("tEnd 10 s\nhStart 0.5 s\nhMin 1e-6 s\nMasterMode GAUSS_SEIDEL\nmaxIterations {iterations}\nrelTol {rtol}\nabsTol 1e-9\n"
                   "adjustStepSize yes\nErrorControlMode {mode}\nsimulator 0 0 cell #000000 \"fmus/Cell.fmu\"\n"
                   "simulator 0 0 values #000000 \"table.csv\"\ngraph values.u cell.u1\n")
        shutil.copy(kit_fmu("Cell", "2"), self.folder / "fmus" / "Cell.fmu")
        steps = {rtol: self.stats_of(project.format(mode="STEP_DOUBLING", iterations=1, rtol=rtol)) for rtol in (1e-4, 1e-7)}
        self.assertEqual({stats["control"] for stats in steps.values()}, {"richardson"})
        self.assertGreater(steps[1e-7]["steps"], 2 * steps[1e-4]["steps"])
        self.assertEqual(self.stats_of(project.format(mode="NONE", iterations=4, rtol=1e-4))["steps"], 20)  # nothing is iterated

    def test_new_converts_no_units_either(self):
        """MasterSim converts no units, so the SSP made of a project suppresses the conversion where units differ, and only there."""
        self.write("project.msim", "tEnd 10 s\nhStart 0.5 s\nsimulator 0 0 a #ff8c00 \"fmus/Heater.fmu\"\n"
                   "simulator 1 0 b #ff8c00 \"fmus/Heater.fmu\"\nsimulator 2 0 c #ff8c00 \"fmus/Heater.fmu\"\n"
                   "graph a.T_celsius b.T_outside\ngraph b.T c.T_outside\n")
        self.tutti("new", "same.ssd", "project.msim", "--quiet")
        with open(self.path("same.ssd"), encoding="utf-8") as file:
            connections = [line for line in file if "<ssd:Connection " in line]
        self.assertEqual(["suppressUnitConversion" in line for line in connections],
                         ["T_celsius" in line for line in connections])
        table = self.simulate("project.msim", "--record", "*.T_outside")
        self.assertEqual(self.simulate("same.ssd", "--record", "*.T_outside").rows, table.rows)
        self.assertLess(table["b.T_outside"][-1], 100)

    def test_control_without_use(self):
        """An FMU that takes the slopes of its inputs follows a table exactly: the file's control has no effect, and is reported."""
        self.write("table.csv", "time,u\n0,0\n10,1\n")
        shutil.copy(kit_fmu("CellMoves", "2"), self.folder / "fmus" / "Cell.fmu")
        self.write("project.msim", "tEnd 10 s\nhStart 0.5 s\nadjustStepSize yes\nErrorControlMode STEP_DOUBLING\n"
                   "simulator 0 0 cell #000000 \"fmus/Cell.fmu\"\nsimulator 0 0 values #000000 \"table.csv\"\ngraph values.u cell.u1\n")
        outcome = self.tutti("run", "project.msim", "-o", "a.csv")
        self.assertIn("--control richardson has no effect", outcome.err)

    def test_fixed_steps_locate_no_events(self):
        """As MasterSim: discrete outputs change at the communication points."""
        shutil.copy(kit_fmu("Stair", "2"), self.folder / "fmus" / "Stair.fmu")
        stats = self.stats_of("tEnd 10 s\nhStart 0.3 s\nsimulator 0 0 stair #000000 \"fmus/Stair.fmu\"\n"
                              "simulator 1 0 pass #000000 \"fmus/Feedthrough.fmu\"\ngraph stair.counter pass.int32_in\n")
        self.assertEqual((stats["events"], stats["rejected"], stats["steps"]), ("none", 0, 34))

    def test_fall_back_limit(self):
        """Below hFallBackLimit a step that has not converged is accepted; with error control that is not possible, and reported."""
        project = ("tEnd 5 s\nhStart 0.5 s\nhMin 1e-9 s\nhFallBackLimit {limit} s\nmaxIterations 2\nrelTol 1e-12\nabsTol 1e-12\n"
                   "adjustStepSize yes\nErrorControlMode {mode}\nMasterMode GAUSS_SEIDEL\n"
                   "simulator 0 0 left #000000 \"fmus/ChainMass.fmu\"\nsimulator 1 0 right #000000 \"fmus/ChainMass.fmu\"\n"
                   "graph left.x right.x_left\ngraph left.v right.v_left\ngraph right.F left.F_right\nparameter left.x 0.1\n")
        sizes = []
        for limit in (0.1, 0.01):
            self.stats_of(project.format(limit=limit, mode="NONE"), "--step-log", "steps.csv")
            with open(self.path("steps.csv"), encoding="utf-8") as file:
                sizes.append(min(float(row["h"]) for row in csv.DictReader(file)))
        self.assertEqual([round(size, 6) for size in sizes], [0.1, 0.01])
        self.write("project.msim", project.format(limit=0.1, mode="STEP_DOUBLING"))
        outcome = self.tutti("run", "project.msim", "-o", "a.csv", "--rtol", "1e-3")
        self.assertIn("project.msim:4: hFallBackLimit has no effect", outcome.err)

    def test_masters(self):
        for mode, iterations, coupling in (("GAUSS_JACOBI", 1, "jacobi"), ("GAUSS_SEIDEL", 1, "seidel"),
                                           ("GAUSS_SEIDEL", 4, "relax"), ("NEWTON", 1, "newton"), ("NEWTON", 20, "newton")):
            self.run_project("--stats", self.path("stats.json"), mode=mode, iterations=iterations)
            self.assertIn(f'"coupling": "{coupling}"', open(self.path("stats.json"), encoding="utf-8").read())

    def test_wrong_files(self):
        for line, says in (("graph one.x0", "project.msim:1: found 2 words, expected: graph FROM TO"),
                           ("graph one two.x", "found 'one', expected SIMULATOR.VARIABLE"),
                           ("tEnd 1 furlong", "'furlong' is no unit of time that is known"),
                           ("tEnd soon", "found 'soon', expected a number"),
                           ("parameter one.mu", "expected: parameter SIMULATOR.NAME VALUE"),
                           ("MasterMode MAGIC", "MasterMode 'MAGIC' is none of"),
                           ("simulator 0 0 one", "expected: simulator PRIORITY CYCLE NAME COLOUR"),
                           ("tStart", "found 'tStart' alone")):
            self.write("project.msim", line + "\n")
            self.refused("run", "project.msim", "-o", "-", "--quiet", status=1, says=says)


if __name__ == "__main__":
    unittest.main()
