# SPDX-License-Identifier: MIT
"""Pictures of results by gnuplot, as the command draws them."""
from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from . import _library as c
from ._errors import UnsupportedError
from ._options import log_of
from ._tell import Source, file_of, path_of, tell_options

Names = Union[str, Sequence[str]]


class Plot:
    """A picture of results, which notebooks display: `svg` is a text, `png` and `pdf` are bytes."""

    def __init__(self, results: Mapping[str, Source], options: Mapping[str, Any]) -> None:
        self._results, self._options = dict(results), dict(options)
        self._drawn: dict[str, bytes] = {}

    def _draw(self, form: str) -> bytes:
        if form not in self._drawn:
            with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
                files = [_place(source, folder, name) for name, source in self._results.items()]
                self._drawn[form] = _call(form, files, self._options)
        return self._drawn[form]

    @property
    def svg(self) -> str:
        return self._draw("svg").decode()

    @property
    def png(self) -> bytes:
        return self._draw("png")

    @property
    def pdf(self) -> bytes:
        return self._draw("pdf")

    def save(self, path: str | os.PathLike[str]) -> Plot:
        """Writes the picture: .svg, .png or .pdf."""
        picture = self._draw(form_of(path))
        with open(path, "wb") as file:
            file.write(picture)
        return self

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg
        except UnsupportedError:
            return None

    def __repr__(self) -> str:
        return f"<tutti.Plot: {', '.join(self._results) or 'a step log'}>"


def form_of(path: Any) -> str:
    """The format of a picture, from its extension."""
    ending = os.fsdecode(os.path.splitext(path_of(path, "where a picture goes"))[1])
    if ending not in (".svg", ".png", ".pdf"):
        raise ValueError(f"a picture is saved as .svg, .png or .pdf, not as {os.fspath(path)!r}")
    return ending[1:]


def _place(source: Source, folder: str, name: str) -> bytes:
    """The path of a result, under a file name that appears in the legend."""
    path = os.path.abspath(os.fsdecode(file_of(source, folder, name)))
    stem, ending = os.path.splitext(os.path.basename(path))
    if stem == name:
        return os.fsencode(path)
    link = os.path.join(folder, name + ending)
    os.symlink(path, link)
    return os.fsencode(link)


def _call(form: str, files: Sequence[bytes], given: Mapping[str, Any]) -> bytes:
    options, count = tell_options(given)
    log, size = log_of(), ctypes.c_size_t()
    paths = (ctypes.c_char_p * len(files))(*files)
    picture = c.handle(c.lib.tutti_tell_plot, ctypes.byref(size), form.encode(), paths, len(files), options, count, ctypes.byref(log))
    try:
        return ctypes.string_at(picture, size.value)
    finally:
        c.lib.tutti_tell_free(picture)


def _name(source: Any, number: int) -> str:
    path = source if isinstance(source, (str, os.PathLike)) else getattr(source, "path", None)
    if path is not None:
        return os.path.splitext(os.path.basename(os.fspath(path)))[0]
    return "result" if number == 0 else f"result {number + 1}"


def _named(results: Sequence[Any]) -> dict[str, Source]:
    """Names of results: from the dict, otherwise from their files."""
    found: dict[str, Source] = {}
    for item in results:
        for name, source in item.items() if type(item) is dict else [(_name(item, len(found)), item)]:  # pylint: disable=unidiomatic-typecheck
            if not isinstance(name, str) or not name or "/" in name or "\0" in name:
                raise ValueError(f"a result cannot be called {name!r}")
            while name in found:
                name += "'"
            found[name] = source
    return found


def _panels(variables: Any) -> list[str] | None:
    """Each is a panel: "h", or ["a.x", "b.x"]."""
    if variables is None:
        return None
    return [item if isinstance(item, str) else ",".join(item) for item in ([variables] if isinstance(variables, str) else variables)]


def _pairs(pairs: Any) -> list[str] | None:
    """("x", "y"), "x,y", or a list of these."""
    if pairs is None:
        return None
    if isinstance(pairs, str) or (isinstance(pairs, tuple) and all(isinstance(item, str) and "," not in item for item in pairs)):
        pairs = [pairs]
    return [item if isinstance(item, str) else ",".join(item) for item in pairs]


def plot(*results: Any, variables: str | Iterable[Names] | None = None, xy: Any = None, steps: str | os.PathLike[str] | None = None,
         difference: bool = False, start: float | None = None, stop: float | None = None, y_log: bool = False, title: str | None = None,
         size: tuple[int, int] | None = None, save: str | os.PathLike[str] | None = None) -> Plot:
    """Draws one or two results: results of runs, files of any tool, or a dict of them with names for the legend.

    `variables` are names or patterns (*, ?), each a panel; a nested list is one panel with several; `xy` is a pair ("x", "y") or a list
    of pairs: y over x. `steps` is a step log (`step_log` of a run), `difference` adds panels with the first minus the second. `save` writes the
    picture to a file: .svg, .png or .pdf.
    """
    shape = None if size is None else "x".join(str(int(number)) for number in size)
    picture = Plot(_named(results), {"variable": _panels(variables), "xy": _pairs(xy), "steps": steps, "difference": difference,
                                     "start": start, "stop": stop, "y_log": y_log, "title": title, "size": shape})
    if save is not None:
        return picture.save(save)
    picture.svg  # pylint: disable=pointless-statement  # what is wrong is said here, and not in a notebook's display
    return picture
