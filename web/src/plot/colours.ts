// SPDX-License-Identifier: MIT
// Colours of curves, from the style sheet, so that they go with the theme.

export const CURVES = 8;

export function css(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export const curveColour = (index: number): string => css(`--curve-${index % CURVES}`);
