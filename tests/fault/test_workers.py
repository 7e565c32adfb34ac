#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workers that crash, are killed, stand still or hang: the run ends with a message that says which unit, why and at which time, the
rows up to there are kept, and nothing is left over. Ctrl-C with threads and workers. FMUs that want a process of their own."""
import os
import pathlib
import re
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import test_rude_fmus as rude_fmus  # noqa: E402
from command import JACOBI, Table, is_gone, kit_fmu, wait_until  # noqa: E402
from fabrics import FabricTest, processes, threads  # noqa: E402
from systems import connect  # noqa: E402

DAHLQUIST, FAULTY, TRACKER = kit_fmu("Dahlquist", "2"), kit_fmu("Faulty", "2"), kit_fmu("Tracker", "2")
APART = ("--place", "a=0", "--place", "b=1")
PAIR = (f"a={DAHLQUIST}", f"b={FAULTY}", *connect("a.x=b.u"))
STEPS = ("--stop", "1", "--step", "0.125")
SEGV = "signal 11 .Segmentation fault"
TIMES = [0, 0.125, 0.25, 0.375, 0.5]  # what is recorded when the step from 0.5 on does not end
ENDLESS = ("--stop", "1", "--step", "1e-9", "--output-step", "1e-8", *JACOBI)


def children(pid):
    """Processes that this one has started, in their order."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += (task / "children").read_text("ascii").split()
    return sorted(map(int, found), key=lambda child: (start_of(child), child))


def start_of(pid):
    """When a process was started, in ticks of the clock."""
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19])


def workers(process):
    """The processes of a run's ranks, in their order. They are children of the first that the command starts, which conducts."""
    return children(children(process.pid)[0])


def areas_left():
    """Shared memory whose process is gone, by its names. That of other tests, which end runs at the same time, is there for a moment."""
    names = [re.match(r"tutti-(\d+)-", name) for name in os.listdir("/dev/shm")]
    return {name.string for name in names if name and not os.path.exists(f"/proc/{name[1]}")}


class WorkerTest(FabricTest):
    def setUp(self):
        super().setUp()
        self.areas_before = areas_left()

    def finish(self, process, left=()):
        outcome = super().finish(process, left)
        self.assertTrue(wait_until(lambda: areas_left() <= self.areas_before), "shared memory is left")
        return outcome

    def environment(self, **extra):
        leaks = f"suppressions={self.write('leaks.txt', 'leak:Faulty.so')}:print_suppressions=0"
        return super().environment(LSAN_OPTIONS=leaks, **extra)

    def failing(self, *arguments, fabric, env=None, says=()):
        """A run that ends with exit status 1, and errors that fit these patterns, all together."""
        ran = self.ran(*arguments, fabric=fabric, env=env)
        self.assertEqual(ran.status, 1, ran.err)
        for pattern in says:
            self.assertRegex(ran.err, pattern)
        return ran

    def times_in(self, ran):
        return Table(ran.files["result.csv"].decode()).times


class Crashes(WorkerTest):
    def test_an_fmu_that_crashes(self):
        """Unit, signal, time and its last words; the rows of all ranks up to there."""
        for steps in (JACOBI, ("--coupling", "seidel"), ("--control", "richardson", "--h-max", "0.125")):
            for place in (APART, ("--place", "a=1", "--place", "b=0")):
                with self.subTest(steps=steps, place=place):
                    ran = self.failing(*PAIR, *STEPS, *steps, *place, fabric=processes(2),
                                       env={"KIT_FAULT": "warning DoStep @b; crash DoStep 0.5 @b"},
                                       says=[r"tutti: error: .*\bb\b", SEGV, r"t = 0\.(4|5\b)", "warns at t = 0"])
                    self.assertGreater(self.times_in(ran)[-1], 0.4)
        plain = self.ran(*PAIR, *STEPS, *JACOBI)
        ran = self.failing(*PAIR, *STEPS, *JACOBI, *APART, fabric=processes(2), env={"KIT_FAULT": "crash DoStep 0.5 @b"})
        self.assertEqual(self.times_in(ran), TIMES)
        self.assertTrue(plain.files["result.csv"].startswith(ran.files["result.csv"]))

    def test_at_the_start(self):
        for call in ("Instantiate", "EnterInitializationMode", "ExitInitializationMode", "GetReal"):
            with self.subTest(call=call):
                self.failing(*PAIR, *STEPS, *APART, fabric=processes(2), env={"KIT_FAULT": f"crash {call} @b"},
                             says=[r"tutti: error: .*\bb\b", SEGV])

    def test_at_the_end(self):
        """All rows are there when it happens."""
        plain = self.ran(*PAIR, *STEPS, *JACOBI)
        ran = self.failing(*PAIR, *STEPS, *JACOBI, *APART, fabric=processes(2), says=[r"\bb\b", SEGV],
                           env={"KIT_FAULT": "crash Terminate @b"})
        self.assertEqual(ran.files, plain.files)

    def test_ways_to_go(self):
        """exit, abort, a stack that overflows, a crash in a thread of the FMU."""
        deeds = (("static void rude(void) { exit(0); }", r"exit"), ("static void rude(void) { abort(); }", "signal 6 .Aborted"),
                 ("static int deep(volatile char *p) { volatile char a[99]; a[0] = *p; return deep(a) + *a; }\n"
                  "static void rude(void) { char c = 0; deep(&c); }", SEGV),
                 ("static void *work(void *p) { *(volatile int *)8 = 1; return p; }\n"
                  "static void rude(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); }", SEGV))
        for deed, says in deeds:
            with self.subTest(deed=deed):
                fmu = rude_fmus.Rude.rude(self, deed)
                ran = self.failing(f"a={DAHLQUIST}", f"b={fmu}", *connect("a.x=b.u"), "--stop", "1", "--step", "0.1", *JACOBI,
                                   *APART, fabric=processes(2), says=[r"tutti: error: .*\bb\b", says, r"t = 0\.4"])
                self.assertEqual(len(self.times_in(ran)), 5)

    def test_with_threads(self):
        """There the process itself goes; whole rows are kept, and the FMU is named."""
        plain = self.ran(*PAIR, *STEPS, *JACOBI)
        ran = self.failing(*PAIR, *STEPS, *JACOBI, *APART, fabric=threads(2), env={"KIT_FAULT": "crash DoStep 0.5 @b"},
                           says=["in code of the FMU: .*fmi2DoStep", r"\bb\b", r"t = 0\.5\b"])
        self.assertTrue(plain.files["result.csv"].startswith(ran.files["result.csv"]))
        self.assertTrue(ran.files["result.csv"].endswith(b"\n"))


class Killed(WorkerTest):
    def under_way(self, fabric, *options, fault="print DoStep 2.55e-7 @b"):
        """A run that would take ages, with some rows recorded."""
        process = self.start("run", *PAIR, *ENDLESS, *APART, *fabric.options, *options, "-o", "result.csv",
                             env={"KIT_FAULT": fault})
        self.await_print(process)
        return process

    def check_rows(self, least=26):
        times = self.result().times
        self.assertGreaterEqual(len(times), least)
        self.assertEqual(times, [n * 1e-8 for n in range(len(times))])

    def test_kill_9_of_any_worker(self):
        for victim, unit in ((0, "a"), (1, "b")):
            with self.subTest(victim=victim):
                process = self.under_way(processes(2))
                os.kill(workers(process)[victim], signal.SIGKILL)
                outcome = self.finish(process)
                self.assertEqual(outcome.status, 1, outcome.err)
                self.assertRegex(outcome.err, "signal 9 .Killed")
                self.assertRegex(outcome.err, rf"\b{unit}\b")
                self.assertRegex(outcome.err, r"t = \d")
                self.check_rows()

    def test_a_worker_that_stands_still(self):
        for victim, unit in ((0, "a"), (1, "b")):
            with self.subTest(victim=victim):
                process = self.under_way(processes(2), "--timeout", "3")
                os.kill(workers(process)[victim], signal.SIGSTOP)
                outcome = self.finish(process)
                self.assertEqual(outcome.status, 1, outcome.err)
                self.assertRegex(outcome.err, rf"\b{unit}\b")
                self.assertRegex(outcome.err, r"--timeout|sign of life|3 s")
                self.assertRegex(outcome.err, r"t = \d")
                self.check_rows()

    def test_an_fmu_that_hangs(self):
        for coupling in (JACOBI, ("--coupling", "seidel")):
            ran = self.failing(*PAIR, *STEPS, *coupling, *APART, "--timeout", "3", fabric=processes(2),
                               env={"KIT_FAULT": "warning DoStep @b; hang DoStep 0.5 @b"},
                               says=[r"tutti: error: .*\bb\b", r"t = 0\.5\b", "warns at t = 0"])
            self.assertEqual(self.times_in(ran), TIMES)

    def test_patience_is_for_those_that_move(self):
        """A run that is longer than --timeout is none that hangs: others wait for the slow one."""
        worker = kit_fmu("Worker", "2")
        ran = self.ran(f"a={worker}", f"b={TRACKER}", *connect("a.y=b.u"), "--set", "a.work=0.02", "--step", "0.01", "--stop",
                       "1.1", *APART, "--timeout", "2", fabric=processes(2))
        self.assertEqual((ran.status, ran.err), (0, ""))

    def test_the_first_process_is_killed(self):
        """Its workers do not stay."""
        process = self.under_way(processes(2))
        process.kill()
        process.communicate()
        self.assertTrue(wait_until(lambda: is_gone(process.pid)), "workers are left")


class Interrupted(WorkerTest):
    under_way, check_rows = Killed.under_way, Killed.check_rows

    def test_ctrl_c(self):
        """To the first process, and, as a terminal does, to all of them."""
        for fabric in (threads(2), processes(2)):
            for number in (signal.SIGINT, signal.SIGTERM):
                for everybody in (False, True):
                    with self.subTest(fabric=str(fabric), signal=number, everybody=everybody):
                        process = self.under_way(fabric)
                        if everybody:
                            os.killpg(process.pid, number)
                        else:
                            process.send_signal(number)
                        outcome = self.finish(process)
                        self.assertEqual(outcome.status, 128 + number, outcome.err)
                        message, = outcome.lines("error")
                        self.assertRegex(message, r"interrupted at t = \S+; everything up to there is kept")
                        self.check_rows()

    def test_twice_in_an_fmu_that_hangs(self):
        for fabric in (threads(2), processes(2)):
            with self.subTest(fabric=str(fabric)):
                process = self.under_way(fabric, fault="print DoStep 2.55e-7 @b; hang DoStep 2.55e-7 @b")
                self.interrupt(process)
                process.send_signal(signal.SIGINT)
                self.assertEqual(self.finish(process).status, 130)
                self.assertEqual(self.result().times[:2], [0, 1e-8])

    def test_a_wait_for_the_clock(self):
        """The next point would be due in ages."""
        for fabric in (threads(2), processes(2)):
            process = self.start("run", *PAIR, "--realtime", "1e-6", *STEPS, *APART, *fabric.options, "-o", "out.csv",
                                 env={"KIT_FAULT": "print DoStep @b"})
            self.await_print(process)
            process.send_signal(signal.SIGINT)
            self.assertEqual(self.finish(process).status, 130)
            self.assertEqual(self.result("out.csv").times, [0, 0.125])


class Results(WorkerTest):
    """A result that cannot be written ends all ranks."""

    def test_a_full_disk(self):
        for fabric in (threads(2), processes(2)):
            outcome = self.tutti("run", *PAIR, *ENDLESS, *fabric.options, "-o", "/dev/full", status=1)
            self.assertIn("No space left on device", outcome.err)

    def test_a_reader_that_goes_away(self):
        for fabric in (threads(2), processes(2)):
            process = self.start("run", *PAIR, *ENDLESS, *fabric.options, "-o", "-")
            self.assertEqual(process.stdout.readline(), b"time,a.x,b.y\n")
            process.stdout.close()
            process.stdout = None
            outcome = self.finish(process)
            self.assertEqual(outcome.status, 1)
            self.assertIn("Broken pipe", outcome.err)


class OncePerProcess(WorkerTest):
    """FMUs that can be instantiated once per process get a worker each."""

    def units(self, count, version):
        once = kit_fmu("Once", version)
        sets = [word for n in range(count) for word in ("--set", f"o{n}.slope={n + 1}")]
        return [*(f"o{n}={once}" for n in range(count)), f"t={TRACKER}", *connect("o0.x=t.u"), *sets, "--step", "0.1",
                "--stop", "1"]

    def check(self, ran, count):
        self.assertEqual((ran.status, ran.err), (0, ""))
        self.assertEqual(ran.stats["fabric"], "processes")
        ranks = [unit["rank"] for unit in ran.stats["units"] if unit["name"] != "t"]
        self.assertEqual(len(set(ranks)), count)
        table = Table(ran.files["result.csv"].decode())
        for n in range(count):
            self.assert_near(table[f"o{n}.x"], [(n + 1) * t for t in table.times], 1e-12)

    def test_as_many_workers_as_it_takes(self):
        for version in ("1cs", "2", "3"):
            self.check(self.ran(*self.units(2, version), fabric=processes(2)), 2)
        self.check(self.ran(*self.units(3, "2"), fabric=processes(2)), 3)

    def test_without_a_word(self):
        self.check(self.ran(*self.units(2, "2")), 2)

    def test_threads_are_no_processes(self):
        ran = self.ran(*self.units(2, "2"), fabric=threads(2))
        self.assertIn(ran.status, (1, 2))
        self.assertRegex(ran.err, "only once per process")
        self.assertRegex(ran.err, "--processes")

    def test_one_of_them_needs_none(self):
        ran = self.ran(*self.units(1, "2"))
        self.assertEqual((ran.status, ran.stats["fabric"]), (0, "local"))
        self.same(*self.units(1, "2"), plain=ran, fabrics=(threads(2), processes(2)))


if __name__ == "__main__":
    unittest.main()
