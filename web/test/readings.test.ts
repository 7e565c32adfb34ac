// SPDX-License-Identifier: MIT
// Values at times that are pointed at.
import { asked, json } from "./surroundings";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Tail } from "../src/plot/data";
import type { Feed } from "../src/plot/feed";

const answer = (value: number): unknown => json({ columns: [{ name: "x" }], values: [[value]] });

test("an answer from before the past was read again is not shown", async () => {
    const { Readings } = await import("../src/plot/readings");
    let changed = (): void => {};
    const next = () => new Promise<void>((done) => (changed = done));
    const feed = { run: { id: "run", tail: new Tail(), isAttached: false }, way: { minus: null }, columns: ["x"], isHeld: () => false } as unknown as Feed;
    const readings = new Readings(feed, () => changed());
    readings.want([1]);
    readings.clear();
    const first = next();
    asked[0]?.answer(answer(5));
    await first;
    assert.equal(readings.at("x", 1), undefined, "it is of what was read before");
    assert.equal(asked.length, 2, "it is asked for again");
    const second = next();
    asked[1]?.answer(answer(7));
    await second;
    assert.equal(readings.at("x", 1), 7);
    readings.close();
});
