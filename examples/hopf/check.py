#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A Hopf bifurcation: the parameter at which the coupled system leaves its equilibrium, and the one beyond which it is unbounded."""
import json
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=32, source="Awais, 3.1.4",
    shows="a parameter that the coupled system is very sensitive to",
    caption="With alpha = 1.2, x returns to its equilibrium of 1. With alpha = 1.5 it oscillates between 0.26 and 10.5.",
    commands=r"""
for alpha in 1.2 1.5; do
    tutti run build/examples/hopf/hopf.ssp --set feed.alpha=$alpha --rtol 1e-5 --output-step 0.1 --quiet -o alpha_$alpha.csv
done
tutti plot alpha_1.5.csv alpha_1.2.csv -v activator.x --title "alpha = 1.5 and 1.2" \
    -o hopf.svg
""")
NAMES = ("activator.x", "substrate.y", "feed.z")
START, STOP = (1, 2, 1), 100
CRITICAL = (9 - np.sqrt(17)) / 4  # see the README


def reference(alpha, times):
    """x, y and z without any coupling."""
    rhs = lambda t, v: (1 + v[0] ** 2 * v[1] - (v[2] + 1) * v[0], v[0] * v[2] - v[0] ** 2 * v[1], -v[0] * v[2] + alpha)  # noqa: E731
    return solve_ivp(rhs, (0, times[-1]), START, method="LSODA", rtol=1e-12, atol=1e-13, t_eval=times).y.T


def growth(example, alpha):
    """The largest real part of the eigenvalues where the system is at rest: x = 1, y = z = alpha."""
    path = example.file("linear.json")
    example.call(example.build / "tutti", "linearize", example.ssp(), "-o", path, "--set", f"feed.alpha={alpha}", "--set", "activator.x=1",
                 "--set", f"substrate.y={alpha}", "--set", f"feed.z={alpha}", "--quiet")
    with open(path, encoding="utf-8") as file:
        return float(np.max(np.linalg.eigvals(np.array(json.load(file)["A"]["dense"])).real))


def solve(example, alpha, *options):
    """The rows of x, y and z, and their largest error in parts of the range."""
    run = example.run_system("--set", f"feed.alpha={alpha}", "--output-step", 0.5, "--stop", STOP, *options)
    values = np.column_stack([run[name] for name in NAMES])
    exact = reference(alpha, run.time)
    return values, float(np.max(np.abs(values - exact) / np.ptp(exact, axis=0)))


def main():
    example = Example(__doc__, GALLERY)
    late = {}
    for alpha in (1.2, 1.25, 1.3, 1.4, 1.5, 1.52):
        values, error = solve(example, alpha, "--interface", "cs", "--rtol", 1e-6)
        example.figure(f"alpha = {alpha}, tolerance 1e-6: largest error, in parts of the range", f"{error:.0e}", error <= 1e-5, "<= 1e-5")
        late[alpha] = values[2 * len(values) // 3:]
    _, error = solve(example, 1.3, "--interface", "me", "--coupling", "strong", "--rtol", 1e-8)
    example.figure("alpha = 1.3, strong, tolerance 1e-8: largest error, in parts of the range", f"{error:.0e}", error <= 1e-5, "<= 1e-5")
    swing = {alpha: float(np.ptp(rows[:, 0])) for alpha, rows in late.items()}
    example.figure("alpha = 1.2, 1.25, 1.3, 1.4, 1.5: range of x in the last third of the time", ", ".join(f"{swing[a]:.2f}" for a in list(swing)[:-1]),
                   all(a < b for a, b in zip(list(swing.values())[:-2], list(swing.values())[1:-1])) and swing[1.5] > 5, "grows with alpha, > 5 at 1.5",
                   "1.2 to 1.5 changes the state a great deal (a plot)")
    example.figure("alpha = 1.52: x and y at the end", f"{late[1.52][-1, 0]:.3f}, {late[1.52][-1, 1]:.0f}", late[1.52][-1, 0] < 0.1 and late[1.52][-1, 1] > 30,
                   "x < 0.1, y > 30", "above 1.5: an undefined state")
    parts = [growth(example, CRITICAL + d) for d in (-0.01, 0, 0.01)]
    example.figure("tutti linearize at the equilibrium: largest real part of an eigenvalue, alpha = 1.2192 - 0.01, 1.2192, 1.2192 + 0.01",
                   ", ".join(f"{0 if abs(part) < 1e-9 else part:.1e}" for part in parts), parts[0] < -1e-4 and abs(parts[1]) < 1e-6 and parts[2] > 1e-4, "< 0, 0, > 0",
                   "not tried")
    example.end()


if __name__ == "__main__":
    main()
