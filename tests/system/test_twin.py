#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Second instances of units that make whole steps while the first ones make halves (--twin): the bytes and the log of the plain run, on
every fabric, with every master that makes steps in both ways."""
import pathlib
import re
import unittest

from command import THREAD_SANITIZED, kit_fmu
from fabrics import RESULT, FabricTest, first_difference, has_mpi, mpi, processes, threads
from ranks import Fabric
from test_fabrics import example
from test_fabrics_masters import SYSTEMS, masters

COUNTS = ("coupling", "control", "start", "stop", "steps", "rejected", "events_located", "not_converged", "forced")
DOUBLES = ("richardson", "slope")
TWIN = Fabric("threads", 2, ("--twin",))
LAG = kit_fmu("Worker", "2")
PAIR = (f"a={LAG}", f"b={LAG}", "--connect", "a.y=b.u", "--connect", "b.y*-3=a.u", "--set", "a.work=0", "--set", "b.work=0", "--stop", "2",
        "--coupling", "jacobi", "--control", "richardson", "--rtol", "1e-3")


def twins(fabric):
    return Fabric(fabric.name, fabric.ranks, (*fabric.options, "--twin"), fabric.launcher)


class Twins(FabricTest):
    def alike(self, *run, fabrics):
        """Returns both runs, the second on the last of the fabrics."""
        plain = other = self.ran(*run, log=True)
        for fabric in fabrics:
            with self.subTest(fabric=str(fabric), run=run):
                other = self.ran(*run, fabric=fabric, log=True)
                self.assertEqual((other.status, other.err), (plain.status, plain.err))
                for name, content in plain.files.items():
                    self.assertTrue(other.files[name] == content, f"{name}: {first_difference(content, other.files[name])}")
                if plain.stats:
                    self.assertEqual(*({key: run.stats[key] for key in COUNTS} for run in (other, plain)))
        return plain, other

    def test_every_master(self):
        """Those that are refused, are refused alike."""
        good = total = 0
        for n, master in enumerate(master for master in masters() if master[master.index("--control") + 1] in DOUBLES):
            fabrics = (TWIN, twins(processes(4)), twins(threads(4)), twins(processes(2)))
            plain, _ = self.alike(*SYSTEMS[n % len(SYSTEMS)], *master, fabrics=(fabrics[n % 4],))
            total += 1
            good += plain.status == 0
        self.assertGreater(good, 0.7 * total, "too many are refused")

    def test_every_fabric(self):
        fabrics = [TWIN, *map(twins, (threads(2), threads(4), processes(2), processes(4), self.tcp()))]
        fabrics += map(twins, (mpi(2), mpi(4))) if has_mpi() else []
        plain, other = self.alike(example("quarter_car"), "--control", "richardson", "--rtol", "1e-3", fabrics=fabrics)
        units = [[unit[key] for unit in run.stats["units"] for key in ("do_steps", "auxiliary", "accepted")] for run in (plain, other)]
        self.assertEqual(*units)  # where no event is met
        self.assertEqual(other.stats["units"][0]["auxiliary"], plain.stats["steps"] + plain.stats["rejected"])

    def test_model_exchange(self):
        """With what solvers remember; what they count is counted for both instances."""
        for solver in ("bdf", "radau5", "rk4"):
            run = (example("quarter_car"), "--interface", "me", "--solver", solver, "--control", "richardson", "--rtol", "1e-3", "--stop", "0.2")
            plain, other = self.alike(*run, fabrics=(TWIN, twins(processes(2))))
            steps, evaluations = ([sum(unit[key] for unit in run.stats["units"]) for run in (plain, other)]
                                  for key in ("solver_steps", "rhs_evaluations"))
            self.assertEqual(*steps)
            self.assertTrue(1 <= evaluations[1] / evaluations[0] < 1.2, evaluations)  # one more where an order is taken

    def test_constraints_and_lines(self):
        chain = [f"{name}={kit_fmu('ChainMass', '2')}" for name in "ab"]
        joined = ("--constrain", "a.x=b.x; a.v=b.v; a.F_right,b.F_right", "--set", "a.v=1", "--set", "b.v=1", "--set", "b.k=20")
        line = ("--tlm", "a.F_right,a.v=b.F_right,b.v; delay=0.05; impedance=2", "--set", "a.v=1")
        for how in (joined, line):
            plain, _ = self.alike(*chain, *how, "--control", "richardson", "--rtol", "1e-3", "--stop", "1", "--h-max", "0.05",
                                  fabrics=(TWIN, twins(threads(4))))
            self.assertEqual(plain.status, 0, plain.err)

    def test_tables_and_events(self):
        """Where a table is, goes along; whole steps that meet an event do not count."""
        table = self.write("drive.csv", "time,a.u\n0,0\n0.1,0.5\n0.35,0.2\n0.35,1\n1,0\n")
        faulty = kit_fmu("Faulty", "3")
        plain, _ = self.alike(f"a={faulty}", f"b={faulty}", "--connect", "a.y=b.u", "--input", table, "--stop", "1", "--control", "richardson",
                              "--rtol", "1e-4", fabrics=(TWIN, twins(processes(4))))
        self.assertEqual(plain.status, 0, plain.err)
        plain, _ = self.alike(example("control_loop"), "--control", "slope", "--rtol", "1e-3", fabrics=(TWIN, twins(processes(4))))
        self.assertGreater(plain.stats["events_located"], 0)

    def test_checkpoints(self):
        """A run with second instances goes on without them, and the other way round."""
        plain = self.ran(*PAIR)
        for first, then in ((TWIN, threads(1)), (threads(1), TWIN)):
            self.ran(*PAIR, "--checkpoint", "point", "--every", "0.7", fabric=first)
            other = self.finish(self.start("run", *PAIR, "--resume", "point", *then.options, "-o", RESULT, "--quiet"))
            self.assertEqual(other.status, 0, other.err)
            self.assertEqual(pathlib.Path(self.path(RESULT)).read_bytes(), plain.files[RESULT])

    def test_a_second_instance_that_fails(self):
        """It is the unit that fails, and the rows before that are kept, as without."""
        faulty = kit_fmu("Faulty", "2")
        run = (f"a={faulty}", f"b={faulty}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--stop", "1", "--coupling", "jacobi", "--control",
               "richardson", "--rtol", "1e-3")
        for fault in ("error DoStep 0.25 @b", "error DoStep 0.55 @b"):
            plain = self.ran(*run, env={"KIT_FAULT": fault})
            self.assertEqual(plain.status, 1, plain.err)
            self.assertRegex(plain.err, "error: .*Faulty_fmi2.fmu.*fmi2DoStep")
            self.assertGreater(plain.files[RESULT].count(b"\n"), 1)
            for fabric in (TWIN, twins(processes(2)), twins(processes(4)), twins(threads(4))):
                with self.subTest(fault=fault, fabric=str(fabric)):
                    outcome = self.ran(*run, fabric=fabric, env={"KIT_FAULT": fault})
                    self.assertEqual((outcome.status, outcome.err), (plain.status, plain.err))
                    self.assertEqual(outcome.files[RESULT], plain.files[RESULT])

    def test_killed(self):
        """A process with second instances ends: so does the run, with a message."""
        outcome = self.ran(f"a={kit_fmu('Faulty', '2')}", f"b={kit_fmu('Faulty', '2')}", "--connect", "a.y=b.u", "--stop", "1", "--coupling",
                           "jacobi", "--control", "richardson", "--rtol", "1e-3", fabric=twins(processes(2)), env={"KIT_FAULT": "crash DoStep 0.55"})
        self.assertNotEqual(outcome.status, 0)
        self.assertRegex(outcome.err, "worker .*signal 11")

    def test_once_per_process(self):
        """Second instances are in processes of their own then."""
        once = kit_fmu("Once", "2")
        outcome = self.ran(f"a={once}", f"b={LAG}", "--connect", "a.x=b.u", "--set", "b.work=0", "--control", "richardson", "--twin")
        self.assertRegex(outcome.err, "error: .*Once_fmi2.fmu.*cannot vary its step")
        self.refused("run", f"a={once}", f"b={LAG}", "--twin", "--threads", "2", "--control", "richardson", status=1, says="--processes 2")

    def test_what_is_refused(self):
        keeps = self.path("kept.csv")
        pathlib.Path(keeps).write_text("kept\n", "utf-8")
        lacking = kit_fmu("Lacking", "2")
        for arguments, status, says in (
                ((*PAIR, "--control", "embedded"), 2, "--twin .* goes with --control richardson or slope, not with embedded"),
                ((*PAIR, "--threads", "3"), 2, "--twin takes an even number of ranks.*use 2 or 4, not 3"),
                ((LAG,), 2, "--twin .* not with one FMU"),
                ((f"a={lacking}", f"b={lacking}", "--rollback", "fork", "--connect", "a.x=b.u", "--control", "richardson"), 1,
                 r"--twin brings a second instance of '[ab]' .*canSerializeFMUstate.*the result is the same"),
                ((example("quarter_car"), "--interface", "me", "--solver", "cvode", "--control", "richardson"), 1,
                 "--twin brings .* solver .*--solver .*bdf")):
            if THREAD_SANITIZED and "fork" in arguments:  # its thread is one too many for a fork
                continue
            with self.subTest(says=says):
                self.refused("run", *arguments, "--twin", "-o", keeps, status=status, says=says)
                self.assertEqual(pathlib.Path(keeps).read_text("utf-8"), "kept\n")

    def test_what_is_told(self):
        """Once, though there are two of each."""
        plain = self.tutti("run", *PAIR, "--log-level", "info", "-o", RESULT)
        other = self.tutti("run", *PAIR, "--log-level", "info", "-o", RESULT, "--twin")
        lines = [[line for line in outcome.err.splitlines() if re.search("auto|warning", line)] for outcome in (plain, other)]
        self.assertEqual(*lines)


if __name__ == "__main__":
    unittest.main()
