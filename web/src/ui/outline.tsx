// SPDX-License-Identifier: MIT
// All units of the document as a list: for the keyboard, for screen readers, and to find one among 500.
import { useSignal } from "@preact/signals";
import { hierarchical, Level, rankOf, walk } from "../model/document";
import { isAbout } from "../canvas/marks";
import { level, looked, present, reveal, selected } from "../state/editor";
import { Icon } from "./icons";

const MOST = 200;

export function Outline() {
    const filter = useSignal("");
    const wanted = filter.value.toLowerCase();
    const units: { name: string; kind: string; at: Level; full: string; rank: number | null }[] = [];
    walk(present.value, (element, at) => {
        const full = hierarchical(at, element.name);
        if (full.toLowerCase().includes(wanted))
            units.push({ name: element.name, kind: element.kind, at, full, rank: rankOf(element) });
    });
    return (
        <section class="block outline" aria-labelledby="outline-title">
            <h2 id="outline-title">Units <span class="count">{units.length}</span></h2>
            {present.value.elements.length > 8 && <input type="search" placeholder="Filter" aria-label="Filter units" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />}
            <ul>
                {units.slice(0, MOST).map((unit) => (
                    <li key={unit.full}>
                        <button type="button" class="outline-unit" data-depth={Math.min(unit.at.length, 4)} aria-pressed={selected.value.has(unit.name) && unit.at.join("\n") === level.value.join("\n")} onClick={() => reveal(unit.full)}>
                            <Icon name={unit.kind === "system" ? "system" : "unit"} /><span>{unit.name}</span>
                            {unit.rank !== null && <span class={`swatch rank${unit.rank % 8}`} title={`rank ${unit.rank}`}>{unit.rank}</span>}
                            {looked.value?.findings.some((finding) => isAbout(finding, unit.full) && finding.level === "error") && <span class="error-text"><Icon name="error" /></span>}
                        </button>
                    </li>
                ))}
            </ul>
            {units.length > MOST && <p class="soft empty">and {units.length - MOST} more: type into the filter</p>}
            {units.length === 0 && <p class="soft empty">None yet.</p>}
        </section>
    );
}
