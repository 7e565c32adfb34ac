// SPDX-License-Identifier: MIT
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./page.css";
import { keepPanels } from "./plot/panels";
import { whenBack } from "./server/client";
import { during } from "./state/busy";
import { keepLooking, dirty, openPath, systemName } from "./state/editor";
import { current, followSystem, keepCurrent, readRuns, runs, show, showLast } from "./state/runs";
import { over } from "./state/run";
import { readServer, serverInfo } from "./state/server";
import { applyTheme, complain, tab } from "./state/view";
import { listenToKeys } from "./ui/actions";
import { App } from "./ui/app";

/** Shows the file of the command line, and the active run. */
async function begin(): Promise<void> {
    await readServer();
    await readRuns();
    const info = serverInfo.value;
    if (info?.attached) {
        tab.value = "run";
        await show(runs.value[0]?.id ?? "attached");
        return;
    }
    if (info?.file)
        await openPath(info.file);
    const run = await showLast(info?.file ? systemName() : null);
    followSystem();
    if (run && !over(run.state))
        tab.value = "run";
}

/** The server is back: its data may have changed; the document of the page stays. */
async function again(): Promise<void> {
    await readServer();
    await readRuns();
    const run = current.value;
    if (run)
        await run.refresh().then(() => run.watch());
}

applyTheme();
listenToKeys();
keepLooking();
keepPanels();
keepCurrent();
whenBack(() => void again().catch(complain));
window.addEventListener("beforeunload", (event) => dirty.value && event.preventDefault());
window.addEventListener("dragover", (event) => event.preventDefault());
window.addEventListener("drop", (event) => event.preventDefault());
render(<App />, document.getElementById("page") as HTMLElement);
during(begin()).catch((error) => {
    complain(error);
    if (error instanceof TypeError)
        whenBack(() => void begin().catch(complain));
});
