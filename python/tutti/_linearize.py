# SPDX-License-Identifier: MIT
"""An FMU, or a system of FMUs, as a linear system."""
from __future__ import annotations

import ctypes
import tempfile
from typing import Any

from . import _library as c
from ._matrix import dense, sparse_columns, vector
from ._options import Options
from ._result import Floats
from ._simulate import Files
from ._units import Units


class LinearSystem:
    """x' = dx0 + A (x - x0) + B (u - u0), y = y0 + C (x - x0) + D (u - u0)."""

    def __init__(self, found: c.Linearization) -> None:
        self.time = found.time
        self.states, self.inputs, self.outputs = (
            [c.text(names[i]) for i in range(count)]
            for names, count in ((found.state_names, found.state_count), (found.input_names, found.input_count),
                                 (found.output_names, found.output_count)))
        self.x0, self.dx0 = vector(found.states, found.state_count), vector(found.derivatives, found.state_count)
        self.u0, self.y0 = vector(found.inputs, found.input_count), vector(found.outputs, found.output_count)
        self._columns = {name: sparse_columns(getattr(found, name)) for name in "abcd"}
        self.eigenvalues = vector(found.eigenvalues_re, found.eigenvalue_count) + \
            1j * vector(found.eigenvalues_im, found.eigenvalue_count)
        self.stability = c.text(c.lib.tutti_stability_name(found.stability))
        self.exact = bool(found.exact)
        self.hidden = [c.text(found.hidden_names[i]) for i in range(found.hidden_count)]

    @property
    def A(self) -> Floats:  # pylint: disable=invalid-name
        return dense(self._columns["a"])

    @property
    def B(self) -> Floats:  # pylint: disable=invalid-name
        return dense(self._columns["b"])

    @property
    def C(self) -> Floats:  # pylint: disable=invalid-name
        return dense(self._columns["c"])

    @property
    def D(self) -> Floats:  # pylint: disable=invalid-name
        return dense(self._columns["d"])

    def sparse(self, name: str) -> Any:
        """A, B, C or D as a SciPy matrix by columns."""
        from scipy.sparse import csc_matrix  # pylint: disable=import-outside-toplevel

        shape, starts, rows, values = self._columns[name.lower()]
        return csc_matrix((values, rows, starts), shape=shape)

    def __repr__(self) -> str:
        return (f"<tutti.LinearSystem at t = {self.time:g}: {len(self.states)} states, {len(self.inputs)} inputs, "
                f"{len(self.outputs)} outputs, {self.stability}>")


def linearize(files: Files, **options: Any) -> LinearSystem:
    """Linearises an FMU or a system at a point of its run: at=T (default: after the initialisation). Of Co-Simulation components (`hidden`)
    only D is found."""
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        units = Units(files, folder)
        given, found = Options(units.files, options), c.Linearization()
        try:
            c.lib.tutti_linearize(given.handle, None, ctypes.byref(found))
            return LinearSystem(found)
        finally:
            c.lib.tutti_linearization_fini(ctypes.byref(found))
            units.close()
