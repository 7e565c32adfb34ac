// SPDX-License-Identifier: MIT
// Runs in a real browser: watched while they grow, steered, the same bytes as the command line's, two viewers, a server that dies and comes back; attached to
// a run of the command line, on two processes.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { add, api, closeBrowser, closePage, deselect, examples, fmus, folder, notice, openPage, quarterCar, remove, serve, tutti, until, web } from "./browser.mjs";

after(closeBrowser);

const state = (page) => page.locator(".progress .state").innerText();
const time = async (page) => Number(/t = ([\d.e-]+)/.exec(await page.locator(".progress-text").innerText())?.[1] ?? -1);
const car = () => join(examples, "quarter_car", "quarter_car.ssp");

/** Sets an option of runs, as a user does. */
async function option(page, name, value) {
    await page.locator(".tools button").first().focus();
    await page.keyboard.press("o");
    await page.waitForSelector("dialog[open]");
    await page.fill('dialog input[type="search"]', name);
    await page.fill(`#run-${name}`, value);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
}

test("a run is watched while it grows, paused, stepped, set, stopped; the page can be closed meanwhile", async () => {
    const path = folder(join(fmus, "Heater_fmi3.fmu"), ...quarterCar());
    const server = await web(path);
    const page = await openPage(server.address);
    await add(page, "Heater_fmi3.fmu", "Heater");
    await add(page, "QuarterWheel_fmi2.fmu", "QuarterWheel");
    await deselect(page);
    await page.fill("#stop-time", "1000");
    await page.keyboard.press("Tab");
    await page.fill("#system-step", "0.01");
    await page.keyboard.press("Tab");
    await option(page, "realtime", "5");
    await page.click("#start");
    await page.waitForSelector(".panel canvas");
    await until("it runs", async () => (await state(page)) === "running");
    await page.waitForSelector(".legend-value");
    const early = await time(page);
    await until("time goes on", async () => (await time(page)) > early + 1);

    await page.click("#pause");
    await until("it pauses", async () => (await state(page)) === "paused");
    const still = await time(page);
    await page.click("#step");
    await until("one step", async () => (await time(page)) >= still);
    await page.click("#pause");
    await until("it goes on", async () => (await state(page)) === "running");

    // a tunable parameter and a free input, while it runs
    await page.fill('[data-set="Heater.T_set"]', "300");
    await page.keyboard.press("Tab");
    await notice(page, "Heater.T_set is 300");
    await page.fill('[data-set="Heater.T_outside"]', "250");
    await page.keyboard.press("Tab");
    await notice(page, "Heater.T_outside is 250");
    await page.fill("#set-name", "Heater.C");
    await page.fill("#set-value", "1");
    await page.click("#set-send");
    await notice(page, "Heater.C", "error");

    // another viewer, and this one again after a reload: both see the run and its past
    const second = await openPage(server.address);
    await second.waitForSelector(".panel canvas");
    await until("the second viewer sees it", async () => (await state(second)) === "running");
    page.once("dialog", (dialog) => dialog.accept());
    await page.reload();
    await page.waitForSelector(".panel canvas");
    await until("it is back", async () => (await state(page)) === "running");
    await page.waitForSelector('[data-set="Heater.T_set"]'); // of the system that is run: the editor is empty now
    const id = (await api(page, "GET", "runs")).body[0].id;
    const series = (await api(page, "GET", `runs/${id}/series?columns=Heater.T&points=50`)).body;
    assert.equal(series.lines[0].x[0], 0, "the past begins at the start");

    await page.click("#stop");
    await until("it stops", async () => (await state(page)) === "interrupted");
    await until("the second viewer sees that", async () => (await state(second)) === "interrupted");
    await closePage(second);
    await closePage(page);
    await server.stop();
    remove(path);
});

test("the page's run has the bytes of the command line's; runs are compared, exported, forgotten", async () => {
    const path = folder(car(), join(examples, "linear_coupling", "linear_coupling.ssp"));
    const server = await web(path);
    const page = await openPage(server.address);
    await page.click('[data-file="quarter_car.ssp"]');
    await page.waitForSelector('[data-unit="wheel"]');
    for (let run = 1; run <= 2; run++) {
        await page.click("#start");
        await until("it is done", async () => (await api(page, "GET", "runs")).body.filter((each) => each.state === "done").length === run);
        if (run === 1)
            await option(page, "step", "0.002");
    }
    const runs = (await api(page, "GET", "runs")).body;
    const first = runs.find((run) => Object.keys(run.options).length === 0);
    await page.click("#tab-results");
    await page.locator(`[data-run="${first.id}"] .small`).click();
    assert.match(await page.locator(".expanded code").innerText(), /tutti run .*quarter_car\.ssp/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('[data-export="csv"]')]);
    const mine = readFileSync(await download.path());
    const done = spawnSync(tutti, ["run", join(path, "quarter_car.ssp"), "-o", join(path, "command.csv"), "--quiet"], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    assert.ok(mine.equals(readFileSync(join(path, "command.csv"))), "the same bytes");
    for (const [format, magic] of [["mat", null], ["h5", "\x89HDF"], ["svg", "<svg"], ["png", "\x89PNG"]]) {
        const [file] = await Promise.all([page.waitForEvent("download"), page.click(`[data-export="${format}"]`)]);
        const bytes = readFileSync(await file.path()).toString("latin1");
        assert.ok(file.suggestedFilename().endsWith(`.${format}`) && bytes.length > 500 && bytes.slice(0, 200).includes(magic ?? ""), `${format}: ${bytes.slice(0, 20)}`);
    }
    for (const run of runs)
        await page.check(`[data-run="${run.id}"] input`);
    await page.click("#compare");
    await page.waitForSelector(".comparison tbody tr");
    await page.click("#difference");
    await page.waitForSelector(".panel canvas");
    await page.waitForSelector('.panel-head [aria-pressed="true"]', { state: "attached" });

    // zoom by dragging, two cursors, a phase plot, logarithmic axes
    const plot = await page.locator(".panel .u-over").first().boundingBox();
    await page.mouse.move(plot.x + plot.width * 0.3, plot.y + 40);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width * 0.6, plot.y + 40, { steps: 5 });
    await page.mouse.up();
    await until("zoomed", () => page.isEnabled("#all-times"));
    await page.mouse.click(plot.x + plot.width * 0.2, plot.y + 40);
    await page.keyboard.down("Alt");
    await page.mouse.click(plot.x + plot.width * 0.7, plot.y + 40);
    await page.keyboard.up("Alt");
    assert.match(await page.locator(".cursor-times").innerText(), /A .*B .*Δ/s);
    await page.click("#all-times");
    const pressed = (name) => page.locator(".panel-head").first().getByRole("button", { name, exact: true });
    await pressed("difference").click();
    await page.waitForFunction(() => document.querySelectorAll('.panel-head [aria-pressed="false"]').length >= 2);
    assert.notEqual(await page.inputValue("#overlay"), "", "the other run is laid over");
    await pressed("log").click();
    await page.locator('.panel-head [aria-pressed="true"]', { hasText: "log" }).waitFor();
    const [picture] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Keep as PNG" }).first().click()]);
    assert.ok(readFileSync(await picture.path()).length > 2000);
    await pressed("log").click();

    // what is shown is of the system that is open: its last run, no overlay of another one
    const shownOf = (name) => until(`the run of ${name}`, async () => (await page.locator(".progress").count()) === (name === null ? 0 : 1));
    await page.click("#tab-build");
    await page.click('[data-file="linear_coupling.ssp"]');
    await shownOf(null);
    await page.click('[data-file="quarter_car.ssp"]');
    await shownOf("quarter_car.ssp");
    assert.equal(await page.locator(".progress .other").count(), 0);
    await page.click("#tab-run");
    assert.equal(await page.inputValue("#overlay"), "", "no other run is laid over");
    await page.getByRole("button", { name: "Phase plot" }).click();
    for (const column of ["chassis.x", "chassis.v"])
        await page.locator(`[data-column="${column}"]`).dragTo(page.locator(".panel").last());
    await page.waitForSelector(".panel:last-child canvas");

    await page.click("#tab-results");
    for (const run of runs) {
        await page.locator(`[data-run="${run.id}"] .small`).click();
        await page.getByRole("button", { name: `Forget run ${run.id.split("-").pop()}` }).click();
        await page.waitForSelector(`[data-run="${run.id}"]`, { state: "detached" });
    }
    await closePage(page);
    await server.stop();
    remove(path);
});

test("the server is killed: the page says so, keeps what it shows, and comes back; the run went on", async () => {
    const path = folder(join(fmus, "VanDerPol_fmi2.fmu"));
    let server = await web(path);
    const where = new URL(server.address);
    const page = await openPage(server.address);
    await add(page, "VanDerPol_fmi2.fmu", "VanDerPol");
    await deselect(page);
    await page.fill("#stop-time", "600");
    await page.keyboard.press("Tab");
    await option(page, "realtime", "2");
    await page.click("#start");
    await until("it runs", async () => (await state(page)) === "running");
    await page.waitForSelector(".panel canvas");
    await server.stop("SIGKILL");
    await page.waitForSelector("#offline");
    assert.ok(await page.isVisible(".panel"), "what was shown stays");
    server = await web(path, "--listen", where.host);
    assert.equal(server.address, where.href, "the same token");
    await page.waitForSelector("#offline", { state: "detached" });
    await until("it still runs", async () => (await state(page)) === "running");
    const before = await time(page);
    await until("and goes on", async () => (await time(page)) > before);
    await page.click("#stop");
    await until("it stops", async () => (await state(page)) === "interrupted");
    await closePage(page);
    await server.stop();
    remove(path);
});

test("a page that is slow does not slow the run, nor the other viewer", async () => {
    const path = folder(car());
    const server = await web(path);
    const page = await openPage(server.address);
    await page.click('[data-file="quarter_car.ssp"]');
    await page.waitForSelector('[data-unit="wheel"]');
    await option(page, "stop", "2000");
    await option(page, "realtime", "20");
    await page.click("#start");
    await until("it runs", async () => (await state(page)) === "running");
    const slow = await openPage(server.address);
    await slow.waitForSelector(".panel canvas");
    await slow.evaluate(() => setInterval(() => { const end = performance.now() + 900; while (performance.now() < end); }, 1000));
    const before = await time(page);
    await until("the fast viewer goes on", async () => (await time(page)) > before + 20);
    await until("the slow one follows", async () => (await time(slow)) > before + 20);
    await page.click("#stop");
    await until("it stops", async () => (await state(page)) === "interrupted");
    await slow.context().close();
    await closePage(page);
    await server.stop();
    remove(path);
});

test("attached to a run on two processes: seen, paused, stepped, resumed, stopped", async () => {
    const path = folder();
    const run = await serve(["run", join(examples, "quarter_car", "quarter_car.ssp"), "--stop", "10000", "--processes", "2", "--realtime", "5", "-o", join(path, "out.csv"), "--live", "127.0.0.1:0"]);
    const where = new URL(run.address);
    const server = await serve(["web", "--attach", where.host, "--token", where.searchParams.get("token"), "--no-browser"]);
    const page = await openPage(server.address);
    const state = () => page.locator(".progress .state").innerText();
    const time = async () => Number(/t = ([\d.e-]+)/.exec(await page.locator(".progress-text").innerText())?.[1] ?? -1);
    await until("it is seen", async () => (await state()) === "running");
    await page.waitForSelector(".panel canvas");
    assert.equal(await page.locator("#tab-build").count(), 0, "there is no editor");
    const before = await time();
    await until("it goes on", async () => (await time()) > before);
    await page.keyboard.press("p");
    await until("it pauses", async () => (await state()) === "paused");
    await page.keyboard.press(".");
    await page.keyboard.press("p");
    await until("it goes on again", async () => (await state()) === "running");
    const later = await time();
    await until("time goes on", async () => (await time()) > later);

    // steps, time per unit, load per rank while it goes on; a page that comes later sees all its past
    await page.click("#pane-steps");
    const pieces = () => page.locator(".steps-pane").getAttribute("data-pieces").then(Number);
    await until("steps are told", async () => (await pieces()) > 1);
    await page.waitForSelector(".steps-pane .small-plot canvas");
    await page.click("#pane-units");
    await until("both ranks tell their load", async () => (await page.locator("#rank-loads li").count()) === 2 && (await page.locator("#unit-loads li").count()) === 2);
    await until("and how much of the last moment that was", async () => /% now/.test(await page.locator("#rank-loads").innerText()));
    if (process.env.TUTTI_SCREENSHOTS)
        await page.screenshot({ path: join(process.env.TUTTI_SCREENSHOTS, "attached-units.png") });
    const known = await time();
    await page.reload();
    await page.waitForSelector(".panel canvas");
    await until("it is seen again", async () => (await time()) > known);
    const plot = await page.locator(".panel .u-over").first().boundingBox();
    await page.mouse.click(plot.x + 2, plot.y + 40);
    const cursor = await page.locator(".cursor-times").innerText();
    assert.ok(Number(/A ([\d.e-]+)/.exec(cursor)[1]) < known / 4, `the curves begin before ${known}: ${cursor}`);
    await page.click("#pane-steps");
    await until("so do its steps", async () => (await pieces()) > 3);
    await page.locator(".tabs button").first().focus();
    await page.keyboard.press("x");
    await until("it is over", async () => ["interrupted", "done"].includes(await state()));
    await closePage(page);
    await server.stop();
    await run.stop();
    remove(path);
});
