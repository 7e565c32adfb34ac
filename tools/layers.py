#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks who includes whom, that library code neither prints, exits nor touches the process, and that files are opened so that
programs which FMUs start do not get them.

Who includes whom: folders in the order of the layers, no cycle between the modules of src/ (a module is x.h and x.c
together), and at most FILES_AT_MOST files in a folder.

The order of the layers is read from the first table of src/README.md. Prints one line per finding; exit status 1 if there
is any. `--self-test` makes small trees with one fault each and checks that every fault is found."""
import pathlib
import re
import sys
import tempfile

SOURCE = {".c", ".h", ".cc"}
FILES_AT_MOST = 60  # in a folder of src/, its subfolders not counted
KIT_MAY = re.compile(r"(^|/)api[123]\.h$")

# Calls that library code does not make, and why. `fprintf` is fine for a file of our own, not for the terminal.
PRINTS = "library code never prints: use tt_log or tt_fail"
ENDS = "library code never ends the process: return an error"
GLOBAL = "library code leaves the process as it is"
KILLS = "a number may be anyone's: use base/child.h, which signals own children only"
LOCALE = "this follows the locale: use base/number.h"
FORBIDDEN = [
    (r"v?printf|puts|putchar|perror|psignal", PRINTS),
    (r"exit|_exit|_Exit|quick_exit|abort|err|errx|verr|verrx", ENDS),
    (r"chdir|fchdir|setlocale|setenv|putenv|unsetenv|umask|getenv|secure_getenv", GLOBAL),
    (r"strtod|strtof|strtold|atof|sscanf|fscanf", LOCALE),
    (r"kill|killpg|sigqueue|pidfd_send_signal", KILLS),
]
FORBIDDEN = [(re.compile(r"(?<![\w.>])(%s)\s*\(" % names), why) for names, why in FORBIDDEN]
FORBIDDEN.append((re.compile(r"\b(stdout|stderr)\b"), PRINTS))
FORBIDDEN_IN_COMMAND = [rule for rule in FORBIDDEN if rule[1] == KILLS]
# A worker is a copy of the process, with its handlers for the end: those are for the process itself.
ALLOWED = {("base/tempdir.c", "getenv"), ("base/tempdir.c", "secure_getenv"), ("base/fs.c", "getenv"),
           ("run/launch/launch_processes.c", "_exit"), ("run/node/worker_process.c", "_exit"), ("fmu/fork_server/checkpoint_process.c", "_exit"),
           ("base/sandbox/supervisor.c", "_exit"), ("base/sandbox/sandbox.c", "setenv"), ("base/sandbox/policy.c", "secure_getenv"),
           ("apps/study/worker_forked.c", "_exit"), ("apps/study/worker_mpi.c", "_exit"), ("base/child.c", "kill"),
           ("apps/web/reader_process.c", "_exit"), ("base/child.c", "_exit")}

# Calls that open something, and what must be among their arguments: a program that an FMU starts is to get nothing of ours.
INHERITED = "a program that an FMU starts would get this: say %s"
OPENS = [
    (r"open|openat|shm_open", r"O_CLOEXEC|\bflags\b", "O_CLOEXEC"),
    (r"mkostemp|pipe2|dup3", r"O_CLOEXEC", "O_CLOEXEC"),
    (r"fopen|freopen", r'"[^"]*e[^"]*"\s*\)', "\"re\" or \"we\""),
    (r"socket|socketpair|accept4", r"SOCK_CLOEXEC", "SOCK_CLOEXEC"),
    (r"memfd_create", r"MFD_CLOEXEC", "MFD_CLOEXEC"),
    (r"eventfd|signalfd|timerfd_create|epoll_create1|inotify_init1", r"_CLOEXEC", "its CLOEXEC"),
    (r"fcntl", r"^(?!.*\bF_DUPFD\b)", "F_DUPFD_CLOEXEC"),
    (r"mkstemp|pipe|dup|epoll_create|inotify_init", r"^$", "CLOEXEC, by the sister that takes flags"),
]
OPENS = [(re.compile(r"(?<![\w.>*])(%s)\s*\(([^;]*)" % names), re.compile(needs), say) for names, needs, say in OPENS]
OPENS_ALLOWED = {"cli/output.c"}  # stands in for standard input, output and error

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">]', re.M)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_only(text):
    """The text with comments and literals blanked; line numbers stay."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def without_comments(text):
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group()[0] == "/" else m.group(), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SOURCE) if folder.is_dir() else []


def layers_of(readme):
    """Folders of the first table: lines such as "| `base/` | what |"."""
    layers = []
    for line in readme.splitlines():
        row = re.match(r"\| *`(\w+)/` *\|", line)
        if row:
            layers.append(row.group(1))
        elif layers:
            break
    return layers


def resolve(root, including, name):
    """The file of the project that a quoted include names, or None."""
    folders = [including.parent, root / "src", root / "kit", root / "cli", root / "include", root]
    if including.is_relative_to(root / "kit"):
        folders.append(root / "src" / "fmu")  # installed, FMI's declarations lie beside the kit
    for base in folders:
        path = (base / name).resolve()
        if path.is_file() and path.is_relative_to(root.resolve()):
            return path
    return None


def owner(root, including, quoted, name):
    """The part of the project that an include names ("src/base", "include", "cli", ...), or None for a system header."""
    if not quoted:
        return "include" if name.startswith("tutti/") else None
    path = resolve(root, including, name)
    if path:
        parts = path.relative_to(root.resolve()).parts
        return "/".join(parts[:2]) if parts[0] == "src" else parts[0]
    head = name.split("/")[0]
    return "src/" + head if (root / "src" / head).is_dir() else "?"


def check_includes(root, path, allowed, complain):
    text = without_comments(path.read_text())
    for match in INCLUDE.finditer(text):
        quoted, name = match.group(1) == '"', match.group(2)
        part = owner(root, path, quoted, name)
        line = line_of(text, match.start())
        if part == "?":
            complain(path, line, f'"{name}" is not in the project; a generated or system header is included with <>')
        elif part and not allowed(part, name):
            complain(path, line, f"must not include {name} ({part}): see src/README.md")


def modules_of(root):
    """Each module of src/ ("base/text": str.h and str.c) with those that it includes, and where it does so first."""
    src = (root / "src").resolve()
    modules = {}
    for path in sources(src):
        text = without_comments(path.read_text())
        uses = modules.setdefault(path.relative_to(src).with_suffix("").as_posix(), {})
        for match in INCLUDE.finditer(text):
            target = resolve(root, path, match.group(2)) if match.group(1) == '"' else None
            if target and target.is_relative_to(src):
                name = target.relative_to(src).with_suffix("").as_posix()
                uses.setdefault(name, (path, line_of(text, match.start())))
    return modules


def way(modules, start, end):
    """A shortest way of includes from one module to another, as a list of both and those between; None: there is none."""
    came_from, reached = {start: None}, [start]
    for module in reached:
        if module == end:
            steps = []
            while module is not None:
                steps.insert(0, module)
                module = came_from[module]
            return steps
        for used in sorted(modules.get(module, ())):
            if used not in came_from:
                came_from[used] = module
                reached.append(used)
    return None


def check_cycles(root, complain):
    """One finding per set of modules that reach each other; a module of such a set is not looked at again."""
    modules = modules_of(root)
    known = set()
    for module in sorted(modules):
        for used in sorted(set(modules[module]) - {module}):
            back = None if module in known or used in known else way(modules, used, module)
            if back:
                path, line = modules[module][used]
                known.update(m for m in modules if way(modules, module, m) and way(modules, m, module))
                complain(root / path.relative_to(root.resolve()), line, "include cycle: " + " -> ".join([module] + back))


def check_sizes(root, complain):
    for folder in sorted(p for p in (root / "src").rglob("*") if p.is_dir()):
        count = sum(p.suffix in SOURCE for p in folder.iterdir())
        if count > FILES_AT_MOST:
            complain(folder, 1, f"{count} files in one folder, at most {FILES_AT_MOST}: it holds more than one idea")


def check_calls(root, path, forbidden, complain):
    text = code_only(path.read_text())
    relative = path.relative_to(root).as_posix().removeprefix("src/")
    for pattern, why in forbidden:
        for match in pattern.finditer(text):
            if (relative, match.group(1)) not in ALLOWED:
                complain(path, line_of(text, match.start()), f"{match.group(1)}: {why}")


def check_opens(root, path, complain):
    if path.relative_to(root).as_posix() in OPENS_ALLOWED:
        return
    text = without_comments(path.read_text())
    for pattern, needs, say in OPENS:
        for match in pattern.finditer(text):
            if not needs.search(match.group(2)):
                complain(path, line_of(text, match.start()), f"{match.group(1)}: {INHERITED % say}")


def check(root):
    findings = []

    def complain(path, line, what):
        findings.append(f"{path.relative_to(root)}:{line}: {what}")

    readme = root / "src" / "README.md"
    layers = layers_of(readme.read_text())
    folders = {p.relative_to(root / "src").parts[0] for p in sources(root / "src") if p.parent != root / "src"}
    for folder in sorted(folders - set(layers)):
        complain(readme, 1, f"src/{folder} has no line in the table of layers")
    for path in sources(root / "src"):
        parts = path.relative_to(root / "src").parts
        if parts[0] in layers:
            below = {"src/" + layer for layer in layers[: layers.index(parts[0]) + 1]} | {"include"}
            if parts[:2] == ("unit", "program"):  # a module that is an FMU, made of the kit
                below.add("kit")
            check_includes(root, path, lambda part, name, below=below: part in below, complain)
        elif len(parts) == 1:
            complain(path, 1, "a source file belongs into a layer's folder")
        check_calls(root, path, FORBIDDEN, complain)
        check_opens(root, path, complain)
    check_cycles(root, complain)
    check_sizes(root, complain)
    for path in sources(root / "include"):
        check_includes(root, path, lambda part, name: part == "include", complain)
    for path in sources(root / "cli"):
        check_includes(root, path, lambda part, name: part in ("cli", "include") or part.startswith("src/"), complain)
        check_calls(root, path, FORBIDDEN_IN_COMMAND, complain)
        check_opens(root, path, complain)
    for path in sources(root / "kit"):
        check_includes(
            root, path, lambda part, name: part == "kit" or (part == "src/fmu" and KIT_MAY.search(name)), complain
        )
    return findings


README = "| folder | what |\n|---|---|\n| `base/` | a |\n| `fmu/` | b |\n| `unit/` | c |\n\n| folder |\n| `cli/` | x |\n"
GOOD = {
    "src/README.md": README,
    "src/base/text.h": "#include <stdio.h>\n",
    "src/base/text.c": '#include "base/text.h"\n/* printf( and exit( in words */ const char *s = "abort()"; '
    "void f(void) { snprintf(0, 0, s); log->exit(1); tutti_exit(); }\n",
    "src/base/tempdir.c": 'char *f(void) { return getenv("TMPDIR"); }\n',
    "src/fmu/api2.h": "",
    "src/fmu/desc.h": '#include "base/text.h"\n#include <tutti/err.h>\n',
    "src/unit/unit.h": "",
    "src/unit/me.h": '#include "unit/part.h"\n',
    "src/unit/me.c": '#include "unit/me.h"\n#include "unit.h"\n/* #include "unit/user.h" */\n',
    "src/unit/part.h": "",
    "src/unit/part.c": '#include "unit/part.h"\n',
    "src/unit/user.h": '#include "unit/me.h"\n',
    "include/tutti/err.h": '#include <stddef.h>\n#include "err2.h"\n',
    "include/tutti/err2.h": "",
    "cli/main.c": '#include "fmu/desc.h"\n#include "cli.h"\n#include <tutti/err.h>\nint main(void) { printf("x"); }\n',
    "cli/cli.h": "",
    "kit/kit.c": '#include "kit.h"\n#include "fmu/api2.h"\n#include "api2.h"\n',
    "kit/kit.h": "",
}
# One fault each: the file (or several), its text, and what the finding must say; None: this is no fault.
FAULTS = [
    ("src/base/x.c", '#include "fmu/desc.h"\n', "src/base/x.c:1: must not include fmu/desc.h"),
    ("src/base/x.c", '\n#include "../fmu/desc.h"\n', "src/base/x.c:2: must not include ../fmu/desc.h"),
    ("src/fmu/x.c", '#include "unit/unit.h"\n', "must not include unit/unit.h"),
    ("src/fmu/x.c", '#include "cli.h"\n', "must not include cli.h"),
    ("src/fmu/x.c", '#include "missing.h"\n', "not in the project"),
    ("src/new/x.c", "", "src/new has no line"),
    ("src/x.c", "", "belongs into a layer"),
    ("src/fmu/x.c", '/* one\n   two */ void f(void) { printf("x"); }\n', "src/fmu/x.c:2: printf"),
    ("src/fmu/x.c", 'void f(void) { fprintf(stderr, "x"); }\n', "stderr"),
    ("src/fmu/x.c", "void f(void) { exit (1); }\n", "exit: library code never ends"),
    ("src/fmu/x.c", "void f(void) { if (1) abort(); }\n", "abort"),
    ("src/fmu/x.c", 'void f(void) { getenv("A"); }\n', "getenv"),
    ("src/fmu/x.c", "void f(void) { kill(pid, 9); }\n", "kill: a number may be anyone's"),
    ("cli/x.c", "void f(void) { killpg(pid, 9); exit(1); }\n", "killpg: a number may be anyone's"),
    ("src/fmu/x.c", 'double f(void) { return strtod("1", 0); }\n', "locale"),
    ("src/fmu/x.c", 'void f(void) { fopen(p, "r"); }\n', "fopen: a program that an FMU starts"),
    ("src/fmu/x.c", "void f(void) { fcntl(1, F_DUPFD, 3); }\n", "F_DUPFD_CLOEXEC"),
    ("cli/x.c", "void f(void) { open(p, O_RDONLY); }\n", "say O_CLOEXEC"),
    ("cli/x.c", "void f(void) { x->open(p); *open(p); pipe2(p, O_CLOEXEC); fopen(p, \"re\"); }\n", None),
    ("src/unit/part.c", '\n#include "unit/me.h"\n', "src/unit/me.h:1: include cycle: unit/me -> unit/part -> unit/me"),
    ("src/unit/me.c", '#include "user.h"\n', "src/unit/me.c:1: include cycle: unit/me -> unit/user -> unit/me"),
    ("src/unit/part.h", '#include "user.h"\n', "cycle: unit/me -> unit/part -> unit/user -> unit/me"),
    ("src/unit/sub/x.h", '#include "unit/unit.h"\n', None),
    ({f"src/fmu/f{i}.c": "" for i in range(59)}, "", "src/fmu:1: 61 files in one folder, at most 60"),
    ({f"src/fmu/sub/f{i}.c": "" for i in range(60)}, "", None),
    ("include/tutti/x.h", '#include "base/text.h"\n', "include/tutti/x.h:1: must not include"),
    ("kit/x.c", '#include "base/text.h"\n', "kit/x.c:1: must not include"),
    ("kit/x.c", '#include "fmu/desc.h"\n', "kit/x.c:1: must not include"),
    ("kit/x.c", '#include "desc.h"\n', "kit/x.c:1: must not include"),
    ("kit/x.c", "#include <tutti/err.h>\n", "kit/x.c:1: must not include"),
]


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def self_test():
    wrong = 0
    for name, text, expected in [("LICENSE", "", None)] + FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write_tree(root, GOOD)
            write_tree(root, name if isinstance(name, dict) else {name: text})
            found = check(root)
        right = not found if expected is None else len(found) == 1 and expected in found[0]
        if not right:
            wrong += 1
            print(f"layers.py --self-test: {name}: {text!r}: expected {expected!r}, got {found}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    findings = check(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
