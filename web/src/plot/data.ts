// SPDX-License-Identifier: MIT
// Curves as lines: points in drawing order. null is an interruption.

export type Numbers = (number | null)[];

export interface Line {
    readonly x: Numbers;
    readonly y: Numbers;
}

export const NO_LINE: Line = { x: [], y: [] };

/** Rows received since the last request: grows until it is dropped. */
export class Tail {
    readonly times: number[] = [];
    private readonly lists = new Map<string, Numbers>();
    /** Rows per pair of points: the maximum, and the present number. 0: each row is a point. */
    private perPair = 0;
    private inPair = 0;
    /** Each point is a row. */
    exact = true;

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
        this.times.push(time);
    }

    get length(): number {
        return this.times.length;
    }

    /** Removes everything. */
    clear(): void {
        this.dropUntil(Infinity);
        this.perPair = this.inPair = 0;
        this.exact = true;
    }

    /** Removes rows up to this time. */
    dropUntil(time: number): void {
        const first = firstAfter(this.times, time);
        this.times.splice(0, first);
        for (const list of this.lists.values())
            list.splice(0, first);
    }

    /**
     * Halves the points: of four the least and the greatest of each column stay. Later rows are combined likewise, so
     * that the whole past has one resolution. For a run whose past the server does not store.
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
        this.exact = false;
    }

    /** Adds a row to the last pair of points. */
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

    /** Whether it has rows on both sides of this time. */
    covers(time: number): boolean {
        const [first] = this.times;
        return first !== undefined && first <= time && time <= (this.times[this.times.length - 1] as number);
    }
}

/** The index of the first greater entry. */
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

/** A line up to `end`, then the later rows. A held value changes at the next row. */
export function withTail(line: Line, end: number, tail: Tail, name: string, held: boolean): Line {
    const first = firstAfter(tail.times, end);
    if (first >= tail.times.length || !tail.has(name))
        return line;
    const [x, y] = [line.x.slice(), line.y.slice()];
    tail.list(name).slice(first).forEach((value, index) => {
        const time = tail.times[first + index] as number;
        const before = y[y.length - 1];
        if (held && typeof before === "number" && value !== null && value !== before) {
            x.push(time);
            y.push(before);
        }
        x.push(value === null ? null : time);
        y.push(value);
    });
    return { x, y };
}

/** One column over another: a line up to `end`, then the later rows. */
export function withTailOver(line: Line, end: number, tail: Tail, over: string, name: string): Line {
    const first = firstAfter(tail.times, end);
    if (first >= tail.times.length || !tail.has(name) || !tail.has(over))
        return line;
    return { x: line.x.concat(tail.list(over).slice(first)), y: line.y.concat(tail.list(name).slice(first)) };
}

/** Points of a line drawn as stairs: a value is held until the next one. */
export function stairs(times: readonly number[], values: readonly (number | null)[]): Line {
    const tail = new Tail();
    times.forEach((time, row) => tail.push(time, ["y"], () => values[row] ?? null));
    return withTail(NO_LINE, -Infinity, tail, "y", true);
}

/** The points of `whole` outside [from, to], and of `part` inside. */
export function spliced(whole: Line, part: Line, from: number, to: number): Line {
    const [x, y]: [Numbers, Numbers] = [[], []];
    const take = (line: Line, wanted: (time: number) => boolean): void => {
        line.x.forEach((time, index) => {
            const fits = time !== null && wanted(time);
            if (!fits && x[x.length - 1] === null)
                return;
            x.push(fits ? time : null);
            y.push(fits ? line.y[index] ?? null : null);
        });
        x.push(null);
        y.push(null);
    };
    take(whole, (time) => time < from);
    take(part, () => true);
    take(whole, (time) => time > to);
    return { x, y };
}

/** The value of a column at a time: that of the last row if it is held, otherwise interpolated between two rows. */
export function valueAt(times: readonly number[], values: Readonly<Numbers>, time: number, held: boolean): number | null {
    const after = firstAfter(times, time);
    const before = after - 1;
    const left = values[before] ?? null;
    const t0 = times[before];
    if (t0 === undefined || t0 === time || (held && after < times.length))
        return left;
    const right = values[after] ?? null;
    const t1 = times[after];
    if (left === null || right === null || t1 === undefined)
        return null;
    return left + (right - left) * ((time - t0) / (t1 - t0));
}

/** The first and last time of the lines. */
export function endsOf(lines: readonly Line[]): [number, number] | null {
    let [low, high] = [Infinity, -Infinity];
    for (const { x } of lines)
        for (const time of x)
            if (time !== null) {
                low = Math.min(low, time);
                high = Math.max(high, time);
            }
    return low <= high ? [low, high] : null;
}

/** The least and the greatest y for x between `from` and `to`, including strokes that cross these. */
export function extentOf(lines: readonly Line[], from: number, to: number): [number, number] | null {
    let [low, high] = [Infinity, -Infinity];
    const see = (y: number): void => {
        low = Math.min(low, y);
        high = Math.max(high, y);
    };
    for (const { x, y } of lines)
        for (let index = 0; index < x.length; index++) {
            const [x0, y0] = [x[index], y[index]];
            if (x0 == null || y0 == null)
                continue;
            if (x0 >= from && x0 <= to)
                see(y0);
            const [x1, y1] = [x[index + 1], y[index + 1]];
            if (x1 == null || y1 == null)
                continue;
            for (const edge of [from, to])
                if ((x0 < edge) !== (x1 < edge) && x0 !== x1)
                    see(y0 + (y1 - y0) * ((edge - x0) / (x1 - x0)));
        }
    return low <= high ? [low, high] : null;
}
