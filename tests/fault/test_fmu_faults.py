#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An FMU that misbehaves in every way the kit's fault layer knows (kit/fault.h), in every version.

Whatever it does, the run ends or goes on as it should: the right exit status, one message that names instance, FMI
function, time and what the FMU said last, and all rows before the fault in the result."""
import ctypes
import os
import pathlib
import re
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import VERSIONS, CommandTest, kit_fmu  # noqa: E402

PREFIX = {"1cs": "fmi", "2": "fmi2", "3": "fmi3"}
INSTANTIATE = {"1cs": "InstantiateSlave", "2": "Instantiate", "3": "InstantiateCoSimulation"}
BEFORE = {  # calls before the first row, and whether there is a time yet
    "1cs": {"SetReal": False, "InitializeSlave": True, "GetReal": True},
    "2": {"SetReal": False, "SetupExperiment": True, "EnterInitializationMode": True, "ExitInitializationMode": True,
          "GetReal": True},
    "3": {"SetFloat64": False, "EnterInitializationMode": True, "ExitInitializationMode": True, "GetFloat64": True},
}
DURING = {"1cs": ("DoStep", "SetReal", "GetReal"), "2": ("DoStep", "SetReal", "GetReal"),
          "3": ("DoStep", "SetFloat64", "GetFloat64")}
TERMINATE = {"1cs": "TerminateSlave", "2": "Terminate", "3": "Terminate"}
GET = {"1cs": "GetReal", "2": "GetReal", "3": "GetFloat64"}
WORDS = {"error": "returned Error", "fatal": "returned Fatal"}
HALF = 0.5  # when faults happen, of runs from 0 to 1


class Faults(CommandTest):
    def setUp(self):
        super().setUp()
        self.trajectory = self.write("u.csv", "time,u\n0,1\n1,1\n")  # so that inputs are set at every step
        # After Fatal an FMU may not be called, not even to release its memory.
        self.leaks = f"suppressions={self.write('leaks.txt', 'leak:Faulty.so')}:print_suppressions=0"

    def arguments(self, version, *options):
        return ("run", kit_fmu("Faulty", version), "--step", "0.125", "--input", self.trajectory, *options)

    def environment(self, **extra):
        return super().environment(LSAN_OPTIONS=self.leaks, **extra)

    def misbehave(self, version, fault, *options, status=0):
        return self.tutti(*self.arguments(version, *options), env={"KIT_FAULT": fault}, status=status)

    def message(self, version, fault, *options):
        """The one message of a run that fails, besides what the FMU itself had to say."""
        pathlib.Path(self.path("result.csv")).unlink(missing_ok=True)
        outcome = self.tutti("run", kit_fmu("Faulty", version), "--step", "0.125", "--set", "u=1", *options,
                             env={"KIT_FAULT": fault}, status=1)
        own = re.compile(rf"tutti: (error|warning): Faulty_fmi{version}: ")
        message, = [line for line in outcome.err.splitlines() if line.strip() and not own.match(line)]
        self.assertRegex(message, rf"^tutti: error: .*Faulty_fmi{version} \(")
        self.assertNotIn("nan", message)
        return message

    def failing(self, version, fault, call, says, *options, time=None):
        """A run that fails in a call, and says so; returns the rows that it left."""
        message = self.message(version, fault, *options)
        for pattern in (rf"\b{PREFIX[version]}{call}\b", *says):
            self.assertRegex(message, pattern)
        if time is not None:
            self.assertRegex(message, rf"\bt = {time}\b")
        return self.rows()

    def rows(self):
        return self.result().times if os.path.exists(self.path("result.csv")) else []

    # ---- what ends a run

    def test_error_and_fatal_before_the_first_step(self):
        for version, calls in BEFORE.items():
            for call, has_time in calls.items():
                for kind, word in WORDS.items():
                    with self.subTest(version=version, call=call, kind=kind):
                        said = f"fault: {call} fails"  # the FMU's own message
                        rows = self.failing(version, f"{kind} {call}", call, [word, said],
                                            time=0 if has_time else None)
                        self.assertEqual(rows, [])

    def test_error_and_fatal_during_the_run(self):
        """Do-steps and sets fail with the row of their time written; a get fails before."""
        for version, calls in DURING.items():
            for call in calls:
                for kind, word in WORDS.items():
                    with self.subTest(version=version, call=call, kind=kind):
                        said = f"fault: {call} fails"
                        rows = self.failing(version, f"{kind} {call} {HALF}", call, [word, said], "--input",
                                            self.trajectory, time=HALF)
                        self.assertEqual(rows, [n * 0.125 for n in range(4 if call.startswith("Get") else 5)])

    def test_error_and_fatal_at_the_end(self):
        """All rows are there, but the FMU did not end well, and scripts should know."""
        for version, call in TERMINATE.items():
            for kind, word in WORDS.items():
                with self.subTest(version=version, kind=kind):
                    rows = self.failing(version, f"{kind} {call}", call, [word, f"fault: {call} fails"], time=1)
                    self.assertEqual(len(rows), 9)

    def test_discard_of_what_cannot_be_discarded(self):
        for version, calls in BEFORE.items():
            for call, has_time in calls.items():
                with self.subTest(version=version, call=call):
                    self.failing(version, f"discard {call}", call, ["returned Discard"],
                                 time=0 if has_time else None)

    def test_instantiation_that_fails(self):
        for version in VERSIONS:
            for kind in ("null", "error", "fatal"):
                with self.subTest(version=version, kind=kind):
                    outcome = self.misbehave(version, f"{kind} Instantiate", status=1)
                    message = outcome.lines("error")[-1]
                    self.assertRegex(message, rf"{PREFIX[version]}{INSTANTIATE[version]} returned NULL")
                    self.assertIn(f"Faulty_fmi{version}", message)
                    self.assertIn("a fault was asked for", message)
                    self.assertNotIn("nan", message)
                    self.assertEqual(self.rows(), [])

    def test_crash(self):
        for version in VERSIONS:
            calls = [(INSTANTIATE[version], "Instantiate", 0), *((c, f"{c} {HALF}", 5) for c in DURING[version][:2]),
                     (GET[version], f"{GET[version]} {HALF}", 4), (TERMINATE[version], TERMINATE[version], 9)]
            for call, where, rows in calls:
                with self.subTest(version=version, call=call):
                    found = self.failing(version, f"crash {where}", call, ["crash", "SIGSEGV"], "--input",
                                         self.trajectory)
                    self.assertEqual(len(found), rows)

    def test_crash_when_it_is_freed(self):
        """The run is over by then: its result is whole and said to be so, whatever it runs on. A warning tells."""
        for version in (*VERSIONS, "1me"):
            for fabric in ((), ("--threads", "1"), ("--processes", "1")):
                with self.subTest(version=version, fabric=fabric):
                    options = ("--stats", "stats.json", *fabric)
                    self.misbehave(version, "", *options)
                    plain = self.result().rows
                    os.remove(self.path("stats.json"))
                    outcome = self.misbehave(version, "crash FreeInstance", *options)
                    warning, = outcome.lines("warning")
                    self.assertRegex(warning, r"crash.*\bfmi\d?Free\w*Instance\b")
                    self.assertIn("when its work was done", warning)
                    self.assertEqual(self.result().rows, plain)
                    self.assertTrue(os.path.exists(self.path("stats.json")))
                    self.assertIn("took ", outcome.err)
        self.assertRegex(self.misbehave("2", "error DoStep 0.5; crash FreeInstance", status=1).lines("error")[-1],
                         "fmi2DoStep returned Error")

    def test_discarded_step(self):
        """FMI 3.0 stands where it stood and is asked for less; 1.0 and 2.0 say how far they came, and that is it."""
        table = self.misbehave("3", "discard DoStep 0.55") and self.result()
        self.assertEqual(table.times[-1], 1)
        self.assertLessEqual({n * 0.125 for n in range(9)}, set(table.times))
        for version in ("1cs", "2"):
            message = self.message(version, "discard DoStep 0.55")
            self.assertRegex(message, r"discarded the step from t = 0\.5 to 0\.625; it came as far as 0\.55")
            self.assertEqual(self.rows(), [0, 0.125, 0.25, 0.375, 0.5])

    def test_step_that_is_always_discarded(self):
        for version in VERSIONS:
            self.assertRegex(self.message(version, "discard DoStep"), r"discard.* t = 0\b")
            self.assertEqual(self.rows(), [0])

    # ---- what does not

    def test_warnings(self):
        """One line for the first, one with their number; the result is what it would be without."""
        for version in VERSIONS:
            self.tutti(*self.arguments(version))
            expected = self.result().rows
            for call in (*BEFORE[version], *DURING[version], TERMINATE[version]):
                with self.subTest(version=version, call=call):
                    outcome = self.misbehave(version, f"warning {call}", "--set", "u=1")
                    self.assertEqual(outcome.lines("error"), [])
                    said = [line for line in outcome.lines("warning") if "returned Warning" in line and "times" not in line]
                    self.assertEqual(len(said), 1)
                    self.assertIn(f"{PREFIX[version]}{call}", said[0])
                    self.assertNotIn("nan", said[0])
                    self.assertLessEqual(len(outcome.lines("warning")), 3)
                    self.assertEqual(self.result().rows, expected)

    def test_early_return(self):
        self.misbehave("3", "early DoStep 0.3")
        self.assertEqual(self.rows(), sorted([n * 0.125 for n in range(9)] + [0.3]))
        self.misbehave("3", "early DoStep 0.3", "--output-step", "0.25")
        self.assertEqual(self.rows(), [0, 0.25, 0.5, 0.75, 1])
        self.misbehave("3", "early DoStep")  # at every step, half way
        self.assertEqual(self.rows()[-1], 1)
        self.assertLessEqual({n * 0.125 for n in range(9)}, set(self.rows()))

    def test_not_a_number(self):
        for version in VERSIONS:
            outcome = self.misbehave(version, f"nan {GET[version]} {HALF}+", status=1)
            self.assertEqual(len(outcome.lines("warning")), 1)
            self.assertRegex(outcome.err, rf"Faulty_fmi{version}: 'y' is not a number \(NaN\) at t = 0\.5")
            self.assertEqual([text.lower() for text in self.result().texts("y")[4:]], ["nan"] * 5)

    def test_flood_of_messages(self):
        for version in VERSIONS:
            for level, most in (("warning", 20), ("info", 1000)):
                outcome = self.misbehave(version, "flood DoStep", "--log-level", level)
                self.assertLess(len(outcome.err.splitlines()), most)
                self.assertEqual(len(self.rows()), 9)

    def test_messages_that_are_none(self):
        """NULL, no category, broken UTF-8, control characters, a megabyte: shown as harmless text, once."""
        for version in VERSIONS:
            outcome = self.misbehave(version, "badlog DoStep")
            outcome.err.encode("utf-8")  # what is no UTF-8 would have become a surrogate
            self.assertTrue(outcome.err.replace("\n", "").isprintable())
            self.assertLess(len(outcome.err), 20000)
            self.assertEqual(len([line for line in outcome.lines("warning") if "broken UTF-8" in line]), 1)
            self.assertEqual(len(self.rows()), 9)

    def test_fmu_that_prints(self):
        for version in VERSIONS:
            outcome = self.misbehave(version, "print DoStep")
            self.assertEqual(outcome.err.count("fault: DoStep prints"), 8)
            self.assertEqual(outcome.out, "")
            self.assertEqual(len(self.rows()), 9)

    # ---- an FMU that never comes back

    def hang(self, version, call, *signals):
        """Starts a run that hangs in a call; sends the signals, each after the command has answered the last one."""
        process = self.start(*self.arguments(version), env={"KIT_FAULT": f"print {call} {HALF}; hang {call} {HALF}"})
        self.await_print(process)
        for number in signals[:-1]:
            self.interrupt(process, number)
        process.send_signal(signals[-1])
        return self.finish(process)

    def test_hanging_fmu_is_left_by_the_second_signal(self):
        for version in VERSIONS:
            for first, second in ((signal.SIGINT, signal.SIGINT), (signal.SIGINT, signal.SIGTERM),
                                  (signal.SIGTERM, signal.SIGTERM), (signal.SIGHUP, signal.SIGINT)):
                with self.subTest(version=version, first=first, second=second):
                    outcome = self.hang(version, "DoStep", first, second)
                    self.assertEqual(outcome.status, 128 + second)
                    self.assertRegex(outcome.err, rf"(?m)^tutti: error: .*Faulty_fmi{version} .*"
                                                  rf"{PREFIX[version]}DoStep at t = 0\.5; .*kept")
                    self.assertEqual(self.rows(), [0, 0.125, 0.25, 0.375, 0.5])

    def test_signals_that_come_to_a_thread_of_the_fmu(self):
        """The kernel may choose it, and does where the first thread is still at work with the first signal."""
        for version in VERSIONS:
            process = self.start(*self.arguments(version), env={"KIT_FAULT": f"thread DoStep {HALF}; print DoStep {HALF};"
                                                                             f"hang DoStep {HALF}"})
            self.await_print(process)
            pid = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()[0])  # where the FMU is
            threads = set()
            while not threads - {pid}:  # it may still be starting
                threads = {int(task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                           if re.search(r"SigBlk:\s0+\n", (task / "status").read_text("ascii"))}
            tgkill = ctypes.CDLL(None).tgkill
            for _ in range(2):
                tgkill(pid, max(threads - {pid}), signal.SIGTERM)
                line = process.stderr.readline()
                while b"at once" not in line:
                    self.assertTrue(line, "it has ended")
                    line = process.stderr.readline()
            outcome = self.finish(process)
            self.assertEqual(outcome.status, 128 + signal.SIGTERM)
            self.assertRegex(line.decode(), rf"^tutti: error: stopped at once; was in .*{PREFIX[version]}DoStep at t = 0\.5; ")

    def test_hanging_in_other_calls(self):
        for version in VERSIONS:
            for call, rows in ((GET[version], 4), (DURING[version][1], 5)):
                outcome = self.hang(version, call, signal.SIGINT, signal.SIGINT)
                self.assertEqual(outcome.status, 130)
                self.assertIn(f"{PREFIX[version]}{call}", outcome.err)
                self.assertEqual(len(self.rows()), rows)


if __name__ == "__main__":
    unittest.main()
