// SPDX-License-Identifier: MIT
// Settings refer to units: patterns ("car.*"), variables ("car.v=3"), units ("car,road"). When units are renamed,
// grouped or ungrouped, the settings are adjusted and keep their meaning.

/** Units by hierarchical name: old names and new names. */
export type Moves = ReadonlyMap<string, string>;

export const back = (moves: Moves): Moves => new Map([...moves].map(([old, now]) => [now, old]));

/** The remainder of a pattern ("*": any text, "?": one character) after matching `text`; empty: no match. */
export function rest(pattern: string, text: string): readonly string[] {
    let at = new Set([0]);
    const skipStars = (places: Set<number>) => {
        for (const place of places) // grows while it is walked through
            if (pattern[place] === "*")
                places.add(place + 1);
        return places;
    };
    skipStars(at);
    for (const character of text) {
        const next = new Set<number>();
        for (const place of at)
            if (pattern[place] === "*")
                next.add(place);
            else if (pattern[place] === "?" || pattern[place] === character)
                next.add(place + 1);
        at = skipStars(next);
    }
    const left = [...at].map((place) => pattern.slice(place)).filter((each) => each !== "");
    return left.filter((each) => !left.includes(`*${each}`)); // "*x" matches all that "x" does
}

/** Patterns that match the variables that this one matched. `others`: units that keep their names. */
export function movePattern(pattern: string, moves: Moves, others: readonly string[]): readonly string[] {
    if (pattern.startsWith("*"))
        return [pattern];
    const known = [...moves].filter(([old]) => pattern === old || pattern.startsWith(`${old}.`)).sort(([a], [b]) => b.length - a.length)[0];
    if (known)
        return [known[1] + pattern.slice(known[0].length)];
    const moved = [...moves].flatMap(([old, now]) => rest(pattern, `${old}.`).map((left) => `${now}.${left}`));
    if (moved.length === 0)
        return [pattern];
    const stays = others.some((name) => rest(pattern, `${name}.`).length > 0);
    return [...new Set([...(stays ? [pattern] : []), ...(underOne(pattern, moves) ?? moved)])];
}

/** If all units went into one group: the pattern inside it. */
function underOne(pattern: string, moves: Moves): readonly string[] | undefined {
    const [[old, now] = ["", ""]] = moves;
    const level = old.slice(0, old.lastIndexOf(".") + 1);
    const group = now.slice(level.length, now.length - (old.length - level.length));
    const fits = group !== "" && pattern.startsWith(level) && [...moves].every(([from, to]) => to === level + group + from.slice(level.length));
    return fits ? [level + group + pattern.slice(level.length)] : undefined;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Names of units, and of their variables, in a text. */
export function moveNames(text: string, moves: Moves): string {
    const names = [...moves.keys()].sort((a, b) => b.length - a.length).map(escaped);
    return names.length === 0 ? text : text.replace(new RegExp(`(^|[\\s,;=|])(${names.join("|")})(?=[.\\s,;=|*+]|$)`, "g"), (_all, before: string, name: string) => before + moves.get(name));
}

/** The positions of unit names in the value of an option. */
const PLACES: Readonly<Record<string, "pattern" | "left" | "right" | "all">> = {
    record: "pattern", set: "left", signal: "left", place: "left", step: "left", atol: "left", quantum: "left", publish: "left", subscribe: "right",
    connect: "all", tlm: "all", constrain: "all", order: "all", "no-event-mode": "all", "no-stop-time": "all", "no-directional-derivatives": "all",
};

function moveItem(option: string, item: string, moves: Moves, others: readonly string[]): readonly string[] {
    const sign = item.indexOf("=");
    switch (PLACES[option]) {
        case "pattern": return movePattern(item, moves, others);
        case "left": return [sign < 0 ? item : moveNames(item.slice(0, sign), moves) + item.slice(sign)];
        case "right": return [item.slice(0, sign + 1) + moveNames(item.slice(sign + 1), moves)];
        case "all": return [moveNames(item, moves)];
        default: return [item];
    }
}

/** Settings of a document (several values separated by " | ") or options of a run (one per line). */
export function moveSettings(settings: Readonly<Record<string, string>>, moves: Moves, others: readonly string[]): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(settings).map(([option, text]) => {
        const between = text.includes("\n") || option === "record" ? "\n" : " | ";
        return [option, text.split(between).flatMap((item) => moveItem(option, item, moves, others)).join(between)];
    }));
}
