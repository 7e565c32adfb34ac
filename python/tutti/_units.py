# SPDX-License-Identifier: MIT
"""Python components: objects that act like FMUs in a system."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _library as c

_INPUT, _OUTPUT, _PARAMETER, _STATE = range(4)
_FAILED = 8  # TUTTI_ERR_FMU


def is_unit(value: Any) -> bool:
    return callable(getattr(value, "step", None)) or callable(getattr(value, "derivatives", None))


def _starts(declared: Any) -> dict[str, float]:
    """["u"], or {"u": 1.0}."""
    if isinstance(declared, Mapping):
        return {str(name): float(value) for name, value in declared.items()}
    return {str(name): 0.0 for name in ([declared] if isinstance(declared, str) else declared)}


class ProgramUnit:
    """An object, written as a folder like an unpacked FMU. Its attributes are its variables: inputs are set before it is called,
    outputs are read afterwards."""

    def __init__(self, unit: Any, name: str, folder: str) -> None:
        self.unit = unit
        self.failure: BaseException | None = None
        self.path = folder
        roles = [(_STATE, _starts(getattr(unit, "states", ()))), (_INPUT, _starts(getattr(unit, "inputs", ()))),
                 (_PARAMETER, _starts(getattr(unit, "parameters", ()))), (_OUTPUT, _starts(getattr(unit, "outputs", ())))]
        table = [(role, name, start) for role, starts in roles for name, start in starts.items()]
        units = getattr(unit, "units", {})
        self._roles, self._names = [role for role, _, _ in table], [name for _, name, _ in table]
        self._states = [name for role, name, _ in table if role == _STATE]
        self._given = [i for i, role in enumerate(self._roles) if role in (_INPUT, _PARAMETER)]
        self._outputs = [i for i, role in enumerate(self._roles) if role == _OUTPUT]
        variables = (c.ProgramVariable * len(table))(
            *(c.ProgramVariable(name.encode(), units[name].encode() if name in units else None, None, role, start)
              for role, name, start in table))
        steps = callable(getattr(unit, "step", None))
        shows = callable(getattr(unit, "output", None))
        self._callbacks = (c.START(self._start), c.STEP(self._step), c.DERIVATIVES(self._derivatives), c.START(self._output))
        program = c.Program(
            name=name.encode(), variables=variables, variable_count=len(table), context=None,
            feeds_through=bool(getattr(unit, "feeds_through", not steps)),
            has_no_memory=bool(getattr(unit, "has_no_memory", False)),
            start=self._callbacks[0] if steps and callable(getattr(unit, "start", None)) else c.START(0),
            step=self._callbacks[1] if steps else c.STEP(0),
            derivatives=c.DERIVATIVES(0) if steps else self._callbacks[2],
            outputs=self._callbacks[3] if shows and not steps else c.START(0))
        self.handle: ctypes.c_void_p | None = c.handle(c.lib.tutti_program_open, ctypes.byref(program), folder.encode())

    def close(self) -> None:
        handle, self.handle = self.handle, None
        if handle:
            c.lib.tutti_program_close(handle)

    # ---- calls from the library ----

    def _guard(self, function: Any, *arguments: Any) -> int:
        """An exception of a function ends the run, and the caller of the run gets it."""
        try:
            function(*arguments)
            return 0
        except BaseException as error:  # pylint: disable=broad-except
            self.failure = self.failure or error
            return _FAILED

    def _tell(self, values: Any) -> None:
        for i in self._given:
            setattr(self.unit, self._names[i], values[i])

    def _take(self, values: Any) -> None:
        for i in self._outputs:
            values[i] = float(getattr(self.unit, self._names[i]))

    def _start(self, _context: Any, t: float, values: Any) -> int:
        def call() -> None:
            self._tell(values)
            self.unit.start(t)
            self._take(values)

        return self._guard(call)

    def _step(self, _context: Any, t: float, h: float, values: Any) -> int:
        def call() -> None:
            self._tell(values)
            self.unit.step(t, h)
            self._take(values)

        return self._guard(call)

    def _derivatives(self, _context: Any, t: float, values: Any, derivatives: Any) -> int:
        def call() -> None:
            self._tell(values)
            found = list(self.unit.derivatives(t, self._x(values)))
            if len(found) != len(self._states):
                raise ValueError(f"{type(self.unit).__name__}.derivatives: {len(self._states)} states, {len(found)} derivatives")
            for i, value in enumerate(found):
                derivatives[i] = float(value)

        return self._guard(call)

    def _output(self, _context: Any, t: float, values: Any) -> int:
        def call() -> None:
            self._tell(values)
            self.unit.output(t, self._x(values))
            self._take(values)

        return self._guard(call)

    def _x(self, values: Any) -> list[float]:
        return [values[i] for i in range(len(self._states))]


class Units:
    """The components of a system, with objects written into `folder`."""

    def __init__(self, files: Any, folder: str) -> None:
        self.programs: list[ProgramUnit] = []
        self._folder = folder
        self.files = list(self._all(files))

    def _all(self, files: Any) -> Iterable[str]:
        if isinstance(files, Mapping):
            for name, value in files.items():
                yield f"{name}={self._path(value, name)}"
        elif isinstance(files, (str, os.PathLike)):
            yield os.fspath(files)
        elif is_unit(files):
            yield f"{type(files).__name__}={self._path(files, type(files).__name__)}"
        else:
            for value in files if isinstance(files, Iterable) and not isinstance(files, bytes) else [files]:
                name = type(value).__name__
                path = self._path(value, name)
                yield f"{name}={path}" if is_unit(value) else path

    def _path(self, value: Any, name: str) -> str:
        if isinstance(value, (str, os.PathLike)):
            return str(os.fspath(value))
        if not is_unit(value):
            raise TypeError(f"{name}: a path, or an object with step(t, h) or derivatives(t, x), is wanted, not {value!r}")
        program = ProgramUnit(value, name, os.path.join(self._folder, f"unit{len(self.programs)}"))
        self.programs.append(program)
        return program.path

    @property
    def failure(self) -> BaseException | None:
        return next((program.failure for program in self.programs if program.failure is not None), None)

    def forget_failure(self) -> None:
        for program in self.programs:
            program.failure = None

    def close(self) -> None:
        for program in self.programs:
            program.close()
