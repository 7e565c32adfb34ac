#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the pages of examples/ tell people to type works, too: see test_docs.py. There
  examples/NAME/check.py ...   is run only if it keeps files (--keep), since each check is a test of its own;
  COMMAND  # ... fails         has to fail.
"""
import unittest

import test_docs
from test_docs import FMUS, SOURCE

test_docs.PATIENCE = 500  # one of them integrates 20,000 equations


class Commands(test_docs.Commands):
    pages = sorted((SOURCE / "examples").rglob("README.md"))

    def run_page(self, page, folder):
        (folder / "examples").symlink_to(SOURCE / "examples")
        super().run_page(page, folder)

    def prepare(self, line):
        words = line.split()
        if words and words[0].endswith("/check.py"):
            self.assertTrue((SOURCE / words[0]).exists(), f"there is no {words[0]}")
            return f"/usr/bin/python3 -B {line} --build {FMUS.parent}" if "--keep" in words else ""
        command, _, comment = line.partition("  # ")
        return f"if {command}; then exit 1; fi" if comment.endswith("fails") else line


if __name__ == "__main__":
    unittest.main()
