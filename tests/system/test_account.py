#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the file of --stats tells of a run besides numbers: how it ended, where, when, with which versions and files."""
import datetime
import hashlib
import json
import os
import pathlib
import platform
import shutil
import signal
import unittest

from command import CommandTest, kit_fmu, wait_until

FABRICS = ((), ("--threads", "2"), ("--processes", "2"))


class AccountTest(CommandTest):
    def account(self, name="stats.json"):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def digest(self, name):
        return hashlib.sha256(pathlib.Path(self.path(name)).read_bytes()).hexdigest()

    def files(self, account):
        return {(file["role"], file["file"]): (file["size"], file["sha256"]) for file in account["files"]}

    def pair(self):
        return (f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('Faulty', '2')}", "--connect", "a.y=b.u", "--step", "0.1", "--stop",
                "1", "--stats", "stats.json", "--quiet")


class Completed(AccountTest):
    def test_where_and_when(self):
        before = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                self.tutti("run", *self.pair(), *fabric)
                account = self.account()
                self.assertEqual((account["status"], account["error"]), ("completed", None))
                self.assertEqual(account["host"], platform.node())
                date = datetime.datetime.strptime(account["date"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
                self.assertLessEqual(before, date)
                self.assertLessEqual(date, datetime.datetime.now(datetime.timezone.utc))
                self.assertEqual(account["versions"]["tutti"], account["version"])
                self.assertRegex(account["versions"]["sundials"], r"^\d+\.\d+")
                self.assertRegex(account["versions"]["zeromq"], r"^\d+\.\d+\.\d+$")
                self.assertIn(platform.machine(), account["versions"]["system"])

    def test_files(self):
        """Those that were named, those that a package holds, inputs, and what was written."""
        shutil.copy(kit_fmu("Tracker", "2"), self.path("a.fmu"))
        self.write("in.csv", "time,a.u\n0,0\n1,1\n")
        self.write("r.csv", "older")
        os.utime(self.path("r.csv"), (0, 0))
        self.tutti("run", "a.fmu", "b=a.fmu", "--input", "in.csv", "--step-log", "steps.csv", "-o", "r.csv", "--stats", "stats.json",
                   "--quiet")
        files = self.files(self.account())
        expected = {("fmu", "a.fmu"): "a.fmu", ("input", "in.csv"): "in.csv", ("result", "r.csv"): "r.csv",
                    ("step-log", "steps.csv"): "steps.csv"}
        self.assertEqual(files, {key: (os.path.getsize(self.path(name)), self.digest(name)) for key, name in expected.items()})

        self.tutti("new", "pair.ssp", "a=a.fmu")
        self.tutti("run", "pair.ssp", "--record", "none", "--stats", "stats.json", "--quiet")
        files = self.files(self.account())
        self.assertEqual(files[("system", "pair.ssp")][1], self.digest("pair.ssp"))
        self.assertEqual(files[("fmu", "pair.ssp/resources/a.fmu")][1], self.digest("a.fmu"))
        self.assertEqual(len(files), 2)


class Failed(AccountTest):
    def test_fmu_that_fails(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                outcome = self.tutti("run", *self.pair(), *fabric, status=1, env={"KIT_FAULT": "error DoStep 0.5 @b"})
                account = self.account()
                self.assertEqual(account["status"], "failed")
                self.assertIn(account["error"], outcome.err)
                self.assertEqual(account["steps"], 5)
                self.assertIn(("result", "result.csv"), self.files(account))

    def test_fmu_that_ends_the_process(self):
        for fault, says in (("crash", "SIGSEGV|signal 11"), ("exit", r"exit")):
            for fabric in FABRICS:
                with self.subTest(fault=fault, fabric=fabric):
                    outcome = self.tutti("run", *self.pair(), *fabric, status=1, env={"KIT_FAULT": f"{fault} DoStep 0.5 @b"})
                    account = self.account()
                    self.assertEqual(account["status"], "failed", account)
                    self.assertRegex(account["error"], says)
                    self.assertIn(account["error"], outcome.err)
                    self.assertEqual(self.files(account)[("result", "result.csv")][1], self.digest("result.csv"))
                    os.remove(self.path("stats.json"))

    def test_system_that_cannot_be_loaded(self):
        self.write("broken.fmu", "no archive")
        self.tutti("run", "broken.fmu", "--stats", "stats.json", status=1)
        account = self.account()
        self.assertEqual(account["status"], "failed")
        self.assertIn("broken.fmu", account["error"])
        self.assertEqual(self.files(account), {("named", "broken.fmu"): (10, self.digest("broken.fmu"))})
        self.assertNotIn("steps", account)

    def test_wrong_command_line_is_no_run(self):
        self.refused("run", kit_fmu("Tracker", "2"), "--timeout", "0", "--stats", "stats.json", status=2, says="--timeout")
        self.assertFalse(os.path.exists(self.path("stats.json")))

    def test_interrupted(self):
        process = self.start("run", kit_fmu("Dahlquist", "2"), "--stop", "1000", "--realtime", "1", "--step", "0.01", "--stats",
                             "stats.json", "-o", "r.csv", "--quiet")
        self.assertTrue(wait_until(lambda: os.path.exists(self.path("r.csv")) and os.path.getsize(self.path("r.csv")) > 100))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).status, 128 + signal.SIGTERM)
        self.assertEqual(self.account()["status"], "interrupted")


class OtherFiles(AccountTest):
    def test_nothing_else_is_overwritten(self):
        for text in ("time,u\n", "<?xml version='1.0'?>"):
            self.write("precious", text)
            self.refused("run", kit_fmu("Tracker", "2"), "--stats", "precious", status=2, says="--stats 'precious' is there")
            self.assertEqual(pathlib.Path(self.path("precious")).read_text(encoding="utf-8"), text)
        for text in ("", "{}", " \n{\"version\": "):
            self.write("stats.json", text)
            self.tutti("run", kit_fmu("Tracker", "2"), "--stats", "stats.json", "--quiet")
            self.assertEqual(self.account()["status"], "completed")


if __name__ == "__main__":
    unittest.main()
