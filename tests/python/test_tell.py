#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What is told of files, systems and results: info, check, graph, analyze, compare."""
import json
import os
import pathlib
import shutil
import tempfile
import threading
import unittest

from common import JOINED, TWO, command, kit

import tutti


def pair(**options):
    return tutti.System(TWO, connect=JOINED, **options)


class Bad:
    """A unit that cannot start."""

    outputs = ["y"]

    def start(self, t):
        raise RuntimeError("no power")

    def step(self, t, h):
        pass


class Info(unittest.TestCase):
    def test_fmu_and_system(self):
        ball = tutti.info(pathlib.Path(kit("BouncingBall")))
        self.assertEqual(ball, json.loads(command("info", kit("BouncingBall"), "--json")))
        self.assertRegex(repr(ball), "BouncingBall, FMI 3.0, coSimulation, modelExchange, [0-9]+ variables")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.ssp")
            pair().save(path)
            self.assertEqual([one["name"] for one in tutti.info(path)["components"]], ["a", "b"])
            self.assertRegex(repr(tutti.info(path)), "2 components, 3 connections")

    def test_wrong(self):
        for what, error, says in ((3, TypeError, "not a int"), (None, TypeError, "a path"), ("a\0b", ValueError, "zero"),
                                  ("nothing.fmu", tutti.FileError, "nothing.fmu"), (__file__, tutti.FormatError, "test_tell.py")):
            with self.subTest(what=what), self.assertRaisesRegex(error, says):
                tutti.info(what)


class Check(unittest.TestCase):
    def test_good(self):
        findings = pair().check(run=True)
        self.assertEqual((findings, repr(findings), findings.errors), ([], "nothing is wrong", []))

    def test_findings(self):
        claiming = kit("Claiming", "2")
        findings = tutti.System({"a": claiming, "b": TWO["b"], "c": claiming}).check()
        self.assertEqual([(one.severity, one.unit, one.units, one.file) for one in findings],
                         2 * [("warning", "a", ("a", "c"), claiming)])
        self.assertEqual(findings.warnings, findings)
        self.assertEqual(repr(findings) + "\n", command("check", claiming))
        findings = pair().connect("a.nothing", "b.x_left").check()
        self.assertRegex(str(findings.errors[0]), "^error: .*nothing")
        self.assertIsNone(findings.errors[0].unit)
        self.assertRegex(tutti.System({"a": "nothing.fmu"}).check().errors[0].text, "nothing.fmu")

    def test_wrong(self):
        with self.assertRaisesRegex(tutti.ArgumentError, "no file"):
            tutti.System().check()
        with self.assertRaisesRegex(tutti.ArgumentError, "atoll"):
            pair().check(atoll=1)


class Graph(unittest.TestCase):
    def test_forms(self):
        graph = pair().graph(phase="run")
        self.assertEqual((graph.json["phase"], len(graph.json["connections"]), graph.loops), ("run", 3, []))
        self.assertTrue(graph.dot.startswith("digraph"))
        self.assertEqual(repr(graph), "<tutti.Graph: 2 units, 3 connections, no algebraic loops>")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            graph.save(path + ".dot")
            graph.save(path + ".json")
            with open(path + ".dot", encoding="utf-8") as dot, open(path + ".json", encoding="utf-8") as text:
                self.assertEqual((dot.read(), json.load(text)), (graph.dot, graph.json))
            with self.assertRaisesRegex(ValueError, "x.bmp"):
                graph.save(path + ".bmp")

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_picture(self):
        graph = pair().graph()
        self.assertIn("<svg", graph._repr_svg_())
        self.assertEqual(graph._repr_svg_(), graph.svg)

    def test_loop(self):
        through = {"a": kit("Feedthrough"), "b": kit("Feedthrough")}
        ways = [("a.float64_out", "b.float64_in"), ("b.float64_out", "a.float64_in")]
        graph = tutti.System(through, connect=ways).graph()
        self.assertEqual(sorted(graph.loops[0]), ["a.float64_in", "a.float64_out", "b.float64_in", "b.float64_out"])
        self.assertIn("1 algebraic loop>", repr(graph))

    def test_without_graphviz(self):
        graph, path = pair().graph(), os.environ["PATH"]
        os.environ["PATH"] = "/nothing"
        try:
            self.assertIsNone(graph._repr_svg_())
            with self.assertRaisesRegex(tutti.UnsupportedError, "dot, which draws the pictures, is not installed"):
                graph.save("x.svg")
            self.assertFalse(os.path.exists("x.svg"))
        finally:
            os.environ["PATH"] = path

    def test_wrong(self):
        with self.assertRaisesRegex(tutti.ArgumentError, "phase takes initial or run"):
            pair().graph(phase="later")
        with self.assertRaisesRegex(TypeError, "a phase is a text"):
            pair().graph(phase=1)
        with self.assertRaisesRegex(tutti.Error, "nothing"):
            tutti.System({"a": "nothing.fmu"}).graph()


class Analyze(unittest.TestCase):
    def test_analysis(self):
        analysis = pair().analyze(step=0.1, ranks=2)
        self.assertFalse(analysis["step"]["jacobi"][0]["stable"])
        self.assertEqual(len(analysis["placement"]["ranks"]), 2)
        self.assertEqual(analysis.choices["coupling"], "seidel")
        for text in (repr(analysis), analysis._repr_html_()):
            self.assertRegex(text, "(?s)2 units, 3 connections.*with steps of 0.1: constant unstable.*seidel")

    def test_refused(self):
        analysis = tutti.System({"a": kit("Dahlquist", "2")}).analyze(coupling="seidel")
        self.assertEqual((analysis.choices, analysis["initialised"]), ({}, True))
        self.assertRegex(repr(analysis), "(?s)1 unit, no connections.*refused +coupling is about units that are coupled")

    def test_units_in_python(self):
        with self.assertRaisesRegex(RuntimeError, "no power"):
            tutti.System({"bad": Bad(), "a": TWO["a"]}, connect={"bad.y": "a.F_right"}).analyze()
        self.assertEqual(tutti.System({"bad": Bad(), "a": TWO["a"]}).check(), [])

    def test_wrong(self):
        for ranks, error in ((-1, tutti.ArgumentError), ("x", TypeError), (1.5, TypeError), (2 ** 40, tutti.ArgumentError)):
            with self.subTest(ranks=ranks), self.assertRaises(error):
                pair().analyze(ranks=ranks)
        with self.assertRaises(tutti.Error):
            tutti.System({"a": "nothing.fmu"}).analyze()

    def test_threads(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(pair().analyze(step=0.01)["rho"])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, 4 * [0])


class Compare(unittest.TestCase):
    def setUp(self):
        self.coarse, self.fine = (pair(set={"a.x_left": 0.1}, stop=1).simulate(step=step) for step in (0.02, 0.001))

    def test_results_and_files(self):
        same = tutti.compare(self.fine, self.fine)
        self.assertTrue(same and same.equal)
        self.assertEqual((len(same), same["b.x"].error, same.only_in_result), (6, 0, []))
        differ = tutti.compare(self.coarse, self.fine, rtol=1e-4)
        self.assertFalse(differ)
        self.assertFalse(differ.worst.agrees)
        self.assertEqual(next(iter(differ)), differ.worst.name)
        self.assertGreaterEqual(differ.worst.share, max(one.share for one in differ.values()))
        for text in (repr(differ), differ._repr_html_()):
            self.assertRegex(text, "(?s)variable.*differs.*disagree: [0-9] of 6 variables")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fine.csv")
            self.fine.save(path)
            again = tutti.compare(self.coarse, tutti.read(path), rtol=1e-4)
            self.assertEqual(again.worst, differ.worst)
            self.assertTrue(tutti.compare(path, self.fine, variables=["a.*", "b.x"], strict=True))
            gone = tutti.read(path)
            os.remove(path)
            with self.assertRaises(tutti.FileError):
                tutti.compare(gone, self.fine)

    def test_parts(self):
        self.assertEqual(list(tutti.compare(self.coarse, self.fine, variables="b.x")), ["b.x"])
        self.assertTrue(tutti.compare(self.coarse, self.fine, rtol=10))
        short = pair(set={"a.x_left": 0.1}, stop=0.5).simulate(step=0.001)
        self.assertIn("does not have all times", repr(tutti.compare(short, self.fine)))
        self.assertTrue(tutti.compare(self.fine, short))

    def test_wrong(self):
        for arguments, error, says in (((1, self.fine), TypeError, "a path, not a int"),
                                       ((self.fine, "nothing.csv"), tutti.FileError, "nothing.csv"),
                                       ((__file__, self.fine), tutti.FormatError, "test_tell.py")):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(error, says):
                tutti.compare(*arguments)
        for options, error, says in (({"rtol": -1}, tutti.ArgumentError, "rtol must not be negative"),
                                     ({"rtol": float("nan")}, tutti.ArgumentError, "rtol"),
                                     ({"rtol": "x"}, tutti.ArgumentError, "rtol takes a number"),
                                     ({"rtol": object()}, TypeError, "object"),
                                     ({"variables": "q*"}, tutti.ArgumentError, "q"),
                                     ({"start": 2, "stop": 1}, tutti.ArgumentError, "stop is before start")):
            with self.subTest(options=options), self.assertRaisesRegex(error, says):
                tutti.compare(self.fine, self.fine, **options)
        with self.assertRaises(KeyError):
            tutti.compare(self.fine, self.fine)["nothing"]  # pylint: disable=expression-not-assigned


class Plot(unittest.TestCase):
    def setUp(self):
        self.result = tutti.simulate(kit("BouncingBall"), stop=1)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_pictures(self):
        other = tutti.simulate(kit("BouncingBall"), stop=1, step=0.02)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "both.svg")
            both = tutti.plot({"coarse": other, "fine": self.result}, variables=["h", ["h", "v"]], xy=("h", "v"), difference=True,
                              title="A ball", size=(640, 900), save=path)
            self.assertEqual(repr(both), "<tutti.Plot: coarse, fine>")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(text, both._repr_svg_())
            for word in ("A ball", "coarse", "fine", "640", "900"):
                self.assertIn(word, text)
            self.result.save(os.path.join(folder, "ball.csv"))
            read = tutti.read(os.path.join(folder, "ball.csv"))
            self.assertEqual(repr(tutti.plot(read, self.result)), "<tutti.Plot: ball, result 2>")
            self.assertIn("of a file", tutti.plot({"of a file": read, "of a run": self.result}).svg)
            tutti.simulate(TWO, connect=JOINED, stop=1, rtol=1e-6, step_log=os.path.join(folder, "steps.csv"))
            self.assertEqual(repr(tutti.plot(steps=os.path.join(folder, "steps.csv"))), "<tutti.Plot: a step log>")
            picture = tutti.plot(self.result, variables="h", start=0.2, stop=0.8, y_log=True)
            try:
                self.assertTrue(picture.png.startswith(b"\x89PNG"))
            except tutti.UnsupportedError as error:  # a gnuplot without cairo
                self.assertIn("svg", str(error))

    def test_without_gnuplot(self):
        path = os.environ["PATH"]
        os.environ["PATH"] = "/nothing"
        try:
            with self.assertRaisesRegex(tutti.UnsupportedError, "gnuplot, which draws the pictures, is not installed"):
                tutti.plot(self.result)
        finally:
            os.environ["PATH"] = path

    def test_wrong(self):
        good = self.result
        for results, options, error, says in (
                ((), {}, tutti.ArgumentError, "no result"), ((3,), {}, TypeError, "a path, not a int"),
                (("nothing.csv",), {}, tutti.FileError, "nothing.csv"), ((good, good, good), {}, tutti.ArgumentError, "not 3"),
                (({"a/b": good},), {}, ValueError, "'a/b'"), (({1: good},), {}, ValueError, "1"),
                ((good,), {"variables": "q"}, tutti.ArgumentError, "q"), ((good,), {"variables": 3}, TypeError, "int"),
                ((good,), {"variables": [3]}, TypeError, "can only join"), ((good,), {"xy": ("h", "q")}, tutti.ArgumentError, "q"),
                ((good,), {"difference": True}, tutti.ArgumentError, "two"), ((good,), {"start": 7}, tutti.ArgumentError, "goes from 0 to 1"),
                ((good,), {"start": "x"}, tutti.ArgumentError, "start takes a number"), ((good,), {"size": (3, 4)}, tutti.ArgumentError, "size"),
                ((good,), {"size": "ab"}, ValueError, "invalid literal"), ((good,), {"title": "a\0b"}, ValueError, "zero"),
                ((good,), {"save": "x.bmp"}, ValueError, "x.bmp"), ((good,), {"save": 3}, TypeError, "not a int"),
                ((good,), {"steps": "nothing.csv"}, tutti.FileError, "nothing.csv")):
            with self.subTest(results=results, options=options), self.assertRaisesRegex(error, says):
                tutti.plot(*results, **options)


if __name__ == "__main__":
    unittest.main()
