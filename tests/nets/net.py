# SPDX-License-Identifier: MIT
"""What every net does. A net tries one promise of Tutti on many generated cases and lists each case that breaks it.

Each tests/nets/net_NAME.py calls main(run, short, long) and is a program:

    net_NAME.py [--long] [--seeds FIRST:LAST] [--jobs N] [--json FILE]

Without --long it tries the short list of seeds, which is a test of `./dev test`. `./dev nets` runs all nets with --long. A failure
prints the seed, so that `net_NAME.py --seeds 17:17` repeats it. Exit status 1 if a case fails."""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "system"))
TUTTI = os.environ.get("TUTTI") or str(ROOT / "build" / "tutti")
SKIPPED = 77  # exit status of a skipped test for ctest
FMUS = pathlib.Path(os.environ.get("FMUS") or ROOT / "build" / "fmus")


def _try_one(run, case):
    """The findings of one case as texts. A case that raises an exception is a finding, too."""
    with tempfile.TemporaryDirectory(prefix="tutti-net-") as folder:
        try:
            return [str(finding) for finding in run(case, pathlib.Path(folder)) or ()]
        except Exception:  # noqa: BLE001: whatever fails is reported with its seed
            return [traceback.format_exc()]


def main(run, short, long):
    """run(seed, folder) tries the case of that seed in an empty folder and returns its findings: texts, none if all is well.
    `short` and `long` are how many seeds to try, from 0 on."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--long", action="store_true", help=f"try {long} seeds instead of {short}")
    parser.add_argument("--seeds", help="try seeds FIRST:LAST")
    parser.add_argument("--jobs", type=int, default=0, help="cases at once [1, with --long one per core]")
    parser.add_argument("--json", type=pathlib.Path, help="write a line per finding")
    arguments = parser.parse_args()
    first, last = 0, (long if arguments.long else short) - 1
    if arguments.seeds:
        first, last = (int(part) for part in arguments.seeds.split(":"))
    seeds = range(first, last + 1)
    jobs = arguments.jobs or (os.cpu_count() if arguments.long else 1)
    failed = 0
    lines = []
    with ThreadPoolExecutor(jobs) as pool:
        for seed, findings in zip(seeds, pool.map(lambda seed: _try_one(run, seed), seeds)):
            failed += bool(findings)
            for finding in findings:
                print(f"seed {seed}: {finding}", flush=True)
                lines.append(json.dumps({"seed": seed, "finding": finding}))
    if arguments.json:
        arguments.json.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{len(seeds)} cases, {failed} failed")
    sys.exit(1 if failed else 0)
