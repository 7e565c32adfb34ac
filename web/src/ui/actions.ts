// SPDX-License-Identifier: MIT
// The table of all actions by key or name, used by keys, the search dialog and the list of keys.
import { findElement } from "../model/document";
import { arrange, copySelected, cutSelected, duplicateSelected, enter, file, fitRequest, groupSelected, level, open, pasteClip, redo, removeSelected, save, select, selected, selectedConnector, system, undo, ungroupSelected } from "../state/editor";
import { emptyDocument } from "../model/document";
import { addPanel } from "../plot/panels";
import { command, current, start, togglePause } from "../state/runs";
import { over } from "../state/run";
import { dialog, setTheme, tab, theme } from "../state/view";

export interface Action {
    readonly name: string;
    /** In the form of KeyboardEvent: "Ctrl+S"; several separated by " / ". */
    readonly keys: string;
    readonly group: "File" | "Edit" | "View" | "Run";
    /** Only while the drawing has the focus. */
    readonly canvas?: true;
    readonly act: () => void;
}

export const canvasOrders = { zoomIn: () => {}, zoomOut: () => {}, actual: () => {}, focus: () => {} };

export function saveOrAsk(): void {
    const { path } = file.value;
    if (path !== null && path.endsWith(".ssp"))
        void save(path);
    else
        dialog.value = "save";
}

/** The form for a new connector is in the inspector of the system. */
function askForConnector(): void {
    tab.value = "build";
    select([]);
    requestAnimationFrame(() => document.querySelector<HTMLInputElement>("#new-connector")?.focus());
}

function openSelected(): void {
    const [name] = selected.value;
    const element = name === undefined ? undefined : findElement(system.value, name);
    if (element?.kind === "system")
        enter([...level.value, element.name]);
    else
        document.querySelector<HTMLInputElement>(selectedConnector.value === null ? "#unit-name" : "#connector-name")?.focus();
}

const going = () => current.value !== null && !over(current.value.state.value);

export const ACTIONS: readonly Action[] = [
    { name: "New system", keys: "", group: "File", act: () => open(emptyDocument("system"), false) },
    { name: "Open…", keys: "Ctrl+O", group: "File", act: () => (dialog.value = "open") },
    { name: "Save", keys: "Ctrl+S", group: "File", act: saveOrAsk },
    { name: "Save as…", keys: "Ctrl+Shift+S", group: "File", act: () => (dialog.value = "save") },
    { name: "Undo", keys: "Ctrl+Z", group: "Edit", act: undo },
    { name: "Redo", keys: "Ctrl+Y / Ctrl+Shift+Z", group: "Edit", act: redo },
    { name: "Cut", keys: "Ctrl+X", group: "Edit", canvas: true, act: cutSelected },
    { name: "Copy", keys: "Ctrl+C", group: "Edit", canvas: true, act: copySelected },
    { name: "Paste", keys: "Ctrl+V", group: "Edit", canvas: true, act: pasteClip },
    { name: "Duplicate", keys: "Ctrl+D", group: "Edit", canvas: true, act: duplicateSelected },
    { name: "Select all", keys: "Ctrl+A", group: "Edit", canvas: true, act: () => select(system.value.elements.map((element) => element.name)) },
    { name: "Remove the selection", keys: "Delete / Backspace", group: "Edit", canvas: true, act: removeSelected },
    { name: "Connect…", keys: "C", group: "Edit", act: () => (dialog.value = "connect") },
    { name: "Rename, or open a nested system", keys: "Enter / F2", group: "Edit", canvas: true, act: openSelected },
    { name: "Up to the outer system", keys: "Alt+ArrowUp", group: "Edit", act: () => level.value.length > 0 && enter(level.value.slice(0, -1)) },
    { name: "Group the selection into a nested system", keys: "Ctrl+G", group: "Edit", canvas: true, act: groupSelected },
    { name: "Ungroup a nested system", keys: "Ctrl+Shift+G", group: "Edit", canvas: true, act: ungroupSelected },
    { name: "Add a connector of the system…", keys: "I", group: "Edit", act: askForConnector },
    { name: "Lay out automatically", keys: "L", group: "Edit", act: () => void arrange() },
    { name: "Find a unit, variable or command…", keys: "Ctrl+K / Ctrl+F / /", group: "View", act: () => (dialog.value = "find") },
    { name: "Zoom in", keys: "+ / =", group: "View", canvas: true, act: () => canvasOrders.zoomIn() },
    { name: "Zoom out", keys: "-", group: "View", canvas: true, act: () => canvasOrders.zoomOut() },
    { name: "Zoom to fit", keys: "F / 0", group: "View", canvas: true, act: () => fitRequest.value++ },
    { name: "Actual size", keys: "Shift+1", group: "View", canvas: true, act: () => canvasOrders.actual() },
    { name: "Build", keys: "1", group: "View", act: () => (tab.value = "build") },
    { name: "Understand", keys: "2", group: "View", act: () => (tab.value = "understand") },
    { name: "Run", keys: "3", group: "View", act: () => (tab.value = "run") },
    { name: "Results", keys: "4", group: "View", act: () => (tab.value = "results") },
    { name: "Go to the drawing", keys: "G", group: "View", act: () => { tab.value = "build"; requestAnimationFrame(() => canvasOrders.focus()); } },
    { name: "Light or dark", keys: "T", group: "View", act: () => setTheme(isDark() ? "light" : "dark") },
    { name: "Keys", keys: "?", group: "View", act: () => (dialog.value = "keys") },
    { name: "Start a run", keys: "R", group: "Run", act: () => void start() },
    { name: "Pause, or go on", keys: "P", group: "Run", act: togglePause },
    { name: "One step", keys: ".", group: "Run", act: () => going() && void command({ step: 1 }) },
    { name: "Stop the run", keys: "X", group: "Run", act: () => going() && void command({ stop: true }) },
    { name: "Options of runs…", keys: "O", group: "Run", act: () => (dialog.value = "options") },
    { name: "Add a plot panel", keys: "N", group: "Run", act: () => { addPanel(); tab.value = "run"; } },
];

export function isDark(): boolean {
    return theme.value === "dark" || (theme.value === "auto" && window.matchMedia("(prefers-color-scheme: dark)").matches);
}

/** The name of a key with its modifiers, in the table's form. */
export function keyName(event: KeyboardEvent): string {
    const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const shifted = event.shiftKey && (event.key.length > 1 || event.ctrlKey || event.metaKey || /^Digit/.test(event.code) && /^[!]$/.test(event.key));
    return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${shifted ? "Shift+" : ""}${key === "!" ? "1" : key}`;
}

const byKey = new Map(ACTIONS.flatMap((action) => action.keys.split(" / ").filter(Boolean).map((key) => [key, action] as const)));

const types = (target: EventTarget | null): boolean =>
    target instanceof HTMLElement && (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement ||
        (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type)));

export function listenToKeys(): void {
    window.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || dialog.value !== null)
            return;
        const action = byKey.get(keyName(event));
        if (!action)
            return;
        const onCanvas = event.target instanceof HTMLElement && event.target.classList.contains("canvas");
        const control = event.ctrlKey || event.metaKey;
        if (types(event.target) && !(control && (action.group === "File" || action.keys.startsWith("Ctrl+K"))))
            return;
        if (action.canvas && !onCanvas)
            return;
        if (event.target instanceof HTMLButtonElement && (event.key === "Enter" || event.key === " "))
            return;
        event.preventDefault();
        action.act();
    });
}
