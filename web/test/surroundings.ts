// SPDX-License-Identifier: MIT
// What the page has around it, as far as its model touches it. To be imported before what it is for, which is imported with `await import`.

/** Requests that wait for their answers, oldest first. */
export const asked: { readonly address: string; readonly answer: (response: unknown) => void }[] = [];

export const json = (value: unknown): unknown => ({ ok: true, status: 200, json: () => Promise.resolve(value) });

const page = { location: { href: "http://page/" }, addEventListener: () => {}, matchMedia: () => ({ matches: false, addEventListener: () => {} }) };
const storage = { getItem: () => null, setItem: () => {} };
Object.assign(globalThis, {
    window: page, sessionStorage: storage, localStorage: storage, document: { documentElement: { dataset: {} }, addEventListener: () => {} },
    fetch: (address: string) => new Promise((answer) => asked.push({ address, answer })),
});
