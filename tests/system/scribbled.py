# SPDX-License-Identifier: MIT
"""Runs whose FMU overwrites memory that its process shares with others (tests/unit/kit/Scribble.c), in a PID namespace of their own: what
goes wrong there ends no process outside. In it are canaries: processes of the same user in other groups and sessions, which no run may end.

As a program it is the first process of the namespace: it reads jobs, a JSON line each, and writes what became of each."""
import csv
import functools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys

import command

NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
PATIENCE = 60  # seconds after which a run counts as hanging
PATTERNS = {"zeros": 0, "ones": 1, "all bits": 2, "noise": 3}
AFTER = {"goes on": 0, "crashes": 1, "exits": 2, "pauses": 3}

PAIR = (*(f"{name}={{fmu}}" for name in "ab"), "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.x=2", "--step", "0.1", "--stop", "2",
        "--interface", "cs")
CHAIN = (*(f"{name}={{fmu}}" for name in "abc"), "--connect", "a.y=b.u", "--connect", "b.y=c.u", "--connect", "c.y=a.u", "--set", "a.x=2",
         "--step", "0.1", "--stop", "2", "--interface", "cs")
RELAX = ("--coupling", "relax", "--rollback", "fork")
SWEEP = ("sweep", "a={fmu}", "b={fmu}", "--connect", "a.y=b.u", "--vary", "b.x=1:4:4", "--step", "0.1", "--interface", "cs", "--workers", "2")
MODES = {
    "plain": ("run", *PAIR, *command.JACOBI),
    "me": ("run", *PAIR[:-1], "me"),
    "threads": ("run", *CHAIN, *command.JACOBI, "--threads", "3"),
    "processes": ("run", *CHAIN, *command.JACOBI, "--processes", "3"),
    "fork": ("run", *PAIR, *RELAX),
    "fork in processes": ("run", *PAIR, *RELAX, "--processes", "2"),
    "nodes": ("run", *CHAIN, *command.JACOBI, "--nodes", "{nodes}"),
    "sweep": SWEEP,
    "confined": ("run", *PAIR, *command.JACOBI, "--processes", "2", "--confine", "auto"),
}


@functools.cache
def lacks():
    """Why there can be no namespace, empty if there can; and what starts a command in one."""
    for rights in ((), ("--user", "--map-root-user")):
        made = subprocess.run([NAMESPACE[0], *rights, *NAMESPACE[1:], "true"], capture_output=True, text=True, check=False)
        if made.returncode == 0:
            return "", (NAMESPACE[0], *rights, *NAMESPACE[1:])
    return made.stderr.strip() or "no PID namespace", ()


def deed(seed):
    """What the FMU does, by seed, as settings of its parameters."""
    chance = random.Random(seed)
    return {"pattern": list(PATTERNS.values())[seed % 4], "inside": chance.randrange(2), "after": chance.choice([0, 0, 1, 2, 3]),
            "sparse": int(chance.random() < 0.2), "seed": seed}


def try_all(jobs):
    """The findings of each job (a mode and a seed), in their order. Folders and processes are gone afterwards."""
    why, namespace = lacks()
    assert not why, why
    environment = {**os.environ, "TUTTI": command.TUTTI, "FMUS": str(command.FMUS)}
    lines = "".join(json.dumps(job) + "\n" for job in jobs)
    ended = subprocess.run([*namespace, sys.executable, "-B", __file__], input=lines, capture_output=True, text=True, check=False, env=environment,
                           timeout=(PATIENCE + 20) * (len(jobs) + 1))
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    if len(answers) != len(jobs):
        return [*answers, *(["the namespace has ended: " + ended.stderr] for _ in range(len(jobs) - len(answers)))]
    return answers


# ---- inside of the namespace


class Canaries:
    """Processes that nobody may end."""

    def __init__(self):
        self.all = []
        self.restore()

    def restore(self):
        self.all = [process for process in self.all if process.poll() is None]
        for options in ({"start_new_session": True}, {"process_group": 0}, {}):
            self.all.append(subprocess.Popen(["sleep", "inf"], **options))

    def dead(self):
        return sum(process.poll() is not None for process in self.all)

    def numbers(self):
        return {process.pid for process in self.all}


def others(known):
    """Processes that are there besides these."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            name = (process / "comm").read_text().strip()
        except OSError:
            continue
        if int(process.name) not in known and state != "Z":
            found.append(f"{process.name} ({name})")
    return found


def collect():
    """The first process has to collect those that were left to it."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Nodes:
    """Two nodes, started when they are first needed."""

    def __init__(self, folder):
        self.folder, self.all = folder, []

    def addresses(self):
        if any(process.poll() is not None for process, _ in self.all):
            self.all = []
        if not self.all:
            self.all = [self.start(str(n)) for n in range(2)]
        return ",".join(address for _, address in self.all)

    def start(self, name):
        log = self.folder / f"node-{name}"
        with open(log, "wb") as file:
            process = subprocess.Popen([command.TUTTI, "node", "--listen", "127.0.0.1:0", "--cache", str(self.folder / f"cache-{name}"), "--confine",
                                        "none"], stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True, cwd=self.folder)
        assert command.wait_until(lambda: "listening at" in log.read_text() or process.poll() is not None), log.read_text()
        return process, re.search(r"listening at (\S+),", log.read_text())[1]

    def numbers(self):
        return {process.pid for process, _ in self.all}

    def ended(self):
        return [process.args for process, _ in self.all if process.poll() is not None]


def run(mode, folder, nodes, settings):
    """One run to its end; None: it hangs. In small addresses, so that what is shared can be filled in all."""
    fmu = command.test_fmu("Scribble", "2")
    words = [word.format(fmu=fmu, nodes=nodes.addresses() if mode == "nodes" else "") for word in MODES[mode]]
    for name, value in settings.items():
        words += ["--set", f"a.{name}={value}"]
    words = [command.TUTTI, *words, "-o", "result.csv"]
    with open(folder / "out", "wb") as out:
        process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                                   preexec_fn=lambda: command.resource.setrlimit(command.resource.RLIMIT_AS, (1 << 34, 1 << 34)))
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = None
            process.kill()
            process.wait()
    text = (folder / "out").read_text("utf-8", "replace")
    result = folder / "result.csv"
    table = list(csv.reader(result.read_text("utf-8", "replace").splitlines())) if result.exists() else None
    for path in folder.iterdir():
        path.unlink()
    return status, text, table


def judge(outcome, reference):
    """What is wrong with a run."""
    status, text, table = outcome
    if status is None:
        return ["it hangs: " + text]
    if status == 0 and table != reference:
        return ["exit status 0, and another result: " + text]
    if status != 0 and not re.search(r"^tutti(?: \w+)?: (error|warning): \S", text, re.M):
        return [f"exit status {status} without a message: {text}"]
    if "Please report it" in text:
        return [f"exit status {status}: taken for a fault of ours: {text}"]
    return []


def main():
    folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"tutti-scribbled-{os.getpid()}-{random.SystemRandom().randrange(1 << 40)}"
    (folder / "run").mkdir(parents=True)
    (folder / "tmp").mkdir()
    os.environ["TMPDIR"] = str(folder / "tmp")
    canaries, nodes, references = Canaries(), Nodes(folder), {}
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for line in sys.stdin:
        job = json.loads(line)
        mode = job["mode"]
        if mode not in references:
            status, text, references[mode] = run(mode, folder / "run", nodes, {})
            assert status == 0, text
        outcome = run(mode, folder / "run", nodes, deed(job["seed"]))
        findings = judge(outcome, references[mode])
        known = {1, *canaries.numbers(), *nodes.numbers()}
        command.wait_until(lambda: collect() or not others(known))
        findings += [f"it leaves {name}: {outcome[1]}" for name in others(known)]
        for name in others(known):
            os.kill(int(name.split()[0]), signal.SIGKILL)
        findings += [f"node has ended: {args}: {outcome[1]}" for args in nodes.ended()]
        if canaries.dead():
            findings.append(f"{canaries.dead()} CANARIES DIED: {outcome[1]}")
            canaries.restore()
        print(json.dumps(findings if not job.get("verbose") else [*findings, f"{outcome[0]} {outcome[1]}"]), flush=True)
    subprocess.run(["rm", "-rf", str(folder)], check=True)


if __name__ == "__main__":
    main()
