#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs clang-tidy over the project's own files, in parallel.

usage: tidy.py BUILD JOBS

Takes the commands from BUILD/compile_commands.json. A file that is compiled many times (the kit: once per model and FMI
version) is checked once per text that the preprocessor makes of it. What was clean is not checked again until its text or
the settings change; the memory of that is BUILD/lint/tidy."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = ("src", "cli", "kit")
# Where a change is checked before it lands there is a quarter of an hour for everything: there it is what is shipped, without the
# analyzer, which takes most of the time. By hand it is all of it.
HURRY = bool(os.environ.get("CI"))
OWN = SHIPPED if HURRY else (*SHIPPED, "tests", "bench", "examples")
TIDY = "clang-tidy-14"
COMPILER = "clang-14"


def own_commands(database):
    """(file, words of the command, folder it runs in) of the project's own sources."""
    commands = []
    for entry in json.loads(database.read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in OWN:
            words = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
            commands.append((path, words, entry["directory"]))
    return commands


def clang_arguments(words):
    """The command's options that clang needs to see the same code: definitions, include paths, language."""
    kept, take_next = [], False
    for word in words[1:]:
        if take_next:
            kept.append(word)
            take_next = False
        elif word in ("-I", "-D", "-U", "-isystem", "-include", "-x"):
            kept.append(word)
            take_next = True
        elif re.match(r"-(I|D|U|isystem|std=|x|include)", word):
            kept.append(word)
    return kept


def takes_hints(path):
    """tidy_hints.h is for C files of the library and the command, but not for the one that defines what it redefines."""
    parts = path.relative_to(ROOT).parts
    return path.suffix == ".c" and parts[0] in ("src", "cli") and parts != ("src", "base", "fail.c")


def checks(path):
    """The analyzer, which follows paths, is for code that is shipped; the rest runs under the sanitizers."""
    followed = path.relative_to(ROOT).parts[0] in SHIPPED and not HURRY
    return [] if followed else ["--checks=-clang-analyzer-*"]


def prepare(command):
    """(key of all that the result depends on, file, folder to run in, clang's arguments)"""
    path, words, directory = command
    arguments = clang_arguments(words) + ["-Wall", "-Wextra", "-Wshadow", "-Wno-unused-parameter"]
    if takes_hints(path):
        arguments += [f"-I{ROOT}/src", f"-I{ROOT}/include", "-include", str(ROOT / "tools" / "tidy_hints.h")]
    text = subprocess.run([COMPILER, "-E", *arguments, path], cwd=directory, capture_output=True, check=False)
    settings = [(f / ".clang-tidy").read_bytes() for f in path.parents if (f / ".clang-tidy").is_file()]
    key = hashlib.sha256(b"\0".join([bytes(path), *map(str.encode, checks(path)), text.stdout, text.stderr, *settings])).hexdigest()
    return key, path, directory, arguments


def run(job, stamps):
    """What clang-tidy has to say of a file; nothing if it is clean."""
    key, path, directory, arguments = job
    if (stamps / key).exists():
        return ""
    done = subprocess.run(
        [TIDY, "--quiet", *checks(path), str(path), "--", *arguments], cwd=directory, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        (stamps / key).touch()
        return ""
    said = done.stdout + "".join(l for l in done.stderr.splitlines(True) if "warnings generated" not in l)
    return said.replace(f"{ROOT}/", "")


def main():
    build, jobs = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    stamps = build / "lint" / "tidy"
    stamps.mkdir(parents=True, exist_ok=True)
    commands = own_commands(build / "compile_commands.json")
    if not commands:
        print(f"{build}/compile_commands.json names no file of the project")
        return 1
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        todo = {job[0]: job for job in pool.map(prepare, commands)}
        said = dict.fromkeys(pool.map(lambda job: run(job, stamps), todo.values()))
    for stale in set(os.listdir(stamps)) - set(todo):
        (stamps / stale).unlink()
    said.pop("", None)
    print("".join(said), end="")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
