#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every allocation and every call on a file fails once, the first, the second, and so on: the command says so and ends, or the run is
what it would have been. No crash, nothing that hangs, no damaged result; a checkpoint that is there can be gone on from.

In steps that grow with the number of the call; TUTTI_SWEEP=1 in the environment takes them all, which takes an hour or so."""
import errno
import os
import pathlib
import shutil
import unittest

from shim import CHAIN, ShimTest, kit_fmu

SWEEP = os.environ.get("TUTTI_SWEEP") == "1"
POINT, COUNT = "point", "calls"
# Memory that is out once, or from then on; what disks and signals do.
ALLOCATIONS = ("once", "on")
FILES = (str(errno.EIO), "short", f"+{errno.ENOSPC}", str(errno.EINTR), f"+{errno.EIO}")
RUN = (*CHAIN, "--stop", "0.2", "--quiet")


class Whatever:
    """All that is in a folder, when it is asked for: after a call failed that would have removed it."""

    def __init__(self, folder):
        self.folder = folder

    def __iter__(self):
        return iter(os.listdir(self.folder))


def places(count, start):
    """Numbers of calls up to a count, in steps that grow; `start` moves them."""
    n = 1 + (0 if SWEEP else start % 2)
    while n <= count:
        yield n
        n += 1 if SWEEP else 1 + (n + start) // 8


class Injected(ShimTest):
    def read(self, *names):
        return {name: path.read_bytes() for name in names if (path := pathlib.Path(self.path(name))).exists()}

    def clear(self, *names):
        for name in (*names, POINT, f"{POINT}.previous", f"{POINT}.part"):
            pathlib.Path(self.path(name)).unlink(missing_ok=True)

    def prepare(self, files):
        for name, data in files.items():
            pathlib.Path(self.path(name)).write_bytes(data)

    def counts(self, *run):
        """How many allocations and calls on files the busiest process makes."""
        self.tutti("run", *run, env=self.shim(count=self.path(COUNT)))
        lines = [map(int, line.split()) for line in pathlib.Path(self.path(COUNT)).read_text("ascii").splitlines()]
        pathlib.Path(self.path(COUNT)).unlink()
        return [max(numbers) for numbers in zip(*lines)]

    def try_once(self, run, fail, expected, before):
        """A run with a failure; `expected` are its files otherwise, `before` those that were there. 1: it ended with a message."""
        self.clear(*expected)
        self.prepare(before)
        kind = fail.split(":", maxsplit=1)[0]
        outcome = self.finish(self.start("run", *run, env=self.shim(fail=fail)), left=Whatever(self.tmpdir) if kind == "io" else ())
        for left in os.listdir(self.tmpdir):
            shutil.rmtree(self.tmpdir / left)
        found = self.read(*expected)
        if outcome.status == 0:
            self.assertEqual(found, expected, f"no error, and another result: {outcome.err}")
            return 0
        self.assertIn(outcome.status, (1, 2, 3), outcome.err)
        self.assertRegex(outcome.err, r"(?m)^tutti.*: \S", "no message")
        for name, data in found.items():
            if name.endswith(("csv", "jsonl")):
                self.assertTrue(expected[name].startswith(data), f"{name} is damaged: {outcome.err}")
        if "--checkpoint" in run and self.read(POINT, f"{POINT}.previous"):
            self.tutti("run", *run, "--resume", POINT)
            self.assertEqual(self.read(*expected), expected)
        return 1

    def sweep(self, *run, files=("result.csv",), before=None):
        """All calls of a run, each in turn."""
        before = before or {}
        self.clear(*files)
        self.prepare(before)
        allocations, calls = self.counts(*run)
        expected = self.read(*files)
        self.assertEqual(set(expected), set(files))
        tried = ended = 0
        for kind, count, ways in (("alloc", allocations, ALLOCATIONS), ("io", calls, FILES)):
            for number, way in enumerate(ways if SWEEP else ways[:1]):
                for place in places(count, number + len(run)):
                    how = way if SWEEP else ways[place % len(ways)]
                    with self.subTest(run=run[len(RUN):], fail=f"{kind}:{place}:{how}"):
                        ended += self.try_once(run, f"{kind}:{place}:{how}", expected, before)
                    tried += 1
        print(f"{' '.join(run[len(CHAIN):])}: {allocations} allocations, {calls} other calls: {tried} runs, {ended} ended with a message", flush=True)
        self.assertGreater(ended, tried // 3, "failures have no effect")

    def test_plain(self):
        self.sweep(*RUN, "-o", "result.csv", "--step-log", "log.csv", files=("result.csv", "log.csv"))

    def test_formats(self):
        for ending in ("units.csv", "jsonl", "mat"):
            self.sweep(*RUN, "-o", f"result.{ending}", files=(f"result.{ending}",))

    def test_model_exchange(self):
        self.sweep(kit_fmu("BouncingBall", "3"), *RUN[len(CHAIN):], "--interface", "me", "-o", "result.csv")

    def test_checkpoint(self):
        self.sweep(*RUN, "-o", "result.csv", "--checkpoint", POINT, "--every", "0.07")

    def test_resume(self):
        self.tutti("run", *RUN, "-o", "result.csv", "--checkpoint", POINT, "--every", "0.07")
        before = self.read("result.csv", POINT)
        self.sweep(*RUN, "-o", "result.csv", "--resume", POINT, before=before)

    def test_ranks(self):
        self.sweep(*RUN, "-o", "result.csv", "--threads", "2")
        self.sweep(*RUN, "-o", "result.csv", "--processes", "2")
        self.sweep(*RUN, "-o", "result.csv", "--processes", "2", "--checkpoint", POINT, "--every", "0.07")

    def test_recovery(self):
        self.sweep(*RUN, "-o", "result.csv", "--processes", "2", "--recover", "1")


if __name__ == "__main__":
    unittest.main()
