// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import test from "node:test";
import { arrange } from "../src/layout/layered";
import { adopt } from "../src/model/document";
import { scaleOf, sceneOf } from "../src/model/geometry";
import { endsOf, extentOf, NO_LINE, spliced, stairs, Tail, valueAt, withTail } from "../src/plot/data";
import { at, padded, place, Span } from "../src/plot/span";
import { logTicksOf, ticksOf, titleOf } from "../src/plot/ticks";
import { EventParser } from "../src/server/parser";

test("events come in pieces", () => {
    const parser = new EventParser();
    assert.deepEqual(parser.push("event: rows\ndata: {\"a\""), []);
    assert.deepEqual(parser.push(": 1}\n\nevent: end\ndata: {}\n\n: comment\n\n"), [{ name: "rows", data: { a: 1 } }, { name: "end", data: {} }]);
    assert.deepEqual(parser.push("data: no json\n\n"), []);
});

test("rows that came since are put behind the past, each once", () => {
    const tail = new Tail();
    for (const time of [0.5, 1, 2, 2])
        tail.push(time, ["x"], () => time);
    const all = withTail({ x: [0, 1], y: [0, 1] }, 1, tail, "x", false);
    assert.deepEqual([all.x, all.y], [[0, 1, 2, 2], [0, 1, 2, 2]]);
    const held = withTail({ x: [0, 1], y: [0, 1] }, 1, tail, "x", true);
    assert.deepEqual([held.x, held.y], [[0, 1, 2, 2, 2], [0, 1, 1, 2, 2]], "a held value moves at the next row");
    assert.equal(withTail(NO_LINE, 2, tail, "x", false), NO_LINE);
    tail.dropUntil(1);
    assert.equal(tail.length, 2);
});

test("held values are stairs, gaps are gaps", () => {
    assert.deepEqual(stairs([0, 1, 2, 3], [5, 6, null, 7]), { x: [0, 1, 1, null, 3], y: [5, 5, 6, null, 7] });
});

test("what is known of a part lies within what is known of the whole", () => {
    const line = spliced({ x: [0, 1, 2, 3, 4], y: [0, 1, 2, 3, 4] }, { x: [1.5, 2, 2.5], y: [8, 9, 8] }, 1.5, 2.5);
    assert.deepEqual(line.x.filter((time) => time !== null), [0, 1, 1.5, 2, 2.5, 3, 4]);
    assert.deepEqual(extentOf([line], 1.5, 2.5), [8, 9]);
    assert.deepEqual(endsOf([line]), [0, 4]);
});

test("an extent is that of the strokes, not of the points", () => {
    assert.deepEqual(extentOf([{ x: [0, 10], y: [0, 10] }], 4, 5), [4, 5]);
    assert.deepEqual(extentOf([{ x: [0, null, 10], y: [0, null, 10] }], 4, 5), null);
});

test("a past that nobody else keeps is thinned evenly, and keeps its peaks", () => {
    const tail = new Tail();
    for (let time = 0; time < 4000; time++) {
        tail.push(time, ["x", "y"], (column) => (column === 1 ? null : time === 5 ? 9000 : time === 3006 ? -9000 : time));
        if (tail.length > 100)
            tail.thin();
    }
    assert.ok(tail.length >= 50 && tail.length <= 101, `${tail.length}`);
    const values = tail.list("x") as number[];
    assert.deepEqual([Math.max(...values), Math.min(...values), tail.list("y").length], [9000, -9000, tail.length]);
    const gaps = tail.times.slice(2).map((time, index) => time - (tail.times[index] as number));
    assert.ok(Math.max(...gaps) <= 4 * (4000 / 50) && tail.times.every((time, index) => index === 0 || time >= (tail.times[index - 1] as number)), gaps.join(" "));
});

test("values between rows", () => {
    assert.equal(valueAt([0, 1, 2], [0, 10, 20], 1.5, false), 15);
    assert.equal(valueAt([0, 1, 2], [0, 10, 20], 1.5, true), 10);
    assert.equal(valueAt([0, 1, 1, 2], [0, 10, 30, 20], 1, false), 30);
    assert.equal(valueAt([0, 1], [0, 10], 5, false), null);
    assert.equal(valueAt([0, 1], [0, 10], -1, true), null);
});

test("no two ticks have the same label, whatever the axis; labels and title together are the values", () => {
    const spans: [number, number][] = [[0, 10], [101275, 101375], [0, 3.15e7], [1.7e7, 1.7e7 + 10], [1e-300, 3e-300], [-1e300, 1e300], [-0.3, 0.7], [1e9, 1e9 + 1e-3],
        [-101375, -101275], [0.1, 0.1 + 1e-9], [1e17, 3e17], [-1e-7, 1e-7], [12345.678, 12345.679], [99999, 100001]];
    for (const [low, high] of spans)
        for (const most of [2, 5, 11]) {
            const { values, labels, offset, power } = ticksOf(low, high, most);
            const told = `${low} ${high} ${most}: ${labels.join(" ")} offset ${offset} power ${power}`;
            assert.ok(values.length >= (most > 2 ? 2 : 1) && values.length <= 2 * most + 1, told);
            assert.equal(new Set(labels).size, labels.length, told);
            for (const [index, value] of values.entries()) {
                assert.ok(value >= low - 1e-9 * (high - low) && value <= high + 1e-9 * (high - low), told);
                const shown = offset + Number(`${labels[index]}e${power}`);
                assert.ok(Math.abs(shown - value) <= 1e-12 * Math.max(Math.abs(low), Math.abs(high)) || Math.abs(shown - value) < 0.01 * (high - low) / most, `${told}: ${shown} for ${value}`);
                assert.ok((labels[index] as string).replace("-", "").length <= 7, told);
            }
        }
    assert.deepEqual(ticksOf(0, 1, 5).labels, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert.deepEqual(logTicksOf(1e-3, 10, 8).labels, ["0.001", "0.01", "0.1", "1", "10"]);
    assert.equal(titleOf("time", "s", { offset: 1.7e7, power: 0 }), "time − 17000000 [s]");
    assert.equal(titleOf("", "Pa", { offset: 0, power: 3 }), "[10³ Pa]");
});

test("the layout leads from left to right, without overlaps, also with loops", () => {
    const nodes = ["a", "b", "c", "d"].map((id) => ({ id, width: 100, height: 60 }));
    const places = new Map(arrange({ nodes, edges: [{ from: "a", to: "b" }, { from: "b", to: "c" }, { from: "c", to: "a" }, { from: "d", to: "d" }] }).map((corner) => [corner.id, corner]));
    assert.ok(places.get("a")!.x < places.get("b")!.x && places.get("b")!.x < places.get("c")!.x);
    const all = [...places.values()];
    for (const p of all)
        for (const q of all)
            assert.ok(p === q || Math.abs(p.x - q.x) >= 100 || Math.abs(p.y - q.y) >= 60, `${p.id} ${q.id}`);
});

test("a file with small units is drawn larger, by a power of two", () => {
    const connectors = [{ name: "u", kind: "input", type: "Real" }];
    const small = adopt({ name: "s", elements: [{ name: "a", kind: "fmu", parameters: {}, connectors, x1: 10, y1: 10, x2: 30, y2: 20 }] });
    const scale = scaleOf(small);
    assert.equal(Math.log2(scale) % 1, 0);
    assert.ok(scale >= 8);
    const box = sceneOf(small, scale, new Set()).boxes.get("a");
    assert.deepEqual([box?.x, box?.y], [10 * scale, -20 * scale]);
});

test("axes have ends, places and ticks for numbers of any size", () => {
    const spans: Span[] = [[-1e-300, 1e-300], [0, 1e-320], [0, 1e-323], [-1.7e308, 1.7e308], [1e15 - 1, 1e15 + 1], [1e300, 1.000000001e300], [-1.7e308, -1.6e308]];
    for (const span of spans) {
        const ends = padded(span);
        assert.ok(Number.isFinite(ends[0]) && Number.isFinite(ends[1]) && ends[0] <= span[0] && span[1] <= ends[1], `${span} becomes ${ends}`);
        const [low, high] = span.map((value) => place(value, ends, false)) as [number, number];
        assert.ok(low >= 0 && high <= 1 && high - low > 0.8, `${span} is drawn from ${low} to ${high} of ${ends}`);
        const middle = place(at(0.5, ends), ends, false);
        assert.ok(Math.abs(middle - 0.5) < 0.3, `the middle of ${ends} is at ${middle}`);
        const { values, labels } = ticksOf(ends[0], ends[1], 5);
        assert.ok(values.length >= 2 && new Set(labels).size === labels.length, `${ends} has ticks ${labels}`);
        values.forEach((value, index) => assert.ok(value >= ends[0] && value <= ends[1] && (index === 0 || value > (values[index - 1] as number)), `${ends} has ticks at ${values}`));
    }
    assert.deepEqual(padded([5e-324, 5e-324]), [0, 1e-323]);
    assert.deepEqual(padded([293.15, 293.15 + 1e-13]), [293.15 - 29.315000000000012, 293.15 + 1e-13 + 29.315000000000012], "noise is flat");
});
