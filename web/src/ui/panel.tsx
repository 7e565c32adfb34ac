// SPDX-License-Identifier: MIT
// One plot panel: title bar, plot, legend with values under the pointer and at the cursors.
import { useEffect, useRef } from "preact/hooks";
import { effect, useSignal } from "@preact/signals";
import uPlot from "uplot";
import { curveColour } from "../plot/colours";
import { difference, Numbers, Table, valueAt } from "../plot/data";
import { Feed } from "../plot/feed";
import { Curve, Figure, Look } from "../plot/figure";
import { addCurves, changePanel, cursors, focused, Panel, pointed, range, removeCurve, removePanel } from "../plot/panels";
import { LiveRun, over } from "../state/run";
import { keep } from "../server/client";
import { current, overlay } from "../state/runs";
import { painted } from "../state/view";
import { number } from "./format";
import { IconButton } from "./icons";
import { COLUMN_TYPE } from "./run";

const FRAME = 33;
/** The legend is text for people: it changes less often than the curves. */
const LEGEND = 200;
const MANY = 20;

/** Holds a figure and its feeds while the panel is on the page. */
class PanelWork {
    private readonly figure: Figure;
    private feeds: Feed[] = [];
    private timer: ReturnType<typeof setTimeout> | undefined;
    private drawnAt = 0;
    private toldAt = 0;
    private readonly stops: (() => void)[];
    tables: readonly Table[] = [];

    constructor(private readonly host: HTMLElement, private panel: Panel, private readonly drawn: () => void) {
        this.figure = new Figure(host, () => range.value !== null);
        this.stops = [
            effect(() => {
                const main = current.value;
                const other = overlay.value;
                this.connect([main, other].filter((run): run is LiveRun => run !== null));
            }),
            effect(() => {
                void current.value?.stale.value;
                void current.value?.columns.value;
                void overlay.value?.stale.value;
                void overlay.value?.columns.value;
                this.ask();
            }),
            effect(() => void (current.value?.grown.value, overlay.value?.grown.value, this.soon())),
            effect(() => {
                void range.value;
                this.figure.applyRange();
                this.ask();
            }),
            effect(() => void (cursors.value, this.figure.redraw())),
            effect(() => void (painted.value, this.soon())),
        ];
    }

    change(panel: Panel): void {
        const columns = panel.columns.join("\n") !== this.panel.columns.join("\n");
        this.panel = panel;
        if (columns) {
            this.connect(this.feeds.map((feed) => feed.run));
            if (this.feeds.length === 0)
                this.connect([current.value, overlay.value].filter((run): run is LiveRun => run !== null));
            this.ask();
        }
        this.soon();
    }

    destroy(): void {
        clearTimeout(this.timer);
        this.stops.forEach((stop) => stop());
        this.feeds.forEach((feed) => feed.close());
        this.figure.destroy();
    }

    image(): HTMLCanvasElement | null {
        return this.figure.canvas;
    }

    private connect(runs: readonly LiveRun[]): void {
        this.feeds.forEach((feed) => feed.close());
        this.feeds = runs.map((run) => new Feed(run, this.panel.columns, () => this.soon()));
        this.ask();
    }

    private ask(): void {
        const points = Math.round(Math.max(400, (this.panel.columns.length > MANY ? 0.5 : 2) * this.host.clientWidth)); // each has two ends
        for (const feed of this.feeds)
            feed.ask(this.panel.kind === "phase" ? null : range.value, this.panel.kind === "phase" ? 2 * points : points);
    }

    /** Draws, at most 30 times per second. */
    private soon(): void {
        if (this.timer !== undefined)
            return;
        this.timer = setTimeout(() => {
            this.timer = undefined;
            requestAnimationFrame(() => this.draw());
        }, Math.max(0, FRAME - (performance.now() - this.drawnAt)));
    }

    private draw(): void {
        if (!this.host.isConnected)
            return;
        this.drawnAt = performance.now();
        this.tables = this.feeds.map((feed) => feed.table());
        const { panel } = this;
        const look = this.look();
        if (look.curves.length > 0)
            this.figure.show(look, panel.kind === "phase" ? this.phaseData() : this.timeData(), painted.value);
        if (this.drawnAt - this.toldAt > LEGEND || over(current.value?.state.value ?? "done")) {
            this.toldAt = this.drawnAt;
            this.drawn();
        }
    }

    private look(): Look {
        const { panel } = this;
        const columns = current.value?.columns.value ?? [];
        const of = (name: string | undefined) => columns.find((column) => column.name === name);
        const shown = panel.kind === "phase" ? panel.columns.slice(1) : panel.columns;
        const runs = panel.difference && this.feeds.length === 2 ? 1 : this.feeds.length;
        const curves: Curve[] = [];
        for (let run = 0; run < runs; run++)
            shown.forEach((name, index) => curves.push({ label: name, colour: curveColour(index), dashed: run > 0, held: /^(Bool|U?Int|Enum)/.test(of(name)?.type ?? "") }));
        const units = new Set(shown.map((name) => of(name)?.unit ?? "").filter(Boolean));
        const [unit] = units;
        const x = of(panel.columns[0]);
        return { curves, log: panel.log, phase: panel.kind === "phase", xLabel: panel.kind === "phase" ? `${x?.name ?? ""}${x?.unit ? ` [${x.unit}]` : ""}` : "", yLabel: units.size === 1 && unit ? `[${unit}]` : "" };
    }

    private column(table: Table | undefined, name: string): Numbers {
        const values = table?.values.get(name) ?? new Array<null>(table?.times.length ?? 0).fill(null);
        return this.panel.log ? values.map((value) => (typeof value === "number" && value > 0 ? value : null)) : values;
    }

    private timeData(): uPlot.AlignedData {
        const [main, other] = this.tables;
        const names = this.panel.columns;
        if (this.panel.difference && main && other)
            return [main.times, ...names.map((name) => difference(main.times, this.column(main, name), other.times, this.column(other, name)))] as uPlot.AlignedData;
        const tables = this.tables.map((table) => [table.times, ...names.map((name) => this.column(table, name))] as uPlot.AlignedData);
        const [first] = tables;
        return tables.length === 1 && first ? first : uPlot.join(tables, tables.map((table) => table.map(() => 1 as const)) as never);
    }

    private phaseData(): uPlot.AlignedData {
        const [x, ...ys] = this.panel.columns;
        const facets = this.tables.flatMap((table) => ys.map((name) => [this.column(table, x ?? ""), this.column(table, name)]));
        return [null, ...facets] as unknown as uPlot.AlignedData;
    }
}

export function PlotPanel({ panel }: { panel: Panel }) {
    const host = useRef<HTMLDivElement>(null);
    const work = useRef<PanelWork | null>(null);
    const drawn = useSignal(0);
    useEffect(() => {
        const made = new PanelWork(host.current as HTMLDivElement, panel, () => drawn.value++);
        work.current = made;
        return () => made.destroy();
    }, []);
    useEffect(() => work.current?.change(panel), [panel]);
    const over = (event: DragEvent) => event.dataTransfer?.types.includes(COLUMN_TYPE) && event.preventDefault();
    const drop = (event: DragEvent) => {
        const name = event.dataTransfer?.getData(COLUMN_TYPE);
        if (name) {
            event.preventDefault();
            addCurves(panel.id, [name]);
        }
    };
    const wish = panel.kind === "phase" ? ["Drop the variable of the x axis here.", "Drop the variable of the y axis here."][panel.columns.length] : panel.columns.length === 0 ? "Drop variables here." : undefined;
    return (
        <section class={`panel${focused.value === panel.id ? " focused" : ""}`} aria-label={`Plot of ${panel.columns.join(", ") || "nothing yet"}`} data-panel={panel.id} onDragOver={over} onDrop={drop} onPointerDown={() => (focused.value = panel.id)}>
            <PanelHead panel={panel} image={() => work.current?.image() ?? null} />
            <div class="plot-frame" tabIndex={0} role="img" aria-label={`Curves of ${panel.columns.join(", ") || "nothing yet"}. Arrows pan, plus and minus zoom, 0 shows all.`} onKeyDown={keys} onFocus={() => (focused.value = panel.id)}>
                <div class="plot" ref={host} onDblClick={() => (range.value = null)} />
                {wish && <p class="wish soft">{wish}</p>}
            </div>
            <Legend panel={panel} tables={() => work.current?.tables ?? []} drawn={drawn.value} />
        </section>
    );
}

function keys(event: KeyboardEvent): void {
    const run = current.value;
    const [from, to] = range.value ?? [run?.info.value.start ?? 0, run?.progress.value?.time ?? run?.info.value.time ?? run?.info.value.stop ?? 1];
    const span = to - from;
    const next = ({ ArrowLeft: [from - span / 10, to - span / 10], ArrowRight: [from + span / 10, to + span / 10], "+": [from + span / 8, to - span / 8], "-": [from - span / 6, to + span / 6] } as Record<string, [number, number]>)[event.key];
    if (event.key === "0")
        range.value = null;
    else if (next)
        range.value = next;
    else
        return;
    event.preventDefault();
}

function PanelHead({ panel, image }: { panel: Panel; image: () => HTMLCanvasElement | null }) {
    const picture = () => image()?.toBlob((blob) => blob && keep(blob, `${panel.columns[0] ?? "plot"}.png`));
    return (
        <header class="panel-head">
            <span class="panel-title">{panel.kind === "phase" ? `${panel.columns.slice(1).join(", ") || "…"} over ${panel.columns[0] ?? "…"}` : ""}</span>
            <button type="button" class="small" aria-pressed={panel.log} onClick={() => changePanel(panel.id, { log: !panel.log })}>log</button>
            {overlay.value && panel.kind === "time" && <button type="button" class="small" aria-pressed={panel.difference} onClick={() => changePanel(panel.id, { difference: !panel.difference })}>difference</button>}
            <IconButton icon="download" label="Keep as PNG" act={picture} />
            <IconButton icon="close" label="Remove the panel" act={() => removePanel(panel.id)} />
        </header>
    );
}

function Legend({ panel, tables, drawn }: { panel: Panel; tables: () => readonly Table[]; drawn: number }) {
    void drawn;
    const [main] = tables();
    const columns = current.value?.columns.value ?? [];
    const { a, b } = cursors.value;
    const at = (name: string, time: number | null) => (main && time !== null ? valueAt(main.times, main.values.get(name) ?? [], time) : null);
    return (
        <ul class="legend">
            {panel.columns.map((name, index) => {
                const x = panel.kind === "phase" && index === 0;
                const last = main ? main.values.get(name)?.[main.times.length - 1] ?? null : null;
                const [atA, atB] = [at(name, a), at(name, b)];
                return (
                    <li key={name}>
                        {x ? <span class="key-line x">x</span> : <span class={`key-line curve${(panel.kind === "phase" ? index - 1 : index) % 8}`} />}
                        <span class="legend-name">{name}</span><span class="soft">{columns.find((column) => column.name === name)?.unit ?? ""}</span>
                        <span class="legend-value">{number(pointed.value !== null && panel.kind === "time" ? at(name, pointed.value) : last)}</span>
                        {atA !== null && <span class="legend-cursor">A {number(atA)}</span>}{atB !== null && <span class="legend-cursor">B {number(atB)}</span>}
                        {atA !== null && atB !== null && <span class="legend-cursor">Δ {number(atB - atA)}</span>}
                        <button type="button" class="remove" aria-label={`Remove ${name}`} onClick={() => removeCurve(panel.id, name)}>×</button>
                    </li>
                );
            })}
        </ul>
    );
}
