#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The summary after `tutti run`: aligned in files, coloured and never too wide on terminals, true everywhere."""
import fcntl
import json
import os
import pty
import re
import struct
import termios
import unicodedata
import unittest

from command import CommandTest, kit_fmu, kit_fmus

TRACKER = kit_fmu("Tracker", "3")
RING = (f"a={TRACKER}", f"b={TRACKER}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.x=1")
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def columns(text):
    """Columns of a terminal that a text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Summary:
    """The lines of a summary by their labels, and its table as a list of dictionaries."""

    def __init__(self, text):
        self.lines = [line for line in text.splitlines() if not line.startswith("tutti: ")]
        header = next(i for i, line in enumerate(self.lines) if re.match(r"unit +FMI", line) or line.startswith("unit  "))
        end = next(i for i, line in enumerate(self.lines) if i > header and re.match("(spent|result|took) ", line))
        self.header, self.rows = self.lines[header], self.lines[header + 1:end]
        self.labels = {line.split()[0]: line[13:] for line in self.lines[:header] + self.lines[end:]}
        titles = re.findall(r"\S+(?: \S+)*", self.header)
        self.table = [dict(zip(titles, self.cells(row))) for row in self.rows]

    def cells(self, row):
        """What stands under each title: those of texts begin with it, numbers end with it."""
        spots = [(found.start(), found.end()) for found in re.finditer(r"\S+(?: \S+)*", self.header)]
        at, places = 0, []  # where each character of the row stands
        for character in row:
            places.append(at)
            at += columns(character)
        cells, begin = [], 0
        for (_, end), (following, _) in zip(spots, [*spots[1:], (1 << 30, 0)]):
            last = following - 1 if self.header[begin:end].strip() in ("unit", "FMI", "kind") else end
            cells.append("".join(c for c, place in zip(row, places) if begin <= place < last).strip())
            begin = last
        assert at <= columns(self.header), f"{row!r} is longer than {self.header!r}"
        return cells


class SummaryTest(CommandTest):
    def summary(self, *arguments, status=0, **options):
        outcome = self.tutti("run", *arguments, status=status, **options)
        self.assertNotIn("\x1b", outcome.err)
        return Summary(outcome.err)

    def stats(self, *arguments):
        """The summary and the statistics of a run."""
        summary = self.summary(*arguments, "--stats", "stats.json")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return summary, json.load(file)

    def on_terminal(self, width, *arguments, **environment):
        """What the command shows in a terminal of this width."""
        terminal, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        process = self.start("run", *arguments, stderr=slave, env={"TERM": "xterm", "NO_COLOR": "", **environment})
        os.close(slave)
        shown = b""
        while data := read_or_end(terminal):
            shown += data
        os.close(terminal)
        self.assertEqual(self.finish(process).status, 0)
        return shown.decode().replace("\r\n", "\n")


class Files(SummaryTest):
    def test_one_unit(self):
        fmu = kit_fmu("VanDerPol", "3")
        summary, stats = self.stats(fmu)
        self.assertEqual(summary.labels["system"], fmu)
        self.assertEqual(summary.labels["time"], "0 to 20")
        self.assertEqual(summary.labels["steps"], "200 accepted, 0 rejected, 0 events")
        size = os.path.getsize(self.path("result.csv"))
        self.assertEqual(summary.labels["result"], f"result.csv (201 rows, {size / 1000:.2f} kB)")
        self.assertRegex(summary.labels["took"], r"^\S+ [mu]?s \(set-up \S+ [mu]?s, loop \S+ [mu]?s, \S+ x real time\)$")
        self.assertNotIn("coupling", summary.labels)
        self.assertEqual(len(summary.table), 1)
        share = summary.table[0].pop("loop time")
        self.assertEqual(summary.table[0], {"unit": "VanDerPol_fmi3", "FMI": "3.0", "kind": "cs", "do-steps": "200",
                                            "gets": "201", "sets": "0"})
        self.assertEqual(share, f"{100 * stats['units'][0]['seconds'] / stats['loop_seconds']:.0f} %")
        self.assertEqual(stats["reasons"], dict.fromkeys(("coupling", "control", "extrapolate", "events")))

    def test_time_is_estimated_without_being_asked_for(self):
        """A unit that takes all the time is seen to, and one that takes none, too."""
        slow, quick = kit_fmu("Worker", "2"), kit_fmu("Dahlquist", "2")
        table = self.summary(f"slow={slow}", f"quick={quick}", "--set", "slow.work=2e-4", "--step", "0.01", "--stop", "1",
                             "--record", "none").table
        shares = {row["unit"]: int(row["loop time"].strip("<").split()[0]) for row in table}
        self.assertGreater(shares["slow"], 5 * shares["quick"])

    def test_why_auto_chose(self):
        summary, stats = self.stats(*RING, "--interface", "cs", "--rtol", "1e-5")
        for choice in ("coupling", "control", "extrapolate", "events"):
            self.assertEqual(summary.labels[choice], f"{stats[choice]}: {stats['reasons'][choice]}")
        self.assertIn("a tolerance is given", summary.labels["control"])
        self.assertRegex(summary.labels["steps"], rf"^{stats['steps']} accepted \(\S+ on average\), {stats['rejected']} rejected")
        mean = float(re.search(r"\((\S+) on", summary.labels["steps"])[1])
        self.assertAlmostEqual(mean * stats["steps"] / (stats["stop"] - stats["start"]), 1, delta=0.01)
        self.assertEqual(self.summary(*RING, "--coupling", "jacobi", "--step", "0.1").labels["coupling"], "jacobi: as asked for")

    def test_rejected_steps(self):
        summary, stats = self.stats(*RING, "--rtol", "1e-7", "--step", "0.5", "--control", "embedded")
        self.assertGreater(stats["rejected"], 0)
        self.assertIn(f", {stats['rejected']} rejected", summary.labels["steps"])
        for row, unit in zip(summary.table, stats["units"]):
            self.assertEqual((row["unit"], row["do-steps"], row["rollbacks"]),
                             (unit["name"], str(unit["do_steps"]), str(unit["rollbacks"])))
        self.assertEqual(summary.table[-1]["do-steps"], str(sum(unit["do_steps"] for unit in stats["units"])))

    def test_several_ranks(self):
        for option, told in (("--threads", "on 2 threads"), ("--processes", "in 2 processes")):
            with self.subTest(option=option):
                summary, stats = self.stats(*RING, "--step", "0.1", option, "2", "--place", "b=0", "--place", "a=1")
                self.assertEqual(summary.labels["system"], f"2 FMUs {told}")
                self.assertEqual([(row["unit"], row["rank"]) for row in summary.table], [("a", "1"), ("b", "0"), ("all", "")])
                self.assertTrue(all(stats["reasons"][choice] for choice in ("coupling", "control", "extrapolate", "events")))
                for choice, reason in stats["reasons"].items():
                    self.assertEqual(summary.labels[choice], f"{stats[choice]}: {reason}")

    def test_solvers(self):
        """Columns of Model Exchange are empty for Co-Simulation."""
        fmus = (f"me={kit_fmu('VanDerPol', '1me')}", f"cs={kit_fmu('Dahlquist', '2')}")
        summary, stats = self.stats(*fmus, "--stop", "20", "--step", "0.1", "--rtol", "1e-6")
        unit = stats["units"][0]
        row = summary.table[0]
        self.assertEqual(row["kind"], f"me, {unit['solver']}")
        self.assertGreater(unit["solver_error_failures"] + unit["solver_other_failures"], 0)
        for title, count in (("solver steps", unit["solver_steps"]), ("rhs", unit["rhs_evaluations"]),
                             ("Jacobians", unit["jacobian_evaluations"]),
                             ("failed", unit["solver_error_failures"] + unit["solver_other_failures"])):
            self.assertEqual([line[title] for line in summary.table], [str(count), "", str(count)])

    def test_many_units(self):
        names = [f"u{i}" for i in range(30)]
        summary, stats = self.stats(*(f"{name}={kit_fmu('Dahlquist', '2')}" for name in names), "--record", "none")
        self.assertEqual(len(summary.table), 22)
        self.assertEqual(summary.table[20]["unit"], "and 10 more")
        shown = {row["unit"] for row in summary.table[:20]}
        least = min(unit["seconds"] for unit in stats["units"] if unit["name"] in shown)
        self.assertTrue(all(unit["seconds"] <= least for unit in stats["units"] if unit["name"] not in shown))
        counts = [int(row["do-steps"]) for row in summary.table]
        self.assertEqual((sum(counts[:21]), counts[20]), (counts[21], 1000))

    def test_names_of_all_alphabets(self):
        names = ("Übertrager", "ロボット", "e\u0301te\u0301", "x")
        summary = self.summary(*(f"{name}={kit_fmu('Dahlquist', '2')}" for name in names))
        self.assertEqual([row["unit"] for row in summary.table], [*names, "all"])
        self.assertEqual({columns(row) for row in summary.rows}, {columns(summary.header)})

    def test_every_kit_fmu_has_an_aligned_table(self):
        for fmu in kit_fmus("[A-D]*_fmi3"):
            outcome = self.tutti("run", fmu, "--stop", "0.1", "--step", "0.1", status=None)
            if outcome.status == 0:
                self.assertEqual(len(Summary(outcome.err).table), 1, fmu)

    def test_interrupted_and_ended(self):
        summary = self.summary(kit_fmu("Stair", "3"))
        self.assertEqual(summary.labels["time"], "0 to 10 (ended by the FMU)")


class Terminals(SummaryTest):
    def test_colours(self):
        shown = self.on_terminal(100, TRACKER)
        self.assertIn("\x1b[1msystem       \x1b[0m", shown)
        self.assertIn("\x1b[1munit ", shown)
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b[1m", self.on_terminal(100, TRACKER, **environment))

    def test_what_went_wrong_has_another_colour(self):
        shown = self.on_terminal(200, *RING, "--coupling", "jacobi", "--control", "embedded", "--rtol", "1e-12",
                                 "--h-min", "0.1", "--step", "0.1", "--extrapolate", "0")
        self.assertRegex(shown, r"steps +\x1b\[0m\x1b\[33m.* forced\x1b\[0m\n")

    def test_never_too_wide(self):
        name = "eine_sehr_lange_Bezeichnung_für_ein_kleines_Bauteil"
        fmus = (f"{name}={kit_fmu('VanDerPol', '1me')}", f"b={kit_fmu('Dahlquist', '2')}")
        for width in (200, 100, 80, 60, 40, 20, 10):
            with self.subTest(width=width):
                shown = ESCAPE.sub("", self.on_terminal(width, *fmus, "--stop", "5"))
                lines = [line for line in shown.splitlines() if not line.startswith("tutti: ")]
                self.assertLessEqual(max(map(columns, lines)), max(width, 14))
                self.assertIn("do-steps" if width >= 40 else "unit", shown)
                self.assertEqual(name in shown, width == 200)
                joined = re.sub(r"\n +", " ", shown)
                if width >= 40:
                    self.assertIn("control      fixed: no continuous signal to estimate an error by", joined)

    def test_tolerance_of_one(self):
        """One Co-Simulation FMU: its internal solver may ignore --rtol."""
        words = "error        not controlled: the FMU uses an internal solver, which receives --rtol and may ignore it"
        van_der_pol = kit_fmu("VanDerPol", "2")
        for options, said in ((("--interface", "cs", "--rtol", "1e-4"), True), (("--interface", "cs"), False), (("--interface", "me", "--rtol", "1e-4"), False)):
            outcome = self.tutti("run", van_der_pol, "--stop", "1", *options, "-o", "result.csv")
            self.assertEqual(words in outcome.err + outcome.out, said, options)

    def test_quiet(self):
        self.assertEqual(self.on_terminal(80, TRACKER, "--quiet"), "")


def read_or_end(terminal):
    """What the terminal shows next; nothing once nobody writes to it any more."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main()
