// SPDX-License-Identifier: MIT
// The layered layout: sources at the left, sinks at the right, as few crossings as can be.
import { Graph as DagreGraph, layout } from "@dagrejs/dagre";

export interface Graph {
    readonly nodes: readonly { readonly id: string; readonly width: number; readonly height: number }[];
    readonly edges: readonly { readonly from: string; readonly to: string }[];
}

export interface Corner {
    readonly id: string;
    readonly x: number;
    readonly y: number;
}

const LARGE = 250;

/** The upper left corner of each node, in pixels. */
export function arrange(graph: Graph): Corner[] {
    const weights = new Map<string, { from: string; to: string; weight: number }>();
    for (const { from, to } of graph.edges) {
        if (from === to)
            continue;
        const key = JSON.stringify([from, to]);
        const known = weights.get(key);
        weights.set(key, { from, to, weight: (known?.weight ?? 0) + 1 });
    }
    const dagre = new DagreGraph();
    const large = graph.nodes.length > LARGE;
    dagre.setGraph({ rankdir: "LR", ranksep: 110, nodesep: 40, edgesep: 12, ranker: large ? "longest-path" : "network-simplex", acyclicer: "greedy" });
    for (const { id, width, height } of graph.nodes)
        dagre.setNode(id, { width, height });
    for (const { from, to, weight } of weights.values())
        dagre.setEdge(from, to, { weight, minlen: 1 });
    layout(dagre);
    return graph.nodes.map(({ id, width, height }) => {
        const node = dagre.node(id) as { x: number; y: number };
        return { id, x: Math.round((node.x - width / 2) / 10) * 10, y: Math.round((node.y - height / 2) / 10) * 10 };
    });
}
