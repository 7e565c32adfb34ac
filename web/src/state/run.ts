// SPDX-License-Identifier: MIT
// One run as the page sees it: what its stream says, the rows that came since the last time that the server was asked for all of them.
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
    readonly units?: readonly UnitStatistics[];
    readonly error?: number | null;
}

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
    /** Counts what changes the curves. */
    readonly grown = signal(0);
    /** Counts the times that the past is to be asked for again. */
    readonly stale = signal(0);
    /** Last values, by column. */
    readonly latest = new Map<string, number | null>();
    readonly tail = new Tail();
    readonly paceOfSteps: { time: number; step: number }[] = [];

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

    /** What people call it: the end of its id. */
    get name(): string {
        return runName(this.id);
    }

    get id(): string {
        return this.info.value.id;
    }

    /** Follows the run, if it goes on. */
    watch(): void {
        this.close();
        if (over(this.state.value)) {
            void this.refresh();
            return;
        }
        this.stop = follow(`runs/${encodeURIComponent(this.id)}/events`, {}, (event) => this.take(event), () => this.stale.value++, () => void this.ended());
    }

    /** The stream is over: so is the run, or it has not begun yet, or its last words have not been written down yet. */
    private async ended(): Promise<void> {
        const known = this.state.value;
        await this.refresh();
        if (over(known) && !over(this.state.value))
            this.state.value = known;
        if (over(this.state.value) && this.info.value.statistics !== undefined)
            return;
        if (this.patience-- > 0)
            setTimeout(() => (over(this.state.value) ? void this.ended() : this.watch()), 300);
    }

    close(): void {
        this.stop?.();
        this.stop = null;
    }

    /** Asks for all that the server knows of the run. */
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
            this.tail.push(time, names, (column) => bars.least[column]?.[piece] ?? null);
            this.tail.push(to[piece] ?? time, names, (column) => bars.greatest[column]?.[piece] ?? null);
        });
        this.keepLatest(names, (column) => bars.values[column]?.[from.length - 1] ?? null);
    }

    private keepLatest(names: readonly string[], value: (column: number) => number | null): void {
        names.forEach((name, column) => this.latest.set(name, value(column)));
        this.grown.value++;
        if (this.tail.length > MOST_ROWS) {
            this.tail.dropUntil(this.tail.times[this.tail.length - MOST_ROWS / 2] as number);
            this.stale.value++;
        }
    }

    private advance(progress: Progress): void {
        this.progress.value = progress;
        const paused = progress.paused ? "paused" : "running";
        if (this.state.value !== paused && !over(this.state.value))
            this.state.value = paused;
        const last = this.paceOfSteps[this.paceOfSteps.length - 1];
        if (!last || progress.time > last.time)
            this.paceOfSteps.push({ time: progress.time, step: progress.step });
        if (this.paceOfSteps.length > 4000)
            this.paceOfSteps.splice(0, 2000);
    }
}
