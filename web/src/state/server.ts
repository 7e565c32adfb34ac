// SPDX-License-Identifier: MIT
// The server's properties, and the content of its folder.
import { signal } from "@preact/signals";
import { getFiles, getInfo, getOptions, upload } from "../server/calls";
import type { FileEntry, Option, ServerInfo } from "../server/types";
import { complain, notify } from "./view";

export const serverInfo = signal<ServerInfo | null>(null);
export const folder = signal("");
export const entries = signal<readonly FileEntry[]>([]);
export const options = signal<readonly Option[]>([]);

const KINDS = ["folder", "ssp", "import", "fmu", "table", "result", "other"];

export async function readServer(): Promise<void> {
    serverInfo.value = await getInfo();
    if (!serverInfo.value.attached) {
        await readFolder(folder.value);
        options.value = await getOptions();
    }
}

export async function readFolder(path: string): Promise<void> {
    const answer = await getFiles(path);
    folder.value = path;
    entries.value = [...answer.entries].sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.name.localeCompare(b.name));
}

export const inFolder = (name: string): string => (folder.value === "" ? name : `${folder.value}/${name}`);

/** Uploads files to the folder; returns the new FMUs. */
export async function uploadFiles(files: readonly File[]): Promise<string[]> {
    const there: string[] = [];
    for (const file of files) {
        try {
            const path = inFolder(file.name);
            const same = entries.value.find((entry) => entry.name === file.name);
            if (!same || same.size !== file.size)
                await upload(path, file);
            there.push(path);
            notify(`${file.name} is in the folder. A run runs its code: use FMUs that you trust.`);
        } catch (error) {
            complain(error);
        }
    }
    await readFolder(folder.value).catch(complain);
    return there;
}
