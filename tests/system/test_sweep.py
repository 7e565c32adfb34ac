#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti sweep`: tables against single runs, measures against closed forms, any number of workers, runs that go wrong, sweeps that are killed."""
import csv
import math
import os
import pathlib
import random
import shutil
import signal
import unittest

from command import CommandTest, kit_fmu, test_fmu, wait_until

MOODY = test_fmu("Moody", "2")
WORDS = ("ok", "failed", "failed", "crashed", "crashed", "unmeasured")  # of the moods from 0 on


class SweepTest(CommandTest):
    def sweep(self, *arguments, status=0, **options):
        """The table that a sweep writes to standard output."""
        outcome = self.tutti("sweep", *arguments, "-o", "-", "--quiet", status=status, **options)
        return list(csv.DictReader(outcome.out.splitlines()))

    def table(self, name):
        return pathlib.Path(self.path(name)).read_bytes()


class TestValues(SweepTest):
    def test_same_as_single_runs(self):
        rows = self.sweep(kit_fmu("VanDerPol", "2"), "--vary", "mu=0.5:2.5:5", "--vary", "x0=1,2")
        self.assertEqual([(row["run"], row["mu"], row["x0"]) for row in rows[:3]], [("0", "0.5", "1"), ("1", "0.5", "2"), ("2", "1", "1")])
        self.assertEqual(len(rows), 10)
        for row in rows:
            single = self.simulate(kit_fmu("VanDerPol", "2"), "--set", f"mu={row['mu']}", "--set", f"x0={row['x0']}")
            self.assertEqual((row["final(x0)"], row["final(x1)"], row["status"]), (*single.rows[-1][1:], "ok"))

    def test_measures_in_closed_form(self):
        rows = self.sweep(MOODY, "--vary", "k=1:3:3", "--interface", "me", "--rtol", "1e-10", "--output-step", "0.001",
                          *(word for name in ("final(x)", "initial(x)", "max(x)", "min(y) / 2", "integral(x)", "mean(x)", "rms(x)", "time_of_max(x)",
                                              "time_of_min(x)", "time_when(x < 0.5)", "max(abs(x - y))", "max(1, final(x))", "integral(time)",
                                              "final(der(x))")
                            for word in ("--measure", name)))
        for row in rows:
            k = float(row["k"])
            end = math.exp(-k)
            exact = {"final(x)": end, "initial(x)": 1, "max(x)": 1, "min(y) / 2": end, "integral(x)": (1 - end) / k, "mean(x)": (1 - end) / k,
                     "rms(x)": math.sqrt((1 - end * end) / (2 * k)), "time_of_max(x)": 0, "time_of_min(x)": 1, "max(abs(x - y))": 1,
                     "max(1, final(x))": 1, "integral(time)": 0.5, "final(der(x))": -k * end}
            for name, value in exact.items():
                self.assertAlmostEqual(float(row[name]), value, delta=1e-6, msg=name)
            self.assertAlmostEqual(float(row["time_when(x < 0.5)"]), math.log(2) / k, delta=0.001)

    def test_systems_and_records(self):
        rows = self.sweep(f"a={MOODY}", f"b={MOODY}", "--vary", "a.k=1,2", "--record", "?.y", "--step", "0.1")
        self.assertEqual(list(rows[0]), ["run", "a.k", "final(a.y)", "final(b.y)", "status", "message"])
        self.assertEqual(rows[0]["final(b.y)"], rows[1]["final(b.y)"])
        self.assertNotEqual(rows[0]["final(a.y)"], rows[1]["final(a.y)"])

    def test_table_of_values(self):
        self.write("cases.csv", "k,x\n1,2\n3,4\n")
        rows = self.sweep(MOODY, "--csv", "cases.csv", "--measure", "initial(x)")
        self.assertEqual([(row["k"], row["x"], row["initial(x)"]) for row in rows], [("1", "2", "2"), ("3", "4", "4")])

    def test_samples(self):
        both = "--vary", "k=1:3", "--vary", "c=0:10", "--vary", "x=5", "--runs", "64", "--measure", "final(x)"
        sobol = self.sweep(MOODY, *both, "--sample", "sobol")
        try:
            from scipy.stats import qmc
            points = qmc.Sobol(2, scramble=False).random(64)
            self.assertEqual([(float(row["k"]), float(row["c"])) for row in sobol], [(1 + 2 * x, 10 * y) for x, y in points])
        except ImportError:
            pass
        latin = self.sweep(MOODY, *both, "--sample", "latin")
        self.assertEqual(sorted(int(32 * (float(row["k"]) - 1)) for row in latin), list(range(64)))
        self.assertEqual(sorted(int(6.4 * float(row["c"])) for row in latin), list(range(64)))
        chance = self.sweep(MOODY, *both, "--sample", "random", "--seed", "7")
        self.assertEqual(chance, self.sweep(MOODY, *both, "--sample", "random", "--seed", "7"))
        self.assertNotEqual(chance, self.sweep(MOODY, *both, "--sample", "random", "--seed", "8"))
        self.assertTrue(all(1 <= float(row["k"]) <= 3 and row["x"] == "5" for row in chance))

    def test_trajectories(self):
        self.tutti("sweep", MOODY, "--vary", "k=1,2,3", "--trajectories", "all.csv", "--workers", "2", "-o", "t.csv")
        rows = self.result("all.csv")
        self.assertEqual(rows.header, ["time", "run", "x", "y"])
        self.assertEqual(rows["run"], sorted(rows["run"]))
        for run in range(3):
            single = self.simulate(MOODY, "--set", f"k={run + 1}")
            self.assertEqual([row[:1] + row[2:] for row in rows.rows if row[1] == str(run)], single.rows)


class TestGoingWrong(SweepTest):
    def test_runs_that_go_wrong_cost_themselves(self):
        self.tutti("sweep", MOODY, "--vary", "k=1:5:5", "--vary", "mood=0,1,2,3,4,5", "--measure", "max(y)", "--workers", "2", "-o", "t.csv", status=1)
        rows = list(csv.DictReader(self.table("t.csv").decode().splitlines()))
        self.assertEqual([row["status"] for row in rows], 5 * list(WORDS))
        for row in rows:
            self.assertEqual(row["max(y)"], "2" if row["status"] == "ok" else "")
            self.assertEqual(row["message"] == "", row["status"] == "ok")
        self.assertIn("a bad mood", rows[1]["message"])
        self.assertIn("signal 11", rows[3]["message"])
        self.assertIn("nan", rows[5]["message"])
        for workers in (1, 4):
            self.tutti("sweep", MOODY, "--vary", "k=1:5:5", "--vary", "mood=0,1,2,3,4,5", "--measure", "max(y)", "--workers", workers, "-o", "u.csv", status=1)
            self.assertEqual(self.table("u.csv"), self.table("t.csv"))
        self.assertFalse(pathlib.Path(self.path("t.csv.journal")).exists())

    def test_told(self):
        outcome = self.tutti("sweep", MOODY, "--vary", "mood=1", "--measure", "max(y)", status=1)
        self.assertRegex(outcome.err, "tutti: error: run 0 failed: .*a bad mood")
        self.assertRegex(outcome.err, "runs +1, of which 0 are ok")
        outcome = self.tutti("sweep", MOODY, "--vary", "k=1,2", "--measure", "1 / (final(y) - final(y))", status=1)
        self.assertRegex(outcome.err, r"run 1 unmeasured: .*character 3: division by zero: 1 / 0")
        outcome = self.tutti("sweep", MOODY, "--vary", "k=1", "--measure", "time_when(x > 5)", status=1)
        self.assertRegex(outcome.err, "never true")

    def test_refused(self):
        for arguments, says in (
                (("--vary", "kk=1:2:3"), "no variable named 'kk'; did you mean"),
                (("--vary", "y=1:2:3"), "y"),
                (("--vary", "k=1:2"), "a range is A:B:N"),
                (("--vary", "k=1:2:0"), "whole number from 1"),
                (("--vary", "k=1:2:1.5"), "whole number from 1"),
                (("--vary", "k=1:2:3:4"), "a range is A:B:N"),
                (("--vary", "k=1,,2"), "'' is not a number"),
                (("--vary", "k=1,x"), "'x' is not a number"),
                (("--vary", "k=nan"), "'nan' is not a number"),
                (("--vary", "k"), "takes P=A:B:N"),
                (("--vary", "k=1", "--vary", "k=2"), "'k' is there twice"),
                ((), "nothing varies"),
                (("--vary", "k=1:2", "--sample", "sobol"), "needs --runs"),
                (("--vary", "k=1:2:3", "--runs", "3"), "--runs is for"),
                (("--vary", "k=1:2:3", "--sample", "latin", "--runs", "3"), "with --sample a range is A:B"),
                (("--vary", "k=1,2", "--sample", "latin", "--runs", "3"), "not from a list"),
                (("--vary", "k=1:2:100000", "--vary", "c=1:2:100000"), "1e\\+10 runs"),
                (("--vary", "k=1", "--csv", "x.csv"), "do not go with it"),
                (("--vary", "k=1", "--measure", "max(x"), "character 6: '\\)' is missing"),
                (("--vary", "k=1", "--measure", "max(z)"), "character 5: there is no variable named 'z'"),
                (("--vary", "k=1", "--measure", "x"), "many values in a run"),
                (("--vary", "k=1", "--measure", "maxi(x)"), "no function 'maxi'; did you mean 'max'"),
                (("--vary", "k=200"), "--vary k=200: .*'k'"),
                (("--vary", "mood=1.5"), "--vary mood=1.5: .*whole numbers"),
        ):
            with self.subTest(arguments):
                self.assertEqual(self.refused("sweep", MOODY, *arguments, status=2, says=says).out, "")
                self.assertEqual(os.listdir(self.folder), ["tmp"])

    def test_refused_tables(self):
        for text, says in (("", "the table is empty"), ("k\n", "has no rows"), ("k\n1\nx\n", "bad.csv:3: 'x' \\(k\\) is not a number"),
                           ("k,c\n1\n", "bad.csv:2: 1 cells, but 2 columns"), ("k,k\n1,2\n", "'k' is there twice"), (",k\n1,2\n", "column 1 has no name")):
            self.write("bad.csv", text)
            self.refused("sweep", MOODY, "--csv", "bad.csv", status=None if "twice" not in says else 2, says=says)
        self.write("good.csv", "k\n1\n")
        self.refused("sweep", MOODY, "--csv", "good.csv", "-o", "good.csv", status=2, says="is what --csv reads")
        self.refused("sweep", MOODY, "--vary", "k=1", "-o", "t.csv", "--trajectories", "t.csv", status=2, says="cannot both be")
        self.refused("sweep", MOODY, "--vary", "k=1", "--trajectories", "t.xyz", status=2, says="xyz")


def size(path):
    """Of a file; 0 if there is none yet."""
    return path.stat().st_size if path.exists() else 0


class TestGoingOn(SweepTest):
    LINE = "sweep", MOODY, "--vary", "k=1:3:40", "--vary", "mood=0,0,0,3,1", "--step", "0.0001", "--measure", "mean(y)"

    def test_killed_at_any_time(self):
        self.tutti(*self.LINE, "-o", "whole.csv", "--trajectories", "whole_rows.csv", "--record", "y", status=1)
        line = *self.LINE, "-o", "t.csv", "--trajectories", "rows.csv", "--record", "y"
        chance = random.Random(5)
        journal = pathlib.Path(self.path("t.csv.journal"))
        killed = 0
        for attempt in range(13):
            process = self.start(*line, "--workers", str(1 + attempt % 3))
            wanted = chance.randrange(10000 * attempt // 6 + 1)
            self.assertTrue(wait_until(lambda: process.poll() is not None or (attempt < 12 and size(journal) >= wanted)))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                killed += 1
            process.communicate()
            if process.returncode >= 0:
                break
        self.assertGreater(killed, 0)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.table("t.csv"), self.table("whole.csv"))
        self.assertEqual(self.table("rows.csv"), self.table("whole_rows.csv"))
        for left in os.listdir(self.tmpdir):  # of those that were killed
            self.assertTrue(left.startswith("tutti"), left)

    def test_interrupted(self):
        process = self.start("sweep", MOODY, "--vary", "k=1:3:2000", "--step", "0.0001", "-o", "t.csv", "--workers", "2")
        self.assertTrue(wait_until(lambda: size(self.folder / "t.csv.journal") > 1000))
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 130 if outcome.status == 130 else 1)
        self.assertRegex(outcome.err, "interrupted after [0-9]+ of 2000 runs; the same command makes the others")

    def test_journals_of_others(self):
        journal = pathlib.Path(self.path("t.csv.journal"))
        process = self.start(*self.LINE, "-o", "t.csv")
        self.assertTrue(wait_until(lambda: size(journal) > 1000))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        for left in self.tmpdir.iterdir():
            shutil.rmtree(left)
        before = journal.read_bytes()
        self.assertIn("of another sweep", self.tutti(*self.LINE, "--rtol", "1e-6", "-o", "t.csv", status=2).err)
        self.assertIn("of another sweep", self.tutti(*self.LINE, "--measure", "max(y)", "-o", "t.csv", status=2).err)
        self.assertEqual(journal.read_bytes(), before)
        journal.write_bytes(before[:-5])  # cut in the middle of a record
        outcome = self.tutti(*self.LINE, "-o", "t.csv", status=1)
        self.assertRegex(outcome.err, "were there already")
        self.tutti(*self.LINE, "-o", "u.csv", status=1)
        self.assertEqual(self.table("t.csv"), self.table("u.csv"))
        journal.write_text("something else, of which there is enough to look like a file")
        self.assertIn("no journal of a sweep", self.tutti(*self.LINE, "-o", "t.csv", status=1).err)


if __name__ == "__main__":
    unittest.main()
