#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What batch systems and collectors of logs read: --log json, of runs and of nodes, and lines of progress."""
import datetime
import json
import os
import re
import signal
import unittest

from command import SANITIZED, kit_fmu
from nodes import NodesTest

DAHLQUIST = kit_fmu("Dahlquist", "2")
FABRICS = ((), ("--threads", "2"), ("--processes", "2"))
LEVELS = {"error", "warning", "info", "debug"}


class LogTest(NodesTest):
    def entries(self, text):
        """The lines of a log, each an object with a time and a level."""
        entries = [json.loads(line) for line in text.splitlines()]
        for entry in entries:
            datetime.datetime.strptime(entry["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
            self.assertIn(entry["level"], LEVELS)
            self.assertTrue(entry["message"])
        return entries

    def run_pair(self, *options, status=0, fault=""):
        arguments = (f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('Faulty', '2')}", "--connect", "a.y=b.u", "--step", "0.1",
                     "--stop", "1", "--log", "json")
        return self.tutti("run", *arguments, *options, status=status, env={"KIT_FAULT": fault})


class Runs(LogTest):
    def test_end(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                (entry,) = self.entries(self.run_pair(*fabric).err)
                self.assertEqual((entry["level"], entry["status"], entry["t"], entry["steps"], entry["rows"]),
                                 ("info", "completed", 1, 10, 11))
                self.assertRegex(entry["run"], "^[0-9a-f]{16}$")

    def test_messages_of_units(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                entries = self.entries(self.run_pair(*fabric, fault="badlog DoStep 0.5 @b").err)
                self.assertIn(("warning", "b", "a message without category"),
                              [(entry["level"], entry.get("unit"), entry["message"]) for entry in entries])
                self.assertEqual(len({entry["run"] for entry in entries}), 1)

    def test_failures(self):
        """Also those that the process does not survive: one line, which is JSON."""
        for fault in ("error", "crash", *(() if SANITIZED else ("exit",))):  # which sanitizers take for leaks
            for fabric in FABRICS:
                with self.subTest(fault=fault, fabric=fabric):
                    outcome = self.run_pair(*fabric, "--quiet", status=1, fault=f"{fault} DoStep 0.5 @b")
                    (entry,) = [entry for entry in self.entries(outcome.err) if entry["level"] == "error"]
                    self.assertIn("b", entry["message"])
                    self.assertNotIn("tutti:", entry["message"])

    def test_quiet(self):
        self.assertEqual(self.run_pair("--quiet").err, "")

    def test_names_are_escaped(self):
        name = 'odd "name"\\.fmu'
        os.symlink(DAHLQUIST, self.path(name))
        (entry,) = self.entries(self.tutti("run", name, "--log", "json", "--set", "nothing=1", status=2).err)
        self.assertEqual(entry["level"], "error")
        self.assertIn("nothing", entry["message"])

    def test_command_line(self):
        self.refused("run", DAHLQUIST, "--log", "xml", status=2, says="--log takes text or json, not 'xml'")
        self.refused("node", "--listen", "127.0.0.1:0", "--log", "", status=2, says="--log takes text or json")
        self.refused("run", DAHLQUIST, "--progress", "bar", status=2, says="--progress takes auto, lines or none, not 'bar'")


class Progress(LogTest):
    LONG = ("run", DAHLQUIST, "--stop", "1", "--step", "0.01", "--realtime", "1", "--record", "none")

    def test_tenths(self):
        for fabric in ((), ("--threads", "1"), ("--processes", "1")):
            with self.subTest(fabric=fabric):
                outcome = self.tutti(*self.LONG, *fabric, "--progress", "lines")
                tenths = [int(percent) for percent in re.findall(r"^tutti: progress: (\d+) %: t = ", outcome.err, re.M)]
                self.assertEqual(tenths, sorted(set(tenths)))  # a machine that is busy may skip some
                self.assertTrue(tenths, outcome.err)
                self.assertTrue(set(tenths) <= set(range(10, 100, 10)), tenths)
                self.assertRegex(outcome.err, r"0 %: t = \S+ of 1 after \d+ s, about \d+ s left")

    def test_json(self):
        *lines, last = self.entries(self.tutti(*self.LONG, "--log", "json", "--progress", "lines").err)
        self.assertEqual(last["status"], "completed")
        self.assertTrue(lines)
        for line in [line for line in lines if line["level"] == "info"]:  # points may have been late
            self.assertAlmostEqual(line["progress"], line["t"])
            self.assertGreaterEqual(line["remaining_seconds"], 0)

    def test_none(self):
        for options in (("--progress", "lines", "--quiet"), ("--progress", "none"), ()):
            with self.subTest(options=options):
                self.assertNotIn("%: t", self.tutti(*self.LONG, *options).err)


class Nodes(LogTest):
    def test_run(self):
        node = self.node("node", "--log", "json")
        entries = self.entries(self.tutti("run", DAHLQUIST, *self.on(node), "--log", "json").err)
        node.end()
        log = self.entries(node.text())
        self.assertEqual([entry["event"] for entry in log], ["listening", "begun", "over"])
        for entry in log[1:]:
            self.assertEqual((entry["run"], entry["number"], entry["peer"]), (entries[-1]["run"], 1, "127.0.0.1"))
        self.assertEqual(log[-1]["reason"], "completed")

    def test_users(self):
        own, key = self.keys("own.key")
        mine, _ = self.keys("mine.key")
        stranger, _ = self.keys("stranger.key")
        node = self.node("node", "--log", "json", "--key", own, "--allow", mine + ".pub")
        nodes = self.list("nodes.txt", f"{node.address} {key}")
        self.tutti("run", DAHLQUIST, "--nodes", nodes, "--key", mine, "--quiet")
        self.tutti("run", DAHLQUIST, "--nodes", nodes, "--key", stranger, "--quiet", status=1)
        node.end()
        log = self.entries(node.text())
        self.assertEqual(log[1]["user"], "mine.key.pub")
        refused = [entry for entry in log if entry["event"] == "refused"]
        self.assertEqual({(entry["level"], entry["peer"], entry["reason"]) for entry in refused},
                         {("warning", "127.0.0.1", "its key is not allowed")})

    def test_lost_and_refused(self):
        node = self.node("node", "--log", "json", "--max-ranks", "1", env={"KIT_FAULT": "crash DoStep 0.5"})
        self.tutti("run", kit_fmu("Faulty", "2"), *self.on(node), "--quiet", status=1)
        self.tutti("run", f"a={DAHLQUIST}", f"b={DAHLQUIST}", *self.on(node, node), "--quiet", status=1)
        node.end()
        log = {entry["event"]: entry for entry in self.entries(node.text())}
        self.assertIn(f"signal {int(signal.SIGSEGV)}", log["lost"]["reason"])
        self.assertEqual(log["over"]["reason"], "failed")
        self.assertIn("--max-ranks", log["refused"]["reason"])


if __name__ == "__main__":
    unittest.main()
