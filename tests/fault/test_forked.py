#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that are taken back by forking (--rollback): what cannot come back is refused; FMUs that crash, hang or leave are told of as ever;
and however a run ends, none of its processes is left."""
import os
import pathlib
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import kit_fmu, wait_until  # noqa: E402
from systems import CoupledTest, connect  # noqa: E402

FAULTY = kit_fmu("Faulty", "2")
PAIR = (f"a={FAULTY}", f"b={FAULTY}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=2", "--step", "0.125")
RELAX, FORK = ("--coupling", "relax"), ("--rollback", "fork")
TIMES = [0, 0.125, 0.25, 0.375, 0.5]  # what is recorded when the step from 0.5 on does not end
MARK = "KIT_MARK"  # in the environment of a run, and so of every process that it starts


def marked(mark):
    """Processes with this mark, by number: their names."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found[int(process.name)] = (process / "comm").read_text("utf-8", "replace").strip()
        except OSError:
            pass  # it is gone, or another user's
    return found


class ForkedTest(CoupledTest):
    def environment(self, **extra):
        return super().environment(**{MARK: self.id(), **extra})

    def tearDown(self):
        wait_until(lambda: not marked(self.id()))
        super().tearDown()

    def failing(self, fault, *options, status=1, arguments=PAIR):
        outcome = self.tutti("run", *arguments, "--stop", "1", *RELAX, *FORK, *options, "-o", "result.csv", "--quiet",
                             status=status, env={"KIT_FAULT": fault})
        return outcome.err


class Refused(ForkedTest):
    """What a process has besides its memory."""

    WORDS = {"thread": "it has 2 threads", "socket": r"it has an open socket \(socket:", "write": "it has a file open for writing",
             "share": "it shares memory with others", "helper": "it has started another process",
             "daemon": "it has started another process"}

    def test_from_the_start(self):
        """With a sentence that says which unit, and what."""
        for fault, words in self.WORDS.items():
            with self.subTest(fault=fault):
                self.assertRegex(self.failing(f"{fault} Instantiate @b"),
                                 rf"tutti: error: b \(.*Faulty_fmi2.fmu\): the FMU cannot be taken back by forking .*: {words}")

    def test_later(self):
        """At the first point; and in the middle of a run, as far as it costs little to see."""
        for fault, words in self.WORDS.items():
            with self.subTest(fault=fault):
                self.assertRegex(self.failing(f"{fault} ExitInitializationMode @b"),
                                 rf"tutti: error: b \(.*\): the FMU cannot be taken back by forking .* at t = 0 .*: {words}")
                if fault == "share":
                    continue
                self.assertRegex(self.failing(f"{fault} DoStep 0.55 @b"),
                                 rf"tutti: error: b \(.*\): the FMU cannot be taken back by forking .* at t = 0\.\d+ .*: {words}")
                self.assertEqual(self.result().times[:5], TIMES)

    def test_unless_it_was_not_asked_for(self):
        """A unit that cannot go back is treated as such then, with a word about it."""
        lacking = self.altered(FAULTY, (' canGetAndSetFMUstate="true"', ""), (' canGetAndSetFMUstate="true"', ""))
        units = f"a={FAULTY}", f"b={lacking}", *connect("a.y=b.u", "b.y=a.u"), "--stop", "1", "--interface", "cs"
        for call in ("Instantiate", "ExitInitializationMode"):
            with self.subTest(call=call):
                env = {"KIT_FAULT": f"socket {call} @b"}
                outcome = self.tutti("run", *units, "--rtol", "1e-3", "-o", "result.csv", "--stats", "stats.json", env=env)
                self.assertRegex(outcome.err, r"warning: b \(.*cannot be taken back by forking .*: it has an open socket .*; it is "
                                              "treated as one that cannot go back")
                self.assertRegex(outcome.err, "warning: --rtol does not control the error")
                self.assertEqual([unit["forked"] for unit in self.stats()["units"]], [False, False])
                outcome = self.tutti("run", *units, *RELAX, "-o", "result.csv", "--quiet", env=env, status=1)
                self.assertRegex(outcome.err, r"--coupling relax takes units back, and 'b' \(.*\) cannot")


class Ends(ForkedTest):
    def test_a_crash(self):
        """Which unit, in which call, when; the rows up to there are kept."""
        for fault, words in (("crash", r"was ended by signal 11 \(Segmentation fault"),
                             ("exit", r"ended by itself with status \d+: an FMU must not call exit"),
                             ("vanish", r"ended by itself with status \d+: an FMU must not call exit")):
            with self.subTest(fault=fault):
                error = self.failing(f"{fault} DoStep 0.55 @b")
                self.assertRegex(error, r"tutti: error: b \(.*Faulty_fmi2.fmu\): the process of the FMU, which was in fmi2DoStep "
                                        rf"at t = 0\.5, {words}")
                self.assertEqual(self.result().times, TIMES)

    def test_at_the_start(self):
        for call, name in (("Instantiate", "fmi2Instantiate"), ("EnterInitializationMode", "fmi2EnterInitializationMode"),
                           ("GetReal", "fmi2GetReal")):
            self.assertRegex(self.failing(f"crash {call} @b"), rf"tutti: error: b .* was in {name}.* was ended by signal 11")

    def test_at_the_end(self):
        """All rows are there; a crash in the last call of all is none of the result's business."""
        self.assertRegex(self.failing("crash Terminate @b"), "b .*was in fmi2Terminate at t = 1")
        self.assertEqual(self.result().times[-1], 1)
        outcome = self.tutti("run", *PAIR, "--stop", "1", *RELAX, *FORK, "-o", "result.csv", env={"KIT_FAULT": "crash FreeInstance @b"})
        self.assertRegex(outcome.err, "warning: b: .*the FMU crashed in fmi2FreeInstance, when its work was done")

    def test_a_status(self):
        self.assertRegex(self.failing("error DoStep 0.55 @b"), r"b .*fmi2DoStep returned Error at t = 0\.5\. The FMU's last messages")
        self.assertRegex(self.failing("fatal DoStep 0.55 @b"), r"b .*fmi2DoStep returned Fatal at t = 0\.5")

    def test_a_hang(self):
        error = self.failing("hang DoStep 0.55 @b", "--processes", "2", "--timeout", "2")
        self.assertRegex(error, r"\(unit 'b', .*, t = 0\.5\) has given no sign of life for 2 s")
        self.assertEqual(self.result().times, TIMES)


class Wayout(ForkedTest):
    """FMUs that crash or fail where they are to save their state: forking does without that."""

    def test_own_states_that_fail(self):
        options = "--stop", "1", *RELAX, "-o", "result.csv", "--quiet"
        plain = self.run_(*PAIR, "--stop", "1", *RELAX)
        for call in ("GetFMUstate", "SetFMUstate"):
            env = {"KIT_FAULT": f"crash {call} @b"}
            outcome = self.tutti("run", *PAIR, *options, env=env, status=1)
            self.assertRegex(outcome.err, rf"instance b .* in fmi2{call} \(--rollback fork does without\) at t = 0")
            self.tutti("run", *PAIR, *options, *FORK, env=env)
            self.assertEqual(self.result().rows, plain.rows)
            outcome = self.tutti("run", *PAIR, *options, env={"KIT_FAULT": f"error {call} @b"}, status=0)
            self.assertEqual(self.result().rows, plain.rows)  # forked by itself


class Left(ForkedTest):
    """tearDown looks for processes that are left."""

    def under_way(self, *options, fault="print DoStep 0.55 @b; hang DoStep 0.55 @b"):
        process = self.start("run", *PAIR, "--stop", "1", *RELAX, *FORK, *options, "-o", "result.csv", "--quiet",
                             env={"KIT_FAULT": fault})
        self.await_print(process)
        self.assertGreaterEqual(list(marked(self.id()).values()).count("tutti_keeper"), 4)  # two keepers, and holders
        return process

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.under_way()
            process.send_signal(number)
            while b"once more: at once" not in (line := process.stderr.readline()):
                self.assertTrue(line, "it has ended")
            process.send_signal(number)
            self.finish(process)
            wait_until(lambda: not marked(self.id()))

    def test_killed(self):
        """Whichever of its processes it hits."""
        for options in ((), ("--threads", "2"), ("--processes", "2")):
            with self.subTest(options=options):
                process = self.under_way(*options)
                for pid, name in marked(self.id()).items():
                    if name == "tutti":
                        os.kill(pid, signal.SIGKILL)
                process.communicate()
                wait_until(lambda: not marked(self.id()))

    def test_the_keeper_is_killed(self):
        """Its holders end with it, and the run is told."""
        process = self.under_way()
        parents = {pid: int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                   for pid, name in marked(self.id()).items() if name == "tutti_keeper"}
        for pid in (pid for pid, parent in parents.items() if parent not in parents):
            os.kill(pid, signal.SIGKILL)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1)
        self.assertRegex(outcome.err, "b .*the process of the FMU, which was in fmi2DoStep at t = 0.5, was ended by signal 9")

    def test_what_an_fmu_started(self):
        """It ends with the run, as ever."""
        for fault in ("helper", "daemon"):
            self.failing(f"{fault} DoStep 0.55 @b")
            wait_until(lambda: not marked(self.id()))


if __name__ == "__main__":
    unittest.main()
