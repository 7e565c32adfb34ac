# SPDX-License-Identifier: MIT
"""Pictures of `tutti plot`, looked at as a person would: texts, curves, jumps, marks."""
import os
import pathlib
import re
import shutil
import unittest
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

from command import FMUS, CommandTest

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = FMUS.parent / "examples"


class Picture:
    """An SVG that gnuplot wrote."""

    def __init__(self, path):
        self.size = os.path.getsize(path)
        self.root = ElementTree.parse(path).getroot()
        assert self.root.tag == SVG + "svg", self.root.tag
        self.width, self.height = float(self.root.get("width")), float(self.root.get("height"))
        self.texts = ["".join(text.itertext()).strip() for text in self.root.iter(SVG + "text")]
        self.curves = [Curve(group) for group in self.root.iter(SVG + "g")
                       if group.get("id", "").startswith("gnuplot_plot_")]

    @property
    def lines(self):
        return [curve for curve in self.curves if curve.pieces and not curve.is_jump]

    @property
    def y_ticks(self):
        """Values that the y axis of the first panel names, with their heights in pixels: exact, with what its label takes off and out."""
        digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
        label = next(text for text in self.texts if re.match(r"[a-z]\w*( [-+] |( in .*)?$)", text) and not text.startswith("time"))
        off, power = re.search(r" ([-+]) ([-+.e\d]+)", label), re.search("10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", label)
        offset = (1 if off[1] == "-" else -1) * Fraction(off[2]) if off else 0
        unit = Fraction(10) ** int(power[1].translate(digits)) if power else 1
        ticks = []
        for group in self.root.iter(SVG + "g"):
            at = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", group.get("transform", ""))
            if at and group.get("text-anchor") == "end":
                text = "".join(group.itertext()).strip().translate(digits)
                ticks.append((float(at[2]) - 0.325 * float(group.get("font-size")), offset + Fraction(text) * unit))
        return ticks

    @property
    def jumps(self):
        return [curve for curve in self.curves if curve.is_jump]


class Curve:
    """What gnuplot draws for one thing it plots: pieces of lines, and marks."""

    def __init__(self, group):
        self.title = group.find(SVG + "title").text
        paths = list(group.iter(SVG + "path"))
        self.dashes = [path.get("stroke-dasharray") for path in paths]
        self.colours = {path.get("stroke") for path in paths}
        marks = list(group.iter(SVG + "use"))
        self.marks = len(marks)
        self.shapes = frozenset(mark.get("{http://www.w3.org/1999/xlink}href") for mark in marks)
        self.is_jump = False
        self.pieces = []  # of the line: lists of points
        for path in paths:
            for piece in path.get("d").split("M")[1:]:
                points = [tuple(float(number) for number in point.split(",")) for point in re.findall(r"[-\d.]+,[-\d.]+", piece)]
                if len(points) > 1:
                    self.pieces.append(points)
            width = next((above.get("stroke-width") for above in group.iter(SVG + "g") if path in list(above)), None)
            self.is_jump = self.is_jump or (path.get("stroke-dasharray") is not None and width == "1.00")
        named = not self.title.startswith("gnuplot_plot_")
        if named and self.pieces:
            del self.pieces[0]  # the sample in the legend

    @property
    def points(self):
        return [point for piece in self.pieces for point in piece]


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
class PlotTest(CommandTest):
    def picture(self, *arguments, says=""):
        outcome = self.tutti("plot", *arguments, "-o", "out.svg")
        self.assertEqual(outcome.out, "")
        self.assertRegex(outcome.err, f"^{says}$" if not says else says)
        return Picture(self.path("out.svg"))

    def rows(self, name, header, rows):
        lines = [",".join(f'"{name}"' for name in header), *(",".join(map(repr, row)) for row in rows)]
        return self.write(name, "\n".join(lines) + "\n")

    def read(self, name):
        return pathlib.Path(self.path(name)).read_bytes()
