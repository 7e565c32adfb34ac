# SPDX-License-Identifier: MIT
"""Inputs in segments, as a co-simulation makes them (Andersson's thesis, eq. 7.2 and 7.3), and the table of what a
multistep method does with them (Tables 7.2 and 7.3)."""
import numpy as np
from scipy.integrate import solve_ivp

MODES = ("restart", "proceed", "correct-1", "correct-2", "correct-all")
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


def predictor_table(example, fmu, inputs, starts, names, exact, published, most):
    """Runs `fmu` with each of MODES at the tolerance of the thesis, 1e-6; correct-2 may need at most `most` of the
    steps of restart. published: (steps, evaluations, Jacobians, failures) by mode."""
    steps = {}
    for mode in MODES:
        run = example.run(fmu, "--solver", "bdf", "--predictor", mode, "--rtol", 1e-6, "--atol", 1e-6,
                          "--input", inputs, "--stop", starts[-1], "--step", starts[1] - starts[0])
        unit = run.unit
        steps[mode] = unit["solver_steps"]
        ratio = f"{steps[mode] / steps['restart']:.2f}"
        theirs = ""
        if mode in published:
            counts = published[mode]
            theirs = f"{counts[0]} / {counts[1]} / {counts[2]} / {counts[3]} ({counts[0] / published['restart'][0]:.2f})"
        example.figure(f"{mode}: steps / right-hand sides / Jacobians / failed error tests (steps relative to restart)",
                       f"{steps[mode]} / {unit['rhs_evaluations']} / {unit['jacobian_evaluations']} / "
                       f"{unit['solver_error_failures']} ({ratio})",
                       mode != "correct-2" or steps[mode] <= most * steps["restart"],
                       f"<= {most:g}" if mode == "correct-2" else "", theirs)
        example.compare(f"{mode}: error of the states", run.at(starts, names), exact, 1e-4)
    return steps
