# SPDX-License-Identifier: MIT
"""Additional differential equations, solved together with those of a Model Exchange FMU."""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _library as c
from ._matrix import dense, sparse_columns
from ._result import Floats

_FAILED = 8  # TUTTI_ERR_FMU


class StateSpace(NamedTuple):
    """x' = A x + B u, y = C x + D u, about a point. None: a matrix that was not requested."""

    A: Floats | None
    B: Floats | None
    C: Floats | None
    D: Floats | None


class Model:
    """The FMU at a point of its solution: `model["x"]` is a variable, `model.states` its states. Valid only while equations are evaluated."""

    def __init__(self) -> None:
        self._address: Any = None

    def _here(self) -> Any:
        if self._address is None:
            raise ValueError("a model can be looked at only while equations are evaluated")
        return self._address

    def __getitem__(self, name: str) -> float:
        value = ctypes.c_double()
        c.lib.tutti_model_get(self._here(), name.encode(), ctypes.byref(value))
        return value.value

    @property
    def states(self) -> Floats:
        count = c.lib.tutti_model_state_count(self._here())
        return np.array(c.lib.tutti_model_states(self._here())[:count], dtype=float)

    def linearize(self, want: str = "ABCD") -> StateSpace:
        """The matrices at this point, by states, inputs and outputs; only the requested ones: "AB"."""
        if not set(want) <= set("ABCD"):
            raise ValueError(f"matrices are A, B, C and D, not {want!r}")
        found = c.StateSpace()
        c.lib.tutti_model_linearize(self._here(), sum(1 << "ABCD".index(name) for name in set(want)), ctypes.byref(found))
        return StateSpace(*(dense(sparse_columns(getattr(found, name.lower()))) if name in want else None for name in "ABCD"))


def _of_functions(given: Mapping[str, Any]) -> tuple[dict[str, float], Callable[..., Any]]:
    """{"q": f} or {"q": (start, f)}: each function returns the derivative of its state."""
    parts = {name: part if isinstance(part, tuple) else (0.0, part) for name, part in given.items()}
    for name, (_, function) in parts.items():
        if not callable(function):
            raise TypeError(f"equations: {name!r} is no function of t, p and the model")

    def derivatives(t: float, p: Floats, model: Model) -> list[float]:
        return [function(t, p, model) for _, function in parts.values()]

    return {name: float(start) for name, (start, _) in parts.items()}, derivatives


class Equations:
    """A struct tutti_extra, made from a dict of functions or an object."""

    def __init__(self, given: Any) -> None:
        self.failure: BaseException | None = None
        self._model = Model()
        self._output: Callable[..., Any] | None = None
        if isinstance(given, Mapping):
            starts, self._derivatives = _of_functions(given)
        elif callable(getattr(given, "derivatives", None)) and hasattr(given, "states"):
            states = given.states
            starts = {name: float(states[name]) if isinstance(states, Mapping) else 0.0 for name in states}
            self._derivatives, self._output = given.derivatives, getattr(given, "output", None)
        else:
            raise TypeError("equations: a dict of functions, or an object with states and derivatives(t, p, model)")
        self._starts = np.array(list(starts.values()), dtype=float)
        names = [str(name) for name in (given.outputs if self._output else starts)]
        self._count = len(names)
        self._names = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
        self._callbacks = (c.EXTRA_START(self._start), c.EXTRA_RHS(self._rhs), c.EXTRA_RHS(self._show))
        self.struct = c.Extra(count=len(starts), context=None, start=self._callbacks[0], rhs=self._callbacks[1],
                              structure=c.EXTRA_STRUCTURE(0), jacobian=c.EXTRA_RHS(0), output_count=len(names),
                              output_names=self._names, output=self._callbacks[2])

    def _guard(self, model: Any, function: Callable[[], None]) -> int:
        """An exception of a function ends the run, and the caller of the run gets it."""
        self._model._address = model  # pylint: disable=protected-access
        try:
            function()
            return 0
        except BaseException as error:  # pylint: disable=broad-except
            self.failure = self.failure or error
            return _FAILED
        finally:
            self._model._address = None  # pylint: disable=protected-access

    def _vector(self, p: Any) -> Floats:
        return np.array(p[:len(self._starts)], dtype=float)

    def _fill(self, out: Any, values: Any, count: int, what: str) -> None:
        found = np.asarray(values, dtype=float).ravel()
        if len(found) != count:
            raise ValueError(f"equations: {count} {what}, not {len(found)}")
        np.ctypeslib.as_array(out, shape=(count,))[:] = found

    def _start(self, _context: Any, model: Any, _t: float, p: Any) -> int:
        return self._guard(model, lambda: self._fill(p, self._starts, len(self._starts), "start values"))

    def _rhs(self, _context: Any, model: Any, t: float, p: Any, dp: Any) -> int:
        return self._guard(model, lambda: self._fill(dp, self._derivatives(t, self._vector(p), self._model), len(self._starts),
                                                     "derivatives"))

    def _show(self, _context: Any, model: Any, t: float, p: Any, values: Any) -> int:
        def call() -> None:
            shown = self._output(t, self._vector(p), self._model) if self._output else self._vector(p)
            self._fill(values, shown, self._count, "outputs")

        return self._guard(model, call)
