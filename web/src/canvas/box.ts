// SPDX-License-Identifier: MIT
// Draws one unit: its name, its ports, and the marks on it.
import { Box, HEADER, Port } from "../model/geometry";
import { shorten, svg } from "./svg";

export interface Marks {
    readonly errors: number;
    readonly warnings: number;
    readonly text: string;
    readonly rank: number | null;
    readonly loop: boolean;
}

export const NO_MARKS: Marks = { errors: 0, warnings: 0, text: "", rank: null, loop: false };

export const RANK_COLOURS = 8;

/** A unit at the origin of its group. `far`: so small on the screen that only its name is drawn. */
export function drawBox(box: Box, marks: Marks, far: boolean): SVGGElement {
    const { element, width, height } = box;
    const group = svg("g", { class: `unit ${element.kind}${marks.loop ? " loop" : ""}`, "data-unit": element.name });
    group.append(svg("rect", { class: "body", width, height, rx: 8 }));
    if (marks.rank !== null)
        group.append(svg("path", { class: `rank rank${marks.rank % RANK_COLOURS}`, d: `M0 8a8 8 0 0 1 8-8H${width - 8}a8 8 0 0 1 8 8V5H0Z` }));
    if (far) {
        group.append(svg("text", { class: "name far", x: width / 2, y: height / 2 }, shorten(element.name, Math.floor(width / 13))));
    } else {
        group.append(svg("path", { class: "rule", d: `M0 ${HEADER}H${width}` }));
        group.append(svg("text", { class: "name", x: 12, y: HEADER / 2 + 1 }, shorten(element.name, 32)));
        if (element.kind === "system")
            group.append(nestedSign(width));
        for (const port of box.ports)
            group.append(drawPort(box, port));
        if (box.hidden > 0)
            group.append(svg("text", { class: "more", x: width / 2, y: height + 13, "data-more": element.name }, `${box.hidden} more ports`));
    }
    drawMarks(group, width, marks);
    const title = svg("title", {}, [element.name, element.source, element.description, marks.rank === null ? "" : `rank ${marks.rank}`, marks.text].filter(Boolean).join("\n"));
    group.append(title);
    return group;
}

function nestedSign(width: number): SVGElement {
    const sign = svg("g", { class: "nested", transform: `translate(${width - 34} 8)` });
    sign.append(svg("rect", { width: 14, height: 14, rx: 3 }), svg("path", { d: "M4 4h2.500v2.500H4zM8 8h2.500v2.500H8z" }));
    return sign;
}

function drawMarks(group: SVGGElement, width: number, marks: Marks): void {
    if (marks.errors + marks.warnings === 0)
        return;
    const sign = svg("g", { class: marks.errors > 0 ? "mark error" : "mark warning", transform: `translate(${width - 2} 2)` });
    sign.append(svg("circle", { r: 9 }), svg("text", { y: 1 }, String(marks.errors + marks.warnings)));
    group.append(sign);
}

export function drawPort(box: { x: number; y: number }, port: Port): SVGGElement {
    const { connector, side } = port;
    const group = svg("g", { class: `port ${connector.kind} ${typeClass(connector.type)}`, "data-port": port.id, transform: `translate(${port.x - box.x} ${port.y - box.y})` });
    group.append(svg("rect", { class: "hit", x: side === "left" ? -14 : -40, y: -11, width: 54, height: 22 }));
    group.append(portShape(connector.kind, connector.type));
    const left = side === "left";
    const label = svg("text", { class: "label", x: left ? 11 : -11, "text-anchor": left ? "start" : "end" }, shorten(connector.name, 28));
    if (connector.unit)
        label.append(svg("tspan", { class: "measure" }, ` ${connector.unit}`));
    group.append(label);
    group.append(svg("text", { class: "value", x: left ? -11 : 11, y: -8, "text-anchor": left ? "end" : "start" }));
    group.append(svg("title", {}, describe(port)));
    return group;
}

export function describe(port: Port): string {
    const { connector } = port;
    const bounds = connector.min != null || connector.max != null ? `, from ${connector.min ?? "-∞"} to ${connector.max ?? "∞"}` : "";
    const start = connector.start != null ? `, start ${String(connector.start)}` : "";
    return `${port.id}: ${connector.kind}, ${connector.type}${connector.unit ? ` in ${connector.unit}` : ""}${bounds}${start}${connector.description ? `\n${connector.description}` : ""}`;
}

const typeClass = (type: string): string => (/float|real/i.test(type) ? "real" : /int/i.test(type) ? "integer" : /bool|clock/i.test(type) ? "boolean" : "other");

/** Real: a circle; integers: a square; Booleans and clocks: a diamond; other types: a triangle. */
function portShape(kind: string, type: string): SVGElement {
    if (kind === "terminal")
        return svg("path", { class: "dot plug", d: "M-4-6H3Q7-6 7 0Q7 6 3 6H-4Z" });
    const shape = typeClass(type);
    const name = kind === "output" || kind === "calculatedParameter" ? "dot out" : "dot in";
    if (shape === "real")
        return svg("circle", { class: name, r: 4.5 });
    if (shape === "integer")
        return svg("rect", { class: name, x: -4.2, y: -4.2, width: 8.4, height: 8.4, rx: 1 });
    return svg("path", { class: name, d: shape === "boolean" ? "M0-5.500L5.500 0 0 5.500-5.500 0Z" : "M-4-5L5 0-4 5Z" });
}
