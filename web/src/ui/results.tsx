// SPDX-License-Identifier: MIT
// All runs: settings, duration, results; two of them side by side.
import { useSignal } from "@preact/signals";
import { adopt } from "../model/document";
import { changePanel, panels } from "../plot/panels";
import { compare, getRun } from "../server/calls";
import { download } from "../server/client";
import type { Comparison, Run } from "../server/types";
import { open } from "../state/editor";
import { current, forget, layOverId, runs, show } from "../state/runs";
import { over, runName } from "../state/run";
import { serverInfo } from "../state/server";
import { complain, tab } from "../state/view";
import { CommandLine } from "./details";
import { moment, number, seconds } from "./format";
import { Icon, IconButton } from "./icons";

const FORMATS = [["csv", "CSV"], ["mat", "MAT"], ["h5", "HDF5"], ["svg", "SVG"], ["png", "PNG"]] as const;

export function Results() {
    const chosen = useSignal<readonly string[]>([]);
    const detail = useSignal<string | null>(null);
    const comparison = useSignal<Comparison | null>(null);
    const toggle = (id: string) => {
        chosen.value = chosen.value.includes(id) ? chosen.value.filter((each) => each !== id) : [...chosen.value, id].slice(-2);
        comparison.value = null;
    };
    const [a, b] = chosen.value;
    const both = a !== undefined && b !== undefined;
    const agree = async () => {
        if (both)
            comparison.value = await compare(a, b).catch((error) => (complain(error), null));
    };
    const overlay = async (difference: boolean) => {
        if (!both)
            return;
        await show(a);
        await layOverId(b);
        tab.value = "run";
        for (const panel of panels.value)
            changePanel(panel.id, { difference });
    };
    return (
        <div class="results">
            <header class="results-head">
                <h2>Runs <span class="count">{runs.value.length}</span></h2>
                <span class="soft">{both ? `run ${runName(a)} and run ${runName(b)}` : "Tick two runs to compare them."}</span>
                <button type="button" disabled={!both} onClick={() => void agree()} id="compare">Compare</button>
                <button type="button" disabled={!both} onClick={() => void overlay(false)} id="lay-over">Lay over each other</button>
                <button type="button" disabled={!both} onClick={() => void overlay(true)} id="difference">Difference</button>
            </header>
            {comparison.value && <ComparisonTable comparison={comparison.value} />}
            <div class="table-frame" tabIndex={0} role="region" aria-label="Runs">
                <table class="runs">
                    <thead><tr><th><span class="hidden">Compare</span></th><th>Run</th><th>State</th><th>System</th><th>Options</th><th>Begun</th><th class="number">Took</th><th class="number">Until</th><th><span class="hidden">Actions</span></th></tr></thead>
                    <tbody>{runs.value.map((run) => <RunRow key={run.id} run={run} ticked={chosen.value.includes(run.id)} toggle={() => toggle(run.id)} open={detail.value === run.id} expand={() => (detail.value = detail.value === run.id ? null : run.id)} />)}</tbody>
                </table>
                {runs.value.length === 0 && <p class="soft empty">No run was made yet.</p>}
            </div>
        </div>
    );
}

const words = (options: Run["options"]): string => Object.entries(options).map(([name, value]) => (value === true || value === "true" ? name : `${name} ${String(value)}`)).join(", ");

function RunRow({ run, ticked, toggle, open: expanded, expand }: { run: Run; ticked: boolean; toggle: () => void; open: boolean; expand: () => void }) {
    const view = () => void show(run.id).then(() => (tab.value = "run"));
    return (
        <>
            <tr class={current.value?.id === run.id ? "current" : ""} data-run={run.id}>
                <td><input type="checkbox" aria-label={`Choose run ${run.id}`} checked={ticked} onChange={toggle} /></td>
                <td><button type="button" class="link" title={run.id} onClick={view}>{runName(run.id)}</button></td>
                <td><span class="state" data-state={run.state}>{run.state}</span></td>
                <td>{run.file ?? "–"}</td>
                <td class="soft">{words(run.options) || "–"}</td>
                <td>{moment(run.begun)}</td><td class="number">{seconds(run.seconds)}</td><td class="number">{number(run.time)}</td>
                <td class="row-actions"><button type="button" class="small" aria-expanded={expanded} onClick={expand}>More</button></td>
            </tr>
            {expanded && <tr class="expanded"><td colSpan={9}><RunMore run={run} view={view} /></td></tr>}
        </>
    );
}

function RunMore({ run, view }: { run: Run; view: () => void }) {
    const again = async () => {
        try {
            const full = await getRun(run.id);
            if (full.document) {
                open(adopt(full.document), false);
                tab.value = "build";
            }
        } catch (error) {
            complain(error);
        }
    };
    return (
        <div class="run-more">
            {run.message && <p class={run.state === "failed" ? "error-text" : "soft"}>{run.message}</p>}
            <CommandLine text={run.command} />
            <div class="buttons">
                <button type="button" onClick={view}>Show</button>
                {run.state !== "failed" && FORMATS.map(([format, name]) => <button type="button" key={format} data-export={format} onClick={() => void download(`runs/${encodeURIComponent(run.id)}/export`, { format }, `run-${run.id}.${format}`).catch(complain)}><Icon name="download" />{name}</button>)}
                <button type="button" onClick={() => void again()}>Open its system</button>
                {!serverInfo.value?.readOnly && over(run.state) && <IconButton icon="trash" label={`Forget run ${runName(run.id)} and its files`} act={() => void forget(run.id)} />}
            </div>
        </div>
    );
}

function ComparisonTable({ comparison }: { comparison: Comparison }) {
    return (
        <section class="comparison" aria-label="Comparison">
            <p class={comparison.agree ? "good" : "error-text"}><Icon name={comparison.agree ? "check" : "warning"} />
                {comparison.agree ? `All ${comparison.compared} variables agree, to a relative ${number(comparison.rtol)}.` : `${comparison.disagreements} of ${comparison.compared} variables differ by more than a relative ${number(comparison.rtol)}.`}</p>
            <table>
                <thead><tr><th>Variable</th><th class="number">Worst at</th><th class="number">First</th><th class="number">Second</th><th class="number">Difference</th><th class="number">Allowed</th></tr></thead>
                <tbody>{comparison.variables.slice(0, 50).map((variable) => (
                    <tr key={variable.name} class={variable.agrees ? "" : "differs"}><td>{variable.name}</td><td class="number">{number(variable.time)}</td><td class="number">{number(variable.result, 8)}</td><td class="number">{number(variable.reference, 8)}</td><td class="number">{number(variable.error)}</td><td class="number">{number(variable.allowed)}</td></tr>))}
                </tbody>
            </table>
            {comparison.only_in_result.length + comparison.only_in_reference.length > 0 && <p class="soft">Only in one of them: {[...comparison.only_in_result, ...comparison.only_in_reference].join(", ")}</p>}
        </section>
    );
}
