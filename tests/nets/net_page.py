#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the page draws is what is in the file. Results of all kinds are laid into a folder as runs; a browser opens them, zooms, pans, points; each column of
pixels, each tick and each number of the legend is compared with all rows of the file.

A case has four results and one browser. Skips where Chromium or the page's modules are missing, unless CI is set."""
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np

import net

HERE = pathlib.Path(__file__).resolve().parent
CHROMIUM = os.environ.get("TUTTI_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DIGITS = 7
PER_CASE = 4


# ---- results

def burst(rng):
    t = np.concatenate([np.linspace(0, 10, 1001), 8.35 + np.linspace(0, 0.01, 30000)])
    t.sort()
    return t, np.sin(t) + np.where(abs(t - 8.355) < 0.005, 0.3 * np.sin(4e3 * t), 0)


def gaps(rng):
    t = np.linspace(0, 100, 20001)
    v = np.sin(t) * t
    v[3000:5000] = np.nan
    v[9000:9300] = np.nan
    v[9100] = 30
    v[12345] = np.nan
    return t, v


def steps(rng):
    t = np.sort(rng.uniform(0, 50, 40))
    t[0] = 0
    return t, np.floor(rng.uniform(0, 4, 40)), "Int32"


def constant(rng):
    return np.linspace(0, 5, 500), np.full(500, rng.choice([0, 101325, -1e-9, 0.1]))


def tiny(rng):
    t = np.linspace(0, 1, 3000)
    return t, 1e-300 * np.sin(20 * t)


def large(rng):
    t = np.linspace(0, 1, 3000)
    return t, 1e300 * np.sin(20 * t)


def offset(rng):
    t = np.linspace(0, 60, 6001)
    return t, 101325 + 50 * np.sin(t)


def small_offset(rng):
    t = np.linspace(0, 60, 6001)
    return t, -1e9 + 1e-2 * np.sin(t)


def year(rng):
    t = np.arange(0, 365 * 86400, 600.0)
    return t, 283 + 10 * np.sin(2 * np.pi * t / 365 / 86400) + 5 * np.sin(2 * np.pi * t / 86400)


def late(rng):
    t = 1.7e7 + np.linspace(0, 10, 5000)
    return t, np.cos(3 * t)


def spikes(rng):
    t = np.linspace(0, 20, 200001)
    v = 0.1 * np.sin(t)
    v[rng.integers(0, len(t), 12)] = rng.uniform(-3, 3, 12)
    return t, v


def jumps(rng):
    t, v = np.linspace(0, 10, 2001), np.zeros(2001)
    v = np.sin(t)
    at = np.sort(rng.choice(np.arange(100, 1900), 15, replace=False))
    for row in at:
        v[row:] += rng.uniform(-1, 1)
    before = np.sin(t[at]) + (v[at - 1] - np.sin(t[at - 1]))
    return np.insert(t, at, t[at]), np.insert(v, at, before)


def walk(rng):
    t = np.cumsum(rng.exponential(1, 50000) ** 3)
    t[20000:] += 0.5 * t[-1]
    return t, np.cumsum(rng.normal(0, 1, 50000))


def few(rng):
    return np.array([0.0, 1.0, 5.0]), np.array([2.5, -1.25, 0.5])


def toggles(rng):
    t = np.linspace(0, 1, 100001)
    return t, (np.sin(2 * np.pi * 50 * t) > np.cos(2 * np.pi * t)).astype(float), "Boolean"


def many(rng):
    t = np.linspace(0, 1000, 10 ** 7)
    v = np.sin(t) + 0.01 * np.sin(1e4 * t)
    v[1234567] = 4
    return t, v


KINDS = [burst, gaps, steps, offset, constant, year, jumps, toggles, tiny, late, spikes, walk, few, large, small_offset]
LONG_ONLY = [many]


class Result:
    def __init__(self, times, values, kind="Float64"):
        self.t, self.v = np.asarray(times, float), np.asarray(values, float)
        self.kind = kind
        finite = self.v[np.isfinite(self.v)]
        rests = np.any((self.v[1:] == self.v[:-1]) & (self.t[1:] > self.t[:-1]))
        self.held = kind != "Float64" or bool(len(finite) == len(self.v) and np.all(finite == np.trunc(finite)) and rests)

    def write(self, folder, run, system):
        """As the page finds a run that is over."""
        place = folder / ".tutti" / "runs" / run
        place.mkdir(parents=True)
        texts = h5py.string_dtype("utf-8")
        with h5py.File(place / "result.h5", "w") as file:
            file["time"] = self.t
            file["time"].attrs["unit"] = "s"
            file["values"] = self.v.reshape(-1, 1)
            for name, text in (("names", "a.y"), ("units", "Pa"), ("descriptions", ""), ("types", self.kind)):
                file["values"].attrs.create(name, [text], dtype=texts)
        (place / "run.json").write_text(json.dumps({"file": system, "options": {}, "command": "tutti run", "begun": 0, "pid": 0, "birth": ""}))
        (place / "stats.json").write_text(json.dumps({"status": "completed", "start": self.t[0], "stop": self.t[-1], "end": self.t[-1]}))

    def at(self, time):
        row = int(np.searchsorted(self.t, time, "right")) - 1
        if row < 0 or time > self.t[-1]:
            return math.nan
        if self.held or self.t[row] == time:
            return self.v[row]
        part = (time - self.t[row]) / (self.t[row + 1] - self.t[row])
        return self.v[row] + (self.v[row + 1] - self.v[row]) * part

    def corners(self):
        """The curve as points of a polyline."""
        if not self.held:
            return self.t, self.v
        return np.repeat(self.t, 2)[1:], np.repeat(self.v, 2)[:-1]

    def minus(self, other):
        """The difference at the times of both."""
        times = np.unique(np.concatenate([self.t, other.t]))
        times = times[(times >= max(self.t[0], other.t[0])) & (times <= min(self.t[-1], other.t[-1]))]
        return Result(times, [self.at(time) - other.at(time) for time in times], self.kind if self.held and other.held else "Float64")

    def extents(self, low, high, width):
        """Of each column of pixels the least and the greatest value of the curve, NaN where there is none."""
        x, y = self.corners()
        begin, end = max(0, np.searchsorted(x, low, "left") - 1), min(len(x), np.searchsorted(x, high, "right") + 1)
        x, y = x[begin:end], y[begin:end]
        edges = low + (high - low) * np.arange(width + 1) / width
        least, greatest = np.full(width, np.inf), np.full(width, -np.inf)

        def see(columns, values):
            fits = (columns >= 0) & (columns < width) & np.isfinite(values)
            np.minimum.at(least, columns[fits], values[fits])
            np.maximum.at(greatest, columns[fits], values[fits])

        column = np.floor((x - low) / (high - low) * width).astype(np.int64)
        column[x == high] = width - 1
        see(column, y)
        row = np.searchsorted(x, edges, "right") - 1
        inside = (row >= 0) & (row + 1 < len(x))
        row = np.clip(row, 0, max(0, len(x) - 2))
        after = np.minimum(row + 1, len(x) - 1)
        span = x[after] - x[row]
        between = y[row] + (y[after] - y[row]) * np.where(span > 0, (edges - x[row]) / np.where(span > 0, span, 1), 0)
        between[~inside] = np.nan
        see(np.arange(width), between[:-1])
        see(np.arange(width), between[1:])
        return np.where(np.isfinite(least), least, np.nan), np.where(np.isfinite(greatest), greatest, np.nan)


# ---- what is wrong with a view

def near(number, wanted, digits=DIGITS):
    return number == wanted or abs(number - wanted) <= 0.6 * 10.0 ** (math.floor(math.log10(max(abs(wanted), 1e-307))) - digits + 2)


def wrong_axis(axis, low, high):
    ticks, labels = axis["values"], axis["labels"]
    if len(ticks) < 2:
        yield f"{len(ticks)} ticks from {low} to {high}"
    if len(set(labels)) != len(labels):
        yield f"ticks with the same label: {labels}"
    for tick, label in zip(ticks, labels):
        if abs(axis["offset"] + float(label) * 10.0 ** axis["power"] - tick) > 1e-6 * (high - low) + 1e-15 * abs(tick):
            yield f"the tick at {tick} is called {label} ({axis['offset']}, power {axis['power']})"
    if axis["power"] and "10" not in axis["title"] or axis["offset"] and not re.search(r"[−+] \S", axis["title"]):
        yield f"'{axis['title']}' does not say what is taken off"


def wrong_columns(view, result):
    """Pixels against all rows. The curve is 1.6 pixels wide and smooth; a column of its neighbours may show through."""
    (low, high), (bottom, top) = view["axes"]["x"]["span"], view["axes"]["y"]["span"]
    height, width = view["axes"]["box"][3], len(view["columns"])
    least, greatest = result.extents(low, high, width)
    lower = height * (1 - (least - bottom) / (top - bottom))
    upper = height * (1 - (greatest - bottom) / (top - bottom))
    seen = np.array(view["columns"], float)
    first, last = np.where(seen[:, 0] < 0, np.nan, seen[:, 0]), np.where(seen[:, 0] < 0, np.nan, seen[:, 1])

    def around(values, function, reach=2):
        with np.errstate(all="ignore"):
            shifted = [np.concatenate([np.full(max(0, k), np.nan), values[max(0, -k):len(values) - max(0, k)], np.full(max(0, -k), np.nan)]) for k in range(-reach, reach + 1)]
            return function.reduce(shifted, axis=0)

    slack = 3
    with np.errstate(all="ignore"):
        bad = {"a curve where there is none": ~np.isnan(first) & np.isnan(around(upper, np.fmin)),
               "no curve where there is one": np.isnan(around(first, np.fmin)) & ~np.isnan(upper),
               "above the rows": first < around(upper, np.fmin) - slack, "below the rows": last > around(lower, np.fmax) + slack,
               "a peak is missing": around(first, np.fmin) > upper + slack, "a dip is missing": around(last, np.fmax) < lower - slack}
    shown = np.ones(width, bool)
    shown[:2] = shown[-2:] = False
    if view["act"][0] == "click":  # the cursor and its letter
        cursor = round(view["pointer"] - view["over"][0])
        shown[max(0, cursor - 6):cursor + 20] = False
    for what, where in bad.items():
        where = where & shown
        if np.any(where):
            column = int(np.flatnonzero(where)[0])
            yield (f"{what}: {int(np.sum(where))} columns of {width}, the first at t = {low + (high - low) * column / width:.9g}: drawn {view['columns'][column]}, "
                   f"rows {upper[column]:.1f} to {lower[column]:.1f}")


def number_of(text):
    return math.nan if text == "–" else float(text)


def possible(result, time, width):
    """The values of the curve that a finger's breadth at this time may have."""
    x, y = result.corners()
    rows = y[(x >= time - width) & (x <= time + width)]
    ends = [result.at(time - width), result.at(time), result.at(time + width)]
    values = [value for value in [*rows, *ends] if math.isfinite(value)]
    return (min(values), max(values)) if values else None


def wrong_value(text, result, time, width, what):
    shown, wanted = number_of(text), possible(result, time, width)
    if wanted is None:
        if not math.isnan(shown):
            yield f"{what} at {time!r} is {text}, there is no value"
    elif math.isnan(shown) and not math.isnan(result.at(time)):
        yield f"{what} at {time!r} is not shown, it is {result.at(time)!r}"
    elif not math.isnan(shown) and not (wanted[0] <= shown <= wanted[1] or near(shown, wanted[0]) or near(shown, wanted[1])):
        yield f"{what} at {time!r} is {text}, not {result.at(time)!r}"


def wrong_legend(view, result):
    (low, high) = view["axes"]["x"]["span"]
    left, width = view["over"]
    name = view["act"][0]
    finger = 1e-3 * (high - low) / width

    time = low + (high - low) * (view["pointer"] - left) / width
    if name == "hover":
        yield from wrong_value(view["value"], result, time, finger, "the value under the pointer")
    elif name in ("look", "all", "theme", "difference") and not near(number_of(view["value"]), result.v[-1]):
        yield f"the legend says {view['value']}, the last row {result.v[-1]!r}"
    if name == "click":
        if not view["cursor"].startswith("A "):
            yield "there is no value at the cursor"
        else:
            yield from wrong_value(view["cursor"][2:], result, time, finger, "the value at the cursor")


def wrong_span(view, before, result):
    """Zooms and pans lead where the pointer says."""
    name, act = view["act"][0], view["act"]
    low, high = view["axes"]["x"]["span"]
    old = before["axes"]["x"]["span"] if before else None
    wanted = None
    if name in ("look", "all"):
        wanted = [result.t[0], result.t[-1]] if result.t[-1] > result.t[0] else None
    elif name == "zoom":
        wanted = [old[0] + part * (old[1] - old[0]) for part in act[1:3]]
    elif name == "pan":
        shift = (act[1] - act[2]) * (old[1] - old[0])
        wanted = [old[0] + shift, old[1] + shift]
    elif name in ("click", "hover", "theme"):
        wanted = old
    if wanted and max(abs(low - wanted[0]), abs(high - wanted[1])) > 2 * max(high - low, (old or [0, 0])[1] - (old or [0, 0])[0]) / len(view["columns"]):
        yield f"shows {low!r} to {high!r}, not {wanted[0]!r} to {wanted[1]!r}"


def wrong_view(view, before, result):
    yield from wrong_span(view, before, result)
    for name in "xy":
        axis = view["axes"][name]
        yield from (f"{name} axis: {fault}" for fault in wrong_axis(axis, *axis["span"]))
    if not view["axes"]["x"]["title"].startswith("time") or "s]" not in view["axes"]["x"]["title"]:
        yield f"the time axis is called '{view['axes']['x']['title']}'"
    least, greatest = result.extents(*view["axes"]["x"]["span"], len(view["columns"]))
    bottom, top = view["axes"]["y"]["span"]
    if np.any(least < bottom) or np.any(greatest > top):
        yield f"the y axis goes from {bottom} to {top}, values from {np.nanmin(least)} to {np.nanmax(greatest)}"
    yield from wrong_columns(view, result)
    yield from wrong_legend(view, result)


# ---- cases

def plan_of(rng, pick):
    part = pick.uniform(0.1, 0.6)
    acts = [["look"], ["hover", pick.uniform(0.1, 0.9)], ["zoom", part, part + pick.uniform(0.05, 0.3)], ["click", pick.uniform(0.1, 0.9)], ["pan", 0.6, pick.uniform(0.2, 0.9)],
            ["hover", pick.uniform(0.1, 0.9)], ["wheel", pick.uniform(0.2, 0.8), pick.choice([-300, 250])], ["hover", pick.uniform(0.1, 0.9)], ["all"]]
    return acts + ([["theme"]] if pick.random() < 0.3 else [])


def results_of(seed):
    """The kinds in turn, so that a few cases have all of them."""
    rng = np.random.default_rng(seed)
    kinds = KINDS + (LONG_ONLY if seed > 0 else [])
    for index in range(PER_CASE):
        kind = kinds[(PER_CASE * seed + index) % len(kinds)]
        yield kind.__name__, Result(*kind(rng))


LIVE = [("VanDerPol_fmi2.fmu", "x0"), ("BouncingBall_fmi3.fmu", "h"), ("Heater_fmi3.fmu", "T")]


def live_of(seed, folder):
    """A run that is watched while it grows."""
    file, column = LIVE[seed % len(LIVE)]
    shutil.copy(net.FMUS / file, folder)
    return {"file": file, "column": column, "options": {"stop": "1000", "realtime": "10", "output-step": "0.01"}, "until": 4}


def recorded(folder, run, column):
    with h5py.File(folder / ".tutti" / "runs" / run / "result.h5") as file:
        values = file["values"]
        which = list(values.attrs["names"]).index(column)
        return Result(file["time"][:], values[:, which], values.attrs["types"][which])


def drive(plan):
    script = subprocess.run(["node", str(HERE / "page_driver.mjs")], input=json.dumps(plan), capture_output=True, text=True, check=False)
    if script.returncode != 0:
        raise RuntimeError(script.stdout[-2000:] + script.stderr[-4000:])
    return json.loads(script.stdout.splitlines()[-1])


def run(seed, folder):
    pick, rng = random.Random(seed), np.random.default_rng(seed + 1000)
    results, views = {}, []
    for index, (name, result) in enumerate(results_of(seed)):
        key = f"{name.replace('_', '-')}-{index}"
        result.write(folder, key, f"{key}.ssp")
        results[key] = (result, None)
        views.append({"run": key, "acts": plan_of(rng, pick)})
    first = next(iter(results))
    base = results[first][0]
    keep = np.sort(rng.choice(len(base.t), max(2, len(base.t) // 3), replace=False))
    other = Result(base.t[keep], base.v[keep] * (1 + 1e-4), base.kind)
    other.write(folder, "other", f"{first}.ssp")
    views.append({"run": first, "acts": [["difference", "other"], ["hover", 0.4], ["zoom", 0.3, 0.5], ["click", 0.6]]})
    shots = os.environ.get("TUTTI_SCREENSHOTS")
    live = live_of(seed, folder) if seed > 0 else None  # a run in real time is for the long form
    told = drive({"folder": str(folder), "dark": seed % 2 == 1, "views": views, "shots": shots, "live": live})
    whole = recorded(folder, told["live"], live["column"]) if live else None
    findings = [f"the page failed: {fault}" for fault in told["faults"]]
    before, shown = None, None
    for view in told["seen"]:
        if view["act"][0] == "difference":
            shown = base.minus(other)
        if whole and view["run"] == told["live"]:
            if view["act"][0] == "look":  # as far as it had come
                rows = int(np.searchsorted(whole.t, view["axes"]["x"]["span"][1], "right"))
                shown = Result(whole.t[:rows], whole.v[:rows], whole.kind)
        result = shown or results[view["run"]][0]
        before = before if before and before["run"] == view["run"] else None
        findings += [f"{view['run']} {view['act']}: {fault}" for fault in wrong_view(view, before, result)]
        before = view
    return findings


def main():
    modules = HERE.parents[1] / "web" / "node_modules"
    missing = [what for what, there in (("Chromium", CHROMIUM), ("Node.js", shutil.which("node")), ("web/node_modules", modules.is_dir())) if not there]
    if missing:
        print(f"{'error' if os.environ.get('CI') else 'skipped'}: {', '.join(missing)}: not found")
        sys.exit(1 if os.environ.get("CI") else net.SKIPPED)
    os.environ.update(TUTTI=net.TUTTI, TUTTI_CHROMIUM=CHROMIUM)
    net.main(run, 1, 10)


if __name__ == "__main__":
    main()
