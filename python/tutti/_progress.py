# SPDX-License-Identifier: MIT
"""The progress of a run, in a terminal or a notebook."""
from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_of(wanted: bool | Callable[[float], None]) -> Iterator[Callable[[float], None] | None]:
    """A function of the completed fraction, or None."""
    if callable(wanted):
        yield wanted
    elif not wanted:
        yield None
    else:
        handle = _notebook()
        try:
            yield handle or _terminal
        finally:
            if not handle:
                print(file=sys.stderr)


def _terminal(part: float) -> None:
    width = 40
    done = round(width * part)
    print(f"\r[{'#' * done}{'.' * (width - done)}] {part:4.0%}", end="", file=sys.stderr, flush=True)


def _notebook() -> Callable[[float], None] | None:
    try:
        from IPython import get_ipython  # pylint: disable=import-outside-toplevel
        from IPython.display import ProgressBar  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    bar = ProgressBar(1000)
    bar.display()

    def show(part: float) -> None:
        bar.progress = round(1000 * part)

    return show
