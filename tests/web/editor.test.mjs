// SPDX-License-Identifier: MIT
// The editor in a real browser: the quarter car by mouse, every refusal, undo of everything, a reload, 500 units.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { add, api, closeBrowser, closePage, connect, deselect, drag, examples, fmus, folder, notice, openPage, place, quarterCar, remove, settled, tutti, until, web, wire } from "./browser.mjs";

after(closeBrowser);

const MASTER_SIM = `tStart 0 s
tEnd 1 s
hMin 1e-5 s
hMax 0.01 s
hStart 0.01 s
adjustStepSize no
MasterMode GAUSS_JACOBI
simulator 0 0 a #ff0000 "ChainMass_fmi2.fmu"
simulator 0 0 b #ff0000 "ChainMass_fmi2.fmu"
graph a.x b.x_left
`;
const OSP = `<?xml version="1.0" encoding="utf-8"?>
<OspSystemStructure xmlns="http://opensimulationplatform.com/MSMI/OSPSystemStructure" version="0.1">
  <StartTime>0</StartTime><EndTime>1</EndTime><BaseStepSize>0.01</BaseStepSize><Algorithm>fixedStep</Algorithm>
  <Simulators><Simulator name="left" source="ChainMass_fmi2.fmu"/><Simulator name="right" source="ChainMass_fmi2.fmu"/></Simulators>
  <Connections><VariableConnection><Variable simulator="left" name="x"/><Variable simulator="right" name="x_left"/></VariableConnection></Connections>
</OspSystemStructure>
`;

const model = (page) => page.locator(".findings-head .right").innerText();

async function buildCar(page) {
    await place(page, "QuarterChassis_fmi2.fmu", 350, 250);
    await page.waitForSelector('[data-unit="QuarterChassis"]');
    await place(page, "QuarterWheel_fmi2.fmu", 700, 420);
    await page.waitForSelector('[data-unit="QuarterWheel"]');
    for (const signal of ["x", "v"]) {
        await connect(page, `QuarterChassis.${signal}`, `QuarterWheel.${signal}_chassis`);
        await page.waitForSelector(wire(`QuarterChassis.${signal}`, `QuarterWheel.${signal}_chassis`), { state: "attached" });
        // drawn from the input to the output: the page turns it round
        await connect(page, `QuarterChassis.${signal}_wheel`, `QuarterWheel.${signal}`);
        await page.waitForSelector(wire(`QuarterWheel.${signal}`, `QuarterChassis.${signal}_wheel`), { state: "attached" });
    }
}

test("the quarter car, built by mouse, refused where it is wrong, undone, saved, opened again", async () => {
    const path = folder(...quarterCar(), join(fmus, "Feedthrough_fmi3.fmu"), join(fmus, "Heater_fmi2.fmu"));
    const server = await web(path);
    const page = await openPage(server.address);
    assert.ok(!page.url().includes("token"), "the token leaves the address");
    await buildCar(page);
    assert.equal(await model(page), "2 units, 4 connections");
    await page.waitForSelector(".findings .good");

    // refusals: two sources, twice the same, wrong ends, types, units; each with its reason
    await connect(page, "QuarterWheel.v", "QuarterChassis.x_wheel");
    await notice(page, "has a source already: QuarterWheel.x");
    await connect(page, "QuarterWheel.x", "QuarterChassis.x_wheel");
    await notice(page, "connected to QuarterChassis.x_wheel already");
    await connect(page, "QuarterWheel.x", "QuarterChassis.x");
    await notice(page, "a connection ends at an input");
    await connect(page, "QuarterWheel.x_chassis", "QuarterChassis.x_wheel");
    await notice(page, "a connection begins at an output");
    await place(page, "Feedthrough_fmi3.fmu", 380, 600);
    await page.waitForSelector('[data-unit="Feedthrough"]');
    await page.click("#fit");
    await settled(page);
    const integer = await page.locator('[data-unit="Feedthrough"] .port.input.integer').first().getAttribute("data-port");
    await connect(page, "QuarterChassis.x", integer);
    await notice(page, "that would round");
    await page.keyboard.press("Control+z");
    await page.waitForSelector('[data-unit="Feedthrough"]', { state: "detached" });
    await page.click("#fit");

    // units that do not fit are refused by the server, and the system stays as it was; what fits by a conversion shows it
    const other = await openPage(server.address);
    await place(other, "QuarterChassis_fmi2.fmu", 350, 250);
    await other.waitForSelector('[data-unit="QuarterChassis"]');
    await place(other, "QuarterWheel_fmi2.fmu", 700, 420);
    await other.waitForSelector('[data-unit="QuarterWheel"]');
    await connect(other, "QuarterWheel.v", "QuarterChassis.x_wheel");
    await notice(other, "measure different things");
    assert.equal(await model(other), "2 units, 0 connections");
    for (const name of ["Heater", "Heater2"])
        await add(other, "Heater_fmi2.fmu", name);
    await other.click("#fit");
    await connect(other, "Heater.T_celsius", "Heater2.T_outside");
    await other.waitForSelector(`${wire("Heater.T_celsius", "Heater2.T_outside")} .conversion:not(:empty)`, { state: "attached" });
    await closePage(other);

    // parameters: bounds and types are kept, values of the file are marked
    await page.click('[data-unit="QuarterWheel"] .name');
    await page.fill('[data-parameter="m"]', "abc");
    await page.keyboard.press("Tab");
    await notice(page, "is no number");
    await page.fill('[data-parameter="m"]', "45");
    await page.keyboard.press("Tab");
    await page.fill("#unit-rank", "1");
    await page.keyboard.press("Tab");
    await page.waitForSelector('[data-unit="QuarterWheel"] .rank1', { state: "attached" });
    await settled(page);

    // move, rename, copy, remove, settings, layout: then everything back, and forth again
    await page.keyboard.press("Escape");
    const before = await page.locator('[data-unit="QuarterWheel"]').getAttribute("transform");
    await drag(page, '[data-unit="QuarterWheel"] .name', { x: 760, y: 520 });
    await until("the unit has moved", async () => (await page.locator('[data-unit="QuarterWheel"]').getAttribute("transform")) !== before);
    await page.fill("#unit-name", "wheel");
    await page.keyboard.press("Tab");
    await page.waitForSelector(wire("wheel.x", "QuarterChassis.x_wheel"), { state: "attached" });
    await settled(page);
    await page.click('[data-unit="wheel"] .name');
    await page.keyboard.press("Control+d");
    await page.waitForSelector('[data-unit="wheel2"]');
    await page.keyboard.press("Delete");
    await page.waitForSelector('[data-unit="wheel2"]', { state: "detached" });
    await deselect(page);
    await page.fill("#stop-time", "2");
    await page.keyboard.press("Tab");
    await page.selectOption("#system-coupling", "jacobi");
    await page.fill("#system-step", "0.001");
    await page.keyboard.press("Tab");
    await page.click("#layout");
    await settled(page);
    assert.match(await page.getAttribute("#undo", "title"), /layout/);
    let steps = 0;
    while (await page.isEnabled("#undo")) {
        await page.click("#undo");
        steps++;
    }
    await settled(page);
    assert.equal(await page.locator("[data-unit]").count(), 0, "undo of everything leaves nothing");
    assert.ok(steps >= 15, `${steps} steps`);
    while (await page.isEnabled("#redo"))
        await page.click("#redo");
    await settled(page);
    assert.equal(await model(page), "2 units, 4 connections");
    await page.waitForSelector(wire("wheel.x", "QuarterChassis.x_wheel"), { state: "attached" });

    // saved, checked by the command, opened again after a reload
    await page.keyboard.press("Control+s");
    await page.fill("#save-name", "car.ssp");
    await page.click("#save-confirm");
    await notice(page, "car.ssp is saved");
    assert.ok(existsSync(join(path, "car.ssp")));
    const checked = spawnSync(tutti, ["check", join(path, "car.ssp")], { encoding: "utf8" });
    assert.equal(checked.status, 0, checked.stderr);
    await page.reload();
    await settled(page);
    await page.click('[data-file="car.ssp"]');
    await settled(page);
    assert.equal(await model(page), "2 units, 4 connections");
    await page.click('[data-unit="wheel"] .name');
    assert.equal(await page.inputValue('[data-parameter="m"]'), "45");
    assert.equal(await page.inputValue("#unit-rank"), "1");
    await deselect(page);
    assert.equal(await page.inputValue("#system-coupling"), "jacobi");
    assert.equal(await page.inputValue("#stop-time"), "2");
    await closePage(page);
    await server.stop();
    remove(path);
});

test("everything by keyboard: add, connect, move, rename, find", async () => {
    const path = folder(...quarterCar());
    const server = await web(path);
    const page = await openPage(server.address);
    for (const name of ["QuarterChassis", "QuarterWheel"])
        await add(page, `${name}_fmi2.fmu`, name);
    await page.keyboard.press("g");
    await page.waitForSelector(".canvas:focus");
    await page.keyboard.press("c");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.type("QuarterWheel.x");
    await page.keyboard.press("Tab");
    await page.keyboard.type("QuarterChassis.x_wheel");
    await page.keyboard.press("Enter");
    await page.waitForSelector(wire("QuarterWheel.x", "QuarterChassis.x_wheel"), { state: "attached" });
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    await page.keyboard.press("Control+k");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.type("quarterwheel");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-unit="QuarterWheel"].selected');
    await page.keyboard.press("g");
    await page.waitForSelector(".canvas:focus");
    const before = await page.locator('[data-unit="QuarterWheel"]').getAttribute("transform");
    await page.keyboard.press("Shift+ArrowDown");
    await until("moved by keys", async () => (await page.locator('[data-unit="QuarterWheel"]').getAttribute("transform")) !== before);
    await page.keyboard.press("F2");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("wheel");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-unit="wheel"]');
    await closePage(page);
    await server.stop();
    remove(path);
});

test("imports, a file dropped from the desktop, a nested system; read-only", async () => {
    const path = folder(join(fmus, "ChainMass_fmi2.fmu"));
    writeFileSync(join(path, "pair.msim"), MASTER_SIM);
    writeFileSync(join(path, "OspSystemStructure.xml"), OSP);
    let server = await web(path);
    const page = await openPage(server.address);
    for (const [file, units] of [["pair.msim", ["a", "b"]], ["OspSystemStructure.xml", ["left", "right"]]]) {
        await page.click(`[data-file="${file}"]`);
        await notice(page, `${file} is imported`);
        assert.deepEqual(await page.locator("[data-unit]").evaluateAll((all) => all.map((unit) => unit.dataset.unit).sort()), units);
        assert.equal(await model(page), "2 units, 1 connections");
    }

    // an FMU that lies elsewhere is dropped into the drawing
    const bytes = readFileSync(join(fmus, "Tracker_fmi2.fmu")).toString("base64");
    const dropped = await page.evaluateHandle((text) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], "Tracker_fmi2.fmu"));
        return transfer;
    }, bytes);
    const box = await page.locator(".canvas").boundingBox();
    await page.dispatchEvent(".canvas", "drop", { dataTransfer: dropped, clientX: box.x + 200, clientY: box.y + 300 });
    await notice(page, "Tracker_fmi2.fmu is in the folder. A run runs its code");
    await page.waitForSelector('[data-unit="Tracker"]');
    assert.ok(existsSync(join(path, "Tracker_fmi2.fmu")));

    // a nested system is opened, changed and left
    const inner = { name: "inner", kind: "fmu", source: "Tracker_fmi2.fmu", connectors: [{ name: "u", kind: "input", type: "Float64" }, { name: "y", kind: "output", type: "Float64" }], parameters: {} };
    const nested = { name: "sub", kind: "system", connectors: [{ name: "y", kind: "output", type: "Float64" }], elements: [inner], connections: [{ from: "inner.y", to: ".y" }] };
    const document = { name: "outer", path: null, settings: {}, connectors: [], elements: [nested, { ...inner, name: "out" }], connections: [{ from: "sub.y", to: "out.u" }] };
    assert.equal((await api(page, "PUT", "system?path=nested.ssp", document)).status, 200);
    page.once("dialog", (dialog) => dialog.accept());
    await page.reload();
    await settled(page);
    await page.click('[data-file="nested.ssp"]');
    await settled(page);
    await page.dblclick('[data-unit="sub"] .name');
    await page.waitForSelector('[data-unit="inner"]');
    await settled(page);
    assert.equal(await page.locator(".crumb").count(), 2);
    await page.click('[data-unit="inner"] .name');
    await page.fill("#unit-name", "core");
    await page.keyboard.press("Tab");
    await page.waitForSelector('[data-unit="core"]');
    await page.locator(".crumb").first().click();
    await page.waitForSelector('[data-unit="out"]');
    await page.locator(".canvas").focus();
    await page.keyboard.press("Control+s");
    await notice(page, "nested.ssp is saved");
    const saved = (await api(page, "GET", "system?path=nested.ssp")).body;
    assert.equal(saved.elements.find((element) => element.name === "sub").elements[0].name, "core");
    await closePage(page);
    await server.stop();

    // who may only look can change nothing
    server = await web(join(path, "nested.ssp"), "--read-only");
    const viewer = await openPage(server.address);
    await viewer.waitForSelector("#read-only");
    assert.ok(await viewer.isDisabled("#start"));
    assert.ok(await viewer.isDisabled("#save"));
    assert.equal(await viewer.locator(".upload").count(), 0);
    assert.equal((await api(viewer, "PUT", "system?path=nested.ssp", saved)).status, 403);
    await closePage(viewer);
    await server.stop();
    remove(path);
});

test("units are grouped and ungrouped, the system has connectors: by mouse and by keyboard, saved in place, and a run computes the same bytes", async () => {
    const path = folder(join(examples, "quarter_car", "quarter_car.ssp"));
    const file = join(path, "quarter_car.ssp");
    const rows = () => {
        const done = spawnSync(tutti, ["run", file, "-o", "-", "--quiet"], { encoding: "utf8" });
        assert.equal(done.status, 0, done.stderr);
        return done.stdout.replaceAll("group.", "");
    };
    const server = await web(file);
    const page = await openPage(server.address);
    const save = async () => {
        await page.locator(".canvas").focus();
        await page.keyboard.press("Control+s");
        await notice(page, "quarter_car.ssp is saved");
    };
    const before = rows();
    const recorded = () => page.evaluate(() => JSON.parse(sessionStorage.getItem("tutti-run-options")).record);
    await page.locator(".canvas").focus();
    await page.keyboard.press("o");
    await page.fill("#run-record", "wheel.*\nchassis.x");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await page.click('[data-unit="wheel"] .name');
    await page.keyboard.press("Control+g");
    await page.waitForSelector('[data-unit="group"]');
    assert.equal(await recorded(), "group.wheel.*\nchassis.x", "options that name units follow them");
    await settled(page);
    await page.waitForSelector(".findings .good");
    assert.equal(await page.locator('[data-unit="group"] .port').count(), 4);
    await page.click("#undo");
    await page.waitForSelector('[data-unit="wheel"]');
    assert.equal(await recorded(), "wheel.*\nchassis.x", "back, too");
    await page.click("#redo");
    await page.waitForSelector('[data-unit="group"]');
    await save();
    assert.equal(rows(), before, "grouped, it computes the same");
    assert.equal((await api(page, "GET", "system?path=quarter_car.ssp")).body.elements.find(({ name }) => name === "group").elements[0].name, "wheel");

    // inside: the unit, and what it is connected to; renamed connectors are renamed on both sides
    await page.dblclick('[data-unit="group"] .name');
    await page.waitForSelector('[data-unit="wheel"]');
    await settled(page);
    await page.click('[data-edge="x"] .dot');
    await page.fill("#connector-name", "height");
    await page.keyboard.press("Tab");
    await page.waitForSelector(wire("wheel.x", ".height"), { state: "attached" });
    await page.locator(".crumb").first().click();
    await page.waitForSelector(wire("group.height", "chassis.x_wheel"), { state: "attached" });
    await save();
    assert.equal(rows(), before, "renamed, too");

    // a connector of the outermost system by keyboard: added, renamed, removed; by mouse: a port that is led out, with Shift
    await page.locator(".canvas").focus();
    await page.keyboard.press("i");
    await page.waitForSelector("#new-connector:focus");
    await page.keyboard.type("road");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-edge="road"]');
    await page.fill('[data-connector="road"] input', "ground");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-edge="ground"]');
    await page.fill("#new-connector", "ground");
    await page.keyboard.press("Enter");
    await notice(page, "There is a connector ground already", "error");
    await page.click("#fit");
    await settled(page);
    const canvas = await page.locator(".canvas").boundingBox();
    await page.keyboard.down("Shift");
    await drag(page, '[data-port="chassis.x"] .dot', { x: canvas.x + canvas.width - 30, y: canvas.y + 60 });
    await page.keyboard.up("Shift");
    await page.waitForSelector(wire("chassis.x", ".x"), { state: "attached" });
    await page.click('[data-edge="ground"] .dot');
    await page.selectOption("#connector-kind", "parameter");
    await page.fill('[data-own-parameter="ground"]', "fast");
    await page.keyboard.press("Tab");
    await notice(page, "fast is no number", "error");
    await page.fill('[data-own-parameter="ground"]', "0.25");
    await page.keyboard.press("Tab");
    await save();
    assert.deepEqual((await api(page, "GET", "system?path=quarter_car.ssp")).body.parameters, { ground: "0.25" });
    await page.locator(".canvas").focus();
    await page.keyboard.press("Delete");
    await page.waitForSelector('[data-edge="ground"]', { state: "detached" });
    await save();
    assert.deepEqual((await api(page, "GET", "system?path=quarter_car.ssp")).body.connectors.map(({ name, kind }) => [name, kind]), [["x", "output"]]);

    // ungrouped, and all of it undone: the file is what it was
    await page.click('[data-unit="group"] .name');
    await page.click("#ungroup");
    await page.waitForSelector(wire("wheel.x", "chassis.x_wheel"), { state: "attached" });
    await save();
    const columns = before.split("\n");
    assert.ok(rows().split("\n").every((line, index) => line.startsWith(columns[index])), "the same, and the connector of the system as one more column");
    while (await page.isEnabled("#undo"))
        await page.click("#undo");
    await settled(page);
    await save();
    assert.equal(rows(), before);
    await closePage(page);
    await server.stop();
    remove(path);
});

test("terminals are ports of their own: two are joined as a whole, by mouse and by keyboard, as --connect does it; what does not fit is refused", async () => {
    const path = folder(join(fmus, "PlugSource_fmi3.fmu"), join(fmus, "PlugSink_fmi3.fmu"));
    const server = await web(path);
    const page = await openPage(server.address);
    const names = [];
    for (const file of ["PlugSource_fmi3.fmu", "PlugSink_fmi3.fmu"]) {
        await page.focus(`[data-file="${file}"]`);
        await page.keyboard.press("Enter");
        await until("it is there", async () => (await page.locator("[data-unit]").count()) === names.length + 1);
        names.push(await page.evaluate((known) => [...document.querySelectorAll("[data-unit]")].map((unit) => unit.dataset.unit).find((name) => !known.includes(name)), names));
    }
    await page.click("#fit");
    const [source, sink] = names;
    await connect(page, `${source}.pin`, `${sink}.pin`);
    await page.waitForSelector(wire(`${source}.pin.v`, `${sink}.pin.v`), { state: "attached" });
    await page.waitForSelector(wire(`${sink}.pin.i`, `${source}.pin.i`), { state: "attached" });
    assert.equal(await model(page), "2 units, 2 connections");
    await connect(page, `${source}.pin`, `${sink}.pair`);
    await notice(page, "matching rule", "error");
    await connect(page, `${source}.pair`, `${sink}.first`);
    await notice(page, "A terminal is connected to another terminal", "error");
    await page.click("#undo");
    await until("undone at once", async () => (await model(page)) === "2 units, 0 connections");
    await page.keyboard.press("c");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.type(`${source}.line`);
    await page.keyboard.press("Tab");
    await page.keyboard.type(`${sink}.line`);
    await page.keyboard.press("Enter");
    await page.waitForSelector(wire(`${source}.speed`, `${sink}.speed`), { state: "attached" });
    await page.keyboard.press("Escape");
    await closePage(page);
    await server.stop();
    remove(path);
});

test("500 units: laid out, moved, zoomed; how long frames take is printed", async () => {
    const path = folder(join(fmus, "Tracker_fmi2.fmu"));
    const server = await web(path);
    const page = await openPage(server.address);
    const { body: info } = await api(page, "GET", "fmu?path=Tracker_fmi2.fmu");
    const connectors = info.variables.filter((variable) => /input|output|parameter/.test(variable.causality)).map((variable) => ({ name: variable.name, kind: variable.causality, type: variable.type }));
    const elements = Array.from({ length: 500 }, (_none, index) => ({ name: `u${index}`, kind: "fmu", source: "Tracker_fmi2.fmu", connectors, parameters: {} }));
    const connections = elements.slice(1).map((element, index) => ({ from: `u${Math.floor(index / 2)}.y`, to: `${element.name}.u` }));
    const { status } = await api(page, "PUT", "system?path=large.ssp", { name: "large", path: null, settings: {}, connectors: [], elements, connections });
    assert.equal(status, 200);
    await page.reload();
    await settled(page);
    await page.click('[data-file="large.ssp"]');
    const began = Date.now();
    await page.waitForSelector('[data-unit="u0"]');
    await until("laid out", () => page.evaluate(() => new Set([...document.querySelectorAll("[data-unit]")].map((unit) => unit.getAttribute("transform"))).size > 100));
    console.log(`500 units: on the screen after ${Date.now() - began} ms`);
    const frames = await page.evaluate(async () => {
        const canvas = document.querySelector(".canvas");
        const times = [];
        let last = performance.now();
        for (let index = 0; index < 40; index++) {
            canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: index % 20 < 10 ? -60 : 60, clientX: 640, clientY: 400, bubbles: true, cancelable: true }));
            await new Promise((done) => requestAnimationFrame(done));
            const now = performance.now();
            times.push(now - last);
            last = now;
        }
        return times.sort((a, b) => a - b);
    });
    console.log(`500 units: a frame while zooming takes ${frames[20].toFixed(1)} ms (median), ${frames[38].toFixed(1)} ms (95 %)`);
    await settled(page);
    await page.keyboard.press("Control+k");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.type("u499");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-unit="u499"].selected');
    const before = await page.locator('[data-unit="u499"]').getAttribute("transform");
    await drag(page, '[data-unit="u499"] .name', { x: 700, y: 520 });
    await until("moved", async () => (await page.locator('[data-unit="u499"]').getAttribute("transform")) !== before);
    await page.click("#undo");
    await until("moved back", async () => (await page.locator('[data-unit="u499"]').getAttribute("transform")) === before);
    await closePage(page);
    await server.stop();
    remove(path);
});
