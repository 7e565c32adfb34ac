#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A ball that falls down stairs: every contact is an event between FMUs."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

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


def changes(run, name):
    """Where a recorded discrete variable has a new value: (time, value)."""
    at = np.flatnonzero(np.diff(run[name])) + 1
    return [(run.time[i], run[name][i]) for i in at]


def worst(found, expected):
    """The largest distance of the times of events; infinite if they are not the same events."""
    if [value for _, value in found] != [value for _, value in expected]:
        return np.inf
    return max(abs(a - b) for (a, _), (b, _) in zip(found, expected))


def main():
    example = Example(__doc__)
    reference = Reference()
    run = example.run_system("--coupling", "jacobi", "--step", 1e-5)
    for name, expected in (("contact", reference.contacts), ("stair", reference.stairs)):
        late = worst(changes(run, f"stairs.{name}"), expected)
        example.figure(f"jacobi, constant step 1e-5 s: times of {len(expected)} changes of {name}: largest error",
                       f"{late:.1e}", late <= 1e-2, "<= 1e-2")
    rows = slice(None, None, 100)
    measured = np.column_stack([run[name][rows] for name in STATES])
    example.compare("... positions at all times", measured[:, :2], reference(run.time[rows])[:, :2], 0.05)
    example.end()


if __name__ == "__main__":
    main()
