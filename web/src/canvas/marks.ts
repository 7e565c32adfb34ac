// SPDX-License-Identifier: MIT
// The server's findings about the system, by unit and by connection of the open level.
import { hierarchical, Level, rankOf, splitEnd, System } from "../model/document";
import type { Finding, Look } from "../server/types";
import { Marks, NO_MARKS } from "./box";

let before: ReadonlyMap<string, Marks> = new Map();

/** Findings, ranks and loops of each unit of the level. Unchanged marks stay the same object. */
export function marksHere(look: Look | null, level: Level, system: System): ReadonlyMap<string, Marks> {
    const marks = new Map<string, Marks>();
    const looping = unitsInLoops(look);
    for (const element of system.elements) {
        const full = hierarchical(level, element.name);
        const mine = (look?.findings ?? []).filter((finding) => isAbout(finding, full));
        const next: Marks = {
            errors: mine.filter((finding) => finding.level === "error").length,
            warnings: mine.filter((finding) => finding.level === "warning").length,
            text: mine.map((finding) => `${finding.level}: ${finding.text}`).join("\n"),
            rank: rankOf(element),
            loop: [...looping].some((unit) => unit === full || unit.startsWith(`${full}.`)),
        };
        const known = before.get(full) ?? NO_MARKS;
        marks.set(element.name, same(known, next) ? known : next);
    }
    before = new Map([...marks].map(([name, value]) => [hierarchical(level, name), value]));
    return marks;
}

const same = (a: Marks, b: Marks): boolean => a.errors === b.errors && a.warnings === b.warnings && a.text === b.text && a.rank === b.rank && a.loop === b.loop;

export const isAbout = (finding: Finding, unit: string): boolean => finding.element === unit || (finding.element ?? "").startsWith(`${unit}.`);

export function unitsInLoops(look: Look | null): ReadonlySet<string> {
    return new Set((look?.graph?.nodes ?? []).filter((node) => node.loop !== null).map((node) => node.unit));
}

/** Connections of the level whose ends are both in one algebraic loop. */
export function wiresInLoops(look: Look | null, level: Level, system: System): ReadonlySet<string> {
    const loopOf = new Map<string, number>();
    for (const node of look?.graph?.nodes ?? [])
        if (node.loop !== null)
            loopOf.set(`${node.unit}.${node.variable}`, node.loop);
    const keys = new Set<string>();
    if (loopOf.size === 0)
        return keys;
    for (const connection of system.connections) {
        const name = (end: string) => {
            const { element, connector } = splitEnd(system, end);
            return hierarchical(level, `${element}.${connector}`);
        };
        const from = loopOf.get(name(connection.from));
        if (from !== undefined && from === loopOf.get(name(connection.to)))
            keys.add(`${connection.from}→${connection.to}`);
    }
    return keys;
}

export function conversionsHere(look: Look | null, level: Level): ReadonlyMap<string, string> {
    const here = level.join(".");
    return new Map((look?.conversions ?? []).filter((conversion) => (conversion.element ?? "") === here)
        .map((conversion) => [`${conversion.connection.from}→${conversion.connection.to}`, conversion.text]));
}
