// SPDX-License-Identifier: MIT
// Shows and edits the selection.
import { useSignal } from "@preact/signals";
import * as commands from "../model/commands";
import { Element, findConnector, hierarchical, rankOf, splitEnd } from "../model/document";
import { isAbout, conversionsHere } from "../canvas/marks";
import { enter, groupSelected, level, looked, perform, present, removeSelected, rename, selected, selectedConnector, selectedWire, system, ungroupSelected } from "../state/editor";
import { options } from "../state/server";
import { notify } from "../state/view";
import { ConnectorInspector, Connectors } from "./connectors";
import { FindingLine } from "./findings";
import { Icon } from "./icons";
import { Parameters } from "./parameters";
import { SettingsForm } from "./settings";

export function Inspector() {
    if (selectedWire.value)
        return <WireInspector ends={selectedWire.value} />;
    const chosen = system.value.elements.filter((element) => selected.value.has(element.name));
    const [first] = chosen;
    const connector = system.value.connectors.find((each) => each.name === selectedConnector.value);
    if (connector)
        return <ConnectorInspector key={connector.name} connector={connector} />;
    if (chosen.length > 1)
        return <GroupInspector elements={chosen} />;
    return first ? <UnitInspector key={first.name} element={first} /> : <SystemInspector />;
}

function SystemInspector() {
    const document = present.value;
    const time = (which: "start" | "stop") => (event: { currentTarget: HTMLInputElement }) => {
        const text = event.currentTarget.value.trim();
        const value = text === "" ? null : Number(text);
        if (value !== null && !Number.isFinite(value))
            notify(`${text} is no number.`, "error");
        else if (value !== (document[which] ?? null))
            perform(`set ${which} time`, commands.setTimes(present.value, { [which]: value }));
    };
    return (
        <section class="block inspector">
            <h2>System</h2>
            <div class="fields">
                <label>Name<input id="system-name" value={document.name} onChange={(event) => perform("rename the system", commands.renameDocument(present.value, event.currentTarget.value))} /></label>
                <div class="pair">
                    <label>Start [s]<input id="start-time" inputMode="decimal" value={document.start ?? ""} placeholder="0" onChange={time("start")} /></label>
                    <label>Stop [s]<input id="stop-time" inputMode="decimal" value={document.stop ?? ""} placeholder="1" onChange={time("stop")} /></label>
                </div>
            </div>
            <Connectors />
            <h3>Settings</h3>
            <SettingsForm id="system" options={options.value.filter((option) => option.annotation === "system" || option.annotation === "unit")} values={document.settings} between=" | "
                change={(name, value) => perform(`set ${name}`, commands.setSetting(present.value, name, value))} />
        </section>
    );
}

function RankField({ names, rank }: { names: ReadonlySet<string>; rank: number | null }) {
    const change = (text: string) => {
        const value = text.trim() === "" ? null : Number(text);
        if (value !== null && !(Number.isInteger(value) && value >= 0 && value < 4096))
            notify("A rank is a whole number from 0 on.", "error");
        else
            perform("place", commands.setRank(present.value, level.value, names, value));
    };
    return (
        <label>Rank{rank !== null && <span class={`swatch rank${rank % 8}`} />}
            <input id="unit-rank" inputMode="numeric" value={rank ?? ""} placeholder="automatic" onChange={(event) => change(event.currentTarget.value)} />
        </label>
    );
}

function GroupInspector({ elements }: { elements: readonly Element[] }) {
    const names = new Set(elements.map((element) => element.name));
    const ranks = new Set(elements.map(rankOf));
    const [rank] = ranks;
    return (
        <section class="block inspector">
            <h2>{elements.length} units</h2>
            <div class="fields"><RankField names={names} rank={ranks.size === 1 ? rank ?? null : null} /></div>
            <div class="buttons">
                <button type="button" id="group" onClick={groupSelected}><Icon name="system" />Group</button>
                <button type="button" class="danger" onClick={removeSelected}><Icon name="trash" />Remove</button>
            </div>
        </section>
    );
}

function UnitInspector({ element }: { element: Element }) {
    const pane = useSignal<"parameters" | "ports" | "settings">("parameters");
    const full = hierarchical(level.value, element.name);
    const findings = (looked.value?.findings ?? []).filter((finding) => isAbout(finding, full));
    const name = (event: { currentTarget: HTMLInputElement }) => {
        const reason = rename(element.name, event.currentTarget.value.trim());
        if (reason) {
            notify(reason, "error");
            event.currentTarget.value = element.name;
        }
    };
    return (
        <section class="block inspector">
            <h2>{element.kind === "system" ? "Nested system" : "Unit"}</h2>
            <div class="fields">
                <label>Name<input id="unit-name" value={element.name} onChange={name} /></label>
                {element.source && <p class="soft source" title={element.source}>{element.source}</p>}
                {element.description && <p class="soft">{element.description}</p>}
                {element.kind !== "system" ? <RankField names={new Set([element.name])} rank={rankOf(element)} />
                    : <div class="buttons">
                        <button type="button" onClick={() => enter([...level.value, element.name])}>Open</button>
                        <button type="button" id="ungroup" onClick={ungroupSelected}>Ungroup</button>
                    </div>}
            </div>
            {findings.length > 0 && <ul class="own-findings">{findings.map((finding, index) => <li key={index}><FindingLine finding={finding} /></li>)}</ul>}
            <div class="panes" role="group" aria-label="What to show">
                {(["parameters", "ports", "settings"] as const).map((each) => <button type="button" key={each} aria-pressed={pane.value === each} onClick={() => (pane.value = each)}>{each[0]?.toUpperCase()}{each.slice(1)}</button>)}
            </div>
            {pane.value === "parameters" && <Parameters element={element} />}
            {pane.value === "ports" && <Ports element={element} />}
            {pane.value === "settings" && <SettingsForm id="unit" options={options.value.filter((option) => option.annotation === "unit" && option.name !== "rank")} values={element.settings ?? {}} between=" | "
                change={(option, value) => perform(`set ${option} of ${element.name}`, commands.setElementSetting(present.value, level.value, element.name, option, value))} />}
        </section>
    );
}

function Ports({ element }: { element: Element }) {
    const ends = new Map<string, string[]>();
    for (const { from, to } of system.value.connections) {
        ends.set(to, [...(ends.get(to) ?? []), from]);
        ends.set(from, [...(ends.get(from) ?? []), to]);
    }
    const ports = element.connectors.filter((connector) => connector.kind === "input" || connector.kind === "output");
    return (
        <table class="ports">
            <thead><tr><th>Port</th><th>Type</th><th>Unit</th><th>Connected</th></tr></thead>
            <tbody>{ports.map((connector) => (
                <tr key={connector.name} title={connector.description ?? ""}>
                    <td><span class={`tag ${connector.kind}`}>{connector.kind === "input" ? "in" : "out"}</span>{connector.name}</td>
                    <td>{connector.type}</td><td>{connector.unit ?? ""}</td><td class="soft">{(ends.get(`${element.name}.${connector.name}`) ?? []).join(", ")}</td>
                </tr>))}
            </tbody>
        </table>
    );
}

function WireInspector({ ends }: { ends: { from: string; to: string } }) {
    const connection = system.value.connections.find((candidate) => commands.sameEnds(candidate, ends));
    if (!connection)
        return <SystemInspector />;
    const conversion = conversionsHere(looked.value, level.value).get(`${ends.from}→${ends.to}`);
    const unit = (end: string) => findConnector(system.value, splitEnd(system.value, end))?.unit ?? "";
    const number = (which: "factor" | "offset") => (event: { currentTarget: HTMLInputElement }) => {
        const text = event.currentTarget.value.trim();
        if (text !== "" && !Number.isFinite(Number(text)))
            notify(`${text} is no number.`, "error");
        else
            perform(`set ${which}`, commands.editConnection(present.value, level.value, ends, { [which]: text === "" ? null : Number(text) }));
    };
    return (
        <section class="block inspector">
            <h2>Connection</h2>
            <dl class="ends"><dt>from</dt><dd>{ends.from} <span class="soft">{unit(ends.from)}</span></dd><dt>to</dt><dd>{ends.to} <span class="soft">{unit(ends.to)}</span></dd></dl>
            {conversion && <p class="converted">Converted: {conversion}</p>}
            <div class="fields">
                <div class="pair">
                    <label>Factor<input inputMode="decimal" value={connection.factor ?? ""} placeholder="1" onChange={number("factor")} /></label>
                    <label>Offset<input inputMode="decimal" value={connection.offset ?? ""} placeholder="0" onChange={number("offset")} /></label>
                </div>
                <label class="check"><input type="checkbox" checked={connection.suppressUnitConversion ?? false}
                    onChange={(event) => perform("unit conversion", commands.editConnection(present.value, level.value, ends, { suppressUnitConversion: event.currentTarget.checked }))} />Do not convert units</label>
            </div>
            <button type="button" class="danger" onClick={removeSelected}><Icon name="trash" />Disconnect</button>
        </section>
    );
}
