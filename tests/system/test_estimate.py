#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti estimate`: parameters of closed forms, errors against linear regression, what data cannot determine, what is refused."""
import json
import math
import os
import pathlib
import random
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np

from command import FMUS, CommandTest, kit_fmu, test_fmu

MOODY = test_fmu("Moody", "2")
METHODS = ("lm", "bobyqa", "nelder-mead", "subplex", "global")


class EstimateTest(CommandTest):
    def data(self, k=1.7, x=1.2, noise=0.0, name="data.csv", rows=41, last=1.0):
        """x exp(-k t), with noise; returns times and values."""
        chance = random.Random(3)
        times = [last * i / (rows - 1) for i in range(rows)]
        values = [x * math.exp(-k * t) + noise * chance.gauss(0, 1) for t in times]
        self.write(name, "time,x\n" + "".join(f"{t!r},{v!r}\n" for t, v in zip(times, values)))
        return np.array(times), np.array(values)

    def estimate(self, *arguments, status=0):
        return json.loads(self.tutti("estimate", MOODY, "--interface", "me", "--json", "--quiet", *arguments, status=status).out)


class TestValues(EstimateTest):
    def test_every_method_finds_them(self):
        self.data()
        for method in METHODS:
            with self.subTest(method):
                told = self.estimate("--fit", "k=1:0.2:5", "--fit", "x=2:0.5:4", "--data", "data.csv", "--method", method, "-o", "best.ssv",
                                     "--most-runs", "400" if method == "global" else "2000")
                self.assertTrue(told["converged"])
                self.assertAlmostEqual(told["parameters"][0]["value"], 1.7, delta=2e-5)
                self.assertAlmostEqual(told["parameters"][1]["value"], 1.2, delta=1e-5)
                root = ElementTree.parse(self.path("best.ssv")).getroot()
                space = {"ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues"}
                found = {parameter.get("name"): float(parameter.find("ssv:Real", space).get("value")) for parameter in root.iter() if parameter.get("name") in ("k", "x")}
                self.assertEqual(found, {parameter["name"]: parameter["value"] for parameter in told["parameters"]})

    def test_errors_are_those_of_regression(self):
        times, values = self.data(noise=0.01)
        told = self.estimate("--fit", "k=1", "--fit", "x=2", "--data", "data.csv", "--rtol", "1e-10")
        k, x = (parameter["value"] for parameter in told["parameters"])
        model = x * np.exp(-k * times)
        jacobian = np.stack([-times * model, model / x], axis=1)
        squares = float(np.sum((model - values) ** 2))
        self.assertAlmostEqual(told["sum_of_squares"], squares, delta=1e-9)
        self.assertLess(np.max(np.abs(jacobian.T @ (model - values))), 1e-6)  # it is a minimum
        covariance = squares / (len(times) - 2) * np.linalg.inv(jacobian.T @ jacobian)
        np.testing.assert_allclose(told["covariance"], covariance, rtol=1e-4)
        for parameter, variance in zip(told["parameters"], np.diag(covariance)):
            self.assertAlmostEqual(parameter["error"], math.sqrt(variance), delta=1e-4 * math.sqrt(variance))
            half = 2.022690911 * math.sqrt(variance)  # Student's, 39 degrees of freedom, 0.975
            self.assertAlmostEqual(parameter["to"] - parameter["value"], half, delta=1e-3 * half)

    def test_bounds_weights_and_holes(self):
        self.data()
        for method in METHODS:
            with self.subTest(method):
                told = self.estimate("--fit", "k=1:0.5:1.5", "--fit", "x=1:0.5:4", "--data", "data.csv", "--method", method, "--most-runs", "400")
                self.assertEqual((told["parameters"][0]["value"], told["parameters"][0]["at_bound"]), (1.5, True))
                self.assertFalse(told["parameters"][1]["at_bound"])
        self.write("two.csv", "time,x,y\n0,1.2,\n0.5,,9\n1,%r,9\n" % (1.2 * math.exp(-1.7)))
        told = self.estimate("--fit", "k=1", "--fit", "x=1", "--data", "two.csv", "--weight", "y=0")
        self.assertAlmostEqual(told["parameters"][0]["value"], 1.7, delta=1e-4)
        self.assertEqual(told["values"], 4)
        self.assertNotAlmostEqual(self.estimate("--fit", "k=1", "--fit", "x=1", "--data", "two.csv")["parameters"][0]["value"], 1.7, delta=0.1)

    def test_told_and_drawn(self):
        self.data(noise=0.01)
        outcome = self.tutti("estimate", MOODY, "--fit", "k=1", "--fit", "x=2", "--data", "data.csv", "--interface", "me", "--picture", "fit.svg",
                             "--trajectories", "fit.csv", "-o", "best.ssv")
        plain = pathlib.Path(self.write("plain.txt", "")).stat().st_mode
        for name in ("fit.svg", "fit.csv", "best.ssv"):
            self.assertEqual(pathlib.Path(self.path(name)).stat().st_mode, plain, name)  # as the umask has it
        for words in (r"k +1\.[67]", "with 95 % confidence", "covariance", "squares +0.00", "of 41 values"):
            self.assertRegex(outcome.out, words)
        self.assertIn("<svg", pathlib.Path(self.path("fit.svg")).read_text(encoding="utf-8"))
        self.assertEqual(len(self.result("fit.csv")), 41)


class TestUnits(EstimateTest):
    """Columns of the data may be in other units than the FMU's variables."""

    def masses(self, header, scale=1.0, shift=0.0, per_second=1.0, cell=None):
        """Measurements of a mass with k = 80, written in the units of the header."""
        fmu = kit_fmu("ChainMass", "2")
        self.tutti("run", fmu, "--interface", "me", "--rtol", "1e-10", "--set", "x=0.1", "--set", "k=80", "--stop", "2", "--step", "0.05",
                   "--record", "x", "-o", "truth.csv", "--quiet")
        rows = self.result("truth.csv")
        lines = [f"{t * per_second!r},{x * scale + shift!r}" for t, x in zip(rows.times, rows["x"])]
        if cell:
            lines[5] = lines[5].split(",")[0] + "," + cell
        self.write("data.csv", header + "\n" + "\n".join(lines) + "\n")
        return (fmu, "--interface", "me", "--set", "x=0.1", "--stop", "2", "--fit", "k=60:10:200", "--data", "data.csv", "--quiet")

    def test_converted(self):
        for header, *scales in (("time,x", 1), ("time [s],x [m]", 1), ("time,x [mm]", 1000), ("time [ms],x [cm]", 100, 0, 1000),
                                ("time [min],x [km]", 1e-3, 0, 1 / 60)):
            with self.subTest(header):
                found = json.loads(self.tutti("estimate", *self.masses(header, *scales), "--json").out)
                self.assertAlmostEqual(found["parameters"][0]["value"], 80, delta=1e-2)

    def test_offsets_and_units_of_the_fmu(self):
        """Kelvin from degrees Celsius, which the FMU defines."""
        fmu = kit_fmu("Heater", "2")
        self.tutti("run", fmu, "--interface", "me", "--set", "C=150", "--set", "mode=off", "--stop", "600", "--step", "20", "--record", "T",
                   "-o", "truth.csv", "--quiet")
        rows = self.result("truth.csv")
        self.write("data.csv", "time,T [degC]\n" + "".join(f"{t!r},{T - 273.15!r}\n" for t, T in zip(rows.times, rows["T"])))
        found = json.loads(self.tutti("estimate", fmu, "--interface", "me", "--set", "mode=off", "--stop", "600", "--fit", "C=100:10:1000",
                                      "--data", "data.csv", "--quiet", "--json").out)
        self.assertAlmostEqual(found["parameters"][0]["value"], 150, delta=0.1)

    def test_refused(self):
        for header, cell, says in (("time,x [furlong]", None, "'x' is in 'furlong', which is an unknown unit; convert the column to 'm'"),
                                   ("time,x [kg]", None, "'x' is in 'kg', and the variable in 'm', which measures something else"),
                                   ("time [furlong],x", None, "'furlong' is not a unit of time"),
                                   ("time [m],x", None, "'m' is not a unit of time"),
                                   ("time,x", "sensor error", "data.csv:7: 'x' has the text 'sensor error', expected a number")):
            with self.subTest(header):
                self.refused("estimate", *self.masses(header, cell=cell), status=1, says=says)


class TestQuadTank(EstimateTest):
    """Andersson 2016, 9.3.3: four areas from levels of four tanks, with measurements that are made here."""

    AREAS = 2.7e-6, 2.6e-6, 3.1e-6, 2.9e-6

    def test_areas_are_recovered(self):
        chance = random.Random(19)
        self.write("u.csv", "time,u1,u2\n" + "".join(f"{t},{5 + (t // 15) % 2},{6 - (t // 20) % 2}\n" for t in range(61)))
        line = str(FMUS.parent / "examples" / "quad_tank" / "QuadTank_fmi2.fmu"), "--interface", "me", "--input", "u.csv", "--rtol", "1e-8"
        sets = [word for i, area in enumerate(self.AREAS) for word in ("--set", f"a{i + 1}={area}")]
        exact = self.simulate(*line, *sets, "--stop", "60", "--step", "1", "--output-step", "1")
        noise = 2e-4  # m
        self.write("data.csv", ",".join(exact.header) + "\n" + "".join(
            ",".join([row[0]] + [repr(float(value) + chance.gauss(0, noise)) for value in row[1:]]) + "\n" for row in exact.rows))
        fits = [word for i in range(4) for word in ("--fit", f"a{i + 1}=3e-6")]
        for method in ("lm", "nelder-mead"):
            told = json.loads(self.tutti("estimate", *line, *fits, "--data", "data.csv", "--method", method, "--json", "--quiet").out)
            self.assertAlmostEqual(told["sum_of_squares"] / (4 * 61 * noise ** 2), 1, delta=0.3)
            for parameter, area in zip(told["parameters"], self.AREAS):
                self.assertLess(abs(parameter["value"] - area), 4 * parameter["error"], parameter["name"])
                self.assertLess(parameter["error"], 0.01 * area)


class TestSensitivities(EstimateTest):
    """Derivatives by sensitivities: the same fit as by differences, in fewer runs."""

    TANK = str(FMUS.parent / "examples" / "quad_tank" / "QuadTank_fmi2.fmu")

    def test_same_fit_in_fewer_runs(self):
        chance = random.Random(4)
        self.write("u.csv", "time,u1,u2\n" + "".join(f"{t},{5 + (t // 15) % 2},{6 - (t // 20) % 2}\n" for t in range(61)))
        line = self.TANK, "--input", "u.csv", "--rtol", "1e-9"
        exact = self.simulate(*line, "--interface", "me", "--set", "a1=2.7e-6", "--set", "a3=3.1e-6", "--stop", "60", "--step", "1", "--output-step", "1")
        self.write("data.csv", ",".join(exact.header) + "\n" + "".join(
            ",".join([row[0]] + [repr(float(value) + chance.gauss(0, 2e-4)) for value in row[1:]]) + "\n" for row in exact.rows))
        fits = [word for i in range(4) for word in ("--fit", f"a{i + 1}=3.3e-6")]
        forward, differences = (json.loads(self.tutti("estimate", *line, *fits, "--interface", way, "--data", "data.csv", "--json", "--quiet").out) for way in ("me", "cs"))
        self.assertEqual((forward["sensitivities"], differences["sensitivities"]), (True, False))
        self.assertLess(2 * forward["runs"], differences["runs"])
        self.assertAlmostEqual(forward["sum_of_squares"], differences["sum_of_squares"], delta=1e-6 * differences["sum_of_squares"])
        for one, other in zip(forward["parameters"], differences["parameters"]):
            self.assertLess(abs(one["value"] - other["value"]), 0.01 * one["error"])  # each run by another solver
        np.testing.assert_allclose(forward["covariance"], differences["covariance"], rtol=1e-2, atol=1e-4 * np.max(np.abs(differences["covariance"])))

    def test_where_there_are_none(self):
        self.data()
        self.assertTrue(self.estimate("--fit", "k=1", "--set", "x=1.2", "--data", "data.csv")["sensitivities"])
        self.assertFalse(self.estimate("--fit", "k=1", "--fit", "x=2", "--data", "data.csv")["sensitivities"])  # x is no parameter
        self.assertFalse(self.estimate("--fit", "k=1", "--set", "x=1.2", "--data", "data.csv", "--method", "subplex")["sensitivities"])


class TestUndetermined(EstimateTest):
    def test_products_and_silent_parameters(self):
        self.data()
        told = self.estimate("--fit", "k=1", "--fit", "c=1", "--fit", "x=1", "--fit", "silent=3", "--data", "data.csv")
        by_name = {parameter["name"]: parameter for parameter in told["parameters"]}
        self.assertEqual({name: parameter["determined"] for name, parameter in by_name.items()}, {"k": False, "c": False, "x": True, "silent": False})
        self.assertAlmostEqual(by_name["k"]["value"] * by_name["c"]["value"], 1.7, delta=1e-4)
        self.assertEqual(sorted(told["undetermined"]), ["k against c", "silent"])
        self.assertIsNone(by_name["k"]["error"])
        self.assertIsNone(told["covariance"][0][0])
        self.assertIsNotNone(told["covariance"][2][2])
        outcome = self.tutti("estimate", MOODY, "--fit", "k=1", "--fit", "c=1", "--data", "data.csv", "--interface", "me", "--set", "x=1.2")
        self.assertRegex(outcome.out, "k .*the data do not determine it")
        self.assertRegex(outcome.out, "open +k against c")

    def test_nothing_changes_anything(self):
        self.data()
        told = self.estimate("--fit", "silent=1", "--data", "data.csv", status=1)
        self.assertFalse(told["converged"])
        self.assertFalse(told["parameters"][0]["determined"])


class TestRefused(EstimateTest):
    def test_refused(self):
        self.data()
        self.data(name="late.csv", last=1.0)
        self.write("late.csv", "time,x\n5,1\n6,2\n")
        self.write("none.csv", "time,x\n0,\n1,\n")
        self.write("other.csv", "time,xx\n0,1\n1,2\n")
        self.write("few.csv", "time,x\n1,1\n")
        self.write("bare.csv", "time\n0\n1\n")
        good = "--data", "data.csv"
        for arguments, says in (
                (("--fit", "kk=1", *good), "no variable named 'kk'; did you mean"),
                (("--fit", "y=1", *good), "y"),
                (("--fit", "mood=1", *good), "is of type Int32"),
                (("--fit", "k=1:2:3", *good), "begins with 1, which is outside of its bounds, 2 to 3"),
                (("--fit", "k=1000", *good), "k"),
                (("--fit", "k=1:3:2", *good), "no room between its bounds"),
                (("--fit", "k", *good), "--fit takes P=START"),
                (("--fit", "k=1:2", *good), "--fit takes P=START"),
                (("--fit", "k=x", *good), "--fit takes P=START"),
                (("--fit", "k=1", "--fit", "k=2", *good), "'k' is there twice"),
                (good, "nothing is to be found"),
                (("--fit", "k=1"), "nothing to come close to"),
                (("--fit", "k=1", "--data", "late.csv", "--stop", "2"), "from t = 5 to 6, and the run, from 0 to 2, have no time in common"),
                (("--fit", "k=1", "--data", "none.csv"), "'x' has no value that is a number"),
                (("--fit", "k=1", "--data", "other.csv"), "no variable named 'xx'"),
                (("--fit", "k=1", "--data", "bare.csv"), "no column but the time"),
                (("--fit", "k=1", "--fit", "x=1", "--data", "few.csv"), "has 1 values, which cannot determine 2 parameters"),
                (("--fit", "k=1", *good, "--weight", "z=1"), "data.csv has no such column"),
                (("--fit", "k=1", *good, "--weight", "x=-1"), "not negative"),
                (("--fit", "k=1", *good, "--method", "bobyqa"), "needs two parameters"),
                (("--fit", "c=1", *good, "--method", "global"), "give them to every parameter"),
                (("--fit", "k=1", *good, "-o", "data.csv"), "is what --data reads"),
        ):
            with self.subTest(arguments):
                self.refused("estimate", MOODY, "--interface", "me", *arguments, status=2, says=says)
        self.refused("estimate", MOODY, "--fit", "k=1", "--data", "nowhere.csv", status=1, says="nowhere.csv")

    def test_runs_that_fail(self):
        self.write("y.csv", "time,y\n0,2\n1,1\n")
        outcome = self.tutti("estimate", MOODY, "--fit", "k=1", "--data", "y.csv", "--set", "mood=1", status=1)
        self.assertRegex(outcome.err, "with the values that the search begins with: .*")
        self.refused("estimate", MOODY, "--fit", "k=1", "--data", "y.csv", "--set", "mood=5", status=1,
                     says="'y' is nan at t = 1, so that the sum of squares is not a number")


if __name__ == "__main__":
    unittest.main()
