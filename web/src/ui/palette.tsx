// SPDX-License-Identifier: MIT
// The folder: FMUs to drag into the drawing, systems to open.
import { useSignal } from "@preact/signals";
import { addFmu, freePlace, openPath } from "../state/editor";
import { entries, folder, inFolder, readFolder, serverInfo, uploadFiles } from "../state/server";
import type { FileEntry } from "../server/types";
import { complain } from "../state/view";
import { bytes } from "./format";
import { Icon, IconName } from "./icons";

/** The item dragged from the palette. */
export const FMU_TYPE = "application/x-tutti-fmu";

const ICONS: Readonly<Record<string, IconName>> = { folder: "folder", fmu: "unit", ssp: "system", import: "system" };

export const opens = (entry: FileEntry): boolean => entry.kind === "ssp" || entry.kind === "import" || /\.msim$|OspSystemStructure\.xml$/i.test(entry.name);

export function act(entry: FileEntry): void {
    const path = inFolder(entry.name);
    const done = entry.kind === "folder" ? readFolder(path) : entry.kind === "fmu" ? addFmu(path, freePlace()) : opens(entry) ? openPath(path) : Promise.resolve();
    done.catch(complain);
}

export function Palette() {
    const filter = useSignal("");
    const wanted = filter.value.toLowerCase();
    const shown = entries.value.filter((entry) => (entry.kind === "folder" || entry.kind === "fmu" || opens(entry)) && entry.name.toLowerCase().includes(wanted));
    const up = folder.value.split("/").slice(0, -1).join("/");
    return (
        <section class="block palette" aria-labelledby="palette-title">
            <h2 id="palette-title">Folder {folder.value !== "" && <span class="soft">{folder.value}</span>}</h2>
            <input type="search" placeholder="Filter" aria-label="Filter files" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
            <ul class="files">
                {folder.value !== "" && <li><button type="button" onClick={() => void readFolder(up).catch(complain)}><Icon name="up" /><span>..</span></button></li>}
                {shown.map((entry) => <Entry key={entry.name} entry={entry} />)}
            </ul>
            {shown.length === 0 && <p class="soft empty">{entries.value.length === 0 ? "The folder is empty." : "Nothing here fits."}</p>}
            {!serverInfo.value?.readOnly && <label class="upload">Add FMUs…<input type="file" accept=".fmu" multiple onChange={(event) => void uploadFiles([...(event.currentTarget.files ?? [])])} /></label>}
        </section>
    );
}

function Entry({ entry }: { entry: FileEntry }) {
    const draggable = entry.kind === "fmu";
    return (
        <li>
            <button type="button" draggable={draggable} data-file={entry.name} onClick={() => !draggable && act(entry)} onDblClick={() => draggable && act(entry)}
                onKeyDown={(event) => draggable && event.key === "Enter" && act(entry)}
                onDragStart={(event) => event.dataTransfer?.setData(FMU_TYPE, inFolder(entry.name))}
                title={draggable ? `${entry.name}, ${bytes(entry.size)}\nDrag it into the drawing, double-click, or press Enter` : entry.name}>
                <Icon name={ICONS[entry.kind] ?? "system"} /><span>{entry.name.replace(/\.fmu$/i, "")}</span>
            </button>
        </li>
    );
}
