# SPDX-License-Identifier: MIT
"""Matrices and vectors of the library as NumPy arrays."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _library as c
from ._result import Floats


def vector(values: Any, count: int) -> Floats:
    return np.array([values[i] for i in range(count)], dtype=float)


def sparse_columns(matrix: c.Matrix) -> tuple[tuple[int, int], Any, Any, Floats]:
    count = matrix.column_count
    starts = np.array([matrix.starts[i] for i in range(count + 1)] if count else [0], dtype=int)
    entries = int(starts[-1])
    rows = np.array([matrix.rows[i] for i in range(entries)], dtype=int)
    return (matrix.row_count, count), starts, rows, vector(matrix.values, entries)


def dense(columns: tuple[tuple[int, int], Any, Any, Floats]) -> Floats:
    shape, starts, rows, values = columns
    full = np.zeros(shape)
    for column in range(shape[1]):
        part = slice(starts[column], starts[column + 1])
        full[rows[part], column] = values[part]
    return full
