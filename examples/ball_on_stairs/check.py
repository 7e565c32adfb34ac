#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A ball that falls down stairs: every contact is an event between FMUs."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery, short  # noqa: E402

GALLERY = Gallery(
    topic="events", case=6, source="Awais, 5.5.3",
    shows="contacts between FMUs, located by rollback",
    caption="Height of the ball and of the stair below it, and the steps: long in flight, short in contact, and "
            "shortest at events, which are located by rollback.",
    commands=r"""
tutti run build/examples/ball_on_stairs/ball_on_stairs.ssp --rtol 1e-4 --step-log steps.csv --quiet \
    -o ball.mat
tutti plot ball.mat -v y.s,stairs.stair --steps steps.csv --stop 1.3 --title "A ball falls down stairs" \
    -o ball_on_stairs.svg
""")
G, C0, C1, C2, C3 = 9.81, 0.25, 0.05, 2000, 10
TOP, STOP = 10, 7
START = (0.57, 9, 1.5, 0)  # x, y, vx, vy
STATES = ("x.s", "y.s", "vx.v", "vy.v")


class Reference:
    """The whole ball at once (eq. 5.23 and Algorithm 6), integrated from event to event."""

    def __init__(self):
        self.pieces, self.contacts, self.stairs = [], [], []  # events: time, new value
        contact, stair, t, state = False, TOP, 0.0, np.array(START, dtype=float)
        while state[0] - TOP + 1 + stair > 0:
            stair -= 1
        while t < STOP:
            piece = self.advance(t, state, contact, stair)
            self.pieces.append(piece)
            t, state = piece.t[-1], piece.y[:, -1]
            if piece.t_events[0].size:
                contact = not contact
                self.contacts.append((t, contact))
            elif piece.t_events[1].size:
                stair -= 1
                self.stairs.append((t, stair))
                assert contact == (state[1] < stair), "the ball passes an edge and touches something at once"

    @staticmethod
    def advance(t, state, contact, stair):
        def slopes(_, s):
            push = (s[1] - stair) * C2 + C3 * s[3] if contact else 0
            return s[2], s[3], -C0 * s[2], -G - C1 * s[3] - push

        def height(_, s):
            return s[1] - stair

        def edge(_, s):
            return s[0] - TOP + 1 + stair

        height.terminal = edge.terminal = True
        height.direction, edge.direction = (1 if contact else -1), 1
        return solve_ivp(slopes, (t, STOP), state, method="DOP853", rtol=1e-12, atol=1e-12, max_step=0.01,
                         events=(height, edge), dense_output=True)

    def __call__(self, times):
        """x, y, vx, vy at these times, a row each."""
        ends = np.array([piece.t[-1] for piece in self.pieces[:-1]])
        return np.array([self.pieces[np.searchsorted(ends, t)].sol(t) for t in times])


def places(run, name):
    """The rows where a recorded discrete variable has a new value."""
    return np.flatnonzero(np.diff(run[name])) + 1


def lateness(run, name, expected):
    """The largest error of the times at which a variable changes; infinite if it does not take the expected values."""
    at = places(run, name)
    if list(run[name][at]) != [value for _, value in expected]:
        return np.inf
    return np.max(np.abs(run.time[at] - [time for time, _ in expected]))


def overshoot(run):
    """How far the ball is from where things change, when they change: from the stair, and from the edge."""
    at = places(run, "stairs.contact")
    height = np.abs(run["y.s"][at] - run["stairs.stair"][at])
    edge = places(run, "stairs.stair")
    way = np.abs(run["x.s"][edge] - (TOP - 1 - run["stairs.stair"][edge - 1]))
    return max(np.max(height), np.max(way))


def follow(example, reference, what, options, late, far, published=""):
    """A run that has to find all events, with times within `late` and y within `far` of the reference."""
    run = example.run_system(*options)
    error = max(lateness(run, f"stairs.{name}", expected)
                for name, expected in (("contact", reference.contacts), ("stair", reference.stairs)))
    events = len(reference.contacts) + len(reference.stairs)
    steps = sum(unit["do_steps"] for unit in run.stats["units"])
    example.figure(f"{what}: times of {events} events, largest error", f"{error:.1e} ({steps} do-steps)", error <= late,
                   f"all, <= {short(late)}", published)
    example.compare(f"{what}: y at all times", run["y.s"], reference(run.time)[:, 1], far)
    return run


def look_at_steps(example, run):
    """The steps of the control: short at events, long again soon after."""
    sizes = np.diff(run.time)
    events = np.sort(np.concatenate([places(run, "stairs.contact"), places(run, "stairs.stair")]))
    at_events = np.max(sizes[events - 1])
    flights = [np.max(sizes[a:b]) for a, b in zip(events[:-1], events[1:])
               if not run["stairs.contact"][a] and run.time[b] - run.time[a] > 0.2]
    touching = np.median(sizes[run["stairs.contact"][:-1] == 1])
    example.figure("... largest step across an event / median step in contact / smallest of the largest steps in "
                   f"{len(flights)} flights", f"{at_events:.1e} / {touching:.1e} / {min(flights):.1e}",
                   at_events <= 1e-5 and min(flights) >= 5 * touching, "<= 1e-5 / / five times that of contact",
                   "step shrinks at events and recovers")


def main():
    example = Example(__doc__, GALLERY)
    reference = Reference()
    auto = follow(example, reference, "auto, tolerance 1e-4", ("--rtol", 1e-4), 1e-2, 5e-2, "a plot")
    look_at_steps(example, auto)
    follow(example, reference, "auto, tolerance 1e-6", ("--rtol", 1e-6), 1e-3, 5e-3)
    hybrid = ("--coupling", "relax", "--control", "diverge", "--divergence", 1e-3)
    follow(example, reference, "relax, diverge 1e-3: the algorithm of the thesis", hybrid, 5e-2, 0.2, "a plot")
    blind = example.run_system("--rtol", 1e-4, "--events", "none")
    found, missed = overshoot(auto), overshoot(blind)
    example.figure("how far beyond stair or edge an event is: auto / events none", f"{found:.1e} m / {missed:.1e} m",
                   found <= 1e-4 and missed >= 100 * found, "<= 1e-4 m / 100 times that")
    example.end()


if __name__ == "__main__":
    main()
