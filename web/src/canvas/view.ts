// SPDX-License-Identifier: MIT
// The drawing of the open system. Parts outside the window are not in the page's tree, and parts at a small scale are
// drawn without ports, so that 500 units move without lag.
//  D1. drawn: the groups of units in the tree, each with the box and the marks that it was drawn from.
//  D2. The scene is the only source of positions; `shift` is added to those of dragged units.
import { effect } from "@preact/signals";
import { Box, bentPath, Port, Wire, wirePath } from "../model/geometry";
import { hierarchical } from "../model/document";
import { expanded, fitRequest, level, looked, revealRequest, scale, scene, selected, selectedConnector, selectedWire, system } from "../state/editor";
import { busy } from "../state/busy";
import { current } from "../state/runs";
import { drawBox, drawPort, Marks, NO_MARKS } from "./box";
import { conversionsHere, marksHere, wiresInLoops } from "./marks";
import { svg } from "./svg";

const FAR = 0.42;
const TINY = 0.16;
const MANY = 150;
const LEAST_ZOOM = 0.03;
const MOST_ZOOM = 4;

interface Drawn {
    readonly group: SVGGElement;
    readonly box: Box;
    readonly marks: Marks;
    readonly far: boolean;
    place: string;
}

interface DrawnWire {
    readonly group: SVGGElement;
    readonly lines: readonly SVGPathElement[];
    readonly label: SVGTextElement;
    readonly title: SVGTitleElement;
    path: string;
    text: string;
}

export class CanvasView {
    readonly root = svg("svg", { class: "drawing", "aria-hidden": "true" });
    readonly world = svg("g", { class: "world" });
    private readonly wireLayer = svg("g", { class: "wires" });
    private readonly boxLayer = svg("g", { class: "units" });
    private readonly edgeLayer = svg("g", { class: "edges" });
    readonly draftLayer = svg("g", { class: "draft" });
    private readonly drawn = new Map<string, Drawn>();
    private readonly paths = new Map<string, DrawnWire>();
    private valuesOf = -1;
    private marks: ReadonlyMap<string, Marks> = new Map();
    private loops: ReadonlySet<string> = new Set();
    private conversions: ReadonlyMap<string, string> = new Map();
    private pending = false;
    /** What the next frame centres on before it draws: everything, or this unit. */
    private aim: "all" | { readonly name: string } | null = null;
    private readonly stops: (() => void)[] = [];
    private readonly observer: ResizeObserver;
    x = 0;
    y = 0;
    k = 1;
    /** The units being dragged, and their displacement. */
    shift: { names: ReadonlySet<string>; dx: number; dy: number } | null = null;

    constructor(private readonly host: HTMLElement) {
        this.world.append(this.wireLayer, this.edgeLayer, this.boxLayer, this.draftLayer);
        this.root.append(this.world);
        host.append(this.root);
        this.stops.push(
            effect(() => void (scene.value, this.later())),
            effect(() => {
                this.marks = marksHere(looked.value, level.value, system.value);
                this.loops = wiresInLoops(looked.value, level.value, system.value);
                this.conversions = conversionsHere(looked.value, level.value);
                this.later();
            }),
            effect(() => {
                void selected.value;
                void selectedWire.value;
                void selectedConnector.value;
                this.later();
            }),
            effect(() => void (fitRequest.value, this.aimAt("all"))),
            effect(() => {
                if (revealRequest.value)
                    this.aimAt(revealRequest.value);
            }),
            effect(() => {
                void current.value?.grown.value;
                void current.value?.stale.value;
                this.later();
            }),
        );
        this.observer = new ResizeObserver(() => this.later());
        this.observer.observe(host);
    }

    destroy(): void {
        this.observer.disconnect();
        for (const stop of this.stops)
            stop();
        this.root.remove();
    }

    /** Draws in the next frame. */
    later(): void {
        if (this.pending)
            return;
        this.pending = true;
        const done = busy();
        requestAnimationFrame(() => {
            this.pending = false;
            try {
                this.take(this.aim);
                this.draw();
            } finally {
                done();
            }
        });
    }

    private aimAt(what: "all" | { readonly name: string }): void {
        this.aim = what;
        this.later();
    }

    private take(aim: "all" | { readonly name: string } | null): void {
        this.aim = null;
        if (aim === "all")
            this.fit();
        else if (aim)
            this.centre(aim.name);
    }

    toScene(clientX: number, clientY: number): { x: number; y: number } {
        const frame = this.host.getBoundingClientRect();
        return { x: (clientX - frame.left - this.x) / this.k, y: (clientY - frame.top - this.y) / this.k };
    }

    pan(dx: number, dy: number): void {
        this.x += dx;
        this.y += dy;
        this.later();
    }

    /** Zooms; this point of the window stays fixed. */
    zoom(factor: number, clientX?: number, clientY?: number): void {
        const frame = this.host.getBoundingClientRect();
        const px = (clientX ?? frame.left + frame.width / 2) - frame.left;
        const py = (clientY ?? frame.top + frame.height / 2) - frame.top;
        const k = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.k * factor));
        this.x = px - ((px - this.x) * k) / this.k;
        this.y = py - ((py - this.y) * k) / this.k;
        this.k = k;
        this.later();
    }

    private fit(): void {
        const { width, height } = this.host.getBoundingClientRect();
        const { bounds } = scene.value;
        if (width === 0)
            return;
        const margin = 60;
        this.k = Math.min(width > 1800 ? 2 : 1.25, Math.max(LEAST_ZOOM, Math.min((width - 2 * margin) / Math.max(bounds.width, 1), (height - 2 * margin) / Math.max(bounds.height, 1))));
        this.x = width / 2 - (bounds.x + bounds.width / 2) * this.k;
        this.y = height / 2 - (bounds.y + bounds.height / 2) * this.k;
    }

    actualSize(): void {
        this.zoom(1 / this.k);
    }

    private centre(name: string): void {
        const box = scene.value.boxes.get(name);
        const { width, height } = this.host.getBoundingClientRect();
        if (!box)
            return;
        if (this.k < FAR)
            this.k = 1;
        this.x = width / 2 - (box.x + box.width / 2) * this.k;
        this.y = height / 2 - (box.y + box.height / 2) * this.k;
    }

    private offset(name: string): { dx: number; dy: number } {
        return this.shift?.names.has(name) ? this.shift : { dx: 0, dy: 0 };
    }

    private draw(): void {
        this.world.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.k})`);
        const { width, height } = this.host.getBoundingClientRect();
        this.host.style.setProperty("--grid", `${20 * this.k * (this.k < 0.5 ? 5 : 1)}px`);
        this.host.style.setProperty("--grid-x", `${this.x}px`);
        this.host.style.setProperty("--grid-y", `${this.y}px`);
        const slack = 200;
        const window = { left: (-this.x - slack) / this.k, top: (-this.y - slack) / this.k, right: (width - this.x + slack) / this.k, bottom: (height - this.y + slack) / this.k };
        const far = this.k < FAR;
        this.root.classList.toggle("far", far);
        this.root.classList.toggle("tiny", this.k < TINY);
        this.drawBoxes(window, far);
        this.drawWires(window, far);
        this.drawEdges();
    }

    private drawBoxes(window: { left: number; top: number; right: number; bottom: number }, far: boolean): void {
        const seen = new Set<string>();
        const values = current.value?.grown.value ?? 0;
        const fresh = values !== this.valuesOf;
        for (const box of scene.value.boxes.values()) {
            const { dx, dy } = this.offset(box.element.name);
            if (box.x + dx > window.right || box.x + dx + box.width < window.left || box.y + dy > window.bottom || box.y + dy + box.height < window.top)
                continue;
            const name = box.element.name;
            seen.add(name);
            const group = this.drawnBox(box, far);
            const known = this.drawn.get(name);
            const place = `translate(${box.x + dx} ${box.y + dy})`;
            if (known && known.place !== place) {
                known.place = place;
                group.setAttribute("transform", place);
            }
            group.classList.toggle("selected", selected.value.has(name));
            if (!far && (fresh || known?.place === "" || group.dataset.values !== String(values)))
                this.writeValues(group, values);
        }
        this.valuesOf = values;
        for (const [name, { group }] of this.drawn)
            if (!seen.has(name)) {
                group.remove();
                this.drawn.delete(name);
            }
    }

    private drawnBox(box: Box, far: boolean): SVGGElement {
        const name = box.element.name;
        const marks = this.marks.get(name) ?? NO_MARKS;
        const known = this.drawn.get(name);
        const same = known && known.far === far && known.marks === marks && known.box.element === box.element && known.box.width === box.width && known.box.height === box.height && known.box.ports.length === box.ports.length;
        if (same)
            return known.group;
        const group = drawBox(box, marks, far);
        if (known)
            known.group.replaceWith(group);
        else
            this.boxLayer.append(group);
        this.drawn.set(name, { group, box, marks, far, place: "" });
        return group;
    }

    private writeValues(group: SVGGElement, values: number): void {
        group.dataset.values = String(values);
        const latest = current.value?.latest;
        if (!latest || latest.size === 0)
            return;
        for (const port of group.querySelectorAll<SVGGElement>(".port.output")) {
            const column = hierarchical(level.value, port.dataset.port ?? "");
            const value = latest.get(column);
            const text = port.querySelector(".value");
            if (text)
                text.textContent = typeof value === "number" ? value.toPrecision(4) : "";
        }
    }

    private drawWires(window: { left: number; top: number; right: number; bottom: number }, far: boolean): void {
        const seen = new Set<string>();
        for (const wire of scene.value.wires) {
            const connection = system.value.connections[wire.index];
            if (!connection || !touches(wire, window))
                continue;
            const key = `${connection.from}→${connection.to}`;
            seen.add(key);
            const drawn = this.drawnWire(key, connection.from, connection.to);
            const { group } = drawn;
            const path = this.pathOf(wire, connection.points);
            if (path !== drawn.path) {
                drawn.path = path;
                for (const line of drawn.lines)
                    line.setAttribute("d", path);
            }
            const chosen = selectedWire.value;
            group.classList.toggle("selected", chosen?.from === connection.from && chosen.to === connection.to);
            group.classList.toggle("loop", this.loops.has(key));
            this.labelWire(drawn, wire, far, this.conversions.get(key) ?? "", connection);
        }
        for (const [key, { group }] of this.paths)
            if (!seen.has(key)) {
                group.remove();
                this.paths.delete(key);
            }
    }

    private drawnWire(key: string, from: string, to: string): DrawnWire {
        const known = this.paths.get(key);
        if (known)
            return known;
        const group = svg("g", { class: "wire", "data-from": from, "data-to": to });
        const lines = [svg("path", { class: "hit" }), svg("path", { class: "line" })];
        const label = svg("text", { class: "conversion" });
        const title = svg("title", {}, `${from} → ${to}`);
        group.append(...lines, label, title);
        this.wireLayer.append(group);
        const drawn = { group, lines, label, title, path: "", text: "" };
        this.paths.set(key, drawn);
        return drawn;
    }

    private labelWire(drawn: DrawnWire, wire: Wire, far: boolean, conversion: string, connection: { factor?: number | null; offset?: number | null; from: string; to: string }): void {
        const { label, title } = drawn;
        const own = [connection.factor != null ? `× ${connection.factor}` : "", connection.offset != null ? `+ ${connection.offset}` : ""].filter(Boolean).join(" ");
        const text = far ? "" : own || conversion;
        if (drawn.text === text && text === "")
            return;
        drawn.text = text;
        label.textContent = text;
        label.setAttribute("x", String((wire.from.x + wire.to.x) / 2));
        label.setAttribute("y", String((wire.from.y + wire.to.y) / 2 - 6));
        title.textContent = `${connection.from} → ${connection.to}${text ? `\n${[own, conversion].filter(Boolean).join("\n")}` : ""}`;
    }

    private pathOf(wire: Wire, points: readonly (readonly [number, number])[] | undefined): string {
        const start = this.offset(wire.fromBox);
        const end = this.offset(wire.toBox);
        const from = { x: wire.from.x + start.dx, y: wire.from.y + start.dy };
        const to = { x: wire.to.x + end.dx, y: wire.to.y + end.dy };
        if (points && points.length > 0 && !this.shift)
            return bentPath(from, points, to, scale.value);
        const bottom = (name: string, dy: number) => {
            const box = scene.value.boxes.get(name);
            return box ? box.y + box.height + dy : -Infinity;
        };
        const below = Math.max(from.y + 10, to.y + 10, bottom(wire.fromBox, start.dy), bottom(wire.toBox, end.dy));
        return wirePath(from, to, to.x - from.x < 24 ? this.clearBelow(to.x - 20, from.x + 20, below) : below, wire.lane);
    }

    /** A height at which a backward wire crosses no unit. */
    private clearBelow(left: number, right: number, from: number): number {
        if (scene.value.boxes.size > MANY)
            return from;
        const inTheWay = [...scene.value.boxes.values()].filter((box) => box.x < right && box.x + box.width > left).sort((a, b) => a.y - b.y);
        let below = from;
        for (const box of inTheWay)
            if (box.y < below + 60 && box.y + box.height > below)
                below = box.y + box.height;
        return below;
    }

    private drawEdges(): void {
        const key = scene.value.edges.map((port) => `${port.id} ${port.connector.kind} ${port.connector.type} ${port.connector.unit ?? ""} ${port.x} ${port.y}`).join("\n") + `\n${selectedConnector.value ?? ""}`;
        if (this.edgeLayer.dataset.key === key)
            return;
        this.edgeLayer.dataset.key = key;
        this.edgeLayer.replaceChildren(...scene.value.edges.map((port) => this.drawEdge(port)));
    }

    private drawEdge(port: Port): SVGGElement {
        const group = svg("g", { class: selectedConnector.value === port.connector.name ? "edge selected" : "edge", "data-edge": port.connector.name, transform: `translate(${port.x} ${port.y})` });
        const width = Math.max(60, (port.connector.name.length + (port.connector.unit ? port.connector.unit.length + 1 : 0)) * 7 + 30);
        group.append(svg("rect", { class: "pill", x: port.side === "right" ? -width : 0, y: -13, width, height: 26, rx: 13 }));
        group.append(drawPort({ x: port.x, y: port.y }, port));
        return group;
    }

    toggleMore(name: string): void {
        const next = new Set(expanded.value);
        if (!next.delete(name))
            next.add(name);
        expanded.value = next;
    }
}

function touches(wire: Wire, window: { left: number; top: number; right: number; bottom: number }): boolean {
    const slack = 60;
    return Math.min(wire.from.x, wire.to.x) - slack < window.right && Math.max(wire.from.x, wire.to.x) + slack > window.left &&
        Math.min(wire.from.y, wire.to.y) - slack < window.bottom && Math.max(wire.from.y, wire.to.y) + slack > window.top;
}
