# SPDX-License-Identifier: MIT
"""Tests that compare runs on fabrics with the plain one."""
import dataclasses
import os
import pathlib
import sys
import tempfile

from command import ROOT, THREAD_SANITIZED, TUTTI, can_confine
from systems import CoupledTest

sys.path.append(str(ROOT / "tools"))
import ranks  # noqa: E402
from ranks import LOCAL, mpi, processes, threads  # noqa: E402,F401

RESULT, LOG, STATS = "result.csv", "steps.csv", "stats.json"
# What a run did is the same wherever its units are. (How often ranks exchanged, and how long it took, is not.)
SAME = ("system", "coupling", "control", "extrapolate", "events", "correct", "correct_how", "smooth", "start", "stop", "steps", "rejected",
        "iterations", "events_located", "init_loops", "init_iterations", "solve_iterations", "not_converged", "forced")
SAME_UNIT = ("name", "fmu", "fmi", "interface", "do_steps", "accepted", "rejected", "auxiliary", "rollbacks", "solver",
             "solver_steps", "rhs_evaluations")


def has_mpi():
    return ranks.has_mpi(TUTTI) and not THREAD_SANITIZED  # which does not see how MPICH's shared memory is ordered


@dataclasses.dataclass
class Ran:
    """A run that has ended: its exit status, what it said, the bytes of its files, its statistics."""

    status: int
    err: str
    files: dict
    stats: dict


class FabricTest(CoupledTest):
    """A test that compares runs. Nodes are started when the first test of a class wants them."""

    nodes = caches = None
    turn = 0

    @classmethod
    def tearDownClass(cls):
        if cls.nodes:
            left, statuses, words = cls.nodes.end()
            cls.nodes = None
            cls.caches.cleanup()
            cls.caches = None
            assert not left, f"nodes leave {left} behind"
            assert not any(statuses), f"nodes end with {statuses}: {words}"
            assert "Sanitizer" not in words, words

    @classmethod
    def tcp(cls):
        if cls.nodes is None:
            cls.caches = tempfile.TemporaryDirectory(prefix="tutti-caches-")
            options = ("--confine", "none") if can_confine() else ()
            cls.nodes = ranks.Nodes(TUTTI, 2, options, XDG_CACHE_HOME=cls.caches.name)
        return cls.nodes.fabric()

    def environment(self, **extra):
        """Nodes work for the user who started them: what they know him by lies in his cache."""
        shared = {"XDG_CACHE_HOME": self.caches.name} if self.caches else {}
        return super().environment(**{**shared, **extra})

    def fabrics(self):
        """One of each; of threads two and three in turn."""
        self.turn += 1
        yield from (threads(2 + self.turn % 2), processes(2))
        if has_mpi():
            yield mpi(2)
        yield self.tcp()

    def ran(self, *arguments, fabric=LOCAL, log=False, env=None):
        """Runs to the end, with the result in a file."""
        for name in (RESULT, LOG, STATS):
            pathlib.Path(self.path(name)).unlink(missing_ok=True)
        outcome = self.finish(self.start("run", *arguments, *fabric.options, "-o", RESULT, "--stats", STATS, "--quiet",
                                         *(["--step-log", LOG] if log else []), env=env, launcher=fabric.launcher))
        files = {name: path.read_bytes() for name in (RESULT, LOG) if (path := pathlib.Path(self.path(name))).exists()}
        stats = self.stats() if pathlib.Path(self.path(STATS)).exists() else None
        return Ran(outcome.status, outcome.err, files, stats)

    def same(self, *arguments, fabrics, plain=None, status=0, **more):
        """The same on all of these fabrics as without: bytes, counts, messages. Returns the plain one."""
        plain = plain or self.ran(*arguments, **more)
        if status is not None:
            self.assertEqual(plain.status, status, f"{arguments}: {plain.err}")
        for fabric in fabrics:
            with self.subTest(fabric=str(fabric), run=" ".join(map(os.path.basename, arguments))):
                self.compare(plain, self.ran(*arguments, fabric=fabric, **more), fabric)
        return plain

    def compare(self, plain, other, fabric):
        self.assertEqual((other.status, other.err), (plain.status, plain.err))
        self.assertEqual(set(other.files), set(plain.files))
        for name, content in plain.files.items():
            if other.files[name] != content:
                self.fail(f"{name}: {first_difference(content, other.files[name])}")
        self.assertEqual(other.stats is None, plain.stats is None)
        if plain.stats:
            self.compare_stats(plain.stats, other.stats, fabric)

    def compare_stats(self, plain, other, fabric):
        self.assertEqual({key: other[key] for key in SAME if key in plain}, {key: plain[key] for key in SAME if key in plain})
        self.assertEqual(other["fabric"], fabric.name)
        self.assertTrue(1 <= other["ranks"] <= fabric.ranks, other["ranks"])
        units = [[{key: unit[key] for key in SAME_UNIT} for unit in stats["units"]] for stats in (plain, other)]
        self.assertEqual(*units)
        self.assertLessEqual({unit["rank"] for unit in other["units"]}, set(range(other["ranks"])))


def first_difference(expected, given):
    """The first line in which two texts differ, for people."""
    for number, (left, right) in enumerate(zip(expected.splitlines(), given.splitlines()), 1):
        if left != right:
            return f"line {number} is {right[:300]!r}, expected {left[:300]!r}"
    return f"{len(given.splitlines())} lines, expected {len(expected.splitlines())}"

