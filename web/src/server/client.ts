// SPDX-License-Identifier: MIT
// Requests to the server. The token comes with the page's address, is removed from it at once, and stays in this tab.
import { signal } from "@preact/signals";
import { during } from "../state/busy";

const KEY = "tutti-token";

function takeToken(): string {
    const address = new URL(window.location.href);
    const given = address.searchParams.get("token");
    if (given) {
        sessionStorage.setItem(KEY, given);
        address.searchParams.delete("token");
        window.history.replaceState(null, "", address.pathname + address.search + address.hash);
    }
    return given ?? sessionStorage.getItem(KEY) ?? "";
}

const token = takeToken();

/** Whether the server answered the last request. */
export const online = signal(true);
/** The server answers, but rejects the token. */
export const refused = signal(false);

export class ServerError extends Error {
    constructor(readonly status: number, message: string) {
        super(message);
    }
}

type Query = Readonly<Record<string, string | number | undefined>>;

export function address(path: string, query: Query = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
        if (value !== undefined)
            search.set(name, String(value));
    const text = search.toString();
    return `/api/${path}${text ? `?${text}` : ""}`;
}

/** One request, with the token. Fails with ServerError if the server rejects it, with TypeError if it does not answer. */
export async function request(method: string, path: string, query: Query = {}, body?: BodyInit, signalled?: AbortSignal): Promise<Response> {
    let response: Response;
    try {
        response = await fetch(address(path, query), {
            method, ...(body === undefined ? {} : { body }), cache: "no-store", ...(signalled ? { signal: signalled } : {}),
            headers: { Authorization: `Bearer ${token}`, ...(typeof body === "string" ? { "Content-Type": "application/json" } : {}) },
        });
    } catch (error) {
        if (!(error instanceof DOMException && error.name === "AbortError"))
            lost();
        throw error;
    }
    online.value = true;
    refused.value = response.status === 401;
    if (!response.ok)
        throw new ServerError(response.status, await sentence(response));
    return response;
}

async function sentence(response: Response): Promise<string> {
    const text = await response.text();
    try {
        const parsed = JSON.parse(text) as { error?: string };
        if (parsed.error)
            return parsed.error;
    } catch {
        // no JSON: the text says it
    }
    return text || `The server answered ${response.status}.`;
}

export function getJson<T>(path: string, query: Query = {}, signalled?: AbortSignal): Promise<T> {
    return during(request("GET", path, query, undefined, signalled).then((response) => response.json() as Promise<T>));
}

export async function sendJson<T>(method: string, path: string, query: Query, body: unknown): Promise<T> {
    const text = await during(request(method, path, query, JSON.stringify(body)).then((response) => response.text()));
    return (text ? JSON.parse(text) : null) as T;
}

const returned = new Set<() => void>();
let knocking = false;

/** Calls this when the server answers again after an interruption. */
export function whenBack(act: () => void): void {
    returned.add(act);
}

/** The server did not answer: polls until it does. */
export function lost(): void {
    online.value = false;
    if (knocking)
        return;
    knocking = true;
    const knock = async () => {
        try {
            const answer = await fetch(address(""), { headers: { Authorization: `Bearer ${token}` }, cache: "no-store" });
            knocking = false;
            online.value = true;
            refused.value = answer.status === 401;
            for (const act of returned)
                act();
        } catch {
            setTimeout(knock, 1000);
        }
    };
    setTimeout(knock, 500);
}

/** Offers the server's answer as a download. */
export async function download(path: string, query: Query, name: string): Promise<void> {
    const response = await request("GET", path, query);
    keep(await response.blob(), name);
}

export function keep(blob: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
