#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests wait for events, and for nothing else: they pass on any machine, however busy it is.

    tools/waiting.py [--self-test]

In tests/ and examples/ there is
- no sleep, and no look at a clock. Where nothing announces an event, wait_until() of tests/system/command.py and look_again() of
  tests/unit/look.h look again and again;
- no assertion that compares with a number how long something took (that it is not negative may be asserted);
- no time limit of less than a minute. Longer ones are for what hangs.
What is allowed all the same is in ALLOWED, with its reason."""
import pathlib
import re
import sys

RULES = {
    "sleeps": re.compile(r"\b(?:time|asyncio)\.sleep\b|\b(?:u|nano|clock_nano)?sleep\(|\bsetTimeout\("),
    "looks at a clock": re.compile(r"\btime\.(?:time|monotonic|perf_counter|process_time)(?:_ns)?\b|\bDate\.now\(|\bperformance\.now\(|"
                                   r"\btt_wall_clock_now\(|\bclock_gettime\(|\bgettimeofday\("),
    "asserts a duration": re.compile(r"\bassert(?:Less|Greater|AlmostEqual)\w*\(.*(?:seconds|elapsed|duration)\b.*, *[\d.]|"
                                     r"\bassert\w*\(.*(?:seconds|elapsed|duration)\b[\w\"'\])]* *[<>]=? *[\d.]"),
    "has a short time limit": re.compile(r"\b(?:timeout=|settimeout\(|\.wait\()(?:[0-5]?\d(?:\.\d+)?|\.\d+)(?![\d.])|\b[a-z]?alarm\("),
}
# File, rule, a part of the line, reason.
NONE_IS_NEGATIVE = re.compile(r"\bassertGreaterEqual\(.*, 0(?:, \w+)?\)$|>= 0(?![.\d])")
ALLOWED = (
    ("tests/system/command.py", "", "", "the one place of Python where tests look again and again"),
    ("tests/unit/look.h", "sleeps", "nanosleep", "the one place of C"),
    ("tests/web/browser.mjs", "", "", "the one place of JavaScript; its time limit is for what hangs"),
    ("tests/web/editor.test.mjs", "looks at a clock", "", "figures for people: nothing is asserted of them"),
    ("tests/web/look.test.mjs", "looks at a clock", "", "figures for people: nothing is asserted of them"),
    ("tests/web/run.test.mjs", "looks at a clock", "performance.now() + 900", "a viewer that is busy: what follows waits for events"),
    ("tests/fault/test_chaos.py", "", "", "blows fall at any moment; nothing is asserted of when"),
    ("tests/unit/results/test_mat.c", "sleeps", "usleep(round * 137)", "killed at any moment; nothing is asserted of when"),
    ("tests/unit/results/dying.h", "has a short time limit", "ualarm", "a signal at any moment; nothing is asserted of when"),
    ("tests/conformance/test_recorder_resume.c", "sleeps", "usleep(i * i * 10)", "killed at any moment; nothing is asserted of when"),
    ("tests/conformance/test_fabric.c", "sleeps", "nanosleep", "a rank that is late: every order of the ranks is right"),
    ("tests/unit/sim/ranks/test_team.c", "sleeps", "nanosleep", "a rank that is late: every order of the ranks is right"),
    ("tests/unit/apps/study/test_pool.c", "sleeps", "late)", "makes orders that are rare otherwise; all of them are right"),
    ("tests/unit/kit/Scribble.c", "sleeps", "nanosleep", "an FMU that takes its time, so that others meet what it wrote"),
    ("tests/unit/kit/test_fault.c", "has a short time limit", "alarm(", "the fault is to hang: the alarm is the event that ends it"),
    ("tests/unit/run/test_session.c", "looks at a clock", "deadline", "a limit of minutes, for what hangs"),
    ("tests/system/test_overlap.py", "sleeps", "nanosleep", "an FMU that waits for its neighbour, for minutes if need be"),
    ("tests/fault/test_rude_fmus.py", "sleeps", "usleep(1000)", "an FMU that looks for the threads of others until they are there"),
    ("tests/fault/test_rude_fmus.py", "has a short time limit", "process.wait(0.1)", "between two signals, of which one ends the run"),
    ("tests/fault/test_signals.py", "looks at a clock", "os.utime", "makes a folder old"),
    ("tests/fault/test_confined_nodes.py", "has a short time limit", "stranger.settimeout(1)", "a stranger who may be left without an answer"),
    ("tests/system/test_realtime.py", "", "", "--realtime: no point comes before its time, on no machine"),
    ("tests/system/test_fabrics_signals.py", "", "", "--realtime: no point comes before its time, on no machine"),
)


def findings(name, text):
    """What is wrong with a file, and which entries of ALLOWED it uses."""
    found, used = [], set()
    for number, line in enumerate(text.splitlines(), 1):
        for rule, pattern in RULES.items():
            if not pattern.search(line) or (rule == "asserts a duration" and NONE_IS_NEGATIVE.search(line)):
                continue
            entries = [entry for entry in ALLOWED if entry[0] == name and entry[1] in ("", rule) and entry[2] in line]
            used.update(entries)
            if not entries:
                found.append(f"{name}:{number}: {rule}: {line.strip()[:120]}")
    return found, used


def check(root):
    found, used, files = [], set(), []
    for place in ("tests", "examples"):
        files += [path for ending in ("py", "c", "cc", "h", "mjs", "ts") for path in (root / place).rglob(f"*.{ending}") if "corpus" not in path.parts]
    for path in sorted(files):
        more, entries = findings(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        found += more
        used |= entries
    found += [f"tools/waiting.py: ALLOWED names what is not there: {', '.join(entry[:3])}" for entry in ALLOWED if entry not in used]
    return found


def self_test():
    bad = ("time.sleep(1)", "    usleep(100);", "nanosleep(&moment, NULL);", "setTimeout(done, 100)", "end = time.monotonic() + 5",
           'self.assertLess(stats["loop_seconds"], 1)', 'self.assertGreater(unit["save_seconds"], 0)', 'assert_true(seconds < 5)',
           "subprocess.run(words, timeout=30)", "server.settimeout(0.2)", "process.wait(5)", "alarm(10);", "self.assertTrue(all(unit[\"seconds\"] > 0))")
    good = ('self.assertGreaterEqual(unit["seconds"], 0)', 'self.assertGreaterEqual(unit[name], 0, name)', "wait_until(lambda: done)", "timeout=PATIENCE",
            'self.write("slow", "#!/bin/sh\\nsleep 1000\\n")', '"--timeout", "1"', "subprocess.run(words, timeout=300)", "look_again();",
            'self.assertEqual(unit["restore_seconds"], 0)', "process.wait()", "sock.settimeout(60)")
    wrong = [f"not found: {line}" for line in bad if not findings("x.py", line)[0]] + [f"found: {line}" for line in good if findings("x.py", line)[0]]
    return wrong


def main():
    wrong = self_test() if sys.argv[1:] == ["--self-test"] else check(pathlib.Path(__file__).resolve().parents[1])
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
