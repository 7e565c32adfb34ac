#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Subtests of CommandTest: processes and files of one subtest are not visible in another."""
import os
import pathlib
import unittest

from command import CommandTest, is_gone, kit_fmu, wait_until

ENDLESS = ("run", kit_fmu("VanDerPol", "2"), "--stop", "1e6", "--step", "0.01", "--realtime", "1", "-o", "result.csv", "--quiet")


class Sample(CommandTest):
    """A test whose subtests fail and leave runs and files; only run by Subtests."""

    def test_sample(self):
        self.write("given.txt", "given")
        os.mkfifo(self.path("pipe"))
        type(self).folders, type(self).left, type(self).cleaned = [self.folder], [], []
        for number in range(3):
            with self.subTest(number=number):
                self.folders.append(self.folder)
                self.addCleanup(self.cleaned.append, number)
                self.assertEqual(sorted(os.listdir(self.folder)), ["given.txt", "pipe", "tmp"])
                self.assertTrue(pathlib.Path(self.path("pipe")).is_fifo())
                self.write("given.txt", "changed")
                self.left.append(self.start(*ENDLESS))
                if number != 1:
                    self.fail("wanted")
        self.assertEqual(pathlib.Path(self.path("given.txt")).read_text("utf-8"), "given")
        self.assertEqual(self.cleaned, [0, 1, 2])
        self.assertEqual(self.folder, self.folders[0])


class Subtests(unittest.TestCase):
    def test_what_failed_leaves_nothing(self):
        result = unittest.TestResult()
        Sample("test_sample").run(result)
        self.assertEqual([error[1].splitlines()[-1] for error in result.failures], ["AssertionError: wanted"] * 2)
        self.assertEqual(result.errors, [])
        self.assertEqual(len(set(Sample.folders)), 4)
        self.assertFalse(any(map(os.path.exists, Sample.folders)))
        self.assertTrue(all(process.returncode is not None for process in Sample.left))
        for process in Sample.left:  # what it had started is killed with it, and gone soon
            self.assertTrue(wait_until(lambda group=process.pid: is_gone(group)))


def load_tests(loader, _tests, _pattern):
    return loader.loadTestsFromTestCase(Subtests)


if __name__ == "__main__":
    unittest.main()
