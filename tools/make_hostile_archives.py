#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes archives that an importer must refuse, or must survive, into a folder.

    make_hostile_archives.py FOLDER [--small]

Used by tests/unit/fmu/archive/test_archive.c, which says what each must give, and for the seeds of the archive fuzzer (--small
leaves out what is large or slow). The same bytes every time."""
import io
import pathlib
import stat
import struct
import sys
import zipfile
import zlib

XML = b'<?xml version="1.0"?><fmiModelDescription fmiVersion="2.0"/>\n'
DATE = (2020, 1, 1, 0, 0, 0)


def info(name, mode=stat.S_IFREG | 0o644, system=3, method=zipfile.ZIP_DEFLATED):
    entry = zipfile.ZipInfo("x", DATE)
    entry.filename = name  # the constructor would clean it
    entry.create_system = system
    entry.external_attr = mode << 16
    entry.compress_type = method
    return entry


def pack(*entries):
    """A ZIP of (ZipInfo or name, bytes) pairs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for entry, data in entries:
            archive.writestr(info(entry) if isinstance(entry, str) else entry, data)
    return out.getvalue()


def fmu(*entries):
    return pack(("modelDescription.xml", XML), *entries)


class Raw:
    """A ZIP byte by byte, for what zipfile will not write."""

    def __init__(self):
        self.body, self.table, self.count = bytearray(), bytearray(), 0

    def add(self, name, data, *, size=None, packed=None, packed_size=None, crc=None, flags=0, method=8, at=None,
            extra=b""):
        """Adds an entry, with lies in the table of contents where given; `at` is where its bytes are already."""
        if packed is None:
            squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = squeeze.compress(data) + squeeze.flush() if method == 8 else data
        size = len(data) if size is None else size
        crc = zlib.crc32(data) if crc is None else crc
        name = name.encode() if isinstance(name, str) else name
        offset = len(self.body) if at is None else at
        packed_size = len(packed) if packed_size is None else packed_size
        common = struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 0x5021, crc, packed_size, size, len(name), len(extra))
        if at is None:
            self.body += b"PK\3\4" + common + name + extra + packed
        self.table += b"PK\1\2" + struct.pack("<H", 20 | 3 << 8) + common
        self.table += struct.pack("<HHHII", 0, 0, 0, (stat.S_IFREG | 0o644) << 16, offset) + name + extra
        self.count += 1
        return offset

    def bytes(self, count=None, disk=0):
        count = self.count if count is None else count
        end = struct.pack("<HHHHIIH", disk, disk, count & 0xFFFF, count & 0xFFFF, len(self.table), len(self.body), 0)
        return bytes(self.body + self.table + b"PK\5\6" + end)


def raw(*entries, **options):
    archive = Raw()
    archive.add("modelDescription.xml", XML)
    for name, data in entries:
        archive.add(name, data, **options)
    return archive.bytes()


def overlapping(count, size):
    """Many entries that share the same packed bytes: little on disk, much when unpacked, no entry suspicious alone."""
    archive = Raw()
    data = bytes(size)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeeze.compress(data) + squeeze.flush()
    first = archive.add("resources/0", data, packed=packed)
    for i in range(1, count):
        archive.add("resources/%d" % i, data, packed=packed, at=first)
    return archive.bytes()


def many(count):
    """Many entries, few of which are unpacked."""
    archive = Raw()
    first = archive.add("modelDescription.xml", XML)
    for i in range(1, count):
        archive.add(("sources/%d" if i > 100 else "resources/%d") % i, XML, at=first)
    return archive.bytes()


def many_tables(entries, count):
    """Many ends of a central directory, all valid: libzip reads the whole table for each."""
    whole = many(entries)
    return whole + whole[whole.rindex(b"PK\5\6"):] * count


def declared(count, size):
    """Nothing on disk, and a table of contents that promises much."""
    archive = Raw()
    for i in range(count):
        archive.add("resources/%d" % i, b"x", size=size)
    return archive.bytes()


def small():
    yield "good.fmu", fmu(
        ("binaries/linux64/m.so", b"\x7fELF" + bytes(200)),
        (info("resources/run.sh", stat.S_IFREG | 0o4755), b"#!/bin/sh\n"),
        ("resources/", b""),
        ("sources/m.c", b"int x;\n"),
        ("documentation/index.html", b"<p>\n"),
        ("resources/empty.txt", b""),
        (info("resources/stored.bin", method=zipfile.ZIP_STORED), bytes(range(256)) * 40),
    )
    yield "backslashes.fmu", fmu(("binaries\\linux64\\m.so", b"x"), ("resources\\", b""))
    yield "dots.fmu", pack(("./", b""), ("./modelDescription.xml", XML), ("resources//./a.txt", b"a"))
    yield "folder-twice.fmu", raw(("a/", b""), ("a/", b""), ("a/b", b"x"))
    yield "utf8.fmu", fmu(("resources/Größe.txt", b"x"))
    yield "cp437.fmu", raw((b"resources/Gr\x94\xe1e.txt", b"x"))
    yield "traversal.fmu", fmu(("../evil", b"x"))
    yield "traversal-deep.fmu", fmu(("resources/../../evil", b"x"))
    yield "traversal-end.fmu", fmu(("resources/..", b"x"))
    yield "traversal-backslash.fmu", fmu(("resources\\..\\..\\evil", b"x"))
    yield "absolute.fmu", fmu(("/tmp/evil", b"x"))
    yield "absolute-backslash.fmu", fmu(("\\evil", b"x"))
    yield "share.fmu", fmu(("\\\\server\\share\\evil", b"x"))
    yield "drive.fmu", fmu(("C:\\evil", b"x"))
    yield "drive-relative.fmu", fmu(("c:evil", b"x"))
    yield "no-name.fmu", raw(("", b"x"))
    yield "control.fmu", raw(("a\x1b[31mb", b"x"), flags=0x800)
    yield "control-cp437.fmu", raw((b"a\x1b[31mb", b"x"))
    yield "delete.fmu", raw((b"a\x7fb", b"x"), flags=0x800)
    yield "newline.fmu", raw(("a\nb", b"x"))
    yield "control-c1.fmu", raw(("a\u009bb", b"x"), flags=0x800)
    yield "nul.fmu", raw(("resources/a\0/../../evil", b"x"))
    name = b"modelDescription.xml\0../evil"
    unicode_path = struct.pack("<BI", 1, zlib.crc32(b"resources/x")) + name
    yield "nul-unicode-path.fmu", raw(
        (b"resources/x", b"x"), extra=struct.pack("<HH", 0x7075, len(unicode_path)) + unicode_path
    )
    yield "bad-utf8.fmu", raw((b"a\xff\xfeb", b"x"), flags=0x800)
    yield "symlink.fmu", fmu((info("resources/link", stat.S_IFLNK | 0o777), b"/etc/passwd"))
    yield "symlink-then-file.fmu", fmu(
        (info("resources", stat.S_IFLNK | 0o777), b"/tmp"), ("resources/evil", b"x")
    )
    yield "device.fmu", fmu((info("resources/null", stat.S_IFCHR | 0o666), b""))
    yield "pipe.fmu", fmu((info("resources/pipe", stat.S_IFIFO | 0o666), b""))
    yield "duplicate.fmu", raw(("a", b"1"), ("a", b"2"))
    yield "duplicate-description.fmu", raw(("modelDescription.xml", b"other"))
    yield "duplicate-slash.fmu", raw(("a", b"1"), ("a/", b""))
    yield "duplicate-backslash.fmu", raw(("a/b", b"1"), ("a\\b", b"2"))
    yield "duplicate-dot.fmu", raw(("a/b", b"1"), ("a/./b", b"2"))
    archive = Raw()
    archive.add("modelDescription.xml", XML)
    archive.add("a", b"1", at=1 << 20)  # beyond the end of the file: cannot be opened
    archive.add("a", b"1")
    yield "duplicate-nowhere.fmu", archive.bytes()
    yield "file-as-folder.fmu", raw(("a", b"1"), ("a-b", b"1"), ("a/b", b"2"))
    yield "folder-as-file.fmu", raw(("a/b/c", b"2"), ("a/b-", b"1"), ("a/b", b"1"))
    yield "too-deep.fmu", fmu(("/".join("d" * 1 for _ in range(200)) + "/f", b"x"))
    yield "long-name.fmu", fmu(("n" * 3000, b"x"))
    yield "long-part.fmu", fmu(("resources/" + "n" * 300, b"x"))
    yield "size-larger.fmu", raw(("resources/a", b"abc" * 100), size=5000)
    yield "size-smaller.fmu", raw(("resources/a", b"abc" * 100000), size=100)
    yield "size-smaller-stored.fmu", raw(("resources/a", b"abc" * 1000), size=100, method=0)
    yield "size-huge.fmu", raw(("resources/a", b"abc"), size=0xFFFFFFFE)
    yield "packed-huge.fmu", raw(("resources/a", b"abc"), packed_size=0x7FFFFFFF)
    yield "encrypted.fmu", raw(("resources/a", b"abc" * 10), flags=1)
    yield "bad-crc.fmu", raw(("resources/a", b"abc" * 10), crc=1)
    yield "bad-deflate.fmu", raw(("resources/a", b"abc" * 10), packed=b"\xff" * 20)
    yield "deflate64.fmu", raw(("resources/a", b"abc" * 10), method=9, packed=b"abc" * 10)
    yield "bzip2.fmu", fmu((info("resources/a", method=zipfile.ZIP_BZIP2), b"abc" * 10))
    yield "lzma.fmu", fmu((info("resources/a", method=zipfile.ZIP_LZMA), b"abc" * 10))
    yield "nothing-packed.fmu", raw(("resources/a", b"abc"), packed=b"")
    whole = fmu(("resources/a", bytes(range(256)) * 20))
    yield "truncated.fmu", whole[: len(whole) // 2]
    yield "truncated-end.fmu", whole[:-10]
    yield "cut-front.fmu", whole[100:]
    yield "text.fmu", b"This is not an archive.\n" * 20
    yield "empty.fmu", b""
    yield "no-entries.fmu", Raw().bytes()
    archive = Raw()
    archive.add("modelDescription.xml", XML)
    yield "split.fmu", archive.bytes(disk=1)
    yield "wrong-count.fmu", archive.bytes(count=500)
    yield "many-tables.fmu", many_tables(3, 50)


def large():
    yield "bomb.fmu", fmu(("resources/zeros", bytes(64 << 20)))
    yield "bomb-nested.fmu", fmu(("resources/inner.fmu", pack(("zeros", bytes(64 << 20)))))
    yield "bomb-overlapping.fmu", overlapping(500, 1 << 20)
    yield "bomb-declared.fmu", declared(5, 0xF0000000)
    yield "entries-100000.fmu", many(100000)
    yield "entries-100001.fmu", many(100001)
    yield "many-tables-large.fmu", many_tables(20000, 2900)
    squeezed = b"".join(b'<ScalarVariable name="x%d" valueReference="%d"/>\n' % (i, i) for i in range(900000))
    yield "large-description.fmu", pack(("modelDescription.xml", squeezed))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--small"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    archives = dict(small())
    if "--small" not in sys.argv:
        archives.update(large())
    for name, data in archives.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
