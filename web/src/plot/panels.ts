// SPDX-License-Identifier: MIT
// The panels and their content, stored in the browser for each system.
import { effect, signal } from "@preact/signals";
import { present } from "../state/editor";
import { current } from "../state/runs";

export interface Panel {
    readonly id: number;
    readonly kind: "time" | "phase";
    /** The first column of a phase plot is the x axis. */
    readonly columns: readonly string[];
    readonly log: boolean;
    readonly difference: boolean;
}

export const panels = signal<readonly Panel[]>([]);
export const focused = signal<number | null>(null);
/** The times shown by all panels; null: all. */
export const range = signal<readonly [number, number] | null>(null);
/** Two measuring cursors. */
export const cursors = signal<{ readonly a: number | null; readonly b: number | null }>({ a: null, b: null });
export const pointed = signal<number | null>(null);
export const wide = signal(false);

let count = 0;
let key = "";
/** Whether the page chose the panels itself: then it may choose again. */
let own = true;

export function addPanel(columns: readonly string[] = [], kind: Panel["kind"] = "time"): number {
    const id = ++count;
    own = false;
    panels.value = [...panels.value, { id, kind, columns, log: false, difference: false }];
    focused.value = id;
    return id;
}

export function changePanel(id: number, change: Partial<Panel>): void {
    own = false;
    panels.value = panels.value.map((panel) => (panel.id === id ? { ...panel, ...change } : panel));
}

export function removePanel(id: number): void {
    own = false;
    panels.value = panels.value.filter((panel) => panel.id !== id);
    if (focused.value === id)
        focused.value = panels.value[0]?.id ?? null;
}

export function addCurves(id: number, columns: readonly string[]): void {
    const panel = panels.value.find((candidate) => candidate.id === id);
    if (panel)
        changePanel(id, { columns: [...new Set([...panel.columns, ...columns])] });
}

/** Adds it to the focused panel, otherwise to a new one. */
export function showCurve(column: string): void {
    const panel = panels.value.find((candidate) => candidate.id === focused.value) ?? panels.value[0];
    if (panel)
        addCurves(panel.id, [column]);
    else
        addPanel([column]);
}

export function removeCurve(id: number, column: string): void {
    const panel = panels.value.find((candidate) => candidate.id === id);
    if (panel)
        changePanel(id, { columns: panel.columns.filter((name) => name !== column) });
}

/** A first choice: up to four panels, by unit of measure, so that a run shows something at once. */
export function firstChoice(columns: readonly { name: string; unit?: string | null }[]): (readonly string[])[] {
    const groups = new Map<string, string[]>();
    for (const column of columns.slice(0, 40)) {
        const unit = column.unit ?? "";
        groups.set(unit, [...(groups.get(unit) ?? []), column.name]);
    }
    return [...groups.values()].slice(0, 4).map((names) => names.slice(0, 6));
}

/** Stores the panels of each system; a system without panels gets a first choice when its run has columns. */
export function keepPanels(): void {
    effect(() => {
        const name = `tutti-panels ${current.value?.info.value.file ?? present.value.name}`;
        if (name === key)
            return;
        key = name;
        own = true;
        range.value = null;
        cursors.value = { a: null, b: null };
        panels.value = readPanels(name);
        own = panels.value.length === 0;
        focused.value = panels.value[0]?.id ?? null;
    });
    effect(() => {
        const columns = current.value?.columns.value ?? [];
        if (!own || columns.length === 0 || panels.peek().length > 0)
            return;
        panels.value = firstChoice(columns).map((names) => ({ id: ++count, kind: "time", columns: names, log: false, difference: false }));
        focused.value = panels.value[0]?.id ?? null;
    });
    effect(() => {
        const list = panels.value;
        if (key && !own)
            localStorage.setItem(key, JSON.stringify(list));
    });
}

function readPanels(name: string): Panel[] {
    try {
        const kept = JSON.parse(localStorage.getItem(name) ?? "[]") as Panel[];
        return kept.map((panel) => ({ ...panel, id: ++count }));
    } catch {
        return [];
    }
}
