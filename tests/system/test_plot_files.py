#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti plot` and files: step logs, two results, kinds of pictures, the terminal, and all that can be wrong with them."""
import colorsys
import fcntl
import math
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import termios
import unittest

from command import kit_fmu
from picture import EXAMPLES, PlotTest


class Steps(PlotTest):
    """The step log."""

    def test_steps(self):
        self.tutti("run", EXAMPLES / "quarter_car" / "quarter_car.ssp", "--rtol", "1e-6", "-o", "car.csv", "--step-log",
                   "steps.csv", "--quiet")
        picture = self.picture("car.csv", "-v", "*.x", "--steps", "steps.csv")
        self.assertLessEqual({"x", "step size in s", "error / tolerance", "steps taken", "taken back", "100", "10−2"},
                             set(picture.texts))
        taken = sum(",accepted," in line for line in self.read("steps.csv").decode().splitlines())
        self.assertGreater(taken, 100)
        alone = self.picture("--steps", "steps.csv")
        self.assertLessEqual({"step size in s", "time in s"}, set(alone.texts))

    def test_events(self):
        """What is taken back is a cross, and a step over an event is marked."""
        self.write("steps.csv", "t,h,error,verdict,iterations,unit,variable\n"
                                "0,1,,accepted,0,,\n1,2,,changed,0,a,\"b, c\"\n1,0.5,,before the event,0,,\n"
                                "1.5,0.001,,event,0,a,\"b\nc\"\n1.501,0.499,,accepted,0,,\n2,1,,accep")
        picture = self.picture("--steps", "steps.csv")
        self.assertNotIn("error / tolerance", picture.texts)
        marks = {curve.title: curve.marks - 1 for curve in picture.curves if curve.marks}  # without the sample
        self.assertEqual(marks, {"taken back": 2, "events": 1})
        self.assertEqual(len(picture.lines[0].points), 8)  # four steps: 1, 0.5, 0.001, 0.499

    def test_other_files(self):
        self.write("r.csv", "time,x\n0,1\n1,2\n")
        for content, says in (("time,x\n0,1\n", "not a step log.*--step-log"), ("", "not a step log"),
                              ("t,h,error,verdict\n", "no step"), ("t,h,error,verdict\n0,a,,accepted\n", "line 2.*numbers"),
                              ("t,h,error,verdict\n0,1\n1,1,,accepted\n", "line 2: 2 values")):
            with self.subTest(content):
                self.write("steps.csv", content)
                self.refused("plot", "r.csv", "--steps", "steps.csv", "-o", "out.svg", status=1, says=["steps.csv", says])


class TwoResults(PlotTest):
    def setUp(self):
        super().setUp()
        self.rows("coarse.csv", ("time", "a.x", "a.y", "only"), [(t, t * t / 2, 1, 7) for t in range(0, 11, 2)])
        self.rows("fine.csv", ("time", "a.x", "a.y"), [(t / 4, t * t / 32, 1.5) for t in range(41)])

    def test_one_over_the_other(self):
        picture = self.picture("coarse.csv", "fine.csv", "-v", "a.x")
        self.assertLessEqual({"a.x", "coarse", "fine"}, set(picture.texts))
        first, second = picture.lines
        self.assertEqual(first.dashes[-1], None)
        self.assertNotEqual(second.dashes[-1], None)
        self.assertNotEqual(second.dashes[-1], "2,3")  # which is a jump
        (own,), (shade,) = first.colours, second.colours
        self.assertEqual(self.hue(own), self.hue(shade))

    @staticmethod
    def hue(colour):
        numbers = [int(number) for number in re.findall(r"\d+", colour)]
        return round(colorsys.rgb_to_hsv(*numbers)[0], 2)

    def test_colour_is_variable_and_dash_is_result(self):
        picture = self.picture("coarse.csv", "fine.csv", "-v", "a.*")
        self.assertEqual([text for text in picture.texts if text.isalpha()], ["a", "x", "y", "coarse", "fine"])
        x, y, other_x, other_y = picture.lines
        hues = [self.hue(next(iter(line.colours))) for line in picture.lines]
        self.assertEqual(hues[:2], hues[2:])
        self.assertNotEqual(hues[0], hues[1])
        self.assertEqual((x.dashes[-1], y.dashes[-1]), (None, None))
        self.assertEqual(other_x.dashes[-1], other_y.dashes[-1])

    def test_difference(self):
        picture = self.picture("coarse.csv", "fine.csv", "-v", "a.x", "--difference")
        self.assertIn("difference", picture.texts)
        points = picture.lines[2].points
        # A parabola minus the chords of another: never below it, 0 at the rows of both, greatest between.
        heights = [round(y, 1) for _, y in points]
        self.assertEqual(heights.count(max(heights)), 6)
        self.assertEqual(len([1 for a, b, c in zip(heights, heights[1:], heights[2:]) if b < a and b <= c]), 5)

    def test_phase_plots(self):
        picture = self.picture("coarse.csv", "fine.csv", "--xy", "a.x,a.y")
        self.assertEqual([text for text in picture.texts if text.isalpha()], ["coarse", "fine", "start"])
        self.assertEqual(len(picture.lines), 2)
        self.assertEqual(sum(curve.marks for curve in picture.curves), 3)  # two starts, and the sample of one

    def test_what_both_have(self):
        self.assertNotIn("only", " ".join(self.picture("coarse.csv", "fine.csv", says="2 of 3").texts))
        picture = self.picture("coarse.csv", "fine.csv", "-v", "only")
        self.assertEqual(len(picture.lines), 1)

    def test_units_that_differ(self):
        """Nothing is converted, and that is said."""
        self.write("a.csv", "time [s],v [m/s],w [m],p\n0,1,1,1\n1,2,2,2\n")
        self.write("b.csv", "time,v [km/h],w [mm],p [Pa]\n0,1,1,1\n1,2,2,2\n")
        self.write("c.csv", "time [ms],p\n0,1\n1,2\n")
        said = r"'v' is in m/s in a.csv and in km/h in b.csv: the numbers are drawn as they are"
        self.picture("a.csv", "b.csv", "-v", "v", says=said + "$")
        self.picture("a.csv", "b.csv", "--xy", "v,w", says=said + "; units of 1 more differ")
        self.picture("a.csv", "b.csv", "-v", "p")
        self.picture("a.csv", "c.csv", says="times are in s in a.csv and in ms in c.csv")

    def test_files_of_one_name(self):
        os.mkdir(self.path("other"))
        shutil.copy(self.path("fine.csv"), self.path("other/coarse.csv"))
        picture = self.picture("coarse.csv", "other/coarse.csv", "-v", "a.x")
        self.assertLessEqual({"coarse.csv", "other/coarse.csv"}, set(picture.texts))

    def test_formats_mix(self):
        self.tutti("run", kit_fmu("VanDerPol", "2"), "-o", "a.csv", "--quiet")
        self.tutti("run", kit_fmu("VanDerPol", "3"), "-o", "b.mat", "--quiet")
        self.assertEqual(len(self.picture("a.csv", "b.mat", "--difference").lines), 6)


class Files(PlotTest):
    """What is written, and where."""

    def setUp(self):
        super().setUp()
        self.rows("r.csv", ("time", "x0", "x1"), [(t, t / 2, math.sin(t)) for t in range(20)])

    def test_kinds(self):
        for name, magic in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG\r\n"), ("a.pdf", b"%PDF-")):
            with self.subTest(name):
                self.tutti("plot", "r.csv", "-o", name, "--size", "640x400")
                content = self.read(name)
                self.assertTrue(content.startswith(magic), content[:20])
                if name == "a.png":
                    self.assertEqual(struct.unpack(">II", content[16:24]), (640, 400))

    def test_replaced_when_whole(self):
        self.picture("r.csv")
        older = self.read("out.svg")
        os.link(self.path("out.svg"), self.path("older.svg"))
        self.picture("r.csv", "-v", "x0")
        self.assertNotEqual(self.read("out.svg"), older)
        self.assertEqual(self.read("older.svg"), older)
        os.symlink("older.svg", self.path("link.svg"))
        self.tutti("plot", "r.csv", "-o", "link.svg", "-v", "x1")
        self.assertTrue(os.path.islink(self.path("link.svg")))
        self.assertNotEqual(self.read("older.svg"), older)
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.svg", "older.svg", "out.svg", "r.csv", "tmp"])

    def test_link_to_what_is_not_there(self):
        os.symlink("new.svg", self.path("link.svg"))
        self.refused("plot", "r.csv", "-o", "link.svg", "-v", "nothing", status=2, says="nothing")
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.svg", "r.csv", "tmp"])
        self.tutti("plot", "r.csv", "-o", "link.svg")
        self.assertTrue(os.path.islink(self.path("link.svg")))
        self.assertTrue(self.read("new.svg").startswith(b"<?xml"))

    def test_older_picture_stays_if_nothing_can_be_drawn(self):
        self.picture("r.csv")
        older = self.read("out.svg")
        for arguments, status in ((["r.csv", "-v", "x9"], 2), (["nowhere.csv"], 1), ([kit_fmu("VanDerPol", "2")], 1)):
            with self.subTest(arguments=arguments):
                self.tutti("plot", *arguments, "-o", "out.svg", status=status)
                self.assertEqual(self.read("out.svg"), older)

    def gnuplot(self, script):
        """An environment with another gnuplot; None: without any."""
        os.makedirs(self.path("bin"), exist_ok=True)
        if script:
            pathlib.Path(self.write("bin/gnuplot", "#!/bin/sh\n" + script)).chmod(0o755)
        return {"PATH": self.path("bin")}

    def test_without_gnuplot(self):
        self.refused("plot", "r.csv", "-o", "out.svg", env=self.gnuplot(None), status=1, says="not installed.*gnuplot-nox")

    def test_gnuplot_that_fails(self):
        self.picture("r.csv")
        older = self.read("out.svg")
        for script, says in (("echo half; exit 1", "gnuplot.* failed"), ("kill -9 $$", "gnuplot.* failed"),
                             ("echo '  line 7: unknown or ambiguous terminal type; type' >&2; exit 1", r"cannot draw.*\.svg"),
                             ("echo '  line 9: no room' >&2; exit 1", "failed: no room")):
            with self.subTest(script):
                self.refused("plot", "r.csv", "-o", "out.svg", env=self.gnuplot(script), status=1, says=says)
                self.assertEqual(self.read("out.svg"), older)

    def test_full_disk(self):
        os.symlink("/dev/full", self.path("full.svg"))
        self.refused("plot", "r.csv", "-o", "full.svg", status=1, says="full.svg.*cannot be written.*[Nn]o space")

    def test_names_that_mean_something_to_others(self):
        """Nothing in a result reaches gnuplot as a command."""
        names = ["a'; system('touch gotcha')", "`touch gotcha`", "x_{1}^2 @z", "END", "$line0 << END", "<b>&amp;", "back\\"]
        quoted = ['"' + name.replace('"', '""') + '"' for name in (*names, "two\nlines")]
        self.write("odd.csv", f"time,{','.join(quoted)}\n0,1,2,3,4,5,6,7,8\n1,2,3,4,5,6,7,8,9.5\n")
        for options in ([], ["-v", "*"], ["--xy", "END,`touch gotcha`"]):
            picture = self.picture("odd.csv", *options)
            self.assertFalse(os.path.exists(self.path("gotcha")))
            if "--xy" not in options:
                self.assertLessEqual({*names, "two lines"}, set(picture.texts))
        odd = "o'`touch gotcha`\n.svg"
        self.tutti("plot", "odd.csv", "-o", odd, "--title", "`touch gotcha`\\")
        self.assertTrue(os.path.exists(self.path(odd)))
        self.assertFalse(os.path.exists(self.path("gotcha")))

    def test_bytes_that_are_no_text(self):
        pathlib.Path(self.path("odd.csv")).write_bytes(b"time,\xff\xfe\x1b[31m\n0,1\n1,2.5\n")
        self.assertIn("?? [31m", self.picture("odd.csv").texts)

    def test_texts_are_left_out(self):
        self.write("texts.csv", "time,name,x,y\n0,a,1,2\n1,b,2,3\n")
        texts = self.picture("texts.csv").texts
        self.assertIn("x", texts)
        self.assertNotIn("name", texts)
        self.assertEqual(len(self.picture("texts.csv", "-v", "*").lines), 2)
        self.refused("plot", "texts.csv", "-o", "a.svg", "-v", "name", status=2, says="'name' is a text")
        self.refused("plot", "texts.csv", "-o", "a.svg", "--xy", "x,name", status=2, says="'name' is a text")

    def test_results_without_anything(self):
        for content, says in (("time,x\n", "no rows"), ("time\n0\n1\n", "no numbers"), ("time,x\n0,a\n1,b\n", "no numbers"),
                              ("time,x\n0,nan\n1,inf\n", "no finite number")):
            with self.subTest(content):
                self.write("odd.csv", content)
                outcome = self.tutti("plot", "odd.csv", "-o", "out.svg", status=1)
                self.assertRegex(outcome.lines("error")[0], says)
                self.assertFalse(os.path.exists(self.path("out.svg")))

    def test_curve_without_values(self):
        self.write("odd.csv", "time,x,y\n0,nan,1\n1,nan,2.5\n")
        picture = self.picture("odd.csv", "-v", "*", says="warning: 'x' has no value")
        self.assertEqual(len(picture.lines), 1)
        self.assertIn("x", picture.texts)

    def test_mistakes(self):
        for arguments, status, says in ((["r.csv", "-o", "out.svg", "-v", "x9"], 2, "'x9'.*did you mean 'x"),
                                        (["r.csv", "-o", "out.svg", "-v", "x0,x9"], 2, "'x9'"),
                                        (["r.csv", "-o", "a.gif"], 2, r"\.svg.*\.png.*\.pdf"),
                                        (["nowhere.csv", "-o", "out.svg"], 1, r"nowhere\.csv"),
                                        (["r.csv", "-o", "no/where.svg"], 1, r"no/where\.svg"),
                                        (["r.csv", "-o", "/proc/out.svg"], 1, r"/proc/out\.svg"),
                                        ([kit_fmu("VanDerPol", "2"), "-o", "out.svg"], 1, "VanDerPol_fmi2"),
                                        (["-o", "out.svg"], 2, "RESULT is missing"),
                                        (["r.csv", "-o", "out.svg", "--xy", "x0"], 2, "two variables"),
                                        (["r.csv", "-o", "out.svg", "--xy", "x*,x0"], 2, "2 variables fit"),
                                        (["r.csv", "-o", "out.svg", "--xy", "x0,x7"], 2, "'x7'"),
                                        (["r.csv", "-o", "out.svg", "--difference"], 2, "two results"),
                                        (["r.csv", "-o", "out.svg", "--terminal"], 2, "exclude each other"),
                                        (["r.csv", "-o", "out.svg", "--size", "big"], 2, "'big'"),
                                        (["r.csv", "-o", "out.svg", "--size", "100x100"], 2, "too small for 2 panels"),
                                        (["r.csv", "-o", "out.svg", "--start", "3", "--stop", "3"], 2, "before --stop"),
                                        (["r.csv", "-o", "out.svg", "--start", "30"], 2, "from 0 to 19"),
                                        (["r.csv", "r.csv", "r.csv", "-o", "out.svg"], 2, "one thing too many")):
            with self.subTest(arguments=arguments):
                self.refused("plot", *arguments, status=status, says=says)
                self.assertFalse(os.path.exists(self.path("out.svg")))


class Terminal(PlotTest):
    def setUp(self):
        super().setUp()
        self.rows("r.csv", ("time", "a.x", "a.y"), [(t / 10, math.sin(t / 10), math.cos(t / 10)) for t in range(100)])

    def test_pipe(self):
        outcome = self.tutti("plot", "r.csv", "--terminal", "--title", "Waves")
        lines = outcome.out.splitlines()
        self.assertEqual(outcome.err, "")
        self.assertLessEqual(len(lines), 26)
        self.assertLessEqual(max(map(len, lines)), 80)
        for text in ("Waves", "a", "time in s", "x", "y"):
            self.assertIn(text, outcome.out)
        self.assertRegex(outcome.out, r"\*{3}.*#{3}|#{3}.*\*{3}")
        self.assertNotRegex(outcome.out, "[\f\033]")

    def test_without_output(self):
        self.assertEqual(self.tutti("plot", "r.csv").out, self.tutti("plot", "r.csv", "--terminal").out)
        self.assertEqual(self.tutti("plot", "r.csv", env={"PATH": "/nowhere"}).err, "")  # gnuplot is not needed

    def test_braille(self):
        """A single curve, or colours, and a terminal that knows the letters: the curve is where its values are."""
        self.rows("r.csv", ("time", "x"), [(t, t % 10 + 0.5) for t in range(0, 31, 10)] + [(35, 9.5)])
        out = self.tutti("plot", "r.csv", "--size", "60x16", env={"LC_ALL": "C.UTF-8"}).out
        lines = out.splitlines()
        self.assertEqual(len(lines), 16)
        self.assertLessEqual(max(map(len, lines)), 60)
        drawn = [line.split("│")[-1].split("┤")[-1] for line in lines[1:-3]]
        self.assertTrue(all(c == " " or "\u2801" <= c <= "\u28ff" for line in drawn for c in line), out)
        self.assertGreater(len(drawn[0].rstrip()), 50)  # it ends at the top
        self.assertRegex(drawn[-1], "^[\u2801-\u28ff]{40}")
        self.assertIn("┬", lines[-3])

    def test_size_and_panels(self):
        outcome = self.tutti("plot", "r.csv", "--terminal", "--size", "60x30", "-v", "a.x", "-v", "a.y")
        lines = outcome.out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertTrue(25 <= len(lines) <= 31, outcome.out)
        self.assertIn("a.y", outcome.out)

    def test_limit(self):
        """The line of what is allowed is where the axis says 1."""
        self.write("steps.csv", "t,h,error,verdict,iterations,unit,variable\n"
                   + "".join(f"{t},0.5,{error},accepted,1,,\n" for t, error in ((0, 0.02), (0.5, 0.9))))
        outcome = self.tutti("plot", "--steps", "steps.csv", "--terminal", "--size", "70x30")
        (limit,) = [line for line in outcome.out.splitlines() if "....." in line]
        self.assertRegex(limit, r"^ +1 \+")

    def on_terminal(self, **environment):
        terminal, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 35, 100, 0, 0))
        process = self.start("plot", "r.csv", "--terminal", stdout=slave, stderr=subprocess.PIPE,
                             env={"TERM": "xterm", "NO_COLOR": "", **environment})
        os.close(slave)
        shown = b""
        try:
            while data := os.read(terminal, 4096):
                shown += data
        except OSError:
            pass  # closed at its other end
        os.close(terminal)
        self.assertEqual(self.finish(process).status, 0)
        return shown.decode().replace("\r\n", "\n")

    def test_window(self):
        shown = self.on_terminal()
        self.assertIn("\033[38;5;", shown)
        plain = re.sub("\033\\[[\\d;]*m", "", shown)
        self.assertTrue(90 <= max(len(line.rstrip()) for line in plain.splitlines()) <= 100)
        self.assertTrue(30 <= len(plain.splitlines()) <= 35)
        self.assertNotIn("\033", self.on_terminal(NO_COLOR="1"))
        self.assertNotIn("\033", self.on_terminal(TERM="dumb"))

    def test_letters(self):
        """Powers are written as the terminal can."""
        self.rows("r.csv", ("time", "x"), [(0, 0), (1, 3e6), (2, 1e6)])
        for locale, says in (("C.UTF-8", "x in 10⁶"), ("C", "x in 1e6")):
            with self.subTest(locale):
                self.assertIn(says, self.tutti("plot", "r.csv", "--terminal", env={"LC_ALL": locale}).out)


if __name__ == "__main__":
    unittest.main()
