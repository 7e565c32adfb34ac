// SPDX-License-Identifier: MIT
// One plot panel: title bar, plot, legend with values under the pointer and at the cursors.
import { useEffect, useRef } from "preact/hooks";
import { effect, useSignal } from "@preact/signals";
import { curveColour } from "../plot/colours";
import { Feed } from "../plot/feed";
import { Curve, Figure, Look, Title } from "../plot/figure";
import { addCurves, changePanel, cursors, focused, Panel, pointed, range, removeCurve, removePanel } from "../plot/panels";
import { Readings } from "../plot/readings";
import { LiveRun, over } from "../state/run";
import { keep } from "../server/client";
import { current, overlay } from "../state/runs";
import { painted } from "../state/view";
import { number } from "./format";
import { IconButton } from "./icons";
import { COLUMN_TYPE } from "./run";

const FRAME = 33;
/** The legend is for people: it is updated less often than the curves. */
const LEGEND = 200;
const DIGITS = 7;

/** Keeps a figure and its feeds while the panel is on the page. */
class PanelWork {
    private readonly figure: Figure;
    private feeds: readonly Feed[] = [];
    private readings: Readings | null = null;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private legendTimer: ReturnType<typeof setTimeout> | undefined;
    private drawnAt = 0;
    private toldAt = 0;
    /** Called when all present data is drawn. */
    private waiting: (() => void)[] = [];
    private readonly stops: (() => void)[];

    constructor(private readonly host: HTMLElement, private panel: Panel, private readonly drawn: () => void) {
        this.figure = new Figure(host);
        this.stops = [
            effect(() => {
                void [current.value, overlay.value];
                this.connect();
            }),
            effect(() => {
                void [current.value?.stale.value, current.value?.columns.value, overlay.value?.stale.value, overlay.value?.columns.value];
                this.ask();
                this.readings?.clear();
            }),
            effect(() => {
                void [current.value?.grown.value, overlay.value?.grown.value];
                this.feeds.forEach((feed) => feed.way.minus && feed.askLater());
                this.soon();
            }),
            effect(() => {
                void range.value;
                this.figure.applyRange();
                this.ask();
            }),
            effect(() => {
                void cursors.value;
                this.figure.redraw();
            }),
            effect(() => {
                const times = [pointed.value, cursors.value.a, cursors.value.b].filter((time): time is number => time !== null);
                this.readings?.want(times);
            }),
            effect(() => void (painted.value, this.soon())),
        ];
    }

    change(panel: Panel): void {
        const of = ({ columns, difference, log }: Panel) => JSON.stringify([columns, difference, log]);
        const same = of(panel) === of(this.panel);
        this.panel = panel;
        if (!same)
            this.connect();
        this.soon();
    }

    destroy(): void {
        clearTimeout(this.timer);
        clearTimeout(this.legendTimer);
        this.stops.forEach((stop) => stop());
        this.disconnect();
        this.waiting.forEach((done) => done());
        this.figure.destroy();
    }

    image(): HTMLCanvasElement | null {
        return this.figure.canvas;
    }

    /** The value of a column at a time; undefined: not yet received. */
    valueAt(name: string, time: number): number | null | undefined {
        return this.readings?.at(name, time);
    }

    /** The value at the end. */
    lastValue(name: string): number | null {
        return this.feeds[0]?.lastValue(name) ?? null;
    }

    /** The time of the value at the end. */
    get end(): number {
        return this.feeds[0]?.end ?? -Infinity;
    }

    /** Shows the difference from a second run instead of the values. */
    get isDifference(): boolean {
        return Boolean(this.feeds[0]?.way.minus);
    }

    private disconnect(): void {
        this.feeds.forEach((feed) => feed.close());
        this.readings?.close();
    }

    private connect(): void {
        const { panel } = this;
        const runs = [current.peek(), overlay.peek()].filter((run): run is LiveRun => run !== null);
        const [main, other] = runs;
        const minus = panel.difference && panel.kind === "time" ? other ?? null : null;
        const way = { minus, over: panel.kind === "phase" ? panel.columns[0] ?? "" : null, log: panel.log };
        this.disconnect();
        this.feeds = (minus && main ? [main] : runs).map((run) => new Feed(run, panel.columns, way, (done) => this.soon(done)));
        const [first] = this.feeds;
        this.readings = first && panel.kind === "time" ? new Readings(first, () => this.drawn()) : null;
        this.readings?.want([cursors.peek().a, cursors.peek().b].filter((time): time is number => time !== null));
        this.ask();
    }

    private ask(): void {
        const points = Math.round(Math.min(10000, Math.max(200, this.figure.columns)));
        for (const feed of this.feeds)
            feed.ask(this.panel.kind === "phase" ? null : range.peek(), points);
    }

    /** Draws, at most 30 times per second. */
    private soon(done?: () => void): void {
        if (done)
            this.waiting.push(done);
        if (this.timer !== undefined)
            return;
        this.timer = setTimeout(() => {
            this.timer = undefined;
            requestAnimationFrame(() => this.draw());
        }, Math.max(0, FRAME - (performance.now() - this.drawnAt)));
    }

    private draw(): void {
        const done = this.waiting;
        this.waiting = [];
        if (this.host.isConnected) {
            this.drawnAt = performance.now();
            const look = this.look();
            const { shown } = this;
            if (look.curves.length > 0)
                this.figure.show(look, this.feeds.flatMap((feed) => shown.map((name) => feed.line(name))), painted.value);
            this.updateLegend(done.length > 0 || over(current.value?.state.value ?? "done"));
        }
        requestAnimationFrame(() => done.forEach((each) => each()));
    }

    /** Updates the legend, now or after a pause, such that it finally has the last values. */
    private updateLegend(now: boolean): void {
        const since = performance.now() - this.toldAt;
        if (now || since >= LEGEND) {
            clearTimeout(this.legendTimer);
            this.legendTimer = undefined;
            this.toldAt = performance.now();
            this.drawn();
        } else {
            this.legendTimer ??= setTimeout(() => this.updateLegend(true), LEGEND - since);
        }
    }

    /** The columns of the y axis. */
    private get shown(): readonly string[] {
        return this.panel.kind === "phase" ? this.panel.columns.slice(1) : this.panel.columns;
    }

    private look(): Look {
        const { panel, shown } = this;
        const columns = current.value?.columns.value ?? [];
        const of = (name: string | undefined) => columns.find((column) => column.name === name);
        const curves: Curve[] = this.feeds.flatMap((_feed, run) => shown.map((name, index) => ({ label: name, colour: curveColour(index), dashed: run > 0 })));
        const units = new Set(shown.map((name) => of(name)?.unit ?? ""));
        const [unit] = units;
        const x = of(panel.columns[0]);
        const phase = panel.kind === "phase";
        const across: Title = phase ? { name: x?.name ?? "", unit: x?.unit ?? "" } : { name: "time", unit: "s" };
        return { curves, log: panel.log, phase, x: across, y: { name: this.isDifference ? "difference" : "", unit: units.size === 1 && unit ? unit : "" } };
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
            <Legend panel={panel} work={work.current} drawn={drawn.value} />
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

/** While a value is being loaded, the legend is empty. */
const shownValue = (value: number | null | undefined): string => (value === undefined ? "…" : number(value, DIGITS));

function Legend({ panel, work, drawn }: { panel: Panel; work: PanelWork | null; drawn: number }) {
    void drawn;
    const columns = current.value?.columns.value ?? [];
    const { a, b } = cursors.value;
    const overTime = panel.kind === "time";
    const at = (name: string, time: number | null) => (time !== null && overTime ? work?.valueAt(name, time) : null);
    return (
        <ul class="legend" data-until={work?.end}>
            {panel.columns.map((name, index) => {
                const x = !overTime && index === 0;
                const [atA, atB] = [at(name, a), at(name, b)];
                return (
                    <li key={name} data-name={name}>
                        {x ? <span class="key-line x">x</span> : <span class={`key-line curve${(overTime ? index : index - 1) % 8}`} />}
                        <span class="legend-name">{work?.isDifference ? `Δ ${name}` : name}</span><span class="soft">{columns.find((column) => column.name === name)?.unit ?? ""}</span>
                        <span class="legend-value">{shownValue(pointed.value !== null && overTime ? at(name, pointed.value) : work?.lastValue(name))}</span>
                        {a !== null && atA !== null && <span class="legend-cursor">A {shownValue(atA)}</span>}{b !== null && atB !== null && <span class="legend-cursor">B {shownValue(atB)}</span>}
                        {typeof atA === "number" && typeof atB === "number" && <span class="legend-cursor">B − A {number(atB - atA, DIGITS)}</span>}
                        <button type="button" class="remove" aria-label={`Remove ${name}`} onClick={() => removeCurve(panel.id, name)}>×</button>
                    </li>
                );
            })}
        </ul>
    );
}
