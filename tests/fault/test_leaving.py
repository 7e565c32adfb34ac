#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that end the process that they are called in: by exit(), by _exit(), or say that it is of no use any more; alone, and several at once."""
import contextlib
import json
import os
import pathlib
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import JACOBI, SANITIZED, CommandTest, is_asleep, is_gone, kit_fmu, wait_until  # noqa: E402

TIMES = [0, 0.125, 0.25, 0.375, 0.5]
APART = ("--place", "a=0", "--place", "b=1")
FABRICS = ((), ("--threads", "2", *APART))
NO_HEIR = "no process shares the memory of one that a sanitizer watches"
FMU = kit_fmu("Faulty", "2")
# Two units that need each other, so that neither is ahead of the other.
PAIR = (f"a={FMU}", f"b={FMU}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--step", "0.125", *JACOBI, "--quiet")


def children(pid):
    """The processes that this one started, or got."""
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


class Leaving(CommandTest):
    def leaves(self, fault, *options, output="result.csv", stop="1", status=1):
        return self.tutti("run", *PAIR, "--stop", stop, "-o", output, *options, env={"KIT_FAULT": fault}, status=status)

    def told(self, outcome, words, unit="[ab]"):
        message, = outcome.lines("error")
        self.assertRegex(message, f"{words}.*: instance {unit} .*fmi2DoStep at t = 0.5; everything recorded so far is kept")

    def test_exit(self):
        """Rows that are on their way from a rank to the result are not lost."""
        self.leaves("", output="until.csv", stop="0.5", status=0)
        for fabric in FABRICS:
            for output in ("result.csv", "result.mat", "result.h5"):
                with self.subTest(fabric=fabric, output=output):
                    outcome = self.leaves("exit DoStep 0.5 @b", *fabric, output=output)
                    self.told(outcome, r"code of the FMU ended the program \(exit\)", unit="b")
                    self.tutti("compare", output, "until.csv", "--rtol", "0", "--atol", "0")

    def test_two_exit_together(self):
        for _ in range(10):
            self.told(self.leaves("exit DoStep 0.5", *FABRICS[1]), r"code of the FMU ended the program \(exit\)")
            self.assertEqual(self.result().times, TIMES)

    @unittest.skipIf(SANITIZED, NO_HEIR)
    def test_vanish(self):
        """_exit() runs nothing of ours in the process; another one still has its memory."""
        self.leaves("", output="until.csv", stop="0.5", status=0)
        for output in ("result.csv", "result.mat", "result.jsonl", "result.h5"):
            with self.subTest(output=output):
                outcome = self.leaves("vanish DoStep 0.5 @b", "--stats", "stats.json", output=output)
                self.told(outcome, r"code of an FMU ended the program \(_exit, with status 0\)", unit="b")
                self.tutti("compare", output, "until.csv", "--rtol", "0", "--atol", "0")
                error = json.loads(pathlib.Path(self.path("stats.json")).read_text(encoding="utf-8"))["error"]
                self.assertIn("(_exit, with status 0): instance b", error)
        self.assertEqual(self.leaves("vanish DoStep 0.5 @b", output="-").out, self.leaves("", output="-", stop="0.5", status=0).out)

    @unittest.skipIf(SANITIZED, NO_HEIR)
    def test_vanish_in_a_thread(self):
        """All threads are gone at once. What they had under way is not taken for kept."""
        until = self.leaves("", output="-", stop="0.5", status=0).out
        for _ in range(10):
            outcome = self.leaves("vanish DoStep 0.5 @b", *FABRICS[1])
            message, = outcome.lines("error")
            self.assertRegex(message, r"_exit, with status 0\): .*instance b .* in fmi2DoStep at t = 0.5.*; "
                                      "(everything recorded so far is kept|rows of the last .* are lost)")
            rows = pathlib.Path(self.path("result.csv")).read_text(encoding="utf-8")
            self.assertTrue(until.startswith(rows) and rows.endswith("\n"), rows)

    @unittest.skipIf(SANITIZED, NO_HEIR)
    def test_killed(self):
        """By signal 9, as the system does that is short of memory: the command itself lives."""
        self.leaves("", output="until.csv", stop="0.5", status=0)
        for fabric in (*FABRICS, ("--processes", "2", *APART)):
            with self.subTest(fabric=fabric):
                process = self.start("run", *PAIR, "--stop", "1", *fabric,
                                     env={"KIT_FAULT": "print DoStep 0.5 @b; hang DoStep 0.5 @b"})
                self.await_print(process)
                self.assertTrue(wait_until(lambda: len(children(process.pid)) == 2))
                # Of the two, the heir sleeps, and has no threads.
                run, = (pid for pid in children(process.pid) if len(os.listdir(f"/proc/{pid}/task")) > 1)
                os.kill(run, signal.SIGKILL)
                self.assertEqual(process.wait(), -signal.SIGKILL)
                message = process.stderr.read().decode()
                self.assertRegex(message, r"^tutti: error: the program was ended by signal 9 \(Killed\).*; "
                                          "(everything recorded so far is kept|rows of the last .*)\n$")  # by chance, in the middle
                times = self.result().times
                least = len(TIMES) - bool(fabric)  # the other rank may be on its way to the point at which this one hangs
                self.assertTrue(times == TIMES[:len(times)] and len(times) >= least, times)
                self.assertTrue(wait_until(lambda: is_gone(process.pid)))
                self.assertEqual(os.listdir(self.tmpdir), [])

    def test_other_commands(self):
        """Their exit status is no answer of theirs either."""
        commands = (("check", "--run", FMU), ("analyze", *PAIR[:6]), ("linearize", "-o", "linear.json", FMU))
        for command in commands:
            for fault, how in (("exit", r"\(exit\)"), *([] if SANITIZED else [("vanish", r"\(_exit, with status 0\)")])):
                with self.subTest(command[0], fault=fault):
                    outcome = self.tutti(*command, env={"KIT_FAULT": f"{fault} EnterInitializationMode"}, status=1)
                    message, = outcome.lines("error")
                    self.assertRegex(message, f"code of (an|the) FMU ended the program {how}: instance .* in fmi2EnterInitializationMode")

    def test_a_signal_for_the_group_counts_once(self):
        """Ctrl-C comes to the process that the FMU is in, and to the one that waits for it, which hands it on."""
        process = self.start("run", *PAIR, "--stop", "1", env={"KIT_FAULT": "print DoStep 0.5 @b; hang DoStep 0.5 @b"})
        self.await_print(process)
        os.killpg(process.pid, signal.SIGINT)
        while b"once more: at once" not in (line := process.stderr.readline()):
            self.assertTrue(line, "it has ended")
        for pid in (process.pid, *children(process.pid)):  # what was handed on has come
            self.assertTrue(wait_until(lambda: is_asleep(pid)))
        self.assertIsNone(process.poll())
        os.killpg(process.pid, signal.SIGINT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 128 + signal.SIGINT)
        self.assertIn("stopped at once", outcome.err)
        self.assertEqual(self.result().times, TIMES)

    def test_fatal(self):
        """In a thread: of the unit that was, and with the rows of a plain run, also if the other rank is not as far yet."""
        # After Fatal an FMU may not be called, not even to release its memory.
        leaks = f"suppressions={self.write('leaks.txt', 'leak:Faulty.so')}:print_suppressions=0"
        said = []
        for fabric in (FABRICS[0], *[FABRICS[1]] * 10):
            outcome = self.tutti("run", f"a={FMU}", f"b={FMU}", "--stop", "1", "--step", "0.125", *JACOBI, "--quiet", *fabric,
                                 env={"KIT_FAULT": "fatal DoStep 0.5 @b", "LSAN_OPTIONS": leaks}, status=1)
            said.append(outcome.lines("error"))
            self.assertEqual(self.result().times, TIMES)
        self.assertRegex(said[0][0], "^tutti: error: b .*fmi2DoStep returned Fatal at t = 0.5")
        self.assertEqual(said, [said[0]] * len(said))


class Helpers(CommandTest):
    """Processes that FMUs start, and that outlive them: they end with the run, and nothing else does."""

    def helpers(self):
        """Those that run in the test's folder."""
        found = []
        for task in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(task / "cwd") == str(self.folder) and (task / "cmdline").read_bytes().startswith(b"sleep"):
                    found.append(int(task.name))
        return found

    def ends(self, *arguments, fault, status=0):
        process = self.start(*arguments, env={"KIT_FAULT": fault})
        outcome = self.finish(process)
        self.assertEqual(outcome.status, status, outcome.err)
        self.assertEqual(self.helpers(), [])
        return outcome

    def test_run(self):
        for kind in ("helper", "daemon"):
            for fabric in (*FABRICS, ("--processes", "2", *APART)):
                with self.subTest(kind, fabric=fabric):
                    outcome = self.ends("run", *PAIR, "--stop", "1", *fabric, fault=f"{kind} DoStep 0.5 @b")
                    warning, = outcome.lines("warning")
                    self.assertRegex(warning, r"process \d+ \(sleep\), which an FMU started")

    def test_ends_that_are_none(self):
        for fault, fabric in zip(("crash", "exit", "vanish", "crash", "vanish"), (*FABRICS, *FABRICS, ("--processes", "2", *APART))):
            if fault == "vanish" and SANITIZED and "--processes" not in fabric:
                continue  # its folder is left then
            with self.subTest(fault, fabric=fabric):
                self.ends("run", *PAIR, "--stop", "1", *fabric, fault=f"daemon DoStep 0.3 @b; {fault} DoStep 0.5 @b", status=1)

    def test_other_commands(self):
        self.ends("check", "--run", FMU, fault="daemon EnterInitializationMode")
        self.ends("linearize", "-o", "linear.json", FMU, fault="daemon EnterInitializationMode")

    def test_one_that_ends_by_itself(self):
        """Nothing is said of it."""
        self.assertEqual(self.ends("run", *PAIR, "--stop", "1", fault="descriptors DoStep 0.5 @b").err, "")

    def test_children_of_a_script(self):
        """A process that was there before is not the FMU's: the script becomes the command."""
        script = 'sleep 100001 & echo $! >&2; exec "$@"'
        process = self.start("run", *PAIR, "--stop", "1", launcher=("sh", "-c", script, "sh"))
        child = int(process.stderr.readline())
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.helpers(), [child])
        os.kill(child, signal.SIGKILL)
        process.communicate()


if __name__ == "__main__":
    unittest.main()
