// SPDX-License-Identifier: MIT
// Layered layout in a worker, so that the page stays responsive.
import { arrange, Graph } from "./layered";

self.onmessage = (event: MessageEvent<{ id: number; graph: Graph }>) => {
    const { id, graph } = event.data;
    try {
        self.postMessage({ id, places: arrange(graph) });
    } catch (error) {
        self.postMessage({ id, error: String(error) });
    }
};
