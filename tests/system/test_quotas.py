#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What runs may have of a node: seconds, memory, quotas of users, FMUs that are listed. Whoever wants more is told so."""
import hashlib
import os
import pathlib
import signal
import unittest

from command import kit_fmu, wait_until
from nodes import NodesTest

DAHLQUIST = kit_fmu("Dahlquist", "2")
TRACKER = kit_fmu("Tracker", "2")
LONG = ("--stop", "1000", "--step", "0.01", "--realtime", "1")


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class LimitsOfARun(NodesTest):
    def stopped(self, node, *arguments, says):
        """A run that the node ends: the user is told, rows are kept, and the node is as before."""
        outcome = self.tutti("run", *arguments, *LONG, *self.on(node), "-o", "r.csv", "--quiet", status=1)
        self.assertRegex(outcome.err, says + ".*; everything computed before is kept")
        self.assertGreater(len(self.result("r.csv")), 5)
        self.assertTrue(wait_until(lambda: node.workers() == []))
        self.assertTrue(wait_until(lambda: "ended by a limit" in node.text()), node.text())
        self.assertIn("was stopped: the run ", node.text())

    def test_seconds(self):
        node = self.node("node", "--max-seconds", "5")
        self.stopped(node, DAHLQUIST, says=r"longer than the 5 s that it may take on this node")
        self.tutti("run", DAHLQUIST, *self.on(node), "--quiet")

    def test_memory(self):
        node = self.node("node", "--max-memory", "180M", env={"KIT_FAULT": "eat DoStep 0.5 @hungry"})
        self.stopped(node, f"hungry={kit_fmu('Faulty', '2')}", says=r"the run uses \d+ MB of memory there, and may use no more than 180 MB")
        self.tutti("run", DAHLQUIST, *self.on(node), "--quiet")

    def test_all_ranks_of_a_run(self):
        node, other = self.node("node", "--max-seconds", "1"), self.node("other")
        self.tutti("run", f"a={TRACKER}", f"b={TRACKER}", "--connect", "a.y=b.u", *LONG, *self.on(other, node), "--quiet", status=1)
        self.assertTrue(wait_until(lambda: other.workers() == []))

    def test_command_lines(self):
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"))
        for option, value in (("--max-seconds", "0"), ("--max-seconds", "-1"), ("--max-seconds", "x"), ("--max-memory", "much"),
                              ("--max-memory", "1X")):
            self.refused(*node, option, value, status=2, says=option)


class Quotas(NodesTest):
    def setUp(self):
        super().setUp()
        self.own, self.key = self.keys("own.key")
        self.anna, self.anna_key = self.keys("anna.key")
        self.ben, _ = self.keys("ben.key")

    def guarded(self, *lines):
        """A node with this file of quotas, and how each user gets there."""
        quota = self.list("quota.txt", *lines)
        node = self.node("node", "--key", self.own, "--allow", self.anna + ".pub", "--allow", self.ben + ".pub", "--quota", quota)
        nodes = self.list("nodes.txt", f"{node.address} {self.key}")
        pair = self.list("pair.txt", f"{node.address} {self.key} ranks=2")
        return node, nodes, pair

    def test_runs_of_a_user(self):
        node, nodes, _ = self.guarded("# quotas", "anna.key.pub runs=1", "")
        os.mkdir(self.path("elsewhere"))
        first = self.start("run", DAHLQUIST, *LONG, "--nodes", nodes, "--key", self.anna, "--quiet", "-o", "1.csv",
                           env={"TMPDIR": self.path("elsewhere")})
        self.addCleanup(first.communicate)
        self.addCleanup(first.kill)
        self.assertTrue(wait_until(lambda: "for anna.key.pub" in node.text()))
        self.refused("run", DAHLQUIST, "--nodes", nodes, "--key", self.anna, "-o", "2.csv", status=1,
                     says=r"refuses: this user has 1 run on it, and may have no more \(--quota\)")
        self.tutti("run", DAHLQUIST, "--nodes", nodes, "--key", self.ben, "-o", "3.csv", "--quiet")
        first.send_signal(signal.SIGINT)
        self.finish(first)
        self.assertTrue(wait_until(lambda: node.text().count("over after") == 2))
        self.tutti("run", DAHLQUIST, "--nodes", nodes, "--key", self.anna, "-o", "4.csv", "--quiet")

    def test_ranks_by_key_and_for_others(self):
        _, nodes, pair = self.guarded(f"{self.anna_key} ranks=2", "* ranks=1 seconds=1")
        two = (f"a={TRACKER}", f"b={TRACKER}", "--connect", "a.y=b.u", "--quiet", "--nodes", pair)
        self.tutti("run", *two, "--key", self.anna)
        self.refused("run", *two, "--key", self.ben, status=1, says=r"wants 2 ranks of it, and this user has taken 0 of 1 \(--quota\)")
        outcome = self.tutti("run", DAHLQUIST, *LONG, "--nodes", nodes, "--key", self.ben, "--quiet", status=1)
        self.assertIn("longer than the 1 s", outcome.err)

    def test_the_smaller_one_counts(self):
        quota = self.list("quota.txt", "* seconds=1 memory=100G")
        node = self.node("node", "--max-seconds", "1000", "--quota", quota)
        outcome = self.tutti("run", DAHLQUIST, *LONG, *self.on(node), "--quiet", status=1)
        self.assertIn("longer than the 1 s", outcome.err)

    def test_files(self):
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"), "--key", self.own, "--allow", self.anna + ".pub",
                "--quota")
        for line, says in (("carl.pub runs=1", "quota.txt:2: 'carl.pub' is no user of the node"),
                           ("anna.key.pub runs", "'runs' is none of"), ("anna.key.pub runs=0", "'runs=0' is none of"),
                           ("anna.key.pub seconds=-1", "'seconds=-1'"), ("anna.key.pub memory=x", "'memory=x'"),
                           (f"anna.key.pub ranks=1\n{self.anna_key} ranks=2", "quota.txt:3: there is another line")):
            self.refused(*node, self.list("quota.txt", "# a comment", line), status=2, says=says)
        self.refused(*node, "missing.txt", status=2, says="--quota: cannot read missing.txt")


class ListedFmus(NodesTest):
    def test_listed_or_not(self):
        listed = self.list("listed.txt", "# FMUs that were looked at", f"{digest(TRACKER)}  Tracker.fmu")
        node = self.node("node", "--allow-fmu", listed)
        self.tutti("run", TRACKER, *self.on(node), "--quiet")
        outcome = self.refused("run", DAHLQUIST, *self.on(node), "--quiet", status=1, says="runs only the FMUs that its owner has listed")
        self.assertIn(digest(DAHLQUIST), outcome.err)
        more = self.list("more.txt", digest(DAHLQUIST).upper())
        both = self.node("both", "--allow-fmu", listed, "--allow-fmu", more)
        for fmu in (TRACKER, DAHLQUIST):
            self.tutti("run", fmu, *self.on(both), "--quiet")

    def test_by_any_way(self):
        """In a package, in a package of packages' place, under another name: it is what runs that counts."""
        node = self.node("node", "--allow-fmu", self.list("listed.txt", digest(TRACKER)))
        self.tutti("new", "good.ssp", f"a={TRACKER}")
        self.tutti("new", "mixed.ssp", f"a={TRACKER}", f"b={DAHLQUIST}")
        os.symlink(DAHLQUIST, self.path("Tracker_fmi2.fmu"))
        self.tutti("run", "good.ssp", *self.on(node), "--quiet")
        for model in ("mixed.ssp", "Tracker_fmi2.fmu"):
            with self.subTest(model=model):
                self.refused("run", model, *self.on(node), "--quiet", status=1, says="its owner has listed")

    def test_offers(self):
        home = self.folder / "home"
        home.mkdir()
        (home / "engine.fmu").write_bytes(pathlib.Path(TRACKER).read_bytes())
        node = self.node("node", "--allow-fmu", self.list("listed.txt", "0" * 64), "--offer", home / "engine.fmu")
        self.tutti("run", "engine.fmu", *self.on(node), "--quiet")
        self.refused("run", DAHLQUIST, *self.on(node), "--quiet", status=1, says="its owner has listed")

    def test_files(self):
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"), "--allow-fmu")
        for line in ("x", "0" * 63, "0" * 65, "g" * 64):
            self.refused(*node, self.list("listed.txt", line), status=2, says="listed.txt:1: '.*' is no SHA-256")
        self.refused(*node, "missing.txt", status=2, says="--allow-fmu: cannot read missing.txt")


if __name__ == "__main__":
    unittest.main()
