#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two control units exchange CAN frames over a simulated bus to control a motor."""
import heapq
import itertools
import math
import pathlib
import sys
from fractions import Fraction

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="events", source="our own, by the layered standard fmi-ls-bus",
    shows="virtual control units: CAN frames between components by clocks, with arbitration on the bus",
    caption="The speed of the motor, and the torque that comes by CAN. At 40 kbit/s the torque waits for the "
            "earlier diagnosis, and arrives 6.5 ms after the sample.",
    commands=r"""
tutti run build/examples/virtual_ecu/virtual_ecu.ssp --quiet --output-step 0.002 --record motor.speed --record drive.torque -o fast.csv
tutti run build/examples/virtual_ecu/virtual_ecu.ssp --quiet --output-step 0.002 --record motor.speed --record drive.torque \
    --set bus.baud_rate=40000 -o slow.csv
tutti plot fast.csv slow.csv -v motor.speed -v drive.torque --title "Two control units on a CAN bus: 500 and 40 kbit/s" -o virtual_ecu.svg
""")
SPEED, TORQUE, DIAGNOSIS = 0x100, 0x200, 0x7DF
DRIVE, CONTROL = 0, 1
INERTIA, FRICTION = 0.02, 0.05
RECORDED = tuple(word for name in ("motor.speed", "drive.torque", "bus.frames", "bus.errors", "bus.lost") for word in ("--record", name))


def frame_bits(identifier, data):
    """Bits of a data frame with an identifier of 11 bits, by ISO 11898-1, from its start to its end: as text, stuffed by replacement."""
    text = f"0{identifier:011b}000{len(data):04b}" + "".join(f"{byte:08b}" for byte in data)
    register = 0
    for bit in text:
        register = (register << 1) ^ (0x4599 if (register >> 14 & 1) != int(bit) else 0)
        register &= 0x7FFF
    text += f"{register:015b}"
    stuffed = ""
    for bit in text:
        stuffed += bit
        if len(stuffed) >= 5 and len(set(stuffed[-5:])) == 1:
            stuffed += "1" if bit == "0" else "0"
    return len(stuffed) + 10


def number(value):
    """16 bits, rounded half away from zero, high byte first."""
    whole = max(-32768, min(32767, int(value + (-0.5 if value < 0 else 0.5)))) & 0xFFFF
    return bytes((whole >> 8, whole & 0xFF))


def value_of(data):
    return int.from_bytes(data, "big", signed=True)


class Network:
    """The same system by hand: times are fractions, one list of what happens next."""

    def __init__(self, rate, stop):
        self.rate, self.stop = rate, Fraction(stop)
        self.waiting, self.heap, self.order = {DRIVE: [], CONTROL: []}, [], itertools.count()
        self.free, self.frames, self.lost = True, 0, 0
        self.speed = self.torque = self.integral = 0.0
        self.time, self.torques, self.speeds = Fraction(0), [], []

    def at(self, time, rank, action, *arguments):
        heapq.heappush(self.heap, (time, rank, next(self.order), action, arguments))

    def advance(self, time):
        step = float(time - self.time)
        self.speed += -math.expm1(-FRICTION / INERTIA * step) * (self.torque / FRICTION - self.speed)
        self.time = time

    def send(self, node, identifier, data):
        self.waiting[node].append((identifier, data))
        if self.free:
            self.free = False
            self.at(self.time, 2, self.arbitrate)

    def arbitrate(self):
        ready = [node for node, frames in self.waiting.items() if frames]
        self.free = not ready
        if not ready:
            return
        winner = min(ready, key=lambda node: self.waiting[node][0][0])
        self.lost += len(ready) - 1
        frame = self.waiting[winner][0]
        self.at(self.time + Fraction(frame_bits(*frame), self.rate), 0, self.deliver, winner)

    def deliver(self, node):
        identifier, data = self.waiting[node].pop(0)
        self.frames += 1
        self.at(self.time + Fraction(3, self.rate), 1, self.arbitrate)
        if identifier == SPEED:
            error = (100 if self.time < Fraction(1, 2) else 40) - 0.01 * value_of(data)
            self.integral += 0.005 * error
            self.at(self.time + Fraction(1, 1000), 0, self.send, CONTROL, TORQUE, number((0.05 * error + self.integral) / 0.001))
        elif identifier == TORQUE:
            self.torque = 0.001 * value_of(data)
            self.torques.append((self.time, self.torque))

    def sample(self, count):
        self.speeds.append(self.speed)
        self.send(DRIVE, SPEED, number(self.speed / 0.01))
        self.send(CONTROL, DIAGNOSIS, bytes((0, 0, 0, 0, 0, 0, count >> 8 & 0xFF, count & 0xFF)))
        self.at(self.time + Fraction(1, 100), 0, self.sample, count + 1)

    def run(self):
        self.at(Fraction(0), 0, self.sample, 0)
        while self.heap and self.heap[0][0] <= self.stop:
            time, _, _, action, arguments = heapq.heappop(self.heap)
            self.advance(time)
            action(*arguments)
        return self


def changes(run, name):
    """Times and values where a column changes."""
    at = np.flatnonzero(np.diff(run[name])) + 1
    return run.time[at], run[name][at]


def try_rate(example, rate):
    expected = Network(rate, 1).run()
    run = example.run_system("--set", f"bus.baud_rate={rate}", *RECORDED)
    times, torques = changes(run, "drive.torque")
    told = [(t, v) for (t, v), (_, before) in zip(expected.torques, [(0, 0.0), *expected.torques]) if v != before]
    example.compare(f"{rate // 1000} kbit/s: times of {len(told)} new torques, against fractions", times, [float(t) for t, _ in told],
                    within=1e-14, published="fractions, by hand")
    example.compare("... torques", torques, np.array([v for _, v in told]), within=1e-9)
    last = {time: index for index, time in enumerate(run.time)}
    speeds = np.array([run["motor.speed"][last[float(Fraction(k, 100))]] for k in range(101)])
    example.compare("... speed at the samples", speeds, np.array(expected.speeds[:101]), within=1e-10)
    example.figure("... frames, arbitrations lost", f"{run['bus.frames'][-1]:.0f}, {run['bus.lost'][-1]:.0f}",
                   (run["bus.frames"][-1], run["bus.lost"][-1]) == (expected.frames, expected.lost), f"{expected.frames}, {expected.lost}")
    return run


def main():
    example = Example(__doc__, GALLERY)
    try_rate(example, 500000)
    try_rate(example, 125000)
    try_rate(example, 40000)
    broken = example.run_system("--set", "bus.corrupt_every=10", *RECORDED)
    frames, errors = broken["bus.frames"][-1], broken["bus.errors"][-1]
    example.figure("every tenth frame destroyed: frames, errors", f"{frames:.0f}, {errors:.0f}", errors == (frames + errors) // 10 > 20,
                   "a tenth, and the loop goes on")
    example.same_bits("500 kbit/s", *RECORDED)
    example.end()


if __name__ == "__main__":
    main()
