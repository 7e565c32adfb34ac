// SPDX-License-Identifier: MIT
// node build.mjs OUT: bundles the page, flat, into the folder OUT. node build.mjs --tests OUT: bundles the tests of the model for node --test.
import { build } from "esbuild";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tests = process.argv[2] === "--tests";
const named = process.argv[tests ? 3 : 2];
if (!named) {
    console.error("usage: node build.mjs [--tests] OUT");
    process.exit(2);
}
const out = resolve(named);
await mkdir(out, { recursive: true });

const common = { bundle: true, outdir: out, logLevel: "warning", absWorkingDir: here, legalComments: "none" };
if (tests) {
    const files = (await readdir(join(here, "test"))).filter((name) => name.endsWith(".test.ts"));
    await build({ ...common, entryPoints: files.map((name) => `test/${name}`), platform: "node", format: "esm", outExtension: { ".js": ".mjs" } });
} else {
    const entryPoints = { page: "src/main.tsx", "layout-worker": "src/layout/worker.ts" };
    await build({ ...common, entryPoints, format: "iife", minify: true, target: ["chrome100", "firefox100", "safari15"], define: { "process.env.NODE_ENV": '"production"' } });
    for (const name of ["index.html", "icon.svg"])
        await copyFile(join(here, name), join(out, name));
}
