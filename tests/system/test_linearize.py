#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti linearize`: matrices against exact ones, at the start and later, in JSON and MAT; what it says and refuses."""
import json
import math
import os
import pathlib
import re
import shutil
import unittest
import zipfile

import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse
from scipy.integrate import solve_ivp

from command import FMUS, TUTTI, CommandTest, kit_fmu, test_fmu

VERSIONS = ("1me", "2", "3")  # of Model Exchange, as in the names of the kit's FMUs
EXAMPLES = FMUS.parent / "examples"
G = 9.81
EXACT, DIFFERENCES = 1e-15, 1e-8  # tolerances


def pendulum_fmu(version):
    return str(EXAMPLES / "coupled_pendula" / f"Pendulum_fmi{version}.fmu")


def mass_fmu(version):
    return str(EXAMPLES / "mass_spring_damper" / f"RightMass_fmi{version}.fmu")


def pendulum_matrices(x1, u1, u2, u3):
    """A and B of Pendulum.c: x2' = (u3 - g) sin x1 + (u1 + u2) cos x1."""
    slope = (u3 - G) * math.cos(x1) - (u1 + u2) * math.sin(x1)
    return [[0, 1], [slope, 0]], [[0, 0, 0], [math.cos(x1), math.cos(x1), math.sin(x1)]]


def subsystem_fmu(model, version):
    """x' = -x + b u, y = c x + d u; SubsystemPlain has no directional derivatives."""
    return str(EXAMPLES / "linear_coupling" / f"{model}_fmi{version}.fmu")


class System:
    """What the command wrote as JSON; A ... D as arrays, made of their columns."""

    def __init__(self, text):
        self.json = json.loads(text)
        for letter in "ABCD":
            setattr(self, letter, self.matrix(self.json[letter]))
        self.eigenvalues = np.array([value["re"] + 1j * value["im"] for value in self.json["eigenvalues"] or []])

    def __getitem__(self, key):
        return self.json[key]

    @staticmethod
    def matrix(json_matrix):
        shape = (json_matrix["rows"], json_matrix["columns"])
        parts = (np.array(json_matrix["values"]), np.array(json_matrix["row_indices"], dtype=int),
                 np.array(json_matrix["starts"], dtype=int))
        assert parts[2][0] == 0 and parts[2][-1] == len(parts[0]) == len(parts[1])
        full = np.zeros(shape)
        for column in range(shape[1]):
            rows = parts[1][parts[2][column]:parts[2][column + 1]]
            assert all(rows[:-1] < rows[1:]), "rows ascend"
            full[rows, column] = parts[0][parts[2][column]:parts[2][column + 1]]
        if max(shape) <= 100:
            assert np.array_equal(full, np.array(json_matrix["dense"]).reshape(shape)), "both forms say the same"
        else:
            assert "dense" not in json_matrix
        return full

    @property
    def names(self):
        return tuple(self.json[f"{kind}_names"] for kind in ("state", "input", "output"))


class LinearizeTest(CommandTest):
    def linearize(self, fmu, *options):
        """JSON on standard output; nobody may have been warned."""
        outcome = self.tutti("linearize", fmu, "-o", "-", "--quiet", *options)
        self.assertEqual(outcome.err, "")
        return System(outcome.out)

    def without_directional(self, fmu):
        """A copy of an FMU (2.0, 3.0) that gives no directional derivatives for Model Exchange."""
        word = "providesDirectionalDerivatives" if "fmi3" in str(fmu) else "providesDirectionalDerivative"
        return self.altered(fmu, (f'{word}="true"', f'{word}="false"'), name="differences.fmu")

    def summary(self, fmu, *options):
        return self.tutti("linearize", fmu, "-o", self.path("out.json"), *options).err

    def assert_matrix(self, matrix, expected, tolerance):
        expected = np.array(expected, dtype=float)
        self.assertEqual(matrix.shape, expected.shape)
        if expected.size:
            self.assertLessEqual(np.abs(matrix - expected).max(), tolerance * max(1, np.abs(expected).max()), matrix)


class Matrices(LinearizeTest):
    def test_linear_system(self):
        """A system that is linear gives back its own matrices, with arrays element by element."""
        fmu = kit_fmu("StateSpace", "3")
        for path, exact in ((fmu, True), (self.without_directional(fmu), False)):
            system, tolerance = self.linearize(path), EXACT if exact else DIFFERENCES
            self.assertEqual(system["exact"], exact)
            self.assert_matrix(system.A, [[-1, 1, 0], [0, -2, 1], [0, 0, -3]], tolerance)
            self.assert_matrix(system.B, [[1, 0], [0, 1], [1, 1]], tolerance)
            self.assert_matrix(system.C, [[1, 0, 0], [0, 1, 1]], tolerance)
            self.assert_matrix(system.D, [[0, 0], [0.5, 0]], tolerance)
            self.assertEqual(system.names, (["x[1]", "x[2]", "x[3]"], ["u[1]", "u[2]"], ["y[1]", "y[2]"]))
            self.assertEqual((system["time"], system["x0"], system["u0"]), (0, [1, 0, -1], [1, 2]))
            self.assertEqual((system["dx0"], system["y0"]), ([0, 1, 6], [1, -0.5]))

    def test_other_sizes(self):
        sizes = "--set n=1 --set m=1 --set r=3 --set A=-7 --set B=2".split()
        system = self.linearize(kit_fmu("StateSpace", "3"), *sizes, "--set", "C=1 2 3", "--set", "D=4 5 6",
                                "--set", "x0=0.5")
        for matrix, expected in ((system.A, [[-7]]), (system.B, [[2]]), (system.C, [[1], [2], [3]]),
                                 (system.D, [[4], [5], [6]])):
            self.assert_matrix(matrix, expected, 0)

    def test_nonlinear_model(self):
        """Exact derivatives at a point that is no rest, in every version, with directional derivatives and without."""
        point = dict(x1=0.7, u1=0.25, u2=-2, u3=1.5)
        settings = [word for name, value in point.items() for word in ("--set", f"{name}={value}")]
        A, B = pendulum_matrices(**point)
        fmus = [(pendulum_fmu(version), version != "1me") for version in VERSIONS]
        fmus += [(self.without_directional(pendulum_fmu("2")), False)]
        for fmu, exact in fmus:
            for options in ((), ("--jacobian", "plain")):
                with self.subTest(fmu=fmu, options=options):
                    system, tolerance = self.linearize(fmu, *settings, *options), EXACT if exact else DIFFERENCES
                    self.assertEqual(system["exact"], exact)
                    self.assert_matrix(system.A, A, tolerance)
                    self.assert_matrix(system.B, B, tolerance)
                    self.assert_matrix(system.C, np.eye(2), tolerance)
                    self.assert_matrix(system.D, np.zeros((2, 3)), tolerance)
                    self.assertEqual(system.names, (["x1", "x2"], ["u1", "u2", "u3"], ["x1", "x2"]))
                    self.assertEqual(system["u0"], [0.25, -2, 1.5])
                    self.assertAlmostEqual(system["dx0"][1], (1.5 - G) * math.sin(0.7) - 1.75 * math.cos(0.7), 14)

    def test_sparsity(self):
        """The model structure says where zeros are; FMI 1.0 says it of D alone."""
        system = self.linearize(mass_fmu("2"))
        self.assertTrue(system["structure_known"])
        self.assertEqual([len(system[letter]["values"]) for letter in "ABCD"], [3, 2, 2, 0])
        self.assertEqual((system["A"]["starts"], system["A"]["row_indices"]), ([0, 1, 3], [1, 0, 1]))
        system = self.linearize(mass_fmu("1me"))
        self.assertEqual([len(system[letter]["values"]) for letter in "ABCD"], [4, 4, 4, 0])
        self.assert_matrix(system.A, [[0, 1], [-75, -2.1]], DIFFERENCES)
        self.assert_matrix(system.B, [[0, 0], [25, 0.1]], DIFFERENCES)
        self.assert_matrix(system.C, np.eye(2), DIFFERENCES)
        silent = self.altered(mass_fmu("1me"), *2 * [("<DirectDependency></DirectDependency>", "")])
        self.assertFalse(self.linearize(silent)["structure_known"])

    def test_large_system(self):
        """142 states: too many for rows that people read; columns share evaluations."""
        fmu = str(EXAMPLES / "chromatography" / "Chromatography_fmi3.fmu")
        exact, differences = self.linearize(fmu), self.linearize(self.without_directional(fmu))
        self.assertEqual(exact["A"]["rows"], 142)
        self.assertEqual(len(exact["A"]["values"]), 515)
        self.assertEqual(exact["A"]["row_indices"], differences["A"]["row_indices"])
        self.assertTrue(exact["exact"] and not differences["exact"])
        for letter in "ABCD":
            self.assert_matrix(getattr(differences, letter), getattr(exact, letter), 1e-7)
        self.assertEqual(len(exact.eigenvalues), 142)

    def test_aliases(self):
        """FMI 1.0: outputs that are other names of variables, with and without a minus sign."""
        alias = ('<ScalarVariable name="{}" valueReference="1" variability="continuous" causality="output" '
                 'alias="{}"><Real/></ScalarVariable>')
        fmu = self.altered(mass_fmu("1me"), ("  </ModelVariables>", alias.format("same", "alias") +
                                             alias.format("contrary", "negatedAlias") + "</ModelVariables>"))
        system = self.linearize(fmu)
        self.assertEqual(system["output_names"], ["x2", "v2", "same", "contrary"])
        self.assertEqual(system["y0"], [2, 0, 2, -2])
        self.assert_matrix(system.C, [[1, 0], [0, 1], [1, 0], [-1, 0]], DIFFERENCES)

    def test_nominal_of_an_input(self):
        """Differences move an input by its own measure. Steps of 6e-6 would be lost in 1e12."""
        fmu, settings = pendulum_fmu("1me"), ("--set", "u2=1e12", "--set", "x1=0")
        fmu = self.altered(fmu, *3 * [('"input"><Real start', '"input"><Real nominal="1e12" start')])
        self.assert_matrix(self.linearize(fmu, *settings).B[1:, 0:1], [[1]], DIFFERENCES)


class Points(LinearizeTest):
    def test_later(self):
        """Where the run is at that time, not where it started."""
        def slope(_, x):
            return x[1], (1 - x[0] ** 2) * x[1] - x[0]
        expected = solve_ivp(slope, (0, 7.03125), (2, 0), rtol=1e-11, atol=1e-12).y[:, -1]
        for version in VERSIONS:
            system = self.linearize(kit_fmu("VanDerPol", version), "--at", "7.03125", "--rtol", "1e-9")
            self.assertEqual(system["time"], 7.03125)
            self.assert_near(system["x0"], expected, 1e-6)
            x, v = system["x0"]
            tolerance = DIFFERENCES if version == "1me" else EXACT
            self.assert_matrix(system.A, [[0, 1], [-2 * x * v - 1, 1 - x * x]], tolerance)
            self.assert_near(system["dx0"], slope(0, (x, v)), 1e-14)
            self.assertEqual(system["y0"], system["x0"])

    def test_solvers_and_times(self):
        for options in (("--solver", "rk4", "--solver-step", "0.01"), ("--solver", "radau5", "--rtol", "1e-8"),
                        ("--step", "0.3"), ("--h-max", "0.01")):
            system = self.linearize(kit_fmu("Dahlquist", "2"), "--at", "2", "--start", "1", "--set", "k=3", *options)
            self.assert_near(system["x0"], [math.exp(-3)], 1e-4)
            self.assert_matrix(system.A, [[-3]], DIFFERENCES)
        for at in ("1", "4"):  # the first and the last point of a run
            system = self.linearize(kit_fmu("Dahlquist", "3"), "--start", "1", "--stop", "4", "--at", at)
            self.assertEqual(system["time"], float(at))

    def test_after_an_event(self):
        """The ball at t = 1 has bounced once: up with 0.7 of its speed at sqrt(2 / g)."""
        bounce, speed = math.sqrt(2 / G), 0.7 * math.sqrt(2 * G)
        for version in VERSIONS:
            system = self.linearize(kit_fmu("BouncingBall", version), "--at", "0.7", "--rtol", "1e-8")
            rise = 0.7 - bounce
            self.assert_near(system["x0"], [speed * rise - G / 2 * rise ** 2, speed - G * rise], 1e-6)
            self.assert_matrix(system.A, [[0, 1], [0, 0]], DIFFERENCES)
            self.assert_near(system["dx0"], [speed - G * rise, -G], 1e-6)

    def test_inputs(self):
        """Inputs as the file has them at that time: on the way between rows, and after a jump."""
        table = self.write("u.csv", "time,u1,u3\n0,0,1\n1,2,1\n1,2,4\n2,2,4\n")
        for version in VERSIONS:
            for at, u1, u3 in (("0", 0, 1), ("0.375", 0.75, 1), ("1", 2, 4), ("1.5", 2, 4)):
                with self.subTest(version=version, at=at):
                    system = self.linearize(pendulum_fmu(version), "--input", table, "--at", at, "--set", "u2=0.5")
                    self.assert_near(system["u0"], [u1, 0.5, u3], 1e-14)
                    A, B = pendulum_matrices(system["x0"][0], u1, 0.5, u3)
                    tolerance = DIFFERENCES if version == "1me" else 1e-13
                    self.assert_matrix(system.A, A, tolerance)
                    self.assert_matrix(system.B, B, tolerance)


class Shapes(LinearizeTest):
    def test_no_states(self):
        """Outputs that are the inputs: D alone."""
        for version in VERSIONS:
            system = self.linearize(kit_fmu("Feedthrough", version))
            n = len(system["input_names"])
            self.assertEqual((system.A.shape, system.B.shape, system.C.shape), ((0, 0), (0, n), (n, 0)))
            self.assert_matrix(system.D, np.eye(n), DIFFERENCES)
            self.assertEqual((system["eigenvalues"], system["stability"]), ([], "unknown"))
            self.assertIsNone(system["stiffness_ratio"])
            self.assertIn("there are no states, only D", self.summary(kit_fmu("Feedthrough", version)))
        self.assertEqual(n, 7)  # FMI 3.0: a scalar and an array of 2 x 3

    def test_no_inputs(self):
        for version in VERSIONS:
            system = self.linearize(kit_fmu("VanDerPol", version))
            self.assertEqual((system.B.shape, system.D.shape), ((2, 0), (2, 0)))
            self.assertEqual((system["input_names"], system["u0"]), ([], []))

    def test_no_outputs(self):
        fmu = self.altered(kit_fmu("Dahlquist", "1me"), ('causality="output"', 'causality="internal"'))
        system = self.linearize(fmu)
        self.assertEqual((system.C.shape, system.D.shape), ((0, 1), (0, 0)))
        self.assert_matrix(system.A, [[-1]], DIFFERENCES)

    def test_neither(self):
        """The stair has nothing that is continuous."""
        system = self.linearize(kit_fmu("Stair", "3"), "--at", "2.5")
        self.assertEqual([getattr(system, letter).shape for letter in "ABCD"], 4 * [(0, 0)])


class CoSimulation(LinearizeTest):
    """What is left of an FMU that hides its states: D."""

    def hidden(self, fmu, *options):
        return System(self.tutti("linearize", fmu, "-o", "-", "--quiet", "--interface", "cs", *options).out)

    @staticmethod
    def without_dependence(fmu):
        """Changes of a description that says of all unknowns that they depend on nothing."""
        with zipfile.ZipFile(fmu) as archive:
            unknowns = re.findall(r"<Unknown [^>]*>", archive.read("modelDescription.xml").decode())
        return [(tag, re.sub(r' dependencies(Kind)?="[^"]*"', "", tag).replace("<Unknown ", '<Unknown dependencies="" ')) for tag in dict.fromkeys(unknowns)]

    def test_d(self):
        for model, exact in (("Subsystem", True), ("SubsystemPlain", False)):
            for version in ("2", "3"):
                for at in ("0", "0.5"):
                    system = self.hidden(subsystem_fmu(model, version), "--set", "d=-0.75", "--set", "c=3", "--at", at)
                    self.assertEqual((system["exact"], system["state_names"], system.A.shape), (exact, [], (0, 0)))
                    self.assertEqual(len(system["hidden"]), 1)
                    self.assert_matrix(system.D, [[-0.75]], EXACT if exact else 1e-7)

    def test_same_as_model_exchange(self):
        for fmu in (kit_fmu("Tracker", "2"), kit_fmu("Feedthrough", "3"), mass_fmu("2"), mass_fmu("3")):
            self.assert_matrix(self.hidden(fmu).D, self.linearize(fmu, "--interface", "me").D, 1e-7)

    def test_nothing_follows_at_once(self):
        """The model structure says so: no step has to be tried, and so none has to be taken back."""
        fmu = self.altered(subsystem_fmu("SubsystemPlain", "2"), ('canGetAndSetFMUstate="true"', 'canGetAndSetFMUstate="false"'),
                           *self.without_dependence(subsystem_fmu("SubsystemPlain", "2")))
        system = self.hidden(fmu, "--rollback", "fmu")
        self.assertTrue(system["exact"])
        self.assert_matrix(system.D, [[0]], 0)

    def test_no_way_back(self):
        """Steps are tried, and have to be taken back: an FMU that cannot is an error, or is forked."""
        flag = 'canGetAndSetFMUstate="true"', 'canGetAndSetFMUstate="false"'
        fmu = self.altered(subsystem_fmu("SubsystemPlain", "2"), flag, flag)  # of Model Exchange, and of Co-Simulation
        outcome = self.tutti("linearize", fmu, "--interface", "cs", "--rollback", "fmu", "-o", "out.json", status=1)
        self.assertIn("found by short steps that are taken back (--rollback fork does so with any FMU)", outcome.err)
        self.assertFalse(os.path.exists(self.path("out.json")))
        self.assert_matrix(self.hidden(fmu, "--set", "d=-0.75", "--rollback", "fork").D, [[-0.75]], 1e-7)

    def test_the_only_interface(self):
        outcome = self.tutti("linearize", kit_fmu("Dahlquist", "1cs"), "-o", self.path("out.json"))
        self.assertRegex(outcome.err, "is for Co-Simulation: its states cannot be seen")
        self.assertRegex(outcome.err, "hidden .*D only")


class Systems(LinearizeTest):
    """Andersson 2016 eq. 6.5: A + B L (I - D L)^-1 C, against the same computed from the units' own matrices."""

    def whole(self, parts, connections, *options):
        """parts: name -> FMU; connections: (from, to, factor)."""
        files = [f"{name}={fmu}" for name, fmu in parts.items()]
        joined = [word for source, to, factor in connections for word in ("--connect", f"{source}*{factor}={to}" if factor != 1 else f"{source}={to}")]
        outcome = self.tutti("linearize", *files, *joined, "-o", "-", "--quiet", "--interface", "me", *options)
        return System(outcome.out)

    def expected(self, units, connections):
        """units: name -> (A, B, C, D, states, inputs, outputs) -> the four matrices."""
        blocks = [[np.atleast_2d(np.array(unit[k], dtype=float)) for unit in units.values()] for k in range(4)]
        A, B, C, D = (scipy.linalg.block_diag(*block) for block in blocks)
        inputs = [f"{name}.{variable}" for name, unit in units.items() for variable in unit[5]]
        outputs = [f"{name}.{variable}" for name, unit in units.items() for variable in unit[6]]
        L = np.zeros((len(inputs), len(outputs)))
        for source, to, factor in connections:
            L[inputs.index(to), outputs.index(source)] += factor
        E = np.eye(len(inputs))[:, [i for i, row in enumerate(L) if not row.any()]]
        loop = np.linalg.inv(np.eye(len(outputs)) - D @ L)
        return A + B @ L @ loop @ C, (B + B @ L @ loop @ D) @ E, loop @ C, loop @ D @ E

    def compare(self, system, expected, tolerance):
        for letter, matrix in zip("ABCD", expected):
            self.assert_matrix(getattr(system, letter), matrix, tolerance)

    def test_two_with_feedthrough(self):
        """Andersson's example 6.1.1 with d1, d2; at the start and later, in all versions, with every coupling."""
        connections = [("a.y", "b.u", 1), ("b.y", "a.u", 1)]
        units = {"a": ([[-1]], [[1]], [[1]], [[0.5]], ["x"], ["u"], ["y"]), "b": ([[-1]], [[3]], [[-5]], [[0.25]], ["x"], ["u"], ["y"])}
        values = [word for text in ("a.b=1", "a.c=1", "a.d=0.5", "b.b=3", "b.c=-5", "b.d=0.25") for word in ("--set", text)]
        wanted = self.expected(units, connections)
        for model, tolerance in (("Subsystem", 4 * EXACT), ("SubsystemPlain", DIFFERENCES)):
            for options in ((), ("--at", "0.5", "--coupling", "jacobi"), ("--at", "0.5", "--coupling", "strong")):
                system = self.whole({"a": subsystem_fmu(model, "2"), "b": subsystem_fmu(model, "3")}, connections, *values, *options)
                self.compare(system, wanted, tolerance)
                self.assertEqual(system.names, (["a.x", "b.x"], [], ["a.y", "b.y"]))
                y1, y2 = system["y0"]  # as they belong to the states there
                self.assertAlmostEqual(y1, system["x0"][0] + 0.5 * y2, 9)
                self.assertAlmostEqual(y2, -5 * system["x0"][1] + 0.25 * y1, 9)
        self.assertLess(np.abs(system.eigenvalues - sorted(np.linalg.eigvals(wanted[0]), key=lambda e: (-e.real, -e.imag))).max(), 1e-7)

    def test_factors_and_free_inputs(self):
        """A ring of three with factors and offsets; one input stays free."""
        connections = [("a.y", "b.u", 2), ("b.y", "c.u", -0.5)]
        parts = {name: subsystem_fmu("Subsystem", version) for name, version in (("a", "2"), ("b", "3"), ("c", "2"))}
        values, units = [], {}
        for name, (b, c, d) in {"a": (1, 2, 0.3), "b": (-1, 0.5, 4), "c": (2, -3, 0)}.items():
            values += [word for text in (f"{name}.b={b}", f"{name}.c={c}", f"{name}.d={d}") for word in ("--set", text)]
            units[name] = ([[-1]], [[b]], [[c]], [[d]], ["x"], ["u"], ["y"])
        system = self.whole(parts, connections, *values)
        self.compare(system, self.expected(units, connections), 4 * EXACT)
        self.assertEqual(system["input_names"], ["a.u"])

    def test_arrays(self):
        """Elements of arrays: only some are connected."""
        fmu = kit_fmu("StateSpace", "3")
        own = ([[-1, 1, 0], [0, -2, 1], [0, 0, -3]], [[1, 0], [0, 1], [1, 1]], [[1, 0, 0], [0, 1, 1]], [[0, 0], [0.5, 0]],
               ["x[1]", "x[2]", "x[3]"], ["u[1]", "u[2]"], ["y[1]", "y[2]"])
        connections = [("a.y[1]", "b.u[2]", 1), ("b.y[2]", "a.u[1]", 1)]
        system = self.whole({"a": fmu, "b": fmu}, connections)
        self.compare(system, self.expected({"a": own, "b": own}, connections), 4 * EXACT)
        self.assertEqual(system["input_names"], ["a.u[2]", "b.u[1]"])

    def test_large_and_sparse(self):
        """A chain of 60: the matrix is written sparse, and is that of the formula."""
        count, unit = 60, ([[-1]], [[1]], [[1]], [[0.5]], ["x"], ["u"], ["y"])
        names = [f"n{i}" for i in range(count)]
        connections = [(f"{a}.y", f"{b}.u", 1) for a, b in zip(names, names[1:])]
        values = [word for name in names for word in ("--set", f"{name}.d=0.5")]
        system = self.whole({name: subsystem_fmu("Subsystem", "2") for name in names}, connections, *values)
        self.compare(system, self.expected({name: unit for name in names}, connections), 8 * EXACT)
        self.assertEqual(len(system["A"]["values"]), count * (count + 1) // 2)

    def test_hidden_states_in_a_system(self):
        """D of a unit for Co-Simulation counts in the loop; its states do not."""
        fmu = subsystem_fmu("Subsystem", "2")
        with zipfile.ZipFile(fmu) as archive:
            exchange = re.search(r"<ModelExchange.*?(/>|</ModelExchange>)", archive.read("modelDescription.xml").decode(), re.S)[0]
        plain = self.altered(fmu, (exchange, ""))
        connections = [("a.y", "b.u", 1), ("b.y", "a.u", 1)]
        values = [word for text in ("a.d=0.5", "b.b=3", "b.c=-5", "b.d=0.25") for word in ("--set", text)]
        files = [f"a={plain}", f"b={subsystem_fmu('Subsystem', '2')}"]
        system = System(self.tutti("linearize", *files, *(w for s, t, _ in connections for w in ("--connect", f"{s}={t}")), *values, "-o", "-", "--quiet").out)
        self.assertEqual((system["hidden"], system["state_names"]), (["a"], ["b.x"]))
        # b alone, with y1 = 0.5 u1: u2 = 0.5 y2, y2 = -5 x2 + 0.25 u2
        self.assert_matrix(system.A, [[-1 + 3 * 0.5 * -5 / (1 - 0.125)]], 4 * EXACT)


class Stability(LinearizeTest):
    def test_eigenvalues(self):
        rng = np.random.default_rng(42)
        matrix = rng.standard_normal((6, 6))
        system = self.linearize(kit_fmu("StateSpace", "3"), "--set", "n=6", "--set", "m=0", "--set", "r=0", "--set",
                                "A=" + " ".join(map(str, matrix.ravel())), "--set", "x0=0")
        expected = sorted(np.linalg.eigvals(matrix), key=lambda value: (-value.real, abs(value.imag), -value.imag))
        self.assertLess(np.abs(system.eigenvalues - expected).max(), 1e-13)
        self.assertGreater(np.abs(system.eigenvalues.imag).max(), 0, "the test is to have a pair")

    def test_stable(self):
        system = self.linearize(mass_fmu("3"))
        self.assertEqual(system["stability"], "asymptotically stable")
        self.assertAlmostEqual(system["slowest_time_constant"], 1 / 1.05)
        said = self.summary(mass_fmu("3"))
        frequency = math.sqrt(75 - 1.05 ** 2)
        self.assertIn(f"negative real parts: -1.05 +- {frequency:.6g}i\n", said)
        self.assertIn(f"{frequency / (2 * math.pi):.6g} Hz, damping ratio {1.05 / math.sqrt(75):.3g}, decays", said)

    def test_stiff(self):
        settings = ("--set", "n=3", "--set", "A=-1e3 0 0 0 -0.25 0 0 0 -5")
        system = self.linearize(kit_fmu("StateSpace", "3"), *settings)
        self.assertEqual((system["slowest_time_constant"], system["fastest_time_constant"], system["stiffness_ratio"]),
                         (4, 1e-3, 4000))
        self.assertIn("time constants from 0.001 s to 4 s; stiffness ratio 4e+03",
                      self.summary(kit_fmu("StateSpace", "3"), *settings))

    def test_unstable(self):
        """A pendulum that stands on its head falls."""
        for version in VERSIONS:
            settings = ("--set", f"x1={math.pi!r}")
            self.assertEqual(self.linearize(pendulum_fmu(version), *settings)["stability"], "unstable")
            self.assertRegex(self.summary(pendulum_fmu(version), *settings),
                             rf"unstable: 1 of 2 eigenvalues of A has a positive real part: {math.sqrt(G):.6g}\n")

    def test_margin(self):
        """A pendulum at rest swings for ever."""
        for version in VERSIONS:
            system = self.linearize(pendulum_fmu(version), "--set", "x1=0")
            self.assertEqual(system["stability"], "on the margin of stability")
            self.assertLess(system["margin"], 1e-8)
            self.assertIsNone(system["slowest_time_constant"])
            said = self.summary(pendulum_fmu(version), "--set", "x1=0")
            self.assertIn("2 of 2 eigenvalues of A have a real part that is 0, or cannot be told from it", said)
            self.assertIn(f"{math.sqrt(G) / (2 * math.pi):.6g} Hz, damping ratio ", said)
            self.assertIn("at rest    yes: no state moves", said)
        self.assertIn("at rest    no: 'x2' moves fastest, by -4.7", self.summary(pendulum_fmu("2")))

    def test_margin_of_differences(self):
        """A has trace 0 and the eigenvalues +-i, but differences do not quite say so."""
        fmu = self.without_directional(kit_fmu("StateSpace", "3"))
        system = self.linearize(fmu, "--set", "n=2", "--set", "A=0.7 -1.49 1 -0.7", "--set", "x0=0.3 7.1")
        self.assertGreater(abs(system.eigenvalues[0].real), 1e-14)
        self.assertLess(abs(system.eigenvalues - [1j, -1j]).max(), 1e-9)
        self.assertEqual(system["stability"], "on the margin of stability")

    def test_many(self):
        """No more than five of a kind are listed."""
        settings = ("--set", "n=7", "--set", "A=" + " ".join(map(str, np.diag(np.arange(7.0, 0, -1)).ravel())))
        self.assertIn(": 7 of 7 eigenvalues of A have a positive real part: 7, 6, 5, 4, 3 and 2 more\n",
                      self.summary(kit_fmu("StateSpace", "3"), *settings))
        column = str(EXAMPLES / "chromatography" / "Chromatography_fmi2.fmu")
        self.assertEqual(self.summary(column).count("\noscillates "), 5)


class Files(LinearizeTest):
    def mat(self, fmu, *options):
        self.tutti("linearize", fmu, "-o", "out.mat", "--quiet", *options)
        return scipy.io.loadmat(self.path("out.mat"))

    def assert_same(self, mat, system):
        for letter in "ABCD":
            matrix = mat[letter].toarray() if scipy.sparse.issparse(mat[letter]) else mat[letter]
            self.assertTrue(np.array_equal(matrix, getattr(system, letter)), letter)
        self.assertEqual(mat["t"].item(), system["time"])
        for name in ("x0", "dx0", "u0", "y0"):
            self.assertEqual(mat[name].shape, (len(system[name]), 1))
            self.assertEqual(mat[name].ravel().tolist(), system[name])
        for name in ("state_names", "input_names", "output_names"):
            self.assertEqual([cell.item() for cell in mat[name].ravel()], system[name])
        self.assertTrue(np.array_equal(mat["eigenvalues"].ravel(), system.eigenvalues))
        self.assertEqual((mat["stability"].item(), mat["margin"].item()), (system["stability"], system["margin"]))

    def test_mat(self):
        fmus = [pendulum_fmu("2"), kit_fmu("VanDerPol", "1me"), kit_fmu("Feedthrough", "3"), kit_fmu("Stair", "2"),
                str(EXAMPLES / "chromatography" / "Chromatography_fmi3.fmu")]
        for fmu in fmus:
            with self.subTest(fmu=fmu):
                mat, system = self.mat(fmu, "--at", "0.5"), self.linearize(fmu, "--at", "0.5")
                self.assert_same(mat, system)
        self.assertTrue(scipy.sparse.issparse(mat["A"]) and not scipy.sparse.issparse(mat["B"]))
        self.assertLess(mat["A"].nnz, len(system["A"]["values"]))  # Matlab knows no zeros among the entries
        self.assertEqual(mat["A"].nnz, np.count_nonzero(system.A))

    def test_mat_is_the_same_again(self):
        first = self.mat(pendulum_fmu("3")) and pathlib.Path(self.path("out.mat")).read_bytes()
        second = self.mat(pendulum_fmu("3")) and pathlib.Path(self.path("out.mat")).read_bytes()
        self.assertEqual(first, second)
        self.assertEqual(first[:20], b"MATLAB 5.0 MAT-file,")

    def test_names(self):
        """Whatever letters they have, and however long they are."""
        long = "x" * 3000
        fmu = self.altered(pendulum_fmu("2"), ('"x1"', '"höhe ∆"'), ('"u1"', f'"{long}"'))
        mat, system = self.mat(fmu), self.linearize(fmu)
        self.assertEqual(system["state_names"], ["höhe ∆", "x2"])
        self.assertEqual(system["input_names"], [long, "u2", "u3"])
        self.assert_same(mat, system)
        fmu = self.altered(pendulum_fmu("2"), ('"x1"', '"𝛼"'))  # beyond what SciPy reads
        self.assertEqual(self.linearize(fmu)["state_names"], ["𝛼", "x2"])
        self.assertEqual(self.mat(fmu)["state_names"][0, 0].item(), "\N{REPLACEMENT CHARACTER}")

    def test_mat_without_its_library(self):
        """matio is loaded when it is needed; here is a broken one."""
        library = re.search(rb"libmatio[.\w]+", pathlib.Path(TUTTI).read_bytes())[0].decode()
        self.write(library, "no library")
        broken = {"LD_LIBRARY_PATH": str(self.folder)}
        self.refused("linearize", pendulum_fmu("3"), "-o", "out.mat", status=1, env=broken,
                     says=f"MAT files need the library {library} .*: install it, or write JSON")
        self.tutti("linearize", pendulum_fmu("3"), "-o", "out.json", env=broken)

    def test_json_file(self):
        outcome = self.tutti("linearize", pendulum_fmu("3"), "-o", "out.json")
        self.assertEqual(outcome.out, "")
        self.assertRegex(outcome.err, r"(?m)^point +Pendulum_fmi3 \(FMI 3.0\) at t = 0$")
        self.assertRegex(outcome.err, r"(?m)^size +2 states, 3 inputs, 2 outputs$")
        self.assertRegex(outcome.err, r"result +out.json\n$")
        text = pathlib.Path(self.path("out.json")).read_text(encoding="utf-8")
        self.assertEqual(text, self.tutti("linearize", pendulum_fmu("3"), "--output", "-", "--quiet").out)
        self.assertEqual(System(text)["fmu"], pendulum_fmu("3"))

    def test_cannot_be_written(self):
        for suffix in ("json", "mat"):
            self.refused("linearize", pendulum_fmu("3"), "-o", f"missing/out.{suffix}", status=1,
                         says=rf"'missing/out.{suffix}' cannot be written: No such file or directory")
            folder = pathlib.Path(self.path(f"folder.{suffix}"))
            folder.mkdir()
            self.refused("linearize", pendulum_fmu("3"), "-o", folder.name, status=1, says="written: Is a directory")
            full = pathlib.Path(self.path(f"full.{suffix}"))
            full.symlink_to("/dev/full")
            self.refused("linearize", pendulum_fmu("3"), "-o", full.name, status=1, says="full.* cannot be written")

    def test_old_file_stays(self):
        """What is there is replaced by a result, not by a failure."""
        for suffix in ("json", "mat"):
            old = pathlib.Path(self.write(f"old.{suffix}", "old"))
            self.tutti("linearize", pendulum_fmu("3"), "-o", old.name, "--at", "9", status=2)
            self.assertEqual(old.read_text(encoding="utf-8"), "old")
            self.tutti("linearize", pendulum_fmu("3"), "-o", f"new.{suffix}", "--at", "9", status=2)
            self.assertFalse(os.path.exists(self.path(f"new.{suffix}")))


class Refusals(LinearizeTest):
    def refuse(self, fmu, *options, status, says, env=None):
        return self.refused("linearize", fmu, "-o", "out.json", *options, status=status, says=says, env=env)

    def test_no_way_to_d(self):
        """Without directional derivatives, and without short steps; or no room for one."""
        fmu = self.altered(subsystem_fmu("SubsystemPlain", "2"), ('canHandleVariableCommunicationStepSize="true" ', ""))
        self.refuse(fmu, "--interface", "cs", status=1, says=["no directional derivatives that can be used", "cannot make a step that is short"])
        self.refuse(subsystem_fmu("SubsystemPlain", "2"), "--interface", "cs", "--at", "1", "--stop", "1", status=2,
                    says=["is linearised by a short step from t = 1", "a later --stop leaves room"])

    def test_singular_loop(self):
        """y1 = x1 + u1, y2 = x2 + u2, each the input of the other: I - D L has no inverse."""
        fmu = subsystem_fmu("Subsystem", "2")
        self.refused("linearize", f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.d=1", "--set", "b.d=1",
                     "-o", "out.json", status=1, says="the algebraic loop of 2 unknowns at the start has no solution")
        self.refused("linearize", f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.d=1", "--set", "b.d=1",
                     "--set", "a.x=0", "--set", "b.x=0", "-o", "out.json", status=1, says="I - D L is singular")  # 0 is one of many solutions
        self.assertFalse(os.path.exists(self.path("out.json")))

    def test_joints(self):
        fmu = str(EXAMPLES / "chain" / "Link_fmi2.fmu")
        self.tutti("new", self.path("chain.ssp"), f"u1={fmu}", f"u2={fmu}", "--constrain", "u1.x2=u2.x1; u1.v2=u2.v1; u1.f2,u2.f1")
        self.refused("linearize", "chain.ssp", "-o", "out.json", status=1, says=r"constraints \(--constrain\) cannot be linearised")

    def test_time(self):
        for at in ("-1", "2.5", "nan", "inf"):
            self.refuse(pendulum_fmu("2"), f"--at={at}", status=2,
                        says=rf"t = {at} is not in the run, which goes from 0 to 2")
        self.refuse(pendulum_fmu("2"), "--at", "soon", status=2, says="--at takes a number, not 'soon'")

    def test_output(self):
        self.refused("linearize", pendulum_fmu("2"), status=2, says=["-o FILE is needed", "json", "mat"])
        for name in ("out.csv", "out", "json", "out.json/x"):
            self.refused("linearize", pendulum_fmu("2"), "-o", name, status=2,
                         says=f"takes OUT.json or OUT.mat, not '{name}'")

    def test_input_is_not_overwritten(self):
        table = self.write("u.json", "time,u1\n0,1\n2,1\n")
        self.refused("linearize", pendulum_fmu("2"), "--input", table, "-o", "u.json", status=2,
                     says="-o 'u.json' is the file that --input reads")

    def test_options(self):
        self.refuse(pendulum_fmu("2"), "--solver", "magic", status=2, says="magic")
        self.refuse(pendulum_fmu("2"), "--set", "x9=1", status=2, says="there is no variable named 'x9'")
        self.refuse(pendulum_fmu("2"), "--log-level", "loud", status=2, says="tutti linearize: --log-level takes")
        self.refuse(pendulum_fmu("2"), "--record", "x1", status=2, says="tutti linearize: unknown option '--record'")
        self.refuse("missing.fmu", status=1, says="missing.fmu")

    def test_not_finite(self):
        """A mass of 0: the entry is named, with both of its variables."""
        for version in VERSIONS:
            outcome = self.refuse(mass_fmu(version), "--set", "m2=0", status=1, says=[
                "cannot be linearised at t = 0: in A, the derivative of 'v2'' by 'x2' is (-inf|-?nan)"])
            self.assertFalse(os.path.exists(self.path("out.json")), outcome.err)
        self.refuse(kit_fmu("StateSpace", "3"), "--set", "D[2,1]=inf", status=1,
                    says=r"in D, the derivative of 'y\[2\]' by 'u\[1\]' is inf")

    def test_fmu_ends_before(self):
        for version in VERSIONS:
            for at, where in (("11", "later"), ("10", "there")):
                self.refuse(kit_fmu("Stair", version), "--at", at, "--log-level", "error", status=1,
                            says=f"the FMU ended the simulation at t = 10, and so cannot be linearised {where}")

    def test_fmu_fails(self):
        calls = {"1me": "GetDerivatives", "2": "GetDerivatives", "3": "GetContinuousStateDerivatives"}
        for version, call in calls.items():
            outcome = self.tutti("linearize", kit_fmu("Faulty", version), "-o", "out.json", status=1,
                                 env={"KIT_FAULT": f"error {call}"})
            self.assertRegex(outcome.err, rf"(?m)^tutti: error: .*{call}.* returned Error")
            self.assertFalse(os.path.exists(self.path("out.json")))
            outcome = self.tutti("linearize", kit_fmu("Faulty", version), "-o", "out.json", status=1,
                                 env={"KIT_FAULT": f"discard {call}"})
            self.assertRegex(outcome.err, "the FMU discards a point next to t = 0, where it is linearised")


# y = sum of (k + 1) u_k. Columns one by one are refused; the sum of all, and rows, are not. LIES: the row is wrong.
ROW_INPUTS = 6
ROW = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Row" instantiationToken="row">
  <CoSimulation modelIdentifier="Row" canHandleVariableCommunicationStepSize="true" providesDirectionalDerivatives="true" providesAdjointDerivatives="true"
                canGetAndSetFMUState="true"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    {"".join(f'<Float64 name="u{k}" valueReference="{k + 1}" causality="input" variability="continuous" start="0"/>' for k in range(ROW_INPUTS))}
    <Float64 name="y" valueReference="9" causality="output" variability="continuous"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="9"/><InitialUnknown valueReference="9"/></ModelStructure>
</fmiModelDescription>
"""
ROW_BUILD = """<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0"><BuildConfiguration modelIdentifier="Row"><SourceFileSet language="C99">
<SourceFile name="row.c"/>@LIES@</SourceFileSet></BuildConfiguration></fmiBuildDescription>
"""
ROW_C = r"""#include "fmi3Functions.h"
#include <stdlib.h>
#include <string.h>
#ifndef LIES
#define LIES 1
#endif
struct row { double u[7]; };
const char *fmi3GetVersion(void) { return fmi3Version; }
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean v, fmi3Boolean l, fmi3Boolean e, fmi3Boolean r,
 const fmi3ValueReference q[], size_t nq, fmi3InstanceEnvironment env, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback u)
{ return calloc(1, sizeof(struct row)); }
void fmi3FreeInstance(fmi3Instance c) { free(c); }
fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String l[]) { return fmi3OK; }
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean td, fmi3Float64 t, fmi3Float64 a, fmi3Boolean sd, fmi3Float64 s) { return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3Terminate(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3Reset(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *s) { if (!*s) *s = malloc(sizeof(struct row)); memcpy(*s, c, sizeof(struct row)); return fmi3OK; }
fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState s) { memcpy(c, s, sizeof(struct row)); return fmi3OK; }
fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *s) { free(*s); *s = NULL; return fmi3OK; }
fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 v[], size_t nv)
{ struct row *m = c; for (size_t i = 0; i < n; i++) { v[i] = vr[i] < 7 ? m->u[vr[i]] : 0; for (int k = 1; vr[i] == 9 && k < 7; k++) v[i] += k * m->u[k]; } return fmi3OK; }
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 v[], size_t nv)
{ for (size_t i = 0; i < n; i++) ((struct row *)c)->u[vr[i]] = v[i]; return fmi3OK; }
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference u[], size_t nu, const fmi3ValueReference k[], size_t nk,
 const fmi3Float64 seed[], size_t ns, fmi3Float64 out[], size_t no)
{ double sum = 0, all = 1; for (size_t i = 0; i < nk; i++) { sum += k[i] * seed[i]; all *= seed[i]; } out[0] = sum; return all == 1 && nk == 6 ? fmi3OK : fmi3Error; }
fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference u[], size_t nu, const fmi3ValueReference k[], size_t nk,
 const fmi3Float64 seed[], size_t ns, fmi3Float64 out[], size_t no)
{ for (size_t i = 0; i < nk; i++) out[i] = LIES * (double)k[i] * seed[0]; return fmi3OK; }
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean n, fmi3Boolean *ev, fmi3Boolean *term, fmi3Boolean *early, fmi3Float64 *last)
{ *ev = *term = *early = 0; *last = t + h; return fmi3OK; }
"""


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Adjoint(CommandTest):
    def test_a_row_is_cheaper_than_columns(self):
        """One output of six inputs: its row, by an adjoint derivative; one that contradicts the directional derivatives is not believed."""
        for lies, exact in (("", True), ('<PreprocessorDefinition name="LIES" value="2"/>', False)):
            with zipfile.ZipFile(self.path("row.fmu"), "w") as archive:
                archive.writestr("modelDescription.xml", ROW)
                archive.writestr("sources/buildDescription.xml", ROW_BUILD.replace("@LIES@", lies))
                archive.writestr("sources/row.c", ROW_C)
            self.tutti("compile", "row.fmu", "--quiet")
            self.tutti("linearize", "row.fmu", "-o", "row.json")
            with open(self.path("row.json"), encoding="utf-8") as file:
                told = json.load(file)
            self.assertEqual(told["exact"], exact)
            np.testing.assert_allclose(told["D"]["values"], [1, 2, 3, 4, 5, 6], rtol=EXACT if exact else 1e-6)


class Rows(CommandTest):
    """Model Exchange, Newton's method and --correct ask for rows by adjoint derivatives (FMI 3.0) where there are fewer than columns."""

    SPACE = kit_fmu("StateSpace", "3")

    def without(self, fmu):
        return self.altered(fmu, ('providesAdjointDerivatives="true"', ""), name="columns.fmu")

    def matrix(self, numbers, rows, columns):
        return " ".join(f"{number:.3f}" for number in numbers.uniform(-1, 1, rows * columns))

    def test_model_exchange(self):
        numbers, told = np.random.default_rng(1), []
        sizes = "--set", "m=20", "--set", "n=2", "--set", "r=1", "--set", "A=-1 0.2 0.1 -2"
        values = [word for name, rows, columns in (("B", 2, 20), ("C", 1, 2), ("D", 1, 20), ("x0", 2, 1), ("u", 20, 1))
                  for word in ("--set", f"{name}={self.matrix(numbers, rows, columns)}")]
        for fmu in (self.SPACE, self.without(self.SPACE)):
            self.tutti("linearize", fmu, *sizes, *values, "-o", "space.json")
            told.append(json.loads(pathlib.Path(self.path("space.json")).read_text("utf-8")))
        for name in "ABCD":
            self.assertEqual(told[0][name]["values"], told[1][name]["values"])
        np.testing.assert_allclose(np.ravel(told[0]["B"]["dense"]), [float(number) for number in values[1][2:].split()], rtol=EXACT)

    def test_newton(self):
        numbers, counts, tables = np.random.default_rng(2), [], []
        wide = dict(a=dict(m=2, n=2, r=20), b=dict(m=20, n=2, r=2))
        settings = [word for unit, size in wide.items() for name, value in (
            *size.items(), ("A", "-1 0.2 0.1 -2"), ("B", self.matrix(numbers, 2, size["m"])), ("C", self.matrix(numbers, size["r"], 2)),
            ("D", " ".join("0" * 40)), ("x0", "1 2"), ("u", self.matrix(numbers, size["m"], 1))) for word in ("--set", f"{unit}.{name}={value}")]
        for fmu in (self.SPACE, self.without(self.SPACE)):
            tables.append(self.simulate(f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", *settings, "--interface", "me",
                                        "--coupling", "newton", "--step", "0.1", "--stop", "1", "--stats", "stats.json"))
            stats = json.loads(pathlib.Path(self.path("stats.json")).read_text("utf-8"))
            counts.append({unit["name"]: unit["directional_derivatives"] for unit in stats["units"]}["b"])
        self.assertEqual(tables[0].rows, tables[1].rows)
        self.assertLess(counts[0], counts[1] - 10)

    def test_correct(self):
        """One output of five inputs, in an algebraic loop. Rows that lie from the start are found out; those that lie later show that rows are used."""
        ends = {}
        for kind in ("Weigh", "LyingWeigh", "TurningWeigh"):
            table = self.simulate(f"f={test_fmu('Follower', '3')}", f"w={test_fmu(kind, '3')}", f"r={test_fmu('Relation', '3')}", "--connect", "w.y=r.u",
                                  *(word for i in "1235" for word in ("--connect", f"r.y=w.u{i}")), "--connect", "f.x=w.u4", "--set", "f.x=1",
                                  "--set", "r.factor=-0.9", "--set", "r.square=0.1", "--interface", "cs", "--coupling", "jacobi", "--correct",
                                  "--step", "0.1", "--stop", "1")
            ends[kind] = table["w.y"][-1]
        self.assertAlmostEqual(ends["Weigh"], 0.72879, 4)  # by relax, with rtol 1e-9
        self.assertEqual(ends["LyingWeigh"], ends["Weigh"])
        self.assertGreater(abs(ends["TurningWeigh"] - ends["Weigh"]), 1e-3)


if __name__ == "__main__":
    unittest.main()
