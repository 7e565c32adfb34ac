// SPDX-License-Identifier: MIT
// All runs on the server, the one shown, and the one overlaid.
import { batch, effect, signal } from "@preact/signals";
import { deleteRun, getRun, getRuns, order, startRun } from "../server/calls";
import type { Run } from "../server/types";
import { moveSettings } from "../model/names";
import { dirty, file, onMoved, onOpened, outgoing, present, systemName } from "./editor";
import { LiveRun, over } from "./run";
import { options } from "./server";
import { complain, notify, tab } from "./view";

export const runs = signal<readonly Run[]>([]);
export const current = signal<LiveRun | null>(null);
export const overlay = signal<LiveRun | null>(null);
/** The settings of a run besides the document: options of the command line, by name. */
export const runOptions = signal<Readonly<Record<string, string>>>(readOptions());

function readOptions(): Record<string, string> {
    try {
        return JSON.parse(sessionStorage.getItem("tutti-run-options") ?? "{}") as Record<string, string>;
    } catch {
        return {};
    }
}

export function setRunOption(name: string, value: string): void {
    const { [name]: _old, ...others } = runOptions.value;
    setRunOptions(value === "" ? others : { ...others, [name]: value });
}

function setRunOptions(next: Readonly<Record<string, string>>): void {
    runOptions.value = next;
    sessionStorage.setItem("tutti-run-options", JSON.stringify(next));
}

/** Adjusts options that refer to units, such as patterns of recorded variables. */
onMoved((moves, others) => setRunOptions(moveSettings(runOptions.value, moves, others)));

/** The options in the server's form: lists for repeatable ones, true for flags. */
export function commandOptions(): Record<string, unknown> {
    const known = new Map(options.value.map((option) => [option.name, option]));
    return Object.fromEntries(Object.entries(runOptions.value).map(([name, value]) => {
        const option = known.get(name);
        return [name, option?.repeatable ? value.split("\n").map((line) => line.trim()).filter(Boolean) : option?.kind === "flag" ? true : value];
    }));
}

export async function readRuns(): Promise<void> {
    try {
        runs.value = await getRuns();
    } catch (error) {
        complain(error);
    }
}

/** Shows a run, active or not. */
export async function show(id: string): Promise<void> {
    if (current.value?.id === id)
        return;
    try {
        const run = await getRun(id);
        const former = current.value;
        batch(() => {
            current.value = new LiveRun(run);
            if (overlay.value?.id === id || former?.info.value.file !== run.file)
                layOver(null);
        });
        former?.close();
    } catch (error) {
        complain(error);
    }
}

/** Of several runs the active one, otherwise the newest. */
const foremost = (list: readonly Run[]): Run | undefined => list.find((run) => !over(run.state)) ?? list[0];

/** Shows the last run of this system; without a name, of any. */
export async function showLast(name: string | null): Promise<Run | null> {
    const run = foremost(runs.value.filter((each) => name === null || each.file === name));
    if (run) {
        await show(run.id);
        return run;
    }
    const former = current.value;
    batch(() => {
        current.value = null;
        layOver(null);
    });
    former?.close();
    return null;
}

/** From now on the run of the open system is shown, until the user selects a different one. */
export function followSystem(): void {
    onOpened(() => {
        if (current.value?.info.value.file !== systemName())
            void showLast(systemName());
    });
}

export function layOver(run: LiveRun | null): void {
    overlay.value?.close();
    overlay.value = run;
}

export async function layOverId(id: string): Promise<void> {
    try {
        layOver(id === "" ? null : new LiveRun(await getRun(id)));
    } catch (error) {
        complain(error);
    }
}

export async function start(): Promise<void> {
    const document = present.value;
    if (document.elements.length === 0) {
        notify("There is nothing to run yet: put an FMU into the system.", "error");
        return;
    }
    try {
        const { path } = file.value;
        const body = path !== null && !dirty.value ? { path } : { document: outgoing(document) };
        const { id } = await startRun({ ...body, options: commandOptions(), steps: document.elements.length > 1 });
        await show(id);
        tab.value = "run";
        void readRuns();
    } catch (error) {
        complain(error);
    }
}

export async function command(what: Readonly<Record<string, unknown>>): Promise<void> {
    const run = current.value;
    if (!run)
        return;
    try {
        await order(run.id, what);
    } catch (error) {
        complain(error);
    }
}

export function togglePause(): void {
    const state = current.value?.state.value;
    if (state === "running")
        void command({ pause: true });
    else if (state === "paused")
        void command({ go: true });
}

export async function forget(id: string): Promise<void> {
    try {
        await deleteRun(id);
        batch(() => {
            if (current.value?.id === id) {
                current.value.close();
                current.value = null;
            }
            if (overlay.value?.id === id)
                layOver(null);
        });
        await readRuns();
    } catch (error) {
        complain(error);
    }
}

/** The list is read again when the server reports that the shown run has ended: its stream ends slightly earlier. */
export function keepCurrent(): void {
    let before: string | null = null;
    effect(() => {
        const state = current.value?.info.value.state ?? null;
        if (state && before !== state && over(state))
            void readRuns();
        before = state;
    });
}
