#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validates the model descriptions of all FMUs in a folder against the schemas of their FMI version.

usage: validate_descriptions.py FOLDER SCHEMAS

SCHEMAS is a folder with the subfolders fmi1, fmi2 and fmi3 of the official schema files. They are not part of this
project: where the folder (or xmllint) is missing, nothing is validated, and a line that begins with "skipped:" says so.
Exit status: 0 all are valid or skipped, 1 one is not, 2 wrong usage.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

SCHEMAS = {
    "1": "fmi1/fmiModelDescription.xsd",
    "2": "fmi2/fmi2ModelDescription.xsd",
    "3": "fmi3/fmi3ModelDescription.xsd",
}


def problem_of(fmu, schemas):
    """What is wrong with the description of one FMU, or None."""
    try:
        with zipfile.ZipFile(fmu) as archive:
            description = archive.read("modelDescription.xml")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        return f"no modelDescription.xml: {error}"
    version = re.search(rb'fmiVersion="(\d)', description)
    if not version or version.group(1).decode() not in SCHEMAS:
        return "no known fmiVersion"
    schema = schemas / SCHEMAS[version.group(1).decode()]
    result = subprocess.run(
        ["xmllint", "--noout", "--nonet", "--schema", schema, "-"],
        input=description,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return None if result.returncode == 0 else result.stdout.decode(errors="replace").strip()


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, schemas = (pathlib.Path(argument) for argument in arguments)
    fmus = sorted(folder.glob("*.fmu"))
    if not fmus:
        print(f"{folder}: there are no FMUs", file=sys.stderr)
        return 2
    if not shutil.which("xmllint"):
        print("skipped: xmllint is not installed")
        return 0
    if not all((schemas / schema).is_file() for schema in SCHEMAS.values()):
        print(f"skipped: {schemas} does not hold the FMI schemas")
        return 0
    bad = 0
    for fmu in fmus:
        problem = problem_of(fmu, schemas)
        if problem:
            bad += 1
            print(f"{fmu.name}: {problem}", file=sys.stderr)
    print(f"{len(fmus) - bad} of {len(fmus)} model descriptions are valid")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
