// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import test from "node:test";
import { arrange } from "../src/layout/layered";
import { adopt } from "../src/model/document";
import { scaleOf, sceneOf } from "../src/model/geometry";
import { difference, extended, tableOf, Tail, valueAt } from "../src/plot/data";
import { EventParser } from "../src/server/parser";

test("events come in pieces", () => {
    const parser = new EventParser();
    assert.deepEqual(parser.push("event: rows\ndata: {\"a\""), []);
    assert.deepEqual(parser.push(": 1}\n\nevent: end\ndata: {}\n\n: comment\n\n"), [{ name: "rows", data: { a: 1 } }, { name: "end", data: {} }]);
    assert.deepEqual(parser.push("data: no json\n\n"), []);
});

test("pieces of several rows keep their peaks; times increase", () => {
    const table = tableOf({ columns: [{ name: "x" }], rows: 5, times: [0, 1, 1], least: [[0, -5, 2]], greatest: [[0, 5, 2]], values: [[0, 1, 2]] });
    assert.deepEqual(table.values.get("x"), [0, -5, 5, 2]);
    for (let index = 1; index < table.times.length; index++)
        assert.ok((table.times[index] as number) > (table.times[index - 1] as number));
});

test("rows that came since are put behind the past, each once", () => {
    const past = tableOf({ columns: [{ name: "x" }], rows: 2, times: [0, 1], least: [[0, 1]], greatest: [[0, 1]], values: [[0, 1]] });
    const tail = new Tail();
    for (const time of [0.5, 1, 2, 2])
        tail.push(time, ["x"], () => time);
    const all = extended(past, tail, ["x"]);
    assert.deepEqual(all.values.get("x"), [0, 1, 2, 2]);
    tail.dropUntil(1);
    assert.equal(tail.length, 2);
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
    assert.ok(Math.max(...gaps) <= 4 * (4000 / 50) && tail.times.every((time, index) => index === 0 || time > (tail.times[index - 1] as number)), gaps.join(" "));
});

test("values between points, differences of two runs", () => {
    assert.equal(valueAt([0, 1, 2], [0, 10, 20], 1.5), 15);
    assert.equal(valueAt([0, 1], [0, 10], 5), null);
    assert.deepEqual(difference([0, 1], [1, 2], [0, 2], [0, 4]), [1, 0]);
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
