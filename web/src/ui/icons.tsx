// SPDX-License-Identifier: MIT
// The page's icons: lines on a grid of 16.

const PATHS = {
    play: "M5 3.2v9.600l7.500-4.800z",
    pause: "M5 3.500v9M11 3.500v9",
    step: "M4 3.500v9l5.500-4.500zM12 3.500v9",
    stop: "M4 4h8v8H4z",
    undo: "M6 4 3 7l3 3M3 7h6.500a3.500 3.500 0 0 1 0 7H7",
    redo: "m10 4 3 3-3 3M13 7H6.500a3.500 3.500 0 0 0 0 7H9",
    search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3",
    theme: "M8 2a6 6 0 1 0 6 6 4.500 4.500 0 0 1-6-6z",
    help: "M6 6a2 2 0 1 1 3 1.700c-.7.4-1 .8-1 1.600M8 11.600v.1",
    plus: "M8 3v10M3 8h10",
    minus: "M3 8h10",
    close: "m4 4 8 8M12 4l-8 8",
    fit: "M2.500 6V2.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10",
    layout: "M2.500 3h4v4h-4zM9.500 2h4v4h-4zM9.500 10h4v4h-4zM6.500 5h1.500v7h1.500M8 4h1.500",
    folder: "M2 4.500V12a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V6a1 1 0 0 0-1-1H8L6.500 3H3a1 1 0 0 0-1 1.500z",
    unit: "M4 3.500h8v9H4zM4 6H1.500M4 10H1.500M12 8h2.500",
    system: "M2.500 2.500h11v11h-11zM5 5h2.500v2.500H5zM8.500 8.500H11V11H8.500z",
    save: "M3 2.500h8l2.500 2.500v8.500h-11v-11zM5.500 2.500v3.500h4V2.500M5 13.500V9.500h6v4",
    copy: "M6 6h7.500v7.500H6zM4 10H2.500V2.500H10V4",
    trash: "M3 4.500h10M6.500 4.500v-2h3v2M4.500 4.500l.6 9h5.800l.6-9M6.700 7v4M9.300 7v4",
    download: "M8 2.500v7.500M4.800 7 8 10.200 11.200 7M3 13.500h10",
    settings: "M2 4.500h7M12 4.500h2M2 11.500h2M7 11.500h7M9 2.800h3v3.400H9zM4 9.800h3v3.400H4z",
    warning: "M8 2 14.500 13.500h-13zM8 6.500v3.500M8 11.800v.1",
    error: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v4M8 11v.1",
    check: "m3 8.500 3.500 3.500L13 4.500",
    connect: "M5.500 8h5M2.500 8a1.500 1.500 0 1 0 3 0 1.500 1.500 0 0 0-3 0zM10.500 8a1.500 1.500 0 1 0 3 0 1.500 1.500 0 0 0-3 0z",
    up: "M8 13V3M4 7l4-4 4 4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
    return <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={PATHS[name]} /></svg>;
}

export function IconButton({ icon, label, act, disabled = false, pressed, id }: { icon: IconName; label: string; act: () => void; disabled?: boolean; pressed?: boolean; id?: string }) {
    return (
        <button type="button" class="icon-button" title={label} aria-label={label} disabled={disabled} onClick={act} {...(pressed === undefined ? {} : { "aria-pressed": pressed })} {...(id ? { id } : {})}>
            <Icon name={icon} />
        </button>
    );
}
