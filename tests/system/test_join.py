# SPDX-License-Identifier: MIT
"""tutti run --join: a run as one federate of a federation."""
import json
import re
import signal
import subprocess
import unittest

import test_rti_transports
from command import JACOBI, PATIENCE, THREAD_SANITIZED, Table, kit_fmu, test_fmu, wait_until
from fedpro import FOM, Ended, at, real
from test_federate import MODULE, PROGRAMS

CAR = PROGRAMS.parent / "quarter_car"
CHASSIS, WHEEL = (f"{name.lower()}={CAR / f'Quarter{name}_fmi2.fmu'}" for name in ("Chassis", "Wheel"))
STEP = ("--step", "0.01", "--stop", "0.5")


def links(kind, *those):
    return [word for text in those for word in (f"--{kind}", text)]


OF_CHASSIS = (*links("publish", "chassis.x=Chassis.x", "chassis.v=Chassis.v"),
              *links("subscribe", "Wheel.x=chassis.x_wheel", "Wheel.v=chassis.v_wheel"))
OF_WHEEL = (*links("publish", "wheel.x=Wheel.x", "wheel.v=Wheel.v"),
            *links("subscribe", "Chassis.x=wheel.x_chassis", "Chassis.v=wheel.v_chassis"))


class JoinTest(test_rti_transports.TransportTest):
    def join(self, rti, *arguments, name="fed", output="-", **more):
        """Starts a run that joins."""
        process = self.start("run", *arguments, "--join", f"{rti.address}/{name}", "-o", output, "--quiet", **more)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def ends(self, process, status=0, says=""):
        """Several runs share TMPDIR: what finish() looks for is for the last one."""
        out, err = (text.decode() for text in process.communicate(timeout=PATIENCE))
        self.assertEqual(process.returncode, status, err)
        if says:
            self.assertRegex(err, says)
        else:
            self.assertEqual(err, "")
        return out

    def ready(self, rti):
        """Waits until the run has begun: before that, time must not go on."""
        self.assertTrue(wait_until(lambda: "Federate-2 is granted 0\n" in rti.text()), rti.text())

    def peer(self, rti, name="fed", *, fom=FOM, lookahead=0.009):
        """A federate of the tests, which publishes z of cars."""
        peer = self.federate(rti)
        peer.join(name, "peer", fom=fom)
        peer.car, (peer.z,) = peer.publish("Car", "z")
        peer.regulate(lookahead)
        peer.constrain()
        peer.body = peer.call("RegisterObjectInstance", objectClass=peer.car)
        return peer

    @staticmethod
    def tell(peer, time, value):
        peer.call("UpdateAttributeValuesWithTime", objectInstance=peer.body, time=at(time),
                  attributeValues=peer.values([(peer.z, value if isinstance(value, bytes) else real(value))]))


class Car(JoinTest):
    def one(self):
        return Table(self.tutti("run", CHASSIS, WHEEL, *links("connect", "chassis.x=wheel.x_chassis", "chassis.v=wheel.v_chassis",
                                                             "wheel.x=chassis.x_wheel", "wheel.v=chassis.v_wheel"),
                                *STEP, *JACOBI, "-o", "-", "--quiet").out)

    def check_two(self, *options):
        rti, one = self.rti(), self.one()
        runs = [self.join(rti, fmu, *STEP, *those, *options) for fmu, those in ((CHASSIS, OF_CHASSIS), (WHEEL, OF_WHEEL))]
        for unit, run in zip(("chassis", "wheel"), runs):
            table = Table(self.ends(run))
            for column in ("time", "x", "v"):
                self.assertEqual(table.texts(column), one.texts(column if column == "time" else f"{unit}.{column}"), unit)
        self.assertIn("a federation is destroyed: fed", rti.text())

    def test_two_federates_are_one_system(self):
        """To the bit, with a lookahead of a step; and with less."""
        for options in (("--lookahead", "0.01"), ("--lookahead", "0"), ("--federates", "2")):
            with self.subTest(options=options):
                self.check_two(*options)

    def test_ranks(self):
        """A system that has joined gives the same bytes on every fabric."""
        results = []
        forked = () if THREAD_SANITIZED else (("--processes", "2"),)  # it ends a process that has threads before and after a fork
        for where in ((), ("--threads", "2"), *forked):
            rti = self.rti("--verbose")
            peer = self.peer(rti)
            run = self.join(rti, CHASSIS, WHEEL, *STEP, *JACOBI, *where,
                            *links("connect", "chassis.x=wheel.x_chassis", "chassis.v=wheel.v_chassis", "wheel.x=chassis.x_wheel"),
                            *links("subscribe", "Car.z=chassis.v_wheel"), *links("publish", "wheel.x=Wheel.x", "chassis.x=Chassis.x"))
            self.ready(rti)
            for n in range(1, 51):
                self.tell(peer, n * 0.01, n % 7)
                peer.advance("TimeAdvanceRequest", n * 0.01)
                peer.granted()
            results.append(self.ends(run))
        self.assertEqual(results[0].count("\n"), 52)
        self.assertEqual(set(results), {results[0]})

    def test_longer_lookahead(self):
        """It speaks, and asks, when so much time has passed, and a step ends there."""
        rti = self.rti("--record", self.path("sent.csv"))
        table = Table(self.ends(self.join(rti, CHASSIS, "--step", "0.1", "--stop", "1", "--lookahead", "0.25", *OF_CHASSIS[:2],
                                          "--federates", "1")))
        self.assertEqual(table["time"], sorted([n * 0.1 for n in range(10)] + [0.25, 0.75, 1]))
        rti.end(signal.SIGTERM)
        self.assertEqual([float(t) for t in self.result("sent.csv").texts("stamp")], [0, 0.25, 0.5, 0.75, 1])

    def test_only_accepted_steps_are_sent(self):
        """Steps that are taken back stay inside of the run."""
        rti = self.rti("--record", self.path("sent.csv"))
        self.ends(self.join(rti, CHASSIS, WHEEL, "--stop", "0.3", "--lookahead", "0", "--control", "richardson", "--coupling", "jacobi",
                            *links("connect", "chassis.x=wheel.x_chassis", "chassis.v=wheel.v_chassis", "wheel.x=chassis.x_wheel",
                                   "wheel.v=chassis.v_wheel"), "--publish", "wheel.x=Wheel.x", "--stats", self.path("stats.json"),
                            output=self.path("result.csv")))
        rti.end(signal.SIGTERM)
        self.assertGreater(json.loads((self.folder / "stats.json").read_text(encoding="utf-8"))["rejected"], 0)
        table, sent = self.result(), self.result("sent.csv")
        self.assertEqual(sent["stamp"], table["time"])
        self.assertEqual(sent["value"], table["wheel.x"])

    def test_annotation(self):
        """What the command line says, an SSP says, too."""
        rti = self.rti()
        self.tutti("new", "wheel.ssp", WHEEL, "--join", f"{rti.address}/fed", *OF_WHEEL, "--lookahead", "0.01", *STEP)
        one = self.one()
        runs = [self.start("run", "wheel.ssp", "-o", "-", "--quiet"), self.join(rti, CHASSIS, *STEP, *OF_CHASSIS)]
        table = Table(self.ends(runs[0]))
        self.ends(runs[1])
        self.assertEqual(table.texts("wheel.x"), one.texts("wheel.x"))


class Peers(JoinTest):
    def test_c_program(self):
        """A thermostat in C, with a FOM of its own, a point of synchronization of its own, and numbers for a switch."""
        rti = self.rti()
        tank = self.join(rti, f"tank={test_fmu('Tank', '2')}", "--step", "10", "--stop", "3600", "--fom", MODULE, name="house",
                         *["--publish", "tank.x=Room.T", "--subscribe", "Heater.on=tank.u", "--record", "tank.x"])
        program = subprocess.run([PROGRAMS / "federate_thermostat", MODULE, rti.address], cwd=self.folder, env=self.environment(),
                                 stdout=subprocess.PIPE, timeout=PATIENCE, check=True, text=True)
        self.assertEqual(program.stdout, "switched 2 times\n")
        table = Table(self.ends(tank))
        # On at 10, known at 20; at 40 there are 20 degrees, and at 50 there are 30: off, known at 60.
        self.assertEqual(table["x"][:8], [0, 0, 0, 10, 20, 30, 40, 40])
        self.assertEqual(table["x"][-1], 40)

    def test_next_message(self):
        """A step ends where a message comes from a peer that goes by events; its value is an event of the unit."""
        rti = self.rti("--verbose")
        peer = self.peer(rti)
        peer.subscribe("Car", "z")
        run = self.join(rti, f"unit={kit_fmu('Feedthrough', '3')}", "--step", "0.1", "--stop", "0.5", "--advance", "nmr", "--lookahead", "0.02",
                        *links("subscribe", "Car.z=unit.float64_discrete_in"), *links("publish", "unit.float64_discrete_out=Bus.y"),
                        "--record", "unit.float64_discrete_out")
        self.ready(rti)
        self.tell(peer, 0.25, 3.5)
        self.tell(peer, 0.3, 4.5)
        peer.advance("TimeAdvanceRequest", 1)
        table = Table(self.ends(run))
        self.assertEqual(table.texts("time"), ["0", "0.1", "0.2", "0.25", "0.25", "0.3", "0.3", "0.4", "0.5"])
        self.assertEqual(table["float64_discrete_out"], [0, 0, 0, 0, 3.5, 3.5, 4.5, 4.5, 4.5])

    def test_answers_at_once(self):
        """With nmra and tara, and no lookahead, what a unit makes of a value is sent at the same time."""
        for how in ("nmra", "tara"):
            with self.subTest(how=how):
                rti = self.rti("--verbose", "--record", self.path(f"{how}.csv"))
                peer = self.peer(rti, lookahead=0.05)
                run = self.join(rti, f"unit={kit_fmu('Feedthrough', '3')}", "--step", "0.1", "--stop", "0.3", "--advance", how,
                                *links("subscribe", "Car.z=unit.float64_discrete_in"), *links("publish", "unit.float64_discrete_out=Bus.y"))
                self.ready(rti)
                self.tell(peer, 0.2, 3.5)
                peer.advance("TimeAdvanceRequest", 1)
                self.ends(run)
                rti.end(signal.SIGTERM)
                rows = self.result(f"{how}.csv")
                sent = [(float(t), float(y)) for t, y, name in zip(*(rows.texts(n) for n in ("stamp", "value", "member"))) if name == "y"]
                self.assertIn((0.2, 3.5), sent)
                self.assertEqual(sent[-1], (0.2, 3.5) if how == "nmra" else (0.3, 3.5))

    def test_types(self):
        """Values of all types come through as they are."""
        names = {"float64": "-1.5e300", "float32": "0.1", "int8": "-128", "uint8": "255", "int16": "-32768", "uint16": "65535",
                 "int32": "-1000000000", "uint32": "4294967295", "int64": "-9223372036854775808", "uint64": "18446744073709551615",
                 "boolean": "true", "string": "Grüße 𝄞", "color": "3", "binary": "00ff10", "vector": None}
        rti = self.rti()
        unit = f"unit={kit_fmu('Feedthrough', '3')}"
        times = ("--step", "0.1", "--stop", "0.3")
        out = [f"unit.{n}_out{'[2]' if n == 'vector' else ''}=Bus.{n}" for n in names]
        into = [f"Bus.{n}=unit.{n}_in{'[2]' if n == 'vector' else ''}" for n in names]
        values = [f"unit.{n}_in={v}" for n, v in names.items() if v is not None]
        source = self.join(rti, unit, *times, *links("publish", *out), *links("set", *values), "--federates", "2")
        sink = self.join(rti, unit, *times, *links("subscribe", *into), "--federates", "2", "--record", "unit.*_out*")
        sent, got = Table(self.ends(source)), Table(self.ends(sink))
        for name in names:
            column = f"{name}_out[2]" if name == "vector" else f"{name}_out"
            self.assertEqual(got.texts(column)[-1], sent.texts(column)[0], name)

    def test_a_peer_leaves(self):
        """Its last values stay, with a word; time goes on."""
        rti = self.rti("--verbose")
        peer = self.peer(rti)
        run = self.start("run", f"tank={test_fmu('Tank', '2')}", "--step", "0.1", "--stop", "1", *links("subscribe", "Car.z=tank.u"),
                         "--join", f"{rti.address}/fed", "-o", "-")
        self.ready(rti)
        self.tell(peer, 0.1, 2)
        peer.advance("TimeAdvanceRequest", 0.1)
        peer.granted()
        peer.call("ResignFederationExecution", resignAction=4)
        out, err = (text.decode() for text in run.communicate(timeout=PATIENCE))
        self.assertEqual(run.returncode, 0, err)
        self.assertAlmostEqual(Table(out)["y"][-1], 1.8)
        self.assertRegex(err, "warning: t = 0.[12].*: the object '.*' has left the federation; inputs keep its last values")

    def test_the_server_is_killed(self):
        """The run ends with a sentence, and keeps its rows."""
        rti = self.rti("--verbose")
        peer = self.peer(rti)
        run = self.join(rti, f"tank={test_fmu('Tank', '2')}", "--step", "0.1", "--stop", "1", *links("subscribe", "Car.z=tank.u"),
                        "--patience", "0.1", output=self.path("kept.csv"))
        self.ready(rti)
        for n in (1, 2, 3):
            self.tell(peer, n / 10, n)
            peer.advance("TimeAdvanceRequest", n / 10)
            peer.granted()
        rti.end(signal.SIGKILL)
        self.ends(run, 1, r"^tutti: error: t = 0\.[34]\d*: (the RTI at \S+ is lost|127\S+): ")
        self.assertGreaterEqual(len(self.result("kept.csv")), 4)
        with self.assertRaises((Ended, OSError)):
            peer.heartbeat()

    def test_interrupted(self):
        """A run that waits for others can be ended."""
        rti = self.rti()
        run = self.join(rti, f"tank={test_fmu('Tank', '2')}", *links("subscribe", "Car.z=tank.u"))
        self.assertTrue(wait_until(lambda: "joins" in rti.text()), rti.text())
        run.send_signal(signal.SIGINT)
        self.ends(run, 130, "interrupted")
        self.assertTrue(wait_until(lambda: "resigns" in rti.text()), rti.text())


class Words(JoinTest):
    def test_refused(self):
        tank = f"tank={test_fmu('Tank', '2')}"
        join = ("--join", "127.0.0.1:1/fed")
        publish, subscribe = ("--publish", "tank.x=Car.z"), ("--subscribe", "Car.z=tank.u")
        cases = [
            (2, (*publish,), "--publish needs --join"),
            (2, ("--join", "127.0.0.1"), "--join takes HOST:PORT/FEDERATION"),
            (2, (*join, "--publish", "tank.x"), "--publish takes UNIT.VAR=CLASS.ATTRIBUTE"),
            (2, (*join, "--publish", "tank.x=z"), "--publish takes"),
            (2, (*join, "--publish", "tank.q=Car.z"), "tank.*'q'|no variable|q"),
            (2, (*join, "--subscribe", "Car.z=tank.x"), "inputs and tunable parameters can be driven"),
            (2, (*join, *subscribe, "--subscribe", "Road.z=tank.u"), "two values to one input"),
            (2, (*join, *publish, "--publish", "tank.u=Car.z"), "two values to one attribute"),
            (2, (*join, *publish, "--advance", "nmr", "--lookahead", "0"), "nmr needs a --lookahead greater than 0"),
            (2, (*join, *publish, "--advance", "tara", "--lookahead", "1"), "tara .* a --lookahead of 0"),
            (2, (*join, *publish, "--lookahead", "-1"), "--lookahead takes a number from 0 on"),
            (1, (*join, *publish, "--checkpoint", "c"), "leave out --checkpoint"),
            (1, (*join, *publish, "--nodes", "localhost:1"), "--join|node"),
            (1, (*join, *publish, "--fom", "missing.xml"), "--fom: missing.xml cannot be read"),
            (2, (*join, *publish, "--fom", MODULE), "no object class Car"),
            (1, (*join, *publish), "no RTI answers at 127.0.0.1:1"),
        ]
        for status, options, says in cases:
            with self.subTest(options=options):
                self.refused("run", tank, *options, status=status, says=says)

    def test_of_the_federation(self):
        """What the RTI says, and what two runs may do wrong."""
        rti = self.rti("--verbose")
        peer = self.peer(rti)
        tank = f"tank={test_fmu('Tank', '2')}"
        self.ends(self.join(rti, tank, "--publish", "tank.x=Car.z", "--set", "tank.u=1", "--federates", "1", "--federate", "peer"), 1,
                  "FederateNameAlreadyInUse")
        self.ends(self.join(rti, f"unit={kit_fmu('Feedthrough', '3')}", "--publish", "unit.int32_out=Car.z"), 1, "InconsistentFOM")
        other = self.peer2(rti)
        self.ends(self.join(rti, tank, "--subscribe", "Car.z=tank.u"), 1, r"several objects of class Car.*as in Car\[.*\]\.z")
        other.call("ResignFederationExecution", resignAction=4)
        peer.advance("TimeAdvanceRequest", 5)
        peer.granted()
        self.ends(self.join(rti, tank, "--subscribe", "Car.z=tank.u"), 1, "has gone on to t = 5.*, and the run begins at 0")
        peer.call("ResignFederationExecution", resignAction=4)

    def peer2(self, rti):
        other = self.federate(rti)
        other.join("fed", "other", fom=FOM)
        other.car, _ = other.publish("Car", "z")
        other.call("RegisterObjectInstance", objectClass=other.car)
        return other

    def test_bad_bytes(self):
        rti = self.rti("--verbose")
        peer = self.peer(rti)
        run = self.join(rti, f"tank={test_fmu('Tank', '2')}", "--step", "0.1", "--subscribe", "Car.z=tank.u")
        self.ready(rti)
        self.tell(peer, 0.1, b"abc")
        peer.advance("TimeAdvanceRequest", 0.1)
        self.ends(run, 1, r"--subscribe 'Car.z=tank.u': t = 0.1: 3 bytes that are no HLAfloat64BE")

    def test_key(self):
        key = self.write("key.txt", "open sesame\n")
        (self.folder / "key.txt").chmod(0o600)
        rti = self.rti("--key", key)
        tank = (f"tank={test_fmu('Tank', '2')}", "--step", "0.1", "--publish", "tank.x=Tank.x")
        self.ends(self.join(rti, *tank), 1, "InvalidCredentials|Unauthorized")
        self.ends(self.join(rti, *tank, "--key", key))


    def test_tls(self):
        """Certificates of the RTI, and of the run."""
        own, key = self.certificate("own")
        both = self.write("both.pem", own.read_text() + key.read_text())
        rti, trusted = self.tls_rti("--allow", own)
        tank = (f"tank={test_fmu('Tank', '2')}", "--step", "0.1", "--publish", "tank.x=Tank.x", "--patience", "0.1")
        self.ends(self.join(rti, *tank, "--tls-cert", own), 1, "certificate|ended the connection")
        self.ends(self.join(rti, *tank, "--tls-cert", trusted, "--tls-own", both))


class Model(JoinTest):
    def test_new_fom(self):
        """The object model of a run, as a file that an RTI reads."""
        self.tutti("new", "--fom", "car.xml", CHASSIS, *links("publish", "chassis.x=Vehicle.Car.x", "chassis.v=Vehicle.Car[left].v"),
                   *links("subscribe", "Road.z=chassis.x_wheel", "Vehicle.mass=chassis.v_wheel"))
        text = (self.folder / "car.xml").read_text(encoding="utf-8")
        self.assertEqual(re.findall("<name>(.*?)</name>", text),
                         ["chassis", "HLAobjectRoot", "Vehicle", "mass", "Car", "x", "v", "Road", "z", "HLAinteractionRoot"])
        self.assertEqual(text.count("HLAfloat64BE"), 4)
        rti = self.rti("--fom", self.path("car.xml"))
        run = self.join(rti, CHASSIS, *STEP, "--fom", "car.xml", "--publish", "chassis.x=Vehicle.Car.x")
        self.ends(run)
        self.refused("new", "--fom", "car.xml", CHASSIS, "--publish", "chassis.x=", status=2, says="--publish takes")


if __name__ == "__main__":
    unittest.main()
