# SPDX-License-Identifier: MIT
"""`tutti rti --record`: what federates send, as a file."""
import csv
import math
import pathlib
import resource
import signal
import unittest

from command import TUTTI, wait_until
from fedpro import FOM, TYPES, RtiTest, at, real

HAS_HDF5 = (pathlib.Path(TUTTI).parent / "tutti_hdf5.so").exists()
COLUMNS = ["time", "federation", "federate", "kind", "name", "member", "stamp", "value", "bytes"]
SENT = [["update", "beetle", "z", math.nan, 1.5, real(1.5)],
        ["update", "beetle", "v", math.nan, math.nan, b"\x01\xff"],
        ["update", "beetle", "z", 3, -2, real(-2)],
        ["interaction", "HLAinteractionRoot.Honk", "pitch", 4.25, 440, real(440)]]


class RecordTest(RtiTest):
    def begin(self, rti):
        """A federate that regulates, with a car."""
        one = self.federate(rti)
        one.join("road", "one", fom=FOM)
        car, self.attributes = one.publish("Car", "z", "v")
        one.call("ReserveObjectInstanceName", objectInstanceName="beetle")
        one.wait("objectInstanceNameReservationSucceeded")
        body = one.call("RegisterObjectInstanceWithName", objectClass=car, objectInstanceName="beetle")
        one.regulate(1)
        return one, body

    def send(self, one, body):
        """SENT, and something that the RTI refuses."""
        z, v = self.attributes
        honk = one.call("GetInteractionClassHandle", interactionClassName="Honk")
        pitch = one.call("GetParameterHandle", interactionClass=honk, parameterName="pitch")
        one.call("PublishInteractionClass", interactionClass=honk)
        one.call("UpdateAttributeValues", objectInstance=body, attributeValues=one.values([(z, real(1.5)), (v, b"\x01\xff")]))
        one.call("UpdateAttributeValuesWithTime", objectInstance=body, attributeValues=one.values([(z, real(-2))]), time=at(3))
        one.fails("InvalidLogicalTime", "UpdateAttributeValuesWithTime", objectInstance=body,
                  attributeValues=one.values([(z, real(7))]), time=at(0.5))
        one.call("SendInteractionWithTime", interactionClass=honk, time=at(4.25), parameterValues=TYPES["ParameterHandleValueMap"](
            parameterHandleValue=[TYPES["ParameterHandleValue"](parameterHandle=pitch, value=real(440))]))

    def play(self, *options):
        rti = self.rti(*options)
        one, body = self.begin(rti)
        self.send(one, body)
        one.terminate()
        rti.end()


class Lines(RecordTest):
    def test_csv(self):
        self.play("--record", "sent.csv")
        with open(self.path("sent.csv"), newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        self.assertEqual(head, COLUMNS)
        times = [float(row.pop(0)) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertEqual([row[2:] for row in rows], [[*texts, f"{stamp:.17g}", f"{value:.17g}", data.hex()]
                                                     for *texts, stamp, value, data in SENT])
        self.assertEqual({tuple(row[:2]) for row in rows}, {("road", "one")})

    def test_pictures(self):
        self.play("--record", "sent.csv")
        shown = self.tutti("plot", "sent.csv", "-o", "sent.svg", "-v", "beetle.z", "-v", "*Honk.pitch")
        self.assertIn("beetle.z", pathlib.Path(self.path("sent.svg")).read_text())
        self.assertIn("without a time", shown.err)
        pathlib.Path(self.path("wanted.csv")).write_text("time,beetle.z,HLAinteractionRoot.Honk.pitch\n3,-2,nan\n4.25,-2,440\n")
        self.assertIn("2 variables", self.tutti("compare", "sent.csv", "wanted.csv").out)

    def test_other_formats(self):
        self.play("--record", "sent.jsonl")
        self.assertIn('"beetle"', pathlib.Path(self.path("sent.jsonl")).read_text())
        self.assertIn("do not hold", self.tutti("rti", "--listen", "127.0.0.1:0", "--record", "sent.mat", status=2).err)
        self.assertIn("sent.txt", self.tutti("rti", "--listen", "127.0.0.1:0", "--record", "sent.txt", status=2).err)


@unittest.skipUnless(HAS_HDF5, "this build has no HDF5")
class Hdf5(RecordTest):
    def rows(self, name="sent.h5"):
        import h5py  # pylint: disable=import-outside-toplevel

        with h5py.File(self.path(name), "r") as file:
            self.assertEqual(sorted(file), sorted(COLUMNS))
            self.assertIn("Tutti", file.attrs["creator"])
            columns = [file[name].asstr()[:] if h5py.check_string_dtype(file[name].dtype) else file[name][:] for name in COLUMNS]
        return [list(row) for row in zip(*columns)]

    def has_all(self):
        """While rows are being written, which may be just now, the file cannot be read."""
        try:
            return len(self.rows()) == len(SENT)
        except OSError:
            return False

    def assert_sent(self, rows):
        self.assertEqual([row[1:3] for row in rows], [["road", "one"]] * len(SENT))
        self.assertEqual([row[3:6] for row in rows], [row[:3] for row in SENT])
        self.assertEqual([repr(float(x)) for row in rows for x in row[6:8]], [repr(float(x)) for row in SENT for x in row[3:5]])
        self.assertEqual([bytes(row[8]) for row in rows], [row[5] for row in SENT])
        times = [row[0] for row in rows]
        self.assertEqual(times, sorted(times))

    def test_what_was_sent(self):
        self.play("--record", "sent.h5")
        self.assert_sent(self.rows())

    def test_while_it_goes_on_and_after_a_kill(self):
        rti = self.rti("--record", "sent.h5")
        self.assertEqual(self.rows(), [])
        one, body = self.begin(rti)
        self.send(one, body)
        self.assertTrue(wait_until(self.has_all))
        rti.end(signal.SIGKILL)
        self.assert_sent(self.rows())

    def test_many_rows_and_long_values(self):
        rti = self.rti("--record", "sent.h5")
        one, body = self.begin(rti)
        _, v = self.attributes
        sizes = [i * 37 % 5000 for i in range(3000)]
        for size in sizes:
            one.call("UpdateAttributeValues", objectInstance=body, attributeValues=one.values([(v, bytes(size % 256 for _ in range(size)))]))
        one.terminate()
        rti.end()
        rows = self.rows()
        self.assertEqual([len(row[8]) for row in rows], sizes)
        self.assertTrue(all(set(row[8]) <= {len(row[8]) % 256} for row in rows))

    def test_a_full_disk(self):
        rti = self.rti("--record", "sent.h5")
        one, body = self.begin(rti)
        self.send(one, body)
        self.assertTrue(wait_until(self.has_all))
        size = self.folder.joinpath("sent.h5").stat().st_size
        resource.prlimit(rti.process.pid, resource.RLIMIT_FSIZE, (size + 100000, size + 100000))
        _, v = self.attributes
        for _ in range(10):
            one.call("UpdateAttributeValues", objectInstance=body, attributeValues=one.values([(v, bytes(100000))]))
        self.assertTrue(wait_until(lambda: "sent.h5" in rti.text()), rti.text())  # told when it happens, and the federation goes on
        one.call("UpdateAttributeValues", objectInstance=body, attributeValues=one.values([(v, b"1")]))
        one.terminate()
        rti.end(signal.SIGINT)
        self.assertEqual(rti.process.returncode, 1)
        self.assertIn("cannot write", rti.text())
        self.assert_sent(self.rows())


if __name__ == "__main__":
    unittest.main()
