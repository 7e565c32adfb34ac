# SPDX-License-Identifier: MIT
"""Input trajectories: paths, arrays, tables, functions of time."""
from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ._functions import rows_of
from ._options import spell


class Inputs:
    """`paths` of CSV files; `functions` of time by names of inputs, which `tabulate` writes to files."""

    def __init__(self, given: Any, folder: str) -> None:
        self.paths: list[str] = []
        self.functions: dict[str, Callable[[float], Any]] = {}
        self._folder = folder
        if given is None:
            return
        for item in given if isinstance(given, (list, tuple)) else [given]:
            self._add(item)

    def _add(self, item: Any) -> None:
        if isinstance(item, (str, os.PathLike)):
            self.paths.append(os.fspath(item))
        elif hasattr(item, "columns") and hasattr(item, "index"):  # a DataFrame
            table = {str(name): np.asarray(item[name]) for name in item.columns}
            self._add_table(table if "time" in table else {"time": np.asarray(item.index), **table})
        elif isinstance(item, Mapping):
            functions = {name: value for name, value in item.items() if callable(value)}
            self.functions.update(functions)
            arrays = {name: value for name, value in item.items() if name not in functions}
            if arrays:
                self._add_table(arrays)
        else:
            raise TypeError("input: a path, a dict of arrays or functions, or a DataFrame is wanted, not a "
                            f"{type(item).__name__}")

    def _add_table(self, table: Mapping[str, Any]) -> None:
        if "time" not in table:
            raise ValueError('input: there is no "time" among ' + ", ".join(map(repr, table)))
        columns = {name: np.asarray(values) for name, values in table.items()}
        lengths = {name: len(values) if values.ndim else -1 for name, values in columns.items()}
        wrong = [name for name, length in lengths.items() if length != lengths["time"]]
        if wrong:
            raise ValueError(f"input: 'time' has {lengths['time']} values, {wrong[0]!r} has {lengths[wrong[0]]}")
        time = columns["time"]
        if time.dtype.kind not in "iuf" or not np.isfinite(time).all() or (np.diff(time) < 0).any():
            raise ValueError("input: 'time' takes finite numbers that do not fall")
        names = ["time"] + [name for name in columns if name != "time"]
        self._write(names, zip(*([spell(value) for value in columns[name].tolist()] for name in names)))

    def _write(self, names: list[str], rows: Iterable[Iterable[str]]) -> None:
        path = os.path.join(self._folder, f"input{len(self.paths)}.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows(rows)
        self.paths.append(path)

    def tabulate(self, start: float, stop: float, options: Mapping[str, Any]) -> None:
        """Writes the functions to files, for a run from start to stop with these options."""
        step, rtol = options.get("step"), options.get("rtol")
        for name, function in self.functions.items():
            rows = rows_of(name, function, start, stop, None if step is None else float(step), 1e-4 if rtol is None else float(rtol),
                           options.get("interpolate") == "hold")
            self._write(["time", name], ((spell(t), spell(value)) for t, value in rows))
