// SPDX-License-Identifier: MIT
// The mouse (or pen, or finger) on the drawing: select, move, connect, pan, zoom.
import * as commands from "../model/commands";
import { findElement, splitEnd } from "../model/document";
import { wirePath } from "../model/geometry";
import { orient, refusal } from "../model/rules";
import { enter, join, leadOut, level, perform, present, scale, scene, select, selectConnector, selected, selectedWire, system } from "../state/editor";
import { notify } from "../state/view";
import { svg } from "./svg";
import type { CanvasView } from "./view";

const ZOOM_PER_PIXEL = 0.0015;

type Gesture =
    | { readonly kind: "pan"; x: number; y: number; moved: boolean }
    | { readonly kind: "move"; readonly names: ReadonlySet<string>; readonly x: number; readonly y: number; moved: boolean; readonly clicked: string; readonly additive: boolean }
    | { readonly kind: "connect"; readonly port: string }
    | { readonly kind: "frame"; readonly x: number; readonly y: number };

export function listenToPointer(view: CanvasView, host: HTMLElement): () => void {
    let gesture: Gesture | null = null;
    const hint = document.createElement("div");
    hint.className = "hint";
    hint.hidden = true;
    host.append(hint);

    const down = (event: PointerEvent) => {
        if (event.button > 1)
            return;
        host.setPointerCapture(event.pointerId);
        gesture = event.button === 1 ? { kind: "pan", x: event.clientX, y: event.clientY, moved: false } : beginGesture(view, event);
        if (gesture?.kind === "connect")
            showTargets(view, gesture.port);
    };

    const move = (event: PointerEvent) => {
        if (!gesture)
            return;
        switch (gesture.kind) {
        case "pan":
            gesture.moved ||= Math.hypot(event.clientX - gesture.x, event.clientY - gesture.y) > 3;
            if (gesture.moved) {
                view.pan(event.clientX - gesture.x, event.clientY - gesture.y);
                [gesture.x, gesture.y] = [event.clientX, event.clientY];
            }
            return;
        case "move": return dragUnits(view, gesture, event);
        case "connect": return dragWire(view, gesture.port, event, hint);
        case "frame": return dragFrame(view, gesture, event);
        }
    };

    const up = (event: PointerEvent) => {
        const done = gesture;
        gesture = null;
        view.draftLayer.replaceChildren();
        hint.hidden = true;
        if (!done)
            return;
        if (done.kind === "pan" && !done.moved && event.button === 0)
            select([]);
        else if (done.kind === "move")
            dropUnits(view, done);
        else if (done.kind === "connect")
            dropWire(view, done.port, event);
    };

    const cancel = () => {
        gesture = null;
        view.shift = null;
        view.draftLayer.replaceChildren();
        hint.hidden = true;
        clearTargets(view);
        view.later();
    };

    const wheel = (event: WheelEvent) => {
        event.preventDefault();
        if (event.shiftKey)
            view.pan(-event.deltaY - event.deltaX, 0);
        else
            view.zoom(Math.exp(-event.deltaY * ZOOM_PER_PIXEL * (event.deltaMode === 1 ? 20 : 1)), event.clientX, event.clientY);
    };

    const twice = (event: MouseEvent) => {
        const name = under(event)?.closest<SVGElement>("[data-unit]")?.dataset.unit;
        if (name && findElement(system.value, name)?.kind === "system")
            enter([...level.value, name]);
    };

    host.addEventListener("pointerdown", down);
    host.addEventListener("pointermove", move);
    host.addEventListener("pointerup", up);
    host.addEventListener("pointercancel", cancel);
    host.addEventListener("wheel", wheel, { passive: false });
    host.addEventListener("dblclick", twice);
    return () => {
        hint.remove();
        host.removeEventListener("pointerdown", down);
        host.removeEventListener("pointermove", move);
        host.removeEventListener("pointerup", up);
        host.removeEventListener("pointercancel", cancel);
        host.removeEventListener("wheel", wheel);
        host.removeEventListener("dblclick", twice);
    };
}

function beginGesture(view: CanvasView, event: PointerEvent): Gesture | null {
    const target = event.target as globalThis.Element;
    const additive = event.shiftKey || event.ctrlKey || event.metaKey;
    const more = target.closest<SVGElement>("[data-more]")?.dataset.more;
    if (more) {
        view.toggleMore(more);
        return null;
    }
    const port = target.closest<SVGElement>("[data-port]")?.dataset.port;
    if (port)
        return { kind: "connect", port };
    const unit = target.closest<SVGElement>("[data-unit]")?.dataset.unit;
    if (unit) {
        if (!selected.value.has(unit))
            select(additive ? [...selected.value, unit] : [unit]);
        return { kind: "move", names: selected.value, ...view.toScene(event.clientX, event.clientY), moved: false, clicked: unit, additive };
    }
    const wire = target.closest<SVGElement>("[data-from]");
    if (wire) {
        select([]);
        selectedWire.value = { from: wire.dataset.from ?? "", to: wire.dataset.to ?? "" };
        return null;
    }
    return additive ? { kind: "frame", ...view.toScene(event.clientX, event.clientY) } : { kind: "pan", x: event.clientX, y: event.clientY, moved: false };
}

function dragUnits(view: CanvasView, gesture: { names: ReadonlySet<string>; x: number; y: number; moved: boolean }, event: PointerEvent): void {
    const at = view.toScene(event.clientX, event.clientY);
    const [dx, dy] = [at.x - gesture.x, at.y - gesture.y];
    gesture.moved ||= Math.hypot(dx, dy) * view.k > 3;
    if (!gesture.moved)
        return;
    const snap = event.altKey ? 1 : 10;
    view.shift = { names: gesture.names, dx: Math.round(dx / snap) * snap, dy: Math.round(dy / snap) * snap };
    view.later();
}

function dropUnits(view: CanvasView, gesture: { names: ReadonlySet<string>; moved: boolean; clicked: string; additive: boolean }): void {
    const { shift } = view;
    view.shift = null;
    if (shift && (shift.dx !== 0 || shift.dy !== 0))
        perform("move", commands.moveElements(present.value, level.value, gesture.names, { dx: shift.dx / scale.value, dy: -shift.dy / scale.value }));
    else if (!gesture.moved && !gesture.additive)
        select([gesture.clicked]);
    view.later();
}

/** While the drawing holds the pointer, events do not report the element under it. */
const under = (event: MouseEvent): globalThis.Element | null => document.elementFromPoint(event.clientX, event.clientY);

const portAt = (event: PointerEvent): string | undefined => under(event)?.closest<SVGElement>("[data-port]")?.dataset.port;

function dragWire(view: CanvasView, id: string, event: PointerEvent, hint: HTMLElement): void {
    const port = scene.value.ports.get(id);
    if (!port)
        return;
    const at = view.toScene(event.clientX, event.clientY);
    const [from, to] = port.side === "right" ? [port, at] : [at, port];
    const line = (view.draftLayer.firstElementChild as SVGPathElement | null) ?? svg("path", { class: "draft-wire" });
    const dx = Math.max(30, Math.abs(to.x - from.x) / 2);
    line.setAttribute("d", to.x - from.x >= 24 ? wirePath(from, to, 0, 0) : `M${from.x} ${from.y}C${from.x + dx} ${from.y} ${to.x - dx} ${to.y} ${to.x} ${to.y}`);
    if (!line.parentNode)
        view.draftLayer.append(line);
    const over = portAt(event);
    const reason = over && over !== id ? reasonFor(id, over) : null;
    hint.hidden = !reason;
    if (reason) {
        const frame = hint.parentElement?.getBoundingClientRect();
        hint.textContent = reason;
        hint.style.left = `${event.clientX - (frame?.left ?? 0) + 14}px`;
        hint.style.top = `${event.clientY - (frame?.top ?? 0) + 18}px`;
    }
}

function reasonFor(a: string, b: string): string | null {
    const { from, to } = orient(system.value, splitEnd(system.value, a), splitEnd(system.value, b));
    return refusal(system.value, from, to, "convert" in present.value.settings);
}

/** While a wire is drawn, ports where it may end are highlighted. */
function showTargets(view: CanvasView, id: string): void {
    view.root.classList.add("connecting");
    for (const group of view.root.querySelectorAll<SVGElement>("[data-port]")) {
        const other = group.dataset.port ?? "";
        group.classList.toggle("possible", other !== id && reasonFor(id, other) === null);
    }
}

function clearTargets(view: CanvasView): void {
    view.root.classList.remove("connecting");
    for (const group of view.root.querySelectorAll(".possible"))
        group.classList.remove("possible");
}

function dropWire(view: CanvasView, id: string, event: PointerEvent): void {
    clearTargets(view);
    const over = portAt(event);
    const end = splitEnd(system.value, id);
    if (over === id && end.element === "")
        selectConnector(end.connector);
    else if (over === id)
        select([end.element]);
    if (!over && event.shiftKey && end.element !== "" && !under(event)?.closest("[data-unit]"))
        leadOut(end);
    if (!over || over === id)
        return;
    void join(splitEnd(system.value, id), splitEnd(system.value, over)).then((reason) => {
        if (reason)
            notify(reason, "error");
    });
}

function dragFrame(view: CanvasView, gesture: { x: number; y: number }, event: PointerEvent): void {
    const at = view.toScene(event.clientX, event.clientY);
    const [x, y] = [Math.min(at.x, gesture.x), Math.min(at.y, gesture.y)];
    const [width, height] = [Math.abs(at.x - gesture.x), Math.abs(at.y - gesture.y)];
    view.draftLayer.replaceChildren(svg("rect", { class: "frame", x, y, width, height }));
    select([...scene.value.boxes.values()].filter((box) => box.x < x + width && box.x + box.width > x && box.y < y + height && box.y + box.height > y).map((box) => box.element.name));
}
