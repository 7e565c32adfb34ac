#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A chromatography column: the structure of a model makes its Jacobian cheap."""
import json
import pathlib
import sys

import numpy as np
from scipy.linalg import expm, solve_continuous_lyapunov

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from column import GRADIENT, STOP, Column, reference, reference_lyapunov  # noqa: E402
from example import Example, Gallery, Run  # noqa: E402

GALLERY = Gallery(
    topic="solvers", case=20, stand_in=True, source="Andersson, 9.3.5",
    shows="a sparse Jacobian by graph colouring; a Lyapunov equation alongside",
    caption="The signal of the detector at the end of the column while an increasing amount of buffer releases "
            "the substance. 142 states, and a Jacobian of 6 directional derivatives.",
    commands=r"""
tutti run build/examples/chromatography/Chromatography_fmi3.fmu --solver cvode --jacobian sparse --rtol 1e-8 \
    --atol 1e-10 --input examples/chromatography/gradient.csv --output-step 0.01 --record u --record 'c[11]' \
    --record 'c[23]' --record 'c[35]' --record 'c[47]' --quiet -o column.mat
tutti plot column.mat -v u -v 'c*' --title "A chromatography column" -o chromatography.svg
""")
TIMES = np.linspace(0, STOP, 101)
COLOURS = 6  # of the columns of A
SMALL_STOP, LARGE_STOP = 2, 1  # with the Lyapunov equation
WITHIN = 1e-6  # error of P, whose tolerance is 1e-8


def simulate(example, fmu, solver, jacobian):
    return example.run(fmu, "--solver", solver, "--jacobian", jacobian, "--rtol", 1e-8, "--atol", 1e-10,
                       "--input", GRADIENT, "--stop", STOP, "--step", STOP, "--output-step", STOP / 100,
                       "--record", "*")


def check_states(example):
    """All states of the columns, in both FMI versions and with all stiff solvers."""
    for fmu, cells in (("Chromatography", 47), ("Chromatography40", 13), ("Chromatography22", 7)):
        exact = reference(cells, TIMES)
        for version, solver in (("2", "cvode"), ("3", "cvode"), ("3", "radau5"), ("3", "dirk"), ("3", "bdf")):
            run = simulate(example, f"{fmu}_fmi{version}.fmu", solver, "auto")
            example.compare(f"error of {3 * cells + 1} states, FMI {version}, {solver}",
                            run.at(TIMES, Column(cells).names()), exact, 1e-5)


def check_directions(example):
    """How many directional derivatives a Jacobian costs: one per colour, or one per state."""
    runs = {mode: simulate(example, "Chromatography_fmi3.fmu", "cvode", mode) for mode in ("plain", "sparse")}
    per = {mode: run.unit["directional_derivatives"] / run.unit["jacobian_evaluations"] for mode, run in runs.items()}
    example.figure("directional derivatives per Jacobian, plain", f"{per['plain']:g}", per["plain"] == 142, "142")
    saved = 1 - per["sparse"] / per["plain"]
    example.figure("directional derivatives per Jacobian, coloured", f"{per['sparse']:g}, {saved:.0%} fewer",
                   saved >= 0.9, "90% fewer", "90% fewer")


def lyapunov(example, fmu, mode, stop):
    """Runs lyapunov.c: the result, and the work that it was."""
    result = example.file(f"{fmu}-{mode}.csv")
    program = example.build / "examples" / example.name / "lyapunov"
    return Run(result, json.loads(example.call(program, example.fmu(fmu), GRADIENT, result, mode, stop)))


def matrices(run, times, size):
    """P at the times."""
    names = [f"P[{i},{j}]" for i in range(1, size + 1) for j in range(1, size + 1)]
    return run.at(times, names).reshape(len(times), size, size)


def asked(unit, columns, inputs=1):
    """How many directional derivatives a run of lyapunov.c needs if A is found in so many of them: A and B in every
    right-hand side, A twice in every Jacobian (for the FMU's part and for that of P), B once for P(0)."""
    return unit["rhs_evaluations"] * (columns + inputs) + unit["jacobian_evaluations"] * 2 * columns + inputs


def check_lyapunov_small(example):
    """22 states, 484 equations more: all of P, with every kind of Jacobian."""
    times = np.linspace(0, SMALL_STOP, 11)
    _, exact = reference_lyapunov(7, times)
    for mode in ("sparse", "dense", "plain"):
        run = lyapunov(example, "Chromatography22_fmi3.fmu", mode, SMALL_STOP)
        p = matrices(run, times, 22)
        example.compare(f"error of P, 22 states, {mode}, relative to its largest entry", p / np.max(exact),
                        exact / np.max(exact), WITHIN)
        calls, expected = run.unit["directional_derivatives"], asked(run.unit, 22 if mode == "plain" else COLOURS)
        example.figure(f"directional derivatives with P, 22 states, {mode}", calls, calls == expected, f"{expected}")


def buffer_variances(column, times):
    """The part of P that belongs to tank and buffer, m and s, at the times: they do not depend on c and q, and their
    equations have constant coefficients. With A X + X A^T + B B^T = 0, P - X is e^(A t) (P(0) - X) e^(A^T t)."""
    places = np.r_[0, 1 : column.size : 3]
    a = column.a(column.start())[np.ix_(places, places)]
    start = np.outer(column.b(), column.b())[np.ix_(places, places)]
    rest = solve_continuous_lyapunov(a, -start)
    flows = [expm(a * t) for t in times]
    return places, np.array([rest + flow @ (start - rest) @ flow.T for flow in flows])


def check_lyapunov_large(example):
    """142 states, 20,164 equations more."""
    times = np.linspace(0, LARGE_STOP, 11)
    run = lyapunov(example, "Chromatography_fmi3.fmu", "sparse", LARGE_STOP)
    p = matrices(run, times, 142)
    scale = np.max(p)
    p /= scale
    places, exact = buffer_variances(Column(47), times)
    example.compare("error of P of tank and buffer, 142 states, sparse, relative to its largest entry",
                    p[:, places][:, :, places], exact / scale, WITHIN)
    example.compare("P is symmetric, 142 states, sparse: difference", p, p.transpose(0, 2, 1), 1e-9)
    eigenvalues = np.array([np.linalg.eigvalsh((one + one.T) / 2) for one in p])
    least = -142 * WITHIN  # errors of that size in all entries can move an eigenvalue as far (Weyl)
    example.figure("P is positive semidefinite, 142 states, sparse: eigenvalues",
                   f"{np.min(eigenvalues):.0e} to {np.max(eigenvalues):.0e}", np.min(eigenvalues) >= least,
                   f">= {least:.1e}")
    moved = np.max(np.diagonal(p[-1])[2::3])
    example.figure("P reaches the substance, 142 states, sparse: largest variance of c", f"{moved:.1e}", moved > WITHIN,
                   "> 1e-6")
    calls, plain = run.unit["directional_derivatives"], asked(run.unit, 142)
    example.figure("directional derivatives with P, 142 states, coloured, against column by column",
                   f"{calls} against {plain}, {1 - calls / plain:.0%} fewer",
                   calls == asked(run.unit, COLOURS) and calls <= 0.1 * plain, "90% fewer", "90% fewer")


def main():
    example = Example(__doc__, GALLERY)
    check_states(example)
    check_directions(example)
    check_lyapunov_small(example)
    check_lyapunov_large(example)
    example.end()


if __name__ == "__main__":
    main()
