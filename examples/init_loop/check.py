#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Three models with one algebraic loop, which is solved as a block; everything else is computed in order."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="start", case=10, source="Andersson, example 5.1.1",
    shows="an algebraic loop among three models, solved as a block",
    caption="The coloured part is the only loop; everything else is computed before or after it.",
    commands=r"""
tutti graph build/examples/init_loop/init_loop.ssp -o init_loop.svg
""")
EXTERNAL = 3  # what model1.u1 starts with
OFFSETS = np.array([0.25, -1, 2, 1.5, -0.5, 4])
LOOP = {"model1.u2", "model1.y1", "model2.u1", "model2.y1", "model3.u2", "model3.y1"}  # Figure 5.4
OUTPUTS = [f"model{i}.y{j}" for i in (1, 2, 3) for j in (1, 2)]


def matrices(k):
    """D of eq. 5.6 and L of eq. 5.7 for all inputs and outputs, in the order of OUTPUTS."""
    feed = np.zeros((6, 6))
    feed[0:2, 0:2] = feed[4:6, 4:6] = [[0, 1], [1, 0]]
    feed[2:4, 2:4] = [[k, 1], [1, 0]]
    link = np.zeros((6, 6))
    link[2:4, 0:2] = np.eye(2)
    link[4:6, 2:4] = [[0, 1], [1, 0]]
    link[1, 4] = 1
    return feed, link


def solution(k):
    """y = D (L y + u) + b, where u is the external input."""
    feed, link = matrices(k)
    outside = np.array([EXTERNAL, 0, 0, 0, 0, 0])
    return np.linalg.solve(np.eye(6) - feed @ link, feed @ outside + OFFSETS)


def main():
    example = Example(__doc__, GALLERY)
    loops = [loop["variables"] for loop in example.analyze()["loops"]]
    example.figure("loops", len(loops), len(loops) == 1, "1", "1")
    example.figure("variables in the loop", ", ".join(sorted(loops[0])), set(loops[0]) == LOOP, "those of the figure",
                   "Figure 5.4")
    for k in (0.5, -3, 1.5):
        run = example.run_system("--set", f"model2.k={k}")
        example.compare(f"k = {k}: error of the six outputs", [run[name][0] for name in OUTPUTS], solution(k), 1e-12)
        example.figure(f"k = {k}: loops solved", run.stats["init_loops"], run.stats["init_loops"] == 1, "1")
    feed, link = matrices(1)
    rank = np.linalg.matrix_rank(np.eye(6) - feed @ link)
    said = example.complaint("--set", "model2.k=1")
    named = said is not None and "singular" in said and "model2.y1" in said
    example.figure(f"k = 1, as printed: I - DL has rank {rank} of 6", said or "no complaint", rank == 5 and named,
                   "fails, says singular, names model2.y1")
    example.end()


if __name__ == "__main__":
    main()
