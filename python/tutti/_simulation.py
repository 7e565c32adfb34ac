# SPDX-License-Identifier: MIT
"""Simulations that a program steps."""
from __future__ import annotations

import ctypes
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _library as c
from ._equations import Equations
from ._errors import Error
from ._inputs import Inputs
from ._options import Options, spell
from ._result import Floats, Result, Statistics, _Recording
from ._simulate import Files, of_equations
from ._units import Units


class Variable:
    """Properties of a variable of a system."""

    def __init__(self, number: int, found: c.Variable) -> None:
        self.number = number
        self.name = c.text(found.name)
        self.unit = c.text_or_none(found.unit)
        self.description = c.text_or_none(found.description)
        self.type = c.text(found.type)
        self.causality = c.text(found.causality)
        self.variability = c.text(found.variability)
        self.start: float | None = None if math.isnan(found.start) else found.start
        self.minimum, self.maximum, self.nominal = found.minimum, found.maximum, found.nominal
        self.is_text = bool(found.is_text)
        self.count = found.count

    def __repr__(self) -> str:
        return f"<{self.name}: {self.causality} {self.type}{f' in {self.unit}' if self.unit else ''}>"


class Point:
    """A saved point of a simulation, valid as long as the simulation."""

    def __init__(self, simulation: Simulation, handle: ctypes.c_void_p) -> None:
        self._simulation, self._handle = simulation, handle
        self.time = simulation.time

    def __del__(self, is_over: Callable[[], bool] = c.is_over) -> None:
        simulation = getattr(self, "_simulation", None)
        if simulation is not None and simulation._points_live and not is_over():  # pylint: disable=protected-access
            c.lib.tutti_point_free(simulation._alive(), self._handle)  # pylint: disable=protected-access


class Simulation:
    """A simulation in steps: read and set values between them, save and restore points.

    Opening loads and checks the files; no code of an FMU runs before `start`. A context manager closes it; iterating makes
    steps and yields their times.
    """

    def __init__(self, files: Files, *, input: Any = None, equations: Any = None,  # pylint: disable=redefined-builtin
                 **options: Any) -> None:
        self._handle: ctypes.c_void_p | None = None
        self._points_live = False
        self._started = False
        self._result: Result | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="tutti-")  # pylint: disable=consider-using-with
        inputs = Inputs(input, self._folder.name)
        if inputs.functions:
            tabulate(inputs, files, options)
        self._units = Units(files, self._folder.name)
        self._options = Options(self._units.files, {**of_equations(equations, options), "input": inputs.paths})
        self._equations = Equations(equations) if equations is not None else None
        if self._equations:
            self._options.set_equations(self._equations)
        self._recording, self._statistics = _Recording(), Statistics()
        c.lib.tutti_options_set_recording(self._options.handle, self._recording.handle)
        self._handle = c.handle(c.lib.tutti_simulation_open, self._options.handle)

    # ---- life ----

    def _alive(self) -> ctypes.c_void_p:
        if not self._handle:
            raise ValueError("the simulation is closed")
        return self._handle

    def close(self) -> None:
        """Ends the simulation at any point. Closing again has no effect."""
        handle, self._handle, self._points_live = self._handle, None, False
        if handle:
            c.lib.tutti_simulation_free(handle)
            self._units.close()
            self._folder.cleanup()

    def __del__(self, is_over: Callable[[], bool] = c.is_over) -> None:
        if getattr(self, "_handle", None) and not is_over():
            self.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def start(self) -> Simulation:
        """Instantiates and initialises the components, and records the first row."""
        self._call(c.lib.tutti_simulation_start)
        self._started = self._points_live = True
        return self

    def finish(self) -> Result:
        """Ends the components, and returns the result."""
        if self._result is None:
            self._points_live = False
            self._call(c.lib.tutti_simulation_finish, self._statistics.handle)
            self._result = self.result
        return self._result

    def reset(self, set: Mapping[str, Any] | None = None) -> Simulation:  # pylint: disable=redefined-builtin
        """Returns to before `start`, for the next run, with these values; values that were set since opening are forgotten.

        Nothing is loaded again, and the run has the same bits as that of a new simulation. Results that were handed out stay.
        """
        self._points_live = self._started = False
        self._units.forget_failure()
        if self._equations:
            self._equations.failure = None
        self._call(c.lib.tutti_simulation_reset)
        if self._result is not None:  # whose arrays look at the memory of the recording
            self._result = None
            self._recording, self._statistics = _Recording(), Statistics()
            c.lib.tutti_options_set_recording(self._options.handle, self._recording.handle)
        if set:
            self.set(set)
        return self

    @property
    def result(self) -> Result:
        """A copy of the rows so far; `finish` returns all rows without a copy."""
        if self._result is not None:
            return self._result
        block = self._recording.block()
        over = not self._points_live and self._started
        columns = self._recording.columns()
        if over:
            return Result(columns, block, self._recording, self._statistics.read())
        block = block.copy()  # the recording reuses its memory when it continues
        arrays = {i: self._recording.array(i, column, block[:, i + 1]) for i, column in enumerate(columns) if column.type != "Float64"}
        return Result(columns, block, self._recording, arrays=arrays)

    def _call(self, function: Any, *arguments: Any) -> None:
        try:
            function(self._alive(), *arguments)
        except Error as error:
            failure = self._units.failure or (self._equations.failure if self._equations else None)
            if failure is not None:
                raise failure from error
            raise

    # ---- time ----

    @property
    def time(self) -> float:
        return float(c.lib.tutti_simulation_time(self._alive()))

    @property
    def is_over(self) -> bool:
        """Whether the stop time is reached, or an FMU has ended the run."""
        return bool(c.lib.tutti_simulation_is_over(self._alive()))

    def step(self) -> float:
        """Makes one macro step of the size that the master chooses; returns the time reached."""
        self._call(c.lib.tutti_simulation_step)
        return self.time

    @property
    def stop(self) -> float:
        """The stop time."""
        return float(c.lib.tutti_simulation_stop(self._alive()))

    def advance(self, t: float | None = None) -> float:
        """Steps to time t, or to the end."""
        self._call(c.lib.tutti_simulation_advance, self.stop if t is None else float(t))
        return self.time

    def __iter__(self) -> Iterator[float]:
        if not self._started:
            self.start()
        while not self.is_over:
            yield self.step()

    # ---- values ----

    @property
    def variables(self) -> dict[str, Variable]:
        """All variables of all components, by name."""
        if not hasattr(self, "_variables"):
            found, self._variables = c.Variable(), {}
            for number in range(c.lib.tutti_simulation_variable_count(self._alive())):
                c.lib.tutti_simulation_describe(self._alive(), number, ctypes.byref(found))
                self._variables[c.text(found.name)] = Variable(number, found)
        return self._variables

    def find(self, names: str | Sequence[str]) -> Any:
        """The number of a variable, or an array for several: faster for `get` and `put` than names."""
        if isinstance(names, str):
            number = ctypes.c_size_t()
            self._call(c.lib.tutti_simulation_find, names.encode(), ctypes.byref(number))
            return number.value
        if not isinstance(names, Iterable):
            raise TypeError(f"a variable is named by its name, or several by a list of names, not by {names!r}")
        return np.array([self.find(name) for name in names], dtype=np.uintp)

    def _numbers(self, which: Any) -> Any:
        if isinstance(which, np.ndarray) and which.dtype.kind in "ui":
            return np.ascontiguousarray(which, dtype=np.uintp)
        return self.find(which if not isinstance(which, Iterable) else list(which))

    def get(self, which: Any) -> Any:
        """The value of a variable, by name or number; an array for several. Array variables are returned whole, texts as str."""
        if isinstance(which, (str, int, np.integer)):
            return self._get_one(which if isinstance(which, str) else int(which))
        numbers = self._numbers(which)
        values = np.empty(len(numbers))
        self._call(c.lib.tutti_simulation_get_many, _sizes(numbers), len(numbers), _doubles(values))
        return values

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def _get_one(self, which: str | int) -> Any:
        number = self.find(which) if isinstance(which, str) else which
        found = c.Variable()
        self._call(c.lib.tutti_simulation_describe, number, ctypes.byref(found))
        if found.is_text:
            text = ctypes.c_char_p()
            self._call(c.lib.tutti_simulation_get_text, number, ctypes.byref(text))
            return c.text(text.value)
        values = np.empty(found.count)
        self._call(c.lib.tutti_simulation_get, number, _doubles(values), found.count)
        return float(values[0]) if found.count == 1 else values

    def put(self, which: Any, values: Any) -> None:
        """Sets unconnected inputs and tunable parameters; by name, number, or many at once."""
        if isinstance(which, (str, int, np.integer)):
            number = self.find(which) if isinstance(which, str) else int(which)
            array = np.ascontiguousarray(values, dtype=float).ravel()
            self._call(c.lib.tutti_simulation_put, number, _doubles(array), len(array))
            return
        numbers = self._numbers(which)
        array = np.ascontiguousarray(values, dtype=float).ravel()
        if len(array) != len(numbers):
            raise ValueError(f"{len(numbers)} variables, {len(array)} values")
        self._call(c.lib.tutti_simulation_put_many, _sizes(numbers), len(numbers), _doubles(array))

    def __setitem__(self, name: str, value: Any) -> None:
        if self._started:
            self.put(name, value)
        else:
            self.set({name: value})

    def set(self, values: Mapping[str, Any]) -> None:
        """Sets parameters and start values before the start; afterwards as `put`."""
        for name, value in values.items():
            self._call(c.lib.tutti_simulation_set, f"{name}={spell(value)}".encode())

    # ---- ways back ----

    def save(self, path: str | os.PathLike[str] | None = None) -> Point | None:
        """Saves the current point; with a path: to a file, from which a different process can resume."""
        if path is not None:
            self._call(c.lib.tutti_simulation_save_file, os.fspath(path).encode())
            return None
        handle = ctypes.c_void_p()
        self._call(c.lib.tutti_simulation_save, ctypes.byref(handle))
        return Point(self, handle)

    def restore(self, point: Point | str | os.PathLike[str]) -> None:
        """Restores a saved point, any number of times."""
        if isinstance(point, Point):
            if point._simulation is not self:  # pylint: disable=protected-access
                raise ValueError("a point of another simulation")
            self._call(c.lib.tutti_simulation_restore, point._handle)  # pylint: disable=protected-access
        else:
            self._call(c.lib.tutti_simulation_restore_file, os.fspath(point).encode())


def tabulate(inputs: Inputs, files: Files, options: Mapping[str, Any]) -> None:
    """Tabulates functions of time for the duration of the run."""
    with Simulation(files, **options) as simulation:
        inputs.tabulate(simulation.time, simulation.stop, options)


def _doubles(values: Floats) -> Any:
    return values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def _sizes(values: Any) -> Any:
    return values.ctypes.data_as(ctypes.POINTER(ctypes.c_size_t))
