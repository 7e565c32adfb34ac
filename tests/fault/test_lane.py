#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plain steps go by the fast lane (src/sim/fast.h); with --stats-exact every do-step is measured, and goes without it. Whatever FMUs
do, both say and compute the same: exit status, messages, result, counts."""
import json
import pathlib
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import VERSIONS, CommandTest, in_turn, kit_fmu  # noqa: E402

CALLS = {"1cs": ("SetReal", "DoStep", "GetReal"), "2": ("SetReal", "DoStep", "GetReal"),
         "3": ("SetFloat64", "DoStep", "GetFloat64")}
KINDS = ("warning", "error", "fatal", "slip", "discard")
NOTHING = ("--record", "none")  # many steps are made at once
COUNTS = ("do_steps", "accepted", "rejected", "auxiliary", "gets", "sets")
CHAINS = {"jacobi": ("1cs", "2", "3"), "seidel": ("3", "2", "1cs")}


def plain(coupling):
    return ("--coupling", coupling, "--control", "fixed", "--extrapolate", "0", "--events", "none")


class Lane(CommandTest):
    def setUp(self):
        super().setUp()
        # After Fatal an FMU may not be called, not even to release its memory.
        self.leaks = f"suppressions={self.write('leaks.txt', 'leak:Faulty.so')}:print_suppressions=0"

    def environment(self, **extra):
        return super().environment(LSAN_OPTIONS=self.leaks, **extra)

    def run_once(self, fault, *arguments):
        """Exit status, messages, result, counts of calls."""
        result, stats = (pathlib.Path(self.path(name)) for name in ("result.csv", "stats.json"))
        for file in (result, stats):
            file.unlink(missing_ok=True)
        outcome = self.finish(self.start("run", *arguments, "--stop", "0.25", "--step", "0.001", "--stats", "stats.json",
                                         env={"KIT_FAULT": fault}))
        said = [line for line in outcome.err.splitlines() if line.startswith("tutti: ")]  # the summary has times
        counts = stats.exists() and [{key: unit[key] for key in COUNTS} for unit in json.loads(stats.read_text())["units"]]
        return outcome.status, said, result.exists() and result.read_text(), counts

    def same(self, fault, *arguments, records=((), NOTHING)):
        """Returns the exit status."""
        for record in records:
            with self.subTest(fault=fault, arguments=arguments, record=record):
                by_lane = self.run_once(fault, *arguments, *record)
                without = self.run_once(fault, *arguments, *record, "--stats-exact")
                self.assertEqual(by_lane, without)
        return by_lane[0]

    def units(self, coupling, *options):
        """A ring of all versions."""
        names = "abc"
        fmus = [f"{name}={kit_fmu('Faulty', version)}" for name, version in zip(names, CHAINS[coupling])]
        connect = [word for i, name in enumerate(names) for word in ("--connect", f"{name}.y={names[(i + 1) % 3]}.u")]
        return (*fmus, *connect, *plain(coupling), *options)

    def test_faults_in_a_system(self):
        for version in VERSIONS:
            for coupling, call, kind in in_turn(CHAINS, CALLS[version], KINDS):
                name = "abc"[CHAINS[coupling].index(version)]
                self.same(f"{kind} {call} 0.1 @{name}", *self.units(coupling), records=(NOTHING,))

    def test_faults_of_one_fmu(self):
        for version in VERSIONS:
            for record, kind in in_turn(((), NOTHING), (*KINDS, "early", "flood", "badlog")):
                self.same(f"{kind} DoStep 0.1005", kit_fmu("Faulty", version), records=(record,))

    def test_faults_again_and_again(self):
        for coupling in CHAINS:
            self.same("warning DoStep 0.1+ @b; slip DoStep 0.2+ @a; warning GetFloat64 0.05+", *self.units(coupling))
            self.same("early DoStep 0.1+", *self.units(coupling))
            self.same("discard GetFloat64|GetReal 0.1 @b", *self.units(coupling))

    def test_it_goes_well(self):
        for coupling in CHAINS:
            self.assertEqual(self.same("", *self.units(coupling)), 0)
            self.assertEqual(self.same("", *self.units(coupling, "--step=0.0007")), 0)
            self.assertEqual(self.same("", *self.units(coupling, "--threads", "2")), 0)
        self.assertEqual(self.same("", kit_fmu("Dahlquist", "3")), 0)

    def test_crashes_and_hangs(self):
        """The message names the unit, the function and the time."""
        for version in VERSIONS:
            for call in CALLS[version]:
                said = []
                for exact in ((), ("--stats-exact",)):
                    fmus = (f"a={kit_fmu('Faulty', version)}", f"b={kit_fmu('Faulty', version)}")
                    outcome = self.tutti("run", *fmus, "--connect", "a.y=b.u", "--connect", "b.y=a.u", *plain("jacobi"),
                                         "--stop", "0.25", "--step", "0.001", "--record", "none", *exact, status=None,
                                         env={"KIT_FAULT": f"crash {call} 0.1 @b"})
                    said.append((outcome.status, outcome.err))
                self.assertEqual(*said)
                self.assertRegex(outcome.err, rf"instance b \(.*{call} at t = ")

    def test_an_interrupt_between_steps(self):
        """Also where many are made at once."""
        process = self.start("run", kit_fmu("Faulty", "2"), "--stop", "1", "--step", "1e-9", "--record", "none",
                             env={"KIT_FAULT": "print DoStep 1e-5"})
        self.await_print(process)
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 130)
        self.assertRegex(outcome.err, "interrupted at t = ")


if __name__ == "__main__":
    unittest.main()
