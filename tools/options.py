#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/options.md, every option of every command, from what the command says itself:

    tools/options.py build/tutti > docs/options.md

The test `docs` fails if the page is not what this prints."""
import re
import subprocess
import sys

MANUAL = {"info": "check.md", "check": "check.md", "run": "run.md", "sweep": "howto/sweep.md", "estimate": "howto/fit.md", "plot": "plot.md", "compare": "compare.md",
          "graph": "graph.md", "analyze": "systems.md", "new": "ssp.md", "pack": "pack.md", "wrap": "pack.md", "linearize": "linearize.md",
          "compile": "compile.md", "node": "nodes.md", "rti": "federation.md", "watch": "live.md", "web": "web.md", "completion": "completion.md"}  # command -> its page
HEAD = """# Options

Every option of every command except `--help`, with the texts of the manual pages; `tutti COMMAND --help` has a line for each.
Defaults are in brackets. `--name VALUE` and `--name=VALUE` are the same. This page is written by `tools/options.py`; a test
compares it with the command.
"""


def read_help(tutti, *words):
    return subprocess.run([tutti, *words, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")


def read_commands(tutti):
    """The names of the commands, in the order of `tutti --help`."""
    return [name for name in re.findall(r"(?m)^  (\w+) ", read_help(tutti)) if name != "help"]


def plain(roff):
    """A line of a manual page without the escapes of roff."""
    for escape, text in (("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\&", ""), ("\\fB", ""), ("\\fI", ""), ("\\fR", ""),
                         ("\\e", "\\")):
        roff = roff.replace(escape, text)
    return roff


def read_options(tutti, name):
    """The options of a command, from its manual page: a list of (heading, [(option, meaning)])."""
    page = subprocess.run([tutti, "help", "--man", name], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    lines = iter(re.search(r"(?ms)^\.SH OPTIONS$(.*?)^\.SH ", page)[1].splitlines())
    groups = [("Options", [])]
    for line in lines:
        if line.startswith(".SS "):
            groups.append((line[4:], []))
        elif line == ".TP":
            groups[-1][1].append((plain(next(lines)), plain(next(lines))))
    return [(heading, options) for heading, options in groups if options]


def escape(text):
    return re.sub(r"([|*<>_])", r"\\\1", text)


def table(options):
    lines = ["| option | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {escape(meaning)} |" for name, meaning in options]
    return "\n".join(lines) + "\n"


def section(name, text, groups, known):
    """A command's part of the page. Options that `tutti run` explains in the same words are only named."""
    page, summary = MANUAL.get(name), re.match(r"tutti \w+ - (.*)", text)[1]
    out = f"\n## tutti {name}\n\n{summary[0].upper()}{summary[1:]}"
    out += f": [manual]({page}).\n" if page else ".\n"
    out += "\n```text\n" + re.search(r"(?m)^Usage: (.*)$", text)[1] + "\n```\n"
    for heading, options in groups:
        own = [(option, meaning) for option, meaning in options if known.get(option) != meaning and not option.startswith("-h,")]
        if own:
            out += ("" if heading.startswith("Options") else f"\n{heading}:\n") + "\n" + table(own)
    shared = [option.split()[0] for _, options in groups for option, meaning in options if known.get(option) == meaning]
    if shared:
        out += "\nAs for [`tutti run`](#tutti-run): " + ", ".join(f"`{option}`" for option in shared) + ".\n"
    return out


def main():
    tutti = sys.argv[1]
    commands = read_commands(tutti)
    helps = {name: read_help(tutti, name) for name in commands}
    groups = {name: read_options(tutti, name) for name in commands}
    known = {option: meaning for _, options in groups["run"] for option, meaning in options if not option.startswith("-h,")}
    print(HEAD, end="")
    print("\n" + " · ".join(f"[{name}](#tutti-{name})" for name in commands))
    for name in commands:
        print(section(name, helps[name], groups[name], {} if name == "run" else known), end="")
    print("\n`-h`, `--help` shows the help of a command, `tutti --version` the version. "
          "[Exit status](run.md#exit-status-and-scripts).")


if __name__ == "__main__":
    main()
