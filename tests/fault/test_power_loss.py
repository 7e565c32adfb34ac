#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The power fails at any moment while a run writes its result, its step log and checkpoints. What the run did to files is written
down once; then the disk is made as it may be after every part of that. A file has the bytes that were forced to the disk, and of
those that came later nothing, all, or all but a part of the last; what was done to names since the folder was forced to the disk
has happened or not, each by itself. Once a checkpoint was complete, the run goes on from what is there, to the same bytes."""
import itertools
import os
import pathlib
import re
import shutil
import unittest

from shim import CHAIN, ShimTest

RESULT, LOG, POINT = "result.csv", "log.csv", "point"
RUN = (*CHAIN, "--stop", "0.5", "-o", RESULT, "--step-log", LOG, "--quiet")
FILES = (RESULT, LOG, POINT, f"{POINT}.previous", f"{POINT}.part")
MOST_NAMES = 6  # that may be on the disk or not: all combinations of so many


class File:
    """A file's bytes on the disk, and what was done to it since."""

    def __init__(self):
        self.durable, self.later = b"", []

    def content(self, later):
        data = bytearray(self.durable)
        for what, at, piece in later:
            if what == "cut":
                data = data[:at] + bytes(max(0, at - len(data)))
            else:
                data += bytes(max(0, at - len(data)))
                data[at:at + len(piece)] = piece
        return bytes(data)

    def sync(self):
        self.durable, self.later = self.content(self.later), []

    def halves(self):
        """All that came later, but only a part of the last bytes."""
        *before, (what, at, piece) = self.later
        return [*before, (what, at, piece[:len(piece) // 2])]


class Disk:
    """One folder."""

    def __init__(self):
        self.names, self.durable, self.later = {}, {}, []

    @staticmethod
    def rename(names, what, name, other, file):
        if what in ("rename", "unlink"):
            names.pop(name, None)
        if what != "unlink":
            names[other if what in ("rename", "link") else name] = file

    def do(self, what, name, other, at, data):
        if what == "sync" and not name:  # the folder
            self.durable, self.later = dict(self.names), []
        elif what == "sync":
            self.names[name].sync()
        elif what in ("write", "cut"):
            self.names[name].later.append((what, at, data))
        elif name in self.names and what in ("make", "empty"):
            self.names[name].later += [("cut", 0, b"")] if what == "empty" else []
        else:
            file = File() if what in ("make", "empty") else self.names[name]
            self.rename(self.names, what, name, other, file)
            self.later.append((what, name, other, file))

    def name_states(self):
        """What may be in the folder."""
        free = self.later[-MOST_NAMES:]
        for chosen in itertools.product((False, True), repeat=len(free)):
            names = dict(self.durable)
            for change in self.later[:-MOST_NAMES] + [change for change, done in zip(free, chosen) if done]:
                self.rename(names, *change)
            yield names

    def states(self):
        """What may be on the disk: bytes by name."""
        for names in self.name_states():
            yield {name: file.durable for name, file in names.items()}
        yield {name: file.content(file.later) for name, file in self.names.items()}
        yield {name: file.content(file.halves() if file.later else []) for name, file in self.names.items()}


class PowerLoss(ShimTest):
    def record(self, speed):
        """A run's log: what was done, to which names, and with which bytes. No faster than the clock, so that checkpoints are not
        overtaken by the next while they are written."""
        for name in (*FILES, "calls"):
            pathlib.Path(self.path(name)).unlink(missing_ok=True)
        log = self.folder / "calls"
        self.tutti("run", *RUN, "--checkpoint", POINT, "--every", "0.15", "--realtime", str(speed), env=self.shim(log=log))
        data, calls = log.read_bytes(), []
        while data:
            line, data = data.split(b"\n", 1)
            what, name, other, at, size = line.decode().split("\t")
            inside = [str(pathlib.Path(path).relative_to(self.folder)) if path else "" for path in (name, other)]
            calls.append((what, *(path if path != "." else "" for path in inside), int(at), data[:int(size)]))
            data = data[int(size):]
        return [call for call in calls if "/" not in call[1] and call[1] not in ("calls", "caches", "tmp")]

    def goes_on(self, state, expected):
        """A run from these files alone."""
        for name in FILES:
            pathlib.Path(self.path(name)).unlink(missing_ok=True)
        for name, data in state.items():
            pathlib.Path(self.path(name)).write_bytes(data)
        self.tutti("run", *RUN, "--resume", POINT)
        self.assertEqual({name: pathlib.Path(self.path(name)).read_bytes() for name in (RESULT, LOG)}, expected)

    def test_folders_of_new_files(self):
        """Names of a new result and step log are forced to the disk before the checkpoint that tells of them."""
        self.folder = self.folder.resolve()
        for fabric in ((), ("--processes", "2")):
            log = self.folder / "calls"
            log.unlink(missing_ok=True)
            for name in ("results", "logs"):
                shutil.rmtree(self.path(name), ignore_errors=True)
                pathlib.Path(self.path(name)).mkdir()
            self.tutti("run", *CHAIN, "--stop", "0.5", "-o", f"results/{RESULT}", "--step-log", f"logs/{LOG}", "--quiet", *fabric,
                       "--checkpoint", POINT, "--every", "0.15", env=self.shim(log=log))
            calls = re.findall(rb"^(sync|rename)\t(\S+)\t", log.read_bytes(), re.MULTILINE)
            first = calls.index((b"rename", os.fsencode(self.folder / f"{POINT}.part")))
            for name in ("results", "logs"):
                self.assertIn((b"sync", os.fsencode(self.folder / name)), calls[:first])

    def test_every_moment(self):
        self.folder = self.folder.resolve()  # the log has it so
        self.tutti("run", *RUN)
        expected = {name: pathlib.Path(self.path(name)).read_bytes() for name in (RESULT, LOG)}
        speed, calls = 0.5, []
        while sum(call[:1] + call[2:3] == ("rename", POINT) for call in calls) < 2:  # on slow disks, one overtakes another
            speed, calls = speed / 2, self.record(speed)
        disk, seen, complete = Disk(), set(), 0
        for number, call in enumerate(calls):
            disk.do(*call)
            complete += call[:2] == ("sync", "") and POINT in disk.names
            follows = calls[number + 1:number + 2]
            if not complete or (call[0] == "write" and follows and follows[0][:2] == call[:2]):
                continue  # the next one may leave all that this one may, and more
            for state in disk.states():
                key = frozenset(state.items())
                if key not in seen:
                    seen.add(key)
                    with self.subTest(number=number, call=call[:4], files={name: len(data) for name, data in state.items()}):
                        self.goes_on(state, expected)
        self.assertGreater(len(seen), 20)


if __name__ == "__main__":
    unittest.main()
