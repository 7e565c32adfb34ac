// SPDX-License-Identifier: MIT
// The layered layout: sources at the left, sinks at the right, as few crossings as possible.
import { Graph as DagreGraph, layout } from "@dagrejs/dagre";

export interface Graph {
    readonly nodes: readonly { readonly id: string; readonly width: number; readonly height: number }[];
    /** With the heights of both ports in their nodes, if known. */
    readonly edges: readonly { readonly from: string; readonly to: string; readonly fromY?: number; readonly toY?: number }[];
}

export interface Corner {
    readonly id: string;
    readonly x: number;
    readonly y: number;
}

const LARGE = 250;
const SMALL = 120;

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
    const corners = graph.nodes.map(({ id, width, height }) => {
        const node = dagre.node(id) as { x: number; y: number };
        return { id, x: Math.round((node.x - width / 2) / 10) * 10, y: Math.round((node.y - height / 2) / 10) * 10 };
    });
    return graph.nodes.length <= SMALL ? uncross(graph, corners) : corners;
}

/** dagre does not support ports: nodes above each other change places if that reduces crossings. */
function uncross(graph: Graph, corners: readonly Corner[]): Corner[] {
    const at = new Map(corners.map((corner) => [corner.id, { ...corner }]));
    const height = new Map(graph.nodes.map((node) => [node.id, node.height]));
    const width = new Map(graph.nodes.map((node) => [node.id, node.width]));
    const middle = (id: string) => (at.get(id)?.x ?? 0) + (width.get(id) ?? 0) / 2;
    const columns = new Map<number, string[]>();
    for (const { id } of graph.nodes)
        columns.set(Math.round(middle(id) / 20), [...(columns.get(Math.round(middle(id) / 20)) ?? []), id]);
    for (let round = 0, changed = true; round < 6 && changed; round++) {
        changed = false;
        for (const column of columns.values()) {
            column.sort((a, b) => (at.get(a)?.y ?? 0) - (at.get(b)?.y ?? 0));
            for (let index = 0; index + 1 < column.length; index++)
                changed = swapIfBetter(graph, at, height, column[index] as string, column[index + 1] as string) || changed;
        }
    }
    return [...at.values()];
}

type Places = Map<string, { id: string; x: number; y: number }>;

function swapIfBetter(graph: Graph, at: Places, height: ReadonlyMap<string, number>, upper: string, lower: string): boolean {
    const [a, b] = [at.get(upper), at.get(lower)];
    if (!a || !b)
        return false;
    const before = crossings(graph, at, upper, lower);
    const [top, gap] = [a.y, b.y - a.y - (height.get(upper) ?? 0)];
    const old = [a.y, b.y] as const;
    b.y = top;
    a.y = top + (height.get(lower) ?? 0) + gap;
    if (crossings(graph, at, upper, lower) < before)
        return true;
    [a.y, b.y] = old;
    return false;
}

/** The number of crossings between forward wires of the two nodes. */
function crossings(graph: Graph, at: Places, first: string, second: string): number {
    const lines = graph.edges.filter((edge) => [edge.from, edge.to].some((id) => id === first || id === second)).map((edge) => {
        const [from, to] = [at.get(edge.from), at.get(edge.to)];
        return { x0: from?.x ?? 0, x1: to?.x ?? 0, y0: (from?.y ?? 0) + (edge.fromY ?? 0), y1: (to?.y ?? 0) + (edge.toY ?? 0) };
    }).filter((line) => line.x1 > line.x0);
    let count = 0;
    for (let i = 0; i < lines.length; i++)
        for (let j = 0; j < i; j++) {
            const [p, q] = [lines[i], lines[j]] as [typeof lines[0], typeof lines[0]];
            if (p.x0 < q.x1 && q.x0 < p.x1 && (p.y0 - q.y0) * (p.y1 - q.y1) < 0)
                count++;
        }
    return count;
}
