// SPDX-License-Identifier: MIT
// The structure of the system: dependencies, loops, the order of evaluation, the choices of auto with reasons.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { askLayout } from "../layout/client";
import type { Corner } from "../layout/layered";
import { wirePath } from "../model/geometry";
import { analyze } from "../server/calls";
import type { Analysis, AnalysisAtStep, DependencyGraph, GraphNode, Stable, StableAtStep } from "../server/types";
import { looked, outgoing, present, reveal } from "../state/editor";
import { commandOptions } from "../state/runs";
import { serverInfo } from "../state/server";
import { complain, tab } from "../state/view";
import { FindingLine } from "./findings";
import { number } from "./format";
import { Icon } from "./icons";

const MOST_NODES = 400;
const NODE_HEIGHT = 28;

export function Understand() {
    const graph = looked.value?.graph ?? null;
    const findings = looked.value?.findings ?? [];
    return (
        <div class="understand">
            <section class="graph-side" aria-label="Dependencies">
                <header class="section-head"><h2>Dependencies</h2><span class="soft">An arrow leads from what is needed to what needs it. Red: algebraic loops.</span></header>
                {graph && graph.nodes.length > 0 ? <Dependencies graph={graph} /> : <p class="soft empty">Connect units to see what depends on what.</p>}
            </section>
            <section class="facts-side" aria-label="Findings, order, choices" tabIndex={0}>
                <Choices />
                <Loops graph={graph} />
                <Order graph={graph} />
                <section class="card"><h2>Findings <span class="count">{findings.length}</span></h2>
                    {findings.length === 0 ? <p class="good"><Icon name="check" />None.</p> : <ul class="own-findings">{findings.map((finding, index) => <li key={index} onClick={() => (tab.value = "build")}><FindingLine finding={finding} /></li>)}</ul>}
                </section>
            </section>
        </div>
    );
}

const nodeName = (node: GraphNode | undefined): string => (node ? `${node.unit}.${node.variable}` : "");
const nodeWidth = (node: GraphNode): number => 26 + nodeName(node).length * 7;

function Dependencies({ graph }: { graph: DependencyGraph }) {
    const places = useSignal<ReadonlyMap<string, Corner>>(new Map());
    const shown = graph.nodes.length <= MOST_NODES;
    useEffect(() => {
        if (!shown)
            return;
        const nodes = graph.nodes.map((node, index) => ({ id: String(index), width: nodeWidth(node), height: NODE_HEIGHT }));
        const edges = graph.nodes.flatMap((node, index) => node.needs.map((need) => ({ from: String(need), to: String(index) })));
        askLayout({ nodes, edges }).then((corners) => (places.value = new Map(corners.map((corner) => [corner.id, corner]))), complain);
    }, [graph]);
    if (!shown)
        return <p class="soft empty">The graph has {graph.nodes.length} nodes: too many to draw. Loops and order are at the right; 'tutti graph' writes it as a file.</p>;
    if (places.value.size !== graph.nodes.length)
        return <p class="soft empty">Drawing…</p>;
    const box = (index: number) => ({ ...(places.value.get(String(index)) as Corner), width: nodeWidth(graph.nodes[index] as GraphNode) });
    const all = graph.nodes.map((_node, index) => box(index));
    const width = Math.max(...all.map((each) => each.x + each.width)) + 60;
    const height = Math.max(...all.map((each) => each.y + NODE_HEIGHT)) + 80;
    return (
        <div class="graph-frame" tabIndex={0} role="img" aria-label={`Graph of ${graph.nodes.length} variables`}>
            <svg class="dependencies" viewBox={`-40 -40 ${width + 40} ${height}`} width={width + 40} height={height} aria-hidden="true">
                <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" /></marker></defs>
                {graph.nodes.flatMap((node, index) => node.needs.map((need) => {
                    const [from, to] = [box(need), box(index)];
                    const loop = node.loop !== null && graph.nodes[need]?.loop === node.loop;
                    return <path key={`${need} ${index}`} class={`edge-line${loop ? " loop" : ""}${graph.nodes[need]?.unit === node.unit ? " inner" : ""}`} d={wirePath({ x: from.x + from.width, y: from.y + NODE_HEIGHT / 2 }, { x: to.x, y: to.y + NODE_HEIGHT / 2 }, Math.max(from.y, to.y) + NODE_HEIGHT, 0)} marker-end="url(#tip)" />;
                }))}
                {graph.nodes.map((node, index) => {
                    const { x, y, width: wide } = box(index);
                    return (
                        <g key={index} class={`node ${node.kind}${node.loop !== null ? " loop" : ""}`} transform={`translate(${x} ${y})`} onClick={() => { reveal(node.unit); tab.value = "build"; }}>
                            <rect width={wide} height={NODE_HEIGHT} rx="14" /><text x={wide / 2} y={NODE_HEIGHT / 2 + 1}>{nodeName(node)}</text><title>{`${nodeName(node)}, ${node.kind}`}</title>
                        </g>);
                })}
            </svg>
        </div>
    );
}

function Loops({ graph }: { graph: DependencyGraph | null }) {
    const loops = new Map<number, GraphNode[]>();
    for (const node of graph?.nodes ?? [])
        if (node.loop !== null)
            loops.set(node.loop, [...(loops.get(node.loop) ?? []), node]);
    return (
        <section class="card"><h2>Algebraic loops <span class="count">{loops.size}</span></h2>
            {loops.size === 0 ? <p class="good"><Icon name="check" />No outputs depend on each other in a circle.</p>
                : [...loops].map(([loop, nodes]) => <p key={loop} class="loop-line">{nodes.map(nodeName).join(" → ")}</p>)}
        </section>
    );
}

function Order({ graph }: { graph: DependencyGraph | null }) {
    if (!graph || graph.order.length === 0)
        return null;
    return (
        <section class="card"><h2>Order of evaluation</h2>
            {graph.evaluations !== undefined && <p class="soft">{graph.evaluations} evaluations of units{graph.evaluations_one_by_one !== undefined ? `, ${graph.evaluations_one_by_one} if taken one by one` : ""}</p>}
            <ol class="order">{graph.order.slice(0, 200).map((step, index) => <li key={index}><span class={`tag ${step.action === "get" ? "output" : "input"}`}>{step.action}</span><b>{step.unit}</b> {step.nodes.map((index) => { const node = graph.nodes[index]; return node && (step.unit ? node.variable : nodeName(node)); }).join(", ")}</li>)}</ol>
        </section>
    );
}

function Choices() {
    const analysis = useSignal<Analysis | null>(null);
    const busy = useSignal(false);
    const of = useSignal<unknown>(null);
    const run = async () => {
        const document = present.value;
        busy.value = true;
        try {
            analysis.value = await analyze(outgoing(document), analysisOptions());
            of.value = document;
        } catch (error) {
            complain(error);
        }
        busy.value = false;
    };
    const { value } = analysis;
    return (
        <section class="card"><h2>What auto would choose</h2>
            <div class="row">
                <button type="button" class="primary" id="analyze" disabled={busy.value || (serverInfo.value?.readOnly ?? false) || present.value.elements.length === 0} onClick={() => void run()}>{busy.value ? "Analysing…" : "Analyse"}</button>
                <span class="soft">{value && of.value !== present.value ? "The system has changed since." : "Initialises the units: code of the FMUs runs."}</span>
            </div>
            {value?.failure && <p class="error-text">{value.failure}</p>}
            {value && <AnalysisResult analysis={value} />}
        </section>
    );
}

/** Options of runs that an analysis supports, too. */
function analysisOptions(): Record<string, unknown> {
    const { threads, processes, record: _record, realtime: _realtime, ...others } = commandOptions();
    const ranks = threads ?? processes;
    return ranks === undefined ? others : { ...others, ranks };
}

const LABELS: readonly [string, string][] = [["jacobi", "jacobi"], ["seidel", "seidel"], ["correct", "jacobi, corrected"], ["smooth", "jacobi, smooth"]];

function AnalysisResult({ analysis }: { analysis: Analysis }) {
    const choices = Object.entries(analysis.choices).flatMap(([name, choice]) => (typeof choice === "object" ? [[name, choice] as const] : choice ? [[name, { value: "yes", reason: "" }] as const] : []));
    const cell = (value: Stable | string | null | undefined) => (!value || typeof value === "string" ? <td class="soft">–</td>
        : <td class={value.stable ? "good" : "error-text"}>{value.stable ? "stable" : "unstable"}{value.radius !== null && <span class="soft"> {number(value.radius, 3)}</span>}</td>);
    return (
        <>
            <dl class="choices">{choices.map(([name, { value, reason }]) => <div key={name}><dt>{name}</dt><dd><b>{value}</b><span class="soft">{reason}</span></dd></div>)}</dl>
            {analysis.rho !== null && <p>ρ(DL) = <b>{number(analysis.rho)}</b> <span class="soft">{analysis.rho === 0 ? "no feedback through algebraic loops" : analysis.rho < 1 ? "the loop contracts" : "the loop expands: it needs newton, strong or correct"}</span></p>}
            {analysis.stability.length > 0 && <><h3>Stability for small steps</h3>
                <table class="stability"><thead><tr><th>Inputs</th>{LABELS.map(([id, name]) => <th key={id}>{name}</th>)}</tr></thead>
                    <tbody>{analysis.stability.map((row, index) => <tr key={index}><th scope="row">{String(row.extrapolation ?? index)}</th>{LABELS.map(([id]) => cell(row[id]))}</tr>)}</tbody></table></>}
            <AtStep step={analysis.step} />
            {analysis.placement && <><h3>Placement <span class="soft">balance {number(analysis.placement.balance, 3)}</span></h3>
                <ul class="placement">{analysis.placement.ranks.map((rank) => <li key={rank.rank}><span class={`swatch rank${rank.rank % 8}`}>{rank.rank}</span>{rank.units.join(", ")} <span class="soft">{number(rank.share * 100, 3)} %</span></li>)}</ul></>}
        </>
    );
}

const INPUTS = ["constant", "linear", "quadratic"] as const;

/** The step size up to which a coupling is stable. */
const reach = ({ largest, any_step }: StableAtStep): string => (any_step ? "any step" : largest === null ? "no step" : `up to ${number(largest, 3)} s`);

/** The growth of errors in a step of the given size, by coupling; below 1 is stable. */
function AtStep({ step }: { step: AnalysisAtStep | null }) {
    if (!step)
        return <p class="soft">Set a step to see whether couplings are stable at it.</p>;
    if (step.why_not)
        return <p class="soft">At this step: {step.why_not}</p>;
    const columns = [...LABELS, ["relax", "relax, newton"] as const].map(([id, name]) => ({ id, name, values: step[id as keyof AnalysisAtStep] as readonly (StableAtStep | null)[] | undefined })).filter(({ values }) => values);
    return (
        <><h3>At a step of {number(step.h)} s <span class="soft">errors are multiplied by this, those of the equations by {number(step.exact, 3)}</span></h3>
            <table class="stability at-step"><thead><tr><th>Inputs</th>{columns.map(({ id, name }) => <th key={id}>{name}</th>)}</tr></thead>
                <tbody>{INPUTS.map((inputs, index) => <tr key={inputs}><th scope="row">{inputs}</th>{columns.map(({ id, values }) => {
                    const value = values?.[index];
                    return value ? <td key={id} class={value.stable ? "good" : "error-text"}>{value.stable ? "stable" : "unstable"}<span class="soft"> {number(value.radius, 3)}</span><span class="soft"> {reach(value)}</span></td> : <td key={id} class="soft">–</td>;
                })}</tr>)}</tbody></table></>
    );
}
