// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { adopt } from "../src/model/document";
import { group, ungroup } from "../src/model/grouping";
import * as commands from "../src/model/commands";
import { back, moveNames, movePattern, moveSettings, rest } from "../src/model/names";

const into = new Map([["a1", "group.a1"], ["a2", "group.a2"]]);

/** As tt_text_glob. */
const fits = (pattern: string, name: string) => new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`).test(name);

test("what is left of a pattern", () => {
    assert.deepEqual(rest("a*.x", "a1."), ["*.x", "x"]);
    assert.deepEqual(rest("a?.x", "a1."), ["x"]);
    assert.deepEqual(rest("*", "a1."), ["*"]);
    assert.deepEqual(rest("b.*", "a1."), []);
});

test("patterns fit the same variables under their new names, whatever they look like", () => {
    const [moved, others, variables] = [["a1", "a2"], ["a3", "b"], ["x", "y", "part.x", "a1.x"]];
    const name = (unit: string, variable: string) => `${unit}.${variable}`;
    for (const pattern of ["a1.*", "a?.x", "a*.x", "a*", "*", "*.x", "*x", "a1.x", "b.*", "?1.?", "a[1].x", "a*.a1.x", "a*1.x", "a1*x"]) {
        const now = movePattern(pattern, into, others);
        for (const unit of [...moved, ...others])
            for (const variable of variables)
                assert.equal(now.some((each) => fits(each, name(into.get(unit) ?? unit, variable))), fits(pattern, name(unit, variable)), `${pattern} -> ${now}: ${unit}.${variable}`);
        const again = now.flatMap((each) => movePattern(each, back(into), others));
        for (const unit of [...moved, ...others])
            for (const variable of variables)
                assert.equal(again.some((each) => fits(each, name(unit, variable))), fits(pattern, name(unit, variable)), `${pattern} -> ${now} -> ${again}: ${unit}.${variable}`);
    }
    assert.deepEqual(movePattern("a?.x", into, ["b"]), ["group.a?.x"]);
    assert.deepEqual(movePattern("group.*", back(into), ["b"]), ["a1.*", "a2.*"]);
});

test("settings that name units follow them: only names, not what looks like one", () => {
    const moves = new Map([["a", "g.a"], ["b", "g.b"]]);
    const settings = { order: "b,c,a", tlm: "a.f,a.v=c.f,c.v; delay=1e-3 | b.f,b.v=c.f,c.v; delay=a", signal: "a.u='2*a.x' | c.u=time", subscribe: "a.y=b.u", step: "0.1", coupling: "seidel" };
    assert.deepEqual(moveSettings(settings, moves, ["c"]), {
        order: "g.b,c,g.a", tlm: "g.a.f,g.a.v=c.f,c.v; delay=1e-3 | g.b.f,g.b.v=c.f,c.v; delay=g.a", signal: "g.a.u='2*a.x' | c.u=time", subscribe: "a.y=g.b.u", step: "0.1", coupling: "seidel",
    });
    assert.equal(moveNames("aa.x,a.a,xa.a", moves), "aa.x,g.a.a,xa.a");
    assert.deepEqual(moveSettings({ record: "a.*\nc.x", set: "a.k=b.k" }, moves, ["c"]), { record: "g.a.*\nc.x", set: "g.a.k=b.k" });
});

const port = (name: string, kind: string, dimensions?: readonly (number | null)[]) => ({ name, kind, type: "Float64", ...(dimensions ? { dimensions } : {}) });
const unit = (name: string) => ({ name, kind: "fmu" as const, connectors: [port("u", "input", [2, null]), port("y", "output", [2, null])], parameters: {} });

test("an array keeps its dimensions where it goes through a group, one of its elements has none; settings follow and come back", () => {
    const document = adopt({ name: "s", path: null, settings: { order: "b,a" }, elements: [unit("a"), unit("b"), unit("c")], connections: [{ from: "a.y", to: "b.u" }, { from: "a.y[1,1]", to: "c.u[1,2]" }] });
    const { document: grouped, name } = group(document, [], new Set(["b", "c"]));
    assert.deepEqual(grouped.elements[1]?.connectors.map(({ dimensions }) => dimensions), [[2, null], undefined]);
    assert.equal(grouped.settings.order, "group.b,a");
    const outcome = ungroup(grouped, [], name);
    assert.ok(typeof outcome !== "string");
    assert.equal(outcome.document.settings.order, "b,a");
    assert.equal(commands.renameElement(document, [], "b", "z").settings.order, "z,a");
});

test("values of connectors of a system follow their names, and go with them", () => {
    const document = adopt({ name: "s", path: null, settings: {}, connectors: [port("p", "parameter")], elements: [{ name: "g", kind: "system" as const, connectors: [port("q", "parameter")], parameters: {}, elements: [] }] });
    for (const [level, own] of [[[], "p"], [["g"], "q"]] as const) {
        const set = commands.setOwnParameter(document, level, own, "3");
        assert.deepEqual(commands.ownParameters(set, level), { [own]: "3" });
        assert.deepEqual(commands.ownParameters(commands.editConnector(set, level, own, { name: "r" }), level), { r: "3" });
        assert.deepEqual(commands.ownParameters(commands.removeConnector(set, level, own), level), {});
        assert.deepEqual(commands.ownParameters(commands.setOwnParameter(set, level, own, null), level), {});
    }
});
