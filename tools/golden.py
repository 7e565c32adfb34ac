#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Records the results of many runs as digests, and checks that a later build still gives the same bytes.

usage: golden.py record|check BUILD [CASE...]

The cases are in golden_cases.py. For each of them tests/golden.txt has the exit status and the first 16 digits of the SHA-256 of the result
file, the step log and the statistics; '-' is a file that the run does not write. `record` writes all cases to tests/golden.txt, and keeps
their files in BUILD/golden/recorded/. `check` runs the cases (those named, with * and ?) again, into BUILD/golden/checked/, and shows for
each case that differs the command, the file, and the first different line, if the recorded files are there. Exit status 1 if a case differs.
JOBS is how many cases run at once (all cores)."""
import contextlib
import dataclasses
import fnmatch
import hashlib
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from golden_cases import Case, all_cases

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "golden.txt"
PARTS = ("result", "step log", "statistics")
LIMIT = 300  # seconds after which a run hangs
# Statistics that differ between runs or machines, and the texts of messages.
VARYING = {"version", "versions", "host", "date", "files", "error", "reasons", "latencies", "most_late", "overruns", "preemptions"}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What tests/golden.txt has about a case."""

    status: str
    digests: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.status, *self.digests))


def steady(value: object) -> object:
    """The statistics that are the same in every run. Paths are reduced to the file's name."""
    if isinstance(value, dict):
        return {key: steady(entry) for key, entry in value.items() if key not in VARYING and not key.endswith("seconds")}
    if isinstance(value, list):
        return [steady(entry) for entry in value]
    return value.rpartition("/")[2] if isinstance(value, str) else value


def files_of(case: Case, folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    return folder / case.result, folder / "steps.csv", folder / "steady.json"


def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else "-"


class Runner:
    """Runs cases, each in a folder of its own below `kept`, with the command of `build`."""

    def __init__(self, build: pathlib.Path, kept: pathlib.Path, nodes: str) -> None:
        self.tutti, self.kept, self.nodes = str(build / "tutti"), kept, nodes

    def commands(self, case: Case) -> list[list[str]]:
        last = ["run", *case.words, "--quiet", "-o", case.result, "--stats", "stats.json"]
        if case.coupled:
            last += ["--step-log", "steps.csv"]
        return [[self.tutti, *(self.nodes if word == "NODES" else word for word in words)] for words in (*case.before, last)]

    def run(self, case: Case) -> Outcome:
        folder = self.kept / case.name
        folder.mkdir(parents=True)
        for name, text in case.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        status = "0"
        with open(folder / "messages.txt", "wb") as messages:
            for command in self.commands(case):
                try:
                    ended = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages,
                                           timeout=LIMIT, check=False)
                    status = str(ended.returncode)
                except subprocess.TimeoutExpired:
                    status = "hangs"
        # Where a run on several ranks fails, what the others have counted by then depends on how fast they are.
        if status == "0":
            stats = json.loads((folder / "stats.json").read_text(encoding="utf-8"))
            (folder / "steady.json").write_text(json.dumps(steady(stats), indent=1) + "\n", encoding="utf-8")
        return Outcome(status, tuple(digest(path) for path in files_of(case, folder)))

    def run_all(self, cases: list[Case]) -> dict[str, Outcome]:
        pool = ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1))
        try:
            return dict(zip((case.name for case in cases), pool.map(self.run, cases)))
        finally:
            pool.shutdown(cancel_futures=True)  # all have ended, or the user has pressed Ctrl-C


def end_process(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    process.wait()


@contextlib.contextmanager
def started_nodes(build: pathlib.Path, folder: pathlib.Path) -> Iterator[str]:
    """Two nodes on this machine, as the value of --nodes."""
    addresses = []
    with contextlib.ExitStack() as ending:
        for name in ("node1", "node2"):
            cache = str(folder / name)
            node = subprocess.Popen([str(build / "tutti"), "node", "--listen", "127.0.0.1:0", "--cache", cache, "--confine", "none"],
                                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            ending.callback(end_process, node)
            assert node.stderr
            first = node.stderr.readline()
            listening = re.search(r"listening at (\S+),", first)
            if not listening:
                sys.exit(f"golden: a node does not start: {first}")
            addresses.append(listening[1])
            # Its other lines would fill the pipe.
            subprocess.Popen(["cat"], stdin=node.stderr, stdout=subprocess.DEVNULL)
        yield ",".join(addresses)


def machine() -> str:
    """What floating-point results depend on besides the code: libraries choose their kernels by the processor."""
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return f"{model[1] if model else platform.machine()}, {' '.join(platform.libc_ver())}"


def read_record() -> tuple[str, dict[str, Outcome]]:
    """The machine that the record is of, and the outcomes by names of cases."""
    where, outcomes = "", {}
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        if line.startswith("# machine: "):
            where = line.partition(": ")[2]
        elif not line.startswith("#"):
            name, status, *digests = line.split()
            outcomes[name] = Outcome(status, tuple(digests))
    return where, outcomes


def write_record(outcomes: dict[str, Outcome]) -> None:
    head = ("# Written by './dev golden record': of each case the exit status and the digests of result, step log and statistics.\n"
            f"# machine: {machine()}\n")
    RECORD.write_text(head + "".join(f"{name} {outcome}\n" for name, outcome in outcomes.items()), encoding="utf-8")


def first_difference(old: pathlib.Path, new: pathlib.Path) -> str:
    lines = [path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else [] for path in (old, new)]
    longest = max(map(len, lines))
    one, other = (part + ["(no such line)"] * (longest - len(part)) for part in lines)
    for i in range(longest):
        if one[i] != other[i]:
            return f"line {i + 1}\n      recorded {one[i][:400]}\n      now      {other[i][:400]}"
    return "a byte that is not in a line of text"


def differences(case: Case, recorded: Outcome, now: Outcome, folder: pathlib.Path) -> list[str]:
    """A text for each part of the case that differs."""
    found = [f"exit status: recorded {recorded.status}, now {now.status}"] if recorded.status != now.status else []
    for part, old_digest, new_digest, old, new in zip(PARTS, recorded.digests, now.digests, files_of(case, folder / "recorded" / case.name),
                                                      files_of(case, folder / "checked" / case.name)):
        if old_digest == new_digest:
            continue
        if old_digest != digest(old):
            where = f"recorded {old_digest}, now {new_digest}; the recorded file is not kept here"
        elif old.suffix == ".mat":
            where = f"compare {old} and {new}"
        else:
            where = first_difference(old, new)
        found.append(f"{part}: {where}")
    return found


def unlike_one_rank(outcomes: dict[str, Outcome]) -> list[str]:
    """The cases whose result or step log is not that of the same run on one rank (docs/distributed.md, docs/checkpoints.md)."""
    found = []
    for name, now in outcomes.items():
        plain = outcomes[name.partition("@")[0]]
        if (now.status, now.digests[:2]) != (plain.status, plain.digests[:2]):
            found.append(name)
    return found


def record(runner: Runner, cases: list[Case]) -> int:
    outcomes = runner.run_all(cases)
    write_record(outcomes)
    for name in unlike_one_rank(outcomes):
        print(f"{name}: not the result or step log of one rank")
    print(f"{len(cases)} cases recorded in {RECORD.relative_to(ROOT)}; their files are in {runner.kept}")
    return 0


def check(runner: Runner, cases: list[Case], folder: pathlib.Path) -> int:
    where, recorded = read_record()
    if where != machine():
        print(f"The record was made on another machine ({where}; this is {machine()}): floating-point results may differ. "
              "Run './dev golden record' on the commit before your change.")
    failed = 0
    outcomes = runner.run_all(cases)
    for case in cases:
        now = outcomes[case.name]
        if case.name not in recorded:
            found = ["not in the record"]
        else:
            found = differences(case, recorded[case.name], now, folder)
        if found:
            failed += 1
            print(f"{case.name}: differs")
            for text in found:
                print(f"    {text}")
            print(f"    in {runner.kept / case.name}:")
            for command in runner.commands(case):
                print(f"    {shlex.join(command)}")
    print(f"{len(cases)} cases, {failed} differ from {RECORD.relative_to(ROOT)}")
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in ("record", "check") or (arguments[0] == "record" and len(arguments) > 2):
        sys.exit(__doc__)
    how, build, patterns = arguments[0], pathlib.Path(arguments[1]).resolve(), arguments[2:]
    folder = build / "golden"
    cases = [case for case in all_cases(build) if not patterns or any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)]
    kept = folder / ("recorded" if how == "record" else "checked")
    for old in (kept, folder / "nodes"):
        shutil.rmtree(old, ignore_errors=True)
    for needed in (kept, folder / "nodes"):
        needed.mkdir(parents=True)
    os.environ["XDG_CACHE_HOME"] = str(folder / "nodes")
    start = time.monotonic()
    with started_nodes(build, folder / "nodes") as nodes:
        runner = Runner(build, kept, nodes)
        status = record(runner, cases) if how == "record" else check(runner, cases, folder)
    print(f"{time.monotonic() - start:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
