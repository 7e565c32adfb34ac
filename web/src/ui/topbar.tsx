// SPDX-License-Identifier: MIT
// The bar at the top: the file, the four views, the run.
import { dirty, file, history, present, redo, systemName, undo } from "../state/editor";
import { redoLabel, undoLabel } from "../model/history";
import { command, current, start, togglePause } from "../state/runs";
import { over } from "../state/run";
import { serverInfo } from "../state/server";
import { dialog, setTheme, tab, Tab } from "../state/view";
import { isDark, saveOrAsk } from "./actions";
import { number, seconds } from "./format";
import { Icon, IconButton } from "./icons";

const TABS: readonly { id: Tab; name: string }[] = [
    { id: "build", name: "Build" }, { id: "understand", name: "Understand" }, { id: "run", name: "Run" }, { id: "results", name: "Results" },
];

export function TopBar() {
    const attached = Boolean(serverInfo.value?.attached);
    return (
        <header class="topbar">
            <div class="brand"><img src="icon.svg" alt="" width="24" height="24" /><span>Tutti</span></div>
            {attached ? <div class="file"><span class="file-name">{String(current.value?.info.value.file ?? "attached run")}</span></div> : <FileButton />}
            <Tabs attached={attached} />
            <RunControls attached={attached} />
            <div class="tools">
                <IconButton icon="search" label="Find (Ctrl+K)" act={() => (dialog.value = "find")} />
                <IconButton icon="theme" label="Light or dark (T)" act={() => setTheme(isDark() ? "light" : "dark")} />
                <IconButton icon="help" label="Keys (?)" act={() => (dialog.value = "keys")} />
            </div>
        </header>
    );
}

function FileButton() {
    const { path } = file.value;
    const readOnly = serverInfo.value?.readOnly ?? false;
    const [undoes, redoes] = [undoLabel(history.value), redoLabel(history.value)];
    return (
        <div class="file">
            <button type="button" class="file-name" title="Open another file (Ctrl+O)" onClick={() => (dialog.value = "open")} id="file-button">
                <Icon name="folder" /><span>{path ?? `${present.value.name} (not saved yet)`}</span>
                {dirty.value && <span class="dirty" title="not saved" aria-label="not saved">●</span>}
            </button>
            <IconButton icon="save" label="Save (Ctrl+S)" act={saveOrAsk} disabled={readOnly || !dirty.value} id="save" />
            <IconButton icon="undo" label={undoes ? `Undo: ${undoes} (Ctrl+Z)` : "Undo (Ctrl+Z)"} act={undo} disabled={!undoes} id="undo" />
            <IconButton icon="redo" label={redoes ? `Redo: ${redoes} (Ctrl+Y)` : "Redo (Ctrl+Y)"} act={redo} disabled={!redoes} id="redo" />
        </div>
    );
}

function Tabs({ attached }: { attached: boolean }) {
    const shown = attached ? TABS.filter((entry) => entry.id === "run") : TABS;
    const go = (event: KeyboardEvent, index: number) => {
        const move = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        const next = shown[(index + move + shown.length) % shown.length];
        if (move !== 0 && next) {
            tab.value = next.id;
            document.getElementById(`tab-${next.id}`)?.focus();
        }
    };
    return (
        <div class="tabs" role="tablist" aria-label="Views">
            {shown.map((entry, index) => (
                <button type="button" role="tab" id={`tab-${entry.id}`} key={entry.id} aria-selected={tab.value === entry.id} aria-controls="view" tabIndex={tab.value === entry.id ? 0 : -1}
                    onClick={() => (tab.value = entry.id)} onKeyDown={(event) => go(event, index)}>{entry.name}</button>
            ))}
        </div>
    );
}

function RunControls({ attached }: { attached: boolean }) {
    const run = current.value;
    const state = run?.state.value;
    const going = state !== undefined && !over(state);
    const readOnly = serverInfo.value?.readOnly ?? false;
    return (
        <div class="run-controls">
            {run && <RunProgress />}
            {going && <>
                <IconButton icon={state === "paused" ? "play" : "pause"} label={state === "paused" ? "Go on (P)" : "Pause (P)"} act={togglePause} disabled={readOnly} id="pause" />
                <IconButton icon="step" label="One step (.)" act={() => void command({ step: 1 })} disabled={readOnly || state !== "paused"} id="step" />
                <IconButton icon="stop" label="Stop (X)" act={() => void command({ stop: true })} disabled={readOnly} id="stop" />
            </>}
            {!attached && <>
                <IconButton icon="settings" label="Options of runs (O)" act={() => (dialog.value = "options")} />
                <button type="button" class="primary" onClick={() => void start()} disabled={readOnly || going} id="start" title="Start a run (R): this runs the code of the FMUs"><Icon name="play" />Run</button>
            </>}
        </div>
    );
}

function RunProgress() {
    const run = current.value;
    if (!run)
        return null;
    const info = run.info.value;
    const progress = run.progress.value;
    const state = run.state.value;
    const time = progress?.time ?? info.time;
    const stop = progress?.stop ?? info.stop;
    const begin = progress?.start ?? info.start ?? 0;
    const part = time !== null && stop !== null && stop > begin ? Math.min(1, Math.max(0, (time - begin) / (stop - begin))) : 0;
    const share = state === "done" ? 1 : part;
    const other = info.file !== null && info.file !== systemName() && !serverInfo.value?.attached ? info.file : null;
    const left = progress && part > 0.005 && !over(state) ? (progress.elapsed * (1 - part)) / part : null;
    return (
        <div class={`progress ${state}`} title={info.message ?? ""}>
            <div class="progress-text"><span class="state" data-state={state}>{state}</span>{other !== null && <span class="other" title={`The run is one of ${other}, which is not the system that is open.`}>{other}</span>}<span>t = {number(time, 5)} s{stop !== null ? ` of ${number(stop, 5)}` : ""}</span>
                {left !== null && <span class="soft">{seconds(left)} left</span>}</div>
            <div class="bar" role="progressbar" aria-label="Progress of the run" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)}><div style={{ width: `${share * 100}%` }} /></div>
        </div>
    );
}
