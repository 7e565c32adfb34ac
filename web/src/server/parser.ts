// SPDX-License-Identifier: MIT
// Server-sent events, from text.

export interface StreamEvent {
    readonly name: string;
    readonly data: unknown;
}

/** Splits a stream of text into events; incomplete text waits for the next piece. */
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
