// SPDX-License-Identifier: MIT
// The user's changes of a document: pure functions from one document to the next, so that undo keeps the previous one.
import { Connection, Connector, Document, editSystem, Element, freeName, hierarchical, joinEnd, Level, locate, mapOrigins, otherUnits, splitEnd, System, Value } from "./document";
import { moveSettings } from "./names";

export interface Shift {
    readonly dx: number;
    readonly dy: number;
}

const withElements = (system: System, elements: readonly Element[]): System => ({ ...system, elements });
const withConnections = (system: System, connections: readonly Connection[]): System => ({ ...system, connections });

export const sameEnds = (a: Connection, b: { from: string; to: string }) => a.from === b.from && a.to === b.to;

export function addElement(document: Document, level: Level, element: Element): Document {
    return editSystem(document, level, (system) => withElements(system, [...system.elements, element]));
}

export function editElement(document: Document, level: Level, name: string, change: Partial<Element>): Document {
    return editSystem(document, level, (system) =>
        withElements(system, system.elements.map((element) => (element.name === name ? { ...element, ...change } : element))));
}

/** Removes units and their connections. */
export function remove(document: Document, level: Level, names: ReadonlySet<string>, connections: readonly Connection[] = []): Document {
    return editSystem(document, level, (system) => ({
        ...system,
        elements: system.elements.filter((element) => !names.has(element.name)),
        connections: system.connections.filter((connection) =>
            !connections.some((other) => sameEnds(connection, other)) &&
            !names.has(splitEnd(system, connection.from).element) && !names.has(splitEnd(system, connection.to).element)),
    }));
}

export function renameElement(document: Document, level: Level, from: string, to: string): Document {
    const moves = new Map([[hierarchical(level, from), hierarchical(level, to)]]);
    const next = editSystem(document, level, (system) => {
        const renamed = (end: string) => {
            const { element, connector } = splitEnd(system, end);
            return element === from ? joinEnd(to, connector) : end;
        };
        return {
            ...system,
            elements: system.elements.map((element) => (element.name === from ? { ...element, name: to } : element)),
            connections: system.connections.map((connection) => ({ ...connection, from: renamed(connection.from), to: renamed(connection.to) })),
        };
    });
    return { ...next, settings: moveSettings(next.settings, moves, otherUnits(document, moves)) };
}

/** Moves units, in the document's coordinates; bends of connections between moved units move along. */
export function moveElements(document: Document, level: Level, names: ReadonlySet<string>, { dx, dy }: Shift): Document {
    return editSystem(document, level, (system) => ({
        ...system,
        elements: system.elements.map((element) => (names.has(element.name) ? shifted(element, dx, dy) : element)),
        connections: system.connections.map((connection) =>
            connection.points && names.has(splitEnd(system, connection.from).element) && names.has(splitEnd(system, connection.to).element)
                ? { ...connection, points: connection.points.map(([x, y]) => [x + dx, y + dy] as const) }
                : connection),
    }));
}

function shifted(element: Element, dx: number, dy: number): Element {
    return { ...element, x1: (element.x1 ?? 0) + dx, x2: (element.x2 ?? 0) + dx, y1: (element.y1 ?? 0) + dy, y2: (element.y2 ?? 0) + dy };
}

export interface Place {
    readonly x1: number;
    readonly y1: number;
    readonly x2: number;
    readonly y2: number;
}

/** Places units by a layout; manual bends are removed. */
export function placeElements(document: Document, level: Level, places: ReadonlyMap<string, Place>): Document {
    return editSystem(document, level, (system) => ({
        ...system,
        elements: system.elements.map((element) => ({ ...element, ...places.get(element.name) })),
        connections: system.connections.map(({ points: _bends, ...connection }) => connection),
    }));
}

export function connect(document: Document, level: Level, from: string, to: string): Document {
    return editSystem(document, level, (system) => withConnections(system, [...system.connections, { from, to }]));
}

export function editConnection(document: Document, level: Level, ends: { from: string; to: string }, change: Partial<Connection>): Document {
    return editSystem(document, level, (system) =>
        withConnections(system, system.connections.map((connection) => (sameEnds(connection, ends) ? { ...connection, ...change } : connection))));
}

export function addConnector(document: Document, level: Level, connector: Connector): Document {
    return editSystem(document, level, (system) => ({ ...system, connectors: [...system.connectors, connector] }));
}

/** The values of the connectors of the system at this level. */
function editValues(document: Document, level: Level, edit: (values: Values) => Values): Document {
    const own = level[level.length - 1];
    return own === undefined ? { ...document, parameters: edit(document.parameters ?? {}) }
        : editSystem(document, level.slice(0, -1), (system) =>
            withElements(system, system.elements.map((element) => (element.name === own ? { ...element, parameters: edit(element.parameters) } : element))));
}

type Values = Readonly<Record<string, Value>>;

function without(values: Values, name: string): Values {
    const { [name]: _old, ...others } = values;
    return others;
}

/** The value of a connector of the system itself; null removes it. */
export function setOwnParameter(document: Document, level: Level, name: string, value: Value): Document {
    return editValues(document, level, (values) => (value === null ? without(values, name) : { ...values, [name]: value }));
}

export const ownParameters = (document: Document, level: Level): Values =>
    (level.length === 0 ? document.parameters : locate(document, level.join("."))?.element.parameters) ?? {};

/** Renames a connector; connections and its value follow, inside and outside the system. */
export function editConnector(document: Document, level: Level, name: string, change: Partial<Connector>): Document {
    const to = change.name ?? name;
    const renamed = (element: string) => (connection: Connection): Connection => {
        const end = (which: string) => (which === joinEnd(element, name) ? joinEnd(element, to) : which);
        return { ...connection, from: end(connection.from), to: end(connection.to) };
    };
    const inner = editSystem(document, level, (system) => ({
        ...system,
        connectors: system.connectors.map((connector) => (connector.name === name ? { ...connector, ...change } : connector)),
        connections: system.connections.map(renamed("")),
    }));
    const own = level[level.length - 1];
    if (to === name)
        return inner;
    const valued = editValues(inner, level, (values) => (name in values ? { ...without(values, name), [to]: values[name] ?? null } : values));
    return own === undefined ? valued
        : editSystem(valued, level.slice(0, -1), (system) => withConnections(system, system.connections.map(renamed(own))));
}

/** Removes a connector with its connections on both sides, and its value. */
export function removeConnector(document: Document, level: Level, name: string): Document {
    const free = (element: string) => ({ from, to }: Connection) => from !== joinEnd(element, name) && to !== joinEnd(element, name);
    const inner = editSystem(document, level, (system) => ({
        ...system,
        connectors: system.connectors.filter((connector) => connector.name !== name),
        connections: system.connections.filter(free("")),
    }));
    const own = level[level.length - 1];
    const valued = editValues(inner, level, (values) => without(values, name));
    return own === undefined ? valued
        : editSystem(valued, level.slice(0, -1), (system) => withConnections(system, system.connections.filter(free(own))));
}

/** null removes the value: the FMU's value applies again. */
export function setParameter(document: Document, level: Level, name: string, parameter: string, value: Value): Document {
    return editSystem(document, level, (system) =>
        withElements(system, system.elements.map((element) => {
            if (element.name !== name)
                return element;
            const others = without(element.parameters, parameter);
            return { ...element, parameters: value === null ? others : { ...others, [parameter]: value } };
        })));
}

export function setRank(document: Document, level: Level, names: ReadonlySet<string>, rank: number | null): Document {
    let next = document;
    for (const name of names)
        next = setElementSetting(next, level, name, "rank", rank === null ? "" : String(rank));
    return next;
}

/** "" removes the setting. */
export function setSetting(document: Document, option: string, value: string): Document {
    const { [option]: _old, ...others } = document.settings;
    return { ...document, settings: value === "" ? others : { ...others, [option]: value } };
}

export function setElementSetting(document: Document, level: Level, name: string, option: string, value: string): Document {
    return editSystem(document, level, (system) =>
        withElements(system, system.elements.map((element) => {
            if (element.name !== name)
                return element;
            const { [option]: _old, ...others } = element.settings ?? {};
            return { ...element, settings: value === "" ? others : { ...others, [option]: value } };
        })));
}

export function setTimes(document: Document, times: { start?: number | null; stop?: number | null }): Document {
    return { ...document, ...times };
}

export function renameDocument(document: Document, name: string): Document {
    return { ...document, name };
}

/** The content of a copy: units, and the connections among them. */
export interface Clip {
    readonly elements: readonly Element[];
    readonly connections: readonly Connection[];
}

export function copy(system: System, names: ReadonlySet<string>): Clip {
    return {
        elements: system.elements.filter((element) => names.has(element.name)),
        connections: system.connections.filter((connection) =>
            names.has(splitEnd(system, connection.from).element) && names.has(splitEnd(system, connection.to).element)),
    };
}

/** Copies are new: the origin in the file stays with the original. */
const withoutOrigins = (elements: readonly Element[]): readonly Element[] =>
    mapOrigins({ name: "", path: null, settings: {}, elements, connections: [], connectors: [] }, () => undefined).elements;

/** Pastes under free names; returns these. */
export function paste(document: Document, level: Level, clip: Clip, shift: Shift): { document: Document; names: readonly string[] } {
    const names: string[] = [];
    const next = editSystem(document, level, (system) => {
        let grown: System = system;
        const called = new Map<string, string>();
        const source: System = { elements: clip.elements, connections: clip.connections, connectors: [] };
        for (const element of clip.elements) {
            const name = freeName(grown, element.name);
            const [fresh] = withoutOrigins([element]) as [Element];
            called.set(element.name, name);
            names.push(name);
            grown = withElements(grown, [...grown.elements, shifted({ ...fresh, name }, shift.dx, shift.dy)]);
        }
        const moved = (end: string) => {
            const { element, connector } = splitEnd(source, end);
            return joinEnd(called.get(element) ?? element, connector);
        };
        const connections = clip.connections.map(({ points: _bends, origin: _origin, ...connection }) => ({ ...connection, from: moved(connection.from), to: moved(connection.to) }));
        return withConnections(grown, [...grown.connections, ...connections]);
    });
    return { document: next, names };
}
