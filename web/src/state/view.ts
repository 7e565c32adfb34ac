// SPDX-License-Identifier: MIT
// The state of the view: tab, theme, dialog, short messages.
import { signal } from "@preact/signals";

export type Tab = "build" | "understand" | "run" | "results";
export type DialogName = "open" | "save" | "find" | "keys" | "connect" | "options" | null;
export type Theme = "auto" | "light" | "dark";

export const tab = signal<Tab>("build");
export const dialog = signal<DialogName>(null);
export const theme = signal<Theme>(readTheme());

function readTheme(): Theme {
    const kept = localStorage.getItem("tutti-theme");
    return kept === "light" || kept === "dark" ? kept : "auto";
}

export function setTheme(next: Theme): void {
    theme.value = next;
    localStorage.setItem("tutti-theme", next);
    applyTheme();
}

export function applyTheme(): void {
    if (theme.value === "auto")
        delete document.documentElement.dataset.theme;
    else
        document.documentElement.dataset.theme = theme.value;
    painted.value++;
}

/** Counts changes of colours, after which canvases are redrawn. */
export const painted = signal(0);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => painted.value++);

export interface Notice {
    readonly id: number;
    readonly level: "info" | "error";
    readonly text: string;
}

export const notices = signal<readonly Notice[]>([]);
let count = 0;

export function notify(text: string, level: Notice["level"] = "info"): void {
    const id = ++count;
    notices.value = [...notices.value.filter((notice) => notice.text !== text), { id, level, text }].slice(-4);
    setTimeout(() => dismiss(id), level === "error" ? 12000 : 4000);
}

export function dismiss(id: number): void {
    notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Shows an error, unless the server is unavailable, which the page shows separately. */
export function complain(error: unknown): void {
    if (error instanceof TypeError || (error instanceof DOMException && error.name === "AbortError"))
        return;
    notify(error instanceof Error ? error.message : String(error), "error");
}
