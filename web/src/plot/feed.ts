// SPDX-License-Identifier: MIT
// Brings the points of some columns of a run to a panel: the past from the server, decimated to the pixels there are, then rows as they come.
import { getSeries } from "../server/calls";
import { complain } from "../state/view";
import type { LiveRun } from "../state/run";
import { extended, Table, tableOf } from "./data";

const EMPTY: Table = { times: [], values: new Map() };
const PAUSE = 120;

export class Feed {
    private base: Table = EMPTY;
    private detail: Table | null = null;
    private asking: AbortController | null = null;
    private timer: ReturnType<typeof setTimeout> | undefined;

    constructor(readonly run: LiveRun, readonly columns: readonly string[], private readonly changed: () => void) {}

    /** What is known now, in the range that was asked for last. */
    table(): Table {
        return this.detail ?? extended(this.base, this.run.tail, this.columns);
    }

    /** Asks for the past again, soon. */
    ask(range: readonly [number, number] | null, points: number): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.read(range, points), PAUSE);
    }

    close(): void {
        clearTimeout(this.timer);
        this.asking?.abort();
    }

    private async read(range: readonly [number, number] | null, points: number): Promise<void> {
        this.asking?.abort();
        this.asking = new AbortController();
        const known = new Set(this.run.columns.value.map((column) => column.name));
        const columns = this.columns.filter((name) => known.has(name));
        if (columns.length === 0)
            return;
        try {
            const span = range ? { from: range[0], to: range[1] } : {};
            const table = tableOf(await getSeries(this.run.id, columns, { ...span, points }, this.asking.signal));
            if (range) {
                this.detail = table;
            } else {
                this.detail = null;
                this.base = table;
                for (const name of columns)
                    this.keepLast(name, table);
            }
            this.changed();
        } catch (error) {
            complain(error);
        }
    }

    private keepLast(name: string, table: Table): void {
        const last = table.values.get(name)?.[table.times.length - 1];
        if (last !== undefined && !this.run.latest.has(name))
            this.run.latest.set(name, last);
    }
}
