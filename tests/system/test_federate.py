# SPDX-License-Identifier: MIT
"""<tutti/federate.h>: programs in C that join a federation, the examples in examples/programs."""
import pathlib
import signal
import socket
import subprocess
import threading
import unittest

from command import PATIENCE, ROOT, TUTTI, wait_until
from fedpro import FOM, RtiTest, real

PROGRAMS = pathlib.Path(TUTTI).parent / "examples" / "programs"
MODULE = ROOT / "examples" / "programs" / "room.xml"


class Relay:
    """Carries bytes between federates and an RTI, and cuts connections."""

    def __init__(self, test, address):
        host, _, port = address.rpartition(":")
        self.target = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.pairs, self.cuts = [], 0
        test.addCleanup(self.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while self.listener.fileno() >= 0:
            try:
                near, _ = self.listener.accept()
            except OSError:  # cut before it was taken
                continue
            far = socket.create_connection(self.target)
            for sock in (near, far):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one, other):
        try:
            while data := one.recv(4096):
                other.sendall(data)
        except OSError:
            pass
        self.shut(one, other)

    @staticmethod
    def shut(*socks):
        for sock in socks:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        pairs, self.pairs = self.pairs, []
        self.cuts += len(pairs)
        for pair in pairs:
            self.shut(*pair)

    def close(self):
        self.cut()
        self.listener.close()


class Programs(RtiTest):
    def start(self, name, *arguments):
        return self.spawn([PROGRAMS / name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ends(self, process, status=0):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, status, err)
        return out + err

    def test_room_and_thermostat(self):
        """The room comes to the temperature that the same equations give when they are computed here."""
        rti = self.rti()
        processes = [self.start(f"federate_{name}", MODULE, rti.address) for name in ("room", "thermostat")]
        rooms, switched = (self.ends(process) for process in processes)
        temperature, on, said, times = 15.0, 0.0, False, 0
        pending = {}
        for n in range(1, 361):
            temperature += 10 * (2000 * on - (temperature - 10) * 100) / 200000
            on = pending.pop(n, on)
            wanted = temperature < 19 or (said and temperature < 21)
            if wanted != said:
                said, times = wanted, times + 1
                pending[n + 1] = float(wanted)
        self.assertEqual(rooms, f"{temperature:.2f} degrees after 3600 s\n")
        self.assertEqual(switched, f"switched {times} times\n")

    def test_cut_connections(self):
        """The same bits when connections are cut again and again."""
        results = []
        for cuts in (False, True):
            rti = self.rti()
            relay = Relay(self, rti.address)
            processes = [self.start(f"federate_{name}", MODULE, relay.address) for name in ("room", "thermostat")]
            self.assertTrue(wait_until(lambda log=rti: all(f"{name} joins" in log.text() for name in ("room", "thermostat"))), rti.text())
            while cuts and relay.cuts < 30 and any(process.poll() is None for process in processes):
                relay.cut()
                threading.Event().wait(0.01)
            results.append([self.ends(process) for process in processes])
            self.assertTrue(not cuts or relay.cuts > 0)
        self.assertEqual(results[0], results[1])

    def test_the_rti_is_killed(self):
        rti = self.rti()
        gate = self.federate(rti)
        gate.join("house", "gate", fom=MODULE.read_text())
        gate.subscribe("Room", "T")
        room = self.start("federate_room", MODULE, rti.address)
        gate.wait("discoverObjectInstance")
        rti.end(signal.SIGKILL)
        self.assertRegex(self.ends(room, 1), r"room: (the RTI at \S+ is lost|127\S+): ")

    def test_words(self):
        """What a program is told that does something wrong."""
        rti = self.rti()
        self.assertRegex(self.ends(self.start("federate_watch", "house", "Room", "T", rti.address), 1),
                         "watch: FederationExecutionDoesNotExist: .*house")
        gate = self.federate(rti)
        gate.join("house", "room", fom=FOM)
        self.assertRegex(self.ends(self.start("federate_watch", "house", "Boat", "T", rti.address), 1), "watch: NameNotFound: .*Boat")
        self.assertRegex(self.ends(self.start("federate_room", MODULE, rti.address), 1), "room: FederateNameAlreadyInUse: ")
        self.assertRegex(self.ends(self.start("federate_room", "missing.xml", rti.address), 1), "missing.xml cannot be opened")
        self.assertRegex(self.ends(self.start("federate_room", MODULE, "127.0.0.1:1"), 1), "no RTI answers at 127.0.0.1:1: ")
        self.assertRegex(self.ends(self.start("federate_room", MODULE, "a:b:c"), 1), "is not HOST:PORT")

    def test_watching(self):
        rti = self.rti()
        one = self.federate(rti)
        one.join("road", "one", fom=FOM)
        car, (z,) = one.publish("Car", "z")
        watch = self.start("federate_watch", "road", "Car", "z", rti.address)
        one.call("ReserveObjectInstanceName", objectInstanceName="beetle")
        one.wait("objectInstanceNameReservationSucceeded")
        beetle = one.call("RegisterObjectInstanceWithName", objectClass=car, objectInstanceName="beetle")
        self.assertEqual(watch.stdout.readline(), "beetle is there\n")
        for value in (1.5, -2.25):
            one.call("UpdateAttributeValues", objectInstance=beetle,
                     attributeValues=one.values([(z, real(value))]))
        one.call("DeleteObjectInstance", objectInstance=beetle)
        self.assertEqual(self.ends(watch), "0 beetle.z 1.5\n0 beetle.z -2.25\n")


if __name__ == "__main__":
    unittest.main()
