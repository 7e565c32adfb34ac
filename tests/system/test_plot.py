#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti plot` draws a result: what shares a panel, what stands beside the axes, how the curves go."""
import math
import unittest
from fractions import Fraction

from command import kit_fmu
from picture import EXAMPLES, SVG, PlotTest


class Panels(PlotTest):
    """Which variables share a panel, and what stands beside it."""

    def test_single_fmu(self):
        self.tutti("run", kit_fmu("BouncingBall", "3"), "-o", "ball.csv", "--quiet")
        picture = self.picture("ball.csv")
        self.assertLessEqual({"h", "v", "bounces", "time in s"}, set(picture.texts))
        self.assertEqual(len(picture.lines), 3)
        self.assertEqual(picture.texts.count("time in s"), 1)

    def test_units(self):
        """Of a file that has them."""
        self.tutti("run", kit_fmu("BouncingBall", "3"), "-o", "ball.mat", "--quiet")
        self.assertLessEqual({"h in m", "v in m/s", "bounces"}, set(self.picture("ball.mat").texts))

    def test_panels_by_unit(self):
        self.tutti("run", EXAMPLES / "quarter_car" / "quarter_car.ssp", "-o", "car.mat", "--quiet")
        picture = self.picture("car.mat")
        self.assertLessEqual({"chassis.x in m", "chassis.v in m/s", "wheel.x in m", "wheel.v in m/s"}, set(picture.texts))
        self.assertEqual(len(picture.lines), 4)

    def test_what_is_alike_shares_a_panel(self):
        """Without units, variables of a unit that are of similar size do; a name means the same in all units."""
        self.rows("r.csv", ("time", "a.x", "a.y", "a.f", "b.x", "b.y", "b.f"),
                  [(t, .5 * t, .7 * t, 90.5 * t, .4 * t, .3 * t, 3.5 * t) for t in range(4)])
        picture = self.picture("r.csv")
        self.assertLessEqual({"a", "b", "a.f", "b.f", "x", "y"}, set(picture.texts))
        self.assertEqual([picture.texts.count(name) for name in "xy"], [2, 2])

    def test_groups(self):
        self.rows("r.csv", ("time", "front.body.x", "front.body.v", "c[1,2]", "c[1,3]"),
                  [(t, t, 2 * t, 3 * t, 4 * t) for t in range(3)])
        picture = self.picture("r.csv", "-v", "front.body.*", "-v", "c[1,2],c[1,3]", "-v", "c[1,3]")
        self.assertEqual(len(picture.lines), 5)
        self.assertLessEqual({"front.body", "x", "v", "c[1,2], c[1,3]", "c[1,2]", "c[1,3]"}, set(picture.texts))
        self.assertNotIn("front.body.x", picture.texts)

    def test_names_whose_beginning_and_end_overlap(self):
        """What is left of a name is never nothing."""
        self.rows("r.csv", ("time", "a.x", "a.b.x", "y.", "y.z."), [(t, t, 2 * t, 3 * t, 4 * t) for t in range(3)])
        self.assertLessEqual({"a", "x", "b.x"}, set(self.picture("r.csv", "-v", "a.x,a.b.x").texts))
        self.assertLessEqual({"y.", "y.z."}, set(self.picture("r.csv", "-v", "y.,y.z.").texts))

    def test_headings_do_not_touch(self):
        """The name of a panel and its legend are above it, however low it is."""
        self.rows("r.csv", ("time", *(f"house.{name}.temperature [degC]" for name in "abcdef")),
                  [(t, *(t + i for i in range(6))) for t in range(3)])
        panels = [option for name in "abcdef" for option in ("-v", f"house.{name}.*")]
        picture = self.picture("r.csv", *panels, "--size", "500x700")
        headings = [text for text in picture.root.iter(SVG + "text") if "house" in "".join(text.itertext())]
        self.assertEqual(["".join(text.itertext()).strip() for text in headings],
                         [f"house.{name}.temperature in °C" for name in "abcdef"])
        self.assertNotIn("rotate", str([group.get("transform") for group in picture.root.iter(SVG + "g")]))
        beside = self.picture("r.csv", "-v", "*.a.*,*.b.*")
        self.assertLessEqual({"temperature in °C", "a", "b"}, set(beside.texts))

    def test_units_of_csv(self):
        """A header may have them."""
        self.tutti("run", kit_fmu("BouncingBall", "3"), "-o", "ball.units.csv", "--quiet")
        self.assertTrue(self.read("ball.units.csv").startswith(b"time [s],h [m],v [m/s],bounces\n0,1,0,0\n"))
        self.tutti("run", kit_fmu("BouncingBall", "3"), "-o", "ball.csv", "--quiet")
        plain, units = (self.read(name).split(b"\n", 1)[1] for name in ("ball.csv", "ball.units.csv"))
        self.assertEqual(plain, units)
        self.assertLessEqual({"h in m", "v in m/s", "bounces"}, set(self.picture("ball.units.csv").texts))
        self.tutti("compare", "ball.csv", "ball.units.csv")

    def test_units_are_typeset(self):
        self.write("r.csv", "time,a [m/s2],T [degC],q [W/(m2.K)]\n0,1,2,3.5\n1,2,3,4\n")
        self.assertLessEqual({"a in m/s²", "T in °C", "q in W/(m²·K)"}, set(self.picture("r.csv").texts))
        shown = self.tutti("plot", "r.csv", "--size", "80x30").out  # no letters beyond ASCII
        self.assertIn("q in W/(m2.K)", shown)

    def test_what_moves_comes_first(self):
        self.rows("r.csv", ("time", "a.p [kg]", "a.c [m]", "a.x [m]", "b.v [m/s]"),
                  [(t, 3.5, 1.5, t / 2, t / 3) for t in range(4)])
        texts = [text for text in self.picture("r.csv").texts if text and not text[0].isdigit()]
        self.assertEqual(texts, ["a in m", "x", "c", "b.v in m/s", "a.p in kg", "time in s"])
        names = [f"u{i}.{'still' if i < 9 else 'moves'}{i} [m]" for i in range(18)]
        self.rows("r.csv", ("time", *names), [(t, *(t / 2 if i >= 9 else 1.5 for i in range(18))) for t in range(4)])
        shown = " ".join(self.picture("r.csv", says="8 of 18").texts)
        self.assertNotIn("still", shown)

    def test_panels_by_physical_unit(self):
        """Where each unit has names of its own, and panels for all would be too many."""
        names = [f"u{i}.{kind}{i} [{unit}]" for i in range(5) for kind, unit in (("x", "m"), ("F", "N"))]
        self.rows("r.csv", ("time", *names), [(t, *(t / 2 + i for i in range(10))) for t in range(4)])
        picture = self.picture("r.csv")
        self.assertEqual(len(picture.lines), 10)
        self.assertLessEqual({"in m", "in N", "u0.x0", "u4.F4"}, set(picture.texts))

    def test_hours_and_days(self):
        for seconds, says, ticks in ((3600, "time in s", {"1000", "3000"}), (86400, "time in h", {"3", "12", "24"}),
                                     (7 * 86400, "time in d", {"1", "6"})):
            with self.subTest(seconds):
                self.rows("r.csv", ("time", "T"), [(t * seconds / 8, t / 20) for t in range(9)])
                self.assertLessEqual({says, *ticks}, set(self.picture("r.csv").texts))
        self.write("r.csv", "time [h],T\n0,1\n90000,2.5\n")
        self.assertIn("time in h", self.picture("r.csv").texts)

    def test_units_that_differ(self):
        self.tutti("run", kit_fmu("BouncingBall", "3"), "-o", "ball.mat", "--quiet")
        self.assertLessEqual({"h in m", "v in m/s"}, set(self.picture("ball.mat", "-v", "h,v").texts))

    def test_many_variables(self):
        names = [f"u{i}.{v}" for i in range(20) for v in "abc"]
        self.rows("r.csv", ("time", *names), [(t, *(t + i for i in range(60))) for t in (0.5, 1.5)])
        picture = self.picture("r.csv", says=r"^tutti: info: 24 of 60 variables are shown; .*-v PATTERN")
        self.assertEqual(len(picture.lines), 24)
        self.assertLessEqual({"a", "b", "c", "u0", "u19"}, set(picture.texts))

    def test_array(self):
        """Elements from its first to its last."""
        names = [f"c[{i}]" for i in range(1, 101)]
        self.rows("r.csv", ("time", *names), [(t, *(t + i for i in range(100))) for t in (0.5, 1.5)])
        picture = self.picture("r.csv", says="8 of 100")
        self.assertLessEqual({"c[1]", "c[100]"}, set(picture.texts))
        everything = self.picture("r.csv", "-v", "*")
        self.assertEqual(len(everything.lines), 100)
        self.assertIn("and 77 more", everything.texts)

    def test_too_many_curves(self):
        self.rows("r.csv", ("time", *(f"v{i}" for i in range(2003))), [(t, *range(t, t + 2003)) for t in range(2)])
        picture = self.picture("r.csv", "-v", "*", says=r"2003 variables fit '\*', and 2000 curves are the most")
        self.assertEqual(len(picture.lines), 2000)

    def test_title_size_and_curves_that_stay_apart(self):
        self.rows("r.csv", ("time", "a", "b", "c"), [(t, t + .5, t + 1.5, t + 2.5) for t in range(3)])
        picture = self.picture("r.csv", "-v", "*", "--title", "It's an <oscillator>", "--size", "500x333")
        self.assertIn("It's an <oscillator>", picture.texts)
        self.assertEqual((picture.width, picture.height), (500, 333))
        self.assertEqual({dash for curve in picture.lines for dash in curve.dashes}, {None})
        self.assertEqual(len(set().union(*(curve.colours for curve in picture.lines))), 3)

    def test_many_curves_stay_apart(self):
        """No two have the same colour and the same marks."""
        names = [f"x{i}" for i in range(20)]
        self.rows("r.csv", ("time", *names), [(t, *(t + i / 3 for i in range(20))) for t in range(30)])
        picture = self.picture("r.csv", "-v", "*")
        samples = {}
        for curve in picture.curves:
            if curve.title in names:
                samples[curve.title] = (frozenset(curve.colours), curve.shapes)
        self.assertEqual(len(samples), 20)
        self.assertEqual(len(set(samples.values())), 20)
        self.assertGreaterEqual(sum(curve.marks for curve in picture.curves), 20 + 2 * 20)
        few = self.picture("r.csv", "-v", "x1,x2,x3,x4")
        self.assertEqual(sum(curve.marks for curve in few.curves), 0)

    def test_large_numbers(self):
        """Ticks have few digits; what is taken off or out stands beside the axis."""
        self.rows("r.csv", ("time", "p", "q"),
                  [(1e9 + 1e-3 * i, 101325 + 1e-3 * i, 2.5e6 * i) for i in range(5)])
        picture = self.picture("r.csv")
        self.assertLessEqual({"time - 1000000000 in 10⁻³ s", "p - 101325 in 10⁻³", "q in 10⁶", "4", "10"}, set(picture.texts))

    def test_long_names(self):
        name = "building.floor_1.room_17.radiator.valve.position"
        self.rows("r.csv", ("time", name), [(0, 0.5), (1, 1.5)])
        self.assertIn(name, self.picture("r.csv").texts)
        self.rows("r.csv", ("time", "begin" + "é" * 500 + "end", "b"), [(0, 0.5, 1), (1, 1.5, 2)])
        for options in ([], ["--xy", "b,begin*"], ["--xy", "begin*,b", "--size", "200x200"]):
            longest = max(self.picture("r.csv", *options).texts, key=len)
            self.assertRegex(longest, "^begin?é{0,50}…é{0,50}nd$|^beginé{1,50}…é{1,50}end$")


class Curves(PlotTest):
    """How curves go."""

    def test_jumps(self):
        self.tutti("run", kit_fmu("BouncingBall", "3"), "-o", "ball.csv", "--quiet")
        picture = self.picture("ball.csv", "-v", "v")
        (line,), (jumps,) = picture.lines, picture.jumps
        self.assertEqual((len(line.pieces), len(jumps.pieces)), (12, 11))
        for jump, before, after in zip(jumps.pieces, line.pieces, line.pieces[1:]):
            self.assertEqual((jump[0], jump[1]), (before[-1], after[0]))
            self.assertEqual(jump[0][0], jump[1][0])
        self.assertEqual(self.picture("ball.csv", "-v", "h").jumps, [])

    def test_stairs(self):
        self.rows("r.csv", ("time", "n"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 3), (5, 3)])
        (line,) = self.picture("r.csv").lines
        (points,) = line.pieces
        self.assertEqual(len(points), 6)
        self.assertTrue(all(a[0] == b[0] or a[1] == b[1] for a, b in zip(points, points[1:])), points)

    def test_gaps(self):
        values = [0.5, 1.5, math.nan, 1.5, 2.5, math.inf, 2.5, -math.inf, 1.5, 0.5]
        self.rows("r.csv", ("time", "x"), list(enumerate(values)))
        picture = self.picture("r.csv")
        self.assertEqual([len(piece) for piece in picture.lines[0].pieces], [2, 2, 2])
        self.assertEqual(sum(curve.marks for curve in picture.curves), 1)

    def test_many_rows(self):
        """The picture stays small, and what is seen only for a moment is seen."""
        count = 100_000
        rows = [(i / count, math.sin(i / 300) + (8 if i == 61_234 else 0), math.sin(i / 9000)) for i in range(count)]
        self.rows("r.csv", ("time", "dense", "smooth"), rows)
        picture = self.picture("r.csv")
        self.assertLess(picture.size, 200_000)
        dense, smooth = picture.lines
        self.assertGreater(len(dense.points), 600)
        self.assertLess(len(smooth.points), 400)
        top = min(dense.points, key=lambda point: point[1])
        left, right = dense.points[0][0], dense.points[-1][0]
        self.assertAlmostEqual((top[0] - left) / (right - left), 0.61234, delta=0.002)
        others = [y for x, y in dense.points if abs(x - top[0]) > 2]
        self.assertGreater(min(others) - top[1], 5 * (max(others) - min(others)) / 2 / 2)

    def test_window(self):
        self.rows("r.csv", ("time", "x"), [(t, 1000.5 if t == 9 else t / 2) for t in range(10)])
        picture = self.picture("r.csv", "--start", "2", "--stop", "4.5")
        self.assertLessEqual({"2", "4", "4.5"}, set(picture.texts))
        self.assertNotIn("1000", picture.texts)
        self.assertNotIn("5", picture.texts)

    def test_window_between_rows(self):
        """A line that begins before the window and ends behind it is drawn from edge to edge."""
        self.rows("r.csv", ("time", "x", "y"), [(t, 0.5, 10.25 + t) for t in range(3)])
        picture = self.picture("r.csv", "-v", "x", "-v", "y", "--start", "1.25", "--stop", "1.75")
        self.assertIn("11.5", picture.texts)
        self.assertEqual([len(line.points) for line in picture.lines], [2, 2])

    def test_logarithm(self):
        self.rows("r.csv", ("time", "x"), [(t, 10.0 ** -t if t != 2 else -1.0) for t in range(6)])
        picture = self.picture("r.csv", "--y-log")
        self.assertIn("10−5", picture.texts)
        self.assertEqual([len(piece) for piece in picture.lines[0].pieces], [2, 2])  # straight ones

    def test_phase_plot(self):
        self.tutti("run", kit_fmu("VanDerPol", "2"), "--stop", "200", "--step", "0.01", "-o", "r.csv", "--quiet")
        picture = self.picture("r.csv", "--xy", "x0,x1")
        self.assertLessEqual({"x0", "x1", "start"}, set(picture.texts))
        self.assertNotIn("time in s", picture.texts)
        self.assertLess(picture.size, 200_000)
        points = picture.lines[0].points
        self.assertLess(min(x for x, _ in points), points[0][0] - 400)
        self.assertEqual(sum(curve.marks for curve in picture.curves), 2)  # the start, and its sample
        both = self.picture("r.csv", "--xy", "x0,x1", "--xy", "x1,x0", "-v", "x0")
        self.assertEqual(len(both.lines), 3)
        self.assertIn("time in s", both.texts)

    def test_extremes(self):
        """Whatever the numbers are, there is a picture."""
        for name, rows in (("one row", [(0, 1.5, 2)]), ("constant", [(0, 1.5, 0), (1, 1.5, 0)]),
                           ("huge", [(0, 1e300, -1.7e308), (1, 2e300, 1.7e308)]),
                           ("huge constant", [(0, 1.7e308, 1.7e308), (1, 1.7e308, 1.7e308)]),
                           ("tiny", [(0, 1e-310, 5e-324), (1, 2e-310, 0)]), ("far", [(-1e300, 1, 2), (1e300, 2, 1.5)]),
                           ("late", [(1e15, 1, 2), (1e15 + 0.125, 1.5, 2.5)]),
                           ("noise", [(0, 293.15, 1.1), (1, 293.15 + 1e-13, 1.1)])):
            with self.subTest(name):
                self.rows("r.csv", ("time", "x", "y"), rows)
                picture = self.picture("r.csv")
                drawn = [curve for curve in picture.curves if curve.pieces or curve.marks]
                self.assertEqual(len(drawn), 2)
                self.picture("r.csv", "--xy", "x,y")
                for options in ([], ["--xy", "x,y"]):
                    self.assertIn("x", self.tutti("plot", "r.csv", *options, env={"LC_ALL": "C.UTF-8"}).out)
                self.tutti("plot", "r.csv", "--y-log", "-o", "out.svg", status=1 if name == "tiny" else 0)

    def assert_drawn(self, values, picture, pixels=1):
        """Each point of the curve is where the ticks say that its value is."""
        ticks = picture.y_ticks
        self.assertGreaterEqual(len({value for _, value in ticks}), 2, ticks)
        (low, least), (high, most) = ticks[0], ticks[-1]
        (line,) = picture.lines
        left, right = line.points[0][0], line.points[-1][0]
        for x, y in line.points:
            row = round((x - left) / (right - left) * (len(values) - 1))
            wanted = low + (high - low) * float((Fraction(values[row]) - least) / (most - least))
            self.assertLessEqual(abs(y - wanted), pixels, (row, values[row]))

    def test_any_size(self):
        """Curves of any size, also near a large number, are drawn to the pixel: 1e-300 is not flat."""
        count = 60
        waves = [math.sin(i / 9) for i in range(count)]
        for name, values in {
                "1e-300": [1e-300 * wave for wave in waves], "1e-300 and more": [1e-300 * (1 + 1e-6 * wave) for wave in waves],
                "1e-305": [1e-305 * wave for wave in waves], "denormal": [1e-320 * wave for wave in waves],
                "denormal and more": [1e-310 + 1e-316 * wave for wave in waves], "least": [5e-324 * (i // 9 % 3) for i in range(count)],
                "least over years": [2e-322 * wave for wave in waves], "1e300": [1e300 * wave for wave in waves],
                "1e300 and more": [1e300 * (1 + 1e-12 * wave) for wave in waves], "largest": [1.7e308 * wave for wave in waves],
                "opposite": [0.5, *(1.7e308 * (-1) ** (i // 9) for i in range(1, count))], "1e15": [1e15 + wave for wave in waves],
                "-1e15": [-1e15 - 40 * wave for wave in waves], "an eighth": [1e14 + round(40 * wave) / 64 for wave in waves]}.items():
            with self.subTest(name):
                width = 1e7 if "years" in name else 0.1
                self.rows("r.csv", ("time", "y"), [(i * width, value) for i, value in enumerate(values)])
                picture = self.picture("r.csv")
                self.assert_drawn(values, picture)
                heights = [y for _, y in picture.lines[0].points]
                self.assertGreater(max(heights) - min(heights), 200)  # of 300

    def test_constants_of_any_size(self):
        for value in (5e-324, 1e-310, -1e-300, 1e-12, 0, -1e15, 1e300, 1.7e308):
            with self.subTest(value):
                self.rows("r.csv", ("time", "y"), [(i / 8, value) for i in range(9)])
                self.assert_drawn([value] * 9, self.picture("r.csv"))

    def test_small_logarithms(self):
        values = [10.0 ** -(290 + i) for i in range(18)]
        self.rows("r.csv", ("time", "y"), [(i / 8, value) for i, value in enumerate(values)])
        (line,) = self.picture("r.csv", "--y-log").lines
        self.assertEqual([len(line.points), line.points[-1][0]], [2, 777.99])


if __name__ == "__main__":
    unittest.main()
