#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two linear systems with feed-through: the spectral radius of DL says whether explicit coupling is stable."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

B, C = np.diag([1, 3]), np.diag([1, -5])  # A = -I
L = np.array([[0, 1], [1, 0]])
X0 = np.ones(2)
STEP, STOP = 0.001, 1
# d1, d2; the last three are unstable though the coupled equations are stable, too
CASES = ((0, 0), (0.5, 0.5), (0.5, -0.5), (0.9, 0.9), (0.9, -0.9), (3, 0), (1.1, -1.1), (2, -1), (-2, -1))
OUTPUTS = ("system1.y", "system2.y")


def growth(d):
    """The largest real part of the eigenvalues of the coupled equations (eq. 6.5)."""
    return np.max(np.linalg.eigvals(-np.eye(2) + B @ L @ np.linalg.inv(np.eye(2) - np.diag(d) @ L) @ C).real)


def radius(d):
    """rho(DL), from eq. 6.28."""
    return np.sqrt(abs(d[0] * d[1]))


def propagation(d, h):
    """Psi(H) of eq. 6.14: constant extrapolation, both systems solved exactly."""
    decay = np.exp(-h)
    k1 = (1 - decay) * B @ L
    return np.block([[decay * np.eye(2), k1], [decay * C, C @ k1 + np.diag(d) @ L]])


def outputs(d, steps):
    """What explicit coupling with constant extrapolation makes of a consistent start."""
    state = np.concatenate([X0, np.linalg.solve(np.eye(2) - np.diag(d) @ L, C @ X0)])
    rows = [state[2:]]
    matrix = propagation(d, STEP)
    for _ in range(steps):
        state = matrix @ state
        rows.append(state[2:])
    return np.array(rows)


def check(example, d):
    """Returns the error of rho(DL), and how large the outputs become, relative to the first."""
    what = f"d1 = {d[0]}, d2 = {d[1]}"
    assert growth(d) < 0, "the equations themselves are not stable"
    setting = ("--set", f"system1.d={d[0]}", "--set", f"system2.d={d[1]}")
    found = example.analyze(*setting)["rho"]
    run = example.run_system(*setting, "--coupling", "jacobi", "--step", STEP, "--stop", STOP)
    exact = outputs(d, round(STOP / STEP))
    measured = np.column_stack([run[name] for name in OUTPUTS])
    scale = np.max(np.abs(exact), axis=0)
    example.compare(f"{what}: rho(DL) {found:.4f}: outputs of {STOP} s, relative to the largest, against eq. 6.14",
                    measured / scale, exact / scale, 1e-9)
    return abs(found - radius(d)), np.max(np.abs(measured)) / np.max(np.abs(measured[0]))


def main():
    example = Example(__doc__)
    errors, stable, unstable = [], [], []
    for d in CASES:
        error, size = check(example, d)
        errors.append(error)
        (stable if radius(d) <= 1 else unstable).append(size)
    example.figure(f"rho(DL) for {len(CASES)} pairs d1, d2: largest error", f"{max(errors):.1e}", max(errors) <= 1e-6,
                   "<= 1e-6", "the root of abs(d1 d2)")
    example.figure(f"{len(stable)} pairs with rho(DL) <= 1, constant extrapolation: largest output / first",
                   f"{max(stable):.2g}", max(stable) < 10, "< 10", "stable")
    example.figure(f"{len(unstable)} pairs with rho(DL) > 1, constant extrapolation: largest output / first",
                   f"{min(unstable):.1e} to {max(unstable):.1e}", min(unstable) > 1e3, "> 1e3", "unstable")
    example.end()


if __name__ == "__main__":
    main()
