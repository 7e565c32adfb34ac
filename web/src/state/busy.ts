// SPDX-License-Identifier: MIT
// Whether the page has something under way that will change what it shows: a request, a layout, a frame to draw. Written at the root of the page,
// so that programs that drive it (tests, say) can wait for it to come to rest.
let count = 0;

function show(): void {
    document.documentElement.dataset.busy = String(count > 0);
}

/** Something begins; what is returned says that it is over, and may be called more than once. */
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

/** Busy until this is done, or has failed. */
export async function during<T>(work: Promise<T>): Promise<T> {
    const over = busy();
    try {
        return await work;
    } finally {
        over();
    }
}
