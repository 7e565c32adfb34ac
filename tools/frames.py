#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the functions between main() and the first fmi2DoStep of a run's loop, and counts frames and files.

    tools/frames.py [--build DIR] [--options "..."] [SSP]   default: build, no options, build/examples/car/car.ssp
    tools/frames.py --limits FRAMES FILES                   exit status 1 if there are more, or a function's name comes twice

gdb runs DIR/tutti; functions that the compiler inlined count as frames, too. Do-steps of a test of the FMU are passed over: the loop is
on the stack, tt_run_until_end."""
import argparse
import collections
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOOP = "tt_run_until_end"
FRAME = re.compile(r"^#\d+\s+(?:0x[0-9a-f]+ in )?([\w.]+) \(.*?\)?(?: at (\S+):\d+| from \S+)?$")
COMMANDS = f"""
set pagination off
set confirm off
set width 0
set print frame-arguments none
set breakpoint pending on
set disable-randomization on
handle SIGUSR1 SIGUSR2 nostop noprint pass
break fmi2DoStep if $_any_caller_is("{LOOP}", 100)
run
backtrace
kill
"""


def frames(build: pathlib.Path, system: pathlib.Path, options: list[str]) -> list[tuple[str, str]]:
    """From main() on, as pairs of function and file."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "commands"
        script.write_text(COMMANDS)
        run = ["gdb", "-q", "-batch", "-nx", "-x", str(script), "--args", str(build / "tutti"), "run", str(system),
               "-o", f"{folder}/result.csv", *options]
        text = subprocess.run(run, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL).stdout
    found = []
    for line in text.splitlines():
        match = FRAME.match(line)
        if match:
            found.append((match[1], match[2] or "(FMU)"))
    if not found or found[-1][0] != "main":
        sys.exit(f"frames: no do-step was met; gdb says\n{text}")
    return found[::-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--options", default="", help="of tutti run")
    parser.add_argument("--limits", type=int, nargs=2, metavar=("FRAMES", "FILES"))
    parser.add_argument("system", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    system = arguments.system or arguments.build / "examples" / "car" / "car.ssp"
    found = frames(arguments.build, system, shlex.split(arguments.options))
    for number, (function, file) in enumerate(found, 1):
        print(f"{number:3}  {function:44} {file.removeprefix(str(ROOT) + '/')}")
    files = {file for _, file in found if file != "(FMU)"}
    twice = [name for name, count in collections.Counter(name for name, _ in found).items() if count > 1]
    print(f"{len(found)} frames in {len(files)} files; names that come twice: {', '.join(twice) or 'none'}")
    over = arguments.limits and (len(found) > arguments.limits[0] or len(files) > arguments.limits[1] or twice)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
