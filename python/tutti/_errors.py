# SPDX-License-Identifier: MIT
"""What goes wrong, as exceptions."""
from __future__ import annotations

import re
from typing import Iterable


class Error(Exception):
    """A failure that the library tells: the message says what happened, where, and what to do.

    `kind` is what sort of failure it is ("malformed file"); `unit` the unit that it is about, `variable` the variable and `time` the
    simulated time, each None if the message is about none. `result` has what was recorded before a run failed.
    """

    def __init__(self, message: str, kind: str = "", code: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code
        self.unit: str | None = None
        self.variable: str | None = None
        self.time: float | None = None
        self.result = None

    def locate(self, units: Iterable[str], variables: Iterable[str] = ()) -> None:
        """Messages begin with the unit, name variables in quotes, and end with the time."""
        message = str(self)
        first = re.match(r"([^\s:]+)(?: \(.*?\))?: ", message)
        known = set(units)
        if first and first[1] in known:
            self.unit = first[1]
        names = set(variables)
        for quoted in re.findall(r"'([^']+)'", message):
            name = next((name for name in (quoted, f"{self.unit}.{quoted}") if name in names), None)
            if name:
                self.variable = name
                self.unit = self.unit or next((unit for unit in known if name.startswith(unit + ".")), None)
                break
        at = re.search(r"\bt = ([-+0-9.eE]+)", message)
        self.time = float(at[1].rstrip(".")) if at else None


class ArgumentError(Error, ValueError):
    """An option or an argument that is wrong."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class FormatError(Error, ValueError):
    """A file is not what it should be."""


class FMUError(Error):
    """An FMU reported an error, or something about it is one."""


class SolverError(Error, ArithmeticError):
    """A solver cannot go on."""


class UnsupportedError(Error):
    """What an FMU, a system or this build of the library does not have."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run; `result` has what was recorded."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.result = None


# By the numbers of enum tutti_err (include/tutti/err.h).
_CLASSES: dict[int, type[Error]] = {2: FileError, 3: FormatError, 4: FormatError, 5: UnsupportedError, 6: ArgumentError,
                                    7: UnsupportedError, 8: FMUError, 9: FMUError, 10: SolverError, 13: FMUError}
MEMORY, INTERRUPTED = 1, 12


def error_of(code: int, kind: str, message: str) -> BaseException:
    if code == MEMORY:
        return MemoryError(message)
    return _CLASSES.get(code, Error)(message, kind, code)
