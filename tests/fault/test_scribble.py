#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An FMU that overwrites the memory that its process shares with others: no process is ended that is not Tutti's, and the run ends, with a
message or with the right result. Everything runs in a PID namespace (tests/system/scribbled.py); `./dev nets scribble` tries more."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import scribbled  # noqa: E402

WHY_NOT = scribbled.lacks()[0]


@unittest.skipIf(WHY_NOT, f"no PID namespace, outside of which this is not tried: {WHY_NOT}")
class Scribble(unittest.TestCase):
    def try_seeds(self, mode, seeds):
        jobs = [{"mode": mode, "seed": seed} for seed in seeds]
        for job, findings in zip(jobs, scribbled.try_all(jobs)):
            with self.subTest(**job, deed=scribbled.deed(job["seed"])):
                self.assertEqual(findings, [])

    def test_plain(self):
        self.try_seeds("plain", range(8))

    def test_model_exchange(self):
        self.try_seeds("me", range(8))

    def test_sweep(self):
        self.try_seeds("sweep", range(8))

    def test_processes(self):
        self.try_seeds("processes", range(8))

    def test_fork(self):
        self.try_seeds("fork", range(8))


if __name__ == "__main__":
    unittest.main()
