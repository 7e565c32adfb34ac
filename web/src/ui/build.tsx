// SPDX-License-Identifier: MIT
// The editor: palette and outline, the drawing, the inspector, findings.
import { useEffect, useRef } from "preact/hooks";
import { listenToCanvasKeys } from "../canvas/keys";
import { listenToPointer } from "../canvas/pointer";
import { CanvasView } from "../canvas/view";
import { addFmu, arrange, enter, fitRequest, level, present, selected, selectedWire, system } from "../state/editor";
import { serverInfo, uploadFiles } from "../state/server";
import { complain, dialog } from "../state/view";
import { canvasOrders } from "./actions";
import { FindingsBar } from "./findings";
import { IconButton } from "./icons";
import { Inspector } from "./inspector";
import { Outline } from "./outline";
import { FMU_TYPE, Palette } from "./palette";

export function Build() {
    return (
        <div class="build">
            <aside class="side left" aria-label="Models and units"><Palette /><Outline /></aside>
            <section class="stage" aria-label="System">
                <Breadcrumb />
                <Canvas />
                <FindingsBar />
            </section>
            <aside class="side right" aria-label="Inspector"><Inspector /></aside>
        </div>
    );
}

function Breadcrumb() {
    const names = [present.value.name, ...level.value];
    return (
        <nav class="breadcrumb" aria-label="Open system">
            {names.map((name, index) => (
                <button type="button" key={index} class="crumb" aria-current={index === names.length - 1 ? "page" : undefined} onClick={() => enter(level.value.slice(0, index))}>{name}</button>
            ))}
        </nav>
    );
}

function Canvas() {
    const host = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const element = host.current as HTMLDivElement;
        const view = new CanvasView(element);
        canvasOrders.zoomIn = () => view.zoom(1.25);
        canvasOrders.zoomOut = () => view.zoom(0.8);
        canvasOrders.actual = () => view.actualSize();
        canvasOrders.focus = () => element.focus();
        const stops = [listenToPointer(view, element), listenToCanvasKeys(view, element), listenToDrops(view, element)];
        return () => {
            stops.forEach((stop) => stop());
            view.destroy();
        };
    }, []);
    const empty = system.value.elements.length === 0;
    return (
        <div class="canvas-frame">
            <div class="canvas" ref={host} tabIndex={0} role="application" aria-label="Drawing of the system" aria-describedby="canvas-help" />
            <p id="canvas-help" class="hidden">Arrow keys go from unit to unit, with Shift they move the selection. C connects, Delete removes, Enter renames or opens. All units are also listed in the outline.</p>
            <Announcement />
            {empty && <Welcome />}
            <div class="canvas-tools" role="toolbar" aria-label="Drawing">
                <IconButton icon="connect" label="Connect… (C)" act={() => (dialog.value = "connect")} />
                <IconButton icon="layout" label="Lay out automatically (L)" act={() => void arrange()} id="layout" />
                <IconButton icon="fit" label="Zoom to fit (F)" act={() => fitRequest.value++} id="fit" />
                <IconButton icon="minus" label="Zoom out (-)" act={() => canvasOrders.zoomOut()} />
                <IconButton icon="plus" label="Zoom in (+)" act={() => canvasOrders.zoomIn()} />
            </div>
        </div>
    );
}

function Welcome() {
    return (
        <div class="welcome">
            <h2>An empty system</h2>
            <p>Drag FMUs here, from the folder at the left or from your desktop.<br />Then draw connections from output to input, and run.</p>
            <button type="button" onClick={() => (dialog.value = "open")}>Open a system…</button>
        </div>
    );
}

/** Announces the selection to screen readers. */
function Announcement() {
    const wire = selectedWire.value;
    const [name] = selected.value;
    const element = selected.value.size === 1 ? system.value.elements.find((candidate) => candidate.name === name) : undefined;
    const count = (kind: string) => element?.connectors.filter((connector) => connector.kind === kind).length ?? 0;
    const text = wire ? `Connection from ${wire.from} to ${wire.to}` : element ? `${element.name}, ${count("input")} inputs, ${count("output")} outputs` : selected.value.size > 1 ? `${selected.value.size} units` : "";
    return <p class="hidden" role="status">{text}</p>;
}

function listenToDrops(view: CanvasView, host: HTMLElement): () => void {
    const accepts = (event: DragEvent) => event.dataTransfer?.types.some((type) => type === FMU_TYPE || type === "Files") ?? false;
    const over = (event: DragEvent) => {
        if (accepts(event)) {
            event.preventDefault();
            host.classList.add("dropping");
        }
    };
    const leave = () => host.classList.remove("dropping");
    const drop = async (event: DragEvent) => {
        event.preventDefault();
        leave();
        const at = view.toScene(event.clientX, event.clientY);
        const path = event.dataTransfer?.getData(FMU_TYPE);
        const files = [...(event.dataTransfer?.files ?? [])];
        const paths = path ? [path] : serverInfo.value?.readOnly ? [] : (await uploadFiles(files)).filter((name) => /\.fmu$/i.test(name));
        try {
            for (const [index, each] of paths.entries())
                await addFmu(each, { x: at.x - 60 + 40 * index, y: at.y - 20 + 40 * index });
        } catch (error) {
            complain(error);
        }
    };
    host.addEventListener("dragover", over);
    host.addEventListener("dragleave", leave);
    host.addEventListener("drop", drop);
    return () => {
        host.removeEventListener("dragover", over);
        host.removeEventListener("dragleave", leave);
        host.removeEventListener("drop", drop);
    };
}
