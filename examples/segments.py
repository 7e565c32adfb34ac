# SPDX-License-Identifier: MIT
"""Inputs in segments, as a co-simulation makes them (Andersson's thesis, eq. 7.2 and 7.3), and the table of what a
multistep method does with them (Tables 7.2 and 7.3)."""
import numpy as np
from scipy.integrate import solve_ivp

from example import short

RUNS = (  # solver, predictor
    ("bdf", "restart"),
    ("bdf", "proceed"),
    ("bdf", "correct-1"),
    ("bdf", "correct-2"),
    ("bdf", "correct-all"),
    ("bdf", "auto"),
    ("cvode", "restart"),
    ("cvode", "proceed"),
)
TOLERANCES = (1e-6, 1e-4, 1e-8)  # the first one is that of the thesis
COUNTS = "steps / right-hand sides / Jacobians / failed error tests (steps relative to restart), error"
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}


def extrapolated(starts, values, slopes, names):
    """Columns of an input file with u_i + (t - T_i) u_i' in segment i; two rows at the times between two segments.
    starts: T_0 ... T_M; values, slopes: a row for each of the M segments."""
    time = np.repeat(starts, 2)[1:-1]
    lengths = np.diff(starts)[:, None]
    rows = np.stack([values, values + lengths * slopes], axis=1).reshape(len(time), -1)
    return {"time": time, **dict(zip(names, rows.T))}


def solve_segments(rhs, x0, starts, values, slopes):
    """The exact states at the ends of the segments, of x' = rhs(x, u)."""
    x = [np.asarray(x0, dtype=float)]
    for start, stop, value, slope in zip(starts[:-1], starts[1:], values, slopes):
        ode = solve_ivp(lambda t, x: rhs(x, value + (t - start) * slope), (start, stop), x[-1], **TIGHT)
        x.append(ode.y[:, -1])
    return np.array(x)


def check_jumps(example, starts, values, slopes, names):
    """Where two segments meet, every input must jump: by how much, at least and at most, relative to its range."""
    ends = values[:-1] + np.diff(starts)[:-1, None] * slopes[:-1]
    jumps = np.abs(values[1:] - ends) / np.ptp(values, axis=0)
    for name, jump in zip(names, jumps.T):
        example.figure(f"jumps of {name} between {len(values)} segments, in parts of its range",
                       f"{np.count_nonzero(jump > 1e-6)} of {len(jump)}, {np.min(jump):.1e} to {np.max(jump):.1e}",
                       np.all(jump > 1e-6), "all")


def counts(steps, evaluations, jacobians, failures, restart):
    return f"{steps} / {evaluations} / {jacobians} / {failures} ({steps / restart:.2f})"


def step_bounds(predictor, steps, most):
    """What the steps of a predictor must be, in parts of those of others (`steps`, by predictor). At most `most` of those of restart
    is what the thesis found for correct-2; the others are ordered as there, each with a distance that no other predictor keeps."""
    known = {"proceed": ((1.2, "restart", ">="),), "correct-1": ((0.95, "restart", "<="),),
             "correct-2": ((most, "restart", "<="), (0.7, "correct-1", "<=")),
             "correct-all": ((0.9, "correct-2", "<="),), "auto": ((1, "correct-2", "<="),)}
    for part, other, relation in known.get(predictor, ()):
        limit = part * steps[other]
        good = steps[predictor] >= limit if relation == ">=" else steps[predictor] <= limit
        yield good, f"{relation} {part:g} of the steps of {other}"


def predictor_table(example, fmu, inputs, starts, names, exact, published, most):
    """Runs `fmu` in all RUNS. At the tolerance of the thesis steps are as step_bounds says, and what was published for CVODE,
    (steps, evaluations, Jacobians, failures) by predictor, stands beside it."""
    for tolerance in TOLERANCES:
        thesis = tolerance == TOLERANCES[0]
        taken = {}  # steps, by solver and predictor
        for solver, predictor in RUNS:
            run = example.run(fmu, "--solver", solver, "--predictor", predictor, "--rtol", tolerance,
                              "--atol", tolerance, "--input", inputs, "--stop", starts[-1],
                              "--step", starts[1] - starts[0])
            unit = run.unit
            mine = taken.setdefault(solver, {})
            mine[predictor] = unit["solver_steps"]
            error = np.max(np.abs(run.at(starts, names) - exact))
            theirs = ""
            if thesis:
                known = published.get(predictor)
                theirs = counts(*known, published["restart"][0]) if known else "not tried"
            bounds = []
            if predictor != "proceed":  # its error test believes in a history that is wrong
                bounds.append((error <= 1000 * tolerance, f"error <= {short(1000 * tolerance)}"))
            if thesis:
                bounds.extend(step_bounds(predictor, mine, most))
            example.figure(f"tolerance {short(tolerance)}, {solver}, {predictor}: {COUNTS}",
                           counts(unit["solver_steps"], unit["rhs_evaluations"], unit["jacobian_evaluations"],
                                  unit["solver_error_failures"], taken["bdf"]["restart"]) + f", {error:.1e}",
                           all(good for good, _ in bounds), ", ".join(text for _, text in bounds),
                           theirs)
