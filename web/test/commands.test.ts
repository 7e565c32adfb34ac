// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import test from "node:test";
import * as commands from "../src/model/commands";
import { adopt, Document, Element, freeName, locate, mapOrigins, originsAfter, splitEnd, systemAt } from "../src/model/document";
import { group, ungroup } from "../src/model/grouping";
import * as past from "../src/model/history";

const unit = (name: string, more: Partial<Element> = {}): Element => ({
    name, kind: "fmu", source: `${name}.fmu`, parameters: {}, x1: 0, y1: 0, x2: 100, y2: 50,
    connectors: [{ name: "u", kind: "input", type: "Float64" }, { name: "y", kind: "output", type: "Float64" }, { name: "k", kind: "parameter", type: "Float64" }], ...more,
});

const base: Document = adopt({
    name: "s", path: "s.ssp", elements: [unit("a"), unit("b"), { ...unit("c", { kind: "system" }), elements: [unit("inner")], connections: [] }],
    connections: [{ from: "a.y", to: "b.u", points: [[5, 5]] }],
});

/** Everything that a user can do, by name. */
const deeds: Record<string, (document: Document) => Document> = {
    add: (d) => commands.addElement(d, [], unit("d")),
    addInner: (d) => commands.addElement(d, ["c"], unit("d")),
    remove: (d) => commands.remove(d, [], new Set(["a"])),
    disconnect: (d) => commands.remove(d, [], new Set(), [{ from: "a.y", to: "b.u" }]),
    rename: (d) => commands.renameElement(d, [], "a", "z"),
    move: (d) => commands.moveElements(d, [], new Set(["a", "b"]), { dx: 7, dy: -3 }),
    place: (d) => commands.placeElements(d, [], new Map([["a", { x1: 1, y1: 2, x2: 3, y2: 4 }]])),
    connect: (d) => commands.connect(d, [], "b.y", "a.u"),
    factor: (d) => commands.editConnection(d, [], { from: "a.y", to: "b.u" }, { factor: 2 }),
    parameter: (d) => commands.setParameter(d, [], "a", "k", 4),
    innerParameter: (d) => commands.setParameter(d, ["c"], "inner", "k", 4),
    rank: (d) => commands.setRank(d, [], new Set(["a"]), 1),
    setting: (d) => commands.setSetting(d, "coupling", "jacobi"),
    unitSetting: (d) => commands.setElementSetting(d, [], "a", "step", "0.1"),
    times: (d) => commands.setTimes(d, { stop: 5 }),
    name: (d) => commands.renameDocument(d, "t"),
    addConnector: (d) => commands.addConnector(d, [], { name: "p", kind: "input", type: "Float64" }),
    editConnector: (d) => commands.editConnector(d, ["c"], "u", { name: "v" }),
    removeConnector: (d) => commands.removeConnector(d, ["c"], "u"),
    group: (d) => group(d, [], new Set(["a", "b"])).document,
    paste: (d) => commands.paste(d, [], commands.copy(d, new Set(["a", "b"])), { dx: 1, dy: 1 }).document,
};

test("every deed changes the document, leaves the old one alone, and is undone and redone", () => {
    const frozen = JSON.stringify(base);
    let history = past.begin(base);
    const states = [base];
    for (const [name, deed] of Object.entries(deeds)) {
        const next = deed(base);
        assert.notDeepEqual(next, base, name);
        assert.equal(JSON.stringify(base), frozen, name);
        history = past.record(history, next, name);
        states.push(next);
    }
    for (let index = states.length - 2; index >= 0; index--) {
        history = past.undo(history);
        assert.equal(history.present, states[index]);
    }
    assert.equal(past.undo(history), history);
    for (let index = 1; index < states.length; index++) {
        history = past.redo(history);
        assert.equal(history.present, states[index]);
    }
    assert.equal(past.redo(history), history);
});

test("steps of one gesture are one; a new step forgets what was undone", () => {
    let history = past.begin(base);
    history = past.record(history, deeds.move!(base), "move", "drag 1");
    history = past.record(history, deeds.move!(history.present), "move", "drag 1");
    assert.equal(history.past.length, 1);
    history = past.undo(history);
    assert.equal(history.present, base);
    history = past.record(history, deeds.rename!(base), "rename");
    assert.equal(history.future.length, 0);
    assert.equal(past.record(history, history.present, "nothing"), history);
});

test("removing and renaming a unit take its connections along", () => {
    assert.equal(commands.remove(base, [], new Set(["b"])).connections.length, 0);
    assert.deepEqual(deeds.rename!(base).connections.map(({ from, to }) => [from, to]), [["z.y", "b.u"]]);
    assert.equal(deeds.rename!(base).elements[0]?.source, "a.fmu");
});

test("paste takes free names, keeps connections among the copies, and no origin", () => {
    const source = base;
    assert.deepEqual(source.elements[0]?.origin, ["a"]);
    const { document, names } = commands.paste(source, [], commands.copy(source, new Set(["a", "b"])), { dx: 10, dy: 0 });
    assert.deepEqual(names, ["a2", "b2"]);
    assert.deepEqual(document.connections[1], { from: "a2.y", to: "b2.u" });
    assert.equal(document.elements.find((element) => element.name === "a2")?.origin, undefined);
    assert.equal(document.elements.find((element) => element.name === "a2")?.x1, 10);
});

test("names with dots: the longest unit that fits counts", () => {
    const system = { ...base, elements: [unit("a"), unit("a.b")] };
    assert.deepEqual(splitEnd(system, "a.b.y.z"), { element: "a.b", connector: "y.z" });
    assert.deepEqual(splitEnd(system, "a.c.y"), { element: "a", connector: "c.y" });
    assert.deepEqual(splitEnd(system, ".u"), { element: "", connector: "u" });
});

test("levels, names", () => {
    assert.equal(systemAt(base, ["c"])?.elements.length, 1);
    assert.equal(systemAt(base, ["a"]), undefined);
    assert.equal(locate(base, "c.inner")?.element.name, "inner");
    assert.equal(freeName(base, "a"), "a2");
    assert.equal(freeName(base, "My Model (2)"), "My_Model_2");
});

const chain: Document = adopt({
    name: "s", path: "s.ssp", connectors: [{ name: "in", kind: "input", type: "Float64" }], elements: [unit("a"), unit("b"), unit("c"), unit("d")],
    connections: [{ from: ".in", to: "a.u" }, { from: "a.y", to: "b.u", factor: 2 }, { from: "b.y", to: "c.u", offset: 1 }, { from: "b.y", to: "d.u", suppressUnitConversion: true }],
});
const wires = (connections: Document["connections"]) => connections.map(({ from, to, factor, offset }) => [from, to, factor ?? 1, offset ?? 0]);

test("a group has its connections through connectors, and scaling where values are taken in; ungrouped it is as before", () => {
    const { document, name } = group(chain, [], new Set(["b", "c"]));
    assert.deepEqual(document.elements.map((element) => element.name), ["a", name, "d"]);
    const nested = document.elements[1] as Element;
    assert.deepEqual(nested.connectors.map(({ name: own, kind }) => [own, kind]), [["u", "input"], ["y", "output"]]);
    assert.deepEqual(wires(document.connections), [[".in", "a.u", 1, 0], ["a.y", "group.u", 1, 0], ["group.y", "d.u", 1, 0]]);
    assert.deepEqual(wires(nested.connections ?? []), [[".u", "b.u", 2, 0], ["b.y", "c.u", 1, 1], ["b.y", ".y", 1, 0]]);
    assert.deepEqual(nested.elements?.map((element) => element.origin), [["b"], ["c"]]);
    assert.deepEqual(nested.connections?.[0]?.origin, ["a.y", "b.u"], "the connection of the file is the one that scales");
    const back = ungroup(document, [], name);
    assert.ok(typeof back !== "string");
    assert.deepEqual(back.document.elements, chain.elements);
    assert.deepEqual(new Set(back.document.connections), new Set(chain.connections));
    const all = group(chain, [], new Set(["a", "b", "c", "d"]));
    assert.deepEqual(wires(all.document.connections), [[".in", "group.u", 1, 0]]);
});

test("what a nested system scales on both sides is not ungrouped; a name that is taken gets a number", () => {
    const { document } = group(chain, [], new Set(["b", "c"]));
    const scaled = commands.editConnection(document, [], { from: "a.y", to: "group.u" }, { factor: 3 });
    assert.match(String(ungroup(scaled, [], "group")), /scales or converts/);
    const twice = commands.addElement(document, [], unit("b"));
    const outcome = ungroup(twice, [], "group");
    assert.ok(typeof outcome !== "string");
    assert.deepEqual(outcome.names, ["b2", "c"]);
    assert.ok(outcome.document.connections.some(({ from, to }) => from === "a.y" && to === "b2.u"));
});

test("connectors of a system: connections on both sides follow a new name, and go with it", () => {
    const { document } = group(chain, [], new Set(["b", "c"]));
    const renamed = commands.editConnector(document, ["group"], "u", { name: "force" });
    assert.deepEqual(wires(renamed.connections)[1], ["a.y", "group.force", 1, 0]);
    assert.deepEqual(wires(renamed.elements[1]?.connections ?? [])[0], [".force", "b.u", 2, 0]);
    const removed = commands.removeConnector(renamed, ["group"], "force");
    assert.equal(removed.connections.length, 2);
    assert.equal(removed.elements[1]?.connections?.length, 2);
});

test("after saving, documents of the history know where their parts are in the file now", () => {
    const { document } = group(chain, [], new Set(["b", "c"]));
    const after = mapOrigins(chain, originsAfter(document));
    assert.deepEqual(after.elements.map((element) => element.origin), [["a"], ["group", "b"], ["group", "c"], ["d"]]);
    assert.deepEqual(after.connections[1]?.origin, ["group", ".u", "b.u"]);
    assert.equal(mapOrigins(chain, originsAfter(commands.remove(chain, [], new Set(["a"])))).elements[0]?.origin, undefined);
});
