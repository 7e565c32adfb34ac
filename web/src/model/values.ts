// SPDX-License-Identifier: MIT
// Reads what a user typed as the value of a variable, by its type and bounds.
import type { Connector, Value } from "./document";

export function readValue(connector: Connector, text: string): { value: Value } | { error: string } {
    const { type } = connector;
    if (/^(Float|Real)/.test(type))
        return within(connector, text, Number(text));
    if (/^(U?Int)/.test(type))
        return connector.dimensions || /^[+-]?\d+$/.test(text) ? within(connector, text, Number(text)) : { error: `${text} is no whole number.` };
    if (type === "Boolean")
        return /^(true|1)$/i.test(text) ? { value: true } : /^(false|0)$/i.test(text) ? { value: false } : { error: `${text} is neither true nor false.` };
    return { value: text };
}

function within(connector: Connector, text: string, value: number): { value: Value } | { error: string } {
    if (connector.dimensions || Array.isArray(connector.start))
        return { value: text };
    if (text === "" || !Number.isFinite(value))
        return { error: `${text} is no number.` };
    if (connector.min != null && value < Number(connector.min))
        return { error: `${text} is less than ${connector.min}, the least that the FMU allows.` };
    if (connector.max != null && value > Number(connector.max))
        return { error: `${text} is more than ${connector.max}, the most that the FMU allows.` };
    return { value };
}
