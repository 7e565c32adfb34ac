#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that mpiexec starts: the same bytes, one voice, and what is kept when a rank dies."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from command import FMUS, SANITIZED, TUTTI, CommandTest, kit_fmu

MPIEXEC = "mpiexec.mpich"
MODULE = "tutti_mpi.so"
EXAMPLES = FMUS.parent / "examples"
SYSTEMS = ("four_rooms", "lotka_volterra", "control_loop", "quarter_car", "load_flow", "breaker", "init_loop")
RANKS = (1, 2, 3, 16)
PAIR = (f"A={kit_fmu('Heater', '2')}", f"B={kit_fmu('Faulty', '2')}", "--step", "0.01", "--stop", "1")


def example(name):
    return str(EXAMPLES / name / f"{name}.ssp")


class Mpi(CommandTest):
    def start_ranks(self, ranks, *arguments, env=None, program=TUTTI):
        return self.spawn([MPIEXEC, "-n", ranks, program, *arguments], env, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ranks(self, ranks, *arguments, status=0, **more):
        """Runs to the end on so many ranks."""
        outcome = self.finish(self.start_ranks(ranks, *arguments, **more))
        self.assertEqual(outcome.status, status, f"{ranks} ranks, {arguments}: {outcome.err}")
        return outcome

    def bytes_of(self, name):
        return pathlib.Path(self.path(name)).read_bytes()

    # ---- results

    def test_results_are_those_of_a_plain_run(self):
        for name in SYSTEMS:
            self.tutti("run", example(name), "-o", "plain.csv", "--step-log", "plain-steps.csv", "--quiet")
            for ranks in RANKS:
                with self.subTest(system=name, ranks=ranks):
                    outcome = self.ranks(ranks, "run", example(name), "-o", "mpi.csv", "--step-log", "mpi-steps.csv",
                                         "--stats", "stats.json", "--quiet")
                    self.assertEqual((outcome.out, outcome.err), ("", ""))
                    self.assertEqual(self.bytes_of("mpi.csv"), self.bytes_of("plain.csv"))
                    self.assertEqual(self.bytes_of("mpi-steps.csv"), self.bytes_of("plain-steps.csv"))
                    stats = json.loads(self.bytes_of("stats.json"))
                    self.assertEqual((stats["fabric"], stats["ranks"]), ("mpi", ranks))
                    self.assertLess(max(unit["rank"] for unit in stats["units"]), ranks)

    def test_several_hosts(self):
        """Ranks are grouped by host for reductions. Hosts are made up: a name of its own for every two or three ranks."""
        named = ["unshare", "-u", "sh", "-c", 'hostname host$((PMI_RANK / $0)); exec "$@"']
        if subprocess.run([*named[:3], "-c", "hostname x"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no permission to name hosts (unshare -u)")
        self.tutti("run", example("control_loop"), "-o", "plain.csv", "--quiet")
        for ranks, each in ((2, 1), (5, 2), (6, 3)):
            with self.subTest(ranks=ranks, each=each):
                self.ranks(ranks, *named[1:], str(each), TUTTI, "run", example("control_loop"), "-o", "mpi.csv", "--quiet",
                           program=named[0])
                self.assertEqual(self.bytes_of("mpi.csv"), self.bytes_of("plain.csv"))

    def test_units_run_where_they_are_placed(self):
        self.ranks(3, "run", *PAIR, "--place", "A=2", "--place", "B=1", "--stats", "stats.json", "--quiet")
        stats = json.loads(self.bytes_of("stats.json"))
        self.assertEqual([unit["rank"] for unit in stats["units"]], [2, 1])

    def test_the_first_rank_alone_speaks(self):
        """Result, statistics, summary: once each, whatever the number of ranks."""
        plain = self.tutti("run", example("lotka_volterra"), "-o", "-", "--quiet").out
        self.assertEqual(self.ranks(3, "run", example("lotka_volterra"), "-o", "-", "--quiet").out, plain)
        outcome = self.ranks(3, "run", example("lotka_volterra"), "-o", "mpi.csv", "--stats", "-")
        self.assertEqual(json.loads(outcome.out)["ranks"], 3)
        self.assertEqual(len(re.findall(r"(?m)^result ", outcome.err)), 1, outcome.err)

    def test_sixteen_ranks_start(self):
        self.ranks(16, "run", example("four_rooms"), "--stop", "60", "--record", "none", "--quiet")

    # ---- what goes wrong

    def test_one_message_whatever_is_wrong(self):
        for arguments, status, says in (
                (("--no-such-option",), 2, "unknown option"),
                (("--set", "A.nothing=1"), 2, "no variable"),
                (("--threads", "2"), 2, "choose one"),
                (("--timeout", "1"), 2, "--timeout has no effect here"),
                (("--place", "A=7"), 2, "A=7"),
                (("-o", "missing/result.csv"), 1, "missing"),
                (("-o", "/dev/full"), 1, "/dev/full")):
            with self.subTest(arguments=arguments):
                outcome = self.ranks(3, "run", *PAIR, *arguments, "--quiet", status=status)
                message, = outcome.err.splitlines()
                self.assertIn(says, message)
        outcome = self.ranks(3, "run", "missing.fmu", status=1)
        self.assertEqual(outcome.err, "tutti: error: cannot read missing.fmu: No such file or directory\n")

    def test_an_error_of_a_unit_is_that_of_a_plain_run(self):
        fault = {"KIT_FAULT": "error DoStep 0.5"}
        plain = self.tutti("run", *PAIR, "-o", "plain.csv", "--quiet", status=1, env=fault)
        for place in (0, 1):
            with self.subTest(place=place):
                outcome = self.ranks(3, "run", *PAIR, "--place", f"B={place}", "--place", f"A={2 - place}", "-o",
                                     "mpi.csv", "--quiet", status=1, env=fault)
                self.assertEqual(outcome.err, plain.err)
                self.assertEqual(self.bytes_of("mpi.csv"), self.bytes_of("plain.csv"))

    def test_a_crash_keeps_what_was_computed(self):
        """mpiexec kills the others, with words and an exit status of its own; their temporary folders wait for a later
        run."""
        for place in (0, 1):
            with self.subTest(place=place):
                outcome = self.finish(self.start_ranks(
                    2, "run", *PAIR, "--place", f"B={place}", "--place", f"A={1 - place}", "--quiet",
                    env={"KIT_FAULT": "crash DoStep 0.5", "TMPDIR": str(self.folder)}))
                self.assertNotEqual(outcome.status, 0)
                message, = outcome.lines("error")
                self.assertIn("Faulty", message)
                self.assertEqual(self.result().times[-1], 0.5)
                self.assertEqual(len(self.result()), 51)

    def test_a_signal_ends_the_run_on_all_ranks(self):
        process = self.start_ranks(3, "run", *PAIR[:2], "--place", "A=0", "--place", "B=1", "--step", "1e-6", "--stop",
                                   "1000", "--quiet", env={"KIT_FAULT": "print DoStep 1e-4"})
        self.await_print(process)
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        message, = outcome.lines("error")
        self.assertIn("interrupted at t = ", message)
        self.assertEqual(outcome.err.count("ending at the next communication point"), 1)
        self.assertGreaterEqual(len(self.result()), 101)

    def test_tasks_of_srun_without_pmi(self):
        """Each would be a run of its own: the first says so."""
        for task, lines in (("0", 1), ("1", 0)):
            outcome = self.tutti("run", *PAIR, env={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": task})
            self.assertEqual(outcome.err.count("one of 2 tasks of srun"), lines, outcome.err)
        for tasks in ("1", "x", ""):
            outcome = self.tutti("run", *PAIR, env={"SLURM_STEP_NUM_TASKS": tasks, "SLURM_PROCID": "0"})
            self.assertNotIn("srun", outcome.err)

    def test_open_mpi(self):
        """Its mpiexec would start as many runs that do not know each other, all with one result file."""
        for rank, expected in (("0", 1), ("1", 0)):
            outcome = self.tutti("run", *PAIR, status=2, env={"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": rank})
            self.assertEqual(len(re.findall("mpiexec.mpich", outcome.err)), expected)
        self.assertFalse(os.path.exists(self.path("result.csv")))

    # ---- the module

    @unittest.skipIf(SANITIZED, "the sanitizers' library must come first, as it does in the command itself")
    def test_the_command_needs_no_mpi(self):
        needed = subprocess.run(["readelf", "-d", TUTTI], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("mpi", needed)

    def test_without_the_module(self):
        (self.folder / "bin").mkdir()
        alone = shutil.copy(TUTTI, self.folder / "bin" / "tutti")
        self.assertTrue(os.path.exists(pathlib.Path(TUTTI).parent / MODULE))
        outcome = self.finish(self.start_ranks(1, "run", *PAIR, program=alone))
        self.assertEqual(outcome.status, 1)
        message, = outcome.lines("error")
        self.assertRegex(message, f"{MODULE} .*libmpich-dev")

    def test_installed_module(self):
        for folder in ("bin", "lib/tutti"):
            (self.folder / folder).mkdir(parents=True)
        moved = shutil.copy(TUTTI, self.folder / "bin" / "tutti")
        libdir = re.search(rb"/\.\./([\w./-]*)/tutti\0", pathlib.Path(TUTTI).read_bytes())
        home = self.folder / libdir[1].decode() / "tutti"
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy(pathlib.Path(TUTTI).parent / MODULE, home / MODULE)
        self.ranks(2, "run", *PAIR, "--quiet", program=moved)
        self.assertEqual(len(self.result()), 101)


if __name__ == "__main__":
    unittest.main()
