// SPDX-License-Identifier: MIT
// Sends requests to the layout worker, which is loaded on first use.
import { during } from "../state/busy";
import type { Corner, Graph } from "./layered";

let worker: Worker | null = null;
let count = 0;
const waiting = new Map<number, { done: (places: Corner[]) => void; failed: (error: Error) => void }>();

function ready(): Worker {
    if (worker)
        return worker;
    worker = new Worker("layout-worker.js");
    worker.onmessage = (event: MessageEvent<{ id: number; places?: Corner[]; error?: string }>) => {
        const { id, places, error } = event.data;
        const asked = waiting.get(id);
        waiting.delete(id);
        if (places)
            asked?.done(places);
        else
            asked?.failed(new Error(error));
    };
    worker.onerror = () => {
        for (const asked of waiting.values())
            asked.failed(new Error("The layout could not be loaded."));
        waiting.clear();
        worker = null;
    };
    return worker;
}

export function askLayout(graph: Graph): Promise<Corner[]> {
    return during(new Promise((done, failed) => {
        const id = ++count;
        waiting.set(id, { done, failed });
        ready().postMessage({ id, graph });
    }));
}
