// SPDX-License-Identifier: MIT
// The document in the editor: the answer of GET /api/system, never changed in place. A level is the open system: the
// names of the nested systems on the path to it, empty for the root.

export type Value = string | number | boolean | null;

/** The position of a part in the file: the names of the systems around it, then its own name, or the two ends of a connection. */
export type Origin = readonly string[];

export interface Connector {
    readonly name: string;
    readonly origin?: Origin;
    readonly kind: string;
    readonly type: string;
    readonly unit?: string | null;
    readonly description?: string | null;
    readonly variability?: string | null;
    /** The size of each dimension of an array; null: unknown. */
    readonly dimensions?: readonly (number | null)[];
    readonly start?: Value | readonly Value[];
    readonly min?: number | null;
    readonly max?: number | null;
    readonly x?: number | null;
    readonly y?: number | null;
}

export interface Connection {
    readonly from: string;
    readonly to: string;
    readonly origin?: Origin;
    readonly mapped?: boolean;
    readonly factor?: number | null;
    readonly offset?: number | null;
    readonly suppressUnitConversion?: boolean;
    readonly points?: readonly (readonly [number, number])[];
}

export interface System {
    readonly elements: readonly Element[];
    readonly connections: readonly Connection[];
    readonly connectors: readonly Connector[];
}

/** A group of variables with a rule that matches them to those of a second group; "outer.inner" is nested in "outer". */
export interface Terminal {
    readonly name: string;
    readonly matchingRule: string;
    readonly terminalKind?: string | null;
    readonly description?: string | null;
    readonly members: readonly { readonly name?: string | null; readonly variable: string; readonly kind: string }[];
}

export interface Element {
    readonly name: string;
    /** other: a source that Tutti does not open, such as a table or a nested .ssp. */
    readonly kind: "fmu" | "system" | "other";
    readonly origin?: Origin;
    readonly source?: string | null;
    readonly x1?: number | null;
    readonly y1?: number | null;
    readonly x2?: number | null;
    readonly y2?: number | null;
    readonly connectors: readonly Connector[];
    readonly parameters: Readonly<Record<string, Value>>;
    readonly terminals?: readonly Terminal[];
    readonly settings?: Readonly<Record<string, string>>;
    readonly elements?: readonly Element[];
    readonly connections?: readonly Connection[];
    readonly description?: string | null;
}

export interface Document extends System {
    readonly name: string;
    readonly path: string | null;
    readonly start?: number | null;
    readonly stop?: number | null;
    readonly settings: Readonly<Record<string, string>>;
    readonly parameters?: Readonly<Record<string, Value>>;
    readonly revision?: string | number | null;
}

export type Level = readonly string[];

export function emptyDocument(name: string): Document {
    return { name, path: null, start: 0, stop: 1, settings: {}, elements: [], connections: [], connectors: [] };
}

/** Converts a document of the server to the editor's form: empty lists are added, and all parts have their position in
 * the file. */
export function adopt(raw: Partial<Document> & { name: string }): Document {
    const inside = (system: Partial<System>, at: Level): System => ({
        elements: (system.elements ?? []).map((element) => fixElement(element, at)),
        connections: (system.connections ?? []).map((connection) => ({ ...connection, origin: [...at, connection.from, connection.to] })),
        connectors: (system.connectors ?? []).map((connector) => ({ ...connector, origin: [...at, connector.name] })),
    });
    const fixElement = (element: Partial<Element> & { name: string }, at: Level): Element => ({
        ...element,
        origin: [...at, element.name],
        kind: element.kind ?? "fmu",
        connectors: element.connectors ?? [],
        parameters: element.parameters ?? {},
        ...(element.kind === "system" ? inside(element, [...at, element.name]) : {}),
    });
    return { ...raw, path: raw.path ?? null, settings: raw.settings ?? {}, ...inside(raw, []) };
}

/** The document with every origin replaced; undefined: it no longer has one. */
export function mapOrigins(document: Document, next: (origin: Origin) => Origin | undefined): Document {
    const mapped = <T extends { readonly origin?: Origin }>(part: T): T => {
        const { origin, ...rest } = part;
        const now = origin && next(origin);
        return (now ? { ...rest, origin: now } : rest) as T;
    };
    const inside = (system: System): System => ({
        elements: system.elements.map((element) => mapped(element.kind === "system" ? { ...element, ...inside(asSystem(element)) } : element)),
        connections: system.connections.map(mapped),
        connectors: system.connectors.map(mapped),
    });
    return { ...document, ...inside(document) };
}

/** Calls `visit` for all parts that the file has or can have, with their position in the document. */
function visitParts(system: System, at: Level, visit: (origin: Origin | undefined, now: Origin) => void): void {
    for (const element of system.elements) {
        visit(element.origin, [...at, element.name]);
        if (element.kind === "system")
            visitParts(asSystem(element), [...at, element.name], visit);
    }
    for (const { origin, from, to } of system.connections)
        visit(origin, [...at, from, to]);
    for (const { origin, name } of system.connectors)
        visit(origin, [...at, name]);
}

/** Updates origins after this document was saved: those that it does not have are removed. */
export function originsAfter(saved: Document): (origin: Origin) => Origin | undefined {
    const now = new Map<string, Origin>();
    visitParts(saved, [], (origin, place) => origin && now.set(JSON.stringify(origin), place));
    return (origin) => now.get(JSON.stringify(origin));
}

export function findElement(system: System, name: string): Element | undefined {
    return system.elements.find((element) => element.name === name);
}

export function systemAt(document: Document, level: Level): System | undefined {
    let system: System = document;
    for (const name of level) {
        const element = findElement(system, name);
        if (!element || element.kind !== "system")
            return undefined;
        system = asSystem(element);
    }
    return system;
}

export function asSystem(element: Element): System {
    return { elements: element.elements ?? [], connections: element.connections ?? [], connectors: element.connectors };
}

/** The document with the system at this level replaced by the result of `edit`. Returns the same object if nothing changed. */
export function editSystem(document: Document, level: Level, edit: (system: System) => System): Document {
    const [first, ...rest] = level;
    if (first === undefined) {
        const next = edit(document);
        return next === document ? document : { ...document, ...pick(next) };
    }
    return { ...document, elements: editNested(document.elements, first, rest, edit) };
}

function editNested(elements: readonly Element[], name: string, rest: Level, edit: (system: System) => System): readonly Element[] {
    return elements.map((element) => {
        if (element.name !== name)
            return element;
        const [first, ...further] = rest;
        if (first === undefined)
            return { ...element, ...pick(edit(asSystem(element))) };
        return { ...element, elements: editNested(element.elements ?? [], first, further, edit) };
    });
}

function pick(system: System): System {
    return { elements: system.elements, connections: system.connections, connectors: system.connectors };
}

/** The rank of a unit, by its setting; null: automatic. */
export function rankOf(element: Element): number | null {
    const text = element.settings?.rank;
    return text === undefined || text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

/** One end of a connection: element and connector; the element is "" for a connector of the system itself. */
export interface End {
    readonly element: string;
    readonly connector: string;
}

/** Splits "element.connector". Both may contain dots: the longest element name that exists wins. */
export function splitEnd(system: System, end: string): End {
    if (end.startsWith("."))
        return { element: "", connector: end.slice(1) };
    let best = "";
    for (const element of system.elements)
        if (element.name.length > best.length && end.startsWith(element.name + "."))
            best = element.name;
    if (best === "") {
        const dot = end.indexOf(".");
        return { element: end.slice(0, Math.max(dot, 0)), connector: end.slice(dot + 1) };
    }
    return { element: best, connector: end.slice(best.length + 1) };
}

export function joinEnd(element: string, connector: string): string {
    return `${element}.${connector}`;
}

export function findConnector(system: System, end: End): Connector | undefined {
    const connectors = end.element === "" ? system.connectors : findElement(system, end.element)?.connectors;
    return connectors?.find((connector) => connector.name === end.connector);
}

/** The terminal at an end, unless the end is a variable. */
export function findTerminal(system: System, end: End): Terminal | undefined {
    return findConnector(system, end) ? undefined : findElement(system, end.element)?.terminals?.find((terminal) => terminal.name === end.connector);
}

/** The name of a unit in messages, results and options: "outer.inner". */
export function hierarchical(level: Level, name: string): string {
    return [...level, name].filter((part) => part !== "").join(".");
}

/** Calls `visit` for every element, outer ones first. */
export function walk(system: System, visit: (element: Element, level: Level) => void, level: Level = []): void {
    for (const element of system.elements) {
        visit(element, level);
        if (element.kind === "system")
            walk(asSystem(element), visit, [...level, element.name]);
    }
}

/** The hierarchical names of all units except these. */
export function otherUnits(document: Document, names: { has(name: string): boolean }): readonly string[] {
    const all: string[] = [];
    walk(document, (element, level) => {
        const name = hierarchical(level, element.name);
        if (element.kind !== "system" && ![...level.keys()].some((depth) => names.has(hierarchical(level.slice(0, depth), level[depth] ?? ""))) && !names.has(name))
            all.push(name);
    });
    return all;
}

/** Finds an element by its hierarchical name. */
export function locate(document: Document, name: string): { element: Element; level: Level } | undefined {
    let found: { element: Element; level: Level } | undefined;
    walk(document, (element, level) => {
        if (hierarchical(level, element.name) === name)
            found = { element, level };
    });
    return found;
}

/** An unused element name derived from this one. */
export const freeName = (system: System, wish: string): string => freeAmong(new Set(system.elements.map((element) => element.name)), wish);

export function freeAmong(taken: ReadonlySet<string>, wish: string): string {
    const base = wish.replace(/[^A-Za-z0-9_]+/g, "_").replace(/^_+|_+$/g, "") || "unit";
    if (!taken.has(base))
        return base;
    const stem = base.replace(/_?\d+$/, "");
    for (let number = 2; ; number++)
        if (!taken.has(`${stem}${number}`))
            return `${stem}${number}`;
}
