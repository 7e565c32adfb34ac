#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sweeps whose runs are made by ranks of mpiexec, or on nodes: the same table to the byte; what a dead worker, rank or node costs."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from command import PATIENCE, THREAD_SANITIZED, TUTTI, CommandTest, can_confine, kit_fmu, test_fmu, wait_until
from nodes import NodesTest

MOODY = test_fmu("Moody", "2")
MPIEXEC = "mpiexec.mpich"
LINE = ("sweep", MOODY, "--vary", "k=1:5:5", "--vary", "mood=0,1,2,3,4,5", "--measure", "max(y)")
HANGS = ("sweep", MOODY, "--vary", "k=1,2", "--vary", "mood=0,6,3", "--measure", "max(y)", "--timeout", "1")
LONG = ("sweep", MOODY, "--vary", "k=1:3:60", "--vary", "mood=0,0,0,0,1", "--step", "0.0001", "--measure", "mean(y)")


class Elsewhere(CommandTest):
    def table(self, name):
        return pathlib.Path(self.path(name)).read_bytes()

    def has_some(self, name):
        """Are there runs in the journal?"""
        journal = pathlib.Path(self.path(name + ".journal"))
        return journal.exists() and journal.stat().st_size > 1000

    def begin(self, *line):
        """Starts it in a group of its own, until some of its runs are over."""
        process = self.spawn(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: self.has_some("t.csv") or process.poll() is not None))
        return process


@unittest.skipUnless(shutil.which(MPIEXEC) and not THREAD_SANITIZED, "needs MPICH, whose shared memory the thread sanitizer does not see")
class Mpi(Elsewhere):
    def ranks(self, ranks, *line, status=0):
        done = subprocess.run([MPIEXEC, "-n", str(ranks), TUTTI, *map(str, line)], cwd=self.folder, env=self.environment(), capture_output=True,
                              text=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_same_table(self):
        rows = "--record", "y", "--trajectories"
        self.tutti(*LINE, *rows, "rows.csv", "-o", "here.csv", status=1)
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                done = self.ranks(ranks, *LINE, *rows, "rows_mpi.csv", "-o", "mpi.csv", status=1)
                self.assertEqual(self.table("mpi.csv"), self.table("here.csv"))
                self.assertEqual(self.table("rows_mpi.csv"), self.table("rows.csv"))
                self.assertEqual(done.stderr.count("runs       30, of which 5 are ok"), 1)

    def test_one_voice(self):
        done = self.ranks(3, "sweep", MOODY, "--vary", "kk=1,2", status=2)
        self.assertEqual(done.stderr.count("no variable named 'kk'"), 1)
        self.assertIn("ranks of mpiexec", self.ranks(2, *LINE, "--workers", "2", status=2).stderr)
        self.assertIn("choose one", self.ranks(2, *LINE, "--nodes", "127.0.0.1:1", status=2).stderr)
        self.assertIn("cannot confine processes of mpiexec", self.ranks(2, *LINE, "--confine", "strict", status=2).stderr)
        self.write("data.csv", "time,y\n0,2\n0.5,1.2\n1,0.7\n")
        done = self.ranks(2, "estimate", MOODY, "--fit", "k=1:0:10", "--data", "data.csv", status=2)
        self.assertEqual(done.stderr.count("start it without mpiexec"), 1)

    def test_hanging_runs(self):
        self.tutti(*HANGS, "-o", "here.csv", status=1)
        self.ranks(2, *HANGS, "-o", "mpi.csv", status=1)
        self.assertEqual(self.table("mpi.csv"), self.table("here.csv"))

    def test_more_ranks_than_runs(self):
        self.tutti("sweep", kit_fmu("VanDerPol", "2"), "--vary", "mu=1,2", "-o", "here.csv")
        self.ranks(4, "sweep", kit_fmu("VanDerPol", "2"), "--vary", "mu=1,2", "-o", "mpi.csv")
        self.assertEqual(self.table("mpi.csv"), self.table("here.csv"))

    def test_killed_and_resumed_here(self):
        self.tutti(*LONG, "-o", "here.csv", status=1)
        process = self.begin(MPIEXEC, "-n", 2, TUTTI, *LONG, "-o", "t.csv")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        for left in self.tmpdir.iterdir():
            shutil.rmtree(left)
        outcome = self.tutti(*LONG, "-o", "t.csv", status=1)
        self.assertIn("were there already", outcome.err)
        self.assertEqual(self.table("t.csv"), self.table("here.csv"))


class Nodes(Elsewhere, NodesTest):
    def test_same_table(self):
        rows = "--record", "y", "--trajectories"
        self.tutti(*LINE, *rows, "rows.csv", "-o", "here.csv", status=1)
        one, other = self.node("one"), self.node("other")
        for nodes in (one.address, f"{one.address},{one.address}", f"{one.address},{other.address},{one.address},{other.address}"):
            with self.subTest(nodes=nodes):
                self.tutti(*LINE, *rows, "rows_nodes.csv", "--nodes", nodes, "-o", "nodes.csv", status=1)
                self.assertEqual(self.table("nodes.csv"), self.table("here.csv"))
                self.assertEqual(self.table("rows_nodes.csv"), self.table("rows.csv"))
        self.assertEqual(len(one.files()), 1)  # the FMU has travelled once

    def test_table_of_values_and_systems(self):
        self.write("cases.csv", "a.k,b.k\n1,2\n3,4\n0.1,7\n")
        line = "sweep", f"a={MOODY}", f"b={MOODY}", "--csv", "cases.csv", "--measure", "final(a.y)", "--measure", "final(b.y)", "--step", "0.01"
        self.tutti(*line, "-o", "here.csv")
        self.tutti(*line, "--nodes", self.node("one").address, "-o", "nodes.csv")
        self.assertEqual(self.table("nodes.csv"), self.table("here.csv"))

    def test_dead_nodes(self):
        self.tutti(*LINE, "-o", "here.csv", status=1)
        one, other = self.node("one"), self.node("other")
        other.end()
        outcome = self.tutti(*LINE, "--nodes", f"{other.address},{one.address}", "-o", "nodes.csv", status=1)
        self.assertRegex(outcome.err, f"{other.address}.*; the sweep does without it")
        self.assertEqual(self.table("nodes.csv"), self.table("here.csv"))
        self.refused(*LINE, "--nodes", other.address, "-o", "none.csv", status=1, says=other.address)

    def test_node_dies_in_the_middle(self):
        self.tutti(*LONG, "-o", "here.csv", status=1)
        one, other = self.node("one"), self.node("other")
        process = self.begin(TUTTI, *LONG, "--nodes", f"{other.address},{one.address}", "-o", "t.csv")
        other.process.kill()
        other.ended = True  # and leaves its folder
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1, outcome.err)
        self.assertIn("the sweep does without it", outcome.err)
        self.assertEqual(self.table("t.csv"), self.table("here.csv"))

    def test_second_node_dies(self):
        """One after the other; the third has the rest to do."""
        self.tutti(*LONG, "-o", "here.csv", status=1)
        nodes = [self.node(name) for name in ("one", "other", "third")]
        process = self.begin(TUTTI, *LONG, "--nodes", ",".join(node.address for node in nodes), "-o", "t.csv")
        for node in nodes[:2]:
            node.process.kill()
            node.ended = True
            before = pathlib.Path(self.path("t.csv.journal"))
            grown = before.stat().st_size + 2000 if before.exists() else 0
            self.assertTrue(wait_until(lambda: not before.exists() or before.stat().st_size > grown or process.poll() is not None))
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1, outcome.err)
        self.assertEqual(self.table("t.csv"), self.table("here.csv"))

    def test_hanging_runs(self):
        self.tutti(*HANGS, "-o", "here.csv", status=1)
        self.assertEqual(self.table("here.csv").count(b"no sign of life for 1 s"), 2)
        self.tutti(*HANGS, "--nodes", self.node("one").address, "-o", "nodes.csv", status=1)
        self.assertEqual(self.table("nodes.csv"), self.table("here.csv"))

    def test_offered(self):
        """The FMU is on one node only, and stays there."""
        home = self.folder / "home"
        home.mkdir()
        shutil.copy(MOODY, self.path("engine.fmu"))
        self.tutti("sweep", "engine.fmu", *LINE[2:], "-o", "here.csv", status=1)
        shutil.move(self.path("engine.fmu"), home)
        owner, other = self.node("owner", "--offer", home / "engine.fmu"), self.node("other")
        line = "sweep", "engine.fmu", *LINE[2:]
        self.refused(*line, "--nodes", other.address, "-o", "t.csv", status=1, says="cannot read engine.fmu")
        self.refused(*line, "-o", "t.csv", status=1, says="cannot read engine.fmu")
        self.tutti(*line, "--nodes", f"{owner.address},{owner.address}", "-o", "nodes.csv", status=1)
        self.assertEqual(self.table("nodes.csv"), self.table("here.csv"))
        outcome = self.tutti(*line, "--nodes", f"{other.address},{owner.address}", "-o", "nodes.csv", status=1)
        self.assertRegex(outcome.err, f"the node at {other.address}: cannot read engine.fmu.*; the sweep does without it")
        self.assertEqual(self.table("nodes.csv"), self.table("here.csv"))

    def test_killed_and_resumed(self):
        self.tutti(*LONG, "-o", "here.csv", status=1)
        one = self.node("one")
        process = self.begin(TUTTI, *LONG, "--nodes", f"{one.address},{one.address}", "-o", "t.csv")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        for left in self.tmpdir.iterdir():
            shutil.rmtree(left)
        self.assertIn("were there already", self.tutti(*LONG, "--nodes", one.address, "-o", "t.csv", status=1).err)
        self.assertEqual(self.table("t.csv"), self.table("here.csv"))
        self.assertTrue(wait_until(lambda: not one.workers()))

    def test_refused(self):
        one = self.node("one")
        self.refused(*LINE, "--nodes", one.address, "--workers", "2", status=2, says="ranks=N")
        self.refused(*LINE, "--key", "x", status=2, says="--key has no effect without --nodes")
        self.refused(*LINE, "--nodes", "nowhere", status=2, says="nowhere")
        strict = self.node("few", "--max-ranks", "1")
        self.tutti(*LINE, "-o", "here.csv", status=1)
        outcome = self.tutti(*LINE, "--nodes", f"{strict.address},{strict.address}", "-o", "t.csv", status=1)
        self.assertRegex(outcome.err, "--max-ranks.*; the sweep does without it")
        self.assertEqual(self.table("t.csv"), self.table("here.csv"))

    def test_confined(self):
        if can_confine():
            self.skipTest(can_confine())
        self.tutti(*LINE, "-o", "here.csv", status=1)
        one = self.node("strict", "--confine", "strict")
        self.tutti(*LINE, "--nodes", f"{one.address},{one.address}", "-o", "nodes.csv", status=1)
        self.assertEqual(self.table("nodes.csv"), self.table("here.csv"))
        secret = self.write("secret.txt", "a secret")
        line = "sweep", kit_fmu("Hostile", "2"), "--set", "deed=read_file", "--set", f"path={secret}", "--vary", "port=0", "--measure", "final(succeeded)"
        here = self.tutti(*line, "--quiet", "-o", "-").out.splitlines()
        there = self.tutti(*line, "--quiet", "--nodes", one.address, "-o", "-")
        self.assertEqual([row.split(",")[2] for row in here[1:]], ["1"])
        self.assertEqual([row.split(",")[2] for row in there.out.splitlines()[1:]], ["0"])
        # What a run may say of this, a sweep may, too, here and there.
        free, permits = self.node("free", "--confine", "none"), self.node("permits", "--confine", "strict", "--permit", f"read:{self.folder}")
        allow = "--allow", f"read:{self.folder}"
        for options, found in (((), "0"), (("--limits", "memory=1G"), "0"), (allow, "1")):
            for where in ((), ("--nodes", permits.address)):
                with self.subTest(options=options, where=where):
                    outcome = self.tutti(*line, "--confine", "strict", *options, *where, "-o", "-")
                    self.assertEqual(outcome.out.splitlines()[1].split(",")[2], found)
                    self.assertEqual("which --confine forbids" in outcome.err, found == "0")
        self.assertEqual(self.tutti(*line, "--confine", "strict", "--nodes", free.address, "-o", "-").out.splitlines()[1].split(",")[2], "0")
        self.refused(*line, "--confine", "strict", *allow, "--nodes", one.address, "-o", "-", status=1, says="the node does not permit what --allow asks for")
        self.refused(*line, "--confine", "strict", "--allow", "x=net", status=2, says="there is no unit 'x'")
        self.refused(*line, "--confine", "strict", "--limits", "memory=little", status=2, says="memory=little")
        self.refused(*line, *allow, status=2, says="has no effect without --confine")
        self.refused(*line, "--timeout", "0", status=2, says="--timeout takes a number greater than 0")


if __name__ == "__main__":
    unittest.main()
