#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti compare` tells results that agree from results that do not: real runs, other tools' files, broken ones, large ones."""
import json
import math
import os
import pathlib
import pty
import subprocess
import unittest

from command import FMUS, SANITIZED, TUTTI, CommandTest, kit_fmu


class CompareTest(CommandTest):
    def compare(self, result, reference, *options, agree, **more):
        """Compares, checks the exit status against the verdict, and returns what was printed, line by line."""
        outcome = self.tutti("compare", result, reference, *options, status=0 if agree else 1, **more)
        lines = outcome.out.splitlines()
        self.assertRegex(lines[-1], r"^agree: " if agree else r"^disagree: ")
        return lines

    def as_json(self, result, reference, *options, agree, **more):
        outcome = self.tutti("compare", result, reference, "--json", *options, status=0 if agree else 1, **more)
        report = json.loads(outcome.out)
        self.assertEqual(report["agree"], agree)
        return report

    def run_to(self, name, model, *options):
        self.tutti("run", model, "-o", name, "--quiet", *options)
        return name


class Runs(CompareTest):
    """What Tutti computed against what Tutti computed."""

    def test_steps(self):
        fmu = kit_fmu("VanDerPol", "2")
        for step in ("0.001", "0.02", "0.05"):
            self.run_to(f"{step}.csv", fmu, "--interface", "me", "--solver", "rk4", "--solver-step", step, "--step", step, "--stop", "5")
        self.assertEqual(self.compare("0.02.csv", "0.02.csv", "--rtol", "0", "--atol", "0", "--ttol", "0", agree=True)[-1],
                         "agree: 2 of 2 variables, worst x0: 0 at t = 0 (0% of what is allowed)")
        fine = self.as_json("0.02.csv", "0.001.csv", agree=True)
        coarse = self.as_json("0.05.csv", "0.001.csv", "--rtol", "1e-2", agree=True)
        self.as_json("0.05.csv", "0.001.csv", "--rtol", "1e-4", agree=False)
        # The error is that of lines between rows, of second order.
        ratio = coarse["variables"][0]["error"] / fine["variables"][0]["error"]
        self.assertAlmostEqual(ratio / 2.5 ** 2, 1, delta=0.3)

    def test_solvers(self):
        fmu = kit_fmu("VanDerPol", "3")
        options = ("--interface", "me", "--rtol", "1e-7", "--output-step", "0.05", "--stop", "10", "--solver")
        for solver in ("cvode", "radau5", "dopri5"):
            self.run_to(f"{solver}.csv", fmu, *options, solver)
        self.compare("radau5.csv", "cvode.csv", agree=True)
        self.compare("dopri5.csv", "cvode.csv", agree=True)
        self.run_to("euler.csv", fmu, *options, "euler", "--solver-step", "0.01")
        self.compare("euler.csv", "cvode.csv", agree=False)

    def test_fabrics(self):
        system = FMUS.parent / "examples" / "quarter_car" / "quarter_car.ssp"
        self.run_to("one.csv", system)
        self.run_to("threads.csv", system, "--threads", "2")
        self.run_to("processes.csv", system, "--processes", "2")
        for other in ("threads.csv", "processes.csv"):
            self.compare(other, "one.csv", "--rtol", "0", "--atol", "0", "--ttol", "0", agree=True)

    def test_events(self):
        """A bounce that is a little late is forgiven if the time tolerance says so; jumps as rows of one time."""
        fmu = kit_fmu("BouncingBall", "3")
        self.run_to("reference.csv", fmu, "--interface", "me", "--rtol", "1e-9")
        self.run_to("ball.csv", fmu, "--interface", "me")
        times = self.result("reference.csv").times
        self.assertLess(len(set(times)), len(times))
        lines = self.compare("ball.csv", "reference.csv", agree=False)
        self.assertTrue(lines[1].startswith("bounces "), lines)  # a count is exact
        self.compare("ball.csv", "reference.csv", "--ttol", "0.002", agree=True)
        report = self.as_json("ball.csv", "reference.csv", "--ttol", "0.002", agree=True)
        self.assertEqual({v["name"]: v["held"] for v in report["variables"]}, {"h": False, "v": False, "bounces": True})

    def test_formats(self):
        fmu = kit_fmu("BouncingBall", "2")
        self.run_to("a.csv", fmu)
        hdf5 = pathlib.Path(TUTTI).parent / "tutti_hdf5.so"  # not in a build without HDF5
        for name in ("a.mat", "a.h5") if hdf5.exists() else ("a.mat",):
            with self.subTest(name=name):
                self.run_to(name, fmu)
                for pair in ((name, "a.csv"), ("a.csv", name)):
                    report = self.as_json(*pair, "--rtol", "0", "--atol", "0", "--ttol", "0", agree=True)
                    self.assertEqual(report["compared"], 3)
                self.assertEqual(report["reference"]["format"], "mat" if name == "a.mat" else "hdf5")

    def test_aborted(self):
        fmu = kit_fmu("VanDerPol", "2")
        self.run_to("whole.csv", fmu, "--stop", "2")
        with open(self.path("whole.csv"), encoding="utf-8") as file:
            text = file.read()
        half = text[:len(text) // 2]
        self.write("aborted.csv", half if half[-1] not in ",\n" else half[:-1])
        outcome = self.tutti("compare", "aborted.csv", "whole.csv", status=1)
        self.assertRegex(outcome.out, r"the result ends at t = [0-9.]+, and 2 is wanted: was its run aborted\?\n"
                                      r"disagree: the result does not have all times of the reference; 2 of 2 variables agree")
        # As a reference it is what it is, and the warning is about its last row, if that was cut off.
        outcome = self.tutti("compare", "whole.csv", "aborted.csv")
        self.assertRegex(outcome.out, r"compared up to t = [0-9.]+; the result goes on to 2\nagree: ")
        self.write("cut.csv", "time,x\n0,1\n1,2\n2")
        self.write("x.csv", "time,x\n0,1\n1,2\n")
        outcome = self.tutti("compare", "cut.csv", "x.csv")
        self.assertRegex(outcome.err, r"^tutti: warning: cut\.csv:4: 1 cells, and the header has 2; it is the last row")
        self.assertEqual(self.tutti("compare", "cut.csv", "x.csv", "--quiet").err, "")


class Files(CompareTest):
    """What other tools write."""

    def setUp(self):
        super().setUp()
        self.write("r.csv", "time,a,b\n0,1,5\n1,2,6\n2,4,7\n")

    def test_columns(self):
        self.write("a.csv", "Time;new;b;a\n0;1;5;1\n2;3;7;4\n1e1;;;\n")
        lines = self.compare("a.csv", "r.csv", "--ttol", "0", agree=False)
        self.assertEqual(lines[0].split(), ["variable", "error", "of", "allowed", "at", "time", "result", "reference"])
        self.assertEqual(lines[1].split(), ["a", "0.5", "167", "times", "1", "2.5", "2", "differs"])
        self.assertEqual(lines[2].split(), ["b", "0", "0%", "0", "5", "5", "agrees"])
        self.assertEqual(lines[3:], ["1 variable is only in the result: new", "compared up to t = 2; the result goes on to 10",
                                     "disagree: 1 of 2 variables differ, worst a: 0.5 at t = 1 (167 times what is allowed)"])
        # Columns are where they are in all lines.
        self.assertEqual([lines[1].index("  differs"), lines[2].index("  agrees")], [len(lines[0].rstrip())] * 2, lines)
        self.compare("a.csv", "r.csv", "-v", "b", agree=True)
        self.compare("a.csv", "r.csv", "-v", "b", "--strict", agree=True)
        self.compare("a.csv", "r.csv", "-v", "b", "-v", "n*", "--strict", agree=False)
        self.compare("a.csv", "r.csv", "--atol", "0.5", agree=True)

    def test_many_variables(self):
        names = [f"x{i}" for i in range(30)]
        self.write("a.csv", "time," + ",".join(names) + "\n0" + ",.5" * 30 + "\n1" + ",1.5" * 30 + "\n")
        self.write("b.csv", "time," + ",".join(names) + "\n" + "".join(
            f"{t}," + ",".join(str(t + 0.5 + i * 5e-5) for i in range(30)) + "\n" for t in (0, 1)))
        lines = self.compare("a.csv", "b.csv", agree=False)
        self.assertEqual(len(lines), 13)
        self.assertEqual([line.split()[0] for line in lines[1:11]], names[:19:-1])
        self.assertEqual(lines[11], "and 20 more, which are closer (--all shows them)")
        self.assertRegex(lines[12], "^disagree: 9 of 30 variables differ, worst x29")
        self.assertEqual(len(self.compare("a.csv", "b.csv", "--all", agree=False)), 32)
        self.assertEqual(self.tutti("compare", "a.csv", "b.csv", "--quiet", status=1).out, "")
        self.assertEqual(self.tutti("compare", "a.csv", "b.csv", "--quiet", "--rtol", "1", status=0).out, "")

    def test_nan_and_infinity(self):
        self.write("a.csv", "time,x,y\n0,nan,1\n1,1,1.#INF\n")
        self.write("b.csv", "time,x,y\n0,,1\n1,1,Infinity\n")
        self.write("c.csv", "time,x,y\n0,0,1\n1,1,-inf\n")
        self.compare("a.csv", "b.csv", agree=True)
        report = self.as_json("a.csv", "c.csv", agree=False)
        self.assertEqual([(v["name"], v["error"], v["share"], v["result"]) for v in report["variables"]],
                         [("x", None, None, None), ("y", None, None, None)])
        self.assertRegex(self.compare("c.csv", "a.csv", agree=False)[-1],
                         r"worst x: nan at t = 0 \(inf times what is allowed\)")

    def test_units_and_texts(self):
        self.write("a.csv", "time [s],v [m/s],s\n0,1,on\n")
        self.write("b.csv", "time,v [km/h],s\n0,1,off\n")
        lines = self.compare("a.csv", "b.csv", agree=False)
        self.assertEqual(lines[1].split(), ["s", "nan", "inf", "times", "0", "on", "off", "differs"])
        self.assertEqual(lines[3], "units differ: v is in m/s in the result, in km/h in the reference")
        self.assertEqual([(one["name"], one["result"], one["reference"]) for one in self.as_json("a.csv", "b.csv", agree=False)["variables"]],
                         [("s", "on", "off"), ("v", 1, 1)])
        self.write("b.csv", "time,v [km/h],s\n0,1,on\n")
        self.compare("a.csv", "b.csv", agree=True)
        lines = self.compare("a.csv", "b.csv", "--strict", agree=False)
        self.assertRegex(lines[-1], "the same variables and units are wanted")
        self.assertEqual(self.as_json("a.csv", "b.csv", agree=True)["units"],
                         [{"name": "v", "result": "m/s", "reference": "km/h"}])

    def test_json(self):
        self.write("a.csv", "time,a,c\n0,1,5\n1,2.5,6\n2,4,7\n")
        report = self.as_json("a.csv", "r.csv", "--atol", "0.1", "--ttol", "0", agree=False)
        variable = report.pop("variables")
        self.assertEqual(report, {
            "agree": False, "start": 0, "stop": 2, "covered": True, "rtol": 1e-3, "atol": 0.1, "ttol": 0, "strict": False,
            "compared": 1, "disagreements": 1, "only_in_result": ["c"], "only_in_reference": ["b"], "texts": [], "units": [],
            "result": {"file": "a.csv", "format": "csv", "variables": 2, "rows": 3, "start": 0, "stop": 2},
            "reference": {"file": "r.csv", "format": "csv", "variables": 2, "rows": 3, "start": 0, "stop": 2}})
        self.assertEqual(variable[0].pop("share"), variable[0]["error"] / variable[0]["allowed"])
        self.assertTrue(math.isclose(variable[0].pop("allowed"), 0.103))
        self.assertEqual(variable, [{"name": "a", "unit": None, "agrees": False, "held": False, "error": 0.5, "time": 1,
                                     "result": 2.5, "reference": 2}])

    def test_refused(self):
        self.write("empty.csv", "time,a\n")
        self.write("nothing.csv", "")
        self.write("other.csv", "time,aa\n0,1\n")
        self.write("back.csv", "time,a\n1,1\n0,1\n2,1\n")
        self.write("ragged.csv", "time,a\n1\n2,1\n")
        for arguments, status, says in (
                (["none.csv", "r.csv"], 1, r"none\.csv: No such file"), (["r.csv", "empty.csv"], 1, r"empty\.csv has no rows"),
                (["empty.csv", "r.csv"], 1, r"empty\.csv has no rows"), (["nothing.csv", "r.csv"], 1, "is empty"),
                (["other.csv", "r.csv"], 1, "no variable in common.*'a', the result 'aa'; are they"),
                (["back.csv", "r.csv"], 1, r"back\.csv:3: time runs backwards"), (["ragged.csv", "r.csv"], 1, r"ragged\.csv:2: "),
                ([kit_fmu("VanDerPol", "2"), "r.csv"], 1, "not a result"), ([".", "r.csv"], 1, "directory"),
                (["r.csv"], 2, "REFERENCE"), (["r.csv", "r.csv", "--rtol", "-1"], 2, "--rtol must not be negative"),
                (["r.csv", "r.csv", "--ttol", "nan"], 2, "--ttol"), (["r.csv", "r.csv", "--atol", "x"], 2, "--atol takes a number"),
                (["r.csv", "r.csv", "--start", "2", "--stop", "1"], 2, "--stop is before --start"),
                (["r.csv", "r.csv", "--stop", "inf"], 2, "--stop must be finite"),
                (["r.csv", "r.csv", "--start", "3"], 2, r"r\.csv goes from 0 to 2"),
                (["-", "-"], 2, "only one of the files"), (["r.csv", "r.csv", "-v", "q*"], 2, r"fits 'q\*'")):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.refused("compare", *arguments, status=status, says=says).out, "")

    def test_standard_input_and_readonly_folder(self):
        os.chmod(self.path("r.csv"), 0o400)
        os.chmod(self.folder, 0o500)
        self.addCleanup(os.chmod, self.folder, 0o700)
        with open(self.path("r.csv"), "rb") as file:
            self.compare("-", "r.csv", agree=True, stdin=file)
        read, write = os.pipe()
        os.write(write, b"time,a\n0,1\n1,2\n2,4\n")
        os.close(write)
        with os.fdopen(read) as pipe:
            self.compare("r.csv", "-", agree=True, stdin=pipe)

    def test_full_output(self):
        with open("/dev/full", "wb") as full:
            self.refused("compare", "r.csv", "r.csv", status=1, says="standard output cannot be written", stdout=full)
            self.refused("compare", "r.csv", "r.csv", "--json", status=1, says="standard output cannot be written", stdout=full)

    def test_colours(self):
        """On a terminal only, and not if NO_COLOR says so."""
        self.assertNotIn("\033", "".join(self.compare("r.csv", "r.csv", agree=True)))
        for extra, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            leader, follower = pty.openpty()
            self.tutti("compare", "r.csv", "r.csv", stdout=follower, env={"TERM": "xterm", **extra})
            os.close(follower)
            self.assertEqual(b"\033[1magree" in os.read(leader, 65536), coloured, extra)
            os.close(leader)


class Large(CompareTest):
    """Files that do not fit into the memory that there is."""

    ROWS = 400_000

    def write_large(self, name, columns, error):
        """About 100 MB, quickly: a block of rows again and again, at later times."""
        row = ",".join(f"{math.sin(i) + error:.15f}" for i in range(columns))
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write("time," + ",".join(f"x{i}" for i in range(columns)) + "\n")
            for begin in range(0, self.ROWS, 10000):
                file.write("".join(f"{i},{row}\n" for i in range(begin, begin + 10000)))

    @unittest.skipIf(SANITIZED, "the sanitizers need memory of their own")
    def test_little_memory(self):
        """Measured, not limited: a library that cannot have its address space may wait for it for ever."""
        self.write_large("a.csv", 15, 1e-9)
        self.write_large("b.csv", 15, 0)
        size = os.path.getsize(self.path("a.csv"))
        self.assertGreater(size, 100_000_000)
        with open(self.path("said"), "w+b") as said:
            process = subprocess.Popen([TUTTI, "compare", self.path("a.csv"), self.path("b.csv"), "-v", "x1", "-v", "x1?"],
                                       stdout=said, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read().decode()
        self.assertEqual(process.returncode, 0, text)
        self.assertRegex(text.splitlines()[-1], r"^agree: 6 of 6 variables, worst x1[0-4]?: 1e-09")
        self.assertLess(1024 * usage.ru_maxrss, 2 * size // 3 + 60_000_000)


if __name__ == "__main__":
    unittest.main()
