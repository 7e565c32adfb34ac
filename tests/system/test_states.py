#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that begin in a state of a file, and states that are written at the end: two runs, one after the other, are the one run that goes through,
of both interfaces, on every fabric; what is no state of the FMU, or cannot be one, is told."""
import pathlib
import unittest

from command import THREAD_SANITIZED, kit_fmu
from fabrics import LOCAL, RESULT, FabricTest, processes, threads
from systems import connect

STATE, A, B = "state", "a.state", "b.state"
STEP = ("--step", "0.0625")
CHAIN = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}",
         *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"), "--set", "a.x_left=0.1", "--step", "0.015625", "--coupling", "jacobi", "--extrapolate", "0")
FINAL = ("--final-state", f"a={A}", "--final-state", f"b={B}")
INITIAL = ("--initial-state", f"a={A}", "--initial-state", f"b={B}")


class StatesTest(FabricTest):
    def rows(self, *arguments, **more):
        """The lines of a run that goes well."""
        ran = self.ran(*arguments, **more)
        self.assertEqual((ran.status, ran.err), (0, ""), arguments)
        return ran.files[RESULT].decode().splitlines()

    def bytes(self, name):
        return pathlib.Path(self.path(name)).read_bytes()

    def go_on(self, *run, final=("--final-state", STATE), initial=("--initial-state", STATE), **more):
        """Rows of the whole run; of its parts: those after the first one of the second are the whole one's."""
        whole = self.rows(*run, "--stop", "3", **more)
        first = self.rows(*run, "--stop", "1", *final, **more)
        second = self.rows(*run, "--start", "1", "--stop", "3", *initial, **more)
        return whole, first + second[2:]


class One(StatesTest):
    def test_goes_on(self):
        for model in ("VanDerPol", "BouncingBall", "Stair", "ChainMass"):
            for version in ("2", "3"):
                for interface in (("--interface", "cs"), ("--interface", "me", "--solver", "rk4")):
                    with self.subTest(model=model, version=version, interface=interface[1]):
                        whole, parts = self.go_on(kit_fmu(model, version), *interface, *STEP)
                        if model == "BouncingBall" and "me" in interface:  # a solver that begins anew has other steps
                            self.assertEqual([line.split(",")[-1] for line in parts], [line.split(",")[-1] for line in whole])
                        else:
                            self.assertEqual(parts, whole)

    def test_without_event_mode(self):
        whole, parts = self.go_on(kit_fmu("Stair", "3"), *STEP, "--no-event-mode")
        self.assertEqual(parts, whole)

    def test_inputs_of_a_file(self):
        trajectory = self.write("in.csv", "time,float64_in,int32_in\n0,0,1\n1,1,1\n1.5,4,1\n1.5,4,2\n3,0,3\n")
        for version in ("2", "3"):
            for interface in ("cs", "me"):
                run = (kit_fmu("Feedthrough", version), "--interface", interface, *STEP, "--input", trajectory)
                whole, parts = self.go_on(*run)
                self.assertEqual(parts, whole)

    def test_the_file_may_be_replaced(self):
        run = (kit_fmu("VanDerPol", "2"), *STEP)
        self.rows(*run, "--stop", "1", "--final-state", STATE)
        before = self.bytes(STATE)
        self.rows(*run, "--start", "1", "--stop", "2", "--initial-state", STATE, "--final-state", STATE)
        self.assertNotEqual(self.bytes(STATE), before)
        again = self.rows(*run, "--start", "2", "--stop", "3", "--initial-state", STATE)
        self.assertEqual(again[-1], self.rows(*run, "--stop", "3")[-1])

    def test_what_is_set(self):
        """Inputs and tunable parameters may be others from there on; the state has its own of the rest."""
        for version, interface in (("2", "cs"), ("3", "cs"), ("2", "me"), ("3", "me")):
            run = (kit_fmu("Feedthrough", version), "--interface", interface, *STEP, "--record", "float64_out")
            self.rows(*run, "--stop", "1", "--set", "float64_in=2", "--set", "gain=3", "--final-state", STATE)
            rest = (*run, "--start", "1", "--stop", "2", "--initial-state", STATE)
            self.assertEqual(self.rows(*rest)[-1], "2,6")
            self.assertEqual(self.rows(*rest, "--set", "float64_in=5", "--set", "tunable_gain=10")[-1], "2,150")
            other = self.ran(*rest, "--set", "gain=7")
            self.assertRegex(other.err, "warning: .*the initial state has another parameter: 'gain' was set to 7, and is 3")
            self.assertEqual(other.files[RESULT].decode().splitlines()[-1], "2,6")

    def test_the_time_of_a_state(self):
        run = (kit_fmu("VanDerPol", "3"), "--interface", "me", *STEP)
        self.rows(*run, "--stop", "1", "--final-state", STATE)
        outcome = self.tutti("run", *run, "--stop", "1", "--initial-state", STATE)
        self.assertRegex(outcome.err, "warning: .*the initial state is one at t = 1, and the run begins at t = 0: --start 1 goes on")

    def test_an_fmu_that_ends_the_run(self):
        outcome = self.tutti("run", kit_fmu("Stair", "3"), "--stop", "20", "--final-state", STATE)
        self.assertRegex(outcome.err, "warning: --final-state: the run has ended at t = .*: no state is written")
        self.assertFalse(pathlib.Path(self.path(STATE)).exists())


class Systems(StatesTest):
    def test_goes_on(self):
        for more in ((), ("--coupling", "seidel"), ("--interface", "me", "--solver", "rk4")):
            with self.subTest(more=more):
                whole, parts = self.go_on(*CHAIN, *more, final=FINAL, initial=INITIAL)
                self.assertEqual(parts, whole)

    def test_discrete_signals(self):
        """Of all types, that change while the run goes, and at the moment where it is cut."""
        trajectory = self.write("in.csv", "time,a.int32_in,a.boolean_in,a.float64_in\n0,1,true,0\n0.5,2,true,1\n1,3,false,2\n1.5,4,true,3\n")
        run = (f"a={kit_fmu('Feedthrough', '3')}", f"b={kit_fmu('Feedthrough', '3')}", "--input", trajectory, *STEP, "--coupling", "jacobi",
               "--extrapolate", "0", *connect("a.int32_out=b.int32_in", "a.boolean_out=b.boolean_in", "a.float64_out=b.float64_in"))
        for interface in ("cs", "me"):
            with self.subTest(interface=interface):
                whole, parts = self.go_on(*run, "--interface", interface, final=FINAL, initial=INITIAL)
                self.assertEqual([line for n, line in enumerate(parts) if n == 0 or line != parts[n - 1]],
                                 [line for n, line in enumerate(whole) if n == 0 or line != whole[n - 1]])

    def test_fabrics(self):
        """The states are the same bytes, and so is what follows them."""
        self.rows(*CHAIN, "--stop", "1", *FINAL)
        plain = [self.bytes(name) for name in (A, B)]
        after = self.rows(*CHAIN, "--start", "1", "--stop", "2", *INITIAL)
        for fabric in self.fabrics():
            with self.subTest(fabric=str(fabric)):
                for name in (A, B):
                    pathlib.Path(self.path(name)).unlink()
                self.rows(*CHAIN, "--stop", "1", *FINAL, fabric=fabric)
                self.assertEqual([self.bytes(name) for name in (A, B)], plain)
                self.assertEqual(self.rows(*CHAIN, "--start", "1", "--stop", "2", *INITIAL, fabric=fabric), after)

    def test_one_unit_of_a_system(self):
        """The other one is initialised with what the state gives."""
        self.rows(*CHAIN, "--stop", "1", *FINAL)
        last = self.rows(*CHAIN, "--stop", "1")
        rows = self.rows(*CHAIN, "--start", "1", "--stop", "2", *INITIAL[:2])
        columns = [n for n, name in enumerate(rows[0].split(",")) if name.startswith("a.")]
        self.assertEqual([rows[1].split(",")[n] for n in columns], [last[-1].split(",")[n] for n in columns])

    def test_in_a_loop(self):
        """Outputs of a state need no inputs: there is no loop to solve at the start."""
        loop = (f"a={kit_fmu('Feedthrough', '2')}", f"b={kit_fmu('Feedthrough', '2')}", "--set", "a.gain=0.5", *STEP,
                *connect("a.float64_out=b.float64_in", "b.float64_out+1=a.float64_in"), "--coupling", "jacobi")
        self.rows(*loop, "--stop", "1", *FINAL)
        ran = self.ran(*loop, "--start", "1", "--stop", "2", *INITIAL)
        self.assertEqual((ran.status, ran.stats["init_loops"]), (0, 0), ran.err)

    def test_checkpoints(self):
        self.rows(*CHAIN, "--stop", "1", *FINAL)
        run = (*CHAIN, "--start", "1", "--stop", "3", *INITIAL)
        whole = self.rows(*run)
        self.rows(*run, "--checkpoint", "point", "--every", "0.7")
        outcome = self.tutti("run", *run, "--resume", "point", "-o", RESULT, "--quiet")
        self.assertEqual((outcome.err, self.bytes(RESULT).decode().splitlines()), ("", whole))
        pathlib.Path(self.path(A)).write_bytes(self.bytes(A)[:-1] + b"\x7f")
        self.refused("run", *run, "--resume", "point", status=2, says=f"{A} is not what it was")


class Refused(StatesTest):
    def test_units(self):
        self.rows(*CHAIN, "--stop", "1", *FINAL)
        for option in ("--initial-state", "--final-state"):
            self.refused("run", *CHAIN, option, f"c={A}", status=2, says=f"{option} c={A}: there is no unit 'c'; did you mean")
            self.refused("run", *CHAIN, option, A, status=2, says="takes UNIT=FILE")
            self.refused("run", *CHAIN, option, "a=", status=2, says="the name of a file is missing")
            self.refused("run", *CHAIN, option, f"a={A}", option, f"a={B}", status=2, says=f"{option} is given twice for the unit 'a'")
        self.refused("run", *CHAIN, "--final-state", "a=x", "--final-state", "b=x", status=2, says="the file is that of 'a', too")

    def test_fmus_that_cannot(self):
        self.write(STATE, "something")
        for fmu in (kit_fmu("Lacking", "2"), kit_fmu("Lacking", "3"), kit_fmu("ChainMass", "1cs"), kit_fmu("ChainMass", "1me")):
            self.refused("run", fmu, "--initial-state", STATE, status=1, says="--initial-state: .*cannot serialise its state")
            self.refused("run", fmu, "--final-state", "x", status=1, says="--final-state: .*cannot serialise its state")
        if not THREAD_SANITIZED:  # whose thread is one too many for a fork
            self.refused("run", kit_fmu("VanDerPol", "3"), "--rollback", "fork", "--final-state", "x", status=1, says="without --rollback fork")

    def test_bytes_of_others(self):
        """Only the FMU can tell whether they are its own."""
        self.rows(kit_fmu("BouncingBall", "3"), "--stop", "1", "--final-state", "ball")
        whole = self.bytes("ball")
        for content in (b"x", b"time,h\n0,1\n" * 1000, whole[:-1], whole + b"\0", bytes(len(whole))):
            pathlib.Path(self.path(STATE)).write_bytes(content)
            for version in ("2", "3"):
                for interface in ("cs", "me"):
                    self.refused("run", kit_fmu("VanDerPol", version), "--interface", interface, "--initial-state", STATE, status=1,
                                 says=f"--initial-state '{STATE}': .*fmi[23]De[Ss]erializeFMU[Ss]tate returned Error.*The FMU's last messages: ")

    def test_files(self):
        fmu = kit_fmu("VanDerPol", "3")
        self.write("empty", "")
        self.refused("run", fmu, "--initial-state", "nowhere", status=1, says="--initial-state: cannot read 'nowhere': No such file")
        self.refused("run", fmu, "--initial-state", ".", status=1, says="cannot read '.': it is no regular file")
        self.refused("run", fmu, "--initial-state", "/dev/zero", status=1, says="it is no regular file")
        self.refused("run", fmu, "--initial-state", "empty", status=1, says="'empty' is empty")
        self.refused("run", fmu, "--final-state", "nowhere/state", status=1, says="--final-state: .* cannot be written: No such file")
        self.refused("run", fmu, "--final-state", ".", status=1, says="it is no regular file")
        self.refused("run", fmu, "--final-state", fmu, status=2, says="is the file of the model")
        self.refused("run", fmu, "--final-state", RESULT, "-o", RESULT, status=2, says="is the file of -o")
        self.refused("run", fmu, "--final-state", STATE, "--stats", STATE, status=2, says="--final-state")
        self.rows(fmu, "--stop", "1", "--final-state", STATE)
        self.refused("run", fmu, "--initial-state", STATE, "-o", STATE, status=2, says="is the file of --initial-state")

    def test_a_failed_run_writes_none(self):
        run = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('Faulty', '2')}", *STEP, "--stop", "2",
               "--final-state", f"a={A}")
        for fabric in (LOCAL, threads(2), processes(2)):
            ran = self.ran(*run, fabric=fabric, env={"KIT_FAULT": "error DoStep 1.5+ @b"})
            self.assertNotEqual(ran.status, 0)
            self.assertFalse(pathlib.Path(self.path(A)).exists(), str(fabric))


if __name__ == "__main__":
    unittest.main()
