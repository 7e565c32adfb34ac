# SPDX-License-Identifier: MIT
"""Functions of time as tables: rows dense enough for linear interpolation, and two rows of equal time at jumps."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Rows = list[tuple[float, Any]]
Point = tuple[float, tuple[float, ...], Any]  # time, numbers, the value as it was given

_LEAST = 500  # intervals in which a function is looked at, also if it is a straight line
_MOST = 1_000_000  # calls of it, after which it is given up
_PART = 0.46  # of an interval, where it is looked at: not the middle, so that a period does not hide
_PARTS = (_PART, 0.21, 0.77)  # of an interval, where a line has to be near before it is taken for the function
_THINNED = 0.8  # of the tolerance, for leaving out points; what points leave out between each other is less than the rest
_JUMP = 1e-10  # of the run's time: within less than this, a change is a jump


class _Function:
    """A function with a limited number of evaluations."""

    def __init__(self, name: str, function: Callable[[float], Any], span: float) -> None:
        self.name, self.function, self.span = name, function, span
        self.calls = 0

    def __call__(self, t: float) -> Any:
        self.calls += 1
        if self.calls > _MOST:
            raise ValueError(f"input: {self.name!r} changes so much that {_MOST:,} points do not follow it to the tolerance; give a larger rtol, "
                             "a table, or interpolate=\"hold\", with which its value is held from step to step")
        value = self.function(t)
        if hasattr(value, "tolist"):  # NumPy's
            value = value.tolist()
        if not isinstance(value, (bool, int, float, str, list, tuple)):
            raise TypeError(f"input: {self.name!r} at t = {t:g} gives a {type(value).__name__}, not a number")
        return value

    def point(self, t: float) -> Point:
        value = self(t)
        numbers = value if isinstance(value, (list, tuple)) else (value,)
        return t, tuple(float(number) for number in numbers), value


def _is_near(a: Point, b: Point, c: Point, allowed: float) -> bool:
    """Whether b lies on the line from a to c; NaN on both sides matches NaN in between."""
    way = (b[0] - a[0]) / (c[0] - a[0])
    for x, y, z in zip(a[1], b[1], c[1]):
        line = x + way * (z - x)
        if not abs(y - line) <= allowed and not (y == line or (math.isnan(y) and math.isnan(line))):
            return False
    return True


def _follow(ask: _Function, points: list[Point], allowed: float) -> list[list[Point]]:
    """Adds points until linear interpolation is accurate enough; returns the stretches between jumps."""
    stretches = [[points[0]]]
    for first, last in zip(points, points[1:]):
        pieces = [(first, last)]
        while pieces:
            a, c = pieces.pop()
            inner: list[Point] = []
            for part in _PARTS:
                inner.append(ask.point(a[0] + part * (c[0] - a[0])))
                if not a[0] < inner[-1][0] < c[0] or not _is_near(a, inner[-1], c, allowed):
                    break
            else:
                stretches[-1] += [inner[1], inner[0], inner[2], c]
                continue
            b = inner[0]
            if not a[0] < b[0] < c[0] or c[0] - a[0] <= _JUMP * ask.span:
                stretches[-1].append((c[0], a[1], a[2]))
                stretches.append([c])
            else:
                pieces += [(b, c), (a, b)]
    return stretches


def _thin(points: list[Point], allowed: float) -> list[Point]:
    """Removes points on a line between others: from the last kept point, slopes that are close to all later ones."""
    kept = [points[0]]
    bounds = [(-math.inf, math.inf)] * len(points[0][1])
    for b, c in zip(points[1:], points[2:]):
        bounds = [_narrow(bound, kept[-1][0], x, b[0], y, allowed) for bound, x, y in zip(bounds, kept[-1][1], b[1])]
        if not all(_is_within(bound, kept[-1][0], x, c[0], z) for bound, x, z in zip(bounds, kept[-1][1], c[1])):
            kept.append(b)
            bounds = [(-math.inf, math.inf)] * len(bounds)
    return [*kept, points[-1]]


def _narrow(bound: tuple[float, float], t0: float, x: float, t1: float, y: float, allowed: float) -> tuple[float, float]:
    if x == y or (math.isnan(x) and math.isnan(y)):
        return max(bound[0], -allowed / (t1 - t0)), min(bound[1], allowed / (t1 - t0))
    return max(bound[0], (y - allowed - x) / (t1 - t0)), min(bound[1], (y + allowed - x) / (t1 - t0))


def _is_within(bound: tuple[float, float], t0: float, x: float, t1: float, y: float) -> bool:
    slope = 0.0 if x == y or (math.isnan(x) and math.isnan(y)) else (y - x) / (t1 - t0)
    return bound[0] <= slope <= bound[1]


def _lines(ask: _Function, times: list[float], tolerance: float) -> Rows:
    points = [ask.point(t) for t in times]
    between = [ask.point(a + _PART * (b - a)) for a, b in zip(times, times[1:])]
    points = sorted(points + between, key=lambda point: point[0])
    if len({len(point[1]) for point in points}) != 1:
        raise ValueError(f"input: {ask.name!r} does not always give the same number of values")
    finite = [number for point in points for number in point[1] if math.isfinite(number)]
    allowed = tolerance * (max(finite) - min(finite) if finite else 0.0)
    found = (_thin(stretch, _THINNED * allowed) if len(stretch) > 1 else stretch for stretch in _follow(ask, points, allowed))
    return [(t, value) for stretch in found for t, _, value in stretch]


def _steps(ask: _Function, times: list[float], exact: bool) -> Rows:
    """Held values: a row for each change; with `exact` the time of a change is located."""
    rows = [(times[0], ask(times[0]))]
    for before, t in zip(times, times[1:]):
        value = ask(t)
        if value != rows[-1][1]:
            rows.append((_change(ask, before, t) if exact else t, value))
    return rows


def _change(ask: _Function, t0: float, t1: float) -> float:
    value = ask(t0)
    while t1 - t0 > _JUMP * ask.span:
        middle = t0 + (t1 - t0) / 2
        t0, t1 = (middle, t1) if ask(middle) == value else (t0, middle)
    return t1


def _points(start: float, stop: float, step: float | None, least: int) -> list[float]:
    """The first sample points: ends of steps of the run, and points in between if these are fewer than `least`."""
    if not step or not 0 < step < stop - start or (stop - start) / step > _MOST / 4:
        step = (stop - start) / _LEAST
    parts = max(1, math.ceil(least / ((stop - start) / step)))
    times = start + np.arange(math.ceil((stop - start) / step * parts)) * (step / parts)
    return [*times[times < stop].tolist(), float(stop)]


def rows_of(name: str, function: Callable[[float], Any], start: float, stop: float, step: float | None, tolerance: float,
            hold: bool) -> Rows:
    """Times and values. With `hold`: at every step; otherwise so that linear interpolation is within the tolerance, relative to the function's range."""
    ask = _Function(name, function, stop - start)
    first = ask(start)
    if not stop > start:
        return [(start, first)]
    times = _points(start, stop, step, 1 if hold else _LEAST)
    return _steps(ask, times, not hold) if hold or isinstance(first, str) else _lines(ask, times, tolerance)
