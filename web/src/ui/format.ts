// SPDX-License-Identifier: MIT
// Numbers, times and sizes as people read them.

export function number(value: number | null | undefined, digits = 5): string {
    if (value === null || value === undefined || !Number.isFinite(value))
        return "–";
    if (value === 0)
        return "0";
    const size = Math.abs(value);
    return size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
}

export function seconds(value: number | null | undefined): string {
    if (value === null || value === undefined)
        return "–";
    if (value < 1e-3)
        return `${number(value * 1e6, 3)} µs`;
    if (value < 1)
        return `${number(value * 1e3, 3)} ms`;
    if (value < 120)
        return `${number(value, 4)} s`;
    const minutes = Math.floor(value / 60);
    return minutes < 120 ? `${minutes} min ${Math.round(value - 60 * minutes)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(value: number): string {
    return value < 1024 ? `${value} B` : value < 1048576 ? `${number(value / 1024, 3)} kB` : `${number(value / 1048576, 3)} MB`;
}

/** A moment: an ISO string, or seconds since 1970. */
export function moment(value: string | number | null | undefined): string {
    if (value === null || value === undefined || value === "")
        return "–";
    const date = typeof value === "number" ? new Date(value * 1000) : new Date(value);
    return Number.isNaN(date.getTime()) ? String(value) : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}
