#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti plot` draws a result as SVG, one panel per -v, or says why not."""
import os
import shutil
import unittest
import xml.etree.ElementTree as ElementTree

from command import CommandTest, kit_fmu


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
class Plot(CommandTest):
    def setUp(self):
        super().setUp()
        self.tutti("run", kit_fmu("VanDerPol", "2"), "-o", "result.csv")

    def picture(self, *options, result="result.csv"):
        """All texts of the picture."""
        outcome = self.tutti("plot", result, "-o", "out.svg", *options)
        self.assertEqual((outcome.out, outcome.err), ("", ""))
        root = ElementTree.parse(self.path("out.svg")).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        return root, ["".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")]

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_all_variables(self):
        _, texts = self.picture()
        self.assertLessEqual({"x0", "x1", "time"}, set(texts))

    def test_panels_and_title(self):
        root, texts = self.picture("-v", "x0", "-v", "x1", "--title", "It's an <oscillator>")
        self.assertLessEqual({"x0", "x1", "It's an <oscillator>"}, set(texts))
        single, _ = self.picture("-v", "x1")
        self.assertGreater(float(root.get("height")), float(single.get("height")))

    def test_names_that_mean_something_to_others(self):
        """Nothing in a result reaches gnuplot as a command."""
        self.write("odd.csv", "time,\"a'; system('touch gotcha')\",`touch gotcha`,x_{1}\n0,1,2,3\n1,2,3,4\n")
        _, texts = self.picture(result="odd.csv")
        self.assertLessEqual({"a'; system('touch gotcha')", "`touch gotcha`", "x_{1}"}, set(texts))
        self.assertFalse(os.path.exists(self.path("gotcha")))

    def test_texts_are_left_out(self):
        self.write("texts.csv", "time,name,x\n0,a,1\n1,b,2\n")
        _, texts = self.picture(result="texts.csv")
        self.assertIn("x", texts)
        self.assertNotIn("name", texts)

    def test_what_cannot_be_drawn(self):
        for arguments, status, says in ((["result.csv", "-o", "out.svg", "-v", "x9"], 2, "'x9'.*did you mean 'x"),
                                        (["result.csv"], 2, r"-o OUT\.svg"), (["result.csv", "-o", "a.png"], 2, "svg"),
                                        (["nowhere.csv", "-o", "out.svg"], 1, r"nowhere\.csv"),
                                        (["result.csv", "-o", "no/where.svg"], 1, r"no/where\.svg"),
                                        ([kit_fmu("VanDerPol", "2"), "-o", "out.svg"], 1, "VanDerPol_fmi2")):
            with self.subTest(arguments=arguments):
                self.refused("plot", *arguments, status=status, says=says)
                self.assertFalse(os.path.exists(self.path("out.svg")))

    def test_older_picture_stays_if_nothing_can_be_drawn(self):
        self.picture()
        older = self.read("out.svg")
        for arguments, status in ((["result.csv", "-v", "x9"], 2), (["nowhere.csv"], 1),
                                  ([kit_fmu("VanDerPol", "2")], 1)):
            with self.subTest(arguments=arguments):
                self.tutti("plot", *arguments, "-o", "out.svg", status=status)
                self.assertEqual(self.read("out.svg"), older)
        _, texts = self.picture("-v", "x0")
        self.assertNotIn("x1", texts)


if __name__ == "__main__":
    unittest.main()
