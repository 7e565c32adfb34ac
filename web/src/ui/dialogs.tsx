// SPDX-License-Identifier: MIT
// Dialogs: open, save, find, connect, options of runs, keys. The browser's <dialog> keeps the focus and closes on
// Escape.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { hierarchical, joinEnd, splitEnd, walk } from "../model/document";
import { isSink, isSource } from "../model/rules";
import { dirty, file, join, level, open, present, reveal, save, system } from "../state/editor";
import { emptyDocument } from "../model/document";
import { showCurve } from "../plot/panels";
import { current, runOptions, setRunOption } from "../state/runs";
import { entries, folder, inFolder, options, readFolder } from "../state/server";
import { complain, dialog, notify, tab } from "../state/view";
import { Action, ACTIONS } from "./actions";
import { Icon } from "./icons";
import { act, opens } from "./palette";
import { SettingsForm } from "./settings";

const close = () => (dialog.value = null);

function Frame({ title, children, className = "" }: { title: string; children: ComponentChildren; className?: string }) {
    const element = useRef<HTMLDialogElement>(null);
    useLayoutEffect(() => {
        const shown = element.current;
        const before = document.activeElement as HTMLElement | null;
        if (shown && !shown.open)
            shown.showModal();
        shown?.querySelector<HTMLElement>("[data-focus]")?.focus();
        return () => {
            shown?.close();
            before?.focus?.();
        };
    }, []);
    return (
        <dialog ref={element} class={className} aria-label={title} onCancel={(event) => { event.preventDefault(); close(); }} onClick={(event) => event.target === element.current && close()}>
            <div class="dialog-body">
                <header><h2>{title}</h2><button type="button" class="icon-button" aria-label="Close" onClick={close}><Icon name="close" /></button></header>
                {children}
            </div>
        </dialog>
    );
}

export function Dialogs() {
    switch (dialog.value) {
    case "open": return <OpenDialog />;
    case "save": return <SaveDialog />;
    case "find": return <FindDialog />;
    case "connect": return <ConnectDialog />;
    case "options": return <OptionsDialog />;
    case "keys": return <KeysDialog />;
    default: return null;
    }
}

function OpenDialog() {
    const shown = entries.value.filter((entry) => entry.kind === "folder" || opens(entry));
    const up = folder.value.split("/").slice(0, -1).join("/");
    useEffect(() => void readFolder(folder.value).catch(complain), []);
    return (
        <Frame title="Open a system">
            {dirty.value && <p class="warning-text">{file.value.path ?? present.value.name} is not saved. Opening another file loses the changes.</p>}
            <ul class="files tall">
                {folder.value !== "" && <li><button type="button" onClick={() => void readFolder(up).catch(complain)}><Icon name="up" /><span>..</span></button></li>}
                {shown.map((entry) => (
                    <li key={entry.name}><button type="button" data-open={entry.name} onClick={() => { act(entry); if (entry.kind !== "folder") { close(); tab.value = "build"; } }}>
                        <Icon name={entry.kind === "folder" ? "folder" : "system"} /><span>{entry.name}</span></button></li>))}
            </ul>
            {shown.length === 0 && <p class="soft">There is no system in this folder. Systems are .ssp, .msim (MasterSim) and OspSystemStructure.xml (OSP).</p>}
            <footer><button type="button" data-focus onClick={() => { open(emptyDocument("system"), false); close(); tab.value = "build"; }}>New system</button></footer>
        </Frame>
    );
}

function SaveDialog() {
    const name = useSignal(file.value.path ?? `${inFolder(present.value.name)}.ssp`);
    const run = async (event: Event) => {
        event.preventDefault();
        const path = name.value.trim().endsWith(".ssp") ? name.value.trim() : `${name.value.trim()}.ssp`;
        if (await save(path)) {
            close();
            await readFolder(folder.value).catch(complain);
        }
    };
    return (
        <Frame title="Save as">
            <form onSubmit={(event) => void run(event)}>
                <label>File, in the folder of tutti web<input data-focus id="save-name" value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} /></label>
                <footer><button type="submit" class="primary" id="save-confirm">Save</button></footer>
            </form>
        </Frame>
    );
}

interface Hit {
    readonly label: string;
    readonly note: string;
    readonly act: () => void;
}

const MOST = 40;

function FindDialog() {
    const text = useSignal("");
    const at = useSignal(0);
    const hits = search(text.value.trim().toLowerCase());
    const chosen = Math.min(at.value, Math.max(hits.length - 1, 0));
    const go = (hit: Hit | undefined) => {
        close();
        hit?.act();
    };
    const key = (event: KeyboardEvent) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            at.value = Math.max(0, Math.min(hits.length - 1, chosen + (event.key === "ArrowDown" ? 1 : -1)));
        } else if (event.key === "Enter") {
            event.preventDefault();
            go(hits[chosen]);
        }
    };
    return (
        <Frame title="Find" className="find">
            <input type="search" data-focus role="combobox" aria-expanded="true" aria-controls="find-hits" aria-activedescendant={hits.length > 0 ? `hit-${chosen}` : undefined} aria-label="Unit, variable or command" placeholder="Unit, variable or command" value={text.value} onInput={(event) => { text.value = event.currentTarget.value; at.value = 0; }} onKeyDown={key} />
            <ul id="find-hits" class="hits" role="listbox" aria-label="Hits">
                {hits.map((hit, index) => <li key={index} id={`hit-${index}`} role="option" aria-selected={index === chosen} onClick={() => go(hit)}><span>{hit.label}</span><span class="soft">{hit.note}</span></li>)}
            </ul>
            {hits.length === 0 && <p class="soft">Nothing found.</p>}
        </Frame>
    );
}

function search(text: string): Hit[] {
    const hits: Hit[] = [];
    const fits = (name: string) => text === "" || name.toLowerCase().includes(text);
    for (const action of ACTIONS)
        if (fits(action.name))
            hits.push({ label: action.name, note: action.keys, act: action.act });
    if (text === "")
        return hits.slice(0, MOST);
    const units: Hit[] = [];
    walk(present.value, (element, at) => {
        const full = hierarchical(at, element.name);
        const show = () => { tab.value = "build"; reveal(full); };
        if (fits(full))
            units.push({ label: full, note: "unit", act: show });
        if (units.length < MOST)
            for (const connector of element.connectors)
                if (fits(`${full}.${connector.name}`) && !fits(full))
                    units.push({ label: `${full}.${connector.name}`, note: connector.kind, act: show });
    });
    const curves = (current.value?.columns.value ?? []).filter((column) => fits(column.name)).slice(0, 10)
        .map((column): Hit => ({ label: column.name, note: "plot it", act: () => { tab.value = "run"; showCurve(column.name); } }));
    return [...units.slice(0, MOST), ...curves, ...hits].slice(0, 2 * MOST);
}

function ConnectDialog() {
    const from = useSignal("");
    const to = useSignal("");
    const ends = (fits: typeof isSource) => [
        ...system.value.connectors.filter((connector) => fits({ element: "", connector: connector.name }, connector)).map((connector) => joinEnd("", connector.name)),
        ...system.value.elements.flatMap((element) => (element.terminals ?? []).map((terminal) => joinEnd(element.name, terminal.name))),
        ...system.value.elements.flatMap((element) => element.connectors.filter((connector) => fits({ element: element.name, connector: connector.name }, connector)).map((connector) => joinEnd(element.name, connector.name))),
    ];
    const run = async (event: Event) => {
        event.preventDefault();
        const reason = await join(splitEnd(system.value, from.value), splitEnd(system.value, to.value));
        if (reason)
            notify(reason, "error");
        else
            [from.value, to.value] = ["", ""];
    };
    const input = (which: typeof from, label: string, list: string, focus: boolean) => (
        <label>{label}<input list={list} value={which.value} {...(focus ? { "data-focus": true } : {})} onInput={(event) => (which.value = event.currentTarget.value)} autocomplete="off" /></label>
    );
    const options = (list: string, names: readonly string[]) => <datalist id={list}>{names.map((name) => <option key={name} value={name} />)}</datalist>;
    return (
        <Frame title={`Connect in ${level.value.length > 0 ? level.value.join(".") : present.value.name}`}>
            <form onSubmit={(event) => void run(event)}>
                {input(from, "From output", "sources", true)}{options("sources", ends(isSource))}
                {input(to, "to input", "sinks", false)}{options("sinks", ends(isSink))}
                <footer><button type="submit" class="primary" disabled={from.value === "" || to.value === ""}>Connect</button></footer>
            </form>
        </Frame>
    );
}

const PAGE_OWNED = new Set(["live", "output", "stats", "step-log", "file", "log", "quiet", "verbose", "progress", "log-level", "connect", "stats-exact"]);

function OptionsDialog() {
    return (
        <Frame title="Options of runs" className="tall">
            <p class="soft">They are given to 'tutti run' for each run of this page, and go before the settings of the system.</p>
            <SettingsForm id="run" options={options.value.filter((option) => !PAGE_OWNED.has(option.name))} values={runOptions.value} change={setRunOption} />
        </Frame>
    );
}

const MOUSE: readonly [string, string][] = [
    ["Drag from a port", "draw a connection"], ["Shift + drag a port to the background", "make a connector of the system for it"], ["Drag a unit", "move it (with Alt: freely)"], ["Drag the background", "pan"], ["Wheel", "zoom"],
    ["Shift + drag", "select by a frame; in plots: pan"], ["Double-click", "open a nested system; in plots: show all times"], ["Drag in a plot", "zoom into these times"], ["Click, Alt + click in a plot", "set cursor A, cursor B"],
    ["Arrows on the drawing", "go to the next unit"], ["Shift + arrows", "move the selection"], ["Ctrl + arrows", "pan"], ["Escape", "select nothing"],
];

function KeysDialog() {
    const groups = ["File", "Edit", "View", "Run"] as const;
    const row = (action: Action) => <tr key={action.name}><td>{action.name}</td><td>{action.keys.split(" / ").filter(Boolean).map((key) => <kbd key={key}>{key}</kbd>)}</td></tr>;
    return (
        <Frame title="Keys" className="keys">
            <div class="key-frame" tabIndex={0} data-focus><div class="key-groups">
                {groups.map((group) => <section key={group}><h3>{group}</h3><table><tbody>{ACTIONS.filter((action) => action.group === group && action.keys !== "").map(row)}</tbody></table></section>)}
                <section><h3>Mouse and drawing</h3><table><tbody>{MOUSE.map(([what, does]) => <tr key={what}><td>{what}</td><td>{does}</td></tr>)}</tbody></table></section>
            </div></div>
        </Frame>
    );
}
