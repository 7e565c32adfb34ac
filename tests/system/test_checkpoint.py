#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that go on from a checkpoint: the bytes of a run that was never interrupted, for every master, solver and format, on any
fabric and another number of ranks; files that are damaged, or of another run, are refused."""
import pathlib
import shutil
import signal
import struct
import unittest

from command import JACOBI, kit_fmu, wait_until
from fabrics import LOCAL, LOG, RESULT, STATS, FabricTest, Ran, has_mpi, mpi, processes, threads
from systems import connect
from test_fabrics_masters import SYSTEMS, masters

POINT = "point"
HEAD = 17 + 2 * 4 + 32  # bytes of a checkpoint before its time
BALL3, BALL2 = kit_fmu("BouncingBall", "3"), kit_fmu("BouncingBall", "2")
FEEDTHROUGH3 = kit_fmu("Feedthrough", "3")
OWN_SOLVERS = ("bdf", "radau5", "rodas", "rk4", "heun", "euler", "implicit_euler")  # whose memory is in the file
SUNDIALS = ("cvode", "adams", "dopri5", "dopri8", "dirk", "ida")  # which begin anew at every checkpoint
CHAIN = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}",
         *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"), "--set", "a.x_left=0.1", "--step", "0.01", "--stop", "2")


class CheckpointTest(FabricTest):
    def again(self, *arguments, fabric=LOCAL, log=False, result=RESULT, **options):
        """A run whose files may be there already."""
        outcome = self.finish(self.start("run", *arguments, *fabric.options, "-o", result, "--stats", STATS, "--quiet",
                                         *(["--step-log", LOG] if log else []), launcher=fabric.launcher, **options))
        files = {name: path.read_bytes() for name in (result, LOG) if (path := pathlib.Path(self.path(name))).exists()}
        return Ran(outcome.status, outcome.err, files, self.stats())

    def clear(self):
        for name in (RESULT, LOG, STATS, POINT, f"{POINT}.previous"):
            pathlib.Path(self.path(name)).unlink(missing_ok=True)

    def span(self, stats):
        return stats["stop"] - stats["start"]

    def goes_on(self, *run, pairs=((LOCAL, LOCAL),), part=0.37, plain=None, how=(), **more):
        """A run with checkpoints is the plain one, and so is what follows one of them, on other ranks. The files are longer than
        they were then, as after a crash. `how`: options of checkpoints."""
        plain = plain or self.again(*run, **more)
        if plain.status:
            return plain
        plain.err = ""  # warnings of growth are said once, before or after
        for first, second in pairs:
            with self.subTest(run=run, first=str(first), second=str(second)):
                self.clear()
                taken = self.again(*run, *how, "--checkpoint", POINT, "--every", str(part * self.span(plain.stats)), fabric=first,
                                   **more)
                taken.err = "" if taken.status == 0 else taken.err
                self.compare(plain, taken, first)
                self.assertTrue(pathlib.Path(self.path(POINT)).exists(), "no checkpoint was taken")
                resumed = self.again(*run, *how, "--resume", POINT, fabric=second, **more)
                resumed.err = "" if resumed.status == 0 else resumed.err
                self.compare(plain, resumed, second)
        return plain


class Masters(CheckpointTest):
    def test_every_master(self):
        """Every coupling, with every other control."""
        kinds = [LOCAL, threads(2), processes(2), threads(3)]
        good = total = 0
        for n, master in enumerate([*masters()][::2]):
            self.clear()
            pairs = [(kinds[n % 4], kinds[(n // 4 + n) % 4])]
            pairs += [(mpi(2), LOCAL), (threads(2), mpi(2))] if n % 6 == 2 and has_mpi() else []
            pairs += [(self.tcp(), processes(2)), (LOCAL, self.tcp())] if n % 6 == 5 else []
            run = (*SYSTEMS[n % len(SYSTEMS)], *master)
            plain = self.goes_on(*run, pairs=pairs, log=True, part=(0.2, 0.37, 0.61)[n % 3])
            self.assertIn(plain.status, (0, 1, 2), plain.err)
            total += 1
            good += plain.status == 0
        self.assertGreater(good, 0.7 * total, "too many are refused")


class Units(CheckpointTest):
    def test_solvers(self):
        for n, solver in enumerate(OWN_SOLVERS + SUNDIALS):
            step = ("--solver-step", "0.003") if solver in ("rk4", "heun", "euler") else ()
            run = ((BALL3, BALL2)[n % 2], "--interface", "me", "--solver", solver, *step, "--stop", "3")
            with self.subTest(solver=solver):
                self.clear()
                plain = self.again(*run)
                taken = self.again(*run, "--checkpoint", POINT, "--every", "0.4")
                resumed = self.again(*run, "--resume", POINT)
                self.assertEqual((taken.status, resumed.status), (0, 0), taken.err + resumed.err)
                self.assertEqual(resumed.files, taken.files)
                self.assertEqual(taken.files == plain.files, solver in OWN_SOLVERS)

    def test_default_solver_goes_on(self):
        self.clear()
        self.goes_on(BALL3, "--interface", "me", plain=self.again(BALL3, "--interface", "me", "--solver", "bdf"))

    def test_clocks_and_solvers_do_not_go_together(self):
        outcome = self.tutti("run", BALL3, "--interface", "me", "--checkpoint", POINT)
        self.assertRegex(outcome.err, "warning: .*with checkpoints the solver is bdf, not cvode: .*--solver bdf makes both the same")
        rows = []
        for checkpoints in ((), ("--checkpoint", POINT)):
            outcome = self.tutti("run", BALL3, "--interface", "me", "--solver", "bdf", "-o", "-", *checkpoints)
            self.assertNotIn("warning", outcome.err)
            rows.append(outcome.out)
        self.assertEqual(*rows)
        outcome = self.tutti("run", BALL3, "--interface", "me", "--solver", "cvode", "--checkpoint", POINT)
        self.assertRegex(outcome.err, "warning: .*cvode begins anew at every checkpoint.*--every D.*--solver bdf")

    def test_inputs_of_every_type(self):
        long = "x" * 3000
        names = ("a.float64_in,a.float64_discrete_in,a.int8_in,a.uint64_in,a.boolean_in,a.string_in,a.color_in,a.binary_in,"
                 '"a.matrix_in[1,2]",a.strings_in[2]')
        rows = ("0,0.1,1,-5,18446744073709551615,true,one,red,00ff,1.5,first",
                f"0.2,0.2,2,6,1,false,{long},green,{'ab' * 3000},2.5,{long}", "0.4,0.3,2,7,2,true,,yellow,,3.5,",
                "0.4,0.7,3,7,2,true,,yellow,,3.5,", "0.65,0.4,3,8,3,false,\"a, \"\"b\"\"\",red,01,4.5,Ümläut")
        trajectory = self.write("in.csv", f"time,{names}\n" + "\n".join(rows) + "\n")
        types = ("float64", "float64_discrete", "int8", "uint64", "boolean", "string", "color", "binary", "matrix", "strings")
        run = (f"a={FEEDTHROUGH3}", f"b={FEEDTHROUGH3}", *connect(*(f"a.{name}_out=b.{name}_in" for name in types)), "--input",
               trajectory, "--stop", "1", "--step", "0.1", "--place", "a=0", "--place", "b=0")  # ranks without units, too
        for part in (0.3, 0.4, 0.6):
            for interface in ("cs", "me"):
                self.clear()
                self.goes_on(*run, "--interface", interface, *JACOBI, part=part, result="result.jsonl",
                             pairs=((LOCAL, processes(2)), (threads(2), LOCAL)))

    def test_steps_of_their_own_and_the_fast_lane(self):
        for more in (("--step", "a=0.04"), ("--record", "none"), ("--output-step", "0.07"), JACOBI):
            self.clear()
            self.goes_on(*CHAIN, *more, part=0.45, pairs=((LOCAL, LOCAL), (LOCAL, threads(2)), (processes(2), LOCAL)))

    def test_one_that_cannot(self):
        self.refused("run", f"a={kit_fmu('Lacking', '2')}", f"b={kit_fmu('ChainMass', '1cs')}", "--checkpoint", POINT, status=1,
                     says="no checkpoint can be taken of a, b: .*canSerializeFMUstate")

    def test_an_event_that_cannot_be_undone(self):
        """Without saved states Model Exchange is brought back by its states, up to the first event."""
        outcome = self.tutti("run", kit_fmu("Stair", "1me"), "--checkpoint", POINT, "--every", "0.5", "--stop", "3", "--step", "0.25",
                             status=None)
        self.assertRegex(outcome.err, "no further checkpoints are taken: .*event at t = 1.*cannot serialise")
        self.assertEqual(outcome.status, 0)


class Files(CheckpointTest):
    def test_formats(self):
        for ending in ("csv", "units.csv", "jsonl", "mat"):
            self.clear()
            self.goes_on(*CHAIN, result=f"result.{ending}", pairs=((LOCAL, LOCAL), (processes(2), threads(2))))

    def test_again_and_again(self):
        """Each run is interrupted after a while: a checkpoint, then the end of the process."""
        plain = self.again(*CHAIN, "--output-step", "0.1", log=False)
        self.clear()
        script = (*CHAIN, "--output-step", "0.1", "--checkpoint", POINT, "--resume", POINT, "--every", "0.3")
        for _ in range(3):
            self.again(*script)
        ended = self.again(*script)
        self.assertEqual(ended.files, plain.files)

    def test_the_last_one_is_written(self):
        """Steps faster than the disk: files may be left out, the last one never."""
        for fabric in (LOCAL, processes(2)):
            with self.subTest(fabric=str(fabric)):
                self.clear()
                plain = self.again(*CHAIN, fabric=fabric)
                self.clear()
                self.again(*CHAIN, "--checkpoint", POINT, "--every", "0.01", fabric=fabric)
                (t,) = struct.unpack_from("d", pathlib.Path(self.path(POINT)).read_bytes(), HEAD)
                self.assertTrue(2 - 0.011 < t <= 2, t)
                self.assertEqual(self.again(*CHAIN, "--resume", POINT, fabric=fabric).files, plain.files)

    def interrupted(self, *run, fabric, number):
        """At some moment, once there is a checkpoint."""
        process = self.start("run", *run, *fabric.options, "-o", RESULT, "--checkpoint", POINT, "--resume", POINT,
                             "--every-seconds", "0.05", launcher=fabric.launcher)
        self.assertTrue(wait_until(pathlib.Path(self.path(POINT)).exists))
        process.send_signal(number)
        return process

    def test_signals(self):
        run = (*CHAIN, "--realtime", "2", "--output-step", "0.1")
        plain = self.again(*CHAIN, "--output-step", "0.1")
        for fabric in (LOCAL, threads(2), processes(2)):
            with self.subTest(fabric=str(fabric)):
                self.clear()
                outcome = self.finish(self.interrupted(*run, fabric=fabric, number=signal.SIGTERM))
                self.assertEqual(outcome.status, 128 + signal.SIGTERM)
                self.assertRegex(outcome.err, f"interrupted at t = .*with a checkpoint there: .*--resume '{POINT}'")
                self.assertEqual(self.again(*run, "--checkpoint", POINT, "--resume", POINT, fabric=fabric).files, plain.files)

    def test_death(self):
        run = (*CHAIN, "--realtime", "2", "--output-step", "0.1")
        plain = self.again(*CHAIN, "--output-step", "0.1")
        self.clear()
        process = self.interrupted(*run, fabric=LOCAL, number=signal.SIGKILL)
        process.communicate()
        for left in self.tmpdir.iterdir():
            shutil.rmtree(left)
        self.assertEqual(self.again(*run, "--resume", POINT).files, plain.files)

    def test_a_damaged_one(self):
        self.again(*CHAIN, "--checkpoint", POINT, "--every", "0.9")
        path = pathlib.Path(self.path(POINT))
        whole = path.read_bytes()
        plain = pathlib.Path(self.path(RESULT)).read_bytes()
        pathlib.Path(self.path(f"{POINT}.previous")).unlink(missing_ok=True)
        for content, says in ((whole[:-1], "damaged"), (whole[:40], "damaged"), (b"time,x\n0,1\n", "no checkpoint"), (b"", "no checkpoint"),
                              (whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], "damaged: it is not as it was written"),
                              (whole[:17] + b"\x07" + whole[18:], "format 7")):
            path.write_bytes(content)
            self.refused("run", *CHAIN, "--resume", POINT, status=1, says=says)
        path.unlink()
        self.refused("run", *CHAIN, "--resume", POINT, status=1, says=f"cannot open '{POINT}'")
        path.write_bytes(whole[:-1])
        pathlib.Path(self.path(f"{POINT}.previous")).write_bytes(whole)
        outcome = self.tutti("run", *CHAIN, "--resume", POINT)
        self.assertRegex(outcome.err, f"warning: --resume: '{POINT}' is not there or damaged; .*{POINT}.previous.* is whole")
        self.assertEqual(pathlib.Path(self.path(RESULT)).read_bytes(), plain)

    def test_of_another_run(self):
        shutil.copy(BALL3, self.path("ball.fmu"))
        self.again("ball.fmu", "--checkpoint", POINT, "--every", "1")
        for more, says in ((("--step", "0.5"), "--step is not what it was"), (("--set", "e=0.6"), "--set is not what it was"),
                           (("--stop", "9"), "--stop is not what it was")):
            self.refused("run", "ball.fmu", *more, "--resume", POINT, status=2, says=says)
        self.refused("run", BALL2, "--resume", POINT, status=2, says="BouncingBall_fmi2.fmu is not what it was")
        pathlib.Path(self.path(RESULT)).unlink()
        self.refused("run", "ball.fmu", "--resume", POINT, status=1, says=RESULT)

    def test_options(self):
        self.refused("run", BALL3, "--every", "1", status=2, says="--every .* needs --checkpoint FILE")
        self.refused("run", BALL3, "--checkpoint", BALL3, status=2, says="--checkpoint .* is the file of the model")
        self.refused("run", BALL3, "-o", "x.csv", "--checkpoint", "x.csv", status=2, says="is the file of -o")

    def test_a_folder_that_cannot_be_written(self):
        outcome = self.tutti("run", *CHAIN, "--checkpoint", "nowhere/point", "--every", "0.5")
        self.assertRegex(outcome.err, "warning: .*nowhere/point.* cannot be written: .*; the run goes on")


if __name__ == "__main__":
    unittest.main()
