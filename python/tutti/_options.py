# SPDX-License-Identifier: MIT
"""Options of a run: every option of `tutti run` by name, with Python values."""
from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Iterable, Mapping
from typing import Any, Callable

from . import _library as c
from ._errors import ArgumentError

logger = logging.getLogger("tutti")
_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


def describe() -> dict[str, str]:
    """All options and their meanings.

    >>> "rtol" in describe()
    True
    """
    found: dict[str, str] = {}
    option = c.OptionDescription()
    while c.lib.tutti_options_describe(len(found), ctypes.byref(option)):
        found[c.text(option.name).replace("-", "_")] = c.text(option.help)
    return found


def spell(value: Any) -> str:
    """A value as on the command line.

    >>> spell(True), spell(1e-6), spell([1, 2.5]), spell("x")
    ('true', '1e-06', '1 2.5', 'x')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "tolist"):  # NumPy's
        return spell(value.tolist())
    if isinstance(value, (list, tuple)):
        return " ".join(spell(item) for item in value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    raise TypeError(f"an option cannot be a {type(value).__name__}: {value!r}")


def _pairs(value: Any) -> Iterable[str]:
    """Connections from "a.y=b.u", ("a.y", "b.u"), {"a.y": "b.u"}, {"a.y": ["b.u", "c.u"]}."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for source, targets in value.items():
            for target in [targets] if isinstance(targets, str) else targets:
                yield f"{source}={target}"
    else:
        for item in value if isinstance(value, Iterable) else [value]:
            if not isinstance(item, str) and not (isinstance(item, (list, tuple)) and [type(end) for end in item] == [str, str]):
                raise TypeError(f'connect: pairs ("a.y", "b.u") are wanted, not {item!r}')
            yield item if isinstance(item, str) else "=".join(item)


def _texts(name: str, value: Any) -> Iterable[str]:
    if name == "connect":
        yield from _pairs(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{key}={spell(item)}"
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield spell(item)
    else:
        yield spell(value)


def log_of() -> c.Log:
    """A struct tutti_log that forwards to the logger."""

    def write(_context: Any, level: int, origin: bytes | None, message: bytes) -> None:
        where = c.text_or_none(origin)
        logger.log(_LEVELS[level], "%s", f"{where}: {c.text(message)}" if where else c.text(message), extra={"origin": where})

    level = next((i for i in range(3, -1, -1) if logger.isEnabledFor(_LEVELS[i])), 0)
    return c.Log(level, c.WRITE(write), None)


class Options:
    """A struct tutti_run_options, with the objects that it borrows."""

    def __init__(self, files: Iterable[str], given: Mapping[str, Any]) -> None:
        self.handle = c.handle(c.lib.tutti_options_make)
        self._log: Any = None
        self._progress: Any = None
        self._equations: Any = None
        self.interrupt = ctypes.c_int(0)
        self.failure: BaseException | None = None  # of a callback
        c.lib.tutti_options_set_interrupt(self.handle, ctypes.byref(self.interrupt))
        self._set_log()
        for file in files:
            self.set("file", file)
        for name, value in given.items():
            if value is not None:
                for text in _texts(name, value):
                    self.set(name, text)

    def set_equations(self, equations: Any) -> None:
        """Sets additional equations (_equations.py), for Model Exchange."""
        self._equations = equations
        c.lib.tutti_options_set_extra(self.handle, ctypes.byref(equations.struct))

    def set(self, name: str, text: str) -> None:
        if "\0" in text:
            raise ArgumentError(f"option {name}: a text with a zero character")
        c.lib.tutti_options_set(self.handle, name.replace("_", "-").encode(), text.encode("utf-8", "surrogateescape"))

    def _set_log(self) -> None:
        self._log = log_of()
        c.lib.tutti_options_set_log(self.handle, ctypes.byref(self._log))

    def set_progress(self, progress: Callable[[float], None]) -> None:
        """`progress` receives the completed fraction, from 0 to 1; an exception in it ends the run."""

        def tell(_context: Any, address: int) -> None:
            now = c.Progress.from_address(address)
            span = now.stop - now.start
            try:
                progress(min(1.0, (now.time - now.start) / span) if span > 0 else 1.0)
            except BaseException as error:  # pylint: disable=broad-except
                self.failure = self.failure or error
                self.interrupt.value = 1

        self._progress = c.PROGRESS(tell)
        c.lib.tutti_options_set_progress(self.handle, self._progress, None)

    def __del__(self, is_over: Callable[[], bool] = c.is_over) -> None:
        if getattr(self, "handle", None) and not is_over():
            c.lib.tutti_options_free(self.handle)
