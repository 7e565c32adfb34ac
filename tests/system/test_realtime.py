#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--realtime: no point comes before it is due, late ones are counted, and a wait can be interrupted."""
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from command import THREAD_SANITIZED, CommandTest, description, is_asleep, kit_fmu, wait_until

TRACKER = kit_fmu("Tracker", "2")
SLOW = ("--interface", "me", "--solver", "euler", "--solver-step", "1e-8", "--stop", "0.01", "--step", "0.002")


class Realtime(CommandTest):
    def paced(self, *arguments, status=0):
        """The outcome, how long it took, and the statistics."""
        begin = time.monotonic()
        outcome = self.tutti("run", *arguments, "--record", "none", "--stats", "stats.json", status=status)
        taken = time.monotonic() - begin
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return outcome, taken, json.load(file)

    def test_never_faster(self):
        for options, least in ((("--realtime", "1", "--stop", "0.3", "--step", "0.01"), 0.3),
                               (("--realtime", "10", "--stop", "3", "--step", "0.1"), 0.3),
                               (("--realtime", "0.5", "--stop", "0.1", "--step", "0.1"), 0.2)):
            _, taken, stats = self.paced(TRACKER, *options)
            self.assertGreaterEqual(taken, least)
            self.assertGreaterEqual(stats["loop_seconds"], least)

    def test_from_where_it_starts(self):
        _, taken, stats = self.paced(TRACKER, "--realtime", "1", "--start", "1000", "--stop", "1000.2", "--step", "0.1")
        self.assertGreaterEqual(stats["loop_seconds"], 0.2 - 1e-9)

    def test_a_system_of_any_coupling(self):
        system = (f"a={TRACKER}", f"b={TRACKER}", "--connect", "a.y=b.u", "--stop", "0.2", "--realtime", "1")
        for coupling in (("--coupling", "jacobi", "--step", "0.01"), ("--coupling", "relax", "--control", "embedded")):
            _, taken, _ = self.paced(*system, *coupling)
            self.assertGreaterEqual(taken, 0.2)

    def test_slower_than_the_clock(self):
        """A million steps of Euler's method in a tenth of a millisecond: every point is late, and the last one most."""
        outcome, _, stats = self.paced(kit_fmu("VanDerPol", "2"), *SLOW, "--realtime", "100")
        self.assertEqual(stats["overruns"], 5)
        self.assertEqual(stats["steps"], 5)
        self.assertGreater(stats["most_late"], 0.001)
        self.assertLessEqual(stats["most_late"], stats["loop_seconds"])
        warning, = outcome.lines("warning")
        self.assertRegex(warning, r"5 of 5 points came later than --realtime 100 asks for, the worst by [0-9.e-]+ s")
        self.assertRegex(outcome.err, r"(?m)^realtime +5 points late, the worst by [0-9.]+ m?s$")

    def test_nothing_is_late_without_it(self):
        outcome, _, stats = self.paced(kit_fmu("VanDerPol", "2"), *SLOW)
        self.assertEqual((stats["overruns"], stats["most_late"]), (0, 0))
        self.assertEqual(outcome.lines("warning"), [])
        self.assertNotIn("realtime", outcome.err)

    def test_a_wait_ends_when_somebody_interrupts(self):
        """The next point would be due in ages."""
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("run", kit_fmu("Faulty", "2"), "--realtime", "1e-6", "--stop", "1", "--step", "0.1", "-o",
                                 "out.csv", "--quiet", env={"KIT_FAULT": "print DoStep"})
            self.await_print(process)
            self.assertTrue(wait_until(lambda: is_asleep(process.pid)))
            process.send_signal(signal.SIGCONT)  # one that means nothing
            process.send_signal(number)
            outcome = self.finish(process)
            self.assertEqual(outcome.status, 128 + number)
            self.assertIn("interrupted at t = 0.1;", outcome.err)
            self.assertEqual(self.result("out.csv").times, [0, 0.1])

    def test_what_it_takes(self):
        for value in ("0", "-1", "inf", "nan"):
            self.refused("run", TRACKER, "--realtime", value, status=2, says="--realtime")


def has_priorities():
    """Does the system give real-time priorities here?"""
    child = subprocess.run([sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(41))"],
                           capture_output=True, check=False)
    return child.returncode == 0


PREEMPT = (kit_fmu("Preempt", "3"), "--interface", "se", "--stop", "1", "--step", "0.1")
# Without the right to set priorities, also for a superuser.
WITHOUT_RIGHT = ("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "prlimit", "--rtprio=0:0")


class Partitions(CommandTest):
    """kit/models/Preempt.c: a partition waits, for as long as its patience, to be interrupted by one of higher priority."""

    def ran(self, *options, **more):
        self.tutti("run", *PREEMPT, *options, "--stats", "stats.json", **more)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            stats = json.load(file)
        result = self.result()
        return {name: result[name][-1] for name in ("fast_count", "slow_count", "in_lock", "interrupted", "at_once")}, stats

    def check_latencies(self, stats):
        """Every activation but that at the start, before the clock runs, is in the histogram."""
        latencies = stats["latencies"]
        self.assertEqual(sum(count for name, count in latencies.items() if name != "most"), 102)
        self.assertGreaterEqual(latencies["most"], 0)

    @unittest.skipUnless(has_priorities(), "no real-time priorities here")
    def test_one_interrupts_the_other(self):
        """In each of its two ticks, but not while it has locked the preemption, and never at the same time; no tick is lost."""
        for fabric in ((), ("--threads", "1"), *(() if THREAD_SANITIZED else (("--processes", "1"),))):  # docs/testing.md, "Races"
            with self.subTest(fabric=fabric):
                last, stats = self.ran("--set", "patience=5", "--realtime", "1", *fabric)
                self.assertEqual(last, {"fast_count": 101, "slow_count": 2, "in_lock": 0, "interrupted": 2, "at_once": 0})
                self.assertGreaterEqual(stats["preemptions"], 2)
                self.check_latencies(stats)

    @unittest.skipUnless(has_priorities(), "no real-time priorities here")
    def test_what_a_partition_does_wrong(self):
        self.refused("run", *PREEMPT, "--realtime", "1", "--set", "unlock_twice=1", status=1,
                     says=["unlocked a preemption that was not locked", "Preempt"])

    def test_none_does_where_steps_are_repeated(self):
        """A partition that was interrupted could not be taken back; it is told, and the result is that of simulated time."""
        others = re.findall(r"<(?:CoSimulation|ModelExchange)\b[^>]*/>", description(PREEMPT[0]))
        scheduled = self.altered(PREEMPT[0], *((element, "") for element in others))
        system = (f"p={scheduled}", f"a={TRACKER}", f"b={TRACKER}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.x=1", "--stop", "1",
                  "--step", "0.1", "--control", "richardson", "--record", "p.*count", "--set", "p.patience=0.01")
        self.tutti("run", *system, "-o", "plain.csv")
        outcome = self.tutti("run", *system, "--realtime", "10", "-o", "paced.csv", "--stats", "stats.json")
        self.assertEqual(self.result("paced.csv").rows, self.result("plain.csv").rows)
        self.assertRegex(outcome.err, "p: its partitions do not interrupt each other.*steps may be repeated")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["preemptions"], 0)

    def test_without_real_time_none_does(self):
        last, stats = self.ran()
        self.assertEqual(last, {"fast_count": 101, "slow_count": 2, "in_lock": 0, "interrupted": 0, "at_once": 0})
        self.assertEqual((stats["preemptions"], sum(stats["latencies"].values())), (0, 0))

    @unittest.skipUnless(shutil.which("setpriv") and shutil.which("prlimit"), "no setpriv")
    def test_a_word_where_the_system_does_not_permit_it(self):
        process = self.start("run", *PREEMPT, "--realtime", "10", "--stats", "stats.json", launcher=WITHOUT_RIGHT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertRegex(outcome.err, "partitions do not interrupt each other.*no real-time priorities.*CAP_SYS_NICE")
        self.assertEqual(self.result()["fast_count"][-1], 101)
        self.assertRegex(outcome.err, r"(?m)^latencies +.*the worst .*; 0 interrupted others$")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            self.check_latencies(json.load(file))


class Summary(CommandTest):
    def test_how_it_was_coupled(self):
        outcome = self.tutti("run", f"a={TRACKER}", f"b={TRACKER}", "--connect", "a.y=b.u", "--coupling", "relax",
                             "--control", "fixed", "--step", "0.1", "--stop", "1")
        self.assertRegex(outcome.err, r"(?m)^coupling +relax: as asked for\ncontrol +fixed: .*\nextrapolate +[012]: .*\nevents +\w+: .*$")
        self.assertRegex(outcome.err, r"(?m)^start +\d+ evaluations, no loops$")
        self.assertRegex(outcome.err, r"(?m)^steps +10 accepted, 0 rejected, 0 events, \d+ iterations$")

    def test_steps_that_had_to_be_taken(self):
        outcome = self.tutti("run", f"a={TRACKER}", f"b={TRACKER}", "--connect", "a.y=b.u", "--connect", "b.y=a.u",
                             "--set", "a.x=1", "--coupling", "jacobi", "--control", "embedded", "--rtol", "1e-12", "--h-min",
                             "0.1", "--step", "0.1", "--extrapolate", "0", "--stats", "stats.json")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            forced = json.load(file)["forced"]
        self.assertGreater(forced, 0)
        self.assertRegex(outcome.err, rf"(?m)^steps .*, {forced} forced$")

    def test_one_unit_is_not_coupled(self):
        self.assertNotIn("coupling", self.tutti("run", TRACKER, "--stop", "0.1").err)


if __name__ == "__main__":
    unittest.main()
