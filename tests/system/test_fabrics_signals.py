#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What crosses ranks, and what a run is asked for beside its steps, is the same on every fabric: signals of every type, arrays,
events, input files, what is recorded, how a run ends, real time; units of every FMI version and interface."""
import pathlib
import time
import unittest

from command import JACOBI, ME_VERSIONS, VERSIONS, Table, kit_fmu, test_fmu
from fabrics import FabricTest, has_mpi, mpi, processes, threads
from systems import component, connect, connection, connector, ssd, system

FEEDTHROUGH2, FEEDTHROUGH3 = (kit_fmu("Feedthrough", version) for version in ("2", "3"))
TRACKER2, DAHLQUIST2, SPACE = kit_fmu("Tracker", "2"), kit_fmu("Dahlquist", "2"), kit_fmu("StateSpace", "3")
TYPES = ("float64", "float64_discrete", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
         "boolean", "string", "color", "binary", "matrix", "vector", "strings")
APART = ("--place", "a=0", "--place", "b=1")


class Signals(FabricTest):
    def test_every_type(self):
        """Through three units on as many ranks, with texts that grow, shrink and vanish."""
        long = "x" * 5000
        names = ("a.float64_in,a.int8_in,a.uint16_in,a.int64_in,a.uint64_in,a.boolean_in,a.string_in,a.color_in,a.binary_in,"
                 '"a.matrix_in[1,2]",a.vector_in[3],a.strings_in[2]')
        rows = ("0,0.1,-5,1,-9000000000,18446744073709551615,true,one,red,00ff,1.5,7,first",
                f"0.2,0.2,6,2,9000000000,1,false,{long},green,{'ab' * 3000},2.5,8,{long}",
                "0.4,0.3,7,3,0,2,true,,yellow,,3.5,9,", "0.6,0.4,8,65535,5,3,false,\"a, \"\"b\"\"\",red,01,4.5,-1,Ümläut")
        trajectory = self.write("in.csv", f"time,{names}\n" + "\n".join(rows) + "\n")
        wires = connect(*(f"{x}.{name}_out={y}.{name}_in" for x, y in ("ab", "bc") for name in TYPES))
        run = (f"a={FEEDTHROUGH3}", f"b={FEEDTHROUGH3}", f"c={FEEDTHROUGH3}", *wires, "--input", trajectory, "--stop", "1",
               "--step", "0.1")
        for more in (JACOBI, ("--coupling", "seidel"), ("--interface", "me", "--coupling", "jacobi")):
            place = *APART, "--place", "c=0"
            plain = self.same(*run, *more, *place, plain=self.ran(*run, *more), fabrics=self.fabrics())
            table = Table(plain.files["result.csv"].decode())
            self.assertIn(long, table.texts("c.string_out"))
            self.assertIn("ab" * 3000, table.texts("c.binary_out"))

    def test_versions_meet(self):
        wires = connect(*(f"a.{name}_out=b.{name}_in" for name in ("float64", "int32", "boolean", "string", "color")))
        run = f"a={FEEDTHROUGH2}", f"b={FEEDTHROUGH3}", *wires, "--set", "a.string_in=word", "--stop", "0.3", "--step", "0.1"
        self.same(*run, *APART, plain=self.ran(*run), fabrics=self.fabrics())

    def test_types_are_converted(self):
        run = (f"a={kit_fmu('Stair', '3')}", f"b={FEEDTHROUGH3}",
               *connect("a.counter=b.float64_in", "a.counter=b.int8_in", "a.counter=b.uint64_in"), "--stop", "3.5", "--step",
               "0.5", "--record", "*")
        self.same(*run, *APART, plain=self.ran(*run), fabrics=self.fabrics())

    def test_a_number_that_does_not_fit(self):
        run = (f"a={FEEDTHROUGH3}", f"b={FEEDTHROUGH3}", *connect("a.int32_out=b.uint8_in"), "--set", "a.int32_in=300",
               "--stop", "1", "--step", "0.1")
        plain = self.ran(*run)
        self.assertEqual(plain.status, 1)
        for fabric in (threads(2), processes(2)):
            other = self.ran(*run, *APART, fabric=fabric)
            self.assertEqual((other.status, other.err), (plain.status, plain.err))

    def test_arrays_and_their_elements(self):
        run = (f"a={SPACE}", f"b={SPACE}", f"c={DAHLQUIST2}", *connect("a.y=b.u", "c.x=a.u[1]", "b.y[1]=a.u[2]"), "--stop",
               "0.5", "--step", "0.1", "--record", "*")
        self.same(*run, *APART, "--place", "c=1", plain=self.ran(*run), fabrics=self.fabrics())

    def test_one_signal_for_many(self):
        """A signal that two units of a rank read goes there once; whoever reads nothing hears of it all the same."""
        units = [f"r{n}={TRACKER2}" for n in range(6)]
        run = (f"a={DAHLQUIST2}", *units, *connect(*(f"a.x=r{n}.u" for n in range(6))), "--stop", "1", "--step", "0.1")
        place = [word for n in range(6) for word in ("--place", f"r{n}={n % 3}")]
        self.same(*run, *place, "--place", "a=1", plain=self.ran(*run), fabrics=(threads(3), processes(3)))

    def test_units_that_nobody_is_connected_to(self):
        run = f"a={DAHLQUIST2}", f"b={kit_fmu('VanDerPol', '3')}", "--stop", "1", "--step", "0.1"
        self.same(*run, *APART, plain=self.ran(*run), fabrics=self.fabrics())


class Events(FabricTest):
    def test_event_mode_across_ranks(self):
        """An event of one unit is news for others, round by round, each on another rank."""
        for version in ("2", "3"):
            for interface in ("cs", "me"):
                stair, through = kit_fmu("Stair", version), kit_fmu("Feedthrough", version)
                run = (f"a={stair}", f"b={through}", f"c={through}", f"d={kit_fmu('BouncingBall', version)}",
                       *connect("a.counter=b.int32_in", "b.int32_out=c.int32_in", "d.h=c.float64_in"), "--interface",
                       interface, "--stop", "2.5", "--step", "0.4")
                place = *APART, "--place", "c=0", "--place", "d=1"
                for events in ("none", "output"):
                    self.same(*run, "--events", events, *place, plain=self.ran(*run, "--events", events),
                              fabrics=(threads(2), processes(2)))

    def test_the_times_of_alarms(self):
        alarm = test_fmu("Alarm", "3")
        run = (f"a={alarm}", f"b={alarm}", "--set", "a.at=0.13", "--set", "b.at=0.27", "--stop", "0.6", "--step", "0.1")
        self.same(*run, *APART, plain=self.ran(*run), fabrics=self.fabrics())


class Units(FabricTest):
    def test_every_version_and_interface(self):
        for version in VERSIONS:
            tracker = kit_fmu("Tracker", version)
            run = f"a={tracker}", f"b={tracker}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=1", "--stop", "1"
            self.same(*run, *APART, plain=self.ran(*run), fabrics=self.fabrics())
        for version in ME_VERSIONS:
            tracker = kit_fmu("Tracker", version)
            run = (f"a={tracker}", f"b={tracker}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=1", "--stop", "1",
                   "--interface", "me", "--solver", "dopri5")
            self.same(*run, *APART, plain=self.ran(*run), fabrics=(threads(2), processes(2)))

    def test_solvers_on_threads(self):
        """Several solvers at work at once: none may have a state that it shares with others."""
        vdp = kit_fmu("VanDerPol", "3")
        units = [f"v{n}={vdp}" for n in range(4)]
        for solver in ("cvode", "radau5", "bdf", "dirk"):
            run = *units, "--solver", solver, "--stop", "5", "--step", "0.5", "--rtol", "1e-6"
            self.same(*run, plain=self.ran(*run), fabrics=(threads(4), processes(2)))

    def test_steps_of_their_own(self):
        run = (f"a={TRACKER2}", f"b={TRACKER2}", f"c={kit_fmu('Once', '3')}", *connect("b.y=a.u", "c.x=b.u"), "--step", "0.1",
               "--step", "b=0.4", "--stop", "2")
        self.same(*run, *APART, "--place", "c=1", plain=self.ran(*run), fabrics=self.fabrics())

    def test_loops_at_the_start(self):
        """Blocks whose units are on different ranks, and two blocks that do not know of each other."""
        gains = [f"{name}={FEEDTHROUGH2}" for name in "abcd"]
        run = (*gains, *connect("a.float64_out=b.float64_in", "b.float64_out=a.float64_in", "c.float64_out=d.float64_in",
                                "d.float64_out=c.float64_in"), "--set", "a.gain=0.5", "--set", "c.gain=-0.3", "--stop", "0.3",
               "--step", "0.1")
        for place in ("0101", "0011", "0110", "1000"):
            options = [word for name, rank in zip("abcd", place) for word in ("--place", f"{name}={rank}")]
            self.same(*run, *options, plain=self.ran(*run), fabrics=(threads(2), processes(2)))


class Recording(FabricTest):
    RUN = (f"a={DAHLQUIST2}", f"b={TRACKER2}", f"c={FEEDTHROUGH3}", *connect("a.x=b.u", "b.y=c.float64_in"), "--stop", "1",
           "--step", "0.1")

    def test_what_is_recorded(self):
        """Columns in the order of units, whoever brings them; inputs, locals and parameters, too."""
        place = "--place", "a=1", "--place", "b=0", "--place", "c=1"
        for patterns in (["*"], ["b.*"], ["a.x", "c.float64_out"], ["?.x", "b.u"], ["c.*_in"], ["*.k"]):
            options = [word for pattern in patterns for word in ("--record", pattern)]
            self.same(*self.RUN, *options, *place, plain=self.ran(*self.RUN, *options), fabrics=(threads(2), processes(2)))

    def test_none(self):
        for fabric in self.fabrics():
            other = self.ran(*self.RUN, "--record", "none", fabric=fabric)
            self.assertEqual((other.status, other.err, other.files), (0, "", {}))

    def test_output_steps(self):
        for options in (("--output-step", "0.25"), ("--output-step", "0.05"), ("--output-step", "0.3", "--rtol", "1e-4")):
            self.same(*self.RUN, *options, plain=self.ran(*self.RUN, *options), fabrics=self.fabrics())

    def test_standard_output(self):
        plain = self.tutti("run", *self.RUN, "-o", "-", "--quiet").out
        self.assertEqual(len(Table(plain)), 11)
        for fabric in self.fabrics():
            process = self.start("run", *self.RUN, *fabric.options, "-o", "-", "--quiet", launcher=fabric.launcher)
            self.assertEqual(self.finish(process).out, plain, str(fabric))

    def test_many_rows(self):
        """More than any buffer between a rank and the writer holds, from ranks that are not equally fast."""
        run = (f"a={DAHLQUIST2}", f"b={kit_fmu('VanDerPol', '2')}", f"c={FEEDTHROUGH3}", *connect("a.x=c.float64_in"),
               "--stop", "20", "--step", "0.002", *JACOBI)
        place = "--place", "a=0", "--place", "b=1", "--place", "c=1"
        self.same(*run, *place, plain=self.ran(*run), fabrics=self.fabrics())

    def test_ports_of_the_system(self):
        fmu, = self.bring(kit_fmu("Heater", "2"))
        units = '<ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit>\n' \
                '<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>\n'
        rooms = [component(name, fmu, connector("T_outside", "input", unit="K"), connector("T", "output", unit="K"))
                 for name in ("a", "b")]
        path = self.write("rooms.ssd", ssd(system(
            *rooms, ports=connector("weather", "input", unit="degC") + connector("left", "output", unit="degC") +
            connector("right", "output", unit="K"), connect=connection("weather", "a.T_outside") +
            connection("weather", "b.T_outside") + connection("a.T", "left") + connection("b.T", "right")), units=units))
        trajectory = self.write("in.csv", "time,weather\n0,10\n5,12\n5,2\n100,10\n")
        run = path, "--input", trajectory, "--stop", "10", "--step", "1"
        for place in (APART, ("--place", "a=1", "--place", "b=0")):
            self.same(*run, *place, plain=self.ran(*run), fabrics=self.fabrics())


class Inputs(FabricTest):
    def test_ramps_and_jumps(self):
        """Each rank drives its own units; what cuts a step, cuts it for all."""
        trajectory = self.write("in.csv", "time,a.u,b.u,c.int32_in\n0,0,1,5\n0.31,0.6,1,5\n0.31,1,2,6\n0.66,-1,2,6\n1,0.5,0,7\n")
        run = (f"a={TRACKER2}", f"b={kit_fmu('Tracker', '3')}", f"c={FEEDTHROUGH3}", *connect("a.y=c.float64_in"), "--input",
               trajectory, "--stop", "1", "--step", "0.1")
        for options in (("--interface", "cs"), ("--interface", "me"), ("--control", "richardson")):
            self.same(*run, *options, *APART, "--place", "c=1", plain=self.ran(*run, *options), fabrics=self.fabrics())


class Endings(FabricTest):
    def environment(self, **extra):
        leaks = f"suppressions={self.write('leaks.txt', 'leak:Faulty.so')}:print_suppressions=0"
        return super().environment(LSAN_OPTIONS=leaks, **extra)

    def test_an_fmu_ends_the_run(self):
        """At one time for all; what other ranks have computed beyond it is no part of the result."""
        for version, options in (("2", ("--step", "0.4")), ("3", ("--step", "0.4")), ("2", ("--step", "0.3", *JACOBI)),
                                 ("3", ("--step", "0.3", "--step", "a=0.9", *JACOBI))):
            for wires in ((), connect("a.counter=b.u")):
                run = f"a={kit_fmu('Stair', version)}", f"b={TRACKER2}", *wires, "--stop", "12", *options
                plain = self.ran(*run)
                self.assertEqual(plain.status, 0, plain.err)
                self.assertLess(plain.stats["stop"], 12)
                for fabric in self.fabrics():
                    with self.subTest(fabric=str(fabric), run=" ".join(run[2:])):
                        other = self.ran(*run, *APART, fabric=fabric)
                        self.assertEqual((other.status, other.err, other.files), (0, "", plain.files))
                        self.assertEqual(other.stats["stop"], plain.stats["stop"])

    def test_an_fmu_that_fails(self):
        """The words of the plain run, and the rows up to there."""
        faulty = kit_fmu("Faulty", "2")
        run = (f"a={DAHLQUIST2}", f"b={faulty}", f"good={faulty}", *connect("a.x=b.u", "b.y=good.u"), "--stop", "1", "--step",
               "0.125")
        for kind in ("error", "fatal", "discard"):
            for coupling in (JACOBI, ("--coupling", "seidel")):
                env = {"KIT_FAULT": f"{kind} DoStep 0.5 @b"}
                plain = self.ran(*run, *coupling, env=env)
                self.assertEqual(plain.status, 1)
                for fabric in (threads(2), processes(2), *([mpi(2)] if has_mpi() else [])):
                    with self.subTest(kind=kind, fabric=str(fabric)):
                        other = self.ran(*run, *coupling, *APART, fabric=fabric, env=env)
                        self.assertEqual(other.status, 1)
                        self.assertEqual([line for line in other.err.splitlines() if line.startswith("tutti: ")],
                                         plain.err.splitlines())
                        self.assertEqual(other.files, plain.files)

    def test_an_fmu_that_fails_at_the_start(self):
        faulty = kit_fmu("Faulty", "2")
        run = f"a={DAHLQUIST2}", f"b={faulty}", *connect("a.x=b.u"), "--stop", "1"
        for call in ("Instantiate", "EnterInitializationMode", "ExitInitializationMode", "GetReal"):
            env = {"KIT_FAULT": f"error {call}"}
            plain = self.ran(*run, env=env)
            for fabric in (threads(2), processes(2)):
                for place in (APART, ("--place", "a=1", "--place", "b=0")):
                    with self.subTest(call=call, fabric=str(fabric)):
                        other = self.ran(*run, *place, fabric=fabric, env=env)
                        self.assertEqual((other.status, other.err), (plain.status, plain.err))

    def test_a_discarded_step_of_fmi3(self):
        """Half of it is tried again, by that unit alone."""
        run = (f"a={DAHLQUIST2}", f"b={kit_fmu('Faulty', '3')}", *connect("a.x=b.u"), "--stop", "1", "--step", "0.25")
        env = {"KIT_FAULT": "discard DoStep 0.5"}
        for coupling in (JACOBI, ("--rtol", "1e-3")):
            self.same(*run, *coupling, *APART, plain=self.ran(*run, *coupling, env=env), env=env,
                      fabrics=(threads(2), processes(2)))

    def test_two_that_fail(self):
        """Whoever comes first: one message, and it is about one of them."""
        faulty = kit_fmu("Faulty", "2")
        run = f"a={faulty}", f"b={faulty}", *connect("a.y=b.u"), "--stop", "1", "--step", "0.125"
        for fabric in (threads(2), processes(2)):
            other = self.ran(*run, *APART, fabric=fabric, env={"KIT_FAULT": "error DoStep 0.5"})
            self.assertEqual(other.status, 1)
            message, = [line for line in other.err.splitlines() if "fmi2DoStep" in line]
            self.assertRegex(message, r"\b[ab]\b.*t = 0\.5\b")

    def test_an_unknown_variable(self):
        """What is wrong with the command line is said once, and costs nobody a result."""
        for fabric in self.fabrics():
            other = self.ran(f"a={TRACKER2}", f"b={TRACKER2}", "--set", "a.nonsense=1", fabric=fabric)
            self.assertEqual(other.status, 2, f"{fabric}: {other.err}")
            self.assertEqual(other.err.count("nonsense"), 1, f"{fabric}: {other.err}")
            self.assertEqual(other.files, {})


class Realtime(FabricTest):
    def test_never_faster(self):
        run = (f"a={TRACKER2}", f"b={TRACKER2}", *connect("a.y=b.u"), "--stop", "0.2", "--step", "0.01")
        plain = self.ran(*run)
        for fabric in (threads(2), processes(2)):
            begin = time.monotonic()
            other = self.ran(*run, "--realtime", "1", fabric=fabric)
            self.assertGreaterEqual(time.monotonic() - begin, 0.2)
            self.assertGreaterEqual(other.stats["loop_seconds"], 0.2 - 1e-9)
            self.assertEqual(other.files, plain.files)


class Temporary(FabricTest):
    def test_archives_are_unpacked_once(self):
        """FMUs find their resources wherever they run."""
        fmu = kit_fmu("Resource", "3")
        run = f"a={fmu}", f"b={fmu}", f"c={kit_fmu('Resource', '2')}", "--stop", "1", "--step", "0.1"
        self.same(*run, plain=self.ran(*run), fabrics=self.fabrics())

    def test_an_older_result_is_kept(self):
        path = pathlib.Path(self.path("old.csv"))
        path.write_text("precious", encoding="utf-8")
        for fabric in (threads(2), processes(2)):
            self.tutti("run", f"a={TRACKER2}", f"b={TRACKER2}", "--record", "nothing", "-o", "old.csv", *fabric.options, status=2)
            self.assertEqual(path.read_text("utf-8"), "precious")


if __name__ == "__main__":
    unittest.main()
