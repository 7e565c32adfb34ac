# SPDX-License-Identifier: MIT
"""What couplings take for the same error: do-steps, and evaluations of Model Exchange units.

`compare(example, what, system, reference, names, stop, within)` runs a system by every coupling with fixed steps, as long as the error
at 20 points of the run is at most `within`; by `strong` with a tolerance as large. It adds one figure of docs/reproduction.md."""
import numpy as np

POINTS = 20
# Inputs are held by explicit couplings, and move on lines where they are iterated: `auto`.
WAYS = {"jacobi": ("--extrapolate", 0), "seidel": ("--extrapolate", 0), "relax": ("--max-iterations", 50), "newton": (), "strong": ()}
MOST = POINTS * 2**14


class Case:
    """A system, and what is known of its solution."""

    def __init__(self, example, system, reference, names, stop):
        self.example, self.system, self.names, self.stop = example, system, names, stop
        self.times = np.linspace(0, stop, POINTS + 1)
        self.exact = reference(self.times)

    def run(self, coupling, steps, rtol):
        """The largest error, do-steps and evaluations of all units."""
        run = self.example.run_file(self.system[0], *self.system[1:], "--interface", "me", "--coupling", coupling, "--control", "fixed", "--step",
                                    self.stop / steps, "--stop", self.stop, "--output-step", self.stop / POINTS, "--rtol", rtol,
                                    *WAYS[coupling])
        error = np.max(np.abs(run.at(self.times, self.names) - self.exact))
        return error, sum(unit["do_steps"] for unit in run.units.values()), sum(unit["rhs_evaluations"] for unit in run.units.values())

    def search(self, good, low, high):
        """The least of `low` to `high`, to a part in ten, that is good, where those after it are, too."""
        while high / low > 1.1:
            middle = (low * high) ** 0.5
            low, high = (low, middle) if good(middle) else (middle, high)
        return high

    def count(self, coupling, within, rtol, first):
        """Do-steps and evaluations for that error; None: more than MOST steps would not do. `first`: of a twentieth of the run so many
        are tried first, where fewer end in an error."""
        if coupling == "strong":
            exponent = -1.0
            while self.run(coupling, POINTS, 10**exponent)[0] > within:
                exponent -= 0.25
            return self.run(coupling, POINTS, 10**exponent)[1:]

        def good(parts):
            error = self.run(coupling, POINTS * round(parts), rtol)[0]
            return np.isfinite(error) and error <= within

        parts = first
        while not good(parts):
            parts *= 2
            if POINTS * parts > MOST:
                return None
        parts = parts if parts == first else round(self.search(good, parts / 2, parts))
        return self.run(coupling, POINTS * parts, rtol)[1:]


def compare(example, what, system, reference, names, stop, within, rtol=1e-7, first=1):
    """A figure: required is that Newton's method takes fewer do-steps than explicit couplings, and one solver the fewest of all, of
    evaluations, too."""
    case = Case(example, system, reference, names, stop)
    found = {coupling: case.count(coupling, within, rtol, first if coupling in ("jacobi", "seidel") else 1) for coupling in WAYS}
    told = " / ".join(f"{counts[0]}, {counts[1]}" if counts else "none" for counts in found.values())
    many = (float("inf"),) * 2
    jacobi, seidel, relax, newton, strong = (found[coupling] or many for coupling in WAYS)
    fewest = all(strong[i] < min(other[i] for other in (jacobi, seidel, relax, newton)) for i in (0, 1))
    example.figure(f"{what}, error {within:g} at {POINTS} points: do-steps, evaluations by {' / '.join(WAYS)}", told,
                   fewest and newton[0] < min(jacobi[0], seidel[0]) and newton != relax,
                   "strong the fewest; newton fewer do-steps than jacobi and seidel", "not tried")
