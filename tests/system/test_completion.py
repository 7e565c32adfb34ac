#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bash, zsh and fish complete behind `tutti`, asked of the shells themselves."""
import os
import pty
import re
import select
import subprocess
import unittest

from command import PATIENCE, TUTTI, CommandTest, kit_fmu, wait_until

COUPLINGS = {"jacobi", "seidel", "relax", "newton", "strong", "kinematic", "federated", "auto"}
# What is typed, and what it may become, in all shells. Folders end with '/' here.
CASES = (
    ("tutti pl", {"plot"}),
    ("tutti run --cou", {"--coupling"}),
    ("tutti run --coupling ", COUPLINGS),
    ("tutti run ball.fmu --coupling ", COUPLINGS),
    ("tutti run --coupling s", {"seidel", "strong"}),
    ("tutti run --coupling=s", {"seidel", "strong"}),
    ("tutti run --log-level ", {"error", "warning", "info", "debug"}),
    ("tutti run --quiet --extrapolate ", {"0", "1", "2", "3", "auto"}),
    ("tutti run ", {"ball.fmu", "my car.ssp", "systems/"}),
    ("tutti run ball.fmu my", {"my car.ssp"}),
    ("tutti run systems/", {"systems/two.ssd"}),
    ("tutti run a=b", {"ball.fmu"}),
    ("tutti run --input ", {"inputs.csv", "systems/"}),
    ("tutti run -o ", {"inputs.csv", "result.mat", "systems/"}),
    ("tutti run --set ", set()),
    ("tutti compile b", {"ball.fmu"}),
    ("tutti compile my", set()),
    ("tutti node --cache ", {"systems/"}),
    ("tutti node --wor", set()),
    ("tutti completion ", {"bash", "zsh", "fish"}),
    ("tutti help gr", {"graph"}),
)

BASH = """
. ./completion
read -r -a COMP_WORDS <<<"${LINE//=/ = }"
[[ $LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tutti 2>/dev/null
for word in "${COMPREPLY[@]}"; do [ -d "$word" ] && word+=/; printf '%s\\n' "$word"; done
"""

# compadd is what adds matches in the end; here it also writes them down.
ZSH = """
PS1='> '; LISTMAX=10000; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D
compadd() {
    if (( ! ${@[(I)-[OAD]]} )); then local -a found; builtin compadd -O found "$@"; print -rl -- $found >> found; fi
    builtin compadd "$@"
}
whole() { zle expand-or-complete; print -r END >> found }
zle -N whole; bindkey '^I' whole; zstyle ':completion:*' insert-tab false
: > found; print READY
"""


class Bash(CommandTest):
    shell = "bash"
    other = ()  # cases that are otherwise in this shell

    def setUp(self):
        super().setUp()
        for name in ("ball.fmu", "my car.ssp", "inputs.csv", "result.mat", "notes.txt", "systems/two.ssd"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, "")
        os.rmdir(self.tmpdir)
        script = self.tutti_here("completion", self.shell)
        self.write("_tutti" if self.shell == "zsh" else "completion", script)

    def tutti_here(self, *arguments):
        return subprocess.run([TUTTI, *arguments], stdout=subprocess.PIPE, check=True).stdout.decode()

    def ask(self, *command, **environment):
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, **environment}, check=True, timeout=PATIENCE)
        return done.stdout.decode().splitlines()

    def complete(self, lines):
        """What each line may become: sets of words, without what is there already in front of '='."""
        return [set(self.ask("bash", "--norc", "-c", BASH, LINE=line)) for line in lines]

    def test_cases(self):
        cases = [case for case in CASES if case[0] not in self.other]
        for (line, wanted), found in zip(cases, self.complete([line for line, _ in cases])):
            with self.subTest(shell=self.shell, line=line):
                self.assertEqual(found, wanted)

    def test_commands(self):
        commands = set(re.findall(r"(?m)^  (\w+) ", self.tutti_here("--help")))
        self.assertLessEqual({"run", "plot", "completion", "help"}, commands)
        first, helped = self.complete(["tutti ", "tutti help "])
        self.assertEqual(({word for word in first if word[0] != "-"}, helped), (commands, commands))

    def test_every_option(self):
        """All that --help shows, and nothing else."""
        names = ("run", "new", "node", "plot")
        for name, found in zip(names, self.complete([f"tutti {name} --" for name in names])):
            shown = set(re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+)", self.tutti_here(name, "--help")))
            self.assertEqual(found, shown)


class Fish(Bash):
    shell = "fish"

    def complete(self, lines):
        script = "source completion\n" + "".join(f"complete -C'{line}'; echo END\n" for line in lines)
        found = "\n".join(self.ask("fish", "--no-config", "-c", script, HOME=self.path(".home"))).split("END")
        self.assertEqual(len(found), len(lines) + 1)
        return [{re.sub(r"^(?:--)?\w+=", "", entry.split("\t")[0]) for entry in text.strip().splitlines()}
                for text in found[:-1]]


class Zsh(Bash):
    shell = "zsh"
    other = ("tutti compile my",)  # where no file has the right ending, zsh offers all

    def complete(self, lines):
        """Types the lines into a shell on a terminal, each with Tab behind it."""
        self.write("start", ZSH)
        terminal, slave = pty.openpty()
        process = self.spawn(["zsh", "-f", "-i"], {"TERM": "dumb", "PATH": f"{os.path.dirname(TUTTI)}:{os.environ['PATH']}"},
                             stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        os.write(terminal, b". ./start\n")
        shown = b""
        while b"READY\r\n" not in shown:
            shown += os.read(terminal, 4096)
        found = [self.press_tab(terminal, line, number) for number, line in enumerate(lines, 1)]
        process.kill()
        process.wait()
        os.close(terminal)
        return found

    def press_tab(self, terminal, line, number):
        os.write(terminal, b"\x15" + line.encode() + b"\t")
        def has_answered():
            while select.select([terminal], [], [], 0)[0]:  # what it shows has to go somewhere
                os.read(terminal, 4096)
            return self.read("found").count("END\n") >= number
        self.assertTrue(wait_until(has_answered), "zsh never came back")
        text = self.read("found")
        folder = os.path.dirname(line.split()[-1]) if line[-1] != " " else ""
        return {self.tidy(entry, folder) for entry in text.split("END\n")[number - 1].splitlines() if entry not in ("", "-h")}

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def tidy(self, entry, folder):
        path = os.path.join(folder, entry.replace("\\ ", " "))
        return f"{path}/" if os.path.isdir(self.path(path)) else path


class Words(CommandTest):
    """Words that shells offer are words that the command takes, and all of them."""

    def offered(self):
        script = self.tutti("completion", "bash").out
        run = re.search(r"(?ms)^        run\)\n(.*?)^            ;;", script)[1]
        return {option: words.split() for option, words in re.findall(r"(--[a-z-]+)\) takes=1 words='([^']*)'", run)}

    def test_no_word_is_missing_and_none_too_many(self):
        """What is refused is refused with all that would be taken."""
        offered = self.offered()
        self.assertLessEqual({"--coupling", "--control", "--extrapolate", "--events", "--solver", "--predictor", "--jacobian",
                              "--interface", "--filter", "--mode", "--sweeps", "--accelerate", "--log-level"}, set(offered))
        fmu = kit_fmu("VanDerPol", "1me")
        for option, words in offered.items():
            outcome = self.refused("run", f"a={fmu}", f"b={fmu}", f"{option}=nonsense", status=2, says="'nonsense'")
            taken = re.search(r"(?:takes|there are) (.*?)(?:, not |$)", outcome.err.strip())[1]
            self.assertEqual(set(re.split(r", | or ", taken)), set(words), outcome.err)

    def test_manual_names_them(self):
        self.assertIn("jacobi (all components at once), seidel (one after another), relax (iterated to convergence)",
                      self.tutti("help", "--man", "run").out)


if __name__ == "__main__":
    unittest.main()
