// SPDX-License-Identifier: MIT
// Details of a run: settable values, steps, time per unit and rank, messages.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { adopt, joinEnd, Connector, hierarchical, splitEnd, System, asSystem } from "../model/document";
import { readValue } from "../model/values";
import { css } from "../plot/colours";
import { stairs } from "../plot/data";
import { Figure } from "../plot/figure";
import { present } from "../state/editor";
import { LiveRun, over } from "../state/run";
import { serverInfo } from "../state/server";
import { setValue } from "../server/calls";
import type { UnitStatistics } from "../server/types";
import { complain, notify, painted } from "../state/view";
import { number, seconds } from "./format";
import { Icon, IconButton } from "./icons";

type Pane = "set" | "steps" | "units" | "messages";

export function RunDetails({ run }: { run: LiveRun }) {
    const pane = useSignal<Pane>("set");
    const troubles = run.messages.value.filter((message) => message.level === "error" || message.level === "warning").length;
    const names: readonly [Pane, string][] = [["set", "Set"], ["steps", "Steps"], ["units", "Units"], ["messages", troubles > 0 ? `Messages ${troubles}` : "Messages"]];
    return (
        <section class="block details">
            <h2 title={run.id}>Run {run.name}</h2>
            <RunFacts run={run} />
            <div class="panes" role="group" aria-label="What to show">{names.map(([id, name]) => <button type="button" key={id} id={`pane-${id}`} aria-pressed={pane.value === id} onClick={() => (pane.value = id)}>{name}</button>)}</div>
            {pane.value === "set" && <SetPane run={run} />}
            {pane.value === "steps" && <StepsPane run={run} />}
            {pane.value === "units" && <UnitsPane run={run} />}
            {pane.value === "messages" && <MessagesPane run={run} />}
        </section>
    );
}

function RunFacts({ run }: { run: LiveRun }) {
    const { statistics, message, command } = run.info.value;
    const progress = run.progress.value;
    const facts: [string, string][] = [];
    if (statistics?.coupling)
        facts.push(["coupling", statistics.coupling]);
    if (statistics?.control)
        facts.push(["control", statistics.control]);
    facts.push(["steps", number(statistics?.steps ?? progress?.steps ?? null, 8)]);
    const { rejected, located } = run.liveSteps.value;
    if (statistics?.rejected || rejected > 0)
        facts.push(["rejected", number(statistics?.rejected ?? rejected, 8)]);
    if (statistics?.events_located || located > 0)
        facts.push(["events", number(statistics?.events_located ?? located, 8)]);
    facts.push(["time taken", seconds(statistics?.loop_seconds ?? progress?.elapsed ?? run.info.value.seconds)]);
    if (statistics?.ranks && statistics.ranks > 1)
        facts.push(["ranks", `${statistics.ranks} (${statistics.fabric ?? ""})`]);
    return (
        <>
            {run.state.value === "failed" && <p class="error-text failure">{message ?? "The run failed."}</p>}
            <dl class="facts">{facts.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>
            {command && <CommandLine text={command} />}
        </>
    );
}

export function CommandLine({ text }: { text: string }) {
    const copy = () => void navigator.clipboard.writeText(text).then(() => notify("The command line is copied."), () => notify("The browser does not let the page copy.", "error"));
    return <div class="command"><code title={text} tabIndex={0}>{text}</code><IconButton icon="copy" label="Copy the command line" act={copy} /></div>;
}

interface Settable {
    readonly name: string;
    readonly connector: Connector;
}

/** Tunable parameters and undriven inputs of the running system. */
function settables(document: System): Settable[] {
    const found: Settable[] = [];
    const drivenAt = (system: System) => new Set(system.connections.map((connection) => {
        const { element, connector } = splitEnd(system, connection.to);
        return joinEnd(element, connector);
    }));
    const visit = (system: System, prefix: readonly string[]) => {
        const driven = drivenAt(system);
        for (const element of system.elements) {
            if (element.kind === "system") {
                visit(asSystem(element), [...prefix, element.name]);
                continue;
            }
            for (const connector of element.connectors)
                if ((connector.kind === "parameter" && connector.variability === "tunable") || (connector.kind === "input" && !driven.has(joinEnd(element.name, connector.name))))
                    found.push({ name: hierarchical(prefix, `${element.name}.${connector.name}`), connector });
        }
    };
    visit(document, []);
    return found;
}

function SetPane({ run }: { run: LiveRun }) {
    const filter = useSignal("");
    const name = useSignal("");
    const value = useSignal("");
    const closed = over(run.state.value) || (serverInfo.value?.readOnly ?? false);
    const { document } = run.info.value;
    const all = useMemo(() => (serverInfo.value?.attached ? [] : settables(document ? adopt(document) : present.value)), [document, present.value]);
    const shown = all.filter((entry) => entry.name.toLowerCase().includes(filter.value.toLowerCase()));
    const send = async (target: string, connector: Connector | null, text: string) => {
        const read = connector ? readValue(connector, text.trim()) : { value: Number(text) };
        if ("error" in read || (typeof read.value === "number" && !Number.isFinite(read.value))) {
            notify(`${target}: ${"error" in read ? read.error : `${text} is no number.`}`, "error");
            return;
        }
        try {
            await setValue(run.id, target, typeof read.value === "boolean" ? Number(read.value) : read.value);
            notify(`${target} is ${text} from the next step on.`);
        } catch (error) {
            complain(error);
        }
    };
    return (
        <div class="set-pane">
            {closed && <p class="soft">{over(run.state.value) ? "The run is over: nothing can be set any more." : "This page is read-only."}</p>}
            {!closed && all.length > 6 && <input type="search" placeholder="Filter" aria-label="Filter what can be set" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />}
            {!closed && <ul>{shown.slice(0, 100).map((entry) => (
                <li key={entry.name}><label><span title={entry.connector.description ?? ""}>{entry.name} <span class="soft">{entry.connector.unit ?? ""}</span></span>
                    <input data-set={entry.name} placeholder={String(entry.connector.start ?? "")} inputMode="decimal" onChange={(event) => void send(entry.name, entry.connector, event.currentTarget.value)} /></label></li>))}</ul>}
            {!closed && (
                <form class="set-any" onSubmit={(event) => { event.preventDefault(); void send(name.value.trim(), null, value.value); }}>
                    <label>Variable<input id="set-name" value={name.value} placeholder="unit.variable" onInput={(event) => (name.value = event.currentTarget.value)} /></label>
                    <label>Value<input id="set-value" value={value.value} inputMode="decimal" onInput={(event) => (value.value = event.currentTarget.value)} /></label>
                    <button type="submit" id="set-send" disabled={name.value === "" || value.value === ""}>Set</button>
                </form>)}
            {!closed && all.length === 0 && <p class="soft">Tunable parameters, and inputs that nothing drives, can be set while it runs.</p>}
        </div>
    );
}

function StepsPane({ run }: { run: LiveRun }) {
    const steps = over(run.state.value) ? run.steps.value : null;
    const live = run.liveSteps.value;
    useEffect(() => {
        if (over(run.state.value))
            void run.readSteps();
    }, [run]);
    const times = [...(steps?.times ?? live.times)];
    const sizes = steps ? [[...steps.steps]] : [[...live.greatest], [...live.least]];
    const known = steps?.errors ?? live.errors;
    const events = steps?.events ?? live.events;
    const reasons = run.info.value.statistics?.reasons;
    return (
        <div class="steps-pane" data-pieces={times.length}>
            <h3>Step size [s]{!steps && times.length > 0 && <span class="soft"> greatest and least</span>}</h3>
            <SmallPlot label="Size of steps over time" times={times} values={sizes} colours={["--curve-0", "--curve-2"]} />
            {known.some((error) => error !== null && error > 0) && <><h3>Error, as part of what is allowed</h3><SmallPlot label="Error over time" times={times} values={[[...known]]} colours={["--curve-1"]} /></>}
            {events.length > 0 && <><h3>Events <span class="count">{steps ? events.length : live.located}</span></h3><p class="events soft">{events.slice(-30).map((time) => number(time, 6)).join("  ")}</p></>}
            {reasons && <><h3>Why</h3><dl class="reasons">{Object.entries(reasons).map(([name, why]) => <><dt>{name}</dt><dd>{why}</dd></>)}</dl></>}
        </div>
    );
}

function SmallPlot({ label, times, values, colours }: { label: string; times: number[]; values: (number | null)[][]; colours: readonly string[] }) {
    const host = useRef<HTMLDivElement>(null);
    const figure = useRef<Figure | null>(null);
    useEffect(() => {
        figure.current = new Figure(host.current as HTMLDivElement, true);
        return () => figure.current?.destroy();
    }, []);
    useEffect(() => {
        const positive = values.map((list) => list.map((value) => (value !== null && value > 0 ? value : null)));
        const curves = positive.map((_list, index) => ({ label: "", colour: css(colours[index] ?? "--curve-0"), dashed: false }));
        if (times.length > 1 && positive.some((list) => list.some((value) => value !== null)))
            figure.current?.show({ curves, log: true, phase: false, x: { name: "time", unit: "s" }, y: { name: "", unit: "" } }, positive.map((list) => stairs(times, list)), painted.value);
    });
    return <div class="small-plot" ref={host} role="img" aria-label={label} />;
}

function UnitsPane({ run }: { run: LiveRun }) {
    const loads = [...run.loads.value.values()].sort((a, b) => a.rank - b.rank);
    const units: readonly UnitStatistics[] = run.info.value.statistics?.units ?? loads.flatMap((load) => load.units);
    const most = Math.max(1e-12, ...units.map((unit) => unit.seconds));
    const ranks = new Map<number, number>();
    for (const unit of units)
        ranks.set(unit.rank ?? 0, (ranks.get(unit.rank ?? 0) ?? 0) + unit.seconds);
    const heaviest = Math.max(1e-12, ...ranks.values());
    if (units.length === 0)
        return <p class="soft">{over(run.state.value) ? "It is not known how long the units took." : "The run has not told yet how long its units take."}</p>;
    const now = (rank: number) => {
        const share = over(run.state.value) ? null : run.loads.value.get(rank)?.share ?? null;
        return share === null ? "" : `, ${Math.round(100 * share)} % now`;
    };
    return (
        <div class="units-pane">
            {(ranks.size > 1 || loads.length > 0) && <><h3>Load per rank</h3>
                <ul class="bars" id="rank-loads">{[...ranks].sort(([a], [b]) => a - b).map(([rank, load]) => <Bar key={rank} name={`rank ${rank}`} share={load / heaviest} text={`${seconds(load)}${now(rank)}`} colour={`rank${rank % 8}`} />)}</ul></>}
            <h3>Time per unit</h3>
            <ul class="bars" id="unit-loads">{[...units].sort((a, b) => b.seconds - a.seconds).slice(0, 100).map((unit) =>
                <Bar key={unit.name} name={unit.name} share={unit.seconds / most} text={seconds(unit.seconds)} colour={ranks.size > 1 ? `rank${(unit.rank ?? 0) % 8}` : "plain"}
                    title={[unit.fmi ? `FMI ${unit.fmi}` : "", unit.interface ?? "", unit.do_steps !== undefined ? `${unit.do_steps} steps` : "", unit.rollbacks ? `${unit.rollbacks} rollbacks` : ""].filter(Boolean).join(", ")} />)}</ul>
        </div>
    );
}

function Bar({ name, share, text, colour, title = "" }: { name: string; share: number; text: string; colour: string; title?: string }) {
    return <li title={title}><span class="bar-name">{name}</span><span class="bar-track"><span class={`bar-fill ${colour}`} style={{ width: `${Math.max(1, share * 100)}%` }} /></span><span class="bar-text">{text}</span></li>;
}

function MessagesPane({ run }: { run: LiveRun }) {
    const messages = run.messages.value;
    if (messages.length === 0)
        return <p class="soft">No messages.</p>;
    return (
        <ul class="messages">
            {messages.slice(-300).map((message, index) => (
                <li key={index} class={message.level}><Icon name={message.level === "error" ? "error" : message.level === "warning" ? "warning" : "check"} /><span>{message.origin ? <b>{message.origin} </b> : null}{message.text}</span></li>))}
        </ul>
    );
}
