// SPDX-License-Identifier: MIT
// Groups units into a nested system, and ungroups them. Their connections go through connectors of the nested system,
// and results do not change: such a connector has the type and unit of its source, and the scaling of a connection
// stays at its destination.
import { asSystem, Connection, Connector, Document, editSystem, Element, findConnector, findElement, freeAmong, freeName, hierarchical, joinEnd, Level, otherUnits, splitEnd, System } from "./document";
import { Moves, moveSettings } from "./names";

export interface Grouped {
    readonly document: Document;
    readonly name: string;
    readonly moves: Moves;
}

/** The connector at an end, also for an array element ("y[2]"). */
function connectorAt(system: System, end: string): Connector | undefined {
    const { element, connector } = splitEnd(system, end);
    return findConnector(system, { element, connector }) ?? findConnector(system, { element, connector: connector.replace(/\[[\d,]*\]$/, "") });
}

/** The kind of the nested system's connector for a connection that crosses its boundary. */
function kindOf(system: System, connection: Connection, goesOut: boolean): string {
    const parameter = (end: string) => /arameter$/.test(connectorAt(system, end)?.kind ?? "") && !end.startsWith(".");
    return goesOut ? (parameter(connection.from) ? "calculatedParameter" : "output") : parameter(connection.to) ? "parameter" : "input";
}

class Group {
    readonly connectors: Connector[] = [];
    readonly inner: Connection[] = [];
    readonly outer: Connection[] = [];
    private readonly bySource = new Map<string, string>();

    constructor(private readonly system: System, private readonly name: string, private readonly members: ReadonlySet<string>) {}

    add(connection: Connection): void {
        const inside = (end: string) => this.members.has(splitEnd(this.system, end).element);
        const [from, to] = [inside(connection.from), inside(connection.to)];
        if (from === to) {
            (from ? this.inner : this.outer).push(connection);
            return;
        }
        const { points: _bends, ...plain } = connection;
        const connector = this.connectorFor(connection, from);
        const source = { from: connection.from, to: from ? `.${connector.name}` : joinEnd(this.name, connector.name) };
        const sink = { ...plain, from: from ? joinEnd(this.name, connector.name) : `.${connector.name}` };
        const [sources, sinks] = from ? [this.inner, this.outer] : [this.outer, this.inner];
        if (connector.fresh)
            sources.push(source);
        sinks.push(sink);
    }

    /** One connector for all destinations of a source. */
    private connectorFor(connection: Connection, goesOut: boolean): { name: string; fresh: boolean } {
        const kind = kindOf(this.system, connection, goesOut);
        const key = `${kind} ${connection.from}`;
        const known = this.bySource.get(key);
        if (known !== undefined)
            return { name: known, fresh: false };
        const taken = new Set(this.connectors.map((connector) => connector.name));
        const own = splitEnd(this.system, goesOut ? connection.from : connection.to);
        const name = freeAmong(taken, taken.has(own.connector) ? `${own.element}_${own.connector}` : own.connector);
        const source = connectorAt(this.system, connection.from);
        const whole = source && findConnector(this.system, splitEnd(this.system, connection.from)) === source;
        this.connectors.push({ name, kind, type: source?.type ?? "", ...(source?.unit ? { unit: source.unit } : {}), ...(whole && source.dimensions ? { dimensions: source.dimensions } : {}) });
        this.bySource.set(key, name);
        return { name, fresh: true };
    }
}

/** Groups these units into a nested system, at the position of the first. */
export function group(document: Document, level: Level, names: ReadonlySet<string>): Grouped {
    let name = "";
    const next = editSystem(document, level, (system) => {
        name = freeName(system, "group");
        const members = system.elements.filter((element) => names.has(element.name));
        const parts = new Group(system, name, names);
        for (const connection of system.connections)
            parts.add(connection);
        const middle = (a: "x1" | "y1", b: "x2" | "y2") => members.reduce((sum, element) => sum + ((element[a] ?? 0) + (element[b] ?? 0)) / 2, 0) / members.length;
        const [x, y] = [middle("x1", "x2"), middle("y1", "y2")];
        const [width, height] = [Math.abs((members[0]?.x2 ?? 0) - (members[0]?.x1 ?? 0)) || 10, Math.abs((members[0]?.y2 ?? 0) - (members[0]?.y1 ?? 0)) || 10];
        const nested: Element = {
            name, kind: "system", connectors: parts.connectors, parameters: {}, elements: members, connections: parts.inner,
            x1: x - width / 2, x2: x + width / 2, y1: y - height / 2, y2: y + height / 2,
        };
        const [first] = members;
        return { ...system, connections: parts.outer, elements: system.elements.flatMap((element) => (element === first ? [nested] : names.has(element.name) ? [] : [element])) };
    });
    const moves = new Map([...names].map((each) => [hierarchical(level, each), hierarchical([...level, name], each)]));
    return { document: follow(document, next, moves), name, moves };
}

/** Adjusts settings to the units' new names. */
const follow = (before: Document, after: Document, moves: Moves): Document => ({ ...after, settings: moveSettings(after.settings, moves, otherUnits(before, moves)) });

const isPlain = (connection: Connection): boolean =>
    (connection.factor ?? 1) === 1 && (connection.offset ?? 0) === 0 && !connection.suppressUnitConversion && !connection.mapped;

/** Combines two consecutive connections; a text is the reason why that is impossible. */
function joined(first: Connection, second: Connection, source: Connector | undefined, between: Connector, sink: Connector | undefined): Connection | string {
    const ends = { from: first.from, to: second.to };
    const same = (a: string | null | undefined, b: string | null | undefined) => (a ?? "") === (b ?? "");
    const keepsType = !between.type || same(between.type, source?.type) || same(between.type, sink?.type);
    const { points: _a, ...one } = first;
    const { points: _b, ...two } = second;
    if (keepsType && isPlain(first) && !(second.suppressUnitConversion && between.unit && !same(between.unit, source?.unit)))
        return { ...two, ...ends };
    if (keepsType && isPlain(second) && same(between.unit, sink?.unit))
        return { ...one, ...ends };
    return `The connections ${first.from} → ${first.to} and ${second.from} → ${second.to} cannot become one: each of them scales or converts.`;
}

interface Dissolving {
    readonly outer: System;
    readonly inner: System;
    readonly name: string;
}

/** The connections of both systems as connections of the outer one. */
function merge({ outer, inner, name }: Dissolving, called: ReadonlyMap<string, string>): readonly Connection[] | string {
    const outwards = (end: string) => {
        const { element, connector } = splitEnd(inner, end);
        return joinEnd(called.get(element) ?? element, connector);
    };
    const own = inner.connections.map((connection) => ({ ...connection, from: connection.from.startsWith(".") ? connection.from : outwards(connection.from), to: connection.to.startsWith(".") ? connection.to : outwards(connection.to) }));
    const merged: Connection[] = [];
    for (const [index, connection] of own.entries()) {
        if (!connection.from.startsWith(".") && !connection.to.startsWith("."))
            merged.push(connection);
        if (!connection.from.startsWith("."))
            continue;
        const between = inner.connectors.find((connector) => connector.name === connection.from.slice(1));
        for (const before of outer.connections.filter(({ to }) => to === joinEnd(name, connection.from.slice(1)))) {
            const one = between && joined(before, connection, connectorAt(outer, before.from), between, connectorAt(inner, inner.connections[index]?.to ?? ""));
            if (typeof one === "string")
                return one;
            if (one)
                merged.push(one);
        }
    }
    for (const connection of outer.connections) {
        const { element, connector } = splitEnd(outer, connection.from);
        if (element !== name) {
            if (splitEnd(outer, connection.to).element !== name)
                merged.push(connection);
            continue;
        }
        const between = inner.connectors.find((candidate) => candidate.name === connector);
        const index = own.findIndex(({ to }) => to === `.${connector}`);
        const before = own[index];
        if (!before || !between || before.from.startsWith("."))
            continue;
        const one = joined(before, connection, connectorAt(inner, inner.connections[index]?.from ?? ""), between, connectorAt(outer, connection.to));
        if (typeof one === "string")
            return one;
        merged.push(one);
    }
    return merged;
}

/** Replaces a nested system by its units; a text is the reason why that is impossible. */
export function ungroup(document: Document, level: Level, name: string): { document: Document; names: readonly string[]; moves: Moves } | string {
    let refusal = "";
    const names: string[] = [];
    const moves = new Map<string, string>();
    const next = editSystem(document, level, (outer) => {
        const element = findElement(outer, name);
        if (element?.kind !== "system") {
            refusal = `${name} is no nested system.`;
            return outer;
        }
        const inner = asSystem(element);
        const taken = new Set(outer.elements.map((each) => each.name).filter((each) => each !== name));
        const called = new Map<string, string>();
        for (const each of inner.elements) {
            const free = taken.has(each.name) ? freeAmong(taken, each.name) : each.name;
            taken.add(free);
            called.set(each.name, free);
            names.push(free);
            moves.set(hierarchical([...level, name], each.name), hierarchical(level, free));
        }
        const connections = merge({ outer, inner, name }, called);
        if (typeof connections === "string") {
            refusal = connections;
            return outer;
        }
        const elements = outer.elements.flatMap((each) => (each === element ? inner.elements.map((one) => ({ ...one, name: called.get(one.name) ?? one.name })) : [each]));
        return { ...outer, elements, connections };
    });
    return refusal || { document: follow(document, next, moves), names, moves };
}
