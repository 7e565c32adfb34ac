#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/api.md, the headers and the library tell the same: its code is in the example programs, its table has every function
that the headers declare, and libtutti.so exports these and nothing else."""
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE"])
LIBRARY = os.environ["LIBRARY"]
PAGE = (SOURCE / "docs" / "api.md").read_text(encoding="utf-8")


def declared():
    """Every function of the installed headers."""
    names = set()
    for header in (SOURCE / "include" / "tutti").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        names |= set(re.findall(r"\b(tutti_[a-z0-9_]+)\(", text))
    return names


class Api(unittest.TestCase):
    def test_code_is_that_of_the_programs(self):
        programs = [p.read_text(encoding="utf-8") for p in (SOURCE / "examples" / "programs").glob("*.c")]
        blocks = re.findall(r"^```c\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 8)
        for block in blocks:
            with self.subTest(block=block):
                self.assertTrue(any(block in program for program in programs), "in none of the programs")

    def test_table_has_every_function(self):
        table = PAGE[PAGE.index("## All functions"):]
        self.assertEqual(set(re.findall(r"`(tutti_[a-z0-9_]+)`", table)), declared())

    def test_library_exports_these_only(self):
        out = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
        exported = {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-2] not in "AVW"}
        self.assertEqual(exported, declared())

    def test_errors_are_listed(self):
        errors = re.findall(r"^    X\(([A-Z]+), ", (SOURCE / "include/tutti/err.h").read_text(encoding="utf-8"), re.MULTILINE)
        section = PAGE[PAGE.index("| error |"):PAGE.index("Warnings are not errors")]
        self.assertEqual(set(re.findall(r"`([A-Z]+)`", section)) | {"OK"}, set(errors))


if __name__ == "__main__":
    unittest.main()
