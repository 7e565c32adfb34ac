// SPDX-License-Identifier: MIT
// The ends of an axis, for numbers of any size: the difference of two may overflow, and a part of one underflow.

export type Span = readonly [number, number];

/** A curve that moves by less than this part of its size moves by rounding errors: its line is drawn in the middle. */
const FLAT = 4 * Number.EPSILON;

const sizeOf = ([low, high]: Span): number => Math.max(Math.abs(low), Math.abs(high));
const widened = ([low, high]: Span, margin: number): Span => [Math.max(low - margin, -Number.MAX_VALUE), Math.min(high + margin, Number.MAX_VALUE)];

/** Slightly more than the values need. */
export function padded(span: Span): Span {
    const [low, high] = span;
    const size = sizeOf(span);
    const half = high / 2 - low / 2;
    if (half <= FLAT * size)
        return widened(span, size === 0 ? 1 : Math.max(size / 10, Number.MIN_VALUE));
    return widened(span, 0.12 * half);
}

/** For a logarithmic axis. */
export function paddedLog([low, high]: Span): Span {
    const margin = Math.max(0.06 * (Math.log10(high) - Math.log10(low)), 0.02);
    return [Math.max(low * 10 ** -margin, Number.MIN_VALUE), Math.min(high * 10 ** margin, Number.MAX_VALUE)];
}

/** The position of a value between the ends of an axis: from 0 to 1. */
export function place(value: number, [low, high]: Span, log: boolean): number {
    if (log)
        return (Math.log10(value) - Math.log10(low)) / (Math.log10(high) - Math.log10(low));
    const span = high - low;
    return Number.isFinite(span) ? (value - low) / span : (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** The value at a position. */
export const at = (part: number, [low, high]: Span): number => (Number.isFinite(high - low) ? low + part * (high - low) : low * (1 - part) + high * part);
