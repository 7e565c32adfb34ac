# SPDX-License-Identifier: MIT
"""Descriptions of FMUs, systems and results without a run: info, findings, graphs, analyses, comparisons."""
from __future__ import annotations

import ctypes
import html
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any, Union

from . import _library as c
from ._errors import UnsupportedError
from ._options import Options, log_of, spell
from ._result import Result
from ._units import Units

Source = Union[str, "os.PathLike[str]", Result]  # of a result


def told(function: Any, *arguments: Any) -> str:
    """The text that a function of <tutti/tell.h> returns."""
    text = c.handle(function, *arguments)
    try:
        return ctypes.string_at(text.value or 0).decode("utf-8", "replace")
    finally:
        c.lib.tutti_tell_free(text)


def path_of(value: Any, what: str) -> bytes:
    """A path for the library; TypeError for anything else."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{what} is a path, not a {type(value).__name__}")
    path = os.fspath(value)
    if "\0" in path:
        raise ValueError(f"{what}: a path with a zero character")
    return os.fsencode(path)


class Told:
    """Files and options to describe, as they were at that time."""

    def __init__(self, files: Any, options: Mapping[str, Any]) -> None:
        self._files, self._options = files, dict(options)

    def __call__(self, function: Any, *arguments: Any) -> str:
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            units = Units(self._files, folder)
            options = Options(units.files, self._options)
            try:
                return told(function, options.handle, *arguments)
            finally:
                units.close()
                if units.failure is not None:  # what a unit in Python raised says more than what came of it
                    raise units.failure


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


# ---- info ----


class Info(dict[str, Any]):
    """The content of an FMU or a system: a dict with the keys of `tutti info --json`."""

    def __repr__(self) -> str:
        if "components" in self:
            return (f"<tutti.Info: {self.get('name')}, SSP {self.get('sspVersion')}, {len(self['components'])} components, "
                    f"{len(self['connections'])} connections>")
        return (f"<tutti.Info: {self.get('modelName')}, FMI {self.get('fmiVersion')}, {', '.join(self['interfaces'])}, "
                f"{len(self['variables'])} variables>")


def info(path: str | os.PathLike[str]) -> Info:
    """The content of an FMU or a system (.ssp, "car.ssp#Variant.ssd", .ssd); no code of an FMU runs."""
    return Info(json.loads(told(c.lib.tutti_tell_info, path_of(path, "what info is asked of"))))


# ---- check ----


@dataclass(frozen=True)
class Finding:
    """A fault: an "error" if a run would fail, otherwise a "warning". `units` are the affected components."""

    severity: str
    text: str
    file: str | None = None
    line: int | None = None
    units: tuple[str, ...] = ()

    @property
    def unit(self) -> str | None:
        """The first affected component, or None (the system, or a single FMU)."""
        return self.units[0] if self.units else None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        return f"{self.severity}: {place}{self.text}"


class Findings(list[Finding]):
    """All findings; may be empty."""

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self if finding.severity == "warning"]

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "nothing is wrong"


_RUN, _STRICT = 1, 2  # TUTTI_CHECK_RUN, TUTTI_CHECK_STRICT


def check(what: Told, run: bool, strict: bool) -> Findings:
    found = json.loads(what(c.lib.tutti_tell_check, (_RUN if run else 0) | (_STRICT if strict else 0)))
    return Findings(Finding(one["severity"], one["text"], one["file"], one["line"], tuple(one["units"]))
                    for one in found["findings"])


# ---- graph ----


class Graph:
    """Components, connections, dependencies and algebraic loops of a system: `dot` is a text for Graphviz, `json` a dict, `svg` a picture
    by Graphviz, which notebooks display."""

    def __init__(self, what: Told, phase: str) -> None:
        if not isinstance(phase, str):
            raise TypeError(f"a phase is a text, not a {type(phase).__name__}")
        self._what, self._phase = what, phase.encode()
        self.dot = self._tell("dot")
        self.json: dict[str, Any] = json.loads(self._tell("json"))
        self._svg: str | None = None

    def _tell(self, form: str) -> str:
        return self._what(c.lib.tutti_tell_graph, form.encode(), self._phase)

    @property
    def svg(self) -> str:
        """The picture; UnsupportedError if Graphviz is not installed."""
        if self._svg is None:
            self._svg = self._tell("svg")
        return self._svg

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg
        except UnsupportedError:
            return None  # a notebook shows __repr__ then

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph as .svg, .dot or .json."""
        ending = os.path.splitext(os.fspath(path))[1]
        if ending not in (".svg", ".dot", ".gv", ".json"):
            raise ValueError(f"a graph is saved as .svg, .dot or .json, not as {os.fspath(path)!r}")
        text = self.svg if ending == ".svg" else json.dumps(self.json, indent=2) + "\n" if ending == ".json" else self.dot
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    @property
    def loops(self) -> list[list[str]]:
        """The variables of each algebraic loop."""
        nodes = self.json["nodes"]
        return [[f"{nodes[i]['unit']}.{nodes[i]['variable']}" for i in loop] for loop in self.json["loops"]]

    def __repr__(self) -> str:
        counts = (_count(len(self.json[what]), what[:-1]) for what in ("units", "connections"))
        return f"<tutti.Graph: {', '.join(counts)}, {_count(len(self.json['loops']), 'algebraic loop')}>"


# ---- analysis ----


class Analysis(dict[str, Any]):
    """The analysis before a run: a dict with the keys of `tutti analyze --json`; printing shows the most important ones."""

    @property
    def choices(self) -> dict[str, str]:
        """The choices of `auto`, by name; {} if the system cannot be run."""
        return {name: choice["value"] for name, choice in (self["choices"] or {}).items() if isinstance(choice, Mapping)}

    def _lines(self) -> Iterator[tuple[str, str]]:
        yield "system", f"{self['system']}: {_count(self['units'], 'unit')}, {_count(self['connections'], 'connection')}"
        yield "start", f"{_count(self['evaluations'], 'evaluation')} of units"
        for i, loop in enumerate(self["loops"]):
            rho = "not known" if loop["rho"] is None else f"{loop['rho']:.6g}"
            yield f"loop {i + 1}", f"{', '.join(loop['variables'])}: rho(DL) = {rho}"
        if not self["loops"]:
            yield "loops", "none: every coupling is stable for small steps"
        if self["step"] and self["step"]["exact"] is not None:
            yield from self._step_lines(self["step"])
        for name, choice in (self["choices"] or {}).items():
            if isinstance(choice, Mapping):
                yield name, f"{choice['value']}: {choice['reason'] or 'as asked for'}"
        if self["failure"]:
            yield "refused" if self["initialised"] else "cannot start", self["failure"]

    @staticmethod
    def _step_lines(step: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        orders = ("constant", "linear", "quadratic")
        for name, cells in step.items():
            if isinstance(cells, list):
                yield name, f"with steps of {step['h']:g}: " + ", ".join(
                    f"{order + ' ' if len(cells) > 1 else ''}{'stable' if cell['stable'] else 'unstable'} ({_number(cell['radius']) or 'not finite'})"
                    for order, cell in zip(orders, cells) if cell)

    def __repr__(self) -> str:
        return "\n".join(f"{name:14} {value}" for name, value in self._lines())

    def _repr_html_(self) -> str:
        return "<table>" + "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
                                   for name, value in self._lines()) + "</table>"


def analyze(what: Told, ranks: int) -> Analysis:
    return Analysis(json.loads(what(c.lib.tutti_tell_analysis, max(-1, min(index(ranks), 2 ** 31 - 1)))))


# ---- results ----


def tell_options(given: Mapping[str, Any]) -> tuple[Any, int]:
    """An array of struct tutti_tell_option; lists are repeated options."""
    pairs = [(name.replace("_", "-"), spell(item)) for name, value in given.items() if value is not None
             for item in (value if isinstance(value, (list, tuple)) else [value])]
    if any("\0" in text for pair in pairs for text in pair):
        raise ValueError("an option with a zero character")
    return (c.TellOption * len(pairs))(*(c.TellOption(name.encode(), text.encode()) for name, text in pairs)), len(pairs)


def file_of(source: Source, folder: str, name: str) -> bytes:
    """The file of a result; rows of a run are written to `folder`."""
    if not isinstance(source, Result):
        return path_of(source, "a result")
    if source.path is not None:
        return os.fsencode(source.path)
    path = os.path.join(folder, f"{name}.csv")
    source.save(path)
    return os.fsencode(path)


@dataclass(frozen=True)
class Compared:
    """A variable of both results, where they differ most: by `error` at `time`, with the tolerance `allowed`."""

    name: str
    unit: str | None
    agrees: bool
    held: bool
    error: float | None
    allowed: float | None
    share: float | None
    time: float | None
    result: float | str | None
    reference: float | str | None


class Comparison(Mapping[str, Compared]):
    """Whether a result agrees with a reference, as a mapping from names to the largest difference of each variable, the worst first. `data` has
    the keys of `tutti compare --json`."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._variables = {one["name"]: Compared(**one) for one in data["variables"]}

    @property
    def equal(self) -> bool:
        """Whether they agree within the tolerances, at all times of the reference."""
        return bool(self.data["agree"])

    @property
    def worst(self) -> Compared:
        return next(iter(self._variables.values()))

    @property
    def only_in_result(self) -> list[str]:
        return list(self.data["only_in_result"])

    @property
    def only_in_reference(self) -> list[str]:
        return list(self.data["only_in_reference"])

    def __getitem__(self, name: str) -> Compared:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __bool__(self) -> bool:
        return self.equal

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    _MOST = 10
    _TITLES = ("variable", "error", "of allowed", "at time", "result", "reference", "")

    def _rows(self) -> list[tuple[str, ...]]:
        return [(one.name, _number(one.error), _share(one.share), _number(one.time), _number(one.result), _number(one.reference),
                 "agrees" if one.agrees else "differs") for one in list(self._variables.values())[:self._MOST]]

    def _verdict(self) -> str:
        wrong, count = self.data["disagreements"], self.data["compared"]
        if self.equal:
            return f"agree: {count} of {count} variables"
        if wrong:
            return f"disagree: {wrong} of {count} variables"
        return "disagree: " + ("other variables or units" if self.data["covered"] else "the result does not have all times of the reference")

    def __repr__(self) -> str:
        rows = [self._TITLES, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self._TITLES))]
        lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip()
                 for row in rows]
        return "\n".join([*lines, self._verdict()])

    def _repr_html_(self) -> str:
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        head = "".join(f"<th>{title}</th>" for title in self._TITLES)
        return f"<table><tr>{head}</tr>{cells}</table><p>{html.escape(self._verdict())}</p>"


def _number(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.6g}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.3g}%"


def compare(result: Source, reference: Source, *, rtol: float | None = None, atol: float | None = None, ttol: float | None = None,
            start: float | None = None, stop: float | None = None, variables: str | Iterable[str] | None = None,
            strict: bool = False) -> Comparison:
    """Compares a result with a reference: results of runs, or files of any tool; their times may differ.

    `rtol` and `atol` are tolerances of values, `ttol` of the times of events; `variables` are names or patterns (*, ?). With
    `strict`, variables of only one result, and different units, are disagreements.
    """
    patterns = [variables] if isinstance(variables, str) else None if variables is None else list(variables)
    options, count = tell_options({"rtol": rtol, "atol": atol, "ttol": ttol, "start": start, "stop": stop, "variable": patterns,
                                   "strict": strict})
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        files = file_of(result, folder, "result"), file_of(reference, folder, "reference")
        log = log_of()
        return Comparison(json.loads(told(c.lib.tutti_tell_comparison, *files, options, count, ctypes.byref(log))))
