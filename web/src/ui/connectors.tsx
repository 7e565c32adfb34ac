// SPDX-License-Identifier: MIT
// Connectors of the open system itself: its inputs, outputs and parameters.
import { useSignal } from "@preact/signals";
import * as commands from "../model/commands";
import type { Connector } from "../model/document";
import { readValue } from "../model/values";
import { addConnector, changeConnector, level, perform, present, removeConnector, system } from "../state/editor";
import { notify } from "../state/view";
import { Icon } from "./icons";

const KINDS = ["input", "output", "parameter", "calculatedParameter"] as const;
const TYPES = ["", "Float64", "Int32", "Boolean", "String"] as const;
const WORDS: Readonly<Record<string, string>> = { calculatedParameter: "calculated parameter", structuralParameter: "structural parameter" };

const tell = (reason: string | null): boolean => {
    if (reason)
        notify(reason, "error");
    return reason === null;
};

/** A value that is not in the list is shown as it is. */
function Choice({ label, id, words, value, change }: { label: string; id: string; words: readonly string[]; value: string; change: (value: string) => void }) {
    const all = words.includes(value) ? words : [...words, value];
    return (
        <label>{label}<select id={id} value={value} onChange={(event) => change(event.currentTarget.value)}>
            {all.map((word) => <option key={word} value={word}>{word === "" ? "as connected" : WORDS[word] ?? word}</option>)}
        </select></label>
    );
}

const isParameter = ({ kind }: Connector): boolean => kind === "parameter" || kind === "structuralParameter";

/** The value of a parameter of the system, which is passed to connected parameters. Empty for other kinds. */
function OwnValue({ connector }: { connector: Connector }) {
    const { name, unit } = connector;
    const value = commands.ownParameters(present.value, level.value)[name] ?? null;
    const shown = value === null ? "" : String(value);
    const set = (input: HTMLInputElement) => {
        const given = input.value.trim();
        const read = given === "" ? { value: null } : readValue(connector, given);
        if ("error" in read) {
            notify(`${name}: ${read.error}`, "error");
            input.value = shown;
        } else if (given !== shown)
            perform(`set ${name}`, commands.setOwnParameter(present.value, level.value, name, given === "" ? null : given));
    };
    return isParameter(connector)
        ? <input data-own-parameter={name} aria-label={`Value of ${name}${unit ? ` in ${unit}` : ""}`} placeholder="value" value={shown} onChange={(event) => set(event.currentTarget)} />
        : null;
}

export function Connectors() {
    return (
        <>
            <h3>Connectors of the system</h3>
            {system.value.connectors.length > 0 && <ul class="connectors">{system.value.connectors.map((connector) => <Row key={connector.name} connector={connector} />)}</ul>}
            <NewConnector />
        </>
    );
}

function Row({ connector }: { connector: Connector }) {
    const { name, kind } = connector;
    const rename = (input: HTMLInputElement) => {
        if (!tell(changeConnector(name, { name: input.value.trim() })))
            input.value = name;
    };
    return (
        <li data-connector={name} class={isParameter(connector) ? "valued" : ""}>
            <span class={`tag ${kind === "output" || kind === "calculatedParameter" ? "output" : "input"}`}>{WORDS[kind] ?? kind}</span>
            <input aria-label={`Name of connector ${name}`} value={name} onChange={(event) => rename(event.currentTarget)} />
            <OwnValue connector={connector} />
            <button type="button" class="icon-button" aria-label={`Remove connector ${name}`} title={`Remove connector ${name}`} onClick={() => removeConnector(name)}><Icon name="trash" /></button>
        </li>
    );
}

function NewConnector() {
    const name = useSignal("");
    const kind = useSignal<string>("input");
    const add = (event: Event) => {
        event.preventDefault();
        if (tell(addConnector({ name: name.value.trim(), kind: kind.value, type: kind.value === "input" || kind.value === "output" ? "Float64" : "" })))
            name.value = "";
    };
    return (
        <form class="fields" onSubmit={add}>
            <div class="pair">
                <label>New connector<input id="new-connector" value={name.value} placeholder="name" autocomplete="off" onInput={(event) => (name.value = event.currentTarget.value)} /></label>
                <Choice label="Kind" id="new-connector-kind" words={KINDS} value={kind.value} change={(value) => (kind.value = value)} />
            </div>
            <button type="submit" id="add-connector" disabled={name.value.trim() === ""}><Icon name="plus" />Add</button>
        </form>
    );
}

export function ConnectorInspector({ connector }: { connector: Connector }) {
    const { name } = connector;
    const change = (what: Partial<Connector>) => tell(changeConnector(name, what));
    return (
        <section class="block inspector">
            <h2>Connector of the system</h2>
            <div class="fields">
                <label>Name<input id="connector-name" value={name} onChange={(event) => { if (!change({ name: event.currentTarget.value.trim() })) event.currentTarget.value = name; }} /></label>
                <Choice label="Kind" id="connector-kind" words={KINDS} value={connector.kind} change={(kind) => change({ kind })} />
                <Choice label="Type" id="connector-type" words={TYPES} value={connector.type ?? ""} change={(type) => change({ type })} />
                {isParameter(connector) && <label>Value<OwnValue connector={connector} /></label>}
                {connector.unit && <p class="soft">Unit: {connector.unit}</p>}
                {connector.dimensions && <p class="soft">Array: {connector.dimensions.map((size) => size ?? "?").join(" × ")}</p>}
            </div>
            <button type="button" class="danger" onClick={() => removeConnector(name)}><Icon name="trash" />Remove</button>
        </section>
    );
}
