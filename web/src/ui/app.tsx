// SPDX-License-Identifier: MIT
// The page: bar, banners, the selected view, dialogs, notices.
import { online, refused } from "../server/client";
import { serverInfo } from "../state/server";
import { dismiss, notices, tab } from "../state/view";
import { Build } from "./build";
import { Dialogs } from "./dialogs";
import { Icon } from "./icons";
import { Results } from "./results";
import { RunView } from "./run";
import { TopBar } from "./topbar";
import { Understand } from "./understand";

export function App() {
    return (
        <div class="app">
            <TopBar />
            <Banners />
            <main id="view" role="tabpanel" aria-labelledby={`tab-${tab.value}`}>
                {tab.value === "build" ? <Build /> : tab.value === "understand" ? <Understand /> : tab.value === "run" ? <RunView /> : <Results />}
            </main>
            <Dialogs />
            <Notices />
        </div>
    );
}

function Banners() {
    return (
        <div aria-live="assertive">
            {!online.value && <p class="banner error" id="offline"><Icon name="error" />The server does not answer. What you see stays; runs go on. The page tries again every second.</p>}
            {refused.value && <p class="banner error" id="refused"><Icon name="error" />The server does not know this page's token. Open the address that tutti web printed.</p>}
            {serverInfo.value?.readOnly && <p class="banner" id="read-only">Read-only: you can look at everything and change nothing.</p>}
        </div>
    );
}

function Notices() {
    return (
        <ul class="notices" role="status">
            {notices.value.map((notice) => (
                <li key={notice.id} class={notice.level}><Icon name={notice.level === "error" ? "error" : "check"} /><span>{notice.text}</span>
                    <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(notice.id)}><Icon name="close" /></button></li>))}
        </ul>
    );
}
