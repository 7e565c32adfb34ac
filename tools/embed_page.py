#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs the files of a folder with gzip and writes a C file that has them all in it.

    embed_page.py FOLDER PACKED OUT.c

Without FOLDER ("-") the list is empty. The assembler takes in the packed files, which lie in the folder PACKED then: a compiler would need
a second for each megabyte. The same files give the same bytes."""
import gzip
import pathlib
import sys

HEAD = """/* Made by tools/embed_page.py. */
#include "page.h"

"""
INCLUDE = """__asm__(".section .rodata\\n.balign 8\\n.hidden page_%(i)d\\n.global page_%(i)d\\npage_%(i)d:\\n.incbin \\"%(path)s\\"\\n.previous\\n");
extern const unsigned char page_%(i)d[];
"""


def main():
    folder, packed, out = sys.argv[1:]
    files = [] if folder == "-" else sorted(path for path in pathlib.Path(folder).iterdir() if path.is_file())
    pathlib.Path(packed).mkdir(parents=True, exist_ok=True)
    text, rows = HEAD, []
    for i, path in enumerate(files):
        data = gzip.compress(path.read_bytes(), 9, mtime=0)
        place = pathlib.Path(packed).resolve() / (path.name + ".gz")
        place.write_bytes(data)
        text += INCLUDE % {"i": i, "path": place}
        rows.append('    {"%s", page_%d, %d},\n' % (path.name, i, len(data)))
    text += "\nconst struct tt_web_asset page_assets[] = {\n" + "".join(rows) + "    {NULL, NULL, 0},\n};\n"
    text += "const size_t page_asset_count = %d;\n" % len(files)
    pathlib.Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
