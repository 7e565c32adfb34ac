// SPDX-License-Identifier: MIT
// Undo and redo. A step has the previous document and a label; consecutive steps with one `merge` key count as one
// (dragging, typing).

import type { Document } from "./document";
import type { Moves } from "./names";

interface Step {
    readonly document: Document;
    readonly label: string;
    /** Renamed units. */
    readonly moves?: Moves | undefined;
}

export interface History {
    readonly present: Document;
    readonly past: readonly Step[];
    readonly future: readonly Step[];
    readonly merge: string | null;
}

const LONGEST = 1000;

export const begin = (present: Document): History => ({ present, past: [], future: [], merge: null });

export function record(history: History, next: Document, label: string, merge: string | null = null, moves?: Moves): History {
    if (next === history.present)
        return history;
    if (merge !== null && merge === history.merge && history.past.length > 0)
        return { ...history, present: next, future: [] };
    const past = [...history.past, { document: history.present, label, moves }].slice(-LONGEST);
    return { present: next, past, future: [], merge };
}

export function undo(history: History): History {
    const step = history.past[history.past.length - 1];
    if (!step)
        return history;
    return { present: step.document, past: history.past.slice(0, -1), future: [{ ...step, document: history.present }, ...history.future], merge: null };
}

export function redo(history: History): History {
    const [step, ...future] = history.future;
    if (!step)
        return history;
    return { present: step.document, past: [...history.past, { ...step, document: history.present }], future, merge: null };
}

/** Replaces the present document without a step: by the server's version after saving. */
export const amend = (history: History, present: Document): History => ({ ...history, present });

/** Applies `change` to all documents of the history. */
export const rewrite = (history: History, change: (document: Document) => Document): History => {
    const steps = (list: readonly Step[]) => list.map((step) => ({ ...step, document: change(step.document) }));
    return { ...history, past: steps(history.past), future: steps(history.future) };
};

export const undoMoves = (history: History): Moves | undefined => history.past[history.past.length - 1]?.moves;
export const redoMoves = (history: History): Moves | undefined => history.future[0]?.moves;
export const undoLabel = (history: History): string | null => history.past[history.past.length - 1]?.label ?? null;
export const redoLabel = (history: History): string | null => history.future[0]?.label ?? null;
