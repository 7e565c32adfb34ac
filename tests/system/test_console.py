#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a person sees: help, suggestions, the progress line; and that no locale changes a result."""
import os
import pty
import re
import signal
import subprocess
import unittest

from command import SANITIZED, CommandTest, Table, kit_fmu, processor_seconds, wait_until
from nodes import children

COMMANDS = ("info", "check", "run", "plot", "help")
RUN_OPTIONS = ("--start", "--stop", "--step", "--output-step", "--set", "--input", "--rtol", "--record", "-o",
               "--stats", "--log-level", "--quiet", "--verbose")
LONG = ("--stop", "1", "--step", "1e-9", "--record", "none")  # a run that somebody has to end


class Help(CommandTest):
    def test_overview(self):
        for arguments, status in ((["--help"], 0), (["-h"], 0), (["help"], 0), ([], 2)):
            outcome = self.tutti(*arguments, status=status)
            for command in COMMANDS:
                self.assertRegex(outcome.out, rf"(?m)^  {command} .*\w")
            self.assertIn("Exit status", outcome.out)

    def test_every_command(self):
        for command in COMMANDS:
            outcome = self.tutti(command, "--help")
            self.assertEqual(outcome.err, "")
            self.assertRegex(outcome.out, rf"^tutti {command} - \w")
            self.assertIn(f"Usage: tutti {command}", outcome.out)
            self.assertEqual(outcome.out, self.tutti("help", command).out)
            self.assertEqual(outcome.out, self.tutti(command, "nonsense", "-h").out)
            self.assertLessEqual(max(map(len, outcome.out.splitlines())), 100)

    def test_options_of_run(self):
        text = self.tutti("run", "--help").out
        for option in RUN_OPTIONS:
            self.assertRegex(text, rf"(?m)^  (-\w, )?{option}\b")

    def test_version(self):
        self.assertRegex(self.tutti("--version").out, r"^tutti \d+\.\d+\.\d+\n$")

    def test_help_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.refused("run", "--help", stdout=full, status=1, says="standard output")


class Mistakes(CommandTest):
    """Exit status 2, one line, and what was probably meant."""

    def test_commands(self):
        for wrong, meant in (("rnu", "run"), ("inf", "info"), ("checc", "check"), ("polt", "plot")):
            self.refused(wrong, status=2, says=[f"'{wrong}'", f"did you mean '{meant}'"])
        self.refused("zzzzzzzz", status=2, says=["'zzzzzzzz'", "--help"])
        self.refused("help", "rnu", status=2, says="'rnu'")

    def test_options(self):
        fmu = kit_fmu("Dahlquist", "2")
        for wrong, meant in (("--stpo", "--stop"), ("--outputstep", "--output-step"), ("--quite", "--quiet")):
            self.refused("run", fmu, wrong, "1", status=2, says=[f"'{wrong}'", f"did you mean '{meant}'"])
        self.refused("run", fmu, "--stpo=1", status=2, says="did you mean '--stop'")
        for foreign, meant in (("--tolerance", "--rtol"), ("--stop-time", "--stop"), ("--stopTime=3", "--stop"),
                               ("--start-time", "--start"), ("--param", "--set"), ("--step-size", "--step"),
                               ("--output-interval", "--output-step"), ("--output-file=x", "--output")):
            self.refused("run", fmu, foreign, "1", status=2,
                         says=[f"unknown option '{foreign.partition('=')[0]}'; did you mean '{meant}'"])
        self.refused("info", fmu, "--tolerance", status=2, says="unknown option '--tolerance'; see 'tutti info --help'")
        for foreign, meant in (("simulate", "run"), ("validate", "check")):
            self.refused(foreign, fmu, status=2, says=f"did you mean '{meant}'")
        self.refused("info", fmu, "--jsn", status=2, says="did you mean '--json'")
        self.refused("run", fmu, "--stop", status=2, says="--stop needs a value")
        self.refused("run", fmu, "--quiet=1", status=2, says="--quiet takes no value")
        self.refused("run", fmu, "--log-level", "loud", status=2, says="error, warning, info or debug")

    def test_operands(self):
        for command in ("info", "check", "run", "plot"):
            self.refused(command, status=2, says="is missing")
        for command in ("info", "check"):
            self.refused(command, "a.fmu", "b.fmu", status=2, says="'b.fmu'")


class Console(CommandTest):
    def test_summary(self):
        outcome = self.tutti("run", kit_fmu("BouncingBall", "3"))
        for line in (r"BouncingBall_fmi3 +3\.0 +cs, events +311 .*", r"time +0 to 3",
                     r"steps +311 accepted, 0 rejected, 11 events", r"result +result\.csv \(323 rows, 14\.9 kB\)"):
            self.assertRegex(outcome.err, rf"(?m)^{line}$")
        self.assertEqual(outcome.out, "")

    def test_quiet_is_silent(self):
        for fmu in (kit_fmu("Dahlquist", "2"), kit_fmu("Claiming", "2"), kit_fmu("Stair", "2")):
            outcome = self.tutti("run", fmu, "--quiet")
            self.assertEqual((outcome.out, outcome.err), ("", ""))
        self.refused("run", kit_fmu("Dahlquist", "2"), "--quiet", "--set", "nobody=1", status=2, says="nobody")

    def test_log_levels(self):
        fault = {"KIT_FAULT": "badlog DoStep 0.5; flood DoStep 0.5"}
        said = {level: self.tutti("run", kit_fmu("Faulty", "2"), "--log-level", level, env=fault).err
                for level in ("error", "warning", "info", "debug")}
        self.assertNotIn("without category", said["error"])
        self.assertIn("without category", said["warning"])
        self.assertNotIn("of a flood", said["warning"])
        self.assertIn("of a flood", said["info"])
        self.assertEqual(self.tutti("run", kit_fmu("Faulty", "2"), "--verbose", env=fault).lines("error"), [])

    def test_messages_name_the_instance(self):
        outcome = self.tutti("run", kit_fmu("Faulty", "3"), env={"KIT_FAULT": "badlog DoStep 0.5"})
        self.assertIn("tutti: warning: Faulty_fmi3: a message without category\n", outcome.err)

    def test_progress_on_a_terminal(self):
        said = self.on_terminal("run", kit_fmu("Dahlquist", "2"), *LONG, until=b"ETA")
        self.assertRegex(said, r"\r(?:\[=* *\])? *\d+\.\d%  t = \S+ of 1  \S+ x real time  h = 1e-09  ETA ")
        self.assertIn("interrupted at t = ", said)

    def test_no_progress_with_quiet(self):
        """The only thing on the terminal is what the signal asked for."""
        said = self.on_terminal("run", kit_fmu("Dahlquist", "2"), "--quiet", *LONG, until=None)
        self.assertNotIn("%", said)
        self.assertNotIn("ETA", said)

    def test_no_progress_on_a_pipe(self):
        """Long enough to show some: nothing but the summary comes."""
        outcome = self.tutti("run", kit_fmu("Dahlquist", "2"), "--stop", "1", "--step", "4e-7", "--record", "x",
                             "-o", "-", stdout=subprocess.DEVNULL)
        self.assertNotIn("\r", outcome.err)
        self.assertNotIn("ETA", outcome.err)
        self.assertIn("2500000 accepted", outcome.err)

    def on_terminal(self, *arguments, until):
        """Runs the command on a terminal until it shows `until` (None: until it has computed for a second), then interrupts it."""
        terminal, slave = pty.openpty()
        process = self.start(*arguments, stderr=slave)
        os.close(slave)
        shown = b""
        if until is None:
            self.assertTrue(wait_until(lambda: sum(map(processor_seconds, (process.pid, *children(process.pid)))) > 1))
        while until and until not in shown:
            shown += os.read(terminal, 4096)
        process.send_signal(signal.SIGINT)
        while data := read_or_end(terminal):
            shown += data
        os.close(terminal)
        self.assertEqual(self.finish(process).status, 130)
        return shown.decode()


class Locale(CommandTest):
    """A comma as decimal separator somewhere in the environment changes nothing."""

    def eager(self):
        """A library that makes the locale count, as some FMUs do."""
        source = self.write("locale.c", "#include <locale.h>\n#include <stdio.h>\n__attribute__((constructor)) static "
                                        "void set(void) { setlocale(LC_ALL, \"\"); char text[9]; snprintf(text, 9, "
                                        "\"%.1f\", 0.5); if (text[1] != ',') fputs(\"no German\", stderr); }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("locale.so"), source], check=True)
        return {"LD_PRELOAD": self.path("locale.so")}

    @unittest.skipIf(SANITIZED, "the sanitizers want to be loaded first")
    def test_same_bytes(self):
        trajectory = self.write("input.csv", "time,u\n0,0.5\n1.5,2.25\n")
        arguments = ("run", kit_fmu("Tracker", "3"), "-o", "-", "--quiet", "--input", trajectory, "--step", "0.25",
                     "--set", "T=0.75")
        usual = self.tutti(*arguments)
        german = self.tutti(*arguments, env={**self.german(), **self.eager()})
        self.assertEqual(german.err, "")
        self.assertEqual(german.out, usual.out)
        self.assertEqual(len(Table(usual.out)), 21)
        info = ("info", kit_fmu("Heater", "2"), "--json")
        self.assertEqual(self.tutti(*info, env={**self.german(), **self.eager()}).out, self.tutti(*info).out)
        german_stats = self.tutti("run", kit_fmu("Dahlquist", "2"), "--quiet", "--stats", "-",
                                  env={**self.german(), **self.eager()}).out
        self.assertIsNone(re.search(r"\d,\d", german_stats))


def read_or_end(terminal):
    """What the terminal shows next; nothing once nobody writes to it any more."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main()
