# SPDX-License-Identifier: MIT
"""Results: recorded rows of a run, or a result file of any tool."""
from __future__ import annotations

import ctypes
import html
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _library as c
from ._errors import Error

Floats = NDArray[np.float64]

# NumPy types of the FMI types that are not floating-point numbers.
_KINDS: dict[str, Any] = {"Int8": np.int8, "UInt8": np.uint8, "Int16": np.int16, "UInt16": np.uint16, "Int32": np.int32, "UInt32": np.uint32,
                          "Int64": np.int64, "UInt64": np.uint64, "Enumeration": np.int64, "Boolean": np.bool_, "Clock": np.bool_}
_LONG = 2.0 ** 53  # integers from here on are not all among the doubles


def _typed(values: Floats, kind: Any, digits: Callable[[int], str]) -> Any:
    """Doubles converted to a type, inexact ones from the digits in their rows; unchanged if not all are numbers."""
    if not np.isfinite(values).all():
        return values
    if not (np.abs(values) >= _LONG).any():
        return values.astype(kind)
    return np.array([int(digits(row)) if abs(value) >= _LONG else int(value) for row, value in enumerate(values)], dtype=kind)


def _warn_of_rounded(name: str, path: str | os.PathLike[str]) -> None:
    warnings.warn(f"{name}: integers of 2^53 and more are rounded in {os.fspath(path)}, whose format holds doubles; .csv and .jsonl have all digits",
                  UserWarning, stacklevel=4)


class _Recording:
    """A struct tutti_recording; arrays that view its memory keep it alive."""

    def __init__(self) -> None:
        self.handle = c.handle(c.lib.tutti_recording_make)

    def __del__(self, is_over: Callable[[], bool] = c.is_over) -> None:
        if getattr(self, "handle", None) and not is_over():
            c.lib.tutti_recording_free(self.handle)

    def block(self) -> Floats:
        """All rows, without a copy: time, then columns. Read-only, as it is the library's memory."""
        shape = (c.lib.tutti_recording_rows(self.handle), c.lib.tutti_recording_column_count(self.handle) + 1)
        address = c.lib.tutti_recording_values(self.handle)
        if not address:
            return np.empty((0, shape[1]))
        return np.asarray(_Memory(self, address, shape))

    def columns(self) -> list[Column]:
        shown = c.Recorded()
        found: list[Column] = []
        while c.lib.tutti_recording_describe(self.handle, len(found), ctypes.byref(shown)):
            found.append(Column(c.text(shown.name), c.text_or_none(shown.unit), c.text_or_none(shown.description),
                                c.text(shown.type), bool(shown.is_text)))
        return found

    def texts(self, column: int, rows: int) -> NDArray[np.object_]:
        values = [c.text(c.lib.tutti_recording_text(self.handle, row, column)) for row in range(rows)]
        return np.array(values, dtype=object)

    def array(self, number: int, column: Column, values: Floats) -> Any:
        """The values of a column, in its own type."""
        if column.is_text:
            return self.texts(number, len(values))
        kind = _KINDS.get(column.type)
        return values if kind is None else _typed(values, kind, lambda row: c.text(c.lib.tutti_recording_text(self.handle, row, number)))


class _Memory:  # pylint: disable=too-few-public-methods
    """Numbers at an address that `owner` keeps valid."""

    def __init__(self, owner: Any, address: int, shape: tuple[int, int]) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, True), "typestr": "=f8", "shape": shape, "version": 3}


class Column:
    """Properties of a recorded variable."""

    def __init__(self, name: str, unit: str | None = None, description: str | None = None, kind: str = "Float64",
                 is_text: bool = False) -> None:
        self.name, self.unit, self.description, self.type, self.is_text = name, unit, description, kind, is_text

    def __repr__(self) -> str:
        return f"Column({self.name!r}, unit={self.unit!r}, type={self.type!r})"


class Result(Mapping[str, Any]):
    """The recorded rows of a run: a mapping from variable names to arrays.

    `time` and every variable have a value per row; rows at equal times are both sides of an event. `path` is the file that it was read from,
    None of a run.
    """

    path: str | None = None

    def __init__(self, columns: Sequence[Column], block: Floats, owner: Any = None,
                 statistics: Mapping[str, Any] | None = None, arrays: Mapping[int, Any] | None = None) -> None:
        self.columns = list(columns)
        self.statistics: dict[str, Any] = dict(statistics or {})
        self._block = block
        self._owner = owner
        self._arrays: dict[int, Any] = dict(arrays or {})  # of columns that are not of floats
        self._place = {column.name: i for i, column in enumerate(self.columns)}

    @property
    def time(self) -> Floats:
        return self._block[:, 0]

    def __getitem__(self, name: str) -> Any:
        try:
            place = self._place[name]
        except KeyError:
            raise KeyError(f"{name!r} was not recorded; there are: {self._some_names()}") from None
        if place not in self._arrays and isinstance(self._owner, _Recording):
            self._arrays[place] = self._owner.array(place, self.columns[place], self._block[:, place + 1])
        return self._arrays.get(place, self._block[:, place + 1])

    def _some_names(self) -> str:
        names = [column.name for column in self.columns]
        return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._place

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    @property
    def units(self) -> dict[str, str | None]:
        """The unit of measure of every variable, or None."""
        return {column.name: column.unit for column in self.columns}

    def __repr__(self) -> str:
        rows = len(self._block)
        span = f", t = {self.time[0]:g} to {self.time[-1]:g}" if rows else ""
        return f"<tutti.Result: {len(self.columns)} variables, {rows} rows{span}>"

    # ---- other forms ----

    def to_pandas(self) -> Any:
        """A DataFrame with the time as index."""
        import pandas  # pylint: disable=import-outside-toplevel

        return pandas.DataFrame({name: self[name] for name in self}, index=pandas.Index(self.time, name="time"))

    def to_xarray(self) -> Any:
        """A Dataset over the time, with units and descriptions as attributes."""
        import xarray  # pylint: disable=import-outside-toplevel

        variables = {}
        for column in self.columns:
            known = {"units": column.unit, "long_name": column.description}
            variables[column.name] = ("time", self[column.name], {key: value for key, value in known.items() if value})
        return xarray.Dataset(variables, coords={"time": ("time", self.time, {"units": "s"})})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a result file in the format of its extension: .csv, .units.csv, .mat, .h5, .jsonl."""
        if not isinstance(self._owner, _Recording):
            raise ValueError("only what a run recorded can be saved; this result was read from a file")
        c.lib.tutti_recording_save(self._owner.handle, os.fspath(path).encode())
        if os.fspath(path).endswith((".mat", ".h5")):
            long = [column.name for place, column in enumerate(self.columns)
                    if column.type in _KINDS and len(self) and (np.abs(self._block[:, place + 1]) >= _LONG).any()]
            if long:
                _warn_of_rounded(long[0], path)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws all or the named variables with matplotlib, one panel per unit of measure. Returns the axes."""
        import matplotlib.pyplot as pyplot  # pylint: disable=import-outside-toplevel

        shown = [self.columns[self._place[name]] if name in self._place else self[name] for name in names] or \
            [column for column in self.columns if not column.is_text]
        panels: dict[str, list[Column]] = {}
        for column in shown:
            panels.setdefault(column.unit or "", []).append(column)
        if axes is None:
            _, axes = pyplot.subplots(len(panels), 1, sharex=True, squeeze=False, figsize=(7, 1 + 2.2 * len(panels)))
        places = np.atleast_1d(axes).ravel()
        for place, (unit, columns) in zip(places, panels.items()):
            for column in columns:
                place.plot(self.time, self[column.name], label=column.name)
            place.set_ylabel(unit)
            place.grid(True, alpha=0.3)
            place.legend(loc="best", fontsize="small")
        places[-1].set_xlabel("time in s")
        return axes

    # ---- how it went ----

    @property
    def summary(self) -> Summary:
        """The chosen methods with reasons, steps, and counts per component."""
        return Summary(self.statistics)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.summary._repr_html_()}"  # pylint: disable=protected-access


class Summary:
    """The summary of a run as a table, for terminals and notebooks."""

    _UNIT = (("name", "unit"), ("fmi", "FMI"), ("interface", "interface"), ("solver", "solver"), ("do_steps", "do-steps"),
             ("rejected", "rejected"), ("seconds", "seconds"))

    def __init__(self, statistics: Mapping[str, Any]) -> None:
        self._statistics = statistics

    def _choices(self) -> list[tuple[str, str]]:
        found, known = [], self._statistics
        for name in ("coupling", "control", "extrapolate", "events"):
            value, reason = known.get(name), known.get(f"reasons.{name}")
            if value is not None:
                found.append((name, f"{value}: {reason}" if reason else str(value)))
        for name in ("steps", "rejected", "events_located", "loop_seconds"):
            if name in known:
                found.append((name.replace("_", " "), f"{known[name]:g}"))
        return found

    def _units(self) -> list[list[str]]:
        units = self._statistics.get("units", [])
        keys = [key for key, _ in self._UNIT if any(unit.get(key) not in (None, "") for unit in units)]
        words = dict(self._UNIT)
        return [[words[key] for key in keys]] + [[_cell(unit.get(key)) for key in keys] for unit in units] if keys else []

    def __str__(self) -> str:
        lines = [f"{name:14} {value}" for name, value in self._choices()]
        table = self._units()
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))] if table else []
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
                       for name, value in self._choices())
        table = self._units()
        units = ""
        for i, row in enumerate(table):
            tag = "td" if i else "th"
            units += "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"
        return f"<table>{rows}</table><table>{units}</table>"


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, (int, float)) else str(value)


class Statistics:
    """A struct tutti_run_stats."""

    def __init__(self) -> None:
        self.handle = c.handle(c.lib.tutti_stats_make)

    def __del__(self, is_over: Callable[[], bool] = c.is_over) -> None:
        if getattr(self, "handle", None) and not is_over():
            c.lib.tutti_stats_free(self.handle)

    @staticmethod
    def _value(statistic: c.Statistic) -> Any:
        kind = statistic.kind  # number, count, integer, flag, text
        if kind == 4:
            return c.text_or_none(statistic.text)
        return bool(statistic.number) if kind == 3 else int(statistic.number) if kind in (1, 2) else statistic.number

    def read(self) -> dict[str, Any]:
        one = c.Statistic()
        found: dict[str, Any] = {}
        number = 0
        while c.lib.tutti_stats_get(self.handle, number, ctypes.byref(one)):
            found[c.text(one.name)] = self._value(one)
            number += 1
        units = []
        for unit in range(c.lib.tutti_stats_unit_count(self.handle)):
            values, number = {}, 0
            while c.lib.tutti_stats_get_of_unit(self.handle, unit, number, ctypes.byref(one)):
                values[c.text(one.name)] = self._value(one)
                number += 1
            units.append(values)
        found["units"] = units
        return found


def _texts(handle: Any, number: int, rows: int) -> list[str]:
    """The cells of a variable, row by row; empty if the format only has numbers."""
    found = [""] * rows

    def take(_: Any, row: int, text: int, length: int) -> int:
        if row < rows:
            found[row] = ctypes.string_at(text, length).decode("utf-8", "replace")
        return 0

    try:
        c.lib.tutti_result_read_texts(handle, number, c.TAKE_TEXT(take), None)
    except Error:
        return []
    return found


def _exact(values: Floats, kind: Any) -> Any:
    """Integers converted to the nearest value of a type."""
    if not (np.abs(values) >= _LONG).any():
        return values.astype(kind)
    ends = np.iinfo(kind)
    return np.array([min(max(int(value), ends.min), ends.max) for value in values], dtype=kind)


def _arrays(handle: Any, path: str | os.PathLike[str], columns: list[Column], block: Floats) -> dict[int, Any]:
    """Values of columns other than floats: of a type in the file; texts; and, without a type, integers that a double may not
    hold."""
    shown = c.ResultVariable()
    arrays: dict[int, Any] = {}
    for number, column in enumerate(columns):
        values = block[number + 1]
        c.lib.tutti_result_describe(handle, number, ctypes.byref(shown))  # which knows more once values were read
        kind = _KINDS.get(column.type)
        whole = len(values) > 0 and np.isfinite(values).all() and (values == np.floor(values)).all()
        long = bool(whole and (np.abs(values) >= _LONG).any())
        texts = _texts(handle, number, len(values)) if not shown.numeric or long else []
        if not shown.numeric and texts:
            column.type, column.is_text = "String", True
            arrays[number] = np.array(texts, dtype=object)
        elif long and texts and all(re.fullmatch(r"[+-]?[0-9]+", text.strip()) for text in texts):
            exact = [int(text) for text in texts]
            fits = kind or (np.int64 if -2 ** 63 <= min(exact) and max(exact) < 2 ** 63 else None)
            if fits is not None:
                arrays[number] = np.array(exact, dtype=fits)
        elif kind is not None and whole:
            if long and kind is not np.bool_:
                _warn_of_rounded(column.name, path)
            arrays[number] = _exact(values, kind)
    return arrays


def read(path: str | os.PathLike[str]) -> Result:
    """Reads a result file of any tool: .csv, .mat, .h5, .jsonl, detected by content."""
    handle = c.handle(c.lib.tutti_result_open, os.fspath(path).encode(), None)
    try:
        columns: list[Column] = []
        found = c.ResultVariable()
        while c.lib.tutti_result_describe(handle, len(columns), ctypes.byref(found)):
            columns.append(Column(c.text(found.name), c.text_or_none(found.unit), c.text_or_none(found.description),
                                  c.text_or_none(c.lib.tutti_result_type(handle, len(columns))) or "Float64"))
        rows, count = c.lib.tutti_result_rows(handle), len(columns)
        block = np.empty((count + 1, rows))
        if rows:
            times = (ctypes.c_double * rows).from_address(c.lib.tutti_result_times(handle))
            block[0] = np.frombuffer(times)
        if rows and count:
            which = (ctypes.c_size_t * count)(*range(count))
            places = (ctypes.c_void_p * count)(*(block[i + 1].ctypes.data for i in range(count)))
            c.lib.tutti_result_read(handle, which, count, places)
        arrays = _arrays(handle, path, columns, block)
    finally:
        c.lib.tutti_result_free(handle)
    result = Result(columns, block.T, arrays=arrays)
    result.path = os.path.abspath(path)
    return result
