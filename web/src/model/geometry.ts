// SPDX-License-Identifier: MIT
// Positions in the drawing. Document coordinates are those of the SSP (y upwards, unit of the file); scene coordinates
// are pixels (y downwards). The scale between them is a power of two, so that unmoved parts keep their exact numbers.
import { Connector, Element, joinEnd, Level, splitEnd, System } from "./document";

export const HEADER = 30;
export const ROW = 22;
const CHARACTER = 6.5;
const FEW_PORTS = 16;

export interface Port {
    readonly id: string;
    readonly connector: Connector;
    readonly side: "left" | "right";
    readonly x: number;
    readonly y: number;
}

export interface Box {
    readonly element: Element;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
    readonly ports: readonly Port[];
    readonly hidden: number;
}

export const isPort = (connector: Connector): boolean =>
    connector.kind === "input" || connector.kind === "output" || connector.kind === "inout" || connector.kind === "calculatedParameter";

const onLeft = (connector: Connector): boolean => connector.kind === "input" || connector.kind === "inout";

/** Terminals that are joined as a whole, as separate ports. */
function terminalPorts(element: Element): readonly Connector[] {
    return (element.terminals ?? []).filter(({ name }) => !name.includes(".") && !element.connectors.some((connector) => connector.name === name))
        .map((terminal) => ({ name: terminal.name, kind: "terminal", type: terminal.matchingRule, description: [terminal.description, membersOf(element, terminal.name).join(", ")].filter(Boolean).join("\n") }));
}

/** Variables of a terminal and of nested terminals. */
const membersOf = (element: Element, terminal: string): readonly string[] =>
    (element.terminals ?? []).filter(({ name }) => name === terminal || name.startsWith(`${terminal}.`)).flatMap(({ members }) => members.map(({ variable }) => variable));

/** Variables of a terminal are grouped below it. */
function byTerminal(element: Element, ports: readonly Connector[]): readonly Connector[] {
    const terminals = terminalPorts(element);
    if (terminals.length === 0)
        return ports;
    const left = new Set(ports);
    const grouped = terminals.flatMap((terminal) => {
        const names = new Set(membersOf(element, terminal.name));
        const own = [...left].filter((connector) => names.has(connector.name));
        own.forEach((connector) => left.delete(connector));
        return [terminal, ...own];
    });
    return [...grouped, ...left];
}

export function shownPorts(element: Element, connected: ReadonlySet<string>, expanded: boolean): { ports: readonly Connector[]; hidden: number } {
    const all = element.connectors.filter((connector) => isPort(connector) || connected.has(joinEnd(element.name, connector.name)));
    if (expanded || all.length <= FEW_PORTS)
        return { ports: byTerminal(element, all), hidden: 0 };
    const joined = all.filter((connector) => connected.has(joinEnd(element.name, connector.name)));
    const others = all.filter((connector) => !joined.includes(connector)).slice(0, Math.max(0, FEW_PORTS - joined.length));
    const ports = all.filter((connector) => joined.includes(connector) || others.includes(connector));
    return { ports: byTerminal(element, ports), hidden: all.length - ports.length };
}

const labelWidth = (connector: Connector): number => (Math.min(connector.name.length, 28) + (connector.unit ? connector.unit.length + 1 : 0)) * CHARACTER;

/** The size that name and ports need. */
export function neededSize(element: Element, ports: readonly Connector[]): { width: number; height: number } {
    const left = ports.filter(onLeft);
    const right = ports.filter((connector) => !onLeft(connector));
    const widest = (list: readonly Connector[]) => Math.max(0, ...list.map(labelWidth));
    const width = Math.max(148, 44 + widest(left) + widest(right), 70 + Math.min(element.name.length, 32) * 7.6);
    return { width: Math.ceil(width / 10) * 10, height: HEADER + 8 + ROW * Math.max(1, left.length, right.length) };
}

export function hasGeometry(element: Element): boolean {
    return [element.x1, element.y1, element.x2, element.y2].some((value) => typeof value === "number" && value !== 0);
}

/** For a system from a file: pixels per unit of the file, such that most units are as large as their ports need. */
export function scaleOf(system: System): number {
    const connected = connectedPorts(system);
    const ratios = system.elements.filter(hasGeometry).map((element) => {
        const { ports } = shownPorts(element, connected, false);
        const need = neededSize(element, ports);
        const height = Math.abs((element.y2 ?? 0) - (element.y1 ?? 0));
        const width = Math.abs((element.x2 ?? 0) - (element.x1 ?? 0));
        return Math.max(need.width / Math.max(width, 1e-9), need.height / Math.max(height, 1e-9));
    }).sort((a, b) => a - b);
    const typical = ratios[Math.floor(ratios.length * 0.8)];
    if (typical === undefined || !(typical > 1.01))
        return 1;
    return 2 ** Math.min(8, Math.ceil(Math.log2(typical)));
}

export function connectedPorts(system: System): Set<string> {
    const ids = new Set<string>();
    for (const connection of system.connections)
        for (const end of [connection.from, connection.to]) {
            const { element, connector } = splitEnd(system, end);
            ids.add(joinEnd(element, connector));
        }
    return ids;
}

export interface Wire {
    readonly from: Port;
    readonly to: Port;
    readonly fromBox: string;
    readonly toBox: string;
    readonly index: number;
    /** Backward wires of a unit are drawn side by side. */
    readonly lane: number;
}

export interface Scene {
    readonly boxes: ReadonlyMap<string, Box>;
    readonly edges: readonly Port[];
    readonly ports: ReadonlyMap<string, Port>;
    readonly wires: readonly Wire[];
    readonly bounds: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
}

/** All drawn parts of a system. */
export function sceneOf(system: System, scale: number, expanded: ReadonlySet<string>): Scene {
    const connected = connectedPorts(system);
    const boxes = new Map<string, Box>();
    const ports = new Map<string, Port>();
    for (const element of system.elements) {
        const box = boxOf(element, scale, connected, expanded.has(element.name));
        boxes.set(element.name, box);
        for (const port of box.ports)
            ports.set(port.id, port);
    }
    const inner = boundsOf([...boxes.values()]);
    const edges = edgePorts(system, inner);
    for (const port of edges)
        ports.set(port.id, port);
    const wires: Wire[] = [];
    const lanes = new Map<string, number>();
    system.connections.forEach((connection, index) => {
        const start = splitEnd(system, connection.from);
        const end = splitEnd(system, connection.to);
        const from = ports.get(joinEnd(start.element, start.connector));
        const to = ports.get(joinEnd(end.element, end.connector));
        if (!from || !to)
            return;
        const back = to.x - from.x < 24;
        const lane = back ? lanes.get(start.element) ?? 0 : 0;
        if (back)
            lanes.set(start.element, lane + 1);
        wires.push({ from, to, fromBox: start.element, toBox: end.element, index, lane });
    });
    const margin = edges.length > 0 ? 220 : 0;
    return { boxes, edges, ports, wires, bounds: { x: inner.x - margin, y: inner.y, width: inner.width + 2 * margin, height: inner.height } };
}

export function boxOf(element: Element, scale: number, connected: ReadonlySet<string>, expanded: boolean): Box {
    const { ports: shown, hidden } = shownPorts(element, connected, expanded);
    const need = neededSize(element, shown);
    const x = Math.min(element.x1 ?? 0, element.x2 ?? 0) * scale;
    const y = -Math.max(element.y1 ?? 0, element.y2 ?? 0) * scale;
    const width = Math.max(need.width, Math.abs((element.x2 ?? 0) - (element.x1 ?? 0)) * scale);
    const height = Math.max(need.height, Math.abs((element.y2 ?? 0) - (element.y1 ?? 0)) * scale);
    const rows = { left: 0, right: 0 };
    const ports = shown.map((connector): Port => {
        const side = onLeft(connector) || connector.kind === "parameter" ? "left" : "right";
        const row = rows[side]++;
        return { id: joinEnd(element.name, connector.name), connector, side, x: side === "left" ? x : x + width, y: y + HEADER + 4 + ROW * (row + 0.5) };
    });
    return { element, x, y, width, height, ports, hidden };
}

/** Connectors of the system itself: sources at the left of all units, sinks at the right. */
function edgePorts(system: System, bounds: { x: number; y: number; width: number; height: number }): Port[] {
    const rows = { left: 0, right: 0 };
    return system.connectors.map((connector) => {
        const source = connector.kind === "input" || connector.kind === "parameter" || connector.kind === "structuralParameter";
        const side = source ? "right" : "left";
        const row = rows[side]++;
        return { id: joinEnd("", connector.name), connector, side, x: source ? bounds.x - 90 : bounds.x + bounds.width + 90, y: bounds.y + 20 + row * 36 };
    });
}

function boundsOf(boxes: readonly Box[]): { x: number; y: number; width: number; height: number } {
    if (boxes.length === 0)
        return { x: 0, y: 0, width: 600, height: 400 };
    let [x, y, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const box of boxes) {
        x = Math.min(x, box.x);
        y = Math.min(y, box.y);
        right = Math.max(right, box.x + box.width);
        bottom = Math.max(bottom, box.y + box.height);
    }
    return { x, y, width: right - x, height: bottom - y };
}

/** The path of a wire in SVG: a curve that leaves to the right and arrives from the left; a backward one runs below both units. */
export function wirePath(from: { x: number; y: number }, to: { x: number; y: number }, below: number, lane: number): string {
    const dx = to.x - from.x;
    if (dx >= 24) {
        const reach = Math.max(24, dx / 2);
        return `M${from.x} ${from.y}C${from.x + reach} ${from.y} ${to.x - reach} ${to.y} ${to.x} ${to.y}`;
    }
    const r = 8;
    const right = from.x + 18 + lane * 9;
    const left = to.x - 18 - lane * 9;
    const deep = below + 18 + lane * 10;
    return `M${from.x} ${from.y}H${right - r}Q${right} ${from.y} ${right} ${from.y + r}V${deep - r}Q${right} ${deep} ${right - r} ${deep}` +
        `H${left + r}Q${left} ${deep} ${left} ${deep - r}V${to.y + r}Q${left} ${to.y} ${left + r} ${to.y}H${to.x}`;
}

/** A path along bends from the file. */
export function bentPath(from: { x: number; y: number }, bends: readonly (readonly [number, number])[], to: { x: number; y: number }, scale: number): string {
    return `M${from.x} ${from.y}` + bends.map(([x, y]) => `L${x * scale} ${-y * scale}`).join("") + `L${to.x} ${to.y}`;
}

export const levelKey = (level: Level): string => JSON.stringify(level);
