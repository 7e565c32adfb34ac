// SPDX-License-Identifier: MIT
// Makes SVG elements. Texts are set as text, never as markup.

const NAMESPACE = "http://www.w3.org/2000/svg";

export type Attributes = Readonly<Record<string, string | number>>;

export function svg<K extends keyof SVGElementTagNameMap>(name: K, attributes: Attributes = {}, text?: string): SVGElementTagNameMap[K] {
    const element = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes))
        element.setAttribute(key, String(value));
    if (text !== undefined)
        element.textContent = text;
    return element;
}

export function shorten(text: string, most: number): string {
    return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
