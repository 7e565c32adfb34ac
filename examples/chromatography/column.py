# SPDX-License-Identifier: MIT
"""The column of Chromatography.c once more, and its Lyapunov equation: the reference of the check."""
import csv
import pathlib

import numpy as np
from scipy.integrate import solve_ivp

TAU, D, F, KA, KD = 0.1, 0.002, 0.5, 1000, 1e4
LOADED, LOAD = 0.15, 0.8
GRADIENT = pathlib.Path(__file__).with_name("gradient.csv")
with GRADIENT.open(newline="", encoding="utf-8") as file:
    KNOTS = [tuple(map(float, row)) for row in list(csv.reader(file))[1:]]  # time and u
STOP = KNOTS[-1][0]


class Column:
    """x = (m, s1, c1, q1, s2, c2, q2, ...)"""

    def __init__(self, cells):
        self.cells = cells
        self.size = 3 * cells + 1
        convection, dispersion = cells, D * cells**2
        # flow(x) = transport x + entry x0: upwind differences and dispersion; nothing is lost at the end
        self.transport = (
            np.diag(np.full(cells, -convection - 2 * dispersion))
            + np.diag(np.full(cells - 1, convection + dispersion), -1)
            + np.diag(np.full(cells - 1, dispersion), 1)
        )
        self.transport[-1, -1] += dispersion
        self.entry = np.zeros(cells)
        self.entry[0] = convection + dispersion

    def names(self):
        return ["m", *(f"{letter}[{i}]" for i in range(1, self.cells + 1) for letter in "scq")]

    def start(self):
        x = np.zeros(self.size)
        x[3::3] = np.where(np.arange(1, self.cells + 1) <= LOADED * self.cells, LOAD, 0)
        return x

    def rhs(self, x, u):
        m, s, c, q = x[0], x[1::3], x[2::3], x[3::3]
        adsorption = KA * c * (1 - q) - KD * s**2 * q
        dx = np.empty_like(x)
        dx[0] = (u - m) / TAU
        dx[1::3] = self.transport @ s + self.entry * m
        dx[2::3] = self.transport @ c - F * adsorption
        dx[3::3] = adsorption
        return dx

    def a(self, x):
        """The derivative of rhs with respect to x."""
        s, c, q = x[1::3], x[2::3], x[3::3]
        a = np.zeros((self.size, self.size))
        a[0, 0] = -1 / TAU
        a[1::3, 1::3] = self.transport
        a[1::3, 0] = self.entry
        a[2::3, 2::3] = self.transport
        for offset, partial in ((1, -2 * KD * s * q), (2, KA * (1 - q)), (3, -KA * c - KD * s**2)):
            columns = np.arange(offset, self.size, 3)
            a[columns - offset + 2, columns] -= F * partial
            a[columns - offset + 3, columns] += partial
        return a

    def b(self):
        """The derivative of rhs with respect to u."""
        b = np.zeros(self.size)
        b[0] = 1 / TAU
        return b

    def lyapunov(self, x, p):
        """P' = A P + P A^T + B B^T (eq. 9.14)."""
        product = self.a(x) @ p
        return product + product.T + np.outer(self.b(), self.b())


def u_at(t):
    return np.interp(t, *np.transpose(KNOTS))


def solve(rhs, start, times, tolerance):
    """Solves x' = rhs(t, x) by an explicit method of order 8 (its steps are as short as stability wants them, so its
    error is far below the tolerance), from knot to knot of the input."""
    x, rows = np.asarray(start, dtype=float), []
    for (begin, _), (end, _) in zip(KNOTS[:-1], KNOTS[1:]):
        end = min(end, times[-1])
        if begin >= end:
            break
        inside = [t for t in times if begin <= t < end]
        ode = solve_ivp(rhs, (begin, end), x, method="DOP853", t_eval=[*inside, end], rtol=tolerance, atol=tolerance)
        rows.extend(ode.y.T[:-1])
        x = ode.y[:, -1]
    return np.array([*rows, x])


def reference(cells, times, tolerance=1e-12):
    """The states at the times, of which the first is 0."""
    column = Column(cells)
    return solve(lambda t, x: column.rhs(x, u_at(t)), column.start(), times, tolerance)


def reference_lyapunov(cells, times, tolerance=1e-10):
    """States and P at the times, of which the first is 0. P is symmetric: its upper triangle is enough."""
    column = Column(cells)
    n = column.size
    upper = np.triu_indices(n)

    def full(y):
        p = np.zeros((n, n))
        p[upper] = y
        return p + p.T - np.diag(np.diag(p))

    def rhs(t, y):
        return np.concatenate([column.rhs(y[:n], u_at(t)), column.lyapunov(y[:n], full(y[n:]))[upper]])

    start = np.concatenate([column.start(), np.outer(column.b(), column.b())[upper]])
    rows = solve(rhs, start, times, tolerance)
    return rows[:, :n], np.array([full(row[n:]) for row in rows])
