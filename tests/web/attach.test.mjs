// SPDX-License-Identifier: MIT
// The page attached to a run of the command line, on two processes.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeBrowser, closePage, examples, folder, openPage, remove, serve, until } from "./browser.mjs";

after(closeBrowser);

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
