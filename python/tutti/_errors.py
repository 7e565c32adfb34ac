# SPDX-License-Identifier: MIT
"""Exceptions of the library."""
from __future__ import annotations

import math


class Error(Exception):
    """A failure of the library: the message says what happened, where, and what to do.

    `kind` is what sort of failure it is ("malformed file"); `unit` the unit that it is about, `variable` the variable, as its FMU calls
    it, and `time` the simulated time, each None if it is about none. `result` has what was recorded before a run failed.
    """

    def __init__(self, message: str, kind: str = "", code: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code
        self.unit: str | None = None
        self.variable: str | None = None
        self.time: float | None = None
        self.result = None


class ArgumentError(Error, ValueError):
    """An invalid option or argument."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class FormatError(Error, ValueError):
    """A file is malformed."""


class FMUError(Error):
    """An FMU reported an error, or is faulty."""


class SolverError(Error, ArithmeticError):
    """A solver cannot continue."""


class UnsupportedError(Error):
    """An FMU, a system or this build of the library does not support this."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run; `result` contains the recorded rows."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.result = None


# By the numbers of enum tutti_err (include/tutti/err.h).
_CLASSES: dict[int, type[Error]] = {2: FileError, 3: FormatError, 4: FormatError, 5: UnsupportedError, 6: ArgumentError,
                                    7: UnsupportedError, 8: FMUError, 9: FMUError, 10: SolverError, 13: FMUError}
MEMORY, INTERRUPTED = 1, 12


def error_of(code: int, kind: str, message: str, unit: str | None, variable: str | None, time: float) -> BaseException:
    if code == MEMORY:
        return MemoryError(message)
    error = _CLASSES.get(code, Error)(message, kind, code)
    error.unit, error.variable, error.time = unit, variable, None if math.isnan(time) else time
    return error
