// SPDX-License-Identifier: MIT
// Whether the page has pending work that will change its display: a request, a layout, a frame to draw. Written at the
// root of the page, so that test programs can wait until it is idle.
let count = 0;

function show(): void {
    document.documentElement.dataset.busy = String(count > 0);
}

/** Registers pending work; the returned function ends it, and may be called more than once. */
export function busy(): () => void {
    let open = true;
    count++;
    show();
    return () => {
        if (open)
            count--;
        open = false;
        show();
    };
}

/** Busy until the promise is settled. */
export async function during<T>(work: Promise<T>): Promise<T> {
    const over = busy();
    try {
        return await work;
    } finally {
        over();
    }
}
