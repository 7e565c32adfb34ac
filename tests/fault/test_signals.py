#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ctrl-C and its kin: the first ends a run at the next communication point and keeps the result. What a kill leaves
behind is removed by the next run."""
import os
import pathlib
import re
import signal
import socket
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import PATIENCE, VERSIONS, CommandTest, Outcome, kit_fmu, wait_until  # noqa: E402

ENDLESS = ("--stop", "1", "--step", "1e-9", "--output-step", "1e-6")
UNDER_WAY = "print DoStep 2.5e-5"  # the FMU says when it is there


class Signals(CommandTest):
    def under_way(self, version="2", *options, **more):
        """Starts a run, and waits until it has recorded some rows."""
        process = self.start("run", kit_fmu("Faulty", version), *ENDLESS, *options, env={"KIT_FAULT": UNDER_WAY},
                             **more)
        self.await_print(process)
        return process

    def test_first_signal_ends_the_run(self):
        for version in VERSIONS:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(version=version, signal=number):
                    process = self.under_way(version)
                    process.send_signal(number)
                    outcome = self.finish(process)
                    self.assertEqual(outcome.status, 128 + number)
                    message, = outcome.lines("error")
                    reached = float(re.search(r"interrupted at t = (\S+);", message)[1])
                    times = self.result().times
                    self.assertEqual(times, [n * 1e-6 for n in range(len(times))])
                    self.assertGreaterEqual(len(times), 26)
                    self.assertLess(reached - times[-1], 1.001e-6)

    def test_in_a_long_step_of_model_exchange(self):
        """One communication step is ten billion of the solver: it ends all the same."""
        process = self.start("run", kit_fmu("Faulty", "2"), "--solver", "rk4", "--solver-step", "1e-10", "--stop", "1",
                             "--step", "1", env={"KIT_FAULT": "print GetDerivatives 1e-9"})
        self.await_print(process)
        process.send_signal(signal.SIGTERM)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 128 + signal.SIGTERM)
        self.assertRegex(outcome.err, r"interrupted at t = \S+, (on the way to 1|in a step of the solver);")
        self.assertEqual(self.result().times, [0])

    def test_result_on_standard_output(self):
        """Rows come while it runs, and all of them are there at the end."""
        process = self.start("run", kit_fmu("Dahlquist", "2"), *ENDLESS, "-o", "-", "--quiet")
        begin = process.stdout.read(4096)
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 130)
        lines = (begin.decode() + outcome.out).splitlines()
        self.assertEqual(lines[:2], ["time,x", "0,1"])
        self.assertEqual([float(line.split(",")[0]) for line in lines[1:]], [n * 1e-6 for n in range(len(lines) - 1)])

    def test_statistics_of_an_interrupted_run(self):
        process = self.under_way("3", "--stats", "stats.json")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process).status, 130)
        self.assertIn('"do_steps": ', pathlib.Path(self.path("stats.json")).read_text("utf-8"))

    def test_ignored_hangup_is_ignored(self):
        """`nohup tutti run ...` goes on when its terminal goes away."""
        previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the command inherits it
        try:
            process = self.under_way(restore_signals=False)
        finally:
            signal.signal(signal.SIGHUP, previous)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process).status, 130)

    def test_reader_that_goes_away(self):
        """As in `tutti run -o - | head -1`."""
        process = self.start("run", kit_fmu("Dahlquist", "2"), *ENDLESS, "-o", "-")
        self.assertEqual(process.stdout.readline(), b"time,x\n")
        process.stdout.close()
        process.stdout = None
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1)
        self.assertRegex(outcome.lines("error")[0], "standard output: Broken pipe")


class Waiting(CommandTest):
    """A command that waits for a file: there is nothing to keep, so the first signal ends it."""

    def test_first_signal_ends_it(self):
        os.mkfifo(self.path("pipe"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.start("plot", "pipe", "-o", "out.svg")
                with open(self.path("pipe"), "wb"):  # waits for the command to open it
                    process.send_signal(number)
                    self.assertEqual(process.wait(PATIENCE), 128 + number)
                self.assertEqual(self.finish(process).err, "")


    def test_nodes_that_do_not_answer(self):
        """The run has not begun: nothing is summed up."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            process = self.start("run", kit_fmu("Dahlquist", "2"), "--nodes", f"127.0.0.1:{silent.getsockname()[1]}")
            silent.accept()[0].close()
            process.send_signal(signal.SIGTERM)
            outcome = self.finish(process)
        self.assertEqual(outcome.status, 128 + signal.SIGTERM)
        self.assertEqual(len(outcome.lines("error")), 1)


class Killed(CommandTest):
    """SIGKILL leaves no chance; the folder is removed by a later run, but never under the feet of one that lives."""

    def hanging(self, result="result.csv"):
        process = self.start("run", kit_fmu("Faulty", "2"), "-o", result,
                             env={"KIT_FAULT": "print DoStep; hang DoStep"})
        self.await_print(process)
        return process

    def end(self, process):
        process.kill()
        out, err = process.communicate()
        return Outcome(process.returncode, out.decode(), err.decode())

    def folders(self):
        return sorted(os.listdir(self.tmpdir))

    def make_old(self):
        """As if all had been left two minutes ago."""
        for name in self.folders():
            os.utime(self.tmpdir / name, (time.time() - 120,) * 2)

    def run_another(self, left):
        self.assertEqual(self.finish(self.start("run", kit_fmu("Dahlquist", "2"), "-o", "other.csv"), left).status, 0)

    def test_rows_are_in_the_file_while_an_fmu_hangs(self):
        """Who looks sees all of them, and the worst end takes none away."""
        for ranks in ((), ("--threads", "1"), ("--processes", "1")):
            with self.subTest(ranks=ranks):
                result = pathlib.Path(self.write("result.csv", ""))  # it comes when there are columns
                process = self.start("run", kit_fmu("Faulty", "2"), "--step", "0.125", *ranks,
                                     env={"KIT_FAULT": "print DoStep 0.5; hang DoStep 0.5"})
                self.await_print(process)
                wait_until(lambda file=result: file.read_bytes().count(b"\n") >= 6)
                self.end(process)
                self.assertEqual(self.result().times, [0, 0.125, 0.25, 0.375, 0.5])

    def test_leftovers_are_swept(self):
        processes = [self.hanging(f"{i}.csv") for i in range(3)]
        self.assertEqual(len(self.folders()), 3)
        for process in processes:
            self.assertEqual(self.end(process).status, -signal.SIGKILL)
        self.assertEqual(len(self.folders()), 3)
        self.make_old()
        self.run_another(left=())
        self.assertEqual(self.folders(), [])

    def test_what_is_young_or_alive_or_not_ours_stays(self):
        self.end(self.hanging())
        young = self.folders()
        self.run_another(left=young)
        self.assertEqual(self.folders(), young)
        self.make_old()
        alive = self.hanging()  # sweeps
        living = self.folders()
        self.assertEqual(len(living), 1)
        (self.tmpdir / "tutti-of-somebody").mkdir(mode=0o700)
        self.make_old()
        self.run_another(left=self.folders())
        self.assertEqual(self.folders(), sorted([*living, "tutti-of-somebody"]))
        self.end(alive)

    def test_rows_before_a_kill(self):
        """The header is there from the beginning; rows follow every second or so."""
        self.end(self.hanging())
        self.assertEqual(self.result().header, ["time", "y"])


if __name__ == "__main__":
    unittest.main()
