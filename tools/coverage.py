#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the tests reach, by folders of src/: lines and branches, and by name the functions that miss most.

usage: tools/coverage.py COVERAGE.json [FOLDER...]     (as `gcovr --json` writes it; without FOLDER, all)

A branch is one way on from a condition, as the compiler sees it: `if (a && b)` has four. Prints a table, and for each folder the
functions that no test calls and those with most branches that no test takes."""
import bisect
import collections
import json
import sys

MOST_NAMES = 12  # of functions, for a folder


class Folder:
    def __init__(self):
        self.lines, self.lines_hit, self.branches, self.branches_hit = 0, 0, 0, 0
        self.unused = []  # functions that are not called
        self.missing = collections.Counter()  # branches that are not taken, by function


def folder_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "src" else None


def add(folder, file):
    functions = sorted((function["lineno"], function["name"], function["execution_count"]) for function in file["functions"])
    starts = [function[0] for function in functions]
    folder.unused += [f"{name} ({file['file'].removeprefix('src/')})" for _, name, count in functions if count == 0]
    for line in file["lines"]:
        if line.get("gcovr/noncode"):
            continue
        folder.lines += 1
        folder.lines_hit += line["count"] > 0
        taken = sum(branch["count"] > 0 for branch in line["branches"])
        folder.branches += len(line["branches"])
        folder.branches_hit += taken
        place = bisect.bisect_right(starts, line["line_number"]) - 1
        if place >= 0 and functions[place][2] > 0:
            folder.missing[f"{functions[place][1]} ({file['file'].removeprefix('src/')})"] += len(line["branches"]) - taken


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        files = json.load(file)["files"]
    folders = collections.defaultdict(Folder)
    for file in files:
        name = folder_of(file["file"])
        if name and (not sys.argv[2:] or name in sys.argv[2:]):
            add(folders[name], file)
    print("| folder | lines | of them reached | branches | of them taken |\n|---|---|---|---|---|")
    for name, folder in sorted(folders.items()):
        print(f"| `{name}/` | {folder.lines} | {share(folder.lines_hit, folder.lines)} | {folder.branches} | "
              f"{share(folder.branches_hit, folder.branches)} |")
    for name, folder in sorted(folders.items()):
        print(f"\n{name}/: not called: {', '.join(sorted(folder.unused)) or 'none'}")
        print(f"{name}/: branches not taken: " +
              ", ".join(f"{function} {count}" for function, count in folder.missing.most_common(MOST_NAMES) if count))


if __name__ == "__main__":
    main()
