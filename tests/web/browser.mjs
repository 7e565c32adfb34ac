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
export const WAIT = 1000 * Number(process.env.TUTTI_PATIENCE ?? 300);

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
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, reducedMotion: "reduce", ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT);
    page.faults = [];
    page.on("pageerror", (error) => page.faults.push(String(error.stack)));
    page.on("console", (message) => {
        if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(message.text()))
            page.faults.push(message.text());
    });
    await page.addInitScript(keepNotices);
    await page.goto(address);
    await settled(page);
    return page;
}

/** Runs in the page: what its notices said is kept, since they go away by themselves. */
function keepNotices() {
    window.noticesSeen = [];
    new MutationObserver((changes) => {
        for (const change of changes)
            for (const node of change.addedNodes)
                if (node.nodeType === Node.ELEMENT_NODE)
                    for (const item of node.matches(".notices li") ? [node] : node.querySelectorAll(".notices li"))
                        window.noticesSeen.push({ text: item.innerText, level: item.className });
    }).observe(document, { childList: true, subtree: true });
}

/** Waits until the page has nothing under way any more: no request, no layout, no frame to draw. The function is called once a frame. */
export const settled = (page) => page.waitForFunction(() => {
    const rests = document.querySelector(".topbar") !== null && document.documentElement.dataset.busy === "false";
    window.framesAtRest = rests ? (window.framesAtRest ?? 0) + 1 : 0;
    if (window.framesAtRest < 3)
        return false;
    window.framesAtRest = 0;
    return true;
});

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

/** The middle of a thing. */
async function middleOf(page, target) {
    const box = await page.locator(target).first().boundingBox();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Drags with the mouse, in small steps, from the middle of one thing to that of another (or to a point). */
export async function drag(page, from, to) {
    await settled(page);
    const middle = (target) => (typeof target === "string" ? middleOf(page, target) : target);
    const [a, b] = [await middle(from), await middle(to)];
    await page.mouse.move(a.x, a.y);
    await page.mouse.down();
    await page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2, { steps: 2 });
    await page.mouse.move(b.x, b.y, { steps: 2 });
    await page.mouse.up();
}

export const port = (id) => `[data-port="${id}"] .dot`;
export const connect = (page, from, to) => drag(page, port(from), port(to));
export const wire = (from, to) => `.wire[data-from="${from}"][data-to="${to}"]`;

/** Nothing is selected: the inspector shows the system. */
export async function deselect(page) {
    await settled(page);
    await page.locator(".canvas").focus();
    await page.keyboard.press("Escape");
    await page.waitForSelector("#stop-time");
}

/** Puts an FMU of the palette into the drawing, by mouse, at a place of the window. */
export async function place(page, file, x, y) {
    await settled(page);
    const canvas = await page.locator(".canvas").boundingBox();
    await page.locator(`[data-file="${file}"]`).dragTo(page.locator(".canvas"), { targetPosition: { x: x - canvas.x, y: y - canvas.y } });
    await settled(page);
}

/** Puts an FMU of the palette into the drawing, by keyboard. */
export async function add(page, file, name) {
    await settled(page);
    await page.focus(`[data-file="${file}"]`);
    await page.keyboard.press("Enter");
    await page.waitForSelector(`[data-unit="${name}"]`);
    await settled(page);
}

/** Waits for a notice with these words (or with an error), and takes all away that are shown. */
export async function notice(page, words, level = "") {
    const text = await page.waitForFunction(([some, kind]) => {
        const index = window.noticesSeen.findIndex((each) => each.text.includes(some) && each.level.includes(kind));
        return index >= 0 && window.noticesSeen.splice(index, 1)[0].text;
    }, [words, level]).then((handle) => handle.jsonValue());
    await page.evaluate(() => document.querySelectorAll(".notices button").forEach((button) => button.click()));
    await settled(page);
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
