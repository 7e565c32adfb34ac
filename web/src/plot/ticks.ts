// SPDX-License-Identifier: MIT
// The ticks of an axis and their labels. All labels are different: if the digits do not suffice, a round number is
// subtracted, or a power of ten divided out, which the axis shows.

export interface Ticks {
    readonly values: readonly number[];
    readonly labels: readonly string[];
    /** The number subtracted from each label. */
    readonly offset: number;
    /** Labels are multiples of ten to this power. */
    readonly power: number;
}

/** The maximum length of a label without its sign. */
const LONGEST = 7;

const decimalExponent = (value: number): number => Number(value.toExponential().split("e")[1]);
/** A number of few digits times a power of ten, as exactly as possible. */
const scaled = (digits: number, power: number): number => Number(`${digits}e${power}`);

/** The least number of the form 1, 2, 2.5, 5 times a power of ten that is not less. */
function stepOf(least: number): { readonly digits: number; readonly power: number } {
    const power = decimalExponent(least);
    const first = least / scaled(1, power);
    const digits = [1, 2, 2.5, 5].find((each) => each >= first * (1 - 1e-12));
    return digits === undefined ? { digits: 1, power: power + 1 } : { digits, power };
}

/** Labels of counts * ten to a power, if they are short enough. */
function written(counts: readonly number[], power: number): Pick<Ticks, "labels" | "power"> | null {
    const fine = counts.some((count) => count % 1 !== 0) ? power - 1 : power;
    const size = Math.max(...counts.map(Math.abs));
    const top = size === 0 ? 0 : decimalExponent(size) + power;
    const of = (taken: number) => {
        const decimals = Math.max(0, taken - fine);
        return decimals > 20 ? null : counts.map((count) => (count === 0 ? "0" : scaled(count, power - taken).toFixed(decimals)));
    };
    const short = (labels: readonly string[] | null): labels is readonly string[] => labels !== null && labels.every((label) => label.replace("-", "").length <= LONGEST);
    const plain = top < 9 ? of(0) : null;
    if (short(plain))
        return { labels: plain, power: 0 };
    const taken = 3 * Math.floor(top / 3);
    const labels = of(taken);
    return short(labels) ? { labels, power: taken } : null;
}

/** About `most` ticks from `min` to `max`. */
export function ticksOf(min: number, max: number, most: number): Ticks {
    const span = Math.min(max - min, Number.MAX_VALUE);
    if (!(span > 0))
        return { values: [], labels: [], offset: 0, power: 0 };
    const { digits, power } = stepOf(Math.max(span / Math.max(1, most), Number.MIN_VALUE));
    const step = scaled(digits, power);
    const [first, last] = [Math.ceil(min / step - 1e-9), Math.floor(max / step + 1e-9)];
    if (!(last - first < 1000))
        return { values: [], labels: [], offset: 0, power: 0 };
    const counts = Array.from({ length: last - first + 1 }, (_none, index) => (first + index) * digits);
    const values = counts.map((count) => scaled(count, power));
    const text = written(counts, power);
    if (text)
        return { values, offset: 0, ...text };
    const round = decimalExponent(span) + 1;
    const off = Math.round((first * digits) / scaled(1, round - power));
    const rest = counts.map((count) => count - off * scaled(1, round - power));
    const { labels, power: taken } = written(rest, power) ?? { labels: rest.map((count) => String(scaled(count, power))), power: 0 };
    return { values, labels, offset: scaled(off, round), power: taken };
}

/** Ticks of a logarithmic axis. */
export function logTicksOf(min: number, max: number, most: number): Ticks {
    const [low, high] = [Math.log10(min), Math.log10(max)];
    if (!(high - low > 1))
        return ticksOf(min, max, most);
    const stride = Math.max(1, Math.ceil((high - low) / most));
    const between = high - low < most / 4 ? [1, 2, 5] : [1];
    const values: number[] = [];
    for (let power = Math.floor(low / stride) * stride; power <= high; power += stride)
        values.push(...between.map((digits) => scaled(digits, power)).filter((value) => value >= min && value <= max));
    return { values, labels: values.map((value) => (value >= 1e-3 && value < 1e5 ? String(value) : value.toExponential().replace("e+", "e"))), offset: 0, power: 0 };
}

const superscript = (power: number): string => [...String(power)].map((digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)])).join("");

/** "time − 17000000 [s]", "[10³ Pa]" */
export function titleOf(name: string, unit: string, { offset, power }: Pick<Ticks, "offset" | "power">): string {
    const off = offset === 0 ? "" : `${name ? "" : "value"} ${offset > 0 ? "−" : "+"} ${String(Number(Math.abs(offset).toPrecision(15))).replace("e+", "e")}`;
    const inside = [power === 0 ? "" : `10${superscript(power)}`, unit].filter(Boolean).join(" ");
    return `${name}${off}${inside ? ` [${inside}]` : ""}`.trim();
}
