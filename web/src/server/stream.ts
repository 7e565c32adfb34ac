// SPDX-License-Identifier: MIT
// Server-sent events, read with fetch so that the token is sent in a header. Reconnects when the stream breaks.
import { lost, request, ServerError } from "./client";
import { EventParser, StreamEvent } from "./parser";

const AGAIN = 1000;

/** Follows a stream until the event "end", or until the returned function is called. `opened` is called for every connection. */
export function follow(path: string, query: Readonly<Record<string, string>>, handle: (event: StreamEvent) => void, opened: () => void, closed: () => void): () => void {
    const stop = new AbortController();
    void (async () => {
        while (!stop.signal.aborted) {
            try {
                const response = await request("GET", path, query, undefined, stop.signal);
                opened();
                if (await readAll(response, handle, stop.signal))
                    break;
            } catch (error) {
                if (stop.signal.aborted)
                    return;
                if (error instanceof ServerError)
                    break;
                lost();
            }
            await new Promise((done) => setTimeout(done, AGAIN));
        }
        if (!stop.signal.aborted)
            closed();
    })();
    return () => stop.abort();
}

async function readAll(response: Response, handle: (event: StreamEvent) => void, stopped: AbortSignal): Promise<boolean> {
    const reader = response.body?.getReader();
    if (!reader)
        return true;
    const parser = new EventParser();
    const decoder = new TextDecoder();
    for (;;) {
        const { done, value } = await reader.read();
        if (done || stopped.aborted)
            return false;
        for (const event of parser.push(decoder.decode(value, { stream: true }))) {
            handle(event);
            if (event.name === "end")
                return true;
        }
    }
}
