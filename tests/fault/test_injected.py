#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every allocation, every call on a file and every call of ZeroMQ fails once, the first, the second, and so on: the command says so and
ends, or the run is what it would have been; so it is with nodes and their workers. No crash, nothing that hangs, no damaged result; a
checkpoint that is there can be gone on from.

In steps that grow with the number of the call; TUTTI_SWEEP=1 in the environment takes them all, which takes an hour or so."""
import errno
import os
import pathlib
import re
import shutil
import signal
import unittest

from shim import CHAIN, TUTTI, ShimTest, kit_fmu
from command import FMUS, PATIENCE, can_confine, wait_until
from nodes import NodesTest

SWEEP = os.environ.get("TUTTI_SWEEP") == "1"
EXAMPLES = FMUS.parent / "examples"
POINT, COUNT = "point", "calls"
# Memory that is out once, or from then on; what disks and signals do.
ALLOCATIONS = ("once", "on")
FILES = (str(errno.EIO), "short", f"+{errno.ENOSPC}", str(errno.EINTR), f"+{errno.EIO}")
MESSAGES = (str(errno.EMFILE), str(errno.EINTR), str(errno.ENOMEM))
WAYS = {"alloc": ALLOCATIONS, "io": FILES, "zmq": MESSAGES}
RUN = (*CHAIN, "--stop", "0.2", "--quiet")


class Whatever:
    """All that is in a folder, when it is asked for: after a call failed that would have removed it."""

    def __init__(self, folder):
        self.folder = folder

    def __iter__(self):
        return iter(os.listdir(self.folder))


def places(count, start, growth=8):
    """Numbers of calls up to a count, in steps that grow; `start` moves them."""
    n = 1 + (0 if SWEEP else start % 2)
    while n <= count:
        yield n
        n += 1 if SWEEP else 1 + (n + start) // growth


def failures(counts, start, growth=8):
    """What is to fail, for so many calls of each kind: KIND:N:HOW."""
    for (kind, ways), count in zip(WAYS.items(), counts):
        for number, way in enumerate(ways if SWEEP else ways[:1]):
            for place in places(count, number + start, growth):
                yield f"{kind}:{place}:{way if SWEEP else ways[place % len(ways)]}"


class InjectedTest(ShimTest):
    def read(self, *names):
        return {name: path.read_bytes() for name in names if (path := pathlib.Path(self.path(name))).exists()}

    def clear(self, *names):
        for name in (*names, POINT, f"{POINT}.previous", f"{POINT}.part"):
            pathlib.Path(self.path(name)).unlink(missing_ok=True)

    def prepare(self, files):
        for name, data in files.items():
            pathlib.Path(self.path(name)).write_bytes(data)

    def counts(self, *run):
        """How many calls of each kind the busiest process makes."""
        self.tutti("run", *run, env=self.shim(count=self.path(COUNT)))
        return self.read_counts()

    def read_counts(self):
        lines = [map(int, line.split()) for line in pathlib.Path(self.path(COUNT)).read_text("ascii").splitlines()]
        pathlib.Path(self.path(COUNT)).unlink()
        return [max(numbers) for numbers in zip(*lines)]

    def try_once(self, run, fail, expected, before):
        """A run with a failure; `expected` are its files otherwise, `before` those that were there. 1: it ended with a message."""
        self.clear(*expected)
        self.prepare(before)
        left = Whatever(self.tmpdir) if fail.startswith("io") else ()
        outcome = self.finish(self.start("run", *run, env=self.shim(fail=fail)), left)
        for name in os.listdir(self.tmpdir):
            shutil.rmtree(self.tmpdir / name)
        return self.judge(run, outcome, expected)

    def judge(self, run, outcome, expected):
        """1: it ended with a message."""
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

    def sweep(self, *run, files=("result.csv",), before=None, growth=8, last=0):
        """All calls of a run, each in turn; so many of the last allocations closely, with none after them."""
        before = before or {}
        self.clear(*files)
        self.prepare(before)
        counts = self.counts(*run)
        expected = self.read(*files)
        self.assertEqual(set(expected), set(files))
        tried = ended = 0
        closely = (f"alloc:{place}:on" for place in range(max(counts[0] - last, 1), counts[0], 2))
        for fail in (*failures(counts, len(run), growth), *closely):
            with self.subTest(run=run[len(RUN):], fail=fail):
                ended += self.try_once(run, fail, expected, before)
            tried += 1
        self.tell(run, counts, tried, ended)

    def tell(self, run, counts, tried, ended):
        print(f"{' '.join(map(str, run[len(CHAIN):]))}: {counts[0]} allocations, {counts[1]} calls on files, {counts[2]} of ZeroMQ: {tried} runs, "
              f"{ended} ended with a message", flush=True)
        self.assertGreater(ended, tried // 4, "failures have no effect")


class Injected(InjectedTest):
    def test_plain(self):
        self.sweep(*RUN, "-o", "result.csv", "--step-log", "log.csv", files=("result.csv", "log.csv"))

    def test_formats(self):
        for ending in ("units.csv", "jsonl", "mat"):
            self.sweep(*RUN, "-o", f"result.{ending}", files=(f"result.{ending}",))

    def test_model_exchange(self):
        self.sweep(kit_fmu("BouncingBall", "3"), *RUN[len(CHAIN):], "--interface", "me", "-o", "result.csv")

    def test_system(self):
        self.sweep(EXAMPLES / "quarter_car" / "quarter_car.ssp", "--stop", "0.1", "--quiet", "-o", "result.csv")

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


class Read(InjectedTest):
    """Commands that read, and print what they find."""

    def ask(self, *arguments, growth=6):
        expected = self.tutti(*arguments, env=self.shim(count=self.path(COUNT)), status=None)
        counts = self.read_counts()
        tried = ended = 0
        for fail in failures(counts, len(arguments), growth):
            with self.subTest(arguments=arguments, fail=fail):
                left = Whatever(self.tmpdir) if fail.startswith("io") else ()
                outcome = self.finish(self.start(*arguments, env=self.shim(fail=fail)), left)
                for name in os.listdir(self.tmpdir):
                    shutil.rmtree(self.tmpdir / name)
                if outcome.status != expected.status or outcome.out != expected.out:
                    self.assertRegex(outcome.out + outcome.err, r"(?m)(^tutti.*: \S|error|warning|\"failure\": \")", "no message")
                    self.assertIn(outcome.status, (1, 2, 3))
                    ended += 1
            tried += 1
        self.tell((*CHAIN, *arguments), counts, tried, ended)

    def test_systems(self):
        system = EXAMPLES / "quarter_car" / "quarter_car.ssp"
        self.ask("info", system)
        self.ask("check", system)
        for arguments in (("info", system, "--json"), ("graph", system, "-o", "-"), ("graph", system, "--phase", "run", "-o", "graph.json"),
                          ("analyze", system, "--json")):
            self.ask(*arguments, growth=3)

    def test_fmus(self):
        self.ask("info", kit_fmu("Feedthrough", "3"))
        self.ask("info", kit_fmu("Feedthrough", "3"), "--json", growth=3)
        self.ask("check", kit_fmu("Feedthrough", "2"))

    def test_results(self):
        for ending in ("csv", "jsonl", "mat"):
            self.tutti("run", *RUN, "-o", f"result.{ending}")
        self.ask("compare", "result.csv", "result.mat", growth=12)
        self.ask("compare", "result.jsonl", "result.csv", growth=12)
        self.ask("compare", "result.csv", "result.csv", "--json", growth=12)


class Nodes(InjectedTest, NodesTest):
    """The run, and the node with its workers."""

    def test_runs(self):
        """Calls of the run itself fail; its node serves the next one."""
        node = self.node("a")
        self.sweep(*RUN, "-o", "result.csv", *self.on(node, node), growth=4, last=64)
        self.assertTrue(wait_until(lambda: not node.workers()), node.text())
        self.tutti("run", *RUN, "-o", "result.csv", *self.on(node))

    def node_with(self, **wishes):
        """A node, and its workers, with the shim: process, log, address. No address: it has ended."""
        log = self.folder / "node.log"
        confine = ("--confine", "none") if can_confine() else ()
        with open(log, "wb") as file:
            process = self.spawn([TUTTI, "node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"), "--env", "LD_PRELOAD", "--env",
                                  "SHIM_*", "--env", "*SAN_OPTIONS", *confine], self.shim(**wishes), stdout=file, stderr=file)
        self.assertTrue(wait_until(lambda: b"listening at" in log.read_bytes() or process.poll() is not None), log.read_text("utf-8"))
        found = re.search(r"listening at (\S+),", log.read_text("utf-8", "replace"))
        return process, log, found and found[1]

    def run_on(self, address):
        return self.finish(self.start("run", *RUN, "-o", "result.csv", "--nodes", f"{address},{address}"))

    def end_node(self, process, log):
        """It ends when it is told to, or has ended with a message."""
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        status = process.wait(PATIENCE)
        said = log.read_text("utf-8", "replace")
        self.assertGreaterEqual(status, 0, said)
        self.assertNotIn("Sanitizer", said)
        if status != 0:
            self.assertRegex(said, r"(?m)^tutti.*: \S")

    def try_node(self, fail, expected):
        shutil.rmtree(self.path("cache"), ignore_errors=True)
        self.clear("result.csv")
        process, log, address = self.node_with(fail=fail)
        ended = 1
        if address:
            ended = self.judge(RUN, self.run_on(address), expected)
        self.end_node(process, log)
        return ended

    def test_nodes(self):
        """Calls of the node and its workers fail, whichever comes so far."""
        process, log, address = self.node_with(count=self.path(COUNT))
        self.assertEqual(self.run_on(address).status, 0)
        expected = self.read("result.csv")
        self.end_node(process, log)
        counts = self.read_counts()
        tried = ended = 0
        for fail in failures(counts, 1, growth=4):
            with self.subTest(fail=fail):
                ended += self.try_node(fail, expected)
            tried += 1
        self.tell((*RUN, "on a node"), counts, tried, ended)

    def test_words(self):
        """A word that the node has for a worker, or a worker for the node, and that a signal or an error keeps back: no worker waits for it."""
        process, log, address = self.node_with()
        self.assertEqual(self.run_on(address).status, 0)
        expected = self.read("result.csv")
        self.end_node(process, log)
        for place in (1, 2):
            with self.subTest(place=place):
                self.assertEqual(self.try_node(f"send:{place}:{errno.EINTR}", expected), 0)
        self.assertEqual(self.try_node(f"send:1:{errno.ENOBUFS}", expected), 1)


if __name__ == "__main__":
    unittest.main()
