#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tries Tutti on every FMU of a folder and lists what differs, by the tool that made the FMU and its version.

    corpus.py FOLDER [--tutti TUTTI] [--json FILE.jsonl] [--table FILE.md] [--limit S] [--jobs N] [--only TEXT]

FMUs are found in all subfolders; equal files are tried once. Each one goes through `info`, `check`, `check --run` and a run by each
interface that it has. The results of two interfaces are compared with each other, and with a reference beside the FMU, as the FMI
cross-check project lays it out: X_ref.csv, or else REF.csv (`time` and variables), X_ref.opt or REF.opt (StartTime, StopTime, StepSize,
RelTol, OutputIntervalLength), X_in.csv (inputs).

FMUs are foreign code. Every command runs in its own process group and folder, with a time limit; as root also in its own PID namespace,
so that nothing it starts outlives it. As root --confine strict is not the default, since FMUs of other tools may need what it forbids: try
only FMUs that you would run, or add --confine.

--json writes a line per FMU, --table a Markdown table and the list of differences (standard output by default). Exit status: 0, also if
there are differences; 1 if a command of Tutti itself crashed or the folder has no FMUs."""
import argparse
import bisect
import csv
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
INTERFACES = {"coSimulation": "cs", "modelExchange": "me"}
SAME = 0.01  # of a variable's range: more is a difference
TIMES = 0.005  # of the run's length: events may be off by this
MOST_ROWS = 2000
EVENT_ROWS = 1e-9


@dataclasses.dataclass
class Ended:
    """How a command ended. `status` None: the time limit; below 0: a signal."""

    status: int
    out: str
    err: str


def run_limited(command, folder, limit):
    """Runs a command in `folder`, its own process group and, as root, its own PID namespace."""
    if os.geteuid() == 0 and shutil.which("unshare"):
        command = ["unshare", "-pf", "--mount-proc", "--kill-child", *command]
    environment = dict(os.environ, TMPDIR=str(folder), HOME=str(folder))
    with open(folder / "stdout", "w+b") as out, open(folder / "stderr", "w+b") as err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                                   start_new_session=True)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(4 << 20).decode("utf-8", "replace"))
    if status is not None and status > 128:  # what a shell and unshare make of a signal
        status = 128 - status
    return Ended(status, *texts)


# ---- curves ----

def read_columns(path):
    """Times and columns of a CSV file, numbers only; None if it is not such a file."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            sample = file.read(4096)
            file.seek(0)
            rows = list(csv.reader(file, delimiter=";" if sample.count(";") > sample.count(",") else ",", skipinitialspace=True))
    except (OSError, csv.Error):
        return None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        return None
    names = [name.strip() for name in rows[0]]
    columns = [[] for _ in names]
    for row in rows[1:]:
        for place, column in enumerate(columns):
            try:
                column.append(float(row[place]))
            except (ValueError, IndexError):
                column.append({"true": 1.0, "false": 0.0}.get(row[place].strip().lower(), math.nan) if place < len(row) else math.nan)
    return columns[0], {name: column for name, column in zip(names[1:], columns[1:]) if name}


def thinned(times, values, most=MOST_ROWS):
    """At most about `most` of the points: enough to compare, and quick."""
    stride = max(1, len(times) // most)
    return list(zip(times, values))[::stride]


def value_at(times, values, t):
    place = bisect.bisect_left(times, t)
    if place == 0:
        return values[0]
    if place == len(times):
        return values[-1]
    before, after = times[place - 1], times[place]
    if after <= before:
        return values[place]
    return values[place - 1] + (values[place] - values[place - 1]) * (t - before) / (after - before)


def distance(times, values, other_times, other_values):
    """How far a curve leaves a tube around the other one, whose half width in time is TIMES of the common span: (the largest distance in
    shares of the other's range, the share of points outside of SAME, the time of the largest)."""
    first, last = max(times[0], other_times[0]), min(times[-1], other_times[-1])
    finite = [value for value in other_values if math.isfinite(value)]
    if not finite:
        return (0.0, 0.0, first) if not any(math.isfinite(value) for value in values) else (math.inf, 1.0, first)
    span = max(finite) - min(finite)
    scale = max(span, 1e-6 * max(abs(value) for value in finite), 1e-9)
    width = TIMES * (last - first)
    worst, where, outside, count = 0.0, first, 0, 0
    for t, value in thinned(times, values):
        if not first <= t <= last:
            continue
        count += 1
        low, high = bisect.bisect_left(other_times, t - width), bisect.bisect_right(other_times, t + width)
        near = other_values[low:high] + [value_at(other_times, other_values, t + shift) for shift in (-width, 0, width)]
        near = [other for other in near if math.isfinite(other)]
        if not near or not math.isfinite(value):
            off = 0.0 if not near and not math.isfinite(value) else math.inf
        else:
            off = max(min(near) - value, value - max(near), 0.0) / scale
        outside += off > SAME
        if off > worst:
            worst, where = off, t
    return worst, outside / max(count, 1), where


def compare(mine, other):
    """The variable that differs most: {"variable", "worst", "share", "time"}; None if nothing is in both."""
    result = None
    for name in mine[1]:
        if name not in other[1]:
            continue
        worst, share, where = distance(mine[0], mine[1][name], other[0], other[1][name])
        if result is None or worst > result["worst"]:
            result = {"variable": name, "worst": worst if math.isfinite(worst) else "not finite", "share": round(share, 4), "time": where}
            if not math.isfinite(worst):
                break
    return result


# ---- one FMU ----

def beside(fmu, *endings):
    """The first file beside an FMU that has its name and one of the endings, or is called like the ending."""
    for ending in endings:
        path = fmu.with_name(fmu.stem + ending) if ending.startswith("_") else fmu.with_name(ending)
        if path.is_file():
            return path
    return None


def read_experiment(path):
    values = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path else ():
        match = re.match(r'\s*"?(\w+)"?\s*[,=:]\s*"?([-+0-9.eE]+)"?\s*$', line)
        try:
            if match:
                values[match[1]] = float(match[2])
        except ValueError:
            pass
    return values


def plan_run(description, experiment, reference, names):
    """The options of a run, beside the interface."""
    default = description.get("defaultExperiment", {})
    start = experiment.get("StartTime", default.get("start", 0.0) or 0.0)
    stop = experiment.get("StopTime") or default.get("stop") or (reference[0][-1] if reference else start + 1)
    if not stop > start:
        stop = start + 1
    options = ["--start", repr(start), "--stop", repr(stop)]
    interval = experiment.get("OutputIntervalLength") or 0
    step = experiment.get("StepSize") or 0
    if interval <= 0 and reference and len(reference[0]) > 2:
        interval = (reference[0][-1] - reference[0][0]) / (len(reference[0]) - 1)
    if step > 0:
        options += ["--step", repr(step)]
    elif interval > 0:
        options += ["--output-step", repr(interval)]
    if 0 < experiment.get("RelTol", 0) < 1:
        options += ["--rtol", repr(experiment["RelTol"])]
    for name in names:
        options += ["--record", name]
    return options


def warnings_of(text):
    return [line.split("warning: ", 1)[1] for line in text.splitlines() if "warning: " in line]


def error_of(ended):
    lines = [line.split("error: ", 1)[1] for line in ended.err.splitlines() if "error: " in line]
    return lines[-1] if lines else (ended.err.strip().splitlines() or [""])[-1]


class Trial:
    """All that is tried with one FMU."""

    def __init__(self, arguments, fmu, folder):
        self.arguments, self.fmu, self.folder = arguments, fmu, folder
        self.entry = {"file": str(fmu.relative_to(arguments.folder.resolve())), "tool": "", "fmi": "", "interfaces": []}

    def tutti(self, *words, name):
        folder = self.folder / name
        folder.mkdir()
        ended = run_limited([self.arguments.tutti, *words], folder, self.arguments.limit)
        return ended, folder

    def note(self, name, ended, **more):
        self.entry[name] = {"status": ended.status, **more}
        if ended.status is None:
            self.entry[name]["message"] = f"more than {self.arguments.limit} s"
        elif ended.status != 0:
            self.entry[name]["message"] = error_of(ended)[:600]

    def check(self, *words, name):
        ended, _ = self.tutti("check", *words, "--json", "--quiet", str(self.fmu), name=name)
        try:
            findings = json.loads(ended.out)["findings"]
        except (ValueError, KeyError):
            findings = []
        found = {kind: [finding["text"] for finding in findings if finding["severity"] == kind] for kind in ("error", "warning")}
        self.note(name, ended, errors=found["error"][:20], warnings=found["warning"][:20])

    def run(self, kind, options):
        words = ["run", str(self.fmu), "--interface", kind, "-o", "result.csv", "--quiet", *options]
        if self.arguments.confine:
            words += ["--confine", self.arguments.confine]
        ended, folder = self.tutti(*words, name=kind)
        table = read_columns(folder / "result.csv") if ended.status == 0 else None
        self.note(kind, ended, rows=len(table[0]) if table else 0, warnings=warnings_of(ended.err)[:20])
        return table

    def compare_all(self, tables, reference):
        tables = dict(tables, ref=reference)
        for one, two in (("cs", "me"), ("cs", "ref"), ("me", "ref")):
            if tables.get(one) and tables.get(two):
                found = compare(tables[one], tables[two])
                if found:
                    self.entry.setdefault("compared", {})[f"{one}-{two}"] = found

    def __call__(self):
        ended, _ = self.tutti("info", "--json", str(self.fmu), name="info")
        try:
            description = json.loads(ended.out)
        except ValueError:
            description = {}
        self.note("info", ended)
        interfaces = [kind for key, kind in INTERFACES.items() if key in description.get("interfaces", {})]
        self.entry.update(tool=description.get("generationTool") or "", fmi=description.get("fmiVersion") or "", interfaces=interfaces,
                          platforms=description.get("platforms", []))
        self.check(name="check")
        if description.get("cannotRun"):
            self.entry["cannot_run"] = description["cannotRun"]
            return self.entry
        self.check("--run", name="trial")
        path = beside(self.fmu, "_ref.csv", "REF.csv")
        reference = read_columns(path) if path else None
        experiment = read_experiment(beside(self.fmu, "_ref.opt", "REF.opt"))
        variables = {variable["name"]: variable for variable in description.get("variables", ())}
        names = [name for name in (reference[1] if reference else ()) if name in variables]
        names += [name for name, variable in variables.items() if variable.get("causality") == "output" and name not in names]
        if not names:
            names = [name for name, variable in variables.items() if variable.get("variability") == "continuous"][:50]
        options = plan_run(description, experiment, reference, names)
        given = beside(self.fmu, "_in.csv")
        if given:
            options += ["--input", str(given)]
        tables = {kind: self.run(kind, options) for kind in interfaces}
        self.compare_all(tables, reference)
        return self.entry


# ---- the report ----

def worst_of(entry, pair):
    found = entry.get("compared", {}).get(pair)
    return None if found is None else math.inf if found["worst"] == "not finite" else found["worst"]


def differences(entry):
    """Lines about an FMU: runs that failed, crashes, results that differ."""
    lines = [f"corpus.py cannot go through it: {entry['unreadable']}"] if "unreadable" in entry else []
    for name in ("info", "check", "trial", "cs", "me"):
        status = entry.get(name, {}).get("status", 0)
        if status is None:
            lines.append(f"{name}: does not end within the limit")
        elif status < 0 or status > 2:
            lines.append(f"{name}: ended by signal {-status}")
        elif status and name in ("cs", "me"):
            lines.append(f"{name}: {entry[name]['message']}")
    for pair, found in entry.get("compared", {}).items():
        worst = worst_of(entry, pair)
        if worst > SAME:
            text = found["worst"] if isinstance(found["worst"], str) else f"{found['worst']:.3g} of the range"
            warned = any(entry.get(name, {}).get("warnings") for name in pair.split("-"))
            lines.append(f"{pair}: {found['variable']} {text} at t = {found['time']:.6g}, {100 * found['share']:.3g}% of the points "
                         f"outside of {100 * SAME:g}%{', with a warning' if warned else ''}")
    return lines


def table_of(entries):
    groups = {}
    for entry in entries:
        groups.setdefault((entry["tool"] or "(not named)", entry["fmi"] or "?"), []).append(entry)
    head = ("tool and version", "FMI", "FMUs", "cannot run", "cs ran", "me ran", "failed", "no end", "cs = me", "cs = ref", "me = ref")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    totals = ["all", "", *[0] * 6, *[(0, 0)] * 3]
    for (tool, fmi), group in sorted(groups.items()):
        ran = {kind: sum(entry.get(kind, {}).get("status", 1) == 0 for entry in group) for kind in ("cs", "me")}
        tried = [entry[kind] for entry in group for kind in ("cs", "me") if kind in entry]
        pairs = []
        for pair in ("cs-me", "cs-ref", "me-ref"):
            worsts = [worst for worst in (worst_of(entry, pair) for entry in group) if worst is not None]
            pairs.append((sum(worst <= SAME for worst in worsts), len(worsts)))
        cells = [tool, fmi, len(group), sum("cannot_run" in entry for entry in group), ran["cs"], ran["me"],
                 sum(run["status"] not in (0, None) for run in tried), sum(run["status"] is None for run in tried), *pairs]
        totals[2:] = [(a[0] + b[0], a[1] + b[1]) if isinstance(a, tuple) else a + b for a, b in zip(totals[2:], cells[2:])]
        lines.append(row_of(cells))
    lines.append(row_of(totals))
    return lines


def row_of(cells):
    texts = [(f"{cell[0]} of {cell[1]}" if cell[1] else "") if isinstance(cell, tuple) else str(cell) for cell in cells]
    return "| " + " | ".join(text.replace("|", "/") for text in texts) + " |"


def write_report(entries, out):
    print(f"{len(entries)} FMUs, each once\n", file=out)
    print("\n".join(table_of(entries)), file=out)
    print(f"\nEqual: at most {100 * SAME:g}% of the range apart, within {100 * TIMES:g}% of the run in time.\n", file=out)
    for entry in sorted(entries, key=lambda entry: (entry["tool"], entry["file"])):
        lines = differences(entry)
        if lines:
            print(f"- {entry['file']} ({entry['tool'] or 'no tool named'}, FMI {entry['fmi'] or '?'})", file=out)
            for line in lines:
                print(f"  - {line}", file=out)


def find_fmus(folder, only):
    """FMUs by their content, each once: those that have a reference first."""
    found = {}
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".fmu" and path.is_file() and only in str(path))
    for path in sorted(paths, key=lambda path: beside(path, "_ref.csv", "REF.csv") is None):
        found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return found


def try_one(arguments, digest, fmu):
    with tempfile.TemporaryDirectory(prefix="tutti-corpus-", ignore_cleanup_errors=True) as folder:
        trial = Trial(arguments, fmu, pathlib.Path(folder))
        try:
            trial()
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:  # files of others hold anything
            trial.entry["unreadable"] = f"{type(error).__name__}: {error}"
        entry = {"sha256": digest, **trial.entry}
    print(f"{entry['file']}: {'; '.join(differences(entry)) or 'ok'}", file=sys.stderr, flush=True)
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tutti", default=str(ROOT / "build" / "tutti"), help="the command [build/tutti]")
    parser.add_argument("--json", type=pathlib.Path, help="write a line per FMU")
    parser.add_argument("--table", type=pathlib.Path, help="write the table there [standard output]")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each command [60]")
    parser.add_argument("--jobs", type=int, default=1, help="FMUs at once [1]")
    parser.add_argument("--only", default="", help="only FMUs whose path contains this text")
    parser.add_argument("--confine", help="runs are confined: strict, none, auto")
    arguments = parser.parse_args()
    fmus = find_fmus(arguments.folder.resolve(), arguments.only)
    if not fmus:
        sys.exit(f"corpus.py: {arguments.folder}: no FMUs")
    entries = []
    json_file = open(arguments.json, "w", encoding="utf-8") if arguments.json else None
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for entry in pool.map(lambda item: try_one(arguments, *item), fmus.items()):
            entries.append(entry)
            if json_file:
                print(json.dumps(entry), file=json_file, flush=True)
    if json_file:
        json_file.close()
    if arguments.table:
        with open(arguments.table, "w", encoding="utf-8") as out:
            write_report(entries, out)
    else:
        write_report(entries, sys.stdout)
    crashed = any((entry.get(name, {}).get("status") or 0) < 0 for entry in entries for name in ("info", "check"))
    sys.exit(1 if crashed else 0)


if __name__ == "__main__":
    main()
