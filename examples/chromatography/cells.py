#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the table of variables of Chromatography.c: cells.py NAME CELLS > cells.h"""
import sys

LOADED = 0.15  # part of the column that holds the substance at the start
LOAD = 0.8  # and how much of it


def entry(place, name, start, depends, more=""):
    """A state and its derivative."""
    return (
        f'    KIT_STATE(x[{place}], .name = "{name}", .start = "{start}", .derivative = "der({name})"{more}), \\\n'
        f'    KIT_DERIVATIVE(dx[{place}], .name = "der({name})", .depends = "{depends}")'
    )


def cell(i, cells):
    """The three states of cell i = 1 ... cells."""
    load = LOAD if i <= LOADED * cells else 0
    last = i == cells
    s_flow = ["m:constant" if i == 1 else f"s[{i - 1}]:constant", f"s[{i}]:constant"]
    c_flow = [] if i == 1 else [f"c[{i - 1}]:constant"]
    if not last:
        s_flow.append(f"s[{i + 1}]:constant")
        c_flow.append(f"c[{i + 1}]:constant")
    adsorption = f"s[{i}] c[{i}] q[{i}]"
    detector = ', .causality = KIT_OUTPUT, .description = "what the detector sees"' if last else ""
    yield entry(3 * i - 2, f"s[{i}]", 0, " ".join(s_flow))
    yield entry(3 * i - 1, f"c[{i}]", 0, " ".join([*c_flow, adsorption]), detector)
    yield entry(3 * i, f"q[{i}]", load, adsorption)


def main(name, cells):
    cells = int(cells)
    entries = [entry(0, "m", 0, "m:constant u:constant", ", .causality = KIT_OUTPUT")]
    for i in range(1, cells + 1):
        entries.extend(cell(i, cells))
    table = ", \\\n".join(entries)
    print(f"/* Written by cells.py. */\n#define CELLS {cells}\n#define CELLS_MODEL \"{name}\"")
    print(f"#define CELLS_VARIABLES \\\n{table}")


if __name__ == "__main__":
    main(*sys.argv[1:])
