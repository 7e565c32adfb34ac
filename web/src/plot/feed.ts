// SPDX-License-Identifier: MIT
// Loads the lines of some columns of a run for a panel: the past from the server, one point per pixel, then rows as
// they arrive.
import { getSeries } from "../server/calls";
import type { Series } from "../server/types";
import { busy } from "../state/busy";
import { complain } from "../state/view";
import { LiveRun, over } from "../state/run";
import { Line, NO_LINE, spliced, withTail, withTailOver } from "./data";

export type Range = readonly [number, number] | null;

/** Transformations of a run's values. */
export interface Way {
    /** Subtracted. */
    readonly minus: LiveRun | null;
    /** The column of the x axis; null: time. */
    readonly over: string | null;
    /** Values that are not positive are gaps. */
    readonly log: boolean;
}

const PAUSE = 60;
const GAP = 1500;

/** The server's answer. */
class Answer {
    readonly lines: ReadonlyMap<string, Line>;
    readonly last: ReadonlyMap<string, number | null>;
    private readonly held: ReadonlyMap<string, boolean>;
    readonly end: number;

    constructor(series: Series) {
        const of = <T>(list: readonly T[], none: T) => new Map(series.columns.map(({ name }, index) => [name, list[index] ?? none]));
        this.lines = of(series.lines, NO_LINE);
        this.last = of(series.last.map(([value]) => value ?? null), null);
        this.held = new Map(series.columns.map(({ name, held }) => [name, held ?? false]));
        this.end = series.to ?? -Infinity;
    }

    isHeld(name: string): boolean | undefined {
        return this.held.get(name);
    }
}

const NOTHING = new Answer({ columns: [], rows: 0, from: null, to: null, last: [], lines: [] });

export class Feed {
    private base = NOTHING;
    private detail: { readonly answer: Answer; readonly from: number; readonly to: number } | null = null;
    private readonly stop = new AbortController();
    private filling = false;
    private wanted: { readonly range: Range; readonly points: number; readonly done: () => void } | null = null;
    private last: { readonly range: Range; readonly points: number } = { range: null, points: 1000 };
    private working = false;

    /** `changed` is called with a function to call after the present data is drawn. */
    constructor(readonly run: LiveRun, readonly columns: readonly string[], readonly way: Way, private readonly changed: (drawn: () => void) => void) {}

    /** The present data of a column. */
    line(name: string): Line {
        this.fillGap();
        const { base, detail, way, run } = this;
        const past = base.lines.get(name) ?? NO_LINE;
        if (way.over !== null)
            return withTailOver(past, base.end, run.tail, way.over, name);
        const whole = this.grown(past, base.end, name);
        if (!detail)
            return whole;
        const part = detail.answer.lines.get(name) ?? NO_LINE;
        const isLast = detail.to >= detail.answer.end;
        return spliced(whole, isLast ? this.grown(part, detail.answer.end, name) : part, detail.from, isLast ? Infinity : detail.to);
    }

    isHeld(name: string): boolean {
        return this.base.isHeld(name) ?? !/^Float|^Real|^$/.test(this.run.columns.value.find((column) => column.name === name)?.type ?? "");
    }

    /** The time of the last row received. */
    get end(): number {
        const { times } = this.run.tail;
        return this.way.minus ? this.base.end : Math.max(this.base.end, times[times.length - 1] ?? -Infinity);
    }

    /** The value at the end: from the file, or from a later row. */
    lastValue(name: string): number | null {
        return (this.end > this.base.end ? this.run.latest : this.base.last).get(name) ?? null;
    }

    private grown(line: Line, end: number, name: string): Line {
        return this.way.minus ? line : withTail(line, end, this.run.tail, name, this.isHeld(name));
    }

    /** Rows written before the stream began may reach the server's file later: repeats the request until nothing is missing. */
    private fillGap(): void {
        const { base, detail, run, filling } = this;
        const [first] = run.tail.times;
        const known = detail ? (detail.to < detail.answer.end ? Infinity : detail.answer.end) : base.end;
        const end = known === -Infinity ? run.info.value.start ?? 0 : known;
        const step = (run.tail.times[1] ?? first ?? 0) - (first ?? 0);
        if (first === undefined || first <= end + 2 * step || filling || run.isAttached || over(run.state.value))
            return;
        this.askLater(busy());
    }

    /** Requests the past again after a delay. */
    askLater(done = (): void => {}): void {
        if (this.filling)
            return;
        this.filling = true;
        setTimeout(() => {
            this.filling = false;
            if (!this.stop.signal.aborted && !over(this.run.state.value))
                this.ask(this.last.range, this.last.points);
            done();
        }, GAP);
    }

    /** Requests the past again soon. */
    ask(range: Range, points: number): void {
        this.wanted?.done();
        this.wanted = { range, points, done: busy() };
        this.last = { range, points };
        if (!this.working)
            void this.work();
    }

    close(): void {
        this.stop.abort();
        this.wanted?.done();
        this.wanted = null;
    }

    /** One request at a time; requests in between are combined into the next. */
    private async work(): Promise<void> {
        this.working = true;
        while (this.wanted) {
            await new Promise((go) => setTimeout(go, PAUSE));
            const { wanted } = this;
            this.wanted = null;
            if (!wanted)
                break;
            await this.read(wanted.range, wanted.points);
            if (this.stop.signal.aborted)
                wanted.done();
            else
                this.changed(wanted.done);
        }
        this.working = false;
    }

    private async read(range: Range, points: number): Promise<void> {
        const { run, way } = this;
        if (run.isAttached) // all that there is came with the stream
            return;
        const known = new Set(run.columns.value.map((column) => column.name));
        const columns = this.columns.filter((name) => known.has(name));
        if (columns.length === 0)
            return;
        try {
            const answer = new Answer(await getSeries(run.id, columns, {
                points, ...(range ? { from: range[0], to: range[1] } : {}), ...(way.minus ? { minus: way.minus.id } : {}),
                ...(way.over === null ? {} : { over: way.over }), ...(way.log ? { log: 1 } : {}),
            }, this.stop.signal));
            this.detail = range ? { answer, from: range[0], to: range[1] } : null;
            if (!range)
                this.base = answer;
            const [lastRow = -Infinity] = run.tail.times.slice(-1);
            for (const [name, value] of way.minus ? [] : answer.last) // the file may be read a little later than rows come
                if (answer.end >= lastRow || !run.latest.has(name))
                    run.latest.set(name, value);
        } catch (error) {
            complain(error);
        }
    }
}
