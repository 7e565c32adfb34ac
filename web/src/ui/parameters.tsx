// SPDX-License-Identifier: MIT
// Parameters and start values of a unit, with units and bounds.
import { useSignal } from "@preact/signals";
import * as commands from "../model/commands";
import { Connector, Element, joinEnd, Value } from "../model/document";
import { drivenInputs } from "../model/rules";
import { readValue } from "../model/values";
import { level, perform, present, system } from "../state/editor";
import { notify } from "../state/view";

const MOST = 150;

export function Parameters({ element }: { element: Element }) {
    const filter = useSignal("");
    const wanted = filter.value.toLowerCase();
    const driven = drivenInputs(system.value);
    const all = element.connectors.filter((connector) => connector.kind === "parameter" || connector.kind === "structuralParameter" ||
        (connector.kind === "input" && !driven.has(joinEnd(element.name, connector.name))) || (connector.kind === "output" && connector.start != null) || connector.name in element.parameters);
    const shown = all.filter((connector) => `${connector.name} ${connector.description ?? ""}`.toLowerCase().includes(wanted));
    const set = (connector: Connector, text: string): boolean => {
        const given = text.trim();
        const read = given === "" ? { value: null } : readValue(connector, given);
        if ("error" in read) {
            notify(`${element.name}.${connector.name}: ${read.error}`, "error");
            return false;
        }
        const value: Value = given === "" ? null : given;
        if (value !== (element.parameters[connector.name] ?? null))
            perform(`set ${element.name}.${connector.name}`, commands.setParameter(present.value, level.value, element.name, connector.name, value));
        return true;
    };
    return (
        <div class="parameters">
            {all.length > 6 && <input type="search" placeholder={`Filter ${all.length} parameters`} aria-label="Filter parameters" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />}
            <table>
                <thead><tr><th>Name</th><th>Value</th><th>Unit</th></tr></thead>
                <tbody>{shown.slice(0, MOST).map((connector) => <Row key={connector.name} connector={connector} value={element.parameters[connector.name] ?? null} set={set} />)}</tbody>
            </table>
            {shown.length > MOST && <p class="soft empty">and {shown.length - MOST} more: type into the filter</p>}
            {all.length === 0 && <p class="soft empty">{element.kind === "system" ? "This system has no parameters of its own." : "This unit has none."}</p>}
        </div>
    );
}

function Row({ connector, value, set }: { connector: Connector; value: Value; set: (connector: Connector, text: string) => boolean }) {
    const bounds = connector.min != null || connector.max != null ? `${connector.min ?? "-∞"} … ${connector.max ?? "∞"}` : "";
    const start = connector.start == null ? "" : Array.isArray(connector.start) ? connector.start.join(" ") : String(connector.start);
    const notes = [connector.kind === "parameter" ? connector.variability ?? "" : connector.kind, bounds].filter(Boolean).join(", ");
    return (
        <tr class={value !== null ? "changed" : ""} title={connector.description ?? ""}>
            <td><span class="parameter-name">{connector.name}</span>{notes && <span class="soft notes">{notes}</span>}</td>
            <td><input data-parameter={connector.name} aria-label={`${connector.name}${connector.unit ? ` in ${connector.unit}` : ""}`} value={value === null ? "" : String(value)} placeholder={start}
                onChange={(event) => { if (!set(connector, event.currentTarget.value)) event.currentTarget.value = value === null ? "" : String(value); }} /></td>
            <td class="soft">{connector.unit ?? ""}</td>
        </tr>
    );
}
