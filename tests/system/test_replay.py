#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--checkpoint-replay: FMUs that cannot serialise their state are told again what they were told, and the run goes on to the same bytes, for every
master and on other ranks. FMUs of the kit do without the flag, or lack the function."""
import io
import pathlib
import re
import unittest
import zipfile

from command import DESCRIPTION, kit_fmu
from fabrics import LOCAL, has_mpi, mpi, processes, threads
from systems import connect
from test_checkpoint import POINT, CheckpointTest
from test_fabrics_masters import SYSTEMS, masters

REPLAY = ("--checkpoint-replay",)
FLAG = re.compile(rb'canSerializeFMU[sS]tate="true"')


def alter(archive):
    """The bytes of an FMU, or of a package of FMUs, that claim no serialised states."""
    altered = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(altered, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename == DESCRIPTION:
                data = FLAG.sub(b"", data)
            elif entry.filename.endswith((".fmu", ".ssp")):
                data = alter(data)
            target.writestr(entry, data)
    return altered.getvalue()


class ReplayTest(CheckpointTest):
    def without(self, file):
        """The file in whose FMUs none serialises its state; what follows # stays."""
        path, *rest = file.split("#")
        name = self.path("altered_" + pathlib.Path(path).name)
        pathlib.Path(name).write_bytes(alter(pathlib.Path(path).read_bytes()))
        return "#".join([name, *rest])

    def replays(self, *run, **more):
        """To the same bytes."""
        self.clear()
        return self.goes_on(*run, how=REPLAY, **more)


class Masters(ReplayTest):
    def test_every_fifth_master(self):
        kinds = [LOCAL, threads(2), processes(2), threads(3)]
        good = total = 0
        for n, master in list(enumerate(master for master in masters() if "strong" not in master))[2::5]:
            system, *options = SYSTEMS[n % len(SYSTEMS)]
            pairs = [(kinds[n % 4], kinds[(n // 4 + n) % 4])]
            pairs += [(mpi(2), LOCAL)] if total == 3 and has_mpi() else []
            pairs += [(self.tcp(), processes(2)), (LOCAL, self.tcp())] if total == 5 else []
            plain = self.replays(self.without(system), *options, *master, pairs=pairs, log=True, part=(0.2, 0.37, 0.61)[n % 3])
            self.assertIn(plain.status, (0, 1, 2), plain.err)
            total += 1
            good += plain.status == 0
        self.assertGreater(good, 0.6 * total, "too many are refused")


class Units(ReplayTest):
    def test_versions_and_solvers(self):
        for fmu in (kit_fmu("Lacking", "2"), kit_fmu("Lacking", "3"), kit_fmu("BouncingBall", "1cs"), kit_fmu("Resource", "1cs")):
            with self.subTest(fmu=fmu):
                self.replays(fmu, "--stop", "3", "--step", "0.0625")
        for solver in ("cvode", "bdf", "radau5", "dopri5", "rk4"):
            with self.subTest(solver=solver):
                for fmu in (kit_fmu("BouncingBall", "1me"), self.without(kit_fmu("BouncingBall", "3"))):
                    self.replays(fmu, "--interface", "me", "--solver", solver, "--stop", "3", "--step", "0.0625")

    def test_events_of_model_exchange(self):
        """After which there were no further checkpoints."""
        self.clear()
        self.goes_on(kit_fmu("Stair", "1me"), "--stop", "5", "--step", "0.25", "--solver", "bdf", how=REPLAY)

    def test_inputs_of_every_type(self):
        long = "x" * 3000
        names = "float64_in,int8_in,uint64_in,boolean_in,string_in,color_in,binary_in,\"matrix_in[1,2]\",strings_in[2]"
        rows = ("0,0.1,-5,18446744073709551615,true,one,red,00ff,1.5,first", f"0.2,0.2,6,1,false,{long},green,{'ab' * 3000},2.5,{long}",
                "0.4,0.3,7,2,true,,yellow,,3.5,", "0.65,0.4,8,3,false,\"a, \"\"b\"\"\",red,01,4.5,Ümläut")
        trajectory = self.write("in.csv", f"time,{names}\n" + "\n".join(rows) + "\n")
        fmu = self.without(kit_fmu("Feedthrough", "3"))
        for interface in ("cs", "me"):
            self.replays(fmu, "--interface", interface, "--input", trajectory, "--stop", "1", "--step", "0.1", result="result.jsonl", part=0.6)

    def test_inputs_that_move_in_a_step(self):
        """FMI 2.0 gets derivatives of inputs, FMI 3.0 asks inside of its step."""
        for version in ("2", "3"):
            run = (f"a={kit_fmu('VanDerPol', version)}", f"b={self.without(kit_fmu('Tracker', version))}", *connect("a.x0=b.u"), "--stop", "2",
                   "--step", "0.05", "--coupling", "jacobi", "--extrapolate", "1")
            self.replays(*run, pairs=((LOCAL, LOCAL), (LOCAL, processes(2)), (threads(2), LOCAL)))

    def test_taken_back_by_forking(self):
        run = (f"a={kit_fmu('ChainMass', '1cs')}", f"b={kit_fmu('Lacking', '2')}", "--stop", "1", "--step", "0.125", "--coupling", "jacobi",
               "--control", "richardson", "--rtol", "1e-4")
        self.replays(*run, pairs=((LOCAL, LOCAL), (LOCAL, processes(2))))

    def test_again_and_again(self):
        run = (kit_fmu("Lacking", "3"), "--stop", "3", "--step", "0.0625")
        plain = self.again(*run)
        self.clear()
        script = (*run, *REPLAY, "--checkpoint", POINT, "--resume", POINT, "--every", "0.5")
        for _ in range(3):
            self.assertEqual(self.again(*script).files, plain.files)


class Refused(ReplayTest):
    def test_answers_that_are_others(self):
        run = (self.without(kit_fmu("Faulty", "3")), "--stop", "2", "--step", "0.125")
        taken = self.again(*run, *REPLAY, "--checkpoint", POINT, "--every", "1")
        self.assertEqual(taken.status, 0, taken.err)
        for fault, says in (("nan GetFloat64 0.5", "answers otherwise at t = 0.5.*does not repeat itself"),
                            ("error DoStep 0.5", "fmi3DoStep returned Error at t = 0.5")):
            self.refused("run", *run, *REPLAY, "--resume", POINT, status=1, says=says, env={"KIT_FAULT": fault})
        self.assertEqual(self.again(*run, *REPLAY, "--resume", POINT).files, taken.files)

    def test_options(self):
        run = (kit_fmu("Lacking", "3"), "--stop", "1")
        self.refused("run", *run, *REPLAY, status=2, says="--checkpoint-replay .* needs --checkpoint FILE")
        self.refused("run", *run, "--checkpoint", POINT, status=1, says="no checkpoint can be taken of .*--checkpoint-replay")
        self.again(*run, *REPLAY, "--checkpoint", POINT, "--every", "0.3")
        ball = self.without(kit_fmu("BouncingBall", "3"))
        self.refused("run", f"a={ball}", f"b={ball}", "--coupling", "strong", *REPLAY, "--checkpoint", POINT, status=1,
                     says="--checkpoint-replay cannot record .* with --coupling strong")
        self.refused("run", *run, "--resume", POINT, status=2, says="taken with --checkpoint-replay: go on with the same options")


if __name__ == "__main__":
    unittest.main()
