#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: page.py PAGE GRAPH.svg CURVES.svg STEPS.svg SUMMARY
Writes a page that needs no other file: the graph of the car, its curves, its steps, and what the run said."""
import base64
import html
import pathlib
import sys

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A car of five FMUs</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff; }}
h1, h2 {{ font-weight: 600; line-height: 1.2; }}
h2 {{ margin-top: 2.5rem; }}
img {{ max-width: 100%; display: block; margin: 1rem auto; }}
pre {{ background: #f4f4f4; padding: 1rem; overflow-x: auto; font-size: 13px; }}
</style>
<h1>A car of five FMUs</h1>
<p>The front wheels are FMUs of FMI 1.0 (Model Exchange), the rear wheels of FMI 2.0, the body of FMI 3.0. The left wheels roll over
a bump of 6 cm.</p>
<h2>The system</h2>
{graph}
<h2>Two ways to couple them</h2>
<p><i>naive</i>: all inputs are held for 10 ms, and all units step side by side: the wheel swings more and more.
<i>auto</i>: Tutti chose coupling and steps.</p>
{curves}
<h2>The run of <i>auto</i>, and its steps</h2>
<p>Long steps on the flat road, short ones on the bump. A step whose error is above the tolerance (1) is taken back.</p>
{steps}
<h2>What the run said</h2>
<pre>{summary}</pre>
</html>
"""


def image(path, about):
    data = base64.b64encode(pathlib.Path(path).read_bytes()).decode("ascii")
    return f'<img alt="{about}" src="data:image/svg+xml;base64,{data}">'


def main():
    page, graph, curves, steps, summary = sys.argv[1:]
    said = pathlib.Path(summary).read_text(encoding="utf-8")
    pathlib.Path(page).write_text(PAGE.format(
        graph=image(graph, "body and wheels, and what they tell each other"),
        curves=image(curves, "height of the front left wheel and roll of the body, of both runs"),
        steps=image(steps, "heights, pitch and roll, step size and error"),
        summary=html.escape(said)), encoding="utf-8")


if __name__ == "__main__":
    main()
