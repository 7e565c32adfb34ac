// SPDX-License-Identifier: MIT
// Drives the page in a browser for net_page.py: reads a plan (JSON) from standard input, writes what was seen as JSON.
//
//     {"folder": ..., "dark": true, "views": [{"run": ID, "acts": [[NAME, ARGUMENTS...], ...]}, ...],
//      "live": {"file": ..., "column": ..., "options": {...}, "until": TIME}}
//
// After each act: what the canvas of the first panel has in each column of pixels, what its axes and its legend say.
import { readFileSync } from "node:fs";
import { api, closeBrowser, openPage, settled, until, web } from "../web/browser.mjs";

const plan = JSON.parse(readFileSync(0, "utf8"));
const server = await web(plan.folder);
const page = await openPage(server.address, { colorScheme: plan.dark ? "dark" : "light", viewport: { width: 1200, height: 700 } });

const box = () => page.locator(".panel .u-over").first().boundingBox();
/** Where the pointer was put: browsers round it. */
let pointer = 0;

/** Puts the pointer at a part of the width and of the height. */
async function point(across, down, options) {
    const plot = await box();
    pointer = Math.round(plot.x + plot.width * across);
    await page.mouse.move(pointer, Math.round(plot.y + plot.height * down), options);
    return pointer;
}

const acts = {
    look: async () => {},
    /** Zooms by dragging from one part of the width to another. */
    zoom: async (from, to) => {
        await point(from, 0.5);
        await page.mouse.down();
        await point(to, 0.5, { steps: 4 });
        await page.mouse.up();
    },
    pan: async (from, to) => {
        await point(from, 0.5);
        await page.keyboard.down("Shift");
        await page.mouse.down();
        await point(to, 0.5, { steps: 4 });
        await page.mouse.up();
        await page.keyboard.up("Shift");
    },
    wheel: async (part, delta) => {
        await point(part, 0.5);
        await page.mouse.wheel(0, delta);
    },
    click: async (part) => {
        await point(part, 0.5);
        await page.mouse.down();
        await page.mouse.up();
    },
    hover: async (part) => point(part, 0.3),
    all: async () => {
        if (await page.isEnabled("#all-times"))
            await page.click("#all-times");
    },
    theme: async () => page.getByRole("button", { name: "Light or dark (T)" }).click(),
    difference: async (other) => {
        await page.selectOption("#overlay", other);
        await page.getByRole("button", { name: "difference", exact: true }).first().click();
    },
};

/** Runs in the page: of each column of pixels the first and the last line that has the colour of the first curve. */
function readCanvas() {
    const host = document.querySelector(".panel .plot");
    const canvas = host.querySelector("canvas");
    const axes = JSON.parse(host.dataset.axes);
    const [left, top, width, height] = axes.box.map(Math.round);
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--curve-0").trim();
    const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    const { data } = canvas.getContext("2d").getImageData(left, top, width, height);
    const columns = [];
    for (let x = 0; x < width; x++) {
        let [first, last] = [-1, -1];
        for (let y = 0; y < height; y++) {
            const at = 4 * (y * width + x);
            if (data[at + 3] > 100 && wanted.every((part, index) => Math.abs(part - data[at + index]) < 48)) {
                first = first < 0 ? y : first;
                last = y;
            }
        }
        columns.push([first, last]);
    }
    const over = host.querySelector(".u-over").getBoundingClientRect();
    return { axes, columns, over: [over.left, over.width], until: Number(document.querySelector(".panel .legend").dataset.until),
        value: document.querySelector(".panel .legend-value").textContent, cursor: document.querySelector(".panel .legend-cursor")?.textContent ?? "" };
}

const seen = [];
/** Acts after which the end is seen. Curves are drawn at once, the legend of an active run follows: both are read at the same time, and belong together. */
const WHOLE = ["look", "all", "theme"];

async function act(run, name, ...rest) {
    if (await page.locator(".cursor-times button").count())
        await page.click(".cursor-times button");
    await acts[name](...rest);
    await settled(page);
    await until("the legend has its values", async () => !(await page.locator(".panel .legend").innerText()).includes("…"));
    const view = await until("the legend is of the last row that is drawn", async () => {
        const now = await page.evaluate(readCanvas);
        return (!WHOLE.includes(name) || now.until === now.axes.x.span[1]) && now;
    });
    if (plan.shots)
        await page.screenshot({ path: `${plan.shots}/${run}-${seen.length}-${name}.png` });
    seen.push({ run, act: [name, ...rest], pointer, ...view });
}

async function show(run) {
    await page.click("#tab-results");
    await page.locator(`[data-run="${run}"] .link`).click();
    await page.waitForSelector(".panel canvas");
}

for (const view of plan.views) {
    await show(view.run);
    for (const each of view.acts)
        await act(view.run, ...each);
    await page.mouse.move(5, 5);
}

/** A run that is watched while it grows: paused, so that the picture is constant, then watched to its end without asking for the page again. */
async function watch({ file, column, options, until: time }) {
    await page.evaluate(([name, panels]) => localStorage.setItem(name, panels), [`tutti-panels ${file}`, JSON.stringify([{ kind: "time", columns: [column], log: false, difference: false }])]);
    const run = (await api(page, "POST", "runs", { path: file, options, steps: false })).body.id;
    await until("the run is listed", async () => (await api(page, "GET", "runs")).body.some((each) => each.id === run && each.state === "running"));
    await page.reload();
    await page.waitForSelector(".panel canvas");
    const reached = async () => Number(/t = ([\d.e-]+)/.exec(await page.locator(".progress-text").innerText())?.[1] ?? -1);
    await until("it grows", async () => (await reached()) > time);
    await page.click("#pause");
    await until("it pauses", async () => (await page.locator(".progress .state").innerText()) === "paused");
    await until("its past is there", () => page.evaluate(() => JSON.parse(document.querySelector(".panel .plot").dataset.axes).x.span[0] === 0));
    await act(run, "look");
    await act(run, "zoom", 0.5, 0.9);
    await act(run, "hover", 0.4);
    await act(run, "all");
    await page.click("#pause");
    await until("it continues", async () => (await reached()) > 1.5 * time);
    await page.click("#stop");
    await until("it stops", async () => (await page.locator(".progress .state").innerText()) === "interrupted");
    await until("what it computed is read", async () => (await api(page, "GET", `runs/${run}`)).body.statistics);
    await act(run, "look");
    await act(run, "zoom", 0.2, 0.6);
    return run;
}

const live = plan.live ? await watch(plan.live) : null;
const faults = page.faults;
await page.context().close();
await closeBrowser();
await server.stop();
console.log(JSON.stringify({ seen, faults, live }));
