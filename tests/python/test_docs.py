#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The examples of docs/python.md and of the module's own texts give what they say."""
import doctest
import os
import pathlib
import tempfile
import unittest

from common import ROOT, kit

import tutti
import tutti._options
import tutti._study


class Docs(unittest.TestCase):
    def test_page(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            for model in ("BouncingBall", "ChainMass", "Feedthrough", "Dahlquist"):
                (pathlib.Path(folder) / f"{model}.fmu").symlink_to(kit(model))
            os.chdir(folder)
            try:
                found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
            finally:
                os.chdir(before)
        self.assertGreater(found.attempted, 10)
        self.assertEqual(found.failed, 0)

    def test_module(self):
        for module in (tutti._options, tutti._study):
            found = doctest.testmod(module)
            self.assertGreater(found.attempted, 1)
            self.assertEqual(found.failed, 0)

    def test_every_function_of_the_headers_is_known_or_not_wanted(self):
        """Prototypes: as many arguments as the headers have."""
        import re

        import tutti._library as library

        declared = {}
        for header in (ROOT / "include" / "tutti").glob("*.h"):
            text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
            for name, arguments in re.findall(r"\b(tutti_[a-z0-9_]+)\(((?:[^()]|\([^()]*\))*)\)\s*(?:TUTTI_PRINTF\(.*?\))?;", text):
                plain = re.sub(r"\([^()]*\)", "", arguments)
                declared[name] = 0 if plain.strip() == "void" else plain.count(",") + 1
        for name, (_, *arguments) in library._FUNCTIONS.items():
            self.assertEqual(len(arguments), declared.get(name), name)


if __name__ == "__main__":
    unittest.main()
