// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import test from "node:test";
import { adopt, Connector, splitEnd } from "../src/model/document";
import { orient, refusal } from "../src/model/rules";
import { readValue } from "../src/model/values";

const port = (name: string, kind: string, type = "Float64"): Connector => ({ name, kind, type });
const system = adopt({
    name: "s",
    connectors: [port("in", "input"), port("out", "output")],
    elements: [
        { name: "a", kind: "fmu", parameters: {}, connectors: [port("y", "output"), port("n", "output", "Int32"), port("b", "output", "Boolean"), port("s", "output", "String"), port("u", "input"), port("k", "parameter")] },
        { name: "b", kind: "fmu", parameters: {}, connectors: [port("u", "input"), port("v", "input"), port("n", "input", "Int32"), port("y", "output")] },
    ],
    connections: [{ from: "a.y", to: "b.u" }],
});
const ask = (from: string, to: string, converts = false) => refusal(system, splitEnd(system, from), splitEnd(system, to), converts);

test("every refusal says its reason", () => {
    assert.equal(ask("a.y", "b.v"), null);
    assert.match(ask("b.y", "b.u") ?? "", /b\.u has a source already: a\.y/);
    assert.match(ask("a.y", "b.u") ?? "", /connected to b\.u already/);
    assert.match(ask("a.u", "b.v") ?? "", /a\.u is an input: a connection begins at an output/);
    assert.match(ask("a.y", "b.y") ?? "", /b\.y is an output: a connection ends at an input/);
    assert.match(ask("a.y", "b.n") ?? "", /Float64.*Int32.*round/);
    assert.equal(ask("a.y", "b.n", true), null);
    assert.equal(ask("a.n", "b.v"), null);
    assert.match(ask("a.s", "b.v") ?? "", /String.*Float64.*do not go together/);
    assert.match(ask("a.y", "b.x") ?? "", /b\.x does not exist/);
    assert.equal(ask("a.y", "a.k"), null);
});

test("connectors of the system itself: its inputs are sources", () => {
    assert.equal(ask(".in", "b.v"), null);
    assert.equal(ask("a.y", ".out"), null);
    assert.match(ask("a.y", ".in") ?? "", /ends at an input/);
});

test("a connection that is drawn backwards is turned round", () => {
    const { from, to } = orient(system, splitEnd(system, "b.v"), splitEnd(system, "a.y"));
    assert.deepEqual([from.element, to.element], ["a", "b"]);
});

test("values are read by type and bounds", () => {
    const real = { ...port("k", "parameter"), min: 0, max: 10 };
    assert.deepEqual(readValue(real, "2.5"), { value: 2.5 });
    assert.match(JSON.stringify(readValue(real, "-1")), /less than 0/);
    assert.match(JSON.stringify(readValue(real, "11")), /more than 10/);
    assert.match(JSON.stringify(readValue(real, "abc")), /no number/);
    assert.match(JSON.stringify(readValue(port("n", "parameter", "Int32"), "1.5")), /no whole number/);
    assert.deepEqual(readValue(port("b", "parameter", "Boolean"), "true"), { value: true });
    assert.match(JSON.stringify(readValue(port("b", "parameter", "Boolean"), "maybe")), /neither/);
    assert.deepEqual(readValue(port("s", "parameter", "String"), "<b>x</b>"), { value: "<b>x</b>" });
});
