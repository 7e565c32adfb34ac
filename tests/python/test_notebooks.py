#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The notebooks of docs/notebooks run, and give the texts that they show."""
import os
import subprocess
import sys
import unittest

from common import FMUS, ROOT


class Notebooks(unittest.TestCase):
    def test_all(self):
        notebooks = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
        self.assertGreaterEqual(len(notebooks), 2)
        for path in notebooks:
            with self.subTest(path.name):
                ended = subprocess.run([sys.executable, "-B", ROOT / "tools" / "notebook.py", path], capture_output=True, text=True,
                                       check=False, env={**os.environ, "FMUS": str(FMUS)})
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


if __name__ == "__main__":
    unittest.main()
