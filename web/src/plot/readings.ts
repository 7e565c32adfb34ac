// SPDX-License-Identifier: MIT
// Values of a run at selected times: from its file or from the latest rows, never from the drawn points.
import { getValues } from "../server/calls";
import { complain } from "../state/view";
import { valueAt } from "./data";
import type { Feed } from "./feed";

const MOST_KNOWN = 200;

export class Readings {
    private readonly known = new Map<number, ReadonlyMap<string, number | null>>();
    private wanted: readonly number[] = [];
    private asking = false;
    /** Counts invalidations: an answer to an earlier request is discarded. */
    private cleared = 0;
    private closed = false;

    constructor(private readonly feed: Feed, private readonly changed: () => void) {}

    /** undefined: not yet known. */
    at(name: string, time: number): number | null | undefined {
        const { run, way } = this.feed;
        const { tail } = run;
        if (way.minus === null && (tail.exact || run.isAttached) && tail.has(name) && tail.covers(time))
            return valueAt(tail.times, tail.list(name), time, this.feed.isHeld(name));
        return run.isAttached ? null : this.known.get(time)?.get(name);
    }

    /** Invalidates all values. */
    clear(): void {
        this.known.clear();
        this.cleared++;
        void this.read();
    }

    want(times: readonly number[]): void {
        this.wanted = times;
        void this.read();
    }

    close(): void {
        this.closed = true;
    }

    private async read(): Promise<void> {
        const { run, way, columns } = this.feed;
        if (this.asking || run.isAttached)
            return;
        this.asking = true;
        for (let missing = this.missing(); missing.length > 0 && !this.closed; missing = this.missing()) {
            try {
                if (this.known.size > MOST_KNOWN)
                    this.known.clear();
                const { cleared } = this;
                const told = await getValues(run.id, columns, missing, way.minus?.id);
                if (cleared === this.cleared)
                    missing.forEach((time, index) => this.known.set(time, new Map(told.columns.map(({ name }, column) => [name, told.values[column]?.[index] ?? null]))));
            } catch (error) {
                complain(error);
                missing.forEach((time) => this.known.set(time, new Map(columns.map((name) => [name, null]))));
            }
            if (!this.closed)
                this.changed();
        }
        this.asking = false;
    }

    private missing(): number[] {
        const { columns } = this.feed;
        return this.wanted.filter((time) => !this.known.has(time) && columns.some((name) => this.at(name, time) === undefined));
    }
}
