// SPDX-License-Identifier: MIT
// Run and watch: variables at the left, plots in the middle, details of the run at the right.
import { useSignal } from "@preact/signals";
import { addPanel, cursors, panels, range, showCurve, wide } from "../plot/panels";
import { current, layOverId, overlay, runs, start } from "../state/runs";
import { serverInfo } from "../state/server";
import { Icon, IconButton } from "./icons";
import { runName } from "../state/run";
import { moment, number } from "./format";
import { PlotPanel } from "./panel";
import { RunDetails } from "./details";

export const COLUMN_TYPE = "application/x-tutti-column";
const MOST = 300;

export function RunView() {
    const run = current.value;
    if (!run)
        return <NoRun />;
    return (
        <div class="run">
            <aside class="side left" aria-label="Variables"><Variables /></aside>
            <section class="plots" aria-label="Plots">
                <PlotTools />
                <div class={`panels${wide.value ? " two" : ""}`}>
                    {panels.value.map((panel) => <PlotPanel key={panel.id} panel={panel} />)}
                    {panels.value.length === 0 && <div class="drop-here"><p class="soft">Double-click a variable at the left, or drag it here.</p></div>}
                </div>
            </section>
            <aside class="side right" aria-label="Run"><RunDetails run={run} /></aside>
        </div>
    );
}

function NoRun() {
    return (
        <div class="nothing">
            <h2>No run yet</h2>
            <p>A run goes on when you close this page; it is here again when you come back.</p>
            {!serverInfo.value?.attached && <button type="button" class="primary" onClick={() => void start()} disabled={serverInfo.value?.readOnly ?? false}><Icon name="play" />Run</button>}
        </div>
    );
}

function Variables() {
    const filter = useSignal("");
    const columns = current.value?.columns.value ?? [];
    const wanted = filter.value.toLowerCase();
    const shown = columns.filter((column) => column.name.toLowerCase().includes(wanted));
    const used = new Set(panels.value.flatMap((panel) => panel.columns));
    return (
        <section class="block variables" aria-labelledby="variables-title">
            <h2 id="variables-title">Variables <span class="count">{columns.length}</span></h2>
            <input type="search" placeholder="Filter" aria-label="Filter variables" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
            <ul>
                {shown.slice(0, MOST).map((column) => (
                    <li key={column.name}>
                        <button type="button" draggable class={used.has(column.name) ? "used" : ""} data-column={column.name} title={`${column.description ?? column.name}\nDrag it into a panel, double-click, or press Enter`}
                            onDblClick={() => showCurve(column.name)} onKeyDown={(event) => event.key === "Enter" && showCurve(column.name)}
                            onDragStart={(event) => event.dataTransfer?.setData(COLUMN_TYPE, column.name)}>
                            <span>{column.name}</span><span class="soft">{column.unit ?? ""}</span>
                        </button>
                    </li>
                ))}
            </ul>
            {shown.length > MOST && <p class="soft empty">and {shown.length - MOST} more: type into the filter</p>}
            {columns.length === 0 && <p class="soft empty">Nothing is recorded yet.</p>}
        </section>
    );
}

function PlotTools() {
    const others = runs.value.filter((run) => run.id !== current.value?.id);
    const { a, b } = cursors.value;
    return (
        <div class="plot-tools" role="toolbar" aria-label="Plots">
            <button type="button" onClick={() => addPanel()} id="add-panel"><Icon name="plus" />Panel</button>
            <button type="button" onClick={() => addPanel([], "phase")}><Icon name="plus" />Phase plot</button>
            <button type="button" aria-pressed={wide.value} onClick={() => (wide.value = !wide.value)}>Two columns</button>
            <button type="button" disabled={range.value === null} onClick={() => (range.value = null)} id="all-times">All times</button>
            {others.length > 0 && (
                <label class="inline">Lay over <select id="overlay" value={overlay.value?.id ?? ""} onChange={(event) => void layOverId(event.currentTarget.value)}>
                    <option value="">no other run</option>
                    {others.slice(0, 100).map((run) => <option key={run.id} value={run.id}>{runName(run.id)}, {moment(run.begun)}</option>)}
                </select></label>)}
            {(a !== null || b !== null) && (
                <span class="cursor-times">{a !== null && <>A {number(a, 6)} s </>}{b !== null && <>B {number(b, 6)} s </>}{a !== null && b !== null && <>Δ {number(b - a, 6)} s </>}
                    <IconButton icon="close" label="Remove the cursors" act={() => (cursors.value = { a: null, b: null })} /></span>)}
        </div>
    );
}
