#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validates the descriptions of all FMUs and SSPs in a folder, and in those below it, against the schemas of their
version.

usage: validate_descriptions.py FOLDER SCHEMAS

SCHEMAS is a folder with the subfolders fmi1, fmi2, fmi3, ssp1 and ssp2 of the official schema files. They are not part
of this project: where the folder (or xmllint) is missing, nothing is validated, and a line that begins with "skipped:"
says so.
Exit status: 0 all are valid, 1 one is not, 2 wrong usage, 77 skipped.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

SKIPPED = 77  # exit status of a skipped test for ctest
FMI = {
    "1": "fmi1/fmiModelDescription.xsd",
    "2": "fmi2/fmi2ModelDescription.xsd",
    "3": "fmi3/fmi3ModelDescription.xsd",
}
SSD = {"1": "ssp1/SystemStructureDescription.xsd", "2": "ssp2/SystemStructureDescription.xsd"}
SSV = {"1": "ssp1/SystemStructureParameterValues.xsd", "2": "ssp2/SystemStructureParameterValues.xsd"}
# A parameter set inside an SSD, which the SSD's schema does not look into.
INLINE = re.compile(rb"<ssv:ParameterSet\b.*?</ssv:ParameterSet>", re.DOTALL)
NAMESPACE = re.compile(rb'xmlns:ssv="[^"]*"')


def documents(path):
    """The descriptions in an archive: name, content, schemas by version, and where the version is said."""
    with zipfile.ZipFile(path) as archive:
        if path.suffix == ".fmu":
            yield "modelDescription.xml", archive.read("modelDescription.xml"), FMI, rb'fmiVersion="(\d)'
            return
        for name in archive.namelist():
            if name.endswith(".ssv"):
                yield name, archive.read(name), SSV, rb'version="(\d)\.'
            if not name.endswith(".ssd"):
                continue
            content = archive.read(name)
            yield name, content, SSD, rb'SystemStructureDescription\b[^>]*?\sversion="(\d)'
            for values in INLINE.findall(content):
                space = NAMESPACE.search(content).group()
                values = values.replace(b"ParameterSet", b"ParameterSet " + space, 1)
                yield f"a parameter set in {name}", values, SSV, rb'version="(\d)\.'


def problems_of(path, schemas):
    """What is wrong with the descriptions of one FMU or SSP."""
    try:
        for name, content, kinds, pattern in documents(path):
            version = re.search(pattern, content)
            if not version or version.group(1).decode() not in kinds:
                yield f"{name}: no known version"
                continue
            schema = schemas / kinds[version.group(1).decode()]
            command = ["xmllint", "--noout", "--nonet", "--schema", schema, "-"]
            result = subprocess.run(command, input=content, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    check=False)
            if result.returncode != 0:
                yield f"{name}: {result.stdout.decode(errors='replace').strip()}"
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        yield f"not to be read: {error}"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, schemas = (pathlib.Path(argument) for argument in arguments)
    files = sorted(path for kind in ("fmu", "ssp") for path in folder.rglob(f"*.{kind}"))
    if not files:
        print(f"{folder}: there are no FMUs or SSPs", file=sys.stderr)
        return 2
    if not shutil.which("xmllint"):
        print("skipped: xmllint is not installed")
        return SKIPPED
    if not all((schemas / schema).is_file() for kinds in (FMI, SSD, SSV) for schema in kinds.values()):
        print(f"skipped: {schemas} does not hold the schemas of FMI and SSP")
        return SKIPPED
    bad = 0
    for path in files:
        problems = list(problems_of(path, schemas))
        bad += bool(problems)
        for problem in problems:
            print(f"{path.name}: {problem}", file=sys.stderr)
    print(f"{len(files) - bad} of {len(files)} files have valid descriptions")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
