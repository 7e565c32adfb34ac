#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The notebooks of docs/notebooks run, and give the texts that they show."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
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

    def test_one_that_is_not_valid(self):
        """Jupyter refuses notebooks whose cells have no id, or the same."""
        for ids in ((None,), ("a", "a"), ("a b",)):
            with self.subTest(ids=ids), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "wrong.ipynb")
                path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "id": name, "source": []} for name in ids]}), encoding="utf-8")
                ended = subprocess.run([sys.executable, "-B", ROOT / "tools" / "notebook.py", path], capture_output=True, text=True, check=False)
                self.assertEqual(ended.returncode, 1)
                self.assertIn("ids", ended.stderr)


if __name__ == "__main__":
    unittest.main()
