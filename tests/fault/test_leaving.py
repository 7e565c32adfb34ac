#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that end the process that they are called in: by exit(), or say that it is of no use any more; alone, and several at once."""
import pathlib
import sys
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
                process.communicate()
                self.tutti("compare", output, "until.csv", "--rtol", "0", "--atol", "0")

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
