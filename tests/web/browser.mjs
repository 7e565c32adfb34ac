// SPDX-License-Identifier: MIT
// A server, a browser and a folder for tests of the page. Told by the environment: TUTTI (the command), TUTTI_FMUS and TUTTI_EXAMPLES (folders of
// the build), TUTTI_CHROMIUM.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
export const axeSource = () => require("axe-core").source;

export const tutti = process.env.TUTTI;
export const fmus = process.env.TUTTI_FMUS;
export const examples = process.env.TUTTI_EXAMPLES;
export const WAIT = 60000;

/** A folder of its own for a test, with these files of the build in it. */
export function folder(...files) {
    const path = mkdtempSync(join(tmpdir(), "tutti-page-"));
    for (const file of files)
        copyFileSync(file, join(path, file.split("/").pop()));
    return path;
}

export const quarterCar = () => ["QuarterChassis_fmi2.fmu", "QuarterWheel_fmi2.fmu"].map((name) => join(examples, "quarter_car", name));

const started = new Set();

/** Starts `tutti web` (or another command that prints an address with a token). */
export async function serve(args) {
    const child = spawn(tutti, args, { stdio: ["ignore", "pipe", "pipe"] });
    started.add(child);
    child.once("exit", () => started.delete(child));
    let said = "";
    const address = await new Promise((done, failed) => {
        const hear = (data) => {
            said += data;
            const match = /https?:\/\/\S+token=\w+/.exec(said);
            if (match)
                done(match[0]);
        };
        child.stdout.on("data", hear);
        child.stderr.on("data", hear);
        child.on("exit", (code) => failed(new Error(`${args.join(" ")} ended with ${code}: ${said}`)));
    });
    return {
        address, child, said: () => said,
        stop: (signal = "SIGTERM") => new Promise((done) => {
            if (child.exitCode !== null || child.signalCode !== null)
                return done();
            child.once("exit", done);
            child.kill(signal);
        }),
    };
}

export const web = (path, ...more) => serve(["web", path, "--no-browser", ...more]);

let browser;

/** A page of its own, with errors of scripts and of the content policy kept in page.faults. */
export async function openPage(address, options = {}) {
    browser ??= await chromium.launch({ executablePath: process.env.TUTTI_CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT);
    page.faults = [];
    page.on("pageerror", (error) => page.faults.push(String(error.stack)));
    page.on("console", (message) => {
        if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(message.text()))
            page.faults.push(message.text());
    });
    await page.goto(address);
    await page.waitForSelector(".topbar");
    return page;
}

export async function closePage(page) {
    assert.deepEqual(page.faults, [], "no errors in the page");
    await page.context().close();
}

/** Ends the browser, and what a test that failed has left. */
export async function closeBrowser() {
    started.forEach((child) => child.kill());
    await browser?.close();
    browser = undefined;
}

/** The middle of a thing once it stands still: what a click has changed is drawn some frames later. */
async function middleOf(page, target) {
    const box = await page.locator(target).first().evaluate(async (element) => {
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        const where = () => {
            const { x, y, width, height } = element.getBoundingClientRect();
            return { x, y, width, height };
        };
        for (let last = where(), still = 0; ; ) {
            await frame();
            const now = where();
            still = JSON.stringify(now) === JSON.stringify(last) ? still + 1 : 0;
            last = now;
            if (still === 4)
                return now;
        }
    });
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Drags with the mouse, in small steps, from the middle of one thing to that of another (or to a point). */
export async function drag(page, from, to) {
    const middle = (target) => (typeof target === "string" ? middleOf(page, target) : target);
    const [a, b] = [await middle(from), await middle(to)];
    await page.mouse.move(a.x, a.y);
    await page.mouse.down();
    await page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2, { steps: 4 });
    await page.mouse.move(b.x, b.y, { steps: 4 });
    await page.mouse.up();
}

export const port = (id) => `[data-port="${id}"] .dot`;
export const connect = (page, from, to) => drag(page, port(from), port(to));
export const wire = (from, to) => `.wire[data-from="${from}"][data-to="${to}"]`;

/** Nothing is selected: the inspector shows the system. Again and again, since what was added is selected a little later. */
export const deselect = (page) => until("the system's settings are shown", async () => {
    await page.locator(".canvas").focus();
    await page.keyboard.press("Escape");
    return page.isVisible("#stop-time");
});

/** Puts an FMU of the palette into the drawing, by mouse, at a place of the window. */
export async function place(page, file, x, y) {
    const canvas = await page.locator(".canvas").boundingBox();
    await page.locator(`[data-file="${file}"]`).dragTo(page.locator(".canvas"), { targetPosition: { x: x - canvas.x, y: y - canvas.y } });
}

/** Waits for a notice with these words, and takes it away. */
export async function notice(page, words) {
    const found = page.locator(".notices li", { hasText: words }).first();
    await found.waitFor();
    const text = await found.innerText();
    await found.locator("button").click();
    return text;
}

export async function until(what, ask, wait = WAIT) {
    const end = Date.now() + wait;
    for (;;) {
        const answer = await ask();
        if (answer)
            return answer;
        assert.ok(Date.now() < end, `waited in vain: ${what}`);
        await new Promise((done) => setTimeout(done, 100));
    }
}

/** A request to the server as the page makes it. */
export async function api(page, method, path, body) {
    return page.evaluate(async ([verb, where, what]) => {
        const answer = await fetch(`/api/${where}`, { method: verb, headers: { Authorization: `Bearer ${sessionStorage.getItem("tutti-token")}`, ...(what === undefined ? {} : { "Content-Type": "application/json" }) }, ...(what === undefined ? {} : { body: JSON.stringify(what) }) });
        return { status: answer.status, body: await answer.json().catch(() => null) };
    }, [method, path, body]);
}

export const remove = (path) => rmSync(path, { recursive: true, force: true });
export const here = fileURLToPath(new URL(".", import.meta.url));
