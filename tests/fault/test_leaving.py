#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that end the process that they are called in: by exit(), by _exit(), or say that it is of no use any more; alone, and several at once."""
import os
import pathlib
import signal
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import JACOBI, CommandTest, kit_fmu  # noqa: E402

TIMES = [0, 0.125, 0.25, 0.375, 0.5]
APART = ("--place", "a=0", "--place", "b=1")
FABRICS = ((), ("--threads", "2", *APART))
FMU = kit_fmu("Faulty", "2")
# Two units that need each other, so that neither is ahead of the other.
PAIR = (f"a={FMU}", f"b={FMU}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--step", "0.125", *JACOBI, "--quiet")


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

    def test_rows_before_the_end(self):
        """_exit() runs nothing of ours: a row that is not the last of its moment has reached the file before."""
        left = self.folder / "left"  # removed by the next run in a minute
        left.mkdir()
        self.leaves("", output="until.csv", stop="0.5", status=0)
        for output in ("result.csv", "result.mat", "result.jsonl"):
            with self.subTest(output=output):
                process = self.start("run", *PAIR, "--stop", "1", "--realtime", "1", "-o", output,
                                     env={"KIT_FAULT": "vanish DoStep 0.5 @b", "TMPDIR": str(left)})
                self.assertIn("_exit", process.communicate()[1].decode())
                self.tutti("compare", output, "until.csv", "--rtol", "0", "--atol", "0")

    def test_unannounced_end(self):
        """With status 0, by code of an FMU: nobody may think that all went well."""
        left = self.folder / "left"
        left.mkdir()
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                process = self.start("run", *PAIR, "--stop", "1", *fabric,
                                     env={"KIT_FAULT": "vanish DoStep 0.5", "TMPDIR": str(left)})
                message, = process.communicate()[1].decode().splitlines()
                self.assertRegex(message, r"^tutti: error: code of an FMU ended the program \(_exit, with status 0\); .*--processes")
                self.assertEqual(process.returncode, 1)

    def test_a_signal_for_the_group_counts_once(self):
        """Ctrl-C comes to the process that the FMU is in, and to the one that waits for it, which hands it on."""
        process = self.start("run", *PAIR, "--stop", "1", env={"KIT_FAULT": "print DoStep 0.5 @b; hang DoStep 0.5 @b"})
        self.await_print(process)
        os.killpg(process.pid, signal.SIGINT)
        while b"once more: at once" not in (line := process.stderr.readline()):
            self.assertTrue(line, "it has ended")
        time.sleep(0.5)  # what was handed on has come
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


if __name__ == "__main__":
    unittest.main()
