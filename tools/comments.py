#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What comments and pages say of the code: names that they name exist, and an invariant has one number and one home.

    tools/comments.py [--self-test]

- An invariant is a line " *  M1  text" in the comment at the top of a file of src/. A number is defined once. In src/ and tests/
  a comment that names one (M1) names one that is defined.
- A file that a comment names (macro.c, sim/rank_agree.h) exists: some file of the project has that path, or ends with it.
- So does an identifier tutti_..., TUTTI_..., tt_...: it is in the code. With a star (TUTTI_CAN_*) something begins with it.
- The same for names in `backticks` of ARCHITECTURE.md, CONTRIBUTING.md, src/README.md and docs/."""
import pathlib
import re
import subprocess
import sys
import tempfile

CODE = {".c", ".h", ".cc"}
PLACES = ("src", "include", "cli", "kit", "tests", "bench", "examples")
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "src/README.md", "docs")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INVARIANT = re.compile(r"^ \* +([A-Z]{1,2})(\d+) +\S", re.M)
NAMED_INVARIANT = re.compile(r"(?<![\w.`\"'])([A-Z]{1,2})([1-9]\d?)(?![\w\"']|\.\d)")
FILE = re.compile(r"(?<![\w<>{}*$./~-])((?:[\w.-]+/)*[\w-]+\.(?:c|h|cc|py|sh|md|def))(?![\w*/-])")
IDENTIFIER = re.compile(r"\b((?:tutti|TUTTI|tt|TT)_\w+)(\*?)")
# Not files of the project, though they look so: headers of systems and libraries, what users write, variables (h of ball).
FOREIGN = re.compile(r"^(?:sys/\w+\.h|fmi2?\w*(?:Functions|Types|Platform)\.h|cmocka\.h|decay\.c|all\.c|(?:\w|array|ball)\.[hc])$")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def sources(root):
    return sorted(p for place in PLACES for p in (root / place).rglob("*")
                  if p.suffix in CODE and "corpus" not in p.parts)


def pages(root):
    found = []
    for page in PAGES:
        path = root / page
        found += sorted(path.rglob("*.md")) if path.is_dir() else [path] if path.is_file() else []
    return found


def project_files(root):
    made = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    names = made.stdout.split("\n") if made.returncode == 0 and made.stdout else \
        [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()]
    return {name for name in names if name and (root / name).is_file()}


class Names:
    """All that may be named."""

    def __init__(self, root, texts):
        self.endings = set()
        for name in project_files(root):
            parts = name.split("/")
            self.endings.update("/".join(parts[i:]) for i in range(len(parts)))
        code = "\n".join(TOKEN.sub(lambda m: m.group() if m.group()[0] == '"' else " ", text) for text in texts.values())
        for path in ("CMakeLists.txt", "cmake", "src/CMakeLists.txt", "tests", "kit/cmake", "tools"):
            for file in sorted((root / path).rglob("*")) if (root / path).is_dir() else [root / path]:
                if file.is_file() and file.suffix in (".txt", ".cmake", ".in", ".py", ".sh", ".map"):
                    code += "\n" + file.read_text(errors="replace")
        self.identifiers = set(re.findall(r"\b(?:tutti|TUTTI|tt|TT)_\w+", code))
        for prefix in set(re.findall(r"\b((?:tutti|TUTTI|tt|TT)_\w*_)##", code)):  # made by a macro
            self.identifiers.add(prefix + "*")

    def has_file(self, name):
        """A NAME, or a number N at the end, stands for any."""
        if name in self.endings or FOREIGN.match(name):
            return True
        pattern = re.sub(r"(?<=[a-z])N(?=\\.)", r"\\d+", re.escape(name)).replace("NAME", r"[\w-]+")
        return pattern != re.escape(name) and any(re.fullmatch(pattern, known) for known in self.endings)

    def has_identifier(self, name, starred):
        if name in self.identifiers and not starred:
            return True
        if any(known.endswith("*") and name.startswith(known[:-1]) for known in self.identifiers):
            return True
        prefix = name if starred or name.endswith("_") else name + "_"
        return any(known.startswith(prefix) for known in self.identifiers)


def check_names(path, text, start, names, complain):
    """In a piece of text that begins at `start` of the file."""
    whole, piece = text, start[1]
    for match in FILE.finditer(piece):
        if not names.has_file(match.group(1)):
            complain(path, line_of(whole, start[0] + match.start()), f"names {match.group(1)}, which is no file of the project")
    for match in IDENTIFIER.finditer(piece):
        if not names.has_identifier(match.group(1), match.group(2) == "*"):
            complain(path, line_of(whole, start[0] + match.start()), f"names {match.group(1)}, which is not in the code")


def comments(text):
    return [(m.start(), m.group()) for m in TOKEN.finditer(text) if m.group().startswith("/")]


def check_invariants(root, texts, complain):
    homes = {}
    for path, text in texts.items():
        if not path.is_relative_to(root / "src"):
            continue
        for start, piece in comments(text):
            for match in INVARIANT.finditer(piece):
                number, line = match.group(1) + match.group(2), line_of(text, start + match.start())
                if number in homes:
                    complain(path, line, f"defines {number}, as {homes[number].relative_to(root)} does: use another letter")
                homes.setdefault(number, path)
    letters = {re.match(r"[A-Z]+", number).group() for number in homes}
    for path, text in texts.items():
        if path.relative_to(root).parts[0] not in ("src", "tests"):
            continue
        for start, piece in comments(text):
            for match in NAMED_INVARIANT.finditer(piece):
                if match.group(1) in letters and match.group(1) + match.group(2) not in homes:
                    complain(path, line_of(text, start + match.start()),
                             f"names the invariant {match.group()}, which no file defines")


def check(root):
    findings = []

    def complain(path, line, what):
        findings.append(f"{path.relative_to(root)}:{line}: {what}")

    texts = {path: path.read_text(errors="replace") for path in sources(root)}
    names = Names(root, texts)
    check_invariants(root, texts, complain)
    for path, text in texts.items():
        for piece in comments(text):
            check_names(path, text, piece, names, complain)
    for path in pages(root):
        text = path.read_text()
        for match in re.finditer(r"`([^`\n]+)`", re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)):
            check_names(path, text, (match.start(1), match.group(1)), names, complain)
    return findings


GOOD = {
    "src/base/str.h": "/* str.h - texts.\n *\n *  S1  Always ends with 0.\n *  S2  See base/str.c, tt_str_copy, TUTTI_STR_*. */\n"
    "char *tt_str_copy(void);\n#define TUTTI_STR_MOST 1\n",
    "src/base/str.c": '/* S1; str.h. */\n',
    "ARCHITECTURE.md": "`base/str.h` has `tt_str_copy`.\n",
}
# One fault each: the file, its text, and what the finding must say; None: this is no fault.
FAULTS = [
    ("src/fmu/x.c", "/* x.c - it.\n *\n *  S2  Another. */\n", "defines S2, as src/base/str.h does"),
    ("src/fmu/x.c", "\n/* Kept: S3. */\n", "src/fmu/x.c:2: names the invariant S3"),
    ("src/fmu/y.c", "/* As str.c and base/text.h say. */\n", "src/fmu/y.c:1: names base/text.h"),
    ("src/fmu/y.c", "/* tt_str_cut cuts. */\n", "names tt_str_cut"),
    ("src/fmu/y.c", "/* TUTTI_TEXT_* are none. */\n", "names TUTTI_TEXT_"),
    ("src/fmu/y.c", 'const char *s = "tutti_nothing in nowhere.c"; /* T800, <sys/stat.h> */\n', None),
    ("docs/x.md", "Look at `src/base/strings.h`.\n", "docs/x.md:1: names src/base/strings.h"),
    ("docs/x.md", "`src/base/NAME.h` is one, `src/base/sN.h` is none.\n", "docs/x.md:1: names src/base/sN.h"),
    ("docs/x.md", "Text on strings.h.\n```\nstrings.c\n```\n", None),
]


def self_test():
    wrong = 0
    for name, text, expected in [("LICENSE", "", None)] + FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file, content in {**GOOD, name: text}.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(content)
            found = check(root)
        right = not found if expected is None else len(found) == 1 and expected in found[0]
        if not right:
            wrong += 1
            print(f"comments.py --self-test: {name}: {text!r}: expected {expected!r}, got {found}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    findings = check(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
