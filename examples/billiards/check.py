#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two balls in a frame, each a federate: the run is the exact event-driven solution."""
import decimal
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="events", case=7, source="Awais, 3.3.3",
    shows="components without a master: each steps at its own events, and receives the other's in order of time",
    caption="Positions of both balls. They move in straight lines between their announced events; each computes "
            "the time of a collision from the other's last outputs.",
    commands=r"""
tutti run build/examples/billiards/billiards.ssp --coupling federated --quantum 0.05 --step 0.05 --quiet -o balls.mat
tutti plot balls.mat -v '*.x' -v '*.y' --title "Two balls in a frame, without a master" -o billiards.svg
""")
FEDERATED = ("--coupling", "federated", "--quantum", 1)
WIDTH, HEIGHT, RADIUS, STOP = 2, 1, decimal.Decimal("0.1"), 20
START = {"white": ("0.4", "0.3", "0.9", "0.5"), "red": ("1.5", "0.7", "-0.6", "0.8")}
NAMES = ("own.x", "own.y", "own.vx", "own.vy", "own.since")
decimal.getcontext().prec = 60


class Ball:
    def __init__(self, words):
        self.place = [decimal.Decimal(word) for word in words[:2]]
        self.speed = [decimal.Decimal(word) for word in words[2:]]
        self.bounces = self.collisions = 0
        self.told = None

    def tell(self, t):
        self.told = [*self.place, *self.speed, t]


def until_frame(ball, axis):
    place, v, size = ball.place[axis], ball.speed[axis], (WIDTH, HEIGHT)[axis]
    return (size - RADIUS - place) / v if v > 0 else (RADIUS - place) / v


def until_met(a, b):
    d, v = ([q - p for p, q in zip(x, y)] for x, y in ((a.place, b.place), (a.speed, b.speed)))
    slope, square = sum(p * q for p, q in zip(d, v)), sum(p * p for p in v)
    root = slope * slope - square * (sum(p * p for p in d) - 4 * RADIUS * RADIUS)
    return (-slope - root.sqrt()) / square if slope < 0 and root > 0 else decimal.Decimal("Infinity")


def swap(a, b):
    """Equal masses: what they have of speed along the line between them."""
    d = [q - p for p, q in zip(a.place, b.place)]
    part = sum((q - p) * e for p, q, e in zip(a.speed, b.speed, d)) / sum(e * e for e in d)
    a.speed, b.speed = [p + part * e for p, e in zip(a.speed, d)], [q - part * e for q, e in zip(b.speed, d)]


def exact():
    """From event to event, with 60 digits: both balls, and how many events there were."""
    balls, t, events = {name: Ball(words) for name, words in START.items()}, decimal.Decimal(0), 0
    for ball in balls.values():
        ball.tell(t)
    while True:
        coming = [(until_frame(ball, axis), [ball], axis) for ball in balls.values() for axis in (0, 1)]
        coming.append((until_met(*balls.values()), list(balls.values()), None))
        h, who, axis = min(coming, key=lambda event: event[0])
        last = t + h > STOP
        h = STOP - t if last else h
        for ball in balls.values():
            ball.place = [place + h * v for place, v in zip(ball.place, ball.speed)]
        if last:
            return balls, events
        t, events = t + h, events + 1
        if axis is None:
            swap(*who)
        else:
            who[0].speed[axis] = -who[0].speed[axis]
        for ball in who:
            ball.collisions += axis is None
            ball.bounces += axis is not None
            ball.tell(t)


def main():
    example = Example(__doc__, GALLERY)
    balls, events = exact()
    run = example.run_system(*FEDERATED)
    counts = [(run[f"{name}.bounces"][-1], run[f"{name}.collisions"][-1]) for name in balls]
    right = [(ball.bounces, ball.collisions) for ball in balls.values()]
    collisions = int(counts[0][1])
    example.figure("events of two balls in 20 s", f"{int(sum(c[0] for c in counts))} bounces, {collisions} collisions",
                   counts == right and collisions > 3, "those of the exact solution", "collide and change directions")
    told = [[float(value) for value in ball.told] for ball in balls.values()]
    ends = [[run[f"{name}.{word}"][-1] for word in NAMES] for name in balls]
    example.compare("last events: places, speeds and times, against 60 digits", ends, told, 1e-8, "delivered in the order of time stamps")
    example.compare("places at 20 s", [[run[f"{name}.{axis}"][-1] for axis in "xy"] for name in balls],
                    [[float(place) for place in ball.place] for ball in balls.values()], 1e-9)
    federation = run.stats["federation"]
    example.figure("a ball tells something", f"{federation['updates']} times",
                   federation["updates"] == int(sum(sum(c) for c in counts)), "at each of its events")
    jacobi = example.run_system("--coupling", "jacobi", "--step", 0.1)
    example.compare("the same with a master that stops both at every event", [jacobi[f"{name}.x"][-1] for name in balls],
                    [run[f"{name}.x"][-1] for name in balls], 1e-9)
    assert np.isfinite(ends).all() and events > 0
    example.same_bits("federated", *FEDERATED, "--step", 0.5)
    example.end()


main()
