// SPDX-License-Identifier: MIT
// What people meet: contrast and names for screen readers (axe-core) in every view, light and dark, small and large; hostile names; weight.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { add, api, axeSource, closeBrowser, closePage, deselect, examples, folder, openPage, remove, settled, tutti, until, web, fmus } from "./browser.mjs";

after(closeBrowser);

const shots = process.env.TUTTI_SCREENSHOTS;

/** Serious faults that axe-core finds, as WCAG 2 AA has them. The script of axe is put into the page by the debugger, which the policy allows. */
async function faults(page) {
    if (!await page.evaluate(() => "axe" in window)) {
        const session = await page.context().newCDPSession(page);
        await session.send("Runtime.evaluate", { expression: axeSource() });
        await session.detach();
    }
    return page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] });
        return violations.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target.join(" ")}: ${node.failureSummary}`));
    });
}

for (const [scheme, width, height] of [["light", 1280, 800], ["dark", 3840, 2160]])
    test(`every view, ${scheme}, ${width} pixels wide`, async () => {
        const path = folder(join(examples, "quarter_car", "quarter_car.ssp"), join(examples, "linear_coupling", "linear_coupling.ssp"), join(fmus, "Heater_fmi2.fmu"));
        const server = await web(join(path, "quarter_car.ssp"));
        const page = await openPage(server.address, { colorScheme: scheme, viewport: { width, height } });
        const visit = async (name) => {
            await page.evaluate(() => Promise.all(document.getAnimations().filter((each) => Number.isFinite(each.effect.getComputedTiming().endTime)).map((each) => each.finished.catch(() => undefined))));
            if (shots) {
                mkdirSync(shots, { recursive: true });
                await page.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`) });
            }
            assert.deepEqual(await faults(page), [], name);
        };
        await page.waitForSelector('[data-unit="wheel"]');
        await page.waitForSelector(".findings .good");
        await visit("build");
        await page.click('[data-unit="wheel"] .name');
        await visit("unit");
        await page.keyboard.press("Control+g");
        await page.waitForSelector('[data-unit="group"]');
        await visit("group");
        await page.dblclick('[data-unit="group"] .name');
        await page.waitForSelector('[data-unit="wheel"]');
        await visit("connectors");
        await page.click('[data-edge="x"] .dot');
        await visit("connector");
        while (await page.isEnabled("#undo"))
            await page.click("#undo");
        await page.click("#tab-understand");
        await page.click("#analyze");
        await page.waitForSelector(".choices");
        await visit("understand");
        await page.click("#start");
        await page.waitForSelector(".panel canvas");
        await until("it is done", async () => (await page.locator(".progress .state").innerText()) === "done");
        await visit("run");
        for (const pane of ["steps", "units", "messages"]) {
            await page.click(`#pane-${pane}`);
            await visit(`run-${pane}`);
        }
        await page.click("#tab-results");
        await page.locator(".runs .small").first().click();
        await visit("results");
        for (const [key, name] of [["?", "keys"], ["Control+k", "find"], ["o", "options"], ["Control+o", "open"], ["Control+Shift+S", "save"]]) {
            await page.keyboard.press(key);
            await page.waitForSelector("dialog[open]");
            await visit(name);
            await page.keyboard.press("Escape");
            await page.waitForSelector("dialog[open]", { state: "detached" });
        }
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "nothing sticks out");
        await closePage(page);
        await server.stop();
        remove(path);
    });

test("what Understand says is what graph, analyze and check say of the same system", async () => {
    const path = folder(join(examples, "linear_coupling", "linear_coupling.ssp"), join(examples, "quarter_car", "quarter_car.ssp"), join(examples, "quarter_car", "QuarterChassis_fmi2.fmu"), join(fmus, "Heater_fmi2.fmu"));
    const say = (...words) => spawnSync(tutti, words, { cwd: path, encoding: "utf8" });
    const number = (value) => (value === null ? "" : String(Number(value.toPrecision(3))));
    const server = await web(join(path, "linear_coupling.ssp"));
    const page = await openPage(server.address);
    for (const file of ["linear_coupling.ssp", "quarter_car.ssp"]) {
        await page.click("#tab-build");
        await page.click(`[data-file="${file}"]`);
        await settled(page);
        await deselect(page);
        await page.fill("#system-step", "0.1");
        await page.keyboard.press("Tab");
        await page.click("#tab-understand");
        await settled(page);
        say("graph", file, "-o", "graph.json");
        const graph = JSON.parse(readFileSync(join(path, "graph.json"), "utf8"));
        const name = (index) => `${graph.nodes[index].unit}.${graph.nodes[index].variable}`;
        assert.deepEqual((await page.locator(".dependencies .node text").allTextContents().then((texts) => texts.sort())), graph.nodes.map((_node, index) => name(index)).sort(), "all variables of the graph");
        assert.equal(await page.locator(".dependencies .edge-line").count(), graph.nodes.reduce((sum, node) => sum + node.needs.length, 0), "all dependencies");
        assert.deepEqual((await page.locator(".dependencies .node.loop text").allTextContents()).sort(), graph.nodes.flatMap((node, index) => (node.loop === null ? [] : [name(index)])).sort(), "loops in red");
        assert.equal(await page.locator(".loop-line").count(), graph.loops.length);
        assert.deepEqual(await page.locator(".order li").allInnerTexts(), graph.order.map((step) => `${step.action}${step.unit ?? ""} ${step.nodes.map((node) => (step.unit ? graph.nodes[node].variable : name(node))).join(", ")}`), "the order of evaluation");

        await page.click("#analyze");
        await page.waitForSelector(".at-step");
        const analysis = JSON.parse(say("analyze", file, "--step", "0.1", "--json").stdout);
        const told = await page.locator(".choices > div").evaluateAll((rows) => rows.map((row) => [row.querySelector("dt").innerText, row.querySelector("b").innerText, row.querySelector("dd span").innerText]));
        assert.deepEqual(told, Object.entries(analysis.choices).flatMap(([choice, made]) => (typeof made === "object" ? [[choice, made.value, made.reason]] : made ? [[choice, "yes", ""]] : [])), "what auto chooses, and why");
        assert.match(await page.locator(".facts-side").innerText(), new RegExp(`ρ\\(DL\\) = ${String(Number(analysis.rho.toPrecision(5))).replace(".", "\\.")}\\b`));
        const cells = (selector) => page.locator(`${selector} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.replace(/\s+/g, " ").trim())));
        const stable = (value) => (value ? `${value.stable ? "stable" : "unstable"} ${number(value.radius)}`.trim() : "–");
        assert.deepEqual(await cells(".stability:not(.at-step)"), analysis.stability.map((row) => ["jacobi", "seidel", "correct", "smooth"].map((coupling) => stable(row[coupling]))), "stability for small steps");
        const reach = (value) => (value.any_step ? "any step" : value.largest === null ? "no step" : `up to ${number(value.largest)} s`);
        assert.deepEqual(await cells(".at-step"), [0, 1, 2].map((index) => ["jacobi", "seidel", "correct", "smooth", "relax"].filter((coupling) => analysis.step[coupling]).map((coupling) => {
            const value = analysis.step[coupling][index];
            return value ? `${stable(value)} ${reach(value)}` : "–";
        })), "stability at this step");
    }

    // findings of check, at the unit that each is about: an input that gets a temperature where it wants a length
    const document = { ...(await api(page, "GET", "system?path=quarter_car.ssp")).body, revision: null };
    const wrong = { ...document, elements: [...document.elements, { name: "Heater", kind: "fmu", source: "Heater_fmi2.fmu", connectors: [], parameters: {} }], connections: [...document.connections.filter(({ to }) => to !== "chassis.x_wheel"), { from: "Heater.T", to: "chassis.x_wheel" }] };
    assert.equal((await api(page, "PUT", "system?path=wrong.ssp", wrong)).status, 200);
    await closePage(page);
    await server.stop();
    const other = await web(join(path, "wrong.ssp"));
    const second = await openPage(other.address);
    const checked = JSON.parse(say("check", "wrong.ssp", "--json").stdout).findings;
    assert.ok(checked.length > 0);
    await second.waitForSelector('[data-unit="chassis"]');
    await second.click("#tab-understand");
    await settled(second);
    const findings = await second.locator(".own-findings .finding").evaluateAll((rows) => rows.map((row) => [row.querySelector("b")?.innerText.trim(), row.innerText.trim()]));
    assert.equal(findings.length, checked.length);
    for (const [index, [unit, text]] of findings.entries()) {
        assert.ok(checked[index].units.includes(unit) || checked[index].text.includes(`'${unit}.`), `${unit}: ${checked[index].text}`);
        assert.ok(text.includes(checked[index].text), `${text} / ${checked[index].text}`);
    }
    await second.locator(".own-findings .finding").first().click();
    await second.waitForSelector(`[data-unit="${findings[0][0]}"].selected, [data-unit="${findings[0][0]}"][aria-selected="true"]`);
    await closePage(second);
    await other.stop();
    remove(path);
});

test("the page is light: its weight and the time that it takes are printed; names are text, never markup", async () => {
    const path = folder(join(fmus, "Heater_fmi2.fmu"));
    const server = await web(path);
    const page = await openPage(server.address);
    const files = await page.evaluate(() => performance.getEntriesByType("resource").filter((entry) => !entry.name.includes("/api/")).map((entry) => [entry.name.split("/").pop(), entry.encodedBodySize, entry.decodedBodySize]));
    const sum = (column) => files.reduce((total, file) => total + file[column], 0);
    assert.ok(sum(2) < 1.5e6, `${sum(2)} bytes`);
    const loaded = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);
    console.log(`weight: ${sum(1)} bytes on the wire, ${sum(2)} unpacked; loaded after ${loaded.toFixed(0)} ms`);
    const hostile = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>';
    await add(page, "Heater_fmi2.fmu", "Heater");
    await page.fill("#unit-name", hostile.replaceAll(".", ""));
    await page.keyboard.press("Tab");
    await page.waitForSelector('.outline button:has-text("<img")');
    await page.keyboard.press("Control+k");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.type("<img");
    await page.waitForSelector('.hits li:has-text("<img")');
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assert.equal(await page.locator("#page img:not(.brand img)").count(), 0);
    await closePage(page);
    await server.stop();
    remove(path);
});

test("100 curves of a run that goes on, zoomed all the time: frames per second are printed", async () => {
    const path = folder(join(examples, "quarter_car", "quarter_car.ssp"));
    const server = await web(join(path, "quarter_car.ssp"));
    const page = await openPage(server.address);
    await page.waitForSelector('[data-unit="wheel"]');
    const document = (await api(page, "GET", "system?path=quarter_car.ssp")).body;
    const [chassis, wheel] = document.elements;
    const elements = Array.from({ length: 25 }, (_none, index) => [{ ...chassis, origin: undefined, name: `c${index}` }, { ...wheel, origin: undefined, name: `w${index}` }]).flat();
    const connections = Array.from({ length: 25 }, (_none, index) => [["w", "x", "c", "x_wheel"], ["w", "v", "c", "v_wheel"], ["c", "x", "w", "x_chassis"], ["c", "v", "w", "v_chassis"]].map(([a, p, b, q]) => ({ from: `${a}${index}.${p}`, to: `${b}${index}.${q}` }))).flat();
    const { body: run } = await api(page, "POST", "runs", { document: { ...document, elements, connections }, options: { stop: "10000", realtime: "2" } });
    assert.ok(run.id);
    const names = elements.flatMap((element) => [`${element.name}.x`, `${element.name}.v`]);
    const { file } = (await api(page, "GET", `runs/${run.id}`)).body;
    await page.evaluate(([where, columns]) => localStorage.setItem(`tutti-panels ${where}`, JSON.stringify([{ id: 1, kind: "time", columns, log: false, difference: false }])), [file ?? document.name, names]);
    await page.reload();
    await page.waitForSelector(".panel canvas");
    await until("100 curves", async () => (await page.locator(".legend li").count()) === 100);
    const rate = await page.evaluate(async () => {
        const canvas = document.querySelector(".panel canvas").getContext("2d");
        let drawn = 0;
        const clear = canvas.clearRect.bind(canvas);
        canvas.clearRect = (...where) => { drawn++; clear(...where); };
        const begin = performance.now();
        const over = document.querySelector(".panel .plot");
        while (performance.now() < begin + 2000) {
            over.dispatchEvent(new WheelEvent("wheel", { deltaY: drawn % 2 ? 5 : -5, clientX: 600, clientY: 300, bubbles: true, cancelable: true }));
            await new Promise((done) => requestAnimationFrame(done));
        }
        return (1000 * drawn) / (performance.now() - begin);
    });
    console.log(`100 curves: ${rate.toFixed(1)} frames per second`);
    await page.keyboard.press("x");
    await until("it stops", async () => (await page.locator(".progress .state").innerText()) === "interrupted");
    await closePage(page);
    await server.stop();
    remove(path);
});
