#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Four tanks: the areas of their outlets from measured levels."""
import json
import pathlib
import sys

import numpy as np
from scipy.optimize import least_squares

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402
from synthesise import AREAS, NOISE, TIMES, levels, main as synthesise  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GALLERY = Gallery(
    topic="solvers", case=19, stand_in=True, source="Andersson, 9.3.3 and A.3",
    shows="parameters estimated from measurements, with their errors",
    caption="The levels of four tanks: measured (points) and of the fitted model (lines).",
    commands=r"""
tutti estimate build/examples/quad_tank/QuadTank_fmi3.fmu --interface me --input examples/quad_tank/inputs.csv \
    --data examples/quad_tank/measured.csv --fit a1=3e-6 --fit a2=3e-6 --fit a3=3e-6 --fit a4=3e-6 --quiet --picture quad_tank.svg
""")
PUBLISHED = "0.026601, 0.027018, 0.030087, 0.029299"  # Table 9.6, cm2, of the thesis' own measurements
CM2 = 1e4


def told(values):
    return ", ".join(f"{CM2 * value:.6f}" for value in values)


def main():
    example = Example(__doc__, GALLERY)
    synthesise(example.folder)
    same = all((example.folder / name).read_bytes() == (HERE / name).read_bytes() for name in ("inputs.csv", "measured.csv"))
    example.figure("the files of the example are what synthesise.py writes", "yes" if same else "no", same, "yes")
    measured = np.loadtxt(HERE / "measured.csv", delimiter=",", skiprows=1)[:, 1:]
    # The same problem, solved by SciPy on equations of its own.
    other = least_squares(lambda areas: (levels(1e-6 * areas) - measured).ravel(), np.full(4, 3.0), xtol=1e-12, ftol=1e-12, gtol=1e-12)
    fits = [word for i in range(4) for word in ("--fit", f"a{i + 1}=3e-6")]
    for version, method in (("2", "lm"), ("3", "lm"), ("3", "bobyqa"), ("2", "nelder-mead"), ("3", "subplex")):
        answer = json.loads(example.call(example.build / "tutti", "estimate", example.fmu(f"QuadTank_fmi{version}.fmu"), "--interface", "me", "--rtol", 1e-8,
                                         "--input", HERE / "inputs.csv", "--data", HERE / "measured.csv", *fits, "--method", method, "--json", "--quiet"))
        found = np.array([parameter["value"] for parameter in answer["parameters"]])
        errors = np.array([parameter["error"] for parameter in answer["parameters"]])
        what = f"FMI {version}.0, {method}"
        first = (version, method) == ("2", "nelder-mead")
        example.figure(f"areas in cm2, {what}", told(found), np.all(np.abs(found - AREAS) < 4 * errors), "the true ones, within 4 standard errors",
                       PUBLISHED if first else "")
        example.compare(f"relative distance from SciPy's solution, {what}", found / (1e-6 * other.x), np.ones(4), 1e-4)
        example.compare(f"relative distance of the sum of squares from SciPy's, {what}", answer["sum_of_squares"] / (2 * other.cost), 1, 1e-4)
    example.figure("residuals in standard deviations of the noise", f"{np.sqrt(2 * other.cost / (4 * len(TIMES))) / NOISE:.2f}")
    example.end()


if __name__ == "__main__":
    main()
