// SPDX-License-Identifier: MIT
// A run as the page sees it.
import { asked } from "./surroundings";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../src/server/types";

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

test("rows of a stream that broke do not join up with those of the next one", async () => {
    const { LiveRun } = await import("../src/state/run");
    const run = new LiveRun({ id: "run", state: "running" } as Run);
    let told = (): void => {};
    const stop = run.grown.subscribe(() => told());
    const hear = async (times: number[]): Promise<void> => {
        const text = event("run", { columns: [{ name: "x" }] }) + event("rows", { first: 0, time: times, values: [times] });
        const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });
        const grown = new Promise<void>((done) => (told = done));
        asked.filter(({ address }) => address.includes("/events")).slice(-1)[0]?.answer({ ok: true, status: 200, body });
        await grown;
    };
    await hear([1, 2]);
    run.watch();
    await hear([7, 8]);
    assert.deepEqual(run.tail.times, [7, 8]);
    stop();
    run.close();
});
