#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the checks of all examples and writes docs/reproduction.md: what was published, and what Tutti measures; before that,
examples/README.md with its pictures (gallery.py).

usage: reproduce.py BUILD

Figures that count something (steps, evaluations, events) or compare with a reference: no times, so that the page is the
same on every machine, up to last digits. Exit status 1, and docs/reproduction.md is left alone, if a figure is not as it has to be."""
import json
import pathlib
import subprocess
import sys

import gallery

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
HEAD = """# Reproduction

Cases from publications as [examples](../examples/README.md), each with a check against an independent reference. `./dev reproduce`
writes this page from the checks. *Required* is the condition of a check; `examples/NAME/check.py` prints all of its figures. Where a
publication leaves parameters or initial values open, ours are in the example's README, and only ratios can be expected to agree.

*(stand-in)*: the publication does not give its model or its data. The example has the same structure with our equations or data,
some of which were chosen by the published result: the areas of quad_tank, the pickup value of breaker, the number of connections of
race_car_init. Such a row shows that the method works on a model of that kind. It does not confirm the published figure.

"""
COLUMNS = ("case", "what", "published", "Tutti", "required")
TAIL = """
Experiments of the five publications that are not here:

| publication | experiment | why |
|---|---|---|
| Andersson | Examples 9.1.1 to 9.1.3, 9.1.5 to 9.1.7 and 9.2.1 | they show how functions of PyFMI are called, without results |
| Andersson | Tables 8.2 and 8.3: ode15s of MATLAB, LSODAR of Dymola | these tools are not available here; Table 8.1 is a part of [robot](../examples/robot/README.md) |
| Andersson | elapsed times in Tables 7.2 to 7.4, 8.1 to 8.3 and section 5.3.2 | times differ between machines; this page has the steps and evaluations of these tables |
| Awais | Figures 6.8 and 6.9: histograms of the iterations | the experiment of Figure 6.10, which [lorenz](../examples/lorenz/README.md) has, with other systems; [lotka_volterra](../examples/lotka_volterra/README.md) has the mean |
| Galtier | Figures 8 and 9: times on a cluster of 8 machines | the FMUs are not public; `./dev bench` measures the same questions on one machine. [four_rooms](../examples/four_rooms/README.md) counts the work of Table 2 |
| Lacoursière | Figure 3: times by TCP/IP and by MPI on one machine, many minimal FMUs | `bench/bench_ranks.py` compares with a bare ping-pong instead |

Case 26 (Andersson, Table 6.4) is a part of [smoothing](../examples/smoothing/README.md).

Race car: our wheel has three states and smooth equations; that of the thesis comes from a commercial library. A segment takes ours
one to three steps, and the thesis' 8 to 26, so only ratios can be compared: the order of the four ways where segments take several
steps, and the Jacobians of restarts, one per segment (200 and 199). Two threads: the time follows from the loads of the thesis and
from the placement of components. `bench/bench_ranks.py` measures components with these loads: 0.51 of the time of one thread (0.66
in the thesis).

*Lacoursière* is C. Lacoursière and T. Härdin, FMI Go! A simulation runtime environment with a client server architecture over
multiple protocols. The others are named [there](../examples/README.md).
"""


def figures(name, build):
    """What the check of an example reports, and whether all is well."""
    command = [sys.executable, "-B", ROOT / "examples" / name / "check.py", "--build", build, "--report"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return [json.loads(line) for line in ended.stdout.splitlines()], ended.returncode == 0


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def main(build):
    text = HEAD + row(COLUMNS) + row("---" for _ in COLUMNS)
    good = True
    for name in gallery.write(build):
        found, well = figures(name, build)
        print(f"{name}: {len(found)} figures{'' if well else ', not as they have to be'}")
        for figure in found:
            if not figure["ok"]:
                print(f"    {figure['what']}: {figure['measured']}, required {figure['required']}")
        good = good and well
        for figure in found:
            if figure["published"]:
                link = f"[{name}](../examples/{name}/README.md)" + (" (stand-in)" if figure["stand_in"] else "")
                text += row((link, figure["what"], figure["published"], figure["measured"], figure["required"]))
    if good:
        PAGE.write_text(text + TAIL, encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
