// SPDX-License-Identifier: MIT
// The editor's state: the document with its history, the open level, the selection, the server's findings.
import { batch, computed, effect, signal } from "@preact/signals";
import { askLayout } from "../layout/client";
import * as commands from "../model/commands";
import { adopt, Connection, Connector, Document, Element, emptyDocument, End, findElement, findTerminal, freeAmong, freeName, hierarchical, joinEnd, Level, mapOrigins, originsAfter, otherUnits, splitEnd, System, systemAt, walk, asSystem } from "../model/document";
import { connectedPorts, hasGeometry, levelKey, neededSize, scaleOf, sceneOf, shownPorts } from "../model/geometry";
import { group, ungroup } from "../model/grouping";
import { back, Moves } from "../model/names";
import * as past from "../model/history";
import { orient, refusal } from "../model/rules";
import { getFmu, getSystem, importSystem, joinTerminals, look, saveSystem } from "../server/calls";
import { ServerError } from "../server/client";
import type { FmuInfo, Look } from "../server/types";
import { busy } from "./busy";
import { complain, notify } from "./view";

export const history = signal<past.History>(past.begin(emptyDocument("system")));
export const saved = signal<Document | null>(null);
/** The file of the document. Not part of the history: undo does not restore an old revision. */
export const file = signal<{ readonly path: string | null; readonly revision: Document["revision"] }>({ path: null, revision: null });
export const level = signal<Level>([]);
export const selected = signal<ReadonlySet<string>>(new Set());
export const selectedWire = signal<{ from: string; to: string } | null>(null);
/** A connector of the open system itself. */
export const selectedConnector = signal<string | null>(null);
export const expanded = signal<ReadonlySet<string>>(new Set());
export const looked = signal<Look | null>(null);
export const fitRequest = signal(0);
export const revealRequest = signal<{ name: string; count: number } | null>(null);

/** The document that `looked` describes. */
let lookedAt: Document | null = null;

const scales = signal<ReadonlyMap<string, number>>(new Map());

export const present = computed(() => history.value.present);
export const system = computed<System>(() => systemAt(present.value, level.value) ?? present.value);
export const scale = computed(() => scales.value.get(levelKey(level.value)) ?? 1);
export const scene = computed(() => sceneOf(system.value, scale.value, expanded.value));
export const dirty = computed(() => present.value !== saved.value && !(saved.value === null && present.value.elements.length === 0));

/** The document in the server's form. */
export const outgoing = (document: Document): Document => ({ ...document, path: file.value.path, ...(file.value.revision !== null && file.value.revision !== undefined ? { revision: file.value.revision } : {}) });

/** Makes `next` the document, as one step of the history. */
export function perform(label: string, next: Document, merge: string | null = null): void {
    history.value = past.record(history.value, next, label, merge);
}

/** Called when units are renamed, also by undo and redo, with those that keep their names, so that other references can follow. */
let whenMoved: (moves: Moves, others: readonly string[]) => void = () => {};
export function onMoved(call: typeof whenMoved): void {
    whenMoved = call;
}

function performMoves(label: string, next: Document, moves: Moves): void {
    const others = otherUnits(present.value, moves);
    history.value = past.record(history.value, next, label, null, moves);
    whenMoved(moves, others);
}

function travel(to: past.History): void {
    batch(() => {
        history.value = to;
        if (!systemAt(to.present, level.value))
            level.value = [];
        const names = new Set(system.value.elements.map((element) => element.name));
        selected.value = new Set([...selected.value].filter((name) => names.has(name)));
        selectedWire.value = null;
        if (!system.value.connectors.some((connector) => connector.name === selectedConnector.value))
            selectedConnector.value = null;
    });
}

function travelWith(to: past.History, moves: Moves | undefined): void {
    const others = moves && otherUnits(present.value, moves);
    travel(to);
    if (moves && others)
        whenMoved(moves, others);
}

export function undo(): void {
    const moves = past.undoMoves(history.value);
    travelWith(past.undo(history.value), moves && back(moves));
}

export const redo = () => travelWith(past.redo(history.value), past.redoMoves(history.value));

/** Called when a different system was opened. */
let whenOpened: () => void = () => {};
export function onOpened(call: typeof whenOpened): void {
    whenOpened = call;
}

/** The `file` of runs of the open system. */
export const systemName = (): string => file.value.path ?? present.value.name;

export function open(document: Document, isSaved: boolean): void {
    const found = new Map<string, number>([[levelKey([]), scaleOf(document)]]);
    walk(document, (element, at) => {
        if (element.kind === "system")
            found.set(levelKey([...at, element.name]), scaleOf(asSystem(element)));
    });
    batch(() => {
        scales.value = found;
        file.value = { path: document.path, revision: document.revision ?? null };
        history.value = past.begin(document);
        saved.value = isSaved ? document : null;
        level.value = [];
        select([]);
        expanded.value = new Set();
        looked.value = null;
    });
    whenOpened();
    fitRequest.value++;
    if (needsLayout(document))
        void arrange(false);
}

export const needsLayout = (at: System): boolean => at.elements.length > 0 && !at.elements.some(hasGeometry);

export async function openPath(path: string): Promise<void> {
    const imported = !path.endsWith(".ssp");
    const document = adopt(await (imported ? importSystem(path) : getSystem(path)));
    open(imported ? { ...document, path: document.path ?? null } : { ...document, path: document.path ?? path }, !imported);
    if (imported)
        notify(`${path} is imported. Save it as SSP to keep it.`);
}

/** Saves; returns whether it succeeded. */
export async function save(path: string): Promise<boolean> {
    const sent = present.value;
    try {
        const answer = await saveSystem(path, path === file.value.path ? outgoing(sent) : { ...outgoing(sent), revision: null });
        batch(() => {
            const origins = originsAfter(sent);
            file.value = { path, revision: answer?.revision ?? null };
            history.value = past.rewrite(history.value, (document) => mapOrigins(document, origins));
            if (present.value === sent && answer?.elements)
                history.value = past.amend(history.value, adopt({ ...sent, ...answer, name: answer.name ?? sent.name }));
            saved.value = present.value === sent || answer?.elements ? present.value : sent;
        });
        notify(`${path} is saved.`);
        return true;
    } catch (error) {
        if (error instanceof ServerError && error.status === 409)
            notify(`${path} was changed by another program since it was opened. Save it under another name, or open it again.`, "error");
        else
            complain(error);
        return false;
    }
}

export function select(names: Iterable<string>): void {
    batch(() => {
        selected.value = new Set(names);
        selectedWire.value = null;
        selectedConnector.value = null;
    });
}

export function selectConnector(name: string | null): void {
    batch(() => {
        select([]);
        selectedConnector.value = name;
    });
}

export function enter(next: Level): void {
    batch(() => {
        level.value = next;
        select([]);
    });
    fitRequest.value++;
    const inner = systemAt(present.value, next);
    if (inner && needsLayout(inner))
        void arrange(false);
}

/** Shows the unit of a hierarchical name, at any level. */
export function reveal(name: string): void {
    let found: { at: Level; name: string } | null = null;
    walk(present.value, (element, at) => {
        if (hierarchical(at, element.name) === name)
            found = { at, name: element.name };
    });
    const hit = found as { at: Level; name: string } | null;
    if (!hit)
        return;
    batch(() => {
        if (levelKey(hit.at) !== levelKey(level.value))
            level.value = hit.at;
        select([hit.name]);
        revealRequest.value = { name: hit.name, count: (revealRequest.value?.count ?? 0) + 1 };
    });
}

/** Layered layout of the open level. As a step of the history, or (for a file without geometry) as part of opening it. */
export async function arrange(asStep = true): Promise<void> {
    const at = level.value;
    const source = system.value;
    const connected = connectedPorts(source);
    const sizes = new Map(source.elements.map((element) => [element.name, neededSize(element, shownPorts(element, connected, expanded.value.has(element.name)).ports)]));
    const heights = new Map([...scene.value.ports].map(([id, port]) => [id, port.y - (scene.value.boxes.get(splitEnd(source, id).element)?.y ?? port.y)]));
    const edges = source.connections.map((connection) => {
        const [from, to] = [splitEnd(source, connection.from), splitEnd(source, connection.to)];
        return { from: from.element, to: to.element, fromY: heights.get(joinEnd(from.element, from.connector)) ?? 0, toY: heights.get(joinEnd(to.element, to.connector)) ?? 0 };
    }).filter(({ from, to }) => sizes.has(from) && sizes.has(to));
    try {
        const corners = await askLayout({ nodes: [...sizes].map(([id, size]) => ({ id, ...size })), edges });
        const unit = scales.value.get(levelKey(at)) ?? 1;
        const places = new Map(corners.map(({ id, x, y }) => {
            const size = sizes.get(id) ?? { width: 0, height: 0 };
            return [id, { x1: x / unit, y1: -(y + size.height) / unit, x2: (x + size.width) / unit, y2: -y / unit }] as const;
        }));
        if (asStep) {
            perform("layout", commands.placeElements(present.value, at, places));
        } else {
            const clean = present.value === saved.value;
            history.value = past.amend(history.value, commands.placeElements(present.value, at, places));
            if (clean)
                saved.value = present.value;
        }
        fitRequest.value++;
    } catch (error) {
        complain(error);
    }
}

const KINDS: Readonly<Record<string, string>> = { input: "input", output: "output", parameter: "parameter", calculatedParameter: "calculatedParameter", structuralParameter: "structuralParameter" };

/** The connectors that an FMU's description offers. */
export function connectorsOf(info: FmuInfo): Element["connectors"] {
    return info.variables.filter((variable) => variable.causality in KINDS).map((variable) => ({
        name: variable.name, kind: KINDS[variable.causality] ?? variable.causality, type: variable.type,
        ...(variable.unit ? { unit: variable.unit } : {}), ...(variable.description ? { description: variable.description } : {}),
        ...(variable.variability ? { variability: variable.variability } : {}), ...(variable.start !== undefined ? { start: variable.start } : {}),
        ...(variable.min !== undefined ? { min: variable.min } : {}), ...(variable.max !== undefined ? { max: variable.max } : {}),
        ...(variable.dimensions ? { dimensions: variable.dimensions.map((size) => (typeof size === "number" ? size : null)) } : {}),
    }));
}

/** Adds an FMU of the folder to the open level, with its upper left corner at this point (pixels of the scene). */
export async function addFmu(path: string, at: { x: number; y: number }): Promise<void> {
    const info = await getFmu(path);
    const wish = (path.split("/").pop() ?? path).replace(/\.fmu$/i, "");
    const name = freeName(system.value, info.modelName || wish);
    const draft: Element = { name, kind: "fmu", source: path, connectors: connectorsOf(info), parameters: {}, ...(info.terminals ? { terminals: info.terminals } : {}), ...(info.description ? { description: info.description } : {}) };
    const { width, height } = neededSize(draft, shownPorts(draft, new Set(), false).ports);
    const unit = scale.value;
    const x = Math.round(at.x / 10) * 10;
    const y = Math.round(at.y / 10) * 10;
    const element = { ...draft, x1: x / unit, x2: (x + width) / unit, y1: -(y + height) / unit, y2: -y / unit };
    let next = commands.addElement(present.value, level.value, element);
    const experiment = info.defaultExperiment;
    if (present.value.elements.length === 0 && saved.value === null && experiment?.stop !== undefined)
        next = commands.setTimes(next, { start: experiment.start ?? 0, stop: experiment.stop });
    perform(`add ${name}`, next);
    select([name]);
}

/** A place below the existing units, for units without one. */
export function freePlace(): { x: number; y: number } {
    const { x, y, width, height } = scene.value.bounds;
    return system.value.elements.length === 0 ? { x: 100, y: 80 } : width > 2 * height ? { x, y: y + height + 50 } : { x: x + width + 80, y };
}

/** Connects in the direction that makes sense, unless it is rejected: by the rules, or by the server, which knows units of measure. */
export async function join(a: End, b: End): Promise<string | null> {
    const { from, to } = orient(system.value, a, b);
    const at = level.value;
    const reason = refusal(system.value, from, to, "convert" in present.value.settings);
    if (reason)
        return reason;
    if (findTerminal(system.value, a))
        return joinAll(a, b);
    const ends = { from: joinEnd(from.element, from.connector), to: joinEnd(to.element, to.connector) };
    const base = present.value;
    const next = commands.connect(base, at, ends.from, ends.to);
    try {
        const before = lookedAt === base && looked.value ? looked.value : await look(outgoing(base));
        const opinion = await look(outgoing(next));
        const known = new Set(before.findings.map((finding) => finding.text));
        const verdict = opinion.findings.find((finding) => finding.level === "error" && !known.has(finding.text));
        if (verdict)
            return verdict.text;
    } catch (error) {
        if (error instanceof ServerError)
            return error.message;
    }
    perform(`connect ${ends.from} to ${ends.to}`, commands.connect(present.value, at, ends.from, ends.to));
    return null;
}

/** Joins two terminals: all connections of their matching rules, as one step. */
async function joinAll(a: End, b: End): Promise<string | null> {
    const at = level.value;
    const base = present.value;
    const outer = hierarchical(at, "");
    const inside = (end: string) => (outer === "" ? end : end.slice(outer.length + 1));
    try {
        const made = await joinTerminals(outgoing(base), hierarchical(at, joinEnd(a.element, a.connector)), hierarchical(at, joinEnd(b.element, b.connector)));
        if (made.length === 0)
            return `${joinEnd(a.element, a.connector)} and ${joinEnd(b.element, b.connector)} have nothing to connect.`;
        let next = present.value;
        for (const { from, to, factor } of made) {
            next = commands.connect(next, at, inside(from), inside(to));
            if (factor != null)
                next = commands.editConnection(next, at, { from: inside(from), to: inside(to) }, { factor });
        }
        perform(`join ${a.element}.${a.connector} and ${b.element}.${b.connector}`, next);
        return null;
    } catch (error) {
        return error instanceof Error ? error.message : String(error);
    }
}

export function removeSelected(): void {
    const wire = selectedWire.value;
    const names = selected.value;
    if (selectedConnector.value !== null)
        return removeConnector(selectedConnector.value);
    if (!wire && names.size === 0)
        return;
    const wires = wire ? [wire as Connection] : [];
    perform(wire ? "disconnect" : `remove ${[...names].join(", ")}`, commands.remove(present.value, level.value, names, wires));
    select([]);
}

export function removeConnector(name: string): void {
    perform(`remove connector ${name}`, commands.removeConnector(present.value, level.value, name));
    selectConnector(null);
}

/** Adds a connector to the open system; returns the reason of a failure. */
export function addConnector(connector: Connector): string | null {
    const reason = connectorRefusal(connector.name);
    if (reason)
        return reason;
    perform(`add connector ${connector.name}`, commands.addConnector(present.value, level.value, connector));
    return null;
}

/** Changes a connector of the open system; returns the reason of a failure. */
export function changeConnector(name: string, change: Partial<Connector>): string | null {
    const reason = change.name !== undefined && change.name !== name ? connectorRefusal(change.name) : null;
    if (reason)
        return reason;
    perform(change.name === undefined ? `change connector ${name}` : `rename connector ${name}`, commands.editConnector(present.value, level.value, name, change));
    if (selectedConnector.value === name && change.name !== undefined)
        selectConnector(change.name);
    return null;
}

function connectorRefusal(name: string): string | null {
    if (!/^\S(.*\S)?$/.test(name))
        return "A connector needs a name.";
    return system.value.connectors.some((connector) => connector.name === name) ? `There is a connector ${name} already.` : null;
}

/** Adds a connector of the open system for a port of a unit, and connects it. */
export function leadOut(end: End): void {
    const connector = findElement(system.value, end.element)?.connectors.find((candidate) => candidate.name === end.connector);
    if (!connector)
        return;
    const name = freeAmong(new Set(system.value.connectors.map((each) => each.name)), connector.name);
    const [own, inner] = [joinEnd("", name), joinEnd(end.element, end.connector)];
    const gives = connector.kind === "output" || connector.kind === "calculatedParameter";
    if (!gives && system.value.connections.some(({ to }) => to === inner))
        return notify(`${inner} has a source already. An input has one.`, "error");
    const added = commands.addConnector(present.value, level.value, { name, kind: connector.kind, type: connector.type, ...(connector.unit ? { unit: connector.unit } : {}), ...(connector.dimensions ? { dimensions: connector.dimensions } : {}) });
    perform(`add connector ${name}`, commands.connect(added, level.value, gives ? inner : own, gives ? own : inner));
}

export function groupSelected(): void {
    if (selected.value.size === 0)
        return notify("Select the units that are to be a nested system.", "error");
    const { document, name, moves } = group(present.value, level.value, selected.value);
    batch(() => {
        scales.value = new Map(scales.value).set(levelKey([...level.value, name]), scale.value);
        performMoves(`group as ${name}`, document, moves);
        select([name]);
    });
}

export function ungroupSelected(): void {
    const [name] = selected.value;
    const outcome = name === undefined ? "Select a nested system." : ungroup(present.value, level.value, name);
    if (typeof outcome === "string")
        return notify(outcome, "error");
    performMoves(`ungroup ${name}`, outcome.document, outcome.moves);
    select(outcome.names);
}

const clip = signal<commands.Clip | null>(null);

export function copySelected(): void {
    if (selected.value.size > 0) {
        clip.value = commands.copy(system.value, selected.value);
        notify(`${selected.value.size === 1 ? "1 unit is" : `${selected.value.size} units are`} copied.`);
    }
}

export function cutSelected(): void {
    copySelected();
    removeSelected();
}

export function pasteClip(): void {
    if (!clip.value)
        return;
    const { document, names } = commands.paste(present.value, level.value, clip.value, { dx: 40 / scale.value, dy: -40 / scale.value });
    perform("paste", document);
    select(names);
}

export function duplicateSelected(): void {
    if (selected.value.size === 0)
        return;
    const { document, names } = commands.paste(present.value, level.value, commands.copy(system.value, selected.value), { dx: 40 / scale.value, dy: -40 / scale.value });
    perform("duplicate", document);
    select(names);
}

export function moveSelected(dx: number, dy: number, merge: string | null): void {
    if (selected.value.size > 0)
        perform("move", commands.moveElements(present.value, level.value, selected.value, { dx: dx / scale.value, dy: -dy / scale.value }), merge);
}

/** Renames a unit; returns the reason of a failure. */
export function rename(from: string, to: string): string | null {
    if (from === to)
        return null;
    if (!/^[^\s.][^.\n]*$/.test(to))
        return "A name is not empty, and has no dots.";
    if (findElement(system.value, to))
        return `There is a unit ${to} already.`;
    performMoves(`rename ${from}`, commands.renameElement(present.value, level.value, from, to), new Map([[hierarchical(level.value, from), hierarchical(level.value, to)]]));
    select([to]);
    return null;
}

/** Has the server check the document, a moment after each change. */
export function keepLooking(): void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over: () => void = () => {};
    let asked: Document | null = null;
    effect(() => {
        const document = present.value;
        clearTimeout(timer);
        over();
        if (document.elements.length === 0) {
            looked.value = null;
            return;
        }
        const done = (over = busy());
        timer = setTimeout(async () => {
            if (asked === document)
                return done();
            asked = document;
            try {
                const opinion = await look(outgoing(document));
                if (present.value === document) {
                    looked.value = opinion;
                    lookedAt = document;
                }
            } catch (error) {
                if (error instanceof ServerError && present.value === document)
                    looked.value = { findings: [{ level: "error", element: "", text: error.message }], conversions: [], graph: null };
            } finally {
                done();
            }
        }, 250);
    });
}

