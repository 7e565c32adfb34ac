// SPDX-License-Identifier: MIT
// One plot: uPlot with the page's colours, zoom by dragging, pan with Shift, wheel, measuring cursors.
import uPlot from "uplot";
import { cursors, pointed, range } from "./panels";
import { css } from "./colours";
import type { Numbers } from "./data";

export interface Curve {
    readonly label: string;
    readonly colour: string;
    readonly dashed: boolean;
    /** Values hold until the next one. */
    readonly held: boolean;
}

export interface Look {
    readonly curves: readonly Curve[];
    readonly log: boolean;
    readonly phase: boolean;
    readonly xLabel: string;
    readonly yLabel: string;
}

/** Texts of plots grow with those of the page. */
const em = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) / 13.5;
const font = (): string => `${Math.round(12 * em())}px system-ui, "Segoe UI", Roboto, sans-serif`;

function axis(label: string): uPlot.Axis {
    return {
        ...(label ? { label, labelSize: 18 * em(), labelFont: font() } : {}), font: font(), stroke: () => css("--text-soft"), gap: 4,
        grid: { stroke: () => css("--plot-grid"), width: 1 }, ticks: { stroke: () => css("--plot-grid"), width: 1, size: 4 },
    };
}

function tickLabel(value: number): string {
    if (value === 0)
        return "0";
    const size = Math.abs(value);
    return size >= 1e5 || size < 1e-3 ? value.toExponential(1).replace("e+", "e").replace(".0e", "e") : String(Number(value.toPrecision(6)));
}

/** Points joined in the order of time, whatever their x. */
function phasePath(plot: uPlot, series: number): uPlot.Series.Paths | null {
    const facets = plot.data[series] as unknown as [Numbers, Numbers] | undefined;
    if (!facets)
        return null;
    const [xs, ys] = facets;
    const stroke = new Path2D();
    let open = false;
    for (let index = 0; index < xs.length; index++) {
        const [x, y] = [xs[index], ys[index]];
        if (typeof x !== "number" || typeof y !== "number") {
            open = false;
            continue;
        }
        const [px, py] = [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)];
        if (open)
            stroke.lineTo(px, py);
        else
            stroke.moveTo(px, py);
        open = true;
    }
    return { stroke, fill: new Path2D(), clip: null, band: null, gaps: null, flags: 0 } as unknown as uPlot.Series.Paths;
}

/** Lines of one pixel are drawn twenty times as fast as wider ones: those of many curves are, from pixel to pixel, where those of few are smooth. */
const MANY = 12;
const widthOf = (curves: number): number => (curves > MANY ? 1 / devicePixelRatio : 1.6 * em());

function seriesOf({ label, colour, dashed, held }: Curve, phase: boolean, width: number): uPlot.Series {
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    return {
        label, stroke: colour, width, pxAlign: width > 1 ? 0 : 1, ...(dashed ? { dash: [6, 4] } : {}), points: { show: false },
        ...(phase ? { facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: phasePath } : held && stepped ? { paths: stepped } : {}),
    } as uPlot.Series;
}

function drawCursors(plot: uPlot): void {
    const { ctx, bbox } = plot;
    for (const [name, time] of Object.entries(cursors.value)) {
        if (time === null)
            continue;
        const x = plot.valToPos(time, "x", true);
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
    private readonly observer: ResizeObserver;

    constructor(private readonly host: HTMLElement, private readonly zoomed: () => boolean) {
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

    /** Shows this. Made anew only where more than the data changed. */
    show(look: Look, data: uPlot.AlignedData, theme: number): void {
        const shape = JSON.stringify([look, theme]);
        if (this.plot && shape === this.shape) {
            this.plot.setData(data, !this.zoomed());
            return;
        }
        this.shape = shape;
        this.plot?.destroy();
        this.plot = new uPlot(this.options(look), data, this.host);
        this.applyRange();
    }

    applyRange(): void {
        const { plot } = this;
        if (!plot || (plot as unknown as { mode: number }).mode === 2)
            return;
        const wanted = range.value;
        if (wanted)
            plot.setScale("x", { min: wanted[0], max: wanted[1] });
        else
            plot.setData(plot.data, true);
    }

    redraw(): void {
        this.plot?.redraw(false);
    }

    private size(): { width: number; height: number } {
        return { width: Math.max(80, this.host.clientWidth), height: Math.max(60, this.host.clientHeight) };
    }

    private resize(): void {
        this.plot?.setSize(this.size());
    }

    private options(look: Look): uPlot.Options {
        const { phase } = look;
        const width = widthOf(look.curves.length);
        return {
            ...this.size(), mode: phase ? 2 : 1, legend: { show: false },
            cursor: { drag: { x: !phase, y: phase, setScale: false }, points: { show: !phase }, y: false, ...(phase ? {} : { sync: { key: "tutti-time", setSeries: false } }), focus: { prox: -1 } },
            scales: { x: { time: false }, y: { distr: look.log ? 3 : 1 } },
            axes: [{ ...axis(look.xLabel), size: 28 * em(), values: (_plot, splits) => splits.map((value) => (value === null ? "" : tickLabel(value))) },
                   { ...axis(look.yLabel), size: 50 * em(), values: (_plot, splits) => splits.map((value) => (value === null ? "" : tickLabel(value))) }],
            series: phase ? ([null, ...look.curves.map((curve) => seriesOf(curve, true, width))] as unknown as uPlot.Series[]) : [{}, ...look.curves.map((curve) => seriesOf(curve, false, width))],
            hooks: phase ? {} : { setSelect: [(plot) => this.select(plot)], draw: [drawCursors], setCursor: [(plot) => this.point(plot)] },
        };
    }

    private select(plot: uPlot): void {
        const { left, width } = plot.select;
        if (width < 4)
            return;
        range.value = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }

    private point(plot: uPlot): void {
        const { left } = plot.cursor;
        pointed.value = left === undefined || left < 0 ? null : plot.posToVal(left, "x");
    }

    private readonly wheel = (event: WheelEvent): void => {
        const { plot } = this;
        const { min, max } = plot?.scales.x ?? {};
        if (!plot || min == null || max == null || (plot as unknown as { mode: number }).mode === 2)
            return;
        event.preventDefault();
        const left = event.clientX - plot.over.getBoundingClientRect().left;
        const at = plot.posToVal(left, "x");
        if (event.shiftKey) {
            const move = ((max - min) * (event.deltaY + event.deltaX)) / 1000;
            range.value = [min + move, max + move];
            return;
        }
        const factor = Math.exp(event.deltaY * 0.0015);
        range.value = [at - (at - min) * factor, at + (max - at) * factor];
    };

    /** Shift drags the times along; a click sets cursor A, with Alt cursor B. */
    private readonly press = (event: PointerEvent): void => {
        const { plot } = this;
        if (!plot || event.button !== 0 || !plot.over.contains(event.target as Node) || (plot as unknown as { mode: number }).mode === 2)
            return;
        const frame = plot.over.getBoundingClientRect();
        const from = plot.posToVal(event.clientX - frame.left, "x");
        const { min, max } = plot.scales.x ?? {};
        const pans = event.shiftKey && min != null && max != null;
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
