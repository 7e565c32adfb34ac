// SPDX-License-Identifier: MIT
// One run on the page: the data of its stream, and the rows received since all rows were last requested.
import { batch, signal, Signal } from "@preact/signals";
import { Tail } from "../plot/data";
import { getRun, getSteps } from "../server/calls";
import type { StreamEvent } from "../server/parser";
import { follow } from "../server/stream";
import type { Column, Message, Run, RunState, Steps, UnitStatistics } from "../server/types";
import { complain } from "./view";

const MOST_ROWS = 6000;
const MOST_MESSAGES = 2000;

export interface Progress {
    readonly start: number;
    readonly stop: number;
    readonly time: number;
    readonly step: number;
    readonly steps: number;
    readonly elapsed: number;
    readonly paused: boolean;
}

/** Macro steps, in pieces. */
interface StepPieces {
    readonly from: readonly number[];
    readonly to: readonly number[];
    readonly count: readonly number[];
    readonly least: readonly (number | null)[];
    readonly greatest: readonly (number | null)[];
    readonly error: readonly (number | null)[];
    readonly rejected: number;
    readonly located: number;
    readonly events: readonly number[];
}

/** Steps as reported while the run is active. */
export interface LiveSteps {
    readonly times: readonly number[];
    readonly least: readonly (number | null)[];
    readonly greatest: readonly (number | null)[];
    readonly errors: readonly (number | null)[];
    readonly events: readonly number[];
    readonly rejected: number;
    readonly located: number;
}

/** The load of a rank's units, in total and recently. */
export interface Load {
    readonly rank: number;
    readonly elapsed: number;
    readonly units: readonly UnitStatistics[];
    readonly share: number | null;
}

const MOST_PIECES = 2000;
const MOST_EVENTS = 200;
const NO_STEPS: LiveSteps = { times: [], least: [], greatest: [], errors: [], events: [], rejected: 0, located: 0 };

interface Rows {
    readonly first?: number;
    readonly time: readonly number[];
    readonly values: readonly (readonly (number | null)[])[];
}

interface Bars {
    readonly from: readonly number[];
    readonly to: readonly number[];
    readonly least: readonly (readonly (number | null)[])[];
    readonly greatest: readonly (readonly (number | null)[])[];
    readonly values: readonly (readonly (number | null)[])[];
}

const list = (value: number | readonly number[]): readonly number[] => (typeof value === "number" ? [value] : value);

export const over = (state: RunState): boolean => state === "done" || state === "failed" || state === "interrupted" || state === "lost";

export const runName = (id: string): string => id.slice(id.lastIndexOf("-") + 1);

export class LiveRun {
    readonly info: Signal<Run>;
    readonly state: Signal<RunState>;
    readonly columns: Signal<readonly Column[]>;
    readonly progress = signal<Progress | null>(null);
    readonly messages: Signal<readonly Message[]>;
    readonly steps = signal<Steps | null>(null);
    readonly liveSteps = signal<LiveSteps>(NO_STEPS);
    /** By rank. */
    readonly loads = signal<ReadonlyMap<number, Load>>(new Map());
    /** Counts what changes the curves. */
    readonly grown = signal(0);
    /** Counts the requests for the whole past. */
    readonly stale = signal(0);
    /** Last values, by column. */
    readonly latest = new Map<string, number | null>();
    readonly tail = new Tail();

    private order: readonly Column[] = [];
    private patience = 100;
    private stop: (() => void) | null = null;

    constructor(run: Run) {
        this.info = signal(run);
        this.state = signal(run.state);
        this.columns = signal(run.columns ?? []);
        this.messages = signal(run.messages ?? []);
        this.watch();
    }

    /** Its short name: the end of its id. */
    get name(): string {
        return runName(this.id);
    }

    get id(): string {
        return this.info.value.id;
    }

    /** Follows the run while it is active. */
    watch(): void {
        this.close();
        if (over(this.state.value)) {
            void this.refresh();
            return;
        }
        const past = this.isAttached ? "rows;steps" : "steps";
        this.stop = follow(`runs/${encodeURIComponent(this.id)}/events`, { past }, (event) => this.take(event), () => this.opened(), () => void this.ended());
    }

    /** A run of the command line: it has no file, its past comes with the stream. */
    get isAttached(): boolean {
        return this.id === "attached";
    }

    /** A stream begins: earlier rows are in the file, or, without a file, at its beginning. Rows of a broken stream would not be contiguous. */
    private opened(): void {
        this.tail.clear();
        this.liveSteps.value = NO_STEPS;
        this.stale.value++;
    }

    /** The stream has ended: the run has ended, or has not begun yet, or its last messages are not stored yet. */
    private async ended(): Promise<void> {
        const known = this.state.value;
        await this.refresh();
        if (over(known) && !over(this.state.value))
            this.state.value = known;
        if (over(this.info.value.state) && this.info.value.statistics !== undefined)
            return;
        if (this.patience-- > 0)
            setTimeout(() => (over(this.state.value) ? void this.ended() : this.watch()), 300);
    }

    close(): void {
        this.stop?.();
        this.stop = null;
    }

    /** Requests all data about the run. */
    async refresh(): Promise<void> {
        try {
            const run = await getRun(this.id);
            batch(() => {
                this.info.value = run;
                this.state.value = run.state;
                if (run.columns)
                    this.columns.value = run.columns;
                if (run.messages)
                    this.messages.value = run.messages;
                this.stale.value++;
            });
        } catch (error) {
            complain(error);
        }
        void this.readSteps();
    }

    async readSteps(): Promise<void> {
        try {
            this.steps.value = await getSteps(this.id, 1000);
        } catch {
            // a run without a log of its steps: the page shows what progress said
        }
    }

    private take({ name, data }: StreamEvent): void {
        switch (name) {
        case "run": return this.begin(data as Run & { columns: readonly Column[] });
        case "rows": return this.addRows(data as Rows);
        case "bars": return this.addBars(data as Bars);
        case "progress": return this.advance(data as Progress);
        case "steps": return this.addSteps(data as StepPieces);
        case "load": return this.addLoad(data as Omit<Load, "share">);
        case "state": this.state.value = (data as { state: RunState }).state; return;
        case "message": this.messages.value = [...this.messages.value, data as Message].slice(-MOST_MESSAGES); return;
        case "end": this.state.value = (data as { state: RunState }).state; return;
        }
    }

    private begin(run: { columns?: readonly Column[]; state?: RunState }): void {
        this.order = run.columns ?? [];
        batch(() => {
            this.columns.value = this.order;
            if (run.state)
                this.state.value = run.state;
        });
    }

    private addRows(rows: Rows): void {
        const names = this.order.map((column) => column.name);
        rows.time.forEach((time, row) => this.tail.push(time, names, (column) => rows.values[column]?.[row] ?? null));
        this.keepLatest(names, (column) => rows.values[column]?.[rows.time.length - 1] ?? null);
    }

    private addBars(bars: Bars): void {
        const names = this.order.map((column) => column.name);
        const from = list(bars.from);
        const to = list(bars.to);
        from.forEach((time, piece) => {
            const end = to[piece] ?? time;
            this.tail.push(time, names, (column) => bars.least[column]?.[piece] ?? null);
            this.tail.push((time + end) / 2, names, (column) => bars.greatest[column]?.[piece] ?? null);
            this.tail.push(end, names, (column) => bars.values[column]?.[piece] ?? null);
        });
        this.tail.exact = false;
        this.keepLatest(names, (column) => bars.values[column]?.[from.length - 1] ?? null);
    }

    private keepLatest(names: readonly string[], value: (column: number) => number | null): void {
        names.forEach((name, column) => this.latest.set(name, value(column)));
        this.grown.value++;
        if (this.tail.length > MOST_ROWS && this.isAttached) {
            this.tail.thin();
        } else if (this.tail.length > MOST_ROWS) {
            this.tail.dropUntil(this.tail.times[this.tail.length - MOST_ROWS / 2] as number);
            this.stale.value++;
        }
    }

    private advance(progress: Progress): void {
        this.progress.value = progress;
        const paused = progress.paused ? "paused" : "running";
        if (this.state.value !== paused && !over(this.state.value))
            this.state.value = paused;
    }

    private addSteps(pieces: StepPieces): void {
        const known = this.liveSteps.value;
        const add = <T>(list: readonly T[], more: readonly T[]): readonly T[] => [...list, ...more].slice(-MOST_PIECES);
        this.liveSteps.value = {
            times: add(known.times, pieces.from), least: add(known.least, pieces.least), greatest: add(known.greatest, pieces.greatest), errors: add(known.errors, pieces.error),
            events: [...known.events, ...pieces.events].slice(-MOST_EVENTS), rejected: pieces.rejected, located: pieces.located,
        };
    }

    private addLoad(load: Omit<Load, "share">): void {
        const before = this.loads.value.get(load.rank);
        const sum = (units: readonly UnitStatistics[]) => units.reduce((total, unit) => total + unit.seconds, 0);
        const passed = before ? load.elapsed - before.elapsed : 0;
        const share = before && passed > 0 ? Math.min(1, Math.max(0, (sum(load.units) - sum(before.units)) / passed)) : null;
        const units = load.units.map((unit) => ({ ...unit, rank: load.rank }));
        this.loads.value = new Map(this.loads.value).set(load.rank, { ...load, units, share });
    }
}
