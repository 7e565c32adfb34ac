#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--recover: workers that are killed, stand still or are cut off at any moment are replaced, and the run ends with the bytes of one that
nothing happened to; or, with a message, if it cannot be. Nothing is left over. (At random: test_chaos.py.)"""
import os
import pathlib
import signal
import socket
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import JACOBI, await_guest, kit_fmu, wait_until  # noqa: E402
from nodes import NodesTest  # noqa: E402
from systems import connect  # noqa: E402
from test_workers import WorkerTest, workers  # noqa: E402

CHAIN = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}",
         *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"), "--set", "a.x_left=0.1", "--step", "0.01", "--stop", "2")
APART = ("--place", "a=0", "--place", "b=1")
PAIR = (f"a={kit_fmu('Dahlquist', '2')}", f"b={kit_fmu('Faulty', '2')}", *connect("a.x=b.u"), "--stop", "1", "--step", "0.125",
        *JACOBI)
STEADY = ("--realtime", "2", "--every-seconds", "0.02")


class Workers(WorkerTest):
    def undisturbed(self, *run, log=False):
        return self.ran(*run, log=log).files

    def disturbed(self, *options, run=CHAIN):
        pathlib.Path(self.path("result.csv")).unlink(missing_ok=True)
        return self.start("run", *run, *APART, *STEADY, "--processes", "2", "-o", "result.csv", *options)

    def await_rows(self, process, bytes_=4000):  # of 25 kB: there are checkpoints by then
        path = pathlib.Path(self.path("result.csv"))
        self.assertTrue(wait_until(lambda: process.poll() is not None or (path.exists() and path.stat().st_size > bytes_)))

    def same(self, outcome, files):  # pylint: disable=arguments-differ
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertEqual(pathlib.Path(self.path("result.csv")).read_bytes(), files["result.csv"])

    def test_kill_9(self):
        files = self.undisturbed(*CHAIN)
        for victim in (0, 1):
            with self.subTest(victim=victim):
                process = self.disturbed("--recover", "2", "--stats", "stats.json")
                self.await_rows(process)
                os.kill(workers(process)[victim], signal.SIGKILL)
                outcome = self.finish(process)
                self.same(outcome, files)
                self.assertRegex(outcome.err, r"warning: worker \d .*signal 9 .*The run goes on from the checkpoint at t = .* "
                                              r"\(recovery 1 of 2\)")
                self.assertEqual(self.stats()["recoveries"], 1)

    def test_units_that_cannot_serialise(self):
        """They are told again what they were told."""
        run = (f"a={kit_fmu('ChainMass', '1cs')}", *CHAIN[1:])
        files = self.undisturbed(*run)
        process = self.disturbed("--recover", "2", "--checkpoint-replay", run=run)
        self.await_rows(process)
        os.kill(workers(process)[1], signal.SIGKILL)
        outcome = self.finish(process)
        self.same(outcome, files)
        self.assertRegex(outcome.err, "goes on from the checkpoint at t = ")

    def test_messages_are_told_once(self):
        """Those of the start, of files and of units."""
        run = (*CHAIN[:2], f"c={kit_fmu('Claiming', '2')}", *CHAIN[2:])
        said = [line for line in self.tutti("run", *run, *APART, "--processes", "2").err.splitlines() if "warning" in line]
        self.assertTrue(said)
        process = self.disturbed("--recover", "2", "--checkpoint-replay", run=run)
        self.await_rows(process)
        os.kill(workers(process)[1], signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.err.count("The run goes on from the checkpoint"), 1)
        for line in said:
            self.assertEqual(outcome.err.splitlines().count(line), 1, line)

    def test_one_that_stands_still(self):
        files = self.undisturbed(*CHAIN)
        process = self.disturbed("--recover", "5", "--timeout", "2")
        self.await_rows(process)
        os.kill(workers(process)[1], signal.SIGSTOP)
        self.same(self.finish(process), files)

    def test_no_more_than_asked_for(self):
        process = self.disturbed("--recover", "1")
        for least in (300, 3000):
            self.await_rows(process, least)
            os.kill(workers(process)[0], signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1)
        self.assertRegex(outcome.err, "error: .*signal 9.*; as many recoveries as --recover allows")

    def test_an_fmu_that_crashes_again(self):
        """At the same time, whatever is tried: that is known after the second one."""
        outcome = self.tutti("run", *PAIR, *APART, "--processes", "2", "--recover", "100", "--every", "0.25", status=1,
                             env={"KIT_FAULT": "crash DoStep 0.5 @b"})
        self.assertEqual(outcome.err.count("The run goes on"), 1, outcome.err)
        self.assertRegex(outcome.err, r"error: worker 1 \(unit 'b'.*signal 11.*the same has happened after a recovery")
        kept = pathlib.Path(self.path("result.csv")).read_bytes()
        self.assertGreater(kept.count(b"\n"), 4)
        self.assertTrue(self.undisturbed(*PAIR)["result.csv"].startswith(kept))

    def test_before_the_first_checkpoint(self):
        files = self.undisturbed(*CHAIN)
        os.unlink(self.path("result.csv"))
        process = self.start("run", *CHAIN, "--realtime", "2", "--every", "1000", *APART, "--processes", "2", "--recover", "1", "-o", "result.csv")
        self.await_rows(process)
        os.kill(workers(process)[0], signal.SIGKILL)
        outcome = self.finish(process)
        self.same(outcome, files)
        self.assertRegex(outcome.err, "goes on from the beginning")

    def test_refusals(self):
        self.refused("run", *CHAIN, "--recover", "1", status=2, says="--recover needs workers .* --processes or --nodes")
        self.refused("run", *CHAIN, "--recover", "1", "--processes", "2", "-o", "-", status=2, says="--recover needs a result")


class Nodes(NodesTest):
    def test_a_node_that_goes(self):
        """Its units go to those that are left."""
        files = self.result_bytes(*CHAIN)
        a, b = self.node("a"), self.node("b")
        process = self.start("run", *CHAIN, *STEADY, *self.on(a, b), "--recover", "3", "-o", "result.csv")
        path = pathlib.Path(self.path("result.csv"))
        self.assertTrue(wait_until(lambda: path.exists() and path.stat().st_size > 300))
        b.end(signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertRegex(outcome.err, "warning: .*the run does without it")
        self.assertEqual(path.read_bytes(), files)

    def test_units_that_have_their_ranks(self):
        """With fewer ranks --place cannot be kept: the run ends, and says what would help."""
        a, b = self.node("a"), self.node("b")
        process = self.start("run", *CHAIN, *APART, *STEADY, *self.on(a, b), "--recover", "3", "-o", "result.csv")
        path = pathlib.Path(self.path("result.csv"))
        self.assertTrue(wait_until(lambda: path.exists() and path.stat().st_size > 300))
        b.end(signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1, outcome.err)
        self.assertRegex(outcome.err, r"--place b=1: there is one rank only, 0; the run was to go on after a loss, .*without --place.*name more nodes")

    def test_what_comes_in_its_place(self):
        """Something that is no node: it is the one that is done without."""
        files = self.result_bytes(*CHAIN)
        a, b = self.node("a"), self.node("b")
        process = self.start("run", *CHAIN, *STEADY, *self.on(a, b), "--recover", "3", "-o", "result.csv")
        path = pathlib.Path(self.path("result.csv"))
        self.assertTrue(wait_until(lambda: path.exists() and path.stat().st_size > 300))
        b.end(signal.SIGKILL)
        with socket.create_server(("127.0.0.1", int(b.address.rpartition(":")[2]))) as server:
            while guest := await_guest(server, process):
                guest.close()
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertRegex(outcome.err, f"warning: .*{b.address}.*the run does without it")
        self.assertEqual(path.read_bytes(), files)

    def test_a_worker_that_goes(self):
        files = self.result_bytes(*CHAIN)
        a, b = self.node("a"), self.node("b")
        process = self.start("run", *CHAIN, *APART, *STEADY, *self.on(a, b), "--recover", "3", "-o", "result.csv")
        path = pathlib.Path(self.path("result.csv"))
        self.assertTrue(wait_until(lambda: path.exists() and path.stat().st_size > 300))
        worker, = b.workers()
        os.kill(worker, signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertEqual(path.read_bytes(), files)


if __name__ == "__main__":
    unittest.main()
