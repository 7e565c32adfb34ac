#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CAN between units (fmi-ls-bus): operations that this test packs itself, what the bus simulation makes of them, and when."""
import csv
import json
import re
import struct
import unittest

from command import CommandTest, kit_fmu

BUS, PROBE = kit_fmu("CanBus", "3"), kit_fmu("CanProbe", "3")
TRANSMIT, CONFIRM, LOST, BUS_ERROR, CONFIGURATION, STATUS, WAKEUP, FORMAT_ERROR = 0x10, 0x20, 0x30, 0x31, 0x40, 0x41, 0x42, 0x01


def operation(code, arguments=b""):
    return struct.pack("<II", code, 8 + len(arguments)) + arguments


def frame(identifier, data=b"", extended=False, remote=False):
    return operation(TRANSMIT, struct.pack("<IBBH", identifier, extended, remote, len(data)) + data)


def fd_frame(identifier, data, switch):
    return operation(0x11, struct.pack("<IBBBH", identifier, 0, switch, 0, len(data)) + data)


def confirm(identifier):
    return operation(CONFIRM, struct.pack("<I", identifier))


def rate(bits):
    return operation(CONFIGURATION, struct.pack("<BI", 1, bits))


NOTIFY = operation(CONFIGURATION, bytes((4, 2)))


def bits_of(identifier, data, extended=False, remote=False):
    """A classical frame on the wire, up to its end; stuffed by replacing in a text."""
    head = f"0{identifier >> 18:011b}11{identifier & 0x3ffff:018b}{remote:b}00" if extended else f"0{identifier:011b}{remote:b}00"
    text = head + f"{len(data):04b}" + ("" if remote else "".join(f"{byte:08b}" for byte in data))
    register = 0
    for bit in text:
        register = ((register << 1) ^ (0x4599 if (register >> 14 & 1) != int(bit) else 0)) & 0x7FFF
    stuffed = ""
    for bit in text + f"{register:015b}":
        stuffed += bit
        if len(stuffed) >= 5 and len(set(stuffed[-5:])) == 1:
            stuffed += "10"[int(bit)]
    return len(stuffed) + 10


class Can(CommandTest):
    def exchange(self, *units, options=(), stop=0.01):
        """Runs units, each with the parameters of its probe, on a bus; the last row."""
        arguments = [f"bus={BUS}"]
        for i, parameters in enumerate(units, 1):
            arguments += [f"u{i}={PROBE}", "--connect", f"u{i}.CAN=bus.Node{i}"]
            for name, value in parameters.items():
                arguments += ["--set", f"u{i}.{name}={value.hex() if isinstance(value, bytes) else value}"]
        self.tutti("run", *arguments, *options, "--set", f"bus.nodes={len(units)}", "--stop", str(stop), "-o", self.path("o.csv"))
        with open(self.path("o.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.rows = rows
        return {name: bytes.fromhex(value) if name.endswith((".got", "_Data")) else float(value) for name, value in rows[-1].items()}

    def test_a_frame_takes_its_bits(self):
        """All lengths, both kinds of identifiers, and bits that need many stuff bits, at two rates."""
        for identifier, data, extended, remote in ((0, b"", False, False), (0x7ff, b"\xff" * 8, False, False), (0x123, bytes(range(8)), False, False),
                                                   (0x1fffffff, b"\0" * 8, True, False), (0x12345678, b"\x55", True, False), (0x55, b"", False, True)):
            for speed in (500000, 125000):
                row = self.exchange({"first": frame(identifier, data, extended, remote)}, {}, options=("--set", f"bus.baud_rate={speed}"))
                self.assertAlmostEqual(row["u2.last"], bits_of(identifier, data, extended, remote) / speed, 15)
                self.assertEqual(row["u2.got"], frame(identifier, data, extended, remote))
                self.assertEqual(row["u1.got"], confirm(identifier))

    def test_fd_frames_have_two_rates(self):
        """16 bytes of 0x55 at id 0x155 need no stuff bits. Slow are start, id, RRS, IDE, FDF, res, BRS and the end; fast are ESI, length, data, stuff
        count and checksum, these two with six fixed stuff bits."""
        data = b"\x55" * 16
        slow, fast = 1 + 11 + 1 + 1 + 1 + 1 + 1 + 10, 1 + 4 + 128 + 4 + 17 + 6
        for switch, expected in ((1, slow / 5e5 + fast / 2e6), (0, (slow + fast) / 5e5)):
            row = self.exchange({"first": fd_frame(0x155, data, switch)}, {})
            self.assertEqual(row["u2.got"], fd_frame(0x155, data, switch))
            self.assertAlmostEqual(row["u2.last"], expected, 15)

    def test_the_smaller_identifier_wins(self):
        """Four frames at once: 11 bits before 29 bits with the same beginning, data before remote."""
        frames = {1: frame(0x101, b"a"), 2: frame(0x100 << 18, b"b", True), 3: frame(0x100, b"", False, True), 4: frame(0x100, b"d")}
        row = self.exchange(*({"first": frames[i]} for i in range(1, 5)))
        self.assertEqual(row["u1.got"], frames[4] + frames[3] + frames[2] + confirm(0x101))
        self.assertEqual(row["u4.got"], confirm(0x100) + frames[3] + frames[2] + frames[1])
        self.assertEqual((row["bus.frames"], row["bus.lost"]), (4, 3 + 2 + 1))

    def test_losers_wait_or_are_told(self):
        row = self.exchange({"first": frame(1)}, {"first": NOTIFY + frame(2)}, {"first": frame(3)})
        self.assertEqual(row["u2.got"], operation(LOST, struct.pack("<I", 2)) + frame(1) + frame(3))
        self.assertEqual(row["u1.got"], confirm(1) + frame(3))

    def test_error_passive_units_come_last(self):
        passive = operation(STATUS, b"\x02")
        row = self.exchange({"first": passive + frame(1)}, {"first": frame(2)}, {})
        self.assertEqual(row["u3.got"], frame(2) + frame(1))

    def test_a_frame_that_nobody_acknowledges(self):
        off = operation(STATUS, b"\x03")
        row = self.exchange({"first": frame(7), "first_at": 100}, {"first": off})
        self.assertEqual(row["u1.got"], operation(BUS_ERROR, struct.pack("<IBBB", 7, 5, 1, 1)))
        self.assertEqual((row["bus.frames"], row["bus.errors"]), (0, 1))

    def test_destroyed_frames(self):
        row = self.exchange({"first": frame(7)}, {}, options=("--set", "bus.corrupt_every=1"))
        self.assertEqual(row["u1.got"], operation(BUS_ERROR, struct.pack("<IBBB", 7, 4, 1, 1)))
        self.assertEqual(row["u2.got"], operation(BUS_ERROR, struct.pack("<IBBB", 7, 4, 2, 0)))

    def test_configuration_and_wakeup(self):
        row = self.exchange({"first": rate(100000) + frame(5)}, {}, {"first": operation(WAKEUP), "first_at": 5000})
        self.assertEqual(row["u2.got"], frame(5) + operation(WAKEUP))
        self.assertAlmostEqual(row["u2.last"], 0.005, 15)
        first = next(row for row in self.rows if row["u2.got"])
        self.assertAlmostEqual(float(first["time"]), bits_of(5, b"") / 1e5, 15)
        self.assertEqual(row["u3.got"], frame(5))

    def test_what_is_no_operation_comes_back(self):
        """Unknown codes, lengths that lie, identifiers and data that are too long; what follows them counts, where their length can be believed."""
        for bad in (operation(0x99, b"xyz"), frame(0x800), frame(1, b"123456789"), fd_frame(1, b"x" * 9, 0), operation(STATUS, b"\x09"),
                    operation(CONFIGURATION, bytes((1, 0, 0, 0, 0))), operation(CONFIRM, b"12345")):
            row = self.exchange({"first": bad + frame(3)}, {})
            self.assertEqual(row["u1.got"], operation(FORMAT_ERROR, struct.pack("<H", len(bad)) + bad) + confirm(3))
            self.assertEqual(row["u2.got"], frame(3))
        for bad in (b"abc", struct.pack("<II", TRANSMIT, 4), struct.pack("<II", TRANSMIT, 2**31) + b"12", struct.pack("<II", WAKEUP, 0)):
            row = self.exchange({"first": frame(3) + bad}, {})
            self.assertEqual(row["u1.got"], operation(FORMAT_ERROR, struct.pack("<H", len(bad)) + bad) + confirm(3))

    def test_two_units_without_a_bus(self):
        """Direct communication: what one sends the other has at once."""
        self.tutti("run", f"a={PROBE}", f"b={PROBE}", "--connect", "a.CAN=b.CAN", "--set", f"a.first={frame(9, b'x').hex()}", "--set", "a.first_at=1500",
                   "--stop", "0.01", "-o", self.path("o.csv"))
        with open(self.path("o.csv"), encoding="utf-8") as file:
            row = list(csv.DictReader(file))[-1]
        self.assertEqual((bytes.fromhex(row["b.got"]), float(row["b.last"])), (frame(9, b"x"), 0.0015))

    def test_frames_after_a_checkpoint(self):
        """A run that is gone on with has the bytes of one that was not interrupted, Binaries between ticks among them; on other ranks, too."""
        units = [f"bus={BUS}", f"a={PROBE}", f"b={PROBE}", "--connect", "a.CAN=bus.Node1", "--connect", "b.CAN=bus.Node2", "--stop", "0.01",
                 "--set", f"a.first={frame(9, b'x').hex()}", "--set", f"b.first={frame(8, b'y').hex()}", "--set", f"a.second={frame(7, b'z').hex()}",
                 "--set", "a.second_at=8000", "--step", "0.001"]
        self.tutti("run", *units, "-o", "plain.csv")
        for ranks in ((), ("--threads", "2")):
            self.tutti("run", *units, "--checkpoint", "half.ckpt", "--every", "0.004", "-o", "again.csv")
            self.tutti("run", *units, *ranks, "--resume", "half.ckpt", "-o", "again.csv")
            with open(self.path("again.csv"), "rb") as again, open(self.path("plain.csv"), "rb") as plain:
                self.assertEqual(again.read(), plain.read())

    def test_info_names_the_bus(self):
        """And says what is not simulated."""
        for word, name, simulated in (("can", "CAN", True), ("lin", "LIN", False), ("flexray", "FlexRay", False), ("ethernet", "Ethernet", False)):
            fmu = self.altered(PROBE, *[("fmi-ls-bus.can; version", f"fmi-ls-bus.{word}; version")] * 2)
            self.assertEqual(json.loads(self.tutti("info", "--json", fmu).out)["buses"], [{"bus": name, "simulated": simulated}])
            told = re.search(r"(?m)^bus +(.*)$", self.tutti("info", fmu).out).group(1)
            self.assertRegex(told, f"^{name}: .*(?:CAN XL travel, and are not simulated|Tutti has no simulation of this bus)")
        self.assertEqual(json.loads(self.tutti("info", "--json", kit_fmu("Tracker", "3")).out)["buses"], [])
        # Operations of a bus that is not simulated travel all the same.
        lin = self.altered(PROBE, *[("fmi-ls-bus.can; version", "fmi-ls-bus.lin; version")] * 2)
        self.tutti("run", f"a={lin}", f"b={lin}", "--connect", "a.CAN=b.CAN", "--set", f"a.first={frame(9, b'x').hex()}", "--stop", "0.01", "-o", "lin.csv")
        with open(self.path("lin.csv"), encoding="utf-8") as file:
            self.assertEqual(bytes.fromhex(list(csv.DictReader(file))[-1]["b.got"]), frame(9, b"x"))

    def test_other_buses_do_not_fit(self):
        text = 'fmi-ls-bus.can; version'
        other = self.altered(PROBE, *[(text, "fmi-ls-bus.lin; version")] * 2)
        self.refused("run", f"a={other}", f"b={PROBE}", "--connect", "a.CAN=b.CAN", status=2, says="do not understand each other")


if __name__ == "__main__":
    unittest.main()
