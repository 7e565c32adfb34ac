#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of all examples and writes examples/README.md: the list of examples, and the gallery.

usage: gallery.py [--check] BUILD

What stands there of an example, and how its picture is made, is in its check.py (Gallery). The same pictures and the same page
come of the same programs; nothing here is measured. With --check nothing is written: the page has to be what would be written, and
both the pictures that are there and those that are made anew have to be pictures."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
PAGE = EXAMPLES / "README.md"
LARGEST = 70000  # bytes of a picture
TOPICS = {
    "events": "Events: located in time",
    "couplings": "Couplings: steps of several FMUs",
    "start": "The start: consistent values",
    "solvers": "Solvers: Model Exchange and its inputs",
}
HEAD = """# Examples

One folder per case: the sources of its FMUs (on the [kit](../docs/kit.md)), the system as SSP where there is one, and
`check.py`, which runs the command and compares the result with an independent reference. `./dev build` puts the FMUs
into `build/examples/NAME`, and the system is `build/examples/NAME/NAME.ssp`. [reproduction.md](../docs/reproduction.md) compares published and
measured figures, and lists the experiments of the publications that are not here. [programs](programs) contains programs in C that use the
library ([api.md](../docs/api.md)).

"""
COLUMNS = ("example", "shows", "case", "source")
TAIL = """
*Andersson* is C. Andersson, Methods and Tools for Co-Simulation of Dynamic Systems with the Functional Mock-up
Interface, PhD thesis, Lund University, 2016. *Galtier* is V. Galtier, S. Vialle, C. Dad, J.-P. Tavella, J.-P.
Lam-Yee-Mui and G. Plessis, FMI-Based Distributed Multi-Simulation with DACCOSIM. *Awais* is M. U. Awais, Distributed
Hybrid Co-simulation, PhD thesis, TU Wien. *Nicolai* is A. Nicolai, A. Paepcke and H. Hirsch, Robust and accurate
co-simulation master algorithms applied to FMI slaves with discontinuous signals using FMI 2.0 features. If a
publication leaves a parameter or initial value open, the example names ours.

```console
$ examples/woodpecker/check.py               # one line per figure: measured, published, required
$ examples/woodpecker/check.py --report      # the same as JSON
$ examples/woodpecker/check.py --keep out    # keeps inputs and results in out/
$ ./dev test -L examples                     # all of them
$ ./dev reproduce                            # all of them; writes docs/reproduction.md, this page and its pictures
```

The checks need Python 3 with NumPy and SciPy (Debian: `python3-scipy`). A new example is a folder and its name in
`examples/CMakeLists.txt`; its `check.py` declares its line here and its picture (`Gallery`).

# Gallery

The commands below each picture made it; they work after `./dev build` with `build/` on the `PATH`. Results are MAT files if the axes
have units.
"""


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def draw(name, build, folder):
    """Makes the picture of an example; what it says of itself."""
    command = [sys.executable, "-B", EXAMPLES / name / "check.py", "--build", build, "--gallery", folder]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode != 0:
        sys.exit(f"gallery: no picture of {name}")
    return json.loads(ended.stdout)


def draw_all(build, folder_of):
    """Makes all pictures, each in its folder; the examples, in the order of the page."""
    names = sorted(path.parent.name for path in EXAMPLES.glob("*/check.py"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        examples = list(pool.map(lambda name: draw(name, build, folder_of(name)), names))
    order = list(TOPICS)
    return sorted(examples, key=lambda example: (order.index(example["topic"]), example["case"], example["name"]))


def entry(example):
    """The part of the gallery that belongs to an example."""
    name = example["name"]
    case = f"Case {example['case']}: {example['source']}." if example["case"] else f"Source: {example['source']}."
    return (f"\n### {name}\n\n![{example['about']}]({name}/{name}.svg)\n\n{example['about']} {example['caption']} {case}\n"
            f"More in [its folder]({name}/README.md).\n\n```sh\n{example['commands'].strip()}\n```\n")


def page(examples):
    text = HEAD + row(COLUMNS) + row("---" for _ in COLUMNS)
    for example in examples:
        name = example["name"]
        text += row((f"[{name}]({name})", example["shows"], str(example["case"] or ""), example["source"]))
    text += TAIL
    for topic, heading in TOPICS.items():
        text += f"\n## {heading}\n" + "".join(entry(example) for example in examples if example["topic"] == topic)
    return text


def write(build):
    """Draws all pictures and writes the page. The names of all examples, in its order."""
    examples = draw_all(build, lambda name: EXAMPLES / name)
    PAGE.write_text(page(examples), encoding="utf-8")
    return [example["name"] for example in examples]


def complain_of_picture(path):
    """Ends the program unless this is a picture of a fair size."""
    if not path.exists():
        sys.exit(f"gallery: there is no {path}: ./dev reproduce makes it")
    if not xml.etree.ElementTree.parse(path).getroot().tag.endswith("}svg") or path.stat().st_size > LARGEST:
        sys.exit(f"gallery: {path} is no SVG picture, or one of more than {LARGEST} bytes")


def check(build):
    with tempfile.TemporaryDirectory(prefix="tutti-gallery-") as scratch:
        examples = draw_all(build, lambda _: scratch)
        for example in examples:
            complain_of_picture(EXAMPLES / example["name"] / f"{example['name']}.svg")
            complain_of_picture(pathlib.Path(scratch) / f"{example['name']}.svg")
    if page(examples) != PAGE.read_text(encoding="utf-8"):
        sys.exit(f"gallery: {PAGE} is not what the examples say: ./dev reproduce writes it anew")
    print(f"gallery: {len(examples)} pictures")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", help="where the project was built")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    (check if options.check else write)(options.build)


if __name__ == "__main__":
    main()
