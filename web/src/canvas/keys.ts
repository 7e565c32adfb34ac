// SPDX-License-Identifier: MIT
// The keyboard on the drawing: arrows move the selection from unit to unit, with Shift they move the selected units.
import type { Box } from "../model/geometry";
import { moveSelected, revealRequest, scene, select, selected } from "../state/editor";
import type { CanvasView } from "./view";

const STEP = 10;
const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function listenToCanvasKeys(view: CanvasView, host: HTMLElement): () => void {
    let burst = 0;
    const pressed = (event: KeyboardEvent) => {
        const direction = DIRECTIONS[event.key];
        if (event.key === "Escape") {
            select([]);
            return;
        }
        if (!direction || event.altKey)
            return;
        event.preventDefault();
        const [dx, dy] = direction;
        if (event.shiftKey) {
            if (!event.repeat)
                burst++;
            moveSelected(dx * STEP, dy * STEP, `keys ${burst}`);
        } else if (event.ctrlKey) {
            view.pan(-dx * 80, -dy * 80);
        } else {
            goTo(nextBox(dx, dy));
        }
    };
    host.addEventListener("keydown", pressed);
    return () => host.removeEventListener("keydown", pressed);
}

function goTo(box: Box | undefined): void {
    if (!box)
        return;
    select([box.element.name]);
    revealRequest.value = { name: box.element.name, count: (revealRequest.value?.count ?? 0) + 1 };
}

/** The nearest unit in this direction from the selected one. */
function nextBox(dx: number, dy: number): Box | undefined {
    const boxes = [...scene.value.boxes.values()];
    const [name] = selected.value;
    const here = name === undefined ? undefined : scene.value.boxes.get(name);
    if (!here)
        return boxes[0];
    const middle = (box: Box) => [box.x + box.width / 2, box.y + box.height / 2] as const;
    const [x, y] = middle(here);
    let best: Box | undefined;
    let least = Infinity;
    for (const box of boxes) {
        const [bx, by] = middle(box);
        const along = (bx - x) * dx + (by - y) * dy;
        const across = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
        const distance = along + 2.5 * across;
        if (box !== here && along > 1 && distance < least)
            [best, least] = [box, distance];
    }
    return best;
}
