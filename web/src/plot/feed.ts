// SPDX-License-Identifier: MIT
// Brings the points of some columns of a run to a panel: the past from the server, decimated to the pixels there are, then rows as they come.
import { getSeries } from "../server/calls";
import { complain } from "../state/view";
import { LiveRun, over } from "../state/run";
import { extended, Table, tableOf } from "./data";

const EMPTY: Table = { times: [], values: new Map() };
const PAUSE = 120;
const GAP = 1500;

export class Feed {
    private base: Table = EMPTY;
    private detail: Table | null = null;
    private asking: AbortController | null = null;
    private filling = false;
    private points = 1000;
    private timer: ReturnType<typeof setTimeout> | undefined;

    constructor(readonly run: LiveRun, readonly columns: readonly string[], private readonly changed: () => void) {}

    /** What is known now, in the range that was asked for last. */
    table(): Table {
        this.fillGap();
        return this.detail ?? extended(this.base, this.run.tail, this.columns);
    }

    /** Rows that were written before the stream began may come to the server's file a little later: ask again until nothing is missing. */
    private fillGap(): void {
        const { base, run, filling } = this;
        const [first] = run.tail.times;
        const end = base.times[base.times.length - 1] ?? run.info.value.start ?? 0;
        const step = (run.tail.times[1] ?? first ?? 0) - (first ?? 0);
        if (first === undefined || first <= end + 2 * step || filling || this.detail || run.isAttached || over(run.state.value))
            return;
        this.filling = true;
        setTimeout(() => {
            this.filling = false;
            void this.read(null, this.points);
        }, GAP);
    }

    /** Asks for the past again, soon. */
    ask(range: readonly [number, number] | null, points: number): void {
        clearTimeout(this.timer);
        this.points = points;
        this.timer = setTimeout(() => void this.read(range, points), PAUSE);
    }

    close(): void {
        clearTimeout(this.timer);
        this.asking?.abort();
    }

    private async read(range: readonly [number, number] | null, points: number): Promise<void> {
        this.asking?.abort();
        this.asking = new AbortController();
        if (this.run.isAttached) { // all that there is came with the stream
            this.changed();
            return;
        }
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
