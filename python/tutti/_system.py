# SPDX-License-Identifier: MIT
"""Systems of components and connections, assembled and changed in Python."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from . import _library as c
from ._linearize import LinearSystem, linearize
from ._options import Options
from ._result import Result
from ._simulate import Files, simulate
from ._simulation import Simulation, Variable
from ._tell import Analysis, Findings, Graph, Told, analyze, check, info
from ._units import Units


class System:
    """Components, connections, values and options of a run.

    `files` is the first argument of tutti.simulate. Components can be added to a system of FMUs, not to an .ssp. Options given here apply to every
    use of the system; those of a call override them.
    """

    def __init__(self, files: Files = (), **options: Any) -> None:
        self._file: str | None = None
        self._units: dict[str, Any] = {}
        if isinstance(files, (str, os.PathLike)) and not os.fspath(files).endswith(".fmu"):
            self._file = os.fspath(files)
        elif isinstance(files, Mapping):
            self._units.update(files)
        else:
            for item in [files] if isinstance(files, (str, os.PathLike)) else files:
                self.add(item)
        self.connections: list[tuple[str, str]] = []
        self.values: dict[str, Any] = {}
        self.options: dict[str, Any] = {}
        for name, value in options.items():
            if name == "connect":
                self._connect_all(value)
            elif name == "set":
                self.values.update(value)
            else:
                self.options[name] = value

    def _connect_all(self, given: Any) -> None:
        for item in given.items() if isinstance(given, Mapping) else given:
            source, target = item.split("=", 1) if isinstance(item, str) else item
            for one in [target] if isinstance(target, str) else target:
                self.connect(source, one)

    # ---- building ----

    def add(self, unit: Any, name: str | None = None) -> System:
        """Adds an FMU, or an object with step() or derivatives(); the default name is that of the file."""
        if self._file is not None:
            raise ValueError(f"{self._file} has its own units; build a system of FMUs to add some")
        if name is None:
            path = isinstance(unit, (str, os.PathLike))
            name = os.path.splitext(os.path.basename(os.fspath(unit)))[0] if path else type(unit).__name__
        if name in self._units:
            raise ValueError(f"there is a unit {name!r} already")
        self._units[name] = unit
        return self

    def connect(self, source: str, target: str) -> System:
        """Connects an output to an input, also with a factor and an offset: connect("a.y*2+1", "b.u")."""
        self.connections.append((source, target))
        return self

    def set(self, values: Mapping[str, Any]) -> System:
        """Sets parameters and start values."""
        self.values.update(values)
        return self

    # ---- looking ----

    @property
    def files(self) -> Any:
        return self._file if self._file is not None else dict(self._units)

    def _given(self, options: Mapping[str, Any]) -> dict[str, Any]:
        given = {**self.options, **options}
        return {**given, "connect": [*self.connections, *given.get("connect", ())],
                "set": {**self.values, **given.get("set", {})}}

    @property
    def variables(self) -> dict[str, Variable]:
        """All variables by name: types, units of measure, bounds, start values. No code of an FMU runs."""
        with self.open() as simulation:
            return simulation.variables

    @property
    def units(self) -> list[str]:
        """Names of the components."""
        if self._file is None:
            return list(self._units)
        return [component["name"] for component in info(self._file)["components"]]

    def check(self, run: bool = False, strict: bool = False, **options: Any) -> Findings:
        """All errors in files, connections and values; with `run` also of trial runs of the FMUs. `strict`: violations of
        FMI are errors even if a run would continue."""
        return check(self._told(options), run, strict)

    def graph(self, phase: str = "initial", **options: Any) -> Graph:
        """Components, connections, dependencies and algebraic loops, as a picture in a notebook; at the start ("initial") or in the "run". No
        code of an FMU runs."""
        return Graph(self._told(options), phase)

    def analyze(self, ranks: int = 0, **options: Any) -> Analysis:
        """Order of evaluation, loops, which couplings are stable (with step=H for that step), what `auto` chooses; with `ranks`, the placement on
        that number of ranks. The system is initialised for it."""
        return analyze(self._told(options), ranks)

    def _told(self, options: Mapping[str, Any]) -> Told:
        return Told(self.files, self._given(options))

    # ---- doing ----

    def simulate(self, **options: Any) -> Result:
        """Simulates the system, as tutti.simulate."""
        return simulate(self.files, **self._given(options))

    def open(self, **options: Any) -> Simulation:
        """Opens a simulation that is stepped."""
        return Simulation(self.files, **self._given(options))

    def linearize(self, **options: Any) -> LinearSystem:
        """Linearises the system, as tutti.linearize."""
        return linearize(self.files, **self._given(options))

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes an .ssp with all files, or an .ssd that refers to its FMUs. Python components cannot be saved."""
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            units = Units(self.files, folder)
            if units.programs:
                units.close()
                raise ValueError("a unit in Python cannot be saved: it lives in this process")
            given = Options(units.files, self._given(options))
            c.lib.tutti_save(os.fspath(path).encode(), given.handle)

    def __repr__(self) -> str:
        what = self._file if self._file is not None else ", ".join(self._units) or "no units"
        return f"<tutti.System: {what}; {len(self.connections)} connections>"


def load(path: str | os.PathLike[str], **options: Any) -> System:
    """Loads an FMU or a system (.ssp, .ssd), to inspect, change and run it."""
    if not os.path.exists(os.fspath(path).split("#")[0]):
        raise FileNotFoundError(os.fspath(path))
    return System([path] if os.fspath(path).endswith(".fmu") else path, **options)
