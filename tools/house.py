#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how easily a reader finds the way in src/ and how plain the prose is; the figures may only improve.

    tools/house.py               print each figure beside its limit; exit status 1 if one is worse than its limit
    tools/house.py --list NAME   print the places that the figure NAME counts
    tools/house.py --lower       set the limits in tools/house.txt to the figures, where these are better
    tools/house.py --self-test   measure small trees with one fault each

Functions and their lines come from universal-ctags."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = ROOT / "tools" / "house.txt"
CORE = {"master", "rank", "start", "signals", "job", "report", "sim", "unit"}  # folders whose headers should have few flags
SHORT = 12  # lines of a function that could stand in its only caller
LONGEST = 100

# What native readers stumble over: see the table in CONTRIBUTING.md.
PATTERNS = [re.compile(pattern) for pattern in (
    r"\b(?:is|are|was|were|be) no(?:ne)? [a-z]+",
    r"\b(?:tell|tells|told|telling)\b",
    r"\banew\b",
    r"\b(?:go|goes|going|went|gone) on\b",
    r"\b(?:rests|at rest|come to rest)\b",
    r"\bstand(?:s|ing)? still",
    r"\b(?:inside|outside) of\b",
    r"\b(?:by|of) (?:itself|themselves|its own|their own|oneself)\b",
    r"\b(?:nobody|somebody|whoever)\b",
    r"\bmend(?:s|ed|ing)?\b",
    r"[;,:] else\b",
    r"\bwith(?:out)? a word\b",
    r"\bthere (?:is|are|was|were) (?:no|none|nothing)\b",
    r"\bso many\b",
    r"(?:^|[.;:] |\* )What (?:is|are|a|an|the|they|it|others)\b",
)]
MESSAGE = re.compile(r'(?:tutti_|tt_)?(?:fail|failf|log_printf|warn|error)\w*\((?:[^;"]|\n)*?((?:"(?:[^"\\\n]|\\.)*"\s*(?:PRI\w+\s*)?)+)')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
TAG = re.compile(r"^struct (\w+) \{", re.M)

Texts = dict[pathlib.Path, str]


class Function(NamedTuple):
    name: str
    file: pathlib.Path
    line: int
    lines: int
    static: bool


class Figure(NamedTuple):
    value: float
    places: list[str]
    more_is_better: bool


def files_below(folder: pathlib.Path, *endings: str) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in endings)


def functions_of(src: pathlib.Path) -> list[Function]:
    command = ["ctags", "-R", "--languages=C", "--c-kinds=f", "--fields=+neKS", "-f", "-", str(src)]
    found = []
    for line in subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout.splitlines():
        columns = line.split("\t")
        if len(columns) < 4 or not columns[1].endswith((".c", ".cc")):
            continue
        fields = dict(column.split(":", 1) for column in columns[3:] if ":" in column)
        if "end" in fields:
            begin = int(fields["line"])
            found.append(Function(columns[0], pathlib.Path(columns[1]), begin, int(fields["end"]) - begin + 1, "file" in fields))
    return found


def leads_to_its_file(function: Function) -> bool:
    name = re.sub("^(tutti|tt)_", "", function.name)
    stem, folder = function.file.stem, function.file.parent.name
    return name.startswith((stem, f"{folder}_{stem}")) or (name.startswith(folder) and stem in (folder, "common"))


def place(function: Function, root: pathlib.Path) -> str:
    return f"{function.file.relative_to(root)}:{function.line}: {function.name} ({function.lines} lines)"


def shared(groups: Mapping[str, Collection[object]]) -> list[str]:
    """The members of groups with several ones."""
    return [f"{name}: {member}" for name, members in sorted(groups.items()) if len(members) > 1 for member in sorted(map(str, members))]


def called_once(functions: list[Function], texts: Texts) -> list[Function]:
    """Short static functions with one call and no other mention in their file, so that slots of vtables do not count."""
    words, calls = {}, {}
    for path, text in texts.items():
        code = COMMENT.sub("", text)
        words[path] = collections.Counter(re.findall(r"\b\w+\b", code))
        calls[path] = collections.Counter(re.findall(r"\b(\w+)\(", code))
    return [f for f in functions
            if f.static and f.lines <= SHORT and words[f.file][f.name] == 2 and calls[f.file][f.name] == 2]


def prose_places(texts: Texts, root: pathlib.Path) -> list[str]:
    places = []
    for path, text in texts.items():
        plain = re.sub(r"\s*\n\s*\*?\s*", " ", text)
        for pattern in PATTERNS:
            for match in pattern.finditer(plain):
                places.append(f"{path.relative_to(root)}: ...{plain[max(0, match.start() - 30):match.end() + 30]}...")
    return places


def density(texts: Texts, root: pathlib.Path) -> Figure:
    """Patterns in 1,000 words."""
    places = prose_places(texts, root)
    words = sum(len(text.split()) for text in texts.values())
    return Figure(1000 * len(places) / max(1, words), places, False)


def measure(root: pathlib.Path) -> dict[str, Figure]:
    src = root / "src"
    texts = {path: path.read_text(errors="replace") for path in files_below(src, ".c", ".h", ".cc")}
    functions = functions_of(src)
    statics = [f for f in functions if f.static]
    publics = [f for f in functions if not f.static]
    figures = {}

    def count(name: str, places: list[str]) -> None:
        figures[name] = Figure(len(places), places, False)

    by_name = collections.defaultdict(list)
    for f in statics:
        by_name[f.name].append(place(f, root))
    clashes = shared(by_name)
    figures["static_shared"] = Figure(100 * len(clashes) / max(1, len(statics)), clashes, False)

    by_base = collections.defaultdict(list)
    for path in texts:
        by_base[path.name].append(path.relative_to(root))
    count("dup_base", shared(by_base))

    by_tag = collections.defaultdict(set)
    for path, text in texts.items():
        if path.suffix == ".h":
            for tag in TAG.findall(text):
                by_tag[tag].add(path.relative_to(root))
    figures["dup_tags"] = Figure(sum(len(paths) > 1 for paths in by_tag.values()), shared(by_tag), False)

    astray = [place(f, root) for f in publics if not leads_to_its_file(f)]
    figures["public_led"] = Figure(100 - 100 * len(astray) / max(1, len(publics)), astray, True)
    count("once_called", [place(f, root) for f in called_once(functions, texts)])
    count("files", [str(path.relative_to(root)) for path in texts])
    figures["lines"] = Figure(sum(text.count("\n") for text in texts.values()), [], False)
    count("folders", sorted(path.name for path in src.iterdir() if path.is_dir()))
    count("over100", [place(f, root) for f in functions if f.lines > LONGEST])
    count("core_bools", [f"{path.relative_to(root)}: {match}" for path, text in texts.items()
                         if path.suffix == ".h" and path.relative_to(src).parts[0] in CORE for match in re.findall(r"\bbool \w+", text)])

    pages = [path for folder in ("docs", "examples") for path in files_below(root / folder, ".md")]
    pages += [path for path in root.glob("*.md") if path.stem.isupper()]
    figures["prose_docs"] = density({path: path.read_text() for path in pages}, root)
    code = dict(texts)
    for folder, *endings in (("cli", ".c", ".h"), ("kit", ".c", ".h"), ("include", ".h")):
        code.update({path: path.read_text(errors="replace") for path in files_below(root / folder, *endings)})
    figures["prose_comments"] = density({path: "\n".join(COMMENT.findall(text)) for path, text in code.items()}, root)
    messages = [(path, match) for path, text in code.items() for match in MESSAGE.findall(COMMENT.sub("", text))]
    odd = [f"{path.relative_to(root)}: {message}" for path, message in messages if any(p.search(message) for p in PATTERNS)]
    figures["prose_messages"] = Figure(100 * len(odd) / max(1, len(messages)), odd, False)
    return figures


def read_limits() -> dict[str, float]:
    rows = (line.split() for line in LIMITS.read_text().splitlines() if line and not line.startswith("#"))
    return {name: float(limit) for name, limit in rows}


def is_worse(figure: Figure, limit: float) -> bool:
    shown = round(figure.value, 1)
    return shown < limit if figure.more_is_better else shown > limit


def lower(figures: dict[str, Figure], limits: dict[str, float]) -> None:
    head = [line for line in LIMITS.read_text().splitlines() if line.startswith("#")]
    rows = []
    for name, figure in figures.items():
        limit = limits.get(name)
        best = figure.value if limit is None or not is_worse(figure, limit) else limit
        rows.append(f"{name} {best:.1f}")
    LIMITS.write_text("\n".join(head + rows) + "\n")


# A tree with each fault, and what is measured in it.
FAULTS = {
    "src/base/one.h": "struct tt_pair {\n    bool a;\n};\nvoid tt_one_open(void);\n",
    "src/base/one.c": "static int start(void)\n{\n    return 1;\n}\n\nvoid tt_other_open(void)\n{\n    start();\n}\n",
    "src/sim/one.c": "static int start(void)\n{\n    return 2;\n}\n\nint (*const list[])(void) = {start};\n\n"
                     "void tt_one_open(void)\n{\n" + "    start();\n" * 100 + "}\n",
    "src/sim/two.h": "/* What is told goes on. */\nstruct tt_pair {\n    bool a, b;\n    bool c;\n};\n",
    "src/sim/two.c": "int tt_two_open(void)\n{\n    return tt_fail(1, \"this is no number\");\n}\n",
    "README.md": "There is nothing here. One may go on.\n",
}
EXPECTED = {"static_shared": 100, "dup_base": 2, "dup_tags": 1, "public_led": 200 / 3, "once_called": 1, "files": 5, "lines": 132,
            "folders": 2, "over100": 1, "core_bools": 2, "prose_docs": 125, "prose_comments": 3000 / 7, "prose_messages": 100}


def self_test() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in FAULTS.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        figures = measure(root)
    wrong = [f"{name}: measured {figures[name].value}, expected {value}" for name, value in EXPECTED.items()
             if abs(figures[name].value - value) > 1e-9]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", metavar="NAME", help="print the places that a figure counts")
    parser.add_argument("--lower", action="store_true", help="set limits to the figures that are better")
    parser.add_argument("--self-test", action="store_true", help="measure small trees with one fault each")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    figures, limits = measure(ROOT), read_limits()
    if options.list:
        if options.list not in figures:
            parser.error(f"no figure '{options.list}'; there are {', '.join(figures)}")
        print(*figures[options.list].places, sep="\n")
        return 0
    if options.lower:
        lower(figures, limits)
        return 0
    worse = 0
    for name, figure in figures.items():
        limit = limits[name]
        bad = is_worse(figure, limit)
        worse += bad
        print(f"{name:15} {figure.value:10.1f}  limit {limit:10.1f}{'  WORSE: tools/house.py --list ' + name if bad else ''}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
