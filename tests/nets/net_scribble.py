#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that overwrite memory that their process shares with others end no process that is not Tutti's, and their run ends, with a message or
with the right result. A seed is a mode and what is written; everything runs in a PID namespace (tests/system/scribbled.py)."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import net
import scribbled

WHY_NOT = scribbled.lacks()[0]


def run(seed, _folder):
    mode = list(scribbled.MODES)[seed % len(scribbled.MODES)]
    findings = scribbled.try_all([{"mode": mode, "seed": seed // len(scribbled.MODES)}])[0]
    return [f"{mode}, {scribbled.deed(seed // len(scribbled.MODES))}: {finding}" for finding in findings]


if __name__ == "__main__":
    if WHY_NOT:
        print(f"skipped: this test needs a PID namespace: {WHY_NOT}")
        sys.exit(net.SKIPPED)
    net.main(run, short=len(scribbled.MODES), long=1000)
