// SPDX-License-Identifier: MIT
// Checks of a connection without the server: where it may begin and end, that an input has one source, that types
// match. The server checks units of measure (`tutti check`): POST /api/system/look.
import { Connector, End, findConnector, findTerminal, joinEnd, splitEnd, System } from "./document";

/** Whether the connector is a source, seen from inside the system that contains the connection. */
export function isSource(end: End, connector: Connector): boolean {
    return end.element === "" ? connector.kind === "input" || connector.kind === "parameter"
                              : connector.kind === "output" || connector.kind === "calculatedParameter" || connector.kind === "inout";
}

export function isSink(end: End, connector: Connector): boolean {
    return end.element === "" ? connector.kind === "output" || connector.kind === "calculatedParameter"
                              : connector.kind === "input" || connector.kind === "parameter" || connector.kind === "inout";
}

const FAMILIES: Readonly<Record<string, string>> = {
    Real: "number", Float64: "number", Float32: "number",
    Integer: "integer", Int8: "integer", Int16: "integer", Int32: "integer", Int64: "integer", UInt8: "integer", UInt16: "integer", UInt32: "integer", UInt64: "integer",
    Boolean: "Boolean", Clock: "clock", String: "text", Binary: "binary", Enumeration: "integer",
};

const family = (type: string | null | undefined): string => FAMILIES[type ?? ""] ?? type ?? "";

/** The reason why the two cannot be connected in this direction; null if they can. */
export function refusal(system: System, fromEnd: End, toEnd: End, converts: boolean): string | null {
    const from = findConnector(system, fromEnd);
    const to = findConnector(system, toEnd);
    const terminals = [fromEnd, toEnd].filter((end) => findTerminal(system, end));
    if (terminals.length > 0)
        return terminals.length === 2 ? null : "A terminal is connected to another terminal, as a whole; variables are connected one by one.";
    const fromName = joinEnd(fromEnd.element, fromEnd.connector);
    const toName = joinEnd(toEnd.element, toEnd.connector);
    if (!from || !to)
        return `${from ? toName : fromName} does not exist.`;
    if (!isSource(fromEnd, from))
        return `${fromName} is an ${from.kind}: a connection begins at an output.`;
    if (!isSink(toEnd, to))
        return `${toName} is an ${to.kind}: a connection ends at an input.`;
    const driver = system.connections.find((connection) => connection.to === toName);
    if (driver)
        return driver.from === fromName ? `${fromName} is connected to ${toName} already.` : `${toName} has a source already: ${driver.from}. An input has one.`;
    return typeRefusal(fromName, from, toName, to, converts);
}

function typeRefusal(fromName: string, from: Connector, toName: string, to: Connector, converts: boolean): string | null {
    const a = family(from.type);
    const b = family(to.type);
    if (a === b || a === "" || b === "")
        return null;
    const numeric = (name: string) => name === "number" || name === "integer" || name === "Boolean";
    if (numeric(a) && numeric(b)) {
        if (converts || (a === "integer" && b === "number"))
            return null;
        return `${fromName} is ${from.type} and ${toName} is ${to.type}: that would round. Settings, 'convert', allows it.`;
    }
    return `${fromName} is ${from.type} and ${toName} is ${to.type}: these types do not go together.`;
}

/** Orders two manually joined ends as source and destination. */
export function orient(system: System, a: End, b: End): { from: End; to: End } {
    const first = findConnector(system, a);
    const second = findConnector(system, b);
    const backwards = first && second && !isSource(a, first) && isSource(b, second);
    return backwards ? { from: b, to: a } : { from: a, to: b };
}

/** Inputs and parameters of units that a connection drives. */
export function drivenInputs(system: System): Map<string, string> {
    const driven = new Map<string, string>();
    for (const connection of system.connections) {
        const { element, connector } = splitEnd(system, connection.to);
        driven.set(joinEnd(element, connector), connection.from);
    }
    return driven;
}
