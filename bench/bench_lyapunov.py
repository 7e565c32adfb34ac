#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the structure of a Jacobian is worth, on examples/chromatography: bench_lyapunov.py BUILD

Sparse with colouring against dense without (`--jacobian plain`), in CPU seconds: the column alone, and with the Lyapunov
equation that examples/chromatography/lyapunov.c adds to it. With 142 states that makes 20,306 equations, and every dense
factorisation takes 6e12 operations: that run is stopped when it has had 12.5 times what the sparse one took."""
import os
import pathlib
import resource
import signal
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
GRADIENT = ROOT / "examples" / "chromatography" / "gradient.csv"
MODES = ("sparse", "plain")
MOST = 0.08  # of the time of dense without colouring
DENSE_MEMORY = 2 * 20306**2 * 8  # bytes: the Jacobian and its factors


def cpu_seconds(command, folder, limit=None):
    """CPU seconds of a command that succeeds; None if it had not ended after `limit` of them."""
    command = [str(part) for part in command]
    child = os.fork()
    if child == 0:
        os.dup2(os.open(folder / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    if limit and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return None
    if status != 0:
        sys.exit(f"bench: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def available_memory():
    """Bytes."""
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def show(what, plain, sparse, ratio, bound):
    print(f"jacobian    {what:<34} plain {plain}        sparse {1e3 * sparse:7.1f} ms        ratio {ratio}   {bound}",
          flush=True)


def compare(what, commands, folder, bound=MOST, rounds=3):
    """Both to the end."""
    sparse = min(cpu_seconds(commands["sparse"], folder) for _ in range(rounds))
    plain = cpu_seconds(commands["plain"], folder)
    show(what, f"{1e3 * plain:7.1f} ms", sparse, f"{sparse / plain:5.3f}", f"(at most {bound:g})" if bound else "")
    return not bound or sparse <= bound * plain


def compare_stopped(what, commands, folder):
    """The dense one is stopped when the ratio is known to be below the bound."""
    sparse = cpu_seconds(commands["sparse"], folder)
    if available_memory() < 1.2 * DENSE_MEMORY:
        print(f"jacobian    {what:<34} skipped: dense needs {DENSE_MEMORY / 2**30:.1f} GiB of memory")
        return True
    limit = int(sparse / MOST) + 1
    plain = cpu_seconds(commands["plain"], folder, limit)
    if plain is None:
        show(what, f"> {1e3 * limit:5.0f} ms", sparse, f"< {sparse / limit:5.3f}",
             f"(at most {MOST:g}; plain was stopped)")
        return True
    show(what, f"{1e3 * plain:7.1f} ms", sparse, f"{sparse / plain:5.3f}", f"(at most {MOST:g})")
    return sparse <= MOST * plain


def main(build):
    example = pathlib.Path(build) / "examples" / "chromatography"
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def column(mode):
            return [pathlib.Path(build) / "tutti", "run", example / "Chromatography_fmi3.fmu", "--interface", "me",
                    "--solver", "cvode", "--jacobian", mode, "--rtol", "1e-8", "--atol", "1e-8", "--input", GRADIENT,
                    "--step", "5", "--quiet", "-o", folder / "result.csv"]

        def lyapunov(fmu, stop):
            command = [example / "lyapunov", example / f"{fmu}_fmi3.fmu", GRADIENT, folder / "result.csv"]
            return {mode: [*command, mode, stop] for mode in MODES}

        good &= compare("142 states, no Lyapunov equation", {mode: column(mode) for mode in MODES}, folder, bound=None)
        good &= compare("22 states, 506 equations", lyapunov("Chromatography22", 5), folder)
        good &= compare("40 states, 1,640 equations", lyapunov("Chromatography40", 1), folder)
        good &= compare_stopped("142 states, 20,306 equations", lyapunov("Chromatography", 1), folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
