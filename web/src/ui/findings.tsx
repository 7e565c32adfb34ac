// SPDX-License-Identifier: MIT
// The findings of `tutti check`, below the drawing; a click shows the unit concerned.
import { useSignal } from "@preact/signals";
import { looked, present, reveal, selectedWire } from "../state/editor";
import { unitsInLoops } from "../canvas/marks";
import type { Finding } from "../server/types";
import { Icon } from "./icons";

export function FindingsBar() {
    const open = useSignal(false);
    const findings = (looked.value?.findings ?? []).filter((finding) => finding.level === "error" || finding.level === "warning");
    const errors = findings.filter((finding) => finding.level === "error").length;
    const loops = new Set((looked.value?.graph?.nodes ?? []).map((node) => node.loop).filter((loop) => loop !== null)).size;
    return (
        <div class={`findings${open.value ? " open" : ""}`}>
            <button type="button" class="findings-head" aria-expanded={open.value} onClick={() => (open.value = !open.value)} disabled={findings.length === 0}>
                {!looked.value ? <span class="soft">{present.value.elements.length === 0 ? "Nothing to check yet" : "Checking…"}</span>
                    : findings.length === 0 ? <span class="good"><Icon name="check" />No findings</span>
                    : <>{errors > 0 && <span class="error-text"><Icon name="error" />{errors} {errors === 1 ? "error" : "errors"}</span>}
                        {findings.length > errors && <span class="warning-text"><Icon name="warning" />{findings.length - errors} {findings.length - errors === 1 ? "warning" : "warnings"}</span>}</>}
                {loops > 0 && <span class="loop-text">{loops} algebraic {loops === 1 ? "loop" : "loops"}, {unitsInLoops(looked.value).size} units</span>}
                <span class="soft right">{count(present.value)}</span>
            </button>
            {open.value && <ul>{findings.map((finding, index) => <li key={index}><FindingLine finding={finding} /></li>)}</ul>}
        </div>
    );
}

function count(document: { elements: readonly unknown[]; connections: readonly unknown[] }): string {
    return `${document.elements.length} units, ${document.connections.length} connections`;
}

export function FindingLine({ finding }: { finding: Finding }) {
    const show = () => {
        if (finding.element)
            reveal(finding.element);
        if (finding.connection && typeof finding.connection !== "string")
            selectedWire.value = finding.connection;
    };
    return (
        <button type="button" class="finding" onClick={show}>
            <span class={finding.level === "error" ? "error-text" : "warning-text"}><Icon name={finding.level === "error" ? "error" : "warning"} /></span>
            <span>{finding.element ? <b>{finding.element} </b> : null}{finding.text}</span>
        </button>
    );
}
