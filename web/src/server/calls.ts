// SPDX-License-Identifier: MIT
// All requests of the page, by name.
import type { Connection, Document, Value } from "../model/document";
import { getJson, request, sendJson } from "./client";
import type { Analysis, Comparison, FileEntry, FmuInfo, Look, Option, Run, Series, ServerInfo, Steps, Values } from "./types";

const run = (id: string, rest = "") => `runs/${encodeURIComponent(id)}${rest}`;

export const getInfo = () => getJson<ServerInfo>("");
export const getFiles = (path: string) => getJson<{ path: string; entries: FileEntry[] }>("files", { path });
export const upload = (path: string, file: Blob) => request("POST", "files", { path }, file);
export const getFmu = (path: string) => getJson<FmuInfo>("fmu", { path });
export const getSystem = (path: string) => getJson<Document>("system", { path });
export const look = (document: Document) => sendJson<Look>("POST", "system/look", {}, document);
export const joinTerminals = (document: Document, from: string, to: string) => sendJson<Connection[]>("POST", "system/join", {}, { document, from, to });
export const analyze = (document: Document, options: Readonly<Record<string, unknown>>) => sendJson<Analysis>("POST", "system/analyze", {}, { document, options });
export const saveSystem = (path: string, document: Document) => sendJson<Partial<Document> | null>("PUT", "system", { path }, document);
export const importSystem = (path: string) => sendJson<Document>("POST", "import", { path }, {});
export const getOptions = () => getJson<Option[]>("options");
export const startRun = (body: { path?: string; document?: Document; options: Readonly<Record<string, unknown>>; steps: boolean }) => sendJson<{ id: string }>("POST", "runs", {}, body);
export const getRuns = () => getJson<Run[]>("runs");
export const getRun = (id: string) => getJson<Run>(run(id));
export const deleteRun = (id: string) => request("DELETE", run(id));
export const order = (id: string, what: Readonly<Record<string, unknown>>) => sendJson<unknown>("POST", run(id, "/orders"), {}, what);
export const setValue = (id: string, name: string, value: Value) => order(id, { set: { [name]: value } });
export const getSeries = (id: string, columns: readonly string[], view: { from?: number; to?: number; points: number; minus?: string; over?: string; log?: number }, stop?: AbortSignal) =>
    getJson<Series>(run(id, "/series"), { columns: columns.join(";"), ...view }, stop);
export const getValues = (id: string, columns: readonly string[], times: readonly number[], minus?: string) =>
    getJson<Values>(run(id, "/values"), { columns: columns.join(";"), times: times.join(";"), minus });
export const getSteps = (id: string, points: number) => getJson<Steps>(run(id, "/steps"), { points });
export const compare = (a: string, b: string) => getJson<Comparison>("compare", { a, b });
