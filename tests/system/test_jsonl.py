#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results as JSON lines, and the places that name the formats of results."""
import json
import math
import os
import pathlib
import re
import threading
import unittest

from command import CommandTest, kit_fmu

BALL = (kit_fmu("BouncingBall", "3"), "--stop", "2", "--step", "0.01")
FEEDTHROUGH = (kit_fmu("Feedthrough", "3"), "--stop", "1", "--set", "string_in=a \"b\",\\c", "--set", "float64_in=inf")
PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs"


class JsonLines(CommandTest):
    def rows(self, name="result.jsonl"):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_the_values_of_csv(self):
        for name, arguments in (("ball", BALL), ("types", (*FEEDTHROUGH, "--record", "*"))):
            with self.subTest(name=name):
                self.tutti("run", *arguments, "-o", f"{name}.csv", "--quiet")
                self.tutti("run", *arguments, "-o", f"{name}.jsonl", "--quiet")
                rows, expected = self.rows(f"{name}.jsonl"), self.result(f"{name}.csv")
                self.assertEqual(len(rows), len(expected))
                for row in rows:
                    self.assertEqual(list(row), expected.header)
                for column in expected.header:
                    for row, text in zip(rows, expected.texts(column)):
                        value = math.nan if row[column] is None else row[column]
                        self.assertTrue(value == text if isinstance(value, str) else float(text) == value or value != value,
                                        (column, value, text))
                self.tutti("compare", f"{name}.csv", f"{name}.jsonl")

    def test_the_same_bytes_on_ranks(self):
        chain = ("a=" + kit_fmu("Tracker", "2"), "b=" + kit_fmu("Tracker", "3"), "--connect", "a.y=b.u", "--stop", "1",
                 "--step", "0.01", "--quiet")
        self.tutti("run", *chain, "-o", "one.jsonl")
        self.tutti("run", *chain, "--threads", "2", "-o", "two.jsonl")
        self.assertEqual(pathlib.Path(self.path("one.jsonl")).read_bytes(),
                         pathlib.Path(self.path("two.jsonl")).read_bytes())

    def test_a_pipe(self):
        os.mkfifo(self.path("pipe.jsonl"))
        lines = []

        def read():
            with open(self.path("pipe.jsonl"), encoding="utf-8") as pipe:
                lines.extend(json.loads(line)["time"] for line in pipe)

        reader = threading.Thread(target=read)
        reader.start()
        self.tutti("run", *BALL, "-o", "pipe.jsonl", "--quiet")
        reader.join()
        self.assertEqual((lines[0], lines[-1]), (0, 2))

    def test_every_format_is_named_everywhere(self):
        """The list is in recorder.c; the manual, completion and pages mention each."""
        said = self.tutti("run", *BALL, "-o", "result.xyz", status=2).err
        endings = re.findall(r"\.[a-z.0-9]*[a-z0-9]", said.split("must end in")[1])
        self.assertIn(".jsonl", endings)
        text = self.tutti("help", "--man", "run").out
        formats = (PAGES / "formats.md").read_text(encoding="utf-8")
        completion = self.tutti("completion", "bash").out
        for ending in endings:
            self.assertRegex(text, rf"result file: [^;]*{re.escape(ending)}\b", ending)
            self.assertIn(f"| `{ending}` |", formats)
            self.assertRegex(completion, rf"\b{ending.rsplit('.')[-1]}\b")


if __name__ == "__main__":
    unittest.main()
