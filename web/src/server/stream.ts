// SPDX-License-Identifier: MIT
// Server-sent events, read with fetch so that the token travels in a header. Connects again when the stream breaks.
import { lost, request, ServerError } from "./client";

export interface StreamEvent {
    readonly name: string;
    readonly data: unknown;
}

/** Splits a stream of text into events; what is not complete yet waits for the next piece. */
export class EventParser {
    private rest = "";

    push(piece: string): StreamEvent[] {
        const blocks = (this.rest + piece).replace(/\r\n/g, "\n").split("\n\n");
        this.rest = blocks.pop() ?? "";
        return blocks.map(parseBlock).filter((event): event is StreamEvent => event !== null);
    }
}

function parseBlock(block: string): StreamEvent | null {
    let name = "message";
    const lines: string[] = [];
    for (const line of block.split("\n")) {
        if (line.startsWith("event:"))
            name = line.slice(6).trim();
        else if (line.startsWith("data:"))
            lines.push(line.slice(5).trimStart());
    }
    if (lines.length === 0)
        return null;
    try {
        return { name, data: JSON.parse(lines.join("\n")) };
    } catch {
        return null;
    }
}

const AGAIN = 1000;

/** Follows a stream until the event "end", or until the function that it returns is called. `opened` is called for every connection. */
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
