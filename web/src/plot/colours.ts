// SPDX-License-Identifier: MIT
// Colours of curves, from the style sheet, so that they follow the theme.

import { painted } from "../state/view";

export const CURVES = 8;

export function css(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

let known: { readonly paint: number; readonly colours: readonly string[] } = { paint: -1, colours: [] };

/** The colours are read once for each theme: reading styles is slow with many curves. */
export function curveColour(index: number): string {
    if (known.paint !== painted.value)
        known = { paint: painted.value, colours: Array.from({ length: CURVES }, (_none, curve) => css(`--curve-${curve}`)) };
    return known.colours[index % CURVES] ?? "";
}
