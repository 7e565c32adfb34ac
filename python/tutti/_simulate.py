# SPDX-License-Identifier: MIT
"""Runs from start to stop."""
from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from . import _library as c
from ._equations import Equations
from ._errors import INTERRUPTED, Error, Interrupted
from ._inputs import Inputs
from ._options import Options
from ._progress import progress_of
from ._result import Result, Statistics, _Recording
from ._units import Units

# "car.ssp", ["a.fmu", "b.fmu"], {"name": "a.fmu"}; an object with step() or derivatives() in place of a path is a unit in Python.
Files = Union[str, "os.PathLike[str]", Sequence[Any], Mapping[str, Any]]


class _Run:
    """A tutti_run in a separate thread, so that the calling thread receives Ctrl-C."""

    def __init__(self, options: Options, statistics: Statistics) -> None:
        self.options, self.statistics = options, statistics
        self.error: BaseException | None = None

    def _call(self) -> None:
        try:
            c.lib.tutti_run(self.options.handle, self.statistics.handle)
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error

    def make(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            self._call()
            return
        thread = threading.Thread(target=self._call, name="tutti.simulate", daemon=True)
        thread.start()
        while thread.is_alive():
            try:
                thread.join()
            except KeyboardInterrupt:
                self.options.interrupt.value = 1
                self.options.failure = self.options.failure or Interrupted("interrupted")


def of_equations(equations: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Selects Model Exchange, which additional equations require."""
    plain = equations is None or "interface" in options or "solver" in options
    return options if plain else {**options, "interface": "me"}


def simulate(files: Files, *, input: Any = None, equations: Any = None,  # pylint: disable=redefined-builtin
             progress: bool | Callable[[float], None] = False, **options: Any) -> Result:
    """Simulates an FMU, a system (.ssp), or several FMUs, and returns the result.

    Every option of `tutti run` is one here, with _ for -: stop=10, rtol=1e-6, threads=2, output_step=0.1. `set` is a dict of values by
    name, `connect` a dict or pairs of names, `record` a list of patterns. `input` is a path, a dict of arrays with "time" among them,
    a DataFrame, or a dict of functions of time. `output` also writes a result file. `equations` are further differential equations, solved
    together with those of a Model Exchange FMU: a dict of functions of time, their states and the model, or an object with `states` and
    `derivatives`.
    """
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        inputs = Inputs(input, folder)
        if inputs.functions:
            from ._simulation import tabulate  # pylint: disable=import-outside-toplevel

            tabulate(inputs, files, options)
        units = Units(files, folder)
        given = Options(units.files, {**of_equations(equations, options), "input": inputs.paths})
        extra = Equations(equations) if equations is not None else None
        if extra:
            given.set_equations(extra)
        recording, statistics = _Recording(), Statistics()
        c.lib.tutti_options_set_recording(given.handle, recording.handle)
        with progress_of(progress) as shown:
            if shown:
                given.set_progress(shown)
            run = _Run(given, statistics)
            run.make()
            if shown and not run.error and not given.failure:
                shown(1.0)
        units.close()
        given.failure = units.failure or (extra.failure if extra else None) or given.failure
        result = Result(recording.columns(), recording.block(), recording, statistics.read())
        _conclude(run, result)
        return result


def _conclude(run: _Run, result: Result) -> None:
    """Raises the error that ended the run, with the rows recorded before."""
    failure = run.options.failure or run.error
    if failure is None:
        return
    if isinstance(failure, Error) and failure.code == INTERRUPTED:
        failure = Interrupted(str(failure))
    if isinstance(failure, (Error, Interrupted)):
        failure.result = result  # type: ignore[assignment]
    raise failure
