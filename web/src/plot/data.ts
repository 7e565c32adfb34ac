// SPDX-License-Identifier: MIT
// Points of curves. A table is one list of times, strictly increasing, and a list of values for each column; null is a gap.
import type { Series } from "../server/types";

export type Numbers = (number | null | undefined)[];

export interface Table {
    readonly times: number[];
    readonly values: ReadonlyMap<string, Numbers>;
}

/** The next time that is a little later than the last one: rows of an event have equal times, and plots want increasing ones. */
function later(times: readonly number[], time: number): number {
    const last = times[times.length - 1];
    if (last === undefined || time > last)
        return time;
    return last + Math.max(Math.abs(last), 1e-9) * 1e-13;
}

/** Points of a decimated series: a piece of several rows becomes two points, its least and its greatest value. */
export function tableOf(series: Series): Table {
    const times: number[] = [];
    const lists = series.columns.map((): Numbers => []);
    const count = series.times.length;
    for (let piece = 0; piece < count; piece++) {
        const time = series.times[piece] ?? 0;
        const next = series.times[piece + 1] ?? time;
        const wide = lists.some((_list, column) => series.least[column]?.[piece] !== series.greatest[column]?.[piece]);
        times.push(later(times, time));
        if (!wide) {
            lists.forEach((list, column) => list.push(series.values[column]?.[piece] ?? null));
            continue;
        }
        times.push(later(times, time + (next - time) / 2));
        lists.forEach((list, column) => {
            const least = series.least[column]?.[piece] ?? null;
            const greatest = series.greatest[column]?.[piece] ?? null;
            const before = list[list.length - 1];
            const falls = typeof before === "number" && least !== null && greatest !== null && Math.abs(before - greatest) < Math.abs(before - least);
            list.push(falls ? greatest : least, falls ? least : greatest);
        });
    }
    return { times, values: new Map(series.columns.map((column, index) => [column.name, lists[index] ?? []])) };
}

/** Rows that came since: grows until it is dropped. */
export class Tail {
    readonly times: number[] = [];
    private readonly lists = new Map<string, Numbers>();
    /** Rows that become two points: at most, so far. 0: each row is a point. */
    private perPair = 0;
    private inPair = 0;

    list(name: string): Numbers {
        let list = this.lists.get(name);
        if (!list) {
            list = new Array<null>(this.times.length).fill(null);
            this.lists.set(name, list);
        }
        return list;
    }

    push(time: number, names: readonly string[], value: (column: number) => number | null): void {
        if (this.inPair < this.perPair) {
            this.join(names, value);
            return;
        }
        this.append(time, names, value);
        if (this.perPair > 0) {
            this.append(time, names, value);
            this.inPair = 1;
        }
    }

    private append(time: number, names: readonly string[], value: (column: number) => number | null): void {
        for (let column = 0; column < names.length; column++)
            this.list(names[column] as string).push(value(column));
        this.times.push(later(this.times, time));
    }

    get length(): number {
        return this.times.length;
    }

    /** Forgets everything. */
    clear(): void {
        this.dropUntil(Infinity);
        this.perPair = this.inPair = 0;
    }

    /** Forgets rows up to this time. */
    dropUntil(time: number): void {
        const first = firstAfter(this.times, time);
        this.times.splice(0, first);
        for (const list of this.lists.values())
            list.splice(0, first);
    }

    /**
     * Half as many points: of four the least and the greatest of each column stay. Rows that follow are joined alike, so that all of the past is
     * equally fine. For a run whose past no server keeps.
     */
    thin(): void {
        const until = this.times.length - (this.times.length % 4);
        const keep = <T>(list: T[], pair: (at: number) => [T, T]): void => {
            for (let at = 0; at < until; at += 4)
                [list[at / 2], list[at / 2 + 1]] = pair(at);
            list.splice(until / 2, until / 2);
        };
        for (const list of this.lists.values())
            keep(list, (at) => {
                const four = list.slice(at, at + 4).filter((value): value is number => typeof value === "number");
                return four.length === 0 ? [null, null] : [Math.min(...four), Math.max(...four)];
            });
        keep(this.times, (at) => [this.times[at] as number, this.times[at + 2] as number]);
        this.perPair = this.perPair === 0 ? 4 : 2 * this.perPair;
        this.inPair = this.perPair;
    }

    /** A row goes into the last pair of points. */
    private join(names: readonly string[], value: (column: number) => number | null): void {
        const [low, high] = [this.times.length - 2, this.times.length - 1];
        names.forEach((name, column) => {
            const list = this.list(name);
            const given = value(column);
            if (given !== null) {
                list[low] = Math.min(list[low] ?? Infinity, given);
                list[high] = Math.max(list[high] ?? -Infinity, given);
            }
        });
        this.inPair++;
    }

    has(name: string): boolean {
        return this.lists.has(name);
    }
}

/** The number of the first entry that is greater. */
export function firstAfter(times: readonly number[], time: number): number {
    let [low, high] = [0, times.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((times[middle] as number) > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/** What is known, then what came since. */
export function extended(table: Table, tail: Tail, names: readonly string[]): Table {
    const end = table.times[table.times.length - 1] ?? -Infinity;
    const first = firstAfter(tail.times, end);
    if (first >= tail.times.length)
        return table;
    const times = table.times.concat(tail.times.slice(first));
    const values = new Map(names.map((name) => [name, (table.values.get(name) ?? new Array<null>(table.times.length).fill(null)).concat(tail.has(name) ? tail.list(name).slice(first) : new Array<null>(times.length - table.times.length).fill(null))]));
    return { times, values };
}

/** The value of a column at a time, on a line between its points. */
export function valueAt(times: readonly number[], values: Readonly<Numbers>, time: number): number | null {
    const after = firstAfter(times, time);
    const before = after - 1;
    if (before < 0 || times.length === 0)
        return null;
    const left = values[before];
    if (after >= times.length)
        return times[before] === time || before === times.length - 1 && time <= (times[before] as number) ? left ?? null : null;
    const right = values[after];
    if (typeof left !== "number" || typeof right !== "number")
        return left ?? null;
    const [t0, t1] = [times[before] as number, times[after] as number];
    return left + (right - left) * ((time - t0) / (t1 - t0));
}

/** One column minus another, at the times of the first. */
export function difference(times: readonly number[], values: Readonly<Numbers>, otherTimes: readonly number[], otherValues: Readonly<Numbers>): Numbers {
    return times.map((time, index) => {
        const mine = values[index];
        const other = valueAt(otherTimes, otherValues, time);
        return typeof mine === "number" && other !== null ? mine - other : null;
    });
}
