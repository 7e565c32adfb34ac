#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command started without standard input, output or error: files must not get their numbers, or messages and what FMUs
print would be written into them."""
import itertools
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import CommandTest, kit_fmu  # noqa: E402

FAULTS = "warning DoStep; print DoStep"


class Closed(CommandTest):
    def without(self, descriptors, *arguments, **options):
        """Runs the command without these."""
        closed = " ".join(f"{number}>&-" for number in descriptors)
        return self.tutti(*arguments, launcher=("sh", "-c", f'exec "$@" {closed}', "sh"), **options)

    def text(self, name):
        return pathlib.Path(self.path(name)).read_text(encoding="utf-8")

    def test_results_are_whole(self):
        fmu = kit_fmu("Faulty", "2")
        self.tutti("run", fmu, "-o", "whole.csv")
        for count in (1, 2, 3):
            for descriptors in itertools.combinations((0, 1, 2), count):
                for fabric in ((), ("--threads", "1"), ("--processes", "1")):
                    with self.subTest(descriptors=descriptors, fabric=fabric):
                        self.without(descriptors, "run", fmu, "-o", "result.csv", "--stats", "stats.json", *fabric,
                                     env={"KIT_FAULT": FAULTS})
                        self.assertEqual(self.text("result.csv"), self.text("whole.csv"))
                        self.assertEqual(self.text("stats.json")[0], "{")

    def test_a_result_on_closed_output_is_a_failure(self):
        fmu = kit_fmu("Faulty", "2")
        self.assertIn("cannot write to standard output", self.without((1,), "run", fmu, "-o", "-", status=1).err)
        self.assertIn("standard output cannot be written", self.without((1,), "info", fmu, status=1).err)
        self.without((1, 2), "run", fmu, "-o", "-", status=1)

    def test_input_that_is_closed_is_not_read(self):
        self.assertIn("error", self.without((0,), "run", kit_fmu("Faulty", "2"), "--input", "-", status=1).err)


if __name__ == "__main__":
    unittest.main()
