// SPDX-License-Identifier: MIT
// One plot: frame, axes, and zoom of uPlot, with separate lines, scales and ticks, so that any numbers can be shown.
// For uPlot both axes range from 0 to 1.
import uPlot from "uplot";
import { cursors, pointed, range } from "./panels";
import { css } from "./colours";
import { endsOf, extentOf, Line } from "./data";
import { at, padded, paddedLog, place, Span } from "./span";
import { logTicksOf, Ticks, ticksOf, titleOf } from "./ticks";

export interface Curve {
    readonly label: string;
    readonly colour: string;
    readonly dashed: boolean;
}

export interface Title {
    readonly name: string;
    readonly unit: string;
}

export interface Look {
    readonly curves: readonly Curve[];
    readonly log: boolean;
    readonly phase: boolean;
    readonly x: Title;
    readonly y: Title;
}

/** The text size of plots follows the page. */
const em = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) / 13.5;
const font = (): string => `${Math.round(12 * em())}px system-ui, "Segoe UI", Roboto, sans-serif`;

/** Lines of one pixel are drawn twenty times as fast as wider ones: many curves are drawn from pixel to pixel, few curves smoothly. */
const MANY = 12;
const widthOf = (curves: number): number => (curves > MANY ? 1 / devicePixelRatio : 1.6 * em());
/** Times whose relative distance is smaller count as equal. */
const FINEST = 1e-12;

function drawCursors(plot: uPlot, times: Span): void {
    const { ctx, bbox } = plot;
    for (const [name, time] of Object.entries(cursors.value)) {
        if (time === null)
            continue;
        const x = bbox.left + bbox.width * place(time, times, false);
        if (x < bbox.left || x > bbox.left + bbox.width)
            continue;
        ctx.save();
        ctx.strokeStyle = ctx.fillStyle = css("--accent");
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.font = `600 ${11 * devicePixelRatio}px system-ui, sans-serif`;
        ctx.fillText(name.toUpperCase(), x + 4 * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
        ctx.restore();
    }
}

export class Figure {
    private plot: uPlot | null = null;
    private shape = "";
    private look: Look | null = null;
    private lines: readonly Line[] = [];
    private x: Span = [0, 1];
    private y: Span = [0, 1];
    private ticks: readonly [Ticks, Ticks] = [ticksOf(0, 1, 5), ticksOf(0, 1, 5)];
    private readonly observer: ResizeObserver;

    constructor(private readonly host: HTMLElement, private readonly own = false) {
        this.observer = new ResizeObserver(() => this.resize());
        this.observer.observe(host);
        host.addEventListener("wheel", this.wheel, { passive: false });
        host.addEventListener("pointerdown", this.press, true);
    }

    destroy(): void {
        this.observer.disconnect();
        this.host.removeEventListener("wheel", this.wheel);
        this.host.removeEventListener("pointerdown", this.press, true);
        this.plot?.destroy();
    }

    get canvas(): HTMLCanvasElement | null {
        return this.plot?.ctx.canvas ?? null;
    }

    /** The width for curves in pixels. */
    get columns(): number {
        return this.plot?.bbox.width ?? this.host.clientWidth * devicePixelRatio;
    }

    /** Shows these lines. The plot is rebuilt only if anything else has changed. */
    show(look: Look, lines: readonly Line[], theme: number): void {
        const shape = JSON.stringify([look, theme]);
        this.look = look;
        this.lines = lines;
        if (this.plot && shape === this.shape) {
            this.applyRange();
            return;
        }
        this.shape = shape;
        this.plot?.destroy();
        this.fit();
        this.plot = new uPlot(this.options(look), [[0], ...lines.map(() => [null])], this.host);
    }

    /** Draws the visible part of the lines. */
    applyRange(): void {
        this.fit();
        this.plot?.redraw(true, true);
    }

    redraw(): void {
        this.plot?.redraw(false);
    }

    private fit(): void {
        const { look, lines } = this;
        if (!look)
            return;
        const wanted = this.isOverTime ? range.value : null;
        const ends = endsOf(lines) ?? [0, 1];
        this.x = wanted ?? (look.phase || ends[0] === ends[1] ? padded(ends) : ends);
        const extent = extentOf(lines, this.x[0], this.x[1]) ?? (look.log ? [1, 10] : [0, 1]);
        this.y = look.log ? paddedLog(extent) : padded(extent);
    }

    /** Whether it follows the time range of all panels. */
    private get isOverTime(): boolean {
        return !this.own && this.look !== null && !this.look.phase;
    }

    private size(): { width: number; height: number } {
        return { width: Math.max(80, this.host.clientWidth), height: Math.max(60, this.host.clientHeight) };
    }

    private resize(): void {
        this.plot?.setSize(this.size());
        this.plot?.redraw(true, true);
    }

    /** The ticks of both axes, as fractions of the axis. uPlot is given one increment that always fits. */
    private axis(which: 0 | 1, title: Title, length: number): uPlot.Axis {
        const span = () => (which === 0 ? this.x : this.y);
        const log = which === 1 && (this.look?.log ?? false);
        const splits = (plot: uPlot): number[] => {
            const [low, high] = span();
            const pixels = (which === 0 ? plot.bbox.width : plot.bbox.height) / devicePixelRatio;
            const ticks = (log ? logTicksOf : ticksOf)(low, high, Math.min(10, Math.max(2, Math.floor(pixels / (length * em())))));
            this.ticks = which === 0 ? [ticks, this.ticks[1]] : [this.ticks[0], ticks];
            return ticks.values.map((value) => place(value, [low, high], log));
        };
        return {
            label: () => titleOf(title.name, title.unit, this.ticks[which]), labelSize: 18 * em(), labelFont: font(), font: font(), stroke: () => css("--text-soft"), gap: 4,
            grid: { stroke: () => css("--plot-grid"), width: 1 }, ticks: { stroke: () => css("--plot-grid"), width: 1, size: 4 },
            space: () => 1, incrs: () => [5], splits, values: () => this.ticks[which].labels as string[], filter: (_plot, parts) => parts,
        } as uPlot.Axis;
    }

    /** The visible part of a line: points far outside would be drawn inexactly. A point between two interruptions is a short stroke. */
    private path(plot: uPlot, { x, y }: Line): uPlot.Series.Paths {
        const { bbox } = plot;
        const stroke = new Path2D();
        const log = this.look?.log ?? false;
        const phase = this.look?.phase ?? false;
        const [from, to] = phase ? [-Infinity, Infinity] : this.x;
        const across = (value: number): number => bbox.left + bbox.width * place(value, this.x, false);
        const down = (value: number): number => bbox.top + bbox.height * (1 - place(value, this.y, log));
        let pen: readonly [number, number] | null = null;
        let alone = false;
        const dot = (): void => {
            if (alone && pen && pen[0] >= from && pen[0] <= to) {
                stroke.moveTo(across(pen[0]) - devicePixelRatio, down(pen[1]));
                stroke.lineTo(across(pen[0]) + devicePixelRatio, down(pen[1]));
            }
        };
        let drawn = false;
        for (let index = 0; index < x.length; index++) {
            const [px, py] = [x[index], y[index]];
            if (px == null || py == null || (log && !(py > 0))) {
                dot();
                [pen, alone, drawn] = [null, false, false];
                continue;
            }
            const next: readonly [number, number] = [px, py];
            if (pen && Math.max(pen[0], px) >= from && Math.min(pen[0], px) <= to) {
                const [a, b] = [cut(pen, next, from, to), cut(next, pen, from, to)];
                if (!drawn)
                    stroke.moveTo(across(a[0]), down(a[1]));
                stroke.lineTo(across(b[0]), down(b[1]));
                drawn = true;
            } else if (pen) {
                drawn = false;
            }
            alone = pen === null;
            pen = next;
        }
        dot();
        return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 0 } as unknown as uPlot.Series.Paths;
    }

    private options(look: Look): uPlot.Options {
        const { phase } = look;
        const width = widthOf(look.curves.length);
        const series = look.curves.map(({ label, colour, dashed }, index) => ({
            label, stroke: colour, width, auto: false, pxAlign: width > 1 ? 0 : 1, ...(dashed ? { dash: [6, 4] } : {}), points: { show: false },
            paths: (plot: uPlot) => this.path(plot, this.lines[index] ?? { x: [], y: [] }),
        }));
        return {
            ...this.size(), legend: { show: false },
            cursor: { drag: { x: !phase, y: false, setScale: false }, points: { show: false }, y: false, x: !phase, bind: { dblclick: () => null, mousedown: selects }, ...(phase ? {} : { sync: { key: "tutti-time", setSeries: false, filters: { pub: (type: string) => type === "mousemove" || type === "mouseleave" } } }), focus: { prox: -1 } },
            scales: { x: { time: false, range: () => [0, 1] }, y: { range: () => [0, 1] } },
            axes: [{ ...this.axis(0, look.x, 75), size: 28 * em() }, { ...this.axis(1, look.y, 24), size: 56 * em() }],
            series: [{}, ...series] as uPlot.Series[],
            hooks: { draw: [(plot) => this.drawn(plot)], ...(phase ? {} : { setSelect: [(plot) => this.select(plot)], setCursor: [(plot) => this.point(plot)] }) },
        };
    }

    /** The drawn data are also written as attributes, for screen readers and for test programs. */
    private drawn(plot: uPlot): void {
        const { bbox } = plot;
        const [x, y] = this.ticks;
        if (this.isOverTime)
            drawCursors(plot, this.x);
        this.host.dataset.axes = JSON.stringify({
            x: { span: this.x, labels: x.labels, values: x.values, offset: x.offset, power: x.power, title: titleOf(this.look?.x.name ?? "", this.look?.x.unit ?? "", x) },
            y: { span: this.y, labels: y.labels, values: y.values, offset: y.offset, power: y.power, title: titleOf(this.look?.y.name ?? "", this.look?.y.unit ?? "", y) },
            box: [bbox.left, bbox.top, bbox.width, bbox.height],
        });
    }

    private select(plot: uPlot): void {
        const { left, width } = plot.select;
        if (width < 4)
            return;
        const whole = plot.over.clientWidth;
        zoom(at(left / whole, this.x), at((left + width) / whole, this.x));
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }

    private point(plot: uPlot): void {
        const { left } = plot.cursor;
        pointed.value = left === undefined || left < 0 ? null : at(left / plot.over.clientWidth, this.x);
    }

    private readonly wheel = (event: WheelEvent): void => {
        const { plot } = this;
        if (!plot || !this.isOverTime)
            return;
        event.preventDefault();
        const [min, max] = this.x;
        const frame = plot.over.getBoundingClientRect();
        const here = at((event.clientX - frame.left) / frame.width, this.x);
        if (event.shiftKey) {
            const move = ((max - min) * (event.deltaY + event.deltaX)) / 1000;
            range.value = [min + move, max + move];
            return;
        }
        const factor = Math.exp(event.deltaY * 0.0015);
        zoom(here - (here - min) * factor, here + (max - here) * factor);
    };

    /** Shift pans the times; a click sets cursor A, with Alt cursor B. */
    private readonly press = (event: PointerEvent): void => {
        const { plot } = this;
        if (!plot || event.button !== 0 || !plot.over.contains(event.target as Node) || !this.isOverTime)
            return;
        const frame = plot.over.getBoundingClientRect();
        const [min, max] = this.x;
        const from = at((event.clientX - frame.left) / frame.width, this.x);
        const pans = event.shiftKey;
        if (pans)
            event.stopPropagation();
        const move = (moved: PointerEvent) => {
            if (pans) {
                const shift = ((event.clientX - moved.clientX) / frame.width) * (max - min);
                range.value = [min + shift, max + shift];
            }
        };
        const up = (lifted: PointerEvent) => {
            window.removeEventListener("pointermove", move);
            if (!pans && Math.abs(lifted.clientX - event.clientX) < 3)
                cursors.value = lifted.altKey ? { ...cursors.value, b: from } : { ...cursors.value, a: from };
        };
        window.addEventListener("pointermove", move);
        window.addEventListener("pointerup", up, { once: true });
    };
}

/** Dragging selects times, unless it pans. */
const selects = (_plot: uPlot, target: HTMLElement, handle: (event: MouseEvent) => null) => (event: MouseEvent): null =>
    (event.button === 0 && event.target === target && !event.shiftKey ? handle(event) : null);

/** Shows these times, unless the range is too small for a number in between. */
function zoom(from: number, to: number): void {
    if (to - from > FINEST * Math.max(Math.abs(from), Math.abs(to)))
        range.value = [from, to];
}

/** The point, or the point where the stroke to its neighbour enters. */
function cut(point: readonly [number, number], other: readonly [number, number], from: number, to: number): readonly [number, number] {
    const edge = point[0] < from ? from : point[0] > to ? to : null;
    return edge === null ? point : [edge, at((edge - point[0]) / (other[0] - point[0]), [point[1], other[1]])];
}
