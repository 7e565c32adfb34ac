# SPDX-License-Identifier: MIT
"""What the tests of the Python module share. The environment names the library (TUTTI_LIBRARY), the kit's FMUs (FMUS) and the command
(TUTTI); without it, those of build/ are used."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
FMUS = pathlib.Path(os.environ.get("FMUS") or ROOT / "build" / "fmus")
TUTTI = os.environ.get("TUTTI") or str(ROOT / "build" / "tutti")


def kit(model, version="3"):
    return str(FMUS / f"{model}_fmi{version}.fmu")


def command(*arguments):
    """The command, for comparison: what it says on standard output."""
    return subprocess.run([TUTTI, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


TWO = {"a": kit("ChainMass", "2"), "b": kit("ChainMass", "2")}
JOINED = [("a.x", "b.x_left"), ("a.v", "b.v_left"), ("b.F", "a.F_right")]
HAS_HDF5 = (pathlib.Path(TUTTI).parent / "tutti_hdf5.so").exists()
