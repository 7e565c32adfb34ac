# SPDX-License-Identifier: MIT
"""Many runs of one system: parameter sweeps, and parameters from measurements."""
from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as c
from ._options import Options, spell
from ._result import Floats
from ._simulate import Files
from ._units import Units


def _values(value: Any) -> str:
    """Values of a parameter, as for --vary.

    >>> _values([1, 2.5]), _values((0, 1, 5)), _values("0:1:5"), _values(3)
    ('1.0,2.5', '0:1:5', '0:1:5', '3')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ":".join(spell(item) for item in value)
    if isinstance(value, (list, range)) or hasattr(value, "tolist"):
        return ",".join(spell(float(item)) if not isinstance(item, int) else spell(item) for item in np.asarray(value).ravel().tolist())
    return spell(value)


class Sweep:
    """The table of a sweep: columns by name, as arrays with a value per run; NaN if a run has none."""

    def __init__(self, found: ctypes.c_void_p) -> None:
        runs, columns = c.lib.tutti_sweep_run_count(found), c.lib.tutti_sweep_column_count(found)
        names = [c.text(c.lib.tutti_sweep_column_name(found, column)) for column in range(columns)]
        self.parameters: list[str] = names[:c.lib.tutti_sweep_parameter_count(found)]
        self.measures: list[str] = names[len(self.parameters):]
        self._columns = {name: np.array([c.lib.tutti_sweep_value(found, run, column) for run in range(runs)])
                         for column, name in enumerate(names)}
        self.status: list[str] = [c.text(c.lib.tutti_sweep_status(found, run)) for run in range(runs)]
        self.messages: list[str | None] = [c.text_or_none(c.lib.tutti_sweep_message(found, run)) for run in range(runs)]
        self.repeated = runs - c.lib.tutti_sweep_found_count(found)

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __getitem__(self, name: str) -> Floats:
        return self._columns[name]

    def keys(self) -> list[str]:
        """The names of all columns: parameters, then measures."""
        return list(self._columns)

    @property
    def good(self) -> Any:
        """An array of Booleans: the runs that completed and were measured."""
        return np.array([status == "ok" for status in self.status])

    def to_pandas(self) -> Any:
        """A pandas table with a row per run."""
        import pandas  # pylint: disable=import-outside-toplevel

        return pandas.DataFrame({**self._columns, "status": self.status, "message": self.messages})

    def __repr__(self) -> str:
        return f"<tutti.Sweep: {len(self)} runs, {int(np.sum(self.good))} ok; {', '.join(self.keys())}>"


def sweep(files: Files, *, vary: Mapping[str, Any] | None = None, measure: str | Iterable[str] = (), **options: Any) -> Sweep:
    """Runs a model once for each combination of values. vary: a parameter's values as a list, or (FROM, TO, COUNT); with sample="sobol",
    "latin" or "random" and runs=N a range (FROM, TO). measure: expressions as "max(body.z)" (the final values of all outputs). Options are those of
    `tutti sweep`: workers, csv, trajectories, output (with a journal, from which the same call resumes), stop, rtol, ..."""
    given = {**options, "vary": [f"{name}={_values(value)}" for name, value in (vary or {}).items()] or None,
             "measure": [measure] if isinstance(measure, str) else list(measure) or None}
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        units = Units(files, folder)
        handle, found = Options(units.files, given), ctypes.c_void_p()
        try:
            c.lib.tutti_sweep_make(ctypes.byref(found), handle.handle)
            return Sweep(found)
        finally:
            c.lib.tutti_sweep_free(found)
            units.close()


@dataclass(frozen=True)
class Estimated:
    """An estimated parameter. error and interval (95 %) are None if the data do not determine it."""

    name: str
    value: float
    start: float
    error: float | None
    interval: tuple[float, float] | None
    determined: bool
    at_bound: bool


class Estimation:
    """Parameters from measurements: values by name."""

    def __init__(self, found: ctypes.c_void_p) -> None:
        summary: c.EstimationSummary = c.lib.tutti_estimation_sum_up(found)
        self.sum_of_squares: float = summary.sum_of_squares
        self.runs: int = summary.runs
        self.converged = bool(summary.converged)
        self.sensitivities = bool(summary.sensitivities)  # derivatives came from them, not from differences of runs
        self.parameters: dict[str, Estimated] = {}
        shown = c.Estimated()
        for k in range(summary.parameters):
            c.lib.tutti_estimation_parameter(found, k, ctypes.byref(shown))
            known = not np.isnan(shown.error)
            name = c.text(shown.name)
            self.parameters[name] = Estimated(name, shown.value, shown.start, shown.error if known else None,
                                              (shown.lower, shown.upper) if known else None, bool(shown.determined), bool(shown.at_bound))
        self.covariance: Floats = np.array([[c.lib.tutti_estimation_covariance(found, i, k) for k in range(summary.parameters)]
                                            for i in range(summary.parameters)])
        self.undetermined: list[str] = []
        while (direction := c.lib.tutti_estimation_undetermined(found, len(self.undetermined))) is not None:
            self.undetermined.append(c.text(direction))

    def __getitem__(self, name: str) -> float:
        return self.parameters[name].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __repr__(self) -> str:
        values = ", ".join(f"{parameter.name} = {parameter.value:.6g}" + (f" +- {parameter.error:.2g}" if parameter.error is not None else "")
                           for parameter in self.parameters.values())
        return f"<tutti.Estimation: {values}; sum of squares {self.sum_of_squares:.6g}>"


def _start(value: Any) -> str:
    """The start of a search, as for --fit.

    >>> _start(1.5), _start((1, 0, 2))
    ('1.5', '1:0:2')
    """
    return ":".join(spell(item) for item in value) if isinstance(value, (tuple, list)) else spell(value)


def estimate(files: Files, *, fit: Mapping[str, Any], data: str | os.PathLike[str] | Mapping[str, Any],
             weight: Mapping[str, float] | None = None, **options: Any) -> Estimation:
    """Finds the parameters with which a run is closest to data: a result file, or arrays by name including "time". fit: for each
    parameter START or (START, MIN, MAX). Options are those of `tutti estimate`: method, most_runs, input, output, rtol, ..."""
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        units = Units(files, folder)
        path = _write(data, folder) if isinstance(data, Mapping) else os.fspath(data)
        given = {**options, "fit": [f"{name}={_start(value)}" for name, value in fit.items()], "data": path,
                 "weight": [f"{name}={spell(value)}" for name, value in (weight or {}).items()] or None}
        handle, found = Options(units.files, given), ctypes.c_void_p()
        try:
            c.lib.tutti_estimate(ctypes.byref(found), handle.handle)
            return Estimation(found)
        finally:
            c.lib.tutti_estimation_free(found)
            units.close()


def _write(data: Mapping[str, Any], folder: str) -> str:
    """Arrays as a table, `time` first; NaN is an empty cell."""
    path = os.path.join(folder, "data.csv")
    names = ["time"] + [name for name in data if name != "time"]
    columns = [np.asarray(data[name], dtype=float) for name in names]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(",".join('"' + name.replace('"', '""') + '"' for name in names) + "\n")
        for row in zip(*columns):
            file.write(",".join("" if np.isnan(value) else repr(float(value)) for value in row) + "\n")
    return path
