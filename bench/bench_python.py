#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the Python module costs on top of the library: bench_python.py BUILD

- simulate: tutti.simulate against tutti_run of the same options by itself, in this process.
- record: all outputs of 100 units over 10,000 steps into NumPy, against the same run that records nothing.
- reset: a run of a small FMU from a loop in Python, against the same in C (bench_reset tells what that costs by hand).

CPU time, the best of some rounds that alternate.
"""
import os
import pathlib
import sys
import time

BUILD = pathlib.Path(sys.argv[1])
os.environ.setdefault("TUTTI_LIBRARY", str(BUILD / "src" / "libtutti.so.0"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

import tutti  # noqa: E402 pylint: disable=wrong-import-position
from tutti import _library as c  # noqa: E402 pylint: disable=wrong-import-position
from tutti._options import Options  # noqa: E402 pylint: disable=wrong-import-position
from tutti._result import _Recording  # noqa: E402 pylint: disable=wrong-import-position

UNITS = 100


def fmu(name):
    return str(BUILD / "fmus" / f"{name}_fmi2.fmu")


def best(rounds, *functions):
    """CPU seconds of each, by turns."""
    least = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            begin = time.process_time()
            function()
            least[i] = min(least[i], time.process_time() - begin)
    return least


def tell(name, what, bare, ours, bound, good):
    print(f"{name:<11} {what:<52} bare {1e3 * bare:8.2f} ms   tutti {1e3 * ours:8.2f} ms   ratio {ours / bare:5.2f}   ({bound})")
    return good


def bench_simulate():
    given = {"step": 1e-3, "stop": 200.0}

    def bare():
        options, recording = Options([fmu("VanDerPol")], given), _Recording()
        c.lib.tutti_options_set_recording(options.handle, recording.handle)
        c.lib.tutti_run(options.handle, None)

    reference, ours = best(7, bare, lambda: tutti.simulate(fmu("VanDerPol"), **given))
    return tell("python", "simulate, 200,000 steps", reference, ours, "at most 1.05 + 5 ms", ours <= 1.05 * reference + 5e-3)


def bench_record():
    files = {f"u{i}": fmu("ChainMass") for i in range(UNITS)}
    connect = [pair for i in range(UNITS - 1) for pair in ((f"u{i}.x", f"u{i + 1}.x_left"), (f"u{i}.v", f"u{i + 1}.v_left"),
                                                           (f"u{i + 1}.F", f"u{i}.F_right"))]

    def run(**more):
        return tutti.simulate(files, connect=connect, set={"u0.x_left": 0.1}, step=1e-3, stop=10, **more)

    nothing, everything = best(5, lambda: run(record="none"), run)
    return tell("python", "100 units, 10,000 steps, all outputs into NumPy", nothing, everything, "at most 1.2",
                everything <= 1.2 * nothing)


def bench_reset():
    runs = 300
    with tutti.Simulation(fmu("VanDerPol"), step=0.01, stop=20, record="none") as simulation:
        x0, stop = simulation.find("x0"), simulation.stop

        def python():
            for run in range(runs):
                simulation.reset(set={"mu": 1 + 1e-3 * run}).start().advance(stop)
                simulation.get(x0)

        handle, value = simulation._handle, c.c_double()  # pylint: disable=protected-access

        def plain():
            for run in range(runs):
                c.lib.tutti_simulation_reset(handle)
                c.lib.tutti_simulation_set(handle, f"mu={1 + 1e-3 * run!r}".encode())
                c.lib.tutti_simulation_start(handle)
                c.lib.tutti_simulation_advance(handle, stop)
                c.lib.tutti_simulation_get(handle, x0, c.ctypes.byref(value), 1)

        python()
        bare, ours = best(7, plain, python)
    return tell("python", f"{runs} runs of 2,000 steps by reset", bare, ours, "at most 1.2", ours <= 1.2 * bare)


if __name__ == "__main__":
    results = [bench_simulate(), bench_record(), bench_reset()]
    sys.exit(0 if all(results) else 1)
